"""Values of a number of steps, found anew by their definition, step by step backwards.

In float64 first, each step rounded outwards, which is nearly always near enough; then
in numbers of more digits; and in fractions where that takes no long time.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import compiled, lend, plain
from jaxgames.mdp._values_verdict import Ends
from jaxgames.tuning.mdp import CHAIN_SOLVED_UP_TO, READ_AT_ONCE

if TYPE_CHECKING:
    from jaxgames.mdp._verify_values import Claim

UNIT = 1.2e-16
"""More than the relative error of an operation: 2**-53."""

TINY = 1e-300
"""More than what products lose that get too small for float64."""

SMALLEST, LARGEST = 1e-280, 1e290
"""Probabilities are not below, and no value is beyond, where float64 is taken."""

GOAL, LOST, NO_STATE = 1, 2, 4
"""States of the goal; that may not be passed; and that are padding: bits."""


class Walk(NamedTuple):
    """A question about a number of steps.

    Attributes:
        steps: how many there are.
        start: float64 `[S]`, what states are worth behind them.
        optimum: what is asked for, the other way round if it `flips`; of a game bool
            `[S]`, where the largest is chosen.
        earned: float64 `[C]`, what choices earn.
        discount: what a step is worth beside the one before it.
        left: bool `[S]`, what may be passed; None for all.
        right: bool `[S]`, the goal, which counts in the last steps of the `window`.
        window: how many these are.
        flips: whether one less what is found is asked for.
        chosen: int `[k, S]`, what is chosen after so many steps, -1 for the first
            choice; None for the best.
    """

    steps: int
    start: np.ndarray
    optimum: str | np.ndarray
    earned: np.ndarray
    discount: Fraction = Fraction(1)
    left: np.ndarray | None = None
    right: np.ndarray | None = None
    window: int = 0
    flips: bool = False
    chosen: np.ndarray | None = None


def is_short(claim: "Claim", walk: Walk) -> bool:
    """Whether it takes no long time in fractions."""
    return walk.steps * len(claim.weight) <= CHAIN_SOLVED_UP_TO * 100


def stepped(claim: "Claim", walk: Walk) -> np.ndarray:
    """The values of a number of steps, as fractions `[S]`."""
    share = _shares(claim, _fractions(claim.weight))
    numbers, earned = _fractions(_at_the_end(walk)), _fractions(walk.earned)
    begins = claim.rows[: int(claim.groups[-1])]
    for step in _counted(walk):
        sums = np.add.reduceat(share * numbers[claim.branch_target], begins)
        worth = earned[: len(begins)] + walk.discount * sums
        numbers = _best(claim, walk, step, worth, numbers)
    return numbers


def stepped_ends(claim: "Claim", walk: Walk) -> Iterator[Ends]:
    """Bounds of the values of a number of steps, `[S]`: nearer and nearer."""
    if walk.start.dtype != object:
        if _is_usual(claim, walk):
            yield _rounded_outwards(claim, walk)
        yield stepped_between(claim, walk)
    if is_short(claim, walk):
        values = stepped(claim, walk)
        yield values, values


def _is_usual(claim: "Claim", walk: Walk) -> bool:
    """Whether nothing in float64 gets too large, or too small a probability."""
    sizes = (np.abs(x).max(initial=0.0) for x in (walk.start, walk.earned))
    largest = sum(x * (walk.steps + 1.0) for x in sizes)
    least = claim.weight.min(initial=1.0, where=claim.weight > 0)
    return bool(largest < LARGEST and least > SMALLEST and 0 <= walk.discount <= 1)


def _rounded_outwards(claim: "Claim", walk: Walk) -> Ends:
    """Bounds in float64."""
    size, real = len(claim.real), int(claim.groups[-1])
    share = _shares(claim, claim.weight)
    kind = np.where(claim.real, 0, NO_STATE).astype(np.int8)
    if walk.left is not None:
        kind[~walk.left] |= LOST
    if walk.right is not None:
        kind[walk.right] |= GOAL
    largest = walk.optimum == "max"
    if not isinstance(walk.optimum, str):
        largest = walk.optimum
    largest = np.broadcast_to(largest, size) != walk.flips
    clock = walk.chosen
    if clock is None:
        clock = np.empty((0, size), np.int32)
    start = _at_the_end(walk).astype(np.float64)
    now, then = (np.stack([start, start], axis=1) for _ in range(2))
    rows = (claim.groups, claim.rows[: real + 1], claim.branch_target, share)
    given = lend(
        (
            *rows,
            *(walk.earned.astype(np.float64), float(walk.discount), kind, largest),
            clock.astype(np.int32, copy=False),
        )
    )
    at_once = max(1, READ_AT_ONCE // max(1, len(share)))
    done = 0
    while done < walk.steps:
        limits.tick("verifying", done, "steps")
        count = min(at_once, walk.steps - done)
        with plain(count * len(share)):
            _back(
                *(*given, now, then, done, count, walk.steps, walk.window),
                int(walk.flips),
            )
        if count % 2:
            now, then = then, now
        done += count
    return now[:, 0], now[:, 1]


@compiled
def _mean(rows, target, share, ends, choice):
    """Bounds of what a choice leads to, on average: no more than the most of it."""
    first, last = rows[choice], rows[choice + 1]
    least, most, below, above, sizes = np.inf, -np.inf, 0.0, 0.0, 0.0
    for branch in range(first, last):
        prob = share[branch]
        if prob > 0.0:
            one, other = ends[target[branch], 0], ends[target[branch], 1]
            least = min(least, one)
            most = max(most, other)
            one *= prob
            other *= prob
            below += one
            above += other
            # The larger of both sizes.
            sizes += max(other, -one)
    off = UNIT * (2.0 * (last - first) + 12.0) * sizes + TINY
    return max(least, below - off), min(most, above + off)


@compiled
def _back(
    groups, rows, target, share, earned, discount, kind, largest, clock, ends, new,
    done, count, steps, window, flips,
):  # fmt: skip
    """Bounds of values so many steps earlier, each step rounded outwards.

    Args:
        groups: int `[S + 1]`, the choices of each state.
        rows: int `[C + 1]`, the branches of each choice.
        target: int `[E]`, where they lead.
        share: float64 `[E]`, their probabilities, relative to the sum of a choice's.
        earned: float64 `[C]`, what a choice earns.
        discount: what a step is worth beside the one before it.
        kind: int8 `[S]`, what states are.
        largest: bool `[S]`, where the largest choice counts, else the least.
        clock: int32 `[k, S]`, what is chosen after so many steps, -1 for the first
            choice; or `[0, S]`: the best.
        ends: float64 `[S, 2]`, both bounds after the steps that are done; written to.
        new: float64 `[S, 2]`, where they are after an odd number of steps.
        done: how many steps from the end are done.
        count: how many follow.
        steps: how many there are.
        window: in the last of how many a goal counts.
        flips: 1 where one less the value is asked for.
    """
    for step in range(count):
        odd = step % 2 == 1
        now, then = (new, ends) if odd else (ends, new)
        counts = done + step < window
        place = steps - done - step - 1
        for state in range(len(kind)):
            if kind[state] & GOAL and counts:
                then[state, 0] = then[state, 1] = 1.0 - flips
                continue
            if kind[state] & LOST:
                then[state, 0] = then[state, 1] = 1.0 * flips
                continue
            if kind[state] & NO_STATE:
                then[state, 0], then[state, 1] = now[state, 0], now[state, 1]
                continue
            begin, end = groups[state], groups[state + 1]
            if len(clock) > 0:
                begin = clock[place, state] if clock[place, state] >= 0 else begin
                end = begin + 1
            best_low, best_high = 0.0, 0.0
            for choice in range(begin, end):
                one, other = _mean(rows, target, share, now, choice)
                gain = earned[choice]
                if discount != 1.0 or gain != 0.0:
                    one *= discount
                    other *= discount
                    size = max(other, -one) + (gain if gain > 0.0 else -gain)
                    off = 8.0 * UNIT * size + TINY
                    one = one + gain - off
                    other = other + gain + off
                if choice == begin:
                    best_low, best_high = one, other
                elif largest[state]:
                    best_low, best_high = max(best_low, one), max(best_high, other)
                else:
                    best_low, best_high = min(best_low, one), min(best_high, other)
            then[state, 0], then[state, 1] = best_low, best_high


def stepped_between(claim: "Claim", walk: Walk) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the values of a number of steps, long double `[S]`: least and most.

    Each step is rounded outwards. A mean is between the least and the largest of its
    numbers, so what is known exactly, as zero and one are, stays so.
    """
    given = claim.weight, _at_the_end(walk), walk.earned
    weight, start, earned = (x.astype(np.longdouble) for x in given)
    share = _shares(claim, weight)
    begins = claim.rows[: int(claim.groups[-1])]
    earned = earned[: len(begins)]
    discount = np.longdouble(walk.discount.numerator) / walk.discount.denominator
    adds = (earned != 0) | (walk.discount != 1)
    eps = np.finfo(np.longdouble).eps
    slack = (3 * int(np.diff(claim.rows).max(initial=0)) + 8) * eps
    least = most = start
    for step in _counted(walk):
        found = []
        for numbers, outwards, inner, outer in (
            (least, -1, np.maximum, np.minimum),
            (most, 1, np.minimum, np.maximum),
        ):
            after = numbers[claim.branch_target]
            terms = share * after
            off = slack * np.add.reduceat(np.abs(terms), begins)
            mean = np.add.reduceat(terms, begins) + outwards * off
            mean = discount * inner(mean, outer.reduceat(after, begins))
            off = np.where(adds, 8 * eps * (np.abs(earned) + np.abs(mean)), 0)
            worth = earned + mean + outwards * off
            found.append(_best(claim, walk, step, worth, numbers))
        least, most = found
    return least, most


