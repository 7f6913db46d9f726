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

import re
from typing import Literal

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena, Condition
from jaxgames.io import _weighted
from jaxgames.io._files import FilePath, writing
from jaxgames.io._weighted_rows import Form
from jaxgames.tuning.io import STRETCH_ROWS as _STRETCH_ROWS

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
    size = arena.shape[0]
    weight = arena.weight
    if not size or arena.priority is None or weight is None or weight.ndim != 1:
        raise ValueError(
            "an energy parity game has vertices with priorities, and one weight on "
            f"each edge; this is {arena!r}"
        )
    for label in ("edge_priority", "accepting"):
        if getattr(arena, label) is not None:
            raise ValueError(f"this format cannot hold {label}; .npz can")
    # Restated under another condition, and back, nothing that matters changes.
    priority = Arena.from_csr(
        arena.row_ptr,
        arena.dst,
        owner=arena.owner,
        priority=arena.priority,
        condition=condition,
        dead_ends="allow",
    ).priority
    columns = priority, arena.owner.astype(int), arena.row_ptr
    priorities, owners, rows = (np.asarray(x).tolist() for x in columns)
    with writing(path) as file:
        file.write(f"energyparity {size}\n".encode())
        for start in range(0, size, _STRETCH_ROWS):
            limits.tick("writing", start, "vertices")
            stop = min(start + _STRETCH_ROWS, size)
            here = slice(rows[start], rows[stop])
            edges = [
                f"{target} {gain}"
                for target, gain in zip(
                    arena.dst[here].tolist(), weight[here].tolist(), strict=True
                )
            ]
            text = []
            for v in range(start, stop):
                own = edges[rows[v] - rows[start] : rows[v + 1] - rows[start]]
                fields = [f"{v} {priorities[v]} {owners[v]}", ",".join(own)]
                text.append(" ".join(filter(None, fields)))
            file.write(("\n".join(text) + "\n").encode())
