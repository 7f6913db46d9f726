"""Values that are known between bounds: numbers, and truth in three values."""

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames.host import lend, linear, on_all_cores, ranges_of
from jaxgames.mdp._property import Operation, PropertyError
from jaxgames.mdp._rational import nearest, rounded


class Ranged(NamedTuple):
    """What is known of a value: one for all states, or an array of theirs.

    Attributes:
        lower: a number or numbers; or what is certainly true.
        upper: likewise; or what may be true. The same object where all is known.
    """

    lower: Any
    upper: Any

    @property
    def is_truth(self) -> bool:
        """Whether it is true or false, and no number."""
        return np.asarray(self.lower).dtype == bool


def exactly(value: Any) -> Ranged:
    """A value that is known."""
    return Ranged(value, value)


def number(value: Fraction) -> Any:
    """A number as numpy has it: an integer if it is one that fits, else a float.

    It is infinite where it is larger than any other float.
    """
    small = value.denominator == 1 and abs(value) < 2**53
    return np.int64(int(value)) if small else np.float64(nearest(value))


def combined(node: Operation, parts: list[Ranged]) -> Ranged:
    """What an operator makes of values; else raises PropertyError."""
    operator = node.operator
    if operator in ("!", "&", "|", "=>", "<=>"):
        _all_of(node, parts, truth=True)
        return _LOGIC[operator](*parts)
    if operator == "?":
        return _chosen(node, *parts)
    if operator in ("=", "!=") and all(part.is_truth for part in parts):
        same = _LOGIC["<=>"](*parts)
        return same if operator == "=" else _not(same)
    _all_of(node, parts, truth=False)
    if operator in _COMPARISONS:
        return compared(operator, *parts)
    if all(part.lower is part.upper for part in parts):
        return exactly(_known(node, [part.lower for part in parts]))
    if operator in _MONOTONE:  # and not rounded: the ends are exact
        low, high = (_known(node, list(end)) for end in zip(*parts, strict=True))
        return Ranged(*(np.asarray(end, np.float64) for end in (low, high)))
    if operator == "negative":
        (part,) = parts
        return Ranged(-np.asarray(part.upper), -np.asarray(part.lower))
    if operator not in _ROUNDED:
        raise PropertyError(
            node.place, f"{operator} of values that are known between bounds only"
        )
    one, other = parts
    if operator == "+":
        pairs = [(one.lower, other.lower), (one.upper, other.upper)]
    elif operator == "-":
        pairs = [(one.lower, other.upper), (one.upper, other.lower)]
    else:
        pairs = [(x, y) for x in one for y in other]
    lower, upper = zip(*(_outward(node, *pair) for pair in pairs), strict=True)
    low, high = _least(*lower), _most(*upper)
    if operator == "/":
        # Of what is near zero on both sides nothing is known, not even the sign.
        wide = (other.lower < 0) & (other.upper >= 0)
        low, high = np.where(wide, -np.inf, low), np.where(wide, np.inf, high)
    return Ranged(low, high)


def _outward(node: Operation, one: Any, other: Any) -> tuple[Any, Any]:
    """Numbers around an exact sum, difference, product or quotient.

    They are the same where nothing was rounded for certain: what is zero stays so, or
    nothing would be at least zero.
    """
    # Zero has no sign here: what a quotient by -0.0 is, no bound is near.
    one, other = (np.asarray(x, np.float64) + 0.0 for x in (one, other))
    value = np.asarray(_known(node, [one, other]), np.float64)
    if node.operator == "*":
        kept = (one == 0) | (other == 0)
    elif node.operator == "/":
        kept = one == 0
    else:
        second = other if node.operator == "+" else -other
        with np.errstate(invalid="ignore"):
            part = value - one
            kept = (one - (value - part)) + (second - part) == 0
    return (
        np.where(kept, value, np.nextafter(value, -np.inf)),
        np.where(kept, value, np.nextafter(value, np.inf)),
    )


def compared(operator: str, one: Ranged, other: Ranged) -> Ranged:
    """Whether one value is less than another, and so on: it may be undecided."""
    if operator in (">", ">="):
        return compared({">": "<", ">=": "<="}[operator], other, one)
    if one.lower is one.upper and other.lower is other.upper:
        values, wanted = one.lower, other.lower
        if operator == "=" and _is_long(values) and _is_integer(wanted):
            found = np.empty(len(values), bool)
            on_all_cores(_equal, len(values), lend(values), int(wanted), found)
            return exactly(found)
        return exactly(_COMPARISONS[operator](values, wanted))
    if operator == "<":
        return Ranged(one.upper < other.lower, one.lower < other.upper)
    if operator == "<=":
        return Ranged(one.upper <= other.lower, one.lower <= other.upper)
    same = Ranged(
        (one.lower == one.upper)
        & (other.lower == other.upper)
        & (one.lower == other.lower),
        (one.lower <= other.upper) & (other.lower <= one.upper),
    )
    return same if operator == "=" else _not(same)


