"""What values are to the translator, and which words of the machine stand for them."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np


class Untranslatable(Exception):
    """A function does what the translator does not know."""


class Array(NamedTuple):
    """An array: a pointer, and its length along each axis."""

    dtype: str
    ndim: int


class Tuple(NamedTuple):
    """A tuple: the words of its parts.

    `made` is the class if it is a named one.
    """

    parts: "tuple[Type, ...]"
    made: type | None = None


INT, BOOL, FLOAT, NONE, OBJECT = "int", "bool", "float", "None", "object"
"""Types of one word, or of none: objects are known when a function is translated."""

Type = str | Array | Tuple

WORDS = {INT: ["i64"], BOOL: ["i1"], FLOAT: ["double"], NONE: [], OBJECT: []}

IN_MEMORY = {
    "bool": "i8",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "i8",
    "uint16": "i16",
    "uint32": "i32",
    "float64": "double",
}
"""What items of arrays are to LLVM."""

IN_A_ROW = 0x101
"""The flags of numpy's arrays whose items lie one after the other, and aligned."""

UNKNOWN: Any = object()
"""The value of what is known only when the function runs."""


@dataclasses.dataclass
class Value:
    """A type, LLVM's names of its words, and the value if that is known."""

    type: Any  # a Type
    words: list[str]
    known: Any = UNKNOWN

    @property
    def is_known(self) -> bool:
        """Whether its value is known before the function runs."""
        return self.known is not UNKNOWN


def words(kind: Type) -> list[str]:
    """The types that LLVM has for the words of a value."""
    if isinstance(kind, Array):
        return ["ptr"] + ["i64"] * kind.ndim
    if isinstance(kind, Tuple):
        return [word for part in kind.parts for word in words(part)]
    return WORDS[kind]


def returned(kind: Type) -> str:
    """What a function that returns such a value returns to LLVM."""
    return "{" + ", ".join(words(kind)) + "}" if words(kind) else "void"


def has_arrays(kind: Type) -> bool:
    return "ptr" in words(kind)


def item(dtype: str) -> str:
    """The type of an array's items."""
    return {"bool": BOOL, "float64": FLOAT}.get(dtype, INT)


def constant(value: Any) -> Value:
    """A value that is known."""
    if value is None:
        return Value(NONE, [], None)
    if isinstance(value, bool | np.bool_):
        return Value(BOOL, ["true" if value else "false"], bool(value))
    if isinstance(value, int | np.integer):
        if not -(2**63) <= value < 2**63:
            raise Untranslatable(f"{int(value)} needs more than 64 bits")
        return Value(INT, [str(int(value))], int(value))
    if isinstance(value, float | np.floating):
        bits = np.float64(value).view(np.uint64)
        return Value(FLOAT, [f"0x{bits:016x}"], float(value))
    if type(value) is tuple:
        parts = [constant(part) for part in value]
        kind = Tuple(tuple(part.type for part in parts))
        return Value(kind, [word for part in parts for word in part.words], value)
    return Value(OBJECT, [], value)


def parts(value: Value) -> list[Value]:
    """The parts of a tuple."""
    if not isinstance(value.type, Tuple):
        raise Untranslatable(f"a value of type {value.type} has no parts")
    found, at = [], 0
    for place, kind in enumerate(value.type.parts):
        many = len(words(kind))
        known = value.known[place] if value.is_known else UNKNOWN
        if kind == NONE:
            known = None
        found.append(Value(kind, value.words[at : at + many], known))
        at += many
    return found


def joined(values: list[Value], made: type | None = None) -> Value:
    """A tuple of some values."""
    kind = Tuple(tuple(value.type for value in values), made)
    if OBJECT in kind.parts:
        raise Untranslatable("a tuple holds what is no number and no array")
    known = tuple(value.known for value in values)
    if made or any(value is UNKNOWN for value in known):
        known = UNKNOWN
    return Value(kind, [word for value in values for word in value.words], known)


SCALARS: dict[type, str] = {
    type(None): NONE,
    **dict.fromkeys((bool, np.bool_), BOOL),
    **dict.fromkeys((int, np.int32, np.int64), INT),
    **dict.fromkeys((float, np.float64), FLOAT),
}
"""Types of arguments that are met often, by their classes."""


def type_of(argument: Any) -> Type:
    if (kind := SCALARS.get(type(argument))) is not None:
        return kind
    if isinstance(argument, np.ndarray):
        kind = _array(argument.dtype, argument.ndim)
        if kind is None or argument.flags.num & IN_A_ROW != IN_A_ROW:
            raise Untranslatable(f"an array {argument.dtype} of shape {argument.shape}")
        return kind
    if isinstance(argument, tuple):
        made = type(argument) if hasattr(argument, "_fields") else None
        return Tuple(tuple(map(type_of, argument)), made)
    for kind, of in (
        (BOOL, bool | np.bool_),
        (INT, int | np.integer),
        (FLOAT, float | np.floating),
    ):
        if isinstance(argument, of):
            return kind
    raise Untranslatable(f"an argument {type(argument).__name__}")


@functools.cache
def _array(dtype: np.dtype, ndim: int) -> Array | None:
    """The type of arrays of such items, None if LLVM does not know it."""
    known = dtype.isnative and dtype.name in IN_MEMORY and ndim > 0
    return Array(dtype.name, ndim) if known else None
