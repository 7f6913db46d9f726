"""Values of one component of equations, by rounds in place.

Most rounds follow one policy: they look at one choice of each state. Now and then all
choices are looked at, and the policy is improved: modified policy iteration [1]. What
rounds look at is copied in the order in which they do, so that they read memory in
order.

[1] Puterman and Shin, Modified policy iteration algorithms for discounted Markov
decision problems, Management Science 24 (1978), doi:10.1287/mnsc.24.11.1127.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.tuning.mdp import (
    FEWEST_FOLLOWED,
    FOLLOWED_TO,
    LARGE_GAIN,
    MOST_FOLLOWED,
    SETTLES,
    SMALL_GAIN,
    STEADY,
)


class Component(NamedTuple):
    """The equations of a component by themselves; its states in the order of rounds.

    `n` is the number of its states, `k` that of their choices.
    """

    groups: np.ndarray  # int32 [n + 1]: the choices of each state
    rows: np.ndarray  # int32 [k + 1]: the branches of each choice that stay
    target: np.ndarray  # int32: where these lead
    probs: np.ndarray  # float64: their probabilities
    base: np.ndarray  # float64 [k]: what a choice is worth beside
    policy: np.ndarray  # int32 [n]: the choice that is followed
    value: np.ndarray  # float64 [n]
    room: np.ndarray  # float64 [n]: what the last round changed


class Chain(NamedTuple):
    """The choices of a policy: two branches of each, and the others.

    Where there are less, the probability is zero: most choices have one branch or two,
    and a loop over so few takes longer than both.
    """

    pair: np.ndarray  # int32 [n, 2]: where the first two branches lead
    weight: np.ndarray  # float64 [n, 3]: what the choice is worth beside; of the pair
    more: np.ndarray  # int32 [n + 1]: the other branches
    target: np.ndarray  # int32: where these lead
    probs: np.ndarray  # float64: their probabilities


@compiled
def sizes(system, inside, part):
    """How many choices a component has, and branches that stay."""
    choices, branches = 0, 0
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        choices += system.groups[state + 1] - system.groups[state]
        for branch in range(
            system.rows[system.groups[state]], system.rows[system.groups[state + 1]]
        ):
            if inside[system.target[branch]] == part:
                branches += 1
    return choices, branches


@compiled
def copied(system, value, inside, part, local, number):
    """Writes the equations of a component down, with what is known of other states.

    Args:
        system: all equations.
        value: float64 `[N]`, known of the states that the component leads to.
        inside: int32 `[N]`, the component of each state.
        part: the component.
        local: written to.
        number: int32 `[N]`, to work in.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    for place in range(begin, end):
        number[system.order[place]] = place - begin
    choice_to, branch_to = 0, 0
    for place in range(begin, end):
        state = system.order[place]
        local.value[place - begin] = value[state]
        local.policy[place - begin] = -1
        local.groups[place - begin] = choice_to
        for choice in range(system.groups[state], system.groups[state + 1]):
            local.rows[choice_to] = branch_to
            here = system.base[choice]
            for branch in range(system.rows[choice], system.rows[choice + 1]):
                to = system.target[branch]
                if inside[to] == part:
                    local.target[branch_to] = number[to]
                    local.probs[branch_to] = system.probs[branch]
                    branch_to += 1
                else:
                    here += system.probs[branch] * value[to]
            local.base[choice_to] = here
            choice_to += 1
    local.groups[end - begin] = choice_to
    local.rows[choice_to] = branch_to


@compiled
def improved(local, base, least, unit, small):
    """A round of all choices.

    A state keeps its choice where another one is hardly better: while values are far
    from the truth such gains come and go, and a policy that stays is followed faster.

    Returns:
        The largest change, each in its unit; the largest value; how many states change
        their choice; and the largest gain of a better choice, in units, changed or not.
    """
    change, top, switched, largest = 0.0, 0.0, 0, 0.0
    value = local.value
    for state in range(len(value)):
        first, most, kept = local.groups[state], 0.0, np.inf
        chosen, policy = first, local.policy[state]
        for choice in range(first, local.groups[state + 1]):
            here = base[choice]
            for branch in range(local.rows[choice], local.rows[choice + 1]):
                here += local.probs[branch] * value[local.target[branch]]
            if choice == first or (here < most if least == 1 else here > most):
                most = here
                chosen = choice
            if choice == policy:
                kept = here
        if chosen != policy:
            gain = kept - most if least == 1 or policy < 0 else most - kept
            if not gain <= small * unit[state]:
                local.policy[state] = chosen
                switched += 1
            gain = gain / unit[state] if unit[state] > 0.0 else np.inf
            largest = max(largest, gain)
        moved = most - value[state]
        local.room[state] = moved
        value[state] = most
        if moved < 0.0:
            moved = -moved
        if moved > change * unit[state]:
            change = moved / unit[state] if unit[state] > 0.0 else np.inf
        if most < 0.0:
            most = -most
        top = max(top, most)
    return change, top, switched, largest


@compiled
def chosen_by(local, base, chain):
    """Writes the choices of the policy down."""
    end = 0
    for state in range(len(local.value)):
        choice = local.policy[state]
        first, last = local.rows[choice], local.rows[choice + 1]
        chain.weight[state, 0] = base[choice]
        for at in range(2):
            there = first + at < last
            chain.pair[state, at] = local.target[first + at] if there else state
            chain.weight[state, at + 1] = local.probs[first + at] if there else 0.0
        chain.more[state] = end
        for branch in range(first + 2, last):
            chain.target[end] = local.target[branch]
            chain.probs[end] = local.probs[branch]
            end += 1
    chain.more[len(local.value)] = end


