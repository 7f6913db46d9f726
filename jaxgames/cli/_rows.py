"""Commands that find something of each vertex: asked, told and written in one way."""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.cli import _checkpoint, _options, _outputs, _parts, _pictures
from jaxgames.cli._exit import Exit
from jaxgames.cli._phases import Phases
from jaxgames.io._files import writing
from jaxgames.solution import UNDECIDED, Status
from jaxgames.solver import Registry

Arrays = dict[str, np.ndarray]
"""What was found, by name."""


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Where what was found of each vertex goes."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write what was found: .npz, a folder of these for several files, or "
        ".txt with a line for each vertex; - is standard output",
    )
    _options.add_force(parser)
    _options.add_all(parser)


def check_output(args: argparse.Namespace) -> None:
    """Finds out before a long solve what would fail after it."""
    _parts.check_all(args)
    if args.output:
        _parts.check_suffix("-o", args.output, _parts.SUFFIXES)
        _outputs.check(args, output=args.output)


def check(args: argparse.Namespace, solvers: Registry, **kept: bool) -> None:
    """Likewise, with pictures, the solver, and what is kept, where those are taken."""
    check_output(args)
    if hasattr(args, "draw"):
        _pictures.check(args)
    _parts.check_solver(solvers, args.solver)
    if hasattr(args, "checkpoint"):
        _checkpoint.check(args, **kept)


def answered(
    args: argparse.Namespace,
    phase: Phases,
    front_door: Callable,
    verify: Callable,
    given: Any,
    sizes: dict[str, Any],
    *,
    facts: Callable[[Any], dict[str, Any]] = lambda found: {},
    arrays: Callable[[Any], Arrays],
    tell: Callable[[argparse.Namespace, dict[str, Any]], None],
    picture: Callable[[Any], tuple[Arena, Any]] | None = None,
    more: Callable[[Any], Arrays] = lambda found: {},
    write: Callable[[str, Arrays], None] | None = None,
) -> Exit:
    """Solves, checks, tells and writes.

    Args:
        args: the command's.
        phase: its phases.
        front_door: solves what is given.
        verify: checks a solution of it.
        given: a game, or a graph.
        sizes: what is told of it.
        facts: what is told of a complete solution besides winners. If `enough` is among
            it and false, the exit code says so.
        arrays: what is written of it, and told with `--all`.
        tell: prints the facts.
        picture: the game and the solution that are drawn.
        more: arrays that a text does not hold.
        write: writes all arrays to a file; None for columns beside the vertex.
    """
    found = _parts.solve(args, phase, front_door, given)
    verdict = _parts.verdict_on(args, phase, verify, given, found)
    told = sizes | _parts.solve_facts(found, phase.seconds, verdict) | _won(found)
    columns, others = {}, {}
    if found.status == Status.SOLVED:
        told |= facts(found)
        if args.output or args.all:
            columns, others = arrays(found), more(found)
    elif hasattr(found, "winner"):
        columns = {"winner": np.asarray(found.winner)}  # of those that are decided
    if args.all:
        told |= {name: x.tolist() for name, x in (columns | others).items()}
    end = _parts.conclude(args, found, verdict, told, lambda: tell(args, told))
    if end != Exit.DONE:
        return end
    if args.output and write is not None:
        write(args.output, columns | others)
    elif args.output:
        write_rows(args.output, others, **columns)
    if picture is not None:
        _pictures.write(args, *picture(found))
    return Exit.WRONG if told.get("enough") is False else end


def columns(arena: Arena, found: Any, **fields: Any) -> Arrays:
    """Arrays of each vertex, by name, and the successors that strategies choose."""
    if found.strategy is not None:
        fields["successor"] = found.successor(arena)
    size = int(arena.num_vertices)
    return {name: np.asarray(array)[:size] for name, array in fields.items()}


def _won(found: Any) -> dict[str, Any]:
    """How many vertices each player wins, and how many nobody is known to win."""
    if not hasattr(found, "winner"):
        return {}
    winner = np.asarray(found.winner)
    zero, one, nobody = (int((winner == who).sum()) for who in (0, 1, UNDECIDED))
    return {"won": [zero, one], "undecided": nobody}


def write_labels(path: str, arrays: Arrays) -> None:
    """Writes the arrays to a `.npz` file, or to text a line for each of the first."""
    _parts.write_arrays(path, next(iter(arrays.values())), **arrays)


def write_rows(
    path: str, archived: Arrays | None = None, /, **arrays: np.ndarray
) -> None:
    """Writes the arrays to a `.npz` file, or to text, in columns beside the vertex.

    What is `archived` is not part of a text.
    """
    if path.lower().endswith(".npz"):
        # Numbers of more than 64 bits as text: archives have no others.
        plain = {
            k: x.astype(str) if x.dtype == object else x
            for k, x in (arrays | (archived or {})).items()
        }
        _parts.write_arrays(path, next(iter(plain.values())), **plain)
        return
    rows = zip(*(array.tolist() for array in arrays.values()), strict=True)
    with writing(path) as file:
        file.write(f"# vertex {' '.join(arrays)}\n".encode())
        for vertex, row in enumerate(rows):
            file.write(f"{vertex} {' '.join(map(str, row))}\n".encode())
