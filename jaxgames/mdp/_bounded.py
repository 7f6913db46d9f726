"""Questions about a number of steps: one step back after the other."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import lend, plain
from jaxgames.kept import kept
from jaxgames.mdp._model import MDP, lent_rows
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.host._steps import Looked, steps_back
from jaxgames.tuning.mdp import (
    CHOICES_KEPT_UP_TO,
    DIGITS_OF_FRACTIONS_UP_TO,
    FRACTIONS_UP_TO,
    READ_AT_ONCE,
)

SMALLEST = 1e-290
"""More than what is lost in float64 where numbers get too small for it."""

NEARLY_LOST = 1e-280
"""Where no positive value is below it, none is taken to have become zero."""


class Rows(NamedTuple):
    """A model as arrays for plain loops; probabilities of a choice sum up to one."""

    groups: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    probs: np.ndarray
    slack: float  # more than the relative error of a sum


class Steps(NamedTuple):
    """Bounds of values so many steps before the end, and the choices of each step.

    Attributes:
        lower, upper: float64 `[S]`, rounding included.
        scheduler: int32 `[k, S]`, the choices after 0, 1, ... steps, -1 where nothing
            is to be chosen; None where there are too many.
    """

    lower: np.ndarray
    upper: np.ndarray
    scheduler: np.ndarray | None


def rows_of(model: MDP) -> Rows:
    """The arrays of a model with probabilities; they are kept with it."""
    return kept(model, "rows", lambda: _rows_of(model))


def _rows_of(model: MDP) -> Rows:
    groups, rows, columns = lent_rows(model)
    probs = np.asarray(model.probs, np.float64)
    end = int(rows[int(groups[-1])])
    if end:
        own = np.diff(rows[: int(groups[-1]) + 1])
        total = np.add.reduceat(probs[:end], rows[: int(groups[-1])])
        probs = np.append(probs[:end] / np.repeat(total, own), probs[end:])
    most = int(np.diff(rows).max(initial=0))
    slack = (2 * most + 6) * float(np.finfo(np.float64).eps)
    return Rows(groups, rows, columns, lend(probs), slack)


def walk_back(
    model: MDP,
    table: Rows,
    start: np.ndarray,
    count: int,
    maximises: np.ndarray,
    *,
    reward: np.ndarray | None = None,
    discount: float = 1.0,
    fixed: Any = None,
    changes: int = 0,
    steady: bool = True,
    sure: Any = None,
) -> Steps:
    """Values so many steps before the end.

    Args:
        model: the model.
        table: its arrays.
        start: float64 `[S]`, the values at the end.
        count: how many steps.
        maximises: bool `[S]`, states in which the largest choice counts, else the
            least: of a game those of one side.
        reward: float64 `[C]`, what a choice earns; None for nothing.
        discount: what a step is worth beside the one before it.
        fixed: a function of the number of steps that are left: float64 `[S]`, values
            that are known, nan where they are not. None: none is known.
        changes: it is the same for all numbers up to this one, and for all larger ones.
        steady: whether it is the same for all numbers, and for `start`.
        sure: bool `[S]`, where values of `start` are probabilities that are exactly
            one: where that follows of others, they have no error. None: nowhere.
    """
    size = model.num_states
    real = np.diff(table.groups) > 0
    earned = np.zeros(0) if reward is None else reward
    values = np.array(start, np.float64)
    signed = bool((earned < 0).any() or (values < 0).any())
    largest = np.abs(earned).max(initial=0.0)
    error = np.zeros(1)
    keeps = size * count <= CHOICES_KEPT_UP_TO
    scheduler = np.empty((count if keeps else 0, size), np.int32)
    how = lend(maximises), float(discount), largest, table.slack
    rows = table[:4]
    ones = np.zeros(size, bool) if sure is None else np.array(sure)
    most = max(1, READ_AT_ONCE // max(1, model.num_branches))
    steady = steady and reward is None
    left = 0
    while left < count:
        limits.tick("stepping back", left, "steps")
        until = changes if left < changes < count else count
        until = min(until, left + most)
        found = np.zeros(size) if fixed is None else np.array(fixed(left + 1))
        here = real if fixed is None else real & np.isnan(found)
        known = (found == 1) & ~here if sure is not None else np.zeros(size, bool)
        looked = _looked(table, here)
        with plain((until - left) * model.num_branches):
            made = steps_back(
                *(*rows, earned, values, ones, looked, found, known, *how),
                *(int(signed), error, until - left, count - left, int(steady)),
                *(int(sure is not None), scheduler),
            )
        if made % 2:
            values, ones = found, known
        left += made
        if steady and made and left < until:  # each step is like the one before
            if keeps:
                scheduler[: count - left] = scheduler[count - left]
            break
    even = float(error[0]) if signed else None
    rounding = count * table.slack
    clock = scheduler if keeps else None
    return steps_of(values, ones, even, rounding, clock, chances=sure is not None)


def steps_of(
    values, ones, even: float | None, share: float, scheduler, *, chances: bool
) -> Steps:
    """Values whose error is even, or a share of them; no error where they are one.

    If they are `chances`, which are never more than one, no bound is.
    """
    if even is not None:
        off = np.where(ones, 0.0, even)
        off += (off > 0) * SMALLEST
        return Steps(values - off, values + off, scheduler)
    some = values > 0
    # Where some are so small, others may have got too small to be told from zero.
    lost = some if values.min(initial=1.0, where=some) > NEARLY_LOST else True
    off = np.where(ones, 0.0, values * share + lost * SMALLEST)
    most = 1.0 if chances else np.inf
    upper = np.minimum(values + off, most)
    return Steps(np.maximum(values - off, 0.0), upper, scheduler)


def _looked(table: Rows, here: np.ndarray) -> Looked:
    """States that are looked at, bool `[S]`, in plain arrays."""
    groups, rows = table.groups, table.rows
    first = groups[:-1]
    row = np.where(here, first, np.int32(NO_CHOICE))
    single = here & (groups[1:] - first == 1)
    single[single] = np.diff(rows)[first[single]] == 1
    states = np.flatnonzero(single).astype(np.int32)
    others = np.flatnonzero(here & ~single).astype(np.int32)
    return Looked(states, table.columns[rows[first[states]]], others, row)


def walk_exactly(
    model: MDP,
    start: Sequence[float | Fraction],
    count: int,
    largest: np.ndarray,
    *,
    reward: np.ndarray | None = None,
    discount: Fraction = Fraction(1),
    fixed: Any = None,
) -> list[Fraction] | None:
    """The values that `walk_back` gives, in fractions; None where that is too much.

    In the states of `largest`, bool `[S]`, the largest choice counts, else the least.
    """
    rows, columns = np.asarray(model.row_offsets), np.asarray(model.columns)
    groups = np.asarray(model.row_group_offsets)
    if count * (len(columns) + len(rows)) > FRACTIONS_UP_TO:
        return None
    real = np.flatnonzero(np.diff(groups) > 0).tolist()
    probs = [Fraction(p) for p in np.asarray(model.probs).tolist()]
    # Each step makes fractions longer by the digits of its probabilities.
    digits = 1 + max((p.denominator.bit_length() for p in probs), default=0)
    if count * count * (len(columns) + len(rows)) * digits > DIGITS_OF_FRACTIONS_UP_TO:
        return None
    values = [Fraction(x) for x in start]

    def worth(choice: int) -> Fraction:
        here = range(rows[choice], rows[choice + 1])
        total = sum(probs[b] for b in here)
        found = sum((probs[b] * values[columns[b]] for b in here), Fraction(0)) / total
        earned = Fraction(0 if reward is None else float(reward[choice]))
        return earned + discount * found

    for left in range(1, count + 1):
        limits.tick("stepping back in fractions", left, "steps")
        known = np.full(len(values), np.nan) if fixed is None else fixed(left)
        new = list(values)
        for s in real:
            if np.isnan(known[s]):
                new[s] = (max if largest[s] else min)(
                    worth(c) for c in range(groups[s], groups[s + 1])
                )
            else:
                new[s] = Fraction(float(known[s]))
        values = new
    return values
