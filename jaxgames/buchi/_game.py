"""The front door of Büchi games: player 0 wants to visit accepting vertices."""

from typing import Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.buchi._problem import PROBLEM, Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Decides who wins a Büchi game from each vertex, and how.

    Player 0 wins a play that visits accepting vertices infinitely often, player 1 any
    other. Works inside `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        arena: a game with accepting vertices; every vertex has a successor.
        solver: a name from `GAME_SOLVERS`; a solver with options of its own; `"host"`
            for the sequential engine, which wants numba to be fast; `"race"` for both
            at once; or `"auto"`, which chooses.
        strategies: whether strategies are wanted. Without, the solution's is None.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        Winners and strategies: [`Solution`][jaxgames.buchi.Solution]; the same from
        every solver.

    Raises:
        ValueError: the arena has no accepting vertices, a vertex lacks successors, or
            an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames import Arena, buchi
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 2, 2], owner=[0, 1, 0], accepting=[1, 0, 0]
        ... )
        >>> found = buchi.solve(arena)
        >>> found
        Solution(player 0 wins 1, player 1 wins 2)
        >>> found.strategy
        array([ 0,  2, -1], dtype=int32)
    """
    return drive.solve(PROBLEM, arena, solver, strategies=strategies, **how)
