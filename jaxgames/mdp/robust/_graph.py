"""What the graph of an interval model decides, whoever nature plays for.

A branch whose lower bound is zero may be left out by nature, wherever the others can
carry everything: so what is reached surely, or at all, is the outcome of a game.
"""

from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.graph.host import room_for, tarjan
from jaxgames.host import compiled, lend
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._natures import Natures, numbers, staying, stays


class Team(NamedTuple):
    """Who helps to reach a target: others prevent it."""

    scheduler: bool
    nature: bool


class Surely(NamedTuple):
    """From where a target can be reached with probability one, and how.

    Attributes:
        states: bool `[S]`.
        scheduler: int32 `[S]`, a choice in each state but those of the target and where
            none may be made: in the set for those who want there, outside for the
            others; -1 where the scheduler is of the other side.
        keys: float64 `[B]`, where nature is of that side what it likes more.
    """

    states: np.ndarray
    scheduler: np.ndarray
    keys: np.ndarray


@compiled
def _nears(nat, choice, inside, near, nature):
    """1 where a choice comes nearer without leaving a set: as nature wants, or not."""
    hits, leaves = 0, 0
    for b in range(nat.rows[choice], nat.rows[choice + 1]):
        t = nat.target[b]
        if inside[t] == 0:
            leaves = 1
        elif near[t] == 1:
            hits = 1
    if nature == 1:
        return stays(nat, choice, inside, 1) if hits == 1 and leaves == 1 else hits
    if hits == 0 or leaves == 1:
        return 0
    return 1 - stays(nat, choice, near, 0)


@compiled
def _attract(nat, inside, passed, scheduler, nature, stamp, chosen):
    """Adds the states from which a team comes nearer to stamped ones, inside of a set.

    Args:
        nat: natures.
        inside: int8 `[S]`, 1 for the set that must not be left.
        passed: bool `[S]`, the states from which a path goes on.
        scheduler: 1 where the scheduler helps.
        nature: 1 where nature helps.
        stamp: int32 `[S]`, when a state was added, 0 for the target, -1 for never:
            written to.
        chosen: int32 `[S]`, the choice by which: written to.
    """
    size = len(passed)
    near = np.zeros(size, np.int8)  # 1 for what is stamped
    for s in range(size):
        if stamp[s] >= 0:
            near[s] = 1
    now, more, sweep = 1, 1, 0
    while more == 1:
        more = 0
        sweep += 1
        for place in range(size):
            s = place if sweep % 2 == 1 else size - 1 - place
            if near[s] == 1 or not passed[s] or inside[s] == 0:
                continue
            first, last = nat.groups[s], nat.groups[s + 1]
            good, by = 1 - scheduler, -1
            if first == last:
                good = 0
            for c in range(first, last):
                ok = _nears(nat, c, inside, near, nature)
                if ok == scheduler:
                    good, by = ok, c
                    break
            if good == 1:
                near[s] = 1
                stamp[s] = now
                chosen[s] = by
                now += 1
                more = 1


def possibly(
    nat: Natures, goal: np.ndarray, passed: np.ndarray, team: Team
) -> np.ndarray:
    """From where a team reaches a goal with more than probability zero: bool `[S]`."""
    return _reached(nat, goal, passed & ~goal, team, np.ones(len(goal), bool))[0] >= 0


