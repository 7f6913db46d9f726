"""Links that weigh: sums of values over what rows point at."""

from typing import Any

import numpy as np

from jaxgames.arena import bucket
from jaxgames.host import can_compile, compiled, lend, on_all_cores
from jaxgames.later import jax, jnp
from jaxgames.ops._links import (
    Links,
    PairLinks,
    Pieces,
    SlicedLinks,
    at_targets,
    in_rows,
)
from jaxgames.ops._lists import take
from jaxgames.ops._sliced_device import accelerated, sent
from jaxgames.ops._slices import reduce_columns


def on_links(links: Links, offsets, values) -> tuple[Any, ...]:
    """Lays a value for each link out as the links are (host only).

    Args:
        links: made by [`links`][jaxgames.ops.links] from the same rows.
        offsets: integers `[R + 1]`, those that the links were made from.
        values: numbers `[E]`, row by row.

    Returns:
        Values on links, zero where there is no link: numpy arrays, or of JAX where the
        links lie on a device with memory of its own.

    Examples:
        >>> from jaxgames.ops import links
        >>> rows = links(np.array([0, 2, 3]), np.array([0, 2, 1]), 3)
        >>> weights = on_links(rows, np.array([0, 2, 3]), np.array([2.0, 1.0, 4.0]))
        >>> links_sum(rows, jnp.array([1.0, 2.0, 3.0]), weights)
        Array([5., 8.], dtype=float32)
    """
    offsets, values = np.asarray(offsets), np.asarray(values)
    if isinstance(links, PairLinks):
        return (np.pad(values, (0, links.head.shape[0] - len(values))),)
    if links.mesh is None and accelerated():
        with jax.enable_x64(values.dtype.itemsize == 8):
            ends = jnp.asarray(offsets[:-1], jnp.int32)
            return _laid_out(links, ends, sent(values, bucket(len(values))))
    slot, row = lend((np.asarray(links.slot), np.asarray(links.row)))
    offsets, values = lend((offsets, values))
    pieces: list[np.ndarray] = []
    start = 0
    for block in links.blocks:
        width, size = block.shape
        piece = np.zeros((width, size), values.dtype)
        given = piece, slot, row, offsets, values, start
        if can_compile():
            on_all_cores(_fill, size, *given)
        else:
            _fill_by_numpy(*given)
        pieces.append(piece)
        start += size
    return tuple(pieces)


@jax.jit
def _laid_out(links: SlicedLinks, first: jax.Array, parts: Pieces) -> Pieces:
    """The same where the links are: a row's links are in order, from its first on."""
    values = jnp.concatenate(parts)
    pieces, start = [], 0
    for block in links.blocks:
        width, size = block.shape
        row = jnp.arange(start, start + size, dtype=jnp.int32)
        row = row if links.row is None else links.row[start : start + size]
        place = first[row] + jnp.arange(width, dtype=jnp.int32)[:, None]
        there = block < links.num_targets
        pieces.append(jnp.where(there, values.at[place].get(mode="clip"), 0))
        start += size
    return tuple(pieces)


@compiled
def _fill(piece, slot, row, offsets, values, start, begin, end):
    """Writes the values of some columns, which are the slots from `start` on."""
    for column in range(max(begin, 0), end):
        r = row[start + column]
        if slot[r] == start + column:  # the last row fills up what has none
            first = offsets[r]
            for position in range(offsets[r + 1] - first):
                piece[position, column] = values[first + position]


def _fill_by_numpy(piece, slot, row, offsets, values, start):
    width, size = piece.shape
    places = np.arange(start, start + size)
    rows = row[start : start + size]
    there = slot[rows] == places
    first, stop = offsets[rows], np.where(there, offsets[rows + 1], 0)
    for position in range(width):
        column = np.flatnonzero(first + position < stop)
        piece[position, column] = values[first[column] + position]


def links_sum(links: Links, x: jax.Array, weights: Pieces) -> jax.Array:
    """Weighted sum of `x` where each row points: `[R]`.

    The order of the summands is the layout's, so that a sum may differ in its last bits
    from one layout or device to another.

    Args:
        links: the rows.
        x: real numbers `[T]`, none of them infinite.
        weights: on links; zero where there is no link.
    """
    dtype = jnp.result_type(x, weights[0] if weights else x)
    if links.num_rows == 0 or links.num_targets == 0:
        return jnp.zeros(links.num_rows, dtype)
    products = [
        value * weight
        for value, weight in zip(at_targets(links, x), weights, strict=True)
    ]
    if isinstance(links, PairLinks):
        return jax.ops.segment_sum(products[0], links.tail, num_segments=links.num_rows)
    zero = jnp.zeros((), dtype)
    rows = [reduce_columns(product, zero, jax.lax.add) for product in products]
    return in_rows(links, rows)


def picked(
    links: Links, weights: Pieces, rows: jax.Array
) -> tuple[Links, Pieces] | None:
    """Some rows alone, for sums over few of many rows again and again (pure).

    They are one slice, as wide as the widest row there is.

    Args:
        links: the rows.
        weights: on links.
        rows: int32 `[N]`; from `num_rows` on there is none, which sums to zero.

    Returns:
        The rows in this order, and weights on them; None where sums over all rows read
        no more, or links are in no slices or spread over devices.
    """
    if not isinstance(links, SlicedLinks) or links.mesh is not None:
        return None
    width = max((block.shape[0] for block in links.blocks), default=0)
    cells = sum(block.size for block in links.blocks)
    if not 0 < width * len(rows) < cells:
        return None
    there = rows < links.num_rows
    slot = jnp.where(there, rows, 0)
    slot = slot if links.slot is None else take(links.slot, slot)
    head = jnp.full((width, len(rows)), links.num_targets, jnp.int32)
    values = jnp.zeros(head.shape, weights[0].dtype)
    start = 0
    for block, weight in zip(links.blocks, weights, strict=True):
        deep, size = block.shape
        column = slot - start
        here = there & (column >= 0) & (column < size)
        new, old = (block.at[:, column].get(mode="clip"), head[:deep])
        head = head.at[:deep].set(jnp.where(here, new, old))
        new, old = (weight.at[:, column].get(mode="clip"), values[:deep])
        values = values.at[:deep].set(jnp.where(here, new, old))
        start += size
    return SlicedLinks((head,), None, None, len(rows), links.num_targets), (values,)
