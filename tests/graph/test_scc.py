"""Strongly connected components: every solver against transitive closures."""

import dataclasses
import functools
import itertools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import forget

from jaxgames import Arena, SolveError, Status, graph, ops
from jaxgames.graph import (
    Components,
    Directions,
    FBTrim,
    InPlace,
    MaxId,
    _compress,
    _in_place,
    _input,
    _levels,
    _solver,
)
from jaxgames.graph import _problem as problem
from jaxgames.graph._problem import Masked, Sccs
from jaxgames.graph._solver import number
from jaxgames.ops import _slices
from jaxgames.progress import Deadline, Report

SOLVERS = [
    MaxId(),
    MaxId(jumps="pull", sweeps=3),
    MaxId(jumps="none"),
    MaxId(order="bfs"),
    FBTrim(),
    FBTrim(sweeps=2),
    InPlace(),
]
COMPRESSING = [MaxId(compress=True), FBTrim(compress=True)]

DATA = Path(__file__).parents[3] / "shared/data"


def names(solver) -> str:
    if isinstance(solver, str):
        return solver
    changed = [
        f"{f.name}={getattr(solver, f.name)}"
        for f in dataclasses.fields(solver)
        if getattr(solver, f.name) != f.default
    ]
    return "-".join([solver.name, *changed])


def by_closure(size, tail, head, vertices=None, edges=None):
    """Labels from the transitive closure, found by squaring."""
    there = np.ones(size, bool) if vertices is None else vertices
    reach = np.eye(size, dtype=bool)
    kept = np.ones(len(tail), bool) if edges is None else edges
    kept = kept & there[tail] & there[head]
    reach[tail[kept], head[kept]] = True
    for _ in range(size.bit_length()):
        reach |= (reach.astype(np.int32) @ reach.astype(np.int32)) > 0
    least = np.argmax(reach & reach.T, axis=1)
    roots = np.unique(least[there])
    return np.where(there, np.searchsorted(roots, least), -1), len(roots)


def random_edges(rng, size: int, room: int):
    """Edges of one of several kinds; at most `room`."""
    count = int(rng.integers(0, room + 1))
    tail = rng.integers(0, size, count)
    kind = rng.integers(0, 4)
    if kind == 0:  # anywhere
        head = rng.integers(0, size, count)
    elif kind == 1:  # near
        head = np.clip(tail + rng.integers(-2, 4, count), 0, size - 1)
    elif kind == 2:  # a long way, with a few edges back
        tail = np.arange(size - 1)
        head = tail + 1
        some = rng.integers(0, size, (2, min(room - len(tail), 3)))
        tail, head = np.append(tail, some.max(0)), np.append(head, some.min(0))
    else:  # one successor each, and some more
        tail = np.append(np.arange(size), rng.integers(0, size, 4))[:room]
        head = rng.integers(0, size, len(tail))
    turn = rng.permutation(size)
    return turn[tail], turn[head]


def csr(size, tail, head):
    order = np.argsort(tail, kind="stable")
    offsets = np.searchsorted(tail[order], np.arange(size + 1))
    return (offsets.astype(np.int32), head[order].astype(np.int32)), order


# ---- against transitive closures -------------------------------------------------


@functools.cache
def hundreds_of_graphs():
    """One stack of graphs, each with its masks, and their components."""
    rng, size, room, many = np.random.default_rng(1), 13, 30, 500
    arenas, expected = [], []
    for _ in range(many):
        tail, head = random_edges(rng, size, room)
        vertices, edges = rng.random(size) < 0.9, rng.random(len(tail)) < 0.9
        rows, order = csr(size, tail, head)
        arena = Arena.from_csr(*rows, owner=np.zeros(size, bool), dead_ends="allow")
        arena = arena.pad(size + 1, room + 1)
        arenas.append(
            (
                arena,
                np.append(vertices, True),
                np.append(edges[order], np.ones(room + 1 - len(tail), bool)),
            )
        )
        expected.append(by_closure(size, tail, head, vertices, edges))
    return jax.tree.map(lambda *x: np.stack(x), *arenas), expected


OFTEN = MaxId(), MaxId(order="bfs"), FBTrim(), InPlace()
"""One of each kind: what they compile for a batch takes long."""


