"""Checks bounds of values of interval models by their definition, exactly.

It shares nothing with what solves: nature's best answer is found by sorting all
branches at once, and in fractions wherever floating point leaves a doubt; sets are
found by searches that look at each branch once.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import linear
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._paths import Until
from jaxgames.mdp._property import Cumulative, Query, Temporal
from jaxgames.mdp._values_verdict import (
    ValueReason,
    ValueVerdict,
    beside,
    fraction,
    is_infinite,
    ordered,
)
from jaxgames.mdp._verify_steps import Walk
from jaxgames.mdp._verify_values import (
    are_endless,
    counts_steps,
    earned,
    path_of,
    walk_of,
)
from jaxgames.mdp.robust._natures import BLUR, POINT
from jaxgames.tuning.mdp import FRACTIONS_UP_TO

FIXED, ANY, ALL = range(3)
"""Who decides: a strategy that is claimed, a friend, or an enemy."""


class Intervals:
    """An interval model in fractions, where floating point does not do."""

    def __init__(self, model: MDP):
        self.groups = np.asarray(model.row_group_offsets).astype(np.int64)
        self.count = int(self.groups[-1])
        self.rows = np.asarray(model.row_offsets)[: self.count + 1].astype(np.int64)
        self.size = len(self.groups) - 1
        self.real = np.diff(self.groups) > 0
        self.target = np.asarray(model.columns)[: self.rows[-1]].astype(np.int64)
        self.choice = np.repeat(np.arange(self.count), np.diff(self.rows))
        self.owner = owner_of(model)[: self.count]
        low, high = (
            np.asarray(x, np.float64)[: self.rows[-1]]
            for x in (model.lower, model.upper)
        )
        least, most = (self._summed(x) for x in (low, high))
        self.is_low, self.is_high = least >= 1 - POINT, most <= 1 + POINT
        self.given = low, high
        at_low, at_high = self.is_low[self.choice], self.is_high[self.choice]
        with np.errstate(divide="ignore", invalid="ignore"):
            point = np.where(at_low, low / least[self.choice], high / most[self.choice])
        either = at_low | at_high
        self.low = np.where(either, point, low) * (1 - BLUR)
        self.high = np.minimum(np.where(either, point, high) * (1 + BLUR), 1.0)
        # Branches by where they lead, for searches.
        self.into = np.argsort(self.target, kind="stable")
        self.starts = np.searchsorted(self.target[self.into], np.arange(self.size + 1))

    def _summed(self, x: np.ndarray) -> np.ndarray:
        return np.bincount(self.choice, x, minlength=self.count)

    def branches(self, choice: int) -> range:
        """Those of a choice."""
        return range(self.rows[choice], self.rows[choice + 1])

    def bounds(self, choice: int) -> tuple[list[Fraction], list[Fraction]]:
        """The bounds of a choice in fractions."""
        here = slice(self.rows[choice], self.rows[choice + 1])
        low, high = ([Fraction(x) for x in y[here].tolist()] for y in self.given)
        if self.is_low[choice] or self.is_high[choice]:
            point = low if self.is_low[choice] else high
            total = sum(point)
            low = high = [x / total for x in point]
        blur = Fraction(BLUR)
        return (
            [x * (1 - blur) for x in low],
            [min(x * (1 + blur), Fraction(1)) for x in high],
        )

    def worst(self, choice: int, values: Any, least: bool) -> Any:
        """What a choice is worth to a nature that is free, exactly."""
        low, high = self.bounds(choice)
        at = [values[self.target[b]] for b in self.branches(choice)]
        order = sorted(range(len(at)), key=lambda i: at[i], reverse=not least)
        left, worth = 1 - sum(low), Fraction(0)
        for i in order:
            more = min(left, high[i] - low[i])
            left -= more
            if low[i] + more:
                if is_infinite(at[i]):
                    return at[i]
                worth += (low[i] + more) * fraction(at[i])
        return worth

    def taken(self, choice: int, probs: np.ndarray) -> list[Fraction] | None:
        """The distribution that is claimed, rounding made good; None if it is none."""
        low, high = self.bounds(choice)
        here = slice(self.rows[choice], self.rows[choice + 1])
        claimed = probs[here].tolist()
        if not all(x >= 0 for x in claimed):
            return None
        found = []
        for x, least, most in zip(claimed, low, high, strict=True):
            near = min(max(Fraction(x), least), most)
            if abs(float(near) - x) > 1e-9:
                return None
            found.append(near)
        rest = 1 - sum(found)
        if abs(rest) > Fraction(1, 10**9):
            return None
        for i, (least, most) in enumerate(zip(low, high, strict=True)):
            if claimed[i] > 0 or found[i] > 0:
                new = min(max(found[i] + rest, least), most)
                rest -= new - found[i]
                found[i] = new
        return found if rest == 0 else None

    def may_avoid(self, states: np.ndarray) -> np.ndarray:
        """The choices in which nature can keep out of some states: bool `[C]`."""
        hits = states[self.target]
        touched = self._summed(hits * 1.0) > 0
        room = self._summed(np.where(hits, 0.0, self.high))
        forced = self._summed((hits & (self.low > 0)).astype(np.float64)) > 0
        found = ~forced & ((room >= 1) | ~touched)
        close = ~forced & touched & (np.abs(room - 1) < CLOSE)
        for choice in np.flatnonzero(close).tolist():
            _, high = self.bounds(choice)
            here = self.branches(choice)
            total = sum(
                (x for x, b in zip(high, here, strict=True) if not hits[b]),
                Fraction(0),
            )
            found[choice] = total >= 1
        return found

    def spread(
        self,
        mark: np.ndarray,
        passed: np.ndarray,
        choices: np.ndarray,
        once: np.ndarray,
        *,
        every: bool = False,
        forced: bool = False,
    ) -> np.ndarray:
        """What is marked, and what gets there: each branch is looked at once.

        Args:
            mark: bool `[S]`.
            passed: bool `[S]`, the states that may be marked.
            choices: bool `[C]`, those that may be taken.
            once: bool `[E]`, branches one of which is enough for a choice to count.
            every: whether a state is marked when all its choices count, not just one.
            forced: whether a choice also counts when its other branches have not room
                for all that is likely, so that nature cannot keep out.
        """
        whole = self._summed(self.high) if forced else np.full(self.count, np.inf)
        while True:
            limits.tick("verifying")
            free = np.bincount(self.owner[choices], minlength=self.size)
            found = mark | (passed & (free == 0)) if every else mark.copy()
            room, counted = whole.copy(), np.zeros(self.count, bool)
            _spread(
                *(self.starts, self.into, self.choice, self.owner, self.high, once),
                *(room, free, choices, counted, found, passed, every),
            )
            # What is close fractions tell; it counts from now on.
            more = choices & ~counted & (np.abs(room - 1) < CLOSE) & (room < whole)
            if more.any():
                more &= ~self.may_avoid(found)
            if not more.any():
                return found
            once, mark = once | (found[self.target] & more[self.choice]), found


CLOSE = 1e-9
"""By how much sums of probabilities are off at most."""


@linear
def _spread(
    starts, into, choice, owner, high, once, room, free, choices, counted, mark, passed,
    every,
):  # fmt: skip
    """Marks states; see `Intervals.spread`.

    Args:
        starts: int `[S + 1]`, where the branches into each state begin in `into`.
        into: int `[E]`, these branches.
        choice: int `[E]`, of each branch.
        owner: int `[C]`, the state of each choice.
        high: float64 `[E]`, the largest probabilities.
        once: bool `[E]`, branches that are enough for a choice.
        room: float64 `[C]`, what branches that lead elsewhere can take; written to.
        free: int `[S]`, choices that do not count so far; written to.
        choices: bool `[C]`, those that may be taken.
        counted: bool `[C]`, those that count so far; written to.
        mark: bool `[S]`, written to.
        passed: bool `[S]`, states that may be marked.
        every: whether all choices of a state have to count.
    """
    size = len(mark)
    waiting, count = np.empty(size, np.int64), 0
    for s in range(size):
        if mark[s]:
            waiting[count] = s
            count += 1
    while count > 0:
        count -= 1
        s = waiting[count]
        for i in range(starts[s], starts[s + 1]):
            e = into[i]
            c = choice[e]
            room[c] -= high[e]
            if counted[c] or not choices[c]:
                continue
            if not once[e] and room[c] >= 1.0 - CLOSE:
                continue
            counted[c] = True
            before = owner[c]
            free[before] -= 1
            if (free[before] == 0 or not every) and passed[before] and not mark[before]:
                mark[before] = True
                waiting[count] = before
                count += 1


class Claim(NamedTuple):
    """Bounds and strategies that somebody claims.

    Attributes:
        intervals: the model.
        lower: `[S]`, floats or fractions.
        upper: likewise.
        scheduler: int32 `[S]`.
        nature: float64 `[E]`.
        least: whether the scheduler wants the least.
        nature_least: whether nature wants the least.
    """

    intervals: Intervals
    lower: np.ndarray
    upper: np.ndarray
    scheduler: np.ndarray
    nature: np.ndarray
    least: bool
    nature_least: bool

    def flipped(self) -> "Claim":
        """The claim about the probability of the opposite, in fractions."""
        lower, upper = (
            np.array([1 - fraction(x) for x in bound.tolist()], object)
            for bound in (self.upper, self.lower)
        )
        return self._replace(
            lower=lower,
            upper=upper,
            least=not self.least,
            nature_least=not self.nature_least,
        )

    def chosen(self) -> np.ndarray:
        """The choices of the scheduler, the first where it says nothing: bool `[C]`."""
        own = self.intervals
        at = np.where(self.scheduler < 0, own.groups[:-1], self.scheduler)[own.real]
        found = np.zeros(own.count, bool)
        found[at[at < own.count]] = True
        return found

    # ---- sets --------------------------------------------------------------------

    def reaches(self, goal, passed, scheduler: int, nature: int) -> np.ndarray:
        """From where a goal is reached with more than probability zero."""
        own = self.intervals
        return own.spread(
            *(goal & own.real, passed & own.real, self._choices(scheduler)),
            self._hits(nature),
            every=scheduler == ALL,
            forced=nature == ALL,
        )

    def surely(self, goal, scheduler: int, nature: int) -> np.ndarray:
        """From where those who are friends can reach a goal with probability one.

        Each decides by a strategy that is claimed, or is a friend.
        """
        own, inside = self.intervals, self.intervals.real
        choices, hits = self._choices(scheduler), self._hits(nature)
        fixed = nature == FIXED
        while True:
            # Where no choice stays, and no goal is, nobody gets to one.
            how: dict[str, Any] = {"every": True, "forced": not fixed}
            leads = hits if fixed else own.low > 0
            out = own.spread(~inside, inside & ~goal, choices, leads, **how)
            inner = inside & ~out
            if fixed:
                leaves = hits & ~inner[own.target]
                stays = np.bincount(own.choice, leaves, minlength=own.count) == 0
            else:
                stays = own.may_avoid(~inner)
            new = own.spread(goal & inner, inner, choices & stays, hits) & inside
            if (new == inside).all():
                return inside
            inside = new

    def rests(self, choices) -> np.ndarray:
        """From where friends can stay for ever among some choices: bool `[S]`."""
        own = self.intervals
        how: dict[str, Any] = {"every": True, "forced": True}
        return own.real & ~own.spread(~own.real, own.real, choices, own.low > 0, **how)

    def _choices(self, scheduler: int) -> np.ndarray:
        """The choices that may be taken: bool `[C]`."""
        every = np.ones(self.intervals.count, bool)
        return self.chosen() if scheduler == FIXED else every

    def _hits(self, nature: int) -> np.ndarray:
        """The branches one of which is enough to get somewhere: bool `[E]`."""
        own = self.intervals
        if nature == FIXED:
            return self.nature[: len(own.target)] > 0
        return (own.high if nature == ANY else own.low) > 0

    # ---- inequalities ------------------------------------------------------------

    def breaks(self, bound, states, earned, sign, discount=Fraction(1)) -> np.ndarray:
        """The states of some whose bound is not kept: bool `[S]`.

        Args:
            bound: `[S]`, floats or fractions.
            states: bool `[S]`, those to look at.
            earned: float64 `[C]`.
            sign: 1 for an upper bound, to which those who want the least are held; -1
                for a lower one, and those who want the most.
            discount: what a step is worth beside the one before it.
        """
        own = self.intervals
        held = self.least == (sign > 0)
        nature_held = self.nature_least == (sign > 0)
        look = states[own.owner] & (self.chosen() if held else True)
        if bound.dtype != object:
            kept = self._plainly(bound, earned, sign, nature_held, float(discount))
            look = look & ~kept
        found = np.zeros(own.size, bool)
        for at in np.flatnonzero(look).tolist():
            limits.tick("verifying", at, "choices")
            state = own.owner[at]
            if not self._keeps(bound, at, earned, sign, nature_held, discount):
                found[state] = True
        return found

    def _plainly(self, bound, earned, sign, nature_held, discount) -> np.ndarray:
        """The choices that keep a bound by more than any rounding: bool `[C]`."""
        own = self.intervals
        x = bound[own.target]
        with np.errstate(invalid="ignore", over="ignore"):
            held = self.nature[: len(x)]
            probs = held if nature_held else self._spread(x, sign < 0)
            terms = np.where(probs > 0, probs * x, 0.0)
            worth = earned + discount * own._summed(terms)
            size = np.abs(earned) + own._summed(np.abs(terms))
            top = np.zeros(own.count)
            np.maximum.at(top, own.choice, np.abs(x))
            off = (np.diff(own.rows) + 16.0) ** 2 * 1e-15 * (size + top)
            mine = bound[own.owner]
            kept = sign * (mine - worth) >= off
            if discount == 1:  # a mean is not beyond what it is of
                reach = np.maximum if sign > 0 else np.minimum
                worst = reach.reduceat(x, own.rows[:-1]) if own.count else x
                kept |= (earned == 0) & (sign * (mine - worst) >= 0)
        if nature_held:
            total = own._summed(self.nature[: len(x)])
            kept &= np.abs(total - 1) < 1e-12
            here = self.nature[: len(x)]
            wrong = (here < own.low - 1e-13) | (here > own.high + 1e-13)
            kept &= own._summed(wrong * 1.0) == 0
        return kept

    def _spread(self, x: np.ndarray, least: bool) -> np.ndarray:
        """Nature's best distributions, by one sort of all branches: float64 `[E]`."""
        own = self.intervals
        order = np.lexsort((x if least else -x, own.choice))
        gap = (own.high - own.low)[order]
        left = 1 - own._summed(own.low)
        before = np.cumsum(gap) - gap
        before -= before[own.rows[:-1]][own.choice]
        probs = own.low.copy()
        probs[order] += np.clip(left[own.choice] - before, 0, gap)
        return probs

    def _keeps(self, bound, at, earned, sign, nature_held, discount) -> bool:
        """Whether a choice keeps a bound, in fractions."""
        own = self.intervals
        mine = bound[own.owner[at]]
        if nature_held:
            probs = own.taken(at, self.nature)
            if probs is None:
                return False
            worth = Fraction(0)
            for p, b in zip(probs, own.branches(at), strict=True):
                value = bound[own.target[b]]
                if p > 0 and is_infinite(value):
                    return sign < 0 or is_infinite(mine)
                worth += p * fraction(value) if p > 0 else 0
        else:
            worth = own.worst(at, bound, sign < 0)
            if is_infinite(worth):
                return sign < 0 or is_infinite(mine)
        if is_infinite(mine):
            return sign > 0
        worth = fraction(float(earned[at])) + discount * worth
        return sign * (fraction(mine) - worth) >= 0


