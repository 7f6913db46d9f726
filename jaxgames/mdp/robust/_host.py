"""Interval equations solved in place, component after component, with certificates."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.mdp.robust._natures import expect
from jaxgames.tuning.mdp import (
    CLOSER,
    FEW_STATES,
    FIRST_GOAL,
    FIRST_GOAL_OF_FEW,
    LOOKS_WITH_NATURE,
)


class Aim(NamedTuple):
    """What is asked for."""

    least: int  # 1 where the scheduler wants the least
    nature: int  # 1 where nature wants the least
    proper: int  # 0 where those who want the least may stay for ever, at a cost
    share: float  # what a step is worth beside the one before it
    slack: float  # more than the relative error of a sum
    tiny: float  # more than what is lost to underflow
    width: float  # how far apart bounds may stay, relative to the lower one ...
    apart: float  # ... and more, as it is
    patience: int  # rounds at most


class Vectors(NamedTuple):
    """What is found of each state; entries of constants come last."""

    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    steps: np.ndarray  # zero outside of the component that is looked at


class Room(NamedTuple):
    """What components are worked on in, one after the other."""

    only: np.ndarray  # int32 [N]: -1 outside of the component that is looked at
    frozen: np.ndarray  # float64 [B]
    probs: np.ndarray  # float64 [B]


@compiled
def look(nat, base, values, state, aim, sign, probs):
    """What a state is worth by values of others, rounded up or down by the sign.

    Returns:
        That, and the first choice that is best.
    """
    found, chosen = 0.0, -1
    for choice in range(nat.groups[state], nat.groups[state + 1]):
        worth, size = expect(nat, values, choice, aim.nature, probs)
        here = base[choice] + aim.share * worth
        if sign != 0.0:
            own = -base[choice] if base[choice] < 0.0 else base[choice]
            size = own + aim.share * size
            here += sign * (aim.slack * size + (aim.tiny if size > 0.0 else 0.0))
        if chosen < 0 or (here < found if aim.least == 1 else here > found):
            found, chosen = here, choice
    return found, chosen


@compiled
def look_at_all(nat, base, values, aim, probs, worth, chosen):
    """The worth of each choice, and the best choice of each state."""
    for state in range(len(nat.groups) - 1):
        chosen[state] = -1
        for choice in range(nat.groups[state], nat.groups[state + 1]):
            found, _ = expect(nat, values, choice, aim.nature, probs)
            worth[choice] = base[choice] + aim.share * found
            if chosen[state] < 0 or (
                worth[choice] < worth[chosen[state]]
                if aim.least == 1
                else worth[choice] > worth[chosen[state]]
            ):
                chosen[state] = choice


@compiled
def longer(nat, steps, state, aim, only, frozen, probs):
    """One step and those that follow in the component, by whoever wants it longest.

    Who wants the least does as `only` and `frozen` say, where all is not proper.
    """
    first, last = nat.groups[state], nat.groups[state + 1]
    if only[state] >= 0:
        first, last = only[state], only[state] + 1
    most = 0.0
    for choice in range(first, last):
        if aim.proper == 0 and aim.nature == 1:
            worth = 0.0
            for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                worth += frozen[branch] * steps[nat.target[branch]]
        else:
            worth, _ = expect(nat, steps, choice, 0, probs)
        here = 1.0 + aim.share * worth
        most = max(most, here)
    return most


@compiled
def freeze(nat, base, value, states, aim, only, frozen, probs):
    """Notes what those who want the least do by some values."""
    for place in range(len(states)):
        state = states[place]
        _, chosen = look(nat, base, value, state, aim, 0.0, probs)
        if aim.least == 1:
            only[state] = chosen
        for choice in range(nat.groups[state], nat.groups[state + 1]):
            expect(nat, value, choice, aim.nature, probs)
            for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                frozen[branch] = probs[branch]


@compiled
def stay(nat, steps, states, aim, only, frozen, probs, rounds, stop):
    """More than how many steps a component can be stayed in: w >= 1 + P w.

    Returns:
        The largest of them; -1.0 where that takes too long.
    """
    for place in range(len(states)):
        steps[states[place]] = 1.0
    for _ in range(rounds):
        if stop[0] != 0:
            return -1.0
        change = 0.0
        for place in range(len(states)):
            state = states[place]
            more = longer(nat, steps, state, aim, only, frozen, probs)
            change = max(change, more - steps[state])
            steps[state] = more
        if change >= 0.5:
            continue
        rest, largest, holds = 0.0, 0.0, 1
        for place in range(len(states)):
            state = states[place]
            more = longer(nat, steps, state, aim, only, frozen, probs)
            more *= 1.0 + aim.slack
            rest = max(rest, more - steps[state])
        if not rest < 0.75:
            continue
        for place in range(len(states)):
            state = states[place]
            steps[state] *= (1.0 + 1e-12) / (1.0 - rest)
            largest = max(largest, steps[state])
        for place in range(len(states)):  # that it is so is seen, not only proved
            state = states[place]
            more = longer(nat, steps, state, aim, only, frozen, probs)
            if not more * (1.0 + aim.slack) <= steps[state]:
                holds = 0
        if holds == 1:
            return largest
    return -1.0


@compiled
def settle(nat, base, order, parts, inside, vectors, aim, counts, room, first, stop):
    """Bounds of one component after the other, each from what it leads to.

    Until one takes too long, which is for others to look after.

    Args:
        nat: natures; targets from `N` on are constants.
        base: float64 `[K]`, what a choice earns.
        order: int32 `[N]`, the states, those of a component together.
        parts: int32 `[P + 1]`, where components begin; those led to come first.
        inside: int32 `[N + M]`, the component of each state, -1 for constants.
        vectors: written to.
        aim: what is asked for.
        counts: int64 `[1]`, rounds: added to.
        room: to work in.
        first: the component to begin with.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        The component that takes too long; how many there are where none does.
    """
    last = len(parts) - 1
    only, probs = room.only, room.probs
    for part in range(first, last):
        if stop[0] != 0:
            return last
        states = order[parts[part] : parts[part + 1]]
        loops = 1 if len(states) > 1 else 0
        if loops == 0:
            state = states[0]
            for choice in range(nat.groups[state], nat.groups[state + 1]):
                for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                    if nat.target[branch] == state:
                        loops = 1
        if loops == 0:
            state = states[0]
            value, lower, upper = vectors.value, vectors.lower, vectors.upper
            value[state], _ = look(nat, base, value, state, aim, 0.0, probs)
            lower[state], _ = look(nat, base, lower, state, aim, -1.0, probs)
            upper[state], _ = look(nat, base, upper, state, aim, 1.0, probs)
            continue
        rounds = min(aim.patience, LOOKS_WITH_NATURE // len(states))
        met = iterate(
            nat, base, states, inside, vectors, aim, counts, room, rounds, stop
        )
        for place in range(len(states)):
            vectors.steps[states[place]] = 0.0
            only[states[place]] = -1
        if met == 0:
            return part
    return last


@compiled
def iterate(nat, base, states, inside, vectors, aim, counts, room, rounds, stop):
    """Values of a component in place, until a certificate shows that they are near.

    In some rounds at most: 1 where one does.
    """
    only, frozen, probs = room.only, room.frozen, room.probs
    value, longest, found = vectors.value, 1.0, 0
    # What is not known of few states is passed on to very many, which cost more.
    goal = FIRST_GOAL if len(states) > FEW_STATES else FIRST_GOAL_OF_FEW
    if aim.proper == 1:
        longest = stay(
            nat, vectors.steps, states, aim, only, frozen, probs, rounds, stop
        )
        if longest < 0.0:
            return 0
    for _ in range(rounds):
        if stop[0] != 0:
            return 0
        change, top = 0.0, 0.0
        for place in range(len(states)):
            state = states[place]
            new, _ = look(nat, base, value, state, aim, 0.0, probs)
            moved = new - value[state]
            if moved < 0.0:
                moved = -moved
            change = max(change, moved)
            value[state] = new
            size = -new if new < 0.0 else new
            top = max(top, size)
        counts[0] += 1
        near = goal * (aim.width * top + aim.apart)
        still = change <= 4.0 * aim.slack * top
        if change * longest > near and not still:
            continue
        if aim.proper == 0:
            freeze(nat, base, value, states, aim, only, frozen, probs)
            longest = stay(
                nat, vectors.steps, states, aim, only, frozen, probs, rounds, stop
            )
            if longest < 0.0:
                if still:
                    return 0
                longest = 1.0
                goal /= CLOSER
                continue
            if change * longest > near and not still:
                continue
        found = certify(nat, base, states, inside, vectors, aim, only, frozen, probs)
        if found == 0:
            few = rounds if still else 2 * CLOSER
            found = sharpen(nat, base, states, vectors, aim, few, probs, stop)
        if found == 1 or still:
            return found
        goal /= CLOSER
    return 0


@compiled
def sharpen(nat, base, states, vectors, aim, rounds, probs, stop):
    """Sharpens bounds of a component by what equations make of them, while it helps.

    Small values come relatively near only so.

    Returns:
        1 where bounds are near enough.
    """
    lower, upper = vectors.lower, vectors.upper
    for _ in range(rounds):
        moves, met = 0, 1
        for place in range(len(states)):
            state = states[place]
            low, _ = look(nat, base, lower, state, aim, -1.0, probs)
            high, _ = look(nat, base, upper, state, aim, 1.0, probs)
            old = upper[state] - lower[state]
            lower[state] = max(lower[state], low)
            upper[state] = min(upper[state], high)
            if upper[state] - lower[state] < 0.9999 * old:
                moves = 1
            size = -lower[state] if lower[state] < 0.0 else lower[state]
            if not upper[state] - lower[state] <= aim.width * size + aim.apart:
                met = 0
        if met == 1 or moves == 0 or stop[0] != 0:
            return met
    return 0


@compiled
def certify(nat, base, states, inside, vectors, aim, only, frozen, probs):
    """Bounds of a component from any values, by how long it can be stayed in.

    With w >= 1 + P w and F(x) <= x + t it is F(x + t w) <= x + t w, so that the value
    is not larger; likewise from below. A quarter of t more makes these inequalities
    hold by more than what rounding moves. What is not known exactly of the states that
    the component leads to is added: it cannot get larger on the way.
    """
    value, lower, upper = vectors.value, vectors.lower, vectors.upper
    up, down, over, under = 0.0, 0.0, 0.0, 0.0
    for place in range(len(states)):
        state = states[place]
        high, _ = look(nat, base, value, state, aim, 1.0, probs)
        low, _ = look(nat, base, value, state, aim, -1.0, probs)
        up = max(up, high - value[state])
        down = max(down, value[state] - low)
        for choice in range(nat.groups[state], nat.groups[state + 1]):
            for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                to = nat.target[branch]
                if inside[to] != inside[state]:
                    over = max(over, upper[to] - value[to])
                    under = max(under, value[to] - lower[to])
    met, share = 1, 0.0
    if aim.proper == 0:
        share = below(nat, base, states, inside, vectors, aim, down, probs)
    for place in range(len(states)):
        state = states[place]
        here = value[state]
        size = -here if here < 0.0 else here
        more = (1.25 * up * vectors.steps[state] + over) * (1.0 + 1e-15)
        upper[state] = here + more + 2e-16 * (size + more)
        if aim.proper == 1:
            less = (1.25 * down * vectors.steps[state] + under) * (1.0 + 1e-15)
            lower[state] = here - less - 2e-16 * (size + less)
        else:
            lower[state] = here * (1.0 - share)
        size = -lower[state] if lower[state] < 0.0 else lower[state]
        if not upper[state] - lower[state] <= aim.width * size + aim.apart:
            met = 0
    return met


@compiled
def below(nat, base, states, inside, vectors, aim, down, probs):
    """By which share values shrink so that equations add more than they have missed.

    What choices earn does not shrink, and nothing circles for ever for nothing: so
    what is missed is outweighed where something is earned; where nothing is, mending
    sees to the rest.
    """
    earned, under = np.inf, 0.0
    for place in range(len(states)):
        state = states[place]
        for choice in range(nat.groups[state], nat.groups[state + 1]):
            if base[choice] > 0.0 and base[choice] < earned:
                earned = base[choice]
            for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                to = nat.target[branch]
                if inside[to] != inside[state] and vectors.value[to] > 0.0:
                    lost = 1.0 - vectors.lower[to] / vectors.value[to]
                    under = max(under, lost)
    share = 2.0 * down / earned + 16.0 * aim.slack + under
    return share if share < 1.0 else 1.0


@compiled
def mend(nat, base, states, bound, aim, sign, floor, cap, rounds, probs, stop):
    """Moves bounds outwards until they keep their inequalities, rounded outwards.

    Returns:
        1 where they do.
    """
    for _ in range(rounds):
        moved = 0
        for place in range(len(states)):
            if stop[0] != 0:
                return 0
            state = states[place]
            new, _ = look(nat, base, bound, state, aim, sign, probs)
            new = floor if new < floor else (cap if new > cap else new)
            old = bound[state]
            old = floor if old < floor else (cap if old > cap else old)
            if new < old if sign < 0.0 else new > old:
                old = new
                moved = 1
            bound[state] = old
        if moved == 0:
            return 1
    return 0


@compiled
def rise(nat, base, states, bound, aim, rounds, probs, stop):
    """Rounds from below, each rounded down, which end where nothing moves."""
    for _ in range(rounds):
        moved = 0.0
        for place in range(len(states)):
            if stop[0] != 0:
                return
            state = states[place]
            new, _ = look(nat, base, bound, state, aim, -1.0, probs)
            if new > bound[state]:
                if new - bound[state] > moved * new:
                    moved = (new - bound[state]) / new
                bound[state] = new
        if moved < 1e-14:
            return