@pytest.mark.parametrize(
    "solver",
    [
        pytest.param(solver, marks=() if solver in OFTEN else pytest.mark.sweep)
        for solver in SOLVERS
    ],
    ids=names,
)
def test_hundreds_of_graphs_in_one_batch(solver):
    stacked, expected = hundreds_of_graphs()
    size = len(expected[0][0])

    @jax.jit
    @jax.vmap
    def solve(arena, vertices, edges):
        return graph.scc(arena, solver, vertices=vertices, edges=edges)

    found = solve(*stacked)
    assert np.all(found.status == Status.SOLVED)
    assert np.all(np.asarray(found.labels)[:, size] == -1)  # padding
    np.testing.assert_array_equal(
        np.asarray(found.labels)[:, :size], [labels for labels, _ in expected]
    )
    np.testing.assert_array_equal(found.count, [count for _, count in expected])


@pytest.mark.parametrize("solver", [*SOLVERS, *COMPRESSING, "host", "auto"], ids=names)
@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
def test_concrete_graphs(solver, masked, monkeypatch):
    monkeypatch.setattr(_compress, "LEAST_ROOM", 64)  # one size
    rng, size = np.random.default_rng(2), 30
    for _ in range(25):
        tail, head = random_edges(rng, size, 60)
        more = np.full(max(0, 33 - len(tail)), 7)
        tail, head = np.append(tail, more), np.append(head, more)
        vertices = rng.random(size) < 0.9 if masked else None
        edges = np.arange(len(tail)) % 9 > 0 if masked else None
        rows, order = csr(size, tail, head)
        labels, count = by_closure(size, tail, head, vertices, edges)
        found = graph.scc(
            rows,
            solver,
            vertices=vertices,
            edges=None if edges is None else edges[order],
        )
        np.testing.assert_array_equal(found.labels, labels)
        assert found.count == count
        assert found.status == Status.SOLVED
        assert np.asarray(found.labels).dtype == np.int32


@pytest.fixture
def small_pieces(monkeypatch):
    """Several slices, and rests that move to smaller lists."""
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(ops, "SLICE_FROM", 0)
    monkeypatch.setattr(_slices, "SLICE_COST", 64)
    monkeypatch.setattr(_compress, "LEAST_ROOM", 16)


def sequence(seed: int):
    """Components of many sizes one after the other, as a graph of 300 vertices."""
    rng, size = np.random.default_rng(seed), 300
    parts = [
        rng.integers(30 * i, 30 * i + 30, (2, rng.integers(20, 90))) for i in range(10)
    ]
    onward = np.sort(rng.integers(0, size, (2, 100)), axis=0)
    edges = np.concatenate([*parts, onward], axis=1)
    turn = rng.permutation(size) if seed % 2 else np.arange(size)
    return size, *turn[edges]


@pytest.mark.parametrize(
    "solver", [MaxId(), MaxId(order="bfs"), FBTrim(), *COMPRESSING], ids=names
)
def test_in_slices_and_with_rests_that_move(solver, small_pieces):
    size, tail, head = sequence(1)
    labels, count = by_closure(size, tail, head)
    found = graph.scc(csr(size, tail, head)[0], solver)
    np.testing.assert_array_equal(found.labels, labels)
    assert found.count == count
    assert found.stats["layout"] == "slices"
    assert found.state.larger or solver.compress


@pytest.mark.parametrize(
    "order", ["reversed", pytest.param("bfs", marks=pytest.mark.sweep)]
)
def test_what_need_not_be_read_in_large_graphs(order, small_pieces, monkeypatch):
    size, tail, head = sequence(2)
    rows, _ = csr(size, tail, head)
    # Sweeps that no other test has: what is compiled depends on what is large.
    solver = MaxId(order, sweeps=2)
    small = graph.scc(rows, solver)
    forget()
    monkeypatch.setattr(_solver, "LARGE_CELLS", 0)
    large = graph.scc(rows, solver)
    np.testing.assert_array_equal(large.labels, by_closure(size, tail, head)[0])
    assert large.stats["inner"] == small.stats["inner"]
    there = np.arange(size) % 7 > 0
    kept = there[tail] & there[head]
    found = graph.scc(rows, solver, vertices=there)
    expected, _ = by_closure(size, tail[kept], head[kept])
    same = expected[there][:, None] == expected[there]
    labels = np.asarray(found.labels)[there]
    np.testing.assert_array_equal(labels[:, None] == labels, same)
    forget()


