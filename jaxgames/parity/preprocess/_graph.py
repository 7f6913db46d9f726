"""Edges both ways, and attractors of both players at once."""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph.host import group
from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE, UNDECIDED


class Graph(NamedTuple):
    """A game graph whose edges can be followed in both directions.

    The edges into `v` are `in_edge[in_ptr[v] : in_ptr[v + 1]]`.
    """

    row_ptr: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    owner: np.ndarray
    in_ptr: np.ndarray
    in_edge: np.ndarray


def graph_of(arena: Arena) -> Graph:
    in_ptr, in_edge = group(arena.shape[0], arena.dst)
    return Graph(arena.row_ptr, arena.src, arena.dst, arena.owner, in_ptr, in_edge)


def attract(graph: Graph, winner: np.ndarray, move: np.ndarray) -> None:
    """Decides, in place, all that is decided by what is decided already. O(V + E).

    A vertex is won by its owner if an edge leads to what he wins, and by the other
    player if all edges lead to what that one wins. A set that is won, together with
    what it attracts, can be taken out: what is left is a total game, from which a
    player can go over only to what his rival wins. So its solution is that of the
    whole game there.

    Winners are int8 `[V]`, -1 where undecided. Moves, int32 `[V]`, are edges that the
    winners take; they are set where a vertex is attracted by its owner.
    """
    seeds = np.flatnonzero(winner != UNDECIDED)
    queue = np.empty(len(winner), np.int32)
    queue[: len(seeds)] = seeds
    exits = np.diff(graph.row_ptr)
    spread(graph, winner, move, exits, queue, 0, len(seeds))


@compiled
def spread(graph, winner, move, exits, queue, begin, end):
    """Attracts to queue[begin:end], and appends what comes; the new end of the queue.

    `exits` counts the edges of each vertex that are not known to be lost for its owner.
    """
    while begin < end:
        v = queue[begin]
        for k in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            e = graph.in_edge[k]
            u = graph.src[e]
            if winner[u] != UNDECIDED:
                continue
            if graph.owner[u] == winner[v]:
                move[u] = e
            else:
                exits[u] -= 1
                if exits[u] > 0:
                    continue
            winner[u] = winner[v]
            queue[end] = u
            end += 1
        begin += 1
    return end


def undecided_everywhere(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Winners and moves of which nothing is known."""
    return np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32)
