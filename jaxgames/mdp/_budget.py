"""Paths that are bounded by what they earn: one level after the other.

What has been earned so far is counted in units, so that it is an integer: a level.
Paths go to higher levels, or stay on theirs. So the highest levels are solved first, as
many at once as there is room for, as one reachability problem; the next ones end in
what is known of these [1].

References:
    [1] Hartmanns, Junges, Katoen and Quatmann, Multi-cost bounded tradeoff analysis in
    MDP, J. Autom. Reason. 64 (2020), doi:10.1007/s10817-020-09574-9.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp import _questions, host
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.tuning.mdp import LEVELS_AT_ONCE

MOST_PLACES = 1 << 36
"""Branches of all levels, at most."""


class Levels(NamedTuple):
    """What branches earn, as integers.

    Attributes:
        units: int64 `[E]`, what each earns.
        unit: what one of these units is.
    """

    units: np.ndarray
    unit: Fraction


def levels_of(model: MDP, name: str) -> Levels:
    """What branches earn, with their state and their choice, in the largest unit.

    Numbers are meant as the shortest decimals that are read as them, as programs and
    files have them.

    Raises:
        ValueError: one is negative or infinite, or they have no common unit that is
            large enough.
    """
    rows = np.asarray(model.row_offsets)
    count = int(rows[int(np.asarray(model.row_group_offsets)[-1])])
    choice = np.repeat(np.arange(model.num_choices), np.diff(rows))[:count]
    parts = (
        (model.state_rewards, owner_of(model)[choice]),
        (model.choice_rewards, choice),
        (model.branch_rewards, np.arange(count)),
    )
    found = [
        np.asarray(rewards[name], np.float64)[place]
        for rewards, place in parts
        if rewards is not None and name in rewards
    ]
    tables = []
    for values in found:
        if not (np.isfinite(values) & (values >= 0)).all():
            bad = values[~(np.isfinite(values) & (values >= 0))][0]
            raise ValueError(
                f"the reward {name!r} of some branch is {bad:g}: a bound of what is "
                "earned wants finite rewards from 0 on"
            )
        one, place = np.unique(values, return_inverse=True)
        tables.append(([Fraction(repr(x)) for x in one.tolist()], place))
    whole = math.lcm(*(x.denominator for some, _ in tables for x in some))
    common = math.gcd(*(int(x * whole) for some, _ in tables for x in some)) or 1
    unit = Fraction(common, whole)
    if sum(max(some, default=unit) for some, _ in tables) / unit >= 1 << 53:
        raise ValueError(
            f"the rewards {name!r} have no common unit that is large enough, such as "
            "one or a hundredth, to count them by"
        )
    units = np.zeros(count, np.int64)
    for some, place in tables:
        units += np.array([int(x / unit) for x in some], np.int64)[place]
    return Levels(units, unit)


class Window(NamedTuple):
    """From which level to which a goal counts, in units.

    Attributes:
        first: the first one.
        last: the last one; None for all from the first on. If it is before the first
            one, no goal counts.
    """

    first: int
    last: int | None

    @property
    def top(self) -> int:
        """The highest level that is told from others."""
        return self.first if self.last is None else self.last


def earning(
    model: MDP,
    left: np.ndarray,
    right: np.ndarray,
    levels: Levels,
    window: Window,
    optimum: str,
    solve: Callable,
    epsilon: float,
    relative: bool,
    exact: bool,
) -> tuple[np.ndarray, np.ndarray, list | None, list]:
    """The probability to get to a goal when so much has been earned, and not more.

    Args:
        model: a concrete model with probabilities.
        left: bool `[S]`, the states on the way.
        right: bool `[S]`, the goal.
        levels: what branches earn.
        window: how much is to have been earned.
        optimum: `"min"` or `"max"`.
        solve: bounds of a question that was posed.
        epsilon: how far apart bounds may stay.
        relative: whether that is relative to the lower one.
        exact: whether values are wanted as fractions.

    Returns:
        Lower and upper bounds, float64 `[S]`; the values as fractions, or None; and the
        answers to all questions.

    Raises:
        ValueError: there are too many levels.
    """
    if window.last is not None and window.last < window.first:
        none: np.ndarray = np.zeros(model.num_states)
        return none, none.copy(), [Fraction(0)] * len(none) if exact else None, []
    if window.top >= MOST_PLACES:
        raise ValueError(
            f"what is earned is followed on more than {MOST_PLACES:.3g} levels: that "
            "is too much"
        )
    away = host.prob0(model, right, "max", states=left | right)
    inside = left & ~np.asarray(away.states)
    if window.first == 0:
        inside &= ~right
    tiles = _Tiles(model, inside, right, levels, window)
    count = window.top + 1
    if count * max(tiles.many, 1) > MOST_PLACES:
        raise ValueError(
            f"what is earned is followed on {count:.3g} levels, each of which has "
            f"{tiles.many:,} branches: that is too much"
        )
    size = int(inside.sum())
    atonce = max(1, LEVELS_AT_ONCE // max(tiles.many, 1))
    parts = -(-count // atonce)
    how = {"epsilon": epsilon / (2 * parts), "relative": relative}
    if parts == 1:
        how["epsilon"] = epsilon
    # Those of the lowest levels that are known, the lowest first.
    lower, upper = np.zeros((0, size)), np.zeros((0, size))
    answers, fractions = [], None
    end = count
    while end and size:
        begin = max(end - atonce, 0)
        limits.tick("earning", count - end, "levels")
        made, worth, many = tiles.block(begin, end, lower)
        posed = _questions.reach(made, worth > 0, optimum, None, worth)
        found = solve(posed, **how, exact=exact and parts == 1, model=made)
        answers.append(found)
        low = found.lower[:many].reshape(-1, size)
        high = found.upper[:many].reshape(-1, size)
        high = np.minimum(_raised(high, lower, upper, relative), 1.0)
        if found.exact is not None:
            fractions = found.exact[:size]
        kept = max(tiles.farthest, 1)  # the lowest is the answer, led to or not
        lower = np.concatenate([low, lower])[:kept]
        upper = np.concatenate([high, upper])[:kept]
        end = begin
    ends = []
    at_once = right if window.first == 0 else np.zeros_like(right)
    for values in (lower, upper):
        whole = at_once.astype(np.float64)
        if size:
            whole[inside] = values[0]
        ends.append(whole)
    exactly = None
    if exact and (fractions is not None or not size):
        own = iter(fractions or ())
        exactly = [
            next(own) if here else Fraction(int(one))
            for here, one in zip(inside.tolist(), at_once.tolist(), strict=True)
        ]
    return ends[0], ends[1], exactly, answers


def _raised(
    high: np.ndarray, lower: np.ndarray, upper: np.ndarray, relative: bool
) -> np.ndarray:
    """Upper bounds for ends that are worth their upper ones, not their lower ones.

    A mean of ends grows by no larger a share than these do, and by no more.
    """
    apart = upper > lower
    if not apart.any():
        return high
    low, top = lower[apart], upper[apart]
    if relative and (low > 0).all():
        return high * (1 + float((top / low - 1).max()) * (1 + 1e-9) + 1e-15)
    more = float((top - low).max()) * (1 + 1e-9)
    raised = high + more + 1e-15
    # An end whose lower bound is zero is no goal: getting to it alone looks worthless.
    return np.where(high > 0, raised, 0.0) if (low > 0).all() else raised


class _Tiles:
    """The branches of a level, of which the model of some levels is made."""

    def __init__(
        self,
        model: MDP,
        inside: np.ndarray,
        right: np.ndarray,
        levels: Levels,
        window: Window,
    ):
        groups, rows = (
            np.asarray(x) for x in (model.row_group_offsets, model.row_offsets)
        )
        own = np.flatnonzero(inside)
        self._size = len(own)
        number = np.full(len(inside), -1)
        number[own] = np.arange(self._size)
        live = np.arange(model.num_choices) < groups[-1]
        kept = np.append(inside, False)[owner_of(model)] & live
        widths = np.diff(rows)
        taken = np.repeat(kept, widths)
        self._choices = np.diff(groups)[own]
        self._widths = widths[kept]
        taken = np.flatnonzero(taken)
        target = np.asarray(model.columns)[taken]
        self._probs = np.asarray(model.probs, np.float64)[taken]
        self._to = number[target]
        self._goal = right[target]
        self._units = np.minimum(levels.units[taken], window.top + 1)
        self._window = window
        self.many = len(taken)
        self.farthest = int(self._units.max(initial=0))

    def block(
        self, begin: int, end: int, known: np.ndarray
    ) -> tuple[MDP, np.ndarray, int]:
        """The model of some levels.

        `known`, float64 `[k, N]`, is what the levels from `end` on are worth.

        Returns:
            The model, whose first states are those of the levels, one after the other;
            float64, what runs that end are worth; and how many states are no ends.
        """
        window, size, count = self._window, self._size, end - begin
        many, ends = count * size, known.size
        states = many + ends + 2
        goal, lost = states - 2, states - 1
        limits.check_room(count * self.many * 40 + states * 24, "levels of rewards")
        level = np.arange(begin, end)[:, None] + self._units[None, :]
        if window.last is None:
            level = np.minimum(level, window.top)
        at = (level - begin) * size + self._to[None, :]
        target = np.where(self._to[None, :] >= 0, at, lost)
        target = np.where(self._goal[None, :] & (level >= window.first), goal, target)
        target = np.where(level > window.top, lost, target)
        choices = np.append(np.tile(self._choices, count), np.ones(ends + 2, np.int64))
        widths = np.append(np.tile(self._widths, count), np.ones(ends + 2, np.int64))
        columns = np.append(target.ravel(), np.arange(many, states))
        probs = np.append(np.tile(self._probs, count), np.ones(ends + 2))
        made = MDP(
            row_group_offsets=np.append(0, np.cumsum(choices)).astype(np.int32),
            row_offsets=np.append(0, np.cumsum(widths)).astype(np.int32),
            columns=columns.astype(np.int32),
            probs=probs,
        )
        worth = np.zeros(states)
        worth[many : many + ends] = known.ravel()
        worth[goal] = 1.0
        return made, worth, many
