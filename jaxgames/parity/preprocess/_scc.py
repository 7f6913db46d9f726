"""Strongly connected components on the host."""

import numpy as np

from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE

NONE = -1
"""Component of a vertex that has none."""


@compiled
def strong_components(row_ptr, dst, alive):
    """Tarjan's strongly connected components of the graph on some vertices.

    O(V + E) time.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        alive: bool `[V]`, the vertices that there are.

    Returns:
        The component of each vertex (int32 `[V]`, -1 where not alive), numbered so that
        edges lead to equal or smaller numbers; the vertices in order of their
        components; and where each component begins there, and the last one ends.

    References:
        R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
        (1972), doi:10.1137/0201010.

    Examples:
        >>> import numpy as np
        >>> row_ptr, dst = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 2])
        >>> strong_components(row_ptr, dst, np.ones(3, bool))[0]
        array([1, 1, 0], dtype=int32)
    """
    size = len(alive)
    component = np.full(size, NONE, np.int32)
    members, begins = np.empty(size, np.int32), np.zeros(size + 1, np.int32)
    count, end = 0, 0
    found, low = np.zeros(size, np.int32), np.zeros(size, np.int32)  # 0: not found
    following = row_ptr[:-1].copy()  # the edge of each vertex that is next to be tried
    path, waiting = np.empty(size, np.int32), np.empty(size, np.int32)
    clock, opened = 0, 0
    for root in range(size):
        if not alive[root] or found[root] > 0:
            continue
        depth = 0
        reached = np.int64(root)
        while reached != NO_EDGE or depth > 0:
            if reached != NO_EDGE:
                clock += 1
                found[reached] = low[reached] = clock
                path[depth] = waiting[opened] = reached
                depth, opened = depth + 1, opened + 1
                reached = np.int64(NO_EDGE)
            v = path[depth - 1]
            e = following[v]
            if e < row_ptr[v + 1]:
                following[v] = e + 1
                w = dst[e]
                if alive[w] and found[w] == 0:
                    reached = np.int64(w)
                elif alive[w] and component[w] == NONE:
                    low[v] = min(low[v], found[w])
                continue
            if low[v] == found[v]:
                begins[count] = end
                while component[v] == NONE:
                    opened -= 1
                    component[waiting[opened]] = count
                    members[end] = waiting[opened]
                    end += 1
                count += 1
            depth -= 1
            if depth > 0:
                u = path[depth - 1]
                low[u] = min(low[u], low[v])
    begins[count] = end
    return component, members[:end], begins[: count + 1]
