"""What nature may choose: distributions for each choice of an interval model."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled, lend
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.tuning.mdp import INSERTED_UP_TO

BLUR = 2.0**-48
"""Share by which a bound may be off: so that 0.3 and 0.7 sum up to one."""

POINT = 2.0**-40
"""Bounds whose sums miss one by no more leave nature nothing to choose."""


class Natures(NamedTuple):
    """A model whose branches have bounds, in plain arrays.

    In a choice nature takes any distribution between `lower` and `upper`. Branches
    that it can never take are left out.
    """

    groups: np.ndarray  # int32 [S + 1]
    rows: np.ndarray  # int32 [C + 1]
    target: np.ndarray  # int32 [B]
    lower: np.ndarray  # float64 [B]
    upper: np.ndarray  # float64 [B]
    spare: np.ndarray  # float64 [C]: what lower bounds leave of one ...
    tail: np.ndarray  # float64 [C]: ... and what that misses, being rounded
    order: np.ndarray  # int32 [B]: branches of a choice by the values last looked at
    branch: np.ndarray  # int32 [B]: the branch of the model
    owner: np.ndarray  # int32 [C]: the state of each choice
    choice: np.ndarray  # int32 [C]: the choice of the model


def natures(model: MDP) -> Natures:
    """The natures of a model that has bounds, or probabilities.

    Bounds are understood with a relative slack of `BLUR`. Where those of a choice sum
    up to one, from below or from above, they are its distribution.
    """
    count = int(np.asarray(model.row_group_offsets)[-1])
    rows = np.asarray(model.row_offsets)[: count + 1].astype(np.int64)
    size = int(rows[-1])
    if model.lower is None:
        lower = upper = np.asarray(model.probs, np.float64)[:size]
    else:
        lower, upper = (
            np.asarray(x, np.float64)[:size] for x in (model.lower, model.upper)
        )
    number = np.repeat(np.arange(count), np.diff(rows))
    least, most = (np.bincount(number, x, minlength=count) for x in (lower, upper))
    given = np.where(
        (least >= 1 - POINT)[number], lower / least.clip(1e-300)[number], 0
    )
    given = np.where(
        (~(least >= 1 - POINT) & (most <= 1 + POINT))[number],
        upper / most.clip(1e-300)[number],
        given,
    )
    point = ((least >= 1 - POINT) | (most <= 1 + POINT))[number]
    lower, upper = np.where(point, given, lower), np.where(point, given, upper)
    kept = upper > 0
    return assembled(
        np.asarray(model.row_group_offsets),
        np.append(0, np.cumsum(np.bincount(number[kept], minlength=count))),
        np.asarray(model.columns)[:size][kept],
        lower[kept] * (1 - BLUR),
        np.minimum(upper[kept] * (1 + BLUR), 1.0),
        np.flatnonzero(kept),
        owner_of(model)[:count],
        np.arange(count),
    )


def assembled(groups, rows, target, lower, upper, branch, owner, choice) -> Natures:
    """Natures of arrays, whose bounds hold a distribution for each choice."""
    groups, rows, target, branch, owner, choice = (
        lend(np.ascontiguousarray(x, np.int32))
        for x in (groups, rows, target, branch, owner, choice)
    )
    lower, upper = (lend(np.ascontiguousarray(x, np.float64)) for x in (lower, upper))
    spare, tail = map(lend, _rest(rows, lower))
    order = np.arange(len(lower), dtype=np.int32)
    parts = (groups, rows, target, lower, upper, spare, tail)
    return Natures(*parts, order, branch, owner, choice)


def numbers(nat: Natures) -> np.ndarray:
    """The choice of each branch: int `[B]`."""
    return np.repeat(np.arange(len(nat.owner)), np.diff(nat.rows))


def of_choices(nat: Natures, kept: np.ndarray) -> Natures:
    """With some of the choices: bool `[C]`."""
    many = np.bincount(nat.owner[kept], minlength=len(nat.groups) - 1)
    sizes = np.diff(nat.rows)
    here = np.repeat(kept, sizes)
    return assembled(
        np.append(0, np.cumsum(many)),
        np.append(0, np.cumsum(sizes[kept])),
        *(nat.target[here], nat.lower[here], nat.upper[here], nat.branch[here]),
        *(nat.owner[kept], nat.choice[kept]),
    )


def fixed(nat: Natures, probs: np.ndarray) -> Natures:
    """With one distribution in each choice: float64 `[B]`; branches of zero go."""
    number = numbers(nat)
    total = np.bincount(number, probs, minlength=len(nat.owner))
    probs = probs / total[number]
    kept = probs > 0
    return assembled(
        nat.groups,
        np.append(0, np.cumsum(np.bincount(number[kept], minlength=len(nat.owner)))),
        nat.target[kept],
        probs[kept] * (1 - BLUR),
        np.minimum(probs[kept] * (1 + BLUR), 1.0),
        *(nat.branch[kept], nat.owner, nat.choice),
    )


@compiled
def _rest(rows, lower):
    """One less the lower bounds of each choice, as a sum of two numbers."""
    size = len(rows) - 1
    spare, tail = np.empty(size), np.empty(size)
    for c in range(size):
        left, lost = 1.0, 0.0
        for b in range(rows[c], rows[c + 1]):
            new = left - lower[b]
            back = new - left
            lost += (left - (new - back)) + (-lower[b] - back)
            left = new
        spare[c] = left + lost
        tail[c] = (left - spare[c]) + lost
    return spare, tail


@compiled
def arrange(order, keys, where, first, last):
    """Sorts the branches of a choice by their keys, `keys[where[branch]]`.

    Rounds change the order little, so that inserting takes O(k) then; larger choices
    are sorted by a heap in O(k log k).
    """
    if last - first > INSERTED_UP_TO:
        sorted_ = 1
        for place in range(first + 1, last):
            if keys[where[order[place - 1]]] > keys[where[order[place]]]:
                sorted_ = 0
                break
        if sorted_ == 1:
            return
        count = last - first
        for step in range(count // 2):
            _sink(order, keys, where, first, count // 2 - 1 - step, count)
        for step in range(count - 1):
            end = count - 1 - step
            branch = order[first]
            order[first] = order[first + end]
            order[first + end] = branch
            _sink(order, keys, where, first, 0, end)
        return
    for place in range(first + 1, last):
        branch = order[place]
        key = keys[where[branch]]
        at = place - 1
        while at >= first and keys[where[order[at]]] > key:
            order[at + 1] = order[at]
            at -= 1
        order[at + 1] = branch


@compiled
def _sink(order, keys, where, first, at, count):
    """Puts an entry of a heap, the largest first, where it belongs."""
    branch = order[first + at]
    key = keys[where[branch]]
    below = 2 * at + 1
    while below < count:
        if below + 1 < count and (
            keys[where[order[first + below]]] < keys[where[order[first + below + 1]]]
        ):
            below += 1
        if keys[where[order[first + below]]] <= key:
            break
        order[first + at] = order[first + below]
        at = below
        below = 2 * at + 1
    order[first + at] = branch


@compiled
def fill(nat, choice, least, probs):
    """Nature's best distribution for an order: lower bounds, and the rest in turn.

    What is left to be handed out is kept as a sum of two numbers, so that each
    probability is right but for one rounding.
    """
    first, last = nat.rows[choice], nat.rows[choice + 1]
    left, lost = nat.spare[choice], nat.tail[choice]
    for place in range(first, last):
        branch = nat.order[place if least == 1 else first + last - 1 - place]
        low, high = nat.lower[branch], nat.upper[branch]
        more = left + low
        back = more - left
        lose = lost + ((left - (more - back)) + (low - back))
        rest = more - high
        back = rest - more
        over = lose + ((more - (rest - back)) + (-high - back))
        if rest + over >= 0.0:
            probs[branch] = high
            left, lost = rest, over
        else:
            probs[branch] = more + lose
            left, lost = 0.0, 0.0


@compiled
def expect(nat, values, choice, least, probs):
    """What the best distribution of a choice is worth to nature.

    Args:
        nat: natures.
        values: float64, by target.
        choice: the choice.
        least: 1 where nature wants the least.
        probs: float64 `[B]`, room; holds that distribution afterwards.

    Returns:
        The sum, and the sum of the sizes of its terms.
    """
    first, last = nat.rows[choice], nat.rows[choice + 1]
    if last - first == 1:
        probs[first] = 1.0
        worth = values[nat.target[first]]
        return worth, (-worth if worth < 0.0 else worth)
    arrange(nat.order, values, nat.target, first, last)
    fill(nat, choice, least, probs)
    worth, size = 0.0, 0.0
    for branch in range(first, last):
        if probs[branch] > 0.0:  # values may be infinite
            term = probs[branch] * values[nat.target[branch]]
            worth += term
            size += -term if term < 0.0 else term
    return worth, size


@compiled
def stays(nat, choice, marks, mark):
    """1 where nature can keep to states of a mark: all that leave may be left out."""
    left, lost = -1.0, 0.0
    for b in range(nat.rows[choice], nat.rows[choice + 1]):
        if marks[nat.target[b]] == mark:
            high = nat.upper[b]
            new = left + high
            back = new - left
            lost += (left - (new - back)) + (high - back)
            left = new
        elif nat.lower[b] > 0.0:
            return 0
    return 1 if left + lost >= 0.0 else 0


@compiled
def staying(nat, marks):
    """The choices in which nature can keep to states of their own mark: bool `[C]`."""
    found = np.zeros(len(nat.owner), np.bool_)
    for c in range(len(nat.owner)):
        mark = marks[nat.owner[c]]
        if mark >= 0:
            found[c] = stays(nat, c, marks, mark) == 1
    return found


@compiled
def distribute(nat, keys):
    """Distributions with as much as can be on branches of large keys: float64 `[B]`."""
    probs = np.empty(len(nat.lower))
    own = np.arange(len(keys))
    for c in range(len(nat.owner)):
        arrange(nat.order, keys, own, nat.rows[c], nat.rows[c + 1])
        fill(nat, c, 0, probs)
    return probs


def of_model(nat: Natures, probs: np.ndarray, size: int) -> np.ndarray:
    """Distributions by the branches of the model: float64 `[E]`."""
    found = np.zeros(size)
    found[nat.branch] = probs
    return found
