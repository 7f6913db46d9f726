"""Energy games in batches: credits of all, then the moves of player 1."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import batch, validity
from jaxgames.arena import Arena, bucket
from jaxgames.energy import _bounds, _device
from jaxgames.energy._lockstep import Lockstep
from jaxgames.energy._potentials import Answer
from jaxgames.energy._solution import Solution
from jaxgames.energy._solve import SOLVERS, solve
from jaxgames.energy._strategies import Dual
from jaxgames.solution import NO_EDGE
from jaxgames.solver import Registry, Solver

SWEEPS, SWEEPS_ELSEWHERE = {"cpu": 1}, 6
"""Sweeps of a round, see [`Lockstep`][jaxgames.energy._lockstep.Lockstep]."""


class Facts(NamedTuple):
    """What is the same for all games of a stack.

    Attributes:
        degree: the largest out-degree, or a little more.
        scale: bits of a potential that count steps.
        bits: of a number.
        narrow: bits of a weight where it is kept for rounds.
    """

    degree: int
    scale: int
    bits: int
    narrow: int


def _check(arena: Arena) -> None:
    """Checks an arena, or a stack; what lies on a device is looked at there."""
    validity.check_each(arena)
    _bounds.check_weight(arena)


def _bits(arenas: Sequence[Arena]) -> list[int]:
    """The width in which the numbers of each game, or of each stack, are sure to fit.

    By its extreme weights: sums over vertices would take as long as many a solve.
    """
    return [32 if _room(arena, 32) is not None else 64 for arena in arenas]


def _room(arena: Arena, bits: int) -> int | None:
    """Bits left for steps where all credits, and all gains, fit; None if too few are.

    As many as all paths need: what is padded is no part of any.
    """
    size = np.shape(arena.owner)[-1]
    room = bits - 3 - (batch.largest(arena.weight) * size).bit_length()
    return room if room >= bucket(size + 1).bit_length() else None


def _facts(arena: Arena, solver: Any) -> Facts:
    """In the width that JAX has now."""
    wide = jax.dtypes.canonicalize_dtype(np.int64) == np.int64
    bits = 64 if wide and _bits([arena]) == [64] else 32
    size, chosen = np.shape(arena.owner)[-1], getattr(solver, "scale", None)
    scale = chosen or min(size.bit_length(), bits // 2 - 1)
    narrow = bits
    if isinstance(solver, Lockstep):
        largest = batch.largest(arena.weight)
        narrow = next(x for x in (8, 16, 32, 64) if largest < 2 ** (x - 1))
    return Facts(batch.widest(arena), scale, bits, min(narrow, bits))


def _game(arena: Arena, solver: Solver, facts: Facts) -> Any:
    return _task(solver, arena, facts)


def _task(solver: Any, arena: Arena, facts: Facts, *lost: Any) -> Any:
    """What a solver works on; of some the weights are as narrow as they can be."""
    weight = jnp.asarray(arena.weight).astype(f"int{facts.bits}")
    arena = _device.cut(dataclasses.replace(arena, weight=weight))
    if not isinstance(solver, Lockstep):
        game = batch.laid_out(arena, facts.degree)
        return _device._task(solver, game, facts.scale, *lost)
    weight = jnp.asarray(arena.weight).astype(f"int{facts.narrow}")
    arena = dataclasses.replace(arena, weight=weight)
    game = batch.laid_out(arena, facts.degree)
    task = _device._task(solver.of, game, facts.scale, *lost)
    return task._replace(scale=task.scale.astype(f"int{facts.bits}"))


def _answer(solver: Any, game: Any, state: Any, size: int) -> Answer:
    return jax.tree.map(lambda x: x[:size], solver.answer(game, state))


def _solution(answer: Answer, **how) -> Solution:
    return Solution(
        credit=answer.credit, winner=answer.winner, strategy=answer.strategy, **how
    )


def _cut(answer: Answer, arena: Arena) -> Answer:
    """With credits of the type that they have where the game is solved alone."""
    answer = batch.cut(answer, arena)
    if answer.credit.dtype == np.int32:
        return answer
    return answer._replace(credit=answer.credit.astype(_bounds.credit_type(arena)))


# ---- the moves of player 1 -------------------------------------------------------


def _where_lost(arena: Arena, answer: Answer, solved: jax.Array) -> Arena:
    """The arena, marked where player 1 is known to win."""
    return dataclasses.replace(arena, accepting=answer.lost & solved)


def _dual_game(arena: Arena, solver: Solver, facts: Facts) -> Any:
    return _task(solver, arena, facts, ~jnp.asarray(arena.accepting))


def _dual_of(solver: Solver) -> Solver | None:
    if not solver.strategies:
        return None
    if isinstance(solver, Lockstep):
        return dataclasses.replace(solver, of=Dual())
    return _device.dual_of(solver)


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
        auto=lambda _: Lockstep(
            sweeps=SWEEPS.get(jax.default_backend(), SWEEPS_ELSEWHERE)
        ),
        check=_check,
        facts=_facts,
        game=_game,
        answer=_answer,
        solution=_solution,
        then=MOVES,
        form=dataclasses.replace(batch.ARENAS, cut=_cut),
        bits=_bits,
        alone=solve,
    )
)
"""For [`solve_many`][jaxgames.solve_many]."""
