"""Languages of automata: determinised, complemented, united, and words in them."""

import numpy as np

from jaxgames import limits
from jaxgames.acceptance import both, inf
from jaxgames.arguments import integer
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._deterministic import as_automaton, smallest
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.ltl._graph import Edges, Graph
from jaxgames.ltl._letters import letters_of
from jaxgames.ltl._operations import edges_of, from_rows, over_both
from jaxgames.ltl._parity_automaton import ParityAutomaton

Word = tuple[list[frozenset[str]], list[frozenset[str]]]
"""A word that runs through a cycle for ever: letters before it, and its own."""


def graph_of_automaton(automaton: Automaton) -> Graph:
    """An automaton as a table of edges."""
    letters = letters_of(len(automaton.propositions))
    edges: list[Edges] = [{} for _ in range(automaton.num_states)]
    for q, guard, r, marks in edges_of(automaton):
        some = letters.either(edges[q].get((r, marks), 0), letters.of_guard(guard))
        edges[q][r, marks] = some
    initial = automaton.initial.tolist()
    return Graph(letters, edges, initial, automaton.num_sets)


def determinise(automaton: Automaton, max_states: int) -> ParityAutomaton:
    """A deterministic parity automaton of the same words."""
    max_states = integer("max_states", max_states, 1)
    found = smallest([graph_of_automaton(automaton).reduced()], max_states)
    return as_automaton(found, automaton.propositions, automaton.name)


def unite(one: Automaton, other: Automaton) -> Automaton:
    """An automaton of the words that one of two accepts: one beside the other."""
    names, edges = over_both(one, other)
    num_sets = max(one.num_sets, other.num_sets)
    every = (1 << num_sets) - 1
    # Sets that one has not are met by all its edges.
    more = [every & -1 << x.num_sets for x in (one, other)]
    size = one.num_states
    rows = [(q, guard, r, marks | more[0]) for q, guard, r, marks in edges_of(one)]
    rows += [
        (q + size, guard, r + size, marks | more[1]) for q, guard, r, marks in edges
    ]
    return from_rows(
        rows,
        propositions=names,
        num_states=size + other.num_states,
        num_sets=num_sets,
        initial=[*one.initial.tolist(), *(other.initial + size).tolist()],
    )


def some_word(automaton: Automaton) -> Word | None:
    """A word that is accepted, if there is one."""
    tails, heads = automaton.sources, automaton.targets
    found = accepting_cycle(
        automaton.num_states,
        tails,
        heads,
        automaton.sets,
        both(map(inf, range(automaton.num_sets))),
        automaton.initial,
    )
    if found is None:
        return None
    inside = np.flatnonzero(found).tolist()
    goals = {int(tails[e]) for e in inside}
    every = range(automaton.num_edges)
    prefix = _path(automaton, automaton.initial.tolist(), goals, every)
    start = int(heads[prefix[-1]]) if prefix else None
    if start is None:
        start = next(q for q in automaton.initial.tolist() if q in goals)
    wanted = [
        next(e for e in inside if automaton.sets[i, e])
        for i in range(automaton.num_sets)
    ]
    cycle, at = [], start
    for edge in wanted or inside[:1]:
        if edge in cycle:
            continue
        cycle += [*_path(automaton, [at], {int(tails[edge])}, inside), edge]
        at = int(heads[edge])
    cycle += _path(automaton, [at], {start}, inside)
    return _letters(automaton, prefix), _letters(automaton, cycle)


def _path(automaton: Automaton, starts: list[int], goals: set[int], edges) -> list[int]:
    """Edges of a shortest path from some states to others."""
    by: dict[int, int | None] = dict.fromkeys(starts)
    leaving: dict[int, list[int]] = {}
    for edge in edges:
        leaving.setdefault(int(automaton.sources[edge]), []).append(edge)
    order = list(by)
    for q in order:
        limits.tick("searching a word", len(order), "states")
        if q in goals:
            path: list[int] = []
            while (edge := by[q]) is not None:
                path.append(edge)
                q = int(automaton.sources[edge])
            return path[::-1]
        for edge in leaving.get(q, ()):
            r = int(automaton.targets[edge])
            if r not in by:
                by[r] = edge
                order.append(r)
    raise AssertionError("there is a path")


def _letters(automaton: Automaton, path: list[int]) -> list[frozenset[str]]:
    """A letter for each edge: what its first cube asks for, and no more."""
    names = automaton.propositions
    return [
        frozenset(
            x for i, x in enumerate(names) if automaton.guard(edge)[0][0] >> i & 1
        )
        for edge in path
    ]
