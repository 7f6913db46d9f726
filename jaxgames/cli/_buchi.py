"""`jaxgames buchi`."""

import argparse
import functools

import numpy as np

from jaxgames import buchi, io
from jaxgames.arena import Arena
from jaxgames.cli import _checkpoint, _options, _parts, _pictures, _vertices, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, load, sizes
from jaxgames.solution import Status

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
    _weighted.add_rows(parser)
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
    found = _parts.solve(args, phase, solve, arena)
    verdict = _parts.verdict_on(args, phase, buchi.verify, arena, found)
    winner = np.asarray(found.winner)
    facts = {
        **counts(arena),
        "accepting": int(arena.accepting.sum()),
        **_parts.solve_facts(found, phase.seconds, verdict),
        "won": [int((winner == player).sum()) for player in (0, 1)],
        "undecided": int((winner == -1).sum()),
    }
    arrays = {"winner": winner}
    if found.strategy is not None and found.status == Status.SOLVED:
        arrays["successor"] = np.asarray(found.successor(arena))
    if args.all:
        facts |= {name: array.tolist() for name, array in arrays.items()}
    end = _parts.conclude(*(args, found, verdict, facts), lambda: _tell(args, facts))
    if args.output and end == Exit.DONE:
        _weighted.write_rows(args.output, **arrays)
    if end == Exit.DONE:
        _pictures.write(args, arena, found)
    return end


def _check_options(args: argparse.Namespace) -> None:
    _weighted.check_output(args)
    _pictures.check(args)
    _parts.check_strategies(args)
    _parts.check_solver(buchi.GAME_SOLVERS, args.solver)
    _checkpoint.check(args)


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
