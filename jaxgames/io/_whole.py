"""A whole text as bytes; only the parts that are needed are decoded."""

import codecs

import numpy as np

from jaxgames.io._files import FilePath, read_whole
from jaxgames.io._tokens import PER_BYTE, decoded, refuse_pointer
from jaxgames.tuning.io import HEADER_BYTES as _HEADER_BYTES

BEHIND = b";" + b" " * 7
"""What follows the text, so that loops over digits need not look for its end."""


class Whole:
    """A text, stored as bytes.

    Attributes:
        path: where it is from, for messages.
        byte: uint8 `[size + 8]`, its bytes as UTF-8, and `BEHIND`.
        size: how many bytes it has.
    """

    def __init__(self, path: FilePath, byte: np.ndarray):
        self.path = path
        self.byte = byte
        self.size = len(byte) - len(BEHIND)
        self._view = byte.data
        self._text: str | None = None

    @classmethod
    def read(cls, path: FilePath) -> "Whole":
        """The text of a file, decompressed where it is compressed.

        Raises:
            FormatError: it is a pointer of Git LFS, or the compressed data is broken.
        """
        byte = read_whole(path, PER_BYTE, BEHIND)
        refuse_pointer(path, byte[:64].tobytes())
        return cls(path, byte)

    @classmethod
    def of(cls, path: FilePath, text: str) -> "Whole":
        """A text that is decoded already."""
        # What cannot be encoded is no UTF-8 afterwards: `part` refuses it.
        byte = text.encode(errors="surrogatepass") + BEHIND
        whole = cls(path, np.frombuffer(byte, np.uint8))
        whole._text = text
        return whole

    @property
    def text(self) -> str:
        """All of it, decoded.

        Raises:
            FormatError: it is not UTF-8.
        """
        if self._text is None:
            self._text = decoded(self.path, self._view[: self.size])
        return self._text

    def part(self, start: int, end: int) -> str:
        """The characters between two bytes.

        Raises:
            UnicodeDecodeError: they are not UTF-8.
        """
        return str(self._view[start:end], "utf-8")

    def head(self, start: int) -> str:
        """The lines that begin at a byte, as far as a header may go.

        Raises:
            UnicodeDecodeError: they are not UTF-8.
        """
        end = self.size
        if end - start > _HEADER_BYTES:
            end = start + _HEADER_BYTES
            line_end = self.byte[start:end].tobytes().rfind(b"\n")
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
