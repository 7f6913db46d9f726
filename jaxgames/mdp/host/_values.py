"""Values by value iteration in place, component after component, with certificates.

Every loop works on a `System`, whose states are solved in the order of its components:
what a component leads to is known before it is looked at.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled, linear, on_all_cores
from jaxgames.mdp.host._rounds import (
    Chain,
    Component,
    approach,
    chosen_by,
    copied,
    follow,
    sizes,
    tied,
)
from jaxgames.tuning.mdp import CLOSER, FIRST_GOAL, TIED, WEIGHED_TO

FAINT = 1e-270
"""Values that are less are weighed as if they were this: of much smaller numbers there
are no shares that float64 can tell."""


class System(NamedTuple):
    """Equations `x = opt_c (base_c + sum_b p_b x_b)`, and the order to solve them in.

    `N` is the number of states, `K` of choices, `P` of components.
    """

    groups: np.ndarray  # int32 [N + 1]: the choices of each state
    rows: np.ndarray  # int32 [K + 1]: the branches of each choice
    target: np.ndarray  # int32: where these lead
    probs: np.ndarray  # float64: their probabilities
    base: np.ndarray  # float64 [K]: what a choice is worth beside
    blur: np.ndarray  # float64 [K]: how far from the truth that may be
    order: np.ndarray  # int32 [N]: the states, those of a component together
    parts: np.ndarray  # int32 [P + 1]: where components begin; those led to come first
    inside: np.ndarray  # int32 [N]: the component of each state


class Bounds(NamedTuple):
    """What is found out of each state."""

    value: np.ndarray  # float64 [N]: near the value
    lower: np.ndarray  # float64 [N]
    upper: np.ndarray  # float64 [N]
    steps: np.ndarray  # float64 [N]: more than how long it stays in its component


class Aim(NamedTuple):
    """What is asked for."""

    least: int  # 1 where the least choice counts, 0 for the largest
    proper: int  # 0 where some schedulers never get out, at infinite cost
    slack: float  # more than the relative error of a sum
    tiny: float  # more than what is lost to underflow
    width: float  # how far apart bounds may stay, relative to the lower one ...
    apart: float  # ... and more, as it is
    patience: int  # rounds after which a component is stiff
    few: int  # states of a small component
    few_patience: int  # likewise, for such ...
    few_looks: int  # and more, so many looks at states


@compiled
def outward(system, values, state, aim, sign):
    """A bound of a state's value by bounds of others: below if the sign is -1."""
    found = 0.0
    for choice in range(system.groups[state], system.groups[state + 1]):
        here = system.base[choice]
        size = -here if here < 0.0 else here
        for branch in range(system.rows[choice], system.rows[choice + 1]):
            term = system.probs[branch] * values[system.target[branch]]
            here += term
            size += -term if term < 0.0 else term
        away = aim.slack * size + system.blur[choice]
        if size > 0.0:
            away += aim.tiny
        here += sign * away
        if choice == system.groups[state] or (
            here < found if aim.least == 1 else here > found
        ):
            found = here
    return found


@compiled
def alone(system, bounds, state, aim):
    """What a state is worth whose choices lead to others that are done, and bounds.

    As `outward` twice, in one look at the branches.
    """
    value, lower, upper = bounds.value, bounds.lower, bounds.upper
    near, low, high = 0.0, 0.0, 0.0
    for choice in range(system.groups[state], system.groups[state + 1]):
        here = system.base[choice]
        below, above = here, here
        size = -here if here < 0.0 else here
        size_below, size_above = size, size
        for branch in range(system.rows[choice], system.rows[choice + 1]):
            share, to = system.probs[branch], system.target[branch]
            here += share * value[to]
            term = share * lower[to]
            below += term
            size_below += -term if term < 0.0 else term
            term = share * upper[to]
            above += term
            size_above += -term if term < 0.0 else term
        away = aim.slack * size_below + system.blur[choice]
        below -= away + aim.tiny if size_below > 0.0 else away
        away = aim.slack * size_above + system.blur[choice]
        above += away + aim.tiny if size_above > 0.0 else away
        first = choice == system.groups[state]
        if first or (here < near if aim.least == 1 else here > near):
            near = here
        if first or (below < low if aim.least == 1 else below > low):
            low = below
        if first or (above < high if aim.least == 1 else above > high):
            high = above
    value[state], lower[state], upper[state] = near, low, high


