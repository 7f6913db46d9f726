"""Priority promotion on the host, for deep and narrow games.

What makes it fast:

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
- The order of importance is searched again only from the first vertex that was given up
  and in blocks where any was.
"""

from typing import NamedTuple

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.host import compiled, lend
from jaxgames.parity._game import compress
from jaxgames.parity.host._attract import NO_LIMIT, WON, Play, Prepared
from jaxgames.parity.host._loops import win_loops
from jaxgames.parity.host._promotion import BLOCK, promote
from jaxgames.parity.host._verify import verify as verify
from jaxgames.solution import NO_EDGE, UNDECIDED


class Outcome(NamedTuple):
    """What the engine found.

    Attributes:
        winner: int8 `[V]`, 0 or 1, or UNDECIDED if it was stopped; 0 in the padding.
        strategy: int32 `[V]`: the edge to take where the owner of a vertex wins it,
            NO_EDGE elsewhere. None if it was not asked for.
        finished: whether every vertex is decided.
        stats: `steps`, the vertices attracted; and how many `regions` there were,
            `promotions` and won regions (`dominions`).
    """

    winner: np.ndarray
    strategy: np.ndarray | None
    finished: bool
    stats: dict[str, int]


def prepare(arena: Arena) -> Prepared:
    """Brings a concrete arena into the form of the engine: once for many runs.

    Takes O(V + E) time where priorities are at most of the order of V, all by counting
    sorts; O(V log V) elsewhere.

    Args:
        arena: a game with vertex priorities, one and not a batch; every vertex has a
            successor. Its priorities may be compressed or not.

    Raises:
        ValueError: the arena is no such game.
    """
    validity.checked(arena)
    if arena.priority is None:
        raise ValueError("the host engine needs vertex priorities: priority is None")
    size = len(arena.owner)
    arena = arena.unpad()
    row_ptr, source, head, owner, priority = (
        lend(np.ascontiguousarray(x))
        for x in (arena.row_ptr, arena.src, arena.dst, arena.owner, arena.priority)
    )
    priority = np.asarray(compress(priority), np.int32)
    top = int(priority.max(initial=0))
    if top >= WON:
        raise ValueError(f"the host engine takes up to {WON} priorities, got {top}")
    key, in_ptr, in_tail, in_edge, order, rank, loops = _arrange(
        source, head, owner, priority, top
    )
    return Prepared(
        key, row_ptr, head, in_ptr, in_tail, in_edge, order, rank, loops, size
    )


@compiled
def _arrange(source, head, owner, priority, top):
    """The arrays of `Prepared`."""
    size, many = len(owner), len(head)
    in_ptr, begin = np.zeros(size + 1, np.int32), np.zeros(top + 2, np.int32)
    in_tail, in_edge = np.empty(many, np.int32), np.empty(many, np.int32)
    key, order, rank = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    loops = 0
    for e in range(many):
        in_ptr[head[e] + 1] += 1
        loops += head[e] == source[e]
    for v in range(size):
        in_ptr[v + 1] += in_ptr[v]
        begin[top - priority[v] + 1] += 1
        key[v] = 4 * priority[v] + owner[v]
    for after in range(top + 1):
        begin[after + 1] += begin[after]
    for v in range(size):
        place = begin[top - priority[v]]
        begin[top - priority[v]] += 1
        order[place], rank[v] = v, place
    free, loop = in_ptr.copy(), np.empty(loops, np.int32)
    loops = 0
    for e in range(many):
        place = free[head[e]]
        free[head[e]] += 1
        in_edge[place] = e
        if head[e] == source[e]:
            loop[loops] = e
            loops += 1
    for k in range(many):
        in_tail[k] = source[in_edge[k]]
    return key, in_ptr, in_tail, in_edge, order, rank, loop


def run(
    prepared: Prepared,
    *,
    strategies: bool = True,
    stop: np.ndarray | None = None,
    publish: np.ndarray | None = None,
    move: np.ndarray | None = None,
    max_steps: int | None = None,
) -> Outcome:
    """Decides who wins a parity game from each vertex, and how.

    Priority promotion [1], which keeps what a promotion leaves intact, as in [2].
    Nearly linear on most games, exponential in the number of priorities at worst, but
    not on the families that are hard for Zielonka's recursion. O(V + E) memory. Where
    numba is installed it runs compiled and without Python's lock.

    Args:
        prepared: the game, from `prepare`.
        strategies: whether strategies are wanted.
        stop: int8 `[1]`: another thread may set it to something else than 0 to end the
            run, which then returns what is won by then.
        publish: int8 `[V]`: gets the winner of each vertex as soon as it is known.
        move: int32 `[V]`, NO_EDGE everywhere: the run keeps its strategies there; where
            `publish` has the owner of a vertex for its winner, they are final.
        max_steps: attracted vertices at most. None: no limit.

    References:
        [1] Benerecetti, Dell'Erba and Mogavero, Solving parity games via priority
        promotion, CAV 2016, doi:10.1007/978-3-319-41540-6_15.
        [2] Benerecetti, Dell'Erba and Mogavero, Improving priority promotion for parity
        games, HVC 2016, doi:10.1007/978-3-319-49052-6_8.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> outcome = run(prepare(arena))
        >>> outcome.winner.tolist(), outcome.strategy.tolist()
        ([0, 0, 0], [1, -1, -1])
    """
    size = len(prepared.key)
    winner = np.zeros(prepared.size, np.int8)
    strategy = move
    if strategy is None:
        strategy = np.full(prepared.size, NO_EDGE, np.int32)
    counts = np.zeros(4, np.int64)
    # Numpy asks the system for large pages where numba does not.
    finished = _solve(
        prepared,
        prepared.key.copy(),
        np.empty(2 * size, np.int32),
        winner,
        strategy,
        NEVER_STOPS if stop is None else stop,
        NOBODY_READS if publish is None else publish,
        NO_LIMIT if max_steps is None else max_steps,
        counts,
    )
    steps, regions, promotions, dominions = counts.tolist()
    stats = {
        "steps": steps,
        "regions": regions,
        "promotions": promotions,
        "dominions": dominions,
    }
    return Outcome(winner, strategy if strategies else None, bool(finished), stats)


NEVER_STOPS = np.zeros(1, np.int8)
NOBODY_READS = np.zeros(0, np.int8)


@compiled
def _solve(game, key, queue, winner, move, stop, publish, max_steps, counts):
    """Fills winners and moves; whether it came to an end."""
    size = len(key)
    depth = (key[game.order[0]] >> 2) + 2 if size > 0 else 1
    play = Play(
        key,
        move,
        np.zeros(size, np.int32),
        queue,
        np.zeros(size // BLOCK + 1, np.bool_),
        np.empty(depth, np.int32),
        np.empty(depth, np.int32),
        np.empty(depth, np.int32),
        np.empty(depth, np.int32),
    )
    going = win_loops(game, play, stop, publish, max_steps, counts)
    if going:
        going = promote(game, play, stop, publish, max_steps, counts)
    for v in range(size):
        player = (key[v] >> 2) - WON
        winner[v] = player if player >= 0 else UNDECIDED
        if player != key[v] & 1:
            move[v] = NO_EDGE
    return going
