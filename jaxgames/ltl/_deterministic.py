"""From formulas to deterministic parity automata, by three routes.

What is safe, what is guaranteed, and Boolean combinations of these have the smallest
automaton there is, which is found at once. Of other formulas the first route is a
determinisation of the Büchi automaton. The second makes automata of the parts of a
Boolean combination, and combines their conditions by a Zielonka tree: that is far
better for conditions of fairness, and worse for many conjuncts. The smaller one is
taken.

References:
    Müller and Sickert, LTL to deterministic Emerson-Lei automata, GandALF 2017,
    doi:10.4204/EPTCS.256.13.
"""

import functools
import math
import operator
from collections.abc import Iterable
from typing import NamedTuple, Unpack

from jaxgames import limits
from jaxgames.acceptance import Acceptance, both, either, fin, inf
from jaxgames.arguments import integer
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._braces import determinised
from jaxgames.ltl._fewer import smaller
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.ltl._graph import Edges, Graph, TooLargeError, check_edges, components
from jaxgames.ltl._guards import propositions_for
from jaxgames.ltl._letters import Letters, letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._obligation import (
    ACCEPTS,
    REJECTS,
    has,
    is_obligation,
    obligation,
)
from jaxgames.ltl._parity_automaton import ParityAutomaton, of_rows
from jaxgames.ltl._progression import Unfolding
from jaxgames.ltl._translate import graph_of
from jaxgames.tuning.ltl import FIRST_STATES, ROOM_TO_SHRINK, TREE_NODES
from jaxgames.zielonka_tree import ZielonkaTree

MAX_STATES = 1 << 16
"""States that an automaton may have, if nothing else is said."""

State = tuple[int, ...]
"""Of a product: a state of each part, and a leaf of a tree."""


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
    max_states = integer("max_states", max_states, 1)
    formula = as_formula(formula)
    names = propositions_for(formula, propositions)
    letters = letters_of(len(names))
    ground = _Ground(letters, names)
    found = _of_formula(spread(normal_form(formula)), ground, max_states)
    return as_automaton(found, names, str(formula))


def of_obligation(
    formula: Formula, names: tuple[str, ...], max_states: int
) -> ParityAutomaton | None:
    """The smallest automaton of an obligation that is not safe.

    None if the syntax does not show that the formula is one, or if more states than
    there may be are met on the way.
    """
    normal = spread(normal_form(formula))
    if not has(normal, "U") or not is_obligation(normal):
        return None
    try:
        found = obligation(normal, letters_of(len(names)), names, max_states)
    except TooLargeError:
        return None
    return as_automaton(found, names, str(formula))


def as_automaton(graph: Graph, names: tuple[str, ...], name: str) -> ParityAutomaton:
    """A deterministic automaton whose marks are colours."""
    rows = [
        (q, graph.letters.cubes(some), r, colour)
        for q, edges in enumerate(graph.edges)
        for (r, colour), some in edges.items()
    ]
    return of_rows(
        rows,
        num_states=len(graph.edges),
        propositions=names,
        name=name,
        initial=graph.initial[0],
    )


class _Ground:
    """What all automata that are made for a formula stand on."""

    def __init__(self, letters: Letters, names: tuple[str, ...]):
        self.letters = letters
        self._names = names
        self._known: dict[Formula, list[Graph]] = {}
        self._obligations: dict[Formula, Graph] = {}

    def graphs(self, formula: Formula, max_states: int) -> list[Graph]:
        """Generalised Büchi automata of a formula; else raises ValueError."""
        if formula not in self._known:
            found = graph_of(formula, self.letters, self._names, max_states)
            self._known[formula] = found
        return self._known[formula]

    def obligation(self, formula: Formula, max_states: int) -> Graph:
        """The smallest automaton of an obligation."""
        if formula not in self._obligations:
            found = obligation(formula, self.letters, self._names, max_states)
            self._obligations[formula] = found
        return self._obligations[formula]

    def unfolding(self, formula: Formula) -> Unfolding:
        """The automaton of a safe formula, not made yet; else raises TooLargeError."""
        return Unfolding(formula, self.letters, self._names)


