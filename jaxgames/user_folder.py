"""The folder that programs are kept in, and run from: nobody else can write there."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

WRITABLE = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode that let others write."""


class UnsafeError(OSError):
    """A folder that others can write to; the message says which, and what to do."""


def default_folder() -> Path:
    """The folder of this user, made if it is not there, and safe to run programs from.

    Raises:
        OSError: it cannot be made or is not safe, saying why.
    """
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):  # the standard says to ignore such
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise UnsafeError("the home folder is not known")
    path = Path(base) / "jaxgames"
    os.makedirs(base, mode=0o700, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    check(path)
    if hasattr(os, "geteuid"):
        path.chmod(0o700)  # what is in it may have wider modes
    return path


def check(path: Path) -> None:
    """Checks that a folder is the user's own, and that others can put nothing there.

    Neither into it, nor in its place: all folders on the way are looked at, and those
    that links on the way lead to.

    Raises:
        UnsafeError: they can.
    """
    if not hasattr(os, "geteuid"):
        return  # where there are no such modes
    user = os.geteuid()
    for place in {*_way(path), *_way(path.resolve())}:
        found = place.lstat()
        last = place in (path, path.resolve())
        if found.st_uid != user and (last or found.st_uid != 0):
            raise UnsafeError(f"{place} belongs to user {found.st_uid}, not to {user}")
        if stat.S_ISLNK(found.st_mode):
            continue
        if not stat.S_ISDIR(found.st_mode):
            raise UnsafeError(f"{place} is not a folder")
        # In a folder with the sticky bit nobody can move what belongs to another.
        free = found.st_mode & WRITABLE
        if free and (last or not found.st_mode & stat.S_ISVTX):
            raise UnsafeError(
                f"others can write to {place}: chmod go-w takes that away"
            )


def _way(path: Path) -> Iterator[Path]:
    """A path and all folders above it."""
    yield path
    yield from path.parents
