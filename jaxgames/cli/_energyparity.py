"""`jaxgames energyparity`."""

import argparse
import functools

import numpy as np

from jaxgames import energyparity, io
from jaxgames.arena import Arena
from jaxgames.cli import (
    _checkpoint,
    _meanpayoff,
    _options,
    _parts,
    _pictures,
    _weighted,
)
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, load
from jaxgames.quoting import counted
from jaxgames.solution import Status

EXAMPLE = "energyparity game.eparity --verify -o winners.txt"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_game(
        parser,
        what="a game with weights on edges and priorities on vertices: .eparity, .npz",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "--threshold",
        type=_meanpayoff.ratio,
        metavar="P/Q",
        help="solve a mean-payoff parity game: player 0 wants at least that mean "
        "payoff and an even priority",
    )
    _options.add_strategies(parser)
    _weighted.add_rows(parser)
    _pictures.add(parser)
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _parts.begin(args, load_game)
    game = arena
    if args.threshold is not None:
        game = energyparity.from_mean_payoff_parity(arena, args.threshold)
    solve = functools.partial(energyparity.solve, strategies=args.strategies)
    solution = _parts.solve(args, phase, solve, game)
    verdict = _parts.verdict_on(args, phase, energyparity.verify, game, solution)
    size = int(arena.num_vertices)
    winner = np.asarray(solution.winner)[:size]
    facts = {
        **counts(arena),
        "threshold": None if args.threshold is None else str(args.threshold),
        **_parts.solve_facts(solution, phase.seconds, verdict),
        "won": [int((winner == player).sum()) for player in (0, 1)],
    }
    if solution.status == Status.SOLVED and args.all:
        facts |= {name: x.tolist() for name, x in _arrays(arena, solution).items()}
        if solution.modes is not None:
            modes = vars(solution.modes).items()
            facts |= {f"modes_{name}": np.asarray(x).tolist() for name, x in modes}
    end = _parts.conclude(*(args, solution, verdict, facts), lambda: _tell(args, facts))
    if args.output and end == Exit.DONE:
        _write(args.output, arena, solution)
    if end == Exit.DONE:
        _pictures.write(args, game, solution)
    return end


def load_game(args: argparse.Namespace) -> Arena:
    """Reads a game with weights and priorities; else raises FormatError."""
    arena = load(args)
    if arena.weight is None or np.ndim(arena.weight) != 1 or arena.priority is None:
        raise io.FormatError(
            args.file,
            None,
            "expected one weight on each edge and a priority on each vertex, found "
            f"{arena!r}",
        )
    return arena


def _check_options(args: argparse.Namespace) -> None:
    _weighted.check_output(args)
    _pictures.check(args)
    _parts.check_solver(energyparity.SOLVERS, args.solver)
    _checkpoint.check(args, everywhere=True)
    _parts.check_strategies(args)


def _arrays(arena: Arena, solution: energyparity.Solution) -> dict[str, np.ndarray]:
    """What is written of each vertex: moves are those of player 1."""
    size = int(arena.num_vertices)
    arrays = {"winner": solution.winner}
    if solution.strategy is not None:
        arrays |= {"enough": solution.credit, "successor": solution.successor(arena)}
    return {name: np.asarray(array)[:size] for name, array in arrays.items()}


def _write(path: str, arena: Arena, solution: energyparity.Solution) -> None:
    """Writes what was found of each vertex; in archives player 0's modes, too."""
    arrays = _arrays(arena, solution)
    if path.lower().endswith(".npz") and solution.modes is not None:
        arrays |= {
            f"modes_{name}": x.astype(str) if x.dtype == object else x
            for name, x in vars(solution.modes).items()
        }
    _weighted.write_rows(path, **arrays)


def _tell(args: argparse.Namespace, facts: dict) -> None:
    how = "" if args.threshold is None else f" a mean of at least {args.threshold}"
    print(
        f"{args.file}: player 0 wins{how} from {counted(facts['won'][0], 'vertex')}, "
        f"player 1 from {facts['won'][1]:,}"
    )
