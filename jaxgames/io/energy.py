"""Energy and mean-payoff games as the text of the authors of fast value iteration.

A header with the number of vertices, then a line for each vertex: its identifier, its
owner (0 for player 0, who keeps the energy, 1 for player 1), and its edges, each a
successor and a weight:

    energy 3
    0 0 1 -5,2 7
    1 1 0 2
    2 0 2 0

Lines may come in any order, but all identifiers must be there.

References:
    Cadilhac, Casares and Ohlmann, Fast value iteration: a uniform approach to efficient
    algorithms for energy games, arXiv:2110.07346; their program `solve-energy`.
"""

import re
from typing import Literal

from jaxgames.arena import Arena, Condition
from jaxgames.io import _weighted, _weighted_write
from jaxgames.io._files import FilePath
from jaxgames.io._weighted_rows import Form

_FORM = Form(
    header=re.compile(rb"\s*energy[ \t]+(\d+)[ \t\r]*(?:\n|\Z)"),
    expected="'energy N', with the number of vertices",
    largest=False,
    owners=(b"0", b"1"),
    between=" ",
    end="\n",
)


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    r"""Reads an energy game.

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
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.energy")
        >>> _ = path.write_text("energy 2\n0 0 0 -1,1 3\n1 1 0 -2\n")
        >>> load(path).weight
        array([-1,  3, -2], dtype=int32)
    """
    check_condition(condition)
    return _weighted.load(path, _FORM, dead_ends)


def save(path: FilePath, arena: Arena, *, condition: Condition = "max even") -> None:
    """Writes an energy game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        arena: the game.
        condition: `"max even"`: these games have no priorities.

    Raises:
        ValueError: the arena has not one weight on each edge, or other labels, or
            another condition was asked for.
        OSError: the file cannot be written.
    """
    check_condition(condition)
    _weighted_write.save(path, arena, _FORM, "energy ")


def check_condition(condition: Condition) -> None:
    """Refuses to give a meaning to priorities where there are none."""
    if condition != "max even":
        raise ValueError(
            f"conditions are for priorities, and energy games have none: {condition!r}"
        )
