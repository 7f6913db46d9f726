"""Policy iteration for components that value iteration takes too long for.

What it finds is as good as its linear equations were solved; the certificate then says
how good that is. Where a component is stayed in for so long that rounding alone is too
much, values are sums of two numbers each, and equations are solved for what is missing
[1]. Where that does not do, policies are improved in rational arithmetic, as long as a
component is small enough for that.

References:
    [1] Higham, Accuracy and Stability of Numerical Algorithms, SIAM, 2002, chapter 12.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgames.mdp._equations import Equations
from jaxgames.mdp._model import MDP, spans
from jaxgames.mdp._rational import rational_bounds
from jaxgames.mdp.host._prob01 import nearer
from jaxgames.mdp.host._steps import gains
from jaxgames.mdp.host._values import (
    Aim,
    Bounds,
    System,
    concluded,
    iterate,
    scaled,
)
from jaxgames.tuning.mdp import (
    DENSE_UP_TO,
    IMPROVED_UP_TO,
    LAST_LOOKS,
    NARROW_FROM,
    NARROW_UP_TO,
    RATIONAL_UP_TO,
)

IMPROVEMENTS = 200
"""How often policies are improved: far fewer do, but for made-up cases."""

BETTER = 1e-10
"""By how much a choice must be better, relative to the value: less is rounding."""

FOR_EVER = 1 << 40
"""Rounds of a component that nothing else can be done about."""


REFINEMENTS = 30
"""How often equations are solved for what is missing: each adds some digits."""

ULP = float(np.finfo(np.float64).eps)


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
    narrow: bool,
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
        narrow: whether it is so narrow that its equations are soon solved.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        Whether they are near enough.
    """
    size = int(system.parts[at + 1] - system.parts[at])
    counts, rounds, held = np.zeros(2, np.int64), FOR_EVER, None
    if size <= IMPROVED_UP_TO or narrow:
        local = _local(system, bounds, inside, at)
        near = _certified(local, system, bounds, inside, only, aim, at, stop)
        if near:
            return True
        how = (local, bounds, inside, aim, at, stop)
        if near is not None and _sharpened(model, known, part, *how):
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
    solve = _solver(local, policy)
    return None if solve is None else solve(reward[policy])


def _solver(local: Local, policy: np.ndarray) -> Callable | None:
    """What gives values by what a policy earns, float64 `[n]`, or None for none."""
    chosen = np.full(len(local.choices), -1)
    chosen[policy] = np.arange(len(policy))
    row = chosen[local.source]
    some = row >= 0
    rest = local.target[some], local.probs[some]
    return solver_of(len(local.states), row[some], *rest)


def solver_of(size: int, row, column, probs) -> Callable | None:
    """What solves x = b + P x for b, float64 `[n]`; None where it has no factors.

    Args:
        size: how many states there are, `n`.
        row: int, of each entry of `P`; entries of one place add up.
        column: int, likewise.
        probs: float64, likewise.

    Returns:
        A function that gives x, or None where that is not finite.
    """

    def finite(solve: Callable) -> Callable:
        def solved(wanted: np.ndarray) -> np.ndarray | None:
            try:
                found = solve(wanted)
            except np.linalg.LinAlgError:
                return None
            return found if np.isfinite(found).all() else None

        return solved

    if size <= DENSE_UP_TO:
        matrix = np.eye(size)
        np.subtract.at(matrix, (row, column), probs)
        return finite(lambda wanted: np.linalg.solve(matrix, wanted))
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
            return finite(linalg.splu(matrix.tocsc()).solve)
        except RuntimeError:
            return None


# ---- values of two numbers -----------------------------------------------------------


def narrow_parts(system: System) -> np.ndarray:
    """The large components whose equations take little time: bool `[P]`.

    So it is where in their order no branch goes far; and where each choice leads to
    one other state of the component at most, so that a policy makes cycles and trees.
    """
    sizes = np.diff(system.parts)
    large = sizes >= NARROW_FROM
    if not large.any():
        return large
    place = np.empty(len(system.order), np.int64)
    place[system.order] = np.arange(len(place))
    many = np.diff(system.rows)
    owner = np.repeat(np.arange(len(place)), np.diff(system.groups))
    source = np.repeat(owner, many)
    target = system.target[: len(source)]
    part = system.inside[source]
    stays = (part == system.inside[target]) & (source != target)
    far = np.abs(place[source] - place[target]) > NARROW_UP_TO
    choice = np.repeat(np.arange(len(owner)), many)[stays]
    splits = np.bincount(choice, minlength=len(owner)) > 1
    goes_far, branches = np.zeros((2, len(sizes)), bool)
    goes_far[part[stays & far]] = True
    branches[system.inside[owner[splits]]] = True
    return large & ~(goes_far & branches)


