"""`jaxgames meanpayoff`."""

import argparse
import collections
import dataclasses
import functools
from fractions import Fraction

import numpy as np

from jaxgames import energy, meanpayoff
from jaxgames.arena import Arena
from jaxgames.cli import _checkpoint, _options, _parts, _pictures, _weighted
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
    phase, arena = _parts.begin(args, _weighted.load_weighted)
    with phase("prepare"):
        _weighted.prepare(args, arena)
    if args.threshold is None:
        solve, verify, facts_of = meanpayoff.solve, meanpayoff.verify, _values
    else:
        solve = functools.partial(_decide, threshold=args.threshold)
        verify = functools.partial(_verify, threshold=args.threshold)
        facts_of = _winners
    solve = functools.partial(solve, strategies=args.strategies)
    solution = _parts.solve(args, phase, solve, arena)
    verdict = _parts.verdict_on(args, phase, verify, arena, solution)
    facts = {
        **counts(arena),
        **_parts.solve_facts(solution, phase.seconds, verdict),
    }
    if solution.status == Status.SOLVED:
        facts |= facts_of(args, arena, solution)
        if args.all:
            facts |= {name: x.tolist() for name, x in _arrays(arena, solution).items()}
    end = _parts.conclude(*(args, solution, verdict, facts), lambda: _tell(args, facts))
    if args.output and end == Exit.DONE:
        _weighted.write_rows(args.output, **_arrays(arena, solution))
    if end == Exit.DONE:
        _pictures.write(args, arena, _shown(solution))
    return end


def _check_options(args: argparse.Namespace) -> None:
    _weighted.check_output(args)
    _pictures.check(args)
    _parts.check_solver(energy.SOLVERS, args.solver)
    _checkpoint.check(args)


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


def _winners(args, arena: Arena, solution: energy.Solution) -> dict:
    winner = np.asarray(solution.winner)[: int(arena.num_vertices)]
    return {
        "threshold": str(args.threshold),
        "won": [int((winner == player).sum()) for player in (0, 1)],
    }


def _values(args, arena: Arena, solution: meanpayoff.Solution) -> dict:
    """What is told of the values: how many vertices have each."""
    size = int(arena.num_vertices)
    parts = (x[:size].tolist() for x in (solution.value_num, solution.value_den))
    count = collections.Counter(zip(*parts, strict=True))
    each = sorted((Fraction(*pair), many) for pair, many in count.items())
    return {"values": [{"value": str(value), "vertices": many} for value, many in each]}


def _arrays(arena: Arena, solution) -> dict[str, np.ndarray]:
    size = int(arena.num_vertices)
    if isinstance(solution, meanpayoff.Solution):
        arrays = {"value_num": solution.value_num, "value_den": solution.value_den}
    else:
        arrays = {"winner": solution.winner}
    if solution.strategy is not None:
        arrays["successor"] = solution.successor(arena)
    return {name: np.asarray(array)[:size] for name, array in arrays.items()}


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
