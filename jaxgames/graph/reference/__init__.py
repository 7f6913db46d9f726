"""Textbook graph algorithms, one vertex at a time.

Tarjan's strongly connected components, breadth-first search, attractors by counting and
topological sorting: to read, to test against, and to use. Where numba is installed
(`pip install jaxgames[host]`) the same source compiles to a fast engine for one core.
"""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph._input import concrete, vertex_mask
from jaxgames.graph.reference._components import WORDS, canonical, tarjan
from jaxgames.graph.reference._components import closing as closing
from jaxgames.graph.reference._condensation import contract as contract
from jaxgames.graph.reference._condensation import group as group
from jaxgames.graph.reference._condensation import leaves, loops
from jaxgames.graph.reference._condensation import topological as topological
from jaxgames.graph.reference._reach import NO_RANK as NO_RANK
from jaxgames.graph.reference._reach import Attractor as Attractor
from jaxgames.graph.reference._reach import attract, descend, reach, transpose
from jaxgames.graph.reference._verify import NO_COUNT as NO_COUNT
from jaxgames.graph.reference._verify import labels_of as labels_of
from jaxgames.graph.reference._verify import verify as verify

STOPPED = -1
"""How many components there are where the search was stopped."""


def scc(
    graph: Any, *, vertices: Any = None, edges: Any = None, stop: Any = None
) -> tuple[int, np.ndarray]:
    """Strongly connected components by Tarjan's algorithm [1], in Pearce's form [2].

    O(V + E) time, five words for each vertex, no recursion.

    Args:
        graph: an arena, a pair `(indptr, indices)`, or a sparse matrix.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.
        stop: int8 `[1]`; the search gives up soon after another thread has written a
            number other than 0 to it. None: nobody will.

    Returns:
        How many components there are, and the component of each vertex: int32 `[V]`,
        numbered in order of their smallest vertices, -1 for vertices that are masked
        out or padding. If stopped, -1, and -1 everywhere.

    Raises:
        ValueError: the graph or a mask is wrong.

    References:
        [1] Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
        (1972), doi:10.1137/0201010.
        [2] Pearce, A space-efficient algorithm for finding strongly connected
        components, Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2015.08.010.

    Examples:
        >>> count, labels = scc(([0, 1, 3, 4], [1, 0, 2, 2]))
        >>> count, labels
        (2, array([0, 0, 1], dtype=int32))
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    count, component, _ = tarjan(
        arena.row_ptr,
        arena.dst,
        vertices,
        edges,
        np.zeros(1, np.int8) if stop is None else stop,
        np.empty(WORDS * arena.shape[0], np.int32),
    )
    if count < 0:
        return STOPPED, np.full(arena.shape[0], -1, np.int32)
    return int(count), canonical(count, component)


def closing_order(
    graph: Any, *, vertices: Any = None, edges: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strongly connected components as Tarjan's algorithm closes them.

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
        [array([2], dtype=int32), array([1, 0], dtype=int32)]
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    return closing(arena.row_ptr, arena.dst, vertices, edges)


def reachable(
    graph: Any,
    sources: Any,
    *,
    backward: bool = False,
    vertices: Any = None,
    edges: Any = None,
) -> np.ndarray:
    """The vertices that paths from the sources reach, by breadth-first search.

    O(V + E) time.

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
    row_ptr, dst = arena.row_ptr, arena.dst
    if backward:
        row_ptr, of_edge = transpose(row_ptr, dst)
        dst = arena.src[of_edge]
        edges = None if edges is None else edges[of_edge]
    return reach(row_ptr, dst, start, vertices, edges)


def attractor(
    arena: Arena, target: Any, player: int, *, vertices: Any = None
) -> Attractor:
    """The attractor of a player to a set of vertices, by counting edges.

    What it is says [`graph.attractor`][jaxgames.graph.attractor]. O(V + E) time.

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
    if vertices is None:
        vertices = np.ones(arena.shape[0], bool)
    goal = np.asarray(vertex_mask("target", arena, target))
    odd = player == 1
    rank = attract(
        arena.row_ptr, arena.src, arena.dst, arena.owner, goal, odd, vertices
    )
    strategy = moves_down(arena, rank, arena.owner == odd)
    return Attractor(rank != NO_RANK, strategy, rank)


def moves_down(arena: Arena, rank: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The first edge from each of some vertices to one of the next lower rank.

    Args:
        arena: the arena.
        rank: int32 `[V]`; a vertex of rank 0 or less has no such edge.
        own: bool `[V]`, the vertices whose edges are wanted.

    Returns:
        int32 `[V]`, -1 where there is none.
    """
    return descend(np.asarray(arena.row_ptr), np.asarray(arena.dst), rank, own)


def has_exit(arena: Arena, labels: np.ndarray, edges: Any, count: int) -> np.ndarray:
    """Whether an edge leads from each component to another one: bool `[count]`.

    Args:
        arena: a concrete graph.
        labels: int32 `[V]`, the component of each vertex; -1 leaves it out.
        edges: bool `[E]`, the edges that there are; None for all.
        count: how many components there are.
    """
    return leaves(arena.row_ptr, arena.dst, labels, edges, count)


def has_loop(arena: Arena, labels: np.ndarray, edges: Any, count: int) -> np.ndarray:
    """Whether a vertex of each component has an edge to itself, as `has_exit`."""
    return loops(arena.row_ptr, arena.dst, labels, edges, count)
