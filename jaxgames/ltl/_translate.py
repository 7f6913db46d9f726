"""From formulas of linear temporal logic to Büchi automata.

A very weak alternating automaton has a state for each temporal subformula; sets of its
states, which are conjunctions, are the states of a generalised Büchi automaton with an
acceptance set for each until. The automaton is made small between the steps and at the
end.

References:
    Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
    doi:10.1007/3-540-44585-4_6.
"""

from collections.abc import Iterable
from typing import Unpack

from jaxgames import limits
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.ltl._normal_form import FALSE, normal_form
from jaxgames.ltl._operations import degeneralise, from_rows
from jaxgames.ltl._simplify import simplify

Step = tuple[int, int, int]
"""Propositions that must and must not hold now, subformulas that must from the next
letter on: three bit masks."""


@limited()
def translate(
    formula: Formula | str,
    *,
    negate: bool = False,
    generalised: bool = False,
    propositions: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Automaton:
    """A Büchi automaton of the words that satisfy a formula.

    The number of states is exponential in the number of temporal operators at worst.

    Args:
        formula: a formula of linear temporal logic, or its text, as
            [`Formula.parse`][jaxgames.ltl.Formula.parse] reads it.
        negate: whether to take the words that do not satisfy it.
        generalised: whether acceptance may be that of edges, in several sets: such
            automata are smaller. By default there is one set of accepting states.
        propositions: names, in the order of the bits; by default those in the formula,
            in alphabetical order.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the text is no formula, or there are more than 64 propositions.

    Examples:
        >>> translate("G(p -> F q)")
        Automaton(2 states, 4 edges, 1 acceptance set, propositions p q)
        >>> translate("GF a & GF b", generalised=True)
        Automaton(1 state, 4 edges, 2 acceptance sets, propositions a b)

    References:
        Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
        doi:10.1007/3-540-44585-4_6.
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
    name = f"!({formula})" if negate else str(formula)
    tableau = _Tableau(normal_form(formula, negate), names)
    automaton = simplify(tableau.automaton(name))
    if generalised:
        return automaton
    return simplify(degeneralise(automaton), state_based=True)


class _Tableau:
    """Subformulas by number, and their steps: the alternating automaton."""

    def __init__(self, formula: Formula, names: tuple[str, ...]):
        self._formula = formula
        self._names = names
        self._number: dict[Formula, int] = {}
        self._elements: list[Formula] = []
        self._steps: dict[Formula, list[Step]] = {}
        untils = sorted(_untils(formula), key=str)
        self._untils = [self._bit(x) for x in untils]

    def automaton(self, name: str) -> Automaton:
        """The generalised automaton, states with the same edges being one."""
        starts = [self._without_implied(x) for x in self._meanings(self._formula)]
        state_of: dict[int, int] = {}  # by the set of subformulas
        by_edges: dict[frozenset, int] = {}
        edges: list[frozenset] = []
        pending = list(starts)
        for subset in pending:
            limits.tick("translating", len(pending), "states")
            if subset in state_of:
                continue
            found = self._edges(subset)
            state_of[subset] = by_edges.setdefault(found, len(by_edges))
            if len(edges) < len(by_edges):
                edges.append(found)
                pending += sorted({target for _, _, target, _ in found})
        rows = [
            (state, ((must, never),), state_of[target], marks)
            for state, found in enumerate(edges)
            for must, never, target, marks in sorted(found)
        ]
        # Each until has a set, and is marked where it is not put off.
        return from_rows(
            rows,
            propositions=self._names,
            num_states=len(edges),
            num_sets=len(self._untils),
            initial=sorted({state_of[x] for x in starts}),
            name=name,
        )

    def _edges(self, subset: int) -> frozenset[tuple[int, int, int, int]]:
        """The edges of a set of subformulas: steps of all of them, and their marks."""
        steps = {(0, 0, 0)}
        for number in _guards.indices(subset):
            steps = _conjunction(steps, self._steps_of(self._elements[number]))
        marked = [(*step, self._marks(step)) for step in steps]
        kept = []
        for edge in limits.ticking(marked, "translating"):
            if not any(_outdoes(other, edge) for other in marked if other != edge):
                must, never, target, marks = edge
                kept.append((must, never, self._without_implied(target), marks))
        return frozenset(kept)

    def _marks(self, step: Step) -> int:
        """The untils that a step does not put off."""
        target, marks = step[2], 0
        for i, bit in enumerate(self._untils):
            if not target & bit or any(
                not then[2] & bit and _is_easier(then, step)
                for then in self._steps_of(self._elements[bit.bit_length() - 1])
            ):
                marks |= 1 << i
        return marks

    def _without_implied(self, subset: int) -> int:
        """Leaves out what an always says anyhow."""
        for number in _guards.indices(subset):
            element = self._elements[number]
            if element.operator == "R" and element.operands[0] == FALSE:
                inner = element.operands[1]
                for part in inner.operands if inner.operator == "&" else (inner,):
                    if part in self._number:
                        subset &= ~(1 << self._number[part])
        return subset

    def _bit(self, formula: Formula) -> int:
        """The subset of one subformula."""
        if formula not in self._number:
            self._number[formula] = len(self._elements)
            self._elements.append(formula)
        return 1 << self._number[formula]

    def _meanings(self, formula: Formula) -> list[int]:
        """Sets of subformulas, one of which must hold for the formula to hold."""
        match formula.operator:
            case "true":
                return [0]
            case "false":
                return []
            case "|":
                found = [x for part in formula.operands for x in self._meanings(part)]
            case "&":
                found = [0]
                for part in formula.operands:
                    found = [x | y for x in found for y in self._meanings(part)]
            case _:
                return [self._bit(formula)]
        found = list(dict.fromkeys(found))
        return [
            x
            for x in limits.ticking(found, "translating")
            if not any(x != y and not y & ~x for y in found)
        ]

    def _steps_of(self, formula: Formula) -> list[Step]:
        """The steps of a subformula: what must hold now, and what then."""
        if formula not in self._steps:
            steps = self._unfold(formula)
            self._steps[formula] = [
                x
                for x in limits.ticking(steps, "translating")
                if not any(x != y and _is_easier(y, x) for y in steps)
            ]
        return self._steps[formula]

    def _unfold(self, formula: Formula) -> list[Step]:
        operands = formula.operands
        match formula.operator:
            case "true":
                return [(0, 0, 0)]
            case "false":
                return []
            case "name":
                return [(1 << self._names.index(formula.name), 0, 0)]
            case "!":
                return [(0, 1 << self._names.index(operands[0].name), 0)]
            case "X":
                return [(0, 0, subset) for subset in self._meanings(operands[0])]
            case "|":
                steps = [step for part in operands for step in self._steps_of(part)]
                return list(dict.fromkeys(steps))
            case "&":
                steps = {(0, 0, 0)}
                for part in operands:
                    steps = _conjunction(steps, self._steps_of(part))
                return sorted(steps)
        stay, (first, second) = (0, 0, self._bit(formula)), operands
        if formula.operator == "U":
            wait = _conjunction({stay}, self._steps_of(first))
            return sorted({*self._steps_of(second), *wait})
        free = [*self._steps_of(first), stay]
        return sorted(_conjunction(set(self._steps_of(second)), free))


def _untils(formula: Formula) -> set[Formula]:
    found = {formula} if formula.operator == "U" else set()
    return found.union(*map(_untils, formula.operands))


def _conjunction(steps: set[Step], others: Iterable[Step]) -> set[Step]:
    pairs = ((x, y) for x in limits.ticking(steps, "translating") for y in others)
    found = ((a | d, b | e, c | f) for (a, b, c), (d, e, f) in pairs)
    return {(must, never, target) for must, never, target in found if not must & never}


def _is_easier(step: Step, other: Step) -> bool:
    """Whether a step asks for nothing that the other does not ask for."""
    return all(not mask & ~more for mask, more in zip(step, other, strict=True))


def _outdoes(edge: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Whether an edge asks for nothing more, and has all the other's marks."""
    return _is_easier(edge[:3], other[:3]) and not other[3] & ~edge[3]
