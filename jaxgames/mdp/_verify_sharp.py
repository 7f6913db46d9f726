"""Bounds between which values surely are, sharper than one step in float64 shows.

They are found as sums of two numbers, and given as fractions. Nothing here is trusted:
who takes them checks what equations ask of them.
"""

from fractions import Fraction

import numpy as np

from jaxgames import limits
from jaxgames.mdp._model import spans
from jaxgames.mdp.host._steps import gains
from jaxgames.tuning.mdp import NARROW_UP_TO

REFINEMENTS = 20
"""How often equations are solved for what is missing: each adds some digits."""


def narrow_bounds(
    rows: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    earned: np.ndarray,
    states: np.ndarray,
    choices: np.ndarray,
    known: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds of the values of a chain whose states can be put in a narrow order.

    With x the values as they are found, each step off by t at most, and w = 1 + P w,
    these are x - 2 t w and x + 2 t w. O(n + e) in all.

    Args:
        rows: int `[C + 1]`, where the branches of each choice begin.
        target: int `[E]`, where they lead.
        weight: float64 `[E]`, their probabilities, relative to the sum of a choice's.
        earned: float64 `[C]`.
        states: int `[n]`, those whose values are asked for.
        choices: int `[n]`, what is chosen there.
        known: float64 `[S]`, the values of the others.

    Returns:
        Below and above, object `[n]`; None if the order is not narrow, or equations
        have no solution.
    """
    many = np.diff(rows)[choices]
    branch = spans(rows[choices], many)
    begins = np.append(0, np.cumsum(many)).astype(np.int32)
    own = np.full(len(known), -1)
    own[states] = np.arange(len(states))
    row, column = np.repeat(np.arange(len(states)), many), own[target[branch]]
    share = weight[branch] / np.repeat(
        np.add.reduceat(weight[branch], begins[:-1]), many
    )
    inner = column >= 0
    solve = _solver(len(states), row[inner], column[inner], share[inner])
    if solve is None:
        return None
    high, low = known.copy(), np.zeros(len(known))
    high[states] = 0.0
    parts = (
        *(states.astype(np.int32), begins, target[branch].astype(np.int32)),
        *(weight[branch].astype(np.float64), earned[choices].astype(np.float64)),
    )
    missing, off = np.empty((2, len(states)))
    before, best = np.inf, None
    for _ in range(REFINEMENTS):
        limits.tick("verifying")
        gains(*parts, high, low, missing, off)
        rest = float((np.abs(missing) + off).max())
        if not rest < before / 2:
            break
        before, best = rest, (high.copy(), low.copy())
        low[states] += solve(missing)
        whole = high + low
        high, low = whole, low - (whole - high)
    if best is None:
        return None
    away = 2 * before * solve(np.ones(len(states)))
    if not np.isfinite(away).all():
        return None
    ends = []
    for side in (-away, away):
        pairs = zip(best[0][states], best[1][states] + side, strict=True)
        ends.append(np.array([Fraction(x) + Fraction(y) for x, y in pairs], object))
    return ends[0], ends[1]


def _solver(size: int, row: np.ndarray, column: np.ndarray, share: np.ndarray):
    """What solves x = y + P x for x, if there is a narrow order; else None."""
    import warnings

    from scipy import sparse
    from scipy.sparse import csgraph, linalg

    chain = sparse.csr_matrix((share, (row, column)), shape=(size, size))
    order = csgraph.reverse_cuthill_mckee(chain)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    if np.abs(place[row] - place[column]).max(initial=0) > NARROW_UP_TO:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return linalg.splu((sparse.identity(size) - chain).tocsc()).solve
        except RuntimeError:
            return None
