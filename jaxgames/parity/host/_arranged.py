"""The arrays of a game as the host engines read it; and those of a part of it."""

import numpy as np

from jaxgames.graph.host import closing
from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON, Prepared
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import LEAST_PART, MOST_PARTS, WHOLE

NO_EDGES, NO_LOOPS = np.empty(0, np.int32), np.empty((3, 0), np.int32)


def arranged(
    row_ptr, source, head, owner, priority, size, edges=NO_EDGES, useless=NO_LOOPS
) -> Prepared:
    """A game from its rows, its owners and its compressed priorities.

    Args:
        row_ptr: int32 `[V + 1]`.
        source: int32 `[E]`, where edges begin.
        head: int32 `[E]`, where they lead.
        owner: `[V]`.
        priority: int32 `[V]`.
        size: as in `Prepared`, like what follows.
        edges: of a part of a game.
        useless: loops that lead elsewhere.
    """
    top = int(priority.max(initial=0))
    key, in_ptr, in_tail, in_edge, order, rank, loops = arrange(
        source, head, owner, priority, top
    )
    return Prepared(
        *(key, row_ptr, head, in_ptr, in_tail, in_edge),
        *(order, rank, loops, edges, useless, size),
    )


@compiled
def arrange(source, head, owner, priority, top):
    """What `Prepared` has of vertices, and of edges by where they lead."""
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


@compiled
def first_exit(row_ptr, head, vertices):
    """The first edge of each of some vertices that is no loop, NO_EDGE if none is."""
    found = np.full(len(vertices), NO_EDGE, np.int32)
    for index in range(len(vertices)):
        v = vertices[index]
        e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        while e < last and head[e] == v:
            e += 1
        if e < last:
            found[index] = e
    return found


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
