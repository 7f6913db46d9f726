"""Policy iteration for components that value iteration takes too long for.

What it finds is as good as its linear equations were solved; the certificate then says
how good that is. Where float64 cannot say it, policies are improved in rational
arithmetic, as long as a component is small enough for that.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.mdp._equations import Equations
from jaxgames.mdp._model import MDP, spans
from jaxgames.mdp._rational import rational_bounds
from jaxgames.mdp.host._prob01 import nearer
from jaxgames.mdp.host._values import (
    Aim,
    Bounds,
    System,
    concluded,
    iterate,
    scaled,
)
from jaxgames.tuning.mdp import DENSE_UP_TO, IMPROVED_UP_TO, LAST_LOOKS, RATIONAL_UP_TO

IMPROVEMENTS = 200
"""How often policies are improved: far fewer do, but for made-up cases."""

BETTER = 1e-10
"""By how much a choice must be better, relative to the value: less is rounding."""

FOR_EVER = 1 << 40
"""Rounds of a component that nothing else can be done about."""


class Local(NamedTuple):
    """The equations of a component by themselves.

    `n` is the number of its states, `k` that of their choices.
    """

    states: np.ndarray  # int32 [n]: their numbers
    choices: np.ndarray  # int [k]: likewise
    owner: np.ndarray  # int [k]: the state of each choice
    first: np.ndarray  # int [n]: the first choice of each state
    branch: np.ndarray  # int: branches that stay, by
    source: np.ndarray  # int: choice
    target: np.ndarray  # int: state
    probs: np.ndarray  # float64: probability
    base: np.ndarray  # float64 [k]: what a choice is worth beside


def improve(
    model: MDP,
    known,
    part: Equations,
    system: System,
    bounds: Bounds,
    inside: np.ndarray,
    only: np.ndarray,
    aim: Aim,
    at: int,
    stop: np.ndarray,
) -> bool:
    """Bounds of a stiff component.

    Args:
        model: the model that the equations are of.
        known: what is known of it.
        part: the equations.
        system: the same in order.
        bounds: written to; those of states that the component leads to are there.
        inside: int32 `[N]`, the component of each state.
        only: int32 `[N]`, written to.
        aim: what is asked for.
        at: the component.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        Whether they are near enough.
    """
    size = int(system.parts[at + 1] - system.parts[at])
    counts, rounds, held = np.zeros(2, np.int64), FOR_EVER, None
    if size <= IMPROVED_UP_TO:
        local = _local(system, bounds, inside, at)
        near = _certified(local, system, bounds, inside, only, aim, at, stop)
        if near:
            return True
        if size <= RATIONAL_UP_TO and not stop[0]:
            found = rational_bounds(model, known, part, local.states, bounds, aim.least)
            if found is not None:
                bounds.lower[local.states], bounds.upper[local.states] = found
                enough = aim.width * np.abs(found[0]) + aim.apart
                return bool(np.all(found[1] - found[0] <= enough))
        ends = bounds.lower[local.states], bounds.upper[local.states]
        if near is not None and np.isfinite(ends).all():
            # Rounding may be all that they are apart by, which no round mends.
            rounds, held = LAST_LOOKS // size, ends
    slow = aim._replace(patience=rounds, few_patience=rounds)
    only[system.order[system.parts[at] : system.parts[at + 1]]] = -1
    ended = bool(iterate(system, bounds, inside, only, at, slow, counts, stop))
    if held is not None and not ended:
        low, high = held
        bounds.lower[local.states] = np.maximum(bounds.lower[local.states], low)
        bounds.upper[local.states] = np.minimum(bounds.upper[local.states], high)
    return ended


def _certified(local: Local, system, bounds, inside, only, aim: Aim, at, stop):
    """Bounds from a policy that no other is better than, as far as float64 knows.

    Whether they are near enough; None where there are none.
    """
    start = _leaving(local) if aim.proper == 0 else None
    found = _optimal(local, local.base, bool(aim.least), start, stop)
    if found is None:
        return None
    value, policy = found
    bounds.value[local.states] = value
    if aim.proper == 0:
        only[local.states] = local.choices[policy]
        steps = _solved(local, policy, np.ones(len(local.choices)))
    else:
        longest = _optimal(local, np.ones(len(local.choices)), False, None, stop)
        steps = None if longest is None else longest[0]
    if steps is None or not np.all(steps >= 1):
        return None
    bounds.steps[local.states] = steps
    largest = scaled(system, bounds.steps, inside, at, only, aim.slack)
    if largest < 0:
        return None
    few = 2 if aim.proper else aim.few_patience
    end = concluded(system, bounds, inside, at, aim, few, aim.few_patience, stop)
    return bool(end)


def _local(system: System, bounds: Bounds, inside: np.ndarray, at: int) -> Local:
    """The equations of a component; what it leads to is taken as it is."""
    states = np.sort(system.order[system.parts[at] : system.parts[at + 1]])
    own = np.diff(system.groups)[states]
    owner = np.repeat(np.arange(len(states)), own)
    first = np.cumsum(own) - own
    choices = spans(system.groups[states], own)
    many = np.diff(system.rows)[choices]
    source = np.repeat(np.arange(len(choices)), many)
    branch = spans(system.rows[choices], many)
    target, probs = system.target[branch], system.probs[branch]
    stays = inside[target] == at
    out = np.bincount(
        source[~stays],
        probs[~stays] * bounds.value[target[~stays]],
        minlength=len(choices),
    )
    number = np.searchsorted(states, target[stays])
    return Local(
        *(states, choices, owner, first, branch[stays], source[stays], number),
        *(probs[stays], system.base[choices] + out),
    )


def _optimal(local: Local, reward: np.ndarray, least: bool, start, stop):
    """The values of a policy that no choice improves, and the policy; or None."""
    sign = -1.0 if least else 1.0
    policy = local.first if start is None else start
    if policy is None:
        return None
    value = None
    for _ in range(IMPROVEMENTS):
        value = _solved(local, policy, reward)
        if value is None or stop[0]:
            return None
        worth = reward + np.bincount(
            local.source, local.probs * value[local.target], minlength=len(reward)
        )
        order = np.lexsort((-sign * worth, local.owner))
        best = order[local.first]  # the first of each state in that order
        gain = sign * (worth[best] - worth[policy])
        better = gain > BETTER * np.abs(worth[policy])
        if not better.any():
            break
        policy = np.where(better, best, policy)
    return value, policy


def _solved(local: Local, policy: np.ndarray, reward: np.ndarray) -> np.ndarray | None:
    """The values of a policy, by a factorisation; None where there are none."""
    size = len(local.states)
    chosen = np.full(len(local.choices), -1)
    chosen[policy] = np.arange(size)
    row = chosen[local.source]
    some = row >= 0
    row, column, probs = row[some], local.target[some], local.probs[some]
    wanted = reward[policy]
    if size <= DENSE_UP_TO:
        matrix = np.eye(size)
        np.subtract.at(matrix, (row, column), probs)
        try:
            found = np.linalg.solve(matrix, wanted)
        except np.linalg.LinAlgError:
            return None
    else:
        import warnings

        from scipy import sparse
        from scipy.sparse import linalg

        shape = (size, size)
        matrix = sparse.identity(size, format="csc") - sparse.csc_matrix(
            (probs, (row, column)), shape=shape
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = linalg.splu(matrix.tocsc()).solve(wanted)
            except RuntimeError:
                return None
    return found if np.isfinite(found).all() else None


def _leaving(local: Local) -> np.ndarray | None:
    """A policy under which each state may get out of the component; or None."""
    size = len(local.states)
    stays = np.bincount(local.source, local.probs, minlength=len(local.choices))
    policy = np.full(size, -1, np.int32)
    leads = np.flatnonzero(stays < 1 - 1e-12)[::-1]
    policy[local.owner[leads]] = leads  # the first of each state
    into = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(local.target, minlength=size), out=into[1:])
    source = local.source[np.argsort(local.target, kind="stable")]
    ways = into, source.astype(np.int32), local.owner.astype(np.int32)
    out = policy >= 0
    policy = np.where(out, policy, nearer(out, ~out, *ways))
    return None if (policy < 0).any() else policy
