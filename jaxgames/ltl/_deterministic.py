"""From formulas to deterministic parity automata, by two routes.

The first is a determinisation of the Büchi automaton: the states of that automaton that
a word may have come to are kept with nested braces, one more for each accepting edge. A
brace in which everybody has opened another one is green, one that nobody has any more
is dead; the oldest of these gives the colour. The second makes automata of the parts of
a Boolean combination, and combines their conditions by a Zielonka tree: that is far
better for conditions of fairness, and worse for many conjuncts. The smaller one is
taken.

References:
    Redziejowski, An improved construction of deterministic omega-automaton using
    derivatives, Fundam. Inform. 119 (2012), doi:10.3233/FI-2012-744.
    Piterman, From nondeterministic Büchi and Streett automata to deterministic parity
    automata, LMCS 3 (2007), doi:10.2168/LMCS-3(3:5)2007.
    Müller and Sickert, LTL to deterministic Emerson-Lei automata, GandALF 2017,
    doi:10.4204/EPTCS.256.13.
    Carton and Maceiras, Computing the Rabin index of a parity automaton, RAIRO Theor.
    Inform. Appl. 33 (1999), doi:10.1051/ita:1999129.
"""

from collections.abc import Iterable
from typing import Unpack

from jaxgames import limits
from jaxgames.acceptance import Acceptance, both, either, fin, inf
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.ltl._graph import Edges, Graph, components
from jaxgames.ltl._letters import Letters, atoms, letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._parity_automaton import ParityAutomaton, of_rows
from jaxgames.ltl._translate import graph_of
from jaxgames.tuning.ltl import FIRST_STATES, SIMULATED_UP_TO, TREE_NODES
from jaxgames.zielonka_tree import ZielonkaTree

MAX_STATES = 1 << 16
"""States that an automaton may have, if nothing else is said."""

LAST = 1 << 60
"""Behind the last brace of a path, so that the longer of two is the better."""

Path = tuple[int, ...]


class _TooLargeError(ValueError):
    """An automaton has more states than it may have."""


@limited()
def deterministic(
    formula: Formula | str,
    *,
    propositions: Iterable[str] | None = None,
    max_states: int = MAX_STATES,
    **bounds: Unpack[Bounds],
) -> ParityAutomaton:
    """A deterministic, complete parity automaton of the words that satisfy a formula.

    Doubly exponential in the size of the formula at worst.

    Args:
        formula: a formula of linear temporal logic, or its text, as
            [`Formula.parse`][jaxgames.ltl.Formula.parse] reads it.
        propositions: names, in the order of the bits; by default those in the formula,
            in alphabetical order.
        max_states: how many states may be made.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the text is no formula, there are more than 64 propositions, or the
            automaton has more states.

    Examples:
        >>> deterministic("F G p")
        ParityAutomaton(1 state, 2 edges, 2 colours, propositions p)
        >>> deterministic("G F p -> G F q").accepts([], [{"p"}, {"q"}])
        True
    """
    formula = as_formula(formula)
    names = _guards.check_propositions(
        formula.propositions if propositions is None else propositions
    )
    unknown = [x for x in formula.propositions if x not in names]
    if unknown:
        raise ValueError(
            f"proposition {unknown[0]!r} of the formula is not among the propositions "
            f"{', '.join(names) or '(none)'}"
        )
    letters = letters_of(len(names))
    ground = _Ground(letters, names)
    found = _of_formula(spread(normal_form(formula)), ground, max_states)
    rows = [
        (q, letters.cubes(some), r, colour)
        for q, edges in enumerate(found.edges)
        for (r, colour), some in edges.items()
    ]
    return of_rows(
        rows,
        num_states=len(found.edges),
        propositions=names,
        name=str(formula),
        initial=found.initial[0],
    )


class _Ground:
    """What all automata that are made for a formula stand on.

    Attributes:
        letters: of the propositions.
    """

    def __init__(self, letters: Letters, names: tuple[str, ...]):
        self.letters = letters
        self._names = names
        self._known: dict[Formula, list[Graph]] = {}

    def graphs(self, formula: Formula, max_states: int) -> list[Graph]:
        """Generalised Büchi automata of a formula.

        Raises:
            ValueError: they have too many states.
        """
        if formula not in self._known:
            found = graph_of(formula, self.letters, self._names, max_states)
            self._known[formula] = found
        return self._known[formula]


