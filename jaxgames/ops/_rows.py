"""Making links: from rows, from lists of pairs, and back."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from jaxgames.arena import bucket
from jaxgames.host import can_compile, compiled
from jaxgames.ops import _slices
from jaxgames.ops._links import Links, PairLinks, SlicedLinks
from jaxgames.ops._shards import Spread, spread_out
from jaxgames.ops._slices import slice_widths

_WARP = 32
"""Rows of a slice are a multiple of as many, so that its columns are aligned."""


def links(offsets, targets, num_targets: int, spread: Spread | None = None) -> Links:
    """Lays concrete rows out and puts them on the default device, or on a mesh.

    Few links become padded pairs, many, and those on a mesh, are sorted into slices.
    O(R + E).

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at.
        spread: the mesh to spread them over; None for one device. Each share has as
            many rows, one after the other.

    Examples:
        >>> rows = links(np.array([0, 2, 2]), np.array([0, 2]), 3)
        >>> from jaxgames.ops import links_max
        >>> links_max(rows, jnp.array([5, 6, 7]))[0]
        Array(7, dtype=int32)
    """
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    if spread is not None:
        found = _in_shares(offsets, targets, num_targets, spread.shares)
        return spread_out(found, spread)
    if len(targets) >= _slices.SLICE_FROM:
        return _on_device(_sliced(offsets, targets, num_targets))
    return listed(offsets, targets, num_targets)


def listed(offsets, targets, num_targets: int) -> PairLinks:
    """Concrete rows as a padded list of pairs, row by row, on the default device.

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at.
    """
    return _on_device(_padded(np.asarray(offsets), np.asarray(targets), num_targets))


def _on_device(found):
    # Tied to its device, as are the results of calls that write to the host: JAX
    # would compile once for values that are tied and once for those that are not.
    return jax.device_put(found, jax.device_put(np.int8(0)).device)


def pairs(
    tail, head, num_rows: int, num_targets: int, mesh: Mesh | None = None
) -> PairLinks:
    """Links from a list of them, in any order (pure).

    Args:
        tail: int32 `[P]`, the row of each; one from `num_rows` on leaves the link out.
        head: int32 `[P]`, what it points at.
        num_rows: the number of rows.
        num_targets: the number of things to point at.
        mesh: the devices to deal them out to, as those of what they come from.
    """
    tail = jnp.asarray(tail, jnp.int32)
    return PairLinks(
        tail=jnp.where(tail < 0, num_rows, jnp.minimum(tail, num_rows)),
        head=jnp.clip(jnp.asarray(head, jnp.int32), 0, max(num_targets - 1, 0)),
        num_rows=num_rows,
        num_targets=num_targets,
        mesh=mesh,
    )


def regular(targets, num_targets: int | None = None) -> SlicedLinks:
    """Links of rows that all have one degree, from the array of their targets (pure).

    Args:
        targets: int32 `[D, R]`: row `r` points at `targets[:, r]`; `num_targets` where
            it has fewer links.
        num_targets: the number of things to point at; by default that of the rows.
    """
    num_rows = targets.shape[1]
    num_targets = num_rows if num_targets is None else num_targets
    return SlicedLinks((targets,), None, None, num_rows, num_targets)


def transpose(offsets, targets, num_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that point at each thing (host only).

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at, T.

    Returns:
        Offsets int32 `[T + 1]` and sources int32 `[E]`, in ascending order for each
        target; a row that points twice is there twice.

    Examples:
        >>> transpose(np.array([0, 2, 3]), np.array([1, 0, 1]), 2)
        (array([0, 1, 3], dtype=int32), array([0, 0, 1], dtype=int32))
    """
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    starts = np.zeros(num_targets + 1, np.int32)
    np.cumsum(np.bincount(targets, minlength=num_targets), out=starts[1:])
    if can_compile():
        sources = np.empty(len(targets), np.int32)
        _sort_sources(offsets, targets, starts.copy(), sources)
    else:
        rows = np.arange(len(offsets) - 1, dtype=np.int32)
        rows = np.repeat(rows, np.diff(offsets))
        sources = rows[np.argsort(targets, kind="stable")]
    return starts, sources


