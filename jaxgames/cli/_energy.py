"""`jaxgames energy`."""

import argparse
import functools

import numpy as np

from jaxgames import energy
from jaxgames.arena import Arena
from jaxgames.cli import _options, _rows, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts
from jaxgames.quoting import counted, quoted

EXAMPLE = "energy game.energy --verify -o credits.npz"


def options(parser: argparse.ArgumentParser) -> None:
    _weighted.add_weighted(parser)
    parser.set_defaults(check=_check_options)
    parser.add_argument(
        "--capacity",
        type=_options.natural,
        metavar="N",
        help="what the battery holds; more energy is lost",
    )
    parser.add_argument(
        "--credit",
        type=_options.natural,
        metavar="N",
        help="say from which vertices this initial energy is enough; with --from, the "
        "exit code is 1 if it is not enough",
    )
    parser.add_argument(
        "--from",
        dest="vertex",
        type=_options.natural,
        metavar="V",
        help="the vertex for --credit and --play",
    )
    parser.add_argument(
        "--play",
        type=_options.natural,
        metavar="STEPS",
        help="follow the strategies from V for so many steps, with the energy of "
        "--credit or the least that is enough",
    )
    parser.add_argument(
        "--opponent",
        default="random",
        metavar="HOW",
        help="how a player without a strategy moves in a play: random (default), "
        "greedy or tight",
    )
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _weighted.begin(args)
    size = int(arena.num_vertices)
    if args.vertex is not None and args.vertex >= size:
        raise ValueError(
            f"--from {args.vertex}: {args.file} has the vertices 0 to {size - 1}"
        )
    solve, verify = energy.solve, _weighted.verify_credits
    if args.capacity is not None:
        solve = functools.partial(energy.solve_with_capacity, capacity=args.capacity)
        verify = functools.partial(energy.verify_with_capacity, capacity=args.capacity)
    return _rows.answered(
        *(args, phase, functools.partial(solve, strategies=args.strategies), verify),
        *(arena, {**counts(arena), "capacity": args.capacity}),
        facts=lambda found: _facts(args, arena, found),
        arrays=lambda found: _rows.columns(
            arena, found, credit=found.credit, winner=found.winner
        ),
        tell=_tell,
        picture=lambda found: (arena, found),
    )


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, energy.SOLVERS)
    if args.capacity is not None and args.solver not in ("auto", "fvi", "host"):
        raise ValueError(
            f"--capacity has the solvers auto, fvi and host, got {quoted(args.solver)}"
        )
    if args.play is not None:
        if args.vertex is None:
            raise ValueError("--play needs the vertex --from which it begins")
        if not args.strategies:
            raise ValueError(
                "--play needs the strategies that --no-strategies leaves out"
            )
    if args.vertex is not None and args.credit is None and args.play is None:
        raise ValueError("--from goes with --credit or --play")
    if args.opponent not in ("random", "greedy", "tight"):
        raise ValueError(
            f"--opponent is random, greedy or tight, got {quoted(args.opponent)}"
        )


def _facts(args: argparse.Namespace, arena: Arena, solution: energy.Solution) -> dict:
    size = int(arena.num_vertices)
    credit = np.asarray(solution.credit)[:size]
    found: dict = {"largest_credit": int(credit.max(initial=0))}
    if args.credit is not None:
        enough = np.asarray(energy.survives(solution, args.credit))[:size]
        found["enough_from"] = int(enough.sum())
        if args.vertex is not None:
            found["enough"] = bool(enough[args.vertex])
    if args.vertex is not None:
        found["needed"] = int(credit[args.vertex])
    if args.play is not None and args.vertex is not None:
        needed = max(found["needed"], 0)
        play = energy.play(
            *(arena, solution, args.vertex),
            *(needed if args.credit is None else args.credit, args.play),
            opponent=args.opponent,
            capacity=args.capacity,
        )
        found["play"] = {
            "survives": play.survives,
            "vertex": play.vertex.tolist(),
            "level": play.level.tolist(),
        }
    return found


def _tell(args: argparse.Namespace, facts: dict) -> None:
    won = facts["won"]
    most = f" with credits up to {facts['largest_credit']:,}" if won[0] else ""
    print(f"{args.file}: player 0 wins {won[0]:,}{most}, player 1 wins {won[1]:,}")
    if args.brief:
        return
    if "needed" in facts:
        needed = facts["needed"]
        text = "no credit is enough" if needed == energy.TOP else f"needs {needed:,}"
        print(f"  vertex {args.vertex}: {text}")
    elif "enough_from" in facts:
        many = counted(facts["enough_from"], "vertex")
        print(f"  {args.credit:,} is enough from {many}")
    if "play" in facts:
        play = facts["play"]
        level = play["level"]
        end = "" if play["survives"] else ", where player 0 loses"
        print(
            f"  play: {counted(len(level) - 1, 'step')}, lowest level {min(level):,}, "
            f"last {level[-1]:,}{end}"
        )