# ---- shapes ----------------------------------------------------------------------


@pytest.mark.parametrize("solver", [MaxId(), FBTrim(), *COMPRESSING, "host"], ids=names)
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (([0], []), []),
        (([0, 0], []), [0]),
        (([0, 1], [0]), [0]),
        (([0, 0, 0, 0], []), [0, 1, 2]),
        (([0, 2, 2], [1, 1]), [0, 1]),  # an edge twice
        (([0, 2, 4], [1, 1, 0, 0]), [0, 0]),
        (([0, 1, 3, 3], [2, 0, 1]), [0, 1, 2]),
    ],
)
def test_small_shapes(solver, rows, labels):
    found = graph.scc(rows, solver)
    assert np.asarray(found.labels).tolist() == labels
    assert found.count == len(set(labels))


@pytest.mark.parametrize("solver", [MaxId(), *COMPRESSING], ids=names)
def test_long_ways_take_few_rounds(solver):
    size = 1000
    vertex = np.arange(size)
    for heads, count in [
        ([(vertex + 1) % size], 1),
        ([np.minimum(vertex + 1, size - 1)], size),
        ([np.minimum(vertex + 1, size - 1), np.maximum(vertex - 1, 0)], 1),
    ]:
        if len(heads) == 2 and isinstance(solver, FBTrim):
            continue  # its searches go step by step
        tail, head = np.tile(vertex, len(heads)), np.concatenate(heads)
        found = graph.scc(csr(size, tail, head)[0], solver)
        assert found.count == count
        assert found.stats["rounds"] <= 24


def test_vertices_with_one_neighbour_cost_one_sweep():
    # A tree that leads into a cycle, which leads to a tree that branches.
    tail = np.array([3, 4, 5, 0, 1, 2, 2, 6, 6, 7])
    head = np.array([4, 0, 0, 1, 2, 0, 6, 7, 8, 9])
    found = graph.scc(csr(10, tail, head)[0], MaxId(compress=True))
    assert np.asarray(found.labels).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert found.stats["rounds"] <= 1


def test_numbers_follow_the_smallest_vertices():
    root = jnp.array([4, 3, -1, 3, 4, 5, 4])
    count, labels = jax.jit(number)(root)
    assert (int(count), labels.tolist()) == (3, [0, 1, -1, 1, 0, 2, 0])


# ---- lists of edges --------------------------------------------------------------


def test_a_search_finds_most_of_a_graph(monkeypatch):
    monkeypatch.setattr(_in_place, "SEARCH_FROM", 1)
    rng, size = np.random.default_rng(5), 200
    tail, head = rng.integers(0, size, (2, 500))
    there = rng.random(size) < 0.9
    rows, _ = csr(size, tail, head)
    solver = InPlace(sweeps_per_check=3)  # a program of its own
    labels, count = by_closure(size, tail, head, there)
    found = graph.scc(rows, solver, vertices=there)
    np.testing.assert_array_equal(found.labels, labels)
    assert found.count == count
    assert found.stats["inner"] <= 24


def test_ranks_are_scattered_along_a_cycle(monkeypatch):
    # Numbers rise along it: what is below moves a step in a sweep.
    monkeypatch.setattr(_in_place, "PATIENCE", 2)
    monkeypatch.setattr(_in_place, "FEW", 1)
    size = 300
    rows = np.arange(size + 1), (np.arange(size) + 1) % size
    found = graph.scc(rows, InPlace(sweeps_per_check=2))
    assert (found.count, found.stats["outer"]) == (1, 1)
    assert found.stats["inner"] < size // 4


def of_streets(side):
    """A grid of streets: some are missing, and some lead one way."""
    vertex = np.arange(side * side).reshape(side, side)
    low = np.append(vertex[:, :-1].ravel(), vertex[:-1].ravel())
    high = np.append(vertex[:, 1:].ravel(), vertex[1:].ravel())
    forth, back = np.random.default_rng(2).random((2, len(low))) < 0.7
    tail, head = np.append(low[forth], high[back]), np.append(high[forth], low[back])
    return csr(side * side, tail, head)[0]


