"""Probabilities to reach a target, between bounds that are proved."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops, solution
from jaxgames.arena import is_traced
from jaxgames.limits import limited
from jaxgames.mdp._almost_sure import within
from jaxgames.mdp._equations import Equations, open_part, padded
from jaxgames.mdp._interval import Answer, Bounds, IntervalIteration, System
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._prob01 import eagerly, prob0, prob1
from jaxgames.mdp._quotient import Quotient, quotient
from jaxgames.mdp._region import (
    NO_CHOICE,
    Optimum,
    Region,
    as_states,
    check_model,
    check_optimum,
)
from jaxgames.mdp._solution import EndComponents
from jaxgames.progress import Meter, Progress
from jaxgames.solution import SolveError, Stats, Status


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class ReachProbability(solution.Solution):
    """Probabilities to reach a target, as numpy arrays.

    Attributes:
        lower: float64 `[S]`, proved lower bounds.
        upper: float64 `[S]`, proved upper bounds.
        value: float64 `[S]`, the middle between them.
        scheduler: int32 `[S]`, the choice in each state of a memoryless scheduler; -1
            in the target, and where a path has failed. If the solve was for the largest
            probability, it reaches the target with at least `lower`; if for the least,
            with at most `upper`.
    """

    lower: Any = None
    upper: Any = None
    value: Any = None
    scheduler: Any = None

    @property
    def iterations(self) -> int:
        """How often the equations were applied."""
        return self.stats["rounds"]

    def __repr__(self) -> str:
        """One line: how many states, how far apart the bounds are, how many rounds."""
        gap = np.max(self.upper - self.lower, initial=0.0)
        return (
            f"ReachProbability({len(self.lower)} states, bounds at most {gap:.1e} "
            f"apart after {self.iterations} iterations)"
        )


@limited()
def reach_probability(
    model: MDP,
    target: Any,
    optimum: Optimum = "max",
    *,
    states: Any = None,
    epsilon: float = 1e-6,
    relative: bool = False,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> ReachProbability:
    """The largest or least probability to reach a target from each state.

    Interval iteration [1, 2]. The states of probability zero and one are found first,
    by [`prob0`][jaxgames.mdp.prob0] and [`prob1`][jaxgames.mdp.prob1]. For the largest
    probability the end components among the others are then made one state each: see
    [`quotient`][jaxgames.mdp.quotient]. For the least none is among them, since a
    scheduler that stays in one for ever never reaches the target. What is left has one
    solution, and value iteration from zero and from one tends to it from both sides.

    Both bounds are proved, rounding included. Sums are computed in float64, whatever
    JAX's settings are, in whatever order the device takes; each is then moved outwards
    by a relative slack that exceeds the error that so many summands can have: about
    1e-15 times the largest number of branches of a choice. The probabilities of each
    choice are understood relative to their sum, so they need not add up to one exactly.
    Where the bounds stop moving before they have met, the solve says
    `Status.PRECISION`: this is as near as float64 comes.

    A round reads every branch of an open state twice. How many there are depends on how
    long it takes to leave the open states: slow models need very many. The host drives
    the loop, and sizes depend on the model, so it is not for `jax.jit` and `jax.vmap`.

    Args:
        model: a concrete model with probabilities.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        optimum: `"max"` or `"min"`, over all schedulers.
        states: what a path may pass before it gets to the target, given likewise; None
            for all. A path that is elsewhere has failed.
        epsilon: how far `value` may be from the true probability.
        relative: whether `epsilon` is relative to the true probability.
        max_steps: rounds to make at most.
        state: where to go on: `solution.state` of a call with the same model, target,
            states and optimum.
        throw: whether to raise when the bounds are further apart than `epsilon` allows.
        progress: told how it goes on; may end the solve (see
            [`progress`][jaxgames.progress]).
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Raises:
        ValueError: the model has no probabilities, an argument is traced, or wrong.
        SolveError: the bounds have not met, and `throw` is set. Its solution has them.

    References:
        [1] Haddad and Monmege, Interval iteration algorithm for MDPs and IMDPs, TCS 735
        (2018), doi:10.1016/j.tcs.2016.12.003.
        [2] Baier, Klein, Leuschner, Parker and Wunderlich, Ensuring the reliability of
        your model checker: interval iteration for Markov decision processes, CAV 2017,
        doi:10.1007/978-3-319-63387-9_8.

    Examples:
        State 0 may go to the target 1 or to 2, or stay; a second choice is worse.

        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4],
        ...     [0, 3, 5, 6, 7],
        ...     [0, 1, 2, 1, 2, 1, 2],
        ...     [0.5, 0.25, 0.25, 0.1, 0.9, 1, 1],
        ... )
        >>> best = mdp.reach_probability(model, [1])
        >>> best.value.round(5), best.scheduler
        (array([0.5, 1. , 0. ]), array([ 0, -1,  3], dtype=int32))
        >>> mdp.reach_probability(model, [1], "min").value.round(5)
        array([0.1, 1. , 0. ])
    """
    check_optimum(optimum)
    if is_traced((model, target, states, epsilon)):
        raise ValueError(
            "reach_probability is driven from the host: it cannot run under jax.jit or "
            "jax.vmap; prob0, prob1 and mec can"
        )
    check_model(model)
    if model.probs is None:
        raise ValueError("the model has no probabilities: pass probs to from_arrays")
    if not 0 < epsilon < np.inf:
        raise ValueError(f"epsilon must be a positive number, got {epsilon}")
    target = as_states("target", model, target)
    states = None if states is None else as_states("states", model, states)
    zero = _on_host(prob0(model, target, optimum, states=states))
    one = _on_host(prob1(model, target, optimum, states=states))
    known = zero.states | one.states
    open_ = (np.diff(model.row_group_offsets) > 0) & ~known
    components = mec(model, states=open_) if optimum == "max" else _none(model)
    small = quotient(model, components) if components.count else _whole(model)
    most = int(np.diff(model.row_offsets).max(initial=0))
    part = open_part(small, open_, one.states, most)
    answer, status, rounds, carry = _iterate(
        part, optimum == "min", relative, 2 * epsilon, state, max_steps, progress
    )
    lower, upper = one.states.astype(np.float64), one.states.astype(np.float64)
    where = part.number[small.new_state[open_]]
    lower[open_], upper[open_] = answer.lower[where], answer.upper[where]
    best = small.old_choice[part.choice[answer.choice]]
    passed = ~target if states is None else states & ~target
    found = ReachProbability(
        status=status,
        stats=Stats(
            solver=IntervalIteration.name,
            rounds=rounds,
            zero=int(zero.states.sum()),
            one=int(one.states.sum()),
            components=int(components.count),
            open=len(answer.lower),
        ),
        state=carry,
        lower=lower,
        upper=upper,
        value=lower + (upper - lower) / 2,
        scheduler=_scheduler(model, components, best, zero, one, passed),
    )
    if throw and status != Status.SOLVED:
        raise SolveError(status, found, message=_SHORT_OF_IT.get(status))
    return found


_SHORT_OF_IT = {
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


def _on_host(region: Region) -> Region:
    return jax.tree.map(np.asarray, region)


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


def _iterate(part: Equations, least, relative, width, state, max_steps, progress):
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
    solver = IntervalIteration(least, relative, sweeps_per_check=sweeps)
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
        answer, carry = jax.device_get((outcome.answer, outcome.carry))
    answer = Answer(*(x[:real] for x in answer))
    status = outcome.status
    if status == Status.OVERFLOW:
        # Nothing moves any more: because the bounds have met, or never will.
        apart = answer.upper - answer.lower
        met = np.all(apart <= (width * answer.lower if relative else width))
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
