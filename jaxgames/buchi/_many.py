"""Many Büchi games, or many searches for accepting cycles, at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import drive, validity
from jaxgames.arena import Arena
from jaxgames.buchi import _game
from jaxgames.buchi._attractors import Attractors, Problem, Regions
from jaxgames.buchi._by_scc import ByScc, Graph
from jaxgames.buchi._cycle import SOLVERS
from jaxgames.buchi._game import GAME_SOLVERS, Solution
from jaxgames.buchi._map import Map, ranks
from jaxgames.buchi._solution import AcceptingCycle
from jaxgames.buchi._solver import NONE
from jaxgames.buchi._solver import Problem as Search
from jaxgames.buchi._trim import Trim
from jaxgames.graph import _links as of_graph
from jaxgames.graph._reach import spread
from jaxgames.solution import Status
from jaxgames.solver import Solver
from jaxgames.states import register

# ---- games -----------------------------------------------------------------------


class Won(NamedTuple):
    """Who wins from each vertex, and how."""

    winner: Any  # int8 [V]
    strategy: Any  # int32 [V], or None


def _check(arena: Any) -> None:
    validity.check_each(arena, total=False)
    if arena.accepting is None:
        raise ValueError("there are no accepting vertices: accepting is None")


class _Problem(drive.Problem):
    """Büchi games."""

    name = "buchi"
    solvers = GAME_SOLVERS

    def auto(self, stack: Arena) -> Solver:
        """By single sweeps: finished attractors would keep all others waiting."""
        del stack
        return Attractors(sweeps=1)

    def check(self, question: Any) -> None:
        """Every vertex has a successor."""
        _check(question)
        validity.check_each(question)

    def game(self, question: Arena, solver: Any, facts: None = None) -> Problem:
        """Links and masks."""
        del solver, facts
        masks = (question.owner, question.accepting, of_graph.inside(question))
        return Problem(of_graph.traced(question).out, *map(jnp.asarray, masks))

    def finish(self, solver: Any, question: Arena, found: Regions) -> Won:
        """With moves."""
        moves = _game._descent(question, found) if solver.strategies else None
        return Won(found.winner, moves)

    def solution(self, answer: Won, **how: Any) -> Solution:
        """Answers have the names that a solution has."""
        return Solution(**answer._asdict(), **how)


PROBLEM = drive.register(_Problem())
"""Büchi games, for [`solve_many`][jaxgames.solve_many]."""


# ---- accepting cycles ------------------------------------------------------------


@register
class Found(NamedTuple):
    """Whether there is an accepting cycle, and a vertex from which one is reached."""

    exists: jax.Array  # bool
    witness: jax.Array  # int32


class _Cycles(drive.Problem):
    """Accepting cycles."""

    name = "accepting_cycle"
    solvers = SOLVERS

    def auto(self, stack: Arena) -> Solver:
        """By single sweeps too."""
        del stack
        return Map(trim=True, sweeps=1)

    def check(self, question: Any) -> None:
        """Vertices may lack successors."""
        _check(question)

    def facts(self, stack: Arena, solver: Any) -> None:
        """None, but it is seen whether the solver can take a stack."""
        del stack
        if isinstance(solver, Trim):
            raise ValueError(
                "solver='trim' has to see that every part is weak, which a stack of "
                "graphs does not show: take map, owcty or scc"
            )
        if not isinstance(getattr(solver, "order", ""), str):
            raise ValueError(
                "order must be a name where many graphs are searched, got an array"
            )

    def game(self, question: Arena, solver: Any, facts: None = None) -> Graph | Search:
        """Runs start at vertex 0; what they do not reach is left out."""
        del facts
        size, links = question.shape[0], of_graph.traced(question)
        reached = spread(links.into, jnp.arange(size) == 0, of_graph.inside(question))
        part = jnp.where(reached, 1, 0).astype(jnp.int32)
        accepting = jnp.asarray(question.accepting)
        if isinstance(solver, ByScc):
            return Graph(links.out, links.into, part, accepting)
        out = links.into if solver.backward else links.out
        return Search(out, accepting, part, ranks(solver, size, size, traced=True))

    def answer(self, solver: Any, game: Any, state: Any, size: int) -> Found:
        """A vertex on a cycle, if there is one."""
        del size
        answer = solver.answer(game, state)
        witness = jnp.where(answer.exists, answer.witness, NONE)
        return Found(answer.exists, witness.astype(jnp.int32))

    def solution(self, answer: Found, **how: Any) -> AcceptingCycle:
        """Without lassos."""
        decided = how["status"] == Status.SOLVED
        return AcceptingCycle(**answer._asdict(), decided=decided, **how)


CYCLES = drive.register(_Cycles())
"""Accepting cycles that runs from vertex 0 reach, without lassos, for
[`solve_many`][jaxgames.solve_many]."""
