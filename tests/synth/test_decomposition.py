"""Formulas that are taken apart: against the whole, and what is put together."""

import dataclasses

import numpy as np
import pytest

from jaxgames import synth
from jaxgames.ltl import Formula
from jaxgames.ltl._normal_form import both, either, normal_form
from jaxgames.synth import Decomposition, Specification, _controller, reference
from jaxgames.synth._side_by_side import cone
from jaxgames.synth._split import alternatives, conjuncts
from jaxgames.testing._words import Words
from tests.formulas import random_formula
from tests.repeats import some_of

INS, OUTS = ("a", "b"), ("g", "h")


def drawn(rng, size: int = 4) -> Formula:
    """A formula whose parts mention one input and one output, mostly."""
    pairs = [("a", "g"), ("b", "h"), ("a", "h"), ("a", "b"), ("g", "h")]
    weights = [0.35, 0.35, 0.1, 0.1, 0.1]

    def one() -> Formula:
        names = pairs[rng.choice(len(pairs), p=weights)]
        return random_formula(rng, size, names)

    kind = rng.integers(4)
    if kind == 0:
        return Formula("&", (one(), one()))
    if kind == 1:
        return Formula("->", (one(), Formula("&", (one(), one()))))
    if kind == 2:
        return Formula("|", (one(), Formula("G", (Formula("&", (one(), one())),))))
    return Formula("U", (Formula("&", (one(), one())), Formula("|", (one(), one()))))