@compiled
def choose(system, values, state, least):
    """The first choice of a state that is best."""
    most, chosen = 0.0, system.groups[state]
    for choice in range(system.groups[state], system.groups[state + 1]):
        here = system.base[choice]
        for branch in range(system.rows[choice], system.rows[choice + 1]):
            here += system.probs[branch] * values[system.target[branch]]
        if choice == system.groups[state] or (
            here < most if least == 1 else here > most
        ):
            most = here
            chosen = choice
    return chosen


def choose_all(groups, rows, target, probs, base, value, least):
    """The first choice of each state that is best by the values of others: int32."""
    found = np.empty(len(groups) - 1, np.int32)
    given = groups, rows, target, probs, base, value, least, found
    on_all_cores(_choose, len(found), *given, work=len(target))
    return found


@linear
def _choose(groups, rows, target, probs, base, value, least, found, start, end):
    for state in range(max(start, 0), end):
        most = 0.0
        for choice in range(groups[state], groups[state + 1]):
            here = base[choice]
            for branch in range(rows[choice], rows[choice + 1]):
                here += probs[branch] * value[target[branch]]
            better = here < most if least == 1 else here > most
            if choice == groups[state] or better:
                most = here
                found[state] = choice


@linear
def extremes(value, open_):
    """The least and the largest value that is known; all numbers where none is."""
    least, most, some = -np.inf, np.inf, False
    for state in range(len(value)):
        if not open_[state]:
            here = value[state]
            if not some or here < least:
                least = here
            if not some or here > most:
                most = here
            some = True
    return least, most


@linear
def spread(number, open_, value, low, high, least, most, lower, upper, start, end):
    """Bounds of a range of states by those of equations, between two values.

    Args:
        number: int32 `[S]`, the equation of each state.
        open_: bool `[S]`, the states that have one.
        value: float64 `[S]`, the values of the others.
        low: float64 `[N]`, lower bounds by equation.
        high: float64 `[N]`, upper ones.
        least: what no value is less than.
        most: what none is more than.
        lower: float64 `[S]`, written to.
        upper: likewise.
        start: where the range begins.
        end: where it ends.
    """
    for state in range(max(start, 0), end):
        if open_[state]:
            below, above = low[number[state]], high[number[state]]
            lower[state] = below if below > least else least
            upper[state] = above if above < most else most
        else:
            lower[state] = upper[state] = value[state]


@compiled
def longer(system, steps, state, inside, part, only):
    """One step, and those that follow it in the component, by the slowest choice.

    Or by `only[state]`, where that is a choice.
    """
    most = 0.0
    first, last = system.groups[state], system.groups[state + 1]
    if only[state] >= 0:
        first, last = only[state], only[state] + 1
    for choice in range(first, last):
        here = 1.0
        for branch in range(system.rows[choice], system.rows[choice + 1]):
            to = system.target[branch]
            if inside[to] == part:
                here += system.probs[branch] * steps[to]
        most = max(most, here)
    return most


