"""Standard input and output: where they are files of a command, or closed."""

import argparse
import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator


class Stream(str):
    """The path of a standard stream, which messages call by its name."""

    def __str__(self) -> str:
        return "standard input" if self == STDIN else "standard output"

    def __format__(self, how: str) -> str:
        """As `str` says it."""
        return format(str(self), how)


STDIN, STDOUT = Stream("/dev/stdin"), Stream("/dev/stdout")
"""What `-` stands for."""

INPUTS = "file", "other", "solution", "automaton", "properties", "props"
"""Where commands keep the names of what they read."""

LISTS = "to", "begin", "accepting", "through"
"""Where commands keep sets of vertices, which may be in a file: `@FILE`."""

OUTPUTS = "output", "labels", "lasso", "dot", "scheduler", "pg"
"""Where commands keep the names of what they write, but for pictures."""


@contextlib.contextmanager
def standard(args: argparse.Namespace) -> Iterator[None]:
    """Has `-` mean standard input or output, within; two files cannot be one stream.

    What is read once only is kept, so that it can be read again. Where a file is
    written to standard output, all else that is printed goes to standard error.
    """
    for name in (*INPUTS, *OUTPUTS, "draw", "game", "checkpoint"):
        if getattr(args, name, None) == "":
            raise ValueError(f"{name}: a file needs a name: found an empty one")
    for names, stream in ((INPUTS, STDIN), (OUTPUTS, STDOUT)):
        given = [name for name in names if getattr(args, name, None) in ("-", stream)]
        for name in given:
            if getattr(args, name) == "-":
                setattr(args, name, stream)
        count = len(given)
        if stream == STDIN:
            lists = [name for name in LISTS if getattr(args, name, None) == "@-"]
            for name in lists:
                setattr(args, name, "@" + STDIN)
            count += len(lists)
        for files in (getattr(args, name, None) for name in names):
            if isinstance(files, list):  # of an option that may be repeated
                files[:] = [stream if file == "-" else file for file in files]
                count += files.count(stream)
        if stream == STDIN and len(files := getattr(args, "files", ())) > 1:
            args.files = [STDIN if file == "-" else file for file in files]
            count += args.files.count(STDIN)
        if count > 1:
            what = "input is read" if stream == STDIN else "output is written"
            raise ValueError(f"standard {what} once, and cannot be two files")
    with contextlib.ExitStack() as stack:
        if any(getattr(args, name, None) for name in INPUTS):
            from jaxgames.io import _sources  # help need not wait for it

            stack.enter_context(_sources.kept())
        if any(getattr(args, name, None) == STDOUT for name in OUTPUTS):
            if getattr(args, "json", False) or getattr(args, "jsonl", False):
                raise ValueError("--json prints where - is written to: name a file")
            if isinstance(sys.stdout, _Nobody):
                sys.stdout.write("-")
            elsewhere = io.StringIO() if sys.stderr is None else sys.stderr
            stack.enter_context(contextlib.redirect_stdout(elsewhere))
        yield


class _Nobody(io.TextIOBase):
    """Standard output where it is closed: nothing can be printed."""

    def write(self, text: str) -> int:
        """Fails as a pipe does that nobody reads."""
        if text:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        return 0


ESCAPED = "jaxgames.escaped"
"""How characters are printed that the encoding of standard output does not have."""


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes of names of files as they are; other characters by their numbers."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)


codecs.register_error(ESCAPED, _escaped)


@contextlib.contextmanager
def all_printable() -> Iterator[None]:
    """Has `print` escape what standard output cannot encode: names are any text."""
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper):
        yield
        return
    before = out.errors
    out.reconfigure(errors=ESCAPED)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):  # it may be closed by now
            out.reconfigure(errors=before)


@contextlib.contextmanager
def open_output() -> Iterator[None]:
    """Has `print` fail where standard output is closed: Python drops what it is given.

    Numbers of streams that are closed are taken, or files that are opened get them.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while os.open(os.devnull, os.O_RDWR) <= 2:
            pass
    if sys.stdout is not None:
        yield
        return
    with contextlib.redirect_stdout(_Nobody()):
        yield
