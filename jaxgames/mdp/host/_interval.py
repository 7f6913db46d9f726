"""Interval iteration in place, one state after the other."""

import numpy as np

from jaxgames.host import compiled


@compiled
def iterate(
    groups, rows, target, probs, base, lower, upper, least, slack, tiny, width,
    relative, stop,
):  # fmt: skip
    """Sharpens bounds until they meet, nothing moves any more, or it is told to stop.

    As rounds of [`IntervalIteration`][jaxgames.mdp.reach_probability], but each state
    sees the bounds that others have got in the same round; and every second round goes
    backwards, so that what is known travels far both ways. Sums are made smaller or
    larger by the slack: whatever the bounds are that a state sees, they hold, and so
    do its own.

    Args:
        groups: integers `[N + 1]`, the choices of each state.
        rows: integers `[K + 1]`, the branches to other states of each choice.
        target: integers `[B]`, where these lead.
        probs: float64 `[B]`, their probabilities.
        base: float64 `[K]`, the probability to get to a state of value one.
        lower: float64 `[N]`, written to.
        upper: float64 `[N]`, written to.
        least: 1 where the least choice counts, 0 for the largest.
        slack: more than the relative error of a sum.
        tiny: more than all products of a sum that underflow.
        width: how far apart bounds may stay.
        relative: 1 where that is relative to the lower one.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        How many rounds were made, and 1 if the bounds have met, -1 if they do not move
        any more, or 0 if it was stopped.
    """
    size, rounds = len(groups) - 1, 0
    if size == 0:
        return 0, 1
    while stop[0] == 0:
        moves, met = 0, 1
        for place in range(size):
            state = place if rounds % 2 == 0 else size - 1 - place
            low, high = 0.0, 0.0
            for choice in range(groups[state], groups[state + 1]):
                one, other = base[choice], base[choice]
                for branch in range(rows[choice], rows[choice + 1]):
                    one += probs[branch] * lower[target[branch]]
                    other += probs[branch] * upper[target[branch]]
                first = choice == groups[state]
                if first or (one < low if least == 1 else one > low):
                    low = one
                if first or (other < high if least == 1 else other > high):
                    high = other
            low, high = low * (1.0 - slack), high * (1.0 + slack) + tiny
            if low > lower[state]:
                lower[state] = low
                moves = 1
            if high < upper[state]:
                upper[state] = high
                moves = 1
            near = width * lower[state] if relative == 1 else width
            if upper[state] - lower[state] > near:
                met = 0
        rounds += 1
        if met == 1:
            return rounds, 1
        if moves == 0:
            return rounds, -1
    return rounds, 0


@compiled
def best_choices(groups, rows, target, probs, base, value, least):
    """The first choice of each state that is best by the values of others: int32."""
    size = len(groups) - 1
    best = np.empty(size, np.int32)
    for state in range(size):
        most = 0.0
        for choice in range(groups[state], groups[state + 1]):
            here = base[choice]
            for branch in range(rows[choice], rows[choice + 1]):
                here += probs[branch] * value[target[branch]]
            better = here < most if least == 1 else here > most
            if choice == groups[state] or better:
                most = here
                best[state] = choice
    return best
