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
                if below < low:
                    low = below
            else:
                if below > low:
                    low, best = below, choice
                if above > high:
                    high = above
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
                if below < low:
                    low = below
            else:
                if below > low:
                    low, best = below, choice
                if above > high:
                    high = above
        if best < 0 or (not least and endless >= 0):
            low, high, best = INFINITE, INFINITE, endless
        ends[state, 0] = low if low > 0.0 else 0.0
        ends[state, 1] = high
        scheduler[state] = best


class Knot(NamedTuple):
    """A knot as a small model, with what it leads to.

    Its `K` states come first. Then comes a state for each choice that may leave it, in
    the place of all states outside that this leads to. It has one choice: to the
    target, last but one, with what it is worth, else to nowhere, the last.
    """

    groups: np.ndarray  # int32: the choices of each state
    rows: np.ndarray  # int32: the branches of each choice
    columns: np.ndarray  # int32: where they lead
    weights: np.ndarray  # float64: their probabilities, relative to their sum
    reward: np.ndarray  # float64: what a choice earns
    off: np.ndarray  # float64: how far from the truth what it is worth may be
    choices: np.ndarray  # int32: the choices of the knot, as those of the model
    mark: np.ndarray  # uint8: the marks of all states


@linear
def cut_out(swept, reward, first, last, missed, slack, tiny, number):
    """A knot as a model of its own. O(K) time with its choices and branches.

    Args:
        swept: the model; what the knot leads to has been looked at.
        reward: float64 `[C]`, what choices earn; or empty: for probabilities.
        first: where the knot begins in the order.
        last: where it ends.
        missed: as for `reached`.
        slack: likewise.
        tiny: likewise.
        number: int32 `[S]`, -1; it is so again afterwards.
    """
    order, ends = swept.order, swept.ends
    groups, rows = swept.groups, swept.rows
    columns, weights = swept.columns, swept.weights
    earns, size = len(reward) > 0, last - first
    many, links = 0, 0
    for place in range(first, last):
        state = order[place]
        number[state] = place - first
        many += groups[state + 1] - groups[state]
        links += rows[groups[state + 1]] - rows[groups[state]]
    knot = Knot(
        np.zeros(size + many + 3, np.int32),
        np.zeros(2 * many + 3, np.int32),
        np.empty(links + 2 * many + 2, np.int32),
        np.empty(links + 2 * many + 2, np.float64),
        np.zeros(2 * many + 2, np.float64),
        np.zeros(2 * many + 2, np.float64),
        np.empty(many, np.int32),
        np.full(size + many + 2, PASSED, np.uint8),
    )
    lower, upper = np.empty(many, np.float64), np.empty(many, np.float64)
    at, end, others = 0, 0, 0
    for place in range(first, last):
        state = order[place]
        knot.mark[place - first] = swept.mark[state]
        for choice in range(groups[state], groups[state + 1]):
            below, above, leaves, lost = 0.0, 0.0, 0.0, 0.0
            least, most, endless, outside = INFINITE, 0.0, False, 0
            for branch in range(rows[choice], rows[choice + 1]):
                to, weight = columns[branch], weights[branch]
                if number[to] >= 0:
                    knot.columns[end] = number[to]
                    knot.weights[end] = weight
                    end += 1
                    continue
                here, there = ends[to, 0], ends[to, 1]
                outside += 1
                below += weight * here
                above += weight * there
                least = here if here < least else least
                most = there if there > most else most
                endless = endless or here == INFINITE
                # What is rounded of the sum: nothing, most often.
                total = leaves + weight
                part = total - leaves
                error = (leaves - (total - part)) + (weight - part)
                lost += error if error > 0.0 else -error
                leaves = total
            if outside > 0:
                if endless:
                    below, above = INFINITE, INFINITE
                elif outside == 1 or least == most:
                    below, above = least, most
                else:
                    below, above = below / leaves, above / leaves
                    if below == INFINITE:
                        below = LARGEST
                    below -= slack * below + tiny
                    above += slack * above + tiny
                    below = below if below > least else least
                    above = above if above < most else most
                lower[others], upper[others] = below, above
                if lost == 0.0:
                    knot.columns[end], knot.weights[end] = size + others, leaves
                    end += 1
                else:  # as they are: there is no number that is their sum
                    for branch in range(rows[choice], rows[choice + 1]):
                        if number[columns[branch]] < 0:
                            knot.columns[end] = size + others
                            knot.weights[end] = weights[branch]
                            end += 1
                others += 1
            knot.choices[at] = choice
            if earns:
                knot.reward[at] = reward[choice]
            at += 1
            knot.rows[at] = end
        knot.groups[place - first + 1] = at
    target, nowhere = size + others, size + others + 1
    knot.mark[target] = GOAL
    for own in range(others + 2):
        state = size + own
        knot.columns[end], knot.weights[end] = state, 1.0
        if own < others:
            low, high = lower[own], upper[own]
            worth = low + (high - low) / 2.0 if low < high else low
            if earns and low < INFINITE:
                knot.columns[end] = target
                knot.reward[at] = worth
            elif not earns:
                if low < high:
                    # What is open is neither zero nor one, whatever it is rounded to.
                    worth = worth if worth > ALMOST_NOTHING else ALMOST_NOTHING
                    worth = worth if worth < ALMOST_ONE else ALMOST_ONE
                    knot.columns[end + 1] = target if missed else nowhere
                    knot.weights[end + 1] = 1.0 - worth
                    knot.weights[end] = worth
                    knot.columns[end] = nowhere if missed else target
                    end += 1
                else:
                    knot.columns[end] = target if (low == 1.0) != missed else nowhere
            if low < high:
                away = high - worth if high - worth > worth - low else worth - low
                knot.off[at] = away * (1.0 + 1e-15)
        end += 1
        at += 1
        knot.rows[at] = end
        knot.groups[state + 1] = at
    for place in range(first, last):
        number[order[place]] = -1
    return Knot(
        knot.groups[: nowhere + 2],
        knot.rows[: at + 1],
        knot.columns[:end],
        knot.weights[:end],
        knot.reward[:at],
        knot.off[:at],
        knot.choices,
        knot.mark[: nowhere + 1],
    )


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
            if share > most:
                most = share
    seen[number, 0], seen[number, 1] = most, 1.0 * targets
    seen[number, 2], seen[number, 3] = 1.0 * zeros, 1.0 * ones
    seen[number, 4] = 1.0 * endless
