"""Links: rows that point at things, and reductions of values over what they point at.

An edge list of any kind: the successors of vertices, the choices of states, the states
that a choice may lead to. Rows and targets need not be of one kind. Values always are
in the caller's own numbering; a layout changes nothing but the time.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.ops._lists import compact, take
from jaxgames.ops._slices import highest, lowest, reduce_columns

Pieces = tuple[jax.Array, ...]
"""Values on links, one array for each piece of the layout."""


PACK_FROM = 1 << 25
"""Targets from which booleans are packed before they are gathered: as bytes so many
do not fit into a GPU's cache."""

_WORD = 32


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class PairLinks:
    """Links as a list of pairs, reduced by segment operations.

    Attributes:
        tail: int32 `[P]`, the row of each link; `num_rows` where there is none.
        head: int32 `[P]`, what it points at.
        num_rows: how many rows there are, `R`.
        num_targets: how many things there are to point at, `T`.
    """

    tail: Any
    head: Any
    num_rows: int = dataclasses.field(metadata={"static": True})
    num_targets: int = dataclasses.field(metadata={"static": True})


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
    """

    blocks: tuple[Any, ...]
    slot: Any
    row: Any
    num_rows: int = dataclasses.field(metadata={"static": True})
    num_targets: int = dataclasses.field(metadata={"static": True})


Links = PairLinks | SlicedLinks
"""Rows that point at things, in either layout."""


# ---- values on links -------------------------------------------------------------


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
        words = jax.lax.optimization_barrier(_packed(x))
        return tuple(_bit(words, head) for head in _heads(links))
    if isinstance(links, SlicedLinks):
        return tuple(x.at[block].get(mode="clip") for block in links.blocks)
    return (take(x, links.head),)


def _heads(links: Links) -> Pieces:
    return links.blocks if isinstance(links, SlicedLinks) else (links.head,)


def _packed(x: jax.Array) -> jax.Array:
    """Booleans as bits of words."""
    bits = jnp.pad(x, (0, -len(x) % _WORD)).reshape(-1, _WORD).astype(jnp.uint32)
    return jnp.sum(bits << jnp.arange(_WORD, dtype=jnp.uint32), 1, dtype=jnp.uint32)


def _bit(words: jax.Array, index: jax.Array) -> jax.Array:
    word = words.at[index // _WORD].get(mode="clip")
    return (word >> (index % _WORD).astype(jnp.uint32)) & 1 > 0


def at_rows(links: Links, x: jax.Array) -> Pieces:
    """The value of `x` `[R]` at the row of each link, to broadcast against others."""
    if isinstance(links, SlicedLinks):
        x = x if links.row is None else take(x, links.row)
        sizes = [block.shape[1] for block in links.blocks]
        return tuple(y[None] for y in jnp.split(x, np.cumsum(sizes)[:-1].tolist()))
    return (x.at[links.tail].get(mode="clip"),)


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


def count_links(links: Links) -> jax.Array:
    """How many links there are: int32 scalar."""
    there = [x < links.num_targets for x in link_targets(links)]
    return sum((jnp.sum(x, dtype=jnp.int32) for x in there), jnp.int32(0))


def count_rows(links: Links, rows: jax.Array) -> jax.Array:
    """How much room `list_links` needs for some rows (bool `[R]`).

    Returns:
        int32: how many of them each slice has; or how many links they have in a list.
    """
    if isinstance(links, PairLinks):
        return jnp.sum(rows.at[links.tail].get(**_NO_ROW), dtype=jnp.int32)[None]
    return jnp.stack([jnp.sum(x, dtype=jnp.int32) for x in _rows_of(links, rows)])


def cells_of_rows(links: Links, counts: list[int]) -> int:
    """How many links rows have at most, from what `count_rows` says of them (host)."""
    if isinstance(links, PairLinks):
        return sum(counts)
    widths = (block.shape[0] for block in links.blocks)
    return sum(width * count for width, count in zip(widths, counts, strict=True))


def list_links(
    links: Links, rows: jax.Array, room_of_rows: tuple[int, ...], room: int
) -> tuple[jax.Array, jax.Array]:
    """The links of some rows as a list of pairs, in no order.

    Args:
        links: all links.
        rows: bool `[R]`, the rows that are wanted.
        room_of_rows: for each piece of the layout at least `count_rows`.
        room: the length of the lists: at least the number of links of these rows.

    Returns:
        Row and target of each link: int32 `[room]`, filled up with R and T.
    """
    if isinstance(links, PairLinks):
        tail, head = links.tail, links.head
        tail = jnp.where(rows.at[tail].get(**_NO_ROW), tail, links.num_rows)
    else:
        numbers = jnp.arange(links.num_rows, dtype=jnp.int32)
        tails, heads = [], []
        for block, wanted, row, most in zip(
            links.blocks,
            _rows_of(links, rows),
            at_rows(links, numbers),
            room_of_rows,
            strict=True,
        ):
            columns = compact(wanted, most)
            some = (
                jnp.asarray(block)
                .at[:, columns]
                .get(mode="fill", fill_value=links.num_targets)
            )
            there = some < links.num_targets
            tail = row[0].at[columns].get(mode="clip")
            tails.append(jnp.where(there, tail, links.num_rows).ravel())
            heads.append(some.ravel())
        tail, head = jnp.concatenate(tails), jnp.concatenate(heads)
    where = compact(tail < links.num_rows, room)
    return (
        tail.at[where].get(mode="fill", fill_value=links.num_rows),
        head.at[where].get(mode="fill", fill_value=links.num_targets),
    )


_NO_ROW: dict[str, Any] = {"mode": "fill", "fill_value": False}


def _rows_of(links: SlicedLinks, rows: jax.Array) -> list[jax.Array]:
    """Which rows are wanted, slot by slot; slots without a row are not."""
    if links.row is not None:
        at_home = take(links.slot, links.row) == jnp.arange(links.row.shape[0])
        rows = take(rows, links.row) & at_home
    sizes = [block.shape[1] for block in links.blocks]
    return jnp.split(rows, np.cumsum(sizes)[:-1].tolist())


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
    return tuple(y.astype(jnp.int32) for y in x)


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
        return segment_reduce(x[0], links.tail, num_segments=links.num_rows)
    rows = [
        reduce_columns(
            jnp.where(block < links.num_targets, values, start), start, combine
        )
        for values, block in zip(x, links.blocks, strict=True)
    ]
    # The same for what is reduced, for every later use of it.
    reduced = jax.lax.optimization_barrier(jnp.concatenate(rows))
    return reduced if links.slot is None else take(reduced, links.slot)
