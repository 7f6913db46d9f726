"""`jaxgames energy`."""

import argparse
import functools

import numpy as np

from jaxgames import energy
from jaxgames.arena import Arena
from jaxgames.cli import _checkpoint, _options, _parts, _pictures, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts
from jaxgames.quoting import counted, quoted
from jaxgames.solution import Status

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
    phase, arena = _parts.begin(args, _weighted.load_weighted)
    with phase("prepare"):
        _weighted.prepare(args, arena)
    size = int(arena.num_vertices)
    if args.vertex is not None and args.vertex >= size:
        raise ValueError(
            f"--from {args.vertex}: {args.file} has the vertices 0 to {size - 1}"
        )
    solve, verify = energy.solve, _weighted.verify_credits
    if args.capacity is not None:
        solve = functools.partial(energy.solve_with_capacity, capacity=args.capacity)
        verify = functools.partial(energy.verify_with_capacity, capacity=args.capacity)
    solve = functools.partial(solve, strategies=args.strategies)
    solution = _parts.solve(args, phase, solve, arena)
    verdict = _parts.verdict_on(args, phase, verify, arena, solution)
    facts = {
        **counts(arena),
        "capacity": args.capacity,
        **_parts.solve_facts(solution, phase.seconds, verdict),
        **_facts(arena, solution),
    }
    solved = solution.status == Status.SOLVED
    if solved and args.all:
        facts |= {name: x.tolist() for name, x in _arrays(arena, solution).items()}
    answer = _answer(args, arena, solution) if solved else {}
    facts |= answer
    end = _parts.conclude(
        *(args, solution, verdict, facts), lambda: _tell(args, facts, answer)
    )
    if end != Exit.DONE:
        return end
    if args.output:
        _weighted.write_rows(args.output, **_arrays(arena, solution))
    _pictures.write(args, arena, solution)
    if args.vertex is not None and answer.get("enough") is False:
        return Exit.WRONG
    return Exit.DONE


def _check_options(args: argparse.Namespace) -> None:
    _weighted.check_output(args)
    _pictures.check(args)
    _checkpoint.check(args)
    if args.capacity is None:
        _parts.check_solver(energy.SOLVERS, args.solver)
    elif args.solver not in ("auto", "fvi", "host"):
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


def _facts(arena: Arena, solution: energy.Solution) -> dict:
    size = int(arena.num_vertices)
    winner = np.asarray(solution.winner)[:size]
    credit = np.asarray(solution.credit)[:size]
    return {
        "won": [int((winner == player).sum()) for player in (0, 1)],
        "undecided": int((winner == -1).sum()),
        "largest_credit": int(credit.max(initial=0)),
    }


def _arrays(arena: Arena, solution: energy.Solution) -> dict[str, np.ndarray]:
    size = int(arena.num_vertices)
    arrays = {"credit": solution.credit, "winner": solution.winner}
    if solution.strategy is not None:
        arrays["successor"] = solution.successor(arena)
    return {name: np.asarray(array)[:size] for name, array in arrays.items()}


def _answer(args, arena: Arena, solution: energy.Solution) -> dict:
    """What was asked about an initial energy, and a play."""
    found = {}
    size = int(arena.num_vertices)
    if args.credit is not None:
        enough = np.asarray(energy.survives(solution, args.credit))[:size]
        found["enough_from"] = int(enough.sum())
        if args.vertex is not None:
            found["enough"] = bool(enough[args.vertex])
    if args.vertex is not None:
        found["needed"] = int(np.asarray(solution.credit)[args.vertex])
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


def _tell(args: argparse.Namespace, facts: dict, answer: dict) -> None:
    won = facts["won"]
    most = f" with credits up to {facts['largest_credit']:,}" if won[0] else ""
    print(f"{args.file}: player 0 wins {won[0]:,}{most}, player 1 wins {won[1]:,}")
    if args.brief:
        return
    if "needed" in answer:
        needed = answer["needed"]
        text = "no credit is enough" if needed == energy.TOP else f"needs {needed:,}"
        print(f"  vertex {args.vertex}: {text}")
    elif "enough_from" in answer:
        many = counted(answer["enough_from"], "vertex")
        print(f"  {args.credit:,} is enough from {many}")
    if "play" in answer:
        play = answer["play"]
        level = play["level"]
        end = "" if play["survives"] else ", where player 0 loses"
        print(
            f"  play: {counted(len(level) - 1, 'step')}, lowest level {min(level):,}, "
            f"last {level[-1]:,}{end}"
        )
