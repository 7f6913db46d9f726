"""Answers in files, as commands write them; what checks each kind is in `_kinds`."""

import itertools
import json
from collections.abc import Callable
from typing import IO, Any, NamedTuple

import numpy as np

from jaxgames import archive
from jaxgames.arena import Arena
from jaxgames.cli import _report
from jaxgames.io import _limits
from jaxgames.io._errors import FormatError
from jaxgames.io._files import reading
from jaxgames.quoting import counted, quoted
from jaxgames.solution import NO_EDGE, SolveError

PER_BYTE = 64
"""Bytes that reading a text takes for each of its bytes, about."""

ZIP = b"PK\x03\x04"

FRACTIONAL = "lower", "upper", "value"
"""Columns that hold bounds of real numbers."""

MACHINE = "vertex", "memory", "start", "row_ptr", "target", "move"
"""Parts of the strategies in a game of marks."""


class Answer(NamedTuple):
    """What a file says.

    Attributes:
        path: the file.
        arrays: what it holds, by name; of a text with one number on each line `column`.
        first_line: of a text, the line of the first vertex; 0 for an archive.
        command: that has printed it as an object; None for another file.
    """

    path: str
    arrays: dict[str, np.ndarray]
    first_line: int
    command: str | None = None

    def fail(self, why: str, row: int | None = None) -> FormatError:
        """An error of this file, at some row."""
        line = self.first_line + row if self.first_line and row is not None else None
        return FormatError(self.path, line, why)

    def judged(self, verify: Callable, *given: Any) -> Any:
        """What a check says; what it cannot check is an error of this file."""
        try:
            return verify(*given)
        except SolveError:
            raise
        except ValueError as error:
            raise self.fail(str(error)) from error


def read(path: str) -> Answer | None:
    """Reads an answer; None if it is a solution of a parity game, or empty.

    Raises FormatError if no command has written it.
    """
    with reading(path, PER_BYTE) as file:
        start = file.read(4)
        file.seek(0)
        if start == ZIP:
            return Answer(path, _archive(path, file), 0)
        if start[:1] == b"{":
            return _object_in(path, file)
        line = file.readline(1 << 10).decode(errors="replace").strip()
        if line.startswith("#"):
            return Answer(path, _table(path, line, file), 2)
        if not line.lstrip("-").isdigit():
            return None
        file.seek(0)
        return Answer(path, {"column": _rows(path, file, 1, [int])[0]}, 1)


def _archive(path: str, file: IO[bytes]) -> dict[str, np.ndarray]:
    try:
        return archive.read(
            file, None, lambda size: _limits.check(path, None, "the arrays", size)
        )
    except archive.ArchiveError as error:
        if isinstance(error.__cause__, FormatError):
            raise error.__cause__ from None
        raise FormatError(path, None, f"broken .npz archive: {error}") from error


# ---- texts -----------------------------------------------------------------------


def _table(path: str, heading: str, file: IO[bytes]) -> dict[str, np.ndarray]:
    """The columns of a text with a heading."""
    names = heading.removeprefix("#").split()
    if names[:1] == ["vertex"] and len(names) > 1:
        kinds = [float if name in FRACTIONAL else int for name in names]
        vertex, *columns = _rows(path, file, 2, kinds)
        wrong = np.flatnonzero(vertex != np.arange(len(vertex)))
        if len(wrong):
            why = f"expected vertex {wrong[0]}, found {vertex[wrong[0]]}"
            raise FormatError(path, 2 + int(wrong[0]), why)
        return dict(zip(names[1:], columns, strict=True))
    if names[:1] == ["vertex,"]:
        vertex, *points = _rows(path, file, 2, None)
        shape = len(vertex), len(points)
        return {"vertex": vertex, "points": np.array(points, object).T.reshape(shape)}
    if names in (["state", "choice", "names"], ["step", "state", "choice", "names"]):
        why = "choices alone claim no value: mdp -o writes them with its bounds"
        raise FormatError(path, 1, why)
    raise FormatError(path, 1, f"no command writes such a heading: {quoted(heading)}")


