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
from jaxgames.tuning.parity import POLL

OUT = -1
"""Box of a vertex that has been dealt with in this pass, or is won."""

SOLVED, SPENT, FULL, STOPPED, STUCK = 0, 1, 2, 3, 4
"""How learning ends: all is won; the budget is spent; the pool is full; somebody asked
for an end; or a pass has found nothing, which no pass does."""

NONE = -1
"""No row."""

NEVER = 2**31 - 1
"""Ways out of a tangle that is not in the box as a whole."""


class Search(NamedTuple):
    """What is known of the vertices while regions are searched for.

    Regions are numbered as they are met. A vertex of region `r` has `2 r` while it
    waits to attract others, and `2 r + 1` from then on.
    """

    box: np.ndarray  # int32: the part of the game that it is in
    joined: np.ndarray  # int64: the region that it joined last
    counted: np.ndarray  # int64: the region that its ways out were counted for
    left: np.ndarray  # int32: how many of its edges avoid that region
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


class Pool(NamedTuple):
    """Tangles, as rows: one for each vertex of a tangle, and for each way out of it.

    Tangle `t` has the rows `begin[t]` to `begin[t + 1] - 1`, and the ways out
    `begin_out[t]` to `begin_out[t + 1] - 1`.
    """

    player: np.ndarray  # int8, by tangle
    begin: np.ndarray  # int32
    begin_out: np.ndarray  # int32
    counted: np.ndarray  # int64: the region that its ways out were counted for
    left: np.ndarray  # int32: how many of them avoid that region
    vertex: np.ndarray  # int32, by row
    move: np.ndarray  # int32: the edge that the player takes there, NO_EDGE if none
    out: np.ndarray  # int32, by way out: where it leads
    of: np.ndarray  # int32: its tangle
    after: np.ndarray  # int32: the next way out that leads there
    first: np.ndarray  # int32 [V]: the first way out that leads to a vertex
    many: np.ndarray  # int64 [1]: how many tangles there are


def new_search(size: int) -> Search:
    """For a game of so many vertices."""

    def words(times: int = 1) -> np.ndarray:
        return np.empty(times * size, np.int32)

    stamps = np.full((3, size), -1, np.int64)
    return Search(
        box=np.full(size, OUT, np.int32),
        joined=stamps[0],
        counted=stamps[1],
        left=words(),
        marked=stamps[2],
        number=words(),
        queue=words(),
        rivals=words(),
        path=words(5).reshape(size, 5),
        rest=words(),
        listed=words(2),
        boxes=np.empty((size + 1, 3), np.int32),
        found=words(),
        many=np.zeros(2, np.int64),
        clock=np.zeros(1, np.int64),
    )


def new_pool(size: int, rows: int) -> Pool:
    """Room for so many vertices of tangles, half as many ways out, and tangles."""
    ways = many = (rows + 1) // 2
    pool = Pool(
        player=np.empty(many, np.int8),
        begin=np.empty(many + 1, np.int32),
        begin_out=np.empty(many + 1, np.int32),
        counted=np.empty(many, np.int64),
        left=np.empty(many, np.int32),
        vertex=np.empty(rows, np.int32),
        move=np.empty(rows, np.int32),
        out=np.empty(ways, np.int32),
        of=np.empty(ways, np.int32),
        after=np.empty(ways, np.int32),
        first=np.full(size, NONE, np.int32),
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


@compiled
def attract_with_tangles(game, search, pool, move, queue, begin, end, asks, stop):
    """Attracts to queue[:end] within a box; `asks` are player, box and region.

    What is queued has joined the region, and queue[:begin] has attracted what it can.
    Returns how far the queue was worked off, and its end; and how many edges and rows
    were looked at.
    """
    player, box, region = asks
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    boxes, joined = search.box, search.joined
    counted, left = search.counted, search.left
    players, first, after, tangles = pool.player, pool.first, pool.after, pool.of
    waits, begin, work = 2 * region, np.int64(begin), np.int64(0)
    while begin < end and (begin % POLL != 0 or stop[0] == 0):
        v = queue[begin]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            if boxes[u] != box or joined[u] >= waits:
                continue
            if owners[u] & 1 == player:
                move[u] = in_edge[k]
            else:
                if counted[u] != region:
                    counted[u] = region
                    avoid = np.int64(0)
                    for e in range(row_ptr[u], row_ptr[u + 1]):
                        w = head[e]
                        avoid += boxes[w] == box and joined[w] <= waits
                    left[u] = avoid
                    work += row_ptr[u + 1] - row_ptr[u]
                left[u] -= 1
                if left[u] > 0:
                    continue
            joined[u] = waits
            queue[end] = u
            end += 1
        work += 1 + in_ptr[v + 1] - in_ptr[v]
        row = np.int64(first[v])
        while row != NONE:
            tangle = tangles[row]
            work += 1
            if players[tangle] == player:
                end, more = _nearer(search, pool, move, queue, end, tangle, asks)
                work += more
            row = np.int64(after[row])
        joined[v] = waits + 1
        begin += 1
    return begin, end, work


@compiled
def _nearer(search, pool, move, queue, end, tangle, asks):
    """One way out of a tangle leads to the region now; if all do, it joins.

    Returns the end of the queue, and how many rows were looked at.
    """
    _, box, region = asks
    boxes, joined, waits = search.box, search.joined, 2 * region
    counted, left = pool.counted, pool.left
    vertices, moves, out = pool.vertex, pool.move, pool.out
    begin, stop = np.int64(pool.begin[tangle]), np.int64(pool.begin[tangle + 1])
    work = np.int64(0)
    if counted[tangle] != region:
        counted[tangle] = region
        avoid = np.int64(0)
        row = begin
        while row < stop and boxes[vertices[row]] == box:
            row += 1
        work += row - begin
        if row < stop:
            avoid = np.int64(NEVER)
        else:
            first, last = pool.begin_out[tangle], pool.begin_out[tangle + 1]
            for k in range(first, last):
                w = out[k]
                avoid += boxes[w] == box and joined[w] <= waits
            work += last - first
        left[tangle] = avoid
    left[tangle] -= left[tangle] != NEVER
    if left[tangle] == 0:
        for row in range(begin, stop):
            u = vertices[row]
            if joined[u] < waits:
                joined[u] = waits
                move[u] = moves[row]
                queue[end] = u
                end += 1
        work += stop - begin
    return end, work


@compiled
def forget(pool, key, won):
    """Takes tangles out of the pool that have a vertex which is won; how many."""
    players, begin, begin_out = pool.player, pool.begin, pool.begin_out
    vertices, moves, out, of = pool.vertex, pool.move, pool.out, pool.of
    many, kept = pool.many[0], np.int64(0)
    row, way = np.int64(0), np.int64(0)
    first, first_out = np.int64(0), np.int64(0)
    for tangle in range(many):
        last, last_out = np.int64(begin[tangle + 1]), np.int64(begin_out[tangle + 1])
        lives = True
        for k in range(first, last):
            lives = lives and key[vertices[k]] < won
        if lives:
            for k in range(first, last):
                vertices[row], moves[row] = vertices[k], moves[k]
                row += 1
            for k in range(first_out, last_out):
                out[way], of[way] = out[k], kept
                way += 1
            players[kept] = players[tangle]
            kept += 1
            begin[kept], begin_out[kept] = row, way
        first, first_out = last, last_out
    heads, after, counted = pool.first, pool.after, pool.counted
    heads.fill(NONE)
    for k in range(way):
        after[k] = heads[out[k]]
        heads[out[k]] = k
    for tangle in range(many):
        counted[tangle] = -1
    pool.many[0] = kept
    return many - kept
