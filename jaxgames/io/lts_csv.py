"""Labelled transition systems as lines `from,to,label` (CSV).

    0,1,send
    1,0,"receive, at last"
    1,1,tau

States are numbers from 0 on, and there are as many as occur. A label with commas,
quotes or line ends stands in quotes, and a quote in it is doubled (RFC 4180). Empty
lines are left out. The initial state is 0.

References:
    gpuequiv reads and writes such files. https://github.com/Gobbel2000/gpuequiv
"""

import csv
import io
import os
import re

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _limits, _lines, _lts_loop, _pieces
from jaxgames.io._files import FilePath, FormatError, reading, write_text
from jaxgames.io.aut import LTS
from jaxgames.quoting import quoted

HOLDS = LTS
"""What `load` returns and `save` takes."""

_STATE = re.compile(r"\s*0*[0-9]{1,18}\s*")


def load(path: FilePath) -> LTS:
    r"""Reads a labelled transition system.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The system; its labels are numbered in the order of their first appearance.

    Raises:
        FormatError: a line is something else; tells which.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
        >>> _ = path.write_text('0,1,a\n1,0,"b, c"\n')
        >>> load(path), load(path).names
        (LTS(2 states, 2 transitions, 2 labels), ('a', 'b, c'))
    """
    found = _plain(path)
    if found is not None:
        return found
    with reading(path) as file:
        text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
        rows = csv.reader(text, strict=True)
        ends: list[int] = []
        label: list[int] = []
        names: dict[str, int] = {}
        line = 1
        try:
            for row in rows:
                if row:
                    ends += _ends(path, line, row)
                    label.append(names.setdefault(row[2], len(names)))
                line = rows.line_num + 1
        except csv.Error as error:
            raise FormatError(path, line, f"broken CSV: {error}") from error
    src, dst = np.asarray(ends, np.int64).reshape(-1, 2).T
    if not len(src):
        raise FormatError(path, None, "the file has no transitions")
    states = int(max(src.max(), dst.max())) + 1
    _limits.check_vertices(path, states)
    return LTS.from_arrays(src, label, dst, names, states)


def _plain(path: FilePath) -> LTS | None:
    """Reads a large file without quotes by machine code; None if it is another."""
    if not os.path.isfile(path) or not _lts_loop.pays(_pieces.length(path)):
        return None  # what is no file may be read once only
    names: dict[bytes, int] = {}
    parts = [np.empty((3, 0), np.int32)]
    for lines in _lines.read(path):
        begin, stop = lines.start[lines.first[:-1]], lines.end[lines.first[1:] - 1]
        found = _lts_loop.csv(lines.byte, begin, stop, MAX_SIZE - 1)
        if found is None:
            return None
        src, dst, begin, stop = found
        parts.append(np.stack([src, lines.named(begin, stop, names), dst]))
    src, label, dst = np.concatenate(parts, axis=1)
    if not len(src):
        return None
    states = int(max(src.max(), dst.max())) + 1
    _limits.check_vertices(path, states)
    return LTS.from_arrays(src, label, dst, map(bytes.decode, names), states)


def save(path: FilePath, lts: LTS) -> None:
    """Writes a labelled transition system.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        lts: the system.

    Raises:
        ValueError: the initial state is not 0, the last state has no transitions, or
            there are none at all: the format cannot tell that.
        OSError: the file cannot be written.
    """
    arena = lts.arena
    last = max(arena.src.max(initial=-1), arena.dst.max(initial=-1))
    if lts.initial or not lts.num_transitions or last != lts.num_states - 1:
        raise ValueError(
            "CSV holds systems whose initial state is 0 and whose last state has "
            f"transitions, got initial state {lts.initial} and {lts!r}; save as .aut"
        )
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    names = [lts.names[i] for i in lts.label]
    rows.writerows(zip(arena.src.tolist(), arena.dst.tolist(), names, strict=True))
    write_text(path, text.getvalue())


def _ends(path: FilePath, line: int, row: list[str]) -> list[int]:
    """The states of a transition."""
    if len(row) != 3:
        found = quoted(",".join(row))
        raise FormatError(
            path,
            line,
            f"expected 'from,to,label', found {len(row)} fields: {found}",
        )
    for word in row[:2]:
        if not _STATE.fullmatch(word) or _state(word) >= MAX_SIZE:
            raise FormatError(
                path,
                line,
                f"expected a state (a number from 0 to {MAX_SIZE - 1}), found "
                f"{quoted(word)}",
            )
    return [_state(word) for word in row[:2]]


def _state(word: str) -> int:
    """The number in a word, of which all but the last 18 digits are zeros."""
    return int(word.strip()[-18:])
