"""Spectroscopy games as multi-dimensional energy games, and so to the driver."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from jaxgames import drive, multienergy, validity
from jaxgames.equivalence._game import UNLIMITED, UPDATES, Spectroscopy
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.multienergy._problem import MultiEnergy


class AsEnergyGame(MultiEnergy):
    """Questions that are put as games of several energies.

    A question checks itself, and says which game it is put as and what that game's
    budgets answer.
    """

    name = "equivalence"
    what = "system"

    def read(self, question: Any) -> tuple[Any, Any]:
        """What can be seen before anything is built."""
        question.check()
        return question, False

    def reduce(self, question: Any, names: Sequence[str]) -> tuple[Any, drive.Undo]:
        """The game, and what its budgets say."""
        return question.put()

    def undecided(self, question: Any) -> Any:
        """A question can say so itself."""
        return question

    def solution(self, answer: Any, **how: Any) -> Any:
        """That nothing is known."""
        return answer.undecided(**how)


RELATIONS = AsEnergyGame()
"""Equivalences, for [`drive.solve`][jaxgames.drive.solve]."""


@limited()
def energy_game(game: Spectroscopy, **bounds: Unpack[Bounds]) -> multienergy.Game:
    """A spectroscopy game without what its positions mean.

    Its arrays are those of the game, on the host or on the device.

    Args:
        game: from `build`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    arrays = game.arrays
    return of_arrays(
        arrays.offsets, arrays.targets, arrays.moves, UPDATES, arrays.second >= 0
    )


def of_arrays(offsets, targets, moves, updates, defender) -> multienergy.Game:
    """A game with capped energies, of arrays that need no checks."""
    xp = jnp if isinstance(targets, jax.Array) else np
    moves = xp.asarray(moves, xp.uint8)
    longest = _longest if xp is np else _longest_on_device
    game = dataclasses.replace(
        _table(tuple(updates)),
        offsets=xp.asarray(offsets, xp.int32),
        targets=xp.asarray(targets, xp.int32),
        update_id=moves,
        defender=xp.asarray(defender, bool),
        width=int(longest(offsets)) if len(offsets) > 1 else 0,
    )
    validity.known(game)
    return game


def _longest(offsets: Any) -> Any:
    """The number of moves of the position that has most."""
    return (offsets[1:] - offsets[:-1]).max()


_longest_on_device = jax.jit(_longest)


@functools.cache
def _table(updates: tuple) -> multienergy.Game:
    """A game without positions: its table of updates."""
    return multienergy.Game.from_arrays(
        [0], [], [], updates, defender=[], cap=UNLIMITED
    )


def distinguished(fronts: multienergy.Fronts, positions: Any, notions) -> np.ndarray:
    """Which notions tell apart, by the minimal budgets of positions.

    Args:
        fronts: those of the game.
        positions: integers `[N]`, on the host or where the fronts are.
        notions: the budget of each notion.

    Returns:
        bool `[N, number of notions]`, whether the attacker can pay with its budget.
    """
    paid = fronts.at(positions).winning_with(list(notions.values()))
    return np.asarray(paid).T
