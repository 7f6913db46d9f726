"""Graphs of igraph, as arenas and back."""

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from jaxgames.arena import Arena
from jaxgames.interop._attributes import both_ways, column, say_left_out
from jaxgames.interop._package import package


def to_arena(
    graph: Any,
    *,
    owner: str | None = None,
    priority: str | None = None,
    weight: str | None = None,
    dead_ends: Literal["error", "lose", "allow"] = "allow",
) -> Arena:
    """Converts a graph; vertex `v` stays vertex `v`.

    O(V + E log E). Names of vertices stay where they are, `graph.vs["name"]`.

    Args:
        graph: an `igraph.Graph`, directed or not. An edge without direction gives two,
            one each way, but for a self-loop.
        owner: the vertex attribute with the player who moves there, 0 or 1; None: all
            vertices are player 0's.
        priority: the vertex attribute with the priority, max even.
        weight: the edge attribute with the weight, an integer.
        dead_ends: what to do with a vertex that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Returns:
        The arena.

    Raises:
        ValueError: an attribute is missing or has another type.

    Warns:
        UserWarning: vertices or edges have other attributes, which are not taken.

    Examples:
        >>> import igraph  # doctest: +SKIP
        >>> to_arena(igraph.Graph([(0, 1), (1, 0)], directed=True))  # doctest: +SKIP
        Arena(2 vertices, 2 edges)
    """
    ends = itertools.chain.from_iterable(graph.get_edgelist())
    edges = np.fromiter(ends, np.int64, 2 * graph.ecount())
    src, dst = edges[::2], edges[1::2]
    say_left_out(
        "vertices",
        set(graph.vs.attributes()) - {"name"},
        (owner, priority),
        "owner= and priority= take them",
    )
    say_left_out("edges", graph.es.attributes(), (weight,), "weight= takes one")
    weights = None if weight is None else _values(graph.es, weight, "edge")
    if not graph.is_directed():
        src, dst, weights = both_ways(src, dst, weights)
    return Arena.from_edges(
        src,
        dst,
        owner=np.zeros(graph.vcount(), bool)
        if owner is None
        else _values(graph.vs, owner, "vertex"),
        priority=None if priority is None else _values(graph.vs, priority, "vertex"),
        weight=weights,
        dead_ends=dead_ends,
    )


def _values(sequence: Any, name: str, what: str) -> np.ndarray:
    there = name in sequence.attributes()
    return column(sequence[name] if there else [None] * len(sequence), name, what)


def from_arena(arena: Arena, names: Sequence[str] | None = None) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena.
        names: the name of each vertex, for the attribute `name`; None: there is none.

    Returns:
        A directed `igraph.Graph` with parallel edges where the arena has them; its
        vertices have the attributes `owner` (0 or 1), `priority` and `accepting`, its
        edges `priority` and `weight`, where the arena has them.

    Raises:
        ImportError: igraph is not installed.

    Examples:
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1])
        >>> from_arena(arena).vs["owner"]  # doctest: +SKIP
        [0, 1]
    """
    igraph = package("igraph")
    arena = arena.unpad()
    graph = igraph.Graph(
        n=arena.shape[0], edges=np.stack([arena.src, arena.dst], axis=1), directed=True
    )
    graph.vs["owner"] = arena.owner.astype(int).tolist()
    for where, name, values in (
        (graph.vs, "priority", arena.priority),
        (graph.vs, "accepting", arena.accepting),
        (graph.es, "priority", arena.edge_priority),
        (graph.es, "weight", arena.weight),
    ):
        if values is not None:
            where[name] = values.tolist()
    if names is not None:
        graph.vs["name"] = list(names)
    return graph
