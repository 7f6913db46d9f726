"""Rows into slices where they are worked on: one sort of the rows, and gathers.

What is uploaded is filled up to a few lengths, and what follows from the degrees is
known from a few counts, so that one program serves all arenas of a class. The result is
that of the host, bit for bit.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import LARGEST_DOUBLE, Arena, bucket
from jaxgames.host import can_compile, compiled, on_all_cores
from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import SlicedArena
from jaxgames.ops._links import PairLinks, SlicedLinks
from jaxgames.ops._lists import running_sum, take
from jaxgames.ops._slices import DEGREES, Plan, plan_links, plan_rows, spare_slot
from jaxgames.ops._transfers import Pieces, default_device, joined, put, send
from jaxgames.tuning.base import FEWEST_PLACES
from jaxgames.tuning.ops import COUNTED_BY_TABLE, PIECE
from jaxgames.tuning.ops import PIECES_AT_A_TIME as PIECES


class Ends(NamedTuple):
    """Rows as they are sent.

    Attributes:
        starts: int32 `[R]`, the first link of each row; those that fill up have none.
        sizes: int32 `[3]`: rows, links, and rows that are no padding.
    """

    starts: Pieces
    sizes: jax.Array


def accelerated() -> bool:
    """Whether the default device has memory of its own, and sorts fast."""
    return default_device().platform != "cpu"


def slice_rows_there(arena: Arena) -> SlicedArena:
    """As `slice_rows`, on the default device."""
    size, edges = arena.shape
    rows, links = bucket(size), bucket(edges)
    ends = _sent_ends(arena.row_ptr, rows, edges, arena.num_vertices)
    on_vertices = {
        name: sent(getattr(arena, name), rows)
        for name in ("owner", "priority", "accepting")
        if getattr(arena, name) is not None
    }
    on_edges = {
        name: sent(getattr(arena, name), links)
        for name in ("edge_priority", "weight")
        if np.ndim(getattr(arena, name)) == 1
    }
    dst = sent(arena.dst, links)
    spare = int(rows > size)
    degrees = _degrees(arena.row_ptr, ends, size)
    plan, counts = plan_rows(*degrees, bucket, spare=spare)
    return _slice_rows(plan, counts.astype(np.int32), ends, dst, on_vertices, on_edges)


def sliced_links_there(offsets, targets, num_targets: int) -> SlicedLinks:
    """As `sliced_links`, on the default device; targets may be more than links."""
    if isinstance(offsets, jax.Array):
        return all_sliced_links_there([(offsets, targets, num_targets)])[0]
    size = len(offsets) - 1
    ends = _sent_ends(offsets, size, offsets[-1], size)
    dst = sent(targets, bucket(len(targets)))
    plan, counts = plan_links(*_degrees(offsets, ends, size))
    return _slice_links(plan, num_targets, counts.astype(np.int32), ends, dst)


def all_sliced_links_there(
    rows: Sequence[tuple[jax.Array, Any, int]],
) -> list[SlicedLinks]:
    """The same of several rows whose offsets are there, with one wait for degrees."""
    begun = _ends_and_degrees(tuple(offsets for offsets, _, _ in rows))
    made = []
    for (offsets, targets, num_targets), ends, degrees in zip(
        rows, begun[0], np.asarray(begun[1]), strict=True
    ):
        dst = sent(targets, bucket(len(targets)))
        plan, counts = plan_links(*_few_degrees(degrees, len(offsets) - 1))
        counts = counts.astype(np.int32)
        made.append(_slice_links(plan, num_targets, counts, ends, dst))
    return made


def listed_there(
    offsets: Any, targets: Any, num_targets: int, num_rows: int
) -> PairLinks:
    """As `listed`, of rows of numpy, on the default device."""
    dst = sent(targets, bucket(len(targets)))  # the larger one first
    ends = _sent_ends(offsets, num_rows, len(targets), num_rows)
    tail, head = _paired(ends, dst)
    return PairLinks(tail, head, num_rows, num_targets)


@jax.jit
def _paired(ends: Ends, targets: Pieces) -> tuple[jax.Array, jax.Array]:
    """Rows and targets; behind the last link the number of rows, and 0."""
    head = jnp.concatenate(targets).astype(jnp.int32)
    starts = jnp.concatenate(ends.starts).astype(jnp.int32)
    return rows_of(jnp.append(starts, ends.sizes[1]), len(head)), head


def rows_there(offsets: Any, targets: Any) -> tuple[jax.Array, jax.Array]:
    """Rows on the default device, for all that is made of them there.

    They are integers, `[R + 1]` and `[E]`. Both become int32; the targets are filled up
    to one of a few lengths.
    """
    pieces = sent(targets, bucket(len(targets)))
    return jnp.asarray(offsets, jnp.int32), joined(pieces)


def edges_there(
    offsets: Any, targets: Any
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, tuple[jax.Array, jax.Array]]:
    """Rows, `[R + 1]` and `[E]`, of numpy or JAX, as a list on the default device.

    Returns:
        Row and target of each edge, filled up with 0 to one of a few lengths; how many
        there are: int32 `[1]`; how many each row has, filled up likewise with -1. And
        how many edges there are if they are those of a graph, else 0; and whether they
        are: no row ends before it begins, and edges lead to rows.
    """
    size = len(offsets) - 1
    ends = _sent_ends(offsets, bucket(size), len(targets), size)
    return _listed(ends, sent(targets, bucket(len(targets))))


@jax.jit
def _listed(ends: Ends, targets: Pieces):
    head = jnp.concatenate(targets).astype(jnp.int32)
    starts, degree, there = _rows(ends)
    # Rows that fill up have no links, so that no edge is of theirs.
    tail = rows_of(jnp.append(starts, ends.sizes[1]), len(head))
    last = jnp.arange(len(head), dtype=jnp.int32) < ends.sizes[1]
    tail, head = (jnp.where(last, x, 0) for x in (tail, head))
    leads = (head >= 0) & (head < ends.sizes[0])
    sound = ~jnp.any(there & (degree < 0)) & ~jnp.any(last & ~leads)
    count, degree = ends.sizes[1:2], jnp.where(there, degree, -1)
    return tail, head, count, degree, (jnp.where(sound, count, 0), sound)


@functools.partial(jax.jit, static_argnums=2)
def transpose_there(
    offsets: jax.Array, targets: jax.Array, num_targets: int
) -> tuple[jax.Array, jax.Array]:
    """As `transpose`, of rows from `rows_there`; sources are filled up likewise."""
    link = jnp.arange(len(targets), dtype=jnp.int32)
    row = rows_of(offsets, len(targets))
    targets = jnp.where(link < offsets[-1], targets, num_targets)
    into = jnp.zeros(num_targets, jnp.int32).at[targets].add(1, mode="drop")
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), running_sum(into)])
    return starts, jax.lax.sort((targets, row), num_keys=1, is_stable=True)[1]


def rows_of(offsets: jax.Array, length: int) -> jax.Array:
    """The row of each of `length` links; the number of rows where there is none (pure).

    Examples:
        >>> rows_of(jnp.array([0, 2, 2, 3]), 5)
        Array([0, 0, 2, 3, 3], dtype=int32)
    """
    ends = jnp.zeros(length, jnp.int32).at[offsets[1:]].add(1, mode="drop")
    return running_sum(ends)


# ---- sending -------------------------------------------------------------------


def _sent_ends(offsets: Any, rows: int, links: int, real: Any) -> Ends:
    size = len(offsets) - 1
    starts = sent(offsets[:-1], rows, links)
    return Ends(starts, put(np.array([size, links, int(real)], np.int32)))


def sent(x: Any, length: int, fill: int = 0) -> Pieces:
    """An array on the default device, filled up to a length."""
    if isinstance(x, jax.Array):
        return (x if len(x) == length else _filled(x, length, fill),)
    x = np.asarray(x)
    if len(x) == length:
        return send(x)
    if length <= LARGEST_DOUBLE:
        return (put(_filled_up(x, length, fill)),)
    # What lies before the end is not copied. A length is a multiple of so much:
    step = 1 << (length - 1).bit_length() >> 4
    own = len(x) // step * step
    size = step * max(-(-own // (step * PIECES)), -(-PIECE // (step * x.itemsize)))
    pieces = [x[begin : min(begin + size, own)] for begin in range(0, own, size)]
    return tuple(put([*pieces, _filled_up(x[own:], length - own, fill)]))


def _filled_up(x: np.ndarray, length: int, fill: int) -> np.ndarray:
    return np.pad(x, (0, length - len(x)), constant_values=fill)


@jax.jit
def _ends_and_degrees(rows: tuple[jax.Array, ...]) -> tuple[list[Ends], jax.Array]:
    """The same from offsets that are there; and what `_count_degrees` says of each."""
    ends = []
    for offsets in rows:
        size, offsets = jnp.int32(len(offsets) - 1), offsets.astype(jnp.int32)
        ends.append(Ends((offsets[:-1],), jnp.stack([size, offsets[-1], size])))
    return ends, jnp.stack([_count_degrees(each) for each in ends])


@functools.partial(jax.jit, static_argnums=(1, 2))
def _filled(x: jax.Array, length: int, fill: int) -> jax.Array:
    return jnp.pad(x, (0, length - len(x)), constant_values=fill)


# ---- planning ------------------------------------------------------------------


def _degrees(offsets: Any, ends: Ends, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Some degrees with the largest, and how many rows have each, rounded up."""
    if isinstance(offsets, np.ndarray) and can_compile():
        return _few_degrees(_counted(offsets, size), size)
    return _few_degrees(np.asarray(_count_degrees(ends)), size)


