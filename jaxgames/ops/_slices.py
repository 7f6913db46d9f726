"""Slices: rows sorted by degree, and dense column-major blocks of them."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgames.arena import bucket
from jaxgames.later import jax, jnp
from jaxgames.tuning.ops import (
    LONG_ROW,
    PRICE_BITS,
    SLACK_BITS,
    SLICE_COST,
    WIDE,
)
from jaxgames.tuning.ops import SLICE_FROM as SLICE_FROM

NARROW_MOVES = 127
"""Below this width a byte holds the position of an edge in its row, and NO_EDGE."""

DEGREES = np.append(
    np.arange(17), np.ceil(16 * 1.25 ** np.arange(1, 85)).astype(np.int64)
)
"""Degrees that widths are chosen among, besides the largest that there is: above 16 in
steps of a quarter, few candidates and little waste."""


class Plan(NamedTuple):
    """How rows are cut into slices: what the shapes of a layout follow from.

    Attributes:
        widths: for each slice the links that its rows have room for, ascending.
        sizes: for each slice its slots, in each share.
    """

    widths: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def starts(self) -> list[int]:
        """The first slot of each slice, in its share."""
        return [0, *itertools.accumulate(self.sizes)][:-1]

    @property
    def total(self) -> int:
        """The slots of a share."""
        return sum(self.sizes)


def plan_rows(
    degrees: np.ndarray,
    rows: np.ndarray,
    classes: Callable[[int], int],
    *,
    parts: int = 1,
    spare: int = 0,
) -> tuple[Plan, np.ndarray]:
    """Cuts rows into slices, of shapes that other rows like them have too.

    So many rows have each of some degrees, ascending, with the largest of all; others
    are rounded up to the next of these, for which `DEGREES` does. `classes` rounds the
    length of a slice up. Each slice is dealt out to so many parts, and of the first one
    some slots are left over, to spare.

    Returns:
        The plan, and how many rows each slice has.
    """
    price = max(SLICE_COST, int(degrees @ rows) >> PRICE_BITS)
    widths = _cheapest(degrees, rows, price)
    where = np.searchsorted(widths, degrees)
    counts = np.bincount(where, weights=rows, minlength=len(widths)).astype(np.int64)
    # What a program need not be made anew for costs little, or is not done.
    slack = _slack(widths, counts)
    sizes: list[int] = []
    for width, count in zip(widths.tolist(), counts.tolist(), strict=True):
        size = -(-(count + (0 if sizes else spare)) // parts)
        cost = (classes(size) - size) * width * parts
        sizes.append(classes(size) if width <= WIDE or cost <= slack else size)
    widths[-1] = _wider(int(widths[-1]), sizes[-1] * parts, slack)
    return Plan(tuple(widths.tolist()), tuple(sizes)), counts


def _slack(widths: np.ndarray, sizes: np.ndarray) -> int:
    """A small part of all cells, about as many for all rows of one kind."""
    return (1 << int(widths @ sizes).bit_length()) >> SLACK_BITS


def plan_links(degrees: np.ndarray, rows: np.ndarray) -> tuple[Plan, np.ndarray]:
    """As `plan_rows`, with columns that are aligned, whatever their length."""
    plan, counts = plan_rows(degrees, rows, link_classes)
    sizes = [link_classes(count) for count in counts.tolist()]
    slack = _slack(np.array(plan.widths), np.array(sizes))
    for i, (size, width) in enumerate(zip(sizes, plan.widths, strict=True)):
        if size * width <= slack:  # coarser where that is cheap
            sizes[i] = link_classes(bucket(size))
    return plan._replace(sizes=tuple(sizes)), counts


def spare_slot(plan: Plan, parts: int = 1) -> int:
    """A slot without a vertex: the last one of the first slice."""
    return (parts - 1) * plan.total + plan.sizes[0] - 1


def _wider(width: int, rows: int, most: int) -> int:
    """A width of a few that adds so many cells at most: a power of two, or halfway."""
    if width < 3:
        return width
    power = 1 << (width - 1).bit_length()
    if width < NARROW_MOVES:
        power = min(power, NARROW_MOVES - 1)
    for wider in (power, power // 4 * 3):
        if wider >= width and (wider - width) * rows <= most:
            return wider if wider <= LONG_ROW else -(-wider // LONG_ROW) * LONG_ROW
    return width


def link_classes(size: int) -> int:
    """The next of some lengths of slices of links: 16 an octave, and multiples of 32.

    So columns are aligned, and few places are read in vain.
    """
    step = max(32, 1 << max(size - 1, 0).bit_length() >> 5)
    return -(-size // step) * step


def slice_widths(histogram: np.ndarray, price: int | None = None) -> np.ndarray:
    """Widths of the slices that cost least: cells to read plus a price for each slice.

    `histogram[d]` is the number of vertices of degree `d`; rows without edges get a
    slice of width 0.
    """
    degrees = np.flatnonzero(histogram)
    return _cheapest(degrees, np.asarray(histogram)[degrees], price)


def _cheapest(degrees: np.ndarray, rows: np.ndarray, price=None) -> np.ndarray:
    """As `slice_widths`: a dynamic program over the candidate widths."""
    price = SLICE_COST if price is None else price
    degrees, rows = degrees[rows > 0], rows[rows > 0]
    if len(degrees) == 0:
        return np.zeros(1, np.int64)
    rounded = DEGREES[np.searchsorted(DEGREES, degrees)]
    most = rounded == rounded[-1]
    if (rounded[-1] - degrees[-1]) * rows[most].sum() > int(
        degrees @ rows
    ) >> SLACK_BITS:
        rounded[most] = degrees[-1]
    rounded = np.where(rounded > LONG_ROW, -(-rounded // LONG_ROW) * LONG_ROW, rounded)
    candidates, where = np.unique(rounded, return_inverse=True)
    of_candidate = np.bincount(where, weights=rows)
    rows_before = np.append(0, np.cumsum(of_candidate))
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
