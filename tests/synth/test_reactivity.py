"""Generalised reactivity of rank 1: against whole automata, and by verification."""

import numpy as np
import pytest

from jaxgames import synth
from jaxgames.ltl import Formula
from jaxgames.ltl._diagrams import Diagrams, TooManyNodesError
from jaxgames.synth import Decomposition, Specification, _reactivity
from jaxgames.synth._reactivity import reactive
from tests.repeats import some_of

INS, OUTS = ["a", "b"], ["g", "h"]

SAFE = [
    *("G(a -> X !a)", "G(a -> X(a | g))", "G(b & !h -> X b)", "a", "!b", "G(a | b)"),
    *("G(g -> X b)", "G(g -> X !a)"),
]
FAIR = ["G F a", "G F b", "G F(a & !b)", "G(g -> F a)", "G F !g", "G F(a <-> X b)"]
ASKED = [
    *(
        "G !(g & h)",
        "G(g -> a)",
        "G(h -> X !h)",
        "!g",
        "G(a -> X g)",
        "G(g -> X(g | b))",
    ),
    *("G F g", "G F h", "G(a -> F g)", "G(b -> F h)", "G F(g & b)", "G F(h & X g)"),
]
ALWAYS = ["g", "!g & h", "G !(g & h)", "G(a -> X g)", "h & G(h -> X !h)", "X X !g"]


def drawn(rng: np.random.Generator) -> str:
    def some(texts: list[str], most: int) -> str:
        count = int(rng.integers(most + 1))
        return " & ".join(["true", *rng.choice(texts, count, replace=False)])

    given = f"{some(SAFE, 1)} & {some(FAIR, 2)}"
    # What must hold even if nothing is given.
    return f"({some(ALWAYS, 1)}) & (({given}) -> ({some(ASKED, 3)}))"


@some_of(25, 1000)
def test_what_is_found_is_what_whole_automata_say(monkeypatch, count):
    monkeypatch.setattr(_reactivity, "REACTIVE_FROM", 1)
    rng, seen = np.random.default_rng(0), {}
    for _ in range(count):
        text, moore = drawn(rng), bool(rng.integers(2))
        whole = Specification.from_ltl(text, INS, OUTS, moore=moore)
        won = bool(synth.solve(whole).realizable)
        found = reactive(Formula.parse(text), INS, OUTS, moore=moore)
        assert found is not None, text
        solution = synth.solve(found)
        assert solution.realizable == won, text
        # The automaton of the whole knows nothing of this.
        for asked in (whole, found):
            assert synth.verify(asked, solution.controller(), realizable=won), text
        seen[won, moore] = seen.get((won, moore), 0) + 1
    assert len(seen) == 4
    assert min(seen.values()) >= count // 20


def arbiter(count: int) -> str:
    texts = [f"G(r{i} -> F g{i})" for i in range(count)]
    texts += [f"G !(g{i} & g{j})" for i in range(count) for j in range(i)]
    return " & ".join(texts)


@pytest.mark.parametrize("moore", [False, True])
def test_an_arbiter_remembers_whose_turn_it_is_and_no_more(moore):
    outs = [f"g{i}" for i in range(10)]
    asked = Decomposition.from_ltl(arbiter(10), None, outs, moore=moore)
    solution = asked.solve()
    assert solution.realizable
    machine = solution.controller()
    assert machine.num_states == 10
    assert synth.verify(asked, solution.circuit())
    # Two at once, and nobody.
    for output in ("g0", "g7"):
        circuit = solution.circuit()
        driver = circuit.driver.copy()
        driver[circuit.outputs.index(output)] ^= 1
        spoilt = synth.Circuit(
            *(circuit.inputs, circuit.outputs, circuit.following, circuit.begin),
            *(driver, circuit.gates),
        )
        assert not synth.verify(asked, spoilt)


def test_assumptions_that_are_safe_and_many():
    count = 4
    asks, gives = ([f"{x}{i}" for i in range(count)] for x in "ag")
    given = [f"G F {x}" for x in asks]
    given += [f"G({x} & !{y} -> X {x})" for x, y in zip(asks, gives, strict=True)]
    goals = [f"G F {y}" for y in gives]
    goals += [f"G({y} -> {x})" for x, y in zip(asks, gives, strict=True)]
    goals += [f"G !({gives[i]} & {gives[j]})" for i in range(count) for j in range(i)]
    text = f"{' & '.join(given)} -> {' & '.join(goals)}"
    asked = Decomposition.from_ltl(text, asks, gives)
    solution = asked.solve(max_states=1 << 8)
    assert solution.realizable
    assert synth.verify(asked, solution.circuit())


