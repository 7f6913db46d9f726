"""Whole programs: a function and all that it calls, in LLVM's language.

What a function makes belongs to its *room*: a list of blocks of memory, the room of its
caller, and where to jump when memory is lacking. A function that ends passes to its
caller's room the blocks that its result points into, and frees the others. A call that
fails frees all rooms on the way back to where Python called.
"""

import types
from collections.abc import Callable
from typing import Any

from jaxgames.native import _ahead, _sort
from jaxgames.native._places import LENGTHS, PLACE
from jaxgames.native._statements import Function
from jaxgames.native._types import (
    IN_MEMORY,
    NONE,
    Array,
    Tuple,
    Type,
    Untranslatable,
    returned,
    words,
)

NO_MEMORY = 1
"""How a call ends that gets no memory."""

RUNTIME = """
declare noalias ptr @malloc(i64)
declare noalias ptr @calloc(i64, i64)
declare void @free(ptr)
declare i32 @_setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

; A room: its first block, the room of the caller or null, where to jump.
; A block: the next one, its bytes, and 64 bytes after its begin what it is for.

define internal void @native.open(ptr %room, ptr %caller) {
  store ptr null, ptr %room
  %up = getelementptr ptr, ptr %room, i64 1
  store ptr %caller, ptr %up
  %from = getelementptr ptr, ptr %caller, i64 2
  %jump = load ptr, ptr %from
  %to = getelementptr ptr, ptr %room, i64 2
  store ptr %jump, ptr %to
  ret void
}

define void @native.close(ptr %room) noinline {
  br label %next
next:
  %block = load ptr, ptr %room
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %more
more:
  %after = load ptr, ptr %block
  store ptr %after, ptr %room
  call void @free(ptr %block)
  br label %next
end:
  ret void
}

define internal void @native.fail(ptr %first, i32 %code) noinline noreturn cold {
  br label %next
next:
  %room = phi ptr [%first, %0], [%caller, %next]
  call void @native.close(ptr %room)
  %up = getelementptr ptr, ptr %room, i64 1
  %caller = load ptr, ptr %up
  %last = icmp eq ptr %caller, null
  br i1 %last, label %end, label %next
end:
  %from = getelementptr ptr, ptr %room, i64 2
  %jump = load ptr, ptr %from
  call void @longjmp(ptr %jump, i32 %code)
  unreachable
}

define internal ptr @native.own(ptr %room, i64 %size, ptr %block) noinline {
  %lacking = icmp eq ptr %block, null
  br i1 %lacking, label %bad, label %good
bad:
  call void @native.fail(ptr %room, i32 1)
  unreachable
good:
  %next = load ptr, ptr %room
  store ptr %next, ptr %block
  %bytes = getelementptr i64, ptr %block, i64 1
  store i64 %size, ptr %bytes
  store ptr %block, ptr %room
  %data = getelementptr i8, ptr %block, i64 64
  ret ptr %data
}

define internal noalias ptr @native.malloc(ptr %room, i64 %size) noinline {
  %all = add i64 %size, 64
  %block = call ptr @malloc(i64 %all)
  %data = call ptr @native.own(ptr %room, i64 %size, ptr %block)
  ret ptr %data
}

define internal noalias ptr @native.calloc(ptr %room, i64 %size) noinline {
  %all = add i64 %size, 64
  %block = call ptr @calloc(i64 1, i64 %all)
  %data = call ptr @native.own(ptr %room, i64 %size, ptr %block)
  ret ptr %data
}

define internal void @native.pass(ptr %room, ptr %data) noinline {
  br label %next
next:
  %link = phi ptr [%room, %0], [%block, %other]
  %block = load ptr, ptr %link
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %look
look:
  %bytes = getelementptr i64, ptr %block, i64 1
  %size = load i64, ptr %bytes
  %from = ptrtoint ptr %block to i64
  %at = ptrtoint ptr %data to i64
  %offset = sub i64 %at, %from
  %whole = add i64 %size, 64
  %within = icmp ule i64 %offset, %whole
  br i1 %within, label %found, label %other
other:
  br label %next
found:
  %after = load ptr, ptr %block
  store ptr %after, ptr %link
  %up = getelementptr ptr, ptr %room, i64 1
  %caller = load ptr, ptr %up
  %first = load ptr, ptr %caller
  store ptr %first, ptr %block
  store ptr %block, ptr %caller
  ret void
end:
  ret void
}
"""

FROM_WORD = {
    "ptr": "inttoptr i64 {} to ptr",
    "i1": "trunc i64 {} to i1",
    "double": "bitcast i64 {} to double",
    "i64": "add i64 {}, 0",
}
TO_WORD = {
    "ptr": "ptrtoint ptr {} to i64",
    "i1": "zext i1 {} to i64",
    "double": "bitcast double {} to i64",
    "i64": "add i64 {}, 0",
}


