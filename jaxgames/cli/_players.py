"""Stochastic games on the command line: what `jaxgames probability` says of them."""

import argparse
from typing import Any

from jaxgames import io, mdp
from jaxgames.cli._games import read
from jaxgames.quoting import quoted

NOT_OF_GAMES = ("min", "zero_one", "for_ever", "checkpoint", "max_steps")
"""Options that say how one player's models are asked, or solved."""


def load(args: argparse.Namespace) -> mdp.MDP | mdp.Game:
    """Reads a model or a game.

    Raises:
        FormatError: the file holds something else.
        ValueError: an option is for the other of both.
    """
    given = read(args)
    if not isinstance(given, mdp.Game):
        if not isinstance(given, mdp.MDP):
            why = "expected a Markov decision process or a stochastic game, found "
            raise io.FormatError(args.file, None, why + quoted(given))
        if args.player is not None:
            raise ValueError("--player is for stochastic games: this has one player")
        return given
    for name in NOT_OF_GAMES:
        found = args.optimum == "min" if name == "min" else getattr(args, name, None)
        if found not in (None, False):
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} is for models of one player, and this is a game: --player "
                "names the player who wants to reach the target, against all others"
            )
    if getattr(args, "solver", "auto") != "auto":
        raise ValueError(
            f"-s {quoted(args.solver)} is for models of one player: games have one "
            "solver, which improves strategies"
        )
    return given


def model_of(given: mdp.MDP | mdp.Game) -> mdp.MDP:
    """The states, choices and branches."""
    return given.model if isinstance(given, mdp.Game) else given


def solve(
    game: mdp.Game,
    *,
    target: Any,
    maximizer: int,
    states: Any,
    epsilon: float,
    relative: bool,
    **_: Any,
) -> mdp.GameValues:
    """As `mdp.solve_game`; bounds may be twice `epsilon` apart, as the command says."""
    how: Any = {"maximizer": maximizer, "states": states, "relative": relative}
    return mdp.solve_game(game, target, epsilon=2 * epsilon, throw=False, **how)
