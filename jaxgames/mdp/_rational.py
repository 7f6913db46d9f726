"""Equations solved in rational arithmetic: where float64 is not precise enough."""

import heapq
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import limits
from jaxgames.mdp._equations import Equations, Open, numbered
from jaxgames.mdp._lifted import Row, solved
from jaxgames.mdp._model import MDP
from jaxgames.tuning.mdp import FEW_WAYS, FEWEST_LIFTED, RATIONAL_BITS


def rational_bounds(
    model: MDP,
    known: Open,
    part: Equations,
    states: np.ndarray,
    bounds: Any,
    least: int,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds of a component that are as near as those of what it leads to.

    Policy iteration: each policy is evaluated by elimination, in fractions, and kept if
    no choice is better. The probabilities of a choice are what the model says, relative
    to their sum.

    Args:
        model: the model.
        known: what is known of it.
        part: the equations.
        states: int `[n]`, those of the component.
        bounds: `lower` and `upper` of all equations, from which those are taken that
            the component leads to.
        least: 1 where the least choice counts.

    Returns:
        Lower and upper bounds of these states, rounded outwards; None where numbers
        get too long, or a policy never ends.
    """
    place = {int(s): i for i, s in enumerate(states)}
    found = []
    for out, sign in ((bounds.lower, -1), (bounds.upper, 1)):
        rows, worth = _exactly(model, known, part, place, out, sign)
        value = _best(rows, worth, bool(least))
        if value is None:
            return None
        found.append(value)
    return (
        np.array([rounded(x, -1) for x in found[0]]),
        np.array([rounded(x, 1) for x in found[1]]),
    )


def rational_values(
    model: MDP,
    known: Open,
    part: Equations,
    parts: list[np.ndarray],
    least: int,
    near: np.ndarray,
) -> list[Fraction] | None:
    """The values of all equations, component by component.

    Components that are led to come first. The first policy is best by `near`, float64
    `[N]`; what it is worth to stop is exact.

    Returns:
        None where numbers get too long, or a policy never ends.
    """
    found = [Fraction(0)] * (len(part.groups) - 1)
    for states in parts:
        place = {int(s): i for i, s in enumerate(states)}
        rows, worth = _exactly(model, known, part, place, found, 0)
        guess = _guess(rows, worth, near[states].tolist(), bool(least))
        value = _best(rows, worth, bool(least), guess)
        if value is None:
            return None
        for state, own in zip(states, value, strict=True):
            found[state] = own
    return found


def rounded(number: Fraction, sign: int) -> float:
    """The nearest float64 that is not smaller (sign 1), or not larger (-1).

    It is infinite where the number is too large for another one.
    """
    near = nearest(number)
    if np.isinf(near):
        return near if near * sign > 0 else float(np.nextafter(near, 0))
    away = Fraction(near) - number
    if away * sign < 0:
        return float(np.nextafter(near, sign * np.inf))
    return near


def _exactly(model: MDP, known: Open, part: Equations, place, out, sign: int):
    """For each state the choices: where they lead inside, and what else they earn."""
    rows: list[list[Row]] = [[] for _ in place]
    worth: list[list[Fraction]] = [[] for _ in place]
    offsets, columns = np.asarray(model.row_offsets), np.asarray(model.columns)
    discount = known.discount
    stops: dict[int, Fraction] = {}
    if known.exact_stop is not None:
        stops = dict(zip(numbered(known)[2].tolist(), known.exact_stop, strict=True))
    for state, i in place.items():
        for k in range(part.groups[state], part.groups[state + 1]):
            choice = int(part.choice[k])
            if choice < 0:
                blur = 0.0 if part.blur is None else float(part.blur[k])
                shift = sign * Fraction(blur)
                rows[i].append({})
                stop = stops.get(int(state))
                near = Fraction(float(part.base[k])) + shift
                worth[i].append(near if stop is None or sign else stop)
                continue
            here = range(offsets[choice], offsets[choice + 1])
            weights = [Fraction(float(model.probs[b])) for b in here]
            total = sum(weights)
            row: Row = {}
            earned = Fraction(0)
            if known.reward is not None:
                earned = Fraction(float(known.reward[choice]))
            for branch, weight in zip(here, weights, strict=True):
                share = discount * weight / total
                column = int(columns[branch])
                to = int(part.number[column])
                if to in place:
                    own = place[to]
                    row[own] = row.get(own, Fraction(0)) + share
                else:
                    value = known.value[column] if to < 0 else out[to]
                    exact = isinstance(value, Fraction)
                    earned += share * (value if exact else Fraction(float(value)))
            rows[i].append(row)
            worth[i].append(earned)
    return rows, worth


def _guess(
    rows: list[list[Row]], worth: list[list[Fraction]], near: list[float], least: bool
) -> list[int] | None:
    """The policy that is best by some values; None if it never ends somewhere."""
    policy = []
    for choices, earned in zip(rows, worth, strict=True):
        here = [
            float(x) + sum(float(p) * near[j] for j, p in row.items())
            for row, x in zip(choices, earned, strict=True)
        ]
        policy.append(here.index(min(here) if least else max(here)))
    only = [[choices[c]] for choices, c in zip(rows, policy, strict=True)]
    return None if _proper(only) is None else policy


def _best(
    rows: list[list[Row]],
    worth: list[list[Fraction]],
    least: bool,
    policy: list[int] | None = None,
) -> list[Fraction] | None:
    """The values of the best policy, from one to begin with, if it is given."""
    if policy is None:
        policy = _proper(rows)
    return None if policy is None else _improved(rows, worth, least, policy)


def best_policy(
    rows: list[list[Row]], worth: list[list[Fraction]], *, least: bool
) -> list[int] | None:
    """The choice of each state by a best policy; None as `eliminated`.

    Rows say where the choices of states lead inside, `worth` what else they earn.
    """
    policy = _proper(rows)
    if policy is None or _improved(rows, worth, least, policy) is None:
        return None
    return policy


def _improved(
    rows: list[list[Row]], worth: list[list[Fraction]], least: bool, policy: list[int]
) -> list[Fraction] | None:
    """The values of the best policy; the one that is given becomes that."""
    while True:
        limits.tick("solving in rational arithmetic")
        value = eliminated(
            [rows[i][c] for i, c in enumerate(policy)],
            [worth[i][c] for i, c in enumerate(policy)],
        )
        if value is None:
            return None
        stable, near = True, list(map(nearest, value))
        for i, own in enumerate(policy):
            best, chosen = value[i], own
            for c, row in enumerate(rows[i]):
                if c == own or _is_worse(row, worth[i][c], near, nearest(best), least):
                    continue
                here = worth[i][c] + sum(p * value[j] for j, p in row.items())
                if here < best if least else here > best:
                    best, chosen = here, c
            if chosen != own:
                policy[i], stable = chosen, False
        if stable:
            return value


def nearest(number: Fraction) -> float:
    """A number as float64, infinite where it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _is_worse(
    row: Row, worth: Fraction, near: list[float], best: float, least: bool
) -> bool:
    """Whether float64 shows that a choice is worse than the best one.

    What is nearly the same, or too large, is left to fractions, which take longer.
    """
    here = nearest(worth)
    size = abs(here) + abs(best)
    for j, p in row.items():
        part = float(p) * near[j]
        here += part
        size += abs(part)
    off = (len(row) + 8) * 2.0**-52 * size + 1e-290
    return here - best > off if least else best - here > off


def _proper(rows: list[list[Row]]) -> list[int] | None:
    """A policy by which every state may get out."""
    policy = [-1] * len(rows)
    into: list[list[int]] = [[] for _ in rows]  # the states that may lead there
    more = []
    for i, choices in enumerate(rows):
        for c, row in enumerate(choices):
            if policy[i] < 0 and sum(row.values()) < 1:
                policy[i] = c
                more.append(i)
            for j in row:
                into[j].append(i)
    out = set(more)
    while more:
        nearer = sorted({i for j in more for i in into[j] if policy[i] < 0})
        for i in nearer:
            policy[i] = next(
                c for c, row in enumerate(rows[i]) if not out.isdisjoint(row)
            )
        out.update(nearer)
        more = nearer
    return None if -1 in policy else policy


def eliminated(rows: list[Row], worth: list[Fraction]) -> list[Fraction] | None:
    """The values of a chain that ends.

    States are taken out one by one, those with few ways in and out first, which keeps
    the rest sparse; what is too well connected for that is solved by lifting.

    Rows say where states lead inside, `worth` what else they earn.

    Returns:
        The values; None where some state never gets out, or numbers get too long.
    """
    rows, worth = [dict(row) for row in rows], list(worth)
    into: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            into[j].add(i)
    left, order = set(range(len(rows))), []
    ways = [(len(into[i]) * len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(ways)
    while left:
        limits.tick("solving in rational arithmetic", len(order), "states")
        many, k = heapq.heappop(ways)
        if k not in left or many != len(into[k]) * len(rows[k]):
            continue
        if many > FEW_WAYS and len(left) >= FEWEST_LIFTED:
            break
        left.remove(k)
        order.append(k)
        row = rows[k]
        rest = 1 - row.pop(k, Fraction(0))
        into[k].discard(k)
        if rest <= 0:
            return None
        if rest != 1:
            worth[k] /= rest
            for j in row:
                row[j] /= rest
        if worth[k].denominator.bit_length() > RATIONAL_BITS:
            return None
        for i in into[k]:
            share = rows[i].pop(k)
            worth[i] += share * worth[k]
            for j, p in row.items():
                rows[i][j] = rows[i].get(j, Fraction(0)) + share * p
                into[j].add(i)
        for j in row:
            into[j].discard(k)
        for i in into[k].union(row):
            heapq.heappush(ways, (len(into[i]) * len(rows[i]), i))
    value = worth
    core = sorted(left)
    if core:
        place = {k: i for i, k in enumerate(core)}
        found = solved(
            [{place[j]: p for j, p in rows[k].items()} for k in core],
            [worth[k] for k in core],
        )
        if found is None:
            return None
        for k, x in zip(core, found.fractions(), strict=True):
            value[k] = x
    for k in reversed(order):
        value[k] += sum((p * value[j] for j, p in rows[k].items()), Fraction(0))
    return value
