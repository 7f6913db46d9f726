"""What PRISM and Storm tell of states, in files beside that with the transitions."""

import os
import re
from collections.abc import Iterator

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _limits, _lines, _models
from jaxgames.io._files import COMPRESSIONS, FilePath, FormatError, reading, writing
from jaxgames.mdp import MDP
from jaxgames.quoting import counted, quoted

_MARKS = ("#DECLARATION", "#END")
"""What starts like a comment and is none."""

_INTEGER = re.compile("[+-]?[0-9]{1,30}")


def beside(path: FilePath, suffix: str, number: int | str = "") -> str | None:
    """The file of that suffix that lies beside a `.tra` file, if there is one."""
    stem, compression = stem_of(path)
    for ending in (compression, "", *COMPRESSIONS):
        if os.path.isfile(f"{stem}{number}{suffix}{ending}"):
            return f"{stem}{number}{suffix}{ending}"
    return None


def stem_of(path: FilePath) -> tuple[str, str]:
    """A path without its suffixes, and the one that tells the compression."""
    stem, compression = os.path.splitext(os.fspath(path))
    if compression.lower() in COMPRESSIONS:
        return os.path.splitext(stem)[0], compression
    return stem, ""


def name_beside(path: FilePath, suffix: str, number: int | str = "") -> str:
    """How the file of that suffix is called that is written beside a `.tra` file."""
    stem, compression = stem_of(path)
    return f"{stem}{number}{suffix}{compression}"


def _text_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """The lines that are neither empty nor comments, and their numbers."""
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            text = line.decode(errors="replace").strip()
            if text and (text[0] != "#" or text in _MARKS):
                yield number, text


# ---- labels ------------------------------------------------------------------------


def load_labels(path: FilePath, size: int):
    """The labels of the states and the initial states; None if the file has none."""
    file_beside = beside(path, ".lab")
    if file_beside is None:
        return None, None
    sets = _read_labels(file_beside, size)
    # The transitions' file is the one with something for each state.
    _limits.check(path, None, f"{len(sets)} labels of {size} states", len(sets) * size)
    initial = np.unique(sets.pop("init")) if "init" in sets else None
    labels = {name: np.zeros(size, bool) for name in sets}
    for name, members in sets.items():
        labels[name][members] = True
    return labels, initial


def _read_labels(path: FilePath, size: int) -> dict[str, np.ndarray]:
    """The states that each label is at: int64."""
    lines = _text_lines(path)
    number, head = next(lines, (None, ""))
    if number is None:
        raise FormatError(path, None, "the file is empty")
    if head == _MARKS[0]:
        names, number = _declared(path, number, lines)
    else:
        pattern = r'(?<![0-9])([0-9]{1,9})="([^"]*)"'
        if re.sub(pattern, "", head).strip():
            raise FormatError(
                path,
                number,
                f"expected '0=\"init\" 1=...' or '#DECLARATION', found {quoted(head)}",
            )
        pairs = re.findall(pattern, head)
        names = dict(pairs)
        if len(names) < len(pairs):
            raise FormatError(path, number, "two labels have the same number")
    found = _sets_by_arrays(path, number, names, size)
    if found is not None:
        return found
    sets: dict[str, list[int]] = {name: [] for name in names.values()}
    for number, line in lines:
        state, *marks = line.replace(":", " ", 1).split() or [line]
        if not re.fullmatch("[0-9]{1,18}", state) or int(state) >= size:
            expected = f"expected a state (a number from 0 to {size - 1})"
            raise FormatError(path, number, f"{expected}, found {quoted(state)}")
        for mark in marks:
            if mark not in names:
                raise FormatError(path, number, f"label {quoted(mark)} is not declared")
            sets[names[mark]].append(int(state))
    return {name: np.array(states, np.int64) for name, states in sets.items()}


def _sets_by_arrays(
    path: FilePath, head: int, names: dict[str, str], size: int
) -> dict[str, np.ndarray] | None:
    """The states with each label; None if a line after the head is unusual."""
    marks = {mark.encode(): number for number, mark in enumerate(names)}
    sets: list[list[np.ndarray]] = [[np.empty(0, np.int64)] for _ in names]
    if any(":" in mark for mark in names):
        return None
    try:
        for lines in _plain_lines(path, head):
            first, end = lines.first[:-1], lines.end.copy()
            end[first] -= lines.byte[end[first] - 1] == ord(":")
            state = lines._replace(end=end).integers(first, "a state", 0, size - 1)
            words = np.delete(np.arange(len(end)), first)
            codes = lines.codes(words, words, lambda _, text: marks[text])
            states = np.repeat(state, lines.count - 1)
            for code in np.unique(codes).tolist():
                sets[code].append(states[codes == code])
    except (FormatError, KeyError):
        return None
    found: dict[str, np.ndarray] = {}
    for name, parts in zip(names.values(), sets, strict=True):
        found[name] = np.concatenate(
            [*parts, *([found[name]] if name in found else [])]
        )
    return found


