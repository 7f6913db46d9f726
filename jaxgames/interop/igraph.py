"""Graphs of igraph, as arenas and back."""

import itertools
from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.interop._package import package


def to_arena(graph: Any) -> Arena:
    """Converts a graph; vertex `v` stays vertex `v`.

    O(V + E log E).

    Args:
        graph: an `igraph.Graph`, directed or not. An edge without direction gives two,
            one each way, but for a self-loop. Attributes are left out.

    Returns:
        The graph; all its vertices belong to player 0, and some may be dead ends.

    Examples:
        >>> import igraph  # doctest: +SKIP
        >>> to_arena(igraph.Graph([(0, 1), (1, 0)], directed=True))  # doctest: +SKIP
        Arena(2 vertices, 2 edges)
    """
    ends = itertools.chain.from_iterable(graph.get_edgelist())
    edges = np.fromiter(ends, np.int64, 2 * graph.ecount())
    src, dst = edges[::2], edges[1::2]
    if not graph.is_directed():
        between = src != dst
        src, dst = np.append(src, dst[between]), np.append(dst, src[between])
    owner = np.zeros(graph.vcount(), bool)
    return Arena.from_edges(src, dst, owner=owner, dead_ends="allow")


def from_arena(arena: Arena) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena.

    Returns:
        A directed `igraph.Graph` with parallel edges where the arena has them; its
        vertices have the attributes `owner` (0 or 1) and `priority`, its edges
        `priority` and `weight`, where the arena has them.

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
        (graph.es, "priority", arena.edge_priority),
        (graph.es, "weight", arena.weight),
    ):
        if values is not None:
            where[name] = values.tolist()
    return graph
