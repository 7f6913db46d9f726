"""Tarjan's strongly connected components, in one array of numbers."""

import numpy as np

from jaxgames.host import linear
from jaxgames.tuning.graph import AHEAD_FROM, POLL

WORDS = 6
"""Words that the search needs for each vertex."""

BROKEN = -2
"""How many components there are where rows are none, or an edge leads to no vertex."""


@linear
def tarjan(row_ptr, dst, vertices, edges, stop, room):
    """The strongly connected components, as a depth-first search closes them.

    O(V + E) time, six words for each vertex, no recursion: see `search`.

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
    """
    size = len(row_ptr) - 1
    number, stack = room[:size], room[size : 2 * size]
    path = room[2 * size : WORDS * size].reshape((size, 4))
    count, closed = search(
        row_ptr, dst, vertices, edges, stop, number, stack, path, stack
    )
    return count, number, stack[closed:]


@linear
def components(row_ptr, dst, vertices, edges, stop, room, label):
    """The strongly connected components, numbered in order of their smallest vertices.

    O(V + E) time. Rows are looked at as they are read, if all vertices are there: they
    need not have been checked.

    Args:
        row_ptr: int32 `[V + 1]`, from 0 to E.
        dst: int32 `[E]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        edges: bool `[E]`, the edges that there are, or None for all.
        stop: int8 `[1]`; the search gives up soon after it is not 0.
        room: int32 `[WORDS V]`, to work in.
        label: int32 `[V]`: is given the component of each vertex, -1 where there is no
            vertex.

    Returns:
        How many components there are, -1 if stopped, BROKEN if rows are none; then
        labels are none either.
    """
    count, first = smallest(row_ptr, dst, vertices, edges, stop, room)
    if count >= 0:
        enumerate_first(first, label)
    return count


@linear
def smallest(row_ptr, dst, vertices, edges, stop, room):
    """The smallest vertex of the component of each vertex.

    Returns:
        How many components there are, as of `components`; and int32 `[V]`, which lies
        in the room: -1 where there is no vertex.
    """
    size = len(row_ptr) - 1
    number, stack = room[:size], room[size : 2 * size]
    path = room[2 * size : WORDS * size].reshape((size, 4))
    count, _ = search(row_ptr, dst, vertices, edges, stop, number, stack, path, None)
    return count, number


@linear
def enumerate_first(first, label):
    """Numbers sets in order of their smallest vertices.

    Args:
        first: int32 `[V]`, the smallest vertex of the set of each vertex; -1 if it is
            in none.
        label: int32 `[V]`, which may be the same array: is given their numbers.

    Returns:
        How many sets there are.
    """
    count = 0
    for v in range(len(first)):
        w = np.int64(first[v])
        if w == v:
            label[v] = count
            count += 1
        elif w < 0:
            label[v] = -1
        else:
            label[v] = label[w]
    return count


@linear
def search(row_ptr, dst, vertices, edges, stop, number, stack, path, order):
    """Tarjan's depth-first search.

    A vertex has one number, by which Pearce tells all there is to know of it [2]. It is
    the least of all, `unseen`, until the vertex is found; then its place on the stack
    of open vertices, less the size; and once its component is closed, what names that,
    which is not negative. So an edge to a closed vertex lowers nothing: each edge reads
    one number, and most need one comparison. How low a vertex reaches is known while
    the search is there, and kept on the way where it goes deeper.

    In a large graph the search reads the rows of a vertex's next successors when it
    comes to the vertex: they are on their way from the memory while it goes on.

    No number is trusted: what leads out of the arrays ends the search. So rows may be
    those of a caller, who may even write to them meanwhile.

    Args:
        row_ptr: as of `tarjan`, like all up to `stop`.
        dst: targets.
        vertices: those that there are.
        edges: those that there are.
        stop: says when to give up.
        number: int32 `[V]`: is given the names of components, -1 where there is no
            vertex.
        stack: int32 `[V]` for open vertices, from the left.
        path: int32 `[V, 4]` for the way from the root: of each vertex its place, its
            next edge and the last one, and the lowest place that it is known to reach.
        order: int32 `[V]` for closed vertices, from the right, which may be the stack:
            then components are named in the order of closing. Or None: by their
            smallest vertices.

    Returns:
        How many components there are, as of `components`; and where closed vertices
        begin.

    References:
        [1] Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
        (1972), doi:10.1137/0201010.
        [2] Pearce, A space-efficient algorithm for finding strongly connected
        components, Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2015.08.010.
    """
    size, num_edges = len(row_ptr) - 1, len(dst)
    unseen, closed = -size - 1, size
    for v in range(size):
        number[v] = unseen
    if vertices is not None:
        for v in range(size):
            if not vertices[v]:
                number[v] = size
    num_open, count, entered = 0, 0, 0
    for root in range(size):
        if root % POLL == 0 and stop[0] != 0:
            return -1, closed
        if number[root] != unseen:
            continue
        e, end = np.int64(row_ptr[root]), np.int64(row_ptr[root + 1])
        if e < 0 or e > end or end > num_edges:
            return BROKEN, closed
        depth = 0
        place = num_open - size
        low = place
        stack[num_open] = root
        num_open += 1
        number[root] = place
        while True:
            if e < end:
                w = np.int64(dst[e])
                there = edges is None or edges[e]
                e += 1
                if not there:
                    continue
                if w < 0 or w >= size:
                    return BROKEN, closed
                seen = np.int64(number[w])
                if seen >= low:
                    continue
                if seen != unseen:
                    low = seen
                    continue
                entered += 1
                if entered % POLL == 0 and stop[0] != 0:
                    return -1, closed
                begin, last = np.int64(row_ptr[w]), np.int64(row_ptr[w + 1])
                if begin < 0 or begin > last or last > num_edges:
                    return BROKEN, closed
                if begin == last:
                    # A component of its own.
                    number[w] = w if order is None else count
                    if order is not None:
                        closed -= 1
                        order[closed] = w
                    count += 1
                    continue
                path[depth, 0], path[depth, 1] = place, e
                path[depth, 2], path[depth, 3] = end, low
                depth += 1
                place = num_open - size
                low = place
                stack[num_open] = w
                num_open += 1
                number[w] = place
                e, end = begin, last
                if size >= AHEAD_FROM:
                    # Read for the sake of the cache; what is found wrong is wrong.
                    for ahead in (1, 2):
                        u = np.int64(dst[min(begin + ahead, last - 1)])
                        if u < 0 or u >= size:
                            return BROKEN, closed
                        begins = np.int64(row_ptr[u])
                        if begins < 0 or begins > num_edges:
                            return BROKEN, closed
                        if dst[begins if begins < num_edges else 0] < 0:
                            return BROKEN, closed
                continue
            if low == place:
                # Nothing open before it is reached: what was opened since then is its
                # component.
                first = place + size
                w = np.int64(stack[first])
                if order is not None:
                    name = np.int64(count)
                else:
                    name = w
                    for k in range(first + 1, num_open):
                        name = min(name, np.int64(stack[k]))
                number[w] = name
                for k in range(first + 1, num_open):
                    number[stack[k]] = name
                if order is not None:
                    for k in range(num_open - 1, first - 1, -1):
                        closed -= 1
                        order[closed] = stack[k]
                num_open = first
                count += 1
                low = size
            if depth == 0:
                break
            depth -= 1
            place, e = np.int64(path[depth, 0]), np.int64(path[depth, 1])
            end = np.int64(path[depth, 2])
            low = min(low, np.int64(path[depth, 3]))
    if vertices is not None:
        for v in range(size):
            if not vertices[v]:
                number[v] = -1
    return count, closed


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