def _plain_lines(path: FilePath, head: int) -> Iterator[_lines.Lines]:
    """The lines after the head that are no comments; else raises FormatError."""
    for lines in _lines.read(path):
        lines = lines.keep(lines.number > head)
        first = lines.first[:-1]
        odd = np.any(lines.byte >= 128) or any(
            lines.start_with(first, mark).any() for mark in _MARKS
        )
        if odd:
            raise FormatError(path, None, "a line is not plain")
        lines = lines.keep(lines.initials != ord("#"))
        if len(lines.number):
            yield lines


def _declared(path: FilePath, first: int, lines: Iterator[tuple[int, str]]):
    """The labels of Storm's list, which stand for themselves, and its last line."""
    names: dict[str, str] = {}
    for number, line in lines:
        if line == _MARKS[1]:
            return names, number
        names |= {name: name for name in line.split()}
    raise FormatError(path, first, "expected '#END' after '#DECLARATION'")


def save_labels(path: FilePath, model: MDP, style: str) -> None:
    """Writes the labels, also where there are none: others may lie there."""
    sets = _models.with_initial(path, model)
    if style == "storm":
        marks = list(sets)
        head, colon = f"#DECLARATION\n{' '.join(sets)}\n#END\n", ""
    else:
        marks = [str(k) for k in range(len(sets))]
        head = " ".join(f'{k}="{name}"' for k, name in enumerate(sets)) + "\n"
        head, colon = f"# Labels\n{head}", ":"
    labelled = np.flatnonzero(np.any(list(sets.values()), axis=0))
    members = [
        np.where(x[labelled], f" {mark}", "").tolist()
        for x, mark in zip(sets.values(), marks, strict=True)
    ]
    with writing(name_beside(path, ".lab")) as file:
        file.write(head.encode())
        for state, *texts in zip(labelled.tolist(), *members, strict=True):
            file.write(f"{state}{colon}{''.join(texts)}\n".encode())


# ---- values of variables -----------------------------------------------------------


def state_lines(path: FilePath) -> tuple[list[str], list[tuple[int, str]]]:
    """The names of the variables, and for each state its line and its values."""
    lines = [(number, re.sub(r"\s", "", text)) for number, text in _text_lines(path)]
    if not lines or not re.fullmatch(r"\(.*\)", lines[0][1]):
        found = quoted(lines[0][1]) if lines else "the end of the file"
        number = lines[0][0] if lines else 1
        raise FormatError(path, number, f"expected '(variable,...)', found {found}")
    names = lines[0][1][1:-1].split(",")
    if len(set(names)) < len(names):
        raise FormatError(path, lines[0][0], "two variables have one name")
    rows = []
    for state, (number, line) in enumerate(lines[1:]):
        head = f"{state}:("
        if not line.startswith(head) or not line.endswith(")"):
            expected = f"expected '{state}:(value,...)'"
            raise FormatError(path, number, f"{expected}, found {quoted(line)}")
        row = line[len(head) : -1]
        if row.count(",") != len(names) - 1:
            raise FormatError(
                path,
                number,
                f"expected {counted(len(names), 'value')}, found {quoted(row)}",
            )
        rows.append((number, row))
    return names, rows


def values(path: FilePath) -> dict[str, np.ndarray]:
    """The values of each variable: int64, bool or float64 `[S]`."""
    plain = _values_by_arrays(path)
    if plain is not None:
        return plain
    names, rows = state_lines(path)
    reals = _lines.Reals()
    table = []
    for number, row in rows:
        try:
            table.append([_value(word, reals) for word in row.split(",")])
        except _lines.NotANumberError:
            raise FormatError(
                path, number, f"expected numbers, true or false, found {quoted(row)}"
            ) from None
    found = {}
    for k, name in enumerate(names):
        column = [row[k] for row in table]
        kinds = {type(value) for value in column}
        if bool in kinds and len(kinds) > 1:
            at = [type(x) is bool for x in column].index(type(column[0]) is not bool)
            raise FormatError(
                path,
                rows[at][0],
                f"variable {quoted(name)} has values of different types",
            )
        kind = bool if bool in kinds else np.float64 if float in kinds else np.int64
        found[name] = np.array(column, kind)
    return found


