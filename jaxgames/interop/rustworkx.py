"""Graphs of rustworkx, as arenas and back."""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.interop._package import package


def to_arena(graph: Any) -> tuple[Arena, np.ndarray]:
    """Converts a graph.

    O(V + E log E).

    Args:
        graph: a `rustworkx.PyDiGraph`, or a `PyGraph`, whose edges each give two, one
            each way, but for a self-loop. Payloads are left out.

    Returns:
        The graph, whose vertices all belong to player 0, and the node index that each
        vertex stands for: where nodes were removed, indices have gaps.

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
    if not hasattr(graph, "successors"):  # edges without direction
        between = src != dst
        src, dst = np.append(src, dst[between]), np.append(dst, src[between])
    owner = np.zeros(len(nodes), bool)
    return Arena.from_edges(src, dst, owner=owner, dead_ends="allow"), nodes


def from_arena(arena: Arena) -> Any:
    """Converts an arena; padding is left out.

    Args:
        arena: any arena; its priorities are left out.

    Returns:
        A `rustworkx.PyDiGraph`. The payload of a node is its owner (0 or 1), that of an
        edge its weight, None where the arena has none.

    Raises:
        ImportError: rustworkx is not installed.

    Examples:
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1])
        >>> from_arena(arena).nodes()  # doctest: +SKIP
        [0, 1]
    """
    rustworkx = package("rustworkx")
    arena = arena.unpad()
    graph = rustworkx.PyDiGraph(multigraph=True)
    graph.add_nodes_from(arena.owner.astype(int).tolist())
    src, dst = arena.src.tolist(), arena.dst.tolist()
    if arena.weight is None:
        graph.add_edges_from_no_data(list(zip(src, dst, strict=True)))
    else:
        weight = arena.weight.tolist()
        graph.add_edges_from(list(zip(src, dst, weight, strict=True)))
    return graph
