"""A guess of all values by strategy iteration in floating point (host only).

Strategies are improved, player 1's until he has none better before each step of player
0's, by the means of the cycles that plays end in and by what is won or lost on the way
there. It takes few steps on most games. Nothing of it need be right: roundings and ties
may lead astray, and whoever uses the values has to prove them. They are means of
cycles, and so exact where the strategies are optimal.

Reference:
    Cochet-Terrasson and Gaubert, A policy iteration algorithm for zero-sum stochastic
    games with mean payoff, doi:10.1016/j.crma.2006.07.011.
"""

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.host import compiled, linear
from jaxgames.meanpayoff._rationals import Ratio, reduced
from jaxgames.tuning.energy import AHEAD, BOTH, EDGES_AT_ONCE
from jaxgames.tuning.energy import MOST_STRATEGIES as MOST

CLOSE = 1e-9
"""Differences that are taken for roundings, in parts of the largest weight."""


def guess(arena: Arena) -> Ratio | None:
    """Values that are likely to be right: fractions in lowest terms, int64 `[V]`.

    O(V + E) for each strategy, of which there are few on most games.

    Returns:
        None where no strategies were found that neither player would change, and where
        weights are Python's integers.
    """
    if arena.weight.dtype == object:
        return None
    weight = arena.weight.astype(np.float64)
    width = float(np.abs(weight).max())
    move = np.zeros(len(arena.owner), np.int32)
    lead, den = (np.zeros(len(move), np.int64) for _ in range(2))
    shape = arena.row_ptr, arena.dst, weight, arena.owner
    close, made = CLOSE * max(width, 1.0), 0
    # A few at a time: machine code does not hear of an interrupt, or of a time limit.
    at_once = max(1, EDGES_AT_ONCE // len(arena.dst))
    while made < MOST:
        limits.tick("improving strategies", made, "strategies")
        last = min(made + at_once, MOST)
        if _improve(*shape, move, lead, den, close, made, last):
            break
        made = last
    else:
        return None
    # Means were of rounded sums; these are exact. Their halves fit 64 bits.
    exact = arena.weight.astype(np.int64)
    total = np.zeros((len(move), 2), np.int64)
    _sum_up(arena.dst, exact >> 32, exact & (2**32 - 1), move, lead, total)
    if width * len(move) >= 2.0**61:
        total = total.astype(object)
    num = total[:, 0] * 2**32 + total[:, 1]
    return reduced(num[lead], den)


@linear
def _improve(row_ptr, dst, weight, owner, move, lead, den, close, first, last):
    """Improves strategies until neither player has a better one; whether it was so.

    From the strategy of number `first`, which `move` is if it is not 0, up to `last`.
    """
    size = len(move)
    gain, bias = np.zeros(size), np.zeros(size)
    path, seen = np.empty(size, np.int32), np.zeros(size, np.int32)
    for _ in range(AHEAD if first == 0 else 0):
        _look_ahead(row_ptr, dst, weight, owner, move, gain, bias)
        gain, bias = bias, gain
    for made in range(first, last):
        _evaluate(dst, weight, move, lead, den, gain, bias, path, seen)
        hers = _switch(row_ptr, dst, weight, owner, move, gain, bias, close, True)
        if hers > 0 and made >= BOTH:
            continue
        his = _switch(row_ptr, dst, weight, owner, move, gain, bias, close, False)
        if hers + his == 0:
            return True
    return False


@compiled
def _look_ahead(row_ptr, dst, weight, owner, move, gain, more):
    """What each vertex gets in one step more, and the edge for it."""
    for v in range(len(move)):
        first = row_ptr[v]
        best, most = first, weight[first] + gain[dst[first]]
        for e in range(first + 1, row_ptr[v + 1]):
            got = weight[e] + gain[dst[e]]
            if got != most and (got < most) == owner[v]:
                best, most = e, got
        move[v], more[v] = best, most


@compiled
def _evaluate(dst, weight, move, lead, den, gain, bias, path, seen):
    """Where each play ends, and what it gains before beyond the mean of that cycle.

    `lead` becomes a vertex of that cycle, and `den` its length.
    """
    size = len(move)
    seen[:] = 0
    for start in range(size):
        count, v = 0, start
        while seen[v] == 0:
            path[count], seen[v] = v, start + 1
            count += 1
            v = dst[move[v]]
        if seen[v] == start + 1:
            # A new cycle: the end of the path, from v on.
            total, length, k = 0.0, 0, count
            while True:
                k -= 1
                total += weight[move[path[k]]]
                length += 1
                if path[k] == v:
                    break
            lead[v], den[v] = v, length
            gain[v], bias[v] = total / length, 0.0
            for k in range(count - length, count):
                seen[path[k]] = start + 1
            first = count - length
        else:
            first = -1
        for k in range(count - 1, -1, -1):
            if k == first:
                continue
            u = path[k]
            w = dst[move[u]]
            lead[u], den[u], gain[u] = lead[w], den[w], gain[w]
            bias[u] = weight[move[u]] - gain[w] + bias[w]


@linear
def _sum_up(dst, high, low, move, lead, total):
    """What the weights of each cycle sum up to, in halves, at its lead."""
    for v in range(len(move)):
        if lead[v] != v:
            continue
        u = v
        while True:
            total[v, 0] += high[move[u]]
            total[v, 1] += low[move[u]]
            u = dst[move[u]]
            if u == v:
                break


@compiled
def _switch(row_ptr, dst, weight, owner, move, gain, bias, close, player):
    """Takes a better edge at each vertex of a player; at how many there is one."""
    sign, count = (-1.0 if player else 1.0), 0
    for v in range(len(move)):
        if owner[v] != player:
            continue
        best, most, more = move[v], sign * gain[v], sign * bias[v]
        for e in range(row_ptr[v], row_ptr[v + 1]):
            u = dst[e]
            mean = sign * gain[u]
            ahead = sign * (weight[e] - gain[u] + bias[u])
            if mean > most + close or (mean > most - close and ahead > more + close):
                best, most, more = e, mean, ahead
        if best != move[v]:
            move[v] = best
            count += 1
    return count
