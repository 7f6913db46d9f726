"""Questions about interval models: what the graph decides, and what is left open."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._average import Gains, gains
from jaxgames.mdp.robust._graph import (
    Components,
    Team,
    components,
    nearer,
    possibly,
    surely,
)
from jaxgames.mdp.robust._natures import (
    Natures,
    assembled,
    numbers,
    of_choices,
    staying,
)


@dataclasses.dataclass(frozen=True)
class Asking:
    """A question about an interval model.

    Attributes:
        nat: the natures.
        kind: `"reach"`, `"until"` (rewards before a goal), `"total"`, `"discounted"`,
            `"average"`.
        goal: bool `[S]`, the states to reach.
        passed: bool `[S]`, the states from which a path goes on.
        reward: float64 `[C]`, what choices earn.
        least: whether the scheduler wants the least.
        nature: whether nature wants the least.
        discount: what a step is worth beside the one before it.
        epsilon: how far apart bounds may be.
        relative: whether that is relative to the lower one.
    """

    nat: Natures
    kind: str
    goal: np.ndarray
    passed: np.ndarray
    reward: np.ndarray
    least: bool
    nature: bool
    discount: float = 1.0
    epsilon: float = 1e-6
    relative: bool = True

    @property
    def agreed(self) -> bool:
        """Whether scheduler and nature want the same."""
        return self.least == self.nature

    def among(self, nat: Natures, kept: Any = None, **other: Any) -> "Asking":
        """The same of other natures: those of some choices, bool `[C]`."""
        reward = self.reward if kept is None else self.reward[kept]
        return dataclasses.replace(self, nat=nat, reward=reward, **other)


class Posed(NamedTuple):
    """What the graph says.

    Attributes:
        nat: natures without what is never taken.
        value: float64 `[S]`, of what is known, infinite values too; zero elsewhere.
        open_: bool `[S]`, what is not.
        choices: int64, which choices of the question these natures have.
        branches: int64, which branches.
        scheduler: int32 `[S]`, choices of the question that are right where values are
            known, -1 where there is nothing to say.
        keys: float64 `[B]`, what nature likes more, in ...
        steered: bool `[C]`, ... these choices of the question.
        first: int32 `[S]`, choices to begin with where the least is improved.
        first_keys: float64 `[B]`, likewise.
        found: sets that become one state each, or None.
        stops: float64 `[2, N]`, bounds of what it is worth to stay in each for ever;
            None where nobody may.
        circles: whether some may stay among open states for ever.
        gains: how these are earned, of averages.
    """

    nat: Natures
    value: np.ndarray
    open_: np.ndarray
    choices: np.ndarray
    branches: np.ndarray
    scheduler: np.ndarray
    keys: np.ndarray
    steered: np.ndarray
    first: np.ndarray
    first_keys: np.ndarray
    found: Components | None = None
    stops: np.ndarray | None = None
    circles: bool = False
    gains: Gains | None = None


def posed(asking: Asking, stop: np.ndarray) -> Posed:
    """What is known of a question before equations are solved.

    Args:
        asking: the question.
        stop: int8 `[1]`, set by another thread to end it.
    """
    size = len(asking.goal)
    nat = asking.nat
    nothing = Posed(
        *(nat, np.zeros(size), np.diff(nat.groups) > 0),
        *(np.arange(len(nat.owner)), np.arange(len(nat.target))),
        *(np.full(size, NO_CHOICE, np.int32), np.zeros(len(nat.target))),
        np.zeros(len(nat.owner), bool),
        *(np.full(size, NO_CHOICE, np.int32), np.zeros(len(nat.target))),
    )
    how = {"reach": _reach, "until": _until, "total": _total}
    if asking.kind == "discounted":
        return _discounted(asking, nothing)
    if asking.kind == "average":
        return _average(asking, nothing, stop)
    return how[asking.kind](asking, nothing)


def _reach(asking: Asking, start: Posed) -> Posed:
    nat, team = asking.nat, Team(not asking.least, not asking.nature)
    some = possibly(nat, asking.goal, asking.passed, team)
    sure = surely(nat, asking.goal, asking.passed & some, team)
    open_ = start.open_ & some & ~sure.states
    inside = sure.states & ~asking.goal
    made = start._replace(
        value=sure.states.astype(np.float64),
        open_=open_,
        scheduler=np.where(inside, sure.scheduler, NO_CHOICE),
        keys=sure.keys,
        steered=inside[nat.owner] & team.nature,
        first=sure.scheduler,
        first_keys=sure.keys,
    )
    found = components(nat, open_)
    circles = found.count > 0
    return made._replace(
        circles=circles, found=found if circles and asking.agreed else None
    )


def _discounted(asking: Asking, start: Posed) -> Posed:
    """Where nothing need, or can, be earned, that is all there is to say."""
    nat, reward = asking.nat, asking.reward
    if (reward < 0).any():
        return start
    pays = np.zeros(len(asking.goal), bool)
    if asking.least:
        rests = np.zeros(len(pays), bool)
        rests[nat.owner[reward == 0]] = True
        pays = start.open_ & ~rests
        nat = of_choices(nat, reward == 0)
    else:
        pays[nat.owner[reward > 0]] = True
    team = Team(not asking.least, not asking.nature)
    return start._replace(open_=possibly(nat, pays, start.open_, team))


def _average(asking: Asking, start: Posed, stop: np.ndarray) -> Posed:
    """What is earned in the long run: that of the component where a run stays."""
    found = components(asking.nat, start.open_)
    earned = gains(
        *(asking.nat, found, asking.reward, asking.least, asking.nature),
        *(asking.epsilon, asking.relative, stop),
    )
    ends = np.array([earned.lower, earned.upper])
    return start._replace(found=found, stops=ends, gains=earned)


def _until(asking: Asking, start: Posed) -> Posed:
    nat = asking.nat
    team = Team(asking.least, asking.nature)  # infinite is what nobody wants less
    there = start.open_
    sure = surely(nat, asking.goal, there, team)
    endless = there & ~sure.states
    scheduler = np.where(endless & (not asking.least), sure.scheduler, NO_CHOICE)
    steered = endless[nat.owner] & (not asking.nature)
    keys = sure.keys
    gift, how = _gift(asking, sure.states, team)
    scheduler = np.where(gift & asking.least, how[0], scheduler)
    if asking.nature:
        mine = gift[nat.owner]
        keys = np.where(mine[numbers(nat)], how[1], keys)
        steered |= mine
    made = start._replace(
        value=np.where(endless, np.inf, 0.0),
        open_=sure.states & ~asking.goal & ~gift,
        scheduler=scheduler.astype(np.int32),
        keys=keys,
        steered=steered,
        first=sure.scheduler,
        first_keys=sure.keys,
    )
    made = _without(made, endless, cut=asking.nature)
    circles = components(made.nat, made.open_).count > 0
    found = None
    if circles and asking.agreed:
        free = components(made.nat, made.open_, asking.reward[made.choices] == 0)
        found = free if free.count else None
    return made._replace(circles=circles, found=found)


def _gift(asking: Asking, sure: np.ndarray, team: Team):
    """Where the goal is reached surely for nothing, and how."""
    nat, free = asking.nat, asking.reward == 0
    passed = sure & ~asking.goal
    if not team.scheduler:
        costs = np.zeros(len(sure), bool)
        costs[nat.owner[~free]] = True
        found = surely(nat, asking.goal, passed & ~costs, team)
        return found.states & ~asking.goal, (found.scheduler, found.keys)
    part = of_choices(nat, free)
    found = surely(part, asking.goal, passed, team)
    old = np.append(np.flatnonzero(free), NO_CHOICE)
    keys = np.zeros(len(nat.target))
    keys[free[numbers(nat)]] = found.keys
    scheduler = old[found.scheduler]
    return found.states & ~asking.goal, (scheduler, keys)


def _without(made: Posed, states: np.ndarray, *, cut: bool) -> Posed:
    """Without what leads into some states: nature, or the scheduler, avoids them."""
    if not states.any():
        return made
    nat = made.nat
    enters = states[nat.target]
    number = numbers(nat)
    own = states[nat.owner]
    if cut:
        mark = np.where(states, -1, 0).astype(np.int32)
        kept = staying(nat, mark) | own
        lost = enters & ~own[number]
    else:
        hit = np.zeros(len(nat.owner), bool)
        hit[number[enters]] = True
        kept = ~hit | own
        lost = np.zeros(len(enters), bool)
    left = of_choices(nat, kept)
    branches = np.flatnonzero(kept[number])
    gone = lost[branches]
    if gone.any():
        stay = ~gone
        count = np.bincount(numbers(left)[stay], minlength=len(left.owner))
        left = assembled(
            *(left.groups, np.append(0, np.cumsum(count)), left.target[stay]),
            *(left.lower[stay], left.upper[stay], left.branch[stay]),
            *(left.owner, left.choice),
        )
        branches = branches[stay]
    return made._replace(nat=left, choices=np.flatnonzero(kept), branches=branches)


def _total(asking: Asking, start: Posed) -> Posed:
    """All that is ever earned, where scheduler and nature want the same."""
    nat, reward = asking.nat, asking.reward
    size = len(asking.goal)
    if asking.least:
        free = components(nat, start.open_, reward == 0)
        rests = free.label >= 0
        stay = np.full(size, NO_CHOICE, np.int32)
        kept = np.flatnonzero(free.kept)[::-1]
        stay[nat.owner[kept]] = kept
        inner = dataclasses.replace(asking, kind="until", goal=rests)
        made = _until(inner, start)
        source = nat.owner[numbers(nat)]
        home = free.label[nat.target] == free.label[source]
        mine = free.kept
        keys = np.where(mine[numbers(nat)], np.where(home, 1.0, 0.0), made.keys)
        return made._replace(
            scheduler=np.where(rests, stay, made.scheduler),
            keys=keys,
            steered=made.steered | mine,
        )
    all_ = components(nat, start.open_)
    pays = all_.kept & (reward > 0)
    rich = np.zeros(size, bool)
    rich[nat.owner[pays]] = True
    rich = np.isin(all_.label, all_.label[rich]) & (all_.label >= 0)
    endless = possibly(nat, rich, start.open_, Team(True, True))
    # What earns nothing ever is known, too: no bound comes near to zero by itself.
    earns = np.zeros(size, bool)
    earns[nat.owner[reward > 0]] = True
    some = possibly(nat, earns, start.open_, Team(True, True))
    open_ = start.open_ & some & ~endless
    rest = components(nat, open_)
    scheduler, keys, steered = _for_ever(asking, all_, pays, rich, endless)
    return start._replace(
        value=np.where(endless, np.inf, 0.0),
        open_=open_,
        scheduler=scheduler,
        keys=keys,
        steered=steered,
        found=rest if rest.count else None,
        stops=np.zeros((2, rest.count)),
    )


def _for_ever(asking: Asking, all_: Components, pays, rich, endless):
    """How to earn for ever: to a component that pays, and there round and round."""
    nat = asking.nat
    size = len(rich)
    number = numbers(nat)
    source = nat.owner[number]
    scheduler = np.full(size, NO_CHOICE, np.int32)
    first = np.flatnonzero(pays)[::-1]
    scheduler[nat.owner[first]] = first
    earns = scheduler >= 0
    inner = of_choices(nat, all_.kept)
    home = np.where(rich, all_.label, -1)
    # Inside: back to what pays, without leaving.
    back = surely(inner, earns & rich, rich, Team(True, True))
    old = np.append(np.flatnonzero(all_.kept), NO_CHOICE)
    scheduler = np.where(earns, scheduler, old[back.scheduler])
    keys = np.zeros(len(nat.target))
    keys[all_.kept[number]] = back.keys
    same = home[nat.target] == home[source]
    keys = np.where(rich[source] & ~same, -1.0, keys)
    keys = np.where(pays[number], np.where(same, 1.0, -1.0), keys)
    # Outside: some path.
    outside = endless & ~rich
    stamp, chosen = nearer(nat, rich, outside)
    scheduler = np.where(outside, chosen, scheduler)
    near = (stamp[nat.target] >= 0) & (stamp[nat.target] < stamp[source])
    keys = np.where(outside[source], near.astype(np.float64), keys)
    return scheduler.astype(np.int32), keys, endless[nat.owner]
