"""What a check of values finds."""

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
