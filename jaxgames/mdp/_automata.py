"""Formulas of linear temporal logic: products with automata that guess at most once.

A run is followed in the formula that is still to hold. At some time it is guessed which
promises will be kept again and again, and which for ever; from then on all is
deterministic [1]. A scheduler guesses as well as one who knows, so that the largest
probability to be right is that of the formula [2].

References:
    [1] Esparza, Křetínský and Sickert, One theorem to rule them all: a unified
    translation of LTL into ω-automata, LICS 2018, doi:10.1145/3209108.3209161.
    [2] Sickert, Esparza, Jaax and Křetínský, Limit-deterministic Büchi automata for
    linear temporal logic, CAV 2016, doi:10.1007/978-3-319-41540-6_17.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp import host
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._obligations import (
    FALSE,
    FINITE,
    LASTING,
    TRUE,
    Formula,
    after,
    both,
    either,
    finite,
    lasting,
    negated,
    normal,
    temporal,
)
from jaxgames.mdp._property import (
    Constant,
    Operation,
    PropertyError,
    Temporal,
    is_path,
)

MOST_STATES = 5_000
"""States that an automaton may have."""

MOST_GUESSES = 10
"""Temporal operators whose promises are guessed."""

MOST_NEXT = 50
"""Steps that a bound inside of a formula may name: each is written out."""


class Automaton(NamedTuple):
    """An automaton over letters, whose state 0 is where all begins.

    Attributes:
        delta: int `[Q, L]`, the next state for each letter, -1 where all is lost.
        jumps: for each state those that one may go on from instead, at once.
        marks: int `[Q, L]`, which of the states' marks are met there, as bits.
        wanted: int `[Q]`, the marks that are to be met again and again; -1 for states
            in which nothing is accepted.
    """

    delta: np.ndarray
    jumps: list[list[int]]
    marks: np.ndarray
    wanted: np.ndarray


def formula_of(path: Any, number: Callable[[Any], int], bounds_of: Any) -> Formula:
    """A property of paths in negation normal form.

    `number` gives that of a property of states, `bounds_of` the first and the last step
    of an operator.
    """
    if isinstance(path, Constant):
        return TRUE if path.value else FALSE
    if not is_path(path):
        return ("lit", number(path), True)
    parts = [formula_of(x, number, bounds_of) for x in path.operands]
    if isinstance(path, Operation):
        one, *rest = parts
        if path.operator == "!":
            return negated(one)
        if path.operator == "&":
            return both(one, *rest)
        if path.operator == "|":
            return either(one, *rest)
        if path.operator == "=>":
            return either(negated(one), *rest)
        if path.operator == "<=>":
            return either(both(one, *rest), both(*map(negated, parts)))
        raise PropertyError(path.place, f"{path.operator} of a property of paths")
    assert isinstance(path, Temporal)
    first, last = bounds_of(path)
    if last is None and not first:
        return (path.operator, *parts)
    if last is not None and last > MOST_NEXT or first > MOST_NEXT:
        raise PropertyError(
            path.place, f"a bound inside of a formula may be {MOST_NEXT} at most"
        )
    return _written_out(path.operator, parts, first, last)


def _written_out(kind: str, parts: list[Formula], first: int, last: Any) -> Formula:
    """A temporal operator with a bound, step by step."""
    if kind in ("G", "R", "W"):
        opposite = [negated(x) for x in parts]
        if kind == "W":  # not both fail before the second has held
            one, other = opposite
            opposite = [other, both(one, other)]
            return negated(_written_out("U", opposite, first, last))
        dual = {"G": "F", "R": "U"}[kind]
        return negated(_written_out(dual, opposite, first, last))
    left, right = (TRUE, parts[0]) if kind == "F" else parts
    if last is None:
        found = ("F", right) if left == TRUE else ("U", left, right)
    else:
        found = right
        for _ in range(last - first):
            found = either(right, both(left, ("X", found)))
    for _ in range(first):
        found = both(left, ("X", found))
    return found


def automaton(formula: Formula, letters: list[int]) -> Automaton | None:
    """The automaton of a formula; None where it would be too large."""
    promises = sorted(temporal(formula, FINITE), key=repr)
    lasts = sorted(temporal(formula, LASTING), key=repr)
    if len(promises) + len(lasts) > MOST_GUESSES:
        return None
    start = normal(formula)
    number, delta = {start: 0}, []
    states: list[Formula] = [start]
    for state in states:
        row = []
        for letter in letters:
            limits.tick("translating", len(states), "states")
            to = after(state, letter)
            if to not in number and to != FALSE:
                number[to] = len(states)
                states.append(to)
            row.append(-1 if to == FALSE else number[to])
        delta.append(row)
        if len(states) > MOST_STATES:
            return None
    first = len(states)
    jumps: list[list[int]] = [[] for _ in states]
    marks = [[0] * len(letters) for _ in states]
    wanted = [-1] * first
    for often in _subsets(promises):
        for ever in _subsets(lasts):
            found = _guessed(states, often, ever, letters, len(delta))
            if found is None:
                continue
            starts, rows, met = found
            for own, to in zip(jumps, starts, strict=False):
                own += [] if to is None else [to]
            jumps += [[] for _ in rows]
            delta += rows
            marks += met
            wanted += [(1 << len(often)) - 1] * len(rows)
            if len(delta) > MOST_STATES:
                return None
    return Automaton(np.array(delta), jumps, np.array(marks), np.array(wanted))


class Beside(NamedTuple):
    """Two automata that read a run together, until it is guessed which accepts it.

    Attributes:
        automaton: of both; what it accepts one of them does.
        side: int `[Q]`, which of them a state has gone on in, 0 or 1; -1 for neither.
    """

    automaton: Automaton
    side: np.ndarray


def beside(one: Automaton, other: Automaton) -> Beside | None:
    """Two automata over the same letters as one; None where it would be too large."""
    sides = (one, other)
    number, delta, jumps = {(0, 0): 0}, [], []
    pairs = [(0, 0)]
    for pair in pairs:
        limits.tick("translating", len(pairs), "states")
        row = []
        for letter in range(one.delta.shape[1]):
            first, second = (
                -1 if q < 0 else int(x.delta[q, letter])
                for x, q in zip(sides, pair, strict=True)
            )
            to = first, second
            if to not in number and max(to) >= 0:
                number[to] = len(pairs)
                pairs.append(to)
            row.append(number.get(to, -1))
        delta.append(row)
        if len(pairs) > MOST_STATES:
            return None
    made, marks = [np.array(delta)], [np.zeros((len(pairs), one.delta.shape[1]), int)]
    wanted, side = [np.full(len(pairs), -1)], [np.full(len(pairs), -1)]
    jumps = [[] for _ in pairs]
    base = len(pairs)
    for at, x in enumerate(sides):
        first = int((x.wanted < 0).sum())  # these come first, and are in the pairs
        more = base - first
        for own, pair in zip(jumps, pairs, strict=False):
            own += [] if pair[at] < 0 else [to + more for to in x.jumps[pair[at]]]
        rest = x.delta[first:]
        made.append(np.where(rest < 0, -1, rest + more))
        marks.append(x.marks[first:])
        wanted.append(x.wanted[first:])
        side.append(np.full(len(rest), at))
        jumps += x.jumps[first:]
        base += len(rest)
    delta, marks = np.concatenate(made), np.concatenate(marks)
    found = Automaton(delta, jumps, marks, np.concatenate(wanted))
    return Beside(found, np.concatenate(side))


def _subsets(items: list[Formula]) -> list[frozenset]:
    """All sets of some formulas."""
    every = range(len(items) + 1)
    return [frozenset(x) for k in every for x in itertools.combinations(items, k)]


def _guessed(
    states: list[Formula],
    often: frozenset,
    ever: frozenset,
    letters: list[int],
    base: int,
) -> tuple[list[int | None], list[list[int]], list[list[int]]] | None:
    """The part of the automaton where a guess has been made.

    When it is made `states` may still be to be seen. The promises `often` are said to
    be kept again and again, `ever` for ever. States are numbered from `base` on.

    Returns:
        For each of the states the one to go on from, or None; the next states for each
        letter; and the marks that are met.
    """
    watched = [normal(("F", finite(x, ever))) for x in sorted(often, key=repr)]
    if any(finite(x, ever) == FALSE for x in often):
        return None
    for_ever = both(*(("G", lasting(x, often)) for x in ever))
    if any(lasting(x, often) == FALSE for x in ever):
        return None
    number: dict[tuple, int] = {}
    order: list[tuple] = []

    def enter(state: tuple) -> int:
        if state not in number:
            number[state] = base + len(order)
            order.append(state)
        return number[state]

    starts: list[int | None] = []
    for state in states:
        safe = normal(both(lasting(state, often), for_ever))
        starts.append(None if safe == FALSE else enter((safe, *watched)))
    if not order:
        return None
    rows, met = [], []
    for state in order:
        limits.tick("translating", base + len(order), "states")
        row, marked = [], []
        for letter in letters:
            safe = after(state[0], letter)
            marks, monitors = 0, []
            for k, monitor in enumerate(state[1:]):
                rest = after(monitor, letter)
                marks |= (rest == TRUE) << k
                monitors.append(watched[k] if rest == TRUE else rest)
            row.append(-1 if safe == FALSE else enter((safe, *monitors)))
            marked.append(marks)
        rows.append(row)
        met.append(marked)
        if base + len(order) > MOST_STATES:
            break
    return starts, rows, met


class Product(NamedTuple):
    """A model that is followed by an automaton.

    Attributes:
        model: the product; its first states are those of the model where all begins.
        accepted: bool, the states of end components that are accepted.
    """

    model: MDP
    accepted: np.ndarray


def product(model: MDP, found: Automaton, letter: np.ndarray) -> Product:
    """The product of a model with an automaton.

    Args:
        model: a concrete model with probabilities.
        found: the automaton.
        letter: int `[S]`, the place of the letter of each state.
    """
    made = followed(model, found.delta, found.jumps, letter)
    return Product(made, _accepted(made, found, letter, model.num_states))


def followed(
    model: MDP, delta: np.ndarray, jumps: list[list[int]], letter: np.ndarray
) -> MDP:
    """A model whose states are those of another one with those of an automaton.

    State `q * S + s` is that in which the automaton is in q before it reads s; the last
    one is that of runs that it cannot follow.

    Args:
        model: a concrete model with probabilities.
        delta: int `[Q, L]`, the next state for each letter, -1 where there is none.
        jumps: for each state of the automaton those that it may go on from instead.
        letter: int `[S]`, the place of the letter of each state.
    """
    size, owner = model.num_states, owner_of(model)
    count = len(delta)
    real = int(np.asarray(model.row_group_offsets)[-1])
    rows = np.asarray(model.row_offsets)[: real + 1]
    columns = np.asarray(model.columns)[: rows[-1]]
    probs = np.asarray(model.probs)[: rows[-1]]
    many = np.diff(rows)
    source, owner = np.repeat(np.arange(real), many), owner[:real]
    sink = count * size
    limits.check_room(count * (len(columns) * 24 + size * 16), "the product")
    there = np.flatnonzero(np.diff(model.row_group_offsets) > 0)
    state, choice, target, weight = [], [], [], []
    base = 0
    for q in range(count):
        limits.tick("making the product", q, "states of the automaton")
        to = delta[q][letter[owner]][source]
        state.append(q * size + owner[source])
        choice.append(base + source)
        target.append(np.where(to < 0, sink, to * size + columns))
        weight.append(probs)
        base += real
        for jump in dict.fromkeys(jumps[q]):
            state.append(q * size + there)
            choice.append(base + np.arange(len(there)))
            target.append(jump * size + there)
            weight.append(np.ones(len(there)))
            base += len(there)
    state.append(np.array([sink]))
    choice.append(np.array([base]))
    target.append(np.array([sink]))
    weight.append(np.ones(1))
    parts = [np.concatenate(x) for x in (state, choice, target, weight)]
    order = np.lexsort((parts[1], parts[0]))
    state, choice, target, weight = (x[order] for x in parts)
    begins = np.flatnonzero(np.append(True, np.diff(choice) != 0))
    # A padding state has no choice here either: it leads to the sink.
    groups = np.searchsorted(state[begins], np.arange(sink + 2))
    return MDP(
        row_group_offsets=groups.astype(np.int32),
        row_offsets=np.append(begins, len(order)).astype(np.int32),
        columns=target.astype(np.int32),
        probs=weight,
    )


def _accepted(made: MDP, found: Automaton, letter: np.ndarray, size: int) -> np.ndarray:
    """The states of end components that meet all marks of theirs."""
    wanted = np.append(np.repeat(found.wanted, size), -1)
    components = host.mec(made, states=wanted >= 0)
    label = np.asarray(components.state_label)
    met = np.append(found.marks[:, letter].ravel(), 0)
    good = label >= 0
    for bit in range(int(wanted.max(initial=0)).bit_length()):
        has = np.isin(label, label[(met >> bit & 1 > 0) & (label >= 0)])
        good &= has | (wanted >> bit & 1 == 0)
    return good
