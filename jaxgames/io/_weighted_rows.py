"""Text with a row of words for each vertex, cut up by whole arrays.

A file is read in stretches of whole rows, each by a few array operations.
"""

import re
from collections.abc import Iterator
from typing import IO, NamedTuple, NoReturn

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _decimal, _limits, _pieces
from jaxgames.io._files import FilePath, FormatError
from jaxgames.quoting import clipped, quoted
from jaxgames.tuning.io import STRETCH_BYTES as _STRETCH_BYTES

NONE, SEVERAL = 0, 255
"""In place of a mark: nothing but blanks, more than one."""


class Form(NamedTuple):
    """The marks of a format, one character each."""

    header: re.Pattern[bytes]
    """Its first group is the number in the header."""
    expected: str
    """What a header looks like, for messages."""
    largest: bool
    """Whether that number is the largest identifier, not how many there are."""
    owners: tuple[bytes, bytes]
    """The words for player 0 and player 1."""
    between: str
    """Between a successor and its weight; a blank stands for any blanks."""
    end: str
    """Behind a row. If it is the line end, no row has two lines."""
    fields: tuple[str, ...] = ("identifier", "owner")
    """What a row begins with: there may be a priority before the owner."""


class Rows(NamedTuple):
    """Some rows of a file: `W` words, in `R` rows.

    Attributes:
        path: the file.
        byte: uint8, the text, with a margin before and a blank after it.
        start: integers `[W]`, where each word starts.
        end: integers `[W]`, where it ends.
        mark: uint8 `[W]`, the mark behind it, if any.
        first: integers `[R + 1]`, the first word of each row, and `W`.
        before: how many lines of the file come before the text.
    """

    path: FilePath
    byte: np.ndarray
    start: np.ndarray
    end: np.ndarray
    mark: np.ndarray
    first: np.ndarray
    before: int

    def text(self, word: int) -> str:
        """A word as it can stand in a message."""
        start = self.start[word]
        return quoted(self.byte[start : min(self.end[word], start + 400)].tobytes())

    def fail(self, word: int, message: str) -> NoReturn:
        """Raises a FormatError at the line where a word starts."""
        lines = np.count_nonzero(self.byte[: self.start[word]] == ord("\n"))
        raise FormatError(self.path, self.before + 1 + int(lines), message)

    def row_of(self, word: int) -> int:
        """The row that a word belongs to."""
        return int(np.searchsorted(self.first, word, side="right")) - 1


def opened(
    path: FilePath, file: IO[bytes], form: Form
) -> tuple[int, Iterator[tuple[int, bytes]]]:
    """Reads the header; how many vertices, and the text in stretches of whole rows."""
    text = file.read(_STRETCH_BYTES)
    header = form.header.match(text)
    if not header:
        found = quoted(text[:400].split(b"\n")[0].strip())
        raise FormatError(path, 1, f"expected {form.expected}, found {found}")
    digits = header[1].lstrip(b"0") or b"0"
    count = int(digits[:18]) + form.largest
    if not 1 <= count <= MAX_SIZE:
        raise FormatError(
            path,
            1,
            f"expected {form.expected} for 1 to {MAX_SIZE} vertices, found "
            f"{clipped(digits.decode())}",
        )
    return count, _stretches(path, file, text, header.end(), form.end.encode())


def _stretches(path: FilePath, file: IO[bytes], text: bytes, at: int, end: bytes):
    """Yields how many lines come before, and some rows."""
    before, rest = text.count(b"\n", 0, at), text[at:]
    while text:
        stop = rest.rfind(end) + 1
        # To look for one quote takes far less than to count all.
        if b'"' in rest and rest.count(b'"', 0, stop) % 2:  # the end is part of a name
            stop = rest.rfind(end, 0, rest.rfind(b'"', 0, stop)) + 1
        if stop:
            yield before, rest[:stop]
            before += _pieces.lines(rest[:stop])
            rest = rest[stop:]
        _limits.check_statement(path, before + 1, len(rest))
        text = file.read(max(_STRETCH_BYTES, len(rest)))
        rest += text
    yield before, rest


def cut(path: FilePath, text: bytes, before: int, form: Form) -> Rows:
    """Cuts some rows into words.

    Raises:
        FormatError: a row starts with a mark.
    """
    byte = np.frombuffer(b" " * _decimal.MARGIN + text + b" ", np.uint8)
    if form.end != "\n" and b'"' in text:
        # Names do not matter; their line ends stay, so that lines are counted right.
        inside = np.logical_xor.accumulate(byte == ord('"')) | (byte == ord('"'))
        byte = np.where(inside & (byte != ord("\n")), ord(" "), byte).astype(np.uint8)
    marks = f",{form.between}{form.end}".replace(" ", "").replace("\n", "")
    blank = (byte == ord(" ")) | (byte - ord("\t") < 5)
    is_mark = np.zeros(len(byte), bool)
    for character in marks:
        is_mark |= byte == ord(character)
    apart = blank | is_mark
    borders = np.flatnonzero(apart[1:] != apart[:-1]) + 1
    start, end = borders[::2], borders[1::2]
    count = np.cumsum(is_mark, dtype=np.int32)
    many = np.diff(count[start], append=count[-1])
    places = np.append(np.flatnonzero(is_mark), 0)
    mark = np.where(many == 1, byte[places[count[start]]], SEVERAL)
    mark = np.where(many == 0, NONE, mark).astype(np.uint8)
    if len(start) and count[start[0]]:
        mark_rows = Rows(path, byte, places[:1], places[:1] + 1, mark, start, before)
        mark_rows.fail(0, f"expected a vertex, found {mark_rows.text(0)}")
    if form.end == "\n":
        line = np.cumsum(byte == ord("\n"), dtype=np.int32)[start]
        last = np.append(line[1:] != line[:-1], True)[: len(start)]
        if np.any(last & (mark != NONE)):
            word = int(np.argmax(last & (mark != NONE)))
            rows = Rows(path, byte, start, end, mark, start, before)
            rows.fail(word, f"expected a successor after ',' after {rows.text(word)}")
        mark[last] = ord("\n")
    else:
        last = mark == ord(form.end)
        last[-1:] = True
    first = np.append(0, np.flatnonzero(last) + 1)
    return Rows(path, byte, start, end, mark, first, before)
