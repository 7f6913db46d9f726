"""Files: opened plain or compressed, and written all or nothing."""

import bz2
import codecs
import collections
import contextlib
import contextvars
import gzip
import io
import lzma
import os
import secrets
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from jaxgames import limits
from jaxgames.io import _limits, _sources
from jaxgames.io._errors import FilePath as FilePath
from jaxgames.io._errors import FormatError as FormatError
from jaxgames.io._limits import COMPRESSIONS as COMPRESSIONS
from jaxgames.tuning.base import BYTES_AT_ONCE as _AT_ONCE
from jaxgames.tuning.io import PACKED as _PACKED

PER_BYTE = 24
"""Bytes that reading takes for each byte of text, about, in most formats."""


_MARK = codecs.BOM_UTF8
"""What some editors begin a text with; it is no part of the text."""


class _Counted(io.RawIOBase):
    """Bytes of a file, of which there may not be more than some number.

    A mark of UTF-8 before the first is left out.
    """

    def __init__(self, path: FilePath, file: Any, per_byte: int, packed: bool):
        self._path = path
        self._file = file
        self._per_byte = per_byte
        self._packed = packed
        self._most = _limits.text_limit(path, per_byte, packed)
        self._at = 0
        self._begin = len(_MARK) if file.peek(len(_MARK)).startswith(_MARK) else 0
        if self._begin:
            file.seek(self._begin)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def readinto(self, buffer: Any) -> int:
        limits.tick("reading", self._at, "bytes")
        length = self._file.readinto(buffer)
        self._go_to(self._at + length)
        return length

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:  # what is unpacked on the way counts as well
            self._go_to(offset)
            offset += self._begin
        self._go_to(self._file.seek(offset, whence) - self._begin)
        return self._at

    def tell(self) -> int:
        return self._at

    def _go_to(self, place: int) -> None:
        if self._most is not None and place > self._most:  # of a pipe more may come
            self._most = _limits.text_limit(
                self._path, self._per_byte, self._packed, place
            )
        _limits.check_text(self._path, place, self._most, self._per_byte)
        self._at = place


