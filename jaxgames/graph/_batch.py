"""Components of many graphs at once."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxgames import batch, ops, validity
from jaxgames.arena import Arena
from jaxgames.graph._closure import Closure
from jaxgames.graph._components import Components
from jaxgames.graph._links import inside, traced
from jaxgames.graph._max_id import MaxId
from jaxgames.graph._scc import SOLVERS
from jaxgames.graph._solver import Answer, Subgraph
from jaxgames.solver import Solver

CLOSURE_UP_TO = 128
"""Vertices up to which the closure is taken: V rounds over V / 32 words a vertex."""


def _check(arena: Arena) -> None:
    validity.check_each(arena, total=False)


def _auto(arena: Arena) -> Solver:
    return Closure() if np.shape(arena.owner)[-1] <= CLOSURE_UP_TO else MaxId()


def _facts(arena: Arena, solver: Solver) -> int:
    return batch.widest(arena) if isinstance(solver, Closure) else 0


def _game(arena: Arena, solver: Solver, degree: int) -> Subgraph:
    alive = jnp.asarray(inside(arena))
    if isinstance(solver, Closure):
        return Subgraph(ops.dense_links(arena, degree), (), alive)  # type: ignore
    return Subgraph(*traced(arena), alive)


def _answer(solver: Any, game: Subgraph, state: Any, size: int) -> Answer:
    del size
    return solver.answer(game, state)


def _solution(answer: Answer, **how) -> Components:
    return Components(count=answer.count, labels=answer.labels, **how)


PROBLEM = batch.register(
    batch.Problem(
        name="scc",
        solvers=SOLVERS,
        auto=_auto,
        check=_check,
        facts=_facts,
        game=_game,
        answer=_answer,
        solution=_solution,
    )
)
"""Strongly connected components, for [`solve_many`][jaxgames.solve_many]."""
