"""Our solvers as the benchmarks call them: under a time limit, each in its own way."""

import dataclasses
import math
import threading
import time
from typing import NamedTuple, Protocol

import jax
import numpy as np

from jaxgames import Arena, Status, ops, parity
from jaxgames.parity import reference
from jaxgames.progress import Deadline
from jaxgames.solver import Solver

COMPILE_S = 60.0
"""Seconds that are granted to compiling where it cannot be told from solving."""

MOST_WORDS = 16
"""Words of a measure up to which a solver on the device is tried."""

MOST_COUNTERS = 1 << 30
"""Counters up to which the sequential measures are tried."""


class Attempt(NamedTuple):
    """A solution, and the seconds that it took."""

    solution: parity.Solution
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether every vertex was decided."""
        return self.solution.status == Status.SOLVED


class Entrant(Protocol):
    """What is measured."""

    def refuses(self, arena: Arena) -> str | None:
        """A status that says why the game is not tried at all, or None."""
        ...

    def start(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Prepares and compiles what a run needs, with as little solving as can be."""
        ...

    def run(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Solves the game, or gives up when the time is over."""
        ...


class Engine:
    """What `solver` may name beside one solver: `"auto"`, `"host"` or `"race"`."""

    def __init__(self, name: str):
        self.name = name

    def refuses(self, arena: Arena) -> None:
        """Takes every game."""

    def start(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Solves the game: there is no smaller piece of it that compiles all."""
        return self.run(arena, time_limit_s + COMPILE_S)

    def run(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Solves the game; small ones cannot be interrupted."""
        return _timed(arena, self.name, time_limit_s)


class OnDevice:
    """One solver on the device."""

    def __init__(self, solver: str | Solver):
        self.solver = parity.SOLVERS.resolve(solver)

    def refuses(self, arena: Arena) -> str | None:
        """Programs of very many words take for ever to compile."""
        words = getattr(self.prepared(arena)[0], "words", None) or 1
        return "TOO_MANY_WORDS" if words > MOST_WORDS else None

    def prepared(self, arena: Arena) -> tuple[Solver, ops.Game]:
        """The solver with all its options, and the game as it lies on the device."""
        normal, game = parity.prepare(arena, self.solver)
        return self.solver.fit(normal), game

    def start(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Makes one round: the limit on rounds is not compiled in."""
        del time_limit_s
        return _timed(arena, self.solver, max_steps=1)

    def run(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Solves the game."""
        return _timed(arena, self.solver, time_limit_s)


class Sequential:
    """Small progress measures of the reference, one vertex at a time."""

    def __init__(self, lifting: reference.Lifting, *, alternating: bool = False):
        self.lifting: reference.Lifting = lifting
        self.alternating = alternating

    def refuses(self, arena: Arena) -> str | None:
        """Measures are rows of counters: there must be room for all of them."""
        priority = arena.edge_priority if arena.priority is None else arena.priority
        counters = arena.shape[0] * len(np.unique(priority))
        return "OUT_OF_MEMORY" if counters > MOST_COUNTERS else None

    def start(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Makes one lift."""
        del time_limit_s
        return self._solve(arena, 1)

    def run(self, arena: Arena, time_limit_s: float) -> Attempt:
        """Solves the game."""
        stop = np.zeros(1, np.int8)
        timer = threading.Timer(
            min(time_limit_s, threading.TIMEOUT_MAX), stop.fill, (1,)
        )
        timer.start()
        try:
            attempt = self._solve(arena, None, stop)
        finally:
            timer.cancel()
        if attempt.solved:
            return attempt
        given_up = dataclasses.replace(attempt.solution, status=Status.TIMEOUT)
        return attempt._replace(solution=given_up)

    def _solve(self, arena: Arena, max_steps: int | None, stop=None) -> Attempt:
        began = time.perf_counter()
        solution = reference.solve(
            arena,
            "spm",
            lifting=self.lifting,
            alternating=self.alternating,
            max_steps=max_steps,
            stop=stop,
        )
        return Attempt(solution, time.perf_counter() - began)


def entrant(solver: str) -> Entrant:
    """The entrant of a name that `parity.solve` takes."""
    return OnDevice(solver) if solver in parity.SOLVERS else Engine(solver)


def _timed(
    arena: Arena,
    solver: str | Solver,
    time_limit_s: float = math.inf,
    max_steps: int | None = None,
) -> Attempt:
    parity.wait_for_losers()  # they still use the machine
    deadline = Deadline(time_limit_s)
    began = time.perf_counter()
    solution = parity.solve(
        arena, solver, throw=False, max_steps=max_steps, progress=deadline
    )
    jax.block_until_ready((solution.winner, solution.strategy))
    return Attempt(solution, time.perf_counter() - began)