def in_phases(rows):
    """The answer of `InPlace`, its last state, and the phases it went through.

    It searches by levels as if there were kernels.
    """
    solver, game = InPlace(), _in_place.ListedGraph(*ops.edge_list(*rows))
    state, phases = solver.init(game)._replace(deep=jnp.array(True)), []
    step = jax.jit(lambda state: solver.step(game, state))
    while not solver.done(game, state):
        phases.append(int(state.phase))
        state = step(state)
    order = [phase for phase, _ in itertools.groupby(phases)]
    return solver.answer(game, state), state, order


def test_a_deep_graph_is_searched_by_levels(monkeypatch):
    monkeypatch.setattr(_in_place, "SEARCH_FROM", 1)
    rows = of_streets(40)
    expected = graph.scc(rows, "host")
    for deep_from, searches in ((4, 2), (10_000, 1)):
        monkeypatch.setattr(_in_place, "DEEP_FROM", deep_from)
        found, state, order = in_phases(rows)
        labels = np.asarray(found.labels)[: len(rows[0]) - 1]
        np.testing.assert_array_equal(labels, expected.labels)
        assert int(found.count) == expected.count > 40
        assert bool(state.deep)  # it has found much, or was not tried
        # What levels have found is most of all, and the rest is searched again.
        assert order.count(_in_place.SEARCH) == searches


def test_where_levels_find_little_they_are_not_searched_again(monkeypatch):
    monkeypatch.setattr(_in_place, "SEARCH_FROM", 1)
    monkeypatch.setattr(_in_place, "DEEP_FROM", 4)
    size = 300  # thirty cycles in a row
    tail = np.append(np.arange(size), np.arange(0, size - 10, 10))
    head = np.append(
        np.where(tail[:size] % 10 == 9, tail[:size] - 9, tail[:size] + 1),
        np.arange(10, size, 10),
    )
    found, state, _ = in_phases(csr(size, tail, head)[0])
    assert (int(found.count), bool(state.deep)) == (30, False)


def test_no_level_is_searched_where_a_vertex_has_very_many_edges(monkeypatch):
    # One after the other: a kernel would take as long as a vertex has edges.
    def everywhere(search):
        both = tuple(x._replace(mark=jnp.ones_like(x.mark)) for x in search.both)
        return search._replace(both=both, counts=jnp.zeros_like(search.counts))

    monkeypatch.setattr(ops, "advance_both", everywhere)
    many = _levels.WIDEST
    for degree, goes in ((many, True), (many + 1, False)):
        ends = jnp.zeros(degree, jnp.int32), jnp.arange(1, degree + 1, dtype=jnp.int32)
        edges = ops.EdgeList(*ends, jnp.array([degree]), kernels=True)
        told = _levels.reached(edges, 0, degree + 1)
        assert bool(told.complete) == goes
        assert int(told.ahead.sum()) == (degree + 1 if goes else 1)


def test_a_search_by_levels_is_given_up_along_a_path(monkeypatch):
    # Each of many levels finds one vertex.
    size, step = 300, np.arange(299)
    ends = np.append(step, step + 1), np.append(step + 1, step)
    edges = ops.EdgeList(*map(jnp.asarray, ends), jnp.array([2 * len(step)]))
    given_up = _levels.reached(edges, jnp.int32(0), size)
    assert not given_up.complete
    assert int(given_up.ahead.sum()) < 30
    monkeypatch.setattr(_levels, "SPREAD", size)
    told = _levels.reached(edges, jnp.int32(0), size)
    assert told.complete
    assert bool(jnp.all((told.ahead & told.behind) == 1))


