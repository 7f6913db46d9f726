"""Strongly connected components are checked by searches inside them."""

from typing import Any

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.graph._input import NO_COUNT, concrete, labels_of
from jaxgames.graph._verdict import Verdict
from jaxgames.graph.host._condensation import (
    contract,
    group,
    topological,
    within_and_between,
)
from jaxgames.graph.host._reach import reach, transpose


def verify(
    graph: Any, components: Any, *, vertices: Any = None, edges: Any = None
) -> Verdict:
    """Checks strongly connected components on the host, trusting nobody.

    As [`graph.verify`][jaxgames.graph.verify] does. O(V + E) time.

    Examples:
        >>> print(verify(([0, 1, 3, 4], [1, 0, 2, 2]), [0, 0, 1]))
        valid
    """
    arena, vertices, edges = concrete(graph, vertices, edges)
    size = arena.shape[0]
    labels, count, most = labels_of(size, components)
    labels = np.clip(np.asarray(labels), -2, MAX_SIZE).astype(np.int32)
    inside = np.ones(size, bool) if vertices is None else vertices
    ranged = (labels >= -1) & (labels < most)
    small = np.where(ranged & inside, labels, -1).astype(np.int32)
    member = np.flatnonzero(small >= 0)
    smallest = np.full(size, size)
    smallest[small[member[::-1]]] = member[::-1]  # the smallest is written last
    first = np.zeros(size, bool)
    first[member] = smallest[small[member]] == member
    found = np.cumsum(first)

    row_ptr, dst = arena.row_ptr, arena.dst
    there = np.ones(len(dst), bool) if edges is None else edges
    within, between = within_and_between(row_ptr, dst, small, there)
    in_ptr, in_edge = transpose(row_ptr, dst)
    forward = reach(row_ptr, dst, first, inside, within, -1)
    backward = reach(in_ptr, arena.src[in_edge], first, inside, within[in_edge], -1)
    return Verdict.first_of(
        ~ranged,
        inside & (labels == -1),
        ~inside & (labels != -1),
        inside & first & (small != found - 1),
        np.bool_(count != NO_COUNT and found[-1:].sum() != count),
        inside & ~forward,
        inside & ~backward,
        _cyclic(row_ptr, dst, small, between),
    )


def _cyclic(row_ptr, dst, labels, between) -> np.ndarray:
    """The vertices from whose components a cycle of components can be reached."""
    number = int(labels.max(initial=-1)) + 1
    offsets, members = group(number, labels)
    starts, heads, _ = contract(row_ptr, dst, labels, offsets, members, between)
    into, edge = transpose(starts, heads)
    tails = np.repeat(np.arange(number, dtype=np.int32), np.diff(starts))
    left = np.ones(number + 1, bool)
    left[topological(into, tails[edge])] = left[number] = False
    return left[labels]
