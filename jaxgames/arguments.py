"""What a caller may pass where a number is asked for: limits, sizes, spans of time.

Numpy's numbers and all that says by `__index__` that it is an integer are taken as
Python takes them. Truth values, texts and arrays are no numbers here, though Python
would compute with some of them: a loop that waits for 1.5 rounds never ends.
"""

import math
import numbers
import operator
from typing import Any

import numpy as np


def integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """The value, which the caller calls so, as an int from `low` to `high`; None: any.

    Raises:
        ValueError: it is no integer, or another one.

    Examples:
        >>> integer("max_steps", 3, 0)
        3
        >>> integer("max_steps", 1.5, 0)
        Traceback (most recent call last):
        ValueError: max_steps must be an integer at least 0, got 1.5
    """
    wanted = f"at least {low}" if high is None else f"from {low} to {high}"
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be an integer {wanted}, got {value!r:.80}")
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {wanted}, got {number}")
    return number


def positive(name: str, value: Any, unit: str) -> float:
    """The value, which the caller calls so, as a float greater than zero, or infinite.

    Raises:
        ValueError: it is no real number, or none greater than zero.

    Examples:
        >>> positive("deadline", 2, "seconds")
        2.0
        >>> positive("deadline", "2", "seconds")
        Traceback (most recent call last):
        ValueError: deadline must be a positive number of seconds, got '2'
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not value > 0:  # pyright: ignore[reportOperatorIssue]
        raise ValueError(
            f"{name} must be a positive number of {unit}, got {value!r:.80}"
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf
