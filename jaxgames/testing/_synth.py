"""Specifications of controllers: verdicts, machines, circuits, parity automata."""

import dataclasses
from collections.abc import Iterator

import numpy as np

from jaxgames import ltl, synth
from jaxgames.ltl import Formula
from jaxgames.synth import Specification, reference
from jaxgames.testing import _ltl
from jaxgames.testing._subject import Complaint, Subject, each
from jaxgames.testing._words import Words

BATCH, SIZE = 12, 9

INPUT, OUTPUT = _ltl.NAMES


@dataclasses.dataclass(frozen=True)
class Case:
    """A formula over an input and an output, and who goes first."""

    formula: Formula
    moore: bool

    @property
    def size(self) -> int:
        """How many operators and propositions there are."""
        count, work = 0, [self.formula]
        while work:
            node = work.pop()
            count += 1
            work += node.operands
        return count

    def specification(self) -> Specification:
        return Specification.from_ltl(self.formula, [INPUT], [OUTPUT], moore=self.moore)


def _draw(rng: np.random.Generator, index: int, size: int) -> Case:
    return Case(_ltl._draw(rng, index, size), bool(rng.integers(2)))


def _smaller(case: Case) -> Iterator[Case]:
    for formula in _ltl.smaller(case.formula):
        yield dataclasses.replace(case, formula=formula)
    if case.moore:
        yield dataclasses.replace(case, moore=False)


def _verdict(case: Case) -> Complaint:
    """As the reference says, which tries all letters."""
    specification = case.specification()
    found = synth.solve(specification).realizable
    expected = reference.realizable(specification)
    if found != expected:
        return f"it is said to be {_word(found)}, and is {_word(expected)}"
    return None


def _word(realizable: bool | None) -> str:
    if realizable is None:
        return "undecided"
    return "realizable" if realizable else "unrealizable"


def _dual(case: Case) -> Complaint:
    """The environment wins what the system loses, going first if that went second."""
    other = Specification.from_ltl(
        Formula("!", (case.formula,)), [OUTPUT], [INPUT], moore=not case.moore
    )
    found = [synth.solve(x).realizable for x in (case.specification(), other)]
    if found[0] == found[1]:
        return f"both players are said to find it {_word(found[0])}"
    return None


def _machines(case: Case) -> Complaint:
    """The machine of the winner wins, and so does its circuit."""
    specification = case.specification()
    solution = synth.solve(specification)
    won = bool(solution.realizable)
    machine = solution.controller()
    for what, one in (
        ("machine", machine),
        ("circuit", machine.circuit().controller()),
    ):
        if not synth.verify(specification, one, realizable=won):
            return f"the {what} of the winner does not win"
    return None


def _parts(case: Case) -> Complaint:
    """What the parts come to is what the whole does, of which the machine is one."""
    whole = case.specification()
    asked = synth.Decomposition.from_ltl(
        case.formula, [INPUT], [OUTPUT], moore=case.moore
    )
    solution = asked.solve()
    expected = reference.realizable(whole)
    if solution.realizable != expected:
        found = _word(solution.realizable)
        return f"by its parts it is {found}, and is {_word(expected)}"
    circuit = solution.circuit()
    if not synth.verify(whole, circuit, realizable=expected):
        return "the machines of the parts are none of the whole"
    if not synth.verify(asked, circuit, realizable=expected):
        return "the machine is right, and is said not to be"
    return None


def _verify(case: Case) -> Complaint:
    """What verification says of spoilt machines is what their words say."""
    specification = case.specification()
    solution = synth.solve(specification)
    if not solution.realizable:
        return None
    machine = solution.controller()
    words = Words(_ltl.NAMES, 3)
    wrong = ~words.holds(case.formula)
    for action in range(len(machine.output)):
        output = np.array(machine.output)
        output[action] ^= np.uint64(1)
        spoilt = dataclasses.replace(machine, output=output)
        own = spoilt.automaton(_ltl.NAMES)
        bad = bool((words.accepted(own) & wrong).any())
        if synth.verify(specification, spoilt) and bad:
            return f"a machine is right whose action {action} was changed"
    return None


def _deterministic(case: Case) -> Complaint:
    """The parity automaton accepts the words of the formula, and no other."""
    found = ltl.deterministic(case.formula, propositions=_ltl.NAMES)
    buchi = found.emerson_lei.to_buchi()
    for length in (1, 2, 3):
        words = Words(_ltl.NAMES, length)
        differs = np.flatnonzero(words.accepted(buchi) != words.holds(case.formula))
        if len(differs):
            word = words.letters[differs[0]].tolist()
            return f"it is wrong on {word}, from {words.back[differs[0]]} on for ever"
    return None


def subject() -> Subject:
    """Specifications and controllers."""
    return Subject(
        name="synth",
        draw=_draw,
        checks={
            "verdict": each(_verdict),
            "dual": each(_dual),
            "machines": each(_machines),
            "parts": each(_parts),
            "verify": each(_verify),
            "deterministic": each(_deterministic),
        },
        smaller=_smaller,
        show=lambda case: (
            f"specification = synth.Specification.from_ltl({str(case.formula)!r}, "
            f"[{INPUT!r}], [{OUTPUT!r}], moore={case.moore})"
        ),
        size=SIZE,
        batch=BATCH,
    )
