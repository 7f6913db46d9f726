"""Accepting cycles of a graph, one vertex after the other."""

from contextlib import nullcontext
from typing import Literal, get_args

import numpy as np

from jaxgames import limits, validity
from jaxgames.arena import Arena
from jaxgames.buchi._solution import Lasso
from jaxgames.buchi.host._lasso import (
    NO_VERTEX,
    first_gap,
    shortest_cycle,
    shortest_path,
)
from jaxgames.buchi.host._nested_dfs import nested_dfs
from jaxgames.buchi.host._tarjan import tarjan

Method = Literal["tarjan", "nested_dfs"]
_SEARCHES = {"tarjan": tarjan, "nested_dfs": nested_dfs}


def search(
    arena: Arena,
    accepting: np.ndarray,
    starts: np.ndarray,
    *,
    method: str = "tarjan",
    vertices: np.ndarray | None = None,
    stop: np.ndarray | None = None,
) -> int:
    """An accepting vertex on a cycle that is reached from a start.

    Args:
        arena: the graph.
        accepting: bool `[V]`.
        starts: int32 `[K]`.
        method: which search.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        stop: int8 `[1]`: once it is not 0, the search gives up. None: it ends where
            a limit is reached.

    Returns:
        The vertex, or NO_CYCLE, or STOPPED.

    Raises:
        ValueError: there is no such method.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
    beside = limits.ticking_beside("searching") if stop is None else nullcontext(stop)
    row_ptr, dst = _rows(arena)
    with beside as stop:
        found = _SEARCHES[method](row_ptr, dst, accepting, starts, vertices, stop)
    return int(found)


def lasso_through(
    arena: Arena,
    starts: np.ndarray,
    vertex: int,
    vertices: np.ndarray | None = None,
    inside: np.ndarray | None = None,
) -> Lasso | None:
    """A lasso whose cycle is a shortest one through a vertex.

    The prefix is a shortest one to that cycle, which begins where it ends. O(V + E).

    Args:
        arena: the graph.
        starts: int32 `[K]`, the initial vertices.
        vertex: the vertex.
        vertices: bool `[V]`, the vertices that there are, or None for all.
        inside: bool `[V]`, those that the cycle may lead through; None for all.

    Returns:
        None where there is no cycle, or it is not reached.
    """
    row_ptr, dst = _rows(arena)
    inside = vertices if inside is None else inside
    with limits.ticking_beside("finding a lasso") as stop:
        cycle = shortest_cycle(row_ptr, dst, vertex, inside, stop)
    if not len(cycle):
        return None
    goal = np.zeros(len(row_ptr) - 1, bool)
    goal[cycle] = True
    with limits.ticking_beside("finding a lasso") as stop:
        path = shortest_path(row_ptr, dst, starts, goal, vertices, stop)
    if not len(path):
        return None
    cycle = np.roll(cycle, -int(np.flatnonzero(cycle == path[-1])[0]))
    return Lasso(path[:-1], cycle)


def check_lasso(
    arena: Arena, lasso: Lasso, accepting: np.ndarray, starts: np.ndarray
) -> tuple[str, int]:
    """What is wrong with a lasso, and where: an empty text and -1 if nothing is.

    Args:
        arena: the graph.
        lasso: the lasso.
        accepting: bool `[V]`.
        starts: the initial vertices.
    """
    prefix, cycle = np.asarray(lasso.prefix), np.asarray(lasso.cycle)
    if cycle.ndim != 1 or not len(cycle):
        return "empty", NO_VERTEX
    walk = np.concatenate([prefix, cycle, cycle[:1]]).astype(np.int64)
    outside = (walk < 0) | (walk >= int(arena.num_vertices))
    if outside.any():
        return "outside", int(walk[np.argmax(outside)])
    if walk[0] not in starts:
        return "start", int(walk[0])
    gap = first_gap(*_rows(arena), walk)
    if gap < len(walk) - 1:
        return "gap", int(walk[gap])
    if not accepting[cycle].any():
        return "rejecting", int(cycle[0])
    return "", NO_VERTEX


def way_to(
    arena: Arena,
    starts: np.ndarray,
    goal: np.ndarray,
    vertices: np.ndarray | None = None,
) -> np.ndarray:
    """A shortest path from a start to a goal; empty if none is reached.

    Args:
        arena: the graph.
        starts: int32 `[K]`.
        goal: bool `[V]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.
    """
    row_ptr, dst = _rows(arena)
    with limits.ticking_beside("finding a lasso") as stop:
        return shortest_path(row_ptr, dst, starts, goal, vertices, stop)


def _rows(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Where rows begin, and targets, as numpy arrays that were checked."""
    validity.checked(arena, total=False)
    return np.asarray(arena.row_ptr), np.asarray(arena.dst)
