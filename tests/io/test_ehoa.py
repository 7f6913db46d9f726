"""Extended HOA files, and AIGER files."""

import numpy as np
import pytest

from jaxgames import io, synth
from jaxgames.acceptance import parity
from jaxgames.io import FormatError, aiger, ehoa
from jaxgames.synth import Circuit, Controller, Specification

TEXT = (
    'HOA: v1\nStart: 0\nAP: 2 "r" "g"\ncontrollable-AP: 1\nAcceptance: 3 {}\n'
    "--BODY--\nState: 0\n[!0 | 1] 0 {{2}}\n[0 & !1] 1 {{1}}\nState: 1 {{0}}\n[t] 1\n"
    "--END--\n"
)


@pytest.mark.parametrize(
    ("condition", "realizable", "colours"),
    [
        ("Inf(2) | (Fin(1) & Inf(0))", True, [4, 3, 2]),
        ("Fin(2) & (Inf(1) | Fin(0))", False, [3, 2, 1]),
        ("Inf(0) | (Fin(1) & Inf(2))", True, [2, 3, 4]),
        ("Fin(0) & (Inf(1) | Fin(2))", False, [1, 2, 3]),
        ("Fin(0)", True, [0, 0, 1]),
        ("Inf(2)", True, [2, 1, 1]),
        ("Inf(2) & Fin(0)", True, [2, 1, 3]),
        ("(((Inf(0) | Inf(2)))) & (Fin(1) | t)", True, None),
        ("t", True, [0, 0, 0]),
        ("f", False, [1, 1, 1]),
        ("Fin(!2)", True, None),
    ],
)
def test_conditions(condition, realizable, colours):
    found = ehoa.loads(TEXT.format(condition))
    assert found.controllable == ("g",)
    assert found.inputs == ("r",)
    arena = found.arena()
    solution = synth.solve(found)
    assert solution.realizable == realizable
    controller = solution.controller()
    assert synth.verify(found, controller, realizable=realizable)
    if colours is not None:
        assert found.parity().colour.tolist() == colours
        assert arena.num_vertices > 2


@pytest.mark.parametrize("kind", ["max even", "max odd", "min even", "min odd"])
def test_edges_without_a_colour(kind):
    # Nothing is colour -1 if the largest counts, and 4 if the least does.
    for count in (3, 4):
        text = (
            f'HOA: v1 Start: 0 AP: 1 "a" controllable-AP: Acceptance: {count} '
            f"{parity(kind, count)} --BODY-- State: 0 [t] 0 --END--"
        )
        none = -1 if kind.startswith("max") else count
        expected = (none % 2 == 0) == kind.endswith("even")
        assert synth.solve(ehoa.loads(text)).realizable == expected


