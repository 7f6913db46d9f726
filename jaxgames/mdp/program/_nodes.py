"""Expressions as trees of a few operators: evaluated on arrays, or written as code."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

FARTHEST = 2**52
"""How far from zero floor, ceil and round come to: from there on all is too large."""


class Node:
    """An expression whose kind is known; numbers of two kinds are reals together.

    Attributes:
        kind: `"int"`, `"double"` or `"bool"`.
        sign: `"is"` for a constant, `"of"` for a variable, or an operator of `APPLIED`.
        parts: the constant, the number of the variable, or the operands.
    """

    __slots__ = ("kind", "parts", "sign")

    def __init__(self, kind: str, sign: str, *parts: Any):
        self.kind, self.sign, self.parts = kind, sign, parts

    def on(self, xp: Any, columns: Any) -> Any:
        """Its value in some states: an array, or one number for all.

        Args:
            xp: numpy, or that of JAX.
            columns: the values of variables by their numbers.
        """
        if self.sign == "of":
            return columns[self.parts[0]]
        if self.sign == "is":
            value = self.parts[0]
            return xp.asarray(value) if isinstance(value, bool) else value
        return APPLIED[self.sign](xp, *(part.on(xp, columns) for part in self.parts))


APPLIED: dict[str, Callable[..., Any]] = {
    **{"+": lambda _, a, b: a + b, "-": lambda _, a, b: a - b},
    **{"*": lambda _, a, b: a * b, "/": lambda _, a, b: a / b},
    **{"<": lambda _, a, b: a < b, "<=": lambda _, a, b: a <= b},
    **{"=": lambda _, a, b: a == b, "!": lambda _, a: ~a},
    **{"&": lambda _, a, b: a & b, "|": lambda _, a, b: a | b},
    **{"?": lambda xp, *parts: xp.where(*parts), "mod": lambda xp, a, b: xp.mod(a, b)},
    **{"min": lambda xp, a, b: xp.minimum(a, b)},
    **{"max": lambda xp, a, b: xp.maximum(a, b)},
    **{"floor": lambda xp, a: xp.floor(a), "ceil": lambda xp, a: xp.ceil(a)},
    "integer": lambda _, a: a.astype(int),
    "power": lambda xp, a, b: xp.power(xp.asarray(a), b),
    # Their last digits are numpy's own.
    "real power": lambda xp, a, b: xp.power(xp.asarray(a, float), b),
    "log": lambda xp, a, b: xp.log(xp.asarray(a, float)) / xp.log(xp.asarray(b, float)),
}
"""What operators do, given the namespace of arrays and their operands."""


def made(sign: str, kind: str, parts: Sequence[Node]) -> Node:
    """An operator of the language, which comes to that kind."""
    one, other = parts[0], parts[-1]
    if sign in (">", ">="):
        return Node(kind, sign.replace(">", "<"), other, one)
    if sign == "!=":
        return Node(kind, "!", Node(kind, "=", one, other))
    if sign == "=>":
        return Node(kind, "|", Node(kind, "!", one), other)
    if sign == "negative":  # not 0 - x: that has another sign where x is zero
        return Node(kind, "*", one, Node("int", "is", -1))
    if sign in ("min", "max"):
        return functools.reduce(functools.partial(Node, kind, sign), parts)
    if sign in ("floor", "ceil", "round"):
        return _whole(sign, one)
    if sign in ("^", "pow"):
        return Node(kind, "power" if kind == "int" else "real power", one, other)
    return Node(kind, "=" if sign == "<=>" else sign, *parts)


def _whole(sign: str, one: Node) -> Node:
    """What is far out of range is told as such, not as what it wraps round to."""
    if sign == "round":
        one, sign = Node("double", "+", one, Node("double", "is", 0.5)), "floor"
    found = Node("double", sign, one)
    low, high = (Node("double", "is", x) for x in (-float(FARTHEST), float(FARTHEST)))
    found = Node("double", "?", Node("bool", "=", found, found), found, high)
    found = Node("double", "min", Node("double", "max", found, low), high)
    return Node("int", "integer", found)
