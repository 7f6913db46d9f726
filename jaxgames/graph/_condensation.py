"""The graph of strongly connected components, in topological order."""

import dataclasses
from typing import Any, Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph import host
from jaxgames.graph._input import check_concrete, concrete, labels_of
from jaxgames.limits import Bounds, limited


@dataclasses.dataclass(frozen=True, eq=False)
class Condensation:
    """A graph with each of its strongly connected components as one vertex.

    It has no cycles. `C` is the number of components, `D` that of pairs of components
    with an edge between them.

    Attributes:
        arena: the graph of components: an [`Arena`][jaxgames.Arena] of `C` vertices and
            `D` edges, those of a component in the order of `edge`.
        edge: int32 `[D]`, for each edge the first one of the graph that it stands for,
            going through the component's vertices in their order.
        order: int32 `[C]`, the components so that edges lead from earlier to later
            ones; those that no edge enters come first, in ascending order.
        labels: int32 `[V]`, the component of each vertex, -1 where it has none.
        offsets: int32 `[C + 1]`; the vertices of component `c` are
            `vertices[offsets[c] : offsets[c + 1]]`, in ascending order.
        vertices: int32, the vertices by component.
    """

    arena: Arena
    edge: np.ndarray
    order: np.ndarray
    labels: np.ndarray
    offsets: np.ndarray
    vertices: np.ndarray

    @property
    def count(self) -> int:
        """How many components there are."""
        return len(self.order)

    def members(self, component: int) -> np.ndarray:
        """The vertices of a component, in ascending order.

        Raises:
            ValueError: there is no such component.
        """
        if not 0 <= component < self.count:
            raise ValueError(
                f"component must be from 0 to {self.count - 1}, got {component}"
            )
        return self.vertices[self.offsets[component] : self.offsets[component + 1]]

    def __repr__(self) -> str:
        return f"Condensation({self.count} components, {len(self.edge)} edges)"


@limited()
def condensation(
    graph: Any,
    components: Any = None,
    *,
    vertices: Any = None,
    edges: Any = None,
    **bounds: Unpack[Bounds],
) -> Condensation:
    """The graph of the strongly connected components of a graph, in topological order.

    Runs on the host, O(V + E) time: each pair of components is counted once by marks,
    and Kahn's algorithm [1] orders them.

    Args:
        graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
            matrix.
        components: what has `labels` and a `count`, as the answer of `graph.scc` for
            the same graph and masks; None to find them.
        vertices: bool `[V]`, the vertices that there are; None for all. Not needed
            with `components`, whose labels say it.
        edges: bool `[E]`, the edges that there are; None for all.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Condensation`][jaxgames.graph.Condensation].

    Raises:
        ValueError: the graph or a mask is wrong; `components` are not those of the
            graph, so that a cycle leads through several of them.

    References:
        [1] Kahn, Topological sorting of large networks, CACM 5 (1962),
        doi:10.1145/368996.369025.

    Examples:
        >>> from jaxgames import graph
        >>> parts = graph.condensation(([0, 1, 3, 4, 5], [1, 0, 2, 2, 0]))
        >>> parts
        Condensation(3 components, 2 edges)
        >>> parts.order, parts.members(0)
        (array([2, 0, 1], dtype=int32), array([0, 1], dtype=int32))
    """
    check_concrete("condensation", graph, components, vertices, edges)
    arena, vertices, edges = concrete(graph, vertices, edges)
    count, labels = components_of(arena, components, vertices, edges)
    offsets, members = host.group(count, labels)
    starts, heads, edge = host.contract(
        arena.row_ptr, arena.dst, labels, offsets, members, edges
    )
    order = host.topological(starts, heads)
    if len(order) < count:
        waiting = np.setdiff1d(np.arange(count), order)
        raise ValueError(
            "these are not the strongly connected components of the graph: a cycle "
            f"leads through several of them, to component {waiting[0]} for example"
        )
    return Condensation(
        arena=Arena.from_csr(
            starts, heads, owner=np.zeros(count, bool), dead_ends="allow"
        ),
        edge=edge,
        order=order,
        labels=labels,
        offsets=offsets,
        vertices=members,
    )


def components_of(arena: Arena, components, vertices, edges) -> tuple[int, np.ndarray]:
    """Number and labels of concrete components, which are found if there are none."""
    if components is None:
        return host.scc_on_host(arena, vertices, edges)
    check_concrete("this function for a concrete graph", components)
    labels, count, _ = labels_of(arena.shape[0], components)
    labels = np.asarray(labels)
    wrong = np.flatnonzero((labels < -1) | (labels >= count))
    if len(wrong):
        raise ValueError(
            f"components.labels[{wrong[0]}] is {labels[wrong[0]]}, expected a "
            f"component from 0 to {count - 1}, or -1"
        )
    labels = labels.astype(np.int32, copy=False)
    if vertices is not None:
        labels = np.where(vertices, labels, -1)
    return count, labels
