"""Specifications that are decided part by part."""

import dataclasses
from collections.abc import Iterable
from typing import Any, Unpack

from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import Formula
from jaxgames.ltl._deterministic import MAX_STATES
from jaxgames.ltl._formula import as_formula
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._on_the_fly import decidable
from jaxgames.synth._side_by_side import side_by_side
from jaxgames.synth._solve import Solution, solve
from jaxgames.synth._specification import Specification, sides
from jaxgames.synth._split import Node, taken_apart


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Decomposition:
    """A formula that a controller is to satisfy, taken apart.

    Where a conjunction has parts that share no outputs, each is decided by itself, and
    controllers of all are one of the whole; where a disjunction has parts that share no
    inputs, some part must be realizable, or none is. So the automaton of the whole is
    never made, which grows with the product of those of the parts.

    Attributes:
        formula: what is asked.
        inputs: names of the propositions that the environment sets.
        outputs: those that the system sets.
        moore: whether the system goes first.
        parts: the formulas that are decided; each has what it mentions of the names.

    Examples:
        >>> from jaxgames import synth
        >>> asked = Decomposition.from_ltl(
        ...     "G F a & G F b -> G(a -> F g) & G(b -> F h)", ["a", "b"], ["g", "h"]
        ... )
        >>> asked
        Decomposition(4 parts, inputs a b, outputs g h)
        >>> solution = asked.solve()
        >>> solution
        Composition(realizable, 2 of 4 parts)
        >>> synth.verify(asked, solution.controller())
        True
    """

    formula: Formula
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    moore: bool
    parts: tuple[Formula, ...]
    _tree: Node

    @classmethod
    @limited()
    def from_ltl(
        cls,
        formula: Formula | str,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        *,
        moore: bool = False,
        **bounds: Unpack[Bounds],
    ) -> "Decomposition":
        """Takes a formula apart; makes no automaton.

        Args:
            formula: a formula of linear temporal logic, or its text.
            inputs: as for [`Specification`][jaxgames.synth.Specification.from_ltl].
            outputs: likewise.
            moore: whether the system goes first.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the text is no formula, or something is wrong with the names.
        """
        formula = as_formula(formula)
        ins, outs = sides(formula, inputs, outputs)
        tree = taken_apart(formula, ins, outs)
        parts = tuple(dict.fromkeys(_leaves(tree)))
        return cls(formula, tuple(ins), tuple(outs), moore, parts, tree)

    @limited()
    def specification(
        self, part: int, *, max_states: int = MAX_STATES, **bounds: Unpack[Bounds]
    ) -> Specification:
        """The specification that asks for a part.

        Args:
            part: its number.
            max_states: how many states its automaton may have.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the automaton is too large.
        """
        formula = self.parts[part]
        ins, outs = self._names(formula)
        return Specification.from_ltl(
            formula, ins, outs, moore=self.moore, max_states=max_states
        )

    def decidable(self, *, max_states: int = MAX_STATES) -> Specification:
        """A specification that is realizable if and only if the whole is.

        It may ask for more, with fewer controllers, where the automaton of the whole is
        large.

        Args:
            max_states: how many states its automaton may have.

        Raises:
            ValueError: the automaton is too large.
        """
        return decidable(
            self.formula,
            list(self.inputs),
            list(self.outputs),
            moore=self.moore,
            max_states=max_states,
        )

    def _names(self, formula: Formula) -> tuple[list[str], list[str]]:
        """The inputs and the outputs that a formula mentions."""
        known = set(formula.propositions)
        ins, outs = (
            [name for name in names if name in known]
            for names in (self.inputs, self.outputs)
        )
        return ins, outs

    @limited()
    def solve(
        self,
        solver: Any = "auto",
        *,
        max_steps: int | None = None,
        throw: bool = True,
        max_states: int = MAX_STATES,
        **bounds: Unpack[Bounds],
    ) -> "Composition":
        """Decides the parts, as far as they decide the whole; small ones come first.

        Of a part whose automaton is large only what a controller needs is explored, if
        that is found: then its solution's specification asks for more than the part.

        Args:
            solver: of parity games, as for [`solve`][jaxgames.synth.solve].
            max_steps: rounds on the game of each part at most.
            throw: whether to raise where a solve ended early.
            max_states: how many states the automaton of each part may have.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: an automaton is too large.
            SolveError: a solve stopped early and `throw` is set.
        """
        number = {part: i for i, part in enumerate(self.parts)}
        found: dict[int, Solution] = {}
        values: dict[int, bool | None] = {}

        def decide(node: Node) -> bool | None:
            if not node.operator:
                part = number[node.formula]
                if part not in found:
                    asked = decidable(
                        node.formula,
                        *self._names(node.formula),
                        moore=self.moore,
                        max_states=max_states,
                    )
                    found[part] = solve(asked, solver, max_steps=max_steps, throw=throw)
                values[id(node)] = found[part].realizable
                return values[id(node)]
            decides = node.operator == "|"
            below: list[bool | None] = []
            for one in sorted(node.below, key=_size):
                below.append(decide(one))
                if below[-1] is decides:
                    break
            value = not decides
            if below[-1] is decides:
                value = decides
            elif None in below:
                value = None
            values[id(node)] = value
            return value

        realizable = decide(self._tree)
        used: tuple[int, ...] = ()
        if realizable is not None:
            used = tuple(sorted({number[x] for x in _needed(self._tree, values)}))
        return Composition(self, realizable, found, used)

    def __repr__(self) -> str:
        count = len(self.parts)
        return (
            f"Decomposition({count} part{'' if count == 1 else 's'}, inputs "
            f"{' '.join(self.inputs) or 'none'}, outputs "
            f"{' '.join(self.outputs) or 'none'}{', Moore' if self.moore else ''})"
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Composition:
    """Whether there is a controller of a formula that was taken apart.

    Attributes:
        decomposition: what was asked.
        realizable: whether there is a controller; None where that was not decided.
        solutions: of the parts that were decided, by their numbers.
        used: the parts whose machines are that of the whole.
    """

    decomposition: Decomposition
    realizable: bool | None
    solutions: dict[int, Solution]
    used: tuple[int, ...]

    @limited()
    def circuit(self, **bounds: Unpack[Bounds]) -> Circuit:
        """The machine of the winner: those of the parts, side by side.

        It is as large as these together, while its states are as many as all
        combinations of theirs. Who wins the parts that are used may set what he likes
        beside: that is false.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: it is undecided who wins.
        """
        return kept(self, "circuit", self._made)

    def _made(self) -> Circuit:
        if self.realizable is None:
            raise ValueError("the specification is undecided: there is no strategy yet")
        asked = self.decomposition
        reads, writes = asked.inputs, asked.outputs
        if not self.realizable:
            reads, writes = writes, reads
        machines = (self.solutions[i].controller() for i in self.used)
        return side_by_side((x.circuit() for x in machines), reads, writes)

    @limited()
    def controller(self, **bounds: Unpack[Bounds]) -> Controller:
        """The same with all states that it may come to.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: it is undecided who wins, or there are too many states.
        """
        made = self.circuit()
        return kept(self, "controller", made.controller)

    def __repr__(self) -> str:
        known = {True: "realizable", False: "unrealizable", None: "undecided"}
        count = len(self.decomposition.parts)
        of = f"{len(self.used)} of {count} part{'' if count == 1 else 's'}"
        return f"Composition({known[self.realizable]}, {of})"


def _leaves(node: Node) -> list[Formula]:
    if not node.operator:
        return [node.formula]
    return [x for one in node.below for x in _leaves(one)]


def _size(node: Node) -> tuple[int, int]:
    """What is tried first: few propositions, then little depth."""
    return len(node.formula.propositions), node.formula.depth


def _needed(node: Node, values: dict[int, bool | None]) -> list[Formula]:
    """The formulas whose winner wins a node."""
    if not node.operator:
        return [node.formula]
    value = values[id(node)]
    decided = [x for x in node.below if values.get(id(x)) is value]
    if value is (node.operator == "|"):
        decided = decided[:1]
    return [x for one in decided for x in _needed(one, values)]
