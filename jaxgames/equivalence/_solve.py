"""Solves spectroscopy games as multi-dimensional energy games."""

import contextlib
import dataclasses
import functools
from typing import Any, Unpack

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import multienergy, validity
from jaxgames.equivalence._build import build
from jaxgames.equivalence._game import UNLIMITED, UPDATES, Spectroscopy
from jaxgames.equivalence._system import System
from jaxgames.limits import Bounds, limited
from jaxgames.progress import Meter, as_progress


def solve(
    game: Spectroscopy, solver: Any = "auto", progress: Meter | None = None
) -> multienergy.Fronts:
    """The minimal budgets of all positions of a spectroscopy game, where it is.

    Raises:
        SolveError: `progress` has stopped it.
    """
    return multienergy.solve(energy_game(game), solver, progress=progress)


def build_and_solve(
    system: System,
    pairs: np.ndarray,
    solver: Any,
    progress: Meter | bool | None,
    **how: Any,
) -> tuple[Spectroscopy, multienergy.Fronts]:
    """The game of some pairs of processes and its budgets, told to one meter.

    Args:
        system: the processes, no two of them bisimilar.
        pairs: int32 `[N, 2]`, p and q, which differ.
        solver: of the energy game.
        progress: told now and then; may end it.
        how: as `build` takes it.

    Raises:
        SolveError: `progress` has stopped it.
    """
    with contextlib.closing(as_progress(progress)) as meter:
        tell = meter.__call__  # closed once, not after each part
        game = build(system, pairs, progress=tell, **how)
        return game, solve(game, solver, tell)


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
