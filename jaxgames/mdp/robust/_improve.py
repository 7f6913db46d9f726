"""Policy iteration for components of interval equations that rounds take too long for.

What is solved is x = F(x) + d and x = F(x) - d, where d is more than what rounding
moves a look at x by. So each solution keeps the inequality of a bound, rounded
outwards, which is looked at before it is taken: how it was found does not matter. Each
is found by Newton's method, whose steps are policies [1]: what both sides like best by
some x has linear equations, and these are solved for what x misses, so that steps
sharpen x too. Where nature is against the scheduler, it answers one of his policies
after the other [2].

References:
    [1] Puterman and Brumelle, On the convergence of policy iteration in stationary
    dynamic programming, Math. OR 4 (1979), doi:10.1287/moor.4.1.60.
    [2] Hoffman and Karp, On nonterminating stochastic games, Management Science 12
    (1966), doi:10.1287/mnsc.12.5.359.
"""

from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import compiled
from jaxgames.mdp._improve import IMPROVEMENTS, solver_of
from jaxgames.mdp._model import spans
from jaxgames.mdp.robust._equations import Equations
from jaxgames.mdp.robust._graph import nearer
from jaxgames.mdp.robust._host import Aim, Vectors, look
from jaxgames.mdp.robust._natures import (
    Natures,
    assembled,
    distribute,
    numbers,
    of_choices,
)
from jaxgames.tuning.mdp import FEW_HUBS, HUB_FROM


class Side(NamedTuple):
    """Which bound is looked for.

    Attributes:
        sign: 1.0 for an upper one, -1.0 for a lower one.
        end: what bounds all values on this side: nothing beyond it is of use. Where
            rounding alone would get there, equations end.
    """

    sign: float
    end: float


class Local(NamedTuple):
    """The equations of a component by themselves.

    Attributes:
        states: int32 `[n]`, their numbers.
        nat: natures over these; targets from `n` on are led to.
        base: float64 `[k]`, what a choice earns.
        beyond: int32 `[m]`, the numbers of what is led to.
    """

    states: np.ndarray
    nat: Natures
    base: np.ndarray
    beyond: np.ndarray


def local(part: Equations, at: int) -> Local:
    """The equations of one component: int `at`, its place in `part.parts`."""
    nat = part.nat
    states = np.sort(part.order[part.parts[at] : part.parts[at + 1]])
    own = np.diff(nat.groups)[states]
    choices = spans(nat.groups[states], own)
    many = np.diff(nat.rows)[choices]
    branches = spans(nat.rows[choices], many)
    target = nat.target[branches]
    stays = part.inside[target] == part.inside[states[0]]
    beyond = np.unique(target[~stays])
    number = np.empty(len(target), np.int64)
    number[stays] = np.searchsorted(states, target[stays])
    number[~stays] = len(states) + np.searchsorted(beyond, target[~stays])
    inner = assembled(
        *(np.append(0, np.cumsum(own)), np.append(0, np.cumsum(many)), number),
        *(nat.lower[branches], nat.upper[branches], branches),
        *(np.repeat(np.arange(len(states)), own), choices),
    )
    return Local(states, inner, np.ascontiguousarray(part.base[choices]), beyond)


def work_of(part: Local) -> float:
    """How many operations it takes to solve the linear equations of a policy.

    In an order that keeps neighbours near to each other, with those few that are next
    to very many at the end. A bound from above, found in O(b log b) for b branches.
    """
    from scipy import sparse
    from scipy.sparse import csgraph

    nat, size = part.nat, len(part.states)
    source = nat.owner[numbers(nat)]
    inner = (nat.target < size) & (nat.target != source)
    row, column = source[inner], nat.target[inner]
    ones = np.ones(2 * len(row), np.int8)
    shape = (size, size)
    ends = np.concatenate([row, column]), np.concatenate([column, row])
    graph = sparse.csr_matrix((ones, ends), shape=shape)
    degree = np.diff(graph.indptr)
    most = np.argsort(-degree, kind="stable")[:FEW_HUBS]
    hubs = most[degree[most] > HUB_FROM]
    rest = np.ones(size, bool)
    rest[hubs] = False
    place = np.full(size, -1)
    order = csgraph.reverse_cuthill_mckee(graph[rest][:, rest], symmetric_mode=True)
    place[np.flatnonzero(rest)[order]] = np.arange(len(order))
    some = rest[row] & rest[column]
    first, last = place[row[some]], place[column[some]]
    reach = np.zeros(size)
    np.maximum.at(reach, np.maximum(first, last), np.abs(first - last))
    return float(np.sum((reach + len(hubs) + 1.0) ** 2))


def improve(
    part: Local,
    vectors: Vectors,
    aim: Aim,
    ends: tuple[float, float],
    stop: np.ndarray,
) -> bool:
    """Puts bounds of a component; those of what it leads to are there.

    Args:
        part: the component.
        vectors: written to, if bounds are found.
        aim: what is asked for.
        ends: what no value is below, and what none is above.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        Whether there are bounds that keep their inequalities.
    """
    size = len(part.states)
    start = np.zeros(size) if aim.proper else _left(part, vectors, aim)
    sides = ((1.0, vectors.upper, ends[1]), (-1.0, vectors.lower, ends[0]))
    met = start is not None
    for sign, bound, end in sides:
        if start is None:
            return False
        values = np.append(start, bound[part.beyond])
        found = _improved(part, values, aim, Side(sign, end), stop)
        met &= found is not None
        if found is not None:
            bound[part.states] = start = found[:size]
    if met:
        low, high = vectors.lower[part.states], vectors.upper[part.states]
        vectors.value[part.states] = low + (high - low) / 2
    return met


