"""`jaxgames emersonlei`."""

import argparse
import functools

import numpy as np

from jaxgames import emersonlei
from jaxgames.cli import _oink, _options, _parts, _pictures, _weighted
from jaxgames.cli._exit import Exit
from jaxgames.io import hoa_game
from jaxgames.quoting import all_counted, counted
from jaxgames.solution import Status

EXAMPLE = "emersonlei game.hoa --verify -o strategy.npz"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a game in the Hanoi format (.hoa), with 'spot-state-player:'; player 0 wants "
        "the condition",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    _options.add_strategies(parser)
    _weighted.add_rows(parser)
    _pictures.add(parser)
    _options.add_decomposition(parser, _oink.solver, kept=False)
    _options.take_no(
        parser,
        "each call makes the parity game anew, so there is no state to keep",
        "--checkpoint",
        "--resume",
    )


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, game = _parts.begin(args, lambda args: hoa_game.load(args.file), _sizes)
    vertices, edges = game.shape
    solve = functools.partial(emersonlei.solve, strategies=args.strategies)
    solution = _parts.solve(args, phase, solve, game)
    verdict = _parts.verdict_on(args, phase, emersonlei.verify, game, solution)
    winner = np.asarray(solution.winner)
    facts = {
        "vertices": vertices,
        "edges": edges,
        "condition": str(game.condition),
        **_parts.solve_facts(solution, phase.seconds, verdict),
        "won": [int((winner == player).sum()) for player in (0, 1)],
    }
    solved = solution.status == Status.SOLVED
    if solved and solution.machine is not None:
        facts["memories"] = solution.machine.memories
    if solved and args.all:
        facts["winner"] = winner.tolist()
        if solution.machine is not None:
            parts = vars(solution.machine).items()
            facts |= {name: np.asarray(part).tolist() for name, part in parts}
    end = _parts.conclude(*(args, solution, verdict, facts), lambda: _tell(args, facts))
    if args.output and end == Exit.DONE:
        _write(args.output, winner, solution.machine)
    if end == Exit.DONE:
        _pictures.write(args, game.arena, _pictures.Found(winner))
    return end


def _sizes(game: emersonlei.Game) -> str:
    vertices, edges = game.shape
    return f"{all_counted(vertex=vertices, edge=edges)}, {game.condition}"


def _check_options(args: argparse.Namespace) -> None:
    _weighted.check_output(args)
    _pictures.check(args)
    _parts.check_solver(emersonlei.SOLVERS, args.solver)
    _parts.check_strategies(args)


def _write(path: str, winner: np.ndarray, machine: emersonlei.Machine | None) -> None:
    """Writes who wins each vertex; in archives the machine, too."""
    if path.lower().endswith(".npz") and machine is not None:
        _parts.write_arrays(path, winner, winner=winner, **vars(machine))
        return
    _weighted.write_rows(path, winner=winner)


def _tell(args: argparse.Namespace, facts: dict) -> None:
    memories = facts.get("memories")
    more = "" if memories is None else f"; {counted(memories, 'memory')}"
    print(
        f"{args.file}: player 0 wins from {counted(facts['won'][0], 'vertex')}, "
        f"player 1 from {facts['won'][1]:,}{more}"
    )
