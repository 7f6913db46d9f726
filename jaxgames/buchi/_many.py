"""Many Büchi games, or many searches for accepting cycles, at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import batch, validity
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


def _check_game(arena: Any) -> None:
    _check(arena)
    validity.check_each(arena)


def _problem(arena: Arena, solver: Any, facts: None) -> Problem:
    del solver, facts
    masks = (arena.owner, arena.accepting, of_graph.inside(arena))
    return Problem(of_graph.traced(arena).out, *map(jnp.asarray, masks))


def _with_moves(solver: Any, arena: Arena, found: Regions) -> Won:
    moves = _game._descent(arena, found) if solver.strategies else None
    return Won(found.winner, moves)


PROBLEM = batch.register(
    batch.Problem(
        name="buchi",
        solvers=GAME_SOLVERS,
        # A single sweep a step: finished attractors would keep all others waiting.
        auto=lambda _: Attractors(sweeps=1),
        check=_check_game,
        facts=lambda arena, solver: None,
        game=_problem,
        answer=lambda solver, game, state, size: solver.answer(game, state),
        finish=_with_moves,
        solution=lambda answer, **how: Solution(
            winner=answer.winner, strategy=answer.strategy, **how
        ),
    )
)
"""Büchi games, for [`solve_many`][jaxgames.solve_many]."""


# ---- accepting cycles ------------------------------------------------------------


@register
class Found(NamedTuple):
    """Whether there is an accepting cycle, and a vertex from which one is reached."""

    exists: jax.Array  # bool
    witness: jax.Array  # int32


def _solver_only(arena: Arena, solver: Any) -> None:
    del arena
    if isinstance(solver, Trim):
        raise ValueError(
            "solver='trim' has to see that every part is weak, which a stack of graphs "
            "does not show: take map, owcty or scc"
        )
    if not isinstance(getattr(solver, "order", ""), str):
        raise ValueError(
            "order must be a name where many graphs are searched, got an array"
        )


def _search(arena: Arena, solver: Any, facts: None) -> Graph | Search:
    """Runs start at vertex 0; what they do not reach is left out."""
    del facts
    size, links = arena.shape[0], of_graph.traced(arena)
    reached = spread(links.into, jnp.arange(size) == 0, of_graph.inside(arena))
    part = jnp.where(reached, 1, 0).astype(jnp.int32)
    accepting = jnp.asarray(arena.accepting)
    if isinstance(solver, ByScc):
        return Graph(links.out, links.into, part, accepting)
    out = links.into if solver.backward else links.out
    return Search(out, accepting, part, ranks(solver, size, size, traced=True))


def _found(solver: Any, game: Any, state: Any, size: int) -> Found:
    del size
    answer = solver.answer(game, state)
    witness = jnp.where(answer.exists, answer.witness, NONE)
    return Found(answer.exists, witness.astype(jnp.int32))


def _accepting_cycle(answer: Found, *, status: Any, **how) -> AcceptingCycle:
    return AcceptingCycle(
        status=status,
        exists=answer.exists,
        decided=status == Status.SOLVED,
        witness=answer.witness,
        **how,
    )


CYCLES = batch.register(
    batch.Problem(
        name="accepting_cycle",
        solvers=SOLVERS,
        auto=lambda _: Map(trim=True, sweeps=1),
        check=_check,
        facts=_solver_only,
        game=_search,
        answer=_found,
        solution=_accepting_cycle,
    )
)
"""Accepting cycles that runs from vertex 0 reach, without lassos, for
[`solve_many`][jaxgames.solve_many]."""
