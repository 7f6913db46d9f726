"""The engine on the host: Tarjan's algorithm, one vertex after the other."""

from typing import Any, Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph import reference
from jaxgames.limits import Bounds, limited

STOPPED = reference.STOPPED
"""How many components there are where the engine was stopped."""


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
    return reference.scc(arena, vertices=vertices, edges=edges, stop=stop)