def test_vertices_without_edges_on_both_sides_are_trimmed():
    # Half of what is left of a tree are its leaves.
    size = 1023
    head = np.arange(1, size)
    rows, _ = csr(size, (head - 1) // 2, head)
    found = graph.scc(rows, InPlace())
    assert (found.count, found.stats["outer"]) == (size, 0)
    assert found.stats["inner"] <= 10  # as many as it has levels


def test_a_search_comes_again_after_trimming(monkeypatch):
    monkeypatch.setattr(_in_place, "SEARCH_FROM", 1)
    rng, size = np.random.default_rng(1), 200
    tail, head = rng.integers(0, size, (2, 1600))
    head = head // 2 * 2 + tail % 2  # even ones and odd ones
    rows, _ = csr(size, tail, head)
    labels, count = by_closure(size, tail, head, np.ones(size, bool))
    found, state, order = in_phases(rows)
    np.testing.assert_array_equal(found.labels[:size], labels)
    assert (count, int(found.count), int(state.outer)) == (2, 2, 2)
    assert order == [_in_place.SEARCH, _in_place.TRIM, _in_place.SEARCH]


def ends_of(edges, size):
    return [np.asarray(x).tolist() for x in ops.touched(edges, size)]


def test_ends_of_edges_are_touched():
    offsets = np.array([0, 2, 3, 3, 4], np.int32)
    edges, degree = ops.edge_list(offsets, np.array([0, 2, 1, 1], np.int32))
    size = len(degree)
    none = [0] * (size - 4)
    expected = [[1, 0, 0, 1, *none], [0, 1, 1, 0, *none]]  # loops do not count
    assert ends_of(edges, size) == expected
    assert ends_of(dataclasses.replace(edges, kernels=False), size) == expected


needs_kernels = pytest.mark.skipif(
    not ops.runs_kernels(), reason="there is no GPU of NVIDIA's"
)


@pytest.mark.parametrize("wide", [False, True])
def test_kernels_are_made_whatever_width_numbers_have(monkeypatch, wide):
    # They are made for a GPU here, wherever that is; they run where one is.
    monkeypatch.setattr(_in_place, "SEARCH_FROM", 1)
    shape = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.int32)
    ends = shape((5000,))
    game = _in_place.ListedGraph(
        ops.EdgeList(ends, ends, shape((1,)), kernels=True), ends
    )
    solver = InPlace()
    with jax.enable_x64(wide):
        step = jax.jit(lambda game: solver.step(game, solver.init(game)))
        made = step.trace(game).lower(lowering_platforms=("cuda",)).as_text()
    assert made.count("triton") > 10  # all of them, some more than once


@needs_kernels
@pytest.mark.parametrize("degree", [0.7, 1.5, 4])
@pytest.mark.parametrize("size", [1000, 300_000])
def test_kernels_find_the_same(size, degree):
    rng = np.random.default_rng(size)
    tail = rng.integers(0, size, int(size * degree))
    near = (tail + rng.integers(-9, 10, len(tail))) % size
    for head in (rng.integers(0, size, len(tail)), near):
        rows, _ = csr(size, tail, head)
        there = rng.random(size) < 0.9, rng.random(len(tail)) < 0.9
        for vertices, edges in ((None, None), there):
            found = graph.scc(rows, "in_place", vertices=vertices, edges=edges)
            expected = graph.scc(rows, "host", vertices=vertices, edges=edges)
            np.testing.assert_array_equal(found.labels, expected.labels)
            assert isinstance(found.labels, np.ndarray)


@needs_kernels
@pytest.mark.parametrize("degree", [1, 2, 30])
@pytest.mark.parametrize("side", [3, 40, 300])
def test_kernels_search_levels(monkeypatch, side, degree):
    monkeypatch.setattr(_levels, "SPREAD", 1 << 20)  # whatever it finds
    rng, size = np.random.default_rng(side), side * side
    if degree == 2:
        rows = of_streets(side)
    else:
        rows, _ = csr(size, *rng.integers(0, size, (2, size * degree)))
    edges, known = ops.edge_list(*rows)
    for pivot in rng.integers(0, size, 3).tolist():
        found, expected = (
            _levels.reached(
                dataclasses.replace(edges, kernels=kernels), pivot, len(known)
            )
            for kernels in (True, False)
        )
        assert bool(expected.complete)
        if degree == 30 and not found.complete:
            continue  # more threads find the same than a front has room for
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_auto_takes_kernels_unless_there_is_a_layout(monkeypatch):
    size = 40
    tail, head = np.random.default_rng(0).integers(0, size, (2, 90))
    arena = graph.as_arena(csr(size, tail, head)[0])

    def legs():
        return [leg.solver.name for leg in graph.PROBLEM.legs(Masked(arena))]

    assert "in_place" not in legs() or ops.runs_kernels()
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    assert legs() == ["in_place", "max_id"]
    with monkeypatch.context() as little:
        little.setattr("jaxgames.memory.has_room", lambda *_: False)
        assert legs() == ["in_place"]
    graph.scc(arena, "max_id")
    assert "in_place" not in legs()


