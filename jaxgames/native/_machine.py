"""Machine code of functions, for each kind of arguments, and calls of it."""

import array
import ctypes
import functools
import hashlib
import importlib.util
import itertools
import os
import struct
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.native._arrays import OUT_OF_RANGE, Arrays
from jaxgames.native._crew import Crew
from jaxgames.native._expressions import DIVIDED_BY_ZERO
from jaxgames.native._kept import (
    assembled,
    function,
    kept,
    linked,
    own_text,
    target_name,
)
from jaxgames.native._module import PLACE, Module
from jaxgames.native._types import (
    FLOAT,
    IN_A_ROW,
    INT,
    NONE,
    Array,
    Tuple,
    Type,
    Untranslatable,
    has_arrays,
    type_of,
    words,
)

_lock = threading.RLock()


@functools.cache
def can_translate() -> bool:
    """Whether LLVM is installed, which numba brings, and the machine is one it knows.

    These are the machines that it was tried on; numba serves all others.
    """
    tried = sys.platform == "linux" and os.uname().machine == "x86_64"
    return tried and importlib.util.find_spec("llvmlite") is not None


class Program:
    """A function that runs as machine code, made for each kind of arguments.

    Args:
        function: a plain function.
        plain: the plain function of another one that it may call, None of what is none.
    """

    def __init__(
        self,
        function: types.FunctionType,
        plain: Callable[[Any], types.FunctionType | None],
    ):
        self._function, self._plain = function, plain
        self._codes: dict[tuple, _Code | None] = {}
        self._made_of: dict[tuple, _Code] = {}

    def code(self, arguments: tuple) -> "Callable[[tuple], Any] | None":
        """What is called with a tuple of arguments of that kind.

        None if the function does, or is given, what the translator does not know.
        """
        seen = _seen(arguments)
        if seen is None:
            return None
        if seen not in self._codes:
            with _lock:  # others wait until it is made
                if seen not in self._codes:
                    try:
                        code = self._of_kinds(tuple(map(type_of, arguments)))
                    except Untranslatable:
                        code = None
                    self._codes[seen] = code
        return self._codes[seen]

    def _of_kinds(self, kinds: tuple) -> "_Code":
        if kinds not in self._made_of:
            self._made_of[kinds] = self._made(kinds)
        return self._made_of[kinds]

    def _made(self, kinds: tuple) -> "_Code":
        def make() -> tuple[Type, bytes]:
            text, result = Module(self._plain).program(self._function, kinds)
            return result, assembled(text)

        result, machine_code = kept(
            self._kept_as(kinds), Path(self._function.__code__.co_filename), make
        )
        return _Code(machine_code, result)

    def _kept_as(self, kinds: tuple) -> str:
        """The name of the file of its machine code: another one after any edit."""
        made = own_text(), kinds, target_name(), Arrays.checks_indices, PLACE
        digest = hashlib.sha256(repr(made).encode())
        begin = f"{self._function.__module__}.{self._function.__qualname__}"
        begin += f"-{sys.implementation.cache_tag}-{digest.hexdigest()[:16]}"
        written = hashlib.sha256()
        _write(self._function, self._plain, written, set())
        return f"{begin}-{written.hexdigest()[:16]}.native"


def _write(function: Any, plain: Any, digest: Any, seen: set) -> None:
    """Adds all that a function's machine code depends on."""
    seen.add(function)
    code, scope = function.__code__, function.__globals__
    digest.update(repr((code.co_code, code.co_consts, code.co_varnames)).encode())
    for name in code.co_names:
        value = scope.get(name)
        called = plain(value)
        if called is not None and called not in seen:
            _write(called, plain, digest, seen)
        elif isinstance(value, types.ModuleType):
            for part in code.co_names:
                _write_constant(f"{name}.{part}", getattr(value, part, None), digest)
        elif called is None:
            _write_constant(name, getattr(value, "_fields", value), digest)


def _write_constant(name: str, value: Any, digest: Any) -> None:
    """Adds a global name; what else but numbers has the same text in all processes?"""
    if not isinstance(value, int | float | str | tuple | np.generic):
        value = getattr(value, "__name__", type(value).__name__)
    digest.update(repr((name, value)).encode())


