"""What is met along the edges of a game: facts about concrete arenas."""

from typing import Any

import numpy as np

from jaxgames.arena import Arena


def marks_along(arena: Arena, of_vertices: Any, of_edges: Any) -> np.ndarray:
    """The marks of each edge and of its source, as bits: int64 `[E]`.

    Args:
        arena: the graph.
        of_vertices: int64 `[V]`, or None.
        of_edges: int64 `[E]`, or None.
    """
    met = np.zeros(arena.shape[1], np.int64)
    if of_vertices is not None:
        met |= np.asarray(of_vertices)[arena.src]
    if of_edges is not None:
        met |= np.asarray(of_edges)
    return met
