"""How much memory a game takes, and whether there is so much."""

from jaxgames import memory
from jaxgames.arguments import integer
from jaxgames.equivalence._game import MOVE_BYTES, POSITION_BYTES
from jaxgames.memory import TooLargeError
from jaxgames.tuning.equivalence import SHARE

SOLVE_POSITION_BYTES = 20 + 8 * 4
"""Bytes that solving takes for each position: four budgets, twice."""

SOLVE_MOVE_BYTES = 10
"""Bytes that it takes for each move."""


def free_memory(on_host: bool = False) -> int:
    """Bytes that are free now, where solvers work or on the host."""
    room = memory.free_on_host() if on_host else memory.free()
    return 1 << 34 if room is None else room


def check_room(pairs: int, max_positions: int | None, *, on_host: bool = False) -> int:
    """Positions and moves that there is room for; TooLargeError if the pairs need more.

    Each pair has at least an attack, a defend and a clause position, and four moves.
    The limit is `max_positions`, or what the free memory allows: on the host no device
    need be asked.
    """
    if max_positions is not None:
        max_positions = integer("max_positions", max_positions, 1)
    free = free_memory(on_host)
    position = POSITION_BYTES + SOLVE_POSITION_BYTES
    move = MOVE_BYTES + SOLVE_MOVE_BYTES
    needed = pairs * (3 * position + 4 * move)
    if needed > SHARE * free:
        raise TooLargeError(
            f"the game of {pairs} pairs of processes has at least {3 * pairs} "
            f"positions and takes at least {needed / 1e9:.1f} GB, of which "
            f"{free / 1e9:.1f} GB are free; compare fewer processes"
        )
    most = int(SHARE * free) // (position + 3 * move)
    most = min(most, 2**31 - 2**20)
    if max_positions is None:
        return most
    if 3 * pairs > max_positions:
        raise TooLargeError(
            f"the game of {pairs} pairs of processes has at least {3 * pairs} "
            f"positions, and max_positions is {max_positions}"
        )
    return max_positions


def complain_of_size(most: int) -> TooLargeError:
    """What to raise where a game turned out to be larger."""
    return TooLargeError(
        f"the game has more than {most} positions or moves, for which there is room "
        f"({POSITION_BYTES} bytes a position and {MOVE_BYTES} a move, and to solve it "
        f"{SOLVE_POSITION_BYTES} and {SOLVE_MOVE_BYTES} more); compare fewer processes"
    )
