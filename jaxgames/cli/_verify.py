"""`jaxgames verify`."""

import argparse

from jaxgames import io, limits, parity
from jaxgames.cli import _options
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import load_parity, start_jax

EXAMPLE = "verify game.pg.gz game.sol"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_game(parser)
    parser.add_argument(
        "solution",
        metavar="SOL",
        help="a PGSolver solution, also .gz, .bz2, .xz; - is standard input",
    )
    _options.add_limits(parser)
    _options.add_quiet(parser)
    _options.add_jax(parser)


def run(args: argparse.Namespace) -> Exit:
    """Checks a solution; prints what is wrong, if anything is."""
    start_jax(args)
    limits.tick("reading")
    arena = load_parity(args)
    solution = io.load_solution(args.solution, arena)
    limits.tick("verifying")
    verdict = parity.verify(arena, solution)
    if not args.quiet:
        print(f"{args.solution}: {verdict}")
    return Exit.DONE if verdict else Exit.WRONG
