"""Energy and mean-payoff games as text that looks like PGSolver's.

A header with the largest identifier, then a statement for each vertex: its identifier,
its owner (MAX for player 0, who keeps the energy, MIN for player 1), its successors,
each with a weight, and perhaps a name:

    2;
    0 MAX 1:-5,2:7;
    1 MIN 0:2 "a name";
    2 MAX 2:0;

White space may stand anywhere between these, and statements come in any order, but all
identifiers must be there. The word `arena` or `parity` may stand before the header's
number, and a second number after it.

References:
    Formisano, Gentilini and Vella, Accelerating energy games solvers on modern
    architectures, IA3 2017, doi:10.1145/3149704.3149771; their program EGSolver.
"""

import re
from typing import Literal

from jaxgames.arena import Arena, Condition
from jaxgames.io import _names, _weighted, _weighted_write
from jaxgames.io._files import FilePath
from jaxgames.io._weighted_rows import Form
from jaxgames.io.energy import check_condition

_FORM = Form(
    header=re.compile(rb"\s*(?:(?:arena|parity)\s+)?(\d+)(?:\s+\d+)?\s*;"),
    expected="'N;', with the largest identifier",
    largest=True,
    owners=(b"MAX", b"MIN"),
    between=":",
    end=";",
)


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    """Reads an energy game.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.
        condition: `"max even"`: these games have no priorities.
        dead_ends: what to do with a vertex that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Raises:
        FormatError: the file does not hold a game.
        ValueError: another condition was asked for.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.mpg")
        >>> _ = path.write_text("1; 0 MAX 0:-1, 1:3; 1 MIN 0:-2;")
        >>> load(path).weight
        array([-1,  3, -2], dtype=int32)
    """
    check_condition(condition)
    return _weighted.load(path, _FORM, dead_ends)


def names(path: FilePath, arena: Arena | None = None) -> list[str | None]:
    """Reads the names of a game's vertices, None for those without.

    Args:
        path: the file.
        arena: the game in it; None to read that too, to know that the file is right.

    Raises:
        FormatError: the file does not hold a game.
        OSError: the file cannot be read.
    """
    arena = load(path, dead_ends="allow") if arena is None else arena
    return _names.read(path, int(arena.num_vertices))


def save(
    path: FilePath,
    arena: Arena,
    *,
    condition: Condition = "max even",
    names: _names.Names | None = None,
) -> None:
    """Writes an energy game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        arena: the game.
        condition: `"max even"`: these games have no priorities.
        names: a name for each vertex, or None for one without.

    Raises:
        ValueError: the arena has not one weight on each edge, or other labels; or
            another condition was asked for, or a name has a quote in it.
        OSError: the file cannot be written.
    """
    check_condition(condition)
    _weighted_write.save(path, arena, _FORM, "", names)