def verify(model: MDP, asked: Any, node: Query, found: Any) -> ValueVerdict:
    """What there is to say of what somebody found of an interval model."""
    own = Intervals(model)
    optimum = asked._optimum(node)
    lower, upper = (np.asarray(x, np.float64) for x in (found.lower, found.upper))
    verdict = ordered(own.real, lower, upper)
    if not verdict:
        return verdict
    path = path_of(asked, node)
    if counts_steps(path):
        return _again(own, walk_of(asked, node, path, optimum), (lower, upper))
    scheduler, nature = found.scheduler, found.nature
    if np.shape(scheduler) != (own.size,) or np.shape(nature) != (model.num_branches,):
        raise ValueError(
            "a memoryless scheduler and nature's probabilities are needed to verify "
            f"this: int [{own.size}] and float [{model.num_branches}]"
        )
    claim = Claim(
        *(own, lower, upper, np.asarray(scheduler), np.asarray(nature)),
        *(optimum[:3] == "min", optimum[3:] == "min"),
    )
    some = own.real & (claim.scheduler >= 0)
    inside = (claim.scheduler >= own.groups[:-1]) & (claim.scheduler < own.groups[1:])
    bad = some & ~inside
    if bad.any():
        return ValueVerdict.at(ValueReason.NO_CHOICE_OF_IT, int(np.argmax(bad)))
    if node.operator == "P" and isinstance(path, Until) and path.first == 0:
        goal, left = asked.states(path.right), asked.states(path.left)
        return _reach(claim.flipped() if path.negated else claim, goal, left)
    if node.operator != "P" and isinstance(path, Cumulative | Temporal):
        reward = earned(asked, node)[: own.count]
        if isinstance(path, Temporal):
            return _until(claim, asked.states(path.operands[0]), reward)
        if path.discount is not None:
            share = asked.constant(path.discount)
            return _told(claim, own.real, own.real, reward, share)
        return _total(claim, reward)
    raise ValueError(
        f"'{node}' cannot be verified: of interval models only probabilities of one "
        "temporal operator, and rewards before a target, in all, discounted, or of "
        "some steps"
    )


