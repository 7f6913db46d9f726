"""Many discounted games at once: side by side, where they have the same factor."""

import time
from itertools import pairwise
from typing import Any

import numpy as np

from jaxgames import drive
from jaxgames.discounted import host
from jaxgames.discounted._checks import exact
from jaxgames.limits import LimitError
from jaxgames.progress import Report, as_progress
from jaxgames.solution import Stats, Status
from jaxgames.tuning.energy import SIDE_BY_SIDE


def solve(problem: Any, questions: list[Any], solver: Any, how: Any) -> list[Any]:
    """The solution of each game as alone: a round costs more than a small game."""
    found: list[Any] = [None] * len(questions)
    stop, meter = Status.SOLVED, as_progress(how["progress"])
    began, done = time.perf_counter(), 0
    for members in _groups(problem, questions, solver):
        some = [questions[index] for index in members]
        if stop != Status.SOLVED:
            answers = [_undecided(problem, one, stop) for one in some]
        elif len(some) == 1:
            alone = {"progress": meter, "strategies": how["strategies"]}
            answers = [drive.solve(problem, some[0], solver, throw=False, **alone)]
        else:
            answers = _together(problem, some, how["strategies"])
        for index, one in zip(members, answers, strict=True):
            found[index] = one
        ends = {Status(int(one.status)) for one in answers}
        stop = max(ends - {Status.PRECISION}, default=Status.SOLVED)
        done += len(members)
        told = Report(drive.HOST, done, time.perf_counter() - began, "games")
        stop = stop or meter(told) or stop
    meter.close()
    return found


def _together(problem: Any, questions: list[Any], strategies: bool) -> list[Any]:
    plain = [question.arena.unpad() for question in questions]
    whole, first = drive.union(plain)
    factor, begin = float(exact(questions[0].discount)), first[:-1, 0]
    try:
        value, rounds, _ = host.improve(whole, factor, None, begin)
    except LimitError as error:
        return [_undecided(problem, one, error.status) for one in questions]
    lower, upper, strategy = host.certain(whole, factor, value, begin)
    found = []
    for at, (start, end) in enumerate(pairwise(first)):
        own = slice(start[0], end[0])
        edges = (strategy[own] - start[1]).astype(np.int32)
        bounds = host.Certain(lower[own], upper[own], edges)
        stats = Stats(solver=drive.HOST, rounds=int(rounds[at]))
        how = Status.SOLVED, stats, None, strategies
        found.append(problem.found(questions[at], bounds, *how))
    return found


def _undecided(problem: Any, question: Any, status: Status) -> Any:
    answer, stats = problem.undecided(question), Stats(solver="none", rounds=0)
    return problem.solution(answer, status=status, stats=stats)


def _groups(problem: Any, questions: list[Any], solver: Any) -> list[list[int]]:
    """Games of one factor that the host solves, and not too many of them."""
    groups: list[list[int]] = []
    last: dict[Any, tuple[list[int], int]] = {}
    for index, question in enumerate(questions):
        weight = question.arena.weight
        place = drive.place_for(problem, question, solver)
        if not len(weight) or place != drive.HOST:
            groups.append([index])
            continue
        key = exact(question.discount), weight.dtype
        members, edges = last.get(key, ([], SIDE_BY_SIDE))
        if edges + len(weight) > SIDE_BY_SIDE:
            members, edges = [], 0
            groups.append(members)
        members.append(index)
        last[key] = members, edges + len(weight)
    return groups
