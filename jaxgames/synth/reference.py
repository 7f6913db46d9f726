"""The textbook: every letter is tried, and the game is solved by recursion.

References:
    McNaughton, Infinite games played on finite graphs, APAL 65 (1993),
    doi:10.1016/0168-0072(93)90036-D.
    Zielonka, Infinite games on finitely coloured graphs with applications to automata
    on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
"""

import itertools
from typing import Any

from jaxgames.acceptance import Acceptance


def realizable(specification: Any) -> bool:
    """Whether there is a controller: exponential in propositions, marks and states.

    Args:
        specification: a [`Specification`][jaxgames.synth.Specification].

    Examples:
        >>> from jaxgames.synth import Specification
        >>> realizable(Specification.from_ltl("G(r -> g)", ["r"], ["g"]))
        True
    """
    graph = specification.automaton.graph
    names = graph.propositions
    own = [i for i, name in enumerate(names) if name in specification.controllable]
    others = [i for i in range(len(names)) if i not in own]
    first, second = (own, others) if specification.moore else (others, own)
    # A position is a state, or a state and what was set first.
    edges: dict[Any, list[tuple[Any, int]]] = {}
    owner = {}
    for q in range(graph.num_states):
        edges[q], owner[q] = [], int(not specification.moore)
        for some in _letters(first):
            edges[q].append(((q, some), 0))
            edges[q, some], owner[q, some] = [], int(specification.moore)
            for rest in _letters(second):
                letter = some | rest
                for edge in range(graph.offsets[q], graph.offsets[q + 1]):
                    cubes = graph.guard(edge)
                    if any(letter & a == a and not letter & b for a, b in cubes):
                        marks = sum(1 << i for i, x in enumerate(graph.sets) if x[edge])
                        target = int(graph.targets[edge])
                        edges[q, some].append((target, marks))
                        break
    # Marks are read where an edge ends: vertices become edges.
    successors: dict[Any, list[Any]] = {}
    mark, who = {}, {}
    work = [(int(graph.initial[0]), 0)]
    for at in work:
        if at in successors:
            continue
        position, marks = at
        successors[at] = list(dict.fromkeys(edges[position]))
        mark[at], who[at] = marks, owner[position]
        work += successors[at]
    won = _won_by_system(
        set(successors), successors, who, mark, specification.automaton.condition
    )
    return (int(graph.initial[0]), 0) in won


def _letters(propositions: list[int]):
    for chosen in itertools.product((0, 1), repeat=len(propositions)):
        yield sum(on << i for on, i in zip(chosen, propositions, strict=True))


def _won_by_system(
    vertices: set, successors: dict, who: dict, mark: dict, condition: Acceptance
) -> set:
    """The vertices of a total game from which player 0 wins."""
    if not vertices:
        return set()
    every = 0
    for v in vertices:
        every |= mark[v]
    player = 0 if condition.holds(every) else 1
    for some in range(every.bit_length()):
        if not every >> some & 1:
            continue
        # Is there a part that the other wins by avoiding some mark?
        seen = {v for v in vertices if mark[v] >> some & 1}
        left = vertices - _attractor(vertices, successors, who, seen, player)
        system = _won_by_system(left, successors, who, mark, condition)
        lost = left - system if player == 0 else system
        if lost:
            lost = _attractor(vertices, successors, who, lost, 1 - player)
            rest = vertices - lost
            system = _won_by_system(rest, successors, who, mark, condition)
            return system if player == 0 else system | lost
    return vertices if player == 0 else set()


def _attractor(
    vertices: set, successors: dict, who: dict, target: set, player: int
) -> set:
    found = set(target)
    grew = True
    while grew:
        grew = False
        for v in vertices - found:
            inside = [w for w in successors[v] if w in vertices]
            hit = (w in found for w in inside)
            if any(hit) if who[v] == player else all(hit):
                found.add(v)
                grew = True
    return found
