"""The orders in which vertices can be numbered."""

from typing import Literal, Unpack, get_args

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._graph import undecided_everywhere
from jaxgames.parity.preprocess._reduced import Reduced, on_vertices, reduction

Order = Literal["reversed", "out-degree", "priority", "dfs", "bfs"]


@limited()
@reduction(edge_priorities=True)
def reorder(arena: Arena, order: Order, **bounds: Unpack[Bounds]) -> Reduced:
    """Numbers the vertices anew; the game stays the same.

    Solvers that sweep over vertices, or queue them, meet them in another order, and
    memory is read in another order. O(V log V + E) time.

    Args:
        arena: a game with vertex or edge priorities.
        order: which vertices come first: the last (`"reversed"`); those with most edges
            (`"out-degree"`); those with the largest, most important priority
            (`"priority"`; with edge priorities the largest on an edge that leaves);
            those that a depth-first or breadth-first search from vertex 0 meets first
            (`"dfs"`, `"bfs"`), which goes on with the next unseen vertex when it ends.
            Ties keep their order.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The renumbered game: [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game, or there is no such order.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 7.2.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [2, 1, 0, 2], owner=[0, 0, 1], priority=[1, 5, 3]
        ... )
        >>> reorder(arena, "priority").arena.priority
        array([5, 3, 1], dtype=int32)
        >>> reorder(arena, "bfs").arena.priority
        array([1, 3, 5], dtype=int32)
    """
    if order not in get_args(Order):
        raise ValueError(f"order must be one of {get_args(Order)}, got {order!r}")
    size = arena.shape[0]
    if order == "reversed":
        vertices = np.arange(size)[::-1]
    elif order == "out-degree":
        vertices = np.argsort(-np.diff(arena.row_ptr), kind="stable")
    elif order == "priority":
        vertices = np.argsort(-_largest_priority(arena), kind="stable")
    else:
        search = _depth_first if order == "dfs" else _breadth_first
        vertices = search(arena.row_ptr, arena.dst)
    return on_vertices(arena, vertices, *undecided_everywhere(size))


def _largest_priority(arena: Arena) -> np.ndarray:
    if arena.priority is not None:
        return arena.priority
    if arena.shape[0] == 0:
        return np.zeros(0, np.int32)
    return np.maximum.reduceat(arena.edge_priority, arena.row_ptr[:-1])


@compiled
def _breadth_first(row_ptr, dst):
    size = len(row_ptr) - 1
    seen = np.zeros(size, np.bool_)
    order = np.empty(size, np.int32)
    begin, end = 0, 0
    for root in range(size):
        if not seen[root]:
            seen[root] = True
            order[end] = root
            end += 1
        while begin < end:
            v = order[begin]
            begin += 1
            for e in range(row_ptr[v], row_ptr[v + 1]):
                w = dst[e]
                if not seen[w]:
                    seen[w] = True
                    order[end] = w
                    end += 1
    return order


@compiled
def _depth_first(row_ptr, dst):
    size = len(row_ptr) - 1
    seen = np.zeros(size, np.bool_)
    following = row_ptr[:-1].copy()  # the edge of each vertex that is next to be tried
    order, path = np.empty(size, np.int32), np.empty(size, np.int32)
    end = 0
    for root in range(size):
        if seen[root]:
            continue
        depth, v = 1, root
        path[0] = order[end] = root
        seen[root] = True
        end += 1
        while depth > 0:
            v = path[depth - 1]
            e = following[v]
            if e == row_ptr[v + 1]:
                depth -= 1
                continue
            following[v] = e + 1
            w = dst[e]
            if not seen[w]:
                seen[w] = True
                path[depth] = order[end] = w
                depth, end = depth + 1, end + 1
    return order
