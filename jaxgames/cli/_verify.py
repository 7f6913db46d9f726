"""`jaxgames verify`."""

import argparse

from jaxgames import io, parity
from jaxgames.cli import _options, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import load_parity, start_jax
from jaxgames.cli._phases import Phases

EXAMPLE = "verify game.pg.gz game.sol"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_game(parser, many=True)
    parser.set_defaults(beside=("solution", ".sol"))
    parser.add_argument(
        "solution",
        metavar="SOL",
        help="a PGSolver solution, also .gz, .bz2, .xz; - is standard input; for "
        "several games the folder with their solutions, as solve -o writes them",
    )
    _options.add_limits(parser)
    _options.add_json(parser)
    _options.add_quiet(parser)
    _options.add_jax(parser)


def run(args: argparse.Namespace) -> Exit:
    """Checks a solution; prints what is wrong, if anything is."""
    start_jax(args)
    phase = Phases(args, silent=True)
    with phase("load"):
        arena = load_parity(args)
        solution = io.load_solution(args.solution, arena)
    with phase("verify"):
        verdict = parity.verify(arena, solution)
    if args.json:
        facts = {
            "solution": args.solution,
            "vertices": int(arena.num_vertices),
            "edges": int(arena.num_edges),
            "status": "solved",
            "seconds": dict(phase.seconds),
            "verified": bool(verdict),
            "verdict": str(verdict),
        }
        _report.show(args, facts)
    elif not args.quiet:
        print(f"{args.solution}: {verdict}", flush=True)
    return Exit.DONE if verdict else Exit.WRONG
