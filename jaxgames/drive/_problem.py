"""The contract: what a slice says of itself, so that it can be driven."""

import dataclasses
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import jaxgames
from jaxgames import fixpoint, host, memory, ops, states
from jaxgames.arena import Arena
from jaxgames.drive._form import ARENAS, Form
from jaxgames.drive._race import Track
from jaxgames.later import jax, may_have_accelerator
from jaxgames.progress import Meter, Progress
from jaxgames.solution import Solution, Stats, Status
from jaxgames.solver import Registry, Solver

HOST, DEVICE, RACE = "host", "device", "race"
"""Where a question is answered."""

Q = TypeVar("Q")


class Leg(NamedTuple):
    """A part of a run on the device: a solver, and rounds after which it gives up."""

    solver: Solver
    budget: int | None = None


class Problem(Generic[Q]):
    """A kind of question, how it is asked, and how it is answered.

    [`drive.solve`][jaxgames.drive.solve] answers one question at a time: concrete or
    traced, on the device, on the host or in a race of both, within limits, and from
    where an earlier call stopped. [`solve_many`][jaxgames.solve_many] answers many.

    A question is an arena, or whatever a slice has in its place: a pytree. What is said
    to be pure is traced by JAX; all else looks at concrete questions.
    """

    name: ClassVar[str]
    """The name of the problem."""
    what: ClassVar[str] = "game"
    """What is solved, for messages."""
    solvers: ClassVar[Registry]
    """Its solvers that are array programs."""
    solved: ClassVar[type[Solution]]
    """The class of its solutions, which has the fields of its answers."""
    nothing: ClassVar[Mapping[str, int]] = {}
    """What stands for nothing in fields of a solution, where that is not -1."""
    messages: ClassVar[Mapping[Status, str]] = {}
    """What an error says of a status, where its own message says too much."""

    @property
    def engines(self) -> str:
        """The name of the package that has its engines of the host."""
        return type(self).__module__.rpartition(".")[0] + ".host"

    # ---- the question ----------------------------------------------------------

    def read(self, question: Any) -> tuple[Q, Any]:
        """The question as all other methods want it; and whether it is none.

        The latter is a traced bool where the question is traced, and False elsewhere.

        Raises:
            ValueError: it is none.
        """
        raise NotImplementedError(f"{self.name} has no front door of this kind")

    def shape(self, question: Q) -> tuple[int, int]:
        """How many vertices it has, and how many edges."""
        return question.shape  # type: ignore[attr-defined]

    def reduce(self, question: Q, names: Sequence[str]) -> "tuple[Any, Undo | None]":
        """A smaller question, or one that it is put as; and what undoes that.

        Args:
            question: a concrete one.
            names: of what makes it smaller; none where nobody has asked for that.

        Returns:
            The question; and what makes its solution one of that which was asked, None
            where it is one.
        """
        if names:
            raise NotImplementedError(f"{self.name} has no preprocessing")
        return question, None

    # ---- the choice ------------------------------------------------------------

    host_until: ClassVar[int] = ops.SLICE_FROM
    """Edges from which on `"auto"` races where there is an accelerator: of fewer
    launches alone would take longer than the engine on the host."""

    def place(self, question: Q) -> str:
        """Where `"auto"` goes: `HOST`, `DEVICE`, or `RACE` for both.

        Without numba there is no host engine to speak of, but for what is solved before
        anything is compiled. With it a CPU leaves the question to the host engine, and
        so does a GPU if it is small. Whether there is a GPU need not be known: the host
        may have answered before JAX is there.
        """
        edges = self.shape(question)[1]
        if self.is_devices(question):
            return DEVICE
        if not host.can_compile():
            return HOST if host.is_plain(edges) else DEVICE
        small = edges < self.host_until
        return HOST if small or not may_have_accelerator() else RACE

    def in_phases(
        self, question: Q, solver: str | Solver, **how: Any
    ) -> Solution | None:
        """Answers by other questions, to which the solver is handed on.

        Args:
            question: the question.
            solver: as a user passed it.
            how: `max_steps`, `state`, `progress` and `strategies` of the call.

        Returns:
            None where there are no such phases: then the driver chooses the place.
        """

    def legs(self, question: Q) -> Sequence[Leg]:
        """What `"auto"` takes on the device, one after the other."""
        return (Leg(self.solvers.auto()),)

    def handed_on(self, question: Q, solver: Solver, state: Any, then: Solver) -> Any:
        """What a leg begins with, when that before it has spent its budget.

        Args:
            question: the question.
            solver: of the leg before.
            state: where that has come to.
            then: of the leg that follows.

        Returns:
            A state of the latter; None where it begins afresh.
        """

    def traced_auto(self) -> Solver:
        """What `"auto"` takes under tracing, where it cannot look at the question."""
        return self.solvers.auto()

    # ---- on the device ---------------------------------------------------------

    def fitted(self, question: Q, solver: Solver) -> tuple[Any, Solver]:
        """What is laid out for a solver; and the solver with its options filled in."""
        return question, solver.fit(question)  # type: ignore[arg-type]

    def shapes(self, subject: Any, solver: Solver) -> Any:
        """The shapes of what `prepare` makes, see [`memory`][jaxgames.memory]."""
        return memory.shape_of(subject)

    def is_resident(self, subject: Any, solver: Solver) -> bool:
        """Whether what `prepare` makes is there already."""
        return ops.is_prepared(subject, ops.current_spread())

    def prepare(self, subject: Any, solver: Solver) -> Any:
        """Lays out what a solver works on; kept with the question."""
        return ops.prepare(subject, ops.current_spread())

    def on_device(
        self,
        question: Q,
        solver: Solver,
        *,
        state: Any = None,
        max_steps: int | None = None,
        progress: Progress | Meter | None = None,
    ) -> Solution:
        """Answers by one solver on the device.

        Args:
            question: the question.
            solver: the solver.
            state: the `state` of a solution, to go on from; None to begin.
            max_steps: rounds at most, those of `state` counted in.
            progress: told between chunks of rounds; may end it.
        """
        subject, solver = self.fitted(question, solver)
        memory.check(
            solver,
            lambda: self.shapes(subject, solver),
            *self.shape(question),
            resident=self.is_resident(subject, solver),
        )
        game = self.prepare(subject, solver)
        how = {"max_steps": max_steps, "progress": progress}
        outcome = fixpoint.run(solver, game, state, **how)
        return self.found(question, solver, game, outcome)

    def traced(self, question: Q, solver: Solver, state: Any, max_steps: Any) -> Any:
        """Answers inside somebody's `jit` or `vmap` (pure)."""
        game = self.game(question, solver)
        outcome = fixpoint.traced(solver, game, state, max_steps)
        return self.found(question, solver, game, outcome)

    def found(
        self, question: Q, solver: Solver, game: Any, outcome: fixpoint.Outcome
    ) -> Solution:
        """What the outcome of a solver says (also under tracing)."""
        answer = self.own(question, game, outcome.answer)
        if not solver.strategies and hasattr(answer, "strategy"):
            answer = answer._replace(strategy=None)
        return self.solution(
            answer,
            status=outcome.status,
            stats=Stats(
                solver=solver.name,
                rounds=outcome.rounds,
                **self.layout(game),
                **solver.stats(game, outcome.carry.state),
            ),
            state=outcome.carry,
        )

    def own(self, question: Q, game: Any, answer: Any) -> Any:
        """Of a solver's answer what is of the question, and not of its layout."""
        return answer

    def layout(self, game: Any) -> dict[str, Any]:
        """What `stats` say of a layout."""
        return {"layout": ops.layout(game), "cells": ops.num_cells(game)}

    def solution(self, answer: Any, **how: Any) -> Any:
        """The solution, from the answer by vertex and the fields that all have."""
        return self.solved(**answer._asdict(), **how)

    def undecided(self, question: Any) -> Any:
        """The answer that knows nothing of a question, which may not be read yet."""
        raise NotImplementedError(f"{self.name} has no front door of this kind")

    # ---- on the host -----------------------------------------------------------

    inline: ClassVar[int] = 1 << 20
    """Edges up to which the host engine begins in the caller's thread."""
    head_start: ClassVar[float] = 0.0
    """Seconds for each edge that the device has for itself in a race."""
    tries_first: ClassVar[bool] = False
    """Whether `on_host` itself lets the device ahead, after what it tries at once."""
    holds_all: ClassVar[bool] = False
    """Whether the host engine has numbers for what overflows on a device."""

    goes_on: ClassVar[bool] = False
    """Whether the host engine goes on where its patience has ended, which took some
    thousandths of a second: it may begin in the caller's thread, whoever watches."""

    @property
    def patience(self) -> int | None:
        """Steps that it then may take, until it goes on in one of its own.

        There it can be watched; it begins anew where it has no state to go on from.
        None for any number.
        """
        return None

    def on_host(
        self,
        question: Q,
        *,
        strategies: bool = True,
        track: Track | None = None,
        max_steps: int | None = None,
    ) -> Solution:
        """Answers by the sequential engine, in this thread.

        Where `solvers.places` names one of several engines, this takes such a name as
        `engine`, too. Where its solution of `Status.MAX_STEPS` has a state, it takes
        that as `state`, and goes on from there.

        Args:
            question: the question.
            strategies: whether strategies are wanted.
            track: says when to stop, which gives `Status.INTERRUPTED`; or None.
            max_steps: of the engine; `Status.MAX_STEPS` where they are over.
        """
        raise NotImplementedError(f"{self.name} has no engine on the host")

    def alone(self, question: Q) -> tuple[float, float]:
        """Seconds, and rounds, that the device has for itself in a race, at most."""
        return self.head_start * self.shape(question)[1], math.inf

    def is_hosts(self, question: Q) -> bool:
        """Whether no device has numbers for it, whatever a user asks for."""
        return False

    def is_devices(self, question: Q) -> bool:
        """Whether it was made on a device, and is no host's."""
        return False

    def track(self) -> Track:
        """What the engines of a race share."""
        return Track()

    def in_race(self, track: Any, question: Q, solver: Solver, **how: Any) -> Solution:
        """As `on_device`, with an eye on what the host has found."""
        return self.on_device(question, solver, **how)

    # ---- many at once ----------------------------------------------------------

    beside: "Callable[..., tuple[Sequence[Solution], Any]] | None" = None
    """Answers a list of questions in a way of its own, from these as they were read,
    the solver, and the keywords `max_steps`, `state`, `progress` and `strategies` of a
    solve. Returns their solutions, and a state to go on from. None where questions are
    stacked."""

    def words(self, question: Q) -> states.Words:
        """What tells a concrete question from others, where many have a state."""
        return states.words_of(question)

    form: ClassVar[Form] = ARENAS
    """What questions are made of, where many are stacked."""
    compile_seconds: ClassVar[float] = 6.0
    """What compiling for the stacks of one size takes, about."""
    then: ClassVar["Then | None"] = None
    """Another solve that completes the answers of a stack, if there is one."""
    finish: "Callable[[Solver, Any, Any], Any] | None" = None
    """Completes the answers when all rounds are over (pure), from the solver, the
    question and the answers; None where nothing is missing."""

    def auto(self, stack: Any) -> Solver:
        """The solver that `"auto"` stands for, for a stack."""
        return self.solvers.auto()

    def rounds_together(self, stack: Any) -> int | None:
        """Rounds of a stack after which the games that are left are solved alone.

        By `"auto"`, where that has chosen the solver of the stack too. None: never.
        """

    def check(self, question: Any) -> None:
        """Raises ValueError for a question, or a stack of such, that is none."""
        raise NotImplementedError(f"{self.name} takes no stacks")

    def facts(self, stack: Any, solver: Any) -> Hashable:
        """What of a concrete stack decides shapes and types.

        All questions of a stack share a compilation with the same facts.
        """

    def game(self, question: Any, solver: Any, facts: Any = None) -> Any:
        """What a solver works on (pure); `facts` where they are known."""
        raise NotImplementedError(f"{self.name} has no game of this kind")

    def answer(self, solver: Any, game: Any, state: Any, size: int) -> Any:
        """The answer over the vertices of a question of a stack (pure).

        Args:
            solver: the solver.
            game: what it works on.
            state: its state.
            size: how many vertices there are. Arrays have them in front.
        """
        return solver.answer(game, state)

    def bits(self, questions: Sequence[Any]) -> Sequence[int]:
        """Of the integers that each of some questions, or stacks, wants: 32 or 64."""
        return [32] * len(questions)


