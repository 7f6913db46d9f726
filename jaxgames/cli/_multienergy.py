"""`jaxgames multienergy`."""

import argparse

import numpy as np

from jaxgames import io, multienergy
from jaxgames.arena import Arena
from jaxgames.cli import _options, _parts, _rows
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import read, sizes
from jaxgames.io._files import writing
from jaxgames.quoting import all_counted, counted

EXAMPLE = "multienergy game.npz --cap 4 --verify -o budgets.txt"

SHOWN = 10
"""Budgets of a vertex that are told."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a game with weights, several on each edge (.npz) or one (.energy, .mpg): "
        "player 0 attacks, and wins when player 1 must move and cannot",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "--cap",
        type=_options.naturals,
        metavar="N[,N...]",
        help="the value from which on an energy counts as infinite: one for all "
        "energies, or one for each",
    )
    parser.add_argument(
        "--budget",
        type=_options.naturals,
        metavar="N[,N...]",
        help="say from which vertices these energies are enough; with --from, the exit "
        "code is 1 if they are not enough",
    )
    parser.add_argument(
        "--from",
        dest="vertex",
        type=_options.natural,
        metavar="V",
        help="the vertex for --budget",
    )
    _rows.add_rows(parser)
    _options.add_decomposition(parser)
    _options.take_no_pictures(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, game = _parts.begin(
        *(args, load),
        lambda game: all_counted(
            vertex=game.num_positions, edge=game.num_edges, energy=game.dimensions
        ),
    )
    _check_questions(args, game)
    sizes = {"vertices": game.num_positions, "edges": game.num_edges}
    return _rows.answered(
        *(args, phase, multienergy.solve, multienergy.verify, game),
        {**sizes, "energies": game.dimensions, "cap": args.cap},
        facts=lambda found: _facts(args, found),
        arrays=lambda found: {"offsets": found.offsets, "points": found.points},
        tell=_tell,
        write=_write,
    )


def load(args: argparse.Namespace) -> multienergy.Game:
    """Reads a game.

    Raises:
        FormatError: the file holds something else, or a cap does not fit.
    """
    found = read(args)
    if not isinstance(found, Arena) or found.weight is None:
        raise io.FormatError(
            args.file, None, f"expected a game with weights, found {sizes(found)}"
        )
    try:
        return of_arena(found, args.cap)
    except ValueError as error:
        raise io.FormatError(args.file, None, str(error)) from error


def of_arena(arena: Arena, cap: list[int] | None) -> multienergy.Game:
    """The game in which player 0 attacks, and weights are what moves add."""
    weight = np.asarray(arena.weight)
    rows = weight.reshape(len(weight), -1)
    updates, number = np.unique(rows, axis=0, return_inverse=True)
    if not len(updates):  # a table tells how many energies there are
        updates = np.zeros((1, max(rows.shape[1], 1)), int)
    return multienergy.Game.from_arrays(
        arena.row_ptr,
        arena.dst,
        number.reshape(-1),
        updates.tolist(),
        defender=np.asarray(arena.owner),
        cap=cap[0] if cap is not None and len(cap) == 1 else cap,
    )


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, multienergy.SOLVERS)


def _check_questions(args: argparse.Namespace, game: multienergy.Game) -> None:
    """Finds out whether what is asked can be asked of the game."""
    if args.vertex is not None and args.vertex >= game.num_positions:
        raise ValueError(
            f"--from {args.vertex}: {args.file} has the vertices 0 to "
            f"{game.num_positions - 1}"
        )
    if args.budget is not None and len(args.budget) != game.dimensions:
        raise ValueError(
            f"--budget has {counted(len(args.budget), 'energy')}, {args.file} has "
            f"{game.dimensions}"
        )


def _facts(args: argparse.Namespace, found: multienergy.Fronts) -> dict:
    counts = np.diff(found.offsets)
    facts = {
        "won": int(np.count_nonzero(counts)),
        "budgets": int(found.offsets[-1]),
        "largest_front": int(counts.max(initial=0)),
    }
    if args.budget is not None:
        enough = np.asarray(found.winning_with([args.budget]))[0]
        facts["enough_from"] = int(enough.sum())
        if args.vertex is not None:
            facts["enough"] = bool(enough[args.vertex])
    if args.vertex is not None:
        facts["needed"] = found.budgets(args.vertex).tolist()
    return facts


def _tell(args: argparse.Namespace, facts: dict) -> None:
    print(
        f"{args.file}: some budget wins from {facts['won']:,} of "
        f"{counted(facts['vertices'], 'vertex')}; {facts['budgets']:,} are minimal, "
        f"{facts['largest_front']:,} at most of a vertex"
    )
    if args.brief:
        return
    if "needed" in facts:
        needed = facts["needed"]
        shown = "; ".join(", ".join(map(str, x)) for x in needed[:SHOWN])
        more = f"; and {len(needed) - SHOWN:,} more" if len(needed) > SHOWN else ""
        print(f"  vertex {args.vertex}: {shown or 'no budget wins'}{more}")
    if "enough_from" in facts:
        budget = ", ".join(map(str, args.budget))
        print(f"  {budget} is enough from {counted(facts['enough_from'], 'vertex')}")


def _write(path: str, arrays: dict[str, np.ndarray]) -> None:
    """Writes the budgets, as arrays or a line for each."""
    if path.lower().endswith(".npz"):
        _rows.write_rows(path, **arrays)
        return
    offsets, points = arrays["offsets"], arrays["points"]
    vertex = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    with writing(path) as file:
        file.write(b"# vertex, and each energy of a minimal budget\n")
        for row in zip(vertex.tolist(), points.tolist(), strict=True):
            file.write(f"{row[0]} {' '.join(map(str, row[1]))}\n".encode())