@compiled
def followed(chain, value, room, unit):
    """A round of the policy's choices.

    Returns:
        The largest change, each in its unit; and as it is.
    """
    change, largest = 0.0, 0.0
    for state in range(len(value)):
        here = chain.weight[state, 0]
        here += chain.weight[state, 1] * value[chain.pair[state, 0]]
        here += chain.weight[state, 2] * value[chain.pair[state, 1]]
        for branch in range(chain.more[state], chain.more[state + 1]):
            here += chain.probs[branch] * value[chain.target[branch]]
        moved = here - value[state]
        room[state] = moved
        value[state] = here
        if moved < 0.0:
            moved = -moved
        largest = max(largest, moved)
        if moved > change * unit[state]:
            change = moved / unit[state] if unit[state] > 0.0 else np.inf
    return change, largest


@compiled
def leap(local, change, before, ratio, saved):
    """Goes where rounds tend to that change things by a steady ratio.

    What changes by a ratio r in each round has changed by r / (1 - r) times the last
    change in the end [Aitken]. Values need no proof: certificates look at them. But
    what is more than nothing stays so: changes are told relative to it.

    Args:
        local: the component.
        change: the largest change of the last round, as it is: relative to values that
            grow evenly it would shrink by a ratio, too.
        before: that of the round before; 0.0 for none.
        ratio: of both, a round ago; 0.0 if nobody knows.
        saved: float64 `[n]`, written to: the values before.

    Returns:
        The ratio; -1.0 if it has leapt.
    """
    if before <= 0.0 or change <= 0.0 or change == np.inf:
        return 0.0
    now = change / before
    off = now - ratio
    if off < 0.0:
        off = -off
    if now < 0.3 or now > 0.999999 or off > STEADY * (1.0 - now):
        return now
    more = now / (1.0 - now)
    for state in range(len(local.value)):
        old = local.value[state]
        if old > 0.0 and old + more * local.room[state] <= 0.0:
            return 0.0
    for state in range(len(local.value)):
        saved[state] = local.value[state]
        local.value[state] += more * local.room[state]
    return -1.0


@compiled
def follow(local, chain, unit, enough, soon, most, stop):
    """Rounds of the policy, until they change less than what is enough, in units.

    Of the first ones it is enough if they change less than `soon`: those are fast.

    A leap after which rounds change no less than before, once they have settled, is
    taken back, and was the last one.

    Returns:
        How many rounds; more than `most` if that was not enough.
    """
    before, ratio, rest, rounds = 0.0, 0.0, SETTLES, 0
    saved, leapt_at, astray = np.empty(len(local.value)), 0.0, 0
    while rounds < most and stop[0] == 0:
        change, largest = followed(chain, local.value, local.room, unit)
        rounds += 1
        if change <= enough or (rounds < SETTLES and change <= soon):
            return rounds
        rest -= 1
        if rest <= 0 and leapt_at > 0.0 and not largest < leapt_at:
            local.value[:] = saved
            leapt_at, before, astray = 0.0, 0.0, 1
        elif rest <= 0 and astray == 0 and most - rounds > SETTLES:
            leapt_at = 0.0
            ratio = leap(local, largest, before, ratio, saved)
        before = largest
        if ratio < 0.0:
            leapt_at, before, ratio, rest = largest, 0.0, 0.0, SETTLES
    return most + 1


@compiled
def approach(local, chain, base, least, unit, share, apart, patience, stop):
    """Rounds, until one of all choices changes little.

    That is `share` of the largest value, and `apart`, in units.

    Returns:
        The last change, the largest value, and how many rounds there were: more than
        `patience` if that was not enough.
    """
    rounds, most, small = 0, FEWEST_FOLLOWED, 0.0
    while True:
        change, top, switched, gain = improved(local, base, least, unit, small)
        rounds += 1
        enough = share * top + apart
        if change <= enough or stop[0] != 0:
            return change, top, rounds
        if rounds >= patience:
            return change, top, patience + 1
        if switched > 0 or rounds == 1:
            chosen_by(local, base, chain)
        if gain > LARGE_GAIN * change or rounds == 1:
            most = FEWEST_FOLLOWED
        elif most < MOST_FOLLOWED:
            most *= 2
        small = SMALL_GAIN * change if change < np.inf else 0.0
        most = min(most, patience - rounds)
        soon = FOLLOWED_TO * change if change < np.inf else 0.0
        made = follow(local, chain, unit, 0.5 * enough, soon, most, stop)
        rounds += min(made, most)


@compiled
def tied(local, base, least, near, worth):
    """Writes down what the values are for choices that are as good as the best, almost.

    Args:
        local: the component; its values are not negative.
        base: float64 `[k]`, what its choices are worth beside.
        least: 1 where the least choice counts.
        near: by which share of the value a choice may be worse.
        worth: float64 `[k]`, written to: the value of the state; minus infinity for
            choices that are worse.
    """
    for state in range(len(local.value)):
        value = local.value[state]
        for choice in range(local.groups[state], local.groups[state + 1]):
            here = base[choice]
            for branch in range(local.rows[choice], local.rows[choice + 1]):
                here += local.probs[branch] * local.value[local.target[branch]]
            off = here - value if least == 1 else value - here
            worth[choice] = value if off <= near * value else -np.inf
