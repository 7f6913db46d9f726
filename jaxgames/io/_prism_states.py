"""What PRISM and Storm tell of states, in files beside that with the transitions."""

import os
import re
from collections.abc import Iterator

import numpy as np

from jaxgames.io import _limits, _lines, _models
from jaxgames.io._files import COMPRESSIONS, FilePath, FormatError, reading, writing
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

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
    """The labels of the states and the initial states, None where none are told."""
    file_beside = beside(path, ".lab")
    if file_beside is None:
        return None, None
    sets = _read_labels(file_beside, size)
    # The transitions' file is the one with something for each state.
    _limits.check(path, None, f"{len(sets)} labels of {size} states", len(sets) * size)
    found = {name: np.array(members, np.int64) for name, members in sets.items()}
    initial = np.unique(found.pop("init")) if "init" in found else None
    labels = {name: np.zeros(size, bool) for name in found}
    for name, members in found.items():
        labels[name][members] = True
    return labels, initial


def _read_labels(path: FilePath, size: int) -> dict[str, list[int]]:
    lines = _text_lines(path)
    number, head = next(lines, (None, ""))
    if number is None:
        raise FormatError(path, None, "the file is empty")
    if head == _MARKS[0]:
        names = _declared(path, number, lines)
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
            raise FormatError(path, number, "one number stands for two labels")
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
    return sets


def _declared(path: FilePath, first: int, lines: Iterator[tuple[int, str]]):
    """The labels of Storm's list, which stand for themselves."""
    names: dict[str, str] = {}
    for _, line in lines:
        if line == _MARKS[1]:
            return names
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
                path, number, f"expected {len(names)} values, found {quoted(row)}"
            )
        rows.append((number, row))
    return names, rows


def values(path: FilePath) -> dict[str, np.ndarray]:
    """The values of each variable: int64, bool or float64 `[S]`."""
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
                path, rows[at][0], f"variable {quoted(name)} is no longer of one type"
            )
        kind = bool if bool in kinds else np.float64 if float in kinds else np.int64
        found[name] = np.array(column, kind)
    return found


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
