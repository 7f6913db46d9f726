"""Shortest paths and cycles, of which lassos are made."""

import numpy as np

from jaxgames.host import linear

NO_VERTEX = -1


@linear
def shortest_path(row_ptr, dst, starts, goal, vertices, stop):
    """A shortest path from a start to a goal, by breadth-first search.

    O(V + E) time; ends as soon as a goal is found. Starts are int32 `[K]`, goals bool
    `[V]`; of `vertices`, bool `[V]`, None stands for all. Once `stop`, int8 `[1]`, is
    not 0, nothing is found.

    Returns:
        The vertices of the path, int32, both ends included; one vertex where a start is
        a goal, none where no goal is reached.
    """
    size = len(row_ptr) - 1
    before = np.full(size, NO_VERTEX, np.int32)
    queue = np.empty(size, np.int32)
    begin, end = 0, 0
    last = NO_VERTEX
    for v in starts:
        if before[v] == NO_VERTEX and (vertices is None or vertices[v]):
            before[v] = v
            queue[end] = v
            end += 1
            if goal[v]:
                last = v
                break
    while begin < end and last == NO_VERTEX and stop[0] == 0:
        v = queue[begin]
        begin += 1
        for e in range(row_ptr[v], row_ptr[v + 1]):
            w = dst[e]
            if before[w] == NO_VERTEX and (vertices is None or vertices[w]):
                before[w] = v
                queue[end] = w
                end += 1
                if goal[w]:
                    last = w
                    break
    return _walk_back(before, last)


@linear
def _walk_back(before, last):
    """The way to a vertex, from one that is its own predecessor."""
    length, v = 0, last
    while v != NO_VERTEX:
        length += 1
        v = NO_VERTEX if before[v] == v else before[v]
    path = np.empty(length, np.int32)
    v = last
    for place in range(length - 1, -1, -1):
        path[place] = v
        v = before[v]
    return path


@linear
def shortest_cycle(row_ptr, dst, vertex, vertices, stop):
    """A shortest cycle through a vertex, by breadth-first search. O(V + E) time.

    With `vertices` and `stop` as for `shortest_path`.

    Returns:
        The vertices of the cycle, `vertex` first; none if there is no cycle.
    """
    size = len(row_ptr) - 1
    before = np.full(size, NO_VERTEX, np.int32)
    before[vertex] = vertex
    queue = np.empty(size, np.int32)
    queue[0] = vertex
    begin, end = 0, 1
    while begin < end and stop[0] == 0:
        v = queue[begin]
        begin += 1
        for e in range(row_ptr[v], row_ptr[v + 1]):
            w = dst[e]
            if w == vertex:
                return _walk_back(before, v)
            if before[w] == NO_VERTEX and (vertices is None or vertices[w]):
                before[w] = v
                queue[end] = w
                end += 1
    return queue[:0]


@linear
def first_gap(row_ptr, dst, walk):
    """The first place of a walk with no edge to the next one; its last if none."""
    for place in range(len(walk) - 1):
        there = False
        for e in range(row_ptr[walk[place]], row_ptr[walk[place] + 1]):
            if dst[e] == walk[place + 1]:
                there = True
                break
        if not there:
            return place
    return len(walk) - 1
