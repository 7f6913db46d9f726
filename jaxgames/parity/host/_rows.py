"""The edges of a game by where they lead, and its loops."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.tuning.parity import FAR, LOOKED_AT, NEXT, PIECES, SPLIT_FROM


class Rows(NamedTuple):
    """A game, and its edges by where they lead; `V` and `E` leave padding out.

    Attributes:
        owner: bool `[V]`.
        priority: int32 `[V]`.
        row_ptr: int32 `[V + 1]`; the edges of vertex `v` are `row_ptr[v]` to
            `row_ptr[v + 1] - 1`.
        head: int32 `[E]`, where each edge leads.
        in_ptr: int32 `[V + 1]`; the edges into `v` come from `in_tail[k]`, for
            `in_ptr[v] <= k < in_ptr[v + 1]`, in the order of edges.
        in_tail: int32 `[E]`.
        loops: int32, the edges that are loops, in order.
        size: number of vertices with padding.
    """

    owner: np.ndarray
    priority: np.ndarray
    row_ptr: np.ndarray
    head: np.ndarray
    in_ptr: np.ndarray
    in_tail: np.ndarray
    loops: np.ndarray
    size: int


def by_target(
    source: np.ndarray, head: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges by where they lead, in the order of edges: O(V + E) time.

    Args:
        source: int32 `[E]`, where they begin.
        head: int32 `[E]`, where they lead.
        size: how many vertices there are.

    Returns:
        `in_ptr`, `in_tail` and `loops` of `Rows`.
    """
    in_ptr, in_tail = np.empty(size + 1, np.int32), np.empty(len(head), np.int32)
    if size < SPLIT_FROM or not _lead_far(head):
        return in_ptr, in_tail, _sort(source, head, in_ptr, in_tail)
    shift = (size - 1).bit_length() - PIECES.bit_length() + 1
    pairs = np.empty(len(head), np.int64)
    loops = _sort_in_parts(source, head, shift, pairs, in_ptr, in_tail)
    return in_ptr, in_tail, loops


def _lead_far(head: np.ndarray) -> bool:
    """Whether most edges lead to places that are far from where those next to them do.

    Edges of a vertex often lead to several places, which move on together from one
    vertex to the next.
    """
    first = np.linspace(0, len(head) - 1 - NEXT, LOOKED_AT).astype(np.int64)
    others = head[first[:, None] + np.arange(1, NEXT)]
    apart = np.abs(others - head[first][:, None]).min(axis=1)
    return 2 * np.count_nonzero(apart > FAR) > LOOKED_AT


@compiled
def _sort(source, head, in_ptr, in_tail):
    """Sorts edges by counting; returns loops."""
    many, size, loops = len(head), len(in_ptr) - 1, 0
    in_ptr.fill(0)
    for e in range(many):
        v = head[e]
        in_ptr[v + 1] += 1
        loops += v == source[e]
    loop = np.empty(loops, np.int32)
    _to_begins(in_ptr, 0, size, 0)
    loops = 0
    for e in range(many):
        v = head[e]
        place = in_ptr[v + 1]
        in_tail[place] = source[e]
        in_ptr[v + 1] = place + 1
        if v == source[e]:
            loop[loops] = e
            loops += 1
    return loop


@compiled
def _to_begins(in_ptr, first, last, at):
    """Makes of how many edges lead to each vertex where these begin.

    One place further on: when all are there, their ends stand in these places.
    """
    for v in range(first, last):
        more = in_ptr[v + 1]
        in_ptr[v + 1] = at
        at += more


@compiled
def _sort_in_parts(source, head, shift, pairs, in_ptr, in_tail):
    """As `_sort`, by first bits and then by all: each in few places at a time."""
    many, size, loops = len(head), len(in_ptr) - 1, 0
    parts = ((size - 1) >> shift) + 1
    begins = np.zeros(parts + 1, np.int64)
    in_ptr.fill(0)
    for e in range(many):
        begins[(head[e] >> shift) + 1] += 1
        loops += head[e] == source[e]
    loop = np.empty(loops, np.int32)
    for part in range(parts):
        begins[part + 1] += begins[part]
    free, loops = begins.copy(), 0
    for e in range(many):
        v = np.int64(head[e])
        part = v >> shift
        pairs[free[part]] = (v << 32) | source[e]
        free[part] += 1
        if v == source[e]:
            loop[loops] = e
            loops += 1
    for part in range(parts):
        first, last = begins[part], begins[part + 1]
        for k in range(first, last):
            in_ptr[(pairs[k] >> 32) + 1] += 1
        _to_begins(in_ptr, part << shift, min((part + 1) << shift, size), first)
        for k in range(first, last):
            v = pairs[k] >> 32
            place = in_ptr[v + 1]
            in_tail[place] = pairs[k] & (2**32 - 1)
            in_ptr[v + 1] = place + 1
    return loop
