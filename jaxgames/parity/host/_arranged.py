"""The arrays of a game as the host engines read it; and those of a part of it."""

import numpy as np

from jaxgames.graph.host import closing
from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON, Prepared
from jaxgames.tuning.parity import LEAST_PART, MOST_PARTS, WHOLE

NO_EDGES = np.empty(0, np.int32)


def arranged(row_ptr, source, head, owner, priority, size, edges=NO_EDGES) -> Prepared:
    """A game from its rows, its owners and its compressed priorities.

    Args:
        row_ptr: int32 `[V + 1]`.
        source: int32 `[E]`, where edges begin.
        head: int32 `[E]`, where they lead.
        owner: `[V]`.
        priority: int32 `[V]`.
        size: as in `Prepared`, like what follows.
        edges: of a part of a game.
    """
    top = int(priority.max(initial=0))
    in_ptr, useless, loops = count_edges(row_ptr, source, head, owner, priority)
    useless = np.ascontiguousarray(useless.T)
    if useless.size > 0:
        head = head.copy()  # it is the caller's
        head[useless[1]] = head[useless[2]]
    # Numpy asks the system for large pages where the machine code does not.
    in_tail, in_edge = np.empty_like(head), np.empty_like(head)
    key, order, rank, loop = arrange(
        source, head, owner, priority, top, in_ptr, loops, in_tail, in_edge
    )
    return Prepared(
        *(key, row_ptr, head, in_ptr, in_tail, in_edge),
        *(order, rank, loop, edges, useless, size),
    )


@compiled
def count_edges(row_ptr, source, head, owner, priority):
    """Rows by where edges lead, loops that are of no use, and how many others are.

    Returns:
        int32 `[V + 1]`, the edges that lead to each vertex, one place further on; int32
        `[L, 3]`, the loops that their owners lose by where these have other edges:
        their vertices, which edges they are, and another edge of each, where they count
        as leading; and a number.
    """
    many, loops, few = len(head), 0, 0
    in_ptr = np.zeros(len(owner) + 1, np.int32)
    for e in range(many):
        v = head[e]
        in_ptr[v + 1] += 1
        if v == source[e]:
            loops += 1
            few += (owner[v] ^ priority[v]) & 1
    useless = np.empty((few, 3), np.int32)
    kept, e = 0, 0
    while few > 0 and e < many:
        v = head[e]
        if v == source[e] and (owner[v] ^ priority[v]) & 1 == 1:
            few -= 1
            other, last = row_ptr[v], row_ptr[v + 1]
            while other < last and head[other] == v:
                other += 1
            if other < last:
                useless[kept, 0], useless[kept, 1], useless[kept, 2] = v, e, other
                in_ptr[v + 1] -= 1
                in_ptr[head[other] + 1] += 1
                kept += 1
        e += 1
    return in_ptr, useless[:kept], loops - kept


@compiled
def arrange(source, head, owner, priority, top, in_ptr, loops, in_tail, in_edge):
    """What `Prepared` has of vertices and of loops, and edges by where they lead.

    Args:
        source: where edges begin.
        head: where they lead, useless loops elsewhere.
        owner: of vertices.
        priority: of vertices.
        top: the largest.
        in_ptr: from `count_edges`; becomes that of `Prepared`.
        loops: how many there are.
        in_tail: int32 `[E]`, which is filled as that of `Prepared`.
        in_edge: the same.
    """
    size, many = len(owner), len(head)
    begin = np.zeros(top + 2, np.int32)
    key, order, rank = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
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
    return key, order, rank, loop


def parts_of(game: Prepared, key: np.ndarray) -> list[np.ndarray]:
    """What is not won, in parts: strongly connected components, small ones together.

    Each is to be solved after those before it: what it leads to is won by then, so that
    the rest of it is a game of its own. O(V + E) time.

    Returns:
        The vertices of each, in order; nothing where one part is nearly all.
    """
    _, members, begins = closing(game.row_ptr, game.head, key < 4 * WON, None)
    total, ends = len(members), [0]
    least = max(LEAST_PART, total // MOST_PARTS)
    while ends[-1] < total:
        place = np.searchsorted(begins, ends[-1] + least)
        ends.append(int(begins[min(place, len(begins) - 1)]))
    if np.diff(ends).max(initial=0) > WHOLE * total:
        return []
    return [
        np.sort(members[first:last])
        for first, last in zip(ends, ends[1:], strict=False)
    ]


def part_of(game: Prepared, vertices: np.ndarray) -> Prepared:
    """The game on some vertices, whose numbers rise: its `edges` are those of the game.

    Each needs a successor among them.
    """
    size = len(vertices)
    place = np.full(len(game.key), -1, np.int32)
    place[vertices] = np.arange(size, dtype=np.int32)
    first, last = game.row_ptr[vertices], game.row_ptr[vertices + 1]
    many = last - first
    shift = first - (np.cumsum(many) - many)
    edges = np.arange(many.sum(), dtype=np.int32) + np.repeat(shift, many)
    source, head = (
        np.repeat(np.arange(size, dtype=np.int32), many),
        place[game.head[edges]],
    )
    stays = head >= 0
    edges, source, head = edges[stays].astype(np.int32), source[stays], head[stays]
    row_ptr = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(source, minlength=size), out=row_ptr[1:])
    owner, priority = game.key[vertices] & 1, game.key[vertices] >> 2
    return arranged(row_ptr, source, head, owner, priority, size, edges)