class _Code:
    """Machine code for one kind of arguments."""

    def __init__(self, machine_code: bytes, result: Type):
        self._result, self._owns = result, has_arrays(result)
        self._results = ctypes.c_int64 * max(1, len(words(result)))
        self._linked = linked(machine_code, ("enter", "native.close"))
        pointer, self._at = ctypes.c_void_p, self._linked["enter"]
        self._enter = function(self._at, pointer, pointer, pointer, result=ctypes.c_int)
        self.close = function(self._linked["native.close"], pointer)

    def __call__(self, arguments: tuple) -> Any:
        """Calls it, without Python's lock."""
        given = array.array("q")
        _add_words(arguments, given)
        results, room = self._results(), _Words()
        owners = (_Room(self, room), arguments) if self._owns else None
        code = self._enter(room, given.buffer_info()[0], results)
        if owners is None and room[0]:
            self.close(room)
        if code:
            _check(code)
        return _value(self._result, iter(results[:]), owners)

    def on_each(self, crew: Crew, arguments: tuple, more: list[tuple]) -> None:
        """Calls it for each of some, on the threads of a crew and on this one.

        What follows the arguments of all is of one kind.
        """
        common, given = array.array("q"), array.array("q")
        _add_words(arguments, common)
        for each in more:
            given.extend(common)
            _add_words(each, given)
        parts = len(more)
        rooms = (ctypes.c_int64 * (3 * parts))()
        results = self._results()
        codes = crew.run(
            self._at,
            ctypes.addressof(rooms),
            given.buffer_info()[0],
            len(given) // parts,
            ctypes.addressof(results),
            parts,
        )
        for code in codes:
            _check(code)

    def in_steps(self, crew: Crew, arguments: tuple, steps: np.ndarray, threads: int):
        """Calls it for each of some, as `on_each`; some wait for others.

        Steps are int64 `[N, 3]`: two more arguments of each call, and how many calls
        end before: all of earlier levels.
        """
        given = array.array("q")
        _add_words(arguments, given)
        _add_words((0, 0), given)
        for code in crew.steps(self._at, given, steps, threads):
            _check(code)


def _check(code: int) -> None:
    """Raises what the code that a call returned stands for."""
    if code == DIVIDED_BY_ZERO:
        raise ZeroDivisionError("integer division or modulo by zero")
    if code >= OUT_OF_RANGE:
        raise IndexError(
            f"an index of no item, in line {code - OUT_OF_RANGE} of the file of a "
            "compiled function"
        )
    if code:
        raise MemoryError("no memory for an array of compiled code")


_Words = ctypes.c_void_p * 3
"""Where a call tells of the arrays that it has made."""


class _Room:
    """What owns the arrays that a call returns, until none of them is left."""

    def __init__(self, code: _Code, words: Any):
        self._code, self._words = code, words

    def __del__(self) -> None:
        if self._words[0]:
            self._code.close(self._words)


class _Memory:
    """An array whose memory others own."""

    def __init__(self, pointer: int, kind: Array, shape: tuple, owners: Any):
        self.__array_interface__ = {
            "data": (pointer, False),
            "shape": shape,
            "typestr": _dtype(kind.dtype)[1],
            "version": 3,
        }
        self._owners = owners


@functools.cache
def _dtype(name: str) -> tuple[np.dtype, str]:
    """What numpy knows items by: to be asked for it each time takes long."""
    return np.dtype(name), np.dtype(name).str


_float, _bits = struct.Struct("d").pack, struct.Struct("q").unpack


def _seen(arguments: tuple) -> tuple | None:
    """What tells the kinds of arguments apart, and is found faster than these.

    None if items of an array do not lie one after the other.
    """
    found: list[Any] = []
    add = found.append
    for argument in arguments:
        kind = type(argument)
        if kind is np.ndarray or isinstance(argument, np.ndarray):
            if argument.flags.num & IN_A_ROW != IN_A_ROW:
                return None
            add(argument.dtype)
            add(argument.ndim)
        else:
            add(kind)
            if isinstance(argument, tuple):
                inner = _seen(argument)
                if inner is None:
                    return None
                add(inner)
    return tuple(found)


def _add_words(arguments: tuple, to: array.array) -> None:
    """The words of some arguments; what is met most often is asked for first.

    Of an array it is the address of the array itself: machine code finds the rest.
    """
    append = to.append
    for argument in arguments:
        kind = type(argument)
        if kind is np.ndarray:
            append(id(argument))
        elif kind is int:
            append(argument)
        elif isinstance(argument, tuple):
            _add_words(argument, to)
        elif isinstance(argument, float | np.floating):
            append(*_bits(_float(argument)))
        elif isinstance(argument, np.ndarray):
            append(id(argument))
        elif argument is not None:
            append(int(argument))


def _value(kind: Type, given: Any, owners: Any) -> Any:
    """A value from its words."""
    if isinstance(kind, Tuple):
        found = [_value(part, given, owners) for part in kind.parts]
        return kind.made(*found) if kind.made else tuple(found)
    if isinstance(kind, Array):
        pointer = next(given)
        shape = tuple(itertools.islice(given, kind.ndim))
        if 0 in shape:
            return np.empty(shape, _dtype(kind.dtype)[0])
        return np.asarray(_Memory(pointer, kind, shape, owners))
    if kind == NONE:
        return None
    word = next(given)
    if kind == FLOAT:
        return float(np.int64(word).view(np.float64))
    return word if kind == INT else bool(word)