def priority(count: int) -> tuple[str, list[str]]:
    """Clients wait while another one asks, which does not do so for ever."""
    given = "G F !u"
    goals = [f"G(r{i} -> F g{i})" for i in range(count)] + ["G(u -> F v)"]
    goals += [f"G !(g{i} & g{j})" for i in range(count) for j in range(i)]
    goals += [f"G !(g{i} & (u | v))" for i in range(count)]
    return f"{given} -> {' & '.join(goals)}", [f"r{i}" for i in range(count)] + ["u"]


def lift(count: int) -> tuple[str, list[str]]:
    """A cabin is on one floor, at first the lowest, and moves where doors let it."""
    each = range(count)
    first = [f"f{i}" if i == 0 else f"!f{i}" for i in each]
    goals = [f"G({' | '.join(f'f{i}' for i in each)})"]
    goals += [f"G !(f{i} & f{j})" for i in each for j in range(i)]
    for i in each:
        near = " | ".join(f"f{j}" for j in (i - 1, i, i + 1) if 0 <= j < count)
        goals += [f"G(f{i} -> X({near}))", f"G(f{i} & !d -> X f{i})"]
        goals += [f"G(c{i} -> F f{i})"]
    text = f"{' & '.join(first)} & (G F d -> {' & '.join(goals)})"
    return text, [f"c{i}" for i in each] + ["d"]


@pytest.mark.parametrize(
    ("family", "count", "states"), [(priority, 9, 10), (lift, 7, 24)]
)
def test_machines_do_not_know_who_waits_or_that_all_is_well(family, count, states):
    asked = Decomposition.from_ltl(*family(count))
    solution = asked.solve(max_states=1 << 8)
    assert solution.realizable
    assert solution.controller().num_states <= states
    assert synth.verify(asked, solution.circuit())
    # The whole automaton, of fewer, says the same.
    assert synth.solve(Specification.from_ltl(*family(2))).realizable


def test_what_must_hold_always_is_not_excused_by_the_environment():
    # Whoever goes on for ever must keep to it, even where nothing is fair.
    text = "g & G !(g & a) & (G F b -> G F g & G F h & G !(g & h))"
    assert not Decomposition.from_ltl(text, INS).solve().realizable
    eased = text.replace("G !(g & a)", "G !(g & a & X a)")
    assert Decomposition.from_ltl(eased, INS).solve().realizable is False
    assert Decomposition.from_ltl(text.replace("& a", "& X h"), INS).solve().realizable


def without_controller(kind: str, count: int) -> tuple[str, list[str]]:
    """A specification that no controller satisfies, and its inputs."""
    each = range(count)
    given: list[str] = []
    goals = [f"G !(g{i} & g{j})" for i in each for j in range(i)]
    inputs = [f"a{i}" for i in each]
    match kind:
        case "requests that are taken back":
            goals += [f"G(a{i} -> F g{i}) & G(g{i} -> a{i})" for i in each]
        case "one fairness is missing":
            given += [f"G F a{i}" for i in each[1:]]
            goals += [f"G F g{i} & G(g{i} -> a{i})" for i in each]
        case "never both":
            given += [f"G F a{i}" for i in each]
            inputs += [f"b{i}" for i in each]
            goals += [f"G F(g{i} & b{i}) & G(g{i} -> a{i})" for i in each]
        case "answers that are in the way":
            given += [f"G(g{i} -> F b{i})" for i in each]
            inputs += [f"b{i}" for i in each]
            goals += [f"G(a{i} -> F g{i})" for i in each]
            goals += [f"G(g{i} -> !b{(i + 1) % count})" for i in each]
    return f"({' & '.join(['true', *given])}) -> ({' & '.join(goals)})", inputs


UNREALIZABLE = [
    "requests that are taken back",
    "one fairness is missing",
    "never both",
    "answers that are in the way",
]


@pytest.mark.parametrize("moore", [False, True])
@pytest.mark.parametrize("kind", UNREALIZABLE)
def test_the_environment_has_a_machine_of_few_states(kind, moore):
    asked = Decomposition.from_ltl(*without_controller(kind, 8), moore=moore)
    solution = asked.solve(max_states=1 << 8)
    assert solution.realizable is False
    assert solution.controller().num_states <= 10
    assert synth.verify(asked, solution.circuit(), realizable=False)
    # The whole automaton, of fewer clients, says the same.
    few = without_controller(kind, 2)
    whole = Specification.from_ltl(*few, moore=moore)
    assert synth.solve(whole).realizable is False


