"""The graph of components, and orders of it."""

import numpy as np

from jaxgames.host import linear


@linear
def group(count, label):
    """The vertices by component: offsets `[count + 1]`, and the vertices in order.

    O(V + count) time; vertices of label -1 are left out.
    """
    offsets = np.zeros(count + 1, np.int32)
    for c in label:
        if c >= 0:
            offsets[c] += 1
    end = 0
    for c in range(count + 1):
        end += offsets[c]
        offsets[c] = end
    members = np.empty(end, np.int32)
    for v in range(len(label) - 1, -1, -1):
        c = label[v]
        if c >= 0:
            offsets[c] -= 1
            members[offsets[c]] = v
    return offsets, members


@linear
def contract(row_ptr, dst, label, offsets, members, edges):
    """The edges between components, each pair once.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        label: int32 `[V]`, the component of each vertex; -1 leaves it out.
        offsets: int32 `[C + 1]`, the vertices by component, as `group` gives them.
        members: int32.
        edges: bool `[E]`, the edges that count; None for all.

    Returns:
        Offsets int32 `[C + 1]` and targets by component, in order of the first edge
        between two; and that edge.
    """
    count = len(offsets) - 1
    starts = np.zeros(count + 1, np.int32)
    heads = np.empty(len(dst), np.int32)
    first = np.empty(len(dst), np.int32)
    seen = np.full(count, -1, np.int32)
    end = 0
    for c in range(count):
        for v in members[offsets[c] : offsets[c + 1]]:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                if edges is not None and not edges[e]:
                    continue
                d = label[dst[e]]
                if d >= 0 and d != c and seen[d] != c:
                    seen[d] = c
                    heads[end] = d
                    first[end] = e
                    end += 1
        starts[c + 1] = end
    return starts, heads[:end].copy(), first[:end].copy()


@linear
def topological(row_ptr, dst):
    """Vertices so that edges lead from earlier to later ones: Kahn's algorithm.

    First those that no edge enters, in ascending order; then, again and again, those
    whose last predecessor was taken. O(V + E) time.

    Returns:
        The vertices in that order. Those on cycles, and behind them, are missing.

    Reference:
        Kahn, Topological sorting of large networks, CACM 5 (1962),
        doi:10.1145/368996.369025.

    Examples:
        >>> topological(np.array([0, 0, 2, 3]), np.array([0, 2, 0])).tolist()
        [1, 2, 0]
    """
    size = len(row_ptr) - 1
    waits = np.zeros(size, np.int32)
    for w in dst:
        waits[w] += 1
    order = np.empty(size, np.int32)
    begin, end = 0, 0
    for v in range(size):
        if waits[v] == 0:
            order[end] = v
            end += 1
    while begin < end:
        v = order[begin]
        begin += 1
        for w in dst[row_ptr[v] : row_ptr[v + 1]]:
            waits[w] -= 1
            if waits[w] == 0:
                order[end] = w
                end += 1
    return order[:end]


@linear
def within_and_between(row_ptr, dst, label, edges):
    """Which of some edges lead inside a component, and which from one to another.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        label: int32 `[V]`, the component of each vertex; -1 leaves it out.
        edges: bool `[E]`, the edges that count.
    """
    within, between = np.zeros(len(dst), np.bool_), np.zeros(len(dst), np.bool_)
    for v in range(len(label)):
        c = label[v]
        if c >= 0:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                d = label[dst[e]]
                if edges[e] and d >= 0:
                    within[e] = d == c
                    between[e] = d != c
    return within, between


@linear
def leaves(row_ptr, dst, label, edges, count):
    """Whether an edge leads from each component to another one: bool `[count]`."""
    found = np.zeros(count, np.bool_)
    for v in range(len(label)):
        c = label[v]
        if c >= 0 and not found[c]:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                d = label[dst[e]]
                if d >= 0 and d != c and (edges is None or edges[e]):
                    found[c] = True
                    break
    return found


@linear
def loops(row_ptr, dst, label, edges, count):
    """Whether a vertex of each component has an edge to itself: bool `[count]`."""
    found = np.zeros(count, np.bool_)
    for v in range(len(label)):
        c = label[v]
        if c >= 0:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                if dst[e] == v and (edges is None or edges[e]):
                    found[c] = True
    return found


@linear
def islands(row_ptr, dst):
    """The weakly connected component of each vertex: its number, int32 `[V]`.

    Numbers are those of the first vertices, in their order. Joins trees, halving the
    paths that are walked; O(V + E log V) time, less in practice.
    """
    size = len(row_ptr) - 1
    label = np.empty(size, np.int32)
    for v in range(size):
        label[v] = v
    for v in range(size):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            u, w = v, dst[e]
            while label[u] != u:
                label[u] = label[label[u]]
                u = label[u]
            while label[w] != w:
                label[w] = label[label[w]]
                w = label[w]
            # The first vertex is the root, so that no label is more than its vertex.
            if u < w:
                label[w] = u
            else:
                label[u] = w
    count = 0
    for v in range(size):
        if label[v] == v:
            label[v] = count
            count += 1
        else:
            # What it hangs on came before, and has its number already.
            label[v] = label[label[v]]
    return label
