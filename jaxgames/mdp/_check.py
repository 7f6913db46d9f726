"""The front door of properties: what a model checker is asked."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np

from jaxgames import drive, limits, solution
from jaxgames.later import jax
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._asked import Answer, Asked, check_concrete, given, initial_states
from jaxgames.mdp._model import MDP
from jaxgames.mdp._open import exactly
from jaxgames.mdp._property import Property, Query, as_property
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._region import check_model
from jaxgames.mdp._values_problem import VALUES, Question
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Solver


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Checked(solution.Solution):
    """What a property comes to in each state.

    Attributes:
        lower: float64 `[S]`, proved lower bounds; of what is true or false 1.0 where it
            is certainly true, else 0.0.
        upper: float64 `[S]`, proved upper bounds, which may be infinite; of what is
            true or false 0.0 where it is certainly false, else 1.0.
        scheduler: int32 `[S]`, the choices of a memoryless scheduler that attains the
            bounds, -1 where nothing is to be chosen; where steps are counted int32
            `[k, S]`, the choices after 0, 1, ... steps. None for what asks for no
            scheduler, and where one would need more memory.
        initial: int32 `[K]`, the initial states.
        asked: the text of the property.
        is_truth: whether it is true or false, and no number.
    """

    lower: Any = None
    upper: Any = None
    scheduler: Any = None
    initial: Any = None
    asked: str = dataclasses.field(default="", metadata={"static": True})
    is_truth: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def value(self) -> Any:
        """What it comes to in the first initial state.

        A float, the middle between the bounds, infinite where they are; or True, False,
        or None where it is undecided.
        """
        return self.at(int(self.initial[0]))

    def at(self, state: int) -> Any:
        """As `value`, in another state."""
        low, high = float(self.lower[state]), float(self.upper[state])
        if self.is_truth:
            return bool(low) if low == high else None
        return low if low == high else low + (high - low) / 2

    def __repr__(self) -> str:
        """One line: what was asked, and what it comes to in the initial state."""
        return f"Checked({self.asked}: {self.value})"


def _undecided(
    status: Status, model: MDP, asked: Any, *_: Any, throw: bool = True, **__: Any
) -> Checked:
    """What is known of a property that nobody has looked at."""
    del throw
    size = model.num_states
    truth = not isinstance(as_property(asked).formula, Query)
    low, high = (0.0, 1.0) if truth else (-np.inf, np.inf)
    return Checked(
        status,
        stats=Stats(solver="none", rounds=0),
        lower=np.full(size, low),
        upper=np.full(size, high),
        initial=initial_states(model),
        asked=str(as_property(asked)),
        is_truth=truth,
    )


@limited(_undecided)
def check(
    model: MDP,
    asked: str | Property,
    solver: str | Solver = "auto",
    *,
    constants: Mapping[str, Any] | None = None,
    epsilon: float = 1e-6,
    relative: bool = True,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> Checked:
    """What a property in PRISM's language comes to in each state of a model.

    Probabilities and rewards of Markov chains and decision processes, at least and at
    most over all schedulers: of reaching (`F`, `U`, `G`, `W`, `R`, with bounds of steps
    or without), of a step (`X`), of all formulas of linear temporal logic that these
    make, and conditional ones; expected rewards before a target, in all, in some steps,
    at an instant, discounted, and on average in the long run. Where values are infinite
    the bounds are.

    What branches alone decide is found first; end components that would leave the rest
    with more than one solution are made one state each. The equations of the rest are
    solved component by component, those that it leads to first, by value iteration in
    place. What that finds is near, and need not be trusted: with a bound on the number
    of steps that a component can be stayed in, one look at the equations gives bounds
    for any values. Components that take too long have their policies improved, the
    small ones of them in rational arithmetic if need be. All rounding is outwards.

    A round takes O(S + C + E) time for the components that are not done.

    Args:
        model: a concrete model with probabilities; those of a choice are understood
            relative to their sum.
        asked: the property, or its text.
        solver: `"host"`, or `"auto"`.
        constants: numbers or truth values by name, for constants of the property; an
            exact number may be a `Fraction`.
        epsilon: how far apart bounds of a value may be.
        relative: whether that is relative to the value.
        throw: whether to raise a `SolveError` where the bounds have not met.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        Bounds in all states, and a scheduler: [`Checked`][jaxgames.mdp.Checked].

    Raises:
        PropertyError: the text is no property, or one that is not supported, or names
            something that the model has not; tells line and column.
        ValueError: another argument is wrong.
        SolveError: the bounds have not met, and `throw` is set; or a threshold inside
            of the property is undecided.

    References:
        Haddad and Monmege, Interval iteration algorithm for MDPs and IMDPs, TCS 735
        (2018), doi:10.1016/j.tcs.2016.12.003.
        Bertsekas and Tsitsiklis, An analysis of stochastic shortest path problems,
        Math. Oper. Res. 16 (1991), doi:10.1287/moor.16.3.580.
        de Alfaro, Formal verification of probabilistic systems, PhD thesis, Stanford
        University, 1997.

    Examples:
        State 0 tries for the goal, 1, which takes two steps on average; the other
        choice costs more and is sure.

        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], [0.5, 0.5, 1, 1],
        ...     labels={"goal": [0, 1]}, choice_rewards={"cost": [1, 3, 0]},
        ... )
        >>> found = mdp.check(model, 'R{"cost"}min=? [ F "goal" ]')
        >>> found.value, found.scheduler
        (2.0, array([ 0, -1], dtype=int32))
        >>> mdp.check(model, 'Pmin>0.4 [ F<=1 "goal" ]').value
        True
    """
    check_concrete(model)
    check_model(model)
    drive.check_solver(VALUES, solver)
    if not 0 < epsilon < np.inf:
        raise ValueError(f"epsilon must be a positive number, got {epsilon}")
    values = {}
    for name, value in (constants or {}).items():
        given(name, value)
        values[name] = value
    question = as_property(asked)
    statuses = [Status.SOLVED]
    stats: list[Stats] = []

    solve = answering(model, solver, statuses, stats)
    evaluated = Asked(model, question, values, epsilon, relative, solve)
    found = evaluated.value(question.formula)
    scheduler = None
    if isinstance(question.formula, Query):
        answer = evaluated.answer(question.formula)
        scheduler = answer.scheduler
        stats.append(answer.stats)
    lower, upper = (
        np.array(np.broadcast_to(np.asarray(x, np.float64), (model.num_states,)))
        for x in found
    )
    status = max(statuses)
    result = Checked(
        status,
        stats=stats[-1] if stats else Stats(solver="none", rounds=0),
        lower=lower,
        upper=upper,
        scheduler=scheduler,
        initial=initial_states(model),
        asked=str(question),
        is_truth=found.is_truth,
    )
    if throw and status != Status.SOLVED:
        raise SolveError(status, result)
    return result


def answering(
    model: MDP, solver: Any, statuses: list[Status], stats: list[Stats]
) -> Callable[..., Answer]:
    """What solves the questions that a property comes to.

    Args:
        model: the model.
        solver: as for `check`.
        statuses: added to for each question.
        stats: likewise.
    """

    def solve(
        posed: Posed,
        *,
        epsilon: float,
        relative: bool,
        exact: bool,
        model: MDP = model,
    ) -> Answer:
        found = drive.solve(
            VALUES, Question(model, posed, epsilon, relative), solver, throw=False
        )
        status = Status(found.status)
        if status not in (Status.SOLVED, Status.PRECISION):
            limits.fail(status, "solving equations")
        statuses.append(status)
        stats.append(found.stats)
        values = None
        if exact:
            with limits.ticking_beside("solving in rational arithmetic") as stop:
                values = exactly(model, posed, stop)
        ends = (found.lower, found.upper, found.scheduler)
        return Answer(*ends, status, found.stats, values)

    return solve
