"""What is made of automata: one acceptance set, all letters, components, products."""

import enum
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.graph import host
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton


class Kind(enum.IntEnum):
    """What a strongly connected component of an automaton can do for acceptance."""

    REJECTING = 0
    """It has no accepting cycle."""
    TERMINAL = 1
    """Every cycle accepts, and every letter has an edge that stays inside: whoever gets
    here and can go on for ever is accepted."""
    WEAK = 2
    """Every cycle accepts: whoever stays here for ever is accepted."""
    STRONG = 3
    """There are accepting cycles and others."""


class Classification(NamedTuple):
    """The strongly connected components of an automaton, and what they can do.

    Attributes:
        label: int32 `[A]`, the component of each state, in order of their smallest
            states.
        kind: the kind of each component.
    """

    label: np.ndarray
    kind: tuple[Kind, ...]


def classify(automaton: Automaton) -> Classification:
    """Finds the components and their kinds."""
    tails, heads, sets = automaton.sources, automaton.targets, automaton.sets
    graph = automaton.offsets, heads
    count, label = host.scc(graph)
    inside = label[tails] == label[heads]

    def has(edges: np.ndarray) -> np.ndarray:
        return np.bincount(label[tails[edges]], minlength=count) > 0

    accepts = has(inside)
    weak = np.ones(count, bool)
    for one in sets:
        accepts &= has(inside & one)
        # A cycle that avoids the set?
        _, rest = host.scc(graph, edges=inside & ~one)
        weak &= ~has(inside & ~one & (rest[tails] == rest[heads]))
    kinds = []
    for component in range(count):
        kind = Kind.REJECTING
        if accepts[component]:
            kind = Kind.WEAK if weak[component] else Kind.STRONG
            states = np.flatnonzero(label == component)
            if kind == Kind.WEAK and all(
                _missing(automaton, int(q), inside) == _guards.FALSE for q in states
            ):
                kind = Kind.TERMINAL
        kinds.append(kind)
    return Classification(label, tuple(kinds))


def _missing(automaton: Automaton, state: int, among: np.ndarray | None = None):
    """The letters that no edge (of some) takes in a state, as a guard."""
    edges = range(automaton.offsets[state], automaton.offsets[state + 1])
    taken = [automaton.guard(e) for e in edges if among is None or among[e]]
    return _guards.negated(_guards.either(*taken))


def complete(automaton: Automaton) -> Automaton:
    """Adds a state that accepts nothing, for letters that some states do not take."""
    rows = [*edges_of(automaton)]
    states = limits.ticking(range(automaton.num_states), "completing")
    missing = [_missing(automaton, q) for q in states]
    sink = automaton.num_states
    extra = [(q, guard, sink, 0) for q, guard in enumerate(missing) if guard]
    starts = automaton.initial
    if not extra and len(starts):
        return automaton
    sets = automaton.sets
    if not len(sets):  # all runs accept: now those must not that end in the sink
        sets = np.ones((1, automaton.num_edges), bool)
        rows = [(q, guard, r, 1) for q, guard, r, _ in rows]
    return from_rows(
        [*rows, *extra, (sink, _guards.TRUE, sink, 0)],
        like=automaton,
        num_states=sink + 1,
        num_sets=len(sets),
        initial=starts if len(starts) else [sink],
    )


def degeneralise(automaton: Automaton) -> Automaton:
    """An automaton with one set of accepting states and the same words.

    A copy of the automaton for each set it waits for, and one where it has met them
    all, which accepts; an edge may meet several at once. What is met counts only within
    a component. At most `A (N + 1)` states, of which the reachable ones are kept, in
    breadth-first order.

    References:
        Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
        doi:10.1007/3-540-44585-4_6.
    """
    from jaxgames.ltl._graph import Graph

    if automaton.num_sets == 1 and automaton.is_state_based:
        return automaton
    edges: Any = [{} for _ in range(automaton.num_states)]
    for q, guard, r, marks in edges_of(automaton):
        edges[q][r, marks] = (*edges[q].get((r, marks), ()), guard)
    letters: Any = _Guards()
    graph = Graph(letters, edges, automaton.initial.tolist(), automaton.num_sets)
    made = min(graph.unrolled(on_states=True), key=lambda x: x.size)
    return made.automaton(automaton.propositions, automaton.name)