def _sharpened(
    model: MDP,
    known,
    part: Equations,
    local: Local,
    bounds: Bounds,
    inside,
    aim,
    at,
    stop,
) -> bool:
    """Bounds by values of two numbers each, where rounding is too much for one.

    As `certify`: with w >= 1 + P w, values that a step adds no more than t to are less
    than t w too small. Whether they are near enough.
    """
    exact = _weights(model, known, part, local, bounds, inside, at)
    if exact is None or not aim.proper or stop[0]:
        return False
    sign = -1.0 if aim.least else 1.0
    size, count = len(local.states), len(local.choices)
    high = np.append(bounds.value[local.states], exact.value)
    low = np.zeros(len(high))
    policy, best = None, None
    earned, off = np.empty((2, count))
    for _ in range(IMPROVEMENTS):
        _added(local, exact, high, low, earned, off)
        order = np.lexsort((-sign * earned, local.owner))
        most = order[local.first]
        if policy is None:
            policy = most
        gain = sign * (earned[most] - earned[policy])
        better = gain > 4 * (off[most] + off[policy])
        if best is not None and not better.any():
            break
        policy = np.where(better, most, policy)
        solve = _solver(local, policy)
        if solve is None or stop[0]:
            return False
        before = np.inf
        for _ in range(REFINEMENTS):
            _added(local, exact, high, low, earned, off)
            missing = earned[policy]
            rest = float(np.abs(missing).max())
            if not rest < before / 2 or stop[0]:
                break
            before, best = rest, (high.copy(), low.copy())
            more = solve(missing)
            if more is None:
                return False
            # A sum of two numbers and one more, which is about as small as the second.
            low[:size] += more
            whole = high + low
            high, low = whole, low - (whole - high)
        assert best is not None
        high, low = best[0].copy(), best[1].copy()
    _added(local, exact, high, low, earned, off)
    reach = np.minimum if aim.least else np.maximum
    up = max(float(reach.reduceat(earned + off, local.first).max()), 0.0)
    down = max(float(-reach.reduceat(earned - off, local.first).min()), 0.0)
    steps = bounds.steps[local.states] * (1 + 1e-12)
    value, rest = high[:size], low[:size]
    more, less = rest + (up * steps + exact.over), rest - (down * steps + exact.under)
    hair = 2 * ULP
    upper, lower = value + more, value + less
    wide = np.abs(rest) + np.abs(more) + np.abs(less)
    upper += hair * (np.abs(upper) + wide)
    lower -= hair * (np.abs(lower) + wide)
    bounds.value[local.states] = value
    new = np.minimum(bounds.upper[local.states], upper)
    bounds.upper[local.states] = new
    held = np.maximum(bounds.lower[local.states], lower)
    bounds.lower[local.states] = held
    return bool(np.all(new - held <= aim.width * np.abs(held) + aim.apart))


class _Weights(NamedTuple):
    """Equations of a component with the numbers of the model, none of them rounded.

    States beyond its own are those that it leads to, whose values are known.
    """

    rows: np.ndarray  # int32 [k + 1]
    target: np.ndarray  # int32
    probs: np.ndarray  # float64: weights, relative to the sum of a choice's
    reward: np.ndarray  # float64 [k]
    blur: np.ndarray  # float64 [k]
    value: np.ndarray  # float64: of the states beyond
    over: float  # by how much more one of these may be, at most
    under: float  # and less


def _weights(model: MDP, known, part: Equations, local: Local, bounds, inside, at):
    """The equations of a component; None where they have another form."""
    if known.discount != 1:
        return None
    choice = part.choice[local.choices].astype(np.int64)
    rows, columns = np.asarray(model.row_offsets), np.asarray(model.columns)
    stops, some = choice < 0, np.maximum(choice, 0)
    many = np.where(stops, 1, rows[some + 1] - rows[some])
    first = np.append(0, np.cumsum(many))
    branch = spans(rows[some], many)
    number = part.number[columns[branch]].astype(np.int64)
    own = np.zeros(len(number), bool)
    there = number >= 0
    own[there] = inside[number[there]] == at
    target = np.empty(len(number), np.int64)
    target[own] = np.searchsorted(local.states, number[own])
    # What one may stop with is a state of its own; so is each that is led to.
    value = np.where(there, bounds.value[number], known.value[columns[branch]])
    gap = np.where(there, bounds.upper[number] - bounds.value[number], 0.0)
    fall = np.where(there, bounds.value[number] - bounds.lower[number], 0.0)
    probs = np.asarray(model.probs, np.float64)[branch]
    ends = first[:-1][stops]
    value[ends], gap[ends], fall[ends], probs[ends] = local.base[stops], 0.0, 0.0, 1.0
    own[ends] = False
    away = np.flatnonzero(~own)
    target[away] = len(local.states) + np.arange(len(away))
    reward = np.zeros(len(choice))
    if known.reward is not None:
        reward[~stops] = known.reward[choice[~stops]]
    blur = np.zeros(len(choice)) if part.blur is None else part.blur[local.choices]
    outside = value[away]
    if not np.isfinite(outside).all():
        return None
    return _Weights(
        *(first.astype(np.int32), target.astype(np.int32), probs, reward, blur),
        *(outside, float(gap[away].max(initial=0)), float(fall[away].max(initial=0))),
    )


def _added(local: Local, exact: _Weights, high, low, earned, off) -> None:
    """What each choice adds to values, and how far off that may be: written to."""
    parts = (exact.rows, exact.target, exact.probs, exact.reward)
    gains(local.owner.astype(np.int32), *parts, high, low, earned, off)
    off += exact.blur


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
