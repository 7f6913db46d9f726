"""Long-run averages of a Markov chain by leaving out one state after the other.

No number is ever subtracted, so that nothing cancels out: each share of time is known
relative to itself, however small it is, and however slowly the chain mixes [1]. How far
off each number may be is counted along: that is little for lines and trees. Where each
state is next to many, this is known [2]: where all that leads from state to state among
k is off by a share of e, shares of time are off by 2 (k - 1) e at most, since they are
sums of products of k - 1 such numbers; and a state that is left out puts the others off
by a few roundings, whatever went before.

[1] Grassmann, Taksar and Heyman, Regenerative analysis and steady state distributions
for Markov chains, Operations Research 33 (1985), doi:10.1287/opre.33.5.1107.
[2] O'Cinneide, Entrywise perturbation theory and error analysis for Markov chains,
Numer. Math. 65 (1993), doi:10.1007/BF01385743.
"""

import heapq
import math

import numpy as np

from jaxgames.mdp._average_policies import Members
from jaxgames.tuning.mdp import DENSE_UP_TO, ELIMINATED_IN

EPS = 1.2e-16
"""More than the relative error of one operation."""

ROUNDED = 40.0
"""More than how many operations a number goes through while a state is left out: the
sum of a row of numpy among them."""

SMALLEST = 1e-280
"""Numbers that are smaller, or larger than its inverse, could lose digits."""


def average_of_chain(own: Members, slack: float, stop) -> tuple[float, float] | None:
    """Bounds of the average of an end component in which nobody has a choice.

    States with few neighbours are left out first. O(n + f) numbers are looked at, where
    f is what fills in: f = n for a line, n^2 for a grid, n^3 where all are neighbours.

    Args:
        own: the component.
        slack: more than the relative error of the probabilities.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        Below and above; None where that takes too long, or numbers get too small.
    """
    found = _shares(own, slack, stop)
    if found is None:
        return None
    shares, off = found
    reward = own.reward.tolist()
    whole = math.fsum(shares)
    earned = math.fsum(x * y for x, y in zip(shares, reward, strict=True))
    size = math.fsum(x * abs(y) for x, y in zip(shares, reward, strict=True))
    away = (2.02 * off + 8 * EPS) * size / whole
    return earned / whole - away, earned / whole + away


def _shares(own: Members, slack: float, stop) -> tuple[list[float], float] | None:
    """How often each state is passed, relative to the others; how far off at most."""
    size = len(own.states)
    after: list[dict[int, tuple[float, float]]] = [{} for _ in range(size)]
    before: list[set[int]] = [set() for _ in range(size)]
    state = own.owner[own.source].tolist()
    branches = zip(state, own.target.tolist(), own.probs.tolist(), strict=True)
    for here, to, prob in branches:
        if here != to and prob > 0:
            old = after[here].get(to)
            after[here][to] = _sum(old, (prob, slack))
            before[to].add(here)
    queue = [(len(after[x]) * len(before[x]), x) for x in range(size)]
    heapq.heapify(queue)
    gone, left, steps = [False] * size, ELIMINATED_IN, []
    while queue:
        cost, here = heapq.heappop(queue)
        if gone[here] or cost != len(after[here]) * len(before[here]):
            continue
        if len(steps) == size - 1:
            break
        left -= cost + 1
        # What is left costs more and more, except for what is left as a matrix.
        if cost * (size - len(steps) - DENSE_UP_TO) > left:
            break
        if stop[0] or not after[here]:
            return None
        gone[here] = True
        total = math.fsum(x for x, _ in after[here].values())
        off = max(x for _, x in after[here].values()) + EPS
        come = [(x, *after[x].pop(here)) for x in before[here]]
        steps.append((here, come, total, off))
        for to in after[here]:
            before[to].remove(here)
        for origin, prob, error in come:
            share, error = prob / total, error + off + EPS
            onward = after[origin]
            for to, (value, more) in after[here].items():
                if to != origin:
                    value = share * value
                    if value < SMALLEST:
                        return None
                    onward[to] = _sum(onward.get(to), (value, error + more + EPS))
                    before[to].add(origin)
        for x in {*after[here], *before[here]}:
            heapq.heappush(queue, (len(after[x]) * len(before[x]), x))
    rest = [x for x in range(size) if not gone[x]]
    shares, errors = [0.0] * size, [0.0] * size
    dense = _dense_shares(after, rest, stop)
    if dense is None:
        return None
    for here, share in zip(rest, dense, strict=True):
        shares[here], errors[here] = share, 0.0 if len(rest) == 1 else math.inf
    for here, come, total, off in reversed(steps):
        shares[here] = math.fsum(shares[x] * prob for x, prob, _ in come) / total
        errors[here] = max(errors[x] + e for x, _, e in come) + off + 3 * EPS
        if not SMALLEST < shares[here] < 1 / SMALLEST:
            return None
    most = min(max(errors), size * (size * ROUNDED * EPS + 2 * slack))
    # To first order; what is left of that is less than a hundredth.
    return (shares, 1.01 * most) if most < 1e-3 else None


def _dense_shares(after: list[dict], rest: list[int], stop) -> list[float] | None:
    """The same among those states that are left, as a matrix."""
    size = len(rest)
    if size > DENSE_UP_TO:
        return None
    number = {x: i for i, x in enumerate(rest)}
    rates = np.zeros((size, size))
    for here, x in enumerate(rest):
        for to, (value, _) in after[x].items():
            rates[here, number[to]] = value
    for last in range(size - 1, 0, -1):
        row, column = rates[last, :last], rates[:last, last]
        total = row.sum()
        if stop[0] or not total > SMALLEST or not column.any():
            return None
        column /= total
        if column[column > 0].min() * row[row > 0].min() < SMALLEST:
            return None
        rates[:last, :last] += np.outer(column, row)
        np.fill_diagonal(rates[:last, :last], 0.0)
    shares = np.ones(size)
    for here in range(1, size):  # its column was divided by what leaves it already
        shares[here] = np.sum(shares[:here] * rates[:here, here])
        if not SMALLEST < shares[here] < 1 / SMALLEST:
            return None
    return shares.tolist()


def _sum(one: tuple[float, float] | None, other: tuple[float, float]):
    """The sum of two numbers with their relative errors."""
    if one is None:
        return other
    return one[0] + other[0], max(one[1], other[1]) + EPS
