"""What values of states are to the driver: a posed question, and its bounds."""

import dataclasses
import threading
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, solution
from jaxgames.kept import kept
from jaxgames.later import jax
from jaxgames.mdp import host
from jaxgames.mdp._equations import Equations, equations
from jaxgames.mdp._open import Found, faint, on_host, told, unknown
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._value_iteration import ValueIteration, iterate
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry
from jaxgames.tuning.mdp import ALONE_AT_LEAST, ALONE_ROUNDS, ALONE_SECONDS

VALUE_SOLVERS = Registry(
    "value", ValueIteration, places=(drive.HOST, drive.RACE), base=ValueIteration
)
"""The solvers for values of states, by name."""


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """A model, what was posed of it, and how near bounds are to be."""

    model: Any
    posed: Posed
    epsilon: float
    relative: bool
    _lock: Any = dataclasses.field(default_factory=threading.Lock, repr=False)

    def equations(self) -> Equations:
        """Those of what is open: written down once, whoever in a race asks first."""
        with self._lock:
            return kept(
                self, "equations", lambda: equations(self.model, self.posed.known)
            )


class Values(NamedTuple):
    """Bounds and a scheduler, by state."""

    lower: Any
    upper: Any
    scheduler: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class ValueBounds(solution.Solution):
    """Bounds of values, and a scheduler.

    Attributes:
        lower: float64 `[S]`.
        upper: float64 `[S]`.
        scheduler: int32 `[S]`.
    """

    lower: Any = None
    upper: Any = None
    scheduler: Any = None


SHORT_OF_IT = {
    Status.TIMEOUT: (
        "The time limit was reached before the bounds had met. Ask for a larger "
        "epsilon, or allow more time."
    ),
}
"""What to say of a solve that cannot be gone on with."""


class ValuesOf(drive.Problem[Question]):
    """Values of states that were posed as equations."""

    name = "values"
    what = "model"
    solvers = VALUE_SOLVERS
    messages = SHORT_OF_IT
    head_start = ALONE_SECONDS

    def read(self, question: Any) -> tuple[Question, Any]:
        """It was read by those who posed it."""
        return question, False

    def shape(self, question: Question) -> tuple[int, int]:
        """States and choices; and branches."""
        model = question.model
        return model.num_states + model.num_choices, model.num_branches

    def place(self, question: Question) -> str:
        """As of all others; the host where some schedulers never get out.

        And where the model is nearly without cycles: one look at each state will do,
        which a device would make in as many rounds as the model is deep.
        """
        deep = host.sequence(question.model) is not None
        if deep or not question.posed.known.proper:
            return drive.HOST
        return super().place(question)

    def alone(self, question: Question) -> tuple[float, float]:
        seconds, _ = super().alone(question)
        return ALONE_AT_LEAST + seconds, ALONE_ROUNDS

    def undecided(self, question: Question) -> Values:
        size = question.model.num_states
        nothing = np.full(size, NO_CHOICE, np.int32)
        return Values(np.full(size, -np.inf), np.full(size, np.inf), nothing)

    def solution(self, answer: Any, **how: Any) -> ValueBounds:
        bounds = (answer.lower, answer.upper, answer.scheduler)
        return ValueBounds(how.pop("status"), *bounds, **how)

    def on_device(
        self,
        question: Question,
        solver: Any,
        *,
        state: Any = None,
        max_steps: int | None = None,
        progress: Any = None,
    ) -> ValueBounds:
        """All equations at once; on the host where some schedulers never get out."""
        model, posed = question.model, question.posed
        if not posed.known.proper:
            return self.on_host(question)
        part = question.equations()
        solver = dataclasses.replace(solver, least=posed.optimum == "min")
        bounds = unknown(posed, 1)
        near = float(question.epsilon)
        answer, status, rounds, carry = iterate(
            *(part, solver),
            width=near if question.relative else 0.0,
            apart=faint(posed, near) if question.relative else near,
            low=float(bounds.lower[0]),
            high=float(bounds.upper[0]),
            state=state,
            max_steps=max_steps,
            progress=progress,
        )
        counts = {"rounds": rounds, "open": len(answer.lower)}
        if carry is not None:
            counts["solves"] = int(carry.state.solves)
        found = told(model, posed, part, answer, status, counts)
        stats = Stats(**{**found.stats, "solver": solver.name})
        return self.solution(found, status=status, stats=stats, state=carry)

    def on_host(
        self, question: Question, *, strategies=True, track=None, max_steps=None
    ) -> ValueBounds:
        """Component by component."""
        stop = (drive.Track() if track is None else track).stop
        found: Found = on_host(
            question.model,
            question.posed,
            question.equations,
            epsilon=question.epsilon,
            relative=question.relative,
            stop=stop,
        )
        return self.solution(found, status=found.status, stats=found.stats)


VALUES = drive.register(ValuesOf())
"""Values of states, for [`drive.solve`][jaxgames.drive.solve]."""
