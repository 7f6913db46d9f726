"""Energy parity games as text: energy games with a priority on each vertex.

As in `.energy` files there is a header with the number of vertices, and a line for each
vertex; here with a priority between its identifier and its owner (0 for player 0, who
keeps the energy, 1 for player 1), and then its edges, each a successor and a weight:

    energyparity 3
    0 1 0 0 1,1 -5
    1 2 0 0 0
    2 3 1 2 1

Lines may come in any order, but all identifiers must be there.
"""

import dataclasses
import re
from typing import Literal

from jaxgames.arena import Arena, Condition
from jaxgames.io import _weighted, _weighted_write
from jaxgames.io._files import FilePath
from jaxgames.io._weighted_rows import Form
from jaxgames.io.pgsolver import restated

_FORM = Form(
    header=re.compile(rb"\s*energyparity[ \t]+(\d+)[ \t\r]*(?:\n|\Z)"),
    expected="'energyparity N', with the number of vertices",
    largest=False,
    owners=(b"0", b"1"),
    between=" ",
    end="\n",
    fields=("identifier", "priority", "owner"),
)


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    r"""Reads an energy parity game.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.
        condition: what the priorities in the file mean, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].
        dead_ends: what to do with a vertex that has no successor, likewise.

    Raises:
        FormatError: the file does not hold a game; tells the line and the field.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.eparity")
        >>> _ = path.write_text("energyparity 2\n0 1 0 0 1,1 -5\n1 2 0 0 0\n")
        >>> load(path)
        Arena(2 vertices, 3 edges, priority, weight)
    """
    return _weighted.load(path, _FORM, dead_ends, condition)


def save(path: FilePath, arena: Arena, *, condition: Condition = "max even") -> None:
    """Writes an energy parity game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        arena: the game.
        condition: what the priorities in the file shall mean, as in
            [`pgsolver.save`][jaxgames.io.pgsolver.save].

    Raises:
        ValueError: the arena has no vertices, not a priority on each and one weight on
            each edge, or other labels.
        OSError: the file cannot be written.
    """
    arena = arena.unpad()
    if arena.priority is None:
        raise ValueError(
            f"an energy parity game has priorities on its vertices; this is {arena!r}"
        )
    stated = dataclasses.replace(arena, priority=restated(arena, condition))
    _weighted_write.save(path, stated, _FORM, "energyparity ")
