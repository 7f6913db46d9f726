"""Priority promotion on the host, for deep and narrow games.

The vertices are taken in order of importance. Those of the most important priority that
is left, and what the player who likes it attracts to them, are a *region*: he wins all
plays that stay there. Regions lie on a stack, each an attractor in what those below it
in the stack have left. A region is open if play can leave it for the rest of the game;
then the next one is made from that rest. It is closed if the rival can only leave for
regions further down, which then are the same player's. Such a region is promoted: it
joins the least important of these, which goes on attracting. Where the rival cannot
leave at all, the region and its attractor are won for good. The least important region
is always closed, so the game gets smaller until nothing is left.

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
- A vertex from which no edge leads to a lower part of the stack is marked when a closed
  region is first searched for such edges, and is not looked at again while the region
  is promoted further.
- The order of importance is searched again only from the first vertex that was given up
  and in blocks where any was.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.parity._game import compress
from jaxgames.parity.reference._game import sort
from jaxgames.solution import NO_EDGE, UNDECIDED

WON = 2**28
"""Region of what player 0 has won for good; that of player 1 is the next."""

BLOCK = 256
"""Vertices, in order of importance, that are skipped together."""

LONG = 16
"""Rows with more edges remember where they were searched."""

POLL = 1024
"""Vertices between two looks at the stop flag."""

NO_LIMIT = 2**62


class Prepared(NamedTuple):
    """A parity game as the engine reads it; `V` and `E` leave padding out.

    Attributes:
        key: int32 `[V]`, four times the compressed priority, and the owner.
        row_ptr: int32 `[V + 1]`; the edges of vertex `v` are `row_ptr[v]` to
            `row_ptr[v + 1] - 1`.
        head: int32 `[E]`, where each edge leads.
        in_ptr: int32 `[V + 1]`; the edges into `v` are `in_edge[k]`, from
            `in_tail[k]`, for `in_ptr[v] <= k < in_ptr[v + 1]`.
        in_tail: int32 `[E]`.
        in_edge: int32 `[E]`.
        order: int32 `[V]`, the vertices, the most important first.
        rank: int32 `[V]`, where each stands in `order`.
        size: number of vertices with padding.
    """

    key: np.ndarray
    row_ptr: np.ndarray
    head: np.ndarray
    in_ptr: np.ndarray
    in_tail: np.ndarray
    in_edge: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    size: int


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
    if arena.priority is None:
        raise ValueError("the host engine needs vertex priorities: priority is None")
    if arena.owner.ndim != 1:
        raise ValueError(
            "the host engine takes one game at a time, not a batch: arena.owner has "
            f"shape {arena.owner.shape}"
        )
    size = len(arena.owner)
    arena = arena.unpad()
    row_ptr, source, head, owner, priority = (
        np.require(x, requirements=("C", "W"))
        for x in (arena.row_ptr, arena.src, arena.dst, arena.owner, arena.priority)
    )
    dead = row_ptr[1:] == row_ptr[:-1]
    if dead.any():
        raise ValueError(f"vertex {np.argmax(dead)} has no successor: games are total")
    priority = np.asarray(compress(priority), np.int32)
    top = priority.max(initial=0)
    if top >= WON:
        raise ValueError(f"the host engine takes up to {WON} priorities, got {top}")
    in_ptr, in_edge = sort(head, len(owner))
    order = sort(top - priority, int(top) + 1)[1]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Prepared(
        key=4 * priority + owner,
        row_ptr=row_ptr,
        head=head,
        in_ptr=in_ptr,
        in_tail=source[in_edge],
        in_edge=in_edge,
        order=order,
        rank=rank,
        size=size,
    )


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
    if strategy is None or not strategies:
        strategy = np.full(prepared.size if strategies else 0, NO_EDGE, np.int32)
    counts = np.zeros(4, np.int64)
    # Numpy asks the system for large pages where numba does not.
    finished = _solve(
        prepared,
        prepared.key.copy(),
        np.empty(2 * size, np.int32),
        winner,
        strategy,
        strategies,
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


class _Play(NamedTuple):
    """What is known of the vertices, and the stack of regions.

    A vertex that is in no region has its priority for a region: it may become the start
    of one of that priority. Regions have priorities, too, which fall up the stack.

    Region number `level` is `queue[begin[level]:begin[level + 1]]`, the last one up to
    the end. It starts with its heads, the vertices of its priority, up to
    `heads[level]`. Those before `checked[level]` do not leave the region for the rest.
    """

    key: np.ndarray  # int32: four times the region; 2 where no edge leads down; owner
    move: np.ndarray  # int32: edge that keeps its owner in the region
    seen: np.ndarray  # int32: where the search of a long row ended
    queue: np.ndarray  # int32: the stack
    idle: np.ndarray  # bool: blocks of the order without a vertex that is in no region
    priority: np.ndarray  # int32, by level, as all that follow
    begin: np.ndarray
    heads: np.ndarray
    checked: np.ndarray


@compiled
def _solve(
    game, key, queue, winner, move, strategies, stop, publish, max_steps, counts
):
    """Fills winners and moves; whether it came to an end."""
    size = len(key)
    depth = (key[game.order[0]] >> 2) + 2 if size > 0 else 1
    play = _Play(
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
    # Numba would take a plain 0 for a type of its own, and compile for it too.
    at, end, level = np.int64(0), np.int64(0), np.int64(-1)
    going = True
    while going:
        at = _next(game, play, at)
        if at == size:
            break
        level += 1
        begin = end
        at, end = _heads(game, play, at, begin, level)
        counts[1] += 1
        mark = 4 * np.int64(play.priority[level])
        if size - at < end - begin:
            begin, rest = end, game.order[at:]
            end, _ = _pull(game, play, rest, end, mark, NO_LIMIT, strategies)
        done, end, _ = _attract(
            game, play, begin, end, mark, NO_LIMIT, strategies, stop,
            max_steps - counts[0],
        )  # fmt: skip
        counts[0] += done - begin
        going = done == end
        while going and level >= 0 and _closed(game, play, level, strategies):
            at, level, end, going = _rise(
                game, play, at, level, end, strategies, stop, publish, max_steps, counts
            )
    for v in range(size):
        player = (key[v] >> 2) - WON
        winner[v] = player if player >= 0 else UNDECIDED
        if strategies and player != key[v] & 1:
            move[v] = NO_EDGE
    return going


@compiled
def _rise(game, play, at, level, end, strategies, stop, publish, max_steps, counts):
    """Promotes the closed last region, or wins it.

    Returns where to go on in the order, the level and the end of the last region, and
    whether to go on.
    """
    key, queue = play.key, play.queue
    begin = np.int64(play.begin[level])
    target = _escape(game, play, level, end, stop)
    if target < 0:
        return at, level, end, False
    mark = 4 * target
    for index in range(begin, end):
        key[queue[index]] = mark | (key[queue[index]] & 3)
    least = 4 * np.int64(play.priority[level - 1]) if level > 0 else NO_LIMIT
    joined = level - 1
    while joined >= 0 and play.priority[joined] < target:
        joined -= 1
    below = np.int64(play.begin[joined + 1])
    first, spoiled = begin, np.int64(-1)
    if begin - below < end - begin:
        first = end
        between = play.queue[below:begin]
        end, spoiled = _pull(game, play, between, end, mark, least, strategies)
    done, end, also = _attract(
        game, play, first, end, mark, least, strategies, stop, max_steps - counts[0]
    )
    spoiled = max(spoiled, also)
    counts[0] += done - first
    if target >= WON:
        counts[3] += 1
        if len(publish) > 0:
            for v in queue[begin:end]:
                publish[v] = target - WON
    else:
        counts[2] += 1
    level -= 1
    while level >= 0 and play.priority[level] <= spoiled:
        level -= 1
    keep = np.int64(play.begin[level + 1])
    at = _give_up(game, play, at, keep, begin, mark)
    if target >= WON:
        return at, level, keep, done == end
    if done < end:
        return at, level, end, False
    return _join(game, play, at, level, keep, begin, end, joined, strategies)


@compiled
def _join(game, play, at, level, keep, begin, end, joined, strategies):
    """Puts what was promoted behind the target's region, before those that are kept."""
    queue = play.queue
    for index in range(begin, end):
        queue[keep + index - begin] = queue[index]
    end -= begin - keep
    if joined == level:
        return at, level, end, True
    begin = np.int64(play.begin[joined + 1])
    _reverse(queue[begin:keep])
    _reverse(queue[keep:end])
    _reverse(queue[begin:end])
    for above in range(joined + 1, level + 1):
        play.begin[above] += end - keep
        play.heads[above] += end - keep
        play.checked[above] += end - keep
    if _closed(game, play, joined, strategies):
        # It rises next; what is kept above it would have to be kept once more.
        begin = np.int64(play.begin[joined + 1])
        at = _give_up(game, play, at, begin, end, 4 * play.priority[joined])
        level, end = joined, begin
    return at, level, end, True


