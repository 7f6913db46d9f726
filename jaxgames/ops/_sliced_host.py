"""Rows into slices on the host: compiled loops on all cores, numpy where they lack."""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import Arena, bucket
from jaxgames.host import can_compile, compiled, is_plain, on_all_cores
from jaxgames.ops._layouts import SlicedArena
from jaxgames.ops._links import SlicedLinks
from jaxgames.ops._slices import (
    Plan,
    link_classes,
    plan_links,
    plan_rows,
    spare_slot,
)
from jaxgames.tuning.ops import TILE


class Slots(NamedTuple):
    """Where rows lie, and what lies there; arrays over the slots of all shares.

    Attributes:
        slot: int32 `[R]`, the slot of each row.
        row: int32 `[S]`, the row of each slot; -1 where there is none.
        first: int32 `[S]`, its first link.
        degree: int32 `[S]`, its links; 0 where there is none.
    """

    slot: np.ndarray
    row: np.ndarray
    first: np.ndarray
    degree: np.ndarray


def slice_rows(arena: Arena, shares: int | None = None) -> SlicedArena:
    """Sorts the rows of a concrete arena into slices (host only).

    Args:
        arena: the arena.
        shares: cut each slice into so many pieces, equally long but for filling. Then
            values on edges have one axis more in front, `[shares, D, N]`, and slots are
            numbered share by share.
    """
    parts = shares or 1
    offsets, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    size = len(offsets) - 1
    histogram = np.bincount(np.diff(offsets), minlength=1)
    more = bucket(size) - size
    plan, counts = plan_rows(
        np.arange(len(histogram)), histogram, bucket, parts=parts, spare=min(more, 1)
    )
    at = placed_rows(offsets, plan, counts, parts)
    # What is left over stands for the vertices that only fill the arrays up.
    spare = spare_slot(plan, parts)
    heads = np.empty(len(dst), np.int32)
    look_up_on_host(at.slot, dst, heads)
    own, none = np.arange(parts * plan.total, dtype=np.int32), at.row < 0

    def edge_blocks(values, fill=None):
        if values is None or values.ndim != 1:
            return None
        values, blocks = np.asarray(values), []
        other = np.zeros(len(at.row), values.dtype) if fill is None else fill
        for start, width, rows in zip(
            plan.starts, plan.widths, plan.sizes, strict=True
        ):
            block = np.empty((parts, width, rows), values.dtype)
            for part in range(parts):
                begin = part * plan.total + start
                _copy(block[part], at, slice(begin, begin + rows), values, other, True)
            blocks.append(block[0] if shares is None else block)
        return tuple(blocks)

    def at_slots(x):
        if x is None:
            return None
        found = np.asarray(x)[at.row] if size else np.zeros(len(at.row), x.dtype)
        found[none] = 0
        return found

    return SlicedArena(
        blocks=edge_blocks(heads, own),  # pyright: ignore
        slot=np.pad(at.slot, (0, more), constant_values=spare),
        row_ptr=np.pad(offsets, (0, more), "edge"),
        real=~none & (at.row < arena.num_vertices),
        owner=at_slots(arena.owner),
        priority=at_slots(arena.priority),
        accepting=at_slots(arena.accepting),
        edge_priority=edge_blocks(arena.edge_priority),
        weight=edge_blocks(arena.weight),
    )


