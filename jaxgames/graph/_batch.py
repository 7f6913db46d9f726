"""Components of many graphs at once."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxgames import drive, ops, validity
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


class _Problem(drive.Problem):
    """Strongly connected components."""

    name = "scc"
    solvers = SOLVERS

    def auto(self, stack: Arena) -> Solver:
        """The closure of small graphs."""
        small = np.shape(stack.owner)[-1] <= CLOSURE_UP_TO
        return Closure() if small else MaxId()

    def check(self, question: Arena) -> None:
        """Vertices may lack successors."""
        validity.check_each(question, total=False)

    def facts(self, stack: Arena, solver: Solver) -> int:
        """The largest degree, for the closure."""
        return drive.widest(stack) if isinstance(solver, Closure) else 0

    def game(self, question: Arena, solver: Solver, facts: Any = None) -> Subgraph:
        """Links both ways; for the closure dense, and one way."""
        alive = jnp.asarray(inside(question))
        if isinstance(solver, Closure):
            return Subgraph(ops.dense_links(question, facts), (), alive)  # type: ignore
        return Subgraph(*traced(question), alive)

    def solution(self, answer: Answer, **how: Any) -> Components:
        """Answers have the names that a solution has."""
        return Components(**answer._asdict(), **how)


PROBLEM = drive.register(_Problem())
"""Strongly connected components, for [`solve_many`][jaxgames.solve_many]."""
