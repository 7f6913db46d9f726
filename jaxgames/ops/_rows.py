"""Making links: from rows, from lists of pairs, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames.arena import bucket, sources_of
from jaxgames.host import can_compile, linear
from jaxgames.later import jax, jnp
from jaxgames.ops import _slices
from jaxgames.ops._links import Links, PairLinks, SlicedLinks
from jaxgames.ops._shards import Spread, spread_out
from jaxgames.ops._sliced_device import (
    accelerated,
    all_sliced_links_there,
    listed_there,
    rows_there,
    sliced_links_there,
    transpose_there,
)
from jaxgames.ops._sliced_host import sliced_links
from jaxgames.ops._transfers import default_device
from jaxgames.tuning.ops import LEAST_EDGES


def links(offsets, targets, num_targets: int, spread: Spread | None = None) -> Links:
    """Lays concrete rows out and puts them on the default device, or on a mesh.

    Few links become padded pairs, many, and those on a mesh, are sorted into slices.
    O(R + E).

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row, and maybe more than that.
        num_targets: the number of things to point at.
        spread: the mesh to spread them over; None for one device. Each share has as
            many rows, one after the other.

    Examples:
        >>> rows = links(np.array([0, 2, 2]), np.array([0, 2]), 3)
        >>> from jaxgames.ops import links_max
        >>> links_max(rows, jnp.array([5, 6, 7]))[0]
        Array(7, dtype=int32)
    """
    if spread is None and len(targets) >= _slices.SLICE_FROM and accelerated():
        return _on_device(sliced_links_there(offsets, targets, num_targets))
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    if spread is not None:
        found = sliced_links(offsets, targets, num_targets, spread.shares)
        return spread_out(found, spread)
    if len(targets) >= _slices.SLICE_FROM:
        return _on_device(sliced_links(offsets, targets, num_targets, None))
    return listed(offsets, targets, num_targets)


def all_links(
    rows: Sequence[tuple[Any, Any, int]], spread: Spread | None = None
) -> list[Links]:
    """As [`links`][jaxgames.ops.links] of each, with one wait for a device in all.

    Args:
        rows: offsets, targets, and the number of things to point at.
        spread: as there.
    """
    there = {
        place: each
        for place, each in enumerate(rows)
        if isinstance(each[0], jax.Array)
        and spread is None
        and len(each[1]) >= _slices.SLICE_FROM
        and accelerated()
    }
    sliced = all_sliced_links_there(list(there.values())) if there else []
    made = dict(zip(there, _on_device(sliced), strict=True))
    return [
        made[place] if place in made else links(*each, spread)
        for place, each in enumerate(rows)
    ]


def listed(
    offsets, targets, num_targets: int, num_rows: int | None = None
) -> PairLinks:
    """Concrete rows as a padded list of pairs, row by row, on the default device.

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at.
        num_rows: how many rows there shall be, the last of them without links; None
            for R.
    """
    num_rows = len(offsets) - 1 if num_rows is None else num_rows
    if len(targets) >= _slices.SLICE_FROM and accelerated():
        return _on_device(listed_there(offsets, targets, num_targets, num_rows))
    given = np.asarray(offsets), np.asarray(targets)
    return _on_device(_padded(*given, num_targets, num_rows))


def _on_device(found):
    # Tied to its device, as are the results of calls that write to the host: JAX
    # would compile once for values that are tied and once for those that are not.
    return jax.device_put(found, default_device())


def pairs(
    tail, head, num_rows: int, num_targets: int, mesh: jax.sharding.Mesh | None = None
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


def rows_where_laid_out(
    offsets, targets, spread: Spread | None = None
) -> tuple[Any, Any]:
    """Concrete rows where `links` and `transpose` make of them what is made.

    On the default device, where it has memory of its own, there are many links, and no
    mesh; then targets are followed by filling. Else numpy arrays, on the host.

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        spread: the mesh to spread them over; None for one device.
    """
    if spread is None and len(targets) >= _slices.SLICE_FROM and accelerated():
        return rows_there(offsets, targets)
    return np.asarray(offsets), np.asarray(targets)


def transpose(offsets, targets, num_targets: int) -> tuple[Any, Any]:
    """The rows that point at each thing (host only, and where the rows are).

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at, T.

    Returns:
        Offsets int32 `[T + 1]` and sources int32 `[E]`, in ascending order for each
        target; a row that points twice is given twice.

    Examples:
        >>> transpose(np.array([0, 2, 3]), np.array([1, 0, 1]), 2)
        (array([0, 1, 3], dtype=int32), array([0, 0, 1], dtype=int32))
    """
    if isinstance(targets, jax.Array) and accelerated():
        return transpose_there(offsets, targets, num_targets)
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


@linear
def _sort_sources(offsets, targets, free, sources):
    for row in range(len(offsets) - 1):
        for link in range(offsets[row], offsets[row + 1]):
            target = targets[link]
            sources[free[target]] = row
            free[target] += 1


def _padded(offsets, targets, num_targets: int, num_rows: int) -> PairLinks:
    tail, _ = sources_of(offsets, len(targets))
    more = max(bucket(len(tail)), LEAST_EDGES) - len(tail)
    return PairLinks(
        tail=np.pad(tail, (0, more), constant_values=num_rows),
        head=np.pad(targets.astype(np.int32, copy=False), (0, more)),
        num_rows=num_rows,
        num_targets=num_targets,
    )