@compiled
def stay(system, bounds, inside, part, only, slack, local, chain, patience, stop):
    """More than how many steps a component can be stayed in, whatever is chosen.

    Or by `only[state]`, where these are choices. Steps from below, until a round adds
    less than half a step to each; then those are scaled, which gives what is wanted:
    w >= 1 + P w.

    Returns:
        The largest of them; or -1.0 where that takes too long.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    ones, unit = np.ones(local.groups[end - begin]), np.ones(end - begin)
    local.value.fill(1.0)
    fixed = only[system.order[begin]] >= 0
    if fixed:
        for place in range(begin, end):
            state = system.order[place]
            chosen = only[state] - system.groups[state] + local.groups[place - begin]
            local.policy[place - begin] = chosen
        chosen_by(local, ones, chain)
    enough = 0.5
    while enough > 1e-3:
        if fixed:
            rounds = follow(local, chain, unit, enough, 0.0, patience, stop)
        else:
            local.policy.fill(-1)
            _, _, rounds = approach(
                local, chain, ones, 0, unit, 0.0, enough, patience, stop
            )
        if stop[0] != 0 or rounds > patience:
            return -1.0
        for place in range(begin, end):
            bounds.steps[system.order[place]] = local.value[place - begin]
        found = scaled(system, bounds.steps, inside, part, only, slack)
        if found > 0.0:
            return found
        enough /= 8.0
    return -1.0


@compiled
def scaled(system, steps, inside, part, only, slack):
    """Steps that are almost enough, made enough; -1.0 where they are not almost so."""
    begin, end = system.parts[part], system.parts[part + 1]
    rest = 0.0
    for place in range(begin, end):
        state = system.order[place]
        more = longer(system, steps, state, inside, part, only) * (1.0 + slack)
        rest = max(rest, more - steps[state])
    if not rest < 0.75:
        return -1.0
    largest, scale = 0.0, (1.0 + 1e-12) / (1.0 - rest)
    for place in range(begin, end):
        state = system.order[place]
        steps[state] *= scale
        largest = max(largest, steps[state])
    for attempt in range(2):  # that it is so is seen, not only proved
        right = True
        for place in range(begin, end):
            state = system.order[place]
            more = longer(system, steps, state, inside, part, only) * (1.0 + slack)
            if not more <= steps[state]:
                right = False
        if right:
            return largest
        # Large numbers were rounded by about what was to spare.
        again = 1.0 + 1e-15 * largest
        if attempt == 1 or again > 1.5:
            break
        for place in range(begin, end):
            steps[system.order[place]] *= again
        largest *= again
    return -1.0


@compiled
def certify(system, bounds, inside, part, aim):
    """Bounds of a component from any values, by the steps that it can be stayed in.

    With w >= 1 + P w and F(x) <= x + t it is F(x + t w) <= x + t w, so that the value
    is not larger; likewise from below. What is not known exactly of the states that the
    component leads to is added: it cannot get larger on the way.

    Returns:
        1 where the bounds are near enough.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    up, down, over, under = 0.0, 0.0, 0.0, 0.0
    value, lower, upper = bounds.value, bounds.lower, bounds.upper
    for place in range(begin, end):
        state = system.order[place]
        high = outward(system, value, state, aim, 1.0) - value[state]
        low = value[state] - outward(system, value, state, aim, -1.0)
        up = max(up, high)
        down = max(down, low)
        for choice in range(system.groups[state], system.groups[state + 1]):
            for branch in range(system.rows[choice], system.rows[choice + 1]):
                to = system.target[branch]
                if inside[to] != part:
                    over = max(over, upper[to] - value[to])
                    under = max(under, value[to] - lower[to])
    grown, met = 1.0 + 1e-15, 1
    for place in range(begin, end):
        state = system.order[place]
        here = value[state]
        size = -here if here < 0.0 else here
        more = (up * bounds.steps[state] + over) * grown
        less = (down * bounds.steps[state] + under) * grown
        upper[state] = here + more + (2e-16 * (size + more) if more > 0.0 else 0.0)
        lower[state] = here - less - (2e-16 * (size + less) if less > 0.0 else 0.0)
        if apart(lower[state], upper[state], aim) == 1:
            met = 0
    return met


@compiled
def apart(low, high, aim):
    """1 where two bounds are not near enough."""
    size = -low if low < 0.0 else low
    return 0 if high - low <= aim.width * size + aim.apart else 1


