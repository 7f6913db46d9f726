"""`jaxgames verify`."""

import argparse

from jaxgames import host, io, limits, parity
from jaxgames.arena import Arena
from jaxgames.cli import _options
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import load_parity, num_priorities, start_jax
from jaxgames.parity import host as engine

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
    verdict = check(arena, solution)
    if not args.quiet:
        print(f"{args.solution}: {verdict}")
    return Exit.DONE if verdict else Exit.WRONG


def check(arena: Arena, solution: parity.Solution) -> parity.Verdict:
    """Checks a solution of a parity game where that takes least time.

    Plain Python is done with a small game before anything is compiled. Later numba's
    machine code is best; without numba JAX is, but not for many priorities, since it
    looks at them one after the other.
    """
    if arena.shape[1] <= 50_000:
        with host.interpreted():
            return engine.verify(arena, solution)
    if host.can_compile() or num_priorities(arena) > 64:
        return engine.verify(arena, solution)
    return parity.verify(arena, solution)
