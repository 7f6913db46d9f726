"""Solves spectroscopy games as multi-dimensional energy games."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import multienergy
from jaxgames.equivalence._game import UNLIMITED, UPDATES, Spectroscopy


class Fronts(NamedTuple):
    """The minimal budgets with which the attacker wins from each position."""

    offsets: np.ndarray
    """integers `[V + 1]`, where those of each position start."""
    points: np.ndarray
    """integers `[B, D]`."""

    def of(self, position: int) -> list[tuple[int, ...]]:
        """Those of one position."""
        part = slice(self.offsets[position], self.offsets[position + 1])
        return [tuple(point) for point in self.points[part].tolist()]

    def at(self, positions: np.ndarray) -> "Fronts":
        """Those of some positions, in their order."""
        sizes = (self.offsets[1:] - self.offsets[:-1])[positions]
        offsets = np.append(0, np.cumsum(sizes))
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        rows = np.repeat(self.offsets[:-1][positions], sizes) + place
        return Fronts(offsets, self.points[rows])

    def wins(self, position: int, energy: tuple[int, ...]) -> bool:
        """Whether the attacker wins from a position with an energy."""
        part = slice(self.offsets[position], self.offsets[position + 1])
        return bool((self.points[part] <= energy).all(-1).any())


FEW = 3000
"""Positions up to which the sequential algorithm is run, before anything compiles."""


def solve(game: Spectroscopy, solver: Any = "auto") -> Fronts:
    """The fronts of all positions of a spectroscopy game."""
    arrays = game.offsets, game.targets, game.moves, UPDATES, game.defender
    return solve_arrays(*arrays, solver)


def solve_arrays(
    offsets, targets, moves, updates, defender, solver: Any = "auto"
) -> Fronts:
    """The fronts of all positions of a game with capped energies."""
    if not len(defender):
        return Fronts(np.zeros(1, np.int64), np.zeros((0, len(updates[0])), np.int32))
    game = multienergy.Game.from_arrays(
        offsets, targets, moves, updates, defender=defender, cap=UNLIMITED
    )
    if solver == "auto" and game.num_positions <= FEW:
        sets = multienergy.reference.solve(game)
        points = [budget for front in sets for budget in sorted(front)]
        sizes = np.array([len(front) for front in sets], np.int64)
        table = np.array(points, np.int32).reshape(-1, game.dimensions)
        return Fronts(np.append(0, np.cumsum(sizes)), table)
    solution = multienergy.solve(game, solver)
    return Fronts(np.asarray(solution.offsets), np.asarray(solution.points))


def energy_game(game: Spectroscopy) -> multienergy.Game:
    """A spectroscopy game without what its positions mean."""
    return multienergy.Game.from_arrays(
        game.offsets,
        game.targets,
        game.moves,
        UPDATES,
        defender=game.defender,
        cap=UNLIMITED,
    )
