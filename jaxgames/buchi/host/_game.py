"""Büchi games by attractors, one after the other."""

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.graph import host as graphs
from jaxgames.host import linear
from jaxgames.solution import NO_EDGE


def solve(
    arena: Arena, accepting: np.ndarray, stop: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Who wins a Büchi game, and how, by the classical algorithm.

    As [`reference.solve`][jaxgames.buchi.reference.solve]; None if it gave up, since
    `stop`, int8 `[1]`, is not 0. O(V (V + E)) time, O(V + E) for each of up to V
    rounds.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 1], owner=[0, 1])
        >>> winner, strategy, rounds = solve(arena, np.array([False, True]))
        >>> winner, strategy
        (array([0, 0], dtype=int8), array([ 1, -1], dtype=int32))
    """
    validity.checked(arena)
    row_ptr, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    owner = np.asarray(arena.owner)
    size = arena.shape[0]
    left = np.arange(size) < int(arena.num_vertices)
    winner = np.where(left, 0, -1).astype(np.int8)
    strategy = np.full(size, NO_EDGE, np.int32)
    rounds = 0
    while True:
        rounds += 1
        goal = accepting & left
        visits = graphs.attractor(arena, goal, 0, vertices=left)
        avoids = left & ~visits.mask
        if not avoids.any():
            break
        if stop is not None and stop[0] != 0:
            return None
        lost = graphs.attractor(arena, avoids, 1, vertices=left)
        # There player 1 stays out of the attractor for ever.
        stays = first_into(row_ptr, dst, avoids, avoids & owner)
        winner[lost.mask] = 1
        strategy = np.where(lost.mask, np.maximum(lost.strategy, stays), strategy)
        left &= ~lost.mask
    goes_on = first_into(row_ptr, dst, left, goal & ~owner)
    strategy = np.where(left, np.maximum(visits.strategy, goes_on), strategy)
    return winner, strategy.astype(np.int32), rounds


@linear
def first_into(row_ptr, dst, goal, own):
    """The first edge from each of some vertices (bool `[V]`) into a goal.

    Returns:
        int32 `[V]`, -1 where there is none.
    """
    move = np.full(len(own), NO_EDGE, np.int32)
    for v in range(len(own)):
        if own[v]:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                if goal[dst[e]]:
                    move[v] = e
                    break
    return move


def descent(
    arena: Arena, winner: np.ndarray, layer: np.ndarray, rank: np.ndarray
) -> np.ndarray:
    """The first edge of each winner that leads down in rank, inside a layer.

    Where the rank is 0, it leads to one of rank 0; player 0 then goes anywhere in his
    region. The winner is int8 `[V]`, the rank int32 `[V]`, and the layer int32 `[V]`:
    the round in which a vertex was lost for player 0, else 0.

    Returns:
        int32 `[V]`, -1 where the owner does not win.
    """
    row_ptr, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    own = winner == np.asarray(arena.owner)
    return _descent(row_ptr, dst, own, winner, layer, rank)


@linear
def _descent(row_ptr, dst, own, winner, layer, rank):
    move = np.full(len(own), NO_EDGE, np.int32)
    for v in range(len(own)):
        if not own[v]:
            continue
        for e in range(row_ptr[v], row_ptr[v + 1]):
            w = dst[e]
            if winner[w] != winner[v] or layer[w] != layer[v]:
                continue
            free = rank[v] == 0 and winner[v] == 0
            if free or rank[w] == max(rank[v] - 1, 0):
                move[v] = e
                break
    return move