def _is_long(values: Any) -> bool:
    """Whether these are integers of so many states that several cores compare them."""
    return _is_integer(values, 1) and len(ranges_of(values.size)) > 1


def _is_integer(values: Any, dimensions: int = 0) -> bool:
    """Whether it is an int64, or an array of such."""
    here = getattr(values, "dtype", None) == np.int64
    return here and np.ndim(values) == dimensions


@linear
def _equal(values, wanted, found, start, end):
    """Where a variable has a value: most targets are made of that."""
    for state in range(max(start, 0), end):
        found[state] = values[state] == wanted


def met(relation: str, value: Ranged, threshold: Fraction) -> Ranged:
    """Whether a value meets a threshold, which need not be a float64."""
    if relation in ("<", "<="):
        opposite = met({"<": ">=", "<=": ">"}[relation], value, threshold)
        return _not(opposite)
    if relation == ">=":
        limit = rounded(threshold, 1)
        return Ranged(value.lower >= limit, value.upper >= limit)
    limit = rounded(threshold, -1)
    return Ranged(value.lower > limit, value.upper > limit)


def _all_of(node: Operation, parts: list[Ranged], *, truth: bool) -> None:
    for part, operand in zip(parts, node.operands, strict=True):
        if part.is_truth != truth:
            wanted, found = "a number", "true or false"
            if truth:
                wanted, found = found, wanted
            raise PropertyError(
                operand.place,
                f"{node.operator} takes {wanted}, but '{operand}' is {found}",
            )


def _not(value: Ranged) -> Ranged:
    if value.lower is value.upper:
        return exactly(~np.asarray(value.lower))
    return Ranged(~np.asarray(value.upper), ~np.asarray(value.lower))


def _and(one: Ranged, other: Ranged) -> Ranged:
    if one.lower is one.upper and other.lower is other.upper:
        return exactly(one.lower & other.lower)
    return Ranged(one.lower & other.lower, one.upper & other.upper)


def _or(one: Ranged, other: Ranged) -> Ranged:
    return _not(_and(_not(one), _not(other)))


def _implies(one: Ranged, other: Ranged) -> Ranged:
    return _or(_not(one), other)


def _same(one: Ranged, other: Ranged) -> Ranged:
    return _or(_and(one, other), _and(_not(one), _not(other)))


def _chosen(node: Operation, test: Ranged, yes: Ranged, no: Ranged) -> Ranged:
    if not test.is_truth or test.lower is not test.upper:
        raise PropertyError(
            node.operands[0].place, "what stands before ? must be true or false"
        )
    if yes.is_truth != no.is_truth:
        raise PropertyError(
            node.place, "what stands around : must both be numbers, or both truths"
        )
    low = np.where(test.lower, yes.lower, no.lower)
    if yes.lower is yes.upper and no.lower is no.upper:
        return exactly(low)
    return Ranged(low, np.where(test.lower, yes.upper, no.upper))


def _known(node: Operation, values: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        found = _ARITHMETIC[node.operator](*values)
    found = np.asarray(found)
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise PropertyError(node.place, f"'{node}' is not a number in some state")
    return found


def _log(value: Any, base: Any) -> Any:
    return np.log(value) / np.log(base)


def _power(one: Any, other: Any) -> Any:
    whole = all(np.asarray(x).dtype.kind in "iu" for x in (one, other))
    if whole and not np.any(np.asarray(other) < 0):
        exact = np.power(np.asarray(one, np.float64), other)
        if np.all(np.abs(exact) < 2**53):
            return np.power(one, other)
        return exact
    return np.power(np.asarray(one, np.float64), other)


def _integral(function: Callable) -> Callable:
    return lambda value: function(np.asarray(value, np.float64))


def _round(value: Any) -> Any:
    value = np.asarray(value, np.float64)
    below = np.floor(value)
    with np.errstate(invalid="ignore"):  # of what is infinite
        return below + (value - below >= 0.5)


def _least(*values: Any) -> Any:
    return functools.reduce(np.minimum, values)


def _most(*values: Any) -> Any:
    return functools.reduce(np.maximum, values)


_LOGIC: dict[str, Callable[..., Ranged]] = {
    **{"!": _not, "&": _and, "|": _or, "=>": _implies, "<=>": _same}
}
_COMPARISONS: dict[str, Callable] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_ARITHMETIC: dict[str, Callable] = {
    "+": np.add,
    "-": np.subtract,
    "negative": np.negative,
    "*": np.multiply,
    "/": np.true_divide,
    "^": _power,
    "pow": _power,
    "mod": np.mod,
    "log": _log,
    "floor": _integral(np.floor),
    "ceil": _integral(np.ceil),
    "round": _round,
    "min": _least,
    "max": _most,
}
_MONOTONE = {"min", "max", "floor", "ceil", "round"}
_ROUNDED = {"+", "-", "*", "/"}
