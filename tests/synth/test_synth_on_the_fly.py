"""What is explored on the fly: against whole automata, and by verification."""

import numpy as np
import pytest

from jaxgames import synth
from jaxgames.ltl import Formula, _deterministic
from jaxgames.ltl._deterministic import factors
from jaxgames.ltl._diagrams import FALSE, Diagrams
from jaxgames.ltl._letters import Nodes, Tables
from jaxgames.ltl._progression import Unfolding
from jaxgames.synth import Decomposition, Specification, _counting, _on_the_fly
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


@pytest.mark.parametrize("beyond", [1, 8])
def test_exploring_comes_first_where_the_whole_may_be_large(monkeypatch, beyond):
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", beyond)
    monkeypatch.setattr(_on_the_fly, "TABLES_UP_TO", 3)
    asked = "G(a -> F g) & G(b -> F h) & G !(g & h)"
    whole = Specification.from_ltl(asked, INS, OUTS)
    # That both are asked for at once is too much, as soon as it may come.
    for more, realizable in ("", True), (" & G(a -> g) & G(b -> h)", False):
        formula = Formula.parse(asked + more)
        first = explored(formula, INS, OUTS, 4096, beyond=beyond)
        assert (first is not None) == realizable
        made = decidable(formula, INS, OUTS, moore=False, max_states=4096)
        solution = synth.solve(made)
        assert solution.realizable == realizable
        if realizable:
            assert synth.verify(whole, solution.controller())
    # Where the whole is small nothing is explored.
    small = Formula.parse("G(a -> F g)")
    assert explored(small, INS, OUTS, 4096, beyond=1024) is None


@pytest.mark.parametrize("moore", [False, True])
def test_an_obligation_is_decided_without_a_buchi_automaton(monkeypatch, moore):
    """That may be large where the automaton of what is left to hold is small."""
    late = "(G(a -> X g) | F(b & X b)) & F(h & X[5] %s)"
    cases = [(Formula.parse(late % x), x == "g") for x in ("g", "a")]
    whole = [Specification.from_ltl(x, INS, OUTS, moore=moore) for x, _ in cases]

    def refuse(*_):
        raise AssertionError("a Büchi automaton is made")

    monkeypatch.setattr(_counting, "graph_of", refuse)
    monkeypatch.setattr(_deterministic, "graph_of", refuse)
    for (formula, realizable), asked in zip(cases, whole, strict=True):
        made = decidable(formula, INS, OUTS, moore=moore, max_states=4096)
        assert made.automaton.num_states > _on_the_fly.MADE_FIRST
        solution = synth.solve(made)
        assert solution.realizable is realizable
        assert synth.verify(asked, solution.controller(), realizable=realizable)


def test_what_violates_a_part_for_good_is_left_out():
    """Not so a part that is one of two alternatives."""
    for text, fewer in ("G !(g & h) & G(a -> F g)", True), ("G g | G F h", False):
        product = factors(Formula.parse(text), (*INS, *OUTS), 64, 64)
        letters, living = product.letters, product.without_failures()
        taken = 0
        for some in living.row(living.start).values():
            taken = letters.either(taken, some)
        both = letters.both(letters.proposition(2), letters.proposition(3))
        expected = letters.minus(letters.all, both) if fewer else letters.all
        assert taken == expected


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
def test_what_letters_say_of_the_first_propositions(kind):
    letters, rng = kind(3), np.random.default_rng(1)
    every = letters.of_guard(tuple((x, 7 & ~x) for x in range(8)))
    assert every == letters.all
    for _ in range(40):
        members = {int(x) for x in rng.integers(0, 8, rng.integers(0, 6))}
        some = letters.of_guard(tuple((x, 7 & ~x) for x in sorted(members)))
        for count in range(4):
            mask = (1 << count) - 1
            said = {x & mask for x in members}
            # The same for any two sets that say the same, and for no others.
            same = letters.of_guard(tuple((x, mask & ~x) for x in sorted(said)))
            found = letters.first(some, count)
            assert found == letters.first(same, count)
            for x in range(1 << count):
                one = letters.first(letters.of_guard(((x, mask & ~x),)), count)
                assert bool(letters.both(found, one)) == (x in said)


def test_states_that_are_as_open_are_not_compared(monkeypatch):
    asked = Formula.parse(f"G(r <-> {'X ' * 7} g)")
    seen, implies = [], Unfolding.implies
    monkeypatch.setattr(
        Unfolding, "implies", lambda *x: (seen.append(x), implies(*x))[1]
    )
    monkeypatch.setattr(_on_the_fly, "EXPLORED_BEYOND", 1)
    found = explored(asked, ["r"], ["g"], 1 << 12)
    assert found is not None
    assert synth.verify(found, synth.solve(found).controller())
    # There are 255 states: in pairs there would be ten thousand comparisons.
    assert 0 < len(seen) < 2 * 255


def test_whether_a_function_implies_another():
    rng, store = np.random.default_rng(2), Diagrams()
    some = [store.variable(i) for i in range(4)]
    for _ in range(60):
        one, other = rng.choice(len(some), 2)
        joined = (store.both, store.either)[rng.integers(2)]
        some.append(joined(some[one], store.negated(some[other])))
    found = set()
    for one, other in rng.choice(some, (200, 2)):
        expected = store.both(one, store.negated(other)) == FALSE
        assert store.implies(one, other) == expected
        found.add(expected)
    assert found == {True, False}


@pytest.mark.parametrize("rounds", [6, 10])
def test_a_shift_register_is_one(rounds):
    # Ten rounds are unfolded, and six are a whole automaton.
    asked = Decomposition.from_ltl(f"G(r <-> X[{rounds}] g)", ["r"], ["g"])
    circuit = asked.solve().circuit()
    assert (len(circuit.following), len(circuit.gates)) == (rounds, 0)
    assert synth.verify(asked, circuit)


def test_the_numbers_of_states_are_those_of_fewer_gates():
    # A register of what is not read, whose states are numbered as they are found by
    # who tries false first: of each number, its bits are sums of those of the register.
    size = 64
    number, order = {0: 0}, [0]
    for state in order:
        for read in (False, True):
            after = (2 * state + (not read)) % size
            if after not in number:
                number[after] = len(order)
                order.append(after)
    machine = synth.Controller.from_arrays(
        *(["r"], ["g"]),
        node=np.arange(size),
        test=np.zeros(size),
        low=-1 - 2 * np.arange(size),
        high=-2 - 2 * np.arange(size),
        output=[state // 32 for state in order for _ in range(2)],
        successor=[number[(2 * q + x) % size] for q in order for x in (1, 0)],
    )
    circuit = machine.circuit()
    assert (len(circuit.following), len(circuit.gates)) == (6, 0)
    rng = np.random.default_rng(0)
    word = [{"r"} if x else set() for x in rng.integers(2, size=99)]
    assert circuit.controller().run(word) == machine.run(word)