def _at_the_end(walk: Walk) -> np.ndarray:
    """What states are worth behind the steps, `[S]`.

    One less than a probability is found as the probability of the opposite: all that
    is added up is positive then, and small numbers are as precise as others.
    """
    return 1 - walk.start if walk.flips else walk.start


def _fractions(values: np.ndarray) -> np.ndarray:
    return np.array([Fraction(x) for x in values.tolist()], object)


def _shares(claim: "Claim", weight: np.ndarray) -> np.ndarray:
    """The probability of each branch beside the sum of its choice's."""
    rows = claim.rows[: int(claim.groups[-1]) + 1]
    return weight / np.repeat(np.add.reduceat(weight, rows[:-1]), np.diff(rows))


def _counted(walk: Walk) -> Iterator[int]:
    for step in range(1, walk.steps + 1):
        limits.tick("verifying", step, "steps")
        yield step


def _best(
    claim: "Claim", walk: Walk, step: int, worth: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    """The values one step earlier, `[S]`, of what choices are worth, `[C]`."""
    new, real = numbers.copy(), claim.real
    starts = claim.groups[:-1][real]
    if walk.chosen is not None:
        own = walk.chosen[walk.steps - step][real]
        new[real] = worth[np.where(own < 0, starts, own)]
    elif isinstance(walk.optimum, str):
        better = np.minimum if (walk.optimum == "min") != walk.flips else np.maximum
        new[real] = better.reduceat(worth, starts)
    else:
        ends = (x.reduceat(worth, starts) for x in (np.maximum, np.minimum))
        new[real] = np.where(walk.optimum[real] != walk.flips, *ends)
    if walk.left is not None:
        new[~walk.left] = int(walk.flips)
        if step <= walk.window:
            new[walk.right] = 1 - int(walk.flips)
    return new
