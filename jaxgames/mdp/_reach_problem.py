"""What probabilities to reach a target are to the driver."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, fixpoint, ops, states, validity
from jaxgames.arena import is_traced
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.mdp import _reach_traced
from jaxgames.mdp._almost_sure import within
from jaxgames.mdp._equations import Equations, open_part, padded
from jaxgames.mdp._interval import (
    UNDERFLOW,
    Answer,
    Bounds,
    IntervalIteration,
    System,
)
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._prob01 import eagerly, prob0, prob1
from jaxgames.mdp._quotient import Quotient, quotient
from jaxgames.mdp._region import (
    NO_CHOICE,
    Region,
    as_states,
    check_model,
    check_optimum,
)
from jaxgames.mdp._solution import EndComponents, ReachProbability
from jaxgames.mdp.host._interval import best_choices, iterate
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry

REACH_SOLVERS = Registry(
    "reachability", IntervalIteration, places=(drive.HOST,), base=IntervalIteration
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
    messages = SHORT_OF_IT

    def read(self, question: Any) -> tuple[Reach, Any]:
        """A model with probabilities, and sets of states as booleans."""
        asked = Reach(*question)
        check_optimum(asked.optimum)
        model, fault = check_model(asked.model)
        if model.probs is None:
            raise ValueError(
                "the model has no probabilities: pass probs to from_arrays"
            )
        if not is_traced(asked.epsilon) and not 0 < asked.epsilon < np.inf:
            raise ValueError(f"epsilon must be a positive number, got {asked.epsilon}")
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
        """The host, but for large models where there is an accelerator: no race."""
        place = super().place(question)
        return drive.HOST if place == drive.HOST else drive.DEVICE

    def undecided(self, question: Any) -> Values:
        """What is true of any probability."""
        size = question.model.num_states
        nothing = np.full(size, NO_CHOICE, np.int32)
        return Values(np.zeros(size), np.ones(size), np.full(size, 0.5), nothing)

    def solution(self, answer: Values, **how: Any) -> ReachProbability:
        """Answers have the names that a solution has."""
        return ReachProbability(**answer._asdict(), **how)

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
        solver = dataclasses.replace(
            solver, least=question.optimum == "min", relative=bool(question.relative)
        )
        answer, status, rounds, carry = _iterate(
            posed.part, solver, 2 * question.epsilon, state, max_steps, progress
        )
        values, counts = _told(question, posed, answer)
        stats = Stats(solver=solver.name, rounds=rounds, **counts)
        return self.solution(values, status=status, stats=stats, state=carry)

    def on_host(
        self, question: Reach, *, strategies=True, track=None, max_steps=None
    ) -> ReachProbability:
        """The same equations, one state after the other."""
        del strategies, max_steps
        stop = (drive.Track() if track is None else track).stop
        posed = _posed(question)
        part, least = posed.part, int(question.optimum == "min")
        size = len(part.groups) - 1
        rows = part.groups, part.rows, part.target, part.probs, part.base
        lower, upper = np.zeros(size), np.ones(size)
        width, relative = 2.0 * float(question.epsilon), int(bool(question.relative))
        tiny = UNDERFLOW["float64"]
        rounds, end = iterate(
            *(*rows, lower, upper, least, part.slack, tiny, width, relative, stop)
        )
        status = {1: Status.SOLVED, -1: Status.PRECISION, 0: Status.INTERRUPTED}[end]
        counted = upper if least else lower
        answer = Answer(lower, upper, best_choices(*rows, counted, least))
        values, counts = _told(question, posed, answer)
        stats = Stats(solver=drive.HOST, rounds=int(rounds), **counts)
        return self.solution(values, status=status, stats=stats)

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


class Posed(NamedTuple):
    """A question as equations, and what is known without them."""

    zero: Region
    one: Region
    open_: np.ndarray  # bool [S]: where the value is neither
    components: EndComponents
    small: Quotient
    part: Equations


def _posed(question: Reach) -> Posed:
    """The equations of what is open, made small on the host."""
    model, target, optimum, passed = question[:4]
    zero = _on_host(prob0(model, target, optimum, states=passed))
    one = _on_host(prob1(model, target, optimum, states=passed))
    open_ = (np.diff(model.row_group_offsets) > 0) & ~(zero.states | one.states)
    components = mec(model, states=open_) if optimum == "max" else _none(model)
    small = quotient(model, components) if components.count else _whole(model)
    most = int(np.diff(model.row_offsets).max(initial=0))
    part = open_part(small, open_, one.states, most)
    return Posed(zero, one, open_, components, small, part)


def _told(question: Reach, posed: Posed, answer: Answer) -> tuple[Values, dict]:
    """What the solution of the equations says of the states; and some numbers."""
    model, target, passed = question.model, question.target, question.states
    zero, one, open_, components, small, part = posed
    lower, upper = one.states.astype(np.float64), one.states.astype(np.float64)
    where = part.number[small.new_state[open_]]
    lower[open_], upper[open_] = answer.lower[where], answer.upper[where]
    best = small.old_choice[part.choice[answer.choice]]
    goes_on = ~target if passed is None else passed & ~target
    scheduler = _scheduler(model, components, best, zero, one, goes_on)
    counts = {
        "zero": int(zero.states.sum()),
        "one": int(one.states.sum()),
        "components": int(components.count),
        "open": len(answer.lower),
    }
    return Values(lower, upper, lower + (upper - lower) / 2, scheduler), counts


def _on_host(region: Region) -> Region:
    return Region(*(None if x is None else np.asarray(x) for x in region))


def _none(model: MDP) -> EndComponents:
    """No components."""
    return EndComponents(
        Status.SOLVED,
        count=0,
        state_label=np.full(model.num_states, -1, np.int32),
        choice_kept=np.zeros(model.num_choices, bool),
    )


def _whole(model: MDP) -> Quotient:
    """The quotient by no components, without the pass over the branches."""
    states = np.arange(model.num_states, dtype=np.int32)
    choices = np.arange(model.num_choices, dtype=np.int32)
    return Quotient(model, states, choices, choices, np.full_like(states, -1))


def _iterate(
    part: Equations, solver: IntervalIteration, width, state, max_steps, progress
):
    """Runs the iteration in float64, and brings everything back to the host."""
    real = len(part.groups) - 1
    if real == 0:
        empty = np.zeros(0)
        answer = Answer(empty, empty, np.zeros(0, np.int32))
        return answer, Status.SOLVED, 0, None
    part = padded(part)
    size, choices = len(part.groups) - 1, len(part.choice)
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
        game = System(
            branches=branches,
            weights=tuple(map(jnp.asarray, weights)),
            base=jnp.asarray(part.base),
            choices=ops.links(part.groups, number, choices),
            owner=jnp.asarray(np.repeat(number[:size], np.diff(part.groups))),
            above=jnp.asarray((number[:size] < real).astype(np.float64)),
            slack=jnp.float64(part.slack),
            width=jnp.float64(width),
        )
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
        raise ValueError(
            "state must be solution.state of a call with the same model, target, "
            f"states and optimum, got {carry!r}"
        )
    # It may go on from where nothing moved: to find that out again.
    return carry._replace(state=bounds._replace(moves=np.bool_(True)))


# ---- the scheduler -----------------------------------------------------------------


def _scheduler(
    model, components, best, zero: Region, one: Region, passed
) -> np.ndarray:
    """Puts the choices of all kinds of states together.

    Args:
        model: the model.
        components: those that were made one state each.
        best: the best choice of each open state of the quotient, as one of the model.
        zero: the states of probability zero.
        one: the states of probability one.
        passed: bool `[S]`, where a path goes on.
    """
    groups = np.asarray(model.row_group_offsets)
    owner = owner_of(model)
    # Where nothing matters, the first choice.
    scheduler = np.where(groups[1:] > groups[:-1], groups[:-1], NO_CHOICE)
    for region in (zero, one):
        if region.scheduler is not None:
            there = region.states & (region.scheduler >= 0)
            scheduler = np.where(there, region.scheduler, scheduler)
    if components.count:
        # In a component: to the state whose choice leaves it.
        leaves = np.zeros(model.num_states, bool)
        leaves[owner[best]] = True
        inside = within(model, components, leaves)
        scheduler = np.where(inside >= 0, inside, scheduler)
    scheduler[owner[best]] = best
    return np.where(passed, scheduler, NO_CHOICE).astype(np.int32)