@pytest.mark.parametrize("place", ["device", "race"])
def test_auto_sends_rows_as_a_list(place, monkeypatch):
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    monkeypatch.setattr(type(graph.PROBLEM), "place", lambda *_: place)
    rng = np.random.default_rng(3)
    for size, edges in ((1, 0), (1, 2), (30, 45), (200, 300), (200, 900)):
        tail, head = rng.integers(0, size, (2, edges))
        rows, _ = csr(size, tail, head)
        rows = tuple(np.asarray(x, np.int32) for x in rows)
        question, _ = graph.PROBLEM.read(Masked(rows, None, None, True, True))
        assert question.graph.shape == (size, edges)
        found, expected = graph.scc(rows), graph.scc(rows, "host")
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.count == expected.count
        assert isinstance(found.labels, np.ndarray)
        if found.stats["solver"] == "in_place":
            more = graph.scc(rows, state=found.state)
            np.testing.assert_array_equal(more.labels, expected.labels)


@pytest.mark.parametrize("place", ["device", "race"])
@pytest.mark.parametrize(
    ("offsets", "targets"),
    [
        ((0, 2, 3, 4), (1, 2, 0, 3)),
        ((0, 2, 3, 4), (1, -1, 0, 0)),
        ((0, 3, 2, 4), (1, 2, 0, 0)),
        ((0, -1, 2, 4), (1, 2, 0, 0)),
    ],
)
def test_rows_that_are_no_graph_are_refused_where_they_are_sent(
    offsets, targets, place, monkeypatch
):
    rows = np.array(offsets, np.int32), np.array(targets, np.int32)
    with pytest.raises(ValueError, match=r"\d") as expected:
        graph.scc(rows, "host")
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    monkeypatch.setattr(type(graph.PROBLEM), "place", lambda *_: place)
    sent = graph.PROBLEM.read(Masked(rows, None, None, True, True))[0].graph
    assert not bool(sent.sound)
    assert int(sent.game.edges.count[0]) == 0  # no kernel reads what leads nowhere
    for rounds in (None, 0):
        with pytest.raises(ValueError, match=re.escape(str(expected.value))):
            graph.scc(rows, max_steps=rounds)


@pytest.mark.parametrize("passed", ["rows", "arena"])
@pytest.mark.parametrize("place", ["device", "race"])
def test_a_deep_graph_is_laid_out_after_some_rounds(place, passed, monkeypatch):
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    monkeypatch.setattr(type(graph.PROBLEM), "place", lambda *_: place)
    monkeypatch.setattr(problem, "LISTED_ROUNDS", 1)
    rng = np.random.default_rng(5)
    size = 400
    tail = np.arange(size - 1)
    jumps = rng.integers(0, size, (2, 80))
    back, ahead = jumps.max(0), jumps.min(0)
    made, _ = csr(size, np.append(tail, back), np.append(tail + 1, ahead))
    rows = tuple(np.asarray(x, np.int32) for x in made)
    given = graph.as_arena(rows) if passed == "arena" else rows
    expected = graph.scc(rows, "host")
    found = graph.scc(given)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.count == expected.count
    if place == "race":
        return
    assert found.stats["solver"] == "max_id"
    assert found.stats["tried"] == "in_place"
    first, steps = graph.scc(given, max_steps=1, throw=False), 1
    assert first.status == Status.MAX_STEPS
    while first.status == Status.MAX_STEPS:  # from leg to leg, a round at a time
        steps += 1
        first = graph.scc(given, max_steps=steps, state=first.state, throw=False)
    np.testing.assert_array_equal(first.labels, expected.labels)
    assert first.stats["solver"] == "max_id"


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2, 1, 3], [1, 2, 0], r"indptr\[2\] is 1"),
        ([0, 1, 2, 3], [1, 2, 3], r"indices\[2\] is 3"),
        ([0, 1, 2, 3], [1, -1, 2], r"indices\[1\] is -1"),
        ([0, 5, 4, 3], [1, 1, 2], r"indptr\[2\] is 4"),
    ],
)
def test_a_list_that_is_no_graph_is_refused(indptr, indices, message, monkeypatch):
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    monkeypatch.setattr(type(graph.PROBLEM), "place", lambda *_: "device")
    rows = np.array(indptr, np.int32), np.array(indices, np.int32)
    with pytest.raises(ValueError, match=message):
        graph.scc(rows)


