"""What end components of an interval model earn in a step, for ever."""

from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import compiled, lend
from jaxgames.mdp._average_policies import factored
from jaxgames.mdp._model import spans
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._equations import slack_of
from jaxgames.mdp.robust._graph import Components, Team, components, surely
from jaxgames.mdp.robust._host import Aim
from jaxgames.mdp.robust._natures import Natures, assembled, expect, numbers, of_choices
from jaxgames.tuning.mdp import (
    FEWEST_AVERAGES,
    NATURE_SOLVED_UP_TO,
    PATIENCE_WITH_NATURE,
)

STEP = 0.9
"""How much of a step is made: the rest stays, which takes periods out."""

POLICIES = 50
"""Policies of a component that are looked at, one after the other."""


class Gains(NamedTuple):
    """Averages of components, and how to earn them.

    Attributes:
        lower: float64 `[N]`.
        upper: float64 `[N]`.
        scheduler: int32 `[S]`, what to choose in a component; -1 elsewhere.
        keys: float64 `[B]`, what nature likes more in choices that stay.
        rounds: how often equations were looked at.
    """

    lower: np.ndarray
    upper: np.ndarray
    scheduler: np.ndarray
    keys: np.ndarray
    rounds: int


@compiled
def _rounds(nat, reward, members, values, room, chosen, aim, probs, stop):
    """Bounds of what a component earns in a step: relative value iteration.

    Whatever the values are, what a step adds to them is nowhere more than the largest
    average is, and nowhere less; where it is the same in all states it lies between.

    Args:
        nat: natures that stay in components.
        reward: float64 `[C]`.
        members: int32 `[n]`, the states of the component.
        values: float64 `[S]`, to begin with; written to.
        room: float64 `[S]`, to work in.
        chosen: int32 `[S]`, the best choices; written to.
        aim: what is asked for.
        probs: float64 `[B]`, holds nature's best distributions afterwards.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        The bounds, and how many rounds it took.
    """
    low, high = -np.inf, np.inf
    done = 0
    for _ in range(aim.patience):
        done += 1
        least_gain, most_gain, size = np.inf, -np.inf, 0.0
        for state in members:
            most, first = 0.0, True
            own = values[state]
            for choice in range(nat.groups[state], nat.groups[state + 1]):
                mean, terms = expect(nat, values, choice, aim.nature, probs)
                here = reward[choice] + aim.share * mean + (1.0 - aim.share) * own
                terms += reward[choice] if reward[choice] > 0.0 else -reward[choice]
                terms += own if own > 0.0 else -own
                size = max(size, terms)
                if first or (here < most if aim.least == 1 else here > most):
                    most, first = here, False
                    chosen[state] = choice
            room[state] = most
            least_gain = min(least_gain, most - own)
            most_gain = max(most_gain, most - own)
        off = 2.0 * aim.slack * size
        low = max(low, least_gain - off)
        high = min(high, most_gain + off)
        base = room[members[0]]
        for state in members:
            values[state] = room[state] - base
        large = low if low > 0.0 else -low
        if high - low <= aim.width * large + aim.apart:
            return low, high, done
        # More of them would show no more than what was rounded.
        if stop[0] != 0 or most_gain - least_gain <= off / 16.0:
            return low, high, done
    return low, high, done


