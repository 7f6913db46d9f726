"""Tarjan's strongly connected components, in one array of numbers."""

import numpy as np

from jaxgames.host import linear
from jaxgames.tuning.graph import POLL

WORDS = 4
"""Words that the search needs for each vertex, besides its number."""

BROKEN = -2
"""How many components there are where rows are none, or an edge leads to no vertex."""


def room_for(vertices: int, edges: int) -> np.ndarray:
    """Room for `tarjan` and `smallest`: five words a vertex, and one for each edge.

    Numpy asks the system for large pages, in which the search is faster, where numba
    does not.
    """
    return np.empty((1 + WORDS) * vertices + edges, np.int32)


@linear
def tarjan(row_ptr, dst, vertices, edges, stop, room):
    """The strongly connected components, as a depth-first search closes them.

    O(V + E) time, no recursion: see `search`.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        edges: bool `[E]`, the edges that there are, or None for all.
        stop: int8 `[1]`; the search gives up soon after it is not 0.
        room: what `room_for` makes.

    Returns:
        How many components there are, -1 if stopped; the component of each vertex
        (int32 `[V]`, -1 where there is no vertex), numbered so that edges lead to equal
        or smaller numbers; and the vertices, components of large numbers first: edges
        between two components lead to the right.
    """
    size = len(row_ptr) - 1
    number, rest = room[:size], room[size:]
    order = rest[:size]  # open vertices are there too, from the left
    count, closed = search(row_ptr, dst, vertices, edges, stop, number, rest, order)
    return count, number, order[closed:]


@linear
def components(row_ptr, dst, vertices, edges, stop, room, label):
    """The strongly connected components, numbered in order of their smallest vertices.

    O(V + E) time. Rows are looked at as they are read, if all vertices are there: they
    need not have been checked, but go from 0 to E. The other arguments are those of
    `tarjan`, with int32 `[WORDS V + E]` as the room; `label`, int32 `[V]`, is given the
    component of each vertex, -1 where there is no vertex.

    Returns:
        How many components there are, -1 if stopped, BROKEN if rows are none; then
        labels are none either.
    """
    count, _ = search(row_ptr, dst, vertices, edges, stop, label, room, None)
    if count >= 0:
        enumerate_first(label)
    return count


@linear
def smallest(row_ptr, dst, vertices, edges, stop, room):
    """The smallest vertex of the component of each vertex.

    Returns:
        How many components there are, as of `components`; and int32 `[V]`, which lies
        in the room: -1 where there is no vertex.
    """
    size = len(row_ptr) - 1
    number, rest = room[:size], room[size:]
    count, _ = search(row_ptr, dst, vertices, edges, stop, number, rest, None)
    return count, number


@linear
def enumerate_first(label):
    """Numbers sets in order of their smallest vertices.

    Args:
        label: int32 `[V]`, the smallest vertex of the set of each vertex, -1 if it is
            in none. Becomes the number of the set, or -1.

    Returns:
        How many sets there are.
    """
    count = 0
    for v in range(len(label)):
        first = np.int64(label[v])
        # Read in any case: nobody can guess which vertices are first.
        known = np.int64(label[max(first, 0)])
        known = known if first >= 0 else -1
        label[v] = count if first == v else known
        count += first == v
    return count


