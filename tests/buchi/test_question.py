"""What is asked: states of vertices are checked, counted and looked up."""

import collections
from typing import NamedTuple

import numpy as np
import pytest
from marked_graphs import marked

from jaxgames import arena as arena_module
from jaxgames import buchi, host
from jaxgames.buchi import _partition, _question
from jaxgames.ops import _rows, _slices

MOST = _partition.MAX_STATES


@pytest.fixture(params=["machine code", "numpy", "no compiler"])
def by(request, monkeypatch):
    """How graphs of any size are looked at."""
    if request.param == "no compiler":
        monkeypatch.setattr(arena_module, "can_compile", lambda: False)
    if request.param == "machine code":
        monkeypatch.setattr(arena_module, "MANY", 0)
        monkeypatch.setattr(arena_module, "FEWEST", 1)
        monkeypatch.setattr(host, "FEWEST_PLACES", 5)
        monkeypatch.setattr(host, "num_cores", lambda: 3)


class Case(NamedTuple):
    """Rows whose vertices have states, and the edges between states as a list."""

    indptr: np.ndarray
    indices: np.ndarray
    accepting: np.ndarray
    state: np.ndarray
    edges: np.ndarray

    @property
    def given(self) -> dict:
        return {
            "graph": (self.indptr, self.indices),
            "accepting": self.accepting,
            "initial": None,
            "partition": (self.state, self.edges),
        }

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The ends of each edge."""
        rows = zip(self.indptr[:-1], self.indptr[1:], strict=True)
        tails = [v for v, (i, j) in enumerate(rows) for _ in range(i, j)]
        return list(zip(tails, self.indices.tolist(), strict=True))

    def fault(self) -> str | None:
        """What is wrong first, one number at a time."""
        state = self.state.tolist()
        for v, number in enumerate(state):
            if number < 0:
                return f"partition[0][{v}] is {number}, expected no negative number"
        if self.edges.min(initial=0) < 0:
            return "partition[1] must hold states, which are not negative"
        count = 1 + max([*state, *self.edges.ravel().tolist()], default=-1)
        if count > MOST:
            return f"a partition may have {MOST} states or parts, got {count}"
        allowed = set(map(tuple, self.edges.tolist()))
        for tail, head in self.pairs:
            if (state[tail], state[head]) not in allowed:
                return (
                    f"partition[1] has no edge from state {state[tail]} to state "
                    f"{state[head]}, yet vertices {tail} and {head} are in these and "
                    "there is an edge"
                )
        return None

    def counts(self) -> collections.Counter:
        """How many vertices of each state accept, and have no successor."""
        stuck = (self.indptr[1:] == self.indptr[:-1]).tolist()
        marks = self.state.tolist(), self.accepting.tolist(), stuck
        return collections.Counter(zip(*marks, strict=True))


def cases(seed: int, count: int):
    """Sound ones and others, in which up to two things are wrong."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size, states = int(rng.choice([1, 2, 7, 30])), int(rng.choice([1, 3, 32, 140]))
        degree = rng.integers(rng.integers(0, 2), 4, size)
        indptr = np.append(0, np.cumsum(degree))
        indices = rng.integers(0, size, indptr[-1])
        state = np.sort(rng.integers(0, states, size))
        pairs = state[np.repeat(np.arange(size), degree)], state[indices]
        more = rng.integers(0, states, (int(rng.integers(1, 5)), 2))
        edges = np.concatenate([np.stack(pairs, 1), more])
        for fault in rng.integers(0, 6, rng.choice([0, 1, 2])):
            v, k = rng.integers(0, size), rng.integers(0, len(edges))
            if fault == 0:
                state[v] = -1
            elif fault == 1:
                state[v] = rng.choice([states, MOST, 2**32, 2**62])
            elif fault == 2:
                edges[k] = -1, 0
            elif fault == 3:
                edges[k, 1] = rng.choice([states + 1, MOST])
            elif len(edges) > 1:
                edges = np.delete(edges, k, axis=0)
        narrow = [np.int64, np.uint64, np.int32, np.uint8, np.int16, ">i4"]
        kinds = rng.choice(len(narrow), 2)
        state, edges = (
            fitting(x, narrow[k]) for x, k in zip((state, edges), kinds, strict=True)
        )
        yield Case(indptr, indices, rng.random(size) < rng.random(), state, edges)


def fitting(x: np.ndarray, kind) -> np.ndarray:
    """The same in another type, if that holds it."""
    limits = np.iinfo(kind)
    fits = x.min(initial=0) >= limits.min and x.max(initial=0) <= limits.max
    return x.astype(kind) if fits else x


@pytest.mark.parametrize("seed", range(4))
def test_states_are_checked_and_counted(seed, by):
    sound = 0
    for case in cases(seed, 120):
        fault = case.fault()
        if fault is not None:
            with pytest.raises(ValueError) as raised:  # noqa: PT011
                _question.read(**case.given)
            assert str(raised.value) == fault
            continue
        sound += 1
        question = buchi.prepare(**case.given)
        states = len(question.known.edges)
        assert states == 1 + max(case.state.max(), case.edges.max())
        np.testing.assert_array_equal(question.near.state, case.state)
        allowed = set(map(tuple, np.argwhere(question.known.edges).tolist()))
        assert allowed == set(map(tuple, case.edges.tolist()))
        check_counts(question, case)
    assert sound > 20