def test_what_is_no_graph_is_not_sent(monkeypatch):
    monkeypatch.setattr(ops, "accelerated", lambda: True)
    rows, targets = np.array([0, 1, 2]), np.array([1, 0])
    there = _input.sent((rows, targets), 1)
    assert there is not None
    assert [np.asarray(x).tolist() for x in there] == [[0, 1, 2], [1, 0]]
    empty, long = np.zeros(0, np.int32), np.array([0, 1 << 32])
    for graph_of in ((empty, targets), (rows, long), (rows, targets * 0.5), targets):
        assert _input.sent(graph_of, 1) is None
    assert _input.sent((rows, targets), 3) is None


def test_times_has_an_inverse():
    times = jax.jit(ops.times, static_argnums=2)
    factor, inverse = map(np.uint32, (_in_place.FACTOR, _in_place.INVERSE))
    for size in (2, 100, 128, 1 << 20):
        x = np.arange(min(size, 1000), dtype=np.int32)
        ranks = np.asarray(times(x, factor, size))
        assert len(set(ranks.tolist())) == len(x)
        assert np.all((ranks >= 0) & (ranks < 2 * size))
        np.testing.assert_array_equal(times(ranks, inverse, size), x)


# ---- other ways to call it -------------------------------------------------------


def cube(links=ops.regular):
    """A graph of 4096 vertices as arrays of successors and predecessors."""
    rng = np.random.default_rng(0)
    turns = np.stack([rng.permutation(4096) for _ in range(3)]).astype(np.int32)
    back = np.stack([np.argsort(turn) for turn in turns]).astype(np.int32)
    return turns, Directions(links(jnp.asarray(turns)), links(jnp.asarray(back)))


@pytest.mark.parametrize("solver", ["auto", "fb_trim"])
def test_graphs_made_on_the_device(solver):
    turns, links = cube()
    assert graph.scc(links, solver).count == 1
    vertices = np.arange(4096) % 3 > 0
    tail = np.tile(np.arange(4096), 3)
    rows, _ = csr(4096, tail, turns.ravel())
    expected = graph.scc(rows, "host", vertices=vertices)
    found = graph.scc(links, solver, vertices=vertices)
    np.testing.assert_array_equal(found.labels, expected.labels)
    inside = jax.jit(lambda links, x: graph.scc(links, solver, vertices=x))
    np.testing.assert_array_equal(inside(links, vertices).labels, expected.labels)


@pytest.mark.parametrize("solver", [MaxId(), FBTrim(), InPlace()], ids=names)
def test_goes_on_where_it_stopped(solver):
    size, tail, head = sequence(3)
    rows, _ = csr(size, tail, head)
    whole = graph.scc(rows, solver)
    found, limit = graph.scc(rows, solver, max_steps=0, throw=False), 0
    assert found.status == Status.MAX_STEPS
    assert np.all(np.asarray(found.labels) == -1)
    while found.status != Status.SOLVED:
        limit += 3
        found = graph.scc(rows, solver, max_steps=limit, state=found.state, throw=False)
        assert found.stats["rounds"] <= limit
    assert limit > 3
    np.testing.assert_array_equal(found.labels, whole.labels)
    if not (isinstance(solver, InPlace) and ops.runs_kernels()):  # whose threads race
        assert found.stats["rounds"] == whole.stats["rounds"]


@pytest.mark.parametrize("solver", [MaxId(), FBTrim(), InPlace()], ids=names)
def test_goes_on_under_jit(solver):
    size, tail, head = sequence(3)
    arena = graph.as_arena(csr(size, tail, head)[0])
    begin = jax.jit(lambda arena, limit: graph.scc(arena, solver, max_steps=limit))
    step = jax.jit(
        lambda arena, limit, state: graph.scc(
            arena, solver, max_steps=limit, state=state
        )
    )
    whole, found = begin(arena, 10_000), begin(arena, 2)
    assert found.status == Status.MAX_STEPS
    found = step(arena, 10_000, found.state)
    assert found.status == Status.SOLVED
    np.testing.assert_array_equal(found.labels, whole.labels)
    np.testing.assert_array_equal(whole.labels, graph.scc(arena, "host").labels)


