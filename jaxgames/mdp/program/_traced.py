"""Expressions as trees: what their functions do, written down instead of done."""

from typing import Any

from jaxgames.mdp.program._expressions import WIDEST


class Unwritable(Exception):
    """An expression does what is left to numpy."""


class Traced:
    """A number or a truth value in a state that is not known.

    What the functions of expressions compute of it is a tree, of the kinds that numpy
    would have.

    Args:
        kind: `"int"`, `"double"` or `"bool"`.
        sign: `"is"` for a constant, `"of"` for a variable, or an operator.
        parts: the constant, the number of the variable, or the operands.
    """

    __slots__ = ("kind", "parts", "sign")

    def __init__(self, kind: str, sign: str, *parts: Any):
        self.kind, self.sign, self.parts = kind, sign, parts

    def __add__(self, other: Any) -> "Traced":
        return _arithmetic("+", self, other)

    def __radd__(self, other: Any) -> "Traced":
        return _arithmetic("+", other, self)

    def __sub__(self, other: Any) -> "Traced":
        return _arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> "Traced":
        return _arithmetic("-", other, self)

    def __mul__(self, other: Any) -> "Traced":
        return _arithmetic("*", self, other)

    def __rmul__(self, other: Any) -> "Traced":
        return _arithmetic("*", other, self)

    def __truediv__(self, other: Any) -> "Traced":
        return Traced("double", "/", real(self), real(other))

    def __rtruediv__(self, other: Any) -> "Traced":
        return Traced("double", "/", real(other), real(self))

    def __neg__(self) -> "Traced":
        # Not 0 - x: that has another sign where x is zero.
        return self * -1

    def __lt__(self, other: Any) -> "Traced":
        return _compared("<", self, other)

    def __le__(self, other: Any) -> "Traced":
        return _compared("<=", self, other)

    def __gt__(self, other: Any) -> "Traced":
        return _compared("<", other, self)

    def __ge__(self, other: Any) -> "Traced":
        return _compared("<=", other, self)

    def __eq__(self, other: Any) -> "Traced":  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compared("=", self, other)

    def __ne__(self, other: Any) -> "Traced":  # pyright: ignore[reportIncompatibleMethodOverride]
        return ~_compared("=", self, other)

    __hash__ = object.__hash__

    def __invert__(self) -> "Traced":
        return Traced("bool", "!", self)

    def __and__(self, other: Any) -> "Traced":
        return Traced("bool", "&", self, traced(other))

    def __rand__(self, other: Any) -> "Traced":
        return Traced("bool", "&", traced(other), self)

    def __or__(self, other: Any) -> "Traced":
        return Traced("bool", "|", self, traced(other))

    def __ror__(self, other: Any) -> "Traced":
        return Traced("bool", "|", traced(other), self)

    def __bool__(self) -> bool:
        raise Unwritable("whether it is true is not known yet")

    def astype(self, kind: type) -> "Traced":
        if kind is not int:
            raise Unwritable(f"as {kind.__name__}")
        return self if self.kind == "int" else Traced("int", "integer", real(self))


def traced(value: Any) -> Traced:
    """A constant as a tree; a tree as it is."""
    if isinstance(value, Traced):
        return value
    if isinstance(value, bool):
        return Traced("bool", "is", value)
    if isinstance(value, int):
        if not -WIDEST <= value <= WIDEST:
            raise Unwritable(f"{value} does not fit in 64 bits")
        return Traced("int", "is", value)
    if isinstance(value, float):
        return Traced("double", "is", value)
    raise Unwritable(f"a {type(value).__name__}")


def real(value: Any) -> Traced:
    """A number as one of floating point."""
    found = traced(value)
    if found.kind == "double":
        return found
    if found.sign == "is":
        return Traced("double", "is", float(found.parts[0]))
    return Traced("double", "real", found)


def _alike(one: Any, other: Any) -> tuple[str, Traced, Traced]:
    """Both of the same kind, as numpy would have it."""
    one, other = traced(one), traced(other)
    if one.kind == other.kind:
        return one.kind, one, other
    if "bool" in (one.kind, other.kind):
        raise Unwritable("a truth value with a number")
    return "double", real(one), real(other)


def _arithmetic(sign: str, one: Any, other: Any) -> Traced:
    kind, one, other = _alike(one, other)
    if kind == "bool":
        raise Unwritable("arithmetic of truth values")
    return Traced(kind, sign, one, other)


def _compared(sign: str, one: Any, other: Any) -> Traced:
    _, one, other = _alike(one, other)
    return Traced("bool", sign, one, other)


class Namespace:
    """What stands for numpy where an expression is written down."""

    @staticmethod
    def asarray(value: Any, kind: Any = None) -> Traced:
        if kind is not None:  # for a power, whose last digit is numpy's own
            raise Unwritable("a power of what is no integer")
        return traced(value)

    @staticmethod
    def log(value: Any) -> Traced:
        """Not here: its last digit is numpy's own."""
        raise Unwritable("a logarithm")

    @staticmethod
    def minimum(one: Any, other: Any) -> Traced:
        return _arithmetic("min", one, other)

    @staticmethod
    def maximum(one: Any, other: Any) -> Traced:
        return _arithmetic("max", one, other)

    @staticmethod
    def where(test: Any, one: Any, other: Any) -> Traced:
        kind, one, other = _alike(one, other)
        return Traced(kind, "?", traced(test), one, other)

    @staticmethod
    def mod(one: Any, other: Any) -> Traced:
        """The rest of a division of integers that rounds down."""
        return Traced("int", "mod", traced(one), traced(other))

    @staticmethod
    def power(one: Any, other: Any) -> Traced:
        one, other = traced(one), traced(other)
        if one.kind != "int" or other.kind != "int":
            raise Unwritable("a power of what is no integer")
        return Traced("int", "power", one, other)

    @staticmethod
    def floor(value: Any) -> Traced:
        return Traced("double", "floor", real(value))

    @staticmethod
    def ceil(value: Any) -> Traced:
        return Traced("double", "ceil", real(value))

    @staticmethod
    def clip(value: Any, low: float, high: float) -> Traced:
        return Namespace.minimum(Namespace.maximum(value, low), high)
