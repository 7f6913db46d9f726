"""What PRISM and Storm tell of states, in files beside that with the transitions."""

import os
import re
from collections.abc import Iterator
from typing import IO

import numpy as np

from jaxgames.io._files import COMPRESSIONS, FilePath, FormatError, reading, writing
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted


def beside(path: FilePath, suffix: str) -> str | None:
    """The file of that suffix that lies beside a `.tra` file, if there is one."""
    stem, compression = _stem(path)
    for ending in (compression, "", *COMPRESSIONS):
        if os.path.isfile(stem + suffix + ending):
            return stem + suffix + ending
    return None


def _stem(path: FilePath) -> tuple[str, str]:
    """A path without its suffixes, and the one that tells the compression."""
    stem, compression = os.path.splitext(os.fspath(path))
    if compression.lower() in COMPRESSIONS:
        return os.path.splitext(stem)[0], compression
    return stem, ""


def load_labels(path: FilePath, size: int):
    """The labels of the states and the initial states, None where none are told."""
    file_beside = beside(path, ".lab")
    if file_beside is None:
        return None, None
    with reading(file_beside) as file:
        sets = _read_labels(file_beside, file, size)
    found = {name: np.array(members, np.int64) for name, members in sets.items()}
    initial = np.unique(found.pop("init")) if "init" in found else None
    labels = {name: np.zeros(size, bool) for name in found}
    for name, members in found.items():
        labels[name][members] = True
    return labels, initial


def _read_labels(path: FilePath, file: IO[bytes], size: int) -> dict[str, list[int]]:
    texts = (line.decode(errors="replace").strip() for line in file)
    lines = [(number, line) for number, line in enumerate(texts, 1) if line]
    if not lines:
        raise FormatError(path, None, "the file is empty")
    number, head = lines[0]
    names: dict[str, str] = {}
    if head == "#DECLARATION":
        ends = [k for k, (_, line) in enumerate(lines) if line == "#END"]
        if not ends:
            raise FormatError(path, number, "expected '#END' after '#DECLARATION'")
        declared = " ".join(line for _, line in lines[1 : ends[0]]).split()
        names = {name: name for name in declared}
        body = lines[ends[0] + 1 :]
    else:
        pattern = r'(?<![0-9])([0-9]{1,9})="([^"]*)"'
        if re.sub(pattern, "", head).strip():
            raise FormatError(
                path,
                number,
                f"expected '0=\"init\" 1=...' or '#DECLARATION', found {quoted(head)}",
            )
        names = dict(re.findall(pattern, head))
        body = lines[1:]
    sets: dict[str, list[int]] = {name: [] for name in names.values()}
    for number, line in body:
        state, *marks = line.replace(":", " ", 1).split() or [line]
        if not re.fullmatch("[0-9]{1,18}", state) or int(state) >= size:
            expected = f"expected a state (a number from 0 to {size - 1})"
            raise FormatError(path, number, f"{expected}, found {quoted(state)}")
        for mark in marks:
            if mark not in names:
                raise FormatError(path, number, f"label {quoted(mark)} is not declared")
            sets[names[mark]].append(int(state))
    return sets


def save_labels(path: FilePath, model: MDP, style: str) -> None:
    """Writes the labels, also where there are none: others may lie there."""
    sets = {"init": np.zeros(model.num_states, bool), **(model.labels or {})}
    if model.initial is not None:
        sets["init"][model.initial] = True
    if style == "storm":
        marks = list(sets)
        head, colon = f"#DECLARATION\n{' '.join(sets)}\n#END\n", ""
    else:
        marks = [str(k) for k in range(len(sets))]
        head = " ".join(f'{k}="{name}"' for k, name in enumerate(sets)) + "\n"
        colon = ":"
    labelled = np.flatnonzero(np.any(list(sets.values()), axis=0))
    members = [
        np.where(x[labelled], f" {mark}", "").tolist()
        for x, mark in zip(sets.values(), marks, strict=True)
    ]
    with writing(".lab".join(_stem(path))) as file:
        file.write(head.encode())
        for state, *texts in zip(labelled.tolist(), *members, strict=True):
            file.write(f"{state}{colon}{''.join(texts)}\n".encode())


def state_lines(path: FilePath) -> tuple[list[str], list[tuple[int, str]]]:
    """The names of the variables, and for each state its line and its values."""
    with reading(path) as file:
        lines = list(_stripped(file))
    if not lines or not re.fullmatch(r"\(.*\)", lines[0][1]):
        found = quoted(lines[0][1]) if lines else "the end of the file"
        raise FormatError(path, 1, f"expected '(variable,...)', found {found}")
    names = lines[0][1][1:-1].split(",")
    rows = []
    for state, (number, line) in enumerate(lines[1:]):
        match = re.fullmatch(r"([0-9]{1,18}):\((.*)\)", line)
        if not match or int(match[1]) != state:
            expected = f"expected '{state}:(value,...)'"
            raise FormatError(path, number, f"{expected}, found {quoted(line)}")
        if match[2].count(",") != len(names) - 1:
            raise FormatError(
                path, number, f"expected {len(names)} values, found {quoted(match[2])}"
            )
        rows.append((number, match[2]))
    return names, rows


def _stripped(file: IO[bytes]) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, without blanks, and their numbers."""
    for number, line in enumerate(file, 1):
        text = re.sub(r"\s", "", line.decode(errors="replace"))
        if text:
            yield number, text
