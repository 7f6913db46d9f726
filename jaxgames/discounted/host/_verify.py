"""The check of bounds: one pass over the edges, exact where it is close."""

from fractions import Fraction

import numpy as np

from jaxgames.arena import Arena
from jaxgames.discounted._verdict import Reason, Verdict


def verify(
    arena: Arena,
    discount: Fraction,
    lower: np.ndarray,
    upper: np.ndarray,
    strategy: np.ndarray | None,
) -> Verdict:
    """As [`verify`][jaxgames.discounted.verify], of arrays without padding."""
    row_ptr, owner = np.asarray(arena.row_ptr), np.asarray(arena.owner)
    wrong = ~(np.isfinite(lower) & np.isfinite(upper) & (lower <= upper))
    if wrong.any():
        return Verdict.at(Reason.NO_BOUNDS, int(np.argmax(wrong)))
    if strategy is not None:
        wrong = (strategy < row_ptr[:-1]) | (strategy >= row_ptr[1:])
        if wrong.any():
            reason = Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX
            return Verdict.at(reason, int(np.argmax(wrong)))
    for player, bound, reason in (
        (0, lower, Reason.LOWER_NOT_SECURED),
        (1, upper, Reason.UPPER_NOT_SECURED),
    ):
        holds = _holds(arena, discount, bound, player)
        own = owner == (player == 1)
        every = np.logical_and.reduceat(holds, row_ptr[:-1])
        if strategy is None:
            some = np.logical_or.reduceat(holds, row_ptr[:-1])
        else:
            some = holds[strategy]
        wrong = ~np.where(own, some, every)
        if wrong.any():
            return Verdict.at(reason, int(np.argmax(wrong)))
    return Verdict.at(Reason.OK)


def _holds(
    arena: Arena, discount: Fraction, bound: np.ndarray, player: int
) -> np.ndarray:
    """Whether each edge keeps to the bound of its source: bool `[E]`.

    `bound(v) <= (1 - discount) w + discount bound(u)` for player 0, and the other way
    round for player 1. In floating numbers where that is clear, else in fractions.
    """
    src, dst = np.asarray(arena.src), np.asarray(arena.dst)
    weight = np.asarray(arena.weight)
    factor, real = float(discount), weight.astype(np.float64)
    gap = (1 - factor) * real + factor * bound[dst] - bound[src]
    gap = gap if player == 0 else -gap
    unsure = 64 * np.finfo(np.float64).eps
    doubt = unsure * (np.abs(real) + np.abs(bound[dst]) + np.abs(bound[src]) + 1)
    holds = gap >= 0
    for e in np.flatnonzero(~(np.abs(gap) > doubt)).tolist():
        there, here = Fraction(float(bound[dst[e]])), Fraction(float(bound[src[e]]))
        found = (1 - discount) * int(weight[e]) + discount * there - here
        holds[e] = found >= 0 if player == 0 else found <= 0
    return holds
