"""Text made of lines of words, cut up and read as whole arrays.

A file is read in stretches of whole lines. Whatever is wrong is found by the arrays
too: every word knows its line.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn, TypeVar

import numpy as np

from jaxgames import limits
from jaxgames.io import _decimal, _limits, _pieces, _word_loop
from jaxgames.io._files import FilePath, FormatError, reading, writing
from jaxgames.quoting import counted, quoted
from jaxgames.tuning.io import STRETCH_BYTES as _STRETCH_BYTES
from jaxgames.tuning.io import STRETCH_LINES as _STRETCH_LINES

T = TypeVar("T")

_BEFORE = b" " * _decimal.MARGIN


class Lines(NamedTuple):
    """A stretch of a file: `W` words between blanks, in `L` lines that have some."""

    path: FilePath
    byte: np.ndarray
    """uint8, the text, with a margin before and a blank after it."""
    start: np.ndarray
    """integers `[W]`, where each word starts."""
    end: np.ndarray
    """integers `[W]`, where it ends."""
    first: np.ndarray
    """integers `[L + 1]`, the first word of each line, and the number of words."""
    number: np.ndarray
    """integers `[L]`, the number of each line in the file, counted from 1."""
    by_code: bool = False
    """Whether words are read by machine code, not by arrays."""

    @property
    def count(self) -> np.ndarray:
        """How many words each line has: integers `[L]`."""
        return np.diff(self.first)

    @property
    def initials(self) -> np.ndarray:
        """The first character of each line: uint8 `[L]`."""
        return self.byte[self.start[self.first[:-1]]]

    def skip(self, lines: int) -> "Lines":
        """Without the first few lines."""
        return self._replace(first=self.first[lines:], number=self.number[lines:])

    def keep(self, lines: np.ndarray) -> "Lines":
        """Only some lines, which are given by booleans `[L]`."""
        if lines.all():
            return self
        words = np.repeat(lines, self.count)
        words = np.flatnonzero(words) + self.first[0]
        return self._replace(
            start=self.start[words],
            end=self.end[words],
            first=np.append(0, np.cumsum(self.count[lines])),
            number=self.number[lines],
        )

    def start_with(self, words: np.ndarray, text: str) -> np.ndarray:
        """Which words start like this: booleans."""
        at, found = self.start[words], np.ones(len(words), bool)
        for place, character in enumerate(text.encode()):
            found &= self.byte[np.minimum(at + place, len(self.byte) - 1)] == character
        return found

    def words(self, line: int) -> list[str]:
        """The words of one line."""
        return self.text(line).split()

    def text(self, line: int) -> str:
        """One line, without the blanks around it."""
        text = self.texts(self.first[line : line + 1], self.first[line + 1 :][:1] - 1)
        return text[0].decode(errors="replace")

    def texts(self, first: np.ndarray, last: np.ndarray | None = None) -> list[bytes]:
        """The texts from the start of each first word to the end of the last."""
        text = self.byte.tobytes()
        last = first if last is None else last
        starts, ends = self.start[first].tolist(), self.end[last].tolist()
        return [text[i:j] for i, j in zip(starts, ends, strict=True)]

    def integers(self, words: np.ndarray, what: str, least: int, most: int):
        """Reads words as integers: int64, from `least` (not negative) to `most`."""
        start, end = self.start[words], self.end[words]
        if self.by_code:
            values, bad = _word_loop.integers(self.byte, start, end, least, most)
            if bad >= 0:
                self.refuse(words[bad], f"{what} (a number from {least} to {most})")
            return values
        # With more digits it is too large, or full of leading zeros.
        wrong = (end - start > _decimal.MARGIN) | (end == start)
        digit = self.byte - ord("0") < 10  # uint8: what is smaller wraps round
        others = np.cumsum(~digit, dtype=np.int32)
        wrong |= others[end - 1] != others[start - 1]
        values = _decimal.read(self.byte, start, np.where(wrong, start, end))
        values = values.astype(np.int64)
        wrong |= (values < least) | (values > most)
        if wrong.any():
            expected = f"{what} (a number from {least} to {most})"
            self.refuse(words[np.argmax(wrong)], expected)
        return values

    def reals(self, words: np.ndarray, what: str, table: "Reals") -> np.ndarray:
        """Reads words as real numbers: float64; else raises FormatError."""
        if self.by_code:
            values = _word_loop.reals(self.byte, self.start[words], self.end[words])
            others = np.flatnonzero(np.isnan(values))
        else:
            values, others = np.empty(len(words)), np.arange(len(words))
        texts = self.texts(words[others])
        try:
            values[others] = [table[text] for text in texts]
        except NotANumberError as error:
            word = int(words[others[texts.index(error.word)]])
            self.refuse(word, f"{what} (a finite number)")
        return values

    def codes(
        self, first: np.ndarray, last: np.ndarray, number: Callable[[int, bytes], int]
    ) -> np.ndarray:
        """Numbers texts, from each first word's start to the last one's end: int32.

        `number` is called with one of a text's places and with the text, in the order
        of the first appearance in this stretch; and perhaps again.
        """
        if not self.by_code:
            texts = self.texts(first, last)
            return np.array([*map(number, range(len(texts)), texts)], np.int32)
        which, places = _word_loop.alike(self.byte, self.start[first], self.end[last])
        texts = self.texts(first[places], last[places])
        return np.array([*map(number, places.tolist(), texts)], np.int32)[which]

    def named(self, begin, stop, names: dict[bytes, int]) -> np.ndarray:
        """Numbers the texts between some places; enters new ones into the names."""
        texts = self._replace(
            start=begin.astype(np.int32, copy=False),
            end=stop.astype(np.int32, copy=False),
        )
        every = np.arange(len(begin))
        return texts.codes(
            every, every, lambda _, text: names.setdefault(text, len(names))
        )

    def intervals(
        self,
        words: np.ndarray,
        what: str,
        table: "Reals",
        last: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Reads words as numbers or as intervals like `[0.4,0.6]`: float64 twice.

        `last` holds the last word of each, if an interval may have blanks.
        """
        wide = np.flatnonzero(self.start_with(words, "["))
        if not len(wide):
            values = self.reals(words, what, table)
            return values, values
        plain = np.ones(len(words), bool)
        plain[wide] = False
        lower = np.empty(len(words))
        lower[plain] = self.reals(words[plain], what, table)
        upper = lower.copy()
        texts = self.texts(words[wide], None if last is None else last[wide])
        for at, text in zip(wide, texts, strict=True):
            try:
                if not text.endswith(b"]"):
                    raise ValueError(text)
                ends = text[1:-1].split(b",")
                lower[at], upper[at] = (table[end.strip()] for end in ends)
            except (NotANumberError, ValueError):
                self.refuse(words[at], f"{what} (a number, or '[lower,upper]')")
        return lower, upper

    def refuse(self, word: int, expected: str) -> NoReturn:
        """Raises a FormatError at a word: what was expected instead of it."""
        line = int(np.searchsorted(self.first, word, side="right")) - 1
        found = quoted(self.texts(np.array([word]))[0])
        self.fail(line, f"expected {expected}, found {found}")

    def expect(self, right: np.ndarray, expected: str) -> None:
        """Raises a FormatError at the first line that is not right, bool `[L]`."""
        if not right.all():
            line = int(np.argmin(right))
            self.fail(line, f"expected {expected}, found {quoted(self.text(line))}")

    def fail(self, line: int, message: str) -> NoReturn:
        """Raises a FormatError at a line of this stretch."""
        raise FormatError(self.path, int(self.number[line]), message)