def test_says_where_it_stopped():
    size, tail, head = sequence(3)
    rows, _ = csr(size, tail, head)
    with pytest.raises(SolveError, match="MAX_STEPS") as error:
        graph.scc(rows, "max_id", max_steps=1)
    assert isinstance(error.value.solution, Components)
    seen: list[Report] = []

    def stop(report: Report) -> Status:
        seen.append(report)
        return Status.TIMEOUT

    line = np.arange(20_000)
    rows, _ = csr(len(line), line, np.minimum(line + 1, len(line) - 1))
    found = graph.scc(rows, FBTrim(), progress=stop, throw=False)
    assert found.status == Status.TIMEOUT
    assert seen[0].solver == "fb_trim"
    with pytest.raises(SolveError, match="TIMEOUT"):
        graph.scc(rows, FBTrim(), progress=Deadline(1e-9))


@pytest.mark.parametrize("solver", ["host", "race", "auto"])
def test_engines_give_the_same(solver, monkeypatch):
    monkeypatch.setattr(Sccs, "inline", 0)  # in threads
    size, tail, head = sequence(0)
    rows, _ = csr(size, tail, head)
    labels, count = by_closure(size, tail, head)
    found = graph.scc(rows, solver)
    np.testing.assert_array_equal(found.labels, labels)
    assert found.count == count
    assert repr(found) == f"Components({count} of 300 vertices)"


@pytest.mark.counts
def test_statistics(habits_of_a_cpu):
    size, tail, head = sequence(0)
    rows, _ = csr(size, tail, head)
    stats = graph.scc(rows, "fb_trim").stats
    assert stats["solver"] == "fb_trim"
    assert stats["inner"] + stats["trim"] >= stats["rounds"] > stats["outer"] > 0
    stats = graph.scc(rows, "max_id").stats
    assert stats["jumps"] == stats["inner"] == stats["rounds"] >= stats["outer"] > 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: graph.scc(x, "tarjan"), "no component solver is called 'tarjan'"),
        (
            lambda x: graph.scc(x, 3),  # type: ignore
            "component solver, which derives from ComponentSolver, got 3",
        ),
        (lambda x: graph.scc(x, max_steps=-1), "must be at least 0, got -1"),
        (lambda x: graph.scc(x, "host", max_steps=1), "takes neither"),
        (lambda x: graph.scc(x, vertices=[True]), r"each vertex \(2\)"),
        (lambda x: graph.scc(x, edges=np.ones(3, bool)), r"each edge \(1\)"),
        (lambda x: graph.scc(x, progress=3), "progress must be"),  # type: ignore
        (lambda x: MaxId(order="random"), "order must be one of"),  # type: ignore
        (lambda x: MaxId(jumps="push"), "jumps must be one of"),  # type: ignore
        (lambda x: FBTrim(sweeps=0), "sweeps must be at least 1, got 0"),
        (lambda x: graph.scc(([0, 1], [1])), r"indices\[0\] is 1"),
        (
            lambda x: jax.jit(lambda x: graph.scc(x, "host"))(graph.as_arena(x)),
            "runs on the host",
        ),
        (
            lambda x: graph.scc(cube()[1], edges=np.ones(3, bool)),
            "edges are those of an arena",
        ),
        (
            lambda x: graph.scc(cube()[1], vertices=np.ones(3, bool)),
            r"each vertex \(4096\), got shape \(3,\)",
        ),
        (
            lambda x: graph.scc(cube(lambda x: ops.regular(x, 5))[1]),
            "a row and a target for each vertex",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(([0, 1, 1], [1]))


# ---- published and generated models ----------------------------------------------

SMALL = [
    ("public", "coin2_k16"),
    ("public", "wlan0_c0"),
    ("made", "cycle4096"),
    ("made", "path4096"),
    ("made", "storm24"),
    # Like the random graphs and the models above, in sizes of their own.
    *(
        pytest.param(folder, name, marks=pytest.mark.sweep)
        for folder, names in (
            ("public", ("dining_crypt4", "leader3")),
            ("made", ("grid64", "ladder512", "rand1k_0")),
        )
        for name in names
    ),
]


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of models is not there")
@pytest.mark.parametrize(("folder", "name"), SMALL)
def test_models(folder, name):
    model = np.load(DATA / folder / "mdp" / f"{name}.npz")
    rows = model["row_offsets"][model["row_group_offsets"]], model["columns"]
    _, first, inverse = np.unique(
        model["scc_label"], return_index=True, return_inverse=True
    )
    expected = np.argsort(np.argsort(first))[inverse]
    for solver in (MaxId(), *COMPRESSING, "host"):
        found = graph.scc(rows, solver)
        np.testing.assert_array_equal(found.labels, expected)
        assert found.count == len(first)