@linear
def search(row_ptr, dst, vertices, edges, stop, number, room, order):
    """Tarjan's depth-first search.

    A vertex has one number, by which Pearce tells all there is to know of it [2]. It is
    the least of all, `unseen`, until the vertex is found; then its place on the stack
    of open vertices, less the size; and once its component is closed, what names that,
    which is not negative. So an edge to a closed vertex lowers nothing: each edge reads
    one number, and most need one comparison. How low a vertex reaches is known while
    the search is there, and kept on the way where it goes deeper.

    All edges of a vertex but the first are read when the search comes to it, without a
    branch that depends on what is there; vertices that were not found yet wait until
    the search comes back, or has found them elsewhere. So the machine need not guess,
    and waits for several numbers at once. Whether the first edge goes on it may guess:
    along a path it is right, and is ahead of the memory.

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
        room: int32 `[WORDS V + E]`: open vertices, from the left; for each vertex on
            the way from the root its place, the lowest place that it is known to reach,
            and where those that wait for it begin; and vertices that wait.
        order: int32 `[V]` for closed vertices, from the right, which may be where open
            ones are: then components are named in the order of closing. Or None: by
            their smallest vertices.

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
    stack, path = room[:size], room[size : WORDS * size].reshape((size, WORDS - 1))
    pending = room[WORDS * size : WORDS * size + num_edges]
    unseen, closed = -size - 1, size
    for v in range(size):
        number[v] = unseen
    if vertices is not None:
        for v in range(size):
            if not vertices[v]:
                number[v] = size
    num_open, count, entered = 0, 0, 0
    # Where the search is: a vertex, or, with depth 0, nowhere.
    depth, place, low, base, top = 0, 0, 0, 0, 0
    for root in range(size):
        if root % POLL == 0 and stop[0] != 0:
            return -1, closed
        if number[root] != unseen:
            continue
        w = np.int64(root)
        while w >= 0:
            entered += 1
            if entered % POLL == 0 and stop[0] != 0:
                return -1, closed
            begin, end = np.int64(row_ptr[w]), np.int64(row_ptr[w + 1])
            if begin < 0 or begin > end or end > num_edges:
                return BROKEN, closed
            if end - begin > num_edges - top:  # rows that overlap
                return BROKEN, closed
            here = num_open - size
            number[w] = here
            lowest, more = here, top
            for e in range(end - 1, begin, -1):
                u = np.int64(dst[e])
                if u < 0 or u >= size or row_ptr[u] < 0:
                    return BROKEN, closed
                seen = np.int64(number[u])
                if edges is not None and not edges[e]:
                    seen = size
                # Written in any case: no branch depends on what was read.
                pending[more] = u
                more += seen == unseen
                lowest = min(lowest, size if seen == unseen else seen)
            u, seen = w, here
            if begin < end:
                u = np.int64(dst[begin])
                if u < 0 or u >= size:
                    return BROKEN, closed
                seen = np.int64(number[u])
                if edges is not None and not edges[begin]:
                    seen = size
            if seen == unseen or more > top:
                lowest = min(lowest, size if seen == unseen else seen)
                stack[num_open] = w
                num_open += 1
                path[depth, 0], path[depth, 1], path[depth, 2] = place, low, base
                depth += 1
                place, low, base, top = here, lowest, top, more
                if seen == unseen:
                    w = u
                else:
                    top -= 1
                    w = np.int64(pending[top])
                continue
            lowest = min(lowest, seen)
            if lowest < here:
                stack[num_open] = w
                num_open += 1
                low = min(low, lowest)
            else:
                # A component of its own.
                number[w] = w if order is None else count
                if order is not None:
                    closed -= 1
                    order[closed] = w
                count += 1
            w = np.int64(-1)
            while True:
                while top > base:
                    top -= 1
                    u = np.int64(pending[top])
                    seen = np.int64(number[u])
                    if seen == unseen:
                        w = u
                        break
                    low = min(low, seen)
                if w >= 0 or depth == 0:
                    break
                if low == place:
                    # Nothing open before it is reached: what was opened since then is
                    # its component.
                    first = place + size
                    v = np.int64(stack[first])
                    if order is not None:
                        name = np.int64(count)
                    else:
                        name = v
                        for k in range(first + 1, num_open):
                            name = min(name, np.int64(stack[k]))
                    number[v] = name
                    for k in range(first + 1, num_open):
                        number[stack[k]] = name
                    if order is not None:
                        for k in range(num_open - 1, first - 1, -1):
                            closed -= 1
                            order[closed] = stack[k]
                    num_open = first
                    count += 1
                    low = size
                depth -= 1
                place, base = np.int64(path[depth, 0]), np.int64(path[depth, 2])
                low = min(low, np.int64(path[depth, 1]))
    if vertices is not None:
        for v in range(size):
            if not vertices[v]:
                number[v] = -1
    return count, closed


@linear
def closing(row_ptr, dst, vertices, edges):
    """The components in the order in which the search closes them, for compiled code.

    Arguments are those of `tarjan`.

    Returns:
        The component of each vertex, as `tarjan`; the vertices in order of their
        components; and where each component begins there, and the last one ends.
    """
    stop = np.zeros(1, np.int8)
    room = np.empty((1 + WORDS) * (len(row_ptr) - 1) + len(dst), np.int32)
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
