"""`jaxgames meanpayoff`."""

import argparse
import collections
import dataclasses
import functools
from fractions import Fraction

import numpy as np

from jaxgames import energy, meanpayoff
from jaxgames.arena import Arena
from jaxgames.cli import _options, _pictures, _rows, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts
from jaxgames.quoting import counted
from jaxgames.solution import Status

EXAMPLE = "meanpayoff game.energy --verify -o values.txt"

SHOWN = 10
"""Distinct values that are told."""


def options(parser: argparse.ArgumentParser) -> None:
    _weighted.add_weighted(parser)
    parser.set_defaults(check=_check_options)
    parser.add_argument(
        "--threshold",
        type=ratio,
        metavar="P/Q",
        help="only decide where the mean payoff is at least that",
    )
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _weighted.begin(args)
    asked = {}
    if args.threshold is None:
        solve, verify = meanpayoff.solve, meanpayoff.verify
    else:
        solve = functools.partial(_decide, threshold=args.threshold)
        verify = functools.partial(_verify, threshold=args.threshold)
        asked["threshold"] = str(args.threshold)
    return _rows.answered(
        *(args, phase, functools.partial(solve, strategies=args.strategies), verify),
        *(arena, counts(arena) | asked),
        facts=_values,
        arrays=lambda found: _rows.columns(arena, found, **_answer(found)),
        tell=_tell,
        picture=lambda found: (arena, _shown(found)),
    )


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, energy.SOLVERS)


def ratio(text: str) -> Fraction:
    """Type of an option that takes an integer or a fraction."""
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(
            f"expected an integer or a fraction such as 3/2, got {text}"
        ) from None


def _decide(arena: Arena, threshold: Fraction, **how) -> energy.Solution:
    """As an energy game, whose credits can be checked."""
    game = energy.from_mean_payoff(arena, threshold)
    solution = energy.solve(game, **how)
    if solution.status != Status.OVERFLOW or how["max_steps"] is not None:
        return solution
    wide = dataclasses.replace(game, weight=game.weight.astype(object))
    return energy.solve(wide, **how)


def _verify(arena: Arena, solution: energy.Solution, threshold: Fraction):
    game = energy.from_mean_payoff(arena, threshold)
    return _weighted.verify_credits(game, solution)


def _values(solution) -> dict:
    """What is told of values: how many vertices have each."""
    if not isinstance(solution, meanpayoff.Solution):
        return {}
    parts = (x.tolist() for x in (solution.value_num, solution.value_den))
    count = collections.Counter(zip(*parts, strict=True))
    each = sorted((Fraction(*pair), many) for pair, many in count.items())
    return {"values": [{"value": str(value), "vertices": many} for value, many in each]}


def _answer(solution) -> dict[str, np.ndarray]:
    if isinstance(solution, meanpayoff.Solution):
        return {"value_num": solution.value_num, "value_den": solution.value_den}
    return {"winner": solution.winner}


def _shown(solution) -> _pictures.Found | energy.Solution:
    """What a picture shows: who wins, or where the value is not negative."""
    if not isinstance(solution, meanpayoff.Solution):
        return solution
    value = solution.value_num
    return _pictures.Found.of_values(value, value, solution.strategy)


def _tell(args: argparse.Namespace, facts: dict) -> None:
    if args.threshold is not None:
        won = facts["won"]
        print(
            f"{args.file}: the mean payoff is at least {args.threshold} from "
            f"{counted(won[0], 'vertex')}, and less from {won[1]:,}"
        )
        return
    values = facts["values"]
    if not values:
        print(f"{args.file}: no vertices")
        return
    print(
        f"{args.file}: {counted(len(values), 'value')}, from "
        f"{values[0]['value']} to {values[-1]['value']}"
    )
    if args.brief:
        return
    largest = sorted(values, key=lambda x: -x["vertices"])[:SHOWN]
    for value in largest:
        many, what = counted(value["vertices"], "vertex").split()
        print(f"  {value['value']:<20}{many:>14} {what}")
    if len(values) > SHOWN:
        print(f"  and {len(values) - SHOWN:,} more")