def _improved(
    part: Local, values: np.ndarray, aim: Aim, side: Side, stop: np.ndarray
) -> np.ndarray | None:
    """Values that keep the inequality of a bound, and hardly more; or None."""
    if aim.least == aim.nature or np.all(np.diff(part.nat.groups) == 1):
        return _newton(part.nat, part.base, values, aim, side, stop)
    for _ in range(IMPROVEMENTS):
        seen = _look(part.nat, part.base, values, aim, side)
        if seen.holds:
            return values
        kept = np.zeros(len(part.base), bool)
        kept[seen.chosen] = True
        one = of_choices(part.nat, kept)
        answer = _newton(one, part.base[kept], values, aim, side, stop)
        if answer is None:
            return None
        values = answer
    return None


def _newton(nat, base, values, aim: Aim, side: Side, stop) -> np.ndarray | None:
    """The same where nobody is against those who choose."""
    values = values.copy()
    for _ in range(IMPROVEMENTS):
        limits.tick("improving policies")
        seen = _look(nat, base, values, aim, side)
        if seen.holds or stop[0]:
            return values if seen.holds else None
        way = _Way(nat, seen.chosen, seen.probs)
        if not way.step(values, seen.missing, aim, seen.ended):
            return None
        size = len(seen.missing)
        over = side.sign * (values[:size] - side.end) > 0
        values[:size][over] = side.end
    return None


def _left(part: Local, vectors: Vectors, aim: Aim) -> np.ndarray | None:
    """What it costs to leave a component surely, by any way; None where nobody can.

    Newton's method stays with ways that leave once it has one, as long as it costs
    something to stay.
    """
    nat, size = part.nat, len(part.states)
    inner = np.arange(size + len(part.beyond)) < size
    stamp, chosen = nearer(nat, ~inner, inner)
    if (stamp < 0).any():
        return None
    near = stamp[nat.target] < stamp[nat.owner[numbers(nat)]]
    way = _Way(nat, chosen[:size], distribute(nat, near.astype(np.float64)))
    values = np.append(np.zeros(size), vectors.upper[part.beyond])
    if not way.step(values, way.missing(part.base, values, aim), aim):
        return None
    return values[:size]


class _Way:
    """What both sides do in each state: rows of a matrix."""

    def __init__(self, nat: Natures, chosen: np.ndarray, probs: np.ndarray):
        many = np.diff(nat.rows)[chosen]
        at = spans(nat.rows[chosen], many)
        self.chosen = chosen
        self.row = np.repeat(np.arange(len(chosen)), many)
        self.column, self.probs = nat.target[at], probs[at]

    def missing(self, base: np.ndarray, values: np.ndarray, aim: Aim) -> np.ndarray:
        """By how much values are less than what a step makes of them: `[n]`."""
        size, taken = len(self.chosen), self.probs > 0
        terms = self.probs[taken] * values[self.column[taken]]
        earned = np.bincount(self.row[taken], terms, minlength=size)
        return base[self.chosen] + aim.share * earned - values[:size]

    def step(self, values, missing, aim: Aim, ended: np.ndarray | None = None) -> bool:
        """Adds to values what they miss in all steps; false where that is not finite.

        Args:
            values: float64 `[n + m]`, written to.
            missing: float64 `[n]`, what they miss in one step.
            aim: what is asked for.
            ended: bool `[n]`, the states after which no step follows; None for none.
        """
        size = len(self.chosen)
        stays = (self.column < size) & (self.probs > 0)
        if ended is not None:
            stays &= ~ended[self.row]
        entries = self.row[stays], self.column[stays], aim.share * self.probs[stays]
        solve = solver_of(size, *entries)
        more = None if solve is None else solve(missing)
        if more is None:
            return False
        values[:size] += more
        return True


class _Seen(NamedTuple):
    """What a look at all states says."""

    holds: bool  # whether values keep their inequality, and hardly more
    missing: np.ndarray  # float64 [n]
    chosen: np.ndarray  # int [n]
    ended: np.ndarray  # bool [n]: what is at the end of all values
    probs: np.ndarray  # float64 [b]


def _look(nat: Natures, base, values, aim: Aim, side: Side) -> _Seen:
    size = len(nat.groups) - 1
    missing, chosen, ended = np.zeros(size), np.zeros(size, int), np.zeros(size, bool)
    probs = np.zeros(len(nat.lower))
    holds = _keeps(nat, base, values, aim, side, missing, chosen, ended, probs)
    return _Seen(bool(holds), missing, chosen, ended, probs)


@compiled
def _keeps(nat, base, values, aim, side, missing, chosen, ended, probs):
    """Looks at all states: 1 where values keep their inequality, and hardly more.

    Rounding moves a look once by what it may at most, and three times where it is to be
    seen that values are no further away than need be.
    """
    holds, sign, end = 1, side.sign, side.end
    for state in range(len(missing)):
        here = values[state]
        least, _ = look(nat, base, values, state, aim, sign, probs)
        most, _ = look(nat, base, values, state, aim, 3.0 * sign, probs)
        new, chosen[state] = look(nat, base, values, state, aim, 2.0 * sign, probs)
        if sign * (least - end) > 0.0:
            least = end
        if sign * (most - end) > 0.0:
            most = end
        if sign * (new - end) >= 0.0:
            new, ended[state] = end, True
        if not (sign * (here - least) >= 0.0 and sign * (most - here) >= 0.0):
            holds = 0
        missing[state] = new - here
    return holds