def _of_formula(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """An automaton whose marks are colours, by the better way.

    Either way may be hopeless where the other is not, so both get few states at first.
    """
    if is_obligation(formula):
        try:
            return ground.obligation(formula, max_states)
        except TooLargeError:
            pass  # another automaton than the smallest may be made with less
    apart = _apart(formula)
    limit, error = FIRST_STATES, None
    while True:
        limit = min(limit, max_states)
        made: list[Graph] = []
        least = limit
        ways = [(_by_braces, formula)]
        if formula.operator in "&|":
            ways.insert(0, (_by_parts, formula))
        if apart != formula and limit > FIRST_STATES:
            ways.insert(0, (_by_parts, apart))
        for way, given in ways:
            try:
                graph = way(given, ground, least)
            except TooLargeError as too_large:
                error = too_large
                continue
            made.append(graph)
            # What is larger at first may still become smaller in the end.
            least = min(least, max(len(graph.edges), ROOM_TO_SHRINK))
            if len(graph.edges) == 1:
                break
        if made:
            return min(made, key=lambda graph: graph.size)
        if limit == max_states:
            raise error or AssertionError("there is no reason")
        limit *= 8
        if 2 * limit > max_states:  # it would be much the same twice
            limit = max_states


def _apart(formula: Formula, *, wholly: bool = False) -> Formula:
    """A Boolean combination whose parts are as small as they may be.

    `G(x & y)` is `G x & G y`, and `F(x | y)` is `F x | F y`. Unless it is wholly taken
    apart, what is safe in the first, or the negation of such in the second, stays
    together.
    """
    known: dict[int, Formula] = {}
    for part in formula.parts():
        known[id(part)] = part
        if part.operator in ("&", "|"):
            flat: list[Formula] = []
            for x in (known[id(y)] for y in part.operands):
                flat += x.operands if x.operator == part.operator else [x]
            known[id(part)] = Formula(part.operator, tuple(flat))
        elif part.operator in ("R", "U"):
            joins, neutral, plain = (
                ("&", "false", "U") if part.operator == "R" else ("|", "true", "R")
            )
            first, inner = part.operands
            if first.operator != neutral or inner.operator != joins:
                continue
            pieces = [x for x in inner.operands if wholly or has(x, plain)]
            rest = tuple(x for x in inner.operands if x not in pieces)
            if rest:
                pieces.append(rest[0] if len(rest) == 1 else Formula(joins, rest))
            if len(pieces) > 1:
                known[id(part)] = Formula(
                    joins, tuple(Formula(part.operator, (first, x)) for x in pieces)
                )
    return known[id(formula)]


# ---- braces ----------------------------------------------------------------------


def _by_braces(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """The smallest of what comes of the Büchi automata of a formula and its negation.

    Where one of them is deterministic, nothing need be determinised.
    """
    made: list[Graph] = []
    found: dict[bool, list[Graph]] = {}
    other: Graph | None = None
    error = first_error = None
    for negate in (False, True):
        normal = spread(normal_form(formula, True)) if negate else formula
        try:
            often = _infinitely_often(normal, ground, max_states)
        except TooLargeError as too_large:
            often, first_error = None, too_large
            # Others are mostly larger yet, and take far longer.
            max_states = min(max_states, ROOM_TO_SHRINK)
        if often is not None:
            other = _complement(often) if negate else often
            if not 1 < len(other.edges) <= ROOM_TO_SHRINK:
                return other
        try:
            found[negate] = graphs = ground.graphs(normal, 4 * max_states)
            direct = _directly(graphs, max_states)
            if direct is not None:
                made.append(_complement(direct) if negate else direct)
                if len(direct.edges) == 1:
                    return made[-1]
        except ValueError as too_large:  # of the automaton or of the tree
            error = too_large
    if made:
        max_states = min(max_states, *(len(graph.edges) for graph in made))
    least = {x: min(len(g.edges) for g in graphs) for x, graphs in found.items()}
    # What comes of the smaller one may be far smaller. The formula's own is tried in
    # any case, and that of the negation if it is smaller.
    for negate in sorted(least, key=lambda x: (least[x], x)):
        if negate and least[True] >= least.get(False, math.inf):
            continue
        try:
            graph = _with_braces(found[negate], max_states)
        except TooLargeError as too_large:
            error = too_large
            continue
        made.append(_complement(graph) if negate else graph)
        max_states = min(max_states, max(len(graph.edges), ROOM_TO_SHRINK))
    if other is not None:
        made.append(other)
    if not made:
        raise TooLargeError(str(first_error or error))
    return min(made, key=lambda graph: graph.size)


def _infinitely_often(
    formula: Formula, ground: _Ground, max_states: int
) -> Graph | None:
    """The automaton of `G F x`, where some letters tell that x holds; else None.

    That of `F x` begins anew whenever it has seen that.
    """
    false, inner = formula.operands if formula.operator == "R" else (None, None)
    if false is None or inner is None or false.operator != "false":
        return None
    if inner.operator != "U" or inner.operands[0].operator != "true" or has(inner, "R"):
        return None
    graph = ground.obligation(inner, max_states)
    seen = {q for q, edges in enumerate(graph.edges) if list(edges) == [(q, ACCEPTS)]}
    first = graph.initial[0]
    if first in seen:
        return graph
    edges: list[Edges] = []
    for row in graph.edges:
        edges.append({})
        for (r, _), some in row.items():
            end = (first, ACCEPTS) if r in seen else (r, REJECTS)
            edges[-1][end] = graph.letters.either(edges[-1].get(end, 0), some)
    return smaller(Graph(graph.letters, edges, [first], 0))


def _directly(graphs: list[Graph], max_states: int) -> Graph | None:
    """What comes of an automaton that is deterministic, if there is one."""
    for graph in graphs:
        if _is_deterministic(graph):
            tree = ZielonkaTree(both(map(inf, range(graph.num_sets))))
            return smaller(_with_tree(graph, tree, max_states))
    return None


def _with_braces(graphs: list[Graph], max_states: int) -> Graph:
    """What comes of the smallest one by determinisation."""
    least = min(graphs, key=lambda graph: graph.size)
    return smaller(determinised(least.degeneralised(on_states=False), max_states))


def smallest(graphs: list[Graph], max_states: int) -> Graph:
    """The smaller of what comes of Büchi automata in both ways; marks are colours."""
    found = _directly(graphs, max_states)
    if found is None:
        return _with_braces(graphs, max_states)
    try:
        other = _with_braces(graphs, min(max_states, len(found.edges)))
    except TooLargeError:
        return found
    return min((found, other), key=lambda graph: graph.size)


def _complement(graph: Graph) -> Graph:
    return smaller(graph.with_marks({x: x + 1 for x in graph.marks}, 0))


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


# ---- Boolean combinations --------------------------------------------------------


def _by_parts(formula: Formula, ground: _Ground, max_states: int) -> Graph:
    """The product of automata of the parts; a tree makes a parity condition of it."""
    return smaller(_factors(formula, ground, max_states).product(max_states))


Step = tuple[State, int, int]
"""States of the first parts, the marks on the way there, and the letters."""


class Factors(NamedTuple):
    """A deterministic automaton that is not multiplied out.

    A state has one of each part, and a leaf of the tree.

    Attributes:
        letters: of the propositions.
        parts: deterministic and complete; the marks of each are its own.
        tree: of the condition on the marks of all.
        plain: the parts with colours for marks.
        condition: on the marks of all.
    """

    letters: Letters
    parts: "list[Graph | Unfolded]"
    tree: ZielonkaTree
    plain: "list[Graph | Unfolded]"
    condition: Acceptance

    @property
    def start(self) -> State:
        """The initial state."""
        return (*(x.initial[0] for x in self.parts), self.tree.first_leaf[0])

    def row(
        self, state: State, known: "dict[State, list[Step]] | None" = None
    ) -> dict[tuple[State, int], int]:
        """The letters to each state that follows one, with each colour.

        What is found of states of the first parts is `known`: it is used, and added.
        """
        *places, leaf = state
        steps: list[Step] = [((), 0, self.letters.all)]
        for number, (graph, q) in enumerate(zip(self.parts, places, strict=True)):
            # The last part makes most, and nobody shares what all parts make.
            begun = state[: number + 1] if number + 1 < len(places) else ()
            if known is not None and begun in known:
                steps = known[begun]
                continue
            before, steps = steps, []
            for at, (done, marks, some) in enumerate(before):
                if not at & 63:
                    limits.tick("multiplying")
                steps += [
                    ((*done, r), marks | more, shared)
                    for (r, more), own in graph.edges[q].items()
                    if (shared := self.letters.both(some, own))
                ]
            check_edges(len(steps))
            if known is not None and begun:
                known[begun] = steps
        row: dict[tuple[State, int], int] = {}
        for targets, marks, some in steps:
            after, colour = self.tree.read(leaf, marks)
            key = (*targets, after), colour
            row[key] = self.letters.either(row.get(key, 0), some)
        return row

    @property
    def bound(self) -> float:
        """States that the product has at most."""
        unfolded = any(isinstance(x, Unfolded) for x in self.parts)
        sizes = (len(x.edges) for x in self.parts if isinstance(x, Graph))
        return math.inf if unfolded else math.prod(sizes, start=len(self.tree.leaves))

    def without_failures(self) -> "Factors":
        """Without edges to states of parts in which the whole is violated for good."""
        offset, parts = 0, []
        every = (1 << sum(x.num_sets for x in self.parts)) - 1
        for part in self.parts:
            if isinstance(part, Unfolded):
                own = 1 << offset
                if self.condition.assuming(every & ~own).operator == "false":
                    part = part.without_failures()
            else:
                part = self._without_failures(part, every, offset)
            parts.append(part)
            offset += part.num_sets
        return self._replace(parts=parts)

    def _without_failures(self, graph: Graph, every: int, offset: int) -> Graph:
        others = every & ~((1 << graph.num_sets) - 1 << offset)
        failed = set()
        for q, edges in enumerate(graph.edges):
            if all(r == q for r, _ in edges):
                marks = functools.reduce(operator.or_, (x for _, x in edges), 0)
                if self.condition.assuming(others | marks).operator == "false":
                    failed.add(q)
        rows: list[Edges] = [
            {end: some for end, some in edges.items() if end[0] not in failed}
            for edges in graph.edges
        ]
        return Graph(graph.letters, rows, graph.initial, graph.num_sets)

    def product(self, max_states: int) -> Graph:
        """All states that are reached; marks are colours."""
        number: dict[State, int] = {self.start: 0}
        order, rows, count = [self.start], [], 0
        for state in order:
            limits.tick("multiplying", len(order), "states")
            if len(order) > max_states:
                raise TooLargeError(f"the product has more than {max_states} states")
            edges: Edges = {}
            for (after, colour), some in self.row(state).items():
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                edges[number[after], colour] = some
            rows.append(edges)
            count += len(edges)
            check_edges(count)
        return Graph(self.letters, rows, [0], 0)


class Unfolded:
    """A safe part whose edges are made when they are asked for."""

    def __init__(self, states: Unfolding, bit: int, failures: bool = True):
        self.states = states
        self.edges = self
        self.initial = [0]
        self.num_sets = 1
        self._bit = bit
        self._failures = failures

    def without_failures(self) -> "Unfolded":
        """Without edges to the state in which the formula is violated."""
        return Unfolded(self.states, self._bit, failures=False)

    def __getitem__(self, state: int) -> Edges:
        """The letters to each successor, with a mark unless the formula is violated."""
        row = self.states.row(state)
        lost = self.states.is_lost
        return {
            (r, 0 if lost(r) else self._bit): some
            for r, some in row.items()
            if self._failures or not lost(r)
        }


def factors(
    formula: Formula, names: tuple[str, ...], max_states: int, unfolded_beyond: int
) -> Factors:
    """The automata of the parts of a formula, not multiplied out.

    Each part may have `max_states`; beyond `unfolded_beyond` a safe part is not made,
    but unfolded. A part or tree that is too large raises TooLargeError.
    """
    ground = _Ground(letters_of(len(names)), names)
    normal = _apart(spread(normal_form(formula)))
    return _factors(normal, ground, max_states, unfolded_beyond)


def apart(
    formula: Formula, names: tuple[str, ...], max_states: int
) -> tuple[Letters, list[Graph], Acceptance]:
    """Deterministic automata of the parts of a formula, and a condition on their marks.

    Other than for `factors`, safe parts are not joined, and there is no tree.
    """
    ground = _Ground(letters_of(len(names)), names)
    normal = _apart(spread(normal_form(formula)), wholly=True)
    parts, _, condition = _parts_of(normal, ground, max_states, None, joins=False)
    return ground.letters, parts, condition  # type: ignore[return-value]


def _factors(
    formula: Formula,
    ground: _Ground,
    max_states: int,
    unfolded_beyond: int | None = None,
) -> Factors:
    found = _parts_of(formula, ground, max_states, unfolded_beyond, joins=True)
    parts, plain, condition = found
    try:
        tree = ZielonkaTree(condition, max_nodes=TREE_NODES * max_states)
    except ValueError as error:
        raise TooLargeError(str(error)) from error
    return Factors(ground.letters, parts, tree, plain, condition)


def _parts_of(
    formula: Formula,
    ground: _Ground,
    max_states: int,
    unfolded_beyond: int | None,
    *,
    joins: bool,
) -> "tuple[list[Graph | Unfolded], list[Graph | Unfolded], Acceptance]":
    """Parts with marks, the same with colours, and the condition on the marks."""
    parts: list[Graph | Unfolded] = []
    plain: list[Graph | Unfolded] = []
    known: dict[Formula, Acceptance] = {}

    def condition_of(part: Formula) -> Acceptance:
        if part in known:
            return known[part]
        if part.operator in ("&", "|"):
            join = both if part.operator == "&" else either
            operands = _grouped(part) if joins else part.operands
            found = join([condition_of(x) for x in operands])
        else:
            found = leaf(part)
        known[part] = found
        return found

    def leaf(part: Formula) -> Acceptance:
        offset = sum(x.num_sets for x in parts)
        if unfolded_beyond is not None and not has(part, "U"):
            try:
                ground.obligation(part, unfolded_beyond)
            except TooLargeError:
                found = Unfolded(ground.unfolding(part), 1 << offset)
                parts.append(found)
                plain.append(found)
                return inf(offset)
        if is_obligation(part):
            graph = smaller(ground.obligation(part, max_states))
        else:
            graph = _by_braces(part, ground, max_states)
        plain.append(graph)
        if not joins:
            graph = _in_two_colours(graph)
        graph, condition = _as_marks(graph, offset)
        parts.append(graph)
        return condition

    def _grouped(part: Formula) -> list[Formula]:
        """Operands; those that are safe, or dually so, are one automaton."""
        bad = "U" if part.operator == "&" else "R"
        plain = [x for x in part.operands if not has(x, bad)]
        if len(plain) < 2 or len(plain) == len(part.operands):
            return list(part.operands)
        one = Formula(part.operator, tuple(plain))
        known[one] = leaf(one)
        return [one, *(x for x in part.operands if x not in plain)]

    return parts, plain, condition_of(formula)


def _in_two_colours(graph: Graph) -> Graph:
    """The same with the lowest of three colours like the highest, where that may be.

    It may be if the lowest and the one between are on no cycle without the highest.
    """
    colours = sorted(graph.marks)
    if len(colours) != 3 or (colours[2] - colours[0]) % 2:
        return graph
    low, middle, high = colours
    inner = [[r for r, colour in edges if colour < high] for edges in graph.edges]
    _, label = components(inner)
    met: set[tuple[int, int]] = {
        (label[q], colour)
        for q, edges in enumerate(graph.edges)
        for r, colour in edges
        if colour < high and label[q] == label[r]
    }
    if any((component, middle) in met for component, colour in met if colour == low):
        return graph
    return graph.with_marks({low: high, middle: middle, high: high}, 0)


def _as_marks(graph: Graph, offset: int) -> tuple[Graph, Acceptance]:
    """A mark for each colour but the lowest, and the parity condition on them."""
    colours = sorted(graph.marks)
    condition = either([]) if colours[0] % 2 else both([])
    bit = {colours[0]: 0}
    for i, colour in enumerate(colours[1:]):
        bit[colour] = 1 << offset + i
        mark = offset + i
        if colour % 2 == 0:
            condition = either([inf(mark), condition])
        else:
            condition = both([fin(mark), condition])
    return graph.with_marks(bit, len(colours) - 1), condition


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
    condition = both(map(inf, range(graph.num_sets + 1)))
    if complete and graph.initial:
        edges = graph.edges
    else:
        tree = ZielonkaTree(condition)
    whole = Graph(graph.letters, edges, initial, 0)
    return Factors(graph.letters, [whole], tree, [], condition).product(max_states)
