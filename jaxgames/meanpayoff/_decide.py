"""Whether values are at least a threshold: one energy game."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames import energy
from jaxgames.arena import Arena, is_traced
from jaxgames.limits import limited
from jaxgames.meanpayoff import _parts
from jaxgames.meanpayoff._checks import check
from jaxgames.meanpayoff._solution import Decision, no_decision
from jaxgames.progress import Meter, Progress
from jaxgames.solution import SolveError, Status
from jaxgames.solver import Solver


@limited(no_decision)
def decide(
    arena: Arena,
    threshold: Any,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    deadline: float | None = None,
    memory: int | None = None,
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
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`,
            where `q` is positive if they are traced.
        solver: as for [`energy.solve`][jaxgames.energy.solve].
        max_steps: as there.
        throw: as there.
        progress: as there.
        strategies: whether strategies are wanted.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

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
    traced = is_traced((arena, threshold, max_steps))
    check(arena)
    how = {"max_steps": max_steps, "progress": progress, "strategies": strategies}
    if traced:
        solution = energy.solve(_less(arena, threshold), solver, **how, throw=throw)
    else:
        solution = _concrete(arena, threshold, solver, how)
        if throw and solution.status != Status.SOLVED:
            raise SolveError(solution.status, solution)
    return Decision(
        winner=solution.winner,
        strategy=solution.strategy,
        status=solution.status,
        stats=solution.stats,
    )


def _concrete(arena: Arena, threshold: Any, solver, how: dict) -> energy.Solution:
    """Solves the energy game, in numbers of any size where it takes such."""
    game = energy.from_mean_payoff(arena, threshold)
    solution = energy.solve(game, solver, **how, throw=False)
    if solution.status != Status.OVERFLOW or how["max_steps"] is not None:
        return solution
    return energy.solve(_parts.widened(game), solver, **how, throw=False)


def _less(arena: Arena, threshold: Any) -> Arena:
    """The weights `q w - p` of a traced game; what does not fit is as far as can be.

    With `p = q f + r` and `0 <= r < q` that is `q (w - f) - r`, whose sign is that of
    `w - f` unless that is 0.
    """
    pair = threshold if isinstance(threshold, tuple) else (threshold, 1)
    if len(pair) != 2:
        raise ValueError(f"threshold must be a pair (p, q), got {len(pair)} numbers")
    weight = jnp.asarray(arena.weight)
    if weight.dtype.itemsize < 4:
        weight = weight.astype(jnp.int32)
    dtype = weight.dtype
    p, q = (_number(x, dtype) for x in pair)
    whole = p // q
    rest = p - whole * q
    most = jnp.iinfo(dtype).max // 2
    # Halves cannot wrap round.
    near = jnp.abs((weight >> 1) - (whole >> 1)) < most // 2
    over = jnp.where(near, weight - whole, jnp.where(weight > whole, most, -most))
    fits = jnp.abs(over) < most // q
    less = jnp.where(
        fits, jnp.where(fits, over, 0) * q - rest, jnp.sign(over) * (most + 1)
    )
    return dataclasses.replace(arena, weight=less.astype(dtype))


def _number(value: Any, dtype) -> jax.Array:
    """A number of the weights' type."""
    if not is_traced(value) and isinstance(value, int):
        info = jnp.iinfo(dtype)
        if not info.min <= value <= info.max:
            raise ValueError(
                f"threshold: {value} does not fit {dtype}, the type of the weights of "
                "a traced game"
            )
    array = jnp.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise ValueError(f"threshold must be made of integers, got {array.dtype}")
    return array.astype(dtype)
