"""Averages of end components by policy iteration, where rounds take too long to mix."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.graph.host import room_for, tarjan
from jaxgames.mdp._by_products import Products, Solve
from jaxgames.mdp._model import MDP, spans
from jaxgames.mdp._rational import Row, eliminated
from jaxgames.mdp.host._steps import gains
from jaxgames.tuning.mdp import (
    DENSE_UP_TO,
    FACTORED_UP_TO,
    PRODUCTS_LEAVE,
)

IMPROVEMENTS = 200
"""How often policies are improved: far fewer do, but for made-up cases."""

REFINEMENTS = 20
"""How often equations are solved for what is missing: each adds some digits."""

REFINED_TO = 1e-3
"""Which share of how far apart bounds may stay values of a policy may be off."""

LARGEST = 1e100
"""Values of which products could be too large, and their halves."""


class Members(NamedTuple):
    """An end component by itself: `n` states, `k` choices that stay.

    Attributes:
        states: int `[n]`, in order.
        choices: int `[k]`, those of the model.
        owner: int `[k]`, the state of each.
        first: int `[n]`, the first choice of each state.
        source: int, the choice of each branch.
        target: int, the state that it leads to.
        probs: float64, its probability.
        reward: float64 `[k]`.
    """

    states: np.ndarray
    choices: np.ndarray
    owner: np.ndarray
    first: np.ndarray
    source: np.ndarray
    target: np.ndarray
    probs: np.ndarray
    reward: np.ndarray


def members_of(model: MDP, kept: np.ndarray, states: np.ndarray, probs, reward):
    """An end component by itself.

    Args:
        model: the model.
        kept: bool `[C]`, the choices that stay in components.
        states: int `[n]`.
        probs: float64 `[E]`.
        reward: float64 `[C]`.
    """
    states = np.sort(states)
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    many = np.diff(groups)[states]
    owner = np.repeat(np.arange(len(states)), many)
    choices = spans(groups[states], many)
    stay = kept[choices]
    choices, owner = choices[stay], owner[stay]
    many = np.diff(rows)[choices]
    source = np.repeat(np.arange(len(choices)), many)
    branch = spans(rows[choices], many)
    target = np.searchsorted(states, np.asarray(model.columns)[branch])
    first = np.searchsorted(owner, np.arange(len(states)))
    parts = (states, choices, owner, first, source, target, probs[branch])
    return Members(*parts, reward[choices])


class Sharp(NamedTuple):
    """Bounds of an average, and what shows them."""

    lower: float
    upper: float
    values: np.ndarray  # float64 [n]
    rest: np.ndarray  # float64 [n]: what they lack, to be more precise
    policy: np.ndarray  # int [n]: the choice of the component for each state


def improved(
    own: Members, weights: np.ndarray, values, least: bool, width, apart, stop
) -> Sharp | None:
    """Bounds of the average by policies that are improved until they are near.

    A policy has one set of states that it never leaves, the best of what it had: in an
    end component all others can be led there [1]. Its average and its values solve
    linear equations. Where a component mixes slowly values are too large for float64:
    they are sums of two numbers each, and equations are solved in float64 for what is
    missing, and again for what is missing then [2]. Whatever values come of that, a
    step adds to them nowhere more than the largest average is, and nowhere less.

    Args:
        own: the component.
        weights: float64, for each branch a number that its probability is proportional
            to, exactly.
        values: float64 `[n]`, by which the first policy is best.
        least: whether the least average counts.
        width: how far apart bounds may stay, relative to the lower one ...
        apart: ... and more, as it is.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        The best bounds that were found; None if there are none.

    References:
        [1] Haviv and Puterman, An improved algorithm for solving communicating average
        reward Markov decision processes, Ann. Oper. Res. 28 (1991),
        doi:10.1007/BF02055583.
        [2] Higham, Accuracy and Stability of Numerical Algorithms, SIAM, 2002, chapter
        12.
    """
    sign, best = -1.0 if least else 1.0, None
    policy = _greedy(own, values, sign)
    seen, solvers = _Gains(own, weights), _Solvers(own, stop)
    for _ in range(IMPROVEMENTS):
        policy, home = _one_home(own, policy, sign, stop)
        solve = None if home < 0 else solvers.of(policy, home)
        if solve is None or stop[0]:
            return best
        refined = _refined(own, policy, home, solve, seen, width, apart, stop)
        if refined is None:
            return best
        (high, rest), earned, off = refined
        ends = _extremes(own, sign * earned, off)
        low, up = ends if sign > 0 else (-ends[1], -ends[0])
        if best is None or up - low < best.upper - best.lower:
            best = Sharp(low, up, high, rest, policy)
        order = np.lexsort((-sign * earned, own.owner))
        most = order[own.first]
        gain = sign * (earned[most] - earned[policy])
        better = gain > 4 * (off[most] + off[policy])
        if not better.any() or up - low <= width * abs(low) + apart:
            return best
        policy = np.where(better, most, policy)
    return best


class _Gains:
    """What choices add to values that are sums of two numbers."""

    def __init__(self, own: Members, weights: np.ndarray):
        order = np.argsort(own.source, kind="stable")
        many = np.bincount(own.source, minlength=len(own.choices))
        self._parts = (
            own.owner.astype(np.int32),
            np.append(0, np.cumsum(many)).astype(np.int32),
            own.target[order].astype(np.int32),
            np.ascontiguousarray(weights[order], np.float64),
            np.ascontiguousarray(own.reward, np.float64),
        )

    def __call__(self, high: np.ndarray, low: np.ndarray):
        """What each choice earns and changes, and how far off that may be."""
        found, off = np.empty((2, len(self._parts[0])))
        gains(*self._parts, high, low, found, off)
        return found, off


def _refined(own: Members, policy, home: int, solve, seen: _Gains, width, apart, stop):
    """Values of a policy, and what choices earn and change by these."""
    size = len(own.states)
    high, low, average, before, best = np.zeros(size), np.zeros(size), 0.0, np.inf, None
    for _ in range(REFINEMENTS):
        earned, off = seen(high, low)
        missing = earned[policy] - average
        rest = float(np.abs(missing).max())
        if not rest < before / 2 or stop[0]:
            break
        before, best = rest, ((high, low), earned, off)
        if rest <= REFINED_TO * (width * abs(average) + apart):
            break
        more = solve(missing)
        if more is None or not np.abs(more).max() < LARGEST:
            break
        average += float(more[home])
        more[home] = 0.0
        # A sum of two numbers and one more, which is about as small as the second.
        low = low + more
        whole = high + low
        high, low = whole, low - (whole - high)
    return best


def _extremes(own: Members, earned: np.ndarray, off: np.ndarray):
    """The least and the most, over all states, of what is the most of their choices."""
    above, below = (
        np.maximum.reduceat(x, own.first) for x in (earned + off, earned - off)
    )
    return float(np.nextafter(below.min(), -np.inf)), float(
        np.nextafter(above.max(), np.inf)
    )


def exactly(model: MDP, own: Members, values: np.ndarray, least: bool):
    """The average of a component as a fraction; None where numbers get too long.

    Policy iteration in fractions, from a policy that is best by values in float64.
    """
    sign = -1 if least else 1
    rows = _fractions(model, own)
    reward = [Fraction(x) for x in own.reward.tolist()]
    policy = _greedy(own, values, float(sign))
    size = len(own.states)
    ends = np.append(own.first, len(own.choices))
    for _ in range(IMPROVEMENTS):
        policy, home = _one_home(own, policy, float(sign), np.zeros(1, np.int8))
        if home < 0:
            return None
        chain = [dict(rows[c]) for c in policy]
        for row in chain:
            row.pop(home, None)  # until home is reached again
        earned = eliminated(chain, [reward[c] for c in policy])
        steps = eliminated(chain, [Fraction(1)] * size)
        if earned is None or steps is None:
            return None
        average = earned[home] / steps[home]
        bias = [x - average * y for x, y in zip(earned, steps, strict=True)]
        bias[home] = Fraction(0)
        stable = True
        for state in range(size):
            best = bias[state] + average
            for choice in range(ends[state], ends[state + 1]):
                here = reward[choice]
                here += sum(p * bias[t] for t, p in rows[choice].items())
                if sign * (here - best) > 0:
                    best, policy[state], stable = here, choice, False
        if stable:
            return average
    return None


def _fractions(model: MDP, own: Members) -> list[Row]:
    """Where each choice leads, with the model's probabilities relative to their sum."""
    offsets, place = np.asarray(model.row_offsets), iter(own.target.tolist())
    found = []
    for choice in own.choices.tolist():
        weights = [
            Fraction(p) for p in model.probs[slice(*offsets[choice : choice + 2])]
        ]
        total, row = sum(weights), {}
        for weight in weights:
            target = next(place)
            row[target] = row.get(target, Fraction(0)) + weight / total
        found.append(row)
    return found


