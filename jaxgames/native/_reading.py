"""The words of arguments, read by machine code where Python holds them.

A small game is solved by a few calls in some hundredths of a millisecond. To ask some
twenty arrays in Python what they are would take longer than most of these calls.
"""

import array
import ctypes
import functools
from pathlib import Path
from typing import Any

from jaxgames.native._kept import library
from jaxgames.native._places import AXES, CLASS, DTYPE, FLAGS, ITEMS, SIZE, TELLS
from jaxgames.native._types import (
    BOOL,
    FLOAT,
    IN_A_ROW,
    INT,
    NONE,
    Array,
    Tuple,
    Type,
    type_of,
)

ROW, ROOM = 6, 3
"""Words of a row, see `TEXT`, and of a room."""

WHAT = {NONE: 0, INT: 1, BOOL: 2, FLOAT: 3}
ARRAY, TUPLE, END = 4, 5, 6
"""What a row is about."""

TEXT = f"""
; Writes the words of arguments, or ends with 0 if they are not as some rows say: in
; which tuple an object is, and how many bytes after its begin; its class; what it is;
; and of an array the word that tells its items and the number of its axes, of a tuple
; its length. The first row is about all arguments, and their tuple is number 1; the
; others are numbered in the order of their rows.

declare i64 @PyLong_AsLongLong(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare double @PyFloat_AsDouble(ptr)

define i32 @read(ptr %arguments, ptr %rows, ptr %tuples, ptr %words) {{
  %all.at = getelementptr ptr, ptr %tuples, i64 1
  store ptr %all.at, ptr %tuples
  store ptr %arguments, ptr %all.at
  br label %look
look:
  %row = phi ptr [%rows, %0], [%row.next, %next]
  %word = phi ptr [%words, %0], [%word.next, %next]
  %last = phi ptr [%tuples, %0], [%last.next, %next]
  %what.at = getelementptr i64, ptr %row, i64 3
  %what = load i64, ptr %what.at
  %over = icmp eq i64 %what, {END}
  br i1 %over, label %end, label %find
find:
  %tuple = load i64, ptr %row
  %tuple.at = getelementptr ptr, ptr %tuples, i64 %tuple
  %within = load ptr, ptr %tuple.at
  %bytes.at = getelementptr i64, ptr %row, i64 1
  %bytes = load i64, ptr %bytes.at
  %object.at = getelementptr i8, ptr %within, i64 %bytes
  %object = load ptr, ptr %object.at
  %class.at = getelementptr i8, ptr %object, i64 {CLASS}
  %class = load i64, ptr %class.at
  %expected.at = getelementptr i64, ptr %row, i64 2
  %expected = load i64, ptr %expected.at
  %more.at = getelementptr i64, ptr %row, i64 4
  %more = load i64, ptr %more.at
  %of.class = icmp eq i64 %class, %expected
  br i1 %of.class, label %choose, label %other
choose:
  switch i64 %what, label %next [
    i64 {WHAT[INT]}, label %int
    i64 {WHAT[BOOL]}, label %bool
    i64 {WHAT[FLOAT]}, label %float
    i64 {ARRAY}, label %array
    i64 {TUPLE}, label %inner
  ]
int:
  %number = call i64 @PyLong_AsLongLong(ptr %object)
  br label %write
bool:
  %truth = call i32 @PyObject_IsTrue(ptr %object)
  %truth.wide = zext i32 %truth to i64
  br label %write
float:
  %real = call double @PyFloat_AsDouble(ptr %object)
  %real.bits = bitcast double %real to i64
  br label %write
array:
  %dtype.at = getelementptr i8, ptr %object, i64 {DTYPE}
  %dtype = load ptr, ptr %dtype.at
  %tells.at = getelementptr i8, ptr %dtype, i64 {TELLS}
  %tells = load i64, ptr %tells.at
  %same.items = icmp eq i64 %tells, %more
  %axes.at = getelementptr i8, ptr %object, i64 {AXES}
  %axes = load i32, ptr %axes.at
  %ndim.at = getelementptr i64, ptr %row, i64 5
  %ndim.wide = load i64, ptr %ndim.at
  %ndim = trunc i64 %ndim.wide to i32
  %same.axes = icmp eq i32 %axes, %ndim
  %flags.at = getelementptr i8, ptr %object, i64 {FLAGS}
  %flags = load i32, ptr %flags.at
  %flags.set = and i32 %flags, {IN_A_ROW}
  %in.a.row = icmp eq i32 %flags.set, {IN_A_ROW}
  %same.form = and i1 %same.items, %same.axes
  %same = and i1 %same.form, %in.a.row
  %address = ptrtoint ptr %object to i64
  br i1 %same, label %write, label %other
inner:
  %size.at = getelementptr i8, ptr %object, i64 {SIZE}
  %size = load i64, ptr %size.at
  %after.last = getelementptr ptr, ptr %last, i64 1
  store ptr %object, ptr %after.last
  %same.size = icmp eq i64 %size, %more
  br i1 %same.size, label %next, label %other
write:
  %found = phi i64 [%number, %int], [%truth.wide, %bool], [%real.bits, %float],
    [%address, %array]
  store i64 %found, ptr %word
  %word.after = getelementptr i64, ptr %word, i64 1
  br label %next
next:
  %word.next = phi ptr [%word, %choose], [%word, %inner], [%word.after, %write]
  %last.next = phi ptr [%last, %choose], [%after.last, %inner], [%last, %write]
  %row.next = getelementptr i64, ptr %row, i64 {ROW}
  br label %look
other:
  ret i32 0
end:
  ret i32 1
}}
"""


