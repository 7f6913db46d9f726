"""The sequential engines: Tarjan's components, searches and attractors by counting.

Where numba is installed (`pip install jaxgames[host]`) they are compiled for one core.
[`graph.reference`][jaxgames.graph.reference] answers the same by simpler algorithms.
"""

from typing import Any, Unpack

import numpy as np

from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.arguments import steps
from jaxgames.graph._input import Rows, as_arena, concrete, rows_of, vertex_mask
from jaxgames.graph._solution import NO_RANK, Attractor
from jaxgames.graph.host._components import BROKEN, WORDS, components
from jaxgames.graph.host._components import closing as closing
from jaxgames.graph.host._components import enumerate_first as enumerate_first
from jaxgames.graph.host._components import room_for as room_for
from jaxgames.graph.host._components import smallest as smallest
from jaxgames.graph.host._components import tarjan as tarjan
from jaxgames.graph.host._condensation import contract as contract
from jaxgames.graph.host._condensation import group as group
from jaxgames.graph.host._condensation import islands as islands
from jaxgames.graph.host._condensation import leaves, loops
from jaxgames.graph.host._condensation import topological as topological
from jaxgames.graph.host._reach import attract, descend, reach, transpose
from jaxgames.graph.host._verify import verify as verify
from jaxgames.limits import Bounds, limited

STOPPED = -1
"""How many components there are where the search was stopped."""


def scc(
    graph: Any, *, vertices: Any = None, edges: Any = None, stop: Any = None
) -> tuple[int, np.ndarray]:
    """Strongly connected components by Tarjan's algorithm, in Pearce's form.

    As [`reference.scc`][jaxgames.graph.reference.scc]. Once another thread has written
    a number other than 0 to `stop`, int8 `[1]`, the search gives up soon: there are
    `STOPPED` components then, and -1 everywhere.

    O(V + E) time, five words for each vertex and one for each edge, no recursion. Rows
    that the engine can read as they are get neither copied nor looked at before.
    """
    stop = np.zeros(1, np.int8) if stop is None else stop
    rows = None
    if vertices is None and edges is None:
        rows = graph if isinstance(graph, Rows) else rows_of(graph)
    if rows is None:
        names = ("row_ptr", "dst")
        arena, vertices, edges = concrete(graph, vertices, edges, names)
        rows = arena.row_ptr, arena.dst
    size = len(rows[0]) - 1
    label = np.empty(size, np.int32)
    room = np.empty(WORDS * size + len(rows[1]), np.int32)
    count = components(*rows, vertices, edges, stop, room, label)
    if count == BROKEN:  # says what is wrong; if somebody has mended it, there is more
        return scc(as_arena(graph), stop=stop)
    if count < 0:
        label.fill(-1)
        return STOPPED, label
    return int(count), label


@limited()
def scc_on_host(
    arena: Arena,
    vertices: Any = None,
    edges: Any = None,
    *,
    stop: np.ndarray | None = None,
    **bounds: Unpack[Bounds],
) -> tuple[int, np.ndarray]:
    """Strongly connected components of a concrete graph; compiled where numba is.

    Args:
        arena: the graph.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.
        stop: int8 `[1]`: once it is not 0, the engine gives up.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        How many there are, and the component of each vertex: int32 `[V]`, numbered in
        order of their smallest vertices, -1 for vertices that are masked out or
        padding. `STOPPED`, and -1 everywhere, where it gave up.

    Examples:
        >>> arena = Arena.from_csr([0, 1, 2], [1, 0], owner=[0, 0])
        >>> scc_on_host(arena)
        (1, array([0, 0], dtype=int32))
    """
    return scc(arena, vertices=vertices, edges=edges, stop=stop)


def closing_order(
    graph: Any, *, vertices: Any = None, edges: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Components as Tarjan's algorithm closes them, each after those it leads to.

    As [`reference.closing_order`][jaxgames.graph.reference.closing_order].
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
    max_steps: int | None = None,
) -> np.ndarray:
    """What paths from the sources reach, or what reaches them; O(V + E) time.

    As [`reference.reachable`][jaxgames.graph.reference.reachable].
    """
    most = steps(max_steps, MAX_SIZE)
    arena, vertices, edges = concrete(graph, vertices, edges)
    start = np.asarray(vertex_mask("sources", arena, sources))
    row_ptr, dst = arena.row_ptr, arena.dst
    if backward:
        row_ptr, of_edge = transpose(row_ptr, dst)
        dst = arena.src[of_edge]
        edges = None if edges is None else edges[of_edge]
    return reach(row_ptr, dst, start, vertices, edges, most)


def attractor(
    arena: Arena,
    target: Any,
    player: int,
    *,
    vertices: Any = None,
    max_steps: int | None = None,
) -> Attractor:
    """The attractor of a player to a set, by counting edges; O(V + E) time.

    As [`graph.attractor`][jaxgames.graph.attractor].
    """
    most = steps(max_steps, MAX_SIZE)
    arena, vertices, _ = concrete(arena, vertices, None)
    if vertices is None:
        vertices = np.ones(arena.shape[0], bool)
    goal = np.asarray(vertex_mask("target", arena, target))
    row_ptr, dst, odd = arena.row_ptr, arena.dst, player == 1
    arrays = row_ptr, arena.src, dst, arena.owner, goal
    rank = attract(*arrays, odd, vertices, most)
    strategy = moves_down(arena, rank, arena.owner == odd)
    return Attractor(rank != NO_RANK, strategy, rank)


def moves_down(arena: Arena, rank: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The first edge from each of some vertices to one of the next lower rank."""
    return descend(np.asarray(arena.row_ptr), np.asarray(arena.dst), rank, own)


def has_exit(arena: Arena, labels: np.ndarray, edges: Any, count: int) -> np.ndarray:
    """Whether an edge leads from each component to another one: bool `[count]`."""
    return leaves(arena.row_ptr, arena.dst, labels, edges, count)


def has_loop(arena: Arena, labels: np.ndarray, edges: Any, count: int) -> np.ndarray:
    """Whether a vertex of each component has an edge to itself: bool `[count]`."""
    return loops(arena.row_ptr, arena.dst, labels, edges, count)