def gains(
    nat: Natures,
    found: Components,
    reward: np.ndarray,
    least: bool,
    nature: bool,
    epsilon: float,
    relative: bool,
    stop: np.ndarray,
) -> Gains:
    """The average of each component, which all of its states share.

    They do where scheduler and nature want the same, since together they get from each
    state to each; and else where nature cannot leave branches out.

    Args:
        nat: natures.
        found: maximal end components.
        reward: float64 `[C]`.
        least: whether the scheduler wants the least.
        nature: whether nature wants the least.
        epsilon: how far apart bounds may be.
        relative: whether that is relative to the lower one.
        stop: int8 `[1]`, set by another thread to end it.
    """
    label, kept, number = found.label, found.kept, numbers(nat)
    home = label[nat.owner]
    inside = np.flatnonzero(kept)
    extreme = np.full(found.count, np.inf if least else -np.inf)
    (np.minimum if least else np.maximum).at(extreme, home[inside], reward[inside])
    lower, upper = extreme.copy(), extreme.copy()
    # Where one can stay with the best rewards alone, the average is known exactly.
    best = kept & (reward == np.append(extreme, np.nan)[home])
    rests = components(nat, label >= 0, best)
    stays = rests.label >= 0
    scheduler = np.full(len(label), NO_CHOICE, np.int32)
    own = np.flatnonzero(kept)[::-1]
    scheduler[nat.owner[own]] = own
    within = of_choices(nat, kept)
    towards = surely(within, stays, label >= 0, Team(True, True))
    old = np.append(np.flatnonzero(kept), NO_CHOICE)
    scheduler = np.where(towards.scheduler >= 0, old[towards.scheduler], scheduler)
    own = np.flatnonzero(rests.kept)[::-1]
    scheduler[nat.owner[own]] = own
    same = label[nat.target] == home[number]
    keys = np.zeros(len(nat.target))
    keys[kept[number]] = towards.keys
    keys = np.where(same, keys, -1.0)
    mine = rests.kept[number]
    keys[mine] = rests.label[nat.target[mine]] == rests.label[nat.owner[number[mine]]]
    hard = np.setdiff1d(np.arange(found.count), label[stays])
    rounds = 0
    if len(hard):
        inner, rows = _staying(nat, kept, same)
        members = lend(np.argsort(label, kind="stable").astype(np.int32))
        ends = np.searchsorted(label[members], np.arange(found.count + 1))
        work = _Work(inner, np.ascontiguousarray(reward[rows]), least, nature)
        for at in hard.tolist():
            limits.tick("averaging", at, "components")
            how = members[ends[at] : ends[at + 1]], epsilon, relative, stop
            lower[at], upper[at], more = work.average(*how)
            rounds += more
        some = np.isin(label, hard)
        scheduler = np.where(some, rows[work.chosen], scheduler)
        sign = -1.0 if nature else 1.0
        better = np.where(same, sign * work.values[nat.target], -np.inf)
        keys = np.where(np.append(some, False)[nat.owner][number], better, keys)
    if not (reward[inside] < 0).any():
        lower = np.maximum(lower, 0.0)
    return Gains(lower, upper, scheduler.astype(np.int32), keys, rounds)


def _staying(nat: Natures, kept: np.ndarray, same: np.ndarray):
    """Natures that stay in their components, and which choices these are."""
    number = numbers(nat)
    rows = np.flatnonzero(kept)
    some = kept[number] & same
    many = np.bincount(number[some], minlength=len(kept))[rows]
    groups = np.append(0, np.cumsum(kept))[nat.groups]
    inner = assembled(
        *(groups, np.append(0, np.cumsum(many)), nat.target[some]),
        *(nat.lower[some], nat.upper[some], nat.branch[some]),
        *(nat.owner[rows], nat.choice[rows]),
    )
    return inner, rows


class _Work:
    """Components, one after the other, and the values that were found."""

    def __init__(self, nat: Natures, reward: np.ndarray, least: bool, nature: bool):
        self.nat, self.reward = nat, lend(reward)
        self.sides = int(least), int(nature)
        size = len(nat.groups) - 1
        self.values, self.room = np.zeros((2, size))
        self.chosen = np.zeros(size, np.int32)
        self.probs = np.zeros(len(nat.lower))
        self.place = np.zeros(size, np.int64)
        self.slack = slack_of(nat)

    def average(
        self, members: np.ndarray, epsilon: float, relative: bool, stop: np.ndarray
    ) -> tuple[float, float, int]:
        """Bounds of the average of some states, and rounds.

        By rounds; where these would be many, from the values of the best choices,
        which linear equations give.
        """
        members = lend(np.ascontiguousarray(members))
        width, apart = (epsilon / 4, 0.0) if relative else (0.0, epsilon / 4)
        small = len(members) <= NATURE_SOLVED_UP_TO
        low, high, rounds = -np.inf, np.inf, 0
        for turn in range(POLICIES):
            limits.tick("averaging", turn, "policies")
            solved = turn > 0 and small and self._solve(members)
            patience = (
                2 if solved else FEWEST_AVERAGES if turn == 0 else PATIENCE_WITH_NATURE
            )
            aim = Aim(*self.sides, 1, STEP, self.slack, 0.0, width, apart, patience)
            one, other, more = _rounds(
                *(self.nat, self.reward, members, self.values, self.room),
                *(self.chosen, aim, self.probs, stop),
            )
            better = one > low or other < high
            low, high, rounds = max(low, one), min(high, other), rounds + int(more)
            near = high - low <= width * abs(low) + apart
            if stop[0] or near or patience == PATIENCE_WITH_NATURE or not better:
                break
        return low, high, rounds

    def _solve(self, members: np.ndarray) -> bool:
        """Puts the values of the best choices, by their equations, if they have any."""
        nat, many = self.nat, len(members)
        self.place[members] = np.arange(many)
        chosen = self.chosen[members]
        first, width = nat.rows[chosen], np.diff(nat.rows)[chosen]
        row = np.repeat(np.arange(many), width)
        at = spans(first, width)
        column = self.place[nat.target[at]]
        solve = factored(many, 0, row, column, self.probs[at])
        found = None if solve is None else solve(self.reward[chosen])
        if found is None or not np.isfinite(found).all():
            return False
        found[0] = 0.0  # there it was the average
        self.values[members] = found / STEP
        return True
