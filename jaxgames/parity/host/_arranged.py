"""The arrays of a game as the host engines read it; and those of a part of it."""

import numpy as np

from jaxgames.graph.host import closing
from jaxgames.host import compiled, on_all_cores, on_ranges
from jaxgames.parity.host._attract import WON, Prepared
from jaxgames.parity.host._rows import ranges_of_edges
from jaxgames.tuning.parity import LEAST_PART, MOST_PARTS, WHOLE

NO_EDGES = np.empty(0, np.int32)

NO_LOOPS = np.empty((3, 0), np.int32)


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
    ranges = ranges_of_edges(len(head))
    # Where edges of a range belong. In the end those of the last are ends of rows.
    in_ptr = np.zeros(len(owner) + 1, np.int32)
    free = in_ptr[1:].reshape(1, len(owner))
    if len(ranges) > 1:
        free = np.zeros((len(ranges), len(owner)), np.int32)
    found = np.zeros((len(ranges), 2), np.int64)
    on_ranges(count_edges, ranges, source, head, owner, priority, free, found)
    useless = NO_LOOPS
    if found[:, 1].any():
        useless = replace_loops(row_ptr, source, head, owner, priority, free, found)
        useless = np.ascontiguousarray(useless.T)
    if useless.size:
        head = head.copy()  # it is the caller's
        head[useless[1]] = head[useless[2]]
    # Numpy asks the system for large pages where the machine code does not.
    in_tail, in_edge = np.empty_like(head), np.empty_like(head)
    edges_by_target = source, head, free, found, in_tail, in_edge
    top = int(priority.max(initial=0))
    key, order, rank, loop = arrange(owner, priority, top, *edges_by_target)
    if len(ranges) > 1:
        on_ranges(place_edges, ranges, *edges_by_target, loop)
        on_all_cores(name_tails, len(head), source, in_edge, in_tail)
        in_ptr[1:] = free[-1]
    return Prepared(
        *(key, row_ptr, head, in_ptr, in_tail, in_edge),
        *(order, rank, loop, edges, useless, size),
    )


@compiled
def count_edges(source, head, owner, priority, free, found, number, begin, end):
    """Counts the edges of a range by where they lead, and its loops.

    Also those loops that their owners lose by.
    """
    row, loops, useless = free[number], 0, 0
    for e in range(max(begin, 0), end):
        v = head[e]
        row[v] += 1
        if v == source[e]:
            loops += 1
            useless += (owner[v] ^ priority[v]) & 1
    found[number, 0], found[number, 1] = loops, useless


@compiled
def replace_loops(row_ptr, source, head, owner, priority, free, found):
    """Has loops that their owners lose by count where another edge of theirs leads.

    Args:
        row_ptr: as in `arranged`, like what follows.
        source: where edges begin.
        head: where they lead.
        owner: of vertices.
        priority: of vertices.
        free: int32 `[R, V]`, how many edges of a range lead to each vertex, as changed.
        found: int64 `[R, 2]`, how many loops each range has, without those changed,
            and how many that owners lose by.

    Returns:
        int32 `[L, 3]`, the loops that are changed: their vertices, which edges they
        are, and another edge of each, where they count as leading.
    """
    few, many = 0, len(head)
    for number in range(len(found)):
        few += found[number, 1]
    useless = np.empty((few, 3), np.int32)
    kept, e, number, left = 0, 0, 0, found[0, 1]
    while few > 0 and e < many:
        while left == 0:
            number += 1
            left = found[number, 1]
        v = head[e]
        if v == source[e] and (owner[v] ^ priority[v]) & 1 == 1:
            few -= 1
            left -= 1
            other, last = row_ptr[v], row_ptr[v + 1]
            while other < last and head[other] == v:
                other += 1
            if other < last:
                useless[kept, 0], useless[kept, 1], useless[kept, 2] = v, e, other
                free[number, v] -= 1
                free[number, head[other]] += 1
                found[number, 0] -= 1
                kept += 1
        e += 1
    return useless[:kept]


@compiled
def arrange(owner, priority, top, source, head, free, found, in_tail, in_edge):
    """What `Prepared` has of vertices and of loops, and where edges of ranges belong.

    Where there is one range alone, its edges are put there.

    Args:
        owner: of vertices.
        priority: of vertices.
        top: the largest.
        source: where edges begin.
        head: where they lead, useless loops elsewhere.
        free: as in `replace_loops`; becomes where these edges belong first.
        found: as in `replace_loops`.
        in_tail: as in `place_edges`.
        in_edge: likewise.
    """
    size, loops, at = len(owner), 0, 0
    begin = np.zeros(top + 2, np.int32)
    key, order, rank = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    for v in range(size):
        for number in range(len(free)):
            more = free[number, v]
            free[number, v] = at
            at += more
        begin[top - priority[v] + 1] += 1
        key[v] = 4 * priority[v] + owner[v]
    for after in range(top + 1):
        begin[after + 1] += begin[after]
    for v in range(size):
        place = begin[top - priority[v]]
        begin[top - priority[v]] += 1
        order[place], rank[v] = v, place
    for number in range(len(found)):
        loops += found[number, 0]
    loop = np.empty(loops, np.int32)
    if len(free) == 1:
        many = len(head)
        place_edges(source, head, free, found, in_tail, in_edge, loop, 0, 0, many)
        name_tails(source, in_edge, in_tail, 0, many)
    return key, order, rank, loop


@compiled
def place_edges(source, head, frees, found, in_tail, in_edge, loop, number, begin, end):
    """Puts the edges of a range where they belong, and its loops after those before.

    Args:
        source: where edges begin.
        head: where they lead, useless loops elsewhere.
        frees: `free` of `arrange`; becomes where the edges of ranges end.
        found: as in `replace_loops`.
        in_tail: int32 `[E]`, which is filled as that of `Prepared`.
        in_edge: the same.
        loop: int32, which gets loops.
        number: of the range.
        begin: where it begins.
        end: where it ends.
    """
    free, loops = frees[number], 0
    for before in range(number):
        loops += found[before, 0]
    for e in range(max(begin, 0), end):
        v = head[e]
        place = free[v]
        free[v] = place + 1
        in_edge[place] = e
        if source[e] == v:
            loop[loops] = e
            loops += 1


@compiled
def name_tails(source, in_edge, in_tail, begin, end):
    """Writes where edges begin that are in the order of where they lead."""
    for k in range(max(begin, 0), end):
        in_tail[k] = source[in_edge[k]]


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
