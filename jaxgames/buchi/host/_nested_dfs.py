"""Accepting cycles by nested depth-first search."""

import numpy as np

from jaxgames.host import linear
from jaxgames.tuning.buchi import POLL

NO_CYCLE = -1
"""Witness where there is no accepting cycle."""

STOPPED = -2
"""Witness where the search was stopped."""

WHITE, CYAN, BLUE, RED = range(4)
"""Colours: not found; on the way of the first search; left by it, not by the second;
left, and no accepting cycle is reached from there."""


@linear
def nested_dfs(row_ptr, dst, accepting, starts, vertices, stop):
    """Nested depth-first search with early ends, as improved by Schwoon and Esparza.

    A first search goes through the graph; where it leaves an accepting vertex, a second
    one looks for a way back to what the first one still has on its way. Both ends of an
    edge to such a vertex already make a cycle if one of them accepts. O(V + E) time.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        accepting: bool `[V]`.
        starts: int32 `[K]`, where to search from.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        stop: int8 `[1]`; the search gives up soon after it is not 0.

    Returns:
        An accepting vertex on a cycle that is reached from a start, or NO_CYCLE, or
        STOPPED.

    References:
        Schwoon and Esparza, A note on on-the-fly verification algorithms, TACAS 2005,
        doi:10.1007/978-3-540-31980-1_12.
    """
    size = len(row_ptr) - 1
    colour = np.zeros(size, np.int8)
    # The way of the first search: a vertex, its next edge, whether all that it has led
    # to is red.
    path = np.empty(size, np.int32)
    edge = np.empty(size, np.int32)
    all_red = np.empty(size, np.bool_)
    # That of the second one.
    inner_path = np.empty(size, np.int32)
    inner_edge = np.empty(size, np.int32)
    entered = 0
    for start in starts:
        if colour[start] != WHITE or (vertices is not None and not vertices[start]):
            continue
        depth = 0
        path[0], edge[0], all_red[0] = start, row_ptr[start], True
        colour[start] = CYAN
        while depth >= 0:
            v = path[depth]
            if edge[depth] < row_ptr[v + 1]:
                w = dst[edge[depth]]
                if vertices is not None and not vertices[w]:
                    edge[depth] += 1
                elif colour[w] == WHITE:
                    # The edge is looked at again once w has been left.
                    depth += 1
                    path[depth], edge[depth], all_red[depth] = w, row_ptr[w], True
                    colour[w] = CYAN
                    entered += 1
                    if entered % POLL == 0 and stop[0] != 0:
                        return STOPPED
                else:
                    if colour[w] == CYAN:
                        if accepting[v]:
                            return v
                        if accepting[w]:
                            return w
                    if colour[w] != RED:
                        all_red[depth] = False
                    edge[depth] += 1
                continue
            if all_red[depth]:
                colour[v] = RED
            elif accepting[v]:
                inner = 0
                inner_path[0], inner_edge[0] = v, row_ptr[v]
                while inner >= 0:
                    u = inner_path[inner]
                    if inner_edge[inner] == row_ptr[u + 1]:
                        inner -= 1
                        continue
                    w = dst[inner_edge[inner]]
                    inner_edge[inner] += 1
                    if vertices is not None and not vertices[w]:
                        continue
                    if colour[w] == CYAN:
                        return v
                    if colour[w] == BLUE:
                        colour[w] = RED
                        inner += 1
                        inner_path[inner], inner_edge[inner] = w, row_ptr[w]
                        entered += 1
                        if entered % POLL == 0 and stop[0] != 0:
                            return STOPPED
                colour[v] = RED
            else:
                colour[v] = BLUE
            depth -= 1
    return NO_CYCLE
