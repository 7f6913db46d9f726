"""One step backwards over all states, and rounds of averages: plain loops."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled

NEARLY = 0.999
"""Probabilities that are less are not one, whatever was rounded."""


class Looked(NamedTuple):
    """The states that steps look at, in plain arrays.

    Most states of most models do one thing: they are told apart, since to go through
    their choices and branches would take longer than to look at the one value.
    """

    single: np.ndarray  # int32: states with one choice, which has one branch
    to: np.ndarray  # int32: where that leads
    others: np.ndarray  # int32: the other states
    row: np.ndarray  # int32 [S]: the first choices, -1 of states that are not looked at


@compiled
def mean(rows, columns, probs, values, choice):
    """What a choice leads to, on average: the first branch is always there."""
    branch, end = rows[choice], rows[choice + 1]
    found = probs[branch] * values[columns[branch]]
    branch += 1
    while branch < end:
        found += probs[branch] * values[columns[branch]]
        branch += 1
    return found


@compiled
def step_back(
    groups, rows, columns, probs, reward, discount, values, looked, maximises, found,
    chosen, place,
):  # fmt: skip
    """What states are worth one step earlier.

    Args:
        groups: int32 `[S + 1]`, the choices of each state.
        rows: int32 `[C + 1]`, the branches of each choice.
        columns: int32 `[E]`, where they lead.
        probs: float64 `[E]`, their probabilities.
        reward: float64 `[C]`, what a choice earns; or empty.
        discount: what a step is worth beside the one before it.
        values: float64 `[S]`, of the states a step later.
        looked: the states that are looked at.
        maximises: bool `[S]`, states in which the largest choice counts; in others the
            least.
        found: float64 `[S]`, written to where it is looked.
        chosen: int32 `[k, S]`, or `[0, S]`: the first best choices.
        place: the row of these that is written to.
    """
    paid, keeps = len(reward) > 0, len(chosen) > 0
    if keeps:
        for state in range(len(values)):
            chosen[place, state] = looked.row[state]
    if paid:
        for i in range(len(looked.to)):
            state = looked.single[i]
            here = discount * values[looked.to[i]]
            found[state] = here + reward[groups[state]]
    else:
        for i in range(len(looked.to)):
            found[looked.single[i]] = discount * values[looked.to[i]]
    for state in looked.others:
        first = groups[state]
        best = first
        most = discount * mean(rows, columns, probs, values, first)
        if paid:
            most += reward[first]
        for choice in range(first + 1, groups[state + 1]):
            here = discount * mean(rows, columns, probs, values, choice)
            if paid:
                here += reward[choice]
            if here > most if maximises[state] else here < most:
                most = here
                best = choice
        found[state] = most
        if keeps:
            chosen[place, state] = best


@compiled
def exactly_one(
    groups, rows, columns, sure, states, maximises, found, surely, chosen, place
):
    """Where what was found is one exactly: since all that it is a mean of is.

    Args:
        groups: as for `step_back`, as are the others.
        rows: likewise.
        columns: likewise.
        sure: bool `[S]`, states whose value a step later is exactly one.
        states: int32, states that are looked at.
        maximises: as for `step_back`.
        found: float64 `[S]`, what they are worth; set to one where it is.
        surely: bool `[S]`, written to where it is looked.
        chosen: as for `step_back`, written to where one choice is exactly one.
        place: likewise.
    """
    for state in states:
        one = False
        if found[state] > NEARLY:  # else something else is among it
            most = maximises[state]
            one = not most
            for choice in range(groups[state], groups[state + 1]):
                all_ = True
                for branch in range(rows[choice], rows[choice + 1]):
                    if not sure[columns[branch]]:
                        all_ = False
                if not most and not all_:
                    one = False
                if most and all_ and not one:
                    one = True
                    if len(chosen) > 0:
                        chosen[place, state] = choice
            if one:
                found[state] = 1.0
        surely[state] = one


@compiled
def differ(one, other, states):
    """1 where two arrays have different numbers for some of the states."""
    for state in states:
        if one[state] != other[state]:
            return 1
    return 0


@compiled
def largest_of(values):
    """The largest size of some numbers; 0 of none."""
    found = 0.0
    for value in values:
        size = -value if value < 0.0 else value
        found = max(found, size)
    return found


@compiled
def steps_back(
    groups, rows, columns, probs, reward, values, sure, looked, new, surely, maximises,
    discount, largest, slack, signed, error, count, place, steady, track, chosen,
):  # fmt: skip
    """What states are worth so many steps earlier.

    Args:
        groups: as for `step_back`, as are the others.
        rows: likewise.
        columns: likewise.
        probs: likewise.
        reward: likewise.
        values: float64 `[S]`, of the states when these steps are done; written to.
        sure: bool `[S]`, states whose value is exactly one; written to.
        looked: as for `step_back`.
        new: float64 `[S]`, the values of the other states; written to.
        surely: bool `[S]`, those of the other states where it is exactly one; likewise.
        maximises: as for `step_back`.
        discount: likewise.
        largest: the largest reward.
        slack: more than the relative error of a sum.
        signed: 1 where some values may be less than nothing.
        error: float64 `[1]`, how far from the truth they may be then; added to.
        count: how many steps.
        place: one more than where the first of these is in `chosen`; they go down.
        steady: 1 to end after a step that changes nothing.
        track: 1 where values may be exactly one.
        chosen: int32 `[k, S]`, the choices of each step, written to; or `[0, S]`.

    Returns:
        How many steps were made: what they come to is in `new` and `surely` if that is
        an odd number, else in `values` and `sure`.
    """
    known, known_one = new.copy(), surely.copy()
    for step in range(count):
        odd, row = step % 2 == 1, place - 1 - step
        before, ones = (new, surely) if odd else (values, sure)
        after, ones_after = (values, sure) if odd else (new, surely)
        size = largest_of(before) if signed == 1 else 0.0
        if step == 1:  # what was known of the end is not what is known before it
            for state in range(len(known)):
                after[state], ones_after[state] = known[state], known_one[state]
        step_back(
            groups, rows, columns, probs, reward, discount, before, looked, maximises,
            after, chosen, row,
        )  # fmt: skip
        if track == 1:  # a single branch has all the probability
            for i in range(len(looked.to)):
                ones_after[looked.single[i]] = ones[looked.to[i]]
            exactly_one(
                groups, rows, columns, ones, looked.others, maximises, after,
                ones_after, chosen, row,
            )  # fmt: skip
        if signed == 1:
            size += largest_of(after)
            error[0] = discount * error[0] + slack * (largest + size)
        if steady == 1:
            moves = differ(before, after, looked.single)
            if moves == 0 and differ(before, after, looked.others) == 0:
                return step + 1
    return count


@compiled
def average(
    groups, rows, columns, probs, reward, kept, members, values, room, least, slack,
    width, apart, patience, stop,
):  # fmt: skip
    """Bounds of what an end component earns in a step on average, for ever.

    Relative value iteration: whatever the values are, what a step adds to them is
    nowhere more than the largest average is, and nowhere less [1]. A tenth of each step
    stays where it is, which takes periods out and changes no average.

    Args:
        groups: int32 `[S + 1]`.
        rows: int32 `[C + 1]`.
        columns: int32 `[E]`.
        probs: float64 `[E]`.
        reward: float64 `[C]`.
        kept: bool `[C]`, the choices that stay.
        members: int32 `[n]`, the states of the component.
        values: float64 `[S]`, to begin with; written to.
        room: float64 `[S]`, to work in.
        least: 1 for the least average, 0 for the largest.
        slack: more than the relative error of a sum.
        width: how far apart bounds may stay, relative to the lower one ...
        apart: ... and more, as it is.
        patience: rounds at most.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        The bounds; and 1 where they are near enough.

    References:
        [1] Puterman, Markov Decision Processes, Wiley, 1994, section 8.5.
    """
    low, high = -np.inf, np.inf
    for _ in range(patience):
        least_gain, most_gain, size = np.inf, -np.inf, 0.0
        for state in members:
            most, first = 0.0, True
            for choice in range(groups[state], groups[state + 1]):
                if not kept[choice]:
                    continue
                here = 0.0
                for branch in range(rows[choice], rows[choice + 1]):
                    here += probs[branch] * values[columns[branch]]
                here = reward[choice] + 0.9 * here + 0.1 * values[state]
                if first or (here < most if least == 1 else here > most):
                    most = here
                    first = False
            room[state] = most
            gain = most - values[state]
            least_gain = min(least_gain, gain)
            most_gain = max(most_gain, gain)
            large = most if most > 0.0 else -most
            size = max(size, large)
        off = 4.0 * slack * size
        for choice_state in members:
            for choice in range(groups[choice_state], groups[choice_state + 1]):
                if kept[choice]:
                    earned = reward[choice] if reward[choice] > 0.0 else -reward[choice]
                    off = max(off, 4.0 * slack * earned)
        low = max(low, least_gain - off)
        high = min(high, most_gain + off)
        base = room[members[0]]
        for state in members:
            values[state] = room[state] - base
        large = low if low > 0.0 else -low
        if high - low <= width * large + apart:
            return low, high, 1
        # More of them would show no more than what was rounded.
        if stop[0] != 0 or most_gain - least_gain <= off / 16.0:
            return low, high, 0
    return low, high, 0


@compiled
def gains(
    first, rows, columns, probs, reward, high, low, found, off,
):  # fmt: skip
    """What choices earn in a step, and what they change values by: almost exactly.

    Values are sums of two numbers each, and so is all that is added up, with about 100
    binary digits: where a component mixes slowly its values are large, and what counts
    is a small difference of these. Probabilities are relative to their sum, so that
    what is rounded of it is relative to differences.

    Args:
        first: int32 `[k]`, the state of each choice.
        rows: int32 `[k + 1]`, the branches of each choice.
        columns: int32, the states that they lead to.
        probs: float64, their weights.
        reward: float64 `[k]`.
        high: float64 `[n]`, values ...
        low: float64 `[n]`, and what is to be added to each: much less.
        found: float64 `[k]`, written to: the reward, and by how much the mean of the
            values is more than that of the state.
        off: float64 `[k]`, written to: more than how far from the truth that is.

    References:
        Dekker, A floating-point technique for extending the available precision,
        Numer. Math. 18 (1971), doi:10.1007/BF01397083.
    """
    for choice in range(len(first)):
        here_high, here_low = high[first[choice]], low[first[choice]]
        earned = reward[choice]
        size_here = here_high if here_high > 0.0 else -here_high
        size_here += earned if earned > 0.0 else -earned
        total, rest, weight, size = 0.0, 0.0, 0.0, 0.0
        for branch in range(rows[choice], rows[choice + 1]):
            prob, to = probs[branch], columns[branch]
            # The difference, as a sum of two numbers.
            minus, there = -here_high, high[to]
            diff = there + minus
            part = diff - there
            error = (there - (diff - part)) + (minus - part)
            error += low[to] - here_low
            # And the reward: most of both may cancel out.
            before = diff
            diff = before + earned
            part = diff - before
            error += (before - (diff - part)) + (earned - part)
            more = diff + error
            less = error - (more - diff)
            # Times the weight: each of both factors in two halves.
            split = 134217729.0 * more
            more_top = split - (split - more)
            more_end = more - more_top
            split = 134217729.0 * prob
            prob_top = split - (split - prob)
            prob_end = prob - prob_top
            term = more * prob
            error = more_top * prob_top - term
            error = error + more_top * prob_end + more_end * prob_top
            error = error + more_end * prob_end + less * prob
            # And added up.
            whole = total + term
            part = whole - total
            rest += (total - (whole - part)) + (term - part) + error
            total = whole
            weight += prob
            size += prob * ((there if there > 0.0 else -there) + size_here)
        mean = (total + rest) / weight
        found[choice] = mean
        many = rows[choice + 1] - rows[choice] + 10.0
        off[choice] = 1.2e-16 * many * (mean if mean > 0.0 else -mean)
        off[choice] += 1e-30 * many * size / weight + 1e-290
