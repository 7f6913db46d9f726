"""Many games in one call: side by side, as one."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames import drive, validity
from jaxgames.multienergy._batch import union
from jaxgames.multienergy._checks import checked
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._solution import Fronts
from jaxgames.multienergy._solve import solve
from jaxgames.solver import Solver


def solve_many(
    games: Sequence[Game], solver: str | Solver = "auto", **options: Any
) -> list[Fronts]:
    """Solves many games in one call: all of them side by side, as one game.

    [`jaxgames.solve_many`][jaxgames.solve_many] does that too, for games that differ
    in dimensions and caps.

    Args:
        games: concrete games; all have the same dimensions and caps.
        solver: as for [`solve`][jaxgames.multienergy.solve].
        options: the other keywords of `solve`.

    Returns:
        The fronts of each game; their `state` is None.

    Raises:
        ValueError: games differ in dimensions or caps, or as for `solve`.
        SolveError: as for `solve`.

    Examples:
        >>> from jaxgames import multienergy
        >>> games = [
        ...     multienergy.Game.from_arrays(
        ...         [0, 1, 1], [1], [0], [[-k, 0]], defender=[0, 1], cap=5
        ...     )
        ...     for k in (1, 2, 3)
        ... ]
        >>> [found.budgets(0).tolist() for found in multienergy.solve_many(games)]
        [[[1, 0]], [[2, 0]], [[3, 0]]]
    """
    if len(games) == 0:
        return []
    return _parts(games, solve(union(games), solver, **options))


def _parts(games: Sequence[Game], found: Fronts) -> list[Fronts]:
    """The fronts of each game, from those of all side by side."""
    cuts = np.cumsum([0, *(game.num_positions for game in games)])
    return [
        dataclasses.replace(
            found, words=tuple(word[:, i:j] for word in found.words), state=None
        )
        for i, j in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]


def _solve(
    games: list[Game], solver, *, max_steps, state, progress, strategies
) -> tuple[list[Fronts], Any]:
    """One game for each kind: with dimensions and caps in common."""
    del strategies
    for index, game in enumerate(games):
        with validity.about_game(index):
            if not isinstance(game, Game):
                raise ValueError(f"game must be a Game, got {type(game).__name__}")
            checked(game)
    groups = list(drive.grouped((x.dimensions, x.cap) for x in games).values())
    states = drive.states_of(groups, state)
    found: list[Any] = [None] * len(games)
    for at, members in enumerate(groups):
        some = [games[index] for index in members]
        whole = solve(
            union(some),
            solver,
            max_steps=max_steps,
            state=states[at],
            throw=False,
            progress=progress,
        )
        states[at] = whole.state
        for index, own in zip(members, _parts(some, whole), strict=True):
            found[index] = own
    return found, tuple(states)


PROBLEM = drive.register(drive.Union(name="multienergy", solve=_solve))
"""For [`solve_many`][jaxgames.solve_many]."""
