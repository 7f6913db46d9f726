"""A property of a Markov chain in continuous time, evaluated in all states."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames.mdp import _bounded, host
from jaxgames.mdp._asked import Answer, Asked, inner
from jaxgames.mdp._average import average_reward
from jaxgames.mdp._clock import (
    MOST_TICKS,
    ULP,
    Clock,
    Expected,
    clock_of,
    expected,
    ticks_in,
    time_at,
)
from jaxgames.mdp._model import MDP
from jaxgames.mdp._paths import General, Limit, Until
from jaxgames.mdp._property import (
    Cumulative,
    Instantaneous,
    LongRun,
    PropertyError,
    Query,
    Temporal,
)
from jaxgames.solution import Stats, Status


@dataclasses.dataclass
class AskedInTime(Asked):
    """As `Asked`, where bounds of paths and rewards are times.

    What no time bounds is asked of the jumps, whose model this has; a state earns what
    it does for as long as it is stayed in, which is the inverse of its rate on average.

    Attributes:
        exits: float64 `[S]`, the rates at which states are left.
    """

    exits: Any = None

    # ---- times -------------------------------------------------------------------

    def _time(self, node: Any, what: str) -> Fraction:
        """A moment.

        Raises:
            PropertyError: it is negative.
        """
        found = self.constant(node)
        if found < 0:
            raise PropertyError(
                node.place, f"{what} must not be negative, but '{node}' is {found}"
            )
        return found

    def _times(self, path: Temporal) -> tuple[Fraction, Fraction | None]:
        """From when to when a temporal operator is meant.

        Whether that very moment counts makes no difference.
        """
        bound = path.bound
        if bound is None:
            return Fraction(0), None
        if bound.earned:
            raise PropertyError(
                bound.place,
                f"'{bound}' bounds what is earned, which is continuous in a chain that "
                "moves in time: this is not supported",
            )
        first, last = Fraction(0), None
        if bound.lower is not None:
            first = self._time(bound.lower, "a time")
        if bound.upper is not None:
            last = self._time(bound.upper, "a time")
            if last < first or (last == first and any(bound.strict)):
                raise PropertyError(
                    bound.place, f"'{bound}' is empty: from {first} to {last}"
                )
        return first, last

    def _bounds(self, path: Temporal) -> tuple[int, int | None]:
        """Only what has no bound may stand within formulas."""
        if path.bound is not None:
            raise PropertyError(
                path.bound.place,
                f"'{path}' has a bound of time, and is a part of a larger formula: "
                "this is not supported",
            )
        return 0, None

    def _clock(self, moves: np.ndarray, *times: Fraction) -> Clock:
        """A clock for states that move, for some times."""
        found = clock_of(_bounded.rows_of(self.model), self.exits, moves)
        for time in times:
            if Fraction(found.rate) * time > MOST_TICKS:
                raise ValueError(
                    f"in the time {float(time):g} states are left "
                    f"{found.rate * float(time):.3g} times: too often to be followed"
                )
        return found

    def _found(self, found: Expected) -> Answer:
        """The answer, and whether its bounds are near enough."""
        width = found.upper - found.lower
        near = self.epsilon
        if self.relative:
            near = self.epsilon * np.maximum(np.abs(found.lower), 1e-270)
        met = bool(np.all(width <= near))
        status = Status.SOLVED if met else Status.PRECISION
        stats = Stats(solver="uniformisation", rounds=found.ticks)
        return Answer(found.lower, found.upper, None, status, stats)

    # ---- probabilities -----------------------------------------------------------

    def is_bounded_by_what_is_earned(self, node: Query) -> bool:
        """That is no bound of time, and refused."""
        return False

    def _bounds_of(self, path: Any) -> Any:
        """Times, where a path is one operator; else nothing has bounds."""
        return self._times if isinstance(inner(path), Temporal) else self._bounds

    def _positive(self, path: Until | Limit | General, optimum: str) -> Answer:
        if not isinstance(path, Until) or (path.first == 0 and path.last is None):
            return super()._positive(path, optimum)
        return self._in_time(path, optimum, missed=False)

    def _opposite(self, path: Until | Limit, optimum: str) -> Answer:
        if not isinstance(path, Until) or (path.first == 0 and path.last is None):
            return super()._opposite(path, optimum)
        return self._in_time(path, optimum, missed=True)

    def _in_time(self, path: Until, optimum: str, *, missed: bool) -> Answer:
        """The probability of a goal in some time, or that it is missed."""
        left, right = self.states(path.left), self.states(path.right)
        first, last = Fraction(path.first), path.last
        if last is not None:
            found = self._within(left, right, Fraction(last) - first, missed)
        elif missed:
            found = self._missed(right, optimum, left)
        else:
            found = self._reached(right, optimum, left)
        if first == 0:
            return found
        # Until then only what is passed counts, whether it is the goal or not.
        ends = [np.where(left, x, float(missed)) for x in (found.lower, found.upper)]
        clock = self._clock(left, first)
        may = self._may_reach(ends[1] > 0, left)
        after = expected(
            *(clock, ends[0], ticks_in(clock.rate, first), may * 1.0),
            *(self.epsilon, self.relative, (ends[0], ends[1])),
        )
        least, most = after.lower, np.minimum(after.upper, 1.0)
        ends = [np.where(left, x, float(missed)) for x in (least, most)]
        return self._found(after._replace(lower=ends[0], upper=ends[1]))

    def _within(
        self, left: np.ndarray, right: np.ndarray, time: Fraction, missed: bool
    ) -> Answer:
        """The probability of a goal in some time, on a way through some states.

        Or of what is left at the end of that time where the goal is missed: the same
        sum from another start, so that it is near relative to itself.
        """
        moves = left & ~right
        clock = self._clock(moves, time)
        may = ~right if missed else self._may_reach(right, left)
        start = (~right if missed else right) * 1.0
        found = expected(
            *(clock, start, ticks_in(clock.rate, time), may * 1.0),
            *(self.epsilon, self.relative),
        )
        stays = ~moves
        upper = np.minimum(found.upper, 1.0)
        return self._found(
            found._replace(
                lower=np.where(stays, start, found.lower),
                upper=np.where(stays, start, upper),
            )
        )

    def _may_reach(self, target: np.ndarray, left: np.ndarray) -> np.ndarray:
        """States from which there is a way at all: bool `[S]`."""
        away = host.prob0(self.model, target, "max", states=left | target)
        return ~np.asarray(away.states)

    # ---- rewards -----------------------------------------------------------------

    def _rewards(self, name: str) -> np.ndarray:
        """What is earned in a state until it is left, on average: float64 `[C]`."""
        self.rounded = True
        found = self._of_jumps(name)
        states = (self.model.state_rewards or {}).get(name)
        return found if states is None else found + np.asarray(states) / self.exits

    def _stays(self) -> np.ndarray:
        """How long a state is stayed in on average: float64 `[C]`."""
        self.rounded = True
        return 1.0 / self.exits

    def _rates(self, name: str) -> np.ndarray:
        """What is earned in a unit of time in a state, on average: float64 `[S]`."""
        found = self._of_jumps(name) * self.exits
        states = (self.model.state_rewards or {}).get(name)
        return found if states is None else found + np.asarray(states)

    def _of_jumps(self, name: str) -> np.ndarray:
        """What is earned when a state is left, on average: float64 `[S]`."""
        jumps = dataclasses.replace(self.model, state_rewards=None)
        return Asked._rewards(dataclasses.replace(self, model=jumps), name)

    def _reward(self, node: Query, optimum: str) -> Answer:
        path = node.path
        if isinstance(path, LongRun):
            return self._in_the_long_run(self._rates(self._reward_name(node)), optimum)
        if isinstance(path, Cumulative) and path.steps is not None:
            return self._earned_in(path, self._rates(self._reward_name(node)))
        return super()._reward(node, optimum)

    def _earned_in(self, path: Cumulative, rates: np.ndarray) -> Answer:
        """What is earned in some time."""
        if path.discount is not None:
            raise PropertyError(
                path.place, "discounts are for steps, and this chain moves in time"
            )
        return self._weighed(rates, path.steps, time_at)

    def _instantaneous(self, path: Instantaneous, name: str, optimum: str) -> Answer:
        start = self._of_states(path, name)
        return self._weighed(start, path.time, ticks_in)

    def _weighed(self, rewards: np.ndarray, written: Any, weights: Any) -> Answer:
        """Rewards of states, each by how much of a time counts for it."""
        time = self._time(written, "a time")
        clock = self._clock(np.ones(self.shape, bool), time)
        most = self._may_reach(rewards != 0, np.ones(self.shape, bool))
        found = expected(
            *(clock, rewards, weights(clock.rate, time)),
            *(most * np.abs(rewards).max(initial=0.0), self.epsilon, self.relative),
        )
        return self._found(found)

    def _discounted(self, reward, optimum: str, discount: Fraction) -> Answer:
        raise PropertyError(
            self.asked.formula.place,
            "discounts are for steps, and this chain moves in time",
        )

    def _earned_until(self, reward, target, optimum: str) -> Answer:
        return _wider(super()._earned_until(reward, target, optimum), 16 * ULP)

    def _total(self, path: Cumulative, reward, optimum: str) -> Answer:
        return _wider(super()._total(path, reward, optimum), 16 * ULP)

    # ---- the long run ------------------------------------------------------------

    def _average(self, reward: np.ndarray, optimum: str) -> Answer:
        """How much of the time is spent in some states."""
        return self._in_the_long_run(reward, optimum)

    def averaged(self, node: Query) -> tuple[np.ndarray, np.ndarray, MDP, float]:
        """As of steps: a unit of time has some ticks of the clock."""
        if node.operator == "LRA":
            rates = self._of_choices(node.path)
        else:
            rates = self._rates(self._reward_name(node))
        clock = self._clock(np.ones(self.shape, bool))
        return rates, self.exits, _with_loops(self.model, clock), clock.rate

    def _in_the_long_run(self, rates: np.ndarray, optimum: str) -> Answer:
        """What is earned in a unit of time, in the long run.

        The clock ticks as often in each state, so that it is what is earned at a tick.
        Rates are rounded when they are put as parts of a tick; that moves what is asked
        for by no more, relatively, than twice that for each state [1].

        References:
            [1] O'Cinneide, Entrywise perturbation theory and error analysis for Markov
            chains, Numer. Math. 65 (1993), doi:10.1007/BF01385743.
        """
        size = self.model.num_states
        clock = self._clock(np.ones(self.shape, bool))
        ticking = _with_loops(self.model, clock)
        table = _bounded.rows_of(ticking)
        how = (optimum, self.epsilon / 2, self.relative, table.slack)
        posed = average_reward(ticking, table.probs, rates, *how, False)
        found = self.solve(
            posed,
            epsilon=self.epsilon / 2,
            relative=self.relative,
            exact=False,
            model=ticking,
        )
        share = 4 * size * clock.slack
        if (rates < 0).any():
            off = share * float(np.abs(rates).max(initial=0.0))
            found = found._replace(lower=found.lower - off, upper=found.upper + off)
            return found._replace(scheduler=None)
        return _wider(found, share)._replace(scheduler=None)


def _wider(found: Answer, share: float) -> Answer:
    """Bounds of what is not negative, a share of it further apart."""
    lower, upper = found.lower * (1 - share), found.upper * (1 + share)
    return found._replace(lower=lower, upper=upper, exact=None)


def _with_loops(model: MDP, clock: Clock) -> MDP:
    """The chain of ticks as a model: each state may stay as it is."""
    size = model.num_states
    loops = clock.stay > 0
    width = np.diff(clock.rows)
    rows = np.append(0, np.cumsum(width + loops))
    source = np.repeat(np.arange(size), width)
    place = np.arange(len(source)) - clock.rows[source] + rows[source]
    columns = np.empty(rows[-1], np.int32)
    probs = np.empty(rows[-1])
    columns[place], probs[place] = clock.columns[: len(source)], clock.probs
    own = np.flatnonzero(loops)
    columns[rows[own + 1] - 1], probs[rows[own + 1] - 1] = own, clock.stay[own]
    return MDP.from_arrays(np.arange(size + 1), rows, columns, probs)
