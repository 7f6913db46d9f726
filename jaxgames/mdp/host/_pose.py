"""The equations of open states, written down by one pass over a model."""

import numpy as np

from jaxgames.host import linear


@linear
def pose(
    groups, rows, columns, weights, home, size, live, known, reward, discount, lost,
    stops, stop_worth,
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
        reward: float64 `[C]`, what a choice earns.
        discount: what a step is worth beside the one before it.
        lost: what is missing of that to one.
        stops: bool `[N]`, the equations that have one more choice: to stop; or empty.
        stop_worth: float64 `[N]`, what that is worth; or empty.

    Returns:
        The choices of each equation (int32 `[N + 1]`); the branches of each of these
        (int32 `[K + 1]`); where they lead and their probabilities; what else a choice
        is worth (float64 `[K]`); and which choice of the model it is (int32 `[K]`, -1
        to stop).
    """
    first = np.zeros(size + 1, np.int32)
    for state in range(len(home)):
        own = home[state]
        if own < 0:
            continue
        for choice in range(groups[state], groups[state + 1]):
            if not live[choice]:
                continue
            back, all_, inside = 0.0, 0.0, 0
            for branch in range(rows[choice], rows[choice + 1]):
                to = home[columns[branch]]
                all_ += weights[branch]
                if to == own:
                    back += weights[branch]
            if back == all_ and discount == 1.0:
                others = 0
                for branch in range(rows[choice], rows[choice + 1]):
                    if home[columns[branch]] != own:
                        others += 1
                if others == 0:
                    live[choice] = False
                    continue
            first[own + 1] += 1
    if len(stops) > 0:
        for own in range(size):
            if stops[own]:
                first[own + 1] += 1
    for own in range(size):
        first[own + 1] += first[own]
    count = first[size]
    old = np.full(count, -1, np.int32)
    place = first.copy()
    begins = np.zeros(count + 1, np.int32)
    for state in range(len(home)):
        own = home[state]
        if own < 0:
            continue
        for choice in range(groups[state], groups[state + 1]):
            if live[choice]:
                at = place[own]
                place[own] = at + 1
                old[at] = choice
                inside = 0
                for branch in range(rows[choice], rows[choice + 1]):
                    to = home[columns[branch]]
                    if to >= 0 and to != own:
                        inside += 1
                begins[at + 1] = inside
    for at in range(count):
        begins[at + 1] += begins[at]
    target = np.empty(begins[count], np.int32)
    probs = np.empty(begins[count], np.float64)
    base = np.zeros(count, np.float64)
    for own in range(size):
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
            base[at] = (reward[choice] * all_ + discount * sure) / leaves
            k = begins[at]
            for branch in range(rows[choice], rows[choice + 1]):
                to = home[columns[branch]]
                if to >= 0 and to != own:
                    target[k] = to
                    probs[k] = discount * weights[branch] / leaves
                    k += 1
    return first, begins, target, probs, base, old
