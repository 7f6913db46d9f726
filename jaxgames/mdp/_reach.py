"""The front door of probabilities to reach a target, between bounds that are proved."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.mdp._model import MDP
from jaxgames.mdp._reach_problem import REACH, Reach
from jaxgames.mdp._region import Optimum
from jaxgames.mdp._solution import ReachProbability
from jaxgames.solver import Solver


@drive.front_door
def reach_probability(
    model: MDP,
    target: Any,
    optimum: Optimum = "max",
    solver: str | Solver = "auto",
    *,
    states: Any = None,
    epsilon: float = 1e-6,
    relative: bool = False,
    **how: Unpack[drive.How],
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
    long it takes to leave the open states: slow models need very many.

    Works inside `jax.jit` and `jax.vmap` on a traced model, target or set of states,
    without making it smaller, and in the floating point that JAX has there: float32
    unless `jax_enable_x64` is set. Then the bounds hold for probabilities that were
    rounded to it, and often end in `Status.PRECISION` some 1e-5 apart.

    Args:
        model: a model with probabilities.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        optimum: `"max"` or `"min"`, over all schedulers.
        solver: a name from `REACH_SOLVERS`, or a solver, on the device; `"host"`,
            which goes over the states one by one; `"race"` for both at once; or
            `"auto"`, which takes the host where JAX computes on a CPU or the model is
            small, else the race. The bounds of both hold, and may differ in their last
            digits.
        states: what a path may pass before it gets to the target, given likewise; None
            for all. A path that is elsewhere has failed.
        epsilon: how far `value` may be from the true probability.
        relative: whether `epsilon` is relative to the true probability.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Raises:
        ValueError: the model has no probabilities, or an argument is wrong.
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
    return drive.solve(
        REACH, Reach(model, target, optimum, states, epsilon, relative), solver, **how
    )
