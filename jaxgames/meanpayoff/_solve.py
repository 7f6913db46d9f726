"""The front door of mean-payoff games."""

from typing import Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.meanpayoff._problem import PROBLEM
from jaxgames.meanpayoff._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Finds the value of each vertex of a mean-payoff game, and optimal strategies.

    In a play without end the weights of its edges have a mean, the limit of the means
    of its beginnings (the lower limit if there is none). Player 0 wants it to be large
    and player 1 small. The value of a vertex is what each of them can see to by a
    strategy that only looks where the play is: the mean of a cycle.

    Whether it is at least `p/q` is an energy game with the weights `q w - p` [1]. All
    vertices that are not told apart yet ask the same question; what a question tells
    apart is parted for good, since optimal plays stay with vertices of their value. So
    each round is one energy game over the arena with a threshold for each part. It
    halves the intervals, about, until they hold one fraction whose denominator is no
    more than the number of vertices that are left: at most about `2 log2(n**2 W)`
    rounds for `n` vertices and weights up to `W`. At last two energy games at the
    values give the strategies, and prove both.

    These two are enough where the values have been guessed right: where numba is
    installed, and `max_steps` and `state` are not given, a strategy iteration in
    floating point is tried first, whose values are taken only if the games prove them.

    Weights may be as large as their type holds: where the energy games do not fit 64
    bits, `stats` says that the host has solved them, in two words or, where these too
    are few or numba is not installed, in Python's integers.

    On a concrete arena only (the host chooses thresholds);
    [`decide`][jaxgames.meanpayoff.decide] works inside `jax.jit` and `jax.vmap`.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.
        solver: of the energy games, as for [`energy.solve`][jaxgames.energy.solve].
        strategies: whether strategies are wanted; they take two more energy games.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round asks one question
            of all vertices.

    Returns:
        Values and strategies: [`Solution`][jaxgames.meanpayoff.Solution]; the same from
        every solver. `stats` has the number of `rounds` and of distinct `values`.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        [1] Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for
        mean-payoff games, doi:10.1007/s10703-010-0105-x.
        [2] Zwick and Paterson, The complexity of mean payoff games on graphs,
        doi:10.1016/0304-3975(95)00188-3.

    Examples:
        >>> from jaxgames import Arena, meanpayoff
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2, 2], [1, 2, 0, 2, 0], owner=[0, 1, 1],
        ...     weight=[4, 9, -1, 1, 0],
        ... )
        >>> solution = meanpayoff.solve(arena)
        >>> solution
        Solution(3 vertices with values from 1 to 3/2)
        >>> solution.value(0), solution.strategy
        (Fraction(3, 2), array([0, 2, 3], dtype=int32))
        >>> solution.value_num, solution.value_den
        (array([3, 3, 1], dtype=int32), array([2, 2, 1], dtype=int32))
    """
    return drive.solve(PROBLEM, arena, solver, strategies=strategies, **how)
