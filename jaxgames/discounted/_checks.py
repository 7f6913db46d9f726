"""What a discounted game is."""

import math
import numbers
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena, is_traced


def check(arena: Arena) -> tuple[Arena, Any]:
    """Checks that an arena has one weight on each edge; it may be traced.

    Returns:
        What [`checked`][jaxgames.validity.checked] does.

    Raises:
        ValueError: naming what is missing or wrong.
    """
    found = validity.checked(arena)
    if arena.weight is None:
        raise ValueError("a discounted game needs a weight on each edge: it is None")
    if np.ndim(arena.weight) != np.ndim(arena.owner):
        raise ValueError(
            "a discounted game has one weight on each edge, shape [E]: weight has "
            f"shape {np.shape(arena.weight)}"
        )
    return found


def check_numbers(discount: Any, epsilon: Any) -> Any:
    """Checks a discount factor and a precision.

    Returns:
        Whether one is out of its range: False, or a traced bool of those that are
        traced.

    Raises:
        ValueError: they are none.
    """
    wrong = False
    if is_traced(discount):
        _check_real_scalar("discount", discount)
        wrong |= ~((discount > 0) & (discount < 1))
    else:
        exact(discount)
    if is_traced(epsilon):
        _check_real_scalar("epsilon", epsilon)
        return wrong | ~((epsilon > 0) & (epsilon < math.inf))
    dtype = getattr(epsilon, "dtype", np.dtype(object))
    real = np.ndim(epsilon) == 0 and dtype.kind in "fiu"
    if not real and not isinstance(epsilon, bool):
        real = isinstance(epsilon, numbers.Real)
    if not (real and 0 < epsilon < math.inf):
        raise ValueError(f"epsilon must be a positive number, got {epsilon!r}")
    return wrong


def _check_real_scalar(name: str, number: Any) -> None:
    """Checks the shape and type of a traced number."""
    if np.ndim(number) or number.dtype.kind not in "fiu":
        raise ValueError(
            f"{name} must be a real number, got {number.dtype} of shape {number.shape}"
        )


def exact(discount: Any) -> Fraction:
    """A discount factor as the number that it is.

    Raises:
        ValueError: it is not between 0 and 1, or its nearest number of float64 is 1.
    """
    try:
        if isinstance(discount, str):  # of which Python would make a number
            raise TypeError
        found = Fraction(*discount) if isinstance(discount, tuple) else discount
        found = Fraction(found if isinstance(found, Fraction) else float(found))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        found = Fraction(0)
    if not 0 < found < 1 or float(found) == 1:  # by that bounds are divided
        raise ValueError(
            "discount must be a number between 0 and 1, a Fraction or a pair (p, q), "
            f"that float64 can tell from 1, got {discount!r}"
        )
    return found
