"""Parity games on the host, for deep and narrow games: by several engines in turn.

Some games are won by a few vertices, and `sweep` looks for what these attract: see
`_sweeps.py`. Most games are won in a few regions. `attempt` looks for these and gives
up early: see `_quick.py`. What it leaves is for the others. What makes the first of
them, priority promotion, fast:

- One word a vertex, its key, holds its region, its owner, and whether the game is won
  there: what a play step asks of a vertex costs one access to memory, and the words of
  a million vertices fit into a cache. All that is kept is of this kind: a few int32 a
  vertex, none a level but for the stack itself. Neighbours in memory stay neighbours:
  vertices are not renumbered, which would part those that a game's maker put together.
- Whether a vertex of the rival is attracted is found by looking at its edges, not by
  counting those that are left. Counters must be put right when a region is given up,
  and rows are short; a long row is searched from where the last search ended, so that a
  region reads it about once.
- What a promotion or a won region attracts can spoil regions between. The attractor
  finds the most important one that is spoiled: it loses a vertex, or a vertex that only
  went on because of an edge that is gone would now belong to it. Only this and what
  lies on it is given up; the published rule gives up everything below a promotion, or
  starts again after a won region.
- A region of the rival's that loses vertices is mended: only what relied on them falls
  out of it, and is attracted again where it can be. Each vertex it loses then costs
  about what hangs on it, not the region anew.
- A vertex from which no edge leads to a lower part of the stack is marked when a closed
  region is first searched for such edges, and is not looked at again while the region
  is promoted further.
- A large region that is promoted keeps its label: the vertices of the smaller one that
  it rises to, and of what lies between, get others. So labels are no priorities. Nor is
  a large region searched again for a way out: the vertices that have one are known.
- The order of importance is searched again only from the first vertex that was given up
  and in blocks where any was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.arguments import steps
from jaxgames.host import on_all_cores
from jaxgames.parity._game import compress
from jaxgames.parity.host._arranged import arranged
from jaxgames.parity.host._attract import NO_LIMIT, WON, Prepared
from jaxgames.parity.host._legs import LEGS as LEGS
from jaxgames.parity.host._legs import PROMOTION as PROMOTION
from jaxgames.parity.host._legs import TANGLES as TANGLES
from jaxgames.parity.host._legs import Turns as Turns
from jaxgames.parity.host._legs import Won as Won
from jaxgames.parity.host._quick import Board, answer, promote_quickly
from jaxgames.parity.host._rows import Rows as Rows
from jaxgames.parity.host._rows import by_target
from jaxgames.parity.host._sweeps import sweep_up
from jaxgames.parity.host._verify import REASONS as REASONS
from jaxgames.parity.host._verify import cycles_of as cycles_of
from jaxgames.parity.host._verify import verify as verify
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import (
    ALWAYS_FROM,
    FEW_PRIORITIES,
    QUICK_WORK,
    VERTICES_OF_ONE,
)


class Outcome(NamedTuple):
    """What the engine found.

    Attributes:
        winner: int8 `[V]`, 0 or 1, or UNDECIDED if it was stopped; 0 in the padding.
        strategy: int32 `[V]`: the edge to take where the owner of a vertex wins it,
            NO_EDGE elsewhere. None if it was not asked for.
        finished: whether every vertex is decided.
        stats: `steps`, see `run`; how many `regions` there were, `promotions`, and won
            regions (`dominions`); the `engine` that came to the end, and what was
            `tried` before, if more than one had a turn; how many `tangles` were
            learned, if there was tangle learning; how many claims were `withdrawn`, if
            there were justifications; and how many `parts` there were, if the
            game fell apart. Then the engine is that of the part that took longest.
        turns: what a later run goes on from; None if every vertex is decided.
    """

    winner: np.ndarray
    strategy: np.ndarray | None
    finished: bool
    stats: dict[str, int | str]
    turns: Turns | None = None


def rows(arena: Arena) -> Rows:
    """Brings a concrete arena into the form that `attempt` works on: O(V + E) time.

    Raises:
        ValueError: the arena is no such game.
    """
    arena, size = _checked(arena)
    row_ptr, head, owner, priority = _ready(
        arena.row_ptr, arena.dst, arena.owner, arena.priority
    )
    incoming = by_target(row_ptr, head)
    return Rows(owner, priority, row_ptr, head, *incoming, size)


def is_worth_it(arena: Arena) -> bool:
    """Whether a game may be won in a few regions sooner than by the engines.

    Args:
        arena: with vertex priorities; it need not be a right one.
    """
    if len(arena.dst) >= ALWAYS_FROM:
        return True
    top = int(np.max(arena.priority, initial=0))
    return top <= max(FEW_PRIORITIES, len(arena.priority) // VERTICES_OF_ONE)


def work_of_attempt(rows: Rows) -> int:
    """After how much work an attempt leaves the rest of a game to others."""
    return QUICK_WORK * (len(rows.owner) + len(rows.head))


def attempt(
    rows: Rows, *, stop: np.ndarray | None = None, max_steps: int | None = None
) -> Won:
    """Wins what is won in a few regions: all of most games, in O(V + E) time.

    Args:
        rows: the game, from the function of this name.
        stop: see `run`.
        max_steps: about as many steps as it may take.
    """
    most = steps(max_steps, NO_LIMIT)
    size = len(rows.owner)
    base = np.empty(size, np.uint8)
    # They have a place more, since what is written there may turn out to be too much.
    queue, by = np.empty(size + 1, np.int32), np.empty(size + 1, np.int32)
    board = Board(
        *(rows.row_ptr, rows.head, rows.in_ptr, rows.in_tail, rows.priority),
        *(queue, by, np.empty(size, np.uint8), rows.far),
    )
    winner, move = np.zeros(rows.size, np.int8), np.full(rows.size, NO_EDGE, np.int32)
    stop, counts = NEVER_STOPS if stop is None else stop, np.zeros(5, np.int64)
    given, limit = (rows.loops, rows.owner, base, move), work_of_attempt(rows)
    finished = promote_quickly(board, *given, stop, min(limit, most), counts)
    found = rows.row_ptr, rows.head, base, move, winner, rows.far
    on_all_cores(answer, size, *found, work=len(rows.head))
    names = ("steps", "regions", "promotions", "dominions")
    stats: dict[str, int] = dict(zip(names, counts.tolist(), strict=False))
    return Won(winner, move, bool(finished), stats)


def sweep(
    arena: Arena, *, stop: np.ndarray | None = None, max_steps: int | None = None
) -> Won | None:
    """Wins a game that few vertices win, without its edges by where they lead.

    O(V + E) time. See `_sweeps.py`.

    Args:
        arena: as in `prepare`.
        stop: see `run`.
        max_steps: as in `attempt`.

    Returns:
        None if it has given up.
    """
    most = steps(max_steps, NO_LIMIT)
    arena, size = _checked(arena)
    own, counts = len(arena.owner), np.zeros(2, np.int64)
    winner, move = np.empty(size, np.int8), np.empty(size, np.int32)
    winner[own:], move[own:] = 0, NO_EDGE
    game = _ready(arena.row_ptr, arena.dst, arena.owner, arena.priority)
    stop = NEVER_STOPS if stop is None else stop
    if not sweep_up(*game, winner[:own], move[:own], stop, most, counts):
        return None
    taken, won = counts.tolist()
    stats = {"steps": taken, "regions": won, "promotions": 0, "dominions": won}
    return Won(winner, move, True, stats)


def _checked(arena: Arena) -> tuple[Arena, int]:
    """A game without padding, and how many vertices it has with it."""
    validity.checked(arena)
    if arena.priority is None:
        raise ValueError("the host engine needs vertex priorities: priority is None")
    return arena.unpad(), len(arena.owner)


def _ready(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays as machine code takes them.

    Those that are read-only are not lent: a call of numba's code does that itself.
    """
    return tuple(map(np.ascontiguousarray, arrays))


def prepare(arena: Arena, *, compressed: bool = False) -> Prepared:
    """Brings a concrete arena into the form of the engine: once for many runs.

    Takes O(V + E) time where priorities are at most of the order of V, all by counting
    sorts; O(V log V) elsewhere.

    A loop whose owner would lose by staying leads where another edge of its vertex
    does, if there is one. It is never taken, but it would keep its vertex from being
    attracted by the other player: the regions of a game would fall apart into many. To
    take it out would cost more: all edges would have other numbers.

    Args:
        arena: a game with vertex priorities, one and not a batch; every vertex has a
            successor.
        compressed: whether its priorities are those of a normal form.

    Raises:
        ValueError: the arena is no such game.
    """
    arena, size = _checked(arena)
    row_ptr, source, head, owner, priority = _ready(
        arena.row_ptr, arena.src, arena.dst, arena.owner, arena.priority
    )
    priority = np.asarray(priority if compressed else compress(priority), np.int32)
    top = int(priority.max(initial=0))
    if top >= WON // 2 - 4:
        raise ValueError(
            f"the host engine takes up to {WON // 2 - 4:,} priorities, got {top:,}"
        )
    return arranged(row_ptr, source, head, owner, priority, size)


def run(
    prepared: Prepared,
    legs: Sequence[str] = LEGS,
    *,
    strategies: bool = True,
    stop: np.ndarray | None = None,
    publish: np.ndarray | None = None,
    move: np.ndarray | None = None,
    max_steps: int | None = None,
    begun: Turns | None = None,
    won: Won | None = None,
) -> Outcome:
    """Decides who wins a parity game from each vertex, and how.

    Six algorithms take turns, each with a budget of work, which is doubled when all
    have spent theirs. What one of them has won is won for the others. Promotion has the
    first turn, and tangle learning the second, but for a short one of the recursion
    within that. From then on tangle learning has all turns, and one of the others works
    beside it, in another thread if there are cores.
    The outcome does not depend on threads: see `Turns`.

    - `"promotion"`: priority promotion [1], which keeps what a promotion leaves intact,
      as in [2]. Nearly linear on most games. It has the first turn alone, with a budget
      that few games ask for. In small games it has others later.
    - `"tangles"`: recursive tangle learning [3], a way of [4] that searches a region
      which is open again without what its rival can drive out of it. It keeps its
      tangles from turn to turn, and is not disturbed where others win something.
    - `"zielonka"`: Zielonka's recursion [6]. It has one short turn, and wins games of
      very many levels where little has to be solved again.
    - `"justified"`: fixpoint iteration with justifications [5]. It has little to do
      where few vertices are won by another player than the one who likes their
      priority, as in games of the literature with a few edges by lot.
    - `"afresh"`: priority promotion by the published rule, where everything below a
      promotion starts afresh.
    - `"mixed"`: promotion by the published rule where regions attract tangles, those of
      tangle learning too, and learn them. It has turns from a later round on, and wins
      games that are hard for both in different places.

    A game that is not won when the first four have had a turn is solved part by part,
    from the bottom, where it falls apart into components. No part begins with what all
    of the game has just had: tangle learning alone, and the last engine beside it.

    Each is exponential at worst, on families made for it: but for each of those that
    are known one of the others is polynomial. O(V + E) memory, and that of tangles:
    they have room for some rows for each vertex, which doubles when it is full. Where
    numba is installed it runs compiled and without Python's lock.

    Args:
        prepared: the game, from `prepare`.
        legs: the names of those that take part. One alone has no budget.
        strategies: whether strategies are wanted.
        stop: int8 `[1]`: another thread may set it to something else than 0 to end the
            run, which then returns what is won by then.
        publish: int8 `[V]`: gets the winner of each vertex as soon as it is known.
        move: int32 `[V]`, NO_EDGE everywhere: the run keeps its strategies there; where
            `publish` has the owner of a vertex for its winner, they are final. They are
            edges of `prepared`, whose `of_arena` makes edges of the arena of them.
        max_steps: steps at most: vertices attracted by promotion, edges and rows looked
            at by tangle learning. None: no limit.
        begun: `turns` of an earlier run on the same game with the same `legs`, to go on
            from; `max_steps` counts from there. It is used up by that.
        won: what an `attempt` has won, and how.

    References:
        [1] Benerecetti, Dell'Erba and Mogavero, Solving parity games via priority
        promotion, CAV 2016, doi:10.1007/978-3-319-41540-6_15.
        [2] Benerecetti, Dell'Erba and Mogavero, Improving priority promotion for parity
        games, HVC 2016, doi:10.1007/978-3-319-49052-6_8.
        [3] van Dijk, A parity game tale of two counters, GandALF 2019,
        doi:10.4204/EPTCS.305.8.
        [4] van Dijk, Attracting tangles to solve parity games, CAV 2018,
        doi:10.1007/978-3-319-96142-2_14.
        [5] Lapauw, Bruynooghe and Denecker, Improving parity game solvers with
        justifications, VMCAI 2020, doi:10.1007/978-3-030-39322-9_21.
        [6] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> outcome = run(prepare(arena))
        >>> outcome.winner.tolist(), outcome.strategy.tolist()
        ([0, 0, 0], [1, -1, -1])
    """
    winner = np.zeros(prepared.size, np.int8)
    if move is None:
        move = np.full(prepared.size, NO_EDGE, np.int32)
    how = (
        winner,
        move,
        NEVER_STOPS if stop is None else stop,
        NOBODY_READS if publish is None else publish,
        steps(max_steps, NO_LIMIT),
    )
    if begun is None:
        play = Turns(prepared, *how, won)
    else:
        play = begun
        play.go_on(*how)
    finished, engines = play.take(legs)
    stats = {**play.stats, **engines}
    strategy = prepared.of_arena(move) if strategies else None
    return Outcome(winner, strategy, finished, stats, None if finished else play)


NEVER_STOPS = np.zeros(1, np.int8)
NOBODY_READS = np.zeros(0, np.int8)
