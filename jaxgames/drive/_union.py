"""Arenas side by side, as one (host)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames.arena import LABELS, Arena, as_checked_as, labels_by


def union(arenas: Sequence[Arena]) -> tuple[Arena, np.ndarray]:
    """Puts concrete arenas side by side: no edge leads from one to another.

    Args:
        arenas: at least one, without padding. Labels that not all have are left out.

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
        if any(part is None for part in parts):
            return None
        if "priority" in name:  # of several types no common one need be of integers
            parts = [np.asarray(part).astype(np.int32, copy=False) for part in parts]
        return np.concatenate(parts)

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


def split(arena: Arena, starts: np.ndarray) -> list[Arena]:
    """Takes a concrete arena apart that is several side by side.

    Args:
        arena: without padding; no edge leads from one to another.
        starts: integers `[N]`, the first vertex of each, ascending from 0 on.

    Examples:
        >>> both = Arena.from_edges([0, 1, 2], [0, 2, 1], owner=[1, 0, 1])
        >>> [one.dst.tolist() for one in split(both, np.array([0, 1]))]
        [[0], [1, 0]]
    """
    ends = np.append(starts[1:], len(arena.owner)).tolist()
    found = []
    for begin, end in zip(starts.tolist(), ends, strict=True):
        first, last = arena.row_ptr[[begin, end]].tolist()
        labels = labels_by(
            arena, lambda x, b=begin, e=end: x[b:e], lambda x, b=first, e=last: x[b:e]
        )
        one = Arena(
            row_ptr=arena.row_ptr[begin : end + 1] - np.int32(first),
            src=arena.src[first:last] - np.int32(begin),
            dst=arena.dst[first:last] - np.int32(begin),
            owner=arena.owner[begin:end],
            **labels,
            num_vertices=np.int32(end - begin),
            num_edges=np.int32(last - first),
        )
        found.append(as_checked_as(arena, one))
    return found
