"""The equations of the values, on the device."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game

ROUNDING = 6
"""Units in the last place of the largest weight that the terms of an edge may be wrong
by together, and more: two products, a sum, the factor, and a bound are rounded, each by
half a unit at most."""

MARGIN_DOUBLES_AFTER = 64
"""Rounds of strategy improvement after which a gain must be twice as large to count, so
that rounding does not keep it going."""


class Task(NamedTuple):
    """What a solver works on.

    Attributes:
        game: the game.
        discount: float scalar.
        width: how far apart bounds may be, float scalar.
        slack: more than what rounding takes from or adds to a term, float scalar.
    """

    game: Game
    discount: Any
    width: Any
    slack: Any


class Answer(NamedTuple):
    """Values, and bounds of how wrong they are."""

    value: Any  # float [V]
    strategy: Any  # int32 [V]
    residual: Any  # float scalar: no equation is further from being satisfied


def task_of(game: Game, discount: Any, epsilon: Any) -> Task:
    """A task in the width of floating numbers that JAX has."""
    return Task(game, *_numbers(game, discount, epsilon))


@jax.jit
@ops.for_devices
def _numbers(game: Game, discount: Any, epsilon: Any) -> tuple[Any, Any, Any]:
    """Discount, width and slack of a task: compiled, as that is one program."""
    kind = jax.dtypes.canonicalize_dtype(np.float64)
    # As floats, of which each has an opposite: the least of the integers has none.
    size = ops.edgewise(lambda w: jnp.abs(w.astype(kind)), ops.edge_weight(game))
    widest = ops.known_to_all(jnp.max(ops.out_max(game, size), initial=0))
    unit = jnp.asarray(jnp.finfo(kind).eps, kind)
    discount = jnp.asarray(discount, kind)
    slack = ROUNDING * unit * (widest + 1)
    return discount, jnp.asarray(2 * epsilon, kind), slack


def asked(task: Task, value: jax.Array) -> Edges:
    """What each edge is worth, made larger for who moves there: signs are exchanged."""
    sign = ops.source(task.game, _sign(task, value.dtype))
    worth = ops.edgewise(
        lambda w, v: (1 - task.discount) * w.astype(value.dtype) + task.discount * v,
        ops.edge_weight(task.game),
        ops.target(task.game, value),
    )
    return ops.edgewise(jnp.multiply, sign, worth)


def best(task: Task, value: jax.Array) -> jax.Array:
    """What the best edge of each vertex is worth: `[S]`."""
    found = _sign(task, value.dtype) * ops.out_max(task.game, asked(task, value))
    return jnp.where(ops.real(task.game), found, 0)


def _sign(task: Task, kind: Any) -> jax.Array:
    return jnp.where(task.game.owner, -1, 1).astype(kind)


def first_best(task: Task, value: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the best edge of each vertex is worth, and where it is in its row."""
    worth = ops.edgewise(jnp.negative, asked(task, value))
    least, move = ops.out_argmin(task.game, worth)
    return -_sign(task, value.dtype) * least, move


def answer(task: Task, value: jax.Array, strategies: bool) -> Answer:
    """Values by vertex, the first best edges, and how far from equations values are."""
    game = task.game
    found, move = first_best(task, value)
    off = jnp.where(ops.real(game), jnp.abs(found - value), 0)
    strategy = ops.edge_of(game, move) if strategies else None
    residual = ops.known_to_all(jnp.max(off, initial=0))
    return Answer(ops.by_vertex(game, value), strategy, residual)


def radius(task: Task, residual: jax.Array) -> jax.Array:
    """How far values are from the true ones at most, rounding included."""
    return (residual + task.slack) / (1 - task.discount) * 1.001 + task.slack
