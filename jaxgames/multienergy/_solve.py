"""The front door of games of several energies."""

from typing import Unpack

from jaxgames import drive
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._problem import PROBLEM
from jaxgames.multienergy._solution import Fronts
from jaxgames.solver import Solver


@drive.front_door
def solve(
    game: Game,
    solver: str | Solver = "auto",
    **how: Unpack[drive.How],
) -> Fronts:
    """Finds all minimal budgets with which the attacker wins, for every position.

    The winning budgets of a position are an upward closed set: its minimal ones, the
    Pareto front, tell all of them. They are the least solution of two equations: the
    attacker needs what one of his moves needs, the defender's position what all of his
    moves need. Where the defender has no move nothing is needed.

    Works inside `jax.jit` and `jax.vmap` on a traced game; then fronts have a fixed
    room, and the status is `OVERFLOW` where that was not enough. On a concrete game the
    host lays it out for the device, drives the rounds, and makes room.

    Args:
        game: the game.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once; or `"auto"`, which chooses and says in `stats` what it took.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        [`Fronts`][jaxgames.multienergy.Fronts], the same budgets from every solver.

    Raises:
        ValueError: an argument is wrong, or the device has not enough memory: see
            [`memory`][jaxgames.multienergy.memory].
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds the
            budgets that were found, and the state to go on from.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 2, 4, 4, 4], [1, 2, 2, 3], [0, 1, 2, 1],
        ...     [[-1, 0], [0, -2], [("min", 1), 0]],
        ...     defender=[False, True, True, True],
        ... )
        >>> found = multienergy.solve(game)
        >>> found
        Fronts(4 minimal budgets of 4 positions)
        >>> found.budgets(0)
        array([[0, 2]], dtype=int32)
        >>> found.winning(0, [1, 1])
        False
    """
    return drive.solve(PROBLEM, game, solver, **how)


def place_for(game: Game, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"host"`, `"device"` or `"race"`.

    Args:
        game: the game.
        solver: as for `solve`.
    """
    return drive.place_for(PROBLEM, game, solver)
