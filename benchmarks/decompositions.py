"""What the suites on graphs and models share: how solvers are called; their rows."""

import math
import tempfile
import time
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from benchmarks.entrants import COMPILE_S, Attempt
from benchmarks.peers import side_by_side
from benchmarks.run import Options, solve_row
from benchmarks.schema import Results, Row
from jaxgames import drive
from jaxgames.progress import Deadline

HOST = "host"
"""The compiled sequential engine."""


class Problem(NamedTuple):
    """A suite: what is solved, by what, and how that is checked.

    Attributes:
        suite: name of the suite, and of what its peers solve.
        solvers: what `decompose` takes as its solver, by name in the results. The first
            that solves is the one that the others are compared with.
        decompose: the front door, such as `graph.scc`.
        answer: the arrays of a solution that make its answer.
        verify: whether a solution is right, and cannot be another one.
        bytes_per_round: those of a solution's rounds on average, if that is known.
        facts: what a row tells of a solution besides, by field.
        refuses: a status that says why a solver does not take what is given, or None.
    """

    suite: str
    solvers: dict[str, Any]
    decompose: Callable[..., Any]
    answer: Callable[[Any], tuple[Any, ...]]
    verify: Callable[[Any, Any], Any]
    bytes_per_round: Callable[[Any, Any], int | None]
    facts: Callable[[Any, Any], dict[str, Any]] = lambda given, found: {
        "components": int(found.count)
    }
    refuses: Callable[[Any, Any], str | None] = lambda given, solver: None


class Decomposer:
    """A solver for components as the benchmarks call it: an `entrants.Entrant`.

    Attributes:
        starts_whole: nothing is left to compile after a start.
    """

    starts_whole = True

    def __init__(self, problem: Problem, solver: Any):
        self.problem = problem
        self.solver = solver

    def refuses(self, arena: Any) -> str | None:
        """What the problem says."""
        return self.problem.refuses(arena, self.solver)

    def start(self, arena: Any, time_limit_s: float) -> Attempt:
        """Solves: what is compiled depends on what is left after some rounds."""
        return self.run(arena, time_limit_s + COMPILE_S)

    def run(self, arena: Any, time_limit_s: float) -> Attempt:
        """Solves, or gives up when the time is over."""
        drive.wait_for_losers()  # they still use the machine
        deadline = None if math.isinf(time_limit_s) else Deadline(time_limit_s)
        began = time.perf_counter()
        solution = self.problem.decompose(
            arena, self.solver, throw=False, progress=deadline
        )
        jax.block_until_ready(self.problem.answer(solution))
        return Attempt(solution, time.perf_counter() - began)


class Judge:
    """Tells whether solutions are right: by a certificate once, then by comparison."""

    def __init__(self, problem: Problem, given: Any):
        self._problem = problem
        self._given = given
        self.answer: tuple[np.ndarray, ...] | None = None

    def __call__(self, solution: Any) -> bool:
        """Whether a solution is right."""
        arrays = tuple(map(np.asarray, self._problem.answer(solution)))
        if self.answer is not None:
            return all(map(np.array_equal, arrays, self.answer))
        if self._problem.verify(self._given, solution):
            self.answer = arrays
        return self.answer is not None


def measure(
    problem: Problem,
    about: dict,
    given: Any,
    options: Options,
    results: Results,
    *,
    left_out: Container[str] = (),
) -> None:
    """Adds a row for every solver that was chosen, and for every peer.

    Args:
        problem: the suite.
        about: what is known of the rows.
        given: what is decomposed.
        options: how to measure.
        results: takes the rows.
        left_out: solvers that cannot take it.
    """
    judge = Judge(problem, given)
    for name, solver in problem.solvers.items():
        if options.wants(name) and name not in left_out:
            row = _row(problem, about, name, solver, given, options, judge)
            print(f"{row.game}: {name}: {row.status}, {row.solve_s} s", flush=True)
            results.put([row])
            if row.verified is False:
                raise AssertionError(f"{row.game}: the answer of {name} is wrong")
    peers = [each for each in options.libraries if each.solves == problem.suite]
    if judge.answer is None or not peers:
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        rows = side_by_side(
            about["game"],
            given,
            judge.answer[0],
            peers,
            time_limit_s=options.peer_time_limit_s,
            repeats=1,
            folder=Path(folder),
        )
    results.put([], rows)


def _row(problem, about, name, solver, given, options, judge) -> Row:
    entrant = Decomposer(problem, solver)
    row, found = solve_row(about, name, entrant, given, options)
    if found is None or not found.solved:
        return row
    for field, value in problem.facts(given, found.solution).items():
        setattr(row, field, value)
    row.rounds = num_rounds(row.phases)
    if row.rounds:
        row.bytes_per_round = problem.bytes_per_round(given, found.solution)
    row.verified = judge(found.solution)
    return row


ROUNDS = ("inner", "trim", "propagation", "removal")
"""Phases whose rounds go over the edges."""


def num_rounds(phases: dict[str, int]) -> int | None:
    """Rounds that went over the edges, of all kinds; None where none is told."""
    counts = [phases[name] for name in ROUNDS if name in phases]
    return sum(counts) if counts else None


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """What a function makes, and the seconds that it takes."""
    began = time.perf_counter()
    made = make()
    return made, time.perf_counter() - began
