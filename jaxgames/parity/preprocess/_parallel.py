"""Parallel edges of different priorities."""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE


def without_parallels(
    owner: np.ndarray, row_ptr: np.ndarray, dst: np.ndarray, priority: np.ndarray
) -> tuple[Arena, np.ndarray]:
    """The game in which no two edges lead from one vertex to another.

    Of parallel edges stays the one that the owner of their source likes best. A player
    likes priorities of his own parity, the larger the better, and then those of his
    rival, the smaller the better. With a better edge in place of a worse one no play
    gets worse for him: if the most important priority that is seen infinitely often
    changes at all, it does so for a better one. O(V + E) time.

    Args:
        owner: bool `[V]`.
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        priority: int32 `[E]`, of edges.

    Returns:
        The game with edge priorities, and for each of its edges the index here.
    """
    keep = _undominated(row_ptr, dst, priority, owner)
    edges = np.flatnonzero(keep).astype(np.int32)
    kept_before = np.zeros(len(keep) + 1, np.int32)
    np.cumsum(keep, out=kept_before[1:])
    game = Arena.from_csr(
        kept_before[row_ptr], dst[edges], owner=owner, edge_priority=priority[edges]
    )
    return game, edges


@compiled
def _undominated(row_ptr, dst, priority, owner):
    size = len(owner)
    best = np.full(size, NO_EDGE, np.int64)  # edge to each vertex, from the last row
    keep = np.zeros(len(dst), np.bool_)
    for v in range(size):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            rival = best[dst[e]]
            if rival >= row_ptr[v]:
                if _reward(priority[e], owner[v]) <= _reward(priority[rival], owner[v]):
                    continue
                keep[rival] = False
            best[dst[e]] = e
            keep[e] = True
    return keep


@compiled
def _reward(priority, player):
    """How much a player likes a priority."""
    return priority if priority % 2 == player else -priority - 1
