"""The textbook: components by two depth-first searches, and attractors round by round.

Plain Python, to read, and to compare the engines with, which work otherwise: the
device in parallel, the host by Tarjan's algorithm and by counting edges.
"""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph._input import NO_COUNT, concrete, labels_of, vertex_mask
from jaxgames.graph._solution import NO_RANK, Attractor
from jaxgames.graph._verdict import Verdict
from jaxgames.solution import NO_EDGE


def scc(
    graph: Any, *, vertices: Any = None, edges: Any = None
) -> tuple[int, np.ndarray]:
    """Strongly connected components by Kosaraju's algorithm [1].

    A depth-first search notes the order in which it leaves the vertices. From the last
    one of these on, what reaches a vertex, and is in no component yet, is its
    component. O(V + E) time.

    Args:
        graph: an arena, a pair `(indptr, indices)`, or a sparse matrix.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.

    Returns:
        How many components there are, and the component of each vertex: int32 `[V]`,
        numbered in order of their smallest vertices, -1 for vertices that are masked
        out or padding.

    Raises:
        ValueError: the graph or a mask is wrong.

    References:
        [1] Sharir, A strong-connectivity algorithm and its applications in data flow
        analysis, Computers & Mathematics with Applications 7 (1981),
        doi:10.1016/0898-1221(81)90008-0.

    Examples:
        >>> count, labels = scc(([0, 1, 3, 4], [1, 0, 2, 2]))
        >>> count, labels
        (2, array([0, 0, 1], dtype=int32))
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    label = np.full(arena.shape[0], -1, np.int32)
    found = sorted(_components(arena, vertices, edges), key=min)
    for number, members in enumerate(found):
        label[members] = number
    return len(found), label


def closing_order(
    graph: Any, *, vertices: Any = None, edges: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strongly connected components, each after those that it leads to.

    Args:
        graph: as for `scc`, like all that follow.
        vertices: bool `[V]`.
        edges: bool `[E]`.

    Returns:
        The component of each vertex (int32 `[V]`, -1 where there is none), numbered so
        that edges lead to equal or smaller numbers; the vertices in order of their
        components; and where each component begins there, and the last one ends.

    Raises:
        ValueError: the graph or a mask is wrong.

    Examples:
        >>> component, members, begins = closing_order(([0, 1, 3, 4], [1, 0, 2, 2]))
        >>> component
        array([1, 1, 0], dtype=int32)
        >>> np.split(members, begins[1:-1])
        [array([2], dtype=int32), array([0, 1], dtype=int32)]
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    component = np.full(arena.shape[0], -1, np.int32)
    found = _components(arena, vertices, edges)[::-1]
    for number, members in enumerate(found):
        component[members] = number
    begins = np.cumsum([0, *map(len, found)], dtype=np.int32)
    return component, np.array([v for part in found for v in part], np.int32), begins


def reachable(
    graph: Any,
    sources: Any,
    *,
    backward: bool = False,
    vertices: Any = None,
    edges: Any = None,
) -> np.ndarray:
    """The vertices that paths from the sources reach. O(V + E) time.

    Args:
        graph: an arena, a pair `(indptr, indices)`, or a sparse matrix.
        sources: bool `[V]`, or vertices by number.
        backward: whether to find the vertices that reach the sources instead.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.

    Returns:
        bool `[V]`; the sources themselves are reached.

    Raises:
        ValueError: the graph, a vertex or a mask is wrong.

    Examples:
        >>> reachable(([0, 1, 2, 2], [1, 2]), [1])
        array([False,  True,  True])
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    start = np.asarray(vertex_mask("sources", arena, sources))
    if vertices is not None:
        start = start & vertices
    rows = _rows(arena, vertices, edges, backward)
    reached = np.zeros(arena.shape[0], bool)
    reached[_search(rows, np.flatnonzero(start).tolist(), set())] = True
    return reached


