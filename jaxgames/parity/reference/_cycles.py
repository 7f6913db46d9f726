"""Which edges lie on cycles of which priorities."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.reference._game import NOBODY
from jaxgames.solution import NO_EDGE

NEVER = 2**31 - 1
"""Priority of an edge that lies on no cycle."""


class _Search(NamedTuple):
    """Depth-first search; nothing needs to be reset between two searches."""

    first: np.ndarray  # edge out of each vertex that is next to be followed
    link: np.ndarray  # and the one after each edge
    found: np.ndarray  # when each vertex was found
    low: np.ndarray  # earliest vertex of its component known to be reached from it
    component: np.ndarray  # a vertex of its component, NOBODY while that is open
    path: np.ndarray
    open: np.ndarray  # vertices of open components, as they were found


@compiled
def cycle_priorities(tail, head, priority):
    """For each edge, the least p such that it lies on a cycle of priorities up to p.

    Halves the range of answers: an edge whose ends are in one strongly connected
    component when only the lower half exists has its answer there; for the other edges,
    these components are single vertices. Overwrites `tail` and `head`.
    """
    size, num_edges = len(priority), len(tail)
    least = np.full(num_edges, NEVER, np.int32)
    birth = np.maximum(priority[tail], priority[head])
    top = 0
    for e in range(num_edges):
        top = max(top, birth[e])
    search = _Search(
        np.full(size, NO_EDGE, np.int32),
        np.empty(num_edges, np.int32),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full(size, NOBODY, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    merged = np.arange(size)
    edges = np.arange(num_edges)
    clock = np.int64(0)
    # Parts of `edges`, and the range of their answers; top + 1 stands for never.
    todo = [(0, num_edges, 0, top + 1)]
    while len(todo) > 0:
        begin, end, low, high = todo.pop()
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
        clock = _components(search, tail, head, edges[begin:cut], clock)
        born, cut = cut, begin
        for k in range(begin, born):
            e = edges[k]
            if search.component[tail[e]] == search.component[head[e]]:
                edges[k], edges[cut] = edges[cut], e
                cut += 1
        # The lower half comes first: the upper one relies on what it merges.
        todo.append((cut, end, middle + 1, high))
        todo.append((begin, cut, low, middle))
    return least


@compiled
def _find(merged, v):
    """The vertex that stands for v, with path halving."""
    while merged[v] != v:
        merged[v] = merged[merged[v]]
        v = merged[v]
    return v


@compiled
def _components(search, tail, head, edges, clock):
    """Tarjan's strongly connected components of the graph of some edges."""
    start = clock
    for e in edges:
        search.link[e] = search.first[tail[e]]
        search.first[tail[e]] = e
    for root in tail[edges]:
        if search.found[root] > start:
            continue
        depth, opened, reached = 0, 0, root
        while True:
            if reached != NOBODY:
                clock += 1
                search.found[reached] = search.low[reached] = clock
                search.component[reached] = NOBODY
                search.path[depth] = search.open[opened] = reached
                depth, opened, reached = depth + 1, opened + 1, NOBODY
            v = search.path[depth - 1]
            e = search.first[v]
            if e != NO_EDGE:
                search.first[v] = search.link[e]
                w = head[e]
                if search.found[w] <= start:
                    reached = w
                elif search.component[w] == NOBODY:
                    search.low[v] = min(search.low[v], search.found[w])
                continue
            if search.low[v] == search.found[v]:
                while search.component[v] == NOBODY:
                    opened -= 1
                    search.component[search.open[opened]] = v
            depth -= 1
            if depth == 0:
                break
            u = search.path[depth - 1]
            search.low[u] = min(search.low[u], search.low[v])
    return clock