def _modes(claim: Claim, *, most: bool, other: int) -> tuple[int, int]:
    """Who decides where those who want the most, or the least, do as they claim."""
    return (
        FIXED if claim.least != most else other,
        FIXED if claim.nature_least != most else other,
    )


def _told(
    claim: Claim, lows, highs, earned, discount=Fraction(1), **wrong: Any
) -> ValueVerdict:
    """The verdict of inequalities, after what is wrong already."""
    none = np.zeros(len(lows), bool)
    small = claim.breaks(claim.upper, highs, earned, 1, discount)
    large = claim.breaks(claim.lower, lows, earned, -1, discount)
    keys = ("below", "above", "high", "low")
    before = [wrong.get(key, none) for key in keys]
    return ValueVerdict.first_of(none, none, *before, large, small)


def _reach(claim: Claim, goal: np.ndarray, left: np.ndarray) -> ValueVerdict:
    own = claim.intervals
    goal = goal & own.real
    open_ = own.real & left & ~goal
    enemy = _modes(claim, most=True, other=ALL)
    nothing = own.real & ~claim.reaches(goal, open_, *enemy)
    below = (goal & (claim.lower > 1)) | (nothing & (claim.lower > 0))
    above = (goal & (claim.upper < 1)) | (own.real & (claim.upper < 0))
    none = np.zeros(own.count)
    return _told(claim, open_ & ~nothing, open_, none, below=below, above=above)


