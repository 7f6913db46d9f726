"""Closed parts of one parity."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._graph import attract, graph_of, undecided_everywhere
from jaxgames.parity.preprocess._reduced import (
    Reduced,
    edge_priorities,
    reduction,
    undecided,
)
from jaxgames.solution import UNDECIDED


@limited()
@reduction(edge_priorities=True)
def single_parity(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Decides what can never again see one of the parities, and what that attracts.

    From where only priorities of a player's parity can be reached he wins, whatever
    anybody does. Games of one parity go whole, and so does each strongly connected
    component of one parity with no way out. O(V + E) time.

    Args:
        arena: a game with vertex or edge priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The game on the undecided vertices:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[3, 2, 4]
        ... )
        >>> single_parity(arena).arena  # player 0 goes to vertex 2, which stays even
        Arena(0 vertices, 0 edges, priority)
    """
    graph = graph_of(arena)
    winner, move = undecided_everywhere(arena.shape[0])
    odd = edge_priorities(arena) % 2 == 1
    for player, others in enumerate((odd, ~odd)):
        # What reaches an edge of the other parity is the attractor of a player who
        # makes all the moves.
        reaches, unused = undecided_everywhere(arena.shape[0])
        reaches[arena.src[others]] = 0
        attract(graph._replace(owner=np.zeros_like(arena.owner)), reaches, unused)
        winner[reaches == UNDECIDED] = player
    move[winner != UNDECIDED] = arena.row_ptr[:-1][winner != UNDECIDED]
    attract(graph, winner, move)
    return undecided(arena, winner, move)
