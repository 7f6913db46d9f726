"""Links: rows that point at things, and reductions of values over what they point at.

An edge list of any kind: the successors of vertices, the choices of states, the states
that a choice may lead to. Rows and targets need not be of one kind. Values always are
in the caller's own numbering; a layout changes nothing but the time.
"""

import dataclasses
from typing import Any

import numpy as np

from jaxgames.later import jax, jnp
from jaxgames.ops._lists import take
from jaxgames.ops._places import known_to_all, on_devices, spread
from jaxgames.ops._slices import highest, lowest, reduce_columns
from jaxgames.states import register
from jaxgames.tuning.ops import PACK_FROM

Pieces = tuple[jax.Array, ...]
"""Values on links, one array for each piece of the layout."""

WORD = 32
"""Bits of a word that such values are packed in."""


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class PairLinks:
    """Links as a list of pairs, reduced by segment operations.

    Attributes:
        tail: int32 `[P]`, the row of each link; `num_rows` where there is none.
        head: int32 `[P]`, what it points at.
        num_rows: how many rows there are, `R`.
        num_targets: how many things there are to point at, `T`.
        mesh: None; or the devices that the pairs are dealt out to.
    """

    tail: Any
    head: Any
    num_rows: int = dataclasses.field(metadata={"static": True})
    num_targets: int = dataclasses.field(metadata={"static": True})
    mesh: jax.sharding.Mesh | None = dataclasses.field(
        default=None, metadata={"static": True}
    )


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SlicedLinks:
    """Links as slices of rows of like degree, reduced as dense arrays.

    A row of a slice has a *slot*: slices come one after the other, and within one the
    rows are in their own order, so that reading them by slots is mostly sequential.

    Attributes:
        blocks: for each slice int32 `[D, N]`: what its `N` rows point at;
            `num_targets` where there is no link.
        slot: int32 `[R]`, the slot of each row; None if that is its number.
        row: int32 `[S]`, the row of each slot (any, where it has none); None likewise.
        num_rows: how many rows there are, `R`.
        num_targets: how many things there are to point at, `T`.
        mesh: None; or the devices that the rows are spread over. Then all arrays have
            one axis more in front, that of the shares: each has as many rows, one after
            the other, and slots and rows of its own, counted from its first.
    """

    blocks: tuple[Any, ...]
    slot: Any
    row: Any
    num_rows: int = dataclasses.field(metadata={"static": True})
    num_targets: int = dataclasses.field(metadata={"static": True})
    mesh: jax.sharding.Mesh | None = dataclasses.field(
        default=None, metadata={"static": True}
    )


Links = PairLinks | SlicedLinks
"""Rows that point at things, in either layout."""


# ---- values on links -------------------------------------------------------------


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class EdgeList:
    """Edges in no order.

    Attributes:
        tail: int32 `[R]`, where each edge begins; a vertex, also beyond `count`.
        head: int32 `[R]`, where it ends, likewise.
        count: int32 `[1]`, how many edges there are: the first of the list.
        kernels: whether sweeps are kernels.
    """

    tail: Any
    head: Any
    count: Any
    kernels: bool = dataclasses.field(default=False, metadata={"static": True})


def link_targets(links: Links) -> Pieces:
    """What each link points at; beyond the last target where there is no link."""
    if isinstance(links, SlicedLinks):
        return links.blocks
    there = links.tail < links.num_rows
    return (jnp.where(there, links.head, links.num_targets),)


def at_targets(links: Links, x: jax.Array) -> Pieces:
    """The value of `x` `[T]` where each link points; any where there is no link."""
    # Without the barrier XLA may compute x anew for every link that reads it.
    x = jax.lax.optimization_barrier(x)
    if x.dtype == bool and links.num_targets >= PACK_FROM:
        words = known_to_all(jax.lax.optimization_barrier(packed(x)))
        return tuple(packed_at(words, head, 1) > 0 for head in _heads(links))
    x = known_to_all(x)
    if isinstance(links, SlicedLinks):
        return tuple(x.at[block].get(mode="clip") for block in links.blocks)
    return (take(x, links.head),)


def _heads(links: Links) -> Pieces:
    return links.blocks if isinstance(links, SlicedLinks) else (links.head,)


def packed(x: jax.Array, bits: int = 1) -> jax.Array:
    """Booleans, or integers from 0 on, in words, as many as a word has room for.

    Each takes some bits, a divisor of `WORD`.
    """
    room = WORD // bits
    parts = jnp.pad(x, (0, -len(x) % room)).reshape(-1, room).astype(jnp.uint32)
    shifts = jnp.arange(0, WORD, bits, dtype=jnp.uint32)
    return jnp.sum(parts << shifts, 1, dtype=jnp.uint32)


