"""The sequential searches: against brute force, compiled and as plain Python."""

from typing import Any

import numpy as np
import pytest
from marked_graphs import COUNTEREXAMPLE, Marked, marked, plain
from repeats import some_of

from jaxgames import buchi, generate, host
from jaxgames.buchi import host as engine

METHODS = ("tarjan", "nested_dfs")

START = np.zeros(1, np.int32)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("compiled", [False, True])
@some_of(100, 300)
def test_random_graphs(method, compiled, count):
    found = 0
    for case in marked(seed=1, count=7 * count if compiled else count):
        if compiled:
            lasso = search(case, method)
        else:
            with host.interpreted():
                lasso = search(case, method)
        assert (lasso is not None) == case.exists
        if lasso is not None:
            found += 1
            assert case.shows(lasso)
            fault = engine.check_lasso(case.arena, lasso, case.accepting, case.starts)
            assert fault == ("", -1)
    assert 6 * found > count


def search(case: Marked, method: Any, vertices=None):
    where = case.arena, case.accepting, case.starts
    witness = engine.search(*where, method=method, vertices=vertices)
    if witness == engine.NO_CYCLE:
        return None
    return engine.lasso_through(case.arena, case.starts, witness, vertices)


@pytest.mark.parametrize("method", METHODS)
def test_some_vertices_only(method):
    rng = np.random.default_rng(2)
    for case in marked(seed=2, count=300):
        vertices = rng.random(case.arena.shape[0]) < 0.7
        inside = vertices[case.arena.src] & vertices[case.arena.dst]
        rest = plain(
            case.arena.src[inside], case.arena.dst[inside], case.arena.shape[0]
        )
        starts = case.starts[vertices[case.starts]]
        smaller = Marked(rest, case.accepting & vertices, starts)
        lasso = search(case, method, vertices)
        assert (lasso is not None) == smaller.exists
        assert lasso is None or smaller.shows(lasso)


@pytest.mark.parametrize("method", METHODS)
def test_the_counterexample(method):
    lasso = search(COUNTEREXAMPLE, method)
    assert lasso is not None
    assert lasso.prefix.tolist() == []
    assert lasso.cycle.tolist() == [0, 3, 1]


def test_the_prefix_is_a_shortest_one():
    # Two ways to the cycle 3, 4: by 1, and by 2 and 5.
    arena = plain([0, 0, 1, 2, 5, 3, 4], [2, 1, 4, 5, 3, 4, 3], 6)
    accepting = np.arange(6) == 3
    for method in METHODS:
        lasso = search(Marked(arena, accepting, START), method)
        assert lasso is not None
        assert lasso.prefix.tolist() == [0, 1]
        assert lasso.cycle.tolist() == [4, 3]


@pytest.mark.parametrize("method", METHODS)
def test_deep_graphs_do_not_recurse(method):
    size = 50_000
    src = np.arange(size)
    arena = plain(src, np.append(src[1:], size // 2), size)
    last = np.arange(size) == size - 1
    lasso = search(Marked(arena, last, START), method)
    assert lasso is not None
    assert len(lasso.prefix) == size // 2
    assert len(lasso.cycle) == size - size // 2
    first = np.arange(size) == 0
    assert search(Marked(arena, first, START), method) is None


@pytest.mark.parametrize("method", METHODS)
def test_a_search_is_stopped(method):
    size = 100_000
    src = np.arange(size)
    arena = plain(src, np.append(src[1:], 0), size)
    accepting = np.zeros(size, bool)
    stop = np.ones(1, np.int8)
    starts = np.zeros(1, np.int32)
    found = engine.search(arena, accepting, starts, method=method, stop=stop)
    assert found == engine.STOPPED
    stop[0] = 0
    found = engine.search(arena, accepting, starts, method=method, stop=stop)
    assert found == engine.NO_CYCLE


@pytest.mark.parametrize(
    ("prefix", "cycle", "fault"),
    [
        ([], [], buchi.Reason.NO_LASSO),
        ([0], [9], buchi.Reason.NO_VERTEX),
        ([1], [2], buchi.Reason.NOT_INITIAL),
        ([0], [2], buchi.Reason.NO_EDGE),
        ([], [0, 1], buchi.Reason.NOT_ACCEPTING),
        ([0, 1], [2], buchi.Reason.OK),
    ],
)
def test_wrong_lassos_are_seen(prefix, cycle, fault):
    graph = [0, 1, 3, 4], [1, 0, 2, 2]
    lasso = buchi.Lasso(np.array(prefix, np.int32), np.array(cycle, np.int32))
    verdict = buchi.verify(graph, lasso, accepting=[2])
    assert verdict.reason == fault
    assert bool(verdict) == (fault == buchi.Reason.OK)


def test_wrong_answers_are_seen():
    graph = [0, 1, 3, 4], [1, 0, 2, 2]
    none = buchi.accepting_cycle(([0, 1, 1], [1]), accepting=[0, 1])
    missed = buchi.verify(graph, none, accepting=[2])
    assert (missed.reason, missed.vertex) == (buchi.Reason.CYCLE_MISSED, 2)
    assert buchi.verify(graph, none, accepting=[])
    limited = buchi.accepting_cycle(
        graph, accepting=[0], solver="owcty", max_steps=0, throw=False
    )
    verdict = buchi.verify(graph, limited, accepting=[0])
    assert verdict.reason == buchi.Reason.NOT_DECIDED
    with pytest.raises(ValueError, match="answer must be"):
        buchi.verify(graph, 3)


@pytest.mark.parametrize("parts", [1, 4])
def test_edges_of_a_partition_are_looked_at_by_all_cores(parts, monkeypatch):
    rng = np.random.default_rng(parts)
    arena = generate.random_game(parts, 60, max_degree=3)
    state = rng.integers(0, 5, 60).astype(np.int32)
    monkeypatch.setattr("jaxgames.host.num_cores", lambda: parts)
    monkeypatch.setattr("jaxgames.host.FEWEST_PLACES", 1)
    leads = engine.quotient(arena, state, 5)
    wanted = np.zeros((5, 5), bool)
    wanted[state[arena.src], state[arena.dst]] = True
    np.testing.assert_array_equal(leads, wanted)
    assert engine.stray_edge(arena, state, leads) == -1
    for edge in (len(arena.dst) - 1, 17, 0):
        tail, head = state[arena.src[edge]], state[arena.dst[edge]]
        leads[tail, head] = False
        stray = [
            x
            for x in range(len(arena.dst))
            if not leads[state[arena.src[x]], state[arena.dst[x]]]
        ]
        assert engine.stray_edge(arena, state, leads) == stray[0]
