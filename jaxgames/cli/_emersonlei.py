"""`jaxgames emersonlei`."""

import argparse
import functools
from typing import Any

import numpy as np

from jaxgames import emersonlei
from jaxgames.cli import _oink, _options, _parts, _pictures, _rows
from jaxgames.cli._exit import Exit
from jaxgames.io import hoa_game
from jaxgames.quoting import all_counted, counted

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
    _rows.add_rows(parser)
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
    sizes = {"vertices": vertices, "edges": edges, "condition": str(game.condition)}
    return _rows.answered(
        *(args, phase, solve, emersonlei.verify, game, sizes),
        facts=_facts,
        arrays=lambda found: {"winner": np.asarray(found.winner)},
        tell=_tell,
        picture=lambda found: (game.arena, _pictures.Found(found.winner)),
        more=_machine,
    )


def _facts(found: emersonlei.Solution) -> dict[str, Any]:
    return {} if found.machine is None else {"memories": found.machine.memories}


def _machine(found: emersonlei.Solution) -> dict[str, np.ndarray]:
    """The strategies, which a text does not hold."""
    parts = {} if found.machine is None else vars(found.machine)
    return {name: np.asarray(part) for name, part in parts.items()}


def _sizes(game: emersonlei.Game) -> str:
    vertices, edges = game.shape
    return f"{all_counted(vertex=vertices, edge=edges)}, {game.condition}"


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, emersonlei.SOLVERS)
    _parts.check_strategies(args)


def _tell(args: argparse.Namespace, facts: dict) -> None:
    memories = facts.get("memories")
    more = "" if memories is None else f"; {counted(memories, 'memory')}"
    print(
        f"{args.file}: player 0 wins from {counted(facts['won'][0], 'vertex')}, "
        f"player 1 from {facts['won'][1]:,}{more}"
    )
