"""What is asked of a controller: an automaton, and who sets which propositions."""

import dataclasses
from collections.abc import Iterable
from typing import Unpack

from jaxgames.arena import Arena
from jaxgames.arguments import texts
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import EmersonLei, Formula, ParityAutomaton, deterministic
from jaxgames.ltl._deterministic import MAX_STATES
from jaxgames.ltl._formula import as_formula
from jaxgames.quoting import unspaced
from jaxgames.synth import _game
from jaxgames.synth._controller import Circuit
from jaxgames.value import Value


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Specification(Value):
    """A deterministic automaton of the words that are right, and who plays what.

    In each round the environment sets the propositions that are not controllable, then
    the system the others, knowing them (Mealy). With `moore` the system goes first.

    Attributes:
        automaton: deterministic and complete, with any acceptance condition; what files
            say of themselves is checked when the game is made.
        controllable: names of the propositions that the system sets.
        moore: whether the system must set them before it knows the others.
        formula: what the automaton was made of, if it was made of a formula.

    Raises:
        ValueError: a name is not that of a proposition, or is given twice.

    Examples:
        >>> from jaxgames import ltl
        >>> from jaxgames.acceptance import inf
        >>> graph = ltl.Automaton.from_edges(
        ...     [0, 0], ["g <-> r", "g <-> !r"], [0, 0], sets=[[1, 0]]
        ... )
        >>> specification = Specification(ltl.EmersonLei(graph, inf(0)), ("g",))
        >>> specification
        Specification(1 state, inputs r, outputs g)
        >>> specification.arena()
        Arena(2 vertices, 3 edges, edge_priority)
    """

    automaton: EmersonLei
    controllable: tuple[str, ...]
    moore: bool = False
    formula: Formula | None = None

    def __post_init__(self):
        super().__post_init__()
        seen = set()
        for name in self.controllable:
            if name not in self.automaton.propositions:
                known = ", ".join(self.automaton.propositions) or "none"
                raise ValueError(
                    f"the automaton has no proposition {name!r} that could be "
                    f"controlled, only {known}"
                )
            if name in seen:
                raise ValueError(f"proposition {name!r} is controllable twice")
            seen.add(name)

    @classmethod
    @limited()
    def from_ltl(
        cls,
        formula: Formula | str,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        *,
        moore: bool = False,
        max_states: int = MAX_STATES,
        **bounds: Unpack[Bounds],
    ) -> "Specification":
        """The specification that asks for a formula.

        Args:
            formula: a formula of linear temporal logic, or its text.
            inputs: names of the propositions that the environment sets; by default all
                in the formula that are no outputs.
            outputs: those that the system sets; by default all that are no inputs.
            moore: whether the system goes first.
            max_states: how many states the automaton may have.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the text is no formula, a name is given twice or is both, one in
                the formula is neither, or the automaton is too large.

        Examples:
            >>> Specification.from_ltl("G(r -> X g)", inputs=["r"])
            Specification(3 states, inputs r, outputs g)
            >>> Specification.from_ltl("G(r -> X g)", ["r"], ["r", "g"])
            Traceback (most recent call last):
            ValueError: proposition 'r' is an input and an output as well
        """
        formula = as_formula(formula)
        ins, outs = sides(formula, inputs, outputs)
        automaton = deterministic(
            formula, propositions=[*ins, *outs], max_states=max_states
        )
        return cls(automaton.emerson_lei, tuple(outs), moore, formula)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the environment sets, in the automaton's order."""
        names = self.automaton.propositions
        return tuple(name for name in names if name not in self.controllable)

    @property
    def outputs(self) -> tuple[str, ...]:
        """What the system sets, in the automaton's order."""
        names = self.automaton.propositions
        return tuple(name for name in names if name in self.controllable)

    @limited()
    def parity(self, **bounds: Unpack[Bounds]) -> ParityAutomaton:
        """The automaton with a parity condition; kept.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: it is not deterministic, or not complete; names the state.
        """
        return kept(self, "parity", self.automaton.parity)

    @limited()
    def arena(self, *, on_vertices: bool = False, **bounds: Unpack[Bounds]) -> Arena:
        """The parity game, with priorities on edges; kept.

        Vertex `q` is state `q` of [`parity`][jaxgames.synth.Specification.parity], so
        the initial state of an automaton with a parity condition keeps its number. It
        belongs to who moves first: player 1, the environment, or with `moore` player 0,
        the system. Its successors are *choices*, which come behind: sets of edges among
        which the other one may choose, shared by all states; those that include another
        are left out, since nobody offers more than he must.

        Labels are split proposition by proposition as long as a label asks for one, so
        the number of letters plays no part.

        Args:
            on_vertices: whether priorities are to be those of vertices, as programs ask
                for that know no others: then there is a vertex more for each pair of a
                state and a colour with which it is entered.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the automaton is not deterministic, or not complete.
        """
        game = self.game()
        return _game.on_vertices(game.arena) if on_vertices else game.arena

    def of_machine(self, circuit: Circuit) -> "Specification":
        """The same, of which it is known that one machine alone does what is asked."""
        made = dataclasses.replace(self)
        kept(made, "machine", lambda: circuit)
        return made

    def machine(self) -> Circuit | None:
        """The only machine that does what is asked, or the only one against it.

        None where it is not known that there is but one.
        """
        return kept(self, "machine", lambda: None)

    def game(self) -> "_game.Game":
        """The game, with what its vertices mean; kept."""
        return kept(self, "game", self._made)

    def _made(self) -> "_game.Game":
        return _game.build(self.parity(), self.controllable, moore=self.moore)

    def __repr__(self) -> str:
        count = self.automaton.num_states
        return (
            f"Specification({count} state{'' if count == 1 else 's'}, inputs "
            f"{' '.join(self.inputs) or 'none'}, outputs "
            f"{' '.join(self.outputs) or 'none'}{', Moore' if self.moore else ''})"
        )


def sides(
    formula: Formula, inputs: Iterable[str] | None, outputs: Iterable[str] | None
) -> tuple[list[str], list[str]]:
    """The names of inputs and of outputs; each name in the formula must be one."""
    if inputs is None and outputs is None:
        raise ValueError("say which propositions are inputs, or which are outputs")
    ins = None if inputs is None else list(texts("inputs", inputs))
    outs = None if outputs is None else list(texts("outputs", outputs))
    for what, names in (("input", ins), ("output", outs)):
        for name in names or ():
            if (names or []).count(name) > 1:
                raise ValueError(f"{what} {name!r} is named twice")
    if ins is None:
        ins = [x for x in formula.propositions if x not in (outs or ())]
    if outs is None:
        outs = [x for x in formula.propositions if x not in ins]
    for name in ins:
        if name in outs:
            raise ValueError(f"proposition {name!r} is an input and an output as well")
    for name in formula.propositions:
        if name not in ins and name not in outs:
            raise ValueError(
                f"proposition {name!r} of the formula is neither an input nor an output"
                f"{unspaced(name, [*ins, *outs])}"
            )
    return ins, outs
