"""What a game takes on a device, and whether it is there."""

from jaxgames.memory import complain, free
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._packing import NARROW, Packing


def memory(
    num_positions: int,
    num_edges: int,
    dimensions: int,
    cap: int | tuple[int, ...] | None = None,
    capacity: int = 4,
) -> int:
    """Bytes that the solver `"fronts"` takes on a device for a game of this size.

    An edge takes 10 bytes: its target and its update, both in the rows as they are
    given and sorted by degree. A position takes 20 bytes and its front twice, before
    and after a round: 8 bytes for each word of each budget that there is room for. Rows
    of unlike degree that share a block, and work space of fixed size, come on top.

    Args:
        num_positions: positions of the game.
        num_edges: edges of the game.
        dimensions: energies of a budget.
        cap: the largest energy, or one for each; None if there is none.
        capacity: budgets of a position that there is room for; rooms that are too small
            are doubled.

    Examples:
        >>> from jaxgames import multienergy
        >>> multienergy.memory(75_808_284, 623_482_227, 6, cap=3) >> 30
        9
    """
    caps = (cap,) * dimensions if isinstance(cap, int) else cap
    bits = NARROW if caps is None else max(caps).bit_length()
    words = Packing(dimensions, bits, caps).num_words
    return _bytes(num_positions, num_edges, words, capacity)


def check_room(game: Game, packing: Packing, capacity: int) -> None:
    """Raises TooLargeError where a game will not fit into the memory of the device."""
    there = free()
    size = game.num_positions, game.num_edges
    wanted = _bytes(*size, packing.num_words, capacity)
    if there is not None and wanted > there:
        complain(
            f"a game of {size[0]:,} positions and {size[1]:,} edges, with room for "
            f"{capacity} budgets of {packing.dimensions} energies in "
            f"{packing.num_words} words each,",
            wanted,
            there,
        )


def _bytes(positions: int, edges: int, words: int, capacity: int) -> int:
    return 10 * edges + (20 + 8 * words * capacity) * positions
