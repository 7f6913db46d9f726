"""Arenas side by side, as one (host)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames.arena import LABELS, Arena


def union(arenas: Sequence[Arena]) -> tuple[Arena, np.ndarray]:
    """Puts concrete arenas side by side: no edge leads from one to another.

    Args:
        arenas: at least one, without padding; all with the same labels.

    Returns:
        The arena; and integers `[N + 1, 2]`: its first vertex and edge of each, and
        where all end.

    Examples:
        >>> loop = Arena.from_edges([0], [0], owner=[1], priority=[1])
        >>> pair = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[3, 2])
        >>> both, first = union([loop, pair])
        >>> both.dst, first.tolist()
        (array([0, 2, 1], dtype=int32), [[0, 0], [1, 1], [3, 3]])
    """
    shapes = np.array([arena.shape for arena in arenas])
    first = np.concatenate([np.zeros((1, 2), int), np.cumsum(shapes, axis=0)])
    by_edge = np.repeat(first[:-1, 0], shapes[:, 1]).astype(np.int32)
    ends = np.concatenate([np.asarray(arena.row_ptr)[1:] for arena in arenas])
    ends = ends + np.repeat(first[:-1, 1], shapes[:, 0])

    def joined(name: str) -> Any:
        parts = [getattr(arena, name) for arena in arenas]
        return None if parts[0] is None else np.concatenate(parts)

    size, edges = first[-1].tolist()
    arena = Arena(
        row_ptr=np.append(0, ends).astype(np.int32),
        src=joined("src") + by_edge,
        dst=joined("dst") + by_edge,
        owner=joined("owner"),
        **{name: joined(name) for name in LABELS},
        num_vertices=np.int32(size),
        num_edges=np.int32(edges),
    )
    return arena, first
