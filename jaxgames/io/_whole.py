"""A whole text as bytes; only the parts that are needed are decoded."""

import codecs
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from jaxgames.io import _pieces
from jaxgames.io._files import FilePath, coming, read_whole
from jaxgames.io._tokens import PER_BYTE, decoded, refuse_pointer
from jaxgames.tuning.io import HEADER_BYTES as _HEADER_BYTES

T = TypeVar("T")

BEHIND = b";" + b" " * 7
"""What follows the text, so that loops over digits need not look for its end."""


class Whole:
    """A text of about that many bytes, all of which have come or the first of them."""

    def __init__(
        self,
        path: FilePath,
        byte: np.ndarray,
        more: Iterator[tuple[np.ndarray, int]] | None = None,
    ):
        """What has come: uint8 `[size + 8]`, with `BEHIND`; `more` brings more."""
        self.path = path
        self._byte = byte
        self._come = len(byte) - len(BEHIND)
        self._more = more
        self._error: BaseException | None = None
        self.about = self._come if more is None else _pieces.length(path)
        self._text: str | None = None

    @classmethod
    def read(cls, path: FilePath) -> "Whole":
        """The text of a file, decompressed where it is compressed."""
        byte = read_whole(path, PER_BYTE, BEHIND)
        refuse_pointer(path, byte[:64].tobytes())
        return cls(path, byte)

    @classmethod
    def coming(cls, path: FilePath) -> "Whole":
        """The same, but what is compressed is unpacked while others work on it."""
        if not _pieces.is_unpacked_ahead(path):
            return cls.read(path)
        more = _pieces.ahead(path, coming(path, PER_BYTE, len(BEHIND)))
        whole = cls(path, np.frombuffer(BEHIND, np.uint8), more)
        refuse_pointer(path, whole.start(0))
        return whole

    @classmethod
    def of(cls, path: FilePath, text: str) -> "Whole":
        """A text that is decoded already."""
        # What cannot be encoded is no UTF-8 afterwards: `part` refuses it.
        byte = text.encode(errors="surrogatepass") + BEHIND
        whole = cls(path, np.frombuffer(byte, np.uint8))
        whole._text = text
        return whole

    @property
    def has_come(self) -> bool:
        """Whether all of it is there."""
        return self._more is None

    @property
    def byte(self) -> np.ndarray:
        """All of its bytes: uint8 `[size + 8]`, with `BEHIND`."""
        self._wait(None)
        return self._byte

    @property
    def size(self) -> int:
        """How many bytes it has."""
        self._wait(None)
        return self._come

    def _wait(self, size: int | None) -> bool:
        """Waits for so many bytes, or for all; whether there are so many."""
        while self._more is not None and (size is None or self._come < size):
            if self._error is not None:
                raise self._error
            try:
                more = next(self._more, None)
            except BaseException as error:  # also for those who ask once more
                self._error = error
                raise
            if more is not None:
                self._byte, self._come = more
                continue
            end = self._come + len(BEHIND)
            self._byte[self._come : end] = np.frombuffer(BEHIND, np.uint8)
            self._byte, self._more = self._byte[:end], None
        return size is None or self._come >= size

    def find(self, mark: bytes, start: int) -> int:
        """Where a mark is first found from a place on; -1 where it is not."""
        while True:
            come = self._come
            found = find(self._byte, mark, start, come)
            if found >= 0 or not self._wait(come + 1):
                return found
            start = max(start, come - len(mark) + 1)

    def pieces(
        self, begin: int, mark: bytes, at_once: int, kept: int = 0
    ) -> Iterator[tuple[np.ndarray, int, int]]:
        """Cuts the text into pieces as it comes: at marks, but the first.

        Args:
            begin: where the first piece begins.
            mark: what the others begin with.
            at_once: how many bytes a piece has at least; the last one may be shorter.
            kept: how many bytes of a mark belong to the piece before it.

        Yields:
            The bytes, at least eight more than the piece has; where it begins and ends.
        """
        end = 0
        while end >= 0:
            is_short = self._more is None and self._come - begin < 2 * at_once
            end = -1 if is_short else self.find(mark, begin + at_once)
            if end >= 0:
                end += kept
                self._wait(end + len(BEHIND))
            yield self._byte, begin, self._come if end < 0 else end
            begin = end

    def parsed(
        self,
        parse: Callable[[np.ndarray, int, int], T | None],
        *cuts: Any,
        is_last: Callable[[T], bool] | None = None,
    ) -> list[T] | None:
        """What is found in the pieces of a text, by all cores, while it comes.

        Args:
            parse: takes the bytes, and where the piece begins and ends, as `pieces`
                gives them; gives None for what is odd.
            cuts: how the text is cut, as for `pieces`.
            is_last: what follows a piece of which this is true is not asked for.

        Returns:
            None if a piece is odd, or none is the last.
        """
        _pieces.keep_freed_memory()
        found, pieces = [], self.pieces(*cuts)
        for part in _pieces.in_order(lambda piece: parse(*piece), pieces, self.about):
            if part is None:
                return None
            found.append(part)
            if is_last is not None and is_last(part):
                return found
        return None if is_last else found

    @property
    def text(self) -> str:
        """All of it, decoded; else raises FormatError."""
        if self._text is None:
            self._text = decoded(self.path, self.byte.data[: self.size])
        return self._text

    def start(self, place: int) -> bytes:
        """The first few bytes from a place on."""
        self._wait(place + 64)
        return self._byte[place : min(place + 64, self._come)].tobytes()

    def part(self, start: int, end: int) -> str:
        """The characters between two bytes, if they are UTF-8."""
        return str(self._byte.data[start:end], "utf-8")

    def head(self, start: int) -> str:
        """The lines that begin at a byte, as far as a header may go."""
        end = start + _HEADER_BYTES
        if not self._wait(end + 1):
            end = self.size
        else:
            line_end = self._byte[start:end].tobytes().rfind(b"\n")
            end = start + line_end + 1
        return self.part(start, end)


def is_utf8(byte: np.ndarray) -> bool:
    """Whether bytes are characters in UTF-8."""
    if byte.max(initial=0) < 128:
        return True
    try:
        codecs.utf_8_decode(byte, "strict", True)  # type: ignore[arg-type]
    except UnicodeDecodeError:
        return False
    return True


def find(byte: np.ndarray, mark: bytes, start: int, end: int) -> int:
    """Where a mark is first found between two places; -1 where it is not.

    The text is searched window by window: nothing copies all of it.
    """
    window = 1 << 12
    while start < end:
        stop = min(start + window, end)
        at = byte[start:stop].tobytes().find(mark)
        if at >= 0:
            return start + at
        if stop == end:
            break
        start = stop - len(mark) + 1
        window = min(2 * window, 1 << 18)
    return -1
