"""Facts about graphs with weights, for the check alone."""

import dataclasses

import numpy as np

from jaxgames import energy
from jaxgames.arena import Arena
from jaxgames.energyparity.host._inner import narrow
from jaxgames.graph import host as graphs


def strongly_connected(arena: Arena, edges: np.ndarray) -> np.ndarray:
    """The component of each vertex in the graph of some edges (bool `[E]`)."""
    return graphs.scc(arena, edges=edges)[1]


def heaviest(
    arena: Arena, edges: np.ndarray, vertices: np.ndarray
) -> tuple[np.ndarray, int | None]:
    """What paths of some edges gain at most, from 0 on; or where a cycle gains.

    It is the credit of an energy game in which all move against the keeper of the
    energy. Who asks checks what is found: this only has to find it.

    Each of these edges, bool `[E]`, lies on a cycle of such edges; the vertices are
    their sources, ascending.

    Returns:
        Integers, one for each of the vertices; and a vertex from which a cycle
        that gains can be reached, None where there is none.
    """
    new = np.full(arena.shape[0], -1, np.int32)
    new[vertices] = np.arange(len(vertices))
    game = Arena.from_edges(
        new[arena.src[edges]],
        new[arena.dst[edges]],
        owner=np.ones(len(vertices), bool),
    )
    weight = -np.asarray(arena.weight)[edges].astype(object)
    # Python's integers have no limit, and are asked for where others have.
    game = dataclasses.replace(game, weight=narrow(weight))
    found = energy.solve(game, "host", strategies=False, throw=False)
    if found.status != 0:
        game = dataclasses.replace(game, weight=weight)
        found = energy.solve(game, "host", strategies=False)
    credit = np.asarray(found.credit)
    lost = np.asarray(found.winner) == 1
    return credit, int(vertices[np.argmax(lost)]) if lost.any() else None
