"""Arrays: items, rows, slices, and new ones."""

import ast
from typing import Any

import numpy as np

from jaxgames.native._emit import Emitter
from jaxgames.native._types import (
    BOOL,
    FLOAT,
    IN_MEMORY,
    INT,
    Array,
    Tuple,
    Untranslatable,
    Value,
    constant,
    item,
    joined,
    parts,
)

OUT_OF_RANGE = 3
"""How a call ends that has an index of no item, if indices are checked.

The line that it is written in is added.
"""


class Arrays(Emitter):
    """What is done with arrays."""

    checks_indices = False
    """Whether a call ends at an index of no item: see `check_indices`."""

    first_line, written_in = 0, 0
    """The line before the function, and that of what is translated."""

    def expression(self, node: ast.AST) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def sort(self, array: Value) -> None:
        """Sorts an array of one axis where it is."""
        raise NotImplementedError

    # ---- items -------------------------------------------------------------------

    def pointer(self, array: Value, at: str) -> str:
        """Where an item is, counted along all axes."""
        word = IN_MEMORY[array.type.dtype]
        return self.word(f"getelementptr {word}, ptr {array.words[0]}, i64 {at}")

    def read(self, array: Value, pointer: str) -> Value:
        dtype = array.type.dtype
        word = IN_MEMORY[dtype]
        # Bytes may be a flag by which another thread says that it is enough.
        load = "load volatile" if dtype == "int8" else "load"
        found = self.word(f"{load} {word}, ptr {pointer}")
        if item(dtype) == BOOL:
            return Value(BOOL, [self.word(f"icmp ne i8 {found}, 0")])
        if item(dtype) == INT and word != "i64":
            wider = "zext" if dtype.startswith("u") else "sext"
            found = self.word(f"{wider} {word} {found} to i64")
        return Value(item(dtype), [found])

    def write(self, array: Value, pointer: str, value: Value) -> None:
        dtype = array.type.dtype
        word = IN_MEMORY[dtype]
        if item(dtype) == BOOL:
            found = self.word(f"zext i1 {self.truth(value)} to i8")
        else:
            found = self.cast(value, item(dtype)).words[0]
            if item(dtype) == INT and word != "i64":
                found = self.word(f"trunc i64 {found} to {word}")
        self.line(f"store {word} {found}, ptr {pointer}")

    def index(self, value: Value, length: str) -> str:
        """An index of an item; a constant that is negative counts from the end.

        Each index that does lengthens the way from one number to the next, and so a
        walk through a graph by a third: numbers that are computed may not.
        """
        at = self.integer(value)
        if value.is_known and value.known < 0:
            at = self.word(f"add i64 {length}, {at}")
        if self.checks_indices:
            # Negative numbers are large without a sign.
            there = self.word(f"icmp ult i64 {at}, {length}")
            self.check(there, OUT_OF_RANGE + self.written_in)
        return at

    def found(self, array: Value, node: ast.expr) -> tuple[str | None, Value]:
        """Where an item is, and the array; or None and a row."""
        if isinstance(node, ast.Slice):
            return None, self.slice(array, node)
        if isinstance(node, ast.Tuple) and isinstance(node.elts[-1], ast.Slice):
            row = self.found(array, ast.Tuple(node.elts[:-1], node.ctx))[1]
            return None, self.slice(row, node.elts[-1])
        at = self.expression(node)
        if hasattr(node, "lineno"):
            self.written_in = self.first_line + node.lineno
        places = parts(at) if isinstance(at.type, Tuple) else [at]
        lengths = array.words[1:]
        if len(places) > len(lengths):
            raise self.refuse(node, "more indices than axes")
        flat = self.index(places[0], lengths[0])
        for place, length in zip(places[1:], lengths[1:], strict=False):
            flat = self.word(f"mul i64 {flat}, {length}")
            flat = self.word(f"add i64 {flat}, {self.index(place, length)}")
        left = lengths[len(places) :]
        if not left:
            return self.pointer(array, flat), array
        for length in left:
            flat = self.word(f"mul i64 {flat}, {length}")
        kind = Array(array.type.dtype, len(left))
        return None, Value(kind, [self.pointer(array, flat), *left])

    def row(self, array: Value, at: str) -> Value:
        """What a loop over an array gets."""
        lengths = array.words[2:]
        for length in lengths:
            at = self.word(f"mul i64 {at}, {length}")
        pointer = self.pointer(array, at)
        if not lengths:
            return self.read(array, pointer)
        return Value(Array(array.type.dtype, len(lengths)), [pointer, *lengths])

    def slice(self, array: Value, node: ast.Slice) -> Value:
        """A part of an array, along its first axis."""
        if node.step is not None:
            raise self.refuse(node, "a slice with a step")
        length = array.words[1]
        begin, end = "0", length
        if node.lower is not None:
            begin = self._within(self.expression(node.lower), length)
        if node.upper is not None:
            end = self._within(self.expression(node.upper), length)
        many = self._clipped(self.word(f"sub i64 {end}, {begin}"))
        for more in array.words[2:]:
            begin = self.word(f"mul i64 {begin}, {more}")
        pointer = self.pointer(array, begin)
        return Value(array.type, [pointer, many, *array.words[2:]])

    def _within(self, value: Value, length: str) -> str:
        at = self.integer(value)
        negative = self.word(f"icmp slt i64 {at}, 0")
        at = self.chosen(negative, self.word(f"add i64 {at}, {length}"), at)
        at = self._clipped(at)
        return self.chosen(self.word(f"icmp sgt i64 {at}, {length}"), length, at)

    def _clipped(self, number: str) -> str:
        return self.chosen(self.word(f"icmp slt i64 {number}, 0"), "0", number)

    # ---- whole arrays --------------------------------------------------------------

    def size(self, array: Value) -> str:
        """How many items there are."""
        size = array.words[1]
        for length in array.words[2:]:
            size = self.word(f"mul i64 {size}, {length}")
        return size

    def fill(self, array: Value, value: Value) -> None:
        """Gives all items a value, or those of an array of the same shape."""
        same = isinstance(value.type, Array)
        if same and value.type.ndim != array.type.ndim:
            raise Untranslatable("arrays of different shapes")
        if same and value.type.dtype == array.type.dtype:
            width = np.dtype(array.type.dtype).itemsize
            many = self.word(f"mul i64 {self.size(array)}, {width}")
            ends = f"ptr {array.words[0]}, ptr {value.words[0]}"
            self.line(f"call void @llvm.memmove.p0.p0.i64({ends}, i64 {many}, i1 0)")
            return

        def one(at: str, *_: str) -> None:
            new = self.read(value, self.pointer(value, at)) if same else value
            self.write(array, self.pointer(array, at), new)

        self.counted("0", self.size(array), 1, one)

    def new(self, dtype: str, shape: list[str], zero: bool = False) -> Value:
        """An array that is this function's own."""
        if dtype not in IN_MEMORY:
            raise Untranslatable(f"arrays of type {dtype}")
        array = Value(Array(dtype, len(shape)), ["null", *shape])
        size = self.word(f"mul i64 {self.size(array)}, {np.dtype(dtype).itemsize}")
        make = "calloc" if zero else "malloc"
        array.words[0] = self.word(
            f"call ptr @native.{make}(ptr {self.room()}, i64 {size})"
        )
        return array

    def shape(self, value: Value) -> list[str]:
        """The lengths that a new array gets."""
        many = parts(value) if isinstance(value.type, Tuple) else [value]
        return [self.integer(length) for length in many]

    def made_by(self, make: Any, given: dict[str, Value]) -> Value | None:
        """An array that a function of NumPy makes; None if it is not known."""
        dtype = given.get("dtype")
        if make in (np.empty_like, np.zeros_like):
            like = given["first"]
            return self.new(like.type.dtype, like.words[1:], make is np.zeros_like)
        name = None if dtype is None else np.dtype(dtype.known).name
        if make in (np.empty, np.zeros, np.ones):
            shape = self.shape(given["first"])
            array = self.new(name or "float64", shape, make is np.zeros)
            if make is np.ones:
                self.fill(array, constant(1))
            return array
        if make is np.sort and len(given) == 1:
            array = self.method(given["first"], "copy", [])
            assert array is not None
            self.sort(array)
            return array
        if make is np.full:
            value = given["second"]
            like = {INT: "int64", BOOL: "bool", FLOAT: "float64"}.get(str(value.type))
            array = self.new(name or str(like), self.shape(given["first"]))
            self.fill(array, value)
            return array
        if make is np.arange:
            array = self.new(name or "int64", [self.integer(given["first"])])

            def one(at: str, *_: str) -> None:
                self.write(array, self.pointer(array, at), Value(INT, [at]))

            self.counted("0", array.words[1], 1, one)
            return array
        return None

    def attribute(self, array: Value, name: str) -> Value | None:
        """What is known of an array."""
        lengths = [Value(INT, [word]) for word in array.words[1:]]
        if name == "ndim":
            return constant(array.type.ndim)
        if name == "shape":
            return joined(lengths)
        if name == "size":
            return Value(INT, [self.size(array)])
        if name == "dtype":
            return constant(np.dtype(array.type.dtype))
        return None

    def method(self, array: Value, name: str, given: list[Value]) -> Value | None:
        """What a method of an array returns; None if it is not known."""
        if name == "copy" and not given:
            array, old = self.new(array.type.dtype, array.words[1:]), array
            self.fill(array, old)
            return array
        if name == "fill":
            self.fill(array, given[0])
            return constant(None)
        if name == "reshape":
            shape = self.shape(given[0] if len(given) == 1 else joined(given))
            kind = Array(array.type.dtype, len(shape))
            return Value(kind, [array.words[0], *shape])
        if name == "sort" and not given and array.type.ndim == 1:
            self.sort(array)
            return constant(None)
        if name == "sum" and not given and item(array.type.dtype) != FLOAT:
            total = self.place("i64")
            self.line(f"store i64 0, ptr {total}")

            def one(at: str, *_: str) -> None:
                more = self.integer(self.read(array, self.pointer(array, at)))
                before = self.word(f"load i64, ptr {total}")
                after = self.word(f"add i64 {before}, {more}")
                self.line(f"store i64 {after}, ptr {total}")

            self.counted("0", self.size(array), 1, one)
            return Value(INT, [self.word(f"load i64, ptr {total}")])
        return None


def check_indices() -> None:
    """Has this process check all indices of what it translates from now on.

    An index of no item is an IndexError then, and not whatever lies in memory there. So
    much slower is a loop that tests take this and users do not.
    """
    Arrays.checks_indices = True