def read(path: FilePath) -> Iterator[Lines]:
    """Reads a file, a stretch of whole lines after the other."""
    return _pieces_of(path, functools.partial(_cut, path))


def read_rows(
    path: FilePath, rows: Callable[[np.ndarray, int], T | None]
) -> Iterator[Lines | T]:
    """Reads a file as `read` does, most stretches by machine code in one go.

    `rows` makes something of a text, with a margin before and a blank after it, and of
    the number of lines before it; None where something is out of the ordinary. It is
    called on several threads, when the first stretch, which is always cut into words,
    has been worked on by whoever called this.
    """

    def made(byte: np.ndarray, before: int, by_code: bool) -> Lines | T:
        found = rows(byte, before) if by_code else None
        return _cut(path, byte, before, by_code) if found is None else found

    return _pieces_of(path, made, functools.partial(_cut, path))


def _pieces_of(
    path: FilePath,
    make: Callable[[np.ndarray, int, bool], T],
    make_first: Callable[[np.ndarray, int, bool], T] | None = None,
) -> Iterator[T]:
    """What is made of each stretch, in order."""
    size = _pieces.length(path)
    by_code = _word_loop.pays(size)
    if by_code:
        _pieces.keep_freed_memory()
        _cut(path, _framed(b""), 0, by_code)  # compiled by one thread
    stretches = _pieces.ahead(path, _stretches(path))
    if make_first is not None:
        for stretch in stretches:
            yield make_first(*stretch, by_code)
            break
    yield from _pieces.in_order(lambda x: make(*x, by_code), stretches, size)


def _stretches(path: FilePath) -> Iterator[tuple[np.ndarray, int]]:
    """Stretches of whole lines, framed, and how many lines come before each."""
    before = 0
    with reading(path) as file:
        rest = b""
        while more := file.read(max(_STRETCH_BYTES, len(rest))):
            end = more.rfind(b"\n")
            if end < 0:
                rest += more
            else:
                byte = _framed(rest, memoryview(more)[:end])
                yield byte, before
                before += _pieces.lines(byte) + 1
                rest = more[end + 1 :]
            _limits.check_statement(path, before + 1, len(rest))
        if rest:
            yield _framed(rest), before