def packed_at(words: jax.Array, index: jax.Array, bits: int) -> jax.Array:
    """The number of an index, as `packed` has it: int8."""
    room = WORD // bits
    word = words.at[index // room].get(mode="clip")
    shift = (bits * (index % room)).astype(jnp.uint32)
    return ((word >> shift) & ((1 << bits) - 1)).astype(jnp.int8)


def at_rows(links: Links, x: jax.Array) -> Pieces:
    """The value of `x` `[R]` at the row of each link, to broadcast against others."""
    if isinstance(links, SlicedLinks):
        return tuple(y[..., None, :] for y in by_slice(links, in_slots(links, x)))
    return (x.at[links.tail].get(mode="clip"),)


def links_layout(links: Links) -> str:
    """Name of the layout, for statistics."""
    name = "pairs" if isinstance(links, PairLinks) else "slices"
    return name + on_devices(links.mesh)


def keep_links(links: Links, keep: Pieces) -> Links:
    """Only the links that are to be kept (bool on links); shapes stay (pure)."""
    if isinstance(links, SlicedLinks):
        blocks = tuple(
            jnp.where(kept, block, links.num_targets)
            for kept, block in zip(keep, links.blocks, strict=True)
        )
        return dataclasses.replace(links, blocks=blocks)
    tail = jnp.where(keep[0], links.tail, links.num_rows)
    return dataclasses.replace(links, tail=tail)


def redirect(links: Links, x: jax.Array, num_targets: int) -> Links:
    """The links that lead on: to what `x` says of what they point at (pure).

    That is int32 `[T]`, in `0 .. num_targets - 1`.
    """
    if isinstance(links, PairLinks):
        (head,) = at_targets(links, x)
        return PairLinks(links.tail, head, links.num_rows, num_targets)
    blocks = tuple(
        jnp.where(block < links.num_targets, value, num_targets)
        for block, value in zip(link_targets(links), at_targets(links, x), strict=True)
    )
    return SlicedLinks(blocks, links.slot, links.row, links.num_rows, num_targets)


def count_links(links: Links) -> jax.Array:
    """How many links there are: int32 scalar."""
    there = [x < links.num_targets for x in link_targets(links)]
    return sum((jnp.sum(x, dtype=jnp.int32) for x in there), jnp.int32(0))


def by_slice(links: SlicedLinks, x: jax.Array) -> list[jax.Array]:
    """Values over slots, slice by slice."""
    sizes = [block.shape[-1] for block in links.blocks]
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis=-1)


def in_slots(links: SlicedLinks, x: jax.Array) -> jax.Array:
    """Values `[R]` in the order of the slots."""
    if links.mesh is not None:
        shares = links.blocks[0].shape[0]
        x = jnp.pad(x, (0, -len(x) % shares)).reshape(shares, -1)
    return x if links.row is None else of_rows(links, x)


def of_rows(links: SlicedLinks, x: jax.Array) -> jax.Array:
    """Values by row, counted as the slots count them, in the order of the slots."""
    return _among_own(links.mesh, x, links.row)


def _among_own(
    mesh: jax.sharding.Mesh | None, x: jax.Array, index: jax.Array
) -> jax.Array:
    """Values at indices that are counted in each share."""
    if mesh is None:
        return take(x, index)
    return jnp.take_along_axis(x, index, axis=1, mode="promise_in_bounds")


# ---- reductions ------------------------------------------------------------------


def links_max(
    links: Links, x: jax.Array | Pieces, where: jax.Array | Pieces | None = None
) -> jax.Array:
    """Largest value where each row points.

    Args:
        links: the rows.
        x: integers `[T]`, or values on links.
        where: bool `[T]` or on links: what counts; None for all.

    Returns:
        `[R]`; for a row without links that count the least value of the type.
    """
    return _reduce(links, x, where, jnp.maximum, jax.ops.segment_max, lowest)


def links_min(
    links: Links, x: jax.Array | Pieces, where: jax.Array | Pieces | None = None
) -> jax.Array:
    """Least value where each row points, as `links_max`."""
    return _reduce(links, x, where, jnp.minimum, jax.ops.segment_min, highest)


def links_any(
    links: Links, x: jax.Array | Pieces, where: jax.Array | Pieces | None = None
) -> jax.Array:
    """Whether `x` (bool) holds somewhere where each row points: bool `[R]`."""
    return links_max(links, _bits(links, x), where) > 0


def links_all(
    links: Links, x: jax.Array | Pieces, where: jax.Array | Pieces | None = None
) -> jax.Array:
    """Whether `x` (bool) holds everywhere where each row points: bool `[R]`."""
    return links_min(links, _bits(links, x), where) > 0


def _bits(links: Links, x):
    if not isinstance(x, tuple):
        if links.num_targets == 0:
            return x.astype(jnp.int32)
        x = at_targets(links, x)
    # In slices bytes do; segment operations are fast on whole words.
    kind = jnp.uint8 if isinstance(links, SlicedLinks) else jnp.int32
    return tuple(y.astype(kind) for y in x)


def _reduce(links: Links, x, where, combine, segment_reduce, identity):
    dtype = x[0].dtype if isinstance(x, tuple) else x.dtype
    start = np.array(identity(dtype), dtype)
    if links.num_rows == 0 or links.num_targets == 0:
        return jnp.full(links.num_rows, start)
    if not isinstance(x, tuple):
        if where is not None and not isinstance(where, tuple):
            x, where = jnp.where(where, x, start), None
        x = at_targets(links, x)
    elif where is not None and not isinstance(where, tuple):
        where = at_targets(links, where)
    if where is not None:
        x = tuple(jnp.where(w, y, start) for w, y in zip(where, x, strict=True))
    if isinstance(links, PairLinks):
        found = segment_reduce(x[0], links.tail, num_segments=links.num_rows)
        return spread(found, links.mesh)
    rows = [
        reduce_columns(
            jnp.where(block < links.num_targets, values, start), start, combine
        )
        for values, block in zip(x, links.blocks, strict=True)
    ]
    return in_rows(links, rows)


def in_rows(links: SlicedLinks, pieces: list[jax.Array]) -> jax.Array:
    """Values `[R]` from those of the slots, slice by slice."""
    # The same barrier for what is reduced, for every later use of it.
    x = jax.lax.optimization_barrier(jnp.concatenate(pieces, axis=-1))
    if links.slot is not None:
        x = _among_own(links.mesh, x, links.slot)
    return x if links.mesh is None else spread(x.ravel()[: links.num_rows], links.mesh)