def _until(claim: Claim, goal: np.ndarray, reward: np.ndarray) -> ValueVerdict:
    own = claim.intervals
    goal = goal & own.real
    open_ = own.real & ~goal
    infinite, endless = are_endless(claim.lower), are_endless(claim.upper)
    never = own.real & ~claim.reaches(
        goal, open_, *_modes(claim, most=False, other=ALL)
    )
    escapes = claim.reaches(never, open_, *_modes(claim, most=False, other=ANY))
    sure = claim.surely(goal, *_modes(claim, most=True, other=ANY))
    return _told(
        *(claim, open_ & ~infinite & sure, open_ & ~endless, reward),
        below=goal & (claim.lower > 0),
        above=own.real & (claim.upper < 0),
        high=open_ & escapes & ~endless,
        low=infinite & sure,
    )


def _total(claim: Claim, reward: np.ndarray) -> ValueVerdict:
    own, real = claim.intervals, claim.intervals.real
    infinite, endless = are_endless(claim.lower), are_endless(claim.upper)
    above = real & (claim.upper < 0)
    if claim.least:
        rests = claim.rests(reward == 0)
        sure = claim.surely(rests, ANY, ANY)
        return _told(
            *(claim, real & ~infinite & sure & ~rests, real & ~endless, reward),
            below=rests & (claim.lower > 0),
            above=above,
            low=infinite & sure,
        )
    pays = np.zeros(own.size, bool)
    pays[own.owner[claim.chosen() & (reward > 0)]] = True
    never = real & ~claim.reaches(pays, real, FIXED, FIXED)
    always = real & ~claim.reaches(never, real, FIXED, FIXED)
    limitless = claim.reaches(always, real, FIXED, FIXED)
    return _told(
        *(claim, real & ~limitless, real & ~endless, reward),
        below=never & (claim.lower > 0),
        above=above,
        low=infinite & ~limitless,
    )


