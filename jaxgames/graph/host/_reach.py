"""Reachability and attractors by a queue, each edge looked at once."""

import numpy as np

from jaxgames.graph._solution import NO_RANK
from jaxgames.host import linear
from jaxgames.solution import NO_EDGE


@linear
def transpose(row_ptr, dst):
    """The edges that enter each vertex: offsets `[V + 1]`, and edges by number `[E]`.

    O(V + E) time; the edges of one vertex are in order. It is `group` without the test
    for what is left out, which makes plain Python slower.
    """
    size = len(row_ptr) - 1
    in_ptr = np.zeros(size + 1, np.int32)
    in_edge = np.empty(len(dst), np.int32)
    for w in dst:
        in_ptr[w] += 1
    end = 0
    for v in range(size + 1):
        end += in_ptr[v]
        in_ptr[v] = end
    for e in range(len(dst) - 1, -1, -1):
        w = dst[e]
        in_ptr[w] -= 1
        in_edge[in_ptr[w]] = e
    return in_ptr, in_edge


@linear
def reach(row_ptr, dst, sources, vertices, edges, most):
    """The vertices that paths of some length from the sources reach: bool `[V]`.

    Breadth-first search over the given vertices and edges (booleans, None for all), the
    sources included; paths have at most so many edges. O(V + E) time.
    """
    size = len(row_ptr) - 1
    reached = np.zeros(size, np.bool_)
    queue = np.empty(size, np.int32)
    begin, end, length = 0, 0, 0
    for v in range(size):
        if sources[v] and (vertices is None or vertices[v]):
            reached[v] = True
            queue[end] = v
            end += 1
    level = end  # where the next level begins in the queue
    while begin < end:
        if begin == level:
            length += 1
            level = end
        if length == most:
            break
        v = queue[begin]
        begin += 1
        for e in range(row_ptr[v], row_ptr[v + 1]):
            w = dst[e]
            there = not reached[w]
            if vertices is not None:
                there &= vertices[w]
            if edges is not None:
                there &= edges[e]
            if there:
                reached[w] = True
                queue[end] = w
                end += 1
    return reached


@linear
def attract(row_ptr, src, dst, owner, target, player, vertices, most):
    """Attracts vertices to a target for a player, one after the other.

    A vertex of the player joins with its first edge to what has joined, another one
    with its last: so many of its edges are counted. First come, first served, so that
    vertices join in order of their ranks, which are at most `most`. O(V + E) time.

    Returns:
        Ranks, as in `Attractor`.
    """
    size = len(row_ptr) - 1
    in_ptr, in_edge = transpose(row_ptr, dst)
    rank = np.full(size, NO_RANK, np.int32)
    queue = np.empty(size, np.int32)
    begin, end = 0, 0
    exits = np.zeros(size, np.int32)  # edges that do not lead to what has joined
    for v in range(size):
        if not vertices[v]:
            continue
        if target[v]:
            rank[v] = 0
            queue[end] = v
            end += 1
        for e in range(row_ptr[v], row_ptr[v + 1]):
            if vertices[dst[e]]:
                exits[v] += 1
    while begin < end:
        v = queue[begin]
        begin += 1
        if rank[v] == most:
            break
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = src[in_edge[k]]
            if not vertices[u] or rank[u] != NO_RANK:
                continue
            exits[u] -= 1
            if owner[u] == player or exits[u] == 0:
                rank[u] = rank[v] + 1
                queue[end] = u
                end += 1
    return rank


@linear
def descend(row_ptr, dst, rank, own):
    """The first edge from each of some vertices to one of the next lower rank.

    For `own`, bool `[V]`: int32 `[V]`, NO_EDGE where there is none. A vertex of rank 0
    or less has no such edge.
    """
    strategy = np.full(len(rank), NO_EDGE, np.int32)
    for v in range(len(rank)):
        if rank[v] > 0 and own[v]:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                if rank[dst[e]] == rank[v] - 1:
                    strategy[v] = e
                    break
    return strategy