def check_counts(question, case: Case) -> None:
    """What is known of vertices by their states, and what follows."""
    expected, states = case.counts(), len(question.known.edges)
    for state in range(states):
        for column, (accepts, stuck) in enumerate(np.ndindex(2, 2)):
            wanted = expected[state, bool(accepts), bool(stuck)]
            assert question.seen.counts[state, column] == wanted
    marks = [[False] * states for _ in range(3)]
    for state, accepts, stuck in expected:
        marks[0][state] |= accepts
        marks[1][state] |= not accepts
        marks[2][state] |= stuck
    met = _partition.Met(*map(np.array, marks))
    assert question.kinds == _partition.kinds(question.known, met)
    wanted = np.arange(question.known.count) % 2 == 0
    part = [(1 + p) * wanted[p] for p in question.known.part_of[case.state.astype(int)]]
    np.testing.assert_array_equal(question.parts(wanted), part)
    there, count = question.parts_there(wanted)
    found = np.asarray(there.found())
    np.testing.assert_array_equal(found[: len(part)], part)
    assert not found[len(part) :].any()
    assert count == np.count_nonzero(part)


def test_states_of_a_graph_of_states(by):
    graph = [0, 1, 2, 2], [1, 0]
    given = {"graph": graph, "accepting": [0], "initial": None}
    for state, states, message in (
        ([0, 0, 1], ([0, 1, 1], [0]), None),
        ([0, 1, 1], ([0, 2, 2], [0, 1]), "no edge from state 1 to state 0"),
        ([0, 0, 2], ([0, 1, 1], [0]), r"\[0\]\[2\] is 2, expected a state from 0 to 1"),
        ([0, 0, -2], ([0, 2, 1], [0]), r"\[0\]\[2\] is -2, expected no negative"),
        ([0, 0, 0], ([0, 2, 1], [0]), r"^indptr\[2\] is 1"),
    ):
        partition = np.array(state), tuple(map(np.array, states))
        if message is None:
            question = buchi.prepare(**given, partition=partition)
            assert question.near.state.tolist() == state
            assert question.seen.counts.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]
        else:
            with pytest.raises(ValueError, match=message):
                buchi.prepare(**given, partition=partition)


def test_counts_of_what_was_not_counted_on_the_way(by):
    """Of a batch, of parts, where nothing is known, and of padding."""
    for case in cases(9, 60):
        if case.fault() is not None:
            continue
        batch = np.stack([~case.accepting, case.accepting])
        many = buchi.prepare(**case.given | {"accepting": batch})
        check_counts(many.one(batch[1]), case)
        zeros = case._replace(state=np.zeros_like(case.state))
        check_counts(buchi.prepare(**case.given | {"partition": None}), zeros)
        padded = arena_module.Arena.from_csr(
            case.indptr, case.indices, owner=case.accepting & False, dead_ends="allow"
        ).pad()
        given = case.given | {
            "graph": padded,
            "accepting": np.flatnonzero(case.accepting),
        }
        check_counts(buchi.prepare(**given | {"partition": None}), zeros)
        check_counts(buchi.prepare(**given), case)


def test_a_list_of_no_edges():
    for empty in (np.empty((0, 2)), np.empty((0, 2), np.uint8)):
        given = {"accepting": [0], "initial": None, "partition": ([0, 2], empty)}
        question = buchi.prepare(([0, 0, 0], []), **given)
        assert question.known.edges.shape == (3, 3)
        with pytest.raises(ValueError, match="no edge from state 0 to state 2"):
            buchi.prepare(([0, 1, 1], [1]), **given)


def test_accepting_vertices_are_copied():
    """As is all else: what is done to the caller's array later changes nothing."""
    for accepting in (np.array([True, False]), np.array([[True, False]])):
        question = buchi.prepare(([0, 1, 2], [1, 0]), accepting=accepting)
        accepting[:] = False
        found = buchi.accepting_cycle(question)
        assert np.all(found.exists)


@pytest.mark.parametrize("solver", ["auto", "trim"])
def test_solves_where_lists_of_edges_are_made_on_the_device(solver, by, monkeypatch):
    monkeypatch.setattr(type(buchi.CYCLES), "place", lambda *_: "device")
    monkeypatch.setattr(_rows, "accelerated", lambda: True)
    monkeypatch.setattr(_slices, "SLICE_FROM", 1)
    solved = 0
    for case in marked(seed=3, count=40):
        state = np.cumsum(case.accepting)  # so that each has vertices of one kind, ...
        heads = state[case.arena.dst]
        pairs = np.stack([state[case.arena.src], heads], 1)
        question = buchi.prepare(
            (case.arena.row_ptr.copy(), case.arena.dst.copy()),
            accepting=case.accepting,
            initial=case.starts,
            partition=(state, np.concatenate([pairs, [[0, 0]]])),
        )
        if solver == "trim" and _question.Kind.STRONG in question.kinds:
            continue  # ... unless edges lead back
        solved += 1
        found = buchi.accepting_cycle(question, solver)
        assert found.exists == case.exists
        assert found.lasso is None or case.shows(found.lasso)
    assert solved > 10