def _again(own: Intervals, walk: Walk, ends) -> ValueVerdict:
    """Values of a number of steps, computed anew by their definition, in fractions."""
    steps, left, right = walk.steps, walk.left, walk.right
    least, nature_least = walk.optimum[:3] == "min", walk.optimum[3:] == "min"
    values = [Fraction(x) for x in walk.start.tolist()]
    earned = [Fraction(x) for x in walk.earned[: own.count].tolist()]
    if steps * len(own.target) > FRACTIONS_UP_TO:
        raise ValueError(
            f"{steps} steps of {len(own.target)} branches are too many to be verified "
            f"in fractions: {FRACTIONS_UP_TO} in all are the most"
        )
    best = min if least else max
    for step in range(1, steps + 1):
        limits.tick("verifying", step, "steps")
        new = list(values)
        for s in np.flatnonzero(own.real).tolist():
            if right is not None and right[s] and step <= walk.window:
                new[s] = Fraction(1)
            elif left is not None and not left[s]:
                new[s] = Fraction(0)
            else:
                new[s] = best(
                    earned[c] + walk.discount * own.worst(c, values, nature_least)
                    for c in range(own.groups[s], own.groups[s + 1])
                )
        values = new
    if walk.flips:
        values = [1 - x for x in values]
    found = np.array(values, object)
    return beside(own.real, ends[0], ends[1], found, found)
