"""Numbers of one word or of two, as tuples: exact, and the same loops for both.

A number of one word is `(x,)`: 64 bits, or one of Python's integers where loops are not
compiled. One of two words is `(high, low)` and stands for `high * 2**62 + low`, with
`low` from 0 to `2**62 - 1`. Tuples compare as their numbers do.

An array of numbers of two words has one axis more, of length two. Which they are is
known when a loop is compiled, so that one word costs no more than a plain integer.
"""

import numpy as np

from jaxgames.host import compiled

BITS = 62
"""Bits of the lower word: a sum of two such words fits 64."""

MASK = (1 << BITS) - 1


@compiled
def plus(a, b):
    if len(a) == 1:
        return (a[0] + b[0],)
    low = a[1] + b[1]
    return (a[0] + b[0] + (low >> BITS), low & MASK)


@compiled
def minus(a, b):
    if len(a) == 1:
        return (a[0] - b[0],)
    low = a[1] - b[1]
    return (a[0] - b[0] + (low >> BITS), low & MASK)


@compiled
def at(array, index):
    """A number of an array."""
    if array.ndim == 1:
        return (array[index],)
    return (array[index, 0], array[index, 1])


@compiled
def put(array, index, number):
    """Writes a number to an array."""
    if array.ndim == 1:
        array[index] = number[0]
    else:
        array[index, 0], array[index, 1] = number[0], number[1]


@compiled
def cost_at(weight, line, edge):
    """What an edge costs: `scale * weight + one` for `line = (scale, one)`.

    Costs of two words are not computed again and again: they are what `weight` has.
    """
    if weight.ndim == 1:
        return (line[0] * weight[edge] + line[1],)
    return (weight[edge, 0], weight[edge, 1])


def costs(weight: np.ndarray, scale: int, one: int) -> np.ndarray:
    """The costs of edges in two words.

    Weights are multiplied by `scale`, less than `2**31` either way; `one`, 1 or -1, is
    added.

    Returns:
        int64 `[E, 2]`.

    Raises:
        OverflowError: two words are too few.
    """
    if weight.dtype == object:
        return words(scale * weight + one)
    # In two halves, none of whose products is too large.
    weight = weight.astype(np.int64)
    above, below = scale * (weight >> 31), scale * (weight & (2**31 - 1)) + one
    low = ((above & (2**31 - 1)) << 31) + below
    return np.stack([(above >> 31) + (low >> BITS), low & MASK], axis=-1)


def words(numbers: np.ndarray) -> np.ndarray:
    """Numbers in two words: int64 `[..., 2]`; else raises OverflowError."""
    if numbers.dtype != object:
        numbers = numbers.astype(np.int64)
    high, low = numbers >> BITS, numbers & MASK
    return np.stack([high.astype(np.int64), low.astype(np.int64)], axis=-1)


def joined(pairs: np.ndarray) -> np.ndarray:
    """Numbers from their two words: int64 where all fit, else Python's integers."""
    high, low = pairs[..., 0], pairs[..., 1]
    if not high.any():
        return low
    return (high.astype(object) << BITS) + low.astype(object)


def largest(numbers: np.ndarray) -> int:
    """The largest absolute value of some integers; 0 if there are none."""
    if not numbers.size:
        return 0
    return max(int(numbers.max()), -int(numbers.min()))
