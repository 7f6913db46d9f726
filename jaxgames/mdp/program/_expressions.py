"""Expressions of a program, as functions of its variables in many states at once."""

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from jaxgames.mdp._property import Constant, Label, Name, Operation, PropertyError
from jaxgames.mdp.program._nodes import FARTHEST, Node, made
from jaxgames.quoting import guess, quoted

WIDEST = 2**62
"""Integers may be so far from zero: what is computed of them fits in 64 bits."""

MOST_BITS = 8192
"""Bits of a constant number."""


class OpenConstantError(PropertyError):
    """A constant that is asked for has no value."""


class Typed(NamedTuple):
    """What an expression comes to.

    Attributes:
        kind: `"int"`, `"double"` or `"bool"`.
        value: an integer, a `Fraction` or a bool where it is the same in all states;
            else None.
        low: the least number that it may be, where that is known: of all integers, and
            of what they and constants make by arithmetic, then a float.
        high: the largest, likewise.
        tree: how it is computed; None where there is a value.
        undefined: in which states it means nothing, since mod divides by what is not
            positive: a function of the namespace of arrays and of the variables of some
            states, to bool; None where that cannot be.
    """

    kind: str
    value: Any = None
    low: Any = None
    high: Any = None
    tree: Node | None = None
    undefined: Callable[[Any, Any], Any] | None = None

    def on(self, xp: Any, columns: Any) -> Any:
        """Its value in some states, see `Node.on`."""
        return self.node.on(xp, columns)

    @property
    def node(self) -> Node:
        """How it is computed, also where it is the same in all states."""
        if self.tree is not None:
            return self.tree
        value = float(self.value) if self.kind == "double" else self.value
        return Node(self.kind, "is", value)


def known(value: Any) -> Typed:
    """What is the same in all states."""
    if isinstance(value, bool):
        return Typed("bool", value)
    if isinstance(value, int) or value.denominator == 1:
        return Typed("int", int(value), int(value), int(value))
    return Typed("double", value)


