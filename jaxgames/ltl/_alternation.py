"""Alternating automata without alternation.

A state of an alternating automaton that takes an edge goes to all of its targets at
once, and each of these threads must accept. Here a set of states stands for all that a
word has come to, and with it go those that have not met a mark since all others did:
where there is none of these left, a mark is met.

Which sets can be left out is as in translations of formulas: what asks for no less, for
the same letters, is not needed.

References:
    Miyano and Hayashi, Alternating finite automata on omega-words, TCS 32 (1984),
    doi:10.1016/0304-3975(84)90049-5.
    Muller, Saoudi and Schupp, Alternating automata, the weak monadic theory of the
    tree, and its complexity, ICALP 1986, doi:10.1007/3-540-16761-7_77.
"""

from collections.abc import Iterable
from typing import NamedTuple, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.acceptance import Acceptance
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.ltl._formula import Formula
from jaxgames.ltl._graph import Edges, Graph, TooLargeError, components, pruned
from jaxgames.ltl._guards import Guard, bits, indices
from jaxgames.ltl._letters import Letters, letters_of

MAX_STATES = 1 << 17
"""States that an automaton may come to."""


@limited()
def from_alternating(
    edges: Iterable[tuple[int, Formula | Guard, Iterable[int], Iterable[int]]],
    initial: Iterable[Iterable[int]],
    condition: Acceptance,
    *,
    num_states: int,
    propositions: Iterable[str],
    name: str = "",
    **bounds: Unpack[Bounds],
) -> Automaton:
    """A Büchi automaton that accepts what an alternating automaton does.

    Exponential in the states at worst.

    Args:
        edges: for each a state; its label, a formula whose propositions are numbers,
            or cubes; the states, one at least, that are gone to at once; its marks.
        initial: the states in all of which a run begins, for each way to begin.
        condition: on marks: without `Fin` and a conjunction of `Inf`; or any, if the
            automaton is weak: of the cycles in a component all accept or none.
        num_states: how many states there are.
        propositions: names; a label says their numbers.
        name: of the automaton.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the condition is another one, or there are too many states.

    Examples:
        `p` in every round, and again and again `q`, by two threads:

        >>> from jaxgames.acceptance import inf
        >>> edges = [
        ...     (0, ((0b01, 0),), [0], [0]),
        ...     (1, ((0b10, 0),), [1], [0]),
        ...     (1, ((0, 0b10),), [1], []),
        ... ]
        >>> from_alternating(
        ...     edges, [[0, 1]], inf(0), num_states=2, propositions=["p", "q"]
        ... )
        Automaton(1 state, 2 edges, 1 acceptance set, propositions p q)
    """
    names = tuple(propositions)
    letters = letters_of(len(names))
    rows: list[list[Branch]] = [[] for _ in range(num_states)]
    guards: dict[Formula | Guard, int] = {}
    for q, label, targets, marks in edges:
        if label not in guards:
            guards[label] = _letters_of_label(label, len(names), letters)
        if guards[label]:
            rows[q].append(Branch(guards[label], _mask(targets), _mask(marks)))
    starts = [_mask(some) for some in initial]
    return without_alternation(rows, starts, condition, letters).automaton(names, name)