@compiled
def _reverse(vertices):
    last = len(vertices) - 1
    for index in range(len(vertices) // 2):
        v = vertices[index]
        vertices[index] = vertices[last - index]
        vertices[last - index] = v


@compiled
def _attract(game, play, begin, end, mark, least, strategies, stop, max_steps):
    """Attracts to queue[begin:end] what is in lower regions than that of the mark.

    Returns how far the queue was worked off, and its end; and the highest priority of a
    region that is spoiled by it, if not less than `least`. Priorities of regions are
    given four times.
    """
    key, move, queue, seen = play.key, play.move, play.queue, play.seen
    row_ptr, head = game.row_ptr, game.head
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    player = (mark >> 2) & 1
    limit = min(mark, 4 * WON)
    spoiled = np.int64(-1)
    last = begin + min(max_steps, len(queue))
    while begin < end and begin < last:
        if begin % POLL == 0 and stop[0] != 0:
            break
        v = queue[begin]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            old = np.int64(key[u])
            if old >= limit:
                continue
            if old & 1 == player:
                if strategies:
                    move[u] = in_edge[k]
            else:
                first, stop_row = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
                left = limit
                if stop_row - first <= LONG:
                    enough = max(least, old & ~3)
                    for e in range(first, stop_row):
                        successor = np.int64(key[head[e]])
                        if successor < left:
                            left = successor
                            if left < enough:
                                break
                else:
                    left = _lowest(key, head, seen, u, first, stop_row, limit)
                if left < limit:
                    if left >= least and left >= old & ~3:
                        spoiled = max(spoiled, left)
                    continue
            spoiled = max(spoiled, old)
            key[u] = mark | (old & 1)
            queue[end] = u
            end += 1
        begin += 1
    return begin, end, spoiled >> 2


@compiled
def _pull(game, play, vertices, end, mark, least, strategies):
    """What of some vertices moves, or must move, to the region of the mark.

    Begins `_attract` from the other side, where that is the smaller one.
    """
    key = play.key
    player = (mark >> 2) & 1
    limit = min(mark, 4 * WON)
    spoiled = np.int64(-1)
    for u in vertices:
        old = np.int64(key[u])
        if old >= limit:
            continue
        own = old & 1 == player
        left = limit
        move = NO_EDGE
        enough = max(least, old & ~3)
        for e in range(game.row_ptr[u], game.row_ptr[u + 1]):
            successor = np.int64(key[game.head[e]])
            if own:
                if (successor ^ mark) < 4:
                    move = e
                    break
            elif successor < left:
                left = successor
                if left < enough:
                    break
        if own:
            if move == NO_EDGE:
                continue
            if strategies:
                play.move[u] = move
        elif left < limit:
            if left >= least and left >= old & ~3:
                spoiled = max(spoiled, left)
            continue
        spoiled = max(spoiled, old)
        key[u] = mark | (old & 1)
        play.queue[end] = u
        end += 1
    return end, spoiled >> 2


@compiled
def _lowest(key, head, seen, u, first, stop, limit):
    """Any key below the limit among many successors, else the limit."""
    for shift in range(stop - first):
        e = first + seen[u] + shift
        if e >= stop:
            e -= stop - first
        successor = np.int64(key[head[e]])
        if successor < limit:
            seen[u] = e - first
            return successor
    return limit


@compiled
def _closed(game, play, level, strategies):
    """Whether no head of a region leaves it for the rest of the game.

    What was attracted does not. Checks only heads that may still do, and gives those of
    the player a move.
    """
    key, priority = play.key, np.int64(play.priority[level])
    for index in range(play.checked[level], play.heads[level]):
        v = play.queue[index]
        own = (key[v] ^ priority) & 1 == 0
        stays = not own
        for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
            region = key[game.head[e]] >> 2
            if own and region == priority:
                if strategies:
                    play.move[v] = e
                stays = True
                break
            if not own and region < priority:
                stays = False
                break
        if not stays:
            play.checked[level] = index
            return False
    play.checked[level] = play.heads[level]
    return True


@compiled
def _escape(game, play, level, end, stop):
    """Where the rival can leave the last region, which is closed; won if nowhere.

    The least important one: if he leaves for a more important one, that is not worse
    for the player. Negative if stopped.
    """
    key = play.key
    priority = np.int64(play.priority[level])
    target = WON + (priority & 1)
    nearest = level - 1
    while nearest >= 0 and (play.priority[nearest] ^ priority) & 1:
        nearest -= 1
    if nearest < 0:
        return target
    for index in range(play.begin[level], end):
        if index % POLL == 0 and stop[0] != 0:
            return np.int64(-1)
        v = play.queue[index]
        if key[v] & 2:
            continue
        inner = True
        if (key[v] ^ priority) & 1:
            for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
                region = np.int64(key[game.head[e]] >> 2)
                if priority < region < WON:
                    inner = False
                    target = min(target, region)
        if inner:
            key[v] |= 2
        elif target == play.priority[nearest]:
            break
    return target


@compiled
def _give_up(game, play, at, begin, end, mark):
    """Puts vertices of the stack back, but those with the mark; the first in the order.

    `at` is where the order went on so far.
    """
    for index in range(begin, end):
        v = play.queue[index]
        if play.key[v] < mark & ~3:
            play.key[v] = game.key[v]
            rank = np.int64(game.rank[v])
            play.idle[rank // BLOCK] = False
            at = min(at, rank)
    return at


@compiled
def _next(game, play, at):
    """Where the order goes on with a vertex that is in no region."""
    size = len(game.order)
    while at < size:
        if at % BLOCK == 0 and play.idle[at // BLOCK]:
            at += BLOCK
            continue
        v = game.order[at]
        if play.key[v] == game.key[v]:
            return at
        at += 1
        if at % BLOCK == 0:
            play.idle[at // BLOCK - 1] = True
    return np.int64(size)


@compiled
def _heads(game, play, at, end, level):
    """Begins a region with all vertices of a priority that are in none."""
    play.begin[level] = play.checked[level] = end
    priority = play.priority[level] = game.key[game.order[at]] >> 2
    size = len(game.order)
    while at < size and game.key[game.order[at]] >> 2 == priority:
        v = game.order[at]
        if play.key[v] == game.key[v]:
            play.queue[end] = v
            end += 1
        at += 1
        if at % BLOCK == 0:
            play.idle[at // BLOCK - 1] = True
    play.heads[level] = end
    return at, end
