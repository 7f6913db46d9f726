"""The front door of discounted games."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.discounted._problem import PROBLEM, Asked
from jaxgames.discounted._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    discount: Any,
    solver: str | Solver = "auto",
    *,
    epsilon: Any = 1e-6,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Finds the value of each vertex of a discounted game, between certain bounds.

    A play with the weights `w0, w1, ...` is worth `(1 - d)` times the sum of
    `d**i * wi` for a discount factor `d`: a mean in which what comes later counts less.
    Player 0 wants it to be large and player 1 small; both have strategies that only
    look at where the play is [1]. The factor 1 would be a mean-payoff game.

    Values satisfy `v = (1 - d) w + d v'` along the best edge of each vertex. However
    values are found, bounds around them are made of how far they are from satisfying
    that, with all rounding counted in.

    Works inside `jax.jit` and `jax.vmap` on a traced arena, discount and epsilon, in
    the floating numbers that JAX has: of 32 bits bounds are wide.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.
        discount: between 0 and 1: a float, a `fractions.Fraction`, or a pair of
            integers `(p, q)`.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            strategy improvement on the host; `"race"` for both at once; or `"auto"`,
            which chooses and says in `stats` what it took.
        epsilon: how far values may be from the true ones.
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        Bounds, values and strategies: [`Solution`][jaxgames.discounted.Solution]. Where
        float64 cannot tell values apart as epsilon asks for, the status is
        `Status.PRECISION`, with bounds that hold; so they do where a solve stopped.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        [1] Zwick and Paterson, The complexity of mean payoff games on graphs,
        doi:10.1016/0304-3975(95)00188-3.

    Examples:
        >>> from jaxgames import Arena, discounted
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1], weight=[0, 5, 4, 2]
        ... )
        >>> solution = discounted.solve(arena, (3, 4))
        >>> solution.value.round(6)
        array([3., 4., 2.])
        >>> solution.strategy
        array([0, 2, 3], dtype=int32)
        >>> discounted.solve(arena, 0.25).strategy
        array([1, 2, 3], dtype=int32)
    """
    question = Asked(arena, discount, epsilon)
    return drive.solve(PROBLEM, question, solver, strategies=strategies, **how)
