"""Some links: as a list of pairs, or one by one."""

from typing import Any

from jaxgames.later import jax, jnp
from jaxgames.ops._links import (
    Links,
    PairLinks,
    SlicedLinks,
    at_rows,
    by_slice,
    in_slots,
    of_rows,
)
from jaxgames.ops._lists import compact, take


def count_rows(links: Links, rows: jax.Array) -> jax.Array:
    """How much room `list_links` needs for some rows (bool `[R]`).

    Returns:
        int32: how many of them each slice has; or how many links they have in a list.
    """
    if isinstance(links, PairLinks):
        return jnp.sum(rows.at[links.tail].get(**_NO_ROW), dtype=jnp.int32)[None]
    counts = [jnp.sum(x, dtype=jnp.int32) for x in _rows_of(links, rows)]
    return jnp.stack(counts) if counts else jnp.zeros(0, jnp.int32)


def cells_of_rows(links: Links, counts: Any) -> Any:
    """How many links rows have at most, from what `count_rows` says of them."""
    if isinstance(links, PairLinks):
        return sum(counts)
    widths = (block.shape[-2] for block in links.blocks)
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
            columns = compact(wanted.ravel(), most)
            block = jnp.moveaxis(jnp.asarray(block), -2, 0)
            some = (
                block.reshape(len(block), wanted.size)
                .at[:, columns]
                .get(mode="fill", fill_value=links.num_targets)
            )
            there = some < links.num_targets
            tail = row.ravel().at[columns].get(mode="clip")
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
    rows = in_slots(links, rows)
    if links.row is not None:
        slots = jnp.arange(links.row.shape[-1])
        rows = rows & (of_rows(links, links.slot) == slots)
    return by_slice(links, rows)


# ---- a few links ---------------------------------------------------------------


def row_widths(links: Links, rows: jax.Array) -> jax.Array:
    """How many links slices, on one device, have room for in some rows: int32."""
    assert isinstance(links, SlicedLinks)
    slot, width = _slots_of(links, rows), jnp.zeros(rows.shape, jnp.int32)
    for inside, _, block in _in_slices(links, slot):
        width = jnp.where(inside, block.shape[0], width)
    return width


def link_at(links: Links, rows: jax.Array, place: jax.Array) -> jax.Array:
    """What one link of each of some rows, in slices on one device, points at: int32.

    Its place is that among the links of its row, less than `row_widths`; it points at
    `num_targets` or more where there is none.
    """
    assert isinstance(links, SlicedLinks)
    slot = _slots_of(links, rows)
    head = jnp.full(rows.shape, links.num_targets, jnp.int32)
    for inside, column, block in _in_slices(links, slot):
        head = jnp.where(inside, block.at[place, column].get(mode="clip"), head)
    return head


def _slots_of(links: SlicedLinks, rows: jax.Array) -> jax.Array:
    return rows if links.slot is None else take(links.slot, rows)


def _in_slices(links: SlicedLinks, slot: jax.Array):
    """For each slice with links which slots are of it, their columns, and the slice."""
    start = 0
    for block in links.blocks:
        end = start + block.shape[-1]
        if block.size:
            inside = (slot >= start) & (slot < end)
            yield inside, jnp.where(inside, slot - start, 0), block
        start = end
