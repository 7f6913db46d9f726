"""`jaxgames discounted`."""

import argparse
import functools

import numpy as np

from jaxgames import discounted
from jaxgames.cli import _meanpayoff, _options, _parts, _pictures, _rows, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts

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

    def verify(arena, solution):
        return discounted.verify(arena, args.discount, solution)

    return _rows.answered(
        *(args, phase, solve, verify, arena),
        {**counts(arena), "discount": str(args.discount)},
        facts=_facts,
        arrays=lambda found: _rows.columns(
            arena, found, lower=found.lower, upper=found.upper
        ),
        tell=_tell,
        picture=lambda found: (
            arena,
            _pictures.Found.of_values(found.lower, found.upper, found.strategy),
        ),
    )


def _facts(found: discounted.Solution) -> dict[str, float]:
    value, width = np.asarray(found.value), np.asarray(found.upper - found.lower)
    if not len(value):
        return {}
    least, largest = float(value.min()), float(value.max())
    return {"least": least, "largest": largest, "width": float(width.max())}


def _check_options(args: argparse.Namespace) -> None:
    """Finds out before a long solve what would fail after it."""
    _rows.check(args, discounted.SOLVERS)
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
