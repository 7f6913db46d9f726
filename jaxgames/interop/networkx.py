"""Graphs of networkx, as arenas and back."""

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from jaxgames.arena import Arena
from jaxgames.interop._attributes import column, payloads, say_left_out
from jaxgames.interop._package import package


def to_arena(
    graph: Any,
    *,
    owner: str | None = None,
    priority: str | None = None,
    weight: str | None = None,
    dead_ends: Literal["error", "lose", "allow"] = "allow",
) -> tuple[Arena, list[Hashable]]:
    """Converts a graph.

    O(V + E); nodes may be anything that can be hashed.

    Args:
        graph: a graph, directed or not, with parallel edges or not. An edge without
            direction gives two, one each way, but for a self-loop.
        owner: the node attribute with the player who moves there, 0 or 1; None: all
            nodes are player 0's.
        priority: the node attribute with the priority, max even.
        weight: the edge attribute with the weight, an integer.
        dead_ends: what to do with a node that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Returns:
        The arena, and the node that each of its vertices stands for.

    Raises:
        ValueError: an attribute is missing or has another type.

    Warns:
        UserWarning: nodes or edges have attributes that are not taken. Those of nodes
            are found again by the second result.

    Examples:
        >>> import networkx as nx
        >>> arena, nodes = to_arena(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]))
        >>> arena, nodes
        (Arena(3 vertices, 3 edges), ['a', 'b', 'c'])
    """
    nodes = list(graph)
    index = {node: number for number, node in enumerate(nodes)}
    rows = [neighbours for _, neighbours in graph.adjacency()]
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    targets = map(index.__getitem__, itertools.chain.from_iterable(rows))
    dst = np.fromiter(targets, np.int64, counts.sum())
    edges = [data for row in rows for data in row.values()]
    if graph.is_multigraph():
        parallel = [len(data) for row in rows for data in row.values()]
        owners = np.repeat(np.arange(len(rows)), counts)
        counts = np.bincount(owners, parallel, len(rows)).astype(np.int64)
        dst = np.repeat(dst, parallel)
        edges = [data for keys in edges for data in keys.values()]
    found = [graph.nodes[node] for node in nodes]
    arena = Arena.from_csr(
        np.append(0, np.cumsum(counts)),
        dst,
        owner=np.zeros(len(nodes), bool)
        if owner is None
        else column([data.get(owner) for data in found], owner, "node"),
        priority=priority
        and column([data.get(priority) for data in found], priority, "node"),
        weight=weight and column([data.get(weight) for data in edges], weight, "edge"),
        dead_ends=dead_ends,
    )
    say_left_out(
        "nodes",
        {name for data in found for name in data},
        (owner, priority),
        "owner= and priority= take them",
    )
    say_left_out(
        "edges",
        {name for data in edges for name in data},
        (weight,),
        "weight= takes one",
    )
    return arena, nodes


def from_arena(arena: Arena, nodes: Sequence[Hashable] | None = None) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena.
        nodes: the node that each vertex stands for, as `to_arena` tells it; None: the
            vertices themselves, 0, 1, ...

    Returns:
        A `networkx.DiGraph`, or a `networkx.MultiDiGraph` if there are parallel edges.
        Its nodes are in the order of the vertices, with the attributes `owner` (0 or
        1), `priority` and `accepting`, its edges have `priority` and `weight`, where
        the arena has them.

    Raises:
        ImportError: networkx is not installed.
        ValueError: there are not as many different nodes as vertices.

    Examples:
        >>> graph = from_arena(Arena.from_edges([0, 0], [0, 1], owner=[0, 1],
        ...     priority=[2, 1], dead_ends="allow"))
        >>> graph.nodes(data="priority"), graph.edges
        (NodeDataView({0: 2, 1: 1}, data='priority'), OutEdgeView([(0, 0), (0, 1)]))
    """
    nx = package("networkx")
    arena = arena.unpad()
    vertices, edges = arena.shape
    pairs = arena.src.astype(np.int64) * vertices + arena.dst
    parallel = len(np.unique(pairs)) < edges
    graph = nx.MultiDiGraph() if parallel else nx.DiGraph()
    of_nodes, of_edges = payloads(arena)
    nodes = range(vertices) if nodes is None else list(nodes)
    if len(nodes) != vertices or len(set(nodes)) != vertices:
        raise ValueError(
            f"expected {vertices} different nodes, one for each vertex, got "
            f"{len(set(nodes))} different ones of {len(nodes)}"
        )
    graph.add_nodes_from(zip(nodes, of_nodes, strict=True))
    ends = (map(nodes.__getitem__, x.tolist()) for x in (arena.src, arena.dst))
    graph.add_edges_from(zip(*ends, of_edges, strict=True))
    return graph