class Scope:
    """What names mean.

    Args:
        values: of constants, by name.
        variables: by name: the number of each, with its range, or None for a bool.
        formulas: expressions by name.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        variables: Mapping[str, tuple[int, tuple[int, int] | None]],
        formulas: Mapping[str, Any],
    ):
        self.values = values
        self.variables = variables
        self.formulas = formulas
        self._open: list[str] = []
        self._made: dict[str, Typed] = {}

    def typed(self, node: Any) -> Typed:
        """An expression as a function.

        Raises:
            PropertyError: a name is not known, a part is of the wrong kind, or it may
                be too large; it tells where.
        """
        if isinstance(node, Constant):
            return known(node.value)
        if isinstance(node, Name):
            return self._named(node)
        if isinstance(node, Operation):
            return _operated(node, [self.typed(part) for part in node.operands])
        what = "a label" if isinstance(node, Label) else "a property"
        raise PropertyError(node.place, f"{what} cannot stand in a program: '{node}'")

    def truth(self, node: Any, what: str) -> Typed:
        """An expression that is true or false."""
        found = self.typed(node)
        if found.kind != "bool":
            raise PropertyError(
                node.place, f"{what} must be true or false, but '{node}' is a number"
            )
        return found

    def number(self, node: Any, what: str) -> Typed:
        """An expression that is a number."""
        found = self.typed(node)
        if found.kind == "bool":
            raise PropertyError(
                node.place, f"{what} must be a number, but '{node}' is true or false"
            )
        return found

    def constant(self, node: Any, kind: str, what: str) -> Any:
        """The value of an expression that no variable changes.

        Raises:
            PropertyError: it is not of that kind, or depends on variables.
        """
        found = self.typed(node)
        if found.tree is not None:
            raise PropertyError(
                node.place,
                f"{what} must be the same in all states, but '{node}' is not",
            )
        if found.kind != kind and not (kind == "double" and found.kind == "int"):
            raise PropertyError(
                node.place,
                f"{what} must be of type {kind}, but '{node}' is of type {found.kind}",
            )
        return found.value

    def _named(self, node: Name) -> Typed:
        name = node.name
        if name in self.values:
            value = self.values[name]
            if value is None:
                raise OpenConstantError(
                    node.place, f"the constant {name} has no value: pass constants="
                )
            return known(value)
        if name in self.variables:
            number, bounds = self.variables[name]
            low, high = bounds or (None, None)
            kind = "bool" if bounds is None else "int"
            return Typed(kind, None, low, high, Node(kind, "of", number))
        if name in self.formulas:
            return self._formula(node)
        names = [*self.variables, *self.values, *self.formulas]
        raise PropertyError(
            node.place,
            f"nothing is called {quoted(name)}{guess(name, names)}; the names are "
            f"{', '.join(names[:20]) or 'none'}",
        )

    def _formula(self, node: Name) -> Typed:
        name = node.name
        if name not in self._made:
            if name in self._open:
                raise PropertyError(node.place, f"{name} is defined in terms of itself")
            self._open.append(name)
            try:
                self._made[name] = self.typed(self.formulas[name])
            finally:
                self._open.pop()
        return self._made[name]


def renamed(
    node: Any, names: Mapping[str, str], formulas: Mapping[str, Any], depth: int = 0
) -> Any:
    """An expression under other names, also within the formulas that it names.

    Raises:
        PropertyError: formulas are defined by themselves.
    """
    if isinstance(node, Name):
        if node.name in names:
            return Name(names[node.name], place=node.place)
        if node.name in formulas:
            if depth > len(formulas):
                raise PropertyError(
                    node.place, f"the formula {node.name} is defined in terms of itself"
                )
            return renamed(formulas[node.name], names, formulas, depth + 1)
    if isinstance(node, Operation):
        parts = tuple(renamed(x, names, formulas, depth) for x in node.operands)
        return Operation(node.operator, parts, place=node.place)
    return node


# ---- operators -----------------------------------------------------------------------


def _operated(node: Operation, parts: Sequence[Typed]) -> Typed:
    """What an operator makes of values."""
    sign = node.operator
    kinds = [part.kind for part in parts]
    if sign == "?":
        return _chosen(node, *parts)
    truths = sign in ("!", "&", "|", "=>", "<=>")
    same = sign in ("=", "!=") and all(kind == "bool" for kind in kinds)
    for part, operand in zip(parts, node.operands, strict=True):
        if not same and (part.kind == "bool") != truths:
            wanted = "true or false" if truths else "a number"
            there = "a number" if truths else "true or false"
            raise PropertyError(
                operand.place, f"{sign} takes {wanted}, but '{operand}' is {there}"
            )
    if sign == "mod" and kinds != ["int", "int"]:
        raise PropertyError(node.place, f"mod takes integers: '{node}'")
    if all(part.tree is None for part in parts):
        return known(_folded(node, [part.value for part in parts]))
    integral = all(kind == "int" for kind in kinds)
    if not truths and not same and not (integral and sign in _COMPARED):
        whole = integral and sign not in ("/", "log")
        _check_constants(parts, node.operands, "int" if whole else "double")
    if truths or sign in _COMPARED:
        found = _truth(sign, parts)
        if found.tree is None or any(found is part for part in parts):
            return found
        return found._replace(undefined=_undefined(sign, parts))
    low: Any = None
    high: Any = None
    kind = "double"
    if sign in ("floor", "ceil", "round") and integral:
        return parts[0]
    if sign in ("floor", "ceil", "round"):
        kind, low, high = "int", -FARTHEST, FARTHEST
        if parts[0].low is not None and parts[0].high is not None:
            whole = math.floor(parts[0].low), math.ceil(parts[0].high)
            low, high = (min(max(x, -FARTHEST), FARTHEST) for x in whole)
    elif integral and (
        sign not in ("/", "log", "^", "pow")
        or (sign in ("^", "pow") and not _may_be_negative(parts[1]))
    ):
        kind = "int"
        low, high = _range(node, parts)
    else:
        low, high = _real_range(sign, parts)
    if kind == "int" and max(-low, high) >= WIDEST:
        raise PropertyError(
            node.place,
            f"'{node}' may be from {low} to {high}, which does not fit in 64 bits",
        )
    tree = made(sign, kind, [part.node for part in parts])
    return Typed(kind, None, low, high, tree, _undefined(sign, parts))


def _undefined(sign: str, parts: Sequence[Typed]) -> Callable[[Any, Any], Any] | None:
    """Where an operator means nothing: what its first part decides needs no other."""
    divides = sign == "mod" and parts[1].low <= 0
    if not divides and all(part.undefined is None for part in parts):
        return None

    def function(xp: Any, columns: Any) -> Any:
        found = xp.asarray(parts[1].on(xp, columns) <= 0 if divides else False)
        looked_at = xp.asarray(True)
        for part in parts:
            if part.undefined is not None:
                found = found | (looked_at & part.undefined(xp, columns))
            if sign in ("&", "|", "=>"):
                value = part.on(xp, columns)
                looked_at = ~value if sign == "|" else value
        return found

    return function


def _may_be_negative(part: Typed) -> bool:
    return part.low is None or part.low < 0


def _truth(sign: str, parts: Sequence[Typed]) -> Typed:
    """Operators that make truth values; what is known is left out."""
    if sign in ("&", "|"):
        decides = sign == "|"
        if any(part.value is decides for part in parts):
            return known(decides)
        rest = [part for part in parts if part.tree is not None]
        if len(rest) == 1:
            return rest[0]
    return Typed("bool", tree=made(sign, "bool", [part.node for part in parts]))


def _chosen(node: Operation, test: Typed, yes: Typed, no: Typed) -> Typed:
    if test.kind != "bool":
        raise PropertyError(
            node.operands[0].place, "what stands before ? must be true or false"
        )
    if (yes.kind == "bool") != (no.kind == "bool"):
        raise PropertyError(
            node.place, "what stands around : must both be numbers, or both truths"
        )
    if test.value is not None:
        return yes if test.value else no
    kind = yes.kind if yes.kind == no.kind else "double"
    low = high = None
    if kind != "bool":
        _check_constants((yes, no), node.operands[1:], kind)
    if kind == "int":
        low, high = min(yes.low, no.low), max(yes.high, no.high)
    elif kind == "double" and _real_ends(yes) and _real_ends(no):
        low, high = _floats([*_real_ends(yes), *_real_ends(no)])

    tree = Node(kind, "?", test.node, yes.node, no.node)

    def undefined(xp: Any, columns: Any) -> Any:
        of_test, of_yes, of_no = (
            xp.asarray(False) if x.undefined is None else x.undefined(xp, columns)
            for x in (test, yes, no)
        )
        return of_test | xp.where(test.on(xp, columns), of_yes, of_no)

    total = all(part.undefined is None for part in (test, yes, no))
    return Typed(kind, None, low, high, tree, None if total else undefined)


def _range(node: Operation, parts: Sequence[Typed]) -> tuple[int, int]:
    """Between which integers an operator of integers stays."""
    ends = [(part.low or 0, part.high or 0) for part in parts]
    sign = node.operator
    if sign == "negative":
        return -ends[0][1], -ends[0][0]
    if sign == "+":
        return ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]
    if sign == "-":
        return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
    if sign == "*":
        corners = [a * b for a in ends[0] for b in ends[1]]
        return min(corners), max(corners)
    if sign in ("min", "max"):
        pick = min if sign == "min" else max
        return pick(a for a, _ in ends), pick(b for _, b in ends)
    if sign == "mod":
        return 0, max(ends[1][1], 1) - 1
    most = max(abs(ends[0][0]), abs(ends[0][1]), 1)
    if ends[1][1] * most.bit_length() > MOST_BITS:
        return -WIDEST, WIDEST
    most = most ** ends[1][1]
    return (0 if ends[0][0] >= 0 else -most), most


def _real_ends(part: Typed) -> tuple[Fraction, ...]:
    """Between which numbers of float64 one stays; empty: that is not known."""
    ends = (part.low, part.high) if part.value is None else (part.value, part.value)
    low, high = (None, None) if None in ends else _floats(ends)
    return () if low is None or high is None else (Fraction(low), Fraction(high))


def _check_constants(
    parts: Sequence[Typed], operands: Sequence[Any], kind: str
) -> None:
    """Raises PropertyError for a constant that no array of that kind can have."""
    most = WIDEST if kind == "int" else Fraction(sys.float_info.max)
    for part, operand in zip(parts, operands, strict=True):
        if part.value is not None and abs(part.value) > most:
            raise PropertyError(operand.place, f"'{operand}' does not fit in 64 bits")


def _real_range(sign: str, parts: Sequence[Typed]) -> tuple[Any, Any]:
    """Between which numbers of float64 an operator of numbers stays, if that is known.

    Rounding keeps order, so that of the ends is all of it.
    """
    ends = [_real_ends(part) for part in parts]
    if not all(ends):
        return None, None
    if sign == "negative":
        return _floats([-x for x in ends[0]])
    if sign in ("min", "max"):
        pick = min if sign == "min" else max
        return _floats([pick(x) for x in zip(*ends, strict=True)])
    if sign not in _ARITHMETIC or (sign == "/" and ends[1][0] <= 0 <= ends[1][1]):
        return None, None
    apply = _ARITHMETIC[sign]
    return _floats([apply(one, other) for one in ends[0] for other in ends[1]])


def _floats(numbers: Sequence[Any]) -> tuple[float | None, float | None]:
    """Between which numbers of float64 some are, be they rounded or not."""
    low, high = min(numbers), max(numbers)
    try:
        least, most = float(low), float(high)
    except OverflowError:
        return None, None
    if least != low:
        least = math.nextafter(least, -math.inf)
    if most != high:
        most = math.nextafter(most, math.inf)
    return (least, most) if math.isfinite(most - least) else (None, None)


def _folded(node: Operation, values: Sequence[Any]) -> Any:
    """An operator of constants, exactly where that can be."""
    sign = node.operator
    try:
        found = _exactly(sign, values)
    except (ArithmeticError, ValueError) as error:
        raise PropertyError(node.place, f"'{node}' is not a number: {error}") from None
    if isinstance(found, bool):
        return found
    found = Fraction(found)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > MOST_BITS:
        raise PropertyError(node.place, f"'{node}' has too many digits")
    return found


def _exactly(sign: str, values: Sequence[Any]) -> Any:
    if sign in _COMPARED:
        return bool(_COMPARED[sign](*values))
    if sign in _FOLDED:
        return _FOLDED[sign](*values)
    if sign in ("min", "max"):
        return min(values) if sign == "min" else max(values)
    if sign == "/":
        return Fraction(values[0]) / values[1]
    if sign == "mod":
        if values[1] <= 0:
            raise ValueError(f"mod divides by {values[1]}, which is not positive")
        return int(values[0]) % int(values[1])
    if sign == "log":
        return Fraction(math.log(values[0]) / math.log(values[1]))
    if sign in ("^", "pow"):
        return _power(*values)
    return _ARITHMETIC[sign](*values)


def _power(base: Any, exponent: Any) -> Any:
    base, exponent = Fraction(base), Fraction(exponent)
    if exponent.denominator != 1:
        return Fraction(math.pow(base, exponent))
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(exponent) > MOST_BITS:
        raise ValueError("it has too many digits")
    return base ** int(exponent)


_COMPARED = {
    **{"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le},
    **{">": operator.gt, ">=": operator.ge},
}
_ARITHMETIC = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul},
    "/": operator.truediv,
}
_FOLDED = {
    "!": lambda one: not one,
    "&": lambda one, other: one and other,
    "|": lambda one, other: one or other,
    "=>": lambda one, other: not one or other,
    "<=>": lambda one, other: one == other,
    "negative": lambda one: -Fraction(one),
    "floor": lambda one: math.floor(one),
    "ceil": lambda one: math.ceil(one),
    "round": lambda one: math.floor(one + Fraction(1, 2)),
}
