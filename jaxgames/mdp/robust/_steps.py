"""Questions about a number of steps of an interval model."""

from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import limits
from jaxgames.host import compiled
from jaxgames.mdp._bounded import Steps, steps_of
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._equations import slack_of
from jaxgames.mdp.robust._natures import Natures, distribute, expect, stays
from jaxgames.tuning.mdp import CHOICES_KEPT_UP_TO


@compiled
def _step(nat, base, share, values, ones, here, least, nature, found, sure, chosen):
    """One step back.

    Args:
        nat: natures.
        base: float64 `[C]`, what choices earn.
        share: what a step is worth beside the one before it.
        values: float64 `[S]`, after the step.
        ones: int8 `[S]`, where these are exactly one.
        here: bool `[S]`, the states to look at.
        least: 1 where the scheduler wants the least.
        nature: likewise nature.
        found: float64 `[S]`, written to.
        sure: int8 `[S]`, where that is exactly one; written to.
        chosen: int32 `[S]`, written to.
    """
    probs = np.zeros(len(nat.lower))
    for state in range(len(here)):
        if not here[state]:
            continue
        best, by, surely = 0.0, -1, least
        for choice in range(nat.groups[state], nat.groups[state + 1]):
            worth, _ = expect(nat, values, choice, nature, probs)
            worth = base[choice] + share * worth
            one = 1
            if nature == 1:
                for branch in range(nat.rows[choice], nat.rows[choice + 1]):
                    if ones[nat.target[branch]] == 0:
                        one = 0
            else:
                one = stays(nat, choice, ones, 1)
            if one == 1 - least:
                surely = one
            if by < 0 or (worth < best if least == 1 else worth > best):
                best, by = worth, choice
        found[state], chosen[state], sure[state] = best, by, surely


def walk_back(
    nat: Natures,
    start: np.ndarray,
    count: int,
    optimum: tuple[bool, bool],
    *,
    reward: np.ndarray | None = None,
    discount: Fraction = Fraction(1),
    fixed: Any = None,
    sure: Any = None,
) -> tuple[Steps, np.ndarray | None]:
    """Values so many steps before the end; nature may look at the clock, too.

    Args:
        nat: the natures.
        start: float64 `[S]`, the values at the end.
        count: how many steps.
        optimum: whether the scheduler and whether nature wants the least.
        reward: float64 `[C]`, what a choice earns; None for nothing.
        discount: what a step is worth beside the one before it.
        fixed: a function of the number of steps that are left: float64 `[S]`, values
            that are known, nan where they are not; None where none are.
        sure: bool `[S]`, where values of `start` are probabilities that are one.

    Returns:
        The values, and nature's distributions after 0, 1, ... steps, float64 `[k, B]`;
        None where these are too many.
    """
    size = len(nat.groups) - 1
    real = np.diff(nat.groups) > 0
    base = np.zeros(len(nat.owner)) if reward is None else reward
    values = np.array(start, np.float64)
    signed = bool((base < 0).any() or (values < 0).any())
    slack, error, share = slack_of(nat), 0.0, float(discount)
    ones = np.zeros(size, np.int8) if sure is None else np.asarray(sure).astype(np.int8)
    kept: list[np.ndarray] | None = [] if size * count <= CHOICES_KEPT_UP_TO else None
    room = count * len(nat.target) <= CHOICES_KEPT_UP_TO // 4
    natures: list[np.ndarray] | None = [] if room else None
    largest = np.abs(base).max(initial=0.0)
    for left in range(1, count + 1):
        limits.tick("stepping back", left, "steps")
        if natures is not None:
            to = values[nat.target]
            natures.append(distribute(nat, -to if optimum[1] else to))
        found = np.zeros(size) if fixed is None else fixed(left).copy()
        here = real if fixed is None else real & np.isnan(found)
        surely = ((found == 1) & ~here & (sure is not None)).astype(np.int8)
        chosen = np.full(size, NO_CHOICE, np.int32)
        _step(
            *(nat, base, share, values, ones, here, int(optimum[0])),
            *(int(optimum[1]), found, surely, chosen),
        )
        found = np.where(np.isnan(found), 0.0, found)
        if sure is None:
            surely = np.zeros(size, np.int8)
        if signed:
            top = largest + np.abs(found).max(initial=0.0)
            error = share * error + slack * (top + np.abs(values).max(initial=0.0))
        values, ones = found, surely
        if kept is not None:
            kept.append(chosen)
    values = np.where(ones == 1, 1.0, values)
    scheduler = np.zeros((0, size), np.int32)
    if count:
        scheduler = None if kept is None else np.array(kept[::-1], np.int32)
    even = float(error) if signed else None
    how = {"chances": sure is not None}
    steps = steps_of(values, ones == 1, even, count * slack, scheduler, **how)
    if natures is None:
        return steps, None
    empty = np.zeros((0, len(nat.target)))
    return steps, np.array(natures[::-1]) if count else empty
