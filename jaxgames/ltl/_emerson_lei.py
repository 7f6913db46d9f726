"""Automata with any acceptance condition on the marks of their edges."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.acceptance import FALSE, Acceptance, both, either
from jaxgames.graph import host
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._letters import letters_of
from jaxgames.value import Value

if TYPE_CHECKING:
    from jaxgames.ltl._parity_automaton import ParityAutomaton

MAX_CLAUSES = 256
"""Alternatives that a condition may come to, each with a copy of the automaton."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class EmersonLei(Value):
    """An automaton whose acceptance is any condition on marks of edges.

    Attributes:
        graph: states, edges and guards; its set `i` has the edges with mark `i`.
        condition: what must be met infinitely often, and what must not.

    Examples:
        >>> from jaxgames.acceptance import fin
        >>> graph = Automaton.from_edges([0, 0], ["p", "!p"], [0, 0], sets=[[0, 1]])
        >>> automaton = EmersonLei(graph, fin(0))
        >>> automaton
        EmersonLei(1 state, 2 edges, Fin(0), propositions p)
        >>> automaton.accepts([set()], [{"p"}]), automaton.accepts([], [{"p"}, set()])
        (True, False)
    """

    graph: Automaton
    condition: Acceptance

    @property
    def num_states(self) -> int:
        """Number of states."""
        return self.graph.num_states

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return self.graph.num_edges

    @property
    def propositions(self) -> tuple[str, ...]:
        """What the propositions are called."""
        return self.graph.propositions

    @limited()
    def accepts(
        self,
        prefix: Iterable[Iterable[str]],
        cycle: Iterable[Iterable[str]],
        **bounds: Unpack[Bounds],
    ) -> bool:
        """Whether a word is accepted that runs through a cycle for ever.

        Args:
            prefix: letters, each the names of the propositions that hold.
            cycle: letters, one at least.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the cycle is empty.
        """
        tails, heads, edge, size = self.graph.along(prefix, cycle)
        found = accepting_cycle(
            size,
            tails,
            heads,
            self.graph.sets[:, edge],
            self.condition,
            self.graph.initial,
        )
        return found is not None

    @limited()
    def is_empty(self, **bounds: Unpack[Bounds]) -> bool:
        """Whether no word is accepted.

        Components are found and cut, mark by mark of those that must be finite: for
        Streett conditions one level more than pairs, for Rabin conditions one branch a
        pair; exponential in the number of marks at worst.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        References:
            Baier et al., Generic emptiness check for fun and profit, ATVA 2019,
            doi:10.1007/978-3-030-31784-3_26.
        """
        graph = self.graph
        found = accepting_cycle(
            graph.num_states,
            graph.sources,
            graph.targets,
            graph.sets,
            self.condition,
            graph.initial,
        )
        return found is None

    @limited()
    def to_buchi(self, **bounds: Unpack[Bounds]) -> Automaton:
        """A generalised Büchi automaton of the same words.

        For each alternative of the condition there is a copy without the edges that
        must not be met for ever; a run guesses when it has met the last of them.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the condition has too many alternatives.
        """
        from jaxgames.ltl._graph import Edges, Graph
        from jaxgames.ltl._operations import edges_of

        graph, clauses = self.graph, alternatives(self.condition)
        size, num_sets = graph.num_states, max([1, *(len(x) for _, x in clauses)])
        every, letters = (1 << num_sets) - 1, letters_of(len(graph.propositions))
        edges: list[Edges] = [{} for _ in range(size * (len(clauses) + 1))]

        def add(q: int, r: int, marks: int, some: int) -> None:
            edges[q][r, marks] = letters.either(edges[q].get((r, marks), 0), some)

        for q, guard, r, marks in limits.ticking(edges_of(graph), "translating"):
            some = letters.of_guard(guard)
            add(q, r, 0, some)
            for copy, (never, again) in enumerate(clauses, 1):
                add(q, r + copy * size, 0, some)
                if not marks & never:
                    met = sum(
                        1 << i for i, mark in enumerate(again) if marks >> mark & 1
                    )
                    met |= every & -1 << len(again)
                    add(q + copy * size, r + copy * size, met, some)
        copies = range(len(clauses) + 1)
        initial = [int(q) + copy * size for copy in copies for q in graph.initial]
        made = Graph(letters, edges, initial, num_sets).reduced()
        return made.automaton(graph.propositions, graph.name)

    @limited()
    def parity(self, **bounds: Unpack[Bounds]) -> "ParityAutomaton":
        """A parity automaton of the same words, for a deterministic automaton.

        Where the condition is a chain, as parity conditions are, the graph stays;
        otherwise states are pairs of a state and a leaf of the condition's Zielonka
        tree.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the automaton is not deterministic or not complete, or the tree
                is too large; names the state.
        """
        from jaxgames.ltl import _parity_automaton

        return _parity_automaton.of_emerson_lei(self)

    def __repr__(self) -> str:
        text = repr(self.graph).removeprefix("Automaton(").split(", ")
        condition = str(self.condition)
        condition = condition if len(condition) < 60 else condition[:57] + "..."
        return f"EmersonLei({text[0]}, {text[1]}, {condition}, {text[-1]}"


