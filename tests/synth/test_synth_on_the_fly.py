"""What is explored on the fly: against whole automata, and by verification."""

import numpy as np
import pytest

from jaxgames import synth
from jaxgames.ltl import Formula
from jaxgames.ltl._letters import Nodes, Tables
from jaxgames.synth import Decomposition, Specification, _on_the_fly
from jaxgames.synth._on_the_fly import decidable, explored
from tests.formulas import random_formula
from tests.repeats import some_of

INS, OUTS = ["a", "b"], ["g", "h"]


@some_of(25, 1000)
@pytest.mark.parametrize("beyond", [1, 1024])
def test_what_is_found_is_a_controller_of_the_formula(monkeypatch, beyond, count):
    # Safe parts of more states are unfolded, and states taken for stronger ones.
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", beyond)
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(count):
        parts = tuple(random_formula(rng, 5, (*INS, *OUTS)) for _ in range(2))
        formula = Formula("&", parts)
        whole = Specification.from_ltl(formula, INS, OUTS)
        realizable = synth.solve(whole).realizable
        made = explored(formula, INS, OUTS, 4096)
        if made is None:
            continue
        found += 1
        assert realizable
        controller = synth.solve(made).controller()
        # Of the whole: its own automaton, and the Büchi automaton of the negation.
        assert synth.verify(whole, controller)
    assert found >= count // 10


def test_few_states_are_explored(monkeypatch):
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", 8)
    names = range(3)
    asked = " & ".join(
        [f"G(r{i} -> F g{i})" for i in names]
        + [f"G(g{i} -> X !g{i})" for i in names]
        + ["G !(g0 & g1)", "G !(g1 & g2)", "G !(g0 & g2)"]
    )
    ins, outs = [f"r{i}" for i in names], [f"g{i}" for i in names]
    whole = Specification.from_ltl(asked, ins, outs)
    made = decidable(Formula.parse(asked), ins, outs, moore=False, max_states=4096)
    solution = synth.solve(made)
    assert solution.realizable
    assert synth.verify(whole, solution.controller())
    apart = Decomposition.from_ltl(asked, ins, outs)
    composed = apart.solve()
    assert composed.realizable
    assert synth.verify(whole, composed.controller())


def test_a_safe_part_of_too_many_states_comes_down_to_few():
    """The automaton knows the last 40 inputs; a controller need not."""
    asked = Decomposition.from_ltl(f"G(r -> {'X' * 40} g) & G F (r -> X g)", ["r"])
    solution = asked.solve()
    assert solution.realizable
    assert synth.verify(asked, solution.circuit())
    (found,) = solution.solutions.values()
    assert found.specification.automaton.num_states < 500


def test_stronger_states_that_lose_are_not_the_last_word(monkeypatch):
    """Taken for one that asks for both, a state that asks for one of them is lost."""
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", 1)
    text = "G(!a | !X a) & G(a -> X g) & G(X a -> X !g)"
    for formula in (text, "G(a -> X(!a -> g)) & G(b -> X(a | !g)) | F(a & b)"):
        asked = Decomposition.from_ltl(formula, ["a", "b"], ["g"])
        whole = Specification.from_ltl(formula, ["a", "b"], ["g"])
        assert asked.solve().realizable == synth.solve(whole).realizable


def test_what_has_no_controller_has_none_on_the_fly(monkeypatch):
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", 1)
    asked = Decomposition.from_ltl("G(g <-> X r) & G F (g & h) & G(h -> X q)", ["r"])
    solution = asked.solve()
    assert not solution.realizable
    assert synth.verify(asked, solution.circuit(), realizable=False)


@pytest.mark.parametrize("kind", [Tables, Nodes])
def test_letters_without_regard_to_a_proposition(kind):
    letters, rng = kind(3), np.random.default_rng(1)
    for _ in range(40):
        members = {int(x) for x in rng.integers(0, 8, rng.integers(0, 6))}
        some = letters.of_guard(tuple((x, 7 & ~x) for x in sorted(members)))
        for number in range(3):
            both = members | {x ^ 1 << number for x in members}
            expected = letters.of_guard(tuple((x, 7 & ~x) for x in sorted(both)))
            assert letters.freed(some, number) == expected
