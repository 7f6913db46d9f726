"""Which edges lie on cycles of which priorities."""

import numpy as np

from jaxgames.graph.host import closing
from jaxgames.host import compiled

NOBODY = -1
"""No vertex."""

NEVER = 2**31 - 1
"""Priority of an edge that lies on no cycle."""

DEPTH = 40
"""Ranges that wait: more than priorities have bits."""


@compiled
def cycle_priorities(tail, head, priority, closed):
    """For each edge, the least p such that it lies on a cycle of priorities up to p.

    Halves the range of answers: an edge whose ends are in one strongly connected
    component when only the lower half exists has its answer there; for the other edges,
    these components are single vertices. Overwrites `tail` and `head`. All edges lie on
    cycles, if these are `closed`.
    """
    size, num_edges = len(priority), len(tail)
    least = np.full(num_edges, NEVER, np.int32)
    birth, top = np.empty(num_edges, np.int32), 0
    for e in range(num_edges):
        birth[e] = max(priority[tail[e]], priority[head[e]])
        top = max(top, birth[e])
    place = np.full(size, NOBODY, np.int32)
    merged = np.arange(size)
    edges = np.arange(num_edges)
    # A stack of parts of `edges` with the range of their answers; top + 1 stands for
    # never. A range waits for each halving at most.
    todo, waiting = np.empty((DEPTH, 4), np.int64), 1
    most = top if closed else top + 1
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, num_edges, 0, most
    while waiting > 0:
        waiting -= 1
        begin, end = todo[waiting, 0], todo[waiting, 1]
        low, high = todo[waiting, 2], todo[waiting, 3]
        if begin == end or low > top:
            continue
        if low == high:
            for e in edges[begin:end]:
                least[e] = low
                merged[_find(merged, tail[e])] = _find(merged, head[e])
            continue
        # The first search finds the edges on no cycle, which are many.
        middle = top if high > top else (low + high) // 2
        cut = begin
        for k in range(begin, end):
            e = edges[k]
            if birth[e] <= middle:
                tail[e], head[e] = _find(merged, tail[e]), _find(merged, head[e])
                edges[k], edges[cut] = edges[cut], e
                cut += 1
        component = _components(tail, head, edges[begin:cut], place)
        born, cut = cut, begin
        for k in range(begin, born):
            e = edges[k]
            if component[place[tail[e]]] == component[place[head[e]]]:
                edges[k], edges[cut] = edges[cut], e
                cut += 1
        for e in edges[begin:born]:
            place[tail[e]] = place[head[e]] = NOBODY
        # The lower half comes first: the upper one relies on what it merges.
        todo[waiting, 0], todo[waiting, 1] = cut, end
        todo[waiting, 2], todo[waiting, 3] = middle + 1, high
        waiting += 1
        todo[waiting, 0], todo[waiting, 1] = begin, cut
        todo[waiting, 2], todo[waiting, 3] = low, middle
        waiting += 1
    return least


@compiled
def _find(merged, v):
    """The vertex that stands for v, with path halving."""
    while merged[v] != v:
        merged[v] = merged[merged[v]]
        v = merged[v]
    return v


@compiled
def _components(tail, head, edges, place):
    """Strongly connected components of the graph of some edges.

    Numbers the ends of these edges in `place`; that of all others is NOBODY.
    """
    count = 0
    row_ptr = np.zeros(2 * len(edges) + 2, np.int32)
    for e in edges:
        for v in (tail[e], head[e]):
            if place[v] == NOBODY:
                place[v] = count
                count += 1
        row_ptr[place[tail[e]] + 2] += 1
    for v in range(count):
        row_ptr[v + 2] += row_ptr[v + 1]
    dst = np.empty(len(edges), np.int32)
    for e in edges:  # the offset of each row moves to where the next one begins
        v = place[tail[e]] + 1
        dst[row_ptr[v]] = place[head[e]]
        row_ptr[v] += 1
    component, _, _ = closing(row_ptr[: count + 1], dst, None, None)
    return component
