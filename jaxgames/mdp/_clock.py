"""Markov chains in continuous time, by a clock that ticks faster than they move.

A clock ticks at random, at a rate that is larger than that of any state. At each tick a
state is left, as likely as its own rate says. So after k ticks the chain is where one
in discrete time is after k steps, and how many ticks there are in a time is known: the
numbers of Poisson [1]. These are computed from the likeliest outwards as ratios, and
what is beyond those that are kept is less than a geometric series [2]. All terms are
positive, so that rounding is known from their number.

References:
    [1] Jensen, Markoff chains as an aid in the study of Markoff processes, Skand.
    Aktuarietidskr. 36 (1953). Gross and Miller, Oper. Res. 32 (1984),
    doi:10.1287/opre.32.2.343.
    [2] Fox and Glynn, Computing Poisson probabilities, CACM 31 (1988),
    doi:10.1145/42404.42409.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import lend, on_all_cores, plain
from jaxgames.mdp._bounded import Rows
from jaxgames.mdp.host._clock import jump_back, jumps_back
from jaxgames.tuning.base import FEWEST_PLACES
from jaxgames.tuning.mdp import READ_AT_ONCE, TICKS_BETWEEN_LOOKS

ULP = float(np.finfo(np.float64).eps)
SMALLEST = 1e-290
"""Terms that are smaller, beside the largest one, are left out."""

MOST_TICKS = 2.0**33
"""Ticks of the clock that are expected, at most."""


class Clock(NamedTuple):
    """A chain in discrete time that moves as one in continuous time does at ticks.

    Attributes:
        rows: int32 `[S + 1]`.
        columns: int32 `[E]`.
        probs: float64 `[E]`, of each branch at a tick.
        stay: float64 `[S]`, of nothing at a tick.
        rate: ticks in a unit of time.
        slack: more than the relative error of what a tick computes.
    """

    rows: np.ndarray
    columns: np.ndarray
    probs: np.ndarray
    stay: np.ndarray
    rate: float
    slack: float


class Terms(NamedTuple):
    """What the values after 0, 1, ... ticks count.

    Attributes:
        first: how many ticks the first term has; those before it are left out.
        weight: float64 `[N]`, positive.
        rest: float64 `[N]`, more than what all terms after each come to.
        before: more than what all terms before the first come to.
        error: more than the relative error of each.
    """

    first: int
    weight: np.ndarray
    rest: np.ndarray
    before: float
    error: float


class Expected(NamedTuple):
    """Bounds of what is expected, and how many ticks were looked at."""

    lower: np.ndarray
    upper: np.ndarray
    ticks: int


def clock_of(table: Rows, exits: np.ndarray, moves: np.ndarray) -> Clock:
    """A clock for a chain.

    Args:
        table: its arrays: one choice in each state.
        exits: float64 `[S]`, the rates at which states are left.
        moves: bool `[S]`, the states that are; the others stay as they are for ever.
    """
    rate = float(exits[moves].max(initial=0.0)) or 1.0
    leave = np.where(moves, exits / rate, 0.0)
    # The difference of numbers that are near is exact; of others it is rounded once.
    stay = np.where(moves, (rate - exits) / rate, 1.0)
    width = np.diff(table.rows)
    probs = table.probs[: int(table.rows[-1])] * np.repeat(leave, width)
    slack = 2 * table.slack + 8 * ULP
    arrays = (table.rows, table.columns, lend(probs), lend(stay))
    return Clock(*arrays, rate, slack)


def ticks_in(rate: float, time: Fraction) -> Terms:
    """How likely there are so many ticks in a time."""
    first, ratio, low, high, error = _ratios(rate, time)
    weight = ratio / (ratio.sum() + low + high)
    # Each is summed by itself: differences of sums would not be near.
    after = np.append(np.cumsum(weight[:0:-1])[::-1], 0.0)
    rest = after * (1 + 4 * error) + 2 * high / ratio.sum()
    return Terms(first, weight, rest, 2 * low / ratio.sum(), 4 * error)


def time_at(rate: float, time: Fraction) -> Terms:
    """For how long, in a time, there have been so many ticks: on average."""
    chances = ticks_in(rate, time)
    count = chances.first + len(chances.weight)
    # There are k ticks for as long as the next one takes, if it comes in time.
    after = np.cumsum(chances.weight[::-1])[::-1]
    more = np.append(after[1:], 0.0) + np.minimum(chances.rest[-1], 1.0)
    weight = np.concatenate([np.ones(chances.first), more]) / rate
    last = chances.first + len(chances.weight) - 1
    mean = float(rate) * float(time)
    beyond = mean / (last + 2)
    far = chances.rest[-1] / (1 - beyond) ** 2 / rate if beyond < 1 else math.inf
    rest = np.append(np.cumsum(weight[:0:-1])[::-1], 0.0) * (1 + 1e-9) + 4 * far
    error = chances.error + 4 * count * ULP + chances.before
    return Terms(0, weight, rest, 0.0, error)


def _ratios(rate: float, time: Fraction) -> tuple[int, np.ndarray, float, float, float]:
    """Poisson's numbers as multiples of the largest, and what is beyond both ends."""
    exact = Fraction(rate) * time
    mean = float(exact)
    if mean == 0.0:
        return 0, np.ones(1), 0.0, 1e-300 * (exact > 0), 4 * ULP
    top = int(exact)
    count = int(60 * math.sqrt(mean)) + 600
    up = np.cumprod(mean / np.arange(top + 1, top + 1 + count, dtype=np.float64))
    down = np.cumprod(np.arange(top, max(top - count, 0), -1, dtype=np.float64) / mean)
    up, down = up[up > SMALLEST], down[down > SMALLEST]
    first, last = top - len(down), top + len(up)
    ratio = np.concatenate([down[::-1], [1.0], up])
    beyond = mean / (last + 1)
    high = ratio[-1] * beyond / (1 - beyond)
    low = 0.0
    if first > 0:
        before = first / mean
        low = ratio[0] * before / (1 - before)
    # Each ratio is a product of so many rounded factors, of a rounded mean.
    error = 4 * (max(len(up), len(down)) + len(ratio) + 8) * ULP
    return first, ratio, 2 * low, 2 * high, error