class _Stream(io.BufferedReader):
    """Reads what there is: no buffer is larger than what has been read, and a bit."""

    def __init__(self, path: FilePath, file: Any, per_byte: int, packed: bool):
        super().__init__(_Counted(path, file, per_byte, packed), 1 << 16)
        self._path = path
        self.packed = packed

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:  # else it would come in bits of 8 KiB
            size = sys.maxsize
        if size <= _AT_ONCE:
            return super().read(size)
        parts = []
        while size > 0 and (part := super().read(min(size, _AT_ONCE))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def __iter__(self) -> Iterator[bytes]:
        """Its lines, none of which may be too long."""
        most, number = _limits.statement(), 1
        while line := self.readline(most + 1):
            _limits.check_statement(self._path, number, len(line))
            yield line
            number += 1


_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def line_at(path: FilePath, offset: int) -> int:
    """The number of the line that holds a byte of the file's text."""
    with reading(path) as file:
        line = 1
        while offset > 0 and (part := file.read(min(offset, _AT_ONCE))):
            line += part.count(b"\n")
            offset -= len(part)
    return line


class OutputError(OSError):
    """A file could not be written; the old file is unchanged.

    Examples:
        >>> str(OutputError(28, "No space left on device", "game.sol"))
        "[Errno 28] No space left on device: 'game.sol'"
    """


@contextlib.contextmanager
def reading(path: FilePath, per_byte: int = PER_BYTE) -> Iterator[_Stream]:
    """Opens a file to read its bytes, decompressed where they are compressed.

    The first bytes tell whether they are, whatever the suffix. Data that can only be
    read once, such as standard input, is kept while it is open, or in `_sources.kept`.

    Args:
        path: the file; also `/dev/stdin`, `/dev/fd/N`, or a pipe that has a name.
        per_byte: bytes that reading takes for each byte of text, about.

    Raises:
        FormatError: the compressed data is broken or ends too early.
        OversizeError: the text is larger than the limit.
        OSError: the file cannot be opened or read.
    """
    with _sources.opened(path) as file:
        compression = _sources.compression(file)
        if compression is None:  # a suffix that promises more is believed, and fails
            compression = os.path.splitext(path)[1].lower()
        if compression == ".zst":
            raise FormatError(
                path,
                None,
                "compression by Zstandard is not supported: decompress the file first, "
                "for example with 'zstd -d'",
            )
        opener = _OPENERS.get(compression, lambda file, _: contextlib.nullcontext(file))
        with opener(file, "rb") as plain:
            try:
                yield _Stream(path, plain, per_byte, compression in _OPENERS)
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                if getattr(error, "errno", None) is not None:
                    raise  # the machine's trouble, not the file's
                raise FormatError(
                    path, None, f"broken {compression} data: {error}"
                ) from error


def read_whole(path: FilePath, per_byte: int, behind: bytes) -> np.ndarray:
    """Reads a file into one array, as `reading`, with the bytes `behind` it: uint8.

    The bytes of an uncompressed file are copied once: from the system's cache.
    """
    [(whole, size)] = collections.deque(coming(path, per_byte, len(behind)), maxlen=1)
    end = size + len(behind)
    whole[size:end] = np.frombuffer(behind, np.uint8)
    return whole[:end]


def coming(
    path: FilePath, per_byte: int, margin: int
) -> Iterator[tuple[np.ndarray, int]]:
    """Reads a file as `read_whole` does, and tells of each bit that has come.

    Yields:
        uint8, what is read, with `margin` bytes of room behind it, and how many bytes
        have come; these stay as they are. It is the same array, or a larger one.
    """
    with reading(path, per_byte) as file:
        expected = _sources.length(path, _AT_ONCE)
        if file.packed:
            expected *= _PACKED
        # One more byte, so that the end is seen where the length was right.
        whole = np.empty(max(expected, 1 << 16) + 1 + margin, np.uint8)
        size = 0
        yield whole, size
        while count := file.readinto(
            whole.data[size : min(size + _AT_ONCE, len(whole) - margin)]
        ):
            size += count
            if size + margin == len(whole):
                grown = np.empty(2 * len(whole), np.uint8)
                grown[:size] = whole[:size]
                whole = grown
            yield whole, size


@contextlib.contextmanager
def writing(path: FilePath) -> Iterator[Any]:
    """Opens a file to write bytes, compressed where the suffix says so.

    The bytes go to a temporary file in the same folder, which replaces the file when
    everything is written. If anything fails, the old file is unchanged. Only devices
    and pipes are written directly.

    Raises:
        OutputError: the file cannot be written, as on a disk that is full.
    """
    try:
        with _replacing(path) as file:
            yield file
    except OSError as error:
        if type(error) is not OSError:  # of a folder that is missing, or a broken pipe
            raise
        # Of a write that fails the system says what is wrong, but not where.
        why = error.strerror or str(error)
        raise OutputError(error.errno, why, os.fspath(path)) from error


def write_text(path: FilePath, text: str) -> None:
    """Writes a text, as `writing` does bytes."""
    with writing(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def _replacing(path: FilePath) -> Iterator[Any]:
    # Standard output is written to even where a shell has turned it into a file.
    stream = {"/dev/stdout": 1, "/dev/stderr": 2}.get(os.fspath(path))
    if stream is not None or (os.path.exists(path) and not os.path.isfile(path)):
        with open(path if stream is None else os.dup(stream), "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
    _temporaries.add(temporary)
    try:
        with open(temporary, "xb") as file, _compressing(file, path) as compressed:
            yield compressed
        waiting = _waiting.get()
        if waiting is not None:
            waiting[temporary] = target
            return
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = os.fspath(path)  # of the other nobody has heard
        raise
    finally:
        if temporary not in (_waiting.get() or ()):
            _temporaries.discard(temporary)


@contextlib.contextmanager
def written_together() -> Iterator[None]:
    """Replaces all files that are written in a `with` block when all are complete.

    If anything fails before, all old files are unchanged.
    """
    waiting: dict[str, str] = {}
    token = _waiting.set(waiting)
    try:
        yield
        for temporary, target in waiting.items():
            try:
                os.replace(temporary, target)
            except OSError as error:
                raise OutputError(error.errno, error.strerror, target) from error
    except BaseException:
        for temporary in waiting:
            with contextlib.suppress(FileNotFoundError):
                os.remove(temporary)
        raise
    finally:
        _waiting.reset(token)
        _temporaries.difference_update(waiting)


_waiting: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar(
    "waiting", default=None
)
"""Files that are complete and wait for others, and the files they will replace."""

_temporaries: set[str] = set()
"""Files that are being written."""


def remove_temporaries() -> None:
    """Removes unfinished files, for a process that ends without cleaning up."""
    for path in tuple(_temporaries):
        with contextlib.suppress(OSError):
            os.remove(path)


def _compressing(file: IO[bytes], path: FilePath):
    match os.path.splitext(path)[1].lower():
        case ".gz":  # without name and time: equal games make equal files
            return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
        case ".bz2":
            return bz2.open(file, "wb")
        case ".xz":
            return lzma.open(file, "wb")
    return contextlib.nullcontext(file)
