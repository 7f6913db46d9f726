"""Fewer priorities: compression and propagation."""

import dataclasses
from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.limits import Bounds, limited
from jaxgames.parity._game import compress
from jaxgames.parity.preprocess._graph import graph_of
from jaxgames.parity.preprocess._reduced import Reduced, identity, reduction


@limited()
@reduction(edge_priorities=True)
def compress_priorities(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Merges neighbouring priorities of one parity, and numbers them without gaps.

    Nothing between two priorities of one parity can tell them apart. O(V + E) time, or
    O(V log V) where priorities are much larger than the game.

    Args:
        arena: a game with vertex or edge priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The same graph with priorities `0 .. d` or `1 .. d`:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 1, 2], [1, 2, 0], owner=[0, 1, 1], priority=[7, 4, 2]
        ... )
        >>> compress_priorities(arena).arena.priority
        array([1, 0, 0], dtype=int32)
    """
    name = "priority" if arena.edge_priority is None else "edge_priority"
    priority = compress(getattr(arena, name))
    return identity(dataclasses.replace(arena, **{name: priority}))


@limited()
@reduction(edge_priorities=False)
def propagate_priorities(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Raises priorities to what every play sees next, or saw just before.

    A vertex rises to the least priority of its successors if that is larger than its
    own, and so to the least of its predecessors if it has any, until nothing changes.
    Every play keeps its winner: so winners and strategies stay as they are. Fewer
    distinct priorities may remain, and attractors of important ones are larger from
    the start. O(V log V + E) time.

    Args:
        arena: a game with vertex priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The same graph with priorities that are not lower:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game, or has edge priorities.

    References:
        O. Friedmann, M. Lange: Solving parity games in practice, ATVA 2009,
        doi:10.1007/978-3-642-04761-9_15.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 1, 2, 2], [1, 2, 0, 1], owner=[0, 1, 0], priority=[1, 4, 3]
        ... )
        >>> propagate_priorities(arena).arena.priority
        array([4, 4, 4], dtype=int32)
    """
    # Why plays keep their winners: let one vertex v rise to the least priority m of
    # its successors. A play that visits v infinitely often visits priorities of at
    # least m infinitely often at the next positions, so the largest of the priorities
    # seen infinitely often was at least m before, and is the same now. A loop at v
    # makes m no larger than v's own priority. For predecessors take the positions
    # before, which all visits but the first have. Risings one after the other, each by
    # the priorities of its moment, keep what each one keeps.
    order = np.argsort(arena.priority, kind="stable")[::-1].copy()
    graph = graph_of(arena)
    left = np.diff(graph.row_ptr), np.diff(graph.in_ptr)
    raised = _raise(graph, arena.priority, order, *left)
    return identity(dataclasses.replace(arena, priority=raised))


@compiled
def _raise(graph, priority, most_important_first, next_left, last_left):
    """Settles vertices in order of what they rise to, the largest first.

    When the last of the successors (or predecessors) of a vertex settles, at the least
    priority of them all, the vertex settles there too, unless it has settled before.
    How many of them are left is counted down in the last two arguments.
    """
    size = len(priority)
    raised = priority.copy()
    settled = np.zeros(size, np.bool_)
    queue = np.empty(size, np.int64)
    end = 0
    for root in most_important_first:
        if settled[root]:
            continue
        settled[root] = True
        begin, queue[end] = end, root
        end += 1
        while begin < end:
            v = queue[begin]
            begin += 1
            raised[v] = priority[root]
            for k in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                u = graph.src[graph.in_edge[k]]
                next_left[u] -= 1
                if next_left[u] == 0 and not settled[u]:
                    settled[u] = True
                    queue[end] = u
                    end += 1
            for e in range(graph.row_ptr[v], graph.row_ptr[v + 1]):
                w = graph.dst[e]
                last_left[w] -= 1
                if last_left[w] == 0 and not settled[w]:
                    settled[w] = True
                    queue[end] = w
                    end += 1
    return raised
