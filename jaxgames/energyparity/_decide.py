"""Mean-payoff parity games: as energy parity games."""

import dataclasses
from typing import Any, Unpack

import numpy as np

from jaxgames import drive, energy
from jaxgames.arena import Arena, as_checked_as
from jaxgames.energyparity._checks import check
from jaxgames.energyparity._solution import Solution
from jaxgames.energyparity._solve import solve
from jaxgames.limits import Bounds, limited
from jaxgames.solver import Solver


@limited()
def from_mean_payoff_parity(
    arena: Arena, threshold: Any = 0, **bounds: Unpack[Bounds]
) -> Arena:
    """The energy parity game that each player wins where he wins a mean-payoff one.

    In a mean-payoff parity game player 0 wins a play whose largest priority seen
    infinitely often is even and whose mean weight (the lower limit of the means of its
    beginnings) is at least a threshold `p/q`. With `n` vertices an edge of weight `w`
    gets `(n + 1) (q w - p) + 1` [1]: on a cycle that passes no vertex twice these add
    up to more than 0 if its mean is at least the threshold, else to less (host only).

    Args:
        arena: a game with one integer weight on each edge, and priorities on vertices.
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The game; its weights are Python's integers where 64 bits do not fit.

    Raises:
        ValueError: the arena is no such game, or the threshold is no such number.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012), section 4,
        doi:10.1016/j.tcs.2012.07.038.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 0], weight=[0, -1, 0], priority=[1, 2]
        ... )
        >>> from_mean_payoff_parity(arena).weight
        array([ 1, -2,  1], dtype=int32)
    """
    check(arena)
    game = energy.from_mean_payoff(arena, threshold)
    weight = np.asarray(game.weight).astype(object)
    real = np.arange(len(weight)) < int(arena.num_edges)
    weight = np.where(real, (int(arena.num_vertices) + 1) * weight + 1, 0)
    for kind in (np.int32, np.int64):
        info = np.iinfo(kind)
        if info.min <= weight.min(initial=0) and weight.max(initial=0) <= info.max:
            weight = weight.astype(kind)
            break
    return as_checked_as(arena, dataclasses.replace(game, weight=weight))


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
    game = from_mean_payoff_parity(arena, threshold)
    return solve(game, solver, strategies=strategies, **how)
