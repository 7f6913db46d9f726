"""`jaxgames discounted`."""

import argparse
import functools

import numpy as np

from jaxgames import discounted
from jaxgames.cli import (
    _checkpoint,
    _meanpayoff,
    _options,
    _parts,
    _pictures,
    _weighted,
)
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts
from jaxgames.solution import Status

EXAMPLE = "discounted game.energy --discount 9/10 --verify -o values.txt"


def options(parser: argparse.ArgumentParser) -> None:
    _weighted.add_weighted(parser)
    parser.set_defaults(check=_check_options)
    parser.add_argument(
        "--discount",
        type=_meanpayoff.ratio,
        metavar="P/Q",
        required=True,
        help="the discount factor, between 0 and 1: the weight of each step is "
        "multiplied by it once more",
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        default=1e-6,
        metavar="X",
        help="how far values may be from the true ones (default: 1e-6)",
    )
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _parts.begin(args, _weighted.load_weighted)
    solve = functools.partial(
        discounted.solve,
        discount=args.discount,
        epsilon=args.epsilon,
        strategies=args.strategies,
    )
    solution = _parts.solve(args, phase, solve, arena)

    def verify(arena, solution):
        return discounted.verify(arena, args.discount, solution)

    verdict = _parts.verdict_on(args, phase, verify, arena, solution)
    size = int(arena.num_vertices)
    value = np.asarray(solution.value)[:size]
    facts = {
        **counts(arena),
        "discount": str(args.discount),
        **_parts.solve_facts(solution, phase.seconds, verdict),
    }
    if solution.status == Status.SOLVED and size:
        width = np.asarray(solution.upper - solution.lower)[:size]
        facts |= {"least": float(value.min()), "largest": float(value.max())}
        facts["width"] = float(width.max())
    arrays = {"lower": solution.lower, "upper": solution.upper}
    if solution.strategy is not None:
        arrays["successor"] = solution.successor(arena)
    arrays = {name: np.asarray(array)[:size] for name, array in arrays.items()}
    if solution.status == Status.SOLVED and args.all:
        facts |= {name: array.tolist() for name, array in arrays.items()}
    end = _parts.conclude(*(args, solution, verdict, facts), lambda: _tell(args, facts))
    if args.output and end == Exit.DONE:
        _weighted.write_rows(args.output, **arrays)
    if end == Exit.DONE:
        bounds = solution.lower, solution.upper
        shown = _pictures.Found.of_values(*bounds, solution.strategy)
        _pictures.write(args, arena, shown)
    return end


def _check_options(args: argparse.Namespace) -> None:
    """Finds out before a long solve what would fail after it."""
    _weighted.check_output(args)
    _pictures.check(args)
    _parts.check_solver(discounted.SOLVERS, args.solver)
    _checkpoint.check(args)
    if not 0 < args.discount < 1 or float(args.discount) == 1:
        raise ValueError(
            "--discount is between 0 and 1, and float64 can tell it from 1, got "
            f"{args.discount}"
        )
    if not 0 < args.epsilon < float("inf"):
        raise ValueError(f"--epsilon is a positive number, got {args.epsilon}")


def _tell(args: argparse.Namespace, facts: dict) -> None:
    if "least" not in facts:
        print(f"{args.file}: no vertices")
        return
    print(
        f"{args.file}: values from {facts['least']:.6g} to {facts['largest']:.6g}, "
        f"known to {facts['width']:.1e}"
    )
