"""Measures a tuned number of the library again, beside other values for it.

    python -m benchmarks.tune                       # lists all, and what shows each
    python -m benchmarks.tune graph.STAY --games "thin*" --solvers max_id
    python -m benchmarks.tune ops.SLICE_FROM --values "1 << 13" "1 << 15" "1 << 17"

The numbers are in `jaxgames/tuning`. For each value the suite that measures it runs on
a copy of the package in which only that number is another; options that are not of this
command are those of `benchmarks.run`. What was measured is printed, and kept where
`--results` says: a number that is to be changed wants a file in `benchmarks/results`,
and its name in `SHOWN`.
"""

import argparse
import ast
import dataclasses
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import schema
from jaxgames import tuning

ROOT = Path(__file__).parent.parent


@dataclasses.dataclass(frozen=True)
class Number:
    """One of the tuned numbers.

    Attributes:
        part: its module in `jaxgames.tuning`.
        name: its name there.
        value: what it is.
        about: what it says of itself.
        suite: of benchmarks: where it matters.
        shown: results files that show it; none: it was not measured since.
    """

    part: str
    name: str
    value: Any
    about: str
    suite: str
    shown: tuple[str, ...]

    def __str__(self):
        """Its full name, as the command takes it."""
        return f"{self.part}.{self.name}"


def numbers() -> list[Number]:
    """All of them."""
    return [
        number
        for module in pkgutil.iter_modules(tuning.__path__)
        for number in _of(module.name)
    ]


def changed(text: str, name: str, value: str) -> str:
    """The text of a module of numbers, one of which is another.

    Args:
        text: of the module.
        name: of the number.
        value: an expression in Python.
    """
    for statement in ast.parse(text).body:
        for place, old in _assigned(statement):
            if place == name:
                lines = text.splitlines(keepends=True)
                begin = _offset(lines, old.lineno, old.col_offset)
                end = _offset(lines, old.end_lineno, old.end_col_offset)
                return text[:begin] + f"({value})" + text[end:]
    raise ValueError(f"no number has the name {name}")


def others(value: Any) -> list[str]:
    """Values to compare, where none are named: a quarter, itself, four times it."""
    if not isinstance(value, int | float):
        raise ValueError(f"--values must name some: it is {value!r}")
    less = max(value // 4, 1) if isinstance(value, int) else value / 4
    return [repr(each) for each in dict.fromkeys((less, value, 4 * value))]


def table(found: dict[str, list[schema.Row]]) -> str:
    """Seconds of each row that was answered, in a column for each value."""
    keys = dict.fromkeys(row.key for rows in found.values() for row in rows)
    lines = ["\t".join(["seconds", *found])]
    for key in keys:
        cells = []
        for rows in found.values():
            row = next((row for row in rows if row.key == key and row.answered), None)
            seconds = row and (row.call_s or row.solve_s or row.load_s)
            cells.append("-" if seconds is None else f"{seconds:.3g}")
        lines.append("\t".join([", ".join(filter(None, key)), *cells]))
    return "\n".join(lines)


def _of(part: str) -> list[Number]:
    module = importlib.import_module(f"jaxgames.tuning.{part}")
    body = ast.parse(Path(module.__file__ or "").read_text()).body
    again, shown = getattr(module, "AGAIN", {}), getattr(module, "SHOWN", {})
    found = []
    for statement, after in zip(body, body[1:], strict=False):
        about = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        found += [
            Number(
                part,
                name,
                getattr(module, name),
                str(ast.literal_eval(after.value)) if about else "",  # pyright: ignore
                again.get(name, module.SUITE),
                shown.get(name, ()),
            )
            for name, _ in _assigned(statement)
            if name not in ("SUITE", "AGAIN", "SHOWN")
        ]
    return found


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that a statement gives, and what to."""
    if not isinstance(statement, ast.Assign):
        return []
    (target,), value = statement.targets, statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(map(ast.unparse, target.elts), value.elts, strict=True))
    return [(ast.unparse(target), value)]


def _offset(lines: list[str], line: int | None, column: int | None) -> int:
    assert line is not None
    assert column is not None
    return sum(map(len, lines[: line - 1])) + column


def _run(number: Number, value: str, results: Path, more: Sequence[str]) -> list:
    """The rows of the suite, where the number has that value."""
    with tempfile.TemporaryDirectory() as folder:
        for package in ("jaxgames", "benchmarks"):
            ignored = shutil.ignore_patterns("__pycache__", "results")
            shutil.copytree(ROOT / package, Path(folder, package), ignore=ignored)
        file = Path(folder, "jaxgames", "tuning", f"{number.part}.py")
        file.write_text(changed(file.read_text(), number.name, value))
        command = [sys.executable, "-m", "benchmarks.run", "--suite", number.suite]
        command += ["--no-peers", "--results", str(results.absolute()), *more]
        environment = {**os.environ, "PYTHONPATH": folder}
        environment.pop("NUMBA_CACHE_DIR", None)  # it forgets no other module's numbers
        subprocess.run(command, cwd=folder, env=environment, check=True)
    files = results.glob("*.json")
    return [row for file in files for row in schema.Results.load(file).rows]


def main(arguments: list[str] | None = None) -> None:
    """Lists the numbers, or measures one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "name", nargs="?", help="such as graph.STAY; none: all are listed"
    )
    parser.add_argument("--values", nargs="+", metavar="EXPRESSION")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="kept there")
    args, more = parser.parse_known_args(arguments)
    if args.name is None:
        for number in numbers():
            shown = ", ".join(number.shown) or "not measured since"
            print(f"{number}\t{number.value}\t{number.suite}\t{shown}")
        return
    known = {str(number): number for number in numbers()}
    if args.name not in known:
        parser.error(
            f"{args.name}: no number has that name; without a name all are listed"
        )
    number, found = known[args.name], {}
    with tempfile.TemporaryDirectory() as scratch:
        for at, value in enumerate(args.values or others(number.value)):
            folder = Path(args.results or scratch, f"{number}-{at}")
            found[value] = _run(number, value, folder, more)
    print(table(found))


if __name__ == "__main__":
    main()
