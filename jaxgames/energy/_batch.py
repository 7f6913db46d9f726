"""Energy games in batches: credits of all, then the moves of player 1, in 32 bits."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import batch
from jaxgames.arena import Arena
from jaxgames.energy import _bounds, _device
from jaxgames.energy._fvi import FVI
from jaxgames.energy._potentials import Answer
from jaxgames.energy._solution import Solution
from jaxgames.energy._solve import SOLVERS
from jaxgames.energy._strategies import Dual
from jaxgames.solution import NO_EDGE
from jaxgames.solver import Registry, Solver


class Facts(NamedTuple):
    """What is the same for all games of a stack.

    Attributes:
        degree: the largest out-degree, or a little more.
        scale: bits of a potential that count steps.
    """

    degree: int
    scale: int


def _check(arena: Arena) -> None:
    _bounds.check(arena)
    if arena.weight.dtype.itemsize > 4:
        raise ValueError(
            "batches of energy games are solved in 32 bits: weight must be int32 or "
            f"narrower, got {arena.weight.dtype}"
        )


def _facts(arena: Arena, solver: Any) -> Facts:
    steps = int(np.shape(arena.owner)[-1]).bit_length()
    chosen = getattr(solver, "scale", None)
    return Facts(batch.widest(arena), chosen or min(steps, 15))


def _game(arena: Arena, solver: Solver, facts: Facts) -> Any:
    game = batch.laid_out(_device.cut(arena), facts.degree)
    return _device._task(solver, game, facts.scale)


def _answer(solver: Any, game: Any, state: Any, size: int) -> Answer:
    return jax.tree.map(lambda x: x[:size], solver.answer(game, state))


def _solution(answer: Answer, **how) -> Solution:
    return Solution(
        credit=answer.credit, winner=answer.winner, strategy=answer.strategy, **how
    )


# ---- the moves of player 1 -------------------------------------------------------


def _where_lost(arena: Arena, answer: Answer, solved: jax.Array) -> Arena:
    """The arena, marked where player 1 is known to win."""
    return dataclasses.replace(arena, accepting=answer.lost & solved)


def _dual_game(arena: Arena, solver: Solver, facts: Facts) -> Any:
    game = batch.laid_out(_device.cut(arena), facts.degree)
    return _device._task(solver, game, facts.scale, ~jnp.asarray(arena.accepting))


def _dual_of(solver: Solver) -> Solver | None:
    return _device.dual_of(solver) if solver.strategies else None


def _merge(answer: Answer, moves: jax.Array) -> Answer:
    return answer._replace(strategy=jnp.where(moves == NO_EDGE, answer.strategy, moves))


MOVES = batch.Then(
    batch.Problem(
        name="energy, player 1",
        solvers=Registry("energy", Dual),
        auto=lambda _: Dual(),
        check=_check,
        facts=_facts,
        game=_dual_game,
        answer=_answer,
        solution=_solution,
    ),
    solver=_dual_of,
    arena=_where_lost,
    merge=_merge,
)
"""What follows the credits, where strategies are wanted."""

PROBLEM = batch.register(
    batch.Problem(
        name="energy",
        solvers=SOLVERS,
        # Loops of one round, so that games do not wait for each other's.
        auto=lambda _: FVI(inner_sweeps=1, inner_rounds=1),
        check=_check,
        facts=_facts,
        game=_game,
        answer=_answer,
        solution=_solution,
        then=MOVES,
    )
)
"""For [`solve_many`][jaxgames.solve_many]."""
