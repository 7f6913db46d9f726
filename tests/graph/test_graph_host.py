"""The engine on the host: Tarjan's algorithm against closures, and on long graphs."""

from pathlib import Path

import networkx
import numpy as np
import odd_graphs
import pytest

from jaxgames import Arena, graph, host
from jaxgames.graph import host as engine
from jaxgames.graph.host import _components
from jaxgames.testing import odd_arenas

MODELS = Path(__file__).parents[3] / "shared/data/public/mdp"

LONG = 300_000 if host.can_compile() else 3000


def check(masked):
    arena, vertices, edges = masked
    count, labels = engine.scc(arena, vertices=vertices, edges=edges)
    np.testing.assert_array_equal(labels, masked.labels)
    assert labels.dtype == np.int32
    assert count == masked.labels.max(initial=-1) + 1


def test_components_against_closure():
    for masked in odd_graphs.graphs(seed=0, count=600):
        check(masked)


def test_components_in_plain_python():
    with host.interpreted():
        for masked in odd_graphs.graphs(seed=1, count=60):
            check(masked)


def rows_of(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Rows that could be written to, which nobody has looked at."""
    return np.array(arena.row_ptr), np.array(arena.dst)


def test_rows_that_were_not_looked_at():
    plain = 0
    for number, masked in enumerate(odd_graphs.graphs(seed=2, count=2000)):
        arena, vertices, edges = masked
        if vertices is None and edges is None and arena.num_vertices == arena.shape[0]:
            plain += 1
            rows = rows_of(arena)
            found = graph.scc(rows, ("auto", "host")[number % 2])
            np.testing.assert_array_equal(found.labels, masked.labels)
            assert int(found.count) == masked.labels.max(initial=-1) + 1
            np.testing.assert_array_equal(engine.scc(rows)[1], masked.labels)
    assert plain > 500


def random_rows(seed: int, size: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    degrees = np.bincount(rng.integers(0, size, degree * size), minlength=size)
    indptr = np.append(0, np.cumsum(degrees)).astype(np.int32)
    return indptr, rng.integers(0, size, degree * size, np.int32)


MANY = 20_000 if host.can_compile() else 100


@pytest.mark.parametrize("degree", [1, 2, 8])
def test_components_of_large_random_graphs(degree):
    rows = random_rows(degree, MANY, degree)
    count, labels = engine.scc(rows)
    assert 1 < count == labels.max() + 1
    assert graph.verify(rows, labels, engine="host")


def test_rows_in_other_forms():
    """What machine code cannot read as it is takes another way to the same answer."""
    indptr, indices = random_rows(0, 50, 2)
    expected = graph.scc(graph.as_arena((indptr, indices)), "max_id").labels
    strided = np.repeat(indices, 2)[::2]
    fixed = indices.copy()
    fixed.setflags(write=False)
    for rows in (
        (indptr, indices),
        [indptr, indices],
        (indptr.tolist(), indices.tolist()),
        (indptr.astype(np.int64), indices.astype(np.int64)),
        (indptr.astype(">i4"), indices),
        (indptr, strided),
        (indptr, fixed),
    ):
        np.testing.assert_array_equal(graph.scc(rows).labels, expected)
    assert indices.flags.writeable  # the caller's arrays stay the caller's


def broken_rows(indptr: np.ndarray, indices: np.ndarray, rng):
    """Rows with one number that is wrong, and who names that."""
    size, edges = len(indptr) - 1, len(indices)
    for wrong in (size, -1, 2**31 - 1, -(2**31)):
        bad = indices.copy()
        e = int(rng.integers(0, edges))
        bad[e] = wrong
        yield indptr, bad, rf"indices\[{e}\] is {wrong} "
    for wrong in (edges + 1, -1, 2**31 - 1, -(2**31)):
        bad = indptr.copy()
        v = int(rng.integers(1, size))
        bad[v] = wrong
        yield bad, indices, "end before they begin"
    for place, wrong in ((0, 1), (size, edges - 1), (size, edges + 1)):
        bad = indptr.copy()
        bad[place] = wrong
        yield bad, indices, rf"indptr\[{place}\] is"


@pytest.mark.parametrize("size", [3, 10, MANY])
def test_rows_that_are_none(size):
    rng = np.random.default_rng(size)
    for seed in range(20 if size < MANY else 2):
        indptr, indices = random_rows(seed, size, 2)
        for *rows, message in broken_rows(indptr, indices, rng):
            for solver in ("auto", "host"):
                with pytest.raises(ValueError, match=message):
                    graph.scc(tuple(rows), solver)


def test_rows_that_overlap():
    """More edges are met than there are, before a row is found that ends too soon."""
    size = 2 * MANY
    indptr = np.tile(np.array([0, size], np.int32), MANY + 1)[: size + 1]
    indices = np.arange(0, 2 * size, 2, dtype=np.int32) % size
    with pytest.raises(ValueError, match="end before they begin"):
        graph.scc((indptr[:-1].copy(), indices % (size - 1)))
    with pytest.raises(ValueError, match="end before they begin"):
        graph.scc((np.append(indptr[:-1], np.int32(size)), indices))


def test_components_in_closing_order():
    rng = np.random.default_rng(0)
    for arena in odd_arenas(seed=0, count=50):
        alive = rng.random(arena.shape[0]) < 0.8
        number, members, begins = engine.closing_order(arena, vertices=alive)
        pairs = np.stack([arena.src, arena.dst])[:, alive[arena.src] & alive[arena.dst]]
        network = networkx.DiGraph()
        network.add_nodes_from(np.flatnonzero(alive).tolist())
        network.add_edges_from(pairs.T.tolist())
        expected = {
            frozenset(c) for c in networkx.strongly_connected_components(network)
        }
        parts = np.split(members, begins[1:-1]) if len(members) else []
        assert {frozenset(part.tolist()) for part in parts} == expected
        assert len(parts) == len(expected)
        assert (number[pairs[0]] >= number[pairs[1]]).all()
        assert ((number == -1) == ~alive).all()
        for index, part in enumerate(parts):
            assert (number[part] == index).all()


@pytest.mark.parametrize("backward", [False, True])
def test_a_path_of_any_length(backward):
    vertex = np.arange(LONG - 1)
    src, dst = (vertex + 1, vertex) if backward else (vertex, vertex + 1)
    owner = np.zeros(LONG, bool)
    arena = Arena.from_edges(src, dst, owner=owner, dead_ends="allow")
    count, labels = engine.scc(arena)
    assert count == LONG
    np.testing.assert_array_equal(labels, np.arange(LONG))


def test_a_cycle_of_any_length_and_a_walk_both_ways():
    vertex = np.arange(LONG)
    owner = np.zeros(LONG, bool)
    cycle = Arena.from_edges(vertex, np.roll(vertex, 1), owner=owner)
    assert engine.scc(cycle)[0] == 1
    ends = np.concatenate([[vertex[:-1], vertex[1:]], [vertex[1:], vertex[:-1]]], 1)
    assert engine.scc(Arena.from_edges(*ends, owner=owner))[0] == 1
    ends = np.delete(ends, LONG - 1 + LONG // 2, axis=1)  # one edge of the way back
    assert engine.scc(Arena.from_edges(*ends, owner=owner))[0] == 2


class Later:
    """A flag that says stop when it is asked for the second time."""

    def __init__(self):
        self.asked = 0

    def __getitem__(self, index):
        self.asked += 1
        return int(self.asked > 1)


def test_a_search_can_be_stopped():
    stop = np.ones(1, np.int8)
    for arena in (Arena.from_csr([0, 1], [0], owner=[0]), ([0, 0, 1], [0])):
        assert engine.scc(arena, stop=stop)[0] == engine.STOPPED
    size = 2 * _components.POLL
    one_way = (np.minimum(np.arange(size + 1), size - 1), np.arange(1, size))
    isolated = (np.zeros(size + 1, int), [])
    for many in (one_way, isolated):
        with host.interpreted():
            later = Later()
            count, labels = engine.scc(many, stop=later)
        assert count == engine.STOPPED
        assert later.asked == 2
        assert (labels == -1).all()
        assert graph.scc_on_host(graph.as_arena(many))[0] == size


def test_no_traced_input():
    import jax

    arena = Arena.from_csr([0, 1], [0], owner=[0])
    with pytest.raises(ValueError, match="runs on the host, not under tracing"):
        jax.jit(lambda arena: engine.scc(arena)[1])(arena)


def test_topological_order_leaves_out_cycles_and_what_follows():
    order = engine.topological(np.array([0, 1, 2, 4, 4, 4]), np.array([1, 0, 3, 4]))
    assert order.tolist() == [2, 3, 4]
    cycle = engine.topological(np.array([0, 1, 3, 3]), np.array([1, 0, 2]))
    assert cycle.tolist() == []


# ---- models of others --------------------------------------------------------


def models(largest: int) -> list[Path]:
    return [path for path in sorted(MODELS.glob("*.npz")) if in_reach(path, largest)]


def in_reach(path: Path, largest: int) -> bool:
    return path.stat().st_size < largest


def check_model(path: Path) -> None:
    with np.load(path) as model:
        indptr = model["row_offsets"][model["row_group_offsets"]]
        indices, known = model["columns"], model["scc_label"]
    count, labels = engine.scc((indptr, indices))
    pairs = np.unique(np.stack([labels, known]), axis=1)
    assert count == len(np.unique(known)) == pairs.shape[1]
    found = graph.verify((indptr, indices), labels, engine="host")
    assert found, str(found)
    first = np.unique(labels, return_index=True)[1]
    assert (np.diff(first) > 0).all()


needs_models = pytest.mark.skipif(
    not MODELS.is_dir() or not host.can_compile(),
    reason="the folder of published models is not there, or numba is not",
)


@needs_models
@pytest.mark.parametrize("path", models(100_000), ids=lambda path: path.stem)
def test_models_of_others(path):
    check_model(path)


@needs_models
@pytest.mark.sweep
@pytest.mark.parametrize("path", models(1 << 40), ids=lambda path: path.stem)
def test_all_models_of_others(path):
    check_model(path)
