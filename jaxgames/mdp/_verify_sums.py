"""Inequalities that floating point decides surely, with two numbers for each sum.

What rounding takes from a sum or a product is a number again, which is kept [1]. Where
that is nothing, as with steps and halves, equality is seen, too; and a mean is never
beyond the numbers that it is of.

References:
    [1] Ogita, Rump and Oishi, Accurate sum and dot product, SIAM Journal on Scientific
    Computing 26 (2005), doi:10.1137/030601818.
"""

import numpy as np

from jaxgames.host import linear

SPLIT = 134217729.0  # 2**27 + 1: halves of a float64 have 26 bits

HAIR = 1e-31
"""More than 16 times the square of the relative error of an operation: 2**-106."""

SMALLEST, LARGEST = 1e-280, 1e290
"""Between these no error of a product is lost, and nothing overflows."""


@linear
def keep(rows, target, weight, bound, own, earned, plain, sign, doubtful, kept):
    """Notes the choices that surely keep a bound, among those that are in doubt.

    Args:
        rows: int `[C + 1]`, where the branches of each choice begin.
        target: int `[E]`, where they lead.
        weight: float64 `[E]`, their probabilities, relative to the sum of a choice's.
        bound: float64 `[S]`.
        own: int `[C]`, the state of each choice.
        earned: float64 `[C]`.
        plain: whether a step is worth as much as the one before it.
        sign: 1 if choices must not make the bound larger, -1 if not smaller.
        doubtful: int `[D]`, choices.
        kept: bool `[D]`, written to.
    """
    for i in range(len(doubtful)):
        at = doubtful[i]
        mine, gain = bound[own[at]], earned[at]
        first, last = rows[at], rows[at + 1]
        if not plain or first == last or not _usual(mine) or not _usual(gain):
            continue
        worst, usual = bound[target[first]], True
        # Sums of two numbers each: what is led to, and probabilities.
        value, value_rest, total, total_rest, size = 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(first, last):
            x, p = bound[target[e]], weight[e]
            if sign * (x - worst) > 0.0:
                worst = x
            usual = usual and _usual(x) and _usual(p)
            if usual:
                product, lost = _times(p, x)
                value, missing = _plus(value, product)
                value_rest += lost + missing
                total, missing = _plus(total, p)
                total_rest += missing
                size += _size(product)
                usual = _usual(product)
        if gain == 0.0 and sign * (mine - worst) >= 0.0:
            kept[i] = True
        # As much of the bound, less what is gained.
        most, rest = _plus(mine, -gain)
        if not usual or not _usual(most):
            continue
        whole, lost = _times(total, most)
        if not _usual(whole):
            continue
        spare, missing = _plus(whole, -value)
        second = lost + total * rest + total_rest * most
        size += _size(whole) + total * (_size(mine) + _size(gain))
        many = last - first + 8.0
        off = many * many * HAIR * size
        if second == 0.0 and value_rest == 0.0 and rest == 0.0 and total_rest == 0.0:
            off = 0.0  # nothing was rounded
        if sign * (spare + (missing + (second - value_rest))) >= off:
            kept[i] = True


@linear
def _size(x):
    return -x if x < 0.0 else x


@linear
def _usual(x):
    return x == 0.0 or (_size(x) > SMALLEST and _size(x) < LARGEST)


@linear
def _plus(x, y):
    """A sum, and what rounding has taken from it [Knuth]."""
    total = x + y
    second = total - x
    return total, (x - (total - second)) + (y - second)


@linear
def _times(x, y):
    """A product of usual numbers, and what rounding has taken from it [Dekker]."""
    product = x * y
    whole = SPLIT * x
    high = whole - (whole - x)
    low = x - high
    whole = SPLIT * y
    upper = whole - (whole - y)
    lower = y - upper
    return product, low * lower - (
        ((product - high * upper) - low * upper) - high * lower
    )


def kept_exactly(
    rows: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    bound: np.ndarray,
    own: np.ndarray,
    earned: np.ndarray,
    plain: bool,
    sign: int,
    doubtful: np.ndarray,
) -> np.ndarray:
    """Which doubtful choices surely keep a bound, bool `[D]`: see `keep`."""
    kept = np.zeros(len(doubtful), bool)
    numbers = (np.asarray(x, np.float64) for x in (weight, bound))
    gain = np.asarray(earned, np.float64)
    keep(rows, target, *numbers, own, gain, plain, sign, doubtful, kept)
    return kept