def _rows(
    path: str, file: IO[bytes], line: int, kinds: list[Callable] | None
) -> list[np.ndarray]:
    """The columns of numbers in a text: integers of any size, or real numbers.

    `kinds` says what each is; None: as many integers as the row at `line` has.
    """
    found = []
    for number in itertools.count(line):
        text = file.readline()
        if not text:
            break
        words = text.split()
        kinds = kinds or [int] * len(words)
        if len(words) != len(kinds):
            why = f"expected {len(kinds)} numbers, found {len(words)}"
            raise FormatError(path, number, why)
        try:
            found.append([kind(x) for kind, x in zip(kinds, words, strict=True)])
        except ValueError:
            what = "numbers" if float in kinds else "integers"
            shown = quoted(text.strip())
            raise FormatError(path, number, f"expected {what}, found {shown}") from None
    columns = zip(*found, strict=True) if found else [()] * len(kinds or [int])
    kinds = kinds or [int]
    return [
        np.array(column, np.float64 if kind is float else object)
        for kind, column in zip(kinds, columns, strict=True)
    ]


# ---- objects ---------------------------------------------------------------------

IN_OBJECTS = {
    "solve": ("winner", "successor"),
    "energy": ("credit", "winner", "successor"),
    "meanpayoff": ("value_num", "value_den", "successor"),
    "discounted": ("lower", "upper", "successor"),
    "energyparity": ("winner", "enough", "successor"),  # and modes_...
    "emersonlei": ("winner", *MACHINE),
    "buchi": ("winner", "successor"),
    "multienergy": ("offsets", "points"),
    "reach": ("reached", "rank", "successor"),
    "probability": (
        *("lower", "upper", "value", "scheduler", "strategy", "memory"),
        *("zero", "one", "scheduler_zero", "scheduler_one"),
    ),
    "mdp": ("lower", "upper", "scheduler", "nature"),
    "scc": ("labels", "count"),
    "mec": ("state_label", "choice_kept", "count"),
    "equiv": ("labels", "notion"),
    "check": ("prefix", "cycle"),
}
"""Of each command that prints an answer as an object, the arrays that are checked."""


def _object_in(path: str, file: IO[bytes]) -> Answer:
    """A lasso, or what a command has printed with `--json --all`; or a FormatError."""
    try:
        found = json.loads(file.read())
    except ValueError as error:
        why = "expected one object, as commands print it with --json"
        raise FormatError(path, getattr(error, "lineno", None), why) from error
    command = found.get("command")
    if command is None:
        return Answer(path, _lasso_in(path, found), 0)
    if found.get("schema") != _report.SCHEMA:
        why = f"expected schema {_report.SCHEMA}, found {quoted(found.get('schema'))}"
        raise FormatError(path, None, why)
    if found.get("error"):
        why = "it tells why there is no answer, in its field error"
        raise FormatError(path, None, why)
    if command == "synth":
        if not isinstance(found.get("aag"), str):
            why = "there is no machine in it: --all prints it, in its field aag"
            raise FormatError(path, None, why)
        return Answer(path, {"aag": np.array(found["aag"])}, 0, command)
    if command not in IN_OBJECTS:
        raise FormatError(path, None, f"{quoted(command)} prints nothing to be checked")
    if command == "check":
        lasso = found.get("lasso")
        if lasso is None:
            why = "there is no lasso in it: the property holds, or is undecided"
            raise FormatError(path, None, why)
        return Answer(path, _lasso_in(path, lasso), 0, command)
    given = _given(path, command, found)
    arrays = {}
    modes = [name for name in given if name.startswith("modes_")]
    for name in (*IN_OBJECTS[command], *modes):
        if given.get(name) is not None:
            try:
                arrays[name] = _array_of(given[name])
            except (ValueError, TypeError) as error:
                why = f"{name} is no array of numbers"
                raise FormatError(path, None, why) from error
    if not arrays:
        why = "there is no answer in it: --all prints what was found of each vertex"
        raise FormatError(path, None, why)
    return Answer(path, arrays, 0, command)