def _greedy(own: Members, values: np.ndarray, sign: float) -> np.ndarray:
    """The first best choice of each state."""
    worth = own.reward + np.bincount(
        own.source, own.probs * values[own.target], minlength=len(own.choices)
    )
    order = np.lexsort((-sign * worth, own.owner))
    return order[own.first]


def _one_home(own: Members, policy: np.ndarray, sign: float, stop: np.ndarray):
    """The policy with one set of states that it never leaves, and a state of that.

    Of several sets that is the best one; states that do not get there take any way
    there is. The state is -1 where float64 cannot tell which is best.
    """
    size = len(own.states)
    chosen = np.full(len(own.choices), -1)
    chosen[policy] = np.arange(size)
    row = chosen[own.source]
    there = np.flatnonzero(row >= 0)
    row, column = row[there], own.target[there]  # by source, but not by state
    order = np.argsort(row, kind="stable")
    edges = np.searchsorted(row[order], np.arange(size + 1)).astype(np.int32)
    heads = column[order].astype(np.int32)
    room = room_for(size, len(heads))
    count, label, _ = tarjan(edges, heads, None, None, np.zeros(1, np.int8), room)
    label = np.asarray(label[:size])
    leaves = np.zeros(int(count), bool)
    leaves[label[row[label[row] != label[column]]]] = True
    ends = np.flatnonzero(~leaves)
    if len(ends) == 1:
        return policy, int(np.argmax(label == ends[0]))
    best, home = -np.inf, -1
    for end in ends.tolist():
        inside = np.flatnonzero(label == end)
        part = _part(own, inside, policy)
        found = _solved(part, np.arange(len(inside)), 0, stop)
        if found is not None and sign * found[0] > best:
            best, home = sign * found[0], int(inside[0])
    if home < 0:
        return policy, -1
    known = label == label[home]
    policy = policy.copy()
    # Who gets there by the policy stays with it; the others are led there.
    for choices in (policy, np.arange(len(own.choices))):
        live = np.zeros(len(own.choices), bool)
        live[choices] = True
        while True:
            hits = np.zeros(len(own.choices), bool)
            hits[own.source[known[own.target]]] = True
            more = np.flatnonzero(live & hits & ~known[own.owner])[::-1]
            if not len(more):
                break
            policy[own.owner[more]] = more
            known[own.owner[more]] = True
    return policy, home


