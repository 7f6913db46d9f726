"""From tables of successors and lists of pairs to arenas."""

import numpy as np

from jaxgames.arena import Arena, Condition

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
