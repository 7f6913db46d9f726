"""What the commands share that solve games with weights."""

import argparse

import numpy as np

from jaxgames import energy, io
from jaxgames.arena import Arena
from jaxgames.cli import _options, _outputs, _parts, _pictures
from jaxgames.cli._games import is_parity, load
from jaxgames.energy import host
from jaxgames.io._files import writing
from jaxgames.quoting import counted


def add_weighted(parser: argparse.ArgumentParser) -> None:
    """The game, and what both kinds of games are asked."""
    _options.add_game(
        parser, what="a game with weights: .energy, .mpg, .npz", many=True
    )
    parser.set_defaults(beside=("output", ".npz"))
    parser.add_argument(
        "--from-parity",
        action="store_true",
        help="make weights of the priorities of a parity game",
    )
    _options.add_strategies(parser)
    add_rows(parser)
    _pictures.add(parser)


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


def load_weighted(args: argparse.Namespace) -> Arena:
    """Reads a game with weights, or makes some of its priorities."""
    arena = load(args)
    if args.from_parity:
        if not is_parity(arena):
            raise io.FormatError(
                args.file,
                None,
                "--from-parity needs a game with priorities",
            )
        return energy.from_parity(arena)
    if arena.weight is None:
        more = " (--from-parity makes some of priorities)" if is_parity(arena) else ""
        raise io.FormatError(
            args.file, None, f"this game has no weights on its edges{more}"
        )
    if np.ndim(arena.weight) != 1:
        raise io.FormatError(
            args.file,
            None,
            f"this game has {counted(arena.weight.shape[1], 'weight')} on each edge, "
            "expected one",
        )
    return arena


def prepare(args: argparse.Namespace, arena: Arena) -> None:
    """Has the engine of the host compiled, if the game is not small."""
    tiny = Arena.from_edges([0], [0], owner=[0], weight=[0])
    _parts.make_host_ready(args, arena.shape[1], lambda: host.solve(tiny))


def verify_credits(arena: Arena, solution: energy.Solution) -> energy.Verdict:
    """Checks a solution of an energy game, with strategies or without."""
    if solution.strategy is None:
        return host.verify(arena, solution.credit)
    return energy.verify(arena, solution)


def write_rows(path: str, **arrays: np.ndarray) -> None:
    """Writes the arrays to a `.npz` file, or to text, in columns beside the vertex."""
    if path.lower().endswith(".npz"):
        # Numbers of more than 64 bits as text: archives have no others.
        plain = {
            k: x.astype(str) if x.dtype == object else x for k, x in arrays.items()
        }
        _parts.write_arrays(path, next(iter(plain.values())), **plain)
        return
    rows = zip(*(array.tolist() for array in arrays.values()), strict=True)
    with writing(path) as file:
        file.write(f"# vertex {' '.join(arrays)}\n".encode())
        for vertex, row in enumerate(rows):
            file.write(f"{vertex} {' '.join(map(str, row))}\n".encode())
