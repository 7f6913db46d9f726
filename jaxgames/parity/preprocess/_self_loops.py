"""Self-loop elimination."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._reduced import (
    Reduced,
    edge_priorities,
    reduction,
    with_edges,
)


@limited()
@reduction(edge_priorities=True)
def self_loops(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Keeps of each vertex with a self-loop the loop alone, or the other edges alone.

    A player who has a loop of his own parity wins by staying there: his other edges go.
    A loop of the other parity is of no use to him, as staying for ever loses and a
    while changes nothing: it goes unless there is no other edge. With edge priorities
    the parity is that of the loop. O(V + E) time; edges only become fewer.

    Args:
        arena: a game with vertex or edge priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The same vertices with fewer edges:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 7.1.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 1], [0, 1, 1, 0], owner=[0, 1], priority=[2, 2]
        ... )
        >>> reduced = self_loops(arena).arena
        >>> reduced.src, reduced.dst
        (array([0, 1], dtype=int32), array([0, 0], dtype=int32))
    """
    src = arena.src
    loop = src == arena.dst
    wins = loop & (edge_priorities(arena) % 2 == arena.owner[src])
    stays = _at(arena, wins)
    leaves = _at(arena, ~loop) & ~stays
    # Where nothing but loops is left, one is as good as the others.
    only = _first(arena, wins) | (_first(arena, loop) & ~stays[src])
    return with_edges(arena, np.flatnonzero(np.where(leaves[src], ~loop, only)))


def _at(arena: Arena, edges: np.ndarray) -> np.ndarray:
    """Whether each vertex has one of some edges."""
    found = np.zeros(arena.shape[0], bool)
    found[arena.src[edges]] = True
    return found


def _first(arena: Arena, edges: np.ndarray) -> np.ndarray:
    """Of some edges, the first of each vertex."""
    chosen = np.flatnonzero(edges)
    first = np.zeros(len(edges), bool)
    first[chosen[np.diff(arena.src[chosen], prepend=-1) != 0]] = True
    return first
