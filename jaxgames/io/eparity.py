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
from jaxgames.arena import MAX_PRIORITY, MAX_SIZE, Arena, Condition
from jaxgames.io._files import FilePath, FormatError, reading, writing
from jaxgames.quoting import clipped, quoted
from jaxgames.tuning.io import STRETCH_ROWS as _STRETCH_ROWS

PER_BYTE = 64
"""Bytes that lists of numbers take for each byte of text, about."""

_HEADER = re.compile(rb"\s*energyparity[ \t]+(\d+)\s*")

_NUMBER = re.compile(rb"-?\d+")


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
    with reading(path, PER_BYTE) as file:
        lines = enumerate(file, 1)
        count = _header(path, lines)
        rows: dict[int, tuple[int, int, list[int], list[int]]] = {}
        for number, line in lines:
            if line.strip():
                vertex, row = _Line(path, number, line, count).row()
                if vertex in rows:
                    raise FormatError(path, number, f"vertex {vertex} occurs twice")
                if dead_ends == "error" and not row[2]:
                    raise FormatError(
                        path,
                        number,
                        f"vertex {vertex} has no successor; pass dead_ends='lose' if "
                        "its owner loses there",
                    )
                rows[vertex] = row
    if len(rows) < count:
        missing = next(v for v in range(count) if v not in rows)
        raise FormatError(
            path,
            None,
            f"vertex {missing} is missing: the header announces {count} vertices, from "
            f"0 to {count - 1}, but there are {len(rows)}; was the file cut off?",
        )
    order = [rows[v] for v in range(count)]
    return Arena.from_csr(
        np.cumsum([0, *(len(row[2]) for row in order)]),
        np.array([x for row in order for x in row[2]], np.int32),
        owner=np.array([row[1] for row in order], bool),
        priority=np.array([row[0] for row in order], np.int64),
        weight=np.array([x for row in order for x in row[3]], np.int64),
        condition=condition,
        dead_ends=dead_ends,
    )


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


def _header(path: FilePath, lines) -> int:
    """How many vertices the first line that is not empty announces."""
    for number, line in lines:
        if not line.strip():
            continue
        found = _HEADER.fullmatch(line)
        count = int(found[1].lstrip(b"0")[:18] or b"0") if found else 0
        if not 1 <= count <= MAX_SIZE:
            shown = quoted(line[:400].strip())
            raise FormatError(
                path,
                number,
                "expected 'energyparity N', with the number of vertices, from 1 to "
                f"{MAX_SIZE}, found {shown}",
            )
        return count
    raise FormatError(path, None, "expected 'energyparity N', found an empty file")


class _Line:
    """Reads the line of a vertex."""

    def __init__(self, path: FilePath, number: int, text: bytes, count: int):
        self.path, self.number, self.text, self.count = path, number, text, count

    def row(self) -> tuple[int, tuple[int, int, list[int], list[int]]]:
        """The vertex; its priority, its owner, its successors and weights."""
        words = self.text.split(maxsplit=3)
        names = "an identifier", "a priority", "an owner"
        if len(words) < 3:
            raise self.fail(f"expected {names[len(words)]}, found the line end")
        vertex = self.integer(words[0], names[0], 0, self.count - 1)
        priority = self.integer(words[1], names[1], 0, MAX_PRIORITY)
        owner = self.integer(words[2], f"the owner of vertex {vertex}", 0, 1)
        targets: list[int] = []
        weights: list[int] = []
        of = f" of vertex {vertex}"
        for edge in words[3].split(b",") if len(words) > 3 else ():
            pair = edge.split()
            if len(pair) != 2:
                shown = quoted(edge.strip())
                raise self.fail(f"expected a successor and a weight{of}, found {shown}")
            what = f"a successor{of}"
            targets.append(self.integer(pair[0], what, 0, self.count - 1))
            what = f"a weight{of}"
            weights.append(self.integer(pair[1], what, -(2**63), 2**63 - 1))
        return vertex, (priority, owner, targets, weights)

    def integer(self, word: bytes, what: str, low: int, high: int) -> int:
        # What is longer is none of them, unless it begins with zeros.
        digits = word.lstrip(b"-").lstrip(b"0")
        if _NUMBER.fullmatch(word) and len(digits) < 20:
            found = int(digits or b"0") * (-1 if word[:1] == b"-" else 1)
            if low <= found <= high:
                return found
        limits = "64 bits" if high == 2**63 - 1 else f"a number from {low} to {high}"
        shown = clipped(quoted(word))
        raise self.fail(f"expected {what} ({limits}), found {shown}")

    def fail(self, why: str) -> FormatError:
        return FormatError(self.path, self.number, why)
