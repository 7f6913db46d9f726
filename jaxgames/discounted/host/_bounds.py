"""Bounds from values that somebody has found, however near they are."""

from typing import NamedTuple

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


def certain(arena: Arena, discount: float, value: np.ndarray) -> Certain:
    """Bounds around values, and the edges that are best with them.

    Let no equation be further from being satisfied than by `r`. Then all values less
    `r / (1 - discount)` are no more than what their best edges are worth with values
    made less likewise; so they are no more than what these edges secure. Rounding is
    counted in: what is summed up is small, and few operations are made.

    Args:
        arena: the game, without padding.
        discount: the nearest number to the discount factor.
        value: float64 `[V]`.
    """
    # What lies outside of all weights is not better than the ends.
    weight = np.asarray(arena.weight)
    low, high = float(weight.min(initial=0)), float(weight.max(initial=0))
    value = np.clip(np.nan_to_num(value, nan=0.0), low, high)
    best, edge = first_best(arena, edges_worth(arena, discount, value))
    slack = slack_of(arena)
    residual = float(np.abs(best - value).max(initial=0)) + slack
    # A unit in the last place more, since `1 - discount` is rounded too.
    radius = residual / (1 - discount) * 1.001 + slack
    return Certain(value - radius, value + radius, edge.astype(np.int32))


def slack_of(arena: Arena) -> float:
    """More than what rounding takes from or adds to what an edge is worth."""
    weight = np.asarray(arena.weight)
    widest = max(-float(weight.min(initial=0)), float(weight.max(initial=0)))
    return ROUNDING * float(np.finfo(np.float64).eps) * (widest + 1)


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
