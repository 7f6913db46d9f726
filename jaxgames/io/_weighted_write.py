"""Writes the formats that `_weighted` reads."""

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.io import _decimal, _names
from jaxgames.io._files import FilePath, writing
from jaxgames.io._weighted_rows import Form
from jaxgames.tuning.io import STRETCH_ROWS as _STRETCH_ROWS


def save(
    path: FilePath,
    arena: Arena,
    form: Form,
    header: str,
    names: _names.Names | None = None,
) -> None:
    """Writes a game; padding is left out. Names are for rows that end with a semicolon.

    Raises:
        ValueError: the arena has no vertices, or not one weight on each edge, or other
            labels.
    """
    arena = arena.unpad()
    size = len(arena.owner)
    if not size or arena.weight is None or arena.weight.ndim != 1:
        raise ValueError(
            "such a game has vertices, and one weight on each edge; this one has "
            + (
                "no vertices"
                if not size
                else "none"
                if arena.weight is None
                else "more"
            )
        )
    for label in ("priority", "edge_priority", "accepting"):
        if label not in form.fields and getattr(arena, label) is not None:
            raise ValueError(f"this format cannot hold {label}; .npz can")
    weight = np.asarray(arena.weight, np.int64)
    ends = "\n" if form.end == "\n" else f"{form.end}\n"
    first = f"{header}{size - form.largest}{ends}"
    names = _names.check(names, size)
    with writing(path) as file:
        file.write(first.encode())
        for start in range(0, size, _STRETCH_ROWS):
            limits.tick("writing", start, "vertices")
            rows = np.arange(start, min(start + _STRETCH_ROWS, size))
            text = _text(arena, weight, rows, form, ends)
            file.write(_names.added(text, names and names[start : start + len(rows)]))


def _text(arena: Arena, weight, rows: np.ndarray, form: Form, ends: str) -> bytes:
    """The text of some rows."""
    edges = slice(arena.row_ptr[rows[0]], arena.row_ptr[rows[-1] + 1])
    degree = np.diff(arena.row_ptr[rows[0] : rows[-1] + 2])
    dst, weight = arena.dst[edges], weight[edges]
    last = np.cumsum(degree) - 1
    # The owner, and the sign of a weight, are part of what follows the number before.
    lead = len(form.fields) - 1
    numbers = np.empty(lead * len(rows) + 2 * len(dst), np.uint64)
    after = np.empty(len(numbers), np.uint32)
    vertex = lead * np.arange(len(rows)) + 2 * (last + 1 - degree)
    before = vertex + lead - 1  # the owner
    is_edge = np.ones(len(numbers), bool)
    is_edge[vertex] = is_edge[before] = False
    target = np.flatnonzero(is_edge)[::2]
    numbers[vertex], numbers[target], numbers[target + 1] = rows, dst, np.abs(weight)
    if "priority" in form.fields:
        numbers[before], after[vertex] = arena.priority[rows], _decimal.separator(" ")
    for player, sign in enumerate("\1\2"):
        own = arena.owner[rows] == player
        after[before[own]] = _decimal.separator(f" {sign} ")
        after[before[own & (degree == 0)]] = _decimal.separator(f" {sign}{ends}")
    plus, minus = (_decimal.separator(form.between + s) for s in ("", "-"))
    after[target] = np.where(weight < 0, minus, plus)
    after[target + 1] = _decimal.separator(",")
    after[target[last[degree > 0]] + 1] = _decimal.separator(ends)
    text = _decimal.write(numbers, after)
    found = text.tobytes()
    for player, sign in enumerate((b"\1", b"\2")):
        found = found.replace(sign, form.owners[player])
    return found
