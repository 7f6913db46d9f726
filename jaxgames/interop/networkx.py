"""Graphs of networkx, as arenas and back."""

import itertools
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from jaxgames.arena import Arena
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
    edges = [data for row in rows for data in row.values()] if weight else []
    if graph.is_multigraph():
        parallel = [len(data) for row in rows for data in row.values()]
        owners = np.repeat(np.arange(len(rows)), counts)
        counts = np.bincount(owners, parallel, len(rows)).astype(np.int64)
        dst = np.repeat(dst, parallel)
        edges = [data for keys in edges for data in keys.values()]
    return Arena.from_csr(
        np.append(0, np.cumsum(counts)),
        dst,
        owner=np.zeros(len(nodes), bool)
        if owner is None
        else _values([graph.nodes[node] for node in nodes], owner, "node"),
        priority=priority
        and _values([graph.nodes[node] for node in nodes], priority, "node"),
        weight=weight and _values(edges, weight, "edge"),
        dead_ends=dead_ends,
    ), nodes


def from_arena(arena: Arena) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena.

    Returns:
        A `networkx.DiGraph`, or a `networkx.MultiDiGraph` if there are parallel edges.
        Its nodes are 0, 1, ... with the attributes `owner` (0 or 1), `priority` and
        `accepting`, its edges have `priority` and `weight`, where the arena has them.

    Raises:
        ImportError: networkx is not installed.

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
    of_nodes = {
        "owner": arena.owner.astype(int),
        "priority": arena.priority,
        "accepting": arena.accepting,
    }
    of_edges = {"priority": arena.edge_priority, "weight": arena.weight}
    graph.add_nodes_from(
        zip(range(vertices), _attributes(of_nodes, vertices), strict=True)
    )
    graph.add_edges_from(
        zip(
            arena.src.tolist(),
            arena.dst.tolist(),
            _attributes(of_edges, edges),
            strict=True,
        )
    )
    return graph


def _values(found: list[dict], name: str, what: str) -> np.ndarray:
    """An attribute of all nodes or edges."""
    values = [data.get(name) for data in found]
    if None in values:
        raise ValueError(
            f"{what} number {values.index(None)} has no attribute {name!r}"
        )
    return np.array(values) if values else np.empty(0, np.int32)


def _attributes(arrays: dict[str, np.ndarray | None], length: int) -> list[dict]:
    """For each entry the values of the arrays, by name."""
    names = [name for name, array in arrays.items() if array is not None]
    columns = [array.tolist() for array in arrays.values() if array is not None]
    if not columns:
        return [{} for _ in range(length)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
