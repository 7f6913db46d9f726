"""`jaxgames energyparity`."""

import argparse
import functools

import numpy as np

from jaxgames import energyparity, io
from jaxgames.arena import Arena
from jaxgames.cli import _meanpayoff, _options, _parts, _pictures, _rows
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, load
from jaxgames.quoting import counted

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
    _rows.add_rows(parser)
    _pictures.add(parser)
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, arena = _parts.begin(args, load_game)
    game = arena
    if args.threshold is not None:
        game = energyparity.from_mean_payoff_parity(arena, args.threshold)
    solve = functools.partial(energyparity.solve, strategies=args.strategies)
    threshold = None if args.threshold is None else str(args.threshold)
    return _rows.answered(
        *(args, phase, solve, energyparity.verify, game),
        {**counts(arena), "threshold": threshold},
        arrays=lambda found: _arrays(arena, found),
        tell=_tell,
        picture=lambda found: (game, found),
        more=_modes,
    )


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
    _rows.check(args, energyparity.SOLVERS, everywhere=True)
    _parts.check_strategies(args)


def _arrays(arena: Arena, solution: energyparity.Solution) -> dict[str, np.ndarray]:
    """What is written of each vertex: moves are those of player 1."""
    enough = {} if solution.strategy is None else {"enough": solution.credit}
    return _rows.columns(arena, solution, winner=solution.winner, **enough)


def _modes(solution: energyparity.Solution) -> dict[str, np.ndarray]:
    """What player 0 does, which a text does not hold."""
    modes = {} if solution.modes is None else vars(solution.modes)
    return {f"modes_{name}": np.asarray(x) for name, x in modes.items()}


def _tell(args: argparse.Namespace, facts: dict) -> None:
    how = "" if args.threshold is None else f" a mean of at least {args.threshold}"
    print(
        f"{args.file}: player 0 wins{how} from {counted(facts['won'][0], 'vertex')}, "
        f"player 1 from {facts['won'][1]:,}"
    )
