"""The clique game."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits, flag
from jaxgames.generate._build import NO_SUCCESSOR, from_rows
from jaxgames.limits import Bounds, limited


@limited()
def clique(n: int, *, self_loops: bool = False, **bounds: Unpack[Bounds]) -> Arena:
    """PGSolver's clique game: every vertex leads to every other.

    Vertex `v` has priority `v` and belongs to the player of that parity. `n`
    vertices and `n * (n - 1)` edges, or `n * n` with self-loops: as dense as a game
    can be. From four vertices on (from two with self-loops), each player wins just
    the own vertices, by staying among them.

    Args:
        n: number of vertices, at least 2, or 1 with self-loops.
        self_loops: whether every vertex also leads to itself.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    References:
        Oliver Friedmann and Martin Lange, *The PGSolver Collection of Parity Game
        Solvers*, University of Munich (the generator `cliquegame`).

    Examples:
        >>> clique(4)
        Arena(4 vertices, 12 edges, priority)
        >>> clique(4).successors(1)
        array([0, 2, 3], dtype=int32)
    """
    self_loops = flag("self_loops", self_loops)
    n = integer("n", n, 1 if self_loops else 2)
    fits(n, n * n)
    vertex = np.arange(n, dtype=np.int32)
    successors = np.tile(vertex, (n, 1))
    if not self_loops:
        np.fill_diagonal(successors, NO_SUCCESSOR)
    return from_rows(successors, owner=vertex % 2, priority=vertex)
