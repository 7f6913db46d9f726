"""Blocks: rows of like degree with a number on each link, read a few at a time.

What slices are to reductions, blocks are to folds, in which the links of a row are
taken one after the other. They are made where the rows are, so that a graph that was
built on a device does not travel.
"""

import dataclasses
import functools
from typing import Any

import numpy as np

from jaxgames.arena import bucket
from jaxgames.later import jax, jnp
from jaxgames.ops import _slices
from jaxgames.ops._lists import compact, take
from jaxgames.ops._slices import slice_widths
from jaxgames.ops._transfers import default_device
from jaxgames.tuning.ops import BLOCK_PRICE_BITS as PRICE_BITS


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Block:
    """Rows of a number of links at most.

    Attributes:
        rows: int32 `[N]`, which rows these are; `num_rows` where there is none.
        heads: int32 `[D, N]`, what they point at; `num_targets` where there is no link.
        marks: integers `[D, N]`, the number on each link.
    """

    rows: Any
    heads: Any
    marks: Any


def row_blocks(
    offsets, heads, marks, wanted, size: int, *, longest: int | None = None
) -> tuple[Block, ...]:
    """Sorts concrete rows into blocks of like degree; those without links are left out.

    Few links have blocks of a few shapes, so that such graphs share compilations.

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        heads: integers `[E]`, row by row.
        marks: integers `[E]`, likewise.
        wanted: bool `[R]`, the rows to take.
        size: the number of rows, and of things to point at, with all padding.
        longest: links of a row at most, where that is known.

    Examples:
        >>> offsets, wanted = np.array([0, 2, 3]), np.array([True, False])
        >>> heads, marks = np.array([1, 0, 1]), np.array([5, 6, 7])
        >>> [block] = row_blocks(offsets, heads, marks, wanted, 2)
        >>> block.heads[:, 0], block.marks[:, 0]
        (Array([1, 0], dtype=int32), Array([5, 6], dtype=int32))
    """
    xp = jnp if isinstance(heads, jax.Array) else np
    offsets, wanted = xp.asarray(offsets), xp.asarray(wanted)
    few = len(heads) < _slices.SLICE_FROM
    if xp is jnp and len(wanted) and longest is not None:
        # As many numbers as the next power of two: few programs.
        degree, counts = _degrees(offsets, wanted, 1 << longest.bit_length())
        histogram = np.array(counts)
    else:
        degree = xp.where(wanted, offsets[1:] - offsets[:-1], 0)
        histogram = np.array(xp.bincount(degree)) if len(degree) else np.zeros(1, int)
    histogram[0] = 0
    if few:
        histogram = _powers_of_two(histogram)
    if not histogram.any():
        return ()
    # Each block is compiled for: where links are many, a part of them costs less.
    price = max(_slices.SLICE_COST, len(heads) >> PRICE_BITS)
    widths, found, least = slice_widths(histogram, price), [], 1
    place = default_device()  # tied to it, as what programs return
    counts = [int(x) for x in np.add.reduceat(histogram, [0, *(widths[:-1] + 1)])]
    for width, count in zip(widths.tolist(), counts, strict=True):
        # Where rows are many their number is their own; a few odd ones cost nothing.
        room = bucket(count) if few else -(-count // 8) * 8
        make = _on_device if xp is jnp else _of_arrays
        made = make(offsets, heads, marks, degree, least, width, room, size)
        found.append(jax.device_put(made, place))
        least = width + 1
    return tuple(found)


def _of_arrays(offsets, heads, marks, degree, least, width, room, size) -> Block:
    rows = np.flatnonzero((degree >= least) & (degree <= width))
    none = (0, room - len(rows))
    link = np.arange(width)[:, None]
    there = np.pad(link < degree[rows], ((0, 0), none))
    index = np.where(there, np.pad(offsets[rows], none) + link, 0)
    return Block(
        rows=np.pad(rows, none, constant_values=size).astype(np.int32),
        heads=np.where(there, heads[index], size).astype(np.int32),
        marks=np.where(there, marks[index], 0).astype(marks.dtype),
    )


@functools.partial(jax.jit, static_argnums=2)
def _degrees(offsets, wanted, numbers: int):
    """The links of wanted rows, and how many rows have each number of them."""
    degree = jnp.where(wanted, offsets[1:] - offsets[:-1], 0)
    return degree, jnp.bincount(degree, length=numbers)


@functools.partial(jax.jit, static_argnums=(4, 5, 6, 7))
def _on_device(offsets, heads, marks, degree, least, width, room, size) -> Block:
    rows = compact((degree >= least) & (degree <= width), room)
    row = jnp.minimum(rows, len(degree) - 1)
    there = rows < len(degree)
    count = jnp.where(there, take(degree, row), 0)
    links = _links_of(take(offsets, row), count, heads, marks, width, size)
    return Block(jnp.where(there, rows, size), *links)


def _links_of(first, count, heads, marks, width: int, size: int):
    link = jnp.arange(width, dtype=jnp.int32)[:, None]
    there = link < count
    index = jnp.where(there, first + link, 0)
    return (
        jnp.where(there, take(heads, index), size).astype(jnp.int32),
        jnp.where(there, take(marks, index), 0),
    )


def regular_block(offsets, heads, marks, width: int) -> Block:
    """All rows as one block (pure).

    Args:
        offsets: int32 `[R + 1]`.
        heads: int32 `[E]`; as many things are pointed at as there are rows.
        marks: integers `[E]`.
        width: the largest number of links of a row.
    """
    size = offsets.shape[0] - 1
    rows = jnp.arange(size, dtype=jnp.int32)
    degree = offsets[1:] - offsets[:-1]
    return Block(rows, *_links_of(offsets[:-1], degree, heads, marks, width, size))


def part_of_block(block: Block, columns: jax.Array, size: int) -> Block:
    """Some rows of a block (pure).

    Args:
        block: the block, of `N` rows.
        columns: int32, which of them; from `N` on for none.
        size: the number of rows, and of things to point at.
    """
    outside: dict[str, Any] = {"mode": "fill", "fill_value": size}
    return Block(
        rows=block.rows.at[columns].get(**outside),
        heads=block.heads.at[:, columns].get(**outside),
        marks=block.marks.at[:, columns].get(mode="fill", fill_value=0),
    )


def block_any(block: Block, x: jax.Array) -> jax.Array:
    """Whether `x` (bool `[T]`) holds somewhere where each row points: bool `[N]`."""

    def either(found, heads):
        return found | fetch(x, heads, False), None

    none = jnp.zeros(block.rows.shape[0], bool)
    return jax.lax.scan(either, none, block.heads)[0]


def fetch(x: jax.Array, index: jax.Array, fill: Any) -> jax.Array:
    """Values of `x` `[..., T]` along its last axis; `fill` for indices from T on."""
    return jnp.asarray(x).at[..., index].get(mode="fill", fill_value=fill)


def store(x: jax.Array, index: jax.Array, values: Any) -> jax.Array:
    """Puts values into `x` `[..., T]` along its last axis.

    An index may be there once only; those from T on do not count.
    """
    return jnp.asarray(x).at[..., index].set(values, mode="drop", unique_indices=True)


def _powers_of_two(histogram: np.ndarray) -> np.ndarray:
    """Degrees rounded up."""
    degrees = np.flatnonzero(histogram)
    if len(degrees) == 0:
        return histogram
    rounded = 1 << np.ceil(np.log2(degrees)).astype(np.int64)
    return np.bincount(rounded, weights=histogram[degrees]).astype(np.int64)
