"""Smaller and smaller games that still go wrong."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jaxgames.arena import Arena


def shrink(arena: Arena, fails: Callable[[Sequence[Arena]], list[bool]]) -> Arena:
    """Makes a game smaller as long as it still fails.

    A vertex is taken out, or becomes one with a successor; an edge is taken out; a
    priority is lowered; a vertex is given to player 0; an edge is made a self-loop. All
    ways are tried, and the first that fails is taken, until none does.

    Args:
        arena: a concrete game without padding, which fails.
        fails: for each of several games whether it fails.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[1, 1, 0], priority=[4, 6, 5]
        ... )
        >>> shrink(arena, lambda arenas: [any(a.priority == 5) for a in arenas])
        Arena(1 vertices, 1 edges, priority)
    """
    while True:
        smaller = list(_smaller(arena))
        found = fails(smaller) if smaller else []
        if not any(found):
            return arena
        arena = smaller[found.index(True)]


def _smaller(arena: Arena) -> Iterator[Arena]:
    """All games that are one step smaller, those that are much smaller first."""
    size, edges = arena.shape
    for v in range(size):
        keep = _total(arena, np.arange(size) != v)
        if keep.any():
            yield arena.subgame(keep, dead_ends="error")[0]
    for e in np.flatnonzero(arena.src != arena.dst):
        yield from _merged(arena, arena.src[e], arena.dst[e])
    degree = np.diff(arena.row_ptr)
    for e in np.flatnonzero(degree[arena.src] > 1):
        yield _without(arena, int(e))
    label = "priority" if arena.edge_priority is None else "edge_priority"
    priority = getattr(arena, label)
    for index in np.flatnonzero(priority > 0):
        for less in sorted({0, 1, priority[index] - 2, priority[index] - 1}):
            if 0 <= less < priority[index]:
                changed = priority.copy()
                changed[index] = less
                yield dataclasses.replace(arena, **{label: changed})
    for v in np.flatnonzero(arena.owner):
        owner = arena.owner.copy()
        owner[v] = False
        yield dataclasses.replace(arena, owner=owner)
    for e in np.flatnonzero(arena.src != arena.dst):
        dst = arena.dst.copy()
        dst[e] = arena.src[e]
        yield dataclasses.replace(arena, dst=dst)


def _merged(arena: Arena, vertex: int, successor: int) -> Iterator[Arena]:
    """Leads what leads to the vertex to its successor, without its edges and with."""
    new = np.arange(arena.shape[0]) - (np.arange(arena.shape[0]) > vertex)
    new[vertex] = new[successor]
    for kept in (arena.src != vertex, np.full(arena.shape[1], True)):
        yield Arena.from_edges(
            new[arena.src[kept]],
            new[arena.dst[kept]],
            owner=np.delete(arena.owner, vertex),
            priority=_delete(arena.priority, vertex),
            edge_priority=_delete(arena.edge_priority, np.flatnonzero(~kept)),
        )


def _total(arena: Arena, keep: np.ndarray) -> np.ndarray:
    """The most of the vertices to keep of which each has a successor among them."""
    while True:
        alive = np.zeros_like(keep)
        alive[arena.src[keep[arena.dst]]] = True
        if np.array_equal(keep & alive, keep):
            return keep
        keep = keep & alive


def _without(arena: Arena, edge: int) -> Arena:
    return Arena.from_edges(
        np.delete(arena.src, edge),
        np.delete(arena.dst, edge),
        owner=arena.owner,
        priority=arena.priority,
        edge_priority=_delete(arena.edge_priority, edge),
    )


def _delete(labels: np.ndarray | None, index: int | np.ndarray) -> np.ndarray | None:
    return None if labels is None else np.delete(labels, index)
