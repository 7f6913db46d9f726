"""Specifications, their games, and controllers that are checked."""

import dataclasses
import gzip
import itertools
import json
import random
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import acceptance, io, limits, ltl, parity, synth
from jaxgames.io import _hoa
from jaxgames.io._whole import Whole
from jaxgames.ltl import Automaton, EmersonLei
from jaxgames.ltl._guards import bits
from jaxgames.synth import Controller, Specification, _circuit_states, _game, reference
from jaxgames.synth._controller import Circuit
from jaxgames.synth._game import choices
from jaxgames.testing._ltl import _formula

DATA = Path(__file__).parent.parent.parent.parent / "shared/data/public/synthesis"


def random_specification(seed: int, moore: bool) -> Specification:
    """A deterministic automaton over three propositions with some condition."""
    rng = np.random.default_rng(seed)
    size, marks = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    rows: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for q, letter in itertools.product(range(size), range(8)):
        end = int(rng.integers(size)), int(rng.integers(1 << marks))
        rows.setdefault((q, *end), []).append((letter, letter ^ 7))
    graph = Automaton.from_edges(
        [q for q, _, _ in rows],
        list(rows.values()),
        [r for _, r, _ in rows],
        propositions=["a", "b", "c"],
        sets=[[m >> i & 1 for _, _, m in rows] for i in range(marks)],
    )
    atoms = [
        (acceptance.inf if rng.integers(2) else acceptance.fin)(
            int(rng.integers(marks))
        )
        for _ in range(4)
    ]
    pairs = [acceptance.both(atoms[:2]), acceptance.both(atoms[2:])]
    condition = acceptance.either(pairs) if rng.integers(2) else pairs[0].negated()
    own = [x for x in "abc" if rng.integers(2)]
    return Specification(EmersonLei(graph, condition), tuple(own), moore)


@pytest.mark.parametrize("moore", [False, True])
def test_who_wins_and_how(moore):
    seen = set()
    for seed in range(60):
        specification = random_specification(seed, moore)
        solution = synth.solve(specification)
        assert solution.realizable == reference.realizable(specification), seed
        seen.add(solution.realizable)
        controller = solution.controller()
        won = bool(solution.realizable)
        assert synth.verify(specification, controller, realizable=won)
        assert not won or not moore or controller.is_moore
        # As a circuit it does the same.
        again = controller.circuit().controller()
        assert synth.verify(specification, again, realizable=won)
    assert seen == {True, False}


def changed(controller: Controller, rng: np.random.Generator) -> Controller:
    """One that differs in one action."""
    action = int(rng.integers(len(controller.output)))
    if rng.integers(2) and controller.num_states > 1:
        successor = np.array(controller.successor)
        successor[action] = rng.integers(controller.num_states)
        return dataclasses.replace(controller, successor=successor)
    output = np.array(controller.output)
    output[action] ^= np.uint64(1 << int(rng.integers(len(controller.writes))))
    return dataclasses.replace(controller, output=output)


def random_circuit(rng: np.random.Generator) -> Circuit:
    inputs, latches, gates, outputs = rng.integers([0, 0, 0, 0], [5, 5, 20, 4])
    before = 2 * (1 + inputs + latches)
    end = before + 2 * gates
    return Circuit(
        tuple(f"i{i}" for i in range(inputs)),
        tuple(f"o{i}" for i in range(outputs)),
        rng.integers(0, end, latches),
        rng.integers(0, 2, latches),
        rng.integers(0, end, outputs),
        rng.integers(0, before + 2 * np.arange(gates)[:, None], (gates, 2)),
    )


def test_circuits_are_explored_alike_both_ways(monkeypatch):
    rng = np.random.default_rng(3)
    circuits = [random_circuit(rng) for _ in range(60)]
    monkeypatch.setattr(_circuit_states, "CIRCUIT_BITS", 200)
    by_letters = [x.controller() for x in circuits]
    monkeypatch.setattr(_circuit_states, "CIRCUIT_TABLES_UP_TO", -1)
    for circuit, machine in zip(circuits, by_letters, strict=True):
        other = circuit.controller()
        for name in ("node", "test", "low", "high", "output", "successor"):
            assert (getattr(machine, name) == getattr(other, name)).all()
        word = [{x for x in circuit.inputs if rng.integers(2)} for _ in range(20)]
        assert machine.run(word) == plainly_run(circuit, word)
        assert machine.is_same(other)
    assert max(x.num_states for x in by_letters) > 4


