"""The sequential engine: fast value iteration, one vertex after the other.

Where numba is installed (`pip install jaxgames[host]`) it is compiled for one core.
[`energy.reference`][jaxgames.energy.reference] answers the same by a simpler algorithm.
"""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import steps
from jaxgames.energy._bounds import largest_credit
from jaxgames.energy._solution import TOP, UNKNOWN, Solution
from jaxgames.energy.host._fvi import NO_LIMIT, potentials
from jaxgames.energy.host._game import LARGEST, Game, game_of
from jaxgames.energy.host._strategies import strategies as strategies_of
from jaxgames.energy.host._verify import verify as verify
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status


def solve(
    arena: Arena,
    *,
    capacity: int | None = None,
    max_steps: int | None = None,
    stop: np.ndarray | None = None,
    strategies: bool = True,
) -> Solution:
    """The least credit of each vertex of an energy game, and strategies.

    The fast value iteration of [1] with Dijkstra's order within each turn, and only
    where credits rise: nearly linear on most games, whatever the weights. Its numbers
    are those of the game times the number of vertices. Where they do not fit 64 bits it
    counts in two words, about half as fast, and where these are too few, or nothing is
    compiled, in Python's integers.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor. With weights that are Python's integers (an array of objects)
            credits are such too, and may be as large as they like.
        capacity: energy above it is lost, as
            [`solve_with_capacity`][jaxgames.energy.solve_with_capacity] says; then only
            player 0 has a strategy. None: there is no such limit.
        max_steps: about so many lifts at most, for the credits and for the strategy of
            player 1 each. None: no limit.
        stop: int8 `[1]`; the solve ends soon after another thread has written a number
            other than 0 to it. None: nobody will.
        strategies: whether strategies are wanted; those of player 1 take another solve
            of the vertices that he wins.

    Returns:
        Credits, winners and strategies of both players. With `Status.MAX_STEPS`, with
        `Status.INTERRUPTED` because of `stop`, or with `Status.OVERFLOW` because a
        credit is `2**62` or more, no vertex is decided. `stats` has the number of
        `turns` and of `lifts`.

    Raises:
        ValueError: the arena is no such game.

    References:
        [1] Cadilhac, Casares and Ohlmann, Fast value iteration: a uniform approach to
        efficient algorithms for energy games, 2021, arXiv:2110.07346.
    """
    game = game_of(arena)
    most, kind = largest_credit(arena, capacity)
    limit = steps(max_steps, NO_LIMIT)
    credit, stats = _credits(game, most, stop, limit)
    status, strategy = Status.SOLVED, None
    if credit is not None and kind is not object and credit.max(initial=0) >= LARGEST:
        status, credit = Status.OVERFLOW, None
    if credit is not None and strategies:
        both = capacity is None
        strategy = strategies_of(game, most, credit, stop, both=both, limit=limit)
    finished = credit is not None and (strategy is not None or not strategies)
    if not finished:
        credit = np.full(len(game.owner), UNKNOWN)
        strategy = np.full(len(game.owner), NO_EDGE, np.int32) if strategies else None
    assert credit is not None  # as a type checker does not see
    winner = np.where(credit == TOP, 1, 0).astype(np.int8)
    winner[credit == UNKNOWN] = UNDECIDED
    if not finished and status == Status.SOLVED:
        stopped = stop is not None and bool(stop[0])
        status = Status.INTERRUPTED if stopped else Status.MAX_STEPS
    more = 0, len(arena.owner) - len(winner)
    if more[1]:  # to be told that there is no padding takes as long as a small solve
        credit, winner = np.pad(credit, more), np.pad(winner, more)
        if strategy is not None:
            strategy = np.pad(strategy, more, constant_values=NO_EDGE)
    return Solution(
        credit=credit.astype(kind),
        winner=winner,
        strategy=strategy,
        status=status,
        stats=Stats(solver="host", **stats),
    )


def _credits(
    game: Game, most: int, stop, limit: int
) -> tuple[np.ndarray | None, dict[str, int]]:
    """Credits by fast value iteration; None if stopped."""
    potential, top, stats = potentials(game, most, stop=stop, limit=limit)
    if potential is None:
        return None, stats
    potential[top] = 0
    # Steps were taken off; they are fewer than the unit of the scale.
    credit = -(-potential // (len(game.owner) + 1))
    return np.where(top, TOP, credit), stats
