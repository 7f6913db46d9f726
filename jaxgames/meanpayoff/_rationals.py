"""Fractions as arrays: exact, with 64 bits where they fit and Python's integers else.

A fraction is a pair of arrays, numerators and positive denominators. The fractions in
lowest terms with denominators up to `most` are the Farey fractions of that order; two
of them differ by at least `1 / most**2`.
"""

from fractions import Fraction

import numpy as np

Array = np.ndarray
Ratio = tuple[Array, Array]


def number_type(width: int, most: int) -> type:
    """The type that numbers need between `-width` and `width` of denominators `most`.

    The largest are those of a point between two fractions, in eighths.
    """
    return np.int64 if 16 * (width + 1) * (most + 1) ** 2 < 2**62 else object


def shortest(numbers: Array) -> Array:
    """Integers as int64 where all of them are far from its ends."""
    if numbers.dtype != object:
        return numbers.astype(np.int64)
    fits = all(-(2**62) < x < 2**62 for x in numbers.tolist())
    return numbers.astype(np.int64) if fits else numbers


def distinct(values: Ratio) -> tuple[Ratio, Array]:
    """Different fractions in ascending order, and which of them each one is."""
    num, den = values
    if object in (num.dtype, den.dtype):
        pairs = list(zip(num.tolist(), den.tolist(), strict=True))
        first = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
        which = np.array([first[pair] for pair in pairs], np.int64)
        found = list(first)
    else:
        table, which = np.unique(np.stack(values), axis=1, return_inverse=True)
        found, which = list(map(tuple, table.T.tolist())), which.reshape(-1)
    order = sorted(range(len(found)), key=lambda k: Fraction(*found[k]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ratio = tuple(
        np.array([found[k][part] for k in order], values[part].dtype) for part in (0, 1)
    )
    return (ratio[0], ratio[1]), rank[which]


def reduced(num: Array, den: Array) -> Ratio:
    """In lowest terms."""
    common = np.gcd(num, den)
    return num // common, den // common


def less(a: Ratio, b: Ratio) -> Array:
    """Whether the one is less than the other: bool."""
    return np.asarray(a[0] * b[1] < b[0] * a[1], bool)


def chosen(which: Array, a: Ratio, b: Ratio) -> Ratio:
    """The one where this holds, the other elsewhere."""
    return np.where(which, a[0], b[0]), np.where(which, a[1], b[1])


def between(low: Ratio, high: Ratio, eighths: int) -> Ratio:
    """The point so many eighths of the way from the one to the other."""
    near, far = 8 - eighths, eighths
    num = near * low[0] * high[1] + far * high[0] * low[1]
    return reduced(num, 8 * low[1] * high[1])


def simplest(low: Ratio, high: Ratio) -> Ratio:
    """The fraction of least denominator from `low` to `high`, both included.

    Of several integers, the least. Continued fractions of both ends are followed as
    long as they agree.
    """
    (a, b), (c, d) = low, high
    zero, one = np.zeros_like(a), np.ones_like(a)
    num, den, before, under = one, zero, zero, one
    going = np.ones(len(a), bool)
    while going.any():
        whole = a // b
        is_whole = np.asarray(whole * b == a, bool)
        last = is_whole | np.asarray((whole + 1) * d <= c, bool)
        step = np.where(is_whole, whole, np.where(last, whole + 1, whole))
        (num, den), (before, under) = (
            chosen(going, (step * num + before, step * den + under), (num, den)),
            chosen(going, (num, den), (before, under)),
        )
        going = going & ~last
        # The rest is turned round; what is over goes on with harmless numbers.
        (a, b), (c, d) = (
            chosen(going, (d, c - whole * d), (one, one)),
            chosen(going, (b, a - whole * b), (one, one)),
        )
    return num, den


def neighbours(value: Ratio, most: Array) -> tuple[Ratio, Ratio]:
    """The Farey fractions next to a value from below and from above.

    The value itself, twice, if it is one. These are its last convergent whose
    denominator is not above `most`, and the last such intermediate fraction.
    """
    a, b = value
    zero, one = np.zeros_like(a), np.ones_like(a)
    num, den, before, under = one, zero, zero, one
    near, going = (num, den), np.ones(len(a), bool)
    while going.any():
        whole = a // b
        step = np.where(den > 0, (most - under) // np.maximum(den, 1), whole)
        cut = np.asarray(step < whole, bool)
        step = np.where(cut, step, whole)
        new = (step * num + before, step * den + under)
        rest = a - whole * b
        ends = cut | np.asarray(rest == 0, bool)
        # Where the continued fraction ends the value is a convergent: both are that.
        near = chosen(going & ends, new, near)
        moves = going & ~cut
        (num, den), (before, under) = (
            chosen(moves, new, (num, den)),
            chosen(moves, (num, den), (before, under)),
        )
        going = going & ~ends
        a, b = chosen(going, (b, rest), (one, one))
    first, second = (num, den), near
    lower = less(first, second)
    return chosen(lower, first, second), chosen(lower, second, first)


def below(value: Ratio, most: Array) -> Ratio:
    """The next Farey fraction below one that has at most this denominator."""
    num, den = value
    # Two of them differ by at least twice as much.
    return neighbours(reduced(2 * most * num - 1, 2 * most * den), most)[0]


def above(value: Ratio, most: Array) -> Ratio:
    """The next Farey fraction above one."""
    num, den = below((-value[0], value[1]), most)
    return -num, den
