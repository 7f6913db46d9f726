"""Many accepting sets over one graph, solved at once."""

import dataclasses
from typing import Any, ClassVar

import numpy as np

from jaxgames import fixpoint
from jaxgames.buchi._device import (
    closed,
    decided_batch,
    problem_for,
    reached_from,
    refuse_strong,
    trim_task,
    undecided,
)
from jaxgames.buchi._map import named
from jaxgames.buchi._question import Question
from jaxgames.buchi._solution import AcceptingCycle
from jaxgames.buchi._solver import Answer, Problem
from jaxgames.buchi._trim import Trim
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.ltl._operations import Kind
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver


@dataclasses.dataclass(frozen=True)
class Batched(Solver):
    """A solver on many accepting sets of one graph at once.

    Attributes:
        solver: the solver.
    """

    solver: Any = None
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.solver.name

    _axes: ClassVar[Any] = Problem(*(None, 0, 0, None))  # type: ignore[arg-type]

    def init(self, game: Problem) -> Any:
        return jax.vmap(self.solver.init, (self._axes,))(game)

    def step(self, game: Problem, state: Any) -> Any:
        return jax.vmap(self.solver.step, (self._axes, 0))(game, state)

    def done(self, game: Problem, state: Any) -> jax.Array:
        return jnp.all(jax.vmap(self.solver.done, (self._axes, 0))(game, state))

    def answer(self, game: Problem, state: Any) -> Answer:
        return jax.vmap(self.solver.answer, (self._axes, 0))(game, state)


def run_batch(
    question: Question, solver: Any, *, state=None, max_steps=None, meter=None
) -> AcceptingCycle:
    """Solves for many accepting sets, as `run`, but for what is reached only."""
    every = [question.one(accepting).kinds for accepting in question.accepting]
    reached = None if question.all_reached else reached_from(question)
    parts = np.stack(
        [question.parts([k != Kind.REJECTING for k in kinds]) for kinds in every]
    )
    if reached is not None:
        parts = np.where(reached, parts, 0)
    trims = isinstance(solver, Trim)
    if trims:
        for kinds in every:
            refuse_strong(kinds)
        part = parts.max(axis=0)
        machine, game = solver, trim_task(question, part, np.count_nonzero(part))
    else:
        game = problem_for(question.arena, solver, question.accepting, parts)
        machine = Batched(solver=named(solver))
    outcome = fixpoint.run(machine, game, state, max_steps=max_steps, progress=meter)
    facts = solver.stats(game, outcome.carry.state)
    stats = Stats(solver=solver.name, rounds=outcome.rounds, **facts)
    if outcome.status != Status.SOLVED:
        batch = question.accepting.shape[:1]
        return undecided(outcome.status, stats, outcome.carry, batch)
    answers = to_numpy(outcome.answer)
    if trims:
        left, reached = answers.left[: question.shape[0]] & (parts > 0), None
        answers = Answer(left.any(axis=1), left.argmax(axis=1), left)
    lassos = [
        closed(
            question.one(accepting),
            solver,
            jax.tree.map(lambda x, i=i: x[i], answers),
            reached,
        )
        for i, accepting in enumerate(question.accepting)
    ]
    return decided_batch(question, lassos, stats, outcome.carry)
