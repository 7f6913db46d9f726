"""The edges of a game by where they lead, and its loops."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled, on_ranges, ranges_of
from jaxgames.tuning.parity import (
    EDGES_OF_RANGE,
    FAR,
    FAR_FROM,
    LOOKED_AT,
    MOST_RANGES,
    NEXT,
    PARTS,
    SPLIT_FROM,
)

BITS = 16
"""Bits by which edges that lead far are sorted in the second step."""


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
        far: whether edges lead far from where those next to them do.
        size: number of vertices with padding.
    """

    owner: np.ndarray
    priority: np.ndarray
    row_ptr: np.ndarray
    head: np.ndarray
    in_ptr: np.ndarray
    in_tail: np.ndarray
    loops: np.ndarray
    far: bool
    size: int


def by_target(
    row_ptr: np.ndarray, head: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Edges by where they lead, in the order of edges: O(V + E) time.

    Args:
        row_ptr: int32 `[V + 1]`, rows of edges, none of which is empty.
        head: int32 `[E]`, where they lead.

    Returns:
        `in_ptr`, `in_tail`, `loops` and `far` of `Rows`.
    """
    size, edges = len(row_ptr) - 1, len(head)
    ranges = ranges_of_edges(edges)
    in_tail = np.empty(edges, np.int32)
    # Each range has places for as many loops as it has edges. Few are ever touched.
    loops, num_loops = np.empty(edges, np.int32), np.zeros(len(ranges), np.int64)
    far = bool(size >= FAR_FROM and _lead_far(head, size))
    split = far and size >= SPLIT_FROM
    places = ((size - 1) >> (BITS if split else 0)) + 1
    # Where edges of a range belong next. In the end those of the last are ends of rows.
    first = np.zeros(places + 1, np.int32)
    if len(ranges) == 1 and not split:
        many = _place_all(row_ptr, head, first[1:], in_tail, loops, far)
        return first, in_tail, loops[:many].copy(), far
    free = np.zeros((len(ranges) - 1, places), np.int32), first[1:]
    on_ranges(_count, ranges, head, BITS if split else 0, *free)
    _begin(*free)
    # Of the same type, or all rows would be copied.
    begins = np.array([begin for _, begin, _ in ranges], row_ptr.dtype)
    tails = row_ptr.searchsorted(begins, "right") - 1
    ranges = [(*x, v) for x, v in zip(ranges, tails.tolist(), strict=True)]
    found = (loops, num_loops)
    if split:
        tail, rest = np.empty(edges, np.int32), np.empty(edges, np.uint16)
        on_ranges(_split, ranges, row_ptr, head, *free, tail, rest, *found)
    else:
        on_ranges(_place, ranges, row_ptr, head, *free, in_tail, far, *found)
    in_ptr = first
    if split:
        in_ptr = np.empty(size + 1, np.int32)
        in_ptr[0] = 0
        parts = _of_parts(first, len(ranges))
        on_ranges(_sort_parts, parts, first, tail, rest, in_ptr, in_tail)
    each = zip(ranges, num_loops.tolist(), strict=True)
    loops = np.concatenate([loops[at : at + many] for (_, at, _, _), many in each])
    return in_ptr, in_tail, loops, far


def ranges_of_edges(edges: int) -> list[tuple[int, int, int]]:
    """Ranges of edges, for a core each: their numbers, begins and ends."""
    most = min(MOST_RANGES, edges // EDGES_OF_RANGE)
    if most < 2:
        return [(0, 0, edges)]
    return [(k, *each) for k, each in enumerate(ranges_of(edges, most))]


def _of_parts(begins: np.ndarray, many: int) -> list[tuple[int, int]]:
    """Ranges of parts that have about as many edges each."""
    wanted = np.arange(1, many) * int(begins[-1]) // many
    ends = [0, *begins.searchsorted(wanted).tolist(), len(begins) - 1]
    return list(zip(ends[:-1], ends[1:], strict=True))


@compiled
def _lead_far(head, size):
    """Whether most edges lead to places that are far from where those next to them do.

    Edges of a vertex often lead to several places, which move on together from one
    vertex to the next.
    """
    limit, many = min(FAR, size // PARTS), 0
    for number in range(LOOKED_AT):
        first = number * (len(head) - NEXT) // LOOKED_AT
        nearest = size
        for e in range(first + 1, first + NEXT):
            nearest = min(nearest, abs(np.int64(head[e]) - np.int64(head[first])))
        many += nearest > limit
    return 2 * many > LOOKED_AT


@compiled
def _count(head, shift, others, last, number, begin, end):
    """Counts the edges of a range by where they lead."""
    row = last
    if number < len(others):
        row = others[number]
    for e in range(max(begin, 0), end):
        row[head[e] >> shift] += 1


@compiled
def _begin(others, last):
    """Makes of how many edges of a range belong somewhere where these begin."""
    at = 0
    for place in range(len(last)):
        for number in range(len(others)):
            more = others[number, place]
            others[number, place] = at
            at += more
        more = last[place]
        last[place] = at
        at += more


@compiled
def _place_all(row_ptr, head, free, in_tail, loops, far):
    """Puts all edges where they belong, by one range; how many loops there are.

    The places that are free are zeros before, and ends of rows afterwards.
    """
    for e in range(len(head)):
        free[head[e]] += 1
    at = 0
    for v in range(len(free)):
        more = free[v]
        free[v] = at
        at += more
    return _place_range(row_ptr, head, free, in_tail, loops, far, 0, len(head), 0)


@compiled
def _place(
    row_ptr, head, others, last, in_tail, far, loops, num_loops, number, begin, end,
    tail,
):  # fmt: skip
    """Puts the edges of a range where they belong."""
    free = last
    if number < len(others):
        free = others[number]
    num_loops[number] = _place_range(
        row_ptr, head, free, in_tail, loops, far, begin, end, tail
    )


@compiled
def _place_range(row_ptr, head, free, in_tail, loops, far, begin, end, tail):
    """As `_place`; how many loops there are."""
    u, e, many = np.int64(tail), max(np.int64(begin), 0), np.int64(0)
    if far:  # where a row ends nobody could predict
        for k in range(e, end):
            u += k == row_ptr[u + 1]
            many += _put(head, free, in_tail, loops, begin + many, u, k)
    else:
        while e < end:
            last = min(np.int64(row_ptr[u + 1]), end)
            for k in range(e, last):
                many += _put(head, free, in_tail, loops, begin + many, u, k)
            e = last
            u += 1
    return many


@compiled
def _put(head, free, in_tail, loops, next_loop, u, e):
    """Puts an edge where it belongs; whether it is a loop."""
    v = np.int64(head[e])
    place = free[v]
    in_tail[place] = u
    free[v] = place + 1
    if u == v:
        loops[next_loop] = e
    return u == v


@compiled
def _split(
    row_ptr, head, others, last, tails, rest, loops, num_loops, number, begin, end,
    tail,
):  # fmt: skip
    """Puts the edges of a range in order by the first bits of where they lead.

    What is left of these is the rest.
    """
    free, u, many = last, np.int64(tail), np.int64(0)
    if number < len(others):
        free = others[number]
    for e in range(max(begin, 0), end):
        u += e == row_ptr[u + 1]
        v = np.int64(head[e])
        place = free[v >> BITS]
        tails[place], rest[place] = u, v & (2**BITS - 1)
        free[v >> BITS] = place + 1
        if u == v:
            loops[begin + many] = e
            many += 1
    num_loops[number] = many


@compiled
def _sort_parts(begins, tail, rest, in_ptr, in_tail, begin, end):
    """Sorts those edges that have the same first bits by the rest, of a range of bits.

    A place further on, `in_ptr` has the begins of rows, which become their ends.
    """
    size = len(in_ptr) - 1
    for part in range(begin, end):
        first, last = begins[part], begins[part + 1]
        at, after = (part << BITS) + 1, min((part + 1) << BITS, size) + 1
        for v in range(at, after):
            in_ptr[v] = 0
        for k in range(first, last):
            in_ptr[at + rest[k]] += 1
        begun = first
        for v in range(at, after):
            more = in_ptr[v]
            in_ptr[v] = begun
            begun += more
        for k in range(first, last):
            place = in_ptr[at + rest[k]]
            in_tail[place] = tail[k]
            in_ptr[at + rest[k]] = place + 1
