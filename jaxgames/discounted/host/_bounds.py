"""Bounds from values that somebody has found, however near they are."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.discounted._equations import ROUNDING


class Certain(NamedTuple):
    """Bounds, and the edges that secure them.

    Attributes:
        lower: float64 `[V]`.
        upper: float64 `[V]`.
        strategy: int32 `[V]`.
    """

    lower: np.ndarray
    upper: np.ndarray
    strategy: np.ndarray


ALONE = np.zeros(1, np.int64)
"""The first vertex of each game where there is one."""


def certain(
    arena: Arena, discount: float, value: np.ndarray, first: np.ndarray = ALONE
) -> Certain:
    """Bounds around values, and the edges that are best with them.

    Let no equation be further from being satisfied than by `r`. Then all values less
    `r / (1 - discount)` are no more than what their best edges are worth with values
    made less likewise; so they are no more than what these edges secure. Rounding is
    counted in: what is summed up is small, and few operations are made.

    Args:
        arena: the game, without padding.
        discount: the nearest number to the discount factor.
        value: float64 `[V]`.
        first: integers `[G]`, the first vertices of games side by side.
    """
    if not len(value):
        return Certain(value, value, np.zeros(0, np.int32))
    # What lies outside of all weights is not better than the ends.
    low, high = (by_vertex(x, value, first) for x in weights_of(arena, first))
    value = np.clip(np.nan_to_num(value, nan=0.0), low, high)
    best, edge = first_best(arena, edges_worth(arena, discount, value))
    slack = by_vertex(slack_of(arena, first), value, first)
    missed = np.maximum.reduceat(np.abs(best - value), first)
    residual = by_vertex(missed, value, first) + slack
    # A unit in the last place more, since `1 - discount` is rounded too.
    radius = residual / (1 - discount) * 1.001 + slack
    return Certain(value - radius, value + radius, edge.astype(np.int32))


def weights_of(arena: Arena, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least weight of each game, or 0, and the largest, or 0: float64 `[G]`."""
    weight, begin = np.asarray(arena.weight), np.asarray(arena.row_ptr)[first]
    low, high = np.minimum.reduceat(weight, begin), np.maximum.reduceat(weight, begin)
    return np.minimum(low, 0).astype(np.float64), np.maximum(high, 0).astype(np.float64)


def slack_of(arena: Arena, first: np.ndarray) -> np.ndarray:
    """More than what rounding takes from or adds to what an edge of each game is worth.

    Returns:
        float64 `[G]`.
    """
    low, high = weights_of(arena, first)
    return ROUNDING * np.finfo(np.float64).eps * (np.maximum(-low, high) + 1)


def by_vertex(x: np.ndarray, vertices: Any, first: np.ndarray) -> np.ndarray:
    """What each game has, for each of its vertices: `[V]`."""
    return np.repeat(x, np.diff(first, append=len(vertices)))


def edges_worth(arena: Arena, discount: float, value: np.ndarray) -> np.ndarray:
    """What each edge is worth: float64 `[E]`."""
    weight = np.asarray(arena.weight).astype(np.float64)
    return (1 - discount) * weight + discount * value[np.asarray(arena.dst)]


def first_best(arena: Arena, worth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the best edge of each vertex is worth, and the first such edge."""
    src, owner = np.asarray(arena.src), np.asarray(arena.owner)
    starts = np.asarray(arena.row_ptr)[:-1]
    if not len(starts):
        return np.zeros(0), np.zeros(0, np.int64)
    least = np.minimum.reduceat(worth, starts)
    most = np.maximum.reduceat(worth, starts)
    best = np.where(owner, least, most)
    edges = np.where(worth == best[src], np.arange(len(src)), len(src))
    return best, np.minimum.reduceat(edges, starts)