def plainly_run(circuit: Circuit, word: list[set[str]]) -> list[frozenset[str]]:
    state, written = circuit.begin.tolist(), []
    for names in word:
        values = [False, *(x in names for x in circuit.inputs), *state]
        for one, other in circuit.gates.tolist():
            values.append(
                (values[one >> 1] != one & 1) and (values[other >> 1] != other & 1)
            )
        held = [values[x >> 1] != (x & 1) for x in circuit.driver.tolist()]
        pairs = zip(circuit.outputs, held, strict=True)
        written.append(frozenset(name for name, holds in pairs if holds))
        state = [values[x >> 1] != (x & 1) for x in circuit.following.tolist()]
    return written


def test_machines_that_are_the_same():
    rng, same = np.random.default_rng(5), 0
    specification = Specification.from_ltl("G(r -> F g) & G(g -> X !g)", ["r"], ["g"])
    controller = synth.solve(specification).controller()
    for _ in range(30):
        other = changed(controller, rng)
        words = controller.automaton(), other.automaton()
        apart = any(a.word_outside(b) for a, b in itertools.permutations(words))
        assert not (apart and controller.is_same(other))
        same += controller.is_same(other)
    assert 0 < same < 30


def wrong_run(specification: Specification, controller: Controller) -> bool:
    """Whether a short word of inputs, repeated for ever, is answered wrongly."""
    assert specification.formula is not None
    letters = [set(), set(controller.reads)]
    for length in (1, 2, 3):
        for cycle in itertools.product(letters, repeat=length):
            word = list(cycle) * (controller.num_states + 1)
            seen, state = [], 0
            for n, names in enumerate(word):
                if n % length == 0 and state in seen:
                    word = word[:n]
                    break
                seen += [state] if n % length == 0 else []
                state, _ = controller.step(state, int(bool(names)))
            back = length * seen.index(state)
            both = [a | b for a, b in zip(word, controller.run(word), strict=True)]
            if not specification.formula.holds_on(both[:back], both[back:]):
                return True
    return False


def test_wrong_controllers_are_refused():
    rng, found, wrong = np.random.default_rng(1), [0, 0], 0
    for text in ("G(r -> X g) & G(!r -> X !g)", "G(r -> F g) & G(g -> X !g)"):
        specification = Specification.from_ltl(text, ["r"], ["g"])
        controller = synth.solve(specification).controller()
        assert not wrong_run(specification, controller)
        for _ in range(30):
            other = changed(controller, rng)
            right = synth.verify(specification, other)
            found[right] += 1
            if wrong_run(specification, other):
                wrong += 1
                assert not right
    assert min(found) > 3
    assert wrong > 10


def test_no_more_choices_than_the_first_to_move_offers():
    # a: end 1; b: end 2; neither: end 4; and whatever comes end 8.
    cubes = frozenset([(1, 0, 1), (2, 0, 2), (0, 3, 4), (0, 0, 8)])
    found = choices(cubes)
    assert set(found) == {1 | 8, 2 | 8, 4 | 8}
    for choice, (must, _) in found.items():
        assert choice == sum(
            end for a, b, end in cubes if not a & ~must and not b & must
        )
    many = frozenset((1 << i, 0, 1 << i) for i in range(40))
    many |= {(0, (1 << 40) - 1, 1 << 40)}
    assert len(choices(many)) == 41


def of_text(edges: str, more: str) -> Specification:
    return io.ehoa.loads(
        'HOA: v1 Start: 0 AP: 1 "a" controllable-AP: 0 Acceptance: 1 Inf(0) --BODY-- '
        f"State: 0 {edges} {more} --END--"
    )


