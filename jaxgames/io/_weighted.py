"""Text with a row for each vertex: its owner, and pairs of a successor and a weight.

Three formats are of this kind; what differs between them are marks, and that one has
priorities too. Whatever is wrong is found by whole arrays, as the numbers are, and told
with its line.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import MAX_PRIORITY, Arena, Condition
from jaxgames.io import _decimal, _pieces, _weighted_loop
from jaxgames.io._files import FilePath, FormatError, reading
from jaxgames.io._weighted_rows import NONE, SEVERAL, Form, Rows, cut, opened


class Table(NamedTuple):
    """All rows of a file, in its order.

    Attributes:
        vertex: int32 `[R]`.
        priority: int64 `[R]`; `[0]` where the format has none.
        owner: bool `[R]`.
        degree: integers `[R]`.
        target: int32, successors of all rows.
        weight: int64, of all edges.
        line: integers `[R]`, where each row starts.
    """

    vertex: np.ndarray
    priority: np.ndarray
    owner: np.ndarray
    degree: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    line: np.ndarray


def load(
    path: FilePath, form: Form, dead_ends, condition: Condition = "max even"
) -> Arena:
    """Reads a game.

    Args:
        path: the file.
        form: what its marks are.
        dead_ends: what to do with a vertex that has no successor.
        condition: what priorities mean.

    Raises:
        FormatError: the file does not hold a game.
        OSError: it cannot be read.
    """
    size = _pieces.length(path)
    by_code = "priority" not in form.fields and _weighted_loop.pays(size)
    if by_code:
        _pieces.keep_freed_memory()
    with reading(path) as file:
        count, stretches = opened(path, file, form)

        def read(stretch: tuple[int, bytes]) -> Table:
            before, text = stretch
            found = _by_code(text, before, form, count) if by_code else None
            return found or _table(cut(path, text, before, form), form, count)

        if by_code:
            read((0, b""))  # compiled by one thread
        parts = list(_pieces.in_order(read, stretches, size))
    if not any(len(part.vertex) for part in parts):
        raise FormatError(path, None, "there are no vertices after the header")
    table = Table(*map(_pieces.joined, zip(*parts, strict=True)))
    return _arena(path, table, count, dead_ends, condition)


def _by_code(text: bytes, before: int, form: Form, count: int) -> Table | None:
    """The table of some rows; None where one may be malformed."""
    marks = ord(form.between), ord(form.end)
    found = _weighted_loop.parse(text, marks, form.owners, count)
    if found is None:
        return None
    vertex, owner, degree, lines, target, weight = found
    line = lines.astype(np.int64) + (before + 1)
    return Table(vertex, line[:0], owner, degree, target, weight, line)


def _arena(path: FilePath, table: Table, count: int, dead_ends, condition) -> Arena:
    """The arena with the rows in order, where each vertex has one."""
    vertex, priority, owner, degree, target, weight, line = table
    ascend = bool(np.all(vertex[1:] > vertex[:-1]))
    order = np.arange(len(vertex)) if ascend else np.argsort(vertex, kind="stable")
    repeated = np.flatnonzero(vertex[order][1:] == vertex[order][:-1])
    if len(repeated):
        row = order[repeated[0] + 1]
        raise FormatError(path, int(line[row]), f"vertex {vertex[row]} occurs twice")
    if len(vertex) < count:
        missing = np.flatnonzero(vertex[order] != np.arange(len(vertex)))
        missing = int(missing[0]) if len(missing) else len(vertex)
        raise FormatError(
            path,
            None,
            f"vertex {missing} is missing: the header announces {count} vertices, from "
            f"0 to {count - 1}, but there are {len(vertex)}; was the file cut off?",
        )
    if dead_ends == "error" and not degree.all():
        row = int(np.argmin(degree))
        raise FormatError(
            path,
            int(line[row]),
            f"vertex {vertex[row]} has no successor; pass dead_ends='lose' if its "
            "owner loses there",
        )
    if not ascend:
        edges = np.argsort(np.repeat(vertex, degree), kind="stable")
        owner, degree = owner[order], degree[order]
        priority = priority[order] if len(priority) else priority
        target, weight = target[edges], weight[edges]
    try:
        return Arena.from_csr(
            np.concatenate([[0], np.cumsum(degree)]),
            target,
            owner=owner,
            priority=priority if len(priority) else None,
            weight=weight,
            condition=condition,
            dead_ends=dead_ends,
        )
    except ValueError as error:
        raise FormatError(path, None, str(error)) from None


def _table(rows: Rows, form: Form, count: int) -> Table:
    """Checks the marks of some rows and reads their numbers."""
    first, length = rows.first[:-1], np.diff(rows.first)
    place = np.arange(len(rows.start)) - np.repeat(first, length)
    lead = len(form.fields)
    field = np.where(place < lead, place, lead + (place - lead) % 2)
    _check_marks(rows, form, field)
    owners, targets, weights = (np.flatnonzero(field == lead + i) for i in (-1, 0, 1))
    vertex = _numbers(rows, first, 0, count - 1, "an identifier")
    priority = np.zeros(0, np.int64)
    if "priority" in form.fields:
        priority = _numbers(rows, first + 1, 0, MAX_PRIORITY, "a priority")
    target = _numbers(rows, targets, 0, count - 1, "a successor")
    weight = _numbers(rows, weights, -(2**63), 2**63 - 1, "a weight")
    zero, one = (_are(rows, owners, word) for word in form.owners)
    if not (zero | one).all():
        word = owners[np.argmin(zero | one)]
        names = " or ".join(owner.decode() for owner in form.owners)
        rows.fail(
            word,
            f"expected the owner of vertex {vertex[rows.row_of(word)]} ({names}), "
            f"found {rows.text(word)}",
        )
    ended = np.cumsum(rows.byte == ord("\n"), dtype=np.int32)
    return Table(
        vertex.astype(np.int32),
        priority,
        one,
        ((length - lead) // 2).astype(np.int32),
        target.astype(np.int32),
        weight,
        rows.before + 1 + ended[rows.start[first]].astype(np.int64),
    )


def _check_marks(rows: Rows, form: Form, field: np.ndarray) -> None:
    """Raises a FormatError unless each word has the mark behind it that it needs."""
    mark, end = rows.mark, ord(form.end)
    between = NONE if form.between == " " else ord(form.between)
    names = (*form.fields, "successor", "weight")
    wanted = np.array([NONE] * len(form.fields) + [between, ord(",")], np.uint8)[field]
    # A row may end behind a weight, or behind the owner of a vertex without edges.
    ends = np.array([name in ("owner", "weight") for name in names])[field]
    right = (mark == wanted) | ((mark == end) & ends)
    if right.all():
        return
    word = int(np.argmin(right))
    what = names[field[word]]
    row = rows.row_of(word)
    of = (
        "" if what == "identifier" else f" of vertex {rows.text(rows.first[row])[1:-1]}"
    )
    last = "the line end" if form.end == "\n" else repr(form.end)
    after = {
        "identifier": f"its {names[1]}",
        "priority": "its owner",
        "owner": "a successor",
        "successor": f"{'' if between == NONE else repr(form.between) + ' and '}"
        "a weight",
        "weight": f"',' or {last}",
    }[what]
    found = mark[word]
    if found == SEVERAL:
        shown = "several marks"
    elif found == end:
        shown = last
    elif found == NONE:
        shown = rows.text(word + 1) if word + 1 < len(mark) else "the end of the file"
    else:
        shown = repr(chr(found))
    article = "an" if what in ("identifier", "owner") else "a"
    place = f"{article} {what}{of}, {rows.text(word)}"
    rows.fail(word, f"expected {after} after {place}, found {shown}")


def _are(rows: Rows, words: np.ndarray, text: bytes) -> np.ndarray:
    """Which words are a text: booleans."""
    same = rows.end[words] - rows.start[words] == len(text)
    for place, character in enumerate(text):
        at = np.minimum(rows.start[words] + place, len(rows.byte) - 1)
        same &= rows.byte[at] == character
    return same


def _numbers(rows: Rows, words: np.ndarray, low: int, high: int, what: str):
    """Reads words as integers in a range: int64."""
    byte, start, end = rows.byte, rows.start[words], rows.end[words]
    minus = byte[start] == ord("-")
    start = start + minus
    others = np.cumsum(byte - ord("0") >= 10, dtype=np.int32)
    good = (end > start) & (others[end - 1] == others[start - 1] + (start == end))
    short = good & (end - start <= _decimal.MARGIN)
    values = _decimal.read(byte, start, np.where(short, end, start)).astype(np.int64)
    values[minus] *= -1
    # Numbers with more digits than that are few.
    for k in np.flatnonzero(good & ~short):
        text = byte[start[k] : end[k]].tobytes().lstrip(b"0") or b"0"
        number = int(text[:30]) * (-1 if minus[k] else 1)
        good[k] = low <= number <= high
        values[k] = number if good[k] else 0
    good &= (values >= low) & (values <= high)
    if not good.all():
        word = words[np.argmin(good)]
        row = rows.row_of(word)
        of = (
            ""
            if rows.first[row] == word
            else f" of vertex {rows.text(rows.first[row])[1:-1]}"
        )
        limits = "64 bits" if high == 2**63 - 1 else f"a number from {low} to {high}"
        if what == "a weight":
            limits = f"an integer of {limits}"
        rows.fail(word, f"expected {what}{of} ({limits}), found {rows.text(word)}")
    return values