def alternatives(condition: Acceptance) -> list[tuple[int, tuple[int, ...]]]:
    """Conjunctions one of which must hold: a mask of finite marks, and the others."""

    def leaf(node: Acceptance) -> list[tuple[int, int]]:
        bit = 1 << max(node.mark, 0)
        return {
            "true": [(0, 0)],
            "false": [],
            "inf": [(0, bit)],
            "fin": [(bit, 0)],
        }[node.operator]

    def join(node: Acceptance, parts: list) -> list[tuple[int, int]]:
        if node.operator == "|":
            found = [x for part in parts for x in part]
        else:
            found = [(0, 0)]
            for part in parts:
                found = [(a | c, b | d) for a, b in found for c, d in part]
                found = _without_implied(found)
        return _without_implied(found)

    found = condition.fold(leaf, join)
    return [(never, tuple(_guards.indices(again))) for never, again in found]


def _without_implied(clauses: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(clauses) > MAX_CLAUSES**2:
        found = len(clauses)
    else:
        clauses = [x for x in dict.fromkeys(clauses) if not x[0] & x[1]]
        clauses = [
            x
            for x in clauses
            if not any(
                x != y and not y[0] & ~x[0] and not y[1] & ~x[1] for y in clauses
            )
        ]
        found = len(clauses)
    if found > MAX_CLAUSES:
        raise ValueError(
            f"the acceptance condition comes to {found} alternatives, more than "
            f"{MAX_CLAUSES}"
        )
    return clauses


def accepting_cycle(
    size: int,
    tails: np.ndarray,
    heads: np.ndarray,
    sets: np.ndarray,
    condition: Acceptance,
    initial: np.ndarray,
    components: Callable[[np.ndarray], tuple[int, np.ndarray]] | None = None,
) -> np.ndarray | None:
    """Edges that are strongly connected and met together accept: bool `[E]`, or None.

    Args:
        size: number of vertices.
        tails: where each edge starts, in any order.
        heads: where it ends.
        sets: bool `[N, E]`, the edges with each mark.
        condition: on these marks.
        initial: where paths begin.
        components: finds strongly connected components: from bool `[E]`, the edges that
            there are, in ascending order of `tails`, to how many there are and that of
            each vertex. None: on the host.
    """
    order = np.argsort(tails, kind="stable")
    tails, heads, sets = tails[order], heads[order], sets[:, order]
    offsets = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(tails, minlength=size), out=offsets[1:])
    graph = offsets, heads.astype(np.int32)
    reached = host.reachable(graph, initial)
    work = [(reached[tails], condition)]
    while work:
        limits.tick("searching accepting cycles")
        edges, asked = work.pop()
        if components is None:
            count, label = host.scc(graph, edges=edges)
        else:
            count, label = components(edges)
        inside = edges & (label[tails] == label[heads])
        if not inside.any():
            continue
        # Components in which the same marks are left are looked at together.
        marks = asked.marks
        present = np.zeros((len(marks) + 1, count), bool)
        present[-1][label[tails[inside]]] = True
        for row, mark in zip(present, marks, strict=False):
            row[label[tails[inside & sets[mark]]]] = True
        kinds, kind = np.unique(present, axis=1, return_inverse=True)
        for number, column in enumerate(kinds.T):
            if not column[-1]:
                continue
            met = sum(1 << m for m, there in zip(marks, column, strict=False) if there)
            rest = asked.assuming(met)
            if rest.operator == "false":
                continue
            own = inside & (kind.reshape(-1)[label[tails]] == number)
            if rest.holds(met):
                first = label[tails[np.argmax(own)]]
                found = np.zeros(len(order), bool)
                found[order] = own & (label[tails] == first)
                return found
            for without, left in smaller(rest, met):
                work.append((own & ~sets[_guards.indices(without)].any(axis=0), left))
    return None


def smaller(asked: Acceptance, met: int) -> list[tuple[int, Acceptance]]:
    """Questions one of which must be answered where all marks that are met do not do.

    Args:
        asked: on the marks that are met.
        met: a mask of these.

    Returns:
        Masks of marks to do without, and what is asked there: of less, or less.
    """
    parts = asked.operands if asked.operator == "&" else (asked,)
    finite = sum(1 << mark for mark in {x.mark for x in parts if x.operator == "fin"})
    if finite:
        return [(finite, asked.assuming(met & ~finite))]
    if asked.operator == "|":
        return [(0, part) for part in asked.operands]
    some = _some_fin(asked)
    if some is None:
        return []
    # Or it is met: then its Fin is false.
    left = asked.fold(
        lambda node: FALSE if (node.operator, node.mark) == ("fin", some) else node,
        lambda node, found: (both if node.operator == "&" else either)(found),
    )
    return [(1 << some, asked.assuming(met & ~(1 << some))), (0, left)]


def _some_fin(asked: Acceptance) -> int | None:
    work = [asked]
    while work:
        node = work.pop()
        if node.operator == "fin":
            return node.mark
        work += node.operands
    return None