def _framed(*text: bytes | memoryview) -> np.ndarray:
    """A text with a margin before and a blank after it: uint8."""
    return np.frombuffer(b"".join((_BEFORE, *text, b" ")), np.uint8)


def _cut(path: FilePath, byte: np.ndarray, before: int, by_code: bool) -> Lines:
    if by_code:
        start, end, first, line = _word_loop.cut(byte, _decimal.MARGIN)
        return Lines(path, byte, start, end, first, line + (before + 1), by_code)
    # Blanks are the space and the five characters from the tab to the carriage return.
    blank = (byte == ord(" ")) | (byte - ord("\t") < 5)
    borders = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    start, end = borders[::2], borders[1::2]
    ended = np.cumsum(byte == ord("\n"), dtype=np.int32)
    number = before + 1 + ended[start]
    opens = np.append(True, number[1:] != number[:-1])[: len(start)]
    first = np.flatnonzero(opens)
    return Lines(path, byte, start, end, np.append(first, len(start)), number[first])


class NotANumberError(Exception):
    """A word is no finite number."""

    def __init__(self, word: bytes):
        super().__init__(word)
        self.word = word


class Reals(dict[bytes, float]):
    """Values of words that are numbers: files repeat few of them very often."""

    def __missing__(self, word: bytes) -> float:
        """Reads a word that was not met before, `1/3` as well."""
        if word.translate(None, b"0123456789+-.eE/"):  # words such as nan and infinity
            raise NotANumberError(word)
        upper, slash, lower = word.partition(b"/")
        try:
            value = float(upper) / float(lower) if slash else float(upper)
        except (ValueError, ZeroDivisionError):
            raise NotANumberError(word) from None
        if not math.isfinite(value):
            raise NotANumberError(word)
        if len(self) > _STRETCH_BYTES:
            self.clear()
        self[word] = value
        return value


# ---- writing ----------------------------------------------------------------


Column = np.ndarray | bytes
"""Bytes strings (dtype S) for each line, or one for all."""


def write(path: FilePath, header: str, *columns: Column) -> None:
    """Writes a header, then a line for each entry of the columns, which are joined.

    No column may hold NUL bytes.
    """
    length = max((len(c) for c in columns if isinstance(c, np.ndarray)), default=0)
    with writing(path) as file:
        file.write(header.encode())
        for at in range(0, length, _STRETCH_LINES):
            limits.tick("writing", at, "lines")
            part = slice(at, at + _STRETCH_LINES)
            file.write(
                joined(*(c if isinstance(c, bytes) else c[part] for c in columns))
            )


def joined(*columns: Column) -> bytes:
    """The text of some lines."""
    padded = matrix(*columns)
    return padded[padded != 0].tobytes()


def matrix(*columns: Column) -> np.ndarray:
    """The text of some lines: uint8 `[L, width]`, with NUL bytes to be left out."""
    length = max((len(c) for c in columns if isinstance(c, np.ndarray)), default=0)
    parts = []
    for column in columns:
        if isinstance(column, bytes):
            text = np.frombuffer(column, np.uint8)
            parts.append(np.broadcast_to(text, (length, len(text))))
        else:
            width = column.dtype.itemsize
            text = np.ascontiguousarray(column).view(np.uint8)
            parts.append(text.reshape(length, width))
    return np.concatenate(parts, axis=1)


def decimals(numbers: np.ndarray) -> np.ndarray:
    """Integers as text: dtype S."""
    return np.asarray(numbers).astype("S")


def reals(numbers: np.ndarray) -> np.ndarray:
    """Real numbers as the shortest text that is read back to the same: dtype S."""
    values, which = np.unique(numbers, return_inverse=True)
    texts = [repr(value).removesuffix(".0") for value in values.tolist()]
    return np.array(texts, "S")[which]


def numbers(values: np.ndarray) -> np.ndarray:
    """Numbers as text that shows their type: dtype S.

    Real numbers have a point or an exponent, also where they are whole.
    """
    if values.dtype.kind != "f":
        return decimals(values)
    texts = reals(values)
    whole = np.char.isdigit(np.char.lstrip(texts, b"-"))
    return np.where(whole, np.char.add(texts, b".0"), texts)


def check_count(path: FilePath, announced: int | None, found: int, noun: str) -> None:
    """Raises a FormatError if a header announces another number of things."""
    if announced not in (None, found):
        raise FormatError(
            path,
            None,
            f"the header announces {counted(announced, noun)}, but there are {found}; "
            "was the file cut off?",
        )