def attractor(
    arena: Arena, target: Any, player: int, *, vertices: Any = None
) -> Attractor:
    """The attractor of a player to a set of vertices, round by round.

    What it is says [`graph.attractor`][jaxgames.graph.attractor]. O(rank (V + E)) time.

    Args:
        arena: the arena.
        target: bool `[V]`, or vertices by number.
        player: 0 or 1.
        vertices: bool `[V]`, the vertices that there are; None for all.

    Raises:
        ValueError: an argument is wrong.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1])
        >>> attractor(arena, [2], 0)
        Attractor(mask=array([ True, False,  True]), strategy=array([ 1, -1, -1],
            dtype=int32), rank=array([ 1, -1,  0], dtype=int32))
    """
    arena, vertices, _ = concrete(arena, vertices, None)
    there = np.ones(arena.shape[0], bool) if vertices is None else vertices
    goal = np.asarray(vertex_mask("target", arena, target)) & there
    rows = _rows(arena, vertices, None)
    rank, rounds = np.where(goal, 0, NO_RANK).astype(np.int32), 0
    while True:
        rounds += 1
        joined = rank != NO_RANK
        for v in np.flatnonzero(there & ~joined):
            wanted = any if arena.owner[v] == player else all
            if rows[v] and wanted(joined[w] for w in rows[v]):
                rank[v] = rounds
        if (joined == (rank != NO_RANK)).all():
            break
    strategy = np.full(arena.shape[0], NO_EDGE, np.int32)
    for v in np.flatnonzero((rank > 0) & (arena.owner == player)):
        edges = range(arena.row_ptr[v], arena.row_ptr[v + 1])
        strategy[v] = next(e for e in edges if rank[arena.dst[e]] == rank[v] - 1)
    return Attractor(joined, strategy, rank)


def verify(
    graph: Any, components: Any, *, vertices: Any = None, edges: Any = None
) -> Verdict:
    """Checks strongly connected components by the definition, and by `scc`.

    What is checked says [`graph.verify`][jaxgames.graph.verify]. O(C (V + E)) time for
    C components.

    Args:
        graph: an arena, a pair `(indptr, indices)`, or a sparse matrix.
        components: what has `labels` and a `count`; or labels alone, integers `[V]`.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.

    Raises:
        ValueError: the graph, labels or a mask are wrong in type or shape.

    Examples:
        >>> print(verify(([0, 1, 3, 4], [1, 0, 2, 2]), [0, 0, 1]))
        valid
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    labels, count, most = labels_of(arena.shape[0], components)
    labels = np.asarray(labels)
    there = np.ones(arena.shape[0], bool) if vertices is None else vertices
    _, right = scc(arena, vertices=vertices, edges=edges)
    misplaced, forward, backward, mixed = np.zeros((4, len(labels)), bool)
    names = list(dict.fromkeys(labels[there & (labels >= 0)].tolist()))
    for place, name in enumerate(names):
        own = there & (labels == name)
        smallest = [int(np.argmax(own))]
        misplaced[smallest] = place != name
        how = {"vertices": own, "edges": edges}
        forward |= own & ~reachable(arena, smallest, **how)
        backward |= own & ~reachable(arena, smallest, backward=True, **how)
        mixed |= there & ~own & np.isin(right, right[own])
    return Verdict.first_of(
        (labels < -1) | (labels >= most),
        there & (labels == -1),
        ~there & (labels != -1),
        misplaced,
        np.bool_(count not in (NO_COUNT, len(names))),
        forward,
        backward,
        mixed,
    )


# ---- searches --------------------------------------------------------------------


def _rows(arena: Arena, vertices, edges, backward: bool = False) -> list[list[int]]:
    """The successors of each vertex, or its predecessors, that there are."""
    keep = np.ones(arena.shape[1], bool) if edges is None else edges
    if vertices is not None:
        keep = keep & vertices[arena.src] & vertices[arena.dst]
    rows = [[] for _ in range(arena.shape[0])]
    for v, w in zip(arena.src[keep].tolist(), arena.dst[keep].tolist(), strict=True):
        rows[w if backward else v].append(v if backward else w)
    return rows


def _search(rows: list[list[int]], starts: list[int], seen: set[int]) -> list[int]:
    """Depth-first search of what was not seen before, in the order of leaving it."""
    left = []
    for start in starts:
        way = [] if start in seen else [(start, iter(rows[start]))]
        seen.add(start)
        while way:
            v, successors = way[-1]
            w = next((w for w in successors if w not in seen), None)
            if w is None:
                left.append(v)
                way.pop()
            else:
                seen.add(w)
                way.append((w, iter(rows[w])))
    return left


def _components(arena: Arena, vertices, edges) -> list[list[int]]:
    """The components; edges lead from earlier to later ones."""
    there = range(arena.shape[0]) if vertices is None else np.flatnonzero(vertices)
    order = _search(_rows(arena, vertices, edges), list(map(int, there)), set())
    rows, seen = _rows(arena, vertices, edges, backward=True), set()
    found = (_search(rows, [v], seen) for v in reversed(order))
    return [sorted(members) for members in found if members]
