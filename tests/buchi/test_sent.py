"""Accepting cycles of large graphs of numpy, which are checked on the device."""

import dataclasses

import numpy as np
import pytest
from marked_graphs import Marked, marked, plain

from jaxgames import buchi, generate, ltl, memory, ops, systems
from jaxgames.buchi import _question, _sent


@pytest.fixture
def sends(monkeypatch):
    """Graphs of any size are sent, as if the device had memory of its own."""
    monkeypatch.setattr(ops, "accelerated", lambda: True)
    monkeypatch.setattr(_sent, "SENT_FROM", 1)


def was_sent(question) -> bool:
    return isinstance(question.given, _sent.There)


def rows(case: Marked) -> tuple[np.ndarray, np.ndarray]:
    return case.arena.row_ptr.copy(), case.arena.dst.copy()


def with_states(seed: int, count: int):
    """Random graphs whose vertices have states of a property, with all of its edges."""
    rng = np.random.default_rng(seed)
    for case in marked(seed=seed, count=count):
        size = case.arena.shape[0]
        state = np.sort(rng.integers(0, 4, size)).astype(np.int32)
        pairs = np.stack([state[case.arena.src], state[case.arena.dst]], axis=1)
        own = np.stack([state, state], axis=1)[:1]
        yield case, state, np.unique(np.concatenate([pairs, own]), axis=0)


def asked(case: Marked, state, edges) -> dict:
    return {
        "accepting": case.accepting,
        "initial": case.starts,
        "partition": (state, edges),
    }


@pytest.mark.parametrize("solver", ["auto", "race", "host", "map", "owcty", "scc"])
def test_as_on_the_host(solver, sends, monkeypatch):
    monkeypatch.setattr(type(buchi.CYCLES), "place", lambda *_: "device")
    sent = 0
    for case, state, edges in with_states(seed=3, count=25):
        question = buchi.prepare(rows(case), **asked(case, state, edges))
        near = _question.read(rows(case), *asked(case, state, edges).values())
        assert question.kinds == near.kinds
        sent += was_sent(question)
        for wanted in (question, rows(case)):
            given = {} if wanted is question else asked(case, state, edges)
            found = buchi.accepting_cycle(wanted, solver, **given)
            assert found.exists == case.exists
            assert (found.lasso is None) == (not case.exists)
            assert found.lasso is None or case.shows(found.lasso)
        assert buchi.verify(question, found)
    assert sent > 15  # a state above all that have edges is left to the host


def test_what_vertices_there_are(sends):
    rng = np.random.default_rng(5)
    for states in (1, 31, 32, 33, 70):
        case = next(iter(marked(seed=states, count=1)))
        state = rng.integers(0, states, case.arena.shape[0]).astype(np.int32)
        partition = state, np.argwhere(np.ones((states, states), bool))
        marks = case.accepting, case.starts, partition
        question = _question.read(rows(case), *marks, may_be_sent=True)
        assert was_sent(question)
        near = _question.read(rows(case), *marks)
        found, degree = question.given.met, np.diff(case.arena.row_ptr)
        for one, mask in zip(
            found, (case.accepting, ~case.accepting, degree == 0), strict=True
        ):
            np.testing.assert_array_equal(np.flatnonzero(one), np.unique(state[mask]))
        assert question.kinds == near.kinds
        wanted = rng.random(near.known.count) < 0.5
        np.testing.assert_array_equal(question.parts(wanted), near.parts(wanted))
        part, count = question.parts_there(wanted)
        assert (
            int(count) == np.count_nonzero(part) == np.count_nonzero(near.parts(wanted))
        )


def test_it_comes_back(sends):
    for case, state, edges in with_states(seed=8, count=5):
        question = buchi.prepare(rows(case), **asked(case, state, edges))
        assert was_sent(question) == (len(case.arena.dst) > 0)
        near = question.near
        assert near is question.near
        assert question.shape == near.arena.shape == case.arena.shape
        np.testing.assert_array_equal(near.accepting, case.accepting)
        np.testing.assert_array_equal(near.state, state)
        np.testing.assert_array_equal(near.arena.row_ptr, case.arena.row_ptr)
        np.testing.assert_array_equal(near.arena.dst, case.arena.dst)
        np.testing.assert_array_equal(question.starts, np.unique(case.starts))