def _values_by_arrays(path: FilePath) -> dict[str, np.ndarray] | None:
    """The same; None if a line is unusual."""
    names: list[str] = []
    columns: list[_Column] = []
    reals, count = _lines.Reals(), 0
    try:
        for lines in _plain_lines(path, 0):
            if not names:
                head = lines.text(0)
                names = head[1:-1].split(",")
                if head != f"({','.join(names)})" or len(set(names)) < len(names):
                    return None
                columns = [_Column(reals) for _ in names]
                lines = lines.skip(1)
            if not len(lines.number):
                continue
            borders = _borders(lines, len(names))
            if borders is None:
                return None
            every = np.arange(len(borders))
            states, count = count + every, count + len(borders)
            start, end = lines.start[lines.first[:-1]], borders[:, 0].copy()
            told = lines._replace(start=start, end=end)
            # Of a number with leading zeros somebody else tells.
            width = np.searchsorted(10 ** np.arange(1, 16), states, side="right") + 1
            right = told.integers(every, "a state", 0, MAX_SIZE) == states
            if not right.all() or np.any(end - start != width):
                return None
            for k, column in enumerate(columns):
                begin, end = borders[:, k + 1] + 1, borders[:, k + 2].copy()
                words = lines._replace(start=begin, end=end)
                column.codes.append(words.codes(every, every, column.number))
    except (FormatError, _lines.NotANumberError):
        return None
    arrays = [column.array() for column in columns]
    if not count or any(array is None for array in arrays):
        return None
    return {name: x for name, x in zip(names, arrays, strict=True) if x is not None}


class _Column:
    """The values of a variable, each different text of which is read once."""

    def __init__(self, reals: _lines.Reals):
        self.codes: list[np.ndarray] = []
        self._reals = reals
        self._known: dict[bytes, int] = {}
        self._values: list[bool | int | float] = []

    def number(self, _: int, text: bytes) -> int:
        """The number of a text, which may be new."""
        if text not in self._known:
            self._values.append(_value(text.decode(), self._reals))
            self._known[text] = len(self._known)
        return self._known[text]

    def array(self) -> np.ndarray | None:
        """All values; None if some are of another type."""
        kinds = {type(value) for value in self._values}
        if not kinds or (bool in kinds and len(kinds) > 1):
            return None
        kind = bool if bool in kinds else np.float64 if float in kinds else np.int64
        return np.array(self._values, kind)[np.concatenate(self.codes)]


def _borders(lines: _lines.Lines, width: int) -> np.ndarray | None:
    """Where the marks of each line `0:(1,...)` are: int32 `[L, width + 2]`."""
    if np.any(lines.count != 1):
        return None
    byte, start, end = lines.byte, lines.start[lines.first[:-1]], lines.end
    end = end[lines.first[:-1]]
    # Both parentheses and the comma, and the colon.
    marks = np.flatnonzero(
        (byte - ord("(") < 2) | (byte == ord(",")) | (byte == ord(":"))
    )
    first = np.searchsorted(marks, start)
    if np.any(np.searchsorted(marks, end) - first != width + 2):
        return None
    borders = marks[first[:, None] + np.arange(width + 2)].astype(np.int32)
    pattern = np.frombuffer(b":(" + b"," * (width - 1) + b")", np.uint8)
    right = (byte[borders] == pattern).all() and (borders[:, -1] == end - 1).all()
    return borders if right and (np.diff(borders[:, :2]) == 1).all() else None


def _value(word: str, reals: _lines.Reals) -> bool | int | float:
    if word in ("true", "false"):
        return word == "true"
    if word.lstrip("+-").isdecimal():
        if not _INTEGER.fullmatch(word) or not -(1 << 63) <= int(word) < 1 << 63:
            raise _lines.NotANumberError(word.encode())
        return int(word)
    return reals[word.encode()]


def save_values(path: FilePath, valuations: dict[str, np.ndarray]) -> None:
    """Writes the values of variables, all of which the format can hold."""
    columns: list[_lines.Column] = []
    for values in valuations.values():
        columns.append(b"," if columns else b":(")
        if values.dtype == bool:
            columns.append(np.where(values, b"true", b"false"))
        else:
            columns.append(_lines.numbers(values))
    size = len(next(iter(valuations.values())))
    _lines.write(
        name_beside(path, ".sta"),
        f"# States\n({','.join(valuations)})\n",
        _lines.decimals(np.arange(size)),
        *columns,
        b")\n",
    )