class Module:
    """The functions that were translated, by what their arguments are."""

    def __init__(self, plain: Callable[[Any], types.FunctionType | None]):
        self._plain, self._texts = plain, [RUNTIME]
        self._found: dict[tuple, tuple[str, Type] | None] = {}

    def _called(self, function: Any, kinds: tuple) -> tuple[str, Type] | None:
        plain = function if function is _sort.sort else self._plain(function)
        return None if plain is None else self._function(plain, kinds)

    def _function(self, plain: types.FunctionType, kinds: tuple) -> tuple[str, Type]:
        key = (plain, kinds)
        if key not in self._found:
            self._found[key] = None
            name = f"{plain.__name__}.{len(self._found)}"
            if plain is _ahead.prefetch:
                self._texts.append(_prefetch(name, kinds))
                self._found[key] = name, NONE
                return name, NONE
            function = Function(name, plain, kinds, self._called)
            self._texts.append(function.text())
            assert function.result is not None
            self._found[key] = name, function.result
        found = self._found[key]
        if found is None:
            raise Untranslatable(f"{plain.__name__} calls itself")
        return found

    def program(self, plain: types.FunctionType, kinds: tuple) -> tuple[str, Type]:
        """The text of a program, and what it returns.

        Its `enter` is given a room, and arrays of the words of arguments and result; it
        returns 0, or how it failed.
        """
        name, result = self._function(plain, kinds)
        lines, given = [], ["ptr %room"]
        for place, kind in enumerate(leaves(kinds)):
            lines += [
                f"%from.{place} = getelementptr i64, ptr %arguments, i64 {place}",
                f"%word.{place} = load i64, ptr %from.{place}",
            ]
            if isinstance(kind, Array):
                texts, names = _parts_of_array(place, kind)
                lines += texts
                given += names
                continue
            (word,) = words(kind)
            lines.append(f"%given.{place} = {FROM_WORD[word].format(f'%word.{place}')}")
            given.append(f"{word} %given.{place}")
        call = f"call {returned(result)} @{name}({', '.join(given)})"
        lines.append(f"%made = {call}" if words(result) else call)
        for place, word in enumerate(words(result)):
            lines += [
                f"%part.{place} = extractvalue {returned(result)} %made, {place}",
                f"%out.{place} = {TO_WORD[word].format(f'%part.{place}')}",
                f"%to.{place} = getelementptr i64, ptr %results, i64 {place}",
                f"store i64 %out.{place}, ptr %to.{place}",
            ]
        text = "\n  ".join(
            [
                "define i32 @enter(ptr %room, ptr %arguments, ptr %results) {",
                "%place = alloca [64 x i64], align 16",
                "%at = getelementptr ptr, ptr %room, i64 2",
                "store ptr %place, ptr %at",
                "%code = call i32 @_setjmp(ptr %place) returns_twice",
                "%failed = icmp ne i32 %code, 0",
                "br i1 %failed, label %bad, label %good",
                "good:",
                *lines,
                "ret i32 0",
                "bad:",
                "ret i32 %code",
            ]
        )
        return "\n".join([*self._texts, text, "}", ""]), result


def leaves(kinds: tuple) -> list[Type]:
    """The numbers and arrays of some arguments, and of tuples among them."""
    found: list[Type] = []
    for kind in kinds:
        if isinstance(kind, Tuple):
            found += leaves(kind.parts)
        elif isinstance(kind, Array) or words(kind):
            found.append(kind)
    return found


def _parts_of_array(place: int, kind: Array) -> tuple[list[str], list[str]]:
    """The text that finds the words of an array, at a place among the arguments."""
    name = f"%array.{place}"
    lines = [
        f"{name} = inttoptr i64 %word.{place} to ptr",
        f"{name}.at = getelementptr i8, ptr {name}, i64 {PLACE}",
        f"{name}.data = load ptr, ptr {name}.at",
        f"{name}.shape.at = getelementptr i8, ptr {name}, i64 {LENGTHS}",
        f"{name}.shape = load ptr, ptr {name}.shape.at",
    ]
    found = [f"ptr {name}.data"]
    for axis in range(kind.ndim):
        lines += [
            f"{name}.length.at.{axis} = "
            f"getelementptr i64, ptr {name}.shape, i64 {axis}",
            f"{name}.length.{axis} = load i64, ptr {name}.length.at.{axis}",
        ]
        found.append(f"i64 {name}.length.{axis}")
    return lines, found


def _prefetch(name: str, kinds: tuple) -> str:
    """The text of a function that has an item of an array fetched."""
    array, _ = kinds
    word = IN_MEMORY[array.dtype]
    return "\n".join(
        [
            f"define internal void @{name}"
            "(ptr %room, ptr %data, i64 %length, i64 %at) alwaysinline {",
            f"%item = getelementptr {word}, ptr %data, i64 %at",
            "call void @llvm.prefetch.p0(ptr %item, i32 0, i32 3, i32 1)",
            "ret void",
            "}",
            "",
        ]
    )
