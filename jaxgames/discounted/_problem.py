"""What discounted games are to the driver."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, fixpoint, memory, ops, states, validity
from jaxgames.arena import Arena, as_checked_as, is_traced, of_numpy
from jaxgames.discounted import _batch, _equations, host
from jaxgames.discounted._checks import check, check_numbers, exact
from jaxgames.discounted._equations import Task
from jaxgames.discounted._improvement import StrategyImprovement
from jaxgames.discounted._solution import Solution
from jaxgames.discounted._vi import ValueIteration
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.solution import NO_EDGE, Stats, Status
from jaxgames.solver import Registry

SOLVERS = Registry(
    "discounted",
    StrategyImprovement,
    ValueIteration,
    places=(drive.HOST, drive.RACE),
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


class Asked(NamedTuple):
    """A game, its discount factor, and how near values are wanted."""

    arena: Any
    discount: Any
    epsilon: Any = 1e-6


class Values(NamedTuple):
    """Bounds, values and strategies, by vertex."""

    lower: Any
    upper: Any
    value: Any
    strategy: Any


class Discounted(drive.Problem[Asked]):
    """Discounted games."""

    name = "discounted"
    solvers = SOLVERS
    solved = Solution
    head_start = drive.HEAD_START

    def read(self, question: Any) -> tuple[Asked, Any]:
        """Weights are one integer for each edge; the factor is between 0 and 1."""
        asked = Asked(*question)
        wrong = check_numbers(asked.discount, asked.epsilon)
        arena, fault = check(asked.arena)
        if wrong is not False:
            fault = validity.also(fault, wrong)
        if is_traced(asked.discount):
            # With another factor values might never settle.
            factor = jnp.where(wrong, 0.5, asked.discount.astype(float))
            asked = asked._replace(discount=factor)
        return asked._replace(arena=of_numpy(arena)), fault

    def shape(self, question: Asked) -> tuple[int, int]:
        return question.arena.shape

    def is_hosts(self, question: Asked) -> bool:
        """Weights that are Python's integers."""
        return question.arena.weight.dtype == object

    def words(self, question: Asked) -> states.Words:
        """Of the arena, the factor and the precision."""
        numbers = np.array([float(exact(question.discount)), float(question.epsilon)])
        return states.fingerprint((question.arena, numbers))

    def undecided(self, question: Any) -> Values:
        """What is true of any values."""
        size = np.shape(question.arena.owner)
        weight = np.asarray(question.arena.weight)
        low, high = (
            np.full(size, float(x))
            for x in (weight.min(initial=0), weight.max(initial=0))
        )
        return Values(low, high, (low + high) / 2, np.full(size, NO_EDGE, np.int32))

    def on_device(
        self,
        question: Asked,
        solver: Any,
        *,
        state: Any = None,
        max_steps: int | None = None,
        progress: Any = None,
    ) -> Solution:
        """Values in float64, and certain bounds around them from the host."""
        arena = question.arena
        with jax.enable_x64(True):
            number = jax.ShapeDtypeStruct((), np.float64)
            memory.check(
                solver,
                lambda: Task(memory.shape_of(arena), *[number] * 3),
                *arena.shape,
                resident=ops.is_prepared(arena, ops.current_spread()),
            )
            game = ops.prepare(arena, ops.current_spread())
            factor = float(exact(question.discount))
            task = _equations.task_of(game, factor, float(question.epsilon))
            outcome = fixpoint.run(
                solver, task, state, max_steps=max_steps, progress=progress
            )
            # Outside, JAX would cut what is left on the device to float32.
            answer, carry = to_numpy((outcome.answer, outcome.carry))
        stats = Stats(solver=solver.name, rounds=outcome.rounds, **self.layout(game))
        return _certain(
            self,
            question,
            answer.value,
            outcome.status,
            stats,
            carry,
            solver.strategies,
        )

    def on_host(
        self,
        question: Asked,
        *,
        strategies: bool = True,
        track: Any = None,
        max_steps: int | None = None,
    ) -> Solution:
        """By strategy improvement."""
        stop = None if track is None else track.stop
        factor = float(exact(question.discount))
        arena = as_checked_as(question.arena, question.arena.unpad())
        value, rounds, ended = host.improve(arena, factor, stop)
        status = Status.SOLVED if ended else Status.INTERRUPTED
        stats = Stats(solver=drive.HOST, rounds=int(rounds[0]))
        return _certain(self, question, value, status, stats, None, strategies)

    def found(
        self,
        question: Asked,
        bounds: host.Certain,
        status: Status,
        stats: Stats,
        carry: Any,
        strategies: bool,
    ) -> Solution:
        """The solution, from bounds of vertices that are no padding."""
        lower, upper, strategy = bounds
        near = (upper - lower <= 2 * question.epsilon).all()
        if status == Status.SOLVED and not near:
            status = Status.PRECISION
        more = (0, self.shape(question)[0] - len(lower))
        lower, upper = np.pad(lower, more), np.pad(upper, more)
        strategy = np.pad(strategy, more, constant_values=NO_EDGE)
        answer = Values(
            lower, upper, lower + (upper - lower) / 2, strategy if strategies else None
        )
        return self.solution(answer, status=status, stats=stats, state=carry)

    def traced(self, question: Asked, solver: Any, state: Any, max_steps: Any) -> Any:
        """In the width that JAX has, rounding counted in."""
        discount, epsilon = question.discount, question.epsilon
        if not is_traced(discount):
            discount = float(exact(discount))
        if not is_traced(epsilon):
            epsilon = float(epsilon)
        task = _equations.task_of(question.arena, discount, epsilon)
        outcome = fixpoint.traced(solver, task, state, max_steps)
        found = outcome.answer
        radius = _equations.radius(task, found.residual)
        lower, upper = found.value - radius, found.value + radius
        near = 2 * radius <= task.width
        status = jnp.where(
            (outcome.status == Status.SOLVED) & ~near, Status.PRECISION, outcome.status
        )
        answer = Values(lower, upper, found.value, found.strategy)
        stats = Stats(solver=solver.name, rounds=outcome.rounds)
        return self.solution(answer, status=status, stats=stats, state=outcome.carry)

    def beside(self, questions: list[Asked], solver: Any, **how: Any) -> Any:
        """Side by side what the host solves; with limits one after the other."""
        limited = how["max_steps"] is not None or how["state"] is not None
        if limited or solver not in ("auto", drive.HOST):
            return drive.one_by_one(self, questions, solver, **how)
        return _batch.solve(self, questions, solver, how), (None,) * len(questions)


PROBLEM = drive.register(Discounted())
"""Discounted games, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]: questions are tuples of an arena, a discount factor
and, if it is not 1e-6, how near values are wanted."""


def _certain(
    problem: Discounted,
    question: Asked,
    value: np.ndarray,
    status: Any,
    stats: Stats,
    carry: Any,
    strategies: bool,
) -> Solution:
    """The solution, with bounds that hold whatever was found."""
    whole = question.arena
    arena: Arena = as_checked_as(whole, whole.unpad())
    factor = float(exact(question.discount))
    found = host.certain(arena, factor, value[: arena.shape[0]])
    return problem.found(question, found, status, stats, carry, strategies)
