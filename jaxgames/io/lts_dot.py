"""Labelled transition systems as Graphviz text, of the plainest kind.

    digraph lts {
      initial=0;
      0; 1;
      0 -> 1 [label="send"];
      1 -> 0 [label="receive"];
    }

States are numbers. Read is what `save` writes, one statement on a line: vertices,
edges with a `label`, and the attribute `initial`; other attributes of the graph, its
vertices and its edges are left out. Subgraphs and chains of edges are refused.

References:
    The DOT language. https://graphviz.org/doc/info/lang.html
"""

import os
import re
from collections.abc import Iterator

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _limits, _lines, _lts_loop, _pieces
from jaxgames.io._files import FilePath, FormatError, reading, write_text
from jaxgames.io.aut import LTS
from jaxgames.quoting import quoted

HOLDS = LTS
"""What `load` returns and `save` takes."""

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_STATE = r'"?([0-9]{1,18})"?'
_ATTRIBUTES = rf"(?:\[((?:[^\]\"]|{_QUOTED})*)\])?"
_EDGE = re.compile(rf"{_STATE}\s*->\s*{_STATE}\s*{_ATTRIBUTES}")
_VERTEX = re.compile(rf"{_STATE}\s*{_ATTRIBUTES}")
_LABEL = re.compile(rf"(?<![\w.])label\s*=\s*({_QUOTED}|[\w.+-]+)")
_INITIAL = re.compile(r"initial\s*=\s*([0-9]{1,18})")
_SETTING = re.compile(
    rf"(?:\w+\s*=\s*(?:{_QUOTED}|[\w.+-]+)|(?:graph|node|edge)\s*\[.*)"
)
_CLOSED = re.compile(rf'(?:[^"]|{_QUOTED})*+')
"""A line of which every quote is closed."""

_HEADER = re.compile(rf"(strict\s+)?digraph\s*(\w+|{_QUOTED})?\s*\{{")
_STATEMENT = re.compile(rf"(?:[^;\"]|{_QUOTED})+")

MOST_OTHERS = 8
"""Lines of a plain file that are neither vertices nor edges."""


def load(path: FilePath) -> LTS:
    r"""Reads a labelled transition system.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The system; its labels are numbered in the order of their first appearance. An
        edge without one has the label "".

    Raises:
        FormatError: a line is something else; tells which.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.dot")
        >>> _ = path.write_text('digraph {\n0 -> 1 [label="a"];\n1 -> 0;\n}\n')
        >>> load(path).names
        ('a', '')
    """
    found = _plain(path)
    if found is not None:
        return found
    src, label, dst = [], [], []
    last, initial, opened, closed = -1, 0, False, False
    for number, text in _each_line(path):
        if not text or text.startswith(("//", "#")):
            continue
        if not opened:
            if not _HEADER.fullmatch(text):
                raise FormatError(
                    path, number, f"expected 'digraph name {{', found {quoted(text)}"
                )
            opened = True
            continue
        if closed:
            raise FormatError(path, number, f"expected no more, found {quoted(text)}")
        if text == "}":
            closed = True
            continue
        if not _CLOSED.fullmatch(text):
            raise FormatError(
                path, number, f"a quote is not closed, found {quoted(text)}"
            )
        for statement in map(str.strip, _STATEMENT.findall(text)):
            if edge := _EDGE.fullmatch(statement):
                name = _LABEL.search(edge[3] or "")
                src.append(_state(path, number, edge[1]))
                dst.append(_state(path, number, edge[2]))
                label.append(_unquote(name[1]) if name else "")
                last = max(last, src[-1], dst[-1])
            elif vertex := _VERTEX.fullmatch(statement):
                last = max(last, _state(path, number, vertex[1]))
            elif start := _INITIAL.fullmatch(statement):
                initial = _state(path, number, start[1])
            elif statement and not _SETTING.fullmatch(statement):
                raise FormatError(
                    path,
                    number,
                    f"expected 'number -> number [label=\"...\"]', found "
                    f"{quoted(statement)}",
                )
    if not closed:
        raise FormatError(
            path, None, "the graph is not closed by '}'; was the file cut off?"
        )
    if initial > last:
        raise FormatError(path, None, f"the initial state {initial} does not occur")
    _limits.check_vertices(path, last + 1)
    return LTS.from_edges(src, label, dst, num_states=last + 1, initial=initial)


def _plain(path: FilePath) -> LTS | None:
    """Reads a large file as `save` writes it by machine code; None if it is another."""
    if not os.path.isfile(path) or not _lts_loop.pays(_pieces.length(path)):
        return None  # what is no file may be read once only
    names: dict[bytes, int] = {}
    parts = [np.empty((3, 0), np.int32)]
    others: list[tuple[int, str]] = []
    last, count, initial = -1, 0, 0
    for lines in _lines.read(path):
        begin, stop = lines.start[lines.first[:-1]], lines.end[lines.first[1:] - 1]
        found = _lts_loop.dot(lines.byte, begin, stop, MAX_SIZE - 1)
        odd = np.flatnonzero(found[1] < 0)
        if len(others) + len(odd) > MOST_OTHERS:
            return None
        others += [(count + int(i), lines.text(int(i))) for i in odd]
        count += len(begin)
        last = max(last, int(found[1].max(initial=-1)), int(found[0].max(initial=-1)))
        src, dst, begin, stop = found[:, found[0] >= 0]
        parts.append(np.stack([src, lines.named(begin, stop, names), dst]))
    if len(others) < 2 or (others[0][0], others[-1]) != (0, (count - 1, "}")):
        return None
    if not _HEADER.fullmatch(others[0][1]):
        return None
    for _, text in others[1:-1]:
        setting = _INITIAL.fullmatch(text.removesuffix(";"))
        if setting is None:
            return None
        initial = int(setting[1])
    if initial > last:
        return None
    _limits.check_vertices(path, last + 1)
    src, label, dst = np.concatenate(parts, axis=1)
    named = map(bytes.decode, names)
    return LTS.from_arrays(src, label, dst, named, last + 1, initial)


def save(path: FilePath, lts: LTS) -> None:
    """Writes a labelled transition system, which Graphviz can draw.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        lts: the system.

    Raises:
        OSError: the file cannot be written.
    """
    quoted = [_quote(name) for name in lts.names]
    src, dst = np.asarray(lts.arena.src), np.asarray(lts.arena.dst)
    lines = ["digraph lts {", f"  initial={lts.initial};"]
    lines += [f"  {state};" for state in range(lts.num_states)]
    lines += [
        f"  {p} -> {q} [label={quoted[a]}];"
        for p, a, q in zip(src.tolist(), lts.label.tolist(), dst.tolist(), strict=True)
    ]
    write_text(path, "\n".join([*lines, "}", ""]))


def _each_line(path: FilePath) -> Iterator[tuple[int, str]]:
    """The lines without the blanks around them, and their numbers."""
    number = 0
    with reading(path) as file:
        for stretch in file:
            for line in stretch.decode(errors="replace").splitlines():
                number += 1
                yield number, line.strip()


def _state(path: FilePath, line: int, digits: str) -> int:
    if int(digits) >= MAX_SIZE:
        raise FormatError(
            path, line, f"expected a state below {MAX_SIZE}, found {digits}"
        )
    return int(digits)


def _quote(name: str) -> str:
    name = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{name}"'


def _unquote(word: str) -> str:
    if not word.startswith('"'):
        return word
    plain = {"n": "\n"}
    return re.sub(r"\\(.)", lambda found: plain.get(found[1], found[1]), word[1:-1])