def _part(own: Members, inside: np.ndarray, policy: np.ndarray) -> Members:
    """A set that a policy never leaves, as a chain."""
    place = np.full(len(own.states), -1)
    place[inside] = np.arange(len(inside))
    chosen = np.full(len(own.choices), -1)
    chosen[policy[inside]] = np.arange(len(inside))
    row = chosen[own.source]
    some = row >= 0
    line = np.arange(len(inside))
    return Members(
        *(own.states[inside], own.choices[policy[inside]], line, line, row[some]),
        *(place[own.target[some]], own.probs[some], own.reward[policy[inside]]),
    )


def _solved(own: Members, policy: np.ndarray, home: int, stop: np.ndarray):
    """The average of a policy with one home, and values that are zero there."""
    solve = _Solvers(own, stop).of(policy, home)
    found = None if solve is None else solve(own.reward[policy])
    if found is None or not np.isfinite(found).all():
        return None
    average = float(found[home])
    found[home] = 0.0
    return average, found


class _Solvers:
    """What solves equations of policies.

    Large ones by products with their matrix. With factors that do not fill in, some
    tens of products are enough where rates are of many sizes; with none few are enough
    where it mixes well but for some sets of states that are seldom left. Where products
    do not do, it is whole factors, for all policies after.
    """

    def __init__(self, own: Members, stop: np.ndarray):
        self._own, self._stop, self._products_do = own, stop, True

    def of(self, policy: np.ndarray, home: int) -> Solve | None:
        """What solves those of a policy with one home."""
        own, size = self._own, len(self._own.states)
        chosen = np.full(len(own.choices), -1)
        chosen[policy] = np.arange(size)
        row = chosen[own.source]
        some = row >= 0
        entries = row[some], own.target[some], own.probs[some]
        if size <= DENSE_UP_TO:
            return _dense(size, home, *entries)
        if not self._products_do:
            return factored(size, home, *entries)
        products = Products(size, *entries)
        factors: list[Solve | None] = []

        def solve(wanted: np.ndarray) -> np.ndarray | None:
            while self._products_do:
                found = products.solved(wanted, self._stop)
                if found is None:
                    return None
                rest = np.abs(wanted - products.less_later(found)).max()
                if rest <= PRODUCTS_LEAVE * np.abs(wanted).max():
                    average = found.mean()
                    found -= found[home]
                    found[home] = average
                    return found
                self._products_do = products.nearly_factored
                products.nearly_factored = False
            if size > FACTORED_UP_TO:
                return None
            if not factors:
                factors.append(factored(size, home, *entries))
            return None if factors[0] is None else factors[0](wanted)

        return solve


def _dense(size: int, home: int, row, column, probs) -> Solve:
    matrix = np.eye(size)
    np.subtract.at(matrix, (row, column), probs)
    matrix[:, home] = 1.0

    def solve(wanted: np.ndarray) -> np.ndarray | None:
        try:
            return np.linalg.solve(matrix, wanted)
        except np.linalg.LinAlgError:
            return None

    return solve


def factored(size: int, home: int, row, column, probs) -> Solve | None:
    """What solves the equations of a chain, whose average is in the place of home.

    None where they have no one solution.
    """
    import warnings

    from scipy import sparse
    from scipy.sparse import linalg

    away = column != home
    line = np.arange(size)
    other = line != home
    rows = np.concatenate([row[away], line[other], line])
    columns = np.concatenate([column[away], line[other], np.full(size, home)])
    entries = np.concatenate([-probs[away], np.ones(size - 1), np.ones(size)])
    matrix = sparse.csc_matrix((entries, (rows, columns)), shape=(size, size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return linalg.splu(matrix).solve
        except RuntimeError:
            return None
