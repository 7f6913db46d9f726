"""Deterministic automata made smaller: fewer colours, and states united.

References:
    Carton and Maceiras, Computing the Rabin index of a parity automaton, RAIRO Theor.
    Inform. Appl. 33 (1999), doi:10.1051/ita:1999129.
"""

from jaxgames import limits
from jaxgames.ltl._graph import Edges, Graph, components
from jaxgames.tuning.ltl import UNITED_FIRST_FROM, UNITED_TOO_FROM


def smaller(graph: Graph) -> Graph:
    """Fewer colours, and states that accept alike united."""
    size = len(graph.edges)
    if size < UNITED_TOO_FROM:
        return _recoloured(graph)
    united = graph.quotient()
    if size >= UNITED_FIRST_FROM or united is graph:
        return _recoloured(united)
    # Neither way is always the better one.
    return min(_recoloured(graph), _recoloured(united), key=lambda x: x.size)


def _recoloured(graph: Graph) -> Graph:
    for _ in range(2):
        colours, most = fewest(graph)
        made = [
            _coloured(graph, fill(graph, colours, most)) for fill in (_least, _alike)
        ]
        before = graph.size
        graph = min((x.quotient() for x in made), key=lambda x: x.size)
        if graph.size == before:
            break
    return graph


def _coloured(graph: Graph, colours: list[int]) -> Graph:
    edges: list[Edges] = []
    new = iter(colours)
    for found in graph.edges:
        united: Edges = {}
        for ((r, _), some), colour in zip(found.items(), new, strict=False):
            key = r, colour
            united[key] = graph.letters.either(united.get(key, 0), some)
        edges.append(united)
    return Graph(graph.letters, edges, graph.initial, 0)


def fewest(graph: Graph) -> tuple[list[int], list[int]]:
    """New colours of the edges, in each component as few as its loops ask for.

    They are 0 for an edge that may have any up to some; and that.
    """
    ends = [(q, r, c) for q, edges in enumerate(graph.edges) for r, c in edges]
    new, most = [0] * len(ends), [0] * len(ends)
    inside, levels = list(range(len(ends))), []
    while inside:
        limits.tick("simplifying", len(levels), "colours")
        successors: list[list[int]] = [[] for _ in graph.edges]
        for e in inside:
            successors[ends[e][0]].append(ends[e][1])
        count, label = components(successors)
        top, first, rest = [-1] * count, [], []
        here = [e for e in inside if label[ends[e][0]] == label[ends[e][1]]]
        for e in here:
            c = label[ends[e][0]]
            top[c] = max(top[c], ends[e][2])
        for e in here:
            (first if ends[e][2] == top[label[ends[e][0]]] else rest).append(e)
        free = set(inside) - set(here)
        levels.append((label, count, first, rest, free))
        inside = rest
    values = []
    for label, count, first, rest, _ in reversed(levels):
        value = [1] * count
        for e in rest:
            c = label[ends[e][0]]
            value[c] = max(value[c], new[e])
        least = list(value)
        for e in first:
            c = label[ends[e][0]]
            new[e] = least[c] + (least[c] + ends[e][2]) % 2
            value[c] = max(value[c], new[e])
        values.append(value)
    # An edge on no loop of its level is below what was taken away before.
    values.reverse()
    whole = max(new, default=1)
    for depth, (_, _, _, _, free) in enumerate(levels):
        for e in free:
            above = levels[depth - 1][0] if depth else None
            most[e] = values[depth - 1][above[ends[e][0]]] if above else max(whole, 1)
    return new, most


def _least(graph: Graph, colours: list[int], most: list[int]) -> list[int]:
    """Edges that may have any colour have the least."""
    return [colour or 1 for colour in colours]


def _alike(graph: Graph, colours: list[int], most: list[int]) -> list[int]:
    """They have, if they may, the colour of what follows by the same letters."""
    starts = [0]
    for edges in graph.edges:
        starts.append(starts[-1] + len(edges))
    both, found = graph.letters.both, list(colours)
    free = [e for e, colour in enumerate(colours) if not colour]
    targets = [r for edges in graph.edges for r, _ in edges]
    taken = [some for edges in graph.edges for some in edges.values()]
    sources = [q for q, edges in enumerate(graph.edges) for _ in edges]
    # What follows by some letters, while no colour of it has changed.
    known: list[dict[int, int]] = [{} for _ in graph.edges]
    for _ in range(3):
        for number, e in enumerate(reversed(free)):
            if not number & 1023:
                limits.tick("simplifying", number, "edges")
            r, own = targets[e], taken[e]
            colour = known[r].get(own)
            if colour is None:
                after = {
                    found[x]
                    for x in range(starts[r], starts[r + 1])
                    if both(taken[x], own)
                }
                colour = known[r][own] = after.pop() if len(after) == 1 else -1
            if colour >= 0:
                colour = 0 if colour > most[e] else colour
                if colour != found[e]:
                    found[e] = colour
                    known[sources[e]].clear()
    return [colour or 1 for colour in found]
