"""Textbook algorithms for parity games, one vertex at a time.

Zielonka's recursion, small progress measures and a verifier: to read, to test against,
and to use. Where numba is installed (`pip install jaxgames[host]`) the same source
compiles to a fast engine for one core. Priority promotion, recursive tangle learning
and quasi-polynomial progress measures are written with sets, as in their papers: to
read, and for small games.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.parity._edges import split
from jaxgames.parity._solution import Solution
from jaxgames.parity.reference._alternating import solve_alternating
from jaxgames.parity.reference._game import NO_LIMIT, Answer, game_of
from jaxgames.parity.reference._promotion import solve_promotion
from jaxgames.parity.reference._spm import solve_spm
from jaxgames.parity.reference._succinct import solve_succinct
from jaxgames.parity.reference._tangles import solve_tangles
from jaxgames.parity.reference._verify import verify as verify
from jaxgames.parity.reference._work_list import Lifting
from jaxgames.parity.reference._zielonka import solve_zielonka
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status

Algorithm = Literal["zielonka", "spm", "promotion", "tangles", "succinct"]

_OTHERS: dict[str, Callable[..., Answer]] = {
    "zielonka": solve_zielonka,
    "promotion": solve_promotion,
    "tangles": solve_tangles,
    "succinct": solve_succinct,
}
"""All but `"spm"`, which has options."""


def solve(
    arena: Arena,
    algorithm: Algorithm = "zielonka",
    *,
    lifting: Lifting = "queue",
    single_occurrence: bool = True,
    alternating: bool = False,
    seed: int = 0,
    max_steps: int | None = None,
    stop: np.ndarray | None = None,
) -> Solution:
    """Decides who wins a parity game from each vertex, and how, on the host.

    `"zielonka"` is the recursion of [1], its attractors by counting successors. It is
    the one to use: nearly linear on most games, exponential in the number of priorities
    at worst, in O(V + E) memory.

    `"spm"` lifts the small progress measures of [2] one vertex at a time: those for
    player 0 on the whole game, then those for player 1 on what he wins. Each time a
    measure rises, the vertices with an edge to it enter a work list, ordered by a
    lifting strategy of [3]. O(d E (V/d)^(d/2)) time for d priorities, O(d V) memory.

    `"promotion"` is priority promotion [4], where all that lies below a promotion
    starts afresh; exponential at worst, on other games than the recursion.

    `"tangles"` is tangle learning [5] in its recursive form [6], exponential at worst
    on others again.

    `"succinct"` lifts measures on the succinct universal tree of [7] in turns over all
    vertices. V^O(log d) time at worst, which is quasi-polynomial; in practice it is the
    slowest of all.

    With `alternating`, both players' measures rise in turns of V attempts, and after
    each turn the player's winning set [3, Theorem 5.1] is computed and put to the top
    for the other one, who need not count up to it. It saves most lifts where a player
    loses much.

    Args:
        arena: a game with priorities on vertices, or on edges; every vertex has a
            successor.
        algorithm: one of these.
        lifting: which vertex of the work list `"spm"` lifts next: that which came first
            (`"queue"`), that which came last (`"stack"`), or that which drew the
            smallest number when it came (`"random"`).
        single_occurrence: whether a vertex is in the work list at most once. One that
            comes again while it waits moves to the top of a stack, and stays where it
            is in a queue or a random order.
        alternating: whether the players' measures of `"spm"` rise together, and winning
            sets are exchanged.
        seed: of the random numbers.
        max_steps: lifts (`"spm"`, `"succinct"`) or attracted vertices (the others) at
            most. None: no limit.
        stop: int8 `[1]`; the solve ends soon after another thread has written a number
            other than 0 to it. None: nobody will.

    Returns:
        Winners and strategies of both players. With `Status.MAX_STEPS`, or with
        `Status.INTERRUPTED` because of `stop`, no vertex is decided. `stats` has
        `steps`; of the recursion also its `depth` and the number of `subgames`, of the
        work list the number of `pops`, and how many winning sets were told in
        `exchanges`; and how many `promotions`, `tangles` and `passes` there were.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.

    References:
        [1] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
        [2] Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24.
        [3] Bootsma, Speeding up the small progress measures algorithm for parity games
        using the GPU, master's thesis, TU Eindhoven, sections 4.2 and 5.2.
        [4] Benerecetti, Dell'Erba and Mogavero, Solving parity games via priority
        promotion, CAV 2016, doi:10.1007/978-3-319-41540-6_15.
        [5] van Dijk, Attracting tangles to solve parity games, CAV 2018,
        doi:10.1007/978-3-319-96142-2_14.
        [6] van Dijk, A parity game tale of two counters, GandALF 2019,
        doi:10.4204/EPTCS.305.8.
        [7] Jurdziński and Lazić, Succinct progress measures for solving parity games,
        LICS 2017, doi:10.1109/LICS.2017.8005092.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> solve(arena).successor(arena)
        array([ 2, -1, -1], dtype=int32)
    """
    validity.checked(arena)
    _check(algorithm, lifting, alternating, max_steps, stop)
    limit = NO_LIMIT if max_steps is None else max_steps
    stop = np.zeros(1, np.int8) if stop is None else stop
    game = game_of(split(arena))
    if algorithm != "spm":
        winner, strategy, stats = _OTHERS[algorithm](game, limit, stop)
    else:
        order = get_args(Lifting).index(lifting)
        solve_measures = solve_alternating if alternating else solve_spm
        winner, strategy, stats = solve_measures(
            game, order, single_occurrence, seed, limit, stop
        )
    size = int(arena.num_vertices)  # after them come those that split edges
    winner, strategy = winner[:size], strategy[:size]
    status = Status.SOLVED
    if np.any(winner == UNDECIDED):
        status = Status.INTERRUPTED if stop[0] else Status.MAX_STEPS
    padding = arena.shape[0] - size
    return Solution(
        winner=np.concatenate([winner, np.zeros(padding, np.int8)]),
        strategy=np.concatenate([strategy, np.full(padding, NO_EDGE, np.int32)]),
        status=status,
        stats=Stats(solver=f"reference.{algorithm}", **stats),
    )


def _check(algorithm, lifting, alternating, max_steps, stop) -> None:
    """Raises ValueError unless these are arguments of `solve`."""
    for name, value, choices in (
        ("algorithm", algorithm, get_args(Algorithm)),
        ("lifting", lifting, get_args(Lifting)),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    if alternating and algorithm != "spm":
        raise ValueError(
            f'only "spm" has alternating players, got algorithm {algorithm!r}'
        )
    if max_steps is not None:
        integer("max_steps", max_steps, 0)
    if stop is not None and (stop.dtype, stop.shape) != (np.int8, (1,)):
        raise ValueError(
            f"stop must be int8 of shape (1,), got {stop.dtype} of shape {stop.shape}"
        )
