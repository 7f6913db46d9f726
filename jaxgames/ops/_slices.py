"""Slices: rows sorted by degree, and dense column-major blocks of them."""

import jax
import jax.numpy as jnp
import numpy as np

SLICE_FROM = 1 << 15
"""Edges from which a concrete arena's rows are sorted into slices.

Slices are faster from far fewer edges on, but their shapes are the game's own, and each
compiles anew (docs: Design notes).
"""

SLICE_COST = 1 << 16
"""What one slice more costs, in edges: the launch of its kernels."""

LONG_ROW = 1 << 8
"""Wider slices have a multiple of as many columns, and are reduced in two stages."""


def slice_widths(histogram: np.ndarray, price: int | None = None) -> np.ndarray:
    """Widths of the slices that cost least: cells to read plus a price for each slice.

    `histogram[d]` is the number of vertices of degree `d`. A dynamic program over the
    candidate widths; rows without edges get a slice of width 0.
    """
    price = SLICE_COST if price is None else price
    degrees = np.flatnonzero(histogram)
    if len(degrees) == 0:
        return np.zeros(1, np.int64)
    # Above 16, widths in steps of a quarter: few candidates, little waste.
    steps = np.unique(np.ceil(16 * 1.25 ** np.arange(100)).astype(np.int64))
    rounded = np.where(degrees <= 16, degrees, steps[np.searchsorted(steps, degrees)])
    rounded[-1] = degrees[-1]
    rounded = np.where(rounded > LONG_ROW, -(-rounded // LONG_ROW) * LONG_ROW, rounded)
    candidates, where = np.unique(rounded, return_inverse=True)
    rows = np.bincount(where, weights=histogram[degrees])
    rows_before = np.append(0, np.cumsum(rows))
    best, choice = np.zeros(len(candidates) + 1), []
    for stop, width in enumerate(candidates, start=1):
        # The last slice takes candidates[start:stop], all at this width; rows without
        # edges keep to themselves.
        first = int(candidates[0] == 0 and stop > 1)
        cells = (rows_before[stop] - rows_before[first:stop]) * width
        costs = best[first:stop] + cells + price
        choice.append(first + int(np.argmin(costs)))
        best[stop] = costs.min()
    widths, stop = [], len(candidates)
    while stop:
        widths.append(candidates[stop - 1])
        stop = choice[stop - 1]
    return np.array(widths[::-1])


def highest(dtype):
    """The largest value of a type of numbers."""
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max


def lowest(dtype):
    """The least value of a type of numbers."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def reduce_columns(values, start, combine):
    """Reduces `[..., D, N]` to `[..., N]`; long columns, which are few, in two stages.

    One reduction alone would keep most of a GPU idle, and two without a barrier XLA
    would make one.
    """
    *more, width, size = values.shape
    axis = (len(more),)
    if width > LONG_ROW:
        parts = values.reshape(*more, LONG_ROW, width // LONG_ROW, size)
        values = jax.lax.optimization_barrier(
            jax.lax.reduce(parts, start, combine, axis)
        )
    return jax.lax.reduce(values, start, combine, axis)
