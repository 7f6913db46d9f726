"""What the commands share that solve games with weights."""

import argparse

import numpy as np

from jaxgames import energy, io
from jaxgames.arena import Arena
from jaxgames.cli import _options, _parts, _pictures, _rows
from jaxgames.cli._games import is_parity, load
from jaxgames.cli._phases import Phases
from jaxgames.energy import host
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
    _rows.add_rows(parser)
    _pictures.add(parser)


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


def begin(args: argparse.Namespace) -> tuple[Phases, Arena]:
    """Reads a game, and has the engine of the host compiled if it is not small."""
    phase, arena = _parts.begin(args, load_weighted)
    with phase("prepare"):
        tiny = Arena.from_edges([0], [0], owner=[0], weight=[0])
        _parts.make_host_ready(args, arena.shape[1], lambda: host.solve(tiny))
    return phase, arena


def verify_credits(arena: Arena, solution: energy.Solution) -> energy.Verdict:
    """Checks a solution of an energy game, with strategies or without."""
    if solution.strategy is None:
        return host.verify(arena, solution.credit)
    return energy.verify(arena, solution)
