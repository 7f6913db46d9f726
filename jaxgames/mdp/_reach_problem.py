"""What probabilities to reach a target are to the driver."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, fixpoint, ops, states, validity
from jaxgames.arena import is_traced
from jaxgames.later import jax, to_numpy
from jaxgames.mdp import _reach_traced, host
from jaxgames.mdp._checks import precision
from jaxgames.mdp._equations import Equations, equations, padded
from jaxgames.mdp._interval import Answer, Bounds, IntervalIteration, System
from jaxgames.mdp._open import Found, on_host, told
from jaxgames.mdp._prob01 import eagerly
from jaxgames.mdp._questions import Posed, reach
from jaxgames.mdp._region import NO_CHOICE, as_states, check_optimum, check_quantitative
from jaxgames.mdp._solution import ReachProbability
from jaxgames.mdp._swept import ToTarget, swept
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry
from jaxgames.tuning.mdp import ALONE_AT_LEAST, ALONE_ROUNDS, ALONE_SECONDS

REACH_SOLVERS = Registry(
    "reachability",
    IntervalIteration,
    places=(drive.HOST, drive.RACE),
    base=IntervalIteration,
)
"""The solvers for probabilities to reach a target, by name."""


class Reach(NamedTuple):
    """A model, and what is asked of it: see `reach_probability`."""

    model: Any
    target: Any
    optimum: Any = "max"
    states: Any = None
    epsilon: Any = 1e-6
    relative: Any = False


class Values(NamedTuple):
    """Bounds and a scheduler, by state."""

    lower: Any
    upper: Any
    value: Any
    scheduler: Any


SHORT_OF_IT = {
    Status.MAX_STEPS: (
        "The step limit was reached before the bounds had met. Raise max_steps, pass "
        "state=solution.state to go on, or ask for a larger epsilon."
    ),
    Status.TIMEOUT: (
        "The time limit was reached before the bounds had met. Pass "
        "state=solution.state to go on, or ask for a larger epsilon."
    ),
}
"""What to say of the only solver that there is."""


class Reachability(drive.Problem[Reach]):
    """Probabilities to reach a target."""

    name = "reach_probability"
    what = "model"
    solvers = REACH_SOLVERS
    solved = ReachProbability
    messages = SHORT_OF_IT

    def read(self, question: Any) -> tuple[Reach, Any]:
        """A model with probabilities, and sets of states as booleans."""
        asked = Reach(*question)
        check_optimum(asked.optimum)
        model, fault = check_quantitative(asked.model)
        if not is_traced(asked.epsilon):
            precision(asked.epsilon)
        if asked.target is None:
            raise ValueError("target must be a set of states, got None")
        target, passed = (
            None if x is None else as_states(name, model, x)
            for name, x in (("target", asked.target), ("states", asked.states))
        )
        return asked._replace(model=model, target=target, states=passed), fault

    def shape(self, question: Reach) -> tuple[int, int]:
        """States and choices; and branches."""
        model = question.model
        return model.num_states + model.num_choices, model.num_branches

    def place(self, question: Reach) -> str:
        """As of all others; the host where the model is nearly without cycles."""
        if host.sequence(question.model) is not None:
            return drive.HOST
        return super().place(question)

    def alone(self, question: Reach) -> tuple[float, float]:
        """As for all values."""
        seconds = ALONE_SECONDS * question.model.num_branches
        return ALONE_AT_LEAST + seconds, ALONE_ROUNDS

    def undecided(self, question: Any) -> Values:
        size = question.model.num_states
        nothing = np.full(size, NO_CHOICE, np.int32)
        return Values(np.zeros(size), np.ones(size), np.full(size, 0.5), nothing)

    def on_device(
        self,
        question: Reach,
        solver: Any,
        *,
        state: Any = None,
        max_steps: int | None = None,
        progress: Any = None,
    ) -> ReachProbability:
        """The equations of what is open, made small on the host."""
        posed = _posed(question)
        part = equations(question.model, posed.known)
        solver = dataclasses.replace(
            solver, least=question.optimum == "min", relative=bool(question.relative)
        )
        answer, status, rounds, carry = _iterate(
            part, solver, 2 * question.epsilon, state, max_steps, progress
        )
        counts = {"rounds": rounds, "open": len(answer.lower)}
        found = told(question.model, posed, part, answer, status, counts)
        stats = Stats(**{**found.stats, "solver": solver.name})
        return self.solution(_values(found), status=status, stats=stats, state=carry)

    def on_host(
        self, question: Reach, *, strategies=True, track=None, max_steps=None
    ) -> ReachProbability:
        """The same equations, component by component; or one look at each state."""
        near, relative = 2 * float(question.epsilon), bool(question.relative)
        stop = (drive.Track() if track is None else track).stop
        asked = ToTarget(*question[:3], question.states)
        found = swept(asked, near, relative, stop)
        if found is None:
            posed = asked.posed()
            found = on_host(
                question.model,
                posed,
                lambda: equations(question.model, posed.known),
                epsilon=near,
                relative=relative,
                stop=stop,
            )
        return self.solution(_values(found), status=found.status, stats=found.stats)

    def traced(self, question: Reach, solver: Any, state: Any, max_steps: Any) -> Any:
        """The same equations, in the places that the model has."""
        solver = dataclasses.replace(
            solver, least=question.optimum == "min", relative=bool(question.relative)
        )
        with validity.unchecked():  # it was, and is harmless
            lower, upper, scheduler, status, stats, carry = _reach_traced.solve(
                *question[:2], question.states, question.epsilon, solver, state,
                max_steps,
            )  # fmt: skip
        answer = Values(lower, upper, lower + (upper - lower) / 2, scheduler)
        return self.solution(answer, status=status, stats=stats, state=carry)

    def words(self, question: Any) -> states.Words:
        """Those of the model, and of the sets."""
        return states.fingerprint((question.model, question.target, question.states))

    def beside(self, questions: list[Any], solver: Any, **how: Any) -> Any:
        """One after the other: how many rounds each takes is a matter of its bounds."""
        return drive.one_by_one(self, questions, solver, **how)


REACH = drive.register(Reachability())
"""For [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]: questions are tuples of a model, a target, and what
follows in `Reach`."""


def _posed(question: Reach) -> Posed:
    """What is known by the graph, and what is left open."""
    return reach(question.model, question.target, question.optimum, question.states)


def _values(found: Found) -> Values:
    middle = found.lower + (found.upper - found.lower) / 2
    return Values(found.lower, found.upper, middle, found.scheduler)


def _iterate(
    part: Equations, solver: IntervalIteration, width, state, max_steps, progress
):
    """Runs the iteration in float64, and brings everything back to the host."""
    real = len(part.groups) - 1
    if real == 0:
        if state is not None:
            raise _of_another(state)
        empty = np.zeros(0)
        answer = Answer(empty, empty, np.zeros(0, np.int32))
        return answer, Status.SOLVED, 0, None
    part = padded(part)
    size, choices = len(part.groups) - 1, len(part.base)
    if state is not None:
        state = _checked(state, size)
    number = np.arange(choices, dtype=np.int32)
    branches = ops.links(part.rows, part.target, size)
    weights = ops.on_links(branches, part.rows, part.probs)
    sweeps = fixpoint.default_sweeps(branches)
    solver = dataclasses.replace(
        solver, sweeps_per_check=solver.sweeps_per_check or sweeps
    )
    with jax.enable_x64(True), eagerly():
        made = System(
            branches=branches,
            weights=tuple(weights),
            base=part.base,
            choices=ops.links(part.groups, number, choices),
            owner=np.repeat(number[:size], np.diff(part.groups)),
            above=(number[:size] < real).astype(np.float64),
            slack=np.float64(part.slack),
            width=np.float64(width),
        )
        game = jax.device_put(made)  # which compiles nothing
        outcome = fixpoint.run(
            solver, game, state, max_steps=max_steps, progress=progress
        )
        # Outside, JAX would cut what is left on the device to float32.
        answer, carry = to_numpy((outcome.answer, outcome.carry))
    answer = Answer(*(x[:real] for x in answer))
    status = outcome.status
    if status == Status.OVERFLOW:
        # Nothing moves any more: because the bounds have met, or never will.
        apart = answer.upper - answer.lower
        met = np.all(apart <= (width * answer.lower if solver.relative else width))
        status = Status.SOLVED if met else Status.PRECISION
    return answer, status, outcome.rounds, carry


def _checked(carry: Any, size: int) -> fixpoint.Carry:
    bounds = getattr(carry, "state", None)
    if not isinstance(bounds, Bounds) or len(bounds.lower) != size:
        raise _of_another(carry)
    # It may go on from where nothing moved: to find that out again.
    return carry._replace(state=bounds._replace(moves=np.bool_(True)))


def _of_another(state: Any) -> ValueError:
    """What to raise where a state is of no such call."""
    return ValueError(
        "state must be solution.state of a call with the same model, target, states "
        f"and optimum, got {state!r:.80}"
    )