Undo = Callable[[Any], Any]
"""Makes the solution of another question one of that which was asked."""


@dataclasses.dataclass(frozen=True)
class Then:
    """A second solve, of games whose first answers are known.

    `arena` and `merge` are pure functions of a single game. The facts of the first
    solve hold for it too.

    Attributes:
        problem: what is to be solved; it is not registered.
        solver: the solver, from that of the first solve; None if it is not wanted.
        arena: the arena to solve, from that of the first solve, its answers, and
            whether it was solved (bool scalar).
        merge: the answers, from those of both.
    """

    problem: Problem
    solver: Callable[[Solver], Solver | None]
    arena: Callable[[Arena, Any, jax.Array], Arena]
    merge: Callable[[Any, Any], Any]


PROBLEMS: dict[str, Problem] = {}
"""What can be solved in batches, by name."""

P = TypeVar("P", bound=Problem)


def register(problem: P) -> P:
    """Makes a problem known by its name, and returns it."""
    PROBLEMS[problem.name] = problem
    return problem


def problem_of(problem: Any) -> Problem:
    """A problem from itself, its name, or the package that has it.

    Raises:
        ValueError: there is no such problem.
    """
    if isinstance(problem, str) and problem not in PROBLEMS:
        for name in dir(jaxgames):  # a problem is registered when it is imported
            getattr(getattr(jaxgames, name), "PROBLEM", None)
    found = PROBLEMS.get(problem) if isinstance(problem, str) else problem
    found = getattr(found, "PROBLEM", found)
    if not isinstance(found, Problem):
        raise ValueError(
            f"problem must be one of {', '.join(map(repr, PROBLEMS))}, or a package of "
            f"jaxgames that solves games in batches, got {problem!r}"
        )
    return found
