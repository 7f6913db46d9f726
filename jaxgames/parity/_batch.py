"""Parity games in batches: what a stack of them is, and which solver does best."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import batch, ops, validity
from jaxgames.arena import Arena
from jaxgames.parity._edges import check_priorities
from jaxgames.parity._game import Answer, compress_few, normal_form, with_priority
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._solution import Solution
from jaxgames.parity._solve import SOLVERS
from jaxgames.solver import Solver

TOPS = (1, 3, 7, 15, 31, 126, 32766, 2**31 - 1)
"""Largest priorities that stacks are told apart by."""

SWEEPS, SWEEPS_ELSEWHERE = {"cpu": 4}, 1
"""Sweeps of a round. In a batch the transition is computed for all games in each, so a
CPU makes few of them; with more sweeps finished attractors keep all others waiting."""

FEW = 31
"""Priorities up to this are compressed by bits of a word, others by sorting."""


class Facts(NamedTuple):
    """What is the same for all games of a stack.

    Attributes:
        degree: the largest out-degree, or a little more.
        top: the largest priority, or more: one of few numbers.
    """

    degree: int
    top: int


def _check(arena: Arena) -> None:
    validity.check_each(arena)
    check_priorities(arena)


def _facts(arena: Arena, solver: Solver) -> Facts:
    del solver
    given = arena.edge_priority if arena.priority is None else arena.priority
    xp = jnp if isinstance(given, jax.Array) else np
    top = int(xp.max(given, initial=0))
    return Facts(batch.widest(arena), next(x for x in TOPS if top <= x))


def _game(arena: Arena, solver: Solver, facts: Facts) -> ops.Game:
    """The normal form with dense rows, and priorities of the narrowest type."""
    if arena.edge_priority is None and facts.top <= FEW:
        game = with_priority(arena, compress_few(arena.priority, facts.top))
    else:
        game = normal_form(arena, solver.edge_priorities)
    if game.priority is not None:
        narrow = next(x for x in (np.int8, np.int16, np.int32) if _fits(facts.top, x))
        game = with_priority(game, game.priority.astype(narrow))
    return batch.laid_out(game, facts.degree)


def _fits(top: int, kind) -> bool:
    return top < np.iinfo(kind).max or kind is np.int32


def _answer(solver: Solver, game: ops.Game, state, size: int) -> Answer:
    """Without measures; and without vertices that split edges."""
    found = solver.answer(game, state)
    strategy = found.strategy if solver.strategies else None
    return Answer(*jax.tree.map(lambda x: x[:size], (found.winner, strategy)))


def _solution(answer: Answer, **how) -> Solution:
    return Solution(winner=answer.winner, strategy=answer.strategy, **how)


PROBLEM = batch.register(
    batch.Problem(
        name="parity",
        solvers=SOLVERS,
        auto=lambda _: PriorityPromotion(
            sweeps=SWEEPS.get(jax.default_backend(), SWEEPS_ELSEWHERE)
        ),
        check=_check,
        facts=_facts,
        game=_game,
        answer=_answer,
        solution=_solution,
    )
)
"""For [`solve_many`][jaxgames.solve_many]."""
