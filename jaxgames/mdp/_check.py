"""The front door of properties: what a model checker is asked."""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from jaxgames import drive, fixpoint, host, limits, solution
from jaxgames.kept import kept
from jaxgames.later import has_values, jax
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._asked import (
    Answer,
    Asked,
    as_constants,
    check_concrete,
    given,
    initial_states,
    named_arrays,
)
from jaxgames.mdp._checks import precision
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP
from jaxgames.mdp._open import exactly
from jaxgames.mdp._property import (
    Multi,
    Property,
    PropertyError,
    Query,
    as_property,
)
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._ranged import Ranged
from jaxgames.mdp._rational import rounded
from jaxgames.mdp._region import check_model
from jaxgames.mdp._swept import ToTarget, swept
from jaxgames.mdp._timed import AskedInTime
from jaxgames.mdp._values_problem import VALUES, Question
from jaxgames.mdp.multi._pareto import Front, pareto
from jaxgames.mdp.robust._asked import (
    AskedOfIntervals,
    answering_nature,
    is_interval,
)
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
            `[k, S]`, the choices after 0, 1, ... steps, the last ones also for all that
            follow. None for what asks for no scheduler, and where one would need more
            memory: see [`why_no_scheduler`][jaxgames.mdp.why_no_scheduler].
        nature: float64 `[E]`, of an interval model the probabilities by which nature
            attains the bounds; where steps are counted `[k, E]`. Else None.
        initial: int32 `[K]`, the initial states.
        asked: the text of the property.
        is_truth: whether it is true or false, and no number.
        exact: the values as fractions, or infinite, by state, where these were asked
            for and are known; else None. Of conditional probabilities, and of several
            objectives, only that of the initial state is known, the others are None.
    """

    lower: Any = None
    upper: Any = None
    scheduler: Any = None
    nature: Any = None
    initial: Any = None
    asked: str = dataclasses.field(default="", metadata={"static": True})
    is_truth: bool = dataclasses.field(default=False, metadata={"static": True})
    exact: tuple | None = dataclasses.field(default=None, metadata={"static": True})

    @property
    def value(self) -> Any:
        """What it comes to in the first initial state.

        A float, the middle between the bounds, infinite where they are; or True, False,
        or None where it is undecided.
        """
        if not len(self.initial):
            raise ValueError("the model has no states, so this has no value")
        return self.at(int(self.initial[0]))

    def at(self, state: int) -> Any:
        """As `value`, in another state."""
        low, high = float(self.lower[state]), float(self.upper[state])
        if self.is_truth:
            return bool(low) if low == high else None
        return low if low == high else low + (high - low) / 2

    def __repr__(self) -> str:
        if not has_values(self.lower, self.upper, self.initial) or self.lower.ndim != 1:
            return f"Checked({self.asked}: values {getattr(self.lower, 'shape', '?')})"
        told = self.value if len(self.initial) else "no states"
        return f"Checked({self.asked}: {told})"


def _undecided(
    status: Status, model: MDP, asked: Any, *_: Any, throw: bool = True, **__: Any
) -> Checked:
    """What is known of a property that nobody has looked at."""
    model = getattr(model, "model", model)
    size = model.num_states
    truth = not isinstance(as_property(asked).formula, Query)
    low, high = (0.0, 1.0) if truth else (-np.inf, np.inf)
    ends = np.full(size, low), np.full(size, high)
    stats = Stats(solver="none", rounds=0)
    made = proved(model, str(as_property(asked)), ends, None, [status], [stats])
    return dataclasses.replace(made, is_truth=truth)


@limited(_undecided)
def check(
    model: MDP | Game,
    asked: str | Property,
    solver: str | Solver = "auto",
    *,
    constants: Mapping[str, Any] | None = None,
    epsilon: float = 1e-6,
    relative: bool = True,
    exact: bool = False,
    max_steps: int | None = None,
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
    solved component by component, those that it leads to first, by modified policy
    iteration in place. What that finds is near, and need not be trusted: with weights
    that say how long values are passed before a component is left, one look at the
    equations gives bounds for any values, relative to each. Components that take too
    long have their policies improved, the small ones of them in rational arithmetic if
    need be. Averages of Markov chains that mix slowly are found by leaving out one
    state after the other, where nothing cancels out. All rounding is outwards.

    A round takes O(S + C + E) time for the components that are not done.

    Several objectives, `multi(...)`, are answered by [`pareto`][jaxgames.mdp.pareto] in
    the first initial state; one that asks for a front is for that function alone.

    Of an interval model both the scheduler and nature, who picks probabilities between
    the bounds, want the least or the most: `Pmaxmin` is the scheduler's most where
    nature wants the least. A Markov chain takes one word, which is nature's. Where
    both want the same, what they can stay in is made one state; else, where they could
    stay for ever, one side's strategy is improved. Then a choice of k branches takes
    O(k log k) time a round.

    Of a stochastic game a coalition of players wants the least or the most, against all
    others: `<<0>>Pmax` is the most that player 0 can see to. Players have the numbers
    of the game, from 0 on. Where steps are counted, values are found step by step; else
    by `solve_game`, `solve_reward_game` and `solve_parity_game`. A bound, such as
    `<<0,2>>P>=0.5`, holds if the coalition can see to it.

    Args:
        model: a concrete model with probabilities; those of a choice are understood
            relative to their sum. Or a game of such a model.
        asked: the property, or its text.
        solver: `"host"`, one component after the other; `"values"`, all states at once
            on a device; `"race"`, both, and the first to finish wins; or `"auto"`: a
            race where there is an accelerator and the model is large, else the host.
        constants: numbers or truth values by name, for constants of the property; an
            exact number may be a `Fraction`.
        epsilon: how far apart bounds of a value may be.
        relative: whether that is relative to the value; of averages of rewards that
            have both signs it is to the largest of these.
        exact: whether values are wanted as fractions, `Checked.exact`: for the numbers
            of the model as it has them, with probabilities relative to their sum. By
            policy iteration in rational arithmetic, from what is best in float64; for
            models of some thousand states in a component, or with few steps.
        max_steps: rounds on the device at most, in all systems of equations together;
            what is proved by then is returned. A property whose answer takes no such
            rounds has its own length: bounds of steps and of time, averages. None: no
            limit. Not of interval models, several objectives, or with `exact`, and not
            where some scheduler never leaves the states whose values are open.
        throw: whether to raise a `SolveError` where the bounds have not met, or values
            as fractions were asked for and would take too long.
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
        Puterman and Shin, Modified policy iteration algorithms for discounted Markov
        decision problems, Management Science 24 (1978), doi:10.1287/mnsc.24.11.1127.
        Grassmann, Taksar and Heyman, Regenerative analysis and steady state
        distributions for Markov chains, Operations Research 33 (1985),
        doi:10.1287/opre.33.5.1107.
        Givan, Leach and Dean, Bounded-parameter Markov decision processes, Artificial
        Intelligence 122 (2000), doi:10.1016/S0004-3702(00)00047-3.
        Haddad and Monmege, as above, on interval models.

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
    max_steps = fixpoint.checked_steps(max_steps)
    check_concrete(model)
    player = None
    if isinstance(model, Game):
        model, player = model.model, np.asarray(model.player)
        check_played(solver, max_steps)
    if not is_interval(model):
        check_model(model)
    drive.check_solver(VALUES, solver)
    precision(epsilon)
    values = {}
    for name, value in as_constants(constants).items():
        given(name, value)
        values[name] = value
    question = as_property(asked)
    if max_steps is not None:
        several = isinstance(question.formula, Multi)
        check_counted(model, solver, several=several, exact=exact)
    if player is not None and model.exit_rates is not None:
        raise ValueError("games in continuous time are not supported")
    if player is not None and isinstance(question.formula, Multi):
        raise PropertyError(
            question.formula.place, "several objectives of a game are not supported"
        )
    if isinstance(question.formula, Multi) and not is_interval(model):
        found = pareto(
            model,
            question,
            constants=constants,
            epsilon=epsilon,
            exact=exact,
            throw=throw,
        )
        return _of_objectives(model, question, found)
    statuses = [Status.SOLVED]
    stats: list[Stats] = []

    how = (values, epsilon, relative)
    if is_interval(model):
        evaluated = AskedOfIntervals(
            *(model, question, *how, answering_nature(solver, statuses, stats))
        )
    else:
        jumps = model  # the same one, of which it is known that nothing is wrong
        if model.exit_rates is not None:
            named = "jumps", named_arrays(model)
            jumps = kept(
                model, named, lambda: dataclasses.replace(model, exit_rates=None)
            )
        solve = answering(jumps, solver, statuses, stats, max_steps)
        evaluated = Asked(jumps, question, *how, solve, exact)
        if model.exit_rates is not None:
            exits = np.asarray(model.exit_rates)
            evaluated = AskedInTime(jumps, question, *how, solve, exact, exits)
        if player is not None:
            from jaxgames.mdp._asked_game import AskedOfGame

            evaluated = AskedOfGame(model, question, *how, solve, exact, player)
    # Small parts of a large model are left to machine code, which is there by then.
    plain = host.is_plain(model.num_branches)
    with contextlib.nullcontext() if plain else host.compiling():
        found = evaluated.value(question.formula)
    statuses += evaluated.statuses
    scheduler = nature = fractions = None
    if isinstance(question.formula, Query):
        answer = evaluated.answer(question.formula)
        scheduler, nature = answer.scheduler, answer.nature
        stats.append(answer.stats)
        if exact and not evaluated.rounded and answer.exact is not None:
            fractions = tuple(answer.exact)
        if fractions is not None and not found.is_truth:
            ends = zip((-1, 1), (answer.lower, answer.upper), strict=True)
            found = Ranged(*(_outward(fractions, *end) for end in ends))
            statuses[:] = [Status.SOLVED]
    missing = exact and fractions is None and not found.is_truth
    lower, upper = found
    own = _is_own(lower, model) and _is_own(upper, model)
    if not own or np.may_share_memory(lower, upper):
        lower, upper = np.empty((2, model.num_states))
        lower[:], upper[:] = found
    status = Status.PRECISION if missing else max(statuses)
    # A quotient by a value that may be zero; bounds of a query by itself have met.
    unmet = not isinstance(question.formula, Query) and bool(
        np.any(np.isneginf(lower) & np.isposinf(upper))
    )
    if unmet and status == Status.SOLVED:
        status = Status.PRECISION
    unsure = status in (Status.MAX_STEPS, Status.PRECISION)
    if unsure and found.is_truth and np.array_equal(lower, upper):
        status = Status.SOLVED  # whatever the values are
    result = Checked(
        status,
        stats=stats[-1] if stats else Stats(solver="none", rounds=0),
        lower=lower,
        upper=upper,
        scheduler=scheduler,
        nature=nature,
        initial=initial_states(model),
        asked=kept(question, "text", lambda: str(question)),
        is_truth=found.is_truth,
        exact=None if found.is_truth else fractions,
    )
    if throw and missing:
        raise SolveError(
            Status.PRECISION,
            result,
            message=f"'{question}' has no value as a fraction here: the model is too "
            "large for that, or rewards of states, choices and branches do not sum up "
            "to numbers of float64, or it is no query of a number",
        )
    if throw and status != Status.SOLVED:
        raise SolveError(status, result)
    return result


def _is_own(values: Any, model: MDP) -> bool:
    """Whether these are numbers of all states that nobody else has.

    What belongs to a model cannot be written to.
    """
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == (model.num_states,)
        and values.flags.writeable
    )


def check_played(solver: Any, max_steps: int | None) -> None:
    """Raises ValueError for what is no option of games."""
    if solver not in ("auto", drive.HOST):
        raise ValueError(
            f"solver {solver!r} is for models of one player: games have one solver, on "
            "the host, which improves strategies"
        )
    if max_steps is not None:
        raise ValueError(
            "max_steps counts rounds of value iteration, and games take others: leave "
            "it out, or limit the time"
        )


def check_counted(model: MDP, solver: Any, *, several: bool, exact: bool) -> None:
    """Raises ValueError where no rounds are counted that could be limited."""
    what = ""
    if is_interval(model):
        what = "an interval model"
    elif several:
        what = "several objectives"
    elif exact:
        what = "rational arithmetic"
    elif isinstance(solver, str) and solver in VALUES.solvers.places:
        drive.refuse_limits(solver)
    if what:
        raise ValueError(
            f"max_steps counts rounds of value iteration, and {what} takes others: "
            "leave it out, or limit the time"
        )


def _of_objectives(model: MDP, question: Property, found: Front) -> Checked:
    """What several objectives come to in the first initial state; else unknown.

    Raises:
        PropertyError: they ask for a front.
    """
    if found.kind == "pareto":
        raise PropertyError(
            question.formula.place,
            f"'{question.formula}' asks for a front of values: that is for mdp.pareto",
        )
    truth = found.kind == "achievability"
    low, high = (0.0, 1.0) if truth else (-np.inf, np.inf)
    lower, upper = (np.full(model.num_states, x) for x in (low, high))
    first = int(initial_states(model)[0])
    ends = found.lower, found.upper
    if truth:
        ends = float(found.achievable is True), float(found.achievable is not False)
    lower[first], upper[first] = ends
    how = None, [found.status], [found.stats]
    made = proved(model, str(question), (lower, upper), *how)
    exact: list | None = None
    if found.exact is not None:
        exact = [None] * model.num_states
        exact[first] = found.exact
    return dataclasses.replace(made, is_truth=truth, exact=exact and tuple(exact))


def proved(
    model: MDP,
    asked: str,
    ends: tuple[np.ndarray, np.ndarray],
    values: tuple | None,
    statuses: list[Status],
    stats: list[Stats],
) -> Checked:
    """What bounds, and fractions if there are any, come to."""
    if values is not None:
        ends, statuses = (_outward(values, -1), _outward(values, 1)), [Status.SOLVED]
    return Checked(
        max(statuses),
        stats=stats[-1],
        lower=ends[0],
        upper=ends[1],
        initial=initial_states(model),
        asked=asked,
        exact=values,
    )


def _outward(values: Sequence, sign: int, bound: Any = None) -> np.ndarray:
    """Fractions, or infinite ones, as float64 that are not larger, or not smaller.

    And a bound, float64 `[S]`, in states where there is none.
    """
    found = [rounded(x, sign) if isinstance(x, Fraction) else x for x in values]
    if None in found:
        found = [b if x is None else x for x, b in zip(found, bound, strict=True)]
    return np.array(found, np.float64)


def answering(
    model: MDP,
    solver: Any,
    statuses: list[Status],
    stats: list[Stats],
    max_steps: int | None = None,
) -> Callable[..., Answer]:
    """What solves the questions that a property comes to.

    For each question `statuses` and `stats` are added to; all together take `max_steps`
    rounds at most.
    """
    left = max_steps
    sweeps = left is None and solver in ("auto", drive.HOST)

    def solve(
        posed: Posed | ToTarget,
        *,
        epsilon: float,
        relative: bool,
        exact: bool,
        model: MDP = model,
    ) -> Answer:
        nonlocal left
        if isinstance(posed, ToTarget):
            if sweeps and not exact:
                with limits.ticking_beside("looking at each state") as stop:
                    found = swept(posed, epsilon, relative, stop)
                if found is not None:
                    statuses.append(found.status)
                    stats.append(found.stats)
                    return Answer(*found)
            posed = posed.posed()
        if left is not None and not posed.known.proper:
            raise ValueError(
                "max_steps: here some schedulers never leave the states whose values "
                "are open; the host solves such equations, and counts other rounds: "
                "leave max_steps out, or limit the time"
            )
        found = drive.solve(
            VALUES,
            Question(model, posed, epsilon, relative),
            solver,
            max_steps=left,
            throw=False,
        )
        status = Status(found.status)
        if left is not None:
            left = max(left - int(found.stats["rounds"]), 0)
        if status not in (Status.SOLVED, Status.PRECISION, Status.MAX_STEPS):
            limits.fail(status, "solving equations")
        statuses.append(status)
        stats.append(found.stats)
        values = exactly(model, posed, found.lower) if exact else None
        ends = (found.lower, found.upper, found.scheduler)
        return Answer(*ends, status, found.stats, values)

    return solve