def _given(path: str, command: str, found: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object, by the names that archives have for them."""
    given = found | (found.get("found") or {})
    if command == "mdp":
        if len(found.get("properties", ())) > 1:
            why = "it is about several properties: ask for one, with --prop or --name"
            raise FormatError(path, None, why)
        given |= {"lower": found.get("lowers"), "upper": found.get("uppers")}
    if command == "scc" and "labels" in found:
        given["count"] = found.get("components")
    if command == "mec" and "state_label" in found:
        given["count"] = found.get("components")
    if command == "equiv" and "labels" in found:
        given["notion"] = next(iter(found.get("classes") or [None]))
    return given


def _array_of(value: Any) -> np.ndarray:
    """An array of what JSON has: integers of any size stay what they are."""
    if isinstance(value, str):
        return np.array(value)
    array = np.array(value)
    if array.dtype.kind in "iub":
        return array
    if array.dtype.kind == "O" and all(type(x) is int for x in array.flat):
        return array
    if array.dtype.kind == "f" and array.size == 0:
        return array.astype(np.int64)
    return np.array(value, np.float64)  # infinite numbers are texts


def _lasso_in(path: str, found: Any) -> dict[str, np.ndarray]:
    """The vertices of a lasso, and the states where it is of a system."""
    try:
        steps = {part: found[part] for part in ("prefix", "cycle")}
        arrays = {
            part: _integers([step["vertex"] for step in steps[part]]) for part in steps
        }
        if all("state" in step for part in steps.values() for step in part):
            for part in steps:
                states = [step["state"] for step in steps[part]]
                arrays[f"{part}_state"] = _integers(states)
    except (ValueError, KeyError, TypeError) as error:
        why = "expected a lasso, as check --lasso writes it to .json"
        raise FormatError(path, None, why) from error
    return arrays


def _integers(numbers: list) -> np.ndarray:
    if not all(type(number) is int for number in numbers):
        raise ValueError("expected integers")
    return np.array(numbers, object)


# ---- columns ---------------------------------------------------------------------


def of_vertices(answer: Answer, size: int, *names: str) -> list[np.ndarray]:
    """Some columns: integers, one for each vertex; or a FormatError."""
    found = []
    for name in names:
        column = answer.arrays[name]
        if column.shape != (size,):
            raise answer.fail(
                f"expected {name} of {counted(size, 'vertex')}, "
                f"found {list(column.shape)}"
            )
        if column.dtype.kind == "U":  # what needs more than 64 bits
            try:
                column = np.array([int(x) for x in column.tolist()], object)
            except ValueError:
                raise answer.fail(f"{name} must be integers") from None
        if column.dtype.kind not in "iubO":
            raise answer.fail(f"{name} must be integers, got {column.dtype}")
        found.append(column)
    return found


def narrow(column: np.ndarray, dtype: Any) -> np.ndarray:
    """Integers in a type; what does not fit is as wrong as the largest that does."""
    if column.dtype.kind not in "iubO":
        raise ValueError(f"expected integers, got {column.dtype}")
    limits = np.iinfo(dtype)
    return np.clip(column, limits.min, limits.max).astype(dtype)


def strategy_of(answer: Answer, arena: Arena) -> np.ndarray | None:
    """The edges that successors stand for: of several the best for who moves."""
    if "successor" not in answer.arrays:
        return None
    (column,) = of_vertices(answer, arena.shape[0], "successor")
    successor = narrow(column, np.int64)
    src, dst = np.asarray(arena.src), np.asarray(arena.dst)
    edge = np.flatnonzero(dst == successor[src])[::-1]
    if arena.weight is not None:
        gain = np.asarray(arena.weight)[edge]
        # Turned round as -gain would be, which the least number has not.
        gain = np.where(np.asarray(arena.owner)[src[edge]], ~gain, gain)
        edge = edge[np.argsort(gain, kind="stable")]
    strategy = np.full(arena.shape[0], NO_EDGE, np.int32)
    strategy[src[edge]] = edge  # the last of several stays
    lost = np.flatnonzero((successor != NO_EDGE) & (strategy == NO_EDGE))
    if len(lost):
        v = int(lost[0])
        why = f"no edge leads from vertex {v} to its successor {column[v]}"
        raise answer.fail(why, v)
    return strategy
