"""Machine code of functions, for each kind of arguments, and calls of it."""

import array
import ctypes
import functools
import hashlib
import importlib.util
import itertools
import os
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
from jaxgames.native._module import Module, leaves
from jaxgames.native._places import PLACE
from jaxgames.native._reading import ROOM, Form
from jaxgames.native._types import (
    FLOAT,
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
        self._forms: list[tuple[Form, _Code | None]] = []
        self._made_of: dict[tuple, _Code | None] = {}

    def code(self, arguments: tuple) -> "tuple[_Code, Any] | None":
        """The machine code for such arguments, and room for a call with these.

        None if the function does, or is given, what the translator does not know.
        """
        for form, code in self._forms:
            room = form.read(arguments)
            if room is not None:
                return None if code is None else (code, room)
        try:
            kinds = tuple(map(type_of, arguments))
        except Untranslatable:
            return None
        with _lock:  # others wait until it is made
            code = self._of_kinds(kinds)
            form = Form(arguments, 0 if code is None else code.num_results)
            self._forms.append((form, code))
        return None if code is None else (code, form.read(arguments))

    def _of_kinds(self, kinds: tuple) -> "_Code | None":
        if kinds not in self._made_of:
            try:
                self._made_of[kinds] = self._made(kinds)
            except Untranslatable:
                self._made_of[kinds] = None
        return self._made_of[kinds]

    def _made(self, kinds: tuple) -> "_Code":
        def make() -> tuple[Type, bytes]:
            text, result = Module(self._plain).program(self._function, kinds)
            return result, assembled(text)

        result, machine_code = kept(
            self._kept_as(kinds), Path(self._function.__code__.co_filename), make
        )
        return _Code(machine_code, kinds, result)

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

    def __init__(self, machine_code: bytes, kinds: tuple, result: Type):
        self._result, self._owns = result, has_arrays(result)
        self.num_results = len(words(result))
        self._begin = ROOM + self.num_results
        self._end = self._begin + len(leaves(kinds))
        self._linked = linked(machine_code, ("enter", "native.close"))
        pointer, self._at = ctypes.c_void_p, self._linked["enter"]
        self._enter = function(self._at, pointer, pointer, pointer, result=ctypes.c_int)
        self.close = function(self._linked["native.close"], pointer)

    def __call__(self, room: Any, arguments: tuple) -> Any:
        """Calls it without Python's lock.

        Args:
            room: that of a `Form`, with the words of the arguments.
            arguments: what they are the words of.
        """
        owners = (_Owner(self, room), arguments) if self._owns else None
        at = ctypes.addressof(room)
        code = self._enter(at, at + 8 * self._begin, at + 8 * ROOM)
        if owners is None and room[0]:
            self.close(at)
        if code:
            _check(code)
        return _value(self._result, iter(room[ROOM : self._begin]), owners)

    def on_each(self, crew: Crew, rooms: list[Any]) -> None:
        """Calls it once in each room, on the threads of a crew and on this one."""
        parts, given = len(rooms), array.array("q")
        for room in rooms:
            given.extend(room[self._begin : self._end])
        own = (ctypes.c_int64 * (ROOM * parts))()
        results = (ctypes.c_int64 * max(1, self.num_results))()
        codes = crew.run(
            self._at,
            ctypes.addressof(own),
            given.buffer_info()[0],
            len(given) // parts,
            ctypes.addressof(results),
            parts,
        )
        for code in codes:
            _check(code)

    def in_steps(self, crew: Crew, room: Any, steps: np.ndarray, threads: int):
        """Calls it for each of some, as `on_each`; some wait for others.

        Steps are int64 `[N, 3]`: what the last two arguments of each call are, and how
        many calls end before: all of earlier levels.
        """
        given = room[self._begin : self._end]
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


class _Owner:
    """What owns the arrays that a call returns, until none of them is left."""

    def __init__(self, code: _Code, room: Any):
        self._code, self._room = code, room

    def __del__(self) -> None:
        if self._room[0]:
            self._code.close(self._room)


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
