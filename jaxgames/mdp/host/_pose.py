"""The equations of open states, written down by passes over a model, on all cores."""

import numpy as np

from jaxgames.host import linear, on_all_cores, on_ranges, ranges_of


def number_of(open_: np.ndarray) -> tuple[np.ndarray, int]:
    """A number for each state that is open, -1 for the others; and how many are."""
    spans = [(part, *span) for part, span in enumerate(ranges_of(len(open_)))]
    counts = np.zeros(len(spans), np.int64)
    on_ranges(_sum, spans, open_, counts)
    number = np.empty(len(open_), np.int32)
    on_ranges(_number_open, spans, open_, np.cumsum(counts) - counts, number)
    return number, int(counts.sum())


def add_up(values: np.ndarray) -> None:
    """Makes each entry the sum of itself and of those before it."""
    spans = [(part, *span) for part, span in enumerate(ranges_of(len(values)))]
    if len(spans) == 1:
        np.cumsum(values, out=values)
        return
    sums = np.zeros(len(spans), np.int64)
    on_ranges(_sum, spans, values, sums)
    on_ranges(_add_up, spans, values, np.cumsum(sums) - sums)


def pose(
    groups, rows, columns, weights, home, size, live, known, reward, discount, lost,
    stops, stop_worth, apart,
):  # fmt: skip
    """The choices of open states, and what they lead to.

    A choice that leads back to its own state counts as often as it takes to leave: it
    is what it is by then. So no choice leads back at once, and one that always does is
    left out: it is never over.

    Args:
        groups: int32 `[S + 1]`, the choices of each state.
        rows: int32 `[C + 1]`, the branches of each choice.
        columns: int32 `[E]`, where they lead.
        weights: float64 `[E]`, their probabilities, relative to their sum.
        home: int32 `[S]`, the equation of each state, -1 for states that are not open.
        size: how many equations there are.
        live: bool `[C]`, the choices that count; written to.
        known: float64 `[S]`, the values of states that are not open.
        reward: float64 `[C]`, what a choice earns; or empty.
        discount: what a step is worth beside the one before it.
        lost: what is missing of that to one.
        stops: bool `[N]`, the equations that have one more choice: to stop; or empty.
        stop_worth: float64 `[N]`, what that is worth; or empty.
        apart: whether each equation is of one state, in their order.

    Returns:
        The choices of each equation (int32 `[N + 1]`); the branches of each of these
        (int32 `[K + 1]`); where they lead and their probabilities; what else a choice
        is worth (float64 `[K]`); and which choice of the model it is (int32 `[K]`, -1
        to stop).
    """
    states = len(home)
    if len(ranges_of(states)) == 1:
        return _at_once(
            groups, rows, columns, weights, home, size, live, known, reward, discount,
            lost, stops, stop_worth,
        )  # fmt: skip
    many = np.zeros(states, np.int32)
    inside = np.empty(len(rows) - 1, np.int32)
    model = groups, rows, columns, weights, home, live
    on_all_cores(_count, states, *model, discount, many, inside, work=len(columns))
    if apart and not len(stops):
        first = np.zeros(size + 1, np.int32)
        on_all_cores(_begin, states, home, many, first)
        add_up(first)
        place = many  # where the choices of each state begin: of its equation
        on_all_cores(_place, states, home, first, place)
    else:
        first, place = _number(home, many, stops, size)
    count = int(first[-1])
    old = np.full(count, -1, np.int32)
    begins = np.zeros(count + 1, np.int32)
    listed = groups, home, live, inside, place, old, begins
    on_all_cores(_list, states, *listed, work=len(rows))
    add_up(begins)
    target = np.empty(begins[-1], np.int32)
    probs = np.empty(begins[-1], np.float64)
    base = np.zeros(count, np.float64)
    on_all_cores(
        *(_write, size, *model[1:5], known, reward, discount, lost, stop_worth),
        *(first, old, begins, target, probs, base),
        work=len(target),
    )
    return first, begins, target, probs, base, old


@linear
def _at_once(
    groups, rows, columns, weights, home, size, live, known, reward, discount, lost,
    stops, stop_worth,
):  # fmt: skip
    """All passes in one call, which is what small models are waiting for."""
    states = len(home)
    many = np.zeros(states, np.int32)
    inside = np.empty(len(rows) - 1, np.int32)
    _count(
        groups, rows, columns, weights, home, live, discount, many, inside, 0, states
    )  # fmt: skip
    first, place = _number(home, many, stops, size)
    count = first[size]
    old = np.full(count, -1, np.int32)
    begins = np.zeros(count + 1, np.int32)
    _list(groups, home, live, inside, place, old, begins, 0, states)
    for choice in range(count):
        begins[choice + 1] += begins[choice]
    target = np.empty(begins[count], np.int32)
    probs = np.empty(begins[count], np.float64)
    base = np.zeros(count, np.float64)
    _write(
        rows, columns, weights, home, known, reward, discount, lost, stop_worth,
        first, old, begins, target, probs, base, 0, size,
    )  # fmt: skip
    return first, begins, target, probs, base, old


