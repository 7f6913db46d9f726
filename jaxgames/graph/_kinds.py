"""Kinds of strongly connected components: those at the bottom, and trivial ones."""

from typing import Any, Unpack

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.graph import _links, host
from jaxgames.graph._condensation import components_of
from jaxgames.graph._input import check_masks, concrete, read
from jaxgames.later import jnp
from jaxgames.limits import Bounds, limited


@limited()
def bottom_sccs(
    graph: Any,
    components: Any = None,
    *,
    vertices: Any = None,
    edges: Any = None,
    **bounds: Unpack[Bounds],
) -> Any:
    """Which strongly connected components no edge leaves.

    O(V + E). Works under `jax.jit` and `jax.vmap` where components are given.

    Args:
        graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
            matrix.
        components: what has `labels` and a `count`, as the answer of `graph.scc` for
            the same graph and masks; None to find them on the host.
        vertices: bool `[V]`, the vertices that there are; None for all. Edges to others
            leave nothing.
        edges: bool `[E]`, the edges that there are; None for all.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A boolean for each component; under tracing `[V]`, False from their number on.

    Raises:
        ValueError: the graph, the components or a mask are wrong.

    Examples:
        >>> from jaxgames import graph
        >>> graph.bottom_sccs(([0, 1, 3, 4], [1, 0, 2, 2]))
        array([False,  True])
    """
    arena, fault = read(graph)
    if is_traced((arena, components, vertices, edges)):
        links, labels, there, size = _traced(arena, components, vertices, edges)
        ends = zip(
            ops.at_rows(links, labels), ops.at_targets(links, labels), strict=True
        )
        leaves = ops.links_any(links, tuple((a != b) & (b < size) for a, b in ends))
        exits = ops.max_into(labels, leaves.astype(jnp.int32), size, 0) > 0
        return validity.withdrawn(fault, there & ~exits)
    arena, vertices, edges = concrete(arena, vertices, edges)
    count, labels = components_of(arena, components, vertices, edges)
    return ~host.has_exit(arena, labels, edges, count)


@limited()
def is_trivial(
    graph: Any,
    components: Any = None,
    *,
    self_loops: bool = False,
    vertices: Any = None,
    edges: Any = None,
    **bounds: Unpack[Bounds],
) -> Any:
    """Which strongly connected components are trivial: one vertex, and no edge inside.

    No cycle leads through those. O(V + E). Works under `jax.jit` and `jax.vmap` where
    components are given.

    Args:
        graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
            matrix.
        components: what has `labels` and a `count`, as the answer of `graph.scc` for
            the same graph and masks; None to find them on the host.
        self_loops: whether a single vertex with an edge to itself counts as trivial
            too.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A boolean for each component; under tracing `[V]`, False from their number on.

    Raises:
        ValueError: the graph, the components or a mask are wrong.

    Examples:
        >>> from jaxgames import graph
        >>> graph.is_trivial(([0, 1, 2, 2], [1, 1]))  # edges 0 -> 1 and 1 -> 1
        array([ True, False,  True])
        >>> graph.is_trivial(([0, 1, 2, 2], [1, 1]), self_loops=True)
        array([ True,  True,  True])
    """
    arena, fault = read(graph)
    if is_traced((arena, components, vertices, edges)):
        links, labels, there, size = _traced(arena, components, vertices, edges)
        vertex = jnp.arange(size, dtype=jnp.int32)
        least = ops.min_into(labels, vertex, size, size)
        single = there & (least == ops.max_into(labels, vertex, size, -1))
        if self_loops:
            return validity.withdrawn(fault, single)
        ends = zip(ops.at_rows(links, vertex), ops.link_targets(links), strict=True)
        loops = ops.links_any(links, tuple(a == b for a, b in ends))
        looping = ops.max_into(labels, loops.astype(jnp.int32), size, 0) > 0
        return validity.withdrawn(fault, single & ~looping)
    arena, vertices, edges = concrete(arena, vertices, edges)
    count, labels = components_of(arena, components, vertices, edges)
    single = np.bincount(labels[labels >= 0], minlength=count) == 1
    if self_loops:
        return single
    return single & ~host.has_loop(arena, labels, edges, count)


def _traced(arena: Arena, components, vertices, edges):
    """Links, labels (`V` where there is none), and which components there are."""
    check_masks(arena, vertices, edges)
    if components is None:
        raise ValueError(
            "under tracing by jax, components must be given: pass graph.scc(...)"
        )
    size = arena.shape[0]
    labels = jnp.asarray(components.labels)
    inside = labels >= 0 if vertices is None else (labels >= 0) & vertices
    there = jnp.arange(size, dtype=jnp.int32) < components.count
    labels = jnp.where(inside, labels, size).astype(jnp.int32)
    return _links.traced(arena, edges).out, labels, there, size
