"""Files: opened plain or compressed, and written all or nothing."""

import bz2
import contextlib
import gzip
import lzma
import os
import secrets
import zlib
from collections.abc import Iterator
from typing import IO, Any

COMPRESSIONS = (".gz", ".bz2", ".xz")
"""Suffixes that may follow the suffix of a format."""

FilePath = str | os.PathLike[str]


class FormatError(ValueError):
    """A file does not hold what its format asks for.

    Attributes:
        path: the file.
        line: the line where it goes wrong, counted from 1, or None.
        message: what was expected and what was found.

    Examples:
        >>> str(FormatError("game.pg", 3, "expected ';'"))
        "game.pg:3: expected ';'"
    """

    def __init__(self, path: FilePath, line: int | None, message: str):
        super().__init__(os.fspath(path), line, message)
        self.path = os.fspath(path)
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


class OutputError(OSError):
    """A file could not be written; what it was before, it still is.

    Examples:
        >>> str(OutputError(28, "No space left on device", "game.sol"))
        "[Errno 28] No space left on device: 'game.sol'"
    """


@contextlib.contextmanager
def reading(path: FilePath) -> Iterator[IO[bytes]]:
    """Opens a file to read its bytes, decompressed where the suffix says so.

    Raises:
        FormatError: the compressed data is broken or ends too early.
        OSError: the file cannot be opened or read.
    """
    compression = os.path.splitext(path)[1].lower()
    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(compression, open)
    with opener(path, "rb") as file:
        try:
            yield file
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # the machine's trouble, not the file's
            raise FormatError(
                path, None, f"broken {compression} data: {error}"
            ) from error


@contextlib.contextmanager
def writing(path: FilePath) -> Iterator[Any]:
    """Opens a file to write bytes, compressed where the suffix says so.

    The bytes go to a temporary file beside it, which takes the file's place when all
    is written; if anything fails, the file is what it was. Only a device or a pipe is
    written to as it is.

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


@contextlib.contextmanager
def _replacing(path: FilePath) -> Iterator[Any]:
    # Standard output is written to even where a shell has turned it into a file.
    if os.fspath(path) in ("/dev/stdout", "/dev/stderr") or (
        os.path.exists(path) and not os.path.isfile(path)
    ):
        with open(path, "ab" if os.path.isfile(path) else "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file, _compressing(file, path) as compressed:
            yield compressed
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def _compressing(file: IO[bytes], path: FilePath):
    match os.path.splitext(path)[1].lower():
        case ".gz":  # without name and time: equal games make equal files
            return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
        case ".bz2":
            return bz2.open(file, "wb")
        case ".xz":
            return lzma.open(file, "wb")
    return contextlib.nullcontext(file)