def test_very_deep_conditions():
    condition = str(parity("max even", 3000))
    text = (
        'HOA: v1 Start: 0 AP: 1 "a" controllable-AP: 0 acc-name: parity max even 3000 '
        f"Acceptance: 3000 {condition} --BODY-- State: 0 [0] 0 {{2998}} [!0] 0 {{7}} "
        "--END--"
    )
    assert synth.solve(ehoa.loads(text)).realizable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "version https://git-lfs.github.com/spec/v1\noid 1\n",
            ":1: this is a Git LFS pointer",
        ),
        ("HOA: v1\nStates: 9 acc-name: parity max even 20890720927748\n", "'--BODY--'"),
        ("HOA: v1 Acceptance: 20890720927748 t", "the number of acceptance sets, from"),
        (TEXT.format("Inf(3)"), "the number of an acceptance set, from 0 to 2"),
        (TEXT.format("Inf(0) | (Inf(1)"), "'&', '|' or ')', found '--BODY--'"),
        (TEXT.format("Inf(0) |"), "expected 'Inf', 'Fin', 't' or 'f'"),
        (TEXT.format("t").replace("{1}", "{3}"), "number of an acceptance set, from"),
        (TEXT.format("t").replace("AP: 1\nA", "AP: 1 1\nA"), "1 is listed twice"),
        (TEXT.format("t").replace("controllable-AP: 1\n", ""), "'controllable-AP:'"),
        (
            TEXT.format("t").replace(" 1 {1}", " 0& {1}"),
            "expected the number of a state",
        ),
        (TEXT.format("t") * 2, "expected one automaton, but the file holds 2"),
        ("", "expected one automaton, but the file holds 0"),
    ],
)
def test_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "wrong.ehoa"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        io.load(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_proposition_that_is_not_there_is_left_out():
    text = TEXT.format("t").replace("AP: 1\nA", "AP: 1 7\nA")
    with pytest.warns(UserWarning, match="names proposition 7"):
        assert ehoa.loads(text).controllable == ("g",)


def test_what_is_written_is_read(tmp_path):
    for text in ("G(r -> F g)", "F r", "(GF r & GF s) -> (GF g & G !h)"):
        names = [x for x in "rs" if x in text]
        made = Specification.from_ltl(text, names)
        path = tmp_path / "made.ehoa.gz"
        io.save(path, made)
        found = io.load(path)
        assert found.controllable == made.controllable
        assert found.automaton.graph.guards == made.automaton.graph.guards
        assert str(found.automaton.condition) == str(made.automaton.condition)
        assert np.array_equal(found.automaton.graph.sets, made.automaton.graph.sets)


# ---- AIGER -------------------------------------------------------------------------


def random_circuit(rng: np.random.Generator) -> Circuit:
    inputs, latches, outputs, gates = (int(rng.integers(n)) for n in (4, 4, 4, 9))
    before, every = inputs + latches + 1, 2 * (inputs + latches + gates + 1)
    return Circuit(
        tuple(f"in {i}" for i in range(inputs)),
        tuple(f"out{i}" for i in range(outputs)),
        rng.integers(every, size=latches),
        rng.integers(2, size=latches),
        rng.integers(every, size=outputs),
        np.array(
            [rng.integers(2 * (before + i), size=2) for i in range(gates)], np.int64
        ).reshape(-1, 2),
    )


def run(circuit: Circuit, letters: list[int]) -> list[int]:
    """What a circuit writes, gate by gate."""
    state, written = circuit.begin.tolist(), []
    for letter in letters:
        values = [0, *(letter >> i & 1 for i in range(len(circuit.inputs))), *state]

        def at(literal: int, values: list[int] = values) -> int:
            return values[literal >> 1] ^ (literal & 1)

        for one, other in circuit.gates.tolist():
            values.append(at(one) & at(other))
        written.append(sum(at(x) << i for i, x in enumerate(circuit.driver.tolist())))
        state = [at(x) for x in circuit.following.tolist()]
    return written


def test_circuits_are_what_they_are_read_as():
    rng = np.random.default_rng(0)
    for _ in range(60):
        circuit = random_circuit(rng)
        machine = circuit.controller()
        letters = rng.integers(1 << len(circuit.inputs), size=12).tolist()
        expected, state, found = run(circuit, letters), 0, []
        for letter in letters:
            state, output = machine.step(state, letter)
            found.append(output)
        assert found == expected
        assert run(machine.circuit(), letters) == expected
        for binary in (False, True):
            data = aiger.dumps(circuit, binary=binary, comment="made by lot")
            again = aiger.parse("made", data)
            assert run(again, letters) == expected
            assert again.inputs == circuit.inputs
            assert again.outputs == circuit.outputs


def test_gates_in_any_order_and_words_before(tmp_path):
    path = tmp_path / "x.aag"
    path.write_text(
        "REALIZABLE\naag 9 2 1 1 2\n2\n4\n6 10 1\n8\n8 10 2\n10 6 5\n"
        "o0 grant\nl0 x\nc\n"
    )
    machine = io.load(path)
    assert (machine.reads, machine.writes) == (("i0", "i1"), ("grant",))
    assert machine.run([{"i0"}, {"i0", "i1"}, {"i0"}]) == [
        frozenset({"grant"}),
        frozenset(),
        frozenset(),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", ":1: the file ends too early"),
        (b"aag 1 1 0\n", ":1: expected 'aag' or 'aig' and five numbers"),
        (b"aag 1 1 0 1 0\n2\n9\n", ":3: expected 1 literals from 0 to 3, found '9'"),
        (b"aag 2 1 0 1 0\n2\n4\n", "literal 4 belongs to no variable"),
        (
            b"aag 1 2 0 0 0\n2\n",
            "2 inputs, 0 latches and 0 gates do not fit the largest variable, 1",
        ),
        (b"aag 3 1 0 1 2\n2\n4\n4 6 2\n6 4 2\n", "depends on itself"),
        (b"aag 2 1 0 1 1\n2\n4\n2 2 2\n", "2 is not the literal of a new variable"),
        (b"aag 1 1 0 1 0\n2\n2\nwrong\n", ":4: expected a symbol, found 'wrong'"),
        (b"aag 1 1 0 1 0\n2\n2\ni0 a\ni0 b\n", "i0 does not exist, or already"),
        (b"aag 2 2 0 0 0\n2\n4\ni0 a\ni1 a\n", "there are two i called 'a'"),
        (b"aag 1 0 1 0 0\n2 2 2\n", "expected 0 or 1 as the initial value of a latch"),
        (b"aag 9999999999 1 0 0 9999999998\n", "more than the limit"),
        (
            b"aig 2 1 0 1 1\n4\n\x09\x01",
            "gate 4 reads a variable that is not defined before it",
        ),
        (b"aig 2 1 0 1 1\n4\n", "the file ends within the gates"),
        (
            b"aag 1 1 0 0 0 1\n2\n",
            "bad states, constraints and fairness are not supported",
        ),
    ],
)
def test_wrong_circuits(tmp_path, data, message):
    path = tmp_path / "wrong.aag"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        io.load(path)
    assert message in str(caught.value)


def test_too_many_states():
    count = 12
    following = [3, *(2 * i for i in range(1, count))]
    circuit = Circuit(
        ("a",),
        (),
        np.array(following) + np.array([0] + [2] * (count - 1)),
        np.zeros(count, int),
        np.zeros(0, int),
        np.zeros((0, 2), int),
    )
    with pytest.raises(ValueError, match="more than 100 states"):
        circuit.controller(max_states=100)
    assert isinstance(circuit.controller(), Controller)