@compiled
def sharpen(system, bounds, part, aim, patience, stop):
    """Sharpens bounds of a component by one another, as long as it helps.

    What comes of bounds that hold are bounds that hold.

    Returns:
        1 where they are near enough.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    for _ in range(patience):
        moves, met = 0, 1
        for place in range(begin, end):
            state = system.order[place]
            low = outward(system, bounds.lower, state, aim, -1.0)
            high = outward(system, bounds.upper, state, aim, 1.0)
            old = bounds.upper[state] - bounds.lower[state]
            bounds.lower[state] = max(bounds.lower[state], low)
            bounds.upper[state] = min(bounds.upper[state], high)
            if bounds.upper[state] - bounds.lower[state] < 0.9999 * old:
                moves = 1
            if apart(bounds.lower[state], bounds.upper[state], aim) == 1:
                met = 0
        if met == 1 or moves == 0 or stop[0] != 0:
            return met
    return 0


@compiled
def holds_below(system, bounds, part, aim):
    """Whether lower bounds are not larger than what the equations make of them.

    Then they hold for the least value even where some schedulers never get out.
    """
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        if not bounds.lower[state] <= outward(system, bounds.lower, state, aim, -1.0):
            return 0
    return 1


@compiled
def shrink(system, bounds, inside, part, aim):
    """Lower bounds that are a little less than the values, by the same share of each.

    What a choice earns itself does not shrink: where that is more than zero for each
    choice, equations add more than they have missed.
    """
    earned, down = np.inf, 0.0
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        low = bounds.value[state] - outward(system, bounds.value, state, aim, -1.0)
        down = max(down, low)
        for choice in range(system.groups[state], system.groups[state + 1]):
            here, under = system.base[choice], 0.0
            for branch in range(system.rows[choice], system.rows[choice + 1]):
                to = system.target[branch]
                if inside[to] != part:
                    here += system.probs[branch] * bounds.lower[to]
                    off = bounds.value[to] - bounds.lower[to]
                    under += system.probs[branch] * off
            down = max(down, under)
            earned = min(earned, here)
    share = 1.0
    if earned > 0.0 and 2.0 * down < earned:
        share = 2.0 * down / earned + 8.0 * aim.slack
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        bounds.lower[state] = bounds.value[state] * (1.0 - share)


@compiled
def has_signs(system, lower, inside, part):
    """1 where something may be worth less than nothing, of a component's choices."""
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        for choice in range(system.groups[state], system.groups[state + 1]):
            if system.base[choice] - system.blur[choice] < 0.0:
                return 1
            for branch in range(system.rows[choice], system.rows[choice + 1]):
                to = system.target[branch]
                if inside[to] != part and lower[to] < 0.0:
                    return 1
    return 0


@compiled
def weighed(system, bounds, inside, part, aim):
    """Bounds that are the values, and more and less by the same share of `steps`.

    Those are weights w >= x + P w, for the values x (or `FAINT`) and all choices that
    may be best: what a path passes of x before it leaves. Where a round changes x by a
    share t of it at most, F(x + t w) <= x + t x + t P w <= x + t w. What is missing
    outside is missing of the same share here: it does not add up. What comes out is
    looked at: F(u) <= u bounds the value above, and F(l) >= l below, also where some
    schedulers never get out, since that costs them infinitely much.

    Returns:
        1 where the bounds are near enough, 0 where they hold, -1 where they do not.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    up, down, more, less = 0.0, 0.0, 0.0, 0.0
    value, lower, upper = bounds.value, bounds.lower, bounds.upper
    for place in range(begin, end):
        state = system.order[place]
        here = value[state] if value[state] > FAINT else FAINT
        high = outward(system, value, state, aim, 1.0) - value[state]
        low = value[state] - outward(system, value, state, aim, -1.0)
        if high > up * here:
            up = high / here
        if low > down * here:
            down = low / here
        for choice in range(system.groups[state], system.groups[state + 1]):
            for branch in range(system.rows[choice], system.rows[choice + 1]):
                to = system.target[branch]
                if inside[to] != part and value[to] > 0.0:
                    if upper[to] - value[to] > more * value[to]:
                        more = upper[to] / value[to] - 1.0
                    if value[to] - lower[to] > less * value[to]:
                        less = 1.0 - lower[to] / value[to]
    if not up + down + more + less < 0.5:
        return -1
    # What a bound is off by grows with rounding, and by what is missing outside.
    room = 8.0 * aim.slack
    up = up * (1.0 + more) * (1.0 + 1e-9) + room
    down = down * (1.0 + 1e-9) + room
    more = more * (1.0 + 1e-9) + room
    less = less * (1.0 + 1e-9) + room
    for place in range(begin, end):
        state = system.order[place]
        upper[state] = value[state] * (1.0 + more) + up * bounds.steps[state]
        low = value[state] * (1.0 - less) - down * bounds.steps[state]
        lower[state] = low if low > 0.0 else 0.0
    met = 1
    for place in range(begin, end):
        state = system.order[place]
        if not outward(system, upper, state, aim, 1.0) <= upper[state]:
            return -1
        if not outward(system, lower, state, aim, -1.0) >= lower[state]:
            return -1
        if apart(lower[state], upper[state], aim) == 1:
            met = 0
    return met


@compiled
def forgotten(system, bounds, part):
    """Bounds that did not hold: nothing is known."""
    for place in range(system.parts[part], system.parts[part + 1]):
        state = system.order[place]
        bounds.lower[state] = 0.0
        bounds.upper[state] = np.inf


@compiled
def weigh(system, bounds, part, aim, local, chain, unit, worth, patience, stop):
    """Weights of a component's states for `weighed`.

    Returns:
        The largest weight, in values; -1.0 where that takes too long.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    tied(local, local.base, aim.least, TIED, worth)
    for place in range(end - begin):
        bounds.value[system.order[begin + place]] = local.value[place]
        unit[place] = local.value[place] if local.value[place] > FAINT else FAINT
        for choice in range(local.groups[place], local.groups[place + 1]):
            if worth[choice] >= 0.0 and worth[choice] < FAINT:
                worth[choice] = FAINT
        local.policy[place] = -1
    _, _, rounds = approach(
        local, chain, worth, 0, unit, 0.0, WEIGHED_TO, patience, stop
    )
    largest, scale, right = 1.0, (1.0 + 1e-9) / (1.0 - WEIGHED_TO), rounds <= patience
    for place in range(end - begin):
        weight = local.value[place] * scale
        bounds.steps[system.order[begin + place]] = weight
        if not unit[place] <= weight < np.inf:
            right = False
        elif weight > largest * unit[place]:
            largest = weight / unit[place]
        local.value[place] = bounds.value[system.order[begin + place]]
        local.policy[place] = -1
    return largest if right else -1.0


