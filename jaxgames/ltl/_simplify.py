"""Smaller automata of the same words: useless states, needless sets, simulation."""

import numpy as np

from jaxgames import limits
from jaxgames.graph import host
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._operations import Kind, Row, classify, edges_of, from_rows

MAX_PROPOSITIONS = 12
"""Propositions up to which simulation is looked for: each letter is."""

MAX_WORK = 1 << 29
"""The same for the comparisons of one round."""


def simplify(automaton: Automaton, *, state_based: bool = False) -> Automaton:
    """Makes an automaton smaller; the accepted words stay.

    Args:
        automaton: the automaton.
        state_based: whether acceptance of states is to remain that of states.
    """
    size = None
    while size != (size := _size(automaton)):
        automaton = _trim(automaton, state_based)
        automaton = _reduce(automaton)
    return automaton


def _size(automaton: Automaton) -> tuple[int, int, int, int]:
    cubes = len(automaton.required)
    return automaton.num_states, automaton.num_edges, automaton.num_sets, cubes


def _trim(automaton: Automaton, state_based: bool) -> Automaton:
    """Leaves out states on no accepting run, and marks and sets that decide nothing."""
    graph = automaton.offsets, automaton.targets
    label, kind = classify(automaton)
    good = np.array([kind[c] != Kind.REJECTING for c in label], bool)
    useful = host.reachable(graph, automaton.initial) & host.reachable(
        graph, good, backward=True
    )
    number = np.cumsum(useful) - 1
    rows: list[Row] = []
    inner = []
    for q, guard, r, marks in edges_of(automaton):
        if useful[q] and useful[r]:
            inside = label[q] == label[r]
            counts = good[q] and (inside or state_based)
            rows.append((int(number[q]), guard, int(number[r]), marks if counts else 0))
            inner += [rows[-1][3]] if inside else []
    keep = _needed(inner, automaton.num_sets, state_based)
    rows = [
        (q, guard, r, sum((marks >> i & 1) << k for k, i in enumerate(keep)))
        for q, guard, r, marks in rows
    ]
    return from_rows(
        rows,
        like=automaton,
        num_states=int(useful.sum()),
        num_sets=len(keep),
        initial=number[[q for q in automaton.initial if useful[q]]],
    )


def _needed(inner: list[int], num_sets: int, state_based: bool) -> list[int]:
    """The sets without those that are met whenever another one is, or always.

    Args:
        inner: the marks of the edges within components.
        num_sets: how many sets there are.
        state_based: whether one set must remain.
    """
    if state_based:
        return list(range(num_sets))
    keep = list(range(num_sets))
    for i in range(num_sets):
        others = [j for j in keep if j != i]
        if all(marks >> i & 1 for marks in inner) or any(
            all(marks >> i & 1 or not marks >> j & 1 for marks in inner) for j in others
        ):
            keep = others
    return keep


def _reduce(automaton: Automaton) -> Automaton:
    """Unites states that simulate each other, and drops edges that others outdo.

    State `p` simulates `q` if it answers every edge of `q`, letter by letter, with one
    in the same acceptance sets or more, that leads to a state which simulates that of
    `q`. An edge need not be taken by letters for which there is a better one.

    References:
        Etessami, Wilke and Schuller, Fair simulation relations, parity games, and state
        space reduction for Büchi automata, SIAM J. Comput. 34 (2005),
        doi:10.1137/S0097539703420675.
        Bustan and Grumberg, Simulation-based minimization, ACM TOCL 4 (2003),
        doi:10.1145/635499.635502.
    """
    simulates = _simulation(automaton)
    mutual = simulates & simulates.T
    leader = [int(np.flatnonzero(row)[0]) for row in mutual]
    initial = {leader[q] for q in automaton.initial}
    initial = {
        q for q in initial if not any(simulates[q, p] for p in initial if p != q)
    }
    united: dict[tuple[int, int, int], _guards.Guard] = {}
    for q, guard, r, marks in edges_of(automaton):
        if leader[q] == q:
            key = q, leader[r], marks
            united[key] = _guards.either(united.get(key, ()), guard)
    rows = []
    for (q, r, marks), guard in limits.ticking(united.items(), "simplifying"):
        for (q2, r2, marks2), better in united.items():
            more = simulates[r, r2] and not marks & ~marks2
            if more and q == q2 and (r, marks) != (r2, marks2):
                guard = _guards.minus(guard, better)
        rows.append((q, guard, r, marks))
    return from_rows(
        rows,
        like=automaton,
        num_states=automaton.num_states,
        num_sets=automaton.num_sets,
        initial=sorted(initial),
    )


def _simulation(automaton: Automaton) -> np.ndarray:
    """Which states are simulated by which: bool `[A, A]`, row by column."""
    size, edges = automaton.num_states, automaton.num_edges
    if len(automaton.propositions) > MAX_PROPOSITIONS:
        return _equal(automaton)
    letters = np.arange(1 << len(automaton.propositions), dtype=np.uint64)
    # Letters that the same edges take are alike.
    enabled = np.unique(automaton.enabled(letters), axis=0)
    if not edges or len(enabled) * edges**2 > MAX_WORK:
        return _equal(automaton)
    heads, sets = automaton.targets, automaton.sets
    as_good = (~sets[:, :, None] | sets[:, None, :]).all(axis=0)
    # Sums over the edges of states that have some.
    busy = np.flatnonzero(np.diff(automaton.offsets))
    starts = automaton.offsets[busy]
    simulates = np.ones((size, size), bool)
    while True:
        better = as_good & simulates[np.ix_(heads, heads)]
        unanswered = np.zeros((edges, size), bool)
        for taken in limits.ticking(enabled, "simplifying"):
            answered = np.zeros((np.count_nonzero(taken), size), bool)
            answered[:, busy] = np.logical_or.reduceat(
                better[taken] & taken, starts, axis=1
            )
            unanswered[taken] |= ~answered
        failed = np.zeros((size, size), bool)
        failed[busy] = np.logical_or.reduceat(unanswered, starts, axis=0)
        refined = simulates & ~failed
        if (refined == simulates).all():
            return simulates
        simulates = refined


def _equal(automaton: Automaton) -> np.ndarray:
    """Which states have the same edges, up to such states: bool `[A, A]`."""
    label = np.zeros(automaton.num_states, np.int64)
    rows = edges_of(automaton)
    while True:
        edges = [set() for _ in label]
        for q, guard, r, marks in rows:
            edges[q].add((guard, int(label[r]), marks))
        numbers: dict[tuple, int] = {}
        keys = [(int(label[q]), frozenset(x)) for q, x in enumerate(edges)]
        refined = np.array([numbers.setdefault(x, len(numbers)) for x in keys], int)
        if len(numbers) == len(set(label.tolist())):
            return refined[:, None] == refined
        label = refined