@linear
def _number_open(open_, before, number, part, start, end):
    """The numbers of those, after as many before the range."""
    count = before[part]
    for state in range(max(start, 0), end):
        number[state] = count if open_[state] else -1
        count += open_[state]


@linear
def _sum(values, sums, part, start, end):
    """The sum of a range."""
    total = 0
    for at in range(max(start, 0), end):
        total += values[at]
    sums[part] = total


@linear
def _add_up(values, before, part, start, end):
    """Sums from the first place on, of a range after so much before it."""
    total = before[part]
    for at in range(max(start, 0), end):
        total += values[at]
        values[at] = total


@linear
def _count(
    groups, rows, columns, weights, home, live, discount, many, inside, start, end
):  # fmt: skip
    """How many choices each state brings; those that are never over are left out.

    And how many branches of each choice lead to other equations.
    """
    for state in range(max(start, 0), end):
        own = home[state]
        if own < 0:
            continue
        for choice in range(groups[state], groups[state + 1]):
            if not live[choice]:
                continue
            back, all_, others, known = 0.0, 0.0, 0, 0
            for branch in range(rows[choice], rows[choice + 1]):
                all_ += weights[branch]
                to = home[columns[branch]]
                if to == own:
                    back += weights[branch]
                elif to < 0:
                    known += 1
                else:
                    others += 1
            inside[choice] = others
            if back == all_ and discount == 1.0 and others + known == 0:
                live[choice] = False
            else:
                many[state] += 1


@linear
def _begin(home, many, first, start, end):
    """How many choices the equation of each state has, at the next one."""
    for state in range(max(start, 0), end):
        if home[state] >= 0:
            first[home[state] + 1] = many[state]


@linear
def _place(home, first, place, start, end):
    """Where the choices of each state begin."""
    for state in range(max(start, 0), end):
        if home[state] >= 0:
            place[state] = first[home[state]]


@linear
def _number(home, many, stops, size):
    """Where the choices of each equation begin, and those that each state brings."""
    first = np.zeros(size + 1, np.int32)
    place = np.zeros(len(home), np.int32)
    for state in range(len(home)):
        if home[state] >= 0:
            first[home[state] + 1] += many[state]
    for own in range(size):
        if len(stops) > 0 and stops[own]:
            first[own + 1] += 1
        first[own + 1] += first[own]
    free = first.copy()
    for state in range(len(home)):
        own = home[state]
        if own >= 0:
            place[state] = free[own]
            free[own] += many[state]
    return first, place


@linear
def _list(groups, home, live, inside, place, old, begins, start, end):
    """Which choices these are; how many branches of each lead to other equations."""
    for state in range(max(start, 0), end):
        if home[state] < 0:
            continue
        at = place[state]
        for choice in range(groups[state], groups[state + 1]):
            if live[choice]:
                old[at] = choice
                begins[at + 1] = inside[choice]
                at += 1


@linear
def _write(
    rows, columns, weights, home, known, reward, discount, lost, stop_worth,
    first, old, begins, target, probs, base, start, end,
):  # fmt: skip
    """What the choices of some equations lead to, and are worth beside."""
    for own in range(max(start, 0), end):
        for at in range(first[own], first[own + 1]):
            choice = old[at]
            if choice < 0:
                base[at] = stop_worth[own]
                continue
            # What leaves is summed, not what is left of one: nothing cancels out.
            leaves, back, all_, sure = 0.0, 0.0, 0.0, 0.0
            for branch in range(rows[choice], rows[choice + 1]):
                weight = weights[branch]
                to = home[columns[branch]]
                all_ += weight
                if to == own:
                    back += weight
                else:
                    leaves += weight
                    if to < 0:
                        sure += weight * known[columns[branch]]
            leaves += lost * back
            worth = discount * sure
            if len(reward) > 0:
                worth += reward[choice] * all_
            base[at] = worth / leaves
            k = begins[at]
            for branch in range(rows[choice], rows[choice + 1]):
                to = home[columns[branch]]
                if to >= 0 and to != own:
                    target[k] = to
                    probs[k] = discount * weights[branch] / leaves
                    k += 1
