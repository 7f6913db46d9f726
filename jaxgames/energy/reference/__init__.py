"""Textbook algorithms for energy games, one vertex at a time.

Value iteration with counters, fast value iteration and a verifier: to read, to test
against, and to use. Where numba is installed (`pip install jaxgames[host]`) the same
source compiles to a fast engine for one core.
"""

from typing import Literal, get_args

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energy._charge import check_capacity, largest_credit
from jaxgames.energy._solution import TOP, UNKNOWN, Solution
from jaxgames.energy.reference import _counters, _fvi
from jaxgames.energy.reference._fvi import NO_LIMIT
from jaxgames.energy.reference._game import LARGEST, Game, check_one, game_of
from jaxgames.energy.reference._strategies import strategies as strategies_of
from jaxgames.energy.reference._verify import verify as verify
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status

Method = Literal["fvi", "counters"]


def solve(
    arena: Arena,
    *,
    method: Method = "fvi",
    capacity: int | None = None,
    max_steps: int | None = None,
    stop: np.ndarray | None = None,
    strategies: bool = True,
) -> Solution:
    """The least credit of each vertex of an energy game, and strategies, on the host.

    `"counters"` is Algorithm 1 of [1], from [2]: credits rise from 0, one vertex at a
    time; a vertex of player 0 is looked at when no edge is content with its credit any
    more. O(E M) time where no credit is more than M, and every vertex that player 1
    wins climbs up to M. O(V + E) memory.

    `"fvi"` is the fast value iteration of [3] with Dijkstra's order within each turn,
    and only where credits rise. It is the one to use: nearly linear on most games,
    whatever the weights. Its numbers are those of the game times the number of
    vertices. Where they do not fit 64 bits it counts in two words, about half as fast,
    and where these are too few, or nothing is compiled, in Python's integers.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor. With weights that are Python's integers (an array of objects)
            credits are such too, and may be as large as they like.
        method: `"fvi"` or `"counters"`.
        capacity: energy above it is lost, as
            [`solve_with_capacity`][jaxgames.energy.solve_with_capacity] says; then only
            player 0 has a strategy. None: there is no such limit.
        max_steps: lifts at most; of `"fvi"` about so many, for the credits and for the
            strategy of player 1 each. None: no limit.
        stop: int8 `[1]`; the solve ends soon after another thread has written a number
            other than 0 to it. None: nobody will.
        strategies: whether strategies are wanted; those of player 1 take another solve
            of the vertices that he wins.

    Returns:
        Credits, winners and strategies of both players. With `Status.MAX_STEPS`, with
        `Status.INTERRUPTED` because of `stop`, or with `Status.OVERFLOW` because a
        credit is `2**62` or more, no vertex is decided. `stats` has
        the number of `lifts`, and of `"fvi"` that of its `turns`.

    Raises:
        ValueError: the arena is no such game, an argument is wrong, or credits may
            not fit the 64 bits of `"counters"`.

    References:
        [1] Formisano, Gentilini and Vella, Accelerating energy games solvers on modern
        architectures, IA3 2017, doi:10.1145/3149704.3149771.
        [2] Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for
        mean-payoff games, FMSD 38 (2011), doi:10.1007/s10703-010-0105-x.
        [3] Cadilhac, Casares and Ohlmann, Fast value iteration: a uniform approach to
        efficient algorithms for energy games, 2021, arXiv:2110.07346.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], weight=[-3, 1, 2, -1]
        ... )
        >>> solve(arena).credit
        array([-1, -1, -1], dtype=int32)
        >>> richer = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], weight=[-3, 1, 3, -1]
        ... )
        >>> solve(richer).credit
        array([ 3,  0, -1], dtype=int32)
    """
    _check(method, capacity, max_steps, stop)
    check_one(arena)
    most, kind = largest_credit(arena, capacity)
    game = game_of(arena)
    if method == "counters" and most >= LARGEST:
        raise ValueError(
            "method='counters' counts in 64 bits, which credits of this game may not "
            f"fit: up to {most}, expected less than 2**62; method='fvi' has no such "
            "limit"
        )
    stop = np.zeros(1, np.int8) if stop is None else stop
    limit = NO_LIMIT if max_steps is None else max_steps
    if method == "counters":
        credit, stats = _counters.credits(game, most, limit=limit, stop=stop)
    else:
        credit, stats = _fast(game, most, stop, limit)
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
        status = Status.INTERRUPTED if stop[0] else Status.MAX_STEPS
    padding = (0, len(arena.owner) - len(winner))
    if strategy is not None:
        strategy = np.pad(strategy, padding, constant_values=NO_EDGE)
    return Solution(
        credit=np.pad(credit, padding).astype(kind),
        winner=np.pad(winner, padding),
        strategy=strategy,
        status=status,
        stats=Stats(solver=f"reference.{method}", **stats),
    )


def _fast(
    game: Game, most: int, stop, limit: int
) -> tuple[np.ndarray | None, dict[str, int]]:
    """Credits by fast value iteration; None if stopped."""
    potential, top, stats = _fvi.potentials(game, most, stop=stop, limit=limit)
    if potential is None:
        return None, stats
    potential[top] = 0
    # Steps were taken off; they are fewer than the unit of the scale.
    credit = -(-potential // (len(game.owner) + 1))
    return np.where(top, TOP, credit), stats


def _check(method, capacity, max_steps, stop) -> None:
    """Raises ValueError unless these are arguments of `solve`."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
    if capacity is not None:
        check_capacity(capacity)
    if max_steps is not None and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if stop is not None and (stop.dtype, stop.shape) != (np.int8, (1,)):
        raise ValueError(
            f"stop must be int8 of shape (1,), got {stop.dtype} of shape {stop.shape}"
        )
