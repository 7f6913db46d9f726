"""Probabilities to reach a target where the model is traced: nothing gets smaller.

The equations are those of the quotient by end components, in the places of the model:
the least state of a component has the choices that leave it, and stands for the others.
"""

from typing import Any

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._interval import Bounds, IntervalIteration, System, ended
from jaxgames.mdp._layout import Layout, restrict, shares
from jaxgames.mdp._layout import traced as lay_out
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP
from jaxgames.mdp._prob01 import prob0, prob1
from jaxgames.mdp._region import NO_CHOICE, Region
from jaxgames.mdp._spread import problem, surely
from jaxgames.solution import Stats


def solve(
    model: MDP,
    target: Any,
    passed: Any,
    epsilon: Any,
    solver: IntervalIteration,
    state: Any,
    max_steps: Any,
) -> tuple:
    """Two bounds and a scheduler; status, statistics, and where to go on (pure)."""
    optimum = "min" if solver.least else "max"
    zero = prob0(model, target, optimum, states=passed, engine="device")
    one = prob1(model, target, optimum, states=passed, engine="device")
    layout = lay_out(model)
    is_open = layout.states & ~zero.states & ~one.states
    home = jnp.arange(model.num_states, dtype=jnp.int32)
    label, kept, count = None, jnp.zeros(len(layout.owner), bool), jnp.int32(0)
    if not solver.least:
        found = mec(model, "interleaved", states=is_open)
        label, kept, count = found.state_label, found.choice_kept, found.count
        home = _homes(label)
    leaves = layout.live & ~kept & ops.take(is_open, layout.owner)
    system = _system(model, layout, home, leaves, one.states, epsilon)
    if isinstance(getattr(state, "state", None), Bounds):
        # It may go on from where nothing moved: to find that out again.
        state = state._replace(state=state.state._replace(moves=jnp.array(True)))
    outcome = fixpoint.traced(solver, system, state, max_steps)
    lower, upper = (
        jnp.where(is_open, ops.take(x, home), one.states.astype(x.dtype))
        for x in (outcome.answer.lower, outcome.answer.upper)
    )
    status = ended(outcome.status, solver.done(system, outcome.carry.state))
    best = ops.take(ops.take(outcome.answer.choice, home), layout.owner)
    best = leaves & (best == jnp.arange(len(best), dtype=jnp.int32))
    stats = Stats(
        solver=solver.name,
        rounds=outcome.rounds,
        zero=jnp.sum(zero.states),
        one=jnp.sum(one.states),
        components=count,
        open=jnp.sum(is_open),
    )
    scheduler = _scheduler(layout, label, kept, best, zero, one)
    goes_on = ~jnp.asarray(target)
    if passed is not None:
        goes_on = goes_on & jnp.asarray(passed)
    scheduler = jnp.where(goes_on, scheduler, NO_CHOICE)
    return lower, upper, scheduler, status, stats, outcome.carry


def _homes(label: jax.Array) -> jax.Array:
    """The state that stands for each: the least one of its component, or itself."""
    size = len(label)
    number = jnp.arange(size, dtype=jnp.int32)
    index = jnp.where(label >= 0, label, size)
    least = ops.min_into(index, number, size, size)
    return jnp.where(label >= 0, ops.take(least, jnp.maximum(label, 0)), number)


def _system(model, layout: Layout, home, leaves, one, epsilon) -> System:
    """The equations of all states; one more choice, that leads nowhere, where none is.

    `home` is the state that stands for each, `leaves` are the choices of open states
    that are no component's own.
    """
    size, own = len(home), len(leaves)
    tail, head = layout.branches.tail, jnp.asarray(model.columns)  # type: ignore
    probs, share, total, slack = shares(layout, model)
    dtype = probs.dtype
    won = ops.links_sum(layout.branches, one.astype(dtype), (probs,))
    base = jnp.where(leaves, won / total, 0)
    choosers = jnp.where(leaves, ops.take(home, layout.owner), size)
    numbers = jnp.arange(own + size, dtype=jnp.int32)
    idle = ops.max_into(choosers, jnp.ones(own, jnp.int32), size, 0) == 0
    choosers = jnp.append(choosers, jnp.where(idle, numbers[:size], size))
    return System(
        branches=ops.pairs(
            jnp.where(tail < own, tail, own + size),
            ops.take(home, head),
            own + size,
            size,
        ),
        weights=(share,),
        base=jnp.append(base, jnp.zeros(size, dtype)),
        choices=ops.pairs(choosers, numbers, size, own + size),
        owner=jnp.minimum(choosers, size - 1),
        above=(~idle).astype(dtype),
        slack=slack,
        width=jnp.asarray(2 * epsilon, dtype),
    )


def _scheduler(layout: Layout, label, kept, best, zero: Region, one: Region):
    """The choices of all kinds of states together, -1 where a state has none.

    `label` is None where nobody looked for components. `best` are the choices of open
    states that stand for themselves or others.
    """
    none = len(best)
    number = jnp.arange(none, dtype=jnp.int32)
    chosen = ops.links_min(layout.choices, number, best)
    # Where nothing matters, the first choice.
    scheduler = ops.links_min(layout.choices, number, layout.live)
    for region in (zero, one):
        if region.scheduler is not None:
            there = region.states & (region.scheduler >= 0)
            scheduler = jnp.where(there, region.scheduler, scheduler)
    if label is not None:
        # In a component: to the state whose choice leaves it.
        goal = (chosen < none) & (label >= 0)
        inside = surely(problem(restrict(layout, None, kept), goal)).scheduler
        scheduler = jnp.where(inside >= 0, inside, scheduler)
    scheduler = jnp.where(chosen < none, chosen, scheduler)
    return jnp.where(scheduler < none, scheduler, NO_CHOICE).astype(jnp.int32)