class Form:
    """What arguments look like, so that their words can be read.

    Args:
        arguments: some of that kind.
        num_results: how many words a call with them returns.

    Raises:
        Untranslatable: the translator does not know one of them.
    """

    def __init__(self, arguments: tuple, num_results: int):
        self._num_words, self._num_tuples = 0, 0
        self._classes: list[type] = []  # which have the addresses that are compared
        rows = [*self._rows(arguments, 0, 0), 0, 0, 0, END, 0, 0]
        self._read, self._list = reader(), array.array("q", rows)
        self._list_at = self._list.buffer_info()[0]
        self._begin = ROOM + num_results
        end = self._begin + self._num_words
        self._words_at, self._tuples_at = 8 * self._begin, 8 * end
        self._room = ctypes.c_int64 * (end + 1 + self._num_tuples)

    def _rows(self, argument: Any, within: int, at: int) -> list[int]:
        """The rows about what is so many bytes within a tuple, and about its parts."""
        kind: Type = type_of(argument)
        row = [within, at, id(type(argument))]
        self._classes.append(type(argument))
        if isinstance(kind, Tuple):
            self._num_tuples += 1
            own, rows = self._num_tuples, [*row, TUPLE, len(argument), 0]
            for place, part in enumerate(argument):
                rows += self._rows(part, own, ITEMS + 8 * place)
            return rows
        self._num_words += kind != NONE
        if isinstance(kind, Array):
            tells = ctypes.c_int64.from_address(id(argument.dtype) + TELLS)
            return [*row, ARRAY, tells.value, kind.ndim]
        return [*row, WHAT[kind], 0, 0]

    def read(self, arguments: tuple) -> Any:
        """Words for a call; None if the arguments do not look so.

        They are the room of the call, room for its results, and the words of the
        arguments; behind these is what nobody reads.
        """
        room = self._room()
        at = ctypes.addressof(room)
        ends = at + self._tuples_at, at + self._words_at
        return room if self._read(id(arguments), self._list_at, *ends) else None


@functools.cache
def reader() -> Any:
    """Reads words; it holds Python's lock, and what it fails at is raised."""
    code = library(__name__, Path(__file__), TEXT, ("read",))
    word = ctypes.c_void_p
    read = ctypes.PYFUNCTYPE(ctypes.c_int, word, word, word, word)(code["read"])
    read.code = code  # pyright: ignore[reportAttributeAccessIssue]
    return read
