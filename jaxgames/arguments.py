"""What a caller may pass where numbers are asked for: limits, sizes, spans of time.

Numpy's numbers and all that says by `__index__` that it is an integer are taken as
Python takes them. Truth values, texts and arrays are no numbers here, though Python
would compute with some of them: a loop that waits for 1.5 rounds never ends.
"""

import math
import numbers
import operator
from collections.abc import Iterable
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


def steps(value: Any, most: int) -> int:
    """The value of `max_steps`: None, and a larger one than counters hold, is `most`.

    Raises:
        ValueError: it is no integer from 0 on.

    Examples:
        >>> steps(3, 100), steps(10**30, 100), steps(None, 100)
        (3, 100, 100)
    """
    return most if value is None else min(integer("max_steps", value, 0), most)


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


def texts(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """The texts, which the caller calls so, as a tuple.

    Raises:
        ValueError: they are a text themselves, whose letters nobody means, or no texts.

    Examples:
        >>> texts("inputs", ["req", "ack"])
        ('req', 'ack')
        >>> texts("inputs", "req")
        Traceback (most recent call last):
        ValueError: inputs must be a list of texts, got the text 'req'
    """
    if isinstance(values, str):
        raise ValueError(f"{name} must be a list of texts, got the text {values!r:.80}")
    found = tuple(values) if isinstance(values, Iterable) else (values,)
    if not all(isinstance(text, str) for text in found):
        raise ValueError(f"{name} must be a list of texts, got {values!r:.80}")
    return found


def fields(name: str, value: Any, *wanted: str) -> tuple[Any, ...]:
    """The fields of an answer, which the caller calls so.

    Raises:
        ValueError: it has no such fields, and so answers something else.

    Examples:
        >>> fields("solution", 3, "winner", "strategy")
        Traceback (most recent call last):
        ValueError: solution must have winner and strategy, got int
    """
    if not all(hasattr(value, field) for field in wanted):
        listed = " and ".join([", ".join(wanted[:-1]), wanted[-1]][len(wanted) == 1 :])
        raise ValueError(f"{name} must have {listed}, got {type(value).__name__}")
    return tuple(getattr(value, field) for field in wanted)


# ---- arrays ----------------------------------------------------------------------


def as_array(name: str, values: Any) -> np.ndarray:
    """The values, which the caller calls so, as an array of NumPy.

    Raises:
        ValueError: they are none, as rows of several lengths; or entries are masked.

    Examples:
        >>> as_array("owner", np.ma.array([0, 1], mask=[False, True]))
        Traceback (most recent call last):
        ValueError: owner[1] is masked: an array must have all of its entries; ...
    """
    refuse_masked(name, values)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from None


def refuse_masked(name: str, values: Any) -> None:
    """Raises ValueError for an array some of whose entries are masked.

    NumPy's functions, and JAX's, would take what happens to be behind the mask.
    """
    if type(values) is np.ndarray or not isinstance(values, np.ndarray):
        return  # told fast, and before NumPy imports what is masked
    if not isinstance(values, np.ma.MaskedArray):
        return
    mask = np.ma.getmaskarray(values)
    if mask.any():
        place = ", ".join(map(str, np.argwhere(mask)[0]))
        raise ValueError(
            f"{name}[{place}] is masked: an array must have all of its entries; "
            "pass its .filled(...), or leave masked entries out"
        )


def check_rows(what: str, offsets: Any, targets: Any) -> int:
    """Checks rows of edges; how many rows there are."""
    check_offsets(f"{what}.offsets", offsets, len(targets))
    check_places(f"{what}.targets", targets, len(offsets) - 1)
    return len(offsets) - 1


def check_offsets(name: str, offsets: Any, end: int, least: int = 0) -> None:
    """Checks where rows begin that each have so many entries at least."""
    if np.ndim(offsets) != 1 or not len(offsets) or offsets.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, one at least, got {offsets!r}")
    if offsets[0] != 0 or offsets[-1] != end:
        raise ValueError(
            f"{name} must go from 0 to {end}, got {offsets[0]} to {offsets[-1]}"
        )
    wrong = offsets[1:] < offsets[:-1] + least
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name}[{row + 1}] is {offsets[row + 1]}, expected {offsets[row] + least} "
            "or more"
        )


def check_places(name: str, values: Any, count: int) -> None:
    """Checks numbers of things of which there are so many."""
    if np.ndim(values) != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a list of integers, got {values!r}")
    wrong = (values < 0) | (values >= count)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"{name}[{place}] is {values[place]}, expected a number from 0 to "
            f"{count - 1}"
        )


def check_array(name: str, values: Any, shape: tuple[int, ...], kinds: str) -> None:
    """Checks the shape of an array, and the kind of its entries by numpy's letters."""
    refuse_masked(name, values)
    found = np.shape(values)
    if found != shape or values.dtype.kind not in kinds:
        kind = {
            "b": "booleans",
            "f": "floating numbers",
            "fiu": "numbers",
            "u": "masks without sign",
        }.get(kinds, "integers")
        raise ValueError(
            f"{name} must hold {kind} of shape {shape}, got {values.dtype} of shape "
            f"{found}"
        )
