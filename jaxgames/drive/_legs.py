"""Several solvers in turn, each with a budget."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from jaxgames import states
from jaxgames.drive._problem import Leg, Problem
from jaxgames.later import jax
from jaxgames.progress import Meter, Progress
from jaxgames.solution import Solution, Stats, Status
from jaxgames.states import register


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LegState:
    """What a run of several legs goes on from.

    Attributes:
        carry: of the leg's solver.
        leg: which leg.
        spent: rounds of the legs before it.
    """

    carry: Any
    leg: int = dataclasses.field(metadata={"static": True})
    spent: int = dataclasses.field(metadata={"static": True})


def along_legs(
    problem: Problem,
    question: Any,
    legs: Sequence[Leg],
    *,
    state: Any = None,
    max_steps: int | None = None,
    progress: Progress | Meter | None = None,
    run: Callable[..., Solution] | None = None,
) -> Solution:
    """Runs one solver after the other, until one is done within its budget.

    Args:
        problem: what kind of question it is.
        question: the question.
        legs: the solvers. Of a single one the state is the solver's own.
        state: of an earlier solution, to go on from.
        max_steps: rounds of all legs together, those before `state` counted in.
        progress: told between chunks of rounds.
        run: how a solver is run; None: as `problem.on_device`.
    """
    run = run or problem.on_device
    if len(legs) == 1:
        how = {"state": state, "max_steps": max_steps, "progress": progress}
        return run(question, legs[0].solver, **how)
    spent, carry, first = 0, None, 0
    if state is not None:
        states.check_class(state, LegState)
        if not 0 <= state.leg < len(legs):
            raise ValueError("state is not of this solve: it has other solvers in turn")
        spent, carry, first = state.spent, state.carry, state.leg
    tried = [leg.solver.name for leg in legs[:first]]
    for index, leg in enumerate(legs[first:], start=first):
        left = None if max_steps is None else max_steps - spent
        limits = [limit for limit in (leg.budget, left) if limit is not None]
        solution = run(
            question,
            leg.solver,
            state=carry,
            max_steps=min(limits, default=None),
            progress=progress,
        )
        state = LegState(solution.state, index, spent)
        over_budget = (
            solution.status in (Status.MAX_STEPS, Status.OVERFLOW)
            and (left is None or left > int(solution.stats["rounds"]))
            and index + 1 < len(legs)
        )
        if not over_budget:
            break
        tried.append(leg.solver.name)
        spent += int(solution.stats["rounds"])
        then = legs[index + 1].solver
        carry = problem.handed_on(question, leg.solver, solution.state, then)
    stats = dict(solution.stats)
    if tried:
        stats["tried"] = ", ".join(tried)
    return dataclasses.replace(solution, stats=Stats(**stats), state=state)
