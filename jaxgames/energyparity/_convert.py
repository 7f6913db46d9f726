"""Mean-payoff parity games as energy parity games: facts about concrete arenas."""

import dataclasses
from typing import Any, Unpack

import numpy as np

from jaxgames import energy
from jaxgames.arena import Arena, as_checked_as, is_traced
from jaxgames.energyparity._checks import check
from jaxgames.later import jnp
from jaxgames.limits import Bounds, limited


@limited()
def from_mean_payoff_parity(
    arena: Arena, threshold: Any = 0, **bounds: Unpack[Bounds]
) -> Arena:
    """The energy parity game that each player wins where he wins a mean-payoff one.

    In a mean-payoff parity game player 0 wins a play whose largest priority seen
    infinitely often is even and whose mean weight (the lower limit of the means of its
    beginnings) is at least a threshold `p/q`. With `n` vertices an edge of weight `w`
    gets `(n + 1) (q w - p) + 1` [1]: on a cycle that passes no vertex twice these add
    up to more than 0 if its mean is at least the threshold, else to less.

    Args:
        arena: a game with one integer weight on each edge, and priorities on vertices.
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The game; its weights are Python's integers where 64 bits do not fit. Those of a
        traced arena keep its type, see
        [`energy.from_mean_payoff`][jaxgames.energy.from_mean_payoff].

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
    if is_traced((arena, threshold)):
        return _traced(game)
    weight = np.asarray(game.weight).astype(object)
    real = np.arange(len(weight)) < int(arena.num_edges)
    weight = np.where(real, (int(arena.num_vertices) + 1) * weight + 1, 0)
    for kind in (np.int32, np.int64):
        info = np.iinfo(kind)
        if info.min <= weight.min(initial=0) and weight.max(initial=0) <= info.max:
            weight = weight.astype(kind)
            break
    return as_checked_as(arena, dataclasses.replace(game, weight=weight))


def _traced(game: Arena) -> Arena:
    """Of weights `w` those that tell `w >= 0` from less by a whole cycle."""
    weight = jnp.asarray(game.weight)
    factor = jnp.asarray(game.num_vertices).astype(weight.dtype) + 1
    most = jnp.iinfo(weight.dtype).max // 2
    fits = jnp.abs(weight) < most // factor
    more = jnp.where(fits, weight, 0) * factor + 1
    weight = jnp.where(fits, more, jnp.sign(weight) * most)
    real = jnp.arange(len(weight), dtype=jnp.int32) < game.num_edges
    return dataclasses.replace(game, weight=jnp.where(real, weight, 0))
