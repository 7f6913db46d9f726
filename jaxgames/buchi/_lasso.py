"""The lasso from what a solver has left."""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.buchi import host
from jaxgames.buchi._solution import Lasso
from jaxgames.buchi._solver import Finds
from jaxgames.buchi.host import NO_CYCLE


def lasso_of(
    arena: Arena,
    accepting: np.ndarray,
    starts: np.ndarray,
    finds: Finds,
    witness: int,
    left: np.ndarray,
    vertices: np.ndarray | None = None,
) -> Lasso | None:
    """A lasso from an initial vertex, or None if the cycle found is not reached.

    O(V + E) on the host; searches end with the first thing that they look for. What is
    known of the witness, and of what is left (bool `[V]`), `finds` says. Of `vertices`,
    bool `[V]`, None stands for all.
    """
    if finds == "cycle":
        return host.lasso_through(arena, starts, witness, vertices, left)
    entries = np.flatnonzero(left).astype(np.int32)
    if finds == "ahead":
        path = host.way_to(arena, starts, left, vertices)
        if not len(path):
            return None
        entries = path[-1:]
    found = host.search(arena, accepting, entries, vertices=left)
    if found == NO_CYCLE:
        return None
    return host.lasso_through(arena, starts, found, vertices, left)