class _Guards:
    """Guards in the place of sets of letters: joined when all of an edge are known."""

    def either(self, one: Any, other: Any) -> Any:
        return one + other

    def cubes(self, guards: Any) -> _guards.Guard:
        return _guards.either(*guards) if len(guards) > 1 else guards[0]


def intersect(one: Automaton, other: Automaton) -> Automaton:
    """An automaton of the words that both accept.

    Its propositions are those of the first and then the others of the second; its
    states are the reachable pairs; its sets those of both.
    """
    names, edges = over_both(one, other)
    left = [[] for _ in range(one.num_states)]
    for q, guard, r, marks in edges_of(one):
        left[q].append((guard, r, marks))
    right = [[] for _ in range(other.num_states)]
    for q, guard, r, marks in edges:
        right[q].append((guard, r, marks << one.num_sets))
    order = [(int(q), int(r)) for q in one.initial for r in other.initial]
    number = {pair: i for i, pair in enumerate(order)}
    starts, rows = len(order), []
    for p, q in limits.ticking(order, "intersecting"):
        for guard, p2, marks in left[p]:
            for guard2, q2, marks2 in right[q]:
                meet = _guards.both(guard, guard2)
                if not meet:
                    continue
                if (p2, q2) not in number:
                    number[p2, q2] = len(order)
                    order.append((p2, q2))
                rows.append((number[p, q], meet, number[p2, q2], marks | marks2))
    return from_rows(
        rows,
        propositions=names,
        num_states=len(order),
        num_sets=one.num_sets + other.num_sets,
        initial=range(starts),
    )


def over_both(one: Automaton, other: Automaton) -> tuple[tuple[str, ...], "list[Row]"]:
    """The propositions of two automata, and the edges of the second one over these.

    Those of the first come first, so its edges are over these as they are.
    """
    more = [x for x in other.propositions if x not in one.propositions]
    names = (*one.propositions, *more)
    place = [names.index(x) for x in other.propositions]

    def moved(mask: int) -> int:
        return sum(1 << place[i] for i in _guards.indices(mask))

    return names, [
        (q, tuple((moved(must), moved(never)) for must, never in guard), r, marks)
        for q, guard, r, marks in edges_of(other)
    ]


# ---- edges as rows of a list -----------------------------------------------------

Row = tuple[int, _guards.Guard, int, int]
"""An edge: from where, its guard, to where, and its acceptance sets as a mask."""


def edges_of(automaton: Automaton) -> list[Row]:
    """The edges as a list."""
    marks = [
        sum(1 << int(i) for i in np.flatnonzero(column)) for column in automaton.sets.T
    ]
    ends = zip(automaton.sources.tolist(), automaton.targets.tolist(), strict=True)
    return [
        (q, guard, r, mark)
        for (q, r), guard, mark in zip(ends, automaton.guards, marks, strict=True)
    ]


def from_rows(
    rows, *, num_states, num_sets, initial, like=None, propositions=(), name=""
) -> Automaton:
    """The automaton of a list of edges; like edges between two states are united."""
    united: dict[tuple[int, int, int], list[_guards.Guard]] = {}
    for q, guard, r, marks in rows:
        united.setdefault((q, r, marks), []).append(guard)
    ends = np.array([(q, r) for q, r, _ in united], np.int32).reshape(-1, 2)
    return Automaton.of_cubes(
        ends[:, 0],
        [
            _guards.either(*guards) if len(guards) > 1 else guards[0]
            for guards in united.values()
        ],
        ends[:, 1],
        num_states=num_states,
        initial=np.asarray(initial, np.int32).reshape(-1),
        propositions=tuple(propositions) if like is None else like.propositions,
        sets=np.array(
            [[marks >> i & 1 for _, _, marks in united] for i in range(num_sets)], bool
        ).reshape(num_sets, len(united)),
        name=name if like is None else like.name,
    )
