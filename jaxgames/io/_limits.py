"""How much memory a file may take: as its length says, or the caller.

A header of a few bytes may announce a billion states, and a few kilobytes may unpack to
as many gigabytes. So the announced size is limited by the length of the file, unpacked
text is counted while it is read, and statements may not be longer than a limit. A pipe
has no length: it is read ahead until it is long enough for the announced size.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator

from jaxgames.arguments import integer
from jaxgames.io import _sources
from jaxgames.io._errors import FilePath, FormatError

COMPRESSIONS = (".gz", ".bz2", ".xz")
"""Suffixes that may follow the suffix of a format."""

FLOOR = 1 << 27
"""Bytes that any file may take, and to which any may unpack: 128 MiB."""

PER_VERTEX = 32
"""Bytes that a vertex takes while a graph is built, without edges and labels."""

PER_BYTE = 64
"""Bytes that a file may take for each of its own bytes; also how far it may unpack."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What reading a file may take.

    Attributes:
        memory: bytes that reading may take, about. A file is refused before it is read
            if it is larger, unpacks to more, or announces more. By default what a file
            announces (states without transitions, labels) may take 64 bytes for each
            byte of the file, and a compressed file may unpack to 64 times its length.
            128 MiB are always allowed. The length of a pipe, such as standard input, is
            what has been read of it; it is read ahead until that is enough for
            what is announced.
        statement: the largest number of bytes of a statement, a line or a word of a
            text; by default 16 MiB.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import io
        >>> path = pathlib.Path(tempfile.mkdtemp(), "large.aut")
        >>> _ = path.write_text("des (0, 0, 20000000)")
        >>> try:
        ...     io.load(path, limits=io.Limits(memory=100_000_000))
        ... except io.OversizeError as error:
        ...     print(error.message[:72], "...")
        20000000 states take about 640 MB, more than the limit of 100 MB; if ...
    """

    memory: int | None = None
    statement: int = 1 << 24

    def __post_init__(self):
        for name in ("memory", "statement"):
            value = getattr(self, name)
            if value is not None:
                integer(name, value, 1)


class OversizeError(FormatError):
    """A file needs more memory than the limit; the message tells how to raise it."""


_DEFAULT = Limits()
_limited: contextvars.ContextVar[Limits | None] = contextvars.ContextVar(
    "limits", default=None
)


@contextlib.contextmanager
def limited(limits: Limits | None) -> Iterator[None]:
    """Sets the limits for all readers in a `with` block.

    Args:
        limits: the limits; None keeps the present ones.

    Examples:
        >>> from jaxgames import io
        >>> with io.limited(io.Limits(memory=1 << 30)):
        ...     pass  # io.load, io.load_solution, io.prism.valuations, ...
    """
    if limits is None:
        yield
        return
    token = _limited.set(limits)
    try:
        yield
    finally:
        _limited.reset(token)


def _current() -> Limits:
    return _limited.get() or _DEFAULT


def statement() -> int:
    """Bytes of a statement, at most."""
    return _current().statement


def check_statement(path: FilePath, line: int | None, length: int) -> None:
    """Refuses a statement, a line or a word that is too long: raises OversizeError."""
    most = statement()
    if length > most:
        raise OversizeError(
            path,
            line,
            f"the statement that starts here has more than {most} bytes; if that is "
            f"intended, pass limits=io.Limits(statement={2 * most}) or more",
        )


def text_limit(
    path: FilePath, per_byte: int, packed: bool, place: int = 0
) -> int | None:
    """How many bytes the text of a file may have, unpacked; None for any number.

    Of a pipe more than the `place` reading has come to is read, to know that it may.
    """
    memory = _current().memory
    if memory is not None:
        return memory // per_byte
    if packed:
        return max(FLOOR, PER_BYTE * _sources.length(path, -(-place // PER_BYTE)))
    return None


def check_text(path: FilePath, length: int, most: int | None, per_byte: int) -> None:
    """Refuses a text that is too long: raises OversizeError."""
    if most is not None and length > most:
        raise OversizeError(
            path,
            None,
            f"the file has more than {most} bytes of text, which is the limit; if you "
            f"trust it, pass limits=io.Limits(memory=...), with {per_byte} bytes for "
            "each byte of text",
        )


def check(
    path: FilePath, line: int | None, what: str, taken: int, length: int | None = None
) -> None:
    """Checks that what a file announces is not too much for a file of its length.

    Args:
        path: the file.
        line: where it is announced.
        what: what it is, for the message: "1000 states".
        taken: bytes that it will take.
        length: bytes of the text; by default the length of the file.

    Raises:
        OversizeError: it is too much.
    """
    memory, why = _current().memory, ""
    if memory is None:
        if taken <= FLOOR:
            return
        each = PER_BYTE * (16 if _sources.is_compressed(path) else 1)
        if length is None:
            length = _sources.length(path, -(-taken // each))
        memory = max(FLOOR, each * length)
        why = f", for a file of {length} bytes"
    if taken > memory:
        raise OversizeError(
            path,
            line,
            f"{what} take about {_shown(taken)}, more than the limit of "
            f"{_shown(memory)}{why}; if you trust the file, pass "
            f"limits=io.Limits(memory={taken}) or more",
        )


def check_vertices(path: FilePath, count: int, what: str = "states") -> None:
    """Raises OversizeError for too many vertices, which need no text."""
    check(path, None, f"{count} {what}", PER_VERTEX * count)


def _shown(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
