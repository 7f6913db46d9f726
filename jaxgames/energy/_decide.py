"""One vertex and one level: whether player 0 can go on for ever."""

from typing import Any

import numpy as np

from jaxgames import graph
from jaxgames.arena import Arena, is_traced
from jaxgames.arguments import integer
from jaxgames.energy import _bounds
from jaxgames.energy._solve import solve
from jaxgames.later import jnp
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress
from jaxgames.solver import Solver


@limited()
def decide(
    arena: Arena,
    vertex: Any,
    credit: Any,
    solver: str | Solver = "auto",
    *,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> Any:
    """Whether player 0 can keep the energy from falling below zero for ever.

    Of a concrete game only what is reached from the vertex is solved.

    Args:
        arena: a game with one integer weight on each edge, in a unit of energy; every
            vertex has a successor.
        vertex: where the play begins.
        credit: the initial energy level, not negative, in the same unit.
        solver: as for [`solve`][jaxgames.energy.solve].
        progress: likewise.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        bool; under tracing a bool scalar, False also where numbers did not fit.

    Raises:
        ValueError: the arena is no energy game, there is no such vertex, or the credit
            is no integer or negative.
        SolveError: the solve was ended early.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])
        >>> energy.decide(arena, 1, 4), energy.decide(arena, 1, 5)
        (False, True)
    """
    if is_traced((arena, vertex, credit)):
        found = solve(arena, solver, strategies=False, throw=False).credit
        needed = jnp.take(jnp.asarray(found), vertex)
        return (needed >= 0) & (needed <= credit)
    _bounds.check(arena)
    vertex = integer("vertex", vertex, 0, int(arena.num_vertices) - 1)
    credit = integer("credit", credit, 0)
    reached = np.asarray(graph.reachable(arena, [vertex]))
    part, vertices, _ = arena.subgame(reached)
    found = solve(part, solver, strategies=False, progress=progress).credit
    needed = int(found[np.searchsorted(vertices, vertex)])
    return 0 <= needed <= credit