def test_choices_by_tables_are_those_by_splitting(monkeypatch):
    rng = random.Random(7)
    some = []
    for _ in range(200):
        places = rng.sample(range(64), rng.randrange(6))
        cubes = set()
        for _ in range(rng.randrange(1, 12)):
            sides = [(p, rng.randrange(4)) for p in places]
            must, never = (sum(1 << p for p, x in sides if x == y) for y in (1, 2))
            cubes.add((must, never, 1 << rng.randrange(5)))
        some.append(frozenset(cubes))
    by_tables = list(map(choices, some))
    monkeypatch.setattr(_game, "TABLES_UP_TO", -1)
    for cubes, found in zip(some, by_tables, strict=True):
        assert found.keys() == choices(cubes).keys()
        for choice, (must, never) in found.items():
            free = {bit for x in cubes for bit in bits(x[0] | x[1])}
            free -= {*bits(must), *bits(never)}
            for some_of_them in itertools.product((0, 1), repeat=len(free)):
                letter = must + sum(itertools.compress(free, some_of_them))
                ends = {x[2] for x in cubes if not (x[0] & ~letter or x[1] & letter)}
                assert choice == sum(ends)


def test_what_is_no_specification():
    with pytest.raises(ValueError, match="state 0 has no edge for the letter '!a'"):
        of_text("[0] 0", "").arena()
    with pytest.raises(ValueError, match="letter 'a' leads to 0 and to 1"):
        of_text("[0] 0 [t] 1", "State: 1 [t] 0").arena()
    with pytest.raises(ValueError, match="letter 'a' leads to 0, with two colours"):
        of_text("[0] 0 {0} [t] 0", "").arena()
    of_text("[0] 0 [t] 0", "").arena()  # the same end: no matter
    automaton = of_text("[t] 0", "").automaton
    with pytest.raises(ValueError, match="no proposition 'b' that could be controlled"):
        Specification(automaton, ("b",))
    with pytest.raises(ValueError, match="'a' is controllable twice"):
        Specification(automaton, ("a", "a"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((["r"], ["r", "g"]), "proposition 'r' is an input and an output as well"),
        ((["r", "r"], ["g"]), "input 'r' is named twice"),
        ((["r"], ["h"]), "proposition 'g' of the formula is neither an input nor"),
        ((None, None), "say which propositions are inputs"),
    ],
)
def test_names_that_do_not_fit(names, message):
    with pytest.raises(ValueError, match=message):
        Specification.from_ltl("G(r -> g)", *names)


@pytest.mark.parametrize(
    ("text", "ins", "outs", "mealy", "moore"),
    [
        ("true", [], [], True, True),
        ("false", [], ["g"], False, False),
        ("G g", [], ["g"], True, True),
        ("G r | F !r", ["r"], [], True, True),
        ("F r", ["r"], [], False, False),
        ("G(r <-> g)", ["r"], ["g"], True, False),
        ("G(g <-> X r)", ["r"], ["g"], False, False),
        ("G F r -> G F g", ["r", "unused"], ["g", "free"], True, True),
    ],
)
def test_verdicts_that_are_known(text, ins, outs, mealy, moore):
    for goes_first, expected in ((False, mealy), (True, moore)):
        specification = Specification.from_ltl(text, ins, outs, moore=goes_first)
        solution = synth.solve(specification)
        assert solution.realizable == expected
        controller = solution.controller()
        assert synth.verify(specification, controller, realizable=expected)


def test_many_are_one_batch():
    rng = np.random.default_rng(3)
    asked = [Specification.from_ltl(_formula(rng, 8), ["p"], ["q"]) for _ in range(12)]
    found = synth.solve_many(asked)
    assert [x.realizable for x in found] == [synth.solve(x).realizable for x in asked]


def test_a_step_of_jax():
    asked = Specification.from_ltl("G(r -> X g) & G(s <-> X X h)", ["r", "s"])
    controller = synth.solve(asked).controller()
    step = jax.jit(jax.vmap(controller.step_function()))
    rng = np.random.default_rng(0)
    states, plain = jnp.zeros(16, jnp.int32), [0] * 16
    for _ in range(4):
        inputs = rng.integers(2, size=(16, 2)).astype(bool)
        states, written = step(states, inputs)
        for i in range(16):
            plain[i], output = controller.step(plain[i], int(inputs[i] @ [1, 2]))
            assert written[i].tolist() == [bool(output & 1), bool(output & 2)]
        assert states.tolist() == plain


