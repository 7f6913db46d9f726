"""`jaxgames buchi`."""

import argparse
import functools

import numpy as np

from jaxgames import buchi, io
from jaxgames.arena import Arena
from jaxgames.cli import _options, _parts, _pictures, _rows, _vertices
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, load, sizes

EXAMPLE = "buchi game.npz --verify -o winners.txt"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a game with accepting vertices: .npz; or with --accepting any game: .pg, "
        ".energy, .mpg",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "--accepting",
        metavar="VERTICES",
        help="the accepting vertices, instead of those of the file: "
        f"{_vertices.SYNTAX}",
    )
    _options.add_strategies(parser)
    _rows.add_rows(parser)
    _pictures.add(parser)
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _parts.begin(
        *(args, load_game),
        lambda arena: f"{sizes(arena)}, {int(arena.accepting.sum()):,} accepting",
    )
    with phase("prepare"):
        tiny = Arena.from_edges([0], [0], owner=[0], accepting=[True])
        size = arena.shape[1]
        _parts.make_host_ready(args, size, lambda: buchi.solve(tiny, "host"))
    solve = functools.partial(buchi.solve, strategies=args.strategies)
    return _rows.answered(
        *(args, phase, solve, buchi.verify, arena),
        {**counts(arena), "accepting": int(arena.accepting.sum())},
        arrays=lambda found: _rows.columns(arena, found, winner=found.winner),
        tell=_tell,
        picture=lambda found: (arena, found),
    )


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, buchi.GAME_SOLVERS)
    _parts.check_strategies(args)


def load_game(args: argparse.Namespace) -> Arena:
    """Reads a game in which every vertex has a successor, and some are accepting."""
    arena = load(args)
    accepting = arena.accepting
    if args.accepting is not None:
        accepting = _vertices.mask("--accepting", args.accepting, arena.shape[0])
    if accepting is None:
        why = "this game has no accepting vertices (--accepting names some)"
        raise io.FormatError(args.file, None, why)
    dead = np.flatnonzero(np.diff(arena.row_ptr) == 0)
    if len(dead):
        why = f"vertex {dead[0]} has no successor, expected one for every vertex"
        raise io.FormatError(args.file, None, why)
    return Arena.from_csr(
        arena.row_ptr, arena.dst, owner=arena.owner, accepting=accepting
    )


def _tell(args: argparse.Namespace, facts: dict) -> None:
    won = facts["won"]
    print(f"{args.file}: player 0 wins {won[0]:,}, player 1 wins {won[1]:,}")