def expected(
    clock: Clock,
    start: np.ndarray,
    terms: Terms,
    most: np.ndarray,
    epsilon: float,
    relative: bool,
    ends: tuple[np.ndarray, np.ndarray] | None = None,
) -> Expected:
    """The sum over all numbers of ticks of what they count times what comes then.

    Args:
        clock: the chain.
        start: float64 `[S]`, what states are worth at the end.
        terms: what each number of ticks counts.
        most: float64 `[S]`, more than the size of what may come in each state: zero
            where nothing can.
        epsilon: how far apart bounds may stay.
        relative: whether that is relative to the lower one.
        ends: bounds of `start`, of which that is the lower one; None for the same.
    """
    if terms.rest[-1] == 0 and ends is None:  # no time passes: nothing is rounded
        return Expected(start * terms.weight[0], start * terms.weight[0], 0)
    signed = bool((start < 0).any())
    sum_ = np.zeros(len(start))
    over = np.zeros(len(start)) if ends is not None else None
    both, side = np.array([start, start]), 0
    spread = None if ends is None else ends[1] - ends[0]
    last = terms.first + len(terms.weight) - 1
    some = most > 0
    rows = (clock.rows, clock.columns, clock.probs, clock.stay)
    if terms.first == 0:
        sum_ += terms.weight[0] * start
        if over is not None:
            over += terms.weight[0] * spread
    tick, steady = 0, None
    while tick < last:
        if tick >= terms.first and not signed:
            rest = float(terms.rest[tick - terms.first])
            if _is_enough(rest, sum_, most, some, epsilon, relative):
                break
        if over is None and not signed:
            steady = _steady(terms, tick, both[side], sum_, epsilon, relative)
            if steady is not None:
                break
        limits.tick("letting time pass", tick, "ticks")
        # The more there were, the more are made before it is looked again.
        many = max(TICKS_BETWEEN_LOOKS, tick // 8)
        many = min(many, last - tick, 1 + READ_AT_ONCE // max(1, len(clock.probs)))
        weights = np.zeros(many)
        begin = max(terms.first - tick - 1, 0)
        from_ = tick + 1 + begin - terms.first
        weights[begin:] = terms.weight[from_ : from_ + max(many - begin, 0)]
        if over is None and len(start) < FEWEST_PLACES:
            with plain(many * len(clock.probs)):
                side = jumps_back(*rows, both, side, weights, sum_)
        else:
            for weight in weights:
                values, room = both[side], both[1 - side]
                on_all_cores(jump_back, len(start), *rows, values, room)
                side = 1 - side
                sum_ += weight * room
                if over is not None:
                    assert spread is not None
                    more = np.empty(len(start))
                    on_all_cores(jump_back, len(start), *rows, spread, more)
                    spread = more
                    over += weight * spread
        tick += many
    off = (tick + 4) * clock.slack + terms.error + (tick + 4) * ULP
    if steady is None:
        rest = float(terms.rest[tick - terms.first]) + terms.before
        below, far = 0.0, rest * most * (1 + 1e-9)
    else:
        below = steady[0] * (1 - off)
        far = steady[1] * (1 + off) + terms.before * most * (1 + 1e-9)
    total = float(terms.weight.sum()) * (1 + 1e-9)
    error = off * total * most if signed else off * sum_
    tiny = np.where(some, 1e-280, 0.0)
    upper = sum_ + error + far + tiny
    if over is not None:
        upper += over * (1 + off)
    lower = sum_ - error + below - (far if signed else 0.0) - tiny * signed
    return Expected(lower if signed else np.maximum(lower, 0.0), upper, tick)


def _steady(
    terms: Terms,
    tick: int,
    values: np.ndarray,
    sum_: np.ndarray,
    epsilon: float,
    relative: bool,
) -> tuple[float, float] | None:
    """Bounds of what is to come, where that hardly depends on the state any more.

    A mean of values is nowhere more than the largest of them, nor less than the least:
    so no later one is.
    """
    least, largest = float(values.min(initial=np.inf)), float(values.max(initial=0.0))
    if not 0 < least <= largest <= 2 * least:
        return None
    left = terms.weight[max(tick + 1 - terms.first, 0) :]
    some = float(left.sum())
    all_ = some * (1 + 2 * terms.error + 1e-9) + float(terms.rest[-1])
    below = some * (1 - 2 * terms.error - 1e-9) * least
    above = all_ * largest
    near = epsilon / 4 * (float(sum_.min()) + below) if relative else epsilon / 4
    return (max(below, 0.0), above) if above - below <= near else None


def _is_enough(
    rest: float,
    sum_: np.ndarray,
    most: np.ndarray,
    some: np.ndarray,
    epsilon: float,
    relative: bool,
) -> bool:
    """Whether what is left out is little, beside what is there."""
    if not some.any():
        return True
    if relative:
        return bool(np.all(rest * most[some] <= epsilon / 4 * sum_[some]))
    return rest * float(most.max()) <= epsilon / 4
