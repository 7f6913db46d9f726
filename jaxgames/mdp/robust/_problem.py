"""What values of interval models are to the driver."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive
from jaxgames.later import jax
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._values_problem import ValueBounds, ValuesOf
from jaxgames.mdp.robust._device import on_device
from jaxgames.mdp.robust._solve import Engine, solve
from jaxgames.solution import Stats, Status


class Ends(NamedTuple):
    """Bounds and strategies."""

    lower: Any
    upper: Any
    scheduler: Any
    nature: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class RobustBounds(ValueBounds):
    """Bounds of values, and strategies of both sides.

    Attributes:
        nature: float64 `[B]`, a distribution for each choice.
    """

    nature: Any = None


class RobustOf(ValuesOf):
    """Values of an interval model: a question is a model and what is asked of it."""

    name = "robust"

    def shape(self, question: Any) -> tuple[int, int]:
        """States and choices; and branches."""
        nat = question[1].nat
        return len(nat.groups) + len(nat.owner), len(nat.target)

    def place(self, question: Any) -> str:
        """As of most others: whether a model has cycles is not looked at."""
        return drive.Problem.place(self, question)

    def undecided(self, question: Any) -> Ends:
        nat = question[1].nat
        size = len(nat.groups) - 1
        nothing = np.full(size, NO_CHOICE, np.int32)
        ends = np.full(size, -np.inf), np.full(size, np.inf)
        return Ends(*ends, nothing, np.zeros(len(nat.target)))

    def solution(self, answer: Any, **how: Any) -> RobustBounds:
        bounds = (answer.lower, answer.upper, answer.scheduler, answer.nature)
        return RobustBounds(how.pop("status"), *bounds, **how)

    def on_device(
        self, question: Any, solver: Any, *, state=None, max_steps=None, progress=None
    ) -> RobustBounds:
        """All equations at once, where nobody can stay among them for ever."""
        return self._solved(question, drive.Track().stop, on_device, "values")

    def in_race(self, track: Any, question: Any, solver: Any, **how: Any) -> Any:
        """The same, until the host has the bounds."""
        return self._solved(question, track.stop, on_device, "values")

    def on_host(
        self, question: Any, *, strategies=True, track=None, max_steps=None
    ) -> RobustBounds:
        """Component by component."""
        stop = (drive.Track() if track is None else track).stop
        return self._solved(question, stop, None, "host")

    def _solved(
        self, question: Any, stop: np.ndarray, engine: Engine | None, name: str
    ) -> RobustBounds:
        found = solve(question[1], stop, engine)
        status = Status.SOLVED if found.met else Status.PRECISION
        if stop[0]:
            status = Status.INTERRUPTED
        stats = Stats(solver=name, rounds=found.rounds)
        return self.solution(found, status=status, stats=stats)


ROBUST = drive.register(RobustOf())
"""Values of interval models, for [`drive.solve`][jaxgames.drive.solve]."""
