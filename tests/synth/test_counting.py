"""Machines that are found by counting: against whole automata, and by verification."""

import numpy as np
import pytest
from formulas import random_formula
from repeats import some_of

from jaxgames import synth
from jaxgames.ltl import Formula
from jaxgames.ltl._graph import TooLargeError
from jaxgames.synth import Specification
from jaxgames.synth._counting import Counting
from jaxgames.synth._on_the_fly import decidable

INS, OUTS = ["a", "b"], ["g", "h"]

SWITCH = (
    "G(on -> X F(off R up)) & G(off -> X F(on R !up)) & G F day & G F !day "
    "& G(!in | !out) -> G(in & day -> F(up W out)) & G !(on & off) "
    "& G(out & !day -> F(!up W in))"
)
"""What is asked of a switch that moves a thing some time after it is set."""


@some_of(30, 2000)
@pytest.mark.parametrize("moore", [False, True])
def test_the_winner_is_that_of_the_whole_automaton(moore, count):
    rng = np.random.default_rng(8)
    found, won = 0, 0
    for _ in range(count):
        one, other = (random_formula(rng, 6, (*INS, *OUTS)) for _ in range(2))
        formula = Formula("->", (one, other))
        whole = Specification.from_ltl(formula, INS, OUTS, moore=moore)
        realizable = bool(synth.solve(whole).realizable)
        made = Counting(formula, INS, OUTS, moore=moore).specification()
        if made is None:
            continue
        found += 1
        solution = synth.solve(made)
        assert solution.realizable == realizable
        machine = solution.controller()
        assert synth.verify(whole, machine, realizable=realizable)
        won += realizable
    assert found >= count * 9 // 10
    assert 0 < won < found


@pytest.mark.parametrize(
    ("text", "realizable"),
    [
        ("true", True),
        ("false", False),
        ("a | !a", True),
        ("G F a", False),
        # All that goes on for ever is wrong, so that there are no marks at all.
        (
            "(G b | ((!g U !a) U b)) -> (G a <-> (g -> (!a U !b)) | (b R h)) & X !a",
            False,
        ),
    ],
)
@pytest.mark.parametrize("moore", [False, True])
def test_automata_without_states_or_marks(text, realizable, moore):
    made = Counting(Formula.parse(text), INS, OUTS, moore=moore).specification()
    assert made is not None
    solution = synth.solve(made)
    assert solution.realizable == realizable
    assert synth.verify(made, solution.controller(), realizable=realizable)


@pytest.mark.parametrize("moore", [False, True])
def test_far_fewer_states_than_the_automaton_has(moore):
    ins, outs = ["up", "day", "in", "out"], ["on", "off"]
    formula = Formula.parse(SWITCH)
    with pytest.raises(TooLargeError):
        Specification.from_ltl(formula, ins, outs, moore=moore, max_states=100)
    made = decidable(formula, ins, outs, moore=moore, max_states=100)
    assert made.automaton.num_states < 100
    solution = synth.solve(made)
    assert solution.realizable
    assert synth.verify(made, solution.controller())


def test_a_foe_that_wins_has_few_states_as_well():
    # That the thing moves back is asked for, and nobody promises it.
    ins, outs = ["up", "day", "in", "out"], ["on", "off"]
    formula = Formula.parse(SWITCH.replace("G(off -> X F(on R !up)) & ", ""))
    with pytest.raises(TooLargeError):
        Specification.from_ltl(formula, ins, outs, max_states=70)
    made = decidable(formula, ins, outs, moore=False, max_states=70)
    solution = synth.solve(made)
    assert solution.realizable is False
    assert synth.verify(made, solution.controller(), realizable=False)


def test_what_takes_too_much_work_is_given_up():
    ins, outs = ["up", "day", "in", "out"], ["on", "off"]
    formula = Formula.parse(SWITCH)
    assert Counting(formula, ins, outs, moore=False).specification((1,)) is None
