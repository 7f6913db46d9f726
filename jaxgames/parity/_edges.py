"""Priorities on edges: restated on vertices for solvers that read only those.

An edge `(u, w)` of priority `p` becomes `u -> m -> w` with a vertex `m` of priority `p`
in the middle, and `u` gets a priority that never matters. Plays, and who wins them,
stay the same. The vertices and edges of the old arena keep their numbers: those in the
middle come after them.
"""

import dataclasses

import numpy as np

from jaxgames.arena import Arena, as_checked_as, is_traced
from jaxgames.later import jnp, to_numpy
from jaxgames.solution import NO_EDGE


def check_priorities(arena: Arena) -> None:
    """Raises ValueError unless there are priorities on vertices, or on edges."""
    if (arena.priority is None) == (arena.edge_priority is None):
        raise ValueError(
            "a parity game needs either vertex priorities or edge priorities: "
            "arena.priority and arena.edge_priority are "
            + ("both None" if arena.priority is None else "both given")
        )


def split(arena: Arena) -> Arena:
    """The same game with priorities on vertices.

    Under tracing every edge gets a vertex in its middle: `V + E` vertices, `2 E` edges,
    padding included. On a concrete arena, which loses its padding, edges of one target
    and priority share theirs, and a vertex whose edges all have one priority needs
    none.

    Raises:
        ValueError: priorities are neither on vertices nor on edges, or on both.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], edge_priority=[1, 2, 2]
        ... )
        >>> split(arena)
        Arena(4 vertices, 5 edges, priority)
        >>> split(arena).priority
        array([0, 2, 1, 2], dtype=int32)
    """
    check_priorities(arena)
    if arena.edge_priority is None:
        return arena
    if is_traced(arena):
        size, edges = arena.shape
        middle = jnp.arange(edges, dtype=jnp.int32)
        priority = jnp.zeros(size, jnp.int32)
        return _insert(arena, priority, size + middle, arena.dst, arena.edge_priority)
    arena = to_numpy(arena.unpad())
    size = arena.shape[0]
    uniform, priority = _uniform(arena)
    mixed = ~uniform[arena.src]
    # One number for each pair: pairs take many times as long to sort.
    many = np.int64(arena.edge_priority.max(initial=0)) + 1
    key = arena.dst[mixed] * many + arena.edge_priority[mixed]
    key, index = np.unique(key, return_inverse=True)
    target, of = key // many, key % many
    dst = arena.dst.copy()
    dst[mixed] = size + index
    return _insert(arena, priority, dst, target, of)


def extend(arena: Arena, winner, strategy) -> tuple[np.ndarray, np.ndarray]:
    """A solution of the old game as one of the split game, `arena` (host only).

    Of the old game there are winners, int8 `[V]`, and strategies, int32 `[V]`.
    """
    size = len(winner)
    ends = arena.dst[arena.row_ptr[size:-1]]
    middle = winner[ends]
    moves = np.where(middle == 0, arena.row_ptr[size:-1], NO_EDGE).astype(np.int32)
    return np.append(winner, middle), np.append(strategy, moves)


def _uniform(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Whether all edges of a vertex have one priority, and which."""
    size = arena.shape[0]
    low = np.full(size, np.iinfo(np.int32).max, np.int32)
    high = np.zeros(size, np.int32)
    np.minimum.at(low, arena.src, arena.edge_priority)
    np.maximum.at(high, arena.src, arena.edge_priority)
    uniform = low >= high
    return uniform, np.where(uniform, high, 0).astype(np.int32)


def _insert(arena: Arena, priority, dst, middle_dst, middle_priority) -> Arena:
    """Appends a vertex of player 0 for each entry of `middle_dst`."""
    xp = jnp if is_traced((arena, dst)) else np
    size, edges = arena.shape
    more = len(middle_dst)
    new = xp.arange(more, dtype=np.int32)
    halves = dataclasses.replace(
        arena,
        row_ptr=xp.concatenate([arena.row_ptr, edges + 1 + new]),
        src=xp.concatenate([arena.src, size + new]),
        dst=xp.concatenate([dst, middle_dst]).astype(np.int32),
        owner=xp.concatenate([arena.owner, xp.zeros(more, bool)]),
        priority=xp.concatenate([priority, middle_priority]).astype(np.int32),
        edge_priority=None,
        weight=None,
        accepting=None,
        num_vertices=np.int32(size + more),
        num_edges=np.int32(edges + more),
    )
    return as_checked_as(arena, halves)