def _mask(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


class Branch(NamedTuple):
    """An edge of an alternating automaton.

    Attributes:
        letters: by which it is taken.
        targets: a mask of states, one at least.
        marks: a mask.
    """

    letters: int
    targets: int
    marks: int


def without_alternation(
    rows: list[list[Branch]],
    initial: Iterable[int],
    condition: Acceptance,
    letters: Letters,
) -> Graph:
    """A Büchi automaton with marks on edges, of the same words.

    Args:
        rows: the edges of each state.
        initial: sets of states, in one of which a run begins; masks.
        condition: without `Fin`; or any, if the automaton is weak: of the cycles in a
            component all accept or none. Else it is refused.
        letters: operations on sets of letters.
    """
    initial = list(initial)
    kinds = _kinds(rows, condition)
    if kinds is not None:
        label, good = kinds
        marked = [
            [(x.letters, x.targets, _stays(x, label, q) if good[q] else 0) for x in row]
            for q, row in enumerate(rows)
        ]
        return _breakpoints(marked, initial, letters)
    sets = _sets(condition)
    if sets is None:
        raise ValueError(
            "an alternating automaton is read if it is weak (of the cycles in a "
            "component all accept, or none), or if its acceptance has no Fin and is a "
            f"conjunction of Inf; this one's is {condition}"
        )
    return _breakpoints(*_one_set(rows, initial, sets), letters)


def _stays(branch: Branch, label: list[int], q: int) -> int:
    """The targets in the component of a state: those that count."""
    return sum(1 << r for r in indices(branch.targets) if label[r] == label[q])


def _kinds(
    rows: list[list[Branch]], condition: Acceptance
) -> tuple[list[int], list[bool]] | None:
    """The component of each state, and whether its cycles accept; None: some do."""
    ends = [
        (q, r, branch.marks)
        for q, row in enumerate(rows)
        for branch in row
        for r in indices(branch.targets)
    ]
    successors: list[list[int]] = [[] for _ in rows]
    for q, r, _ in ends:
        successors[q].append(r)
    count, label = components(successors)
    inside = [end for end in ends if label[end[0]] == label[end[1]]]
    good = [False] * count
    for component in sorted({label[q] for q, _, _ in inside}):
        limits.tick("looking at components", component, "components")
        own = [end for end in inside if label[end[0]] == component]
        if _has_cycle(len(rows), own, condition):
            if _has_cycle(len(rows), own, condition.negated()):
                return None
            good[component] = True
    return label, [good[one] for one in label]


def _has_cycle(
    size: int, ends: list[tuple[int, int, int]], condition: Acceptance
) -> bool:
    """Whether some cycle of edges accepts."""
    table = np.array([(q, r) for q, r, _ in ends], np.int32)
    count = max(condition.marks, default=-1) + 1
    sets = [[marks >> i & 1 for _, _, marks in ends] for i in range(count)]
    found = accepting_cycle(
        size,
        table[:, 0],
        table[:, 1],
        np.array(sets, bool).reshape(count, len(ends)),
        condition,
        table[:, 0],
    )
    return found is not None


def _sets(condition: Acceptance) -> list[int] | None:
    """The marks all of which must be met, if that is the condition."""
    if condition.operator == "true":
        return []
    parts = condition.operands if condition.operator == "&" else (condition,)
    if any(part.operator != "inf" for part in parts):
        return None
    return [part.mark for part in parts]


Marked = list[list[tuple[int, int, int]]]
"""Of each state its edges: letters, targets, and the targets that are come to by a
mark."""


def _one_set(
    rows: list[list[Branch]], initial: list[int], sets: list[int]
) -> tuple[Marked, list[int]]:
    """A copy of each state for each number of marks met."""
    count, size = max(1, len(sets)), len(rows)
    marked: Marked = []
    for level in range(count):
        for row in rows:
            found = []
            for branch in row:
                after = level
                while after < len(sets) and branch.marks >> sets[after] & 1:
                    after += 1
                done = after == len(sets)
                shifted = branch.targets << size * (0 if done else after)
                found.append((branch.letters, shifted, shifted if done else 0))
            marked.append(found)
    return marked, initial


def _breakpoints(marked: Marked, initial: list[int], letters: Letters) -> Graph:
    starts = [(some, some) for some in dict.fromkeys(initial)]
    number = {pair: i for i, pair in enumerate(starts)}
    order, found = list(number), []
    for together, due in order:
        limits.tick("removing alternation", len(order), "states")
        if len(order) > MAX_STATES:
            raise TooLargeError(
                f"without alternation the automaton has more than {MAX_STATES} states"
            )
        steps: dict[tuple[int, int], int] = {(0, 0): letters.all}
        for bit in bits(together):
            longer: dict[tuple[int, int], int] = {}
            for (all_of, owing), taken in steps.items():
                for some, targets, met in marked[bit.bit_length() - 1]:
                    shared = letters.both(taken, some)
                    if shared:
                        left = targets & ~met if bit & due else 0
                        key = all_of | targets, owing | left
                        longer[key] = letters.either(longer.get(key, 0), shared)
            steps = pruned(longer, letters)
        edges: Edges = {}
        for (all_of, owing), taken in steps.items():
            pair = (all_of, owing or all_of)
            if pair not in number:
                number[pair] = len(order)
                order.append(pair)
            key = number[pair], int(not owing)
            edges[key] = letters.either(edges.get(key, 0), taken)
        found.append(edges)
    graph = Graph(letters, found, list(range(len(starts))), 1)
    return graph.reduced()


def _letters_of_label(label: Formula | Guard, count: int, letters: Letters) -> int:
    if isinstance(label, tuple):
        return letters.of_guard(label)
    names = [str(i) for i in range(count)]
    return letters.of_guard(_guards.of_formula(label, names))
