"""Whether values are at least a threshold: one energy game."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.meanpayoff._problem import DECISIONS, Asked
from jaxgames.meanpayoff._solution import Decision
from jaxgames.solver import Solver


@drive.front_door
def decide(
    arena: Arena,
    threshold: Any,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Decision:
    """Decides which vertices of a mean-payoff game have at least a given value.

    Player 0 wins where he can see to a mean payoff of at least `p/q`, player 1 where he
    can see to less. That is an energy game with the weights `q w - p`, see
    [`energy.from_mean_payoff`][jaxgames.energy.from_mean_payoff].

    Works inside `jax.jit` and `jax.vmap` on a traced arena, and traced `p` and `q`, in
    the 32 or 64 bits of the weights; numbers that do not fit end in `Status.OVERFLOW`.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`
            with `q` not 0. A traced `q` of 0 ends in `Status.INVALID`, and nothing is
            decided.
        solver: as for [`energy.solve`][jaxgames.energy.solve].
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        Winners and strategies of both players:
        [`Decision`][jaxgames.meanpayoff.Decision].

    Raises:
        ValueError: the arena is no such game, or the threshold is no such number.
        SolveError: the solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames import Arena, meanpayoff
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2, 2], [1, 2, 0, 2, 0], owner=[0, 1, 1],
        ...     weight=[4, 9, -1, 1, 0],
        ... )
        >>> meanpayoff.decide(arena, (3, 2)).winner
        array([0, 0, 1], dtype=int8)
    """
    return drive.solve(
        DECISIONS, Asked(arena, threshold), solver, strategies=strategies, **how
    )
