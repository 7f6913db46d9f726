"""Contraction of vertices where nobody has a choice."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._parallel import without_parallels
from jaxgames.parity.preprocess._reduced import (
    Answer,
    Reduced,
    identity,
    reduction,
    translate,
)
from jaxgames.parity.preprocess._shortcuts import on_edges
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import GAIN


@limited()
@reduction(edge_priorities=True)
def chains(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Bypasses every vertex that has one successor, however long the chains are.

    An edge into a chain of such vertices becomes an edge to its end, with the most
    important priority on the way; then the chain is gone. Of a cycle of such vertices
    the first one stays, with a loop. Of parallel edges stays the one that the owner of
    their source likes best, which may leave a vertex with one successor: so this is
    repeated while it takes away a 64th of the vertices or more. A chain of n vertices
    takes O(log n) operations on arrays by pointer doubling; O((V + E) log V) time.

    Args:
        arena: a game with vertex or edge priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A game with edge priorities, with no more vertices and edges:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2, 3], [0, 1, 2, 3, 0],
        ...     owner=[0, 1, 0, 1], priority=[1, 0, 4, 2],
        ... )
        >>> reduced = chains(arena)
        >>> reduced.arena
        Arena(1 vertices, 1 edges, edge_priority)
        >>> reduced.arena.edge_priority
        array([4], dtype=int32)
        >>> reduced.undo(np.array([0]), np.array([0]))
        (array([0, 0, 0, 0], dtype=int8), array([ 1, -1,  3, -1], dtype=int32))
    """
    reduced = identity(on_edges(arena))
    while True:
        before = reduced.arena.shape[0]
        reduced = reduced.then(_contract)
        gone = before - reduced.arena.shape[0]
        if gone == 0 or gone * GAIN < before:
            return reduced


def _contract(arena: Arena) -> Reduced:
    """Contracts all chains at once."""
    game, single = without_parallels(
        arena.owner, arena.row_ptr, arena.dst, arena.edge_priority
    )
    size = game.shape[0]
    one = np.diff(game.row_ptr) == 1
    edge = game.row_ptr[:-1]
    here = np.arange(size, dtype=np.int32)
    following = np.where(one, game.dst[np.where(one, edge, 0)], here)
    stays = ~one
    # The ends of chains among those with one successor lie on cycles of them.
    end, first = _double(following, here, np.minimum)
    stays[first[end[one[end]]]] = True

    following[stays] = here[stays]
    gone = np.flatnonzero(~stays)
    priority = np.zeros(size, game.edge_priority.dtype)
    priority[gone] = game.edge_priority[edge[gone]]
    end, priority = _double(following, priority, np.maximum)

    edges = np.flatnonzero(stays[game.src])
    vertices, place = here[stays], np.cumsum(stays, dtype=np.int32) - 1
    degree = np.diff(game.row_ptr)[vertices]
    into = game.dst[edges]
    reduced, kept = without_parallels(
        game.owner[vertices],
        np.append(0, np.cumsum(degree)).astype(np.int32),
        place[end[into]],
        np.maximum(game.edge_priority[edges], priority[into]),
    )
    old = single[edges[kept]]

    def undo(winner, strategy) -> Answer:
        winners = winner[place[end]]
        moves = single[edge].astype(np.int32)  # of those that have no choice
        moves[vertices] = translate(strategy, old)
        return winners, np.where(winners == game.owner, moves, NO_EDGE).astype(np.int32)

    return Reduced(reduced, undo)


def _double(following: np.ndarray, value: np.ndarray, combine) -> tuple:
    """Where each vertex gets to in at least V steps; its values on the way combined.

    Pointer doubling: a pass follows the path that the pass before has found, twice.
    """
    for _ in range(len(following).bit_length()):
        value = combine(value, value[following])
        further = following[following]
        if np.array_equal(further, following):
            break
        following = further
    return following, value
