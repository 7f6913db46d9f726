"""Accepting cycles of a graph, one vertex after the other."""

from contextlib import nullcontext

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
    """An accepting vertex on a cycle reached from a start, NO_CYCLE, or STOPPED.

    Accepting vertices are bool `[V]`, starts int32 `[K]`; of `vertices`, bool `[V]`,
    None stands for all. Once `stop`, int8 `[1]`, is not 0, the search gives up; with
    None it ends where a limit is reached.

    Raises:
        ValueError: there is no such method.
    """
    if method not in _SEARCHES:
        raise ValueError(f"method must be one of {tuple(_SEARCHES)}, got {method!r}")
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
    """A lasso whose cycle is a shortest one through a vertex; None if there is none.

    The prefix is a shortest one to that cycle, which begins where it ends. O(V + E).
    The cycle leads through vertices `inside` alone, bool `[V]`; the rest is as for
    `search`.
    """
    row_ptr, dst = _rows(arena)
    inside = vertices if inside is None else inside
    with limits.ticking_beside("finding a lasso") as stop:
        cycle = shortest_cycle(row_ptr, dst, vertex, inside, stop)
    if not len(cycle):
        return None
    goal = np.zeros(len(row_ptr) - 1, bool)
    goal[cycle] = True
    path = way_to(arena, starts, goal, vertices)
    if not len(path):
        return None
    first = int(np.argmax(cycle == path[-1]))
    return Lasso(path[:-1], np.append(cycle[first:], cycle[:first]))


def check_lasso(
    arena: Arena, lasso: Lasso, accepting: np.ndarray, starts: np.ndarray
) -> tuple[str, int]:
    """What is wrong with a lasso, and where: an empty text and -1 if nothing is.

    Accepting vertices are bool `[V]`; starts are the initial ones.
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
    """A shortest path from a start to a goal, bool `[V]`; empty if none is reached.

    Starts and vertices are as for `search`.
    """
    row_ptr, dst = _rows(arena)
    with limits.ticking_beside("finding a lasso") as stop:
        return shortest_path(row_ptr, dst, starts, goal, vertices, stop)


def _rows(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Where rows begin, and targets, as numpy arrays that were checked."""
    validity.checked(arena, total=False)
    return np.asarray(arena.row_ptr), np.asarray(arena.dst)