@compiled
def _sort_sources(offsets, targets, free, sources):
    for row in range(len(offsets) - 1):
        for link in range(offsets[row], offsets[row + 1]):
            target = targets[link]
            sources[free[target]] = row
            free[target] += 1


def _padded(offsets, targets, num_targets: int) -> PairLinks:
    num_rows = len(offsets) - 1
    tail = np.repeat(np.arange(num_rows, dtype=np.int32), np.diff(offsets))
    more = bucket(len(tail)) - len(tail)
    return PairLinks(
        tail=np.pad(tail, (0, more), constant_values=num_rows),
        head=np.pad(targets.astype(np.int32, copy=False), (0, more)),
        num_rows=num_rows,
        num_targets=num_targets,
    )


def _sliced(offsets, targets, num_targets: int) -> SlicedLinks:
    degree = np.diff(offsets)
    widths = slice_widths(np.bincount(degree))
    which = np.searchsorted(widths, np.arange(widths[-1] + 1)).astype(np.int16)[degree]
    counts = np.bincount(which, minlength=len(widths))
    sizes = -(-counts // _WARP) * _WARP
    starts = np.append(0, np.cumsum(sizes)[:-1])
    order = np.argsort(which, kind="stable").astype(np.int32)
    slot = np.empty(len(degree), np.int32)
    row = np.full(sizes.sum(), len(degree) - 1, np.int32)
    blocks: list[np.ndarray] = []
    parts = np.split(order, np.cumsum(counts)[:-1])
    for start, size, width, rows in zip(starts, sizes, widths, parts, strict=True):
        slot[rows] = np.arange(start, start + len(rows), dtype=np.int32)
        row[start : start + len(rows)] = rows
        block = np.full((width, size), num_targets, np.int32)
        fill = _fill_block if can_compile() else _fill_columns
        fill(block, rows, offsets, targets)
        blocks.append(block)
    return SlicedLinks(tuple(blocks), slot, row, len(degree), num_targets)


def _in_shares(offsets, targets, num_targets: int, shares: int) -> SlicedLinks:
    """As `_sliced`, for as many rows in each share."""
    degree = np.diff(offsets)
    per = max(-(-len(degree) // shares), 1)
    bounds = np.minimum(per * np.arange(shares + 1), len(degree))
    widths = slice_widths(np.bincount(degree, minlength=1))
    which = np.searchsorted(widths, degree).astype(np.int16)
    parts = [
        [first + np.flatnonzero(own == i).astype(np.int32) for i in range(len(widths))]
        for first, own in zip(bounds, np.split(which, bounds[1:-1]), strict=False)
    ]
    most = np.max([[len(rows) for rows in part] for part in parts], axis=0)
    sizes = -(-most // _WARP) * _WARP
    starts = np.append(0, np.cumsum(sizes)[:-1])
    slot = np.zeros((shares, per), np.int32)
    row = np.full((shares, sizes.sum()), per - 1, np.int32)
    fill = _fill_block if can_compile() else _fill_columns
    blocks = []
    for i, (start, size, width) in enumerate(zip(starts, sizes, widths, strict=True)):
        block = np.full((shares, width, size), num_targets, np.int32)
        for share, part in enumerate(parts):
            rows = part[i]
            own = rows - bounds[share]
            slot[share, own] = np.arange(start, start + len(rows), dtype=np.int32)
            row[share, start : start + len(rows)] = own
            fill(block[share], rows, offsets, targets)
        blocks.append(block)
    return SlicedLinks(tuple(blocks), slot, row, len(degree), num_targets)


@compiled
def _fill_block(block, rows, offsets, targets):
    for column in range(len(rows)):
        first, stop = offsets[rows[column]], offsets[rows[column] + 1]
        for link in range(first, stop):
            block[link - first, column] = targets[link]


def _fill_columns(block, rows, offsets, targets):
    first, stop = offsets[rows], offsets[rows + 1]
    for position in range(block.shape[0]):
        there = np.flatnonzero(first + position < stop)
        block[position, there] = targets[first[there] + position]
