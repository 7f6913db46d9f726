"""Strategy improvement by whole arrays, in float64."""

import math
from typing import Any

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.discounted._equations import MARGIN_DOUBLES_AFTER
from jaxgames.discounted.host._bounds import (
    ALONE,
    by_vertex,
    edges_worth,
    first_best,
    slack_of,
)


def improve(
    arena: Arena, discount: float, stop: Any, first: np.ndarray = ALONE
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Values by strategy improvement: player 1 until he has no better edge, then 0.

    As [`StrategyImprovement`][jaxgames.discounted.StrategyImprovement].

    Args:
        arena: the game, without padding.
        discount: the discount factor.
        stop: int8 `[1]`: once it is not 0, the engine gives up; None: never.
        first: integers `[G]`, the first vertices of games side by side, which have
            vertices: each goes its own way.

    Returns:
        Values, how many rounds each game took, and whether all came to their ends.
    """
    row_ptr, owner = np.asarray(arena.row_ptr), np.asarray(arena.owner)
    move, rounds, took = row_ptr[:-1].copy(), 0, np.ones(len(first), np.int64)
    if not len(owner):
        return np.zeros(0), took, True
    slack = by_vertex(slack_of(arena, first), owner, first)
    while True:
        limits.tick("improving strategies", rounds, "rounds")
        value = _worth(arena, discount, move)
        best, edge = first_best(arena, edges_worth(arena, discount, value))
        gain = np.where(owner, value - best, best - value)
        better = gain > 2 * slack * 2.0 ** (rounds // MARGIN_DOUBLES_AFTER)
        rounds += 1
        goes_on = np.logical_or.reduceat(better, first)
        took[goes_on] = rounds + 1  # the next one, if nothing is better then
        if not goes_on.any():
            return value, took, True
        if stop is not None and stop[0]:
            return value, np.minimum(took, rounds), False
        his = np.logical_or.reduceat(better & owner, first)
        takes = better & (owner | ~by_vertex(his, owner, first))
        move = np.where(takes, edge, move)


def _worth(arena: Arena, discount: float, move: np.ndarray) -> np.ndarray:
    """What plays are worth in which each vertex takes one edge.

    What is found first is refined by what the equations are missed by.
    """
    gain = (1 - discount) * np.asarray(arena.weight)[move].astype(np.float64)
    after = np.asarray(arena.dst)[move]
    value = _summed(gain, after, discount)
    return value + _summed(gain + discount * value[after] - value, after, discount)


def _summed(gain: np.ndarray, after: np.ndarray, discount: float) -> np.ndarray:
    """Discounted sums along paths, which double until what follows counts for nothing.

    Args:
        gain: float64 `[V]`, what is gained at each vertex.
        after: integers `[V]`, the next vertex.
        discount: the factor.
    """
    for k in range(1 + math.ceil(math.log2(50 / (1 - discount)))):
        gain = gain + discount ** (2.0**k) * gain[after]
        after = after[after]
    return gain
