"""The front door of mean-payoff parity games: as energy parity games."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.energyparity._problem import DECISIONS, Asked
from jaxgames.energyparity._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def decide(
    arena: Arena,
    threshold: Any = 0,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Decides who wins a mean-payoff parity game from each vertex, and how.

    Player 0 wants the largest priority seen infinitely often to be even, and the mean
    weight to be at least the threshold `p/q`. It is the energy parity game of
    [`from_mean_payoff_parity`][jaxgames.energyparity.from_mean_payoff_parity], which
    [`verify`][jaxgames.energyparity.verify] takes with the solution.

    Player 1's strategy needs no memory. Player 0 may need memory without bound: to
    visit an even priority may cost something, and he can do so ever more rarely, but
    not with any frequency that stays. What is returned is a strategy with finite
    memory: it wins the parity condition, and secures a mean of at least the threshold
    less `1/(q (n + 1))` for `n` vertices.

    Args:
        arena: a game with one integer weight on each edge, and priorities on vertices;
            every vertex has a successor.
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`.
        solver: as for [`solve`][jaxgames.energyparity.solve].
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: as for
            [`solve`][jaxgames.energyparity.solve].

    Returns:
        Winners and strategies: [`Solution`][jaxgames.energyparity.Solution]. Credits
        are in units of that energy parity game.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        Chatterjee, Henzinger and Jurdziński, Mean-payoff parity games, LICS 2005,
        doi:10.1109/LICS.2005.26.

    Examples:
        >>> from jaxgames import Arena, energyparity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 0], weight=[0, -1, 0], priority=[1, 2]
        ... )
        >>> energyparity.decide(arena).winner  # with energy 1 would win, see solve
        array([0, 0], dtype=int8)
        >>> energyparity.decide(arena, (1, 3)).winner
        array([1, 1], dtype=int8)
    """
    question = Asked(arena, threshold)
    return drive.solve(DECISIONS, question, solver, strategies=strategies, **how)
