"""Games in files: `load` and `save` choose the format by the file's suffix.

`.pg`, `.gm` and `.pgsolver` are PGSolver's text ([`pgsolver`][jaxgames.io.pgsolver]),
`.npz` is a NumPy archive ([`npz`][jaxgames.io.npz]). Text may be compressed, which a
second suffix tells: `.gz` or `.bz2`.
"""

import os
from types import ModuleType
from typing import Literal

from jaxgames.arena import Arena, Condition
from jaxgames.io import npz as npz
from jaxgames.io import pgsolver as pgsolver
from jaxgames.io._files import COMPRESSIONS, FilePath
from jaxgames.io._files import FormatError as FormatError
from jaxgames.io.pgsolver import load_solution as load_solution
from jaxgames.io.pgsolver import save_solution as save_solution

TEXT_FORMATS: dict[str, ModuleType] = {
    ".pg": pgsolver,
    ".gm": pgsolver,
    ".pgsolver": pgsolver,
}
"""By suffix, the module with `load` and `save`; the files may be compressed."""

BINARY_FORMATS: dict[str, ModuleType] = {".npz": npz}
"""By suffix, the module with `load` and `save`; the files are never compressed."""


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    """Reads an arena from a file.

    Args:
        path: the file; its suffix tells the format.
        condition: what the priorities in a text mean, for a text that does not say;
            the arena's are max even. See
            [`Arena.from_edges`][jaxgames.Arena.from_edges].
        dead_ends: what to do with a vertex that has no successor, likewise.

    Raises:
        FormatError: the suffix is unknown, or the file is not what it says; tells the
            file, the line, what was expected and what was found.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import Arena, io
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.pg.gz")
        >>> arena = Arena.from_edges([0, 1], [1, 1], owner=[0, 1], priority=[3, 2])
        >>> io.save(path, arena)
        >>> io.load(path)
        Arena(2 vertices, 2 edges, priority)
    """
    return _format(path).load(path, condition=condition, dead_ends=dead_ends)


def save(path: FilePath, arena: Arena, *, condition: Condition = "max even") -> None:
    """Writes an arena to a file, all of it or nothing; padding is left out.

    Args:
        path: the file; its suffix tells the format.
        arena: what to write.
        condition: what the priorities in a text shall mean.

    Raises:
        FormatError: the suffix is unknown.
        ValueError: the format cannot hold this arena.
        OSError: the file cannot be written.
    """
    _format(path).save(path, arena, condition=condition)


def _format(path: FilePath) -> ModuleType:
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    formats = TEXT_FORMATS | BINARY_FORMATS
    if suffix in COMPRESSIONS:
        suffix = os.path.splitext(stem)[1]
        formats = TEXT_FORMATS
    if suffix not in formats:
        text, binary, compressed = (
            ", ".join(suffixes)
            for suffixes in (TEXT_FORMATS, BINARY_FORMATS, COMPRESSIONS)
        )
        raise FormatError(
            path,
            None,
            f"unknown suffix; known are {text} (and these followed by {compressed}) "
            f"and {binary}",
        )
    return formats[suffix]
