"""The front door of energy games."""

from typing import Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.energy._problem import PROBLEM
from jaxgames.energy._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Finds the least energy from which a play of an energy game can go on for ever.

    Each edge adds its weight to an energy level that must never fall below zero. The
    credit of a vertex is the least initial level with which player 0 can see to that,
    whatever player 1 does. Where no level is enough player 1 wins: he can make it fall
    without end.

    Works inside `jax.jit` and `jax.vmap` on a traced arena, in the 32 or 64 bits of its
    weights; there a number that does not fit ends in `Status.OVERFLOW`. On a concrete
    arena the host chooses the width, lays it out for the device, drives the loop in
    chunks and can be interrupted. Where the device's 64 bits are too few it is solved
    on the host, in as many as it takes, and `stats` says so; but not where `max_steps`
    or `state` ask for the device.

    Args:
        arena: a game with one integer weight on each edge, in a unit of energy; every
            vertex has a successor.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once, the first to finish wins; or `"auto"`, which chooses among all these
            and says in `stats` what it took.
        strategies: whether strategies are wanted; that of player 1 takes about as long
            as the credits of what he wins. Without, the solution's `strategy` is None.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round of fast value
            iteration is a turn.

    Returns:
        Credits, winners and strategies: [`Solution`][jaxgames.energy.Solution]; the
        same from every solver. The strategy of player 0 takes the first edge for which
        the credit is enough; that of player 1 the first edge that attains the least
        pair of energy and steps that he needs, see
        [`Dual`][jaxgames.energy.Dual].

    Raises:
        ValueError: the arena is no energy game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            what was found, and the state to go on from. With `Status.OVERFLOW` credits
            do not fit 64 bits.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 1, 2], [1, 0, 0, 2, 2], owner=[0, 1, 1],
        ...     weight=[-3, -1, 2, 1, 0],
        ... )
        >>> solution = energy.solve(arena)
        >>> solution
        Solution(player 0 wins 1 with credits up to 0, player 1 wins 2)
        >>> solution.credit, solution.strategy
        (array([-1, -1,  0], dtype=int32), array([-1,  2, -1], dtype=int32))
    """
    return drive.solve(PROBLEM, arena, solver, strategies=strategies, **how)


def place_for(arena: Arena, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"device"`, `"host"` or `"race"`.

    Args:
        arena: the game.
        solver: as for `solve`.

    Raises:
        ValueError: there is no such solver.
    """
    return drive.place_for(PROBLEM, arena, solver)