def test_what_is_done_to_the_arrays_later_changes_nothing(sends):
    case, state, edges = next(
        x for x in with_states(seed=9, count=30) if x[0].exists and len(x[1]) > 3
    )
    offsets, targets = rows(case)
    accepting = case.accepting.copy()
    question = buchi.prepare(
        (offsets, targets),
        accepting=accepting,
        initial=case.starts,
        partition=(state, edges),
    )
    targets[:], accepting[:], state[:] = 0, False, 0
    found = buchi.accepting_cycle(question)
    assert case.shows(found.lasso)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partition": (np.array([0, 1, 5], np.int32), [[0, 0], [0, 1], [1, 1]])}, "5"),
        (
            {"partition": (np.array([0, 1, -1], np.int32), [[0, 0], [0, 1], [1, 1]])},
            r"partition\[0\]\[2\] is -1",
        ),
        (
            {"partition": (np.array([0, 1, 0], np.int32), [[0, 0], [0, 1], [1, 1]])},
            "no edge from state 1 to state 0, yet vertices 1 and 2",
        ),
        ({"graph": (np.array([0, 1, 2, 3], np.int32), np.array([1, 2, 3], np.int32))},
         r"indices\[2\] is 3"),
        ({"graph": (np.array([0, 2, 1, 3], np.int32), np.array([1, 2, 0], np.int32))},
         r"indptr\[2\] is 1"),
        ({"graph": (np.array([0, 1, 2, 3], np.int32), np.array([1, -2, 2], np.int32))},
         r"indices\[1\] is -2"),
        ({"accepting": np.array([True, False])}, "accepting must have one boolean"),
        ({"initial": np.array([3])}, r"initial\[0\] is 3"),
        ({"initial": 7}, "initial is 7"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_the_host(change, message, sends):
    given = {
        "graph": (np.array([0, 1, 2, 3], np.int32), np.array([1, 2, 2], np.int32)),
        "accepting": np.array([True, False, False]),
        "initial": 0,
        "partition": None,
    }
    assert was_sent(buchi.prepare(**given))
    with pytest.raises(ValueError, match=message):
        buchi.prepare(**given | change)


def test_what_has_another_form_is_not_sent(sends, monkeypatch):
    graph = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    plainly = {"accepting": np.array([True, False])}
    states = np.zeros(2, np.int32), np.array([[0, 0]])
    assert was_sent(buchi.prepare(graph, **plainly))
    assert was_sent(buchi.prepare(graph, **plainly, partition=states))
    for other in (
        {"accepting": [0]},
        {"accepting": np.array([[True, False]])},
        {**plainly, "partition": np.zeros(2, np.int32)},
        {**plainly, "partition": (np.zeros(2, np.int64), states[1])},
        {**plainly, "partition": (states[0], ([0, 1], [0]))},
    ):
        assert not was_sent(buchi.prepare(graph, **other))
    assert not was_sent(buchi.prepare(plain([0, 1], [1, 0], 2), **plainly))
    monkeypatch.setattr(memory, "free", lambda devices=None: 64 * 4)
    assert was_sent(buchi.prepare(graph, **plainly))
    monkeypatch.setattr(memory, "free", lambda devices=None: 64 * 4 - 1)
    assert not was_sent(buchi.prepare(graph, **plainly))
    monkeypatch.setattr(memory, "free", lambda devices=None: None)
    monkeypatch.setattr(_sent, "SENT_FROM", 3)
    assert not was_sent(buchi.prepare(graph, **plainly))


@pytest.mark.parametrize("text", ["F p0", "G F p0 -> G F p1", "G (p0 -> X p1)"])
def test_products(text, sends):
    for seed in range(4):
        arena = generate.random_game(seed, 30, max_degree=3)
        marks = np.random.default_rng(seed).random((2, 30)) < 0.6
        system = systems.System.from_graph(
            (arena.row_ptr, arena.dst), {"p0": marks[0], "p1": marks[1]}
        )
        product = systems.product(system, ltl.translate(f"!({text})"))
        question = buchi.prepare(product)
        assert was_sent(question) == (product.num_edges > 0)
        assert buchi.prepare(product) is question
        on_host = buchi.accepting_cycle(product, "host")
        for solver in ("auto", "map"):
            found = buchi.accepting_cycle(product, solver)
            assert found.exists == on_host.exists
            assert buchi.verify(product, found)
        near = dataclasses.replace(question, given=question.near)
        assert question.kinds == near.kinds