def test_a_drawing_and_the_words():
    asked = Specification.from_ltl('G("a b" <-> X g)', ["a b"])
    controller = synth.solve(asked).controller()
    assert '0 -> 1 [label="a b / !g"]' in controller.to_dot()
    words = controller.automaton()
    assert not words.accepts([{"a b"}], [{"g"}, {"g", "a b"}, {"g"}])
    assert words.accepts([{"a b"}], [{"g", "a b"}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"successor": [0, 7]}, r"successor\[1\] is 7, expected 0 to 0"),
        ({"node": [5]}, r"node\[0\] is 5"),
        ({"test": [3]}, r"test\[0\] is 3"),
        ({"high": [0]}, "does not lead to a later test"),
        ({"output": [0, 2]}, "an action writes more than 1 outputs"),
        ({"output": [0]}, "is -2, expected -1 to 0"),
        ({"node": []}, "a controller has at least one state"),
    ],
)
def test_arrays_that_are_no_machine(change, message):
    arrays = {
        "node": [0],
        "test": [0],
        "low": [-1],
        "high": [-2],
        "output": [0, 1],
        "successor": [0, 0],
    }
    with pytest.raises(ValueError, match=message):
        Controller.from_arrays(["r"], ["g"], **(arrays | change))


def test_limits_hold():
    text = " & ".join(f"(GF a{i} -> GF b{i} & F(c{i} U X d{i}))" for i in range(9))
    with pytest.raises(RuntimeError, match="time limit"):
        Specification.from_ltl(text, inputs=["a0"], deadline=0.0001)
    small = Specification.from_ltl("G(r <-> X g)", ["r"], ["g"])
    with pytest.raises(limits.LimitError, match="time limit"):
        synth.solve(small, deadline=1e-9)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        synth.solve(small, dead_line=1.0)


# ---- files of others --------------------------------------------------------------

FILES = sorted(DATA.glob("ehoa/*.gz"))
needs_data = pytest.mark.skipif(not FILES, reason="the files of others are not here")


def check_file(name: str, answer: dict) -> None:
    text = gzip.decompress((DATA / "ehoa" / f"{name}.gz").read_bytes()).decode()
    (found,) = _hoa.extended(Whole.of(name, text))
    names = [found.automaton.propositions[i] for i in found.controllable or ()]
    for moore, key in ((False, "winner_of_state"), (True, "moore_winner_of_state")):
        specification = Specification(found.automaton, tuple(names), moore)
        solution = synth.solve(specification)
        if key in answer:
            winner = np.asarray(solution.game.winner)[: found.automaton.num_states]
            assert "".join(map(str, winner)) == answer[key]
        won = bool(solution.realizable)
        assert synth.verify(specification, solution.controller(), realizable=won)
        assert parity.verify(specification.arena(), solution.game)


def answers() -> dict:
    found = json.loads((DATA / "ehoa/answers.json").read_text())
    return {name: answer for name, answer in found.items() if "refused" not in answer}


@needs_data
@pytest.mark.filterwarnings("ignore:.*controllable-AP")
def test_files_of_others_in_short():
    found = answers()
    for name in sorted(found, key=lambda x: found[x]["states"])[:120:8]:
        check_file(name, found[name])


@needs_data
@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:.*controllable-AP")
def test_files_of_others():
    for name, answer in answers().items():
        check_file(name, answer)


def check_formula(case: dict) -> None:
    for key in ("mealy", "moore"):
        specification = Specification.from_ltl(
            case["formula"], case["inputs"], case["outputs"], moore=key == "moore"
        )
        solution = synth.solve(specification)
        assert solution.realizable == case[key]
        controller = solution.controller()
        assert synth.verify(specification, controller, realizable=case[key])


@needs_data
def test_formulas_of_others_in_short():
    for case in json.loads((DATA / "ltl/realizability.json").read_text())[::15]:
        check_formula(case)


@needs_data
@pytest.mark.sweep
def test_formulas_of_others():
    for case in json.loads((DATA / "ltl/realizability.json").read_text()):
        check_formula(case)


@needs_data
def test_controllers_of_others():
    found = json.loads((DATA / "aiger/answers.json").read_text())
    for name in sorted(found)[::3]:
        case = found[name]
        names = [*case["inputs"], *case["outputs"]]
        automaton = ltl.deterministic(case["formula"], propositions=names)
        specification = Specification(automaton.emerson_lei, tuple(case["outputs"]))
        for file, right in case["files"].items():
            controller = io.aiger.load(DATA / "aiger" / file)
            assert synth.verify(specification, controller) == right, file
