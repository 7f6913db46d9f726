"""Graphs of rustworkx, as arenas and back."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from jaxgames.arena import Arena
from jaxgames.interop._attributes import both_ways, column, payloads, say_left_out
from jaxgames.interop._package import package

Attribute = str | Callable[[Any], Any]
"""A key of payloads that are mappings, or a function of a payload."""


def to_arena(
    graph: Any,
    *,
    owner: Attribute | None = None,
    priority: Attribute | None = None,
    weight: Attribute | None = None,
    dead_ends: Literal["error", "lose", "allow"] = "allow",
) -> tuple[Arena, np.ndarray]:
    """Converts a graph.

    O(V + E log E).

    Args:
        graph: a `rustworkx.PyDiGraph`, or a `PyGraph`, whose edges each give two, one
            each way, but for a self-loop.
        owner: where a node's payload tells the player who moves there, 0 or 1: the key
            of a mapping, or a function of the payload; None: all are player 0's.
        priority: where it tells the priority, max even, likewise.
        weight: where an edge's payload tells the weight, an integer, likewise.
        dead_ends: what to do with a node that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Returns:
        The arena, and the node index that each vertex stands for: where nodes were
        removed, indices have gaps.

    Raises:
        ValueError: a payload does not tell what it should.

    Warns:
        UserWarning: edges have payloads that are not taken, or nodes have mappings with
            other keys. Payloads of nodes are found again by the second result.

    Examples:
        >>> import rustworkx  # doctest: +SKIP
        >>> graph = rustworkx.generators.directed_cycle_graph(3)  # doctest: +SKIP
        >>> to_arena(graph)  # doctest: +SKIP
        (Arena(3 vertices, 3 edges), array([0, 1, 2]))
    """
    nodes = np.array(graph.node_indices(), np.int64)
    edges = np.array(graph.edge_list(), np.int64).reshape(-1, 2)
    number = np.zeros(nodes.max(initial=-1) + 1, np.int64)
    number[nodes] = np.arange(len(nodes))
    src, dst = number[edges.T]
    of_nodes, of_edges = graph.nodes(), graph.edges()
    _say_left_out(
        "nodes", of_nodes, (owner, priority), "owner= and priority= take them"
    )
    _say_left_out("edges", of_edges, (weight,), "weight= takes one")
    if weight is None and any(not _is_map(x) and x is not None for x in of_edges):
        say_left_out("edges", ["payload"], (), "weight= takes it: weight=int")
    weights = None if weight is None else _values(of_edges, weight, "edge")
    if not hasattr(graph, "successors"):  # edges without direction
        src, dst, weights = both_ways(src, dst, weights)
    arena = Arena.from_edges(
        src,
        dst,
        owner=np.zeros(len(nodes), bool)
        if owner is None
        else _values(of_nodes, owner, "node"),
        priority=None if priority is None else _values(of_nodes, priority, "node"),
        weight=weights,
        dead_ends=dead_ends,
    )
    return arena, nodes


def _is_map(payload: Any) -> bool:
    return isinstance(payload, Mapping)


def _say_left_out(what: str, payloads: list[Any], taken: tuple, how: str) -> None:
    """Warns of keys of mappings that are not taken; a function may take any."""
    if not any(map(callable, taken)):
        keys = {key for payload in payloads if _is_map(payload) for key in payload}
        say_left_out(what, keys, taken, how)


def _values(payloads: list[Any], attribute: Attribute, what: str) -> np.ndarray:
    if callable(attribute):
        return column([attribute(payload) for payload in payloads], attribute, what)
    found = [x.get(attribute) if _is_map(x) else None for x in payloads]
    return column(found, attribute, what)


def from_arena(arena: Arena) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena.

    Returns:
        A `rustworkx.PyDiGraph`. The payload of a node is a dictionary with `owner` (0
        or 1), `priority` and `accepting`, that of an edge one with `priority` and
        `weight`, where the arena has them; an edge without either has None.

    Raises:
        ImportError: rustworkx is not installed.

    Examples:
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1])
        >>> from_arena(arena).nodes()  # doctest: +SKIP
        [{'owner': 0}, {'owner': 1}]
    """
    rustworkx = package("rustworkx")
    arena = arena.unpad()
    graph = rustworkx.PyDiGraph(multigraph=True)
    of_nodes, of_edges = payloads(arena)
    graph.add_nodes_from(of_nodes)
    src, dst = arena.src.tolist(), arena.dst.tolist()
    told = [payload or None for payload in of_edges]
    graph.add_edges_from(list(zip(src, dst, told, strict=True)))
    return graph
