"""The energy game of a threshold, where the game is traced."""

import dataclasses
from fractions import Fraction
from typing import Any

from jaxgames.arena import Arena, is_traced
from jaxgames.later import jax, jnp


def energy_game(arena: Arena, threshold: Any) -> Arena:
    """The weights `q w - p` of a traced game; what does not fit is as far as can be.

    With `p = q f + r` and `0 <= r < q` that is `q (w - f) - r`, whose sign is that of
    `w - f` unless that is 0.
    """
    pair = threshold if isinstance(threshold, tuple) else (threshold, 1)
    if isinstance(threshold, Fraction):
        pair = threshold.numerator, threshold.denominator
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
