"""Tangles on the host: where they are kept, and how they attract.

A *tangle* of a player is a set of vertices that is strongly connected when he moves in
it by a strategy, and in which he wins all plays that stay. So the rival must leave, by
one of his edges out of it. Where all these lead to what the player attracts to, he
attracts the tangle, vertex by vertex though none of them could be on its own.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.host import compiled
from jaxgames.limits import TooLargeError
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import POLL

OUT = -1
"""Box of a vertex that has been dealt with in this pass, or is won."""

IN = -2
"""Box of a vertex of the region that is searched."""

SOLVED, SPENT, FULL, STOPPED, STUCK = 0, 1, 2, 3, 4
"""How learning ends: all is won; the budget is spent; the pool is full; somebody asked
for an end; or a pass has found nothing, which no pass does."""

NONE = -1
"""No row, or no tangle."""

SAME, REGIONS, LEFT, KNOWN, OLD, NEWER, LATEST = range(8, 15)
"""In `place`: how many regions of the first box the next pass keeps, -1 if it may keep
none; how many there are, -1 if they are not noted; how many vertices and tangles there
were at the end of a turn; how many vertices the first region had that is searched
again; the first tangle that is new to it, and that will be to the next."""

LEVEL, MOVE, BEFORE, START, BY = range(5)
"""In `regions`: of each vertex twice the number of its region of the first box, and one
more if it had to move otherwise inside of that, and how it moved before; the vertices
of the first that is searched again; where in `rest` each one begins; and with which
tangle a vertex was attracted last, or NONE."""


class Search(NamedTuple):
    """What is known of the vertices while regions are searched for.

    Regions are numbered as they are met.
    """

    box: np.ndarray  # int32: the part of the game that it is in
    seen: np.ndarray  # int32: which of its edges last was found to lead elsewhere
    move: np.ndarray  # int32: how the player of the region of a vertex moves there
    marked: np.ndarray  # int64: as ways out of a set, or as one of it
    number: np.ndarray  # int32: of the search for components
    queue: np.ndarray  # int32: the region
    rivals: np.ndarray  # int32: what is driven out of it; or a component
    path: np.ndarray  # int32 [V, 5]: of the depth-first search for components
    rest: np.ndarray  # int32: what is not won, the most important first
    listed: np.ndarray  # int32 [2 V]: vertices of the boxes, the most important first
    boxes: np.ndarray  # int32 [V + 1, 3]: of each box on the stack name, begin and end
    found: np.ndarray  # int32: dominions of player 0, and from the end those of 1
    many: np.ndarray  # int64 [2]: how many vertices these have
    clock: np.ndarray  # int64 [1]: the last region
    place: np.ndarray  # int64 [16]: where a pass goes on, or the next one
    regions: np.ndarray  # int32 [5, V]: of regions; the names of rows are above


class Pool(NamedTuple):
    """Tangles, as rows: one for each vertex of a tangle, and for each way out of it.

    Tangle `t` has the rows `begin[t]` to `begin[t + 1] - 1`, and the ways out
    `begin_out[t]` to `begin_out[t + 1] - 1`.
    """

    player: np.ndarray  # int8, by tangle
    begin: np.ndarray  # int32
    begin_out: np.ndarray  # int32
    seen: np.ndarray  # int32: which of its ways out last was found to lead elsewhere
    lost: np.ndarray  # int32: which of its rows last was found not to be in the box
    done: np.ndarray  # int64: twice the region that cannot get it, or that and one: has
    within: np.ndarray  # int32: one that has all of its vertices, or NONE
    vertex: np.ndarray  # int32, by row
    move: np.ndarray  # int32: the edge that the player takes there, NO_EDGE if none
    out: np.ndarray  # int32, by way out: where it leads
    of: np.ndarray  # int32: its tangle
    after: np.ndarray  # int32: the next way out that leads there
    first: np.ndarray  # int32 [V, 2]: the first one to a vertex, of each player's
    many: np.ndarray  # int64 [1]: how many tangles there are


def new_search(size: int, clock: np.ndarray) -> Search:
    """For a game of so many vertices; searches with one pool have one clock."""

    def words(times: int = 1) -> np.ndarray:
        return np.empty(times * size, np.int32)

    return Search(
        box=np.full(size, OUT, np.int32),
        seen=np.zeros(size, np.int32),
        move=words(),
        marked=np.full(size, -1, np.int64),
        number=words(),
        queue=words(),
        rivals=words(),
        path=words(5).reshape(size, 5),
        rest=words(),
        listed=words(2),
        boxes=np.empty((size + 1, 3), np.int32),
        found=words(),
        many=np.zeros(2, np.int64),
        clock=clock,
        place=np.zeros(16, np.int64),
        regions=words(5).reshape(5, size),
    )


def new_pool(size: int, rows: int) -> Pool:
    """Room for so many vertices of tangles, half as many ways out, and tangles."""
    ways = many = (rows + 1) // 2
    pool = Pool(
        player=np.empty(many, np.int8),
        begin=np.empty(many + 1, np.int32),
        begin_out=np.empty(many + 1, np.int32),
        seen=np.empty(many, np.int32),
        lost=np.empty(many, np.int32),
        done=np.empty(many, np.int64),
        within=np.empty(many, np.int32),
        vertex=np.empty(rows, np.int32),
        move=np.empty(rows, np.int32),
        out=np.empty(ways, np.int32),
        of=np.empty(ways, np.int32),
        after=np.empty(ways, np.int32),
        first=np.full((size, 2), NONE, np.int32),
        many=np.zeros(1, np.int64),
    )
    pool.begin[0] = pool.begin_out[0] = 0
    return pool


def enlarged(pool: Pool) -> Pool:
    """The same tangles, and twice the room.

    Raises:
        TooLargeError: rows would be more than 32-bit numbers can count.
    """
    if 2 * len(pool.vertex) > MAX_SIZE:
        raise TooLargeError(
            f"there are tangles of more than {len(pool.vertex)} vertices together, and "
            'no room for more: "host" gives them up when it has seen so many'
        )
    more = new_pool(len(pool.first), 2 * len(pool.vertex))
    for old, new in zip(pool, more, strict=True):
        new[: len(old)] = old
    return more


def copied(pool: Pool, room: Pool | None) -> Pool:
    """The same tangles for another search, in the room of a pool if it has as much."""
    if room is None or len(room.vertex) != len(pool.vertex):
        room = new_pool(len(pool.first), len(pool.vertex))
    many = int(pool.many[0])
    rows, ways = int(pool.begin[many]), int(pool.begin_out[many])
    used = {"vertex": rows, "move": rows, "out": ways, "of": ways, "after": ways}
    for name, old, new in zip(Pool._fields, pool, room, strict=True):
        size = used.get(name, len(old) if name in ("first", "many") else many + 1)
        new[:size] = old[:size]
    room.done[:many] = NONE
    return room


@compiled
def take_in(pool, other, begin):
    """Takes tangles of another pool in, from one on; whether there is room for them."""
    tangle, last = np.int64(pool.many[0]), np.int64(other.many[0])
    row, way = np.int64(pool.begin[tangle]), np.int64(pool.begin_out[tangle])
    from_row, from_way = np.int64(other.begin[begin]), np.int64(other.begin_out[begin])
    rows = np.int64(other.begin[last]) - from_row
    ways = np.int64(other.begin_out[last]) - from_way
    fits = tangle + last - begin <= len(pool.player)
    fits = fits and row + rows <= len(pool.vertex) and way + ways <= len(pool.out)
    heads, after, of, out = pool.first, pool.after, pool.of, pool.out
    vertex, move = pool.vertex, pool.move
    if fits:
        for k in range(rows):
            vertex[row + k] = other.vertex[from_row + k]
            move[row + k] = other.move[from_row + k]
        for index in range(begin, last):
            player = np.int64(other.player[index])
            pool.player[tangle] = player
            pool.seen[tangle], pool.lost[tangle], pool.done[tangle] = 0, 0, NONE
            pool.within[tangle] = NONE
            for k in range(other.begin_out[index], other.begin_out[index + 1]):
                w = other.out[k]
                out[way], of[way] = w, tangle
                after[way] = heads[w, player]
                heads[w, player] = way
                way += 1
            row += other.begin[index + 1] - other.begin[index]
            tangle += 1
            pool.begin[tangle], pool.begin_out[tangle] = row, way
        pool.many[0] = tangle
    return fits


@compiled
def attract_with_tangles(game, search, pool, queue, begin, end, asks, stop):
    """Attracts to queue[:end] within a box; `asks` are player, box and region.

    What is queued is `IN`, and queue[:begin] has attracted what it can. Returns how far
    the queue was worked off, and its end; and how many edges and rows were looked at.

    Whether all edges of a vertex of the rival lead to the region is found by looking at
    them until one does not, from the last such edge on: most of the time it still does
    not. So it is for tangles.
    """
    player, box, _ = asks
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    boxes, seen, move = search.box, search.seen, search.move
    first, after, tangles = pool.first, pool.after, pool.of
    begin, work = np.int64(begin), np.int64(0)
    while begin < end and (begin % POLL != 0 or stop[0] == 0):
        v = queue[begin]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            if boxes[u] != box:
                continue
            if owners[u] & 1 == player:
                move[u] = in_edge[k]
            else:
                row, last = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
                e, left = row + seen[u], last - row
                while left > 0 and boxes[head[e]] != box:
                    left -= 1
                    e += 1
                    if e == last:
                        e = row
                work += last - row - left
                if left > 0:
                    seen[u] = e - row
                    continue
            boxes[u] = IN
            queue[end] = u
            end += 1
        work += 1 + in_ptr[v + 1] - in_ptr[v]
        way = np.int64(first[v, player])
        while way != NONE:
            work += 1
            end, more = _nearer(search, pool, queue, end, tangles[way], asks)
            work += more
            way = np.int64(after[way])
        begin += 1
    return begin, end, work


@compiled
def attract_new(search, pool, queue, end, first, asks):
    """Attracts tangles from number `first` on to queue[:end], which is `IN`.

    Returns the end of the queue, and how many rows were looked at.
    """
    player, _, _ = asks
    boxes, out, begin_out = search.box, pool.out, pool.begin_out
    work = np.int64(0)
    for tangle in range(first, pool.many[0]):
        if pool.player[tangle] == player:
            k, last = np.int64(begin_out[tangle]), np.int64(begin_out[tangle + 1])
            work -= k
            while k < last and boxes[out[k]] != IN:
                k += 1
            work += k + 1
            if k < last:
                end, more = _nearer(search, pool, queue, end, tangle, asks)
                work += more
    return end, work


@compiled
def _nearer(search, pool, queue, end, tangle, asks):
    """One way out of a tangle leads to the region now; if all do, it joins.

    Returns the end of the queue, and how many rows were looked at.
    """
    _, box, region = asks
    boxes, seen, lost, done = search.box, pool.seen, pool.lost, pool.done
    vertices, out = pool.vertex, pool.out
    work, begin = np.int64(0), np.int64(pool.begin[tangle])
    if done[tangle] >> 1 != region:
        there = boxes[vertices[begin + lost[tangle]]]
        if there != box and there != IN:
            done[tangle] = 2 * region
        else:
            larger, left = np.int64(pool.within[tangle]), np.int64(0)
            if larger == NONE or done[larger] != 2 * region + 1:
                first = np.int64(pool.begin_out[tangle])
                last = np.int64(pool.begin_out[tangle + 1])
                k, left = first + seen[tangle], last - first
                while left > 0 and boxes[out[k]] != box:
                    left -= 1
                    k += 1
                    if k == last:
                        k = first
                work += last - first - left
                seen[tangle] = k - first
                if left == 0:
                    end, more = _joins(search, pool, queue, end, tangle, asks)
                    work += more
            else:
                done[tangle] = 2 * region + 1
    return end, work


@compiled
def _joins(search, pool, queue, end, tangle, asks):
    """A tangle joins the region if all of it is in the box."""
    _, box, region = asks
    boxes, move, vertices, moves = search.box, search.move, pool.vertex, pool.move
    by, begin = search.regions[BY], np.int64(pool.begin[tangle])
    stop = np.int64(pool.begin[tangle + 1])
    row, first, whole = begin, stop, True
    while row < stop and whole:
        there = np.int64(boxes[vertices[row]])
        if there != box:
            whole = there == IN
        elif first == stop:
            first = row
        row += 1
    work = row - begin
    if whole:
        work += stop - first
    else:
        pool.lost[tangle] = row - 1 - begin
        first = stop
    for row in range(first, stop):
        u = vertices[row]
        if boxes[u] == box:
            boxes[u] = IN
            if moves[row] != NO_EDGE:
                move[u] = moves[row]
            by[u] = tangle
            queue[end] = u
            end += 1
    pool.done[tangle] = 2 * region + whole
    if whole and first == stop:
        work += _look_within(search, pool, tangle, region)
    return end, work


@compiled
def _look_within(search, pool, tangle, region):
    """Looks for a tangle that the region has got and that has all vertices of another.

    Where the region gets the first one again, it has the other one, too. Returns how
    many rows were looked at.
    """
    by, vertices = search.regions[BY], pool.vertex
    begin, last = np.int64(pool.begin[tangle]), np.int64(pool.begin[tangle + 1])
    row, larger = begin, np.int64(by[vertices[begin]])
    if larger != NONE and pool.done[larger] == 2 * region + 1:
        while row < last and by[vertices[row]] == larger:
            row += 1
        if row == last:
            pool.within[tangle] = larger
    return row - begin


@compiled
def forget(pool, key, won):
    """Takes tangles out of the pool that have a vertex which is won; how many."""
    players, begin, begin_out = pool.player, pool.begin, pool.begin_out
    vertices, moves, out, of = pool.vertex, pool.move, pool.out, pool.of
    seen, lost, done = pool.seen, pool.lost, pool.done
    many, kept = pool.many[0], np.int64(0)
    number = np.empty(many, np.int32)
    row, way = np.int64(0), np.int64(0)
    first, first_out = np.int64(0), np.int64(0)
    for tangle in range(many):
        last, last_out = np.int64(begin[tangle + 1]), np.int64(begin_out[tangle + 1])
        lives = True
        for k in range(first, last):
            lives = lives and key[vertices[k]] < won
        number[tangle] = NONE
        if lives:
            number[tangle] = kept
            for k in range(first, last):
                vertices[row], moves[row] = vertices[k], moves[k]
                row += 1
            for k in range(first_out, last_out):
                out[way], of[way] = out[k], kept
                way += 1
            players[kept], seen[kept] = players[tangle], seen[tangle]
            lost[kept], done[kept] = lost[tangle], done[tangle]
            pool.within[kept] = pool.within[tangle]
            kept += 1
            begin[kept], begin_out[kept] = row, way
        first, first_out = last, last_out
    heads, after = pool.first, pool.after
    heads.fill(NONE)
    for k in range(way):
        player = players[of[k]]
        after[k] = heads[out[k], player]
        heads[out[k], player] = k
    for tangle in range(kept):
        if pool.within[tangle] != NONE:
            pool.within[tangle] = number[pool.within[tangle]]
    pool.many[0] = kept
    return many - kept