def _of_formula(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """An automaton whose marks are colours, by the better way.

    Either way may be hopeless where the other is not, so both get few states at first.
    """
    limit, error = FIRST_STATES, None
    while True:
        limit = min(limit, max_states)
        made: list[Graph] = []
        ways = (_by_parts, _by_braces) if formula.operator in "&|" else (_by_braces,)
        for way in ways:
            least = min([limit, *(len(graph.edges) for graph in made)])
            try:
                made.append(way(formula, ground, least))
            except _TooLargeError as too_large:
                error = too_large
        if made:
            return min(made, key=lambda graph: graph.size)
        if limit == max_states:
            raise error or AssertionError("there is no reason")
        limit *= 8


# ---- braces ----------------------------------------------------------------------


def _by_braces(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """The smallest of what comes of the Büchi automata of a formula.

    Where that of the formula or of its negation is deterministic, nothing need be
    determinised.
    """
    made: list[Graph] = []
    own, error = None, None
    for negate in (False, True):
        normal = spread(normal_form(formula, True)) if negate else formula
        try:
            graphs = ground.graphs(normal, 4 * max_states)
            own = own if negate else graphs
            found = _directly(graphs, max_states)
            if found is not None:
                made.append(_complement(found) if negate else found)
        except limits.LimitError:
            raise
        except ValueError as too_large:  # of the automaton or of the tree
            error = too_large
    if made:
        max_states = min(max_states, *(len(graph.edges) for graph in made))
    try:
        if own is not None:
            made.append(_with_braces(own, max_states))
    except _TooLargeError as too_large:
        error = too_large
    if not made:
        raise _TooLargeError(str(error))
    return min(made, key=lambda graph: graph.size)


def _directly(graphs: list[Graph], max_states: int) -> Graph | None:
    """What comes of an automaton that is deterministic, if there is one."""
    for graph in graphs:
        if _is_deterministic(graph):
            tree = ZielonkaTree(both(map(inf, range(graph.num_sets))))
            return _smaller(_with_tree(graph, tree, max_states))
    return None


def _with_braces(graphs: list[Graph], max_states: int) -> Graph:
    """What comes of the smallest one by determinisation."""
    least = min(graphs, key=lambda graph: graph.size)
    return _smaller(determinised(least.degeneralised(on_states=False), max_states))


def smallest(graphs: list[Graph], max_states: int) -> Graph:
    """The smaller of what comes of Büchi automata in both ways; marks are colours.

    Raises:
        ValueError: there are too many states.
    """
    found = _directly(graphs, max_states)
    if found is None:
        return _with_braces(graphs, max_states)
    try:
        other = _with_braces(graphs, min(max_states, len(found.edges)))
    except _TooLargeError:
        return found
    return min((found, other), key=lambda graph: graph.size)


def _complement(graph: Graph) -> Graph:
    edges: list[Edges] = [
        {(r, colour + 1): some for (r, colour), some in edges.items()}
        for edges in graph.edges
    ]
    return _smaller(Graph(graph.letters, edges, graph.initial, 0))


def _is_deterministic(graph: Graph) -> bool:
    if len(graph.initial) > 1:
        return False
    for edges in graph.edges:
        taken = 0
        for some in edges.values():
            if graph.letters.both(taken, some):
                return False
            taken = graph.letters.either(taken, some)
    return True


def determinised(graph: Graph, max_states: int) -> Graph:
    """A deterministic parity automaton of a Büchi automaton with marks on edges."""
    letters = graph.letters
    if not graph.num_sets:  # every run accepts
        marked: list[Edges] = [
            {(r, 1): some for (r, _), some in edges.items()} for edges in graph.edges
        ]
        graph = Graph(letters, marked, graph.initial, 1)
    small = graph.size[0] * graph.size[1] <= SIMULATED_UP_TO
    # Of the marks, those between components are gone: simulations rely on that.
    by = graph.simulations() if small else [0] * graph.size[0]
    start = tuple((q, (0,)) for q in sorted(set(graph.initial)))
    number: dict[tuple, int] = {start: 0}
    order: list[tuple] = [start]
    rows, most = [], 0
    for state in order:
        limits.tick("determinising", len(order), "states")
        if len(order) > max_states:
            raise _TooLargeError(
                f"the parity automaton has more than {max_states} states: allow more "
                "by max_states"
            )
        edges: dict[tuple[int, int], int] = {}
        guards = [some for q, _ in state for some in graph.edges[q].values()]
        for atom in atoms(letters, guards):
            after, colour = _after(graph, by, state, atom)
            if after not in number:
                number[after] = len(order)
                order.append(after)
            most = max(most, colour)
            key = number[after], colour
            edges[key] = letters.either(edges.get(key, 0), atom)
        rows.append(edges)
    # From the least that counts to the largest; 0 is none, and rejects.
    top = most + most % 2 + 2
    flipped = [
        {
            (r, top - colour if colour else 1): some
            for (r, colour), some in edges.items()
        }
        for edges in rows
    ]
    return Graph(letters, flipped, [0], 0)


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
    for r in sorted(best):
        # One that is simulated by another with a better path is not needed.
        for p in best:
            if p == r or not by[r] >> p & 1:
                continue
            one, other = (*best[p], LAST), (*best[r], LAST)
            if one < other or (one == other and (not by[p] >> r & 1 or p < r)):
                del best[r]
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


# ---- Boolean combinations --------------------------------------------------------


def _by_parts(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """The product of automata of the parts; a tree makes a parity condition of it."""
    parts: list[Graph] = []
    known: dict[Formula, Acceptance] = {}

    def condition_of(part: Formula) -> Acceptance:
        if part in known:
            return known[part]
        if part.operator in ("&", "|"):
            join = both if part.operator == "&" else either
            found = join([condition_of(x) for x in _grouped(part)])
        else:
            found = leaf(part)
        known[part] = found
        return found

    def leaf(part: Formula) -> Acceptance:
        graph = _by_braces(part, ground, max_states)
        offset = sum(x.num_sets for x in parts)
        graph, condition = _as_marks(graph, offset)
        parts.append(graph)
        return condition

    def _grouped(part: Formula) -> list[Formula]:
        """Operands; those that are safe, or dually so, are one automaton."""
        bad = "U" if part.operator == "&" else "R"
        plain = [x for x in part.operands if not _has(x, bad)]
        if len(plain) < 2 or len(plain) == len(part.operands):
            return list(part.operands)
        one = Formula(part.operator, tuple(plain))
        known[one] = leaf(one)
        return [one, *(x for x in part.operands if x not in plain)]

    condition = condition_of(formula)
    try:
        tree = ZielonkaTree(condition, max_nodes=TREE_NODES * max_states)
    except limits.LimitError:
        raise
    except ValueError as error:
        raise _TooLargeError(str(error)) from error
    return _smaller(_product(parts, tree, ground.letters, max_states))


def _has(formula: Formula, operator: str) -> bool:
    work = [formula]
    while work:
        node = work.pop()
        if node.operator == operator:
            return True
        work += node.operands
    return False


def _as_marks(graph: Graph, offset: int) -> tuple[Graph, Acceptance]:
    """A mark for each colour but the lowest, and the parity condition on them."""
    colours = sorted({colour for edges in graph.edges for _, colour in edges})
    condition = either([]) if colours[0] % 2 else both([])
    bit = {colours[0]: 0}
    for i, colour in enumerate(colours[1:]):
        bit[colour] = 1 << offset + i
        mark = offset + i
        if colour % 2 == 0:
            condition = either([inf(mark), condition])
        else:
            condition = both([fin(mark), condition])
    edges: list[Edges] = [
        {(r, bit[colour]): some for (r, colour), some in edges.items()}
        for edges in graph.edges
    ]
    return Graph(graph.letters, edges, graph.initial, len(colours) - 1), condition


def _product(
    parts: list[Graph], tree: ZielonkaTree, letters: Letters, max_states: int
) -> Graph:
    start = (*(graph.initial[0] for graph in parts), tree.first_leaf[0])
    number: dict[tuple[int, ...], int] = {start: 0}
    order, rows = [start], []
    for state in order:
        limits.tick("multiplying", len(order), "states")
        if len(order) > max_states:
            raise _TooLargeError(f"the product has more than {max_states} states")
        *places, leaf = state
        steps: list[tuple[tuple[int, ...], int, int]] = [((), 0, letters.all)]
        for graph, q in zip(parts, places, strict=True):
            steps = [
                ((*done, r), marks | more, shared)
                for done, marks, some in steps
                for (r, more), own in graph.edges[q].items()
                if (shared := letters.both(some, own))
            ]
        edges: Edges = {}
        for targets, marks, some in steps:
            after, colour = tree.read(leaf, marks)
            pair = (*targets, after)
            if pair not in number:
                number[pair] = len(order)
                order.append(pair)
            key = number[pair], colour
            edges[key] = letters.either(edges.get(key, 0), some)
        rows.append(edges)
    return Graph(letters, rows, [0], 0)


def _with_tree(graph: Graph, tree: ZielonkaTree, max_states: int) -> Graph:
    """A deterministic automaton with a tree for its condition, made complete."""
    size = len(graph.edges)
    every = (1 << graph.num_sets) - 1
    edges: list[Edges] = []
    complete = True
    for found in graph.edges:
        taken = 0
        for some in found.values():
            taken = graph.letters.either(taken, some)
        missing = graph.letters.minus(graph.letters.all, taken)
        # A mark that is never met with the others says that the word was refused.
        edges.append(
            {(r, marks | every + 1): some for (r, marks), some in found.items()}
        )
        if missing:
            complete = False
            edges[-1][size, 0] = missing
    edges.append({(size, 0): graph.letters.all})
    initial = graph.initial or [size]
    if complete and graph.initial:
        edges = graph.edges
    else:
        tree = ZielonkaTree(both(map(inf, range(graph.num_sets + 1))))
    whole = Graph(graph.letters, edges, initial, 0)
    return _product([whole], tree, graph.letters, max_states)


# ---- smaller ---------------------------------------------------------------------


def _smaller(graph: Graph) -> Graph:
    """Fewer colours, and states that accept alike united."""
    for _ in range(2):
        colours, most = _fewest(graph)
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


def _fewest(graph: Graph) -> tuple[list[int], list[int]]:
    """New colours of the edges, in each component as few as its loops ask for.

    Returns:
        For each edge its colour, or 0 for one that may have any up to some; and that.
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
    for _ in range(3):
        for e in reversed(free):
            r = targets[e]
            after = {
                found[x]
                for x in range(starts[r], starts[r + 1])
                if both(taken[x], taken[e])
            }
            if len(after) == 1:
                found[e] = min(after)
                if found[e] > most[e]:
                    found[e] = 0
    return [colour or 1 for colour in found]
