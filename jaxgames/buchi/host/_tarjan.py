"""Accepting cycles by strongly connected components that are found as they grow."""

import numpy as np

from jaxgames.buchi.host._nested_dfs import NO_CYCLE, POLL, STOPPED
from jaxgames.host import linear

CLOSED = -1
"""Number of a vertex whose component has been left."""


@linear
def tarjan(row_ptr, dst, accepting, starts, vertices, stop):
    """Tarjan's search, which ends with the first edge that closes an accepting cycle.

    Beside the way of the search there is a stack of what is known of the components
    that it passes through: where each begins, and an accepting vertex of it. An edge to
    a vertex on an open component makes one of all that come after it. No edge is looked
    at twice: O(V + E) time, five words for each vertex.

    It takes and returns what `nested_dfs` does.

    References:
        Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
        (1972), doi:10.1137/0201010.
        Couvreur, On-the-fly verification of linear temporal logic, FM 1999,
        doi:10.1007/3-540-48119-2_16.
    """
    size = len(row_ptr) - 1
    number = np.zeros(size, np.int32)
    opened = np.empty(size, np.int32)
    path = np.empty((size, 2), np.int32)  # a vertex, and its next edge
    parts = np.empty((size, 2), np.int32)  # the first number, an accepting vertex
    num_open, entered = 0, 0
    for start in starts:
        if number[start] != 0 or (vertices is not None and not vertices[start]):
            continue
        depth, top = 0, 0
        opened[num_open] = start
        num_open += 1
        number[start] = num_open
        path[0, 0], path[0, 1] = start, row_ptr[start]
        parts[0, 0], parts[0, 1] = num_open, start if accepting[start] else NO_CYCLE
        while depth >= 0:
            v, e = path[depth, 0], path[depth, 1]
            if e < row_ptr[v + 1]:
                path[depth, 1] = e + 1
                w = dst[e]
                if number[w] == CLOSED or (vertices is not None and not vertices[w]):
                    continue
                if number[w] == 0:
                    depth += 1
                    top += 1
                    opened[num_open] = w
                    num_open += 1
                    number[w] = num_open
                    path[depth, 0], path[depth, 1] = w, row_ptr[w]
                    parts[top, 0] = num_open
                    parts[top, 1] = w if accepting[w] else NO_CYCLE
                    entered += 1
                    if entered % POLL == 0 and stop[0] != 0:
                        return STOPPED
                    continue
                found = parts[top, 1]
                while parts[top, 0] > number[w]:
                    top -= 1
                    found = max(found, parts[top, 1])
                if found != NO_CYCLE:
                    return found
                continue
            if parts[top, 0] == number[v]:
                while num_open >= parts[top, 0]:
                    num_open -= 1
                    number[opened[num_open]] = CLOSED
                top -= 1
            depth -= 1
    return NO_CYCLE
