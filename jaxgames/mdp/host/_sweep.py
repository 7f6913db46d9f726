"""One look at each state of a model that is nearly without cycles: values and all.

What a state leads to has been looked at, so that its value, whether it is known by the
graph alone, and what to choose are found at once. Knots are left out: see `swept`.

Bounds of what the graph decides are equal, and of nothing else: so those of zero, of
one and of infinity tell what is known of a state, and nothing else has to be read.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import linear
from jaxgames.mdp._region import NO_CHOICE

GOAL, PASSED = 1, 2
"""Marks of states in the target, and of those that a path may pass."""

INFINITE = float("inf")

LARGEST = float(np.finfo(np.float64).max)

ALMOST_NOTHING, ALMOST_ONE = 1e-300, float(np.nextafter(1.0, 0.0))
"""Probabilities that are neither zero nor one, however near they are."""


class Swept(NamedTuple):
    """A model in order, and what is found out of its states."""

    groups: np.ndarray  # int32 [S + 1]: the choices of each state
    rows: np.ndarray  # int32 [C + 1]: the branches of each choice
    columns: np.ndarray  # int32 [E]: where they lead
    weights: np.ndarray  # float64 [E]: their probabilities, relative to their sum
    order: np.ndarray  # int32 [S]: what a state leads to comes before it
    mark: np.ndarray  # uint8 [S]: several of the marks
    ends: np.ndarray  # float64 [S, 2]: bounds of the value
    scheduler: np.ndarray  # int32 [S]: what to choose; -1 for nothing


@linear
def reached(swept, least, missed, slack, tiny, first, last):
    """Probabilities to get to the target, of the states of a range of the order.

    Args:
        swept: written to: bounds and choices.
        least: whether schedulers get there as rarely as they can, else as often.
        missed: whether values are of not getting there, 1 or 0.
        slack: more than the relative error of a sum.
        tiny: more than what is lost to underflow.
        first: where the range begins.
        last: where it ends.
    """
    groups, rows = swept.groups, swept.rows
    columns, weights = swept.columns, swept.weights
    mark, ends, scheduler = swept.mark, swept.ends, swept.scheduler
    never, surely = 1.0 * missed, 1.0 - missed
    smaller = least != missed
    for place in range(first, last):
        state = swept.order[place]
        begin, end = groups[state], groups[state + 1]
        scheduler[state] = NO_CHOICE
        if mark[state] & GOAL:
            ends[state, 0], ends[state, 1] = surely, surely
            continue
        if not mark[state] & PASSED or begin == end:
            ends[state, 0], ends[state, 1] = never, never
            continue
        zeros, ones, zero_choice, one_choice = 0, 0, NO_CHOICE, NO_CHOICE
        best, low, high = begin, 0.0, 0.0
        for choice in range(begin, end):
            link, after = rows[choice], rows[choice + 1]
            to = columns[link]
            if after - link == 1:  # as most are, in programs
                below, above = ends[to, 0], ends[to, 1]
                if to == state:  # it never gets out
                    below, above = never, never
            else:
                below, above, leaves = 0.0, 0.0, 0.0
                least_of_all, most_of_all = 1.0, 0.0
                for branch in range(link, after):
                    to = columns[branch]
                    if to != state:
                        weight, here, there = weights[branch], ends[to, 0], ends[to, 1]
                        leaves += weight
                        below += weight * here
                        above += weight * there
                        least_of_all = here if here < least_of_all else least_of_all
                        most_of_all = there if there > most_of_all else most_of_all
                if leaves == 0.0:
                    least_of_all, most_of_all = never, never
                if most_of_all == 0.0:
                    below, above = 0.0, 0.0
                elif least_of_all == 1.0:
                    below, above = 1.0, 1.0
                else:
                    below, above = below / leaves, above / leaves
                    below -= slack * below + tiny
                    above += slack * above + tiny
            if below == above:
                if below == never:
                    zeros += 1
                    zero_choice = choice if zero_choice < 0 else zero_choice
                else:
                    ones += 1
                    one_choice = choice if one_choice < 0 else one_choice
            if choice == begin:
                low, high = below, above
            elif smaller:
                if above < high:
                    high, best = above, choice
                low = min(low, below)
            else:
                if below > low:
                    low, best = below, choice
                high = max(high, above)
        if zeros == end - begin or (least and zeros > 0):
            low, high, best = never, never, zero_choice
        elif ones == end - begin or (not least and ones > 0):
            low, high, best = surely, surely, one_choice
        ends[state, 0] = low if low > 0.0 else 0.0
        ends[state, 1] = high if high < 1.0 else 1.0
        scheduler[state] = best


@linear
def earned(swept, reward, least, slack, tiny, first, last):
    """What is earned before the target, of the states of a range of the order.

    Infinite where some path never gets there: for the least, whatever is chosen.

    Args:
        swept: written to, as for `reached`.
        reward: float64 `[C]`, what a choice earns, not negative.
        least: whether schedulers earn as little as they can, else as much.
        slack: likewise.
        tiny: likewise.
        first: likewise.
        last: likewise.
    """
    groups, rows = swept.groups, swept.rows
    columns, weights = swept.columns, swept.weights
    mark, ends, scheduler = swept.mark, swept.ends, swept.scheduler
    for place in range(first, last):
        state = swept.order[place]
        begin, end = groups[state], groups[state + 1]
        ends[state, 0], ends[state, 1] = 0.0, 0.0
        scheduler[state] = NO_CHOICE
        if mark[state] & GOAL or begin == end:
            continue
        best, low, high, endless = NO_CHOICE, 0.0, 0.0, NO_CHOICE
        for choice in range(begin, end):
            link, after = rows[choice], rows[choice + 1]
            to, pay = columns[link], reward[choice]
            if after - link == 1 and to != state:  # as most are, in programs
                below, above = ends[to, 0], ends[to, 1]
                stuck = below == INFINITE
                if pay > 0.0:
                    below, above = below + pay, above + pay
            else:
                below, above, leaves, all_ = 0.0, 0.0, 0.0, 0.0
                for branch in range(link, after):
                    weight, to = weights[branch], columns[branch]
                    all_ += weight
                    if to != state:
                        leaves += weight
                        below += weight * ends[to, 0]
                        above += weight * ends[to, 1]
                stuck = leaves == 0.0 or below == INFINITE
                if not stuck:
                    below = (below + pay * all_) / leaves
                    above = (above + pay * all_) / leaves
                pay = 1.0
            if stuck:
                endless = choice if endless < 0 else endless
                continue
            if pay > 0.0:
                if below == INFINITE:
                    below = LARGEST  # it is finite, if not as float64
                if below > 0.0:
                    below -= slack * below + tiny
                if above > 0.0:
                    above += slack * above + tiny
            if best < 0:
                low, high, best = below, above, choice
            elif least:
                if above < high:
                    high, best = above, choice
                low = min(low, below)
            else:
                if below > low:
                    low, best = below, choice
                high = max(high, above)
        if best < 0 or (not least and endless >= 0):
            low, high, best = INFINITE, INFINITE, endless
        ends[state, 0] = low if low > 0.0 else 0.0
        ends[state, 1] = high
        scheduler[state] = best


class Knot(NamedTuple):
    """A knot as a small model, with what it leads to.

    Its `K` states come first. Then comes a state for each choice that may leave it, in
    the place of all states outside that this leads to. It has one choice, of two
    branches: to the target, last but one, with what it is worth, else to nowhere, the
    last.
    """

    groups: np.ndarray  # int32: the choices of each state
    rows: np.ndarray  # int32: the branches of each choice
    columns: np.ndarray  # int32: where they lead; of what leaves, any
    weights: np.ndarray  # float64: their probabilities, relative to their sum; likewise
    choices: np.ndarray  # int32: the choices of the knot, as those of the model
    begins: np.ndarray  # int32: what leaves, by choice: where its branches begin
    outside: np.ndarray  # int32: where these lead, as states of the model
    shares: np.ndarray  # float64: their probabilities


@linear
def cut_out(swept, first, last):
    """A knot as a model of its own. O(S) time, and that of its branches."""
    order, groups, rows = swept.order, swept.groups, swept.rows
    columns, weights = swept.columns, swept.weights
    number = np.full(len(order), -1, np.int32)
    size, many, links = last - first, 0, 0
    for place in range(first, last):
        state = order[place]
        number[state] = place - first
        many += groups[state + 1] - groups[state]
        links += rows[groups[state + 1]] - rows[groups[state]]
    others, left = 0, 0
    for place in range(first, last):
        state = order[place]
        for choice in range(groups[state], groups[state + 1]):
            before = left
            for branch in range(rows[choice], rows[choice + 1]):
                if number[columns[branch]] < 0:
                    left += 1
            if left > before:
                others += 1
    knot = Knot(
        np.zeros(size + others + 3, np.int32),
        np.zeros(many + others + 3, np.int32),
        np.empty(links + 2 * others + 2, np.int32),
        np.empty(links + 2 * others + 2, np.float64),
        np.empty(many, np.int32),
        np.zeros(others + 1, np.int32),
        np.empty(left, np.int32),
        np.empty(left, np.float64),
    )
    at, end, others, left = 0, 0, 0, 0
    for place in range(first, last):
        state = order[place]
        for choice in range(groups[state], groups[state + 1]):
            leaves, lost, before = 0.0, 0.0, left
            for branch in range(rows[choice], rows[choice + 1]):
                to, weight = number[columns[branch]], weights[branch]
                if to >= 0:
                    knot.columns[end], knot.weights[end] = to, weight
                    end += 1
                    continue
                knot.outside[left], knot.shares[left] = columns[branch], weight
                left += 1
                # What is rounded of the sum: nothing, most often.
                total = leaves + weight
                part = total - leaves
                error = (leaves - (total - part)) + (weight - part)
                lost += error if error > 0.0 else -error
                leaves = total
            if left > before:
                if lost == 0.0:
                    knot.columns[end], knot.weights[end] = size + others, leaves
                    end += 1
                else:  # as they are: there is no number that is their sum
                    for branch in range(before, left):
                        knot.columns[end] = size + others
                        knot.weights[end] = knot.shares[branch]
                        end += 1
                others += 1
                knot.begins[others] = left
            knot.choices[at] = choice
            at += 1
            knot.rows[at] = end
        knot.groups[place - first + 1] = at
    for own in range(size, size + others + 2):
        knot.columns[end], knot.weights[end] = own, 1.0
        end += 1
        if own < size + others:
            knot.columns[end], knot.weights[end] = own, 1.0
            end += 1
        at += 1
        knot.rows[at] = end
        knot.groups[own + 1] = at
    return Knot(
        knot.groups,
        knot.rows,
        knot.columns[:end].copy(),
        knot.weights[:end].copy(),
        knot.choices,
        knot.begins,
        knot.outside,
        knot.shares,
    )


@linear
def leave(
    knot, ends, earns, missed, slack, tiny, columns, weights, worth, off, start, end
):
    """What leaves a knot is worth what the states outside are.

    All that the knot leads to has been looked at. `earns` is 1 where values are of what
    is earned, else they are probabilities. Written to: `columns`, to the target or to
    nowhere, `weights`, `worth`, what choices earn that go to the target, and `off`, how
    far from the truth that may be.
    """
    many, target = len(knot.choices), len(knot.groups) - 3
    first = len(knot.columns) - 2 * (len(knot.begins) - 1) - 2
    for own in range(max(start, 0), end):
        low, high, leaves = 0.0, 0.0, 0.0
        least, most, endless = INFINITE, 0.0, False
        for branch in range(knot.begins[own], knot.begins[own + 1]):
            to, weight = knot.outside[branch], knot.shares[branch]
            here, there = ends[to, 0], ends[to, 1]
            leaves += weight
            low += weight * here
            high += weight * there
            least = here if here < least else least
            most = there if there > most else most
            endless = endless or here == INFINITE
        if endless:
            low, high = INFINITE, INFINITE
        elif knot.begins[own + 1] - knot.begins[own] == 1 or least == most:
            low, high = least, most
        else:
            low, high = low / leaves, high / leaves
            if low == INFINITE:
                low = LARGEST
            low -= slack * low + tiny
            high += slack * high + tiny
            low = low if low > least else least
            high = high if high < most else most
        middle = low + (high - low) / 2.0 if low < high else low
        at = first + 2 * own
        weights[at], weights[at + 1] = 0.5, 0.5
        if earns:
            gets = low < INFINITE
            worth[many + own] = middle if gets else 0.0
        else:
            gets = (low == 1.0) != missed
            if low < high:
                # What is open is neither zero nor one, whatever it is rounded to.
                middle = middle if middle > ALMOST_NOTHING else ALMOST_NOTHING
                middle = middle if middle < ALMOST_ONE else ALMOST_ONE
                weights[at], weights[at + 1] = middle, 1.0 - middle
                gets = not missed
        columns[at] = target if gets else target + 1
        columns[at + 1] = columns[at]
        if not earns and low < high:
            columns[at + 1] = target + 1 if gets else target
        off[many + own] = 0.0
        if low < high:
            away = high - middle if high - middle > middle - low else middle - low
            off[many + own] = away * (1.0 + 1e-15)


@linear
def given_back(swept, first, last, choices, known, likely, lower, upper, chosen):
    """Writes down what has been found of a knot.

    `choices` and `chosen` are the choices of the knot, as those of the model, and of
    its states, -1 for nothing. The graph decides the states `known`.
    """
    for own in range(last - first):
        state, low, high = swept.order[first + own], lower[own], upper[own]
        if likely and not known[own]:
            # What is open is neither zero nor one, whatever it is rounded to.
            low = low if low < ALMOST_ONE else ALMOST_ONE
            high = high if high > ALMOST_NOTHING else ALMOST_NOTHING
        swept.ends[state, 0], swept.ends[state, 1] = low, high
        choice = chosen[own]
        swept.scheduler[state] = choices[choice] if choice >= 0 else NO_CHOICE


@linear
def split(swept, width, apart, lower, upper, seen, number, first, last):
    """Lower and upper bounds of a range of states, each by itself.

    Args:
        swept: what has been found.
        width: how far they may be apart, relative to the lower one ...
        apart: ... and more, as it is.
        lower: written to.
        upper: written to.
        seen: float64 `[N, 5]`, written to: how far bounds are apart at most, in terms
            of what is allowed; how many states are in the target; and of how many the
            value is zero, one, or infinite, as the graph says.
        number: the row of that to write to.
        first: where the range begins.
        last: where it ends.
    """
    most, targets, zeros, ones, endless = 0.0, 0, 0, 0, 0
    ends, groups = swept.ends, swept.groups
    for state in range(first, last):
        low, high = ends[state, 0], ends[state, 1]
        lower[state], upper[state] = low, high
        if low == high:
            if groups[state] < groups[state + 1]:
                targets += swept.mark[state] & GOAL
                zeros += low == 0.0
                ones += low == 1.0
                endless += low == INFINITE
        else:
            allowed = width * low + apart
            share = (high - low) / allowed if allowed > 0.0 else INFINITE
            most = max(most, share)
    seen[number, 0], seen[number, 1] = most, 1.0 * targets
    seen[number, 2], seen[number, 3] = 1.0 * zeros, 1.0 * ones
    seen[number, 4] = 1.0 * endless