def _few_degrees(counted: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The same from what `_count_degrees` says of so many rows."""
    upto, most = np.split(counted, [len(DEGREES)])
    few = np.flatnonzero(most > DEGREES)
    degrees = np.append(DEGREES[few], most)
    return degrees, np.diff(np.append(upto[few], size), prepend=0)


def _counted(offsets: np.ndarray, size: int) -> np.ndarray:
    """As `_count_degrees`, by the host: nothing is compiled for it, nor waited for."""
    ranges = size // RANGE + 1
    number = np.searchsorted(DEGREES, np.arange(COUNTED_BY_TABLE)).astype(np.int32)
    counts = np.zeros((ranges, len(DEGREES) + 1), np.int32)
    largest = np.zeros(ranges, np.int64)
    on_all_cores(_count_range, size, offsets, number, DEGREES, counts, largest)
    return np.append(np.cumsum(counts.sum(0))[:-1], largest.max())


RANGE = FEWEST_PLACES // 2
"""No two ranges of rows begin so near."""


@compiled
def _count_range(offsets, number, degrees, counts, largest, begin, end):
    """Counts the rows of a range by the first of `degrees` that is enough."""
    own, most = begin // RANGE, 0
    for row in range(max(begin, 0), end):
        degree = offsets[row + 1] - offsets[row]
        most = max(most, degree)
        if degree < len(number):
            counts[own, number[degree]] += 1
        else:
            place = 0
            while place < len(degrees) and degrees[place] < degree:
                place += 1
            counts[own, place] += 1
    largest[own] = most


@jax.jit
def _count_degrees(ends: Ends) -> jax.Array:
    """How many rows have each of `DEGREES` at most, and the largest degree: int32."""
    _, degree, there = _rows(ends)
    degree = jnp.where(there, degree, jnp.iinfo(jnp.int32).max)
    bounds = np.minimum(DEGREES, np.iinfo(np.int32).max - 1).astype(np.int32)
    upto = jnp.sum(degree <= bounds[:, None], axis=1, dtype=jnp.int32)
    most = jnp.max(jnp.where(there, degree, 0), initial=0)
    return jnp.append(upto, most)


def _rows(ends: Ends) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The first link of each row, its links, and whether there is such a row."""
    starts = jnp.concatenate(ends.starts).astype(jnp.int32)
    degree = jnp.append(starts[1:], ends.sizes[1]) - starts
    return starts, degree, jnp.arange(len(starts), dtype=jnp.int32) < ends.sizes[0]


# ---- slicing -------------------------------------------------------------------


class _Slots(NamedTuple):
    """As on the host; a slot without a row has the number of rows."""

    slot: jax.Array
    row: jax.Array
    first: jax.Array
    degree: jax.Array


@functools.partial(jax.jit, static_argnums=0)
def _slice_rows(plan, counts, ends, dst, on_vertices, on_edges) -> SlicedArena:
    at = _placed(plan, counts, ends, spare_slot(plan))
    there, dst = at.row < ends.sizes[0], jnp.concatenate(dst)
    own = jnp.arange(plan.total, dtype=jnp.int32)
    starts = jnp.concatenate(ends.starts).astype(jnp.int32)

    def at_slots(pieces):
        x = jnp.concatenate(pieces)
        found = take(x, jnp.where(there, at.row, 0))
        return jnp.where(there, found, jnp.zeros((), x.dtype))

    links = [
        first + jnp.clip(jnp.arange(width, dtype=jnp.int32)[:, None], 0, degree - 1)
        for width, first, degree in zip(
            plan.widths, _split(plan, at.first), _split(plan, at.degree), strict=True
        )
    ]

    def edge_blocks(find, fill):
        return tuple(
            jnp.where(degree > 0, find(jnp.maximum(link, 0)), other)
            for link, degree, other in zip(
                links, _split(plan, at.degree), _split(plan, fill), strict=True
            )
        )

    def of_edges(pieces):
        x = jnp.concatenate(pieces)
        return edge_blocks(lambda link: take(x, link), jnp.zeros(plan.total, x.dtype))

    labels: dict[str, Any] = {
        **{name: at_slots(pieces) for name, pieces in on_vertices.items()},
        **{name: of_edges(pieces) for name, pieces in on_edges.items()},
    }
    return SlicedArena(
        blocks=edge_blocks(lambda link: take(at.slot, take(dst, link)), own),
        slot=at.slot,
        row_ptr=jnp.append(starts, ends.sizes[1]),
        real=at.row < ends.sizes[2],
        **labels,
    )


@functools.partial(jax.jit, static_argnums=(0, 1))
def _slice_links(plan, num_targets: int, counts, ends, dst) -> SlicedLinks:
    at, dst = _placed(plan, counts, ends, 0), jnp.concatenate(dst)
    size = len(at.slot)
    blocks = []
    for width, first, degree in zip(
        plan.widths, _split(plan, at.first), _split(plan, at.degree), strict=True
    ):
        position = jnp.arange(width, dtype=jnp.int32)[:, None]
        there = position < degree
        head = take(dst, jnp.where(there, first + position, 0)).astype(jnp.int32)
        blocks.append(jnp.where(there, head, num_targets))
    row = jnp.minimum(at.row, max(size - 1, 0))
    return SlicedLinks(tuple(blocks), at.slot, row, size, num_targets)


def _placed(plan: Plan, counts, ends: Ends, spare: int) -> _Slots:
    starts, degree, there = _rows(ends)
    size, number = len(starts), jnp.arange(len(starts), dtype=jnp.int32)
    which = jnp.zeros(size, jnp.int32)
    for width in plan.widths[:-1]:
        which += (degree > width).astype(jnp.int32)
    which = jnp.where(there, which, len(plan.widths))
    _, order = jax.lax.sort((which, number), num_keys=1, is_stable=True)
    order = jnp.pad(order, (0, max(plan.sizes)))
    begins = jnp.cumsum(counts, dtype=jnp.int32) - counts
    row = jnp.concatenate([
        jnp.where(
            jnp.arange(length, dtype=jnp.int32) < counts[i],
            jax.lax.dynamic_slice(order, (begins[i],), (length,)),
            size,
        )
        for i, length in enumerate(plan.sizes)
    ])  # fmt: skip
    slots = jnp.arange(plan.total, dtype=jnp.int32)
    slot = jnp.full(size, spare, jnp.int32).at[row].set(
        slots, mode="drop", unique_indices=True
    )  # fmt: skip
    if not size:
        return _Slots(slot, row, slots * 0, slots * 0)
    safe = jnp.minimum(row, size - 1)
    return _Slots(
        slot=slot,
        row=row,
        first=take(starts, safe),
        degree=jnp.where(row < size, take(degree, safe), 0),
    )


def _split(plan: Plan, x: jax.Array) -> list[jax.Array]:
    return jnp.split(x, plan.starts[1:])
