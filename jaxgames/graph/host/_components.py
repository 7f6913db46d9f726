"""Tarjan's strongly connected components, in one array of numbers."""

import numpy as np

from jaxgames.host import linear
from jaxgames.tuning.graph import POLL

WORDS = 5
"""Words that the search needs for each vertex."""


@linear
def tarjan(row_ptr, dst, vertices, edges, stop, room):
    """The strongly connected components, as a depth-first search closes them.

    A vertex has one number, by which Pearce tells all there is to know of it [2]: 0
    until it is found; then its place on the stack of open vertices; and once its
    component `c` is closed, `size - c`. Open places are always less than the numbers of
    closed vertices, so that an edge to a closed one lowers nothing: each edge reads one
    number and compares it. How low a vertex reaches is known while the search is there,
    and kept on the way where it goes deeper.

    O(V + E) time, five words for each vertex, no recursion.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        edges: bool `[E]`, the edges that there are, or None for all.
        stop: int8 `[1]`; the search gives up soon after it is not 0.
        room: int32 `[WORDS V]`, to work in. Numpy asks the system for large pages,
            in which the search is faster, where numba does not.

    Returns:
        How many components there are, -1 if stopped; the component of each vertex
        (int32 `[V]`, -1 where there is no vertex), numbered so that edges lead to equal
        or smaller numbers; and the vertices, components of large numbers first: edges
        between two components lead to the right.

    References:
        [1] Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
        (1972), doi:10.1137/0201010.
        [2] Pearce, A space-efficient algorithm for finding strongly connected
        components, Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2015.08.010.
    """
    size = len(row_ptr) - 1
    number, closed = room[:size], size
    number[:] = 0
    if vertices is not None:
        for v in range(size):
            if not vertices[v]:
                number[v] = size + 1
    # Open vertices from the left, closed ones from the right.
    stack = room[size : 2 * size]
    # The way from the root: a vertex, its next edge, and the lowest place that it is
    # known to reach.
    path = room[2 * size : WORDS * size].reshape((size, 3))
    num_open, count, entered = 0, 0, 0
    for root in range(size):
        if root % POLL == 0 and stop[0] != 0:
            return -1, number, stack[closed:]
        if number[root] != 0:
            continue
        depth = 0
        v = np.int64(root)
        stack[num_open] = v
        num_open += 1
        number[v] = num_open
        low = np.int64(num_open)
        e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        while True:
            if e < end:
                w = np.int64(dst[e])
                there = edges is None or edges[e]
                e += 1
                if not there:
                    continue
                place = np.int64(number[w])
                if place == 0:
                    path[depth, 0], path[depth, 1], path[depth, 2] = v, e, low
                    depth += 1
                    v = w
                    stack[num_open] = v
                    num_open += 1
                    number[v] = num_open
                    low = np.int64(num_open)
                    e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
                    entered += 1
                    if entered % POLL == 0 and stop[0] != 0:
                        return -1, number, stack[closed:]
                elif place < low:
                    low = place
                continue
            place = np.int64(number[v])
            if low == place:
                # Nothing open before v is reached: what was opened since v is its
                # component.
                while num_open >= place:
                    num_open -= 1
                    closed -= 1
                    w = stack[num_open]
                    number[w] = size - count
                    stack[closed] = w
                count += 1
                low = np.int64(size)
            if depth == 0:
                break
            depth -= 1
            v, e = np.int64(path[depth, 0]), np.int64(path[depth, 1])
            end = np.int64(row_ptr[v + 1])
            low = min(low, np.int64(path[depth, 2]))
    for v in range(size):
        number[v] = size - number[v]
    return count, number, stack[closed:]


@linear
def canonical(count, component):
    """The components numbered anew, in order of their smallest vertices: int32 `[V]`.

    O(V) time.
    """
    new = np.full(count, -1, np.int32)
    label = np.empty(len(component), np.int32)
    found = 0
    for v in range(len(component)):
        c = component[v]
        if c < 0:
            label[v] = -1
            continue
        if new[c] < 0:
            new[c] = found
            found += 1
        label[v] = new[c]
    return label


@linear
def closing(row_ptr, dst, vertices, edges):
    """The components in the order in which the search closes them, for compiled code.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        edges: bool `[E]`, the edges that there are, or None for all.

    Returns:
        The component of each vertex, as `tarjan`; the vertices in order of their
        components; and where each component begins there, and the last one ends.
    """
    stop = np.zeros(1, np.int8)
    room = np.empty(WORDS * (len(row_ptr) - 1), np.int32)
    count, component, order = tarjan(row_ptr, dst, vertices, edges, stop, room)
    members = np.empty(len(order), np.int32)
    for place in range(len(order)):
        members[place] = order[len(order) - 1 - place]
    begins = np.zeros(count + 1, np.int32)
    for v in members:
        begins[component[v] + 1] += 1
    for c in range(count):
        begins[c + 1] += begins[c]
    return component, members, begins
