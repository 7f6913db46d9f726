"""Determinisation: the states a word may have come to, with nested braces.

There is one brace more for each accepting edge. A brace in which everybody has opened
another one is green, one that nobody has any more is dead; the oldest of these gives
the colour.

References:
    Redziejowski, An improved construction of deterministic omega-automaton using
    derivatives, Fundam. Inform. 119 (2012), doi:10.3233/FI-2012-744.
    Piterman, From nondeterministic Büchi and Streett automata to deterministic parity
    automata, LMCS 3 (2007), doi:10.2168/LMCS-3(3:5)2007.
"""

import functools
import operator

from jaxgames import limits
from jaxgames.ltl._graph import Graph, TooLargeError, check_edges
from jaxgames.ltl._letters import atoms
from jaxgames.tuning.ltl import SIMULATED_UP_TO, STEPS_A_STATE, STEPS_ALWAYS

LAST = 1 << 60
"""Behind the last brace of a path, so that the longer of two is the better."""

Path = tuple[int, ...]


def determinised(graph: Graph, max_states: int) -> Graph:
    """A deterministic parity automaton of a Büchi automaton with marks on edges."""
    letters = graph.letters
    if not graph.num_sets:  # every run accepts
        graph = graph.with_marks(dict.fromkeys(graph.marks, 1), 1)
    small = graph.size[0] * graph.size[1] <= SIMULATED_UP_TO
    # Of the marks, those between components are gone: simulations rely on that.
    by = graph.simulations() if small else [0] * graph.size[0]
    start = tuple((q, (0,)) for q in sorted(set(graph.initial)))
    number: dict[tuple, int] = {start: 0}
    order: list[tuple] = [start]
    rows, most, count, steps = [], 0, 0, 0
    most_steps = max(STEPS_ALWAYS, STEPS_A_STATE * max_states)
    for state in order:
        limits.tick("determinising", len(order), "states")
        if len(order) > max_states:
            raise TooLargeError(
                f"the parity automaton has more than {max_states} states: allow more "
                "by max_states"
            )
        edges: dict[tuple[int, int], int] = {}
        guards = [some for q, _ in state for some in graph.edges[q].values()]
        parts = atoms(letters, guards)
        steps += len(parts) * len(state)
        if steps > most_steps:
            raise TooLargeError(
                f"{len(order)} states of the parity automaton, each with many of a "
                f"Büchi automaton, take more than {most_steps} steps: allow more by "
                "max_states"
            )
        for atom in limits.ticking(parts, "determinising"):
            after, colour = _after(graph, by, state, atom)
            if after not in number:
                number[after] = len(order)
                order.append(after)
            most = max(most, colour)
            key = number[after], colour
            edges[key] = letters.either(edges.get(key, 0), atom)
        rows.append(edges)
        count += len(edges)
        check_edges(count)
    # From the least that counts to the largest; 0 is none, and rejects.
    top = most + most % 2 + 2
    made = Graph(letters, rows, [0], 0)
    return made.with_marks({x: top - x if x else 1 for x in made.marks}, 0)


def _after(
    graph: Graph, by: list[int], state: tuple[tuple[int, Path], ...], atom: int
) -> tuple[tuple[tuple[int, Path], ...], int]:
    """The state after some letters, and the colour: min even, 0 for none."""
    old = {brace for _, path in state for brace in path}
    fresh: dict[Path, int] = {}
    next_brace = max(old, default=-1) + 1
    best: dict[int, Path] = {}
    for q, path in sorted(state, key=lambda item: (*item[1], LAST)):
        for (r, mark), some in graph.edges[q].items():
            if not graph.letters.both(some, atom):
                continue
            new = path
            if mark:
                if path not in fresh:
                    fresh[path] = next_brace
                    next_brace += 1
                new = (*path, fresh[path])
            if r not in best or (*new, LAST) < (*best[r], LAST):
                best[r] = new
    there = functools.reduce(operator.or_, (1 << r for r in best), 0)
    for r in sorted(best):
        # One that is simulated by another with a better path is not needed.
        others = by[r] & there & ~(1 << r)
        while others:
            p = others.bit_length() - 1
            others ^= 1 << p
            one, other = (*best[p], LAST), (*best[r], LAST)
            if one < other or (one == other and (not by[p] >> r & 1 or p < r)):
                del best[r]
                there ^= 1 << r
                break
    alive = {brace for path in best.values() for brace in path}
    last = {path[-1] for path in best.values()}
    dead, green = old - alive, alive - last
    colours = [2 * brace + 1 for brace in dead] + [2 * brace + 2 for brace in green]
    cut = {}
    for r, path in best.items():
        for place, brace in enumerate(path):
            if brace in green:
                path = path[: place + 1]
                break
        cut[r] = path
    left = sorted({brace for path in cut.values() for brace in path})
    dense = {brace: i for i, brace in enumerate(left)}
    after = tuple((r, tuple(dense[b] for b in cut[r])) for r in sorted(cut))
    return after, min(colours, default=0)
