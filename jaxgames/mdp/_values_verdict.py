"""What a check of values finds."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import verdict
from jaxgames.arguments import as_array, check_array


class ValueReason(verdict.Reason):
    """What is wrong with bounds of values, in the order in which it is looked for.

    Examples:
        >>> ValueReason.NOT_ORDERED.message
        'its lower bound is larger than its upper one, or one of them is no number'
    """

    OK = "nothing is wrong"
    NOT_ORDERED = (
        "its lower bound is larger than its upper one, or one of them is no number"
    )
    NO_CHOICE_OF_IT = "the scheduler takes a choice that it does not have"
    KNOWN_BELOW = "its lower bound is larger than what is known without equations"
    KNOWN_ABOVE = "its upper bound is less than what is known without equations"
    NOT_FINITE = "its upper bound is finite where the value need not be"
    NOT_INFINITE = "its lower bound is infinite where the value need not be"
    TOO_LARGE = "its lower bound is not shown by those of where it leads"
    TOO_SMALL = "its upper bound is not shown by those of where it leads"


class ValueVerdict(verdict.Verdict):
    """What a check of values found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`ValueReason`][jaxgames.mdp.ValueReason], and whose `vertex` is a state where it
    holds.
    """

    reasons = ValueReason
    place = "state"


def claimed(found: Any, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Lower bounds, upper bounds and strategy of what is to be verified, `[S]` each.

    Raises:
        ValueError: there are none, or an array is of another shape or type.
    """
    arrays = []
    for name, kinds in (("lower", "fiu"), ("upper", "fiu"), ("strategy", "iu")):
        values = getattr(found, name, None)
        if values is None and name != "strategy":
            raise ValueError(f"found.{name} is None: there is nothing to verify")
        if values is not None:
            values = as_array(f"found.{name}", values)
            check_array(f"found.{name}", values, (size,), kinds)
        arrays.append(values)
    lower, upper, strategy = arrays
    return lower.astype(np.float64), upper.astype(np.float64), strategy


def ordered(real: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> ValueVerdict:
    """Whether bounds of real states, bool `[S]`, are numbers, and in order."""
    with np.errstate(invalid="ignore"):
        wrong = real & ~(lower <= upper)
    if wrong.any():
        return ValueVerdict.at(ValueReason.NOT_ORDERED, int(np.argmax(wrong)))
    return ValueVerdict.at(ValueReason.OK)


# ---- beside other bounds -------------------------------------------------------------

Ends = tuple[Any, Any]
"""Surely no more than values are, and no less: floats or fractions `[S]`."""


def fraction(value: Any) -> Any:
    """A number as a fraction; infinite ones stay."""
    if isinstance(value, Fraction) or is_infinite(value):
        return value
    return Fraction(*value.as_integer_ratio())


def is_infinite(value: Any) -> bool:
    return not isinstance(value, Fraction) and not np.isfinite(value)


def exceed(one: np.ndarray, other: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Where a number is more than another one, or one of both is none: bool `[S]`.

    Numbers of any kind are compared exactly: rounding to float64 keeps their order, so
    only those that are the same then are looked at. They are compared for real states
    alone, bool `[S]`.
    """
    found, at = np.zeros(len(real), bool), np.flatnonzero(real)
    pair = one[at], other[at]
    nears = [nearest(x) for x in pair]
    found[at] = ~(nears[0] <= nears[1])
    if any(x.dtype != np.float64 for x in pair):
        for i in np.flatnonzero(nears[0] == nears[1]).tolist():
            found[at[i]] = fraction(pair[0][i]) > fraction(pair[1][i])
    return found


def nearest(values: np.ndarray) -> np.ndarray:
    """The nearest float64 of each number; infinite ones beyond them."""
    if values.dtype != object:
        with np.errstate(over="ignore"):
            return values.astype(np.float64, copy=False)
    return np.array([_near(x) for x in values.tolist()], np.float64)


def _near(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def beside(real, lower, upper, least, most) -> ValueVerdict:
    """The verdict of bounds of values that are themselves between two numbers."""
    none = np.zeros(len(real), bool)
    too_large = exceed(lower, least, real)
    too_small = exceed(most, upper, real)
    return ValueVerdict.first_of(
        none, none, none, none, none, none, too_large, too_small
    )


def decided(claim: Any, tries: Iterator[Ends]) -> ValueVerdict:
    """The verdict of bounds, by others that hold, nearer and nearer.

    Args:
        claim: what has `lower` and `upper`, and `real`: bool `[S]`.
        tries: the others.

    Raises:
        ValueError: all of them leave a doubt.
    """
    bounds, state = (claim.real, claim.lower, claim.upper), -1
    for least, most in tries:
        shown = beside(*bounds, least, most)
        if shown:
            return shown
        refuted = beside(*bounds, most, least)
        if not refuted:
            return refuted
        state = shown.vertex
    raise ValueError(
        f"a bound of state {state} is too near to its value to be verified without "
        "fractions, for which there is too much to do"
    )
