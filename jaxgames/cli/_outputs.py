"""What a command writes: checked before the work, so that nothing is lost after it."""

import argparse
import bz2
import contextlib
import errno
import glob
import gzip
import lzma
import os
import zlib
from collections.abc import Sequence
from typing import Any

from jaxgames import io
from jaxgames.cli._streams import INPUTS, LISTS
from jaxgames.io._formats import suffix_of

DRAWINGS = "--dot", "--draw"
"""Options whose files are made again and again, and replaced without a question."""

_BESIDE = {".tra": (".lab", ".sta", ".srew", ".trew")}
"""Suffixes of what is written with a file of that suffix."""


def check(args: argparse.Namespace, **options: str | None) -> None:
    """Finds out before long work that its outcome could not or must not be written.

    Args:
        args: the command's, with what it reads, and whether to `force`.
        options: the files to write, by their options: `output="game.sol"`, or those
            without dashes in their names.

    Raises:
        ValueError: a file is read too, written twice, or is there already.
        OSError: as writing would, but naming the folder that is missing.
    """
    given = {
        {"output": "-o", "OUT": "OUT"}.get(name, f"--{name}"): os.fspath(path)
        for name, path in options.items()
        if path
    }
    read = _read(args)
    read += [path for x in read for path in _with_it(x, _may_be_prism(x))]
    before: list[tuple[str, str]] = []
    for option, first in given.items():
        _check_writable(first)
        is_prism = getattr(args, "to_format", None) == "tra" or _is_prism(first)
        for path in [first, *_with_it(first, is_prism)]:
            for name in read:
                if _is_same(path, name):
                    raise ValueError(
                        f"{option} {path}: this is the input {name}, which would be "
                        "lost; write to another file"
                    )
            for name, other in before:
                if name != option and _is_same(path, other):
                    raise ValueError(
                        f"{option} {path}: {name} writes to that file too; write to "
                        "another one"
                    )
            before.append((option, path))
            _check_lost(args, option, path)


def _read(args: argparse.Namespace) -> list[str]:
    """The files that a command reads, as far as its arguments name them."""
    found: list[Any] = []
    for name in (*INPUTS, "formulas"):
        given = getattr(args, name, None)
        found += given if isinstance(given, list) else [given]
    for name in LISTS:  # of vertices, which a file may hold
        given = getattr(args, name, None)
        if isinstance(given, str) and given[:1] == "@":
            found.append(given[1:])
    found = [path for path in found if path]
    return found + [x.rpartition(":")[0] for x in found if ".py:" in x]


def check_all(args: argparse.Namespace, option: str, paths: Sequence[str]) -> None:
    """Finds out that what is written for each of several files can be and may be.

    There is a path for each file, in a folder that is there. Else raises ValueError,
    or OSError as writing would.
    """
    read = {}
    for file in args.files:
        with contextlib.suppress(OSError):
            status = os.stat(file)
            read[status.st_dev, status.st_ino] = file
    of: dict[str, str] = {}
    for file, path in zip(args.files, paths, strict=True):
        other = of.setdefault(path, file)
        if other is not file:
            raise ValueError(
                f"{option} {path}: that is written for both {other} and {file}"
            )
        _check_writable(path)
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
            if (status.st_dev, status.st_ino) in read:
                raise ValueError(
                    f"{option} {path}: this is the input "
                    f"{read[status.st_dev, status.st_ino]}, which would be lost; write "
                    "to another folder"
                )
        _check_lost(args, option, path)


def _check_lost(args: argparse.Namespace, option: str, path: str) -> None:
    if _would_lose(option, path) and not args.force:
        raise ValueError(
            f"{option} {path}: the file exists already; --force replaces it"
        )


def _with_it(path: str, is_prism: bool) -> list[str]:
    """What is read and written with a file of several parts."""
    stem, suffix = os.path.splitext(path)
    written = [stem + more for more in _BESIDE.get(suffix.lower(), ())]
    return written + (io.prism.companions(path) if is_prism else [])


def _is_prism(path: str) -> bool:
    """Whether a file is a model of several parts by its name."""
    return suffix_of(path) == ".tra"


def _may_be_prism(path: str) -> bool:
    """Whether a file that is read may be such a model, by its content or `--format`."""
    if suffix_of(path) in io.FORMATS:
        return _is_prism(path)
    stem = glob.escape(os.path.splitext(path)[0])
    return any(glob.glob(f"{stem}*{end}*") for end in _BESIDE[".tra"])


def _is_same(one: str, other: str) -> bool:
    """Whether two paths lead to the same file, or would if it were there."""
    try:
        return os.path.samefile(one, other) and os.path.isfile(one)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _would_lose(option: str, path: str) -> bool:
    """Whether there is something that cannot be made again by the same command."""
    if option in DRAWINGS or not os.path.isfile(path) or path.startswith("/dev/"):
        return False
    return os.path.getsize(path) > 0 and not _is_solution(path)


def _is_solution(path: str) -> bool:
    """Whether a file is a solution of a parity game, which a solve makes again."""
    suffix = os.path.splitext(path)[1].lower()
    opener = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(suffix, open)
    try:
        with opener(path, "rb") as file:
            return file.read(9) == b"paritysol"
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return False


def _check_writable(path: str) -> None:
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
