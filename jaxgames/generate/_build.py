"""From tables of successors and lists of pairs to arenas."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from jaxgames.arena import Arena, Condition
from jaxgames.generate._arguments import fits
from jaxgames.limits import ticking

NO_SUCCESSOR = -1
"""Fills the rows of vertices that have fewer successors than others."""


def from_rows(
    successors, *, owner, priority, weight=None, condition: Condition = "max even"
) -> Arena:
    """The arena with one row of successors for each vertex: integers `[V, D]`.

    Weights have the same shape; those of absent successors do not matter.
    """
    present = successors != NO_SUCCESSOR
    row_ptr = np.zeros(len(successors) + 1, np.int64)
    np.cumsum(np.count_nonzero(present, axis=1), out=row_ptr[1:])
    return Arena.from_csr(
        row_ptr,
        successors[present],
        owner=owner,
        priority=priority,
        weight=None if weight is None else weight[present],
        condition=condition,
    )


def from_pairs(*pairs, owner, priority, condition: Condition = "max even") -> Arena:
    """The arena with an edge for each entry of each pair (sources, targets).

    The two arrays of a pair are broadcast together.
    """
    pairs = [np.broadcast_arrays(sources, targets) for sources, targets in pairs]
    return Arena.from_edges(
        np.concatenate([sources.ravel() for sources, _ in pairs]),
        np.concatenate([targets.ravel() for _, targets in pairs]),
        owner=owner,
        priority=priority,
        condition=condition,
    )


Vertices = Iterator[tuple[Hashable, int, int, Sequence[Hashable]]]
"""Of each vertex name, owner, priority and successors, in the order of numbers."""


def from_vertices(vertices: Vertices, most_vertices: int, most_edges: int) -> Arena:
    """The arena of a table of so many vertices and edges at most, max even.

    Successors that are no vertices are left out: at the ends of a line there is none.
    """
    fits(most_vertices, most_edges)
    table = list(ticking(vertices, "generating"))
    number = {name: v for v, (name, _, _, _) in enumerate(table)}
    rows = [[number[s] for s in row if s in number] for _, _, _, row in table]
    return Arena.from_csr(
        np.cumsum([0, *map(len, rows)]),
        np.array([v for row in rows for v in row], np.int32),
        owner=np.array([owner for _, owner, _, _ in table]),
        priority=np.array([priority for _, _, priority, _ in table]),
    )