def sliced_links(offsets, targets, num_targets: int, shares: int | None) -> SlicedLinks:
    """Sorts concrete rows into slices (host only).

    Args:
        offsets: integers `[R + 1]`, ascending from 0 to E.
        targets: integers `[E]`, row by row.
        num_targets: the number of things to point at.
        shares: deal the rows out to so many shares, one after the other; None: they
            stay together, and values have no axis for shares.
    """
    size, parts = len(offsets) - 1, shares or 1
    targets = targets.astype(np.int32, copy=False)
    per = max(-(-size // parts), 1)
    bounds = np.minimum(per * np.arange(parts + 1), size)
    histograms = [
        np.bincount(np.diff(offsets[begin : end + 1]), minlength=1)
        for begin, end in zip(bounds[:-1], bounds[1:], strict=True)
    ]
    longest = max(map(len, histograms))
    histograms = [np.pad(x, (0, longest - len(x))) for x in histograms]
    degrees = np.arange(longest)
    plan, _ = plan_links(degrees, np.sum(histograms, axis=0))
    where = np.searchsorted(plan.widths, degrees)
    counts = np.array([
        np.bincount(where, weights=x, minlength=len(plan.widths)) for x in histograms
    ]).astype(np.int64)  # fmt: skip
    if shares is not None:
        most = counts.max(axis=0).tolist()
        plan = Plan(plan.widths, tuple(map(link_classes, most)))
    own = min(per, size) if shares is None else per
    slot = np.zeros((parts, own), np.int32)
    row = np.full((parts, plan.total), own - 1, np.int32)
    none = np.full(plan.total, num_targets, np.int32)
    blocks = [
        np.empty((parts, width, rows), np.int32)
        for width, rows in zip(plan.widths, plan.sizes, strict=True)
    ]
    for part, (begin, end) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        at = placed_rows(offsets[begin : end + 1], plan, counts[part], 1)
        slot[part, : end - begin] = at.slot
        row[part] = np.where(at.row < 0, own - 1, at.row)
        for start, block in zip(plan.starts, blocks, strict=True):
            some = slice(start, start + block.shape[-1])
            _copy(block[part], at, some, targets, none, False)
    if shares is None:
        slot, row, blocks = slot[0], row[0], [block[0] for block in blocks]
    return SlicedLinks(tuple(blocks), slot, row, size, num_targets)


def placed_rows(offsets, plan: Plan, counts: np.ndarray, parts: int) -> Slots:
    """Gives each row its slot: slice by slice, and in the old order within one.

    Offsets are integers `[R + 1]`. Of each slice, `counts` says how many rows it has in
    all shares together. Each of so many parts takes the next rows of a slice, as many
    as the others.
    """
    size, slots = len(offsets) - 1, parts * plan.total
    found = Slots(
        slot=np.empty(size, np.int32),
        row=np.full(slots, -1, np.int32),
        first=np.zeros(slots, np.int32),
        degree=np.zeros(slots, np.int32),
    )
    widths, starts = np.array(plan.widths), np.array(plan.starts)
    most = np.maximum(-(-counts // parts), 1)
    offsets = offsets.astype(np.int32, copy=False)
    if can_compile():
        _place(offsets, widths, starts, most, plan.total, found)
        return found
    which = np.searchsorted(widths, np.diff(offsets)).astype(np.uint8)
    order = np.argsort(which, kind="stable")
    place = np.empty(size, np.int64)
    ends = np.cumsum(counts)
    for start, room, begin, end in zip(starts, most, ends - counts, ends, strict=True):
        part, column = np.divmod(np.arange(end - begin), room)
        place[begin:end] = part * plan.total + start + column
    found.slot[order] = place
    found.row[place] = order
    found.first[place] = offsets[:-1][order]
    found.degree[place] = np.diff(offsets)[order]
    return found


@compiled
def _place(offsets, widths, starts, most, total, found):
    slot, row, first, degree = found
    free, end = starts.copy(), starts.copy()
    for which in range(len(starts)):
        end[which] += most[which]
    for r in range(len(offsets) - 1):
        begin = offsets[r]
        links = offsets[r + 1] - begin
        which = 0
        while widths[which] < links:
            which += 1
        at = free[which]
        if at == end[which]:
            at += total - most[which]
            end[which] += total
        free[which] = at + 1
        slot[r] = at
        row[at] = r
        first[at] = begin
        degree[at] = links


def _copy(block, at: Slots, some: slice, values, other, repeat: bool) -> None:
    """Copies values of links into the columns of a block.

    A row that is too short repeats its last; or has, as slots without a row, the value
    that `other` says.
    """
    first, degree, other = at.first[some], at.degree[some], other[some]
    if can_compile():
        rows = block.shape[1]
        on_all_cores(_copy_rows, rows, block, first, degree, values, other, repeat)
        return
    block[:] = other
    there = degree > 0
    for position in range(block.shape[0]):
        if not repeat:
            there = degree > position
        link = first[there] + np.minimum(position, degree[there] - 1)
        block[position, there] = values[link]


@compiled
def _copy_rows(block, first, degree, values, other, repeat, begin, end):
    for tile in range(max(begin, 0), end, TILE):
        for position in range(block.shape[0]):
            for column in range(tile, min(tile + TILE, end)):
                links = degree[column]
                if position < links:
                    block[position, column] = values[first[column] + position]
                elif repeat and links > 0:
                    block[position, column] = values[first[column] + links - 1]
                else:
                    block[position, column] = other[column]


def look_up_on_host(table: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
    """Writes the entries of a table at some places, on all cores if they are many."""
    if can_compile() and not is_plain(len(out)):
        on_all_cores(_look_up, len(out), table, index, out)
    else:
        np.take(table, index, out=out)


@compiled
def _look_up(table, index, out, begin, end):
    for i in range(max(begin, 0), end):
        out[i] = table[index[i]]
