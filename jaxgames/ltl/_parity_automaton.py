"""Deterministic parity automata."""

import dataclasses
from collections.abc import Iterable
from typing import Unpack

import numpy as np

from jaxgames import acceptance, limits
from jaxgames.acceptance import Acceptance
from jaxgames.kept import keeps, kept
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._emerson_lei import EmersonLei
from jaxgames.ltl._letters import Letters, Nodes, Tables
from jaxgames.ltl._operations import from_rows
from jaxgames.tuning.ltl import CHECK_TABLES_UP_TO
from jaxgames.value import Value
from jaxgames.zielonka_tree import ZielonkaTree

MAX_STATES = 1 << 22
"""States that a product with a tree may have."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ParityAutomaton(Value):
    """A deterministic, complete automaton with a colour on each edge, max even.

    A word is accepted if the largest colour that its run meets infinitely often is
    even.

    Attributes:
        graph: states, edges and guards, with one initial state and no sets.
        colour: int32 `[E]`.

    Examples:
        >>> graph = Automaton.from_edges([0, 0], ["p", "!p"], [0, 0])
        >>> automaton = ParityAutomaton(graph, np.array([2, 1], np.int32))
        >>> automaton
        ParityAutomaton(1 state, 2 edges, 2 colours, propositions p)
        >>> automaton.accepts([], [{"p"}, set()]), automaton.accepts([], [set()])
        (True, False)
    """

    graph: Automaton
    colour: np.ndarray

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

    @property
    def initial(self) -> int:
        """The initial state."""
        return int(self.graph.initial[0])

    def complement(self) -> "ParityAutomaton":
        """The automaton of all other words: every colour is one more."""
        return ParityAutomaton(self.graph, self.colour + np.int32(1))

    @keeps
    def emerson_lei(self) -> EmersonLei:
        """The same automaton, with a mark for each colour up to the largest."""
        least = int(self.colour.min(initial=1))
        colour = self.colour - least // 2 * 2
        count = int(colour.max(initial=0)) + 1
        sets = colour[None, :] == np.arange(count)[:, None]
        condition = acceptance.parity("max even", count)
        return EmersonLei(dataclasses.replace(self.graph, sets=sets), condition)

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
        return self.emerson_lei.accepts(prefix, cycle)

    @limited()
    def is_empty(self, **bounds: Unpack[Bounds]) -> bool:
        """Whether no word is accepted.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
        """
        return self.emerson_lei.is_empty()

    def __repr__(self) -> str:
        text = repr(self.graph).removeprefix("Automaton(").split(", ")
        count = len(np.unique(self.colour))
        colours = f"{count} colour{'' if count == 1 else 's'}"
        return f"ParityAutomaton({text[0]}, {text[1]}, {colours}, {text[-1]}"


def of_emerson_lei(automaton: EmersonLei) -> ParityAutomaton:
    """A parity automaton of the same words as a deterministic automaton."""
    check_deterministic(automaton.graph)
    graph = dataclasses.replace(
        automaton.graph, sets=np.zeros((0, automaton.num_edges), bool)
    )
    chain = automaton.condition.colours()
    if chain is None:
        return _with_tree(automaton.graph, automaton.condition)
    colours, lowest = chain
    colour = np.full(automaton.num_edges, lowest, np.int32)
    for mark, one in colours.items():
        colour = np.maximum(colour, np.where(automaton.graph.sets[mark], one, 0))
    return ParityAutomaton(graph, colour.astype(np.int32))


def _with_tree(graph: Automaton, condition: Acceptance) -> ParityAutomaton:
    """Pairs of a state and a leaf, as far as they can be reached."""
    tree = ZielonkaTree(condition)
    guards, targets = graph.guards, graph.targets.tolist()
    marks = [
        sum(1 << int(i) for i in np.flatnonzero(column)) for column in graph.sets.T
    ]
    order = [(int(graph.initial[0]), tree.first_leaf[0])]
    number = {order[0]: 0}
    rows = []
    for q, leaf in order:
        limits.tick("making a parity automaton", len(order), "states")
        if len(order) > MAX_STATES:
            raise ValueError(
                f"the parity automaton has more than {MAX_STATES} states: a state for "
                "each leaf of the Zielonka tree of its acceptance condition"
            )
        for edge in range(graph.offsets[q], graph.offsets[q + 1]):
            after, colour = tree.read(leaf, marks[edge])
            pair = (targets[edge], after)
            if pair not in number:
                number[pair] = len(order)
                order.append(pair)
            rows.append((number[q, leaf], guards[edge], number[pair], colour))
    return of_rows(rows, num_states=len(order), like=graph)


def of_rows(
    rows: list[tuple[int, _guards.Guard, int, int]],
    *,
    num_states: int,
    like: Automaton | None = None,
    propositions: Iterable[str] = (),
    name: str = "",
    initial: int = 0,
) -> ParityAutomaton:
    """The automaton of edges: from where, by which letters, to where, which colour."""
    colours = sorted({colour for *_, colour in rows})
    code = {colour: 1 << i for i, colour in enumerate(colours)}
    graph = from_rows(
        [(q, guard, r, code[colour]) for q, guard, r, colour in rows],
        num_states=num_states,
        num_sets=len(colours),
        initial=[initial],
        like=like,
        propositions=tuple(propositions),
        name=name,
    )
    colour = np.array(colours, np.int32)[np.argmax(graph.sets, axis=0)]
    bare = dataclasses.replace(graph, sets=np.zeros((0, graph.num_edges), bool))
    return ParityAutomaton(bare, colour)


def check_deterministic(graph: Automaton) -> None:
    """Refuses an automaton that is not deterministic, or lacks an edge for a letter.

    Two edges of a state that differ in nothing but the guard may share letters. What
    passed once is not looked at again.
    """
    kept(graph, "deterministic", lambda: _check_deterministic(graph))


def _check_deterministic(graph: Automaton) -> None:
    if len(graph.initial) != 1:
        raise ValueError(
            f"a deterministic automaton has one initial state, this has "
            f"{len(graph.initial)}"
        )
    of_edges, guards = graph.labels
    kinds = [column.tobytes() for column in np.packbits(graph.sets, axis=0).T]
    ends = list(zip(graph.targets.tolist(), kinds, strict=True))
    count = len(graph.propositions)
    letters = Tables(count) if count <= CHECK_TABLES_UP_TO else Nodes(count)
    sets = [letters.of_guard(guard) for guard in guards]
    seen: set[tuple[int, ...]] = set()
    offsets = graph.offsets.tolist()
    for q in range(graph.num_states):
        limits.tick("checking determinism", q, "states")
        edges = slice(offsets[q], offsets[q + 1])
        local: dict[tuple[int, bytes], int] = {}
        row = [local.setdefault(end, len(local)) for end in ends[edges]]
        pattern = (*of_edges[edges], *row)
        if pattern in seen:
            continue
        seen.add(pattern)
        united: dict[tuple[int, bytes], int] = {}
        for end, label in zip(ends[edges], of_edges[edges], strict=True):
            united[end] = letters.either(united.get(end, 0), sets[label])
        taken = 0
        for (target, kind), some in united.items():
            if letters.both(taken, some):
                other, shared = next(
                    (end, both)
                    for end, one in united.items()
                    if end != (target, kind) and (both := letters.both(one, some))
                )
                raise ValueError(
                    f"the automaton is not deterministic: in state {q} the letter "
                    f"{_letter(graph, letters, shared)} leads to {other[0]}"
                    + (
                        f" and to {target}"
                        if other[0] != target
                        else ", with two colours"
                    )
                )
            taken = letters.either(taken, some)
        if taken != letters.all:
            rest = letters.minus(letters.all, taken)
            raise ValueError(
                f"the automaton is not complete: state {q} has no edge for the letter "
                f"{_letter(graph, letters, rest)}"
            )


def _letter(graph: Automaton, letters: Letters, some: int) -> str:
    """Some letter of a set, in words."""
    cube = letters.cubes(some)[0]
    return repr(_guards.text((cube,), graph.propositions))