@compiled
def weighs(system, bounds, inside, part, aim, local, chain, patience, counts, stop):
    """Values of a component that are near of the same share in all states.

    Returns:
        1 where the bounds are near enough, 0 where they hold, -1 if nothing is known.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    worth = np.empty(local.groups[end - begin])
    unit = np.empty(end - begin)
    longest, goal, left, found = 1.0, FIRST_GOAL, patience, -1
    known = False
    while True:
        least = 4.0 * aim.slack
        enough = goal * aim.width / longest
        enough = max(enough, least)
        change, _, rounds = approach(
            local, chain, local.base, aim.least, local.value, 0.0, enough, left, stop
        )
        counts[0] += rounds
        counts[1] += rounds * (end - begin)
        left -= rounds
        if left <= 0 or stop[0] != 0:
            return -1
        if not known:
            longest = weigh(
                system, bounds, part, aim, local, chain, unit, worth, left, stop
            )
            if longest < 0.0 or stop[0] != 0:
                return -1
            known = True
            if change * longest > goal * aim.width and change > least:
                continue
        for place in range(begin, end):
            bounds.value[system.order[place]] = local.value[place - begin]
        found = weighed(system, bounds, inside, part, aim)
        if found == 0:
            found = sharpen(system, bounds, part, aim, 2, stop)
        if found == 1 or change <= least:
            return found
        if found < 0:
            forgotten(system, bounds, part)
        known = found == 0
        goal /= CLOSER


@compiled
def settle(system, bounds, inside, only, aim, first, counts, stop):
    """Bounds of one component after the other.

    Args:
        system: the equations.
        bounds: written to.
        inside: int32 `[N]`, the component of each state.
        only: int32 `[N]`, -1; written to.
        aim: what is asked for.
        first: the component to begin with.
        counts: int64 `[2]`, rounds and states that were looked at; added to.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        The component that it got to: `P` if that was all, else one that is stiff, or
        the one where it was stopped.
    """
    for part in range(first, len(system.parts) - 1):
        begin, end = system.parts[part], system.parts[part + 1]
        if part % 256 == 0 and stop[0] != 0:
            return part
        if end - begin > 1:
            if iterate(system, bounds, inside, only, part, aim, counts, stop) == 0:
                return part
            continue
        alone(system, bounds, system.order[begin], aim)
        counts[1] += 1
    return len(system.parts) - 1


@compiled
def iterate(system, bounds, inside, only, part, aim, counts, stop):
    """Values of a component, until a certificate shows that they are near.

    Returns:
        1 where the bounds are near enough.
    """
    begin, end = system.parts[part], system.parts[part + 1]
    size = end - begin
    choices, branches = sizes(system, inside, part)
    local = Component(
        np.empty(size + 1, np.int32),
        np.empty(choices + 1, np.int32),
        np.empty(branches, np.int32),
        np.empty(branches, np.float64),
        np.empty(choices, np.float64),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.float64),
    )
    copied(system, bounds.value, inside, part, local, only)
    chain = Chain(
        np.empty((size, 2), np.int32),
        np.empty((size, 3), np.float64),
        np.empty(size + 1, np.int32),
        np.empty(branches, np.int32),
        np.empty(branches, np.float64),
    )
    return rounds_of(
        system, bounds, inside, only, part, aim, local, chain, counts, stop
    )


@compiled
def rounds_of(system, bounds, inside, only, part, aim, local, chain, counts, stop):
    """As `iterate`, with room to work in."""
    begin, end = system.parts[part], system.parts[part + 1]
    patience, slack = aim.patience, aim.slack
    if end - begin <= aim.few:
        patience = aim.few_patience + aim.few_looks // (end - begin)
    if aim.width > 0.0 and has_signs(system, bounds.lower, inside, part) == 0:
        found = weighs(
            system, bounds, inside, part, aim, local, chain, patience, counts, stop
        )
        if found == 1:
            return 1
        if stop[0] != 0:
            return 0
        if found < 0:
            forgotten(system, bounds, part)
        for place in range(begin, end):
            bounds.value[system.order[place]] = local.value[place - begin]
    unit = np.ones(end - begin)
    for place in range(begin, end):
        only[system.order[place]] = -1
    longest, goal, tried = 1.0, FIRST_GOAL, 0
    if aim.proper == 1:
        longest = stay(
            system, bounds, inside, part, only, slack, local, chain, patience, stop
        )
        if longest < 0.0:
            return 0
        for place in range(begin, end):
            local.value[place - begin] = bounds.value[system.order[place]]
            local.policy[place - begin] = -1
    left = patience
    while left > 0:
        share = goal * aim.width / longest
        share = max(share, 4.0 * slack)
        off = goal * aim.apart / longest
        change, top, rounds = approach(
            local, chain, local.base, aim.least, unit, share, off, left, stop
        )
        counts[0] += rounds
        counts[1] += rounds * (end - begin)
        left -= rounds
        if left < 0 or stop[0] != 0:
            break
        for place in range(begin, end):
            bounds.value[system.order[place]] = local.value[place - begin]
        if aim.proper == 0:
            for place in range(begin, end):
                state = system.order[place]
                only[state] = choose(system, bounds.value, state, 1)
            longest = stay(
                system, bounds, inside, part, only, slack, local, chain, left, stop
            )
            if longest < 0.0:
                return 0
            for place in range(begin, end):
                local.value[place - begin] = bounds.value[system.order[place]]
                local.policy[place - begin] = -1
            enough = goal * (aim.width * top + aim.apart)
            if change * longest > enough and change > 4.0 * slack * top:
                continue
        tried = 1
        if concluded(system, bounds, inside, part, aim, 2, patience, stop) == 1:
            return 1
        if change <= 4.0 * slack * top:
            break
        goal /= CLOSER
    if tried == 0 or stop[0] != 0:
        return 0
    return sharpen(system, bounds, part, aim, patience, stop)


@compiled
def concluded(system, bounds, inside, part, aim, few, patience, stop):
    """Bounds of a component from the values that were found; 1 where they are near.

    Where some schedulers never get out, what is certified below is that no choice makes
    it less; where that is not so, it begins anew from zero.
    """
    met = certify(system, bounds, inside, part, aim)
    if aim.proper == 0 and holds_below(system, bounds, part, aim) == 0:
        shrink(system, bounds, inside, part, aim)
        if holds_below(system, bounds, part, aim) == 1:
            return sharpen(system, bounds, part, aim, few, stop)
        for place in range(system.parts[part], system.parts[part + 1]):
            bounds.lower[system.order[place]] = 0.0
        return sharpen(system, bounds, part, aim, patience, stop)
    return 1 if met == 1 else sharpen(system, bounds, part, aim, few, stop)