def nearer(
    nat: Natures, goal: np.ndarray, passed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """When each state is found by a search from a goal, and a choice that leads there.

    Scheduler and nature both want there: int32 `[S]` twice, -1 where no path is.
    """
    everywhere = np.ones(len(goal), bool)
    return _reached(nat, goal, passed & ~goal, Team(True, True), everywhere)


def _reached(nat, goal, passed, team, inside):
    stamp = np.where(goal & inside, 0, -1).astype(np.int32)
    chosen = np.full(len(goal), NO_CHOICE, np.int32)
    _attract(
        *(nat, inside.astype(np.int8), np.array(passed)),
        *(int(team.scheduler), int(team.nature), stamp, chosen),
    )
    return stamp, chosen


def surely(nat: Natures, goal: np.ndarray, passed: np.ndarray, team: Team) -> Surely:
    """From where a team can reach a goal with probability one.

    The greatest set from all of which it comes nearer without ever leaving the set.
    Those who prevent it, outside, choose what leaves the set of the round in which
    their state was taken out, or else what never comes nearer.
    """
    size = len(goal)
    inside, passed = np.ones(size, bool), passed & ~goal
    against = Team(not team.scheduler, not team.nature)
    scheduler = np.full(size, NO_CHOICE, np.int32)
    keys = np.zeros(len(nat.target))
    source = nat.owner[numbers(nat)]
    while True:
        limits.tick("finding what is reached surely")
        stamp, chosen = _reached(nat, goal, passed, team, inside)
        near = stamp >= 0
        lost = inside & ~near
        if not lost.any():
            break
        if against.nature:
            worse = np.where(~inside[nat.target], 2.0, ~near[nat.target])
            keys = np.where(lost[source], worse, keys)
        if against.scheduler:
            away = _kept_away(
                *(nat, inside.astype(np.int8), near.astype(np.int8), lost),
                int(team.nature),
            )
            scheduler = np.where(lost, away, scheduler)
        inside = near
    if team.scheduler:
        scheduler = np.where(inside, chosen, scheduler)
    if team.nature:
        nearer = stamp[nat.target] < stamp[source]
        better = np.where(inside[nat.target], 1.0 + nearer, 0.0)
        keys = np.where(inside[source], better, keys)
    return Surely(inside, scheduler.astype(np.int32), keys)


@compiled
def _kept_away(nat, inside, near, lost, nature):
    """Choices by which nobody comes nearer inside of a set: int32 `[S]`."""
    found = np.full(len(lost), NO_CHOICE, np.int32)
    for s in range(len(lost)):
        if not lost[s]:
            continue
        for c in range(nat.groups[s], nat.groups[s + 1]):
            if _nears(nat, c, inside, near, nature) == 0:
                found[s] = c
                break
    return found


class Components(NamedTuple):
    """Maximal end components of scheduler and nature together.

    Attributes:
        count: how many.
        label: int32 `[S]`, the component of each state, -1 for none.
        kept: bool `[C]`, choices in which nature can stay in the component.
    """

    count: int
    label: np.ndarray
    kept: np.ndarray


@compiled
def _drop(nat, label, live, begins, enters, choice, free, waiting):
    """Takes states out of their sets from which nobody can stay, one after the other.

    Each branch is looked at once, when the state that it leads to is taken out.

    Args:
        nat: natures.
        label: int32 `[S]`, the set of each state, -1 for none: written to.
        live: bool `[C]`, choices in which nature can stay in the set: written to.
        begins: int32 `[S + 1]`, where the branches that lead to each state begin ...
        enters: int32 `[B]`, ... in these.
        choice: int32 `[B]`, the choice of each branch.
        free: int32 `[S]`, how many choices are live: written to.
        waiting: int32 `[S]`, room.
    """
    count, at = 0, 0
    for s in range(len(label)):
        if label[s] >= 0 and free[s] == 0:
            label[s] = -1
            waiting[count] = s
            count += 1
    while at < count:
        gone = waiting[at]
        at += 1
        for place in range(begins[gone], begins[gone + 1]):
            branch = enters[place]
            c = choice[branch]
            own = nat.owner[c]
            if not live[c] or label[own] < 0:
                continue
            if nat.lower[branch] > 0.0 or stays(nat, c, label, label[own]) == 0:
                live[c] = False
                free[own] -= 1
                if free[own] == 0:
                    label[own] = -1
                    waiting[count] = own
                    count += 1


def components(
    nat: Natures, states: np.ndarray, choices: np.ndarray | None = None
) -> Components:
    """The maximal sets in which scheduler and nature together can stay for ever.

    And get from each state to each. Strongly connected components of what nature can
    keep inside of the last ones, again and again.

    Args:
        nat: natures.
        states: bool `[S]`, the states to look at.
        choices: bool `[C]`, the choices to look at; None for all.
    """
    size = len(states)
    label = np.where(states, 0, -1).astype(np.int32)
    number = numbers(nat)
    source = nat.owner[number]
    kept = np.ones(len(nat.owner), bool) if choices is None else choices
    enters = lend(np.argsort(nat.target, kind="stable").astype(np.int32))
    into = np.append(0, np.cumsum(np.bincount(nat.target, minlength=size)))
    back = lend(into.astype(np.int32)), enters, lend(number.astype(np.int32))
    waiting = np.empty(size, np.int32)
    count = 0
    while True:
        limits.tick("finding end components")
        before = label >= 0
        live = staying(nat, label) & kept
        free = np.bincount(nat.owner[live], minlength=size).astype(np.int32)
        _drop(nat, label, live, *back, free, waiting)
        some = free > 0
        edge = live[number] & (label[nat.target] == label[source])
        offsets = np.append(0, np.cumsum(np.bincount(source[edge], minlength=size)))
        stop = np.zeros(1, np.int8)
        heads = nat.target[edge]
        room = room_for(size, len(heads))
        _, found, _ = tarjan(
            *(lend(offsets.astype(np.int32)), lend(heads)),
            *(None, None, stop, room),
        )
        found = np.where(some, np.asarray(found[:size]), -1)
        where, found = np.unique(found, return_inverse=True)
        found = (found - (len(where) > 0 and where[0] < 0)).astype(np.int32)
        found = np.where(some, found, -1).astype(np.int32)
        new = int(found.max(initial=-1)) + 1
        if new == count and ((found >= 0) == before).all():
            return Components(count, found, live)
        label, count = found, new
