"""A list of questions, one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

from jaxgames.drive._problem import Problem
from jaxgames.drive._rounds import Games
from jaxgames.drive._solve import solve, undecided
from jaxgames.drive._stack import states_of
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import Solution, Status

ENDED = Status.INTERRUPTED, Status.TIMEOUT
"""After these nothing is begun any more."""


def one_by_one(
    problem: Problem,
    questions: Sequence[Any],
    solver: Any,
    *,
    max_steps: int | None,
    state: Any,
    progress: Progress | Meter | bool | None,
    strategies: bool,
) -> tuple[list[Solution], tuple[Any, ...]]:
    """Answers questions one after the other, as each would be alone.

    What follows an interrupt is left undecided. The keywords are those of a solve; the
    state is that of each.
    """
    states = states_of(questions, state)
    meter = Games(as_progress(progress))
    how = {"max_steps": max_steps, "strategies": strategies, "throw": False}

    def answer(at: int) -> Solution:
        question, own = questions[at], states[at]
        return solve(problem, question, solver, state=own, progress=meter, **how)

    found = each(problem, questions, answer, meter, strategies)
    return found, tuple(one.state for one in found)


def each(
    problem: Problem,
    questions: Sequence[Any],
    answer: Callable[[int], Solution],
    meter: Games,
    strategies: bool,
) -> list[Solution]:
    """The answers of a function of places, until it is interrupted or has them all."""
    found: list[Solution] = []
    stop = None
    while len(found) < len(questions) and stop is None:
        try:
            one = answer(len(found))
            found.append(one)
            meter.finished(len(found))
            stop = one.status if one.status in ENDED else None
            stop = stop or meter(Report(one.stats["solver"], 0, 0.0))
        except KeyboardInterrupt:
            stop = Status.INTERRUPTED
    for question in questions[len(found) :]:
        assert stop is not None
        found.append(undecided(stop, problem, question, strategies=strategies))
    return found