def test_a_spoilt_machine_of_the_environment_is_rejected():
    asked = Decomposition.from_ltl(*without_controller(UNREALIZABLE[1], 4))
    circuit = asked.solve().circuit()
    assert synth.verify(asked, circuit, realizable=False)
    for place in range(len(circuit.driver)):
        driver = circuit.driver.copy()
        driver[place] = int(circuit.outputs[place] == "a0")  # never fair, or always
        spoilt = synth.Circuit(
            *(circuit.inputs, circuit.outputs, circuit.following, circuit.begin),
            *(driver, circuit.gates),
        )
        assert not synth.verify(asked, spoilt, realizable=False)


def test_other_conditions_are_left_to_others(monkeypatch):
    monkeypatch.setattr(_reactivity, "REACTIVE_FROM", 1)
    for text in (
        "F G g & G F h",
        "(F G a) -> (G F g)",
        "(G F a -> G F g) & (G F b -> G F h)",
    ):
        assert reactive(Formula.parse(text), INS, OUTS) is None
    for name in ("REACTIVE_STATES", "PART_STATES"):
        with monkeypatch.context() as patch:
            patch.setattr(_reactivity, name, 1)
            outs = [f"g{i}" for i in range(9)]
            ins = [f"r{i}" for i in range(9)]
            assert reactive(Formula.parse(arbiter(9)), ins, outs) is None
    store = Diagrams(max_nodes=10)
    with pytest.raises(TooManyNodesError):
        _ = [store.variable(level) for level in range(9999)]


def buffer(count: int) -> tuple[str, list[str]]:
    """Senders are answered after they ask, and not at once."""
    each = range(count)
    given = [f"G(r{i} & !g{i} -> X r{i})" for i in each]
    given += [f"G(g{i} -> X !r{i})" for i in each]
    goals = [f"G(!r{i} -> X !g{i}) & G(r{i} -> F g{i})" for i in each]
    goals += [f"G !(g{i} & g{j})" for i in each for j in range(i)]
    return f"{' & '.join(given)} -> {' & '.join(goals)}", [f"r{i}" for i in each]


def test_a_circuit_keeps_the_bits_of_the_parts_where_that_takes_fewer_gates():
    asked = Decomposition.from_ltl(*buffer(3))
    solution = asked.solve()
    assert solution.realizable
    machine = solution.solutions[0].controller()
    circuit = machine.circuit()
    # With the states numbered anew it would be larger.
    arrays = ("node", "test", "low", "high", "output", "successor")
    bare = synth.Controller.from_arrays(
        machine.reads, machine.writes, **{x: getattr(machine, x) for x in arrays}
    )
    assert len(circuit.gates) < len(bare.circuit().gates) / 2
    assert circuit.inputs == machine.reads
    assert circuit.outputs == machine.writes
    again = circuit.controller()
    assert again.num_states > machine.num_states
    assert again.reduced().is_same(machine)
    assert synth.verify(asked, solution.circuit())


def test_states_that_answer_alike_are_one():
    rng = np.random.default_rng(3)
    fewer = 0
    for _ in range(60):
        size = int(rng.integers(1, 9))
        copies = int(rng.integers(1, 4))
        # Each state some times over, and what follows is any copy of it.
        follows = rng.integers(size, size=(size, 4))
        writes = rng.integers(2, size=(size, 4))
        total = size * copies
        at = np.arange(total) % size
        after = follows[at] + size * rng.integers(copies, size=(total, 4))
        node = 3 * np.arange(total)
        action = -1 - 4 * np.arange(total)
        machine = synth.Controller.from_arrays(
            *(["a", "b"], ["x"]),
            node=node,
            test=np.tile([0, 1, 1], total),
            low=np.stack([node + 1, action, action - 2], 1).reshape(-1),
            high=np.stack([node + 2, action - 1, action - 3], 1).reshape(-1),
            output=writes[at].reshape(-1),
            successor=after.reshape(-1),
        )
        small = machine.reduced()
        assert small.num_states <= size
        assert small.reduced().num_states == small.num_states
        fewer += small.num_states < machine.num_states
        letters = [{x for x in "ab" if rng.integers(2)} for _ in range(50)]
        assert small.run(letters) == machine.run(letters)
    assert fewer > 30
