"""Sums over rows whose weights lie between bounds, as somebody else likes them."""

import functools

from jaxgames.later import jax, jnp
from jaxgames.ops._links import (
    Links,
    PairLinks,
    Pieces,
    at_rows,
    at_targets,
    in_rows,
)


@functools.partial(jax.jit, static_argnames="least")
def links_shared(
    links: Links,
    x: jax.Array,
    lower: Pieces,
    room: Pieces,
    spare: jax.Array,
    *,
    least: bool,
) -> jax.Array:
    """Least or largest weighted sum of `x`, over all weights between bounds: `[R]`.

    Each link has its lower bound, and what lower bounds leave is handed out in the
    order of `x`, which is one sort in each row: O(k log k) for rows of k links.

    Args:
        links: the rows.
        x: real numbers `[T]`.
        lower: on links, lower bounds of weights; zero where there is no link.
        room: on links, how much more a weight may be; likewise.
        spare: `[R]`, what the weights of a row sum up to beside `lower`.
        least: whether the least sum is wanted.

    Examples:
        >>> import numpy as np
        >>> from jaxgames.ops import links, on_links
        >>> at = np.array([0, 2])
        >>> rows = links(at, np.array([0, 1]), 2)
        >>> low, more = (
        ...     tuple(map(jnp.asarray, on_links(rows, at, np.array(x))))
        ...     for x in ([0.25, 0.25], [0.5, 0.25])
        ... )
        >>> x, half = jnp.array([0.0, 8.0]), jnp.array([0.5])
        >>> float(links_shared(rows, x, low, more, half, least=True)[0])
        2.0
    """
    values = at_targets(links, x)
    if isinstance(links, PairLinks):
        return _of_pairs(links, values[0], lower[0], room[0], spare, least)
    found = []
    for value, low, more, left in zip(
        values, lower, room, at_rows(links, spare), strict=True
    ):
        sign = jnp.where(more > 0, 1.0, 0.0).astype(value.dtype)
        value = value * jnp.maximum(sign, jnp.where(low > 0, 1.0, 0.0))
        key = value if least else -value
        key, best, open_ = jax.lax.sort((key, value, more), dimension=-2, num_keys=1)
        before = jnp.cumsum(open_, axis=-2) - open_
        give = jnp.clip(left - before, 0, open_)
        found.append(jnp.sum(low * value, -2) + jnp.sum(give * best, -2))
    return in_rows(links, found)


def _of_pairs(links, value, low, more, spare, least):
    there = (low > 0) | (more > 0)
    value = jnp.where(there, value, 0.0)
    key = value if least else -value
    row, _, best, open_ = jax.lax.sort((links.tail, key, value, more), num_keys=2)
    first = jnp.concatenate([jnp.ones(1, bool), row[1:] != row[:-1]])

    def add(one, other):
        total = jnp.where(other[1], other[0], one[0] + other[0])
        return total, one[1] | other[1]

    until, _ = jax.lax.associative_scan(add, (open_, first))
    left = spare.at[row].get(mode="clip")
    give = jnp.clip(left - (until - open_), 0, open_)
    size = links.num_rows
    base = jax.ops.segment_sum(low * value, links.tail, num_segments=size)
    return base + jax.ops.segment_sum(give * best, row, num_segments=size)