def cases(seed: int, count: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield drawn(rng), bool(rng.integers(2))


@some_of(15, 3000)
def test_the_whole_is_what_its_parts_are(count):
    seen = set()
    for formula, moore in cases(0, count):
        whole = Specification.from_ltl(formula, INS, OUTS, moore=moore)
        asked = Decomposition.from_ltl(formula, INS, OUTS, moore=moore)
        found = asked.solve()
        won = reference.realizable(whole)
        assert found.realizable == won, formula
        machine = found.circuit().controller()
        # The automaton of the whole knows nothing of parts.
        assert synth.verify(whole, machine, realizable=won), formula
        assert synth.verify(asked, found.circuit(), realizable=won), formula
        seen.add((won, len(asked.parts) > 1))
    assert len(seen) == 4


@some_of(15, 1000)
def test_verification_by_parts_says_what_that_of_the_whole_does(count):
    seen = []
    for formula, moore in cases(1, count):
        whole = Specification.from_ltl(formula, INS, OUTS, moore=moore)
        asked = Decomposition.from_ltl(formula, INS, OUTS, moore=moore)
        found = asked.solve()
        won, circuit = bool(found.realizable), found.circuit()
        for output in range(2):
            driver = circuit.driver.copy()
            driver[output] ^= 1
            spoilt = dataclasses.replace(circuit, driver=driver)
            right = synth.verify(whole, spoilt, realizable=won)
            assert synth.verify(asked, spoilt, realizable=won) == right, formula
            machine = spoilt.controller()
            assert synth.verify(asked, machine, realizable=won) == right, formula
            seen.append(right)
    assert set(seen) == {True, False}


@some_of(30, 2000)
def test_what_is_taken_apart_says_the_same(count):
    words, apart = Words([*INS, *OUTS], 2), [0, 0]
    for formula, _ in cases(2, count):
        normal = normal_form(formula)
        parts = conjuncts(normal, frozenset(OUTS))
        assert (words.holds(both(parts)) == words.holds(formula)).all(), formula
        shared = [name for x in parts for name in OUTS if name in x.propositions]
        assert len(shared) == len(set(shared)), formula
        some = alternatives(normal, frozenset(OUTS))
        assert (words.holds(either(some)) == words.holds(formula)).all(), formula
        apart[0] += len(parts) > 1
        apart[1] += len(some) > 1
    assert min(apart) > count // 10


def test_parts_share_nothing_and_nothing_is_lost():
    rng, sizes = np.random.default_rng(4), set()
    names = list("abcdefg")
    for _ in range(40):
        pairs = [rng.choice(names, 2, replace=False) for _ in range(5)]
        text = " & ".join(f"F({x} & X {y})" for x, y in pairs)
        whole = normal_form(Formula.parse(text))
        parts = conjuncts(whole, frozenset(names))
        shared = [name for x in parts for name in x.propositions]
        assert len(shared) == len(set(shared))
        assert sorted(set(shared)) == list(whole.propositions)
        assert both(parts) == whole
        sizes.add(len(parts))
    assert {1, 2, 3} <= sizes


def test_a_formula_that_is_too_large_as_a_whole():
    """Its automaton has 4 states for each client, of all."""
    clients = [str(i) for i in range(8)]
    ins, outs = [f"r{i}" for i in clients], [f"g{i}" for i in clients]
    parts = " & ".join(f"G(r{i} -> X(!g{i} & X g{i}))" for i in clients)
    text = f"G F r0 & G F r1 -> {parts}"
    asked = Decomposition.from_ltl(text, ins, outs)
    found = asked.solve(max_states=256)
    # A request at every time asks for a grant and for none.
    assert found.realizable is False
    assert synth.verify(asked, found.circuit(), realizable=False)
    text = text.replace("!", "")
    asked = Decomposition.from_ltl(text, ins, outs)
    found = asked.solve(max_states=256)
    assert found.realizable is True
    circuit = found.circuit()
    assert len(circuit.following) >= 8
    assert synth.verify(asked, circuit)
    driver = circuit.driver.copy()
    driver[7] ^= 1
    assert not synth.verify(asked, dataclasses.replace(circuit, driver=driver))


def test_assumptions_that_have_nothing_to_do_with_a_guarantee():
    asked = Decomposition.from_ltl("G F a & F(a & !a) -> F b", ["a", "b"], ["g"])
    found = asked.solve()
    assert found.realizable is True  # what is assumed cannot be
    asked = Decomposition.from_ltl("G F a & F G c -> G F b & G g", ["a", "b", "c"])
    found = asked.solve()
    assert found.realizable is False
    machine = found.controller()
    assert machine.writes == ("a", "b", "c")
    assert synth.verify(asked, machine, realizable=False)


def test_parts_of_a_circuit():
    asked = Decomposition.from_ltl("G(a <-> X g) & G(b <-> X X h)", ["a", "b"])
    circuit = asked.solve().circuit()
    assert len(circuit.following) == 3
    part = cone(circuit, ["h"])
    assert (part.inputs, part.outputs, len(part.following)) == (("b",), ("h",), 2)
    word = [{"b"}, set(), {"b"}, {"b"}, set()]
    written = part.controller().run(word)
    assert [bool(x) for x in written][2:] == [True, False, True]
    nothing = cone(circuit, []).controller()
    assert (nothing.num_states, nothing.reads, nothing.writes) == (1, (), ())


def test_a_part_of_a_circuit_is_explored_once(monkeypatch):
    outs = ["h", *(f"g{i}" for i in range(4))]
    texts = [f"G(r{i} -> F g{i})" for i in range(4)]
    texts += [f"G !(g{i} & g{j})" for i in range(4) for j in range(i)]
    asked = Decomposition.from_ltl("G(r0 <-> X h) & " + " & ".join(texts), None, outs)
    circuit = asked.solve().circuit()
    explored, seen = _controller.explored, []
    monkeypatch.setattr(
        _controller, "explored", lambda *x: (seen.append(x), explored(*x))[1]
    )
    assert synth.verify(asked, circuit)
    assert len(seen) <= 3  # h, what grants depend on, and nothing
    # A literal of a gate that is negated is found out, or does not matter.
    whole = Specification.from_ltl(asked.formula, asked.inputs, asked.outputs)
    found = set()
    for place in range(0, len(circuit.gates), 17):
        gates = circuit.gates.copy()
        gates[place, place % 2] ^= 1
        spoilt = dataclasses.replace(circuit, gates=gates)
        right = synth.verify(asked, spoilt)
        assert synth.verify(whole, spoilt) == right
        found.add(right)
    assert False in found


def test_names_are_checked():
    with pytest.raises(ValueError, match="'c' of the formula is neither"):
        Decomposition.from_ltl("G(a -> c)", ["a"], ["g"])
    asked = Decomposition.from_ltl("G(a -> g)", ["a"], ["g", "free"])
    other = Decomposition.from_ltl("G(a -> g)", ["a"]).solve().circuit()
    with pytest.raises(ValueError, match="the controller writes g, the spec"):
        synth.verify(asked, other)
    assert asked.solve().circuit().outputs == ("g", "free")
