"""Where bytes come from: files, and pipes, which are read once and kept."""

import contextlib
import contextvars
import io
import os
import re
import select
import stat
from collections.abc import Iterator
from typing import IO, Any

from jaxgames import limits
from jaxgames.io._errors import FilePath
from jaxgames.tuning.base import BYTES_AT_ONCE as _AT_ONCE

_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",  # to say that it is not read
}
"""What compressed data begins with."""

_DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|stdin)|/proc/self/fd/(\d+)")
"""Names of streams that are open already; standard input has number 0."""


class _Pipe:
    """A stream that can only be read once: everything read from it is kept."""

    def __init__(self, path: FilePath):
        number = descriptor(path)
        if number is not None:
            number = os.dup(number)
        else:
            number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._file = io.FileIO(number, "rb")
        self._kept = bytearray()
        self._ended = False

    def known(self, enough: int) -> int:
        """How many bytes were read; waits for enough of them, or for the end."""
        while len(self._kept) < enough and not self._ended:
            limits.tick("reading", len(self._kept), "bytes")
            part = self._file.read(_AT_ONCE)
            if part is None:  # a stream that somebody told not to wait
                select.select([self._file], [], [])
                continue
            self._kept += part
            self._ended = not part
        return len(self._kept)

    def __getitem__(self, which: slice) -> bytearray:
        return self._kept[which]

    def close(self) -> None:
        self._file.close()


class _Again(io.RawIOBase):
    """The data of a pipe, from its beginning."""

    def __init__(self, pipe: _Pipe, alone: bool):
        self._pipe = pipe
        self._alone = alone
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        there = self._pipe.known(self._at + 1)
        length = max(min(len(buffer), there - self._at), 0)
        buffer[:length] = self._pipe[self._at : self._at + length]
        self._at += length
        return length

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._at
        elif whence == os.SEEK_END:
            offset += self._pipe.known(1 << 62)
        self._at = offset
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if self._alone:
            self._pipe.close()
        super().close()


_pipes: contextvars.ContextVar[dict[int | str, _Pipe] | None] = contextvars.ContextVar(
    "pipes", default=None
)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Keeps the data of pipes, so that they can be read again in a `with` block.

    All data that is read stays in memory. Within another such block this does nothing.
    """
    if _pipes.get() is not None:
        yield
        return
    token = _pipes.set({})
    try:
        yield
    finally:
        for pipe in (_pipes.get() or {}).values():
            pipe.close()
        _pipes.reset(token)


def opened(path: FilePath) -> IO[bytes]:
    """Opens a file or a pipe for reading its bytes unchanged; seeking is possible."""
    if not is_pipe(path):
        file = io.BufferedReader(io.FileIO(path, "rb"))
        file.seek(0)  # where a descriptor has no file of its own
        return file
    pipes = _pipes.get()
    pipe = _Pipe(path) if pipes is None else _kept_pipe(path)
    return io.BufferedReader(_Again(pipe, alone=pipes is None), 1 << 16)


def is_pipe(path: FilePath) -> bool:
    """Whether a path is a stream, which can only be read once and has no length."""
    number = descriptor(path)
    try:
        mode = os.stat(path if number is None else number).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor(path: FilePath) -> int | None:
    """The number of the open stream that a path names; None for other paths."""
    found = _DESCRIPTOR.fullmatch(os.fspath(path))
    return int(found[1] or found[2] or 0) if found else None


def compression(file: IO[bytes]) -> str | None:
    """The suffix of a file's compression, found from its first bytes; None for none."""
    start = file.read(max(map(len, _MAGIC)))
    file.seek(0)
    return next((_MAGIC[magic] for magic in _MAGIC if start.startswith(magic)), None)


def is_compressed(path: FilePath) -> bool:
    """Whether a file exists and is compressed."""
    try:
        with opened(path) as file:
            return compression(file) is not None
    except (OSError, ValueError):
        return False


def length(path: FilePath, enough: int) -> int:
    """Bytes of a file as it lies there; none where there is no file.

    Of a pipe, it is how much has come, and as much is waited for as is enough.
    """
    if is_pipe(path):
        return 0 if _pipes.get() is None else _kept_pipe(path).known(enough)
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _kept_pipe(path: FilePath) -> _Pipe:
    pipes = _pipes.get()
    assert pipes is not None
    number = descriptor(path)
    key = os.path.realpath(path) if number is None else number
    if key not in pipes:
        pipes[key] = _Pipe(path)
    return pipes[key]
