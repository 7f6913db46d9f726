"""A list of questions, one after the other."""

import contextlib
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from jaxgames import host
from jaxgames.drive import _costs
from jaxgames.drive._problem import Problem
from jaxgames.drive._rounds import Games
from jaxgames.drive._solve import on_host, solve, undecided
from jaxgames.drive._stack import states_of
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import Solution, Status
from jaxgames.tuning.drive import LOOKED_AT

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


def by_host(
    problem: Problem,
    questions: Sequence[Any],
    meter: Games,
    strategies: bool,
    sizes: Sequence[Hashable] | None,
    engine: str,
) -> list[Solution] | None:
    """Answers by an engine of the host, one question after the other.

    Sizes are those that the device would solve, see `_costs`; without them it is not
    asked. None where the device has all solutions sooner.
    """
    times: list[float] = []

    def answer(at: int) -> Solution:
        looks = at == 0 or (at >= _costs.SAMPLE and at & (at - 1) == 0)
        if looks and sizes is not None:
            known = _costs.rate(times) if at else _costs.rate_before(sizes)
            left = known * (len(questions) - at)
            if left > _costs.instead(problem, sizes):
                raise _Sooner
        question = questions[at]
        here = problem.shape(question)[1] < problem.inline
        # Whatever else this machine is doing, where it is this thread that works.
        clock = time.thread_time if here else time.perf_counter
        began = clock()
        found = on_host(problem, question, strategies, meter, engine, among_many=True)
        times.append(clock() - began)
        return found

    edges = _edges(problem, questions)
    try:
        # What is small alone is not, where there are many.
        with contextlib.nullcontext() if host.is_plain(edges) else host.compiling():
            return each(problem, questions, answer, meter, strategies)
    except _Sooner:
        return None
    finally:
        if sizes is not None:
            _costs.spend(sizes, times)


def _edges(problem: Problem, questions: Sequence[Any]) -> int:
    """How many edges all questions have, about: some are looked at."""
    some = range(0, len(questions), max(1, len(questions) // LOOKED_AT))
    found = sum(problem.shape(questions[at])[1] for at in some)
    return found * len(questions) // max(1, len(some))


class _Sooner(Exception):
    """The device answers all sooner."""


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
            stop = stop or meter(Report(str(one.stats["solver"]), 0, 0.0))
        except KeyboardInterrupt:
            stop = Status.INTERRUPTED
    for at in range(len(found), len(questions)):
        assert stop is not None
        found.append(undecided(stop, problem, questions[at], strategies=strategies))
    return found
