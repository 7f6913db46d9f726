"""Reachability on both engines, under transformations, and by closure."""

import jax
import jax.numpy as jnp
import numpy as np
import odd_graphs
import pytest

from jaxgames import Arena, graph
from jaxgames.ops import _slices

ENGINES = ["host", "device"]


def sources_of(rng, arena):
    return rng.random(arena.shape[0]) < rng.choice([0.0, 0.1, 0.3])


def expected(masked, sources, backward=False):
    reach = masked.reach.T if backward else masked.reach
    return reach[sources].any(0) & masked.inside


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("engine", "count"), [("host", 300), ("device", 60)])
def test_against_closure(engine, count, backward):
    rng = np.random.default_rng(0)
    for masked in odd_graphs.graphs(seed=0, count=count):
        arena, vertices, edges = masked
        sources = sources_of(rng, arena)
        found = graph.reachable(
            arena,
            sources,
            backward=backward,
            vertices=vertices,
            edges=edges,
            engine=engine,
        )
        np.testing.assert_array_equal(found, expected(masked, sources, backward))
        assert found.dtype == bool


def test_rows_in_slices(monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    rng = np.random.default_rng(1)
    for masked in odd_graphs.graphs(seed=1, count=8):
        arena, vertices, edges = masked
        sources = sources_of(rng, arena)
        found = graph.reachable(
            arena, sources, vertices=vertices, edges=edges, engine="device"
        )
        np.testing.assert_array_equal(found, expected(masked, sources))


@pytest.mark.parametrize("backward", [False, True])
def test_under_jit_and_vmap(backward):
    def reach(arena, sources, vertices, edges):
        return graph.reachable(
            arena, sources, backward=backward, vertices=vertices, edges=edges
        )

    rng = np.random.default_rng(2)
    batch = [odd_graphs.full(m) for m in odd_graphs.graphs(2, 16, pad=True)]
    sources = [sources_of(rng, masked.arena) for masked in batch]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *batch)
    together = jax.jit(jax.vmap(reach))(
        stacked.arena, jnp.stack(sources), stacked.vertices, stacked.edges
    )
    for masked, start, found in zip(batch, sources, together, strict=True):
        np.testing.assert_array_equal(found, expected(masked, start, backward))
    alone = jax.jit(reach)(batch[0].arena, sources[0], *batch[0][1:])
    np.testing.assert_array_equal(alone, together[0])


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("engine", "count"), [("host", 200), ("device", 40)])
def test_paths_of_some_length(engine, count, backward):
    """Against powers of the matrix of edges."""
    rng = np.random.default_rng(3)
    for arena, vertices, edges in odd_graphs.graphs(seed=3, count=count):
        sources, most = sources_of(rng, arena), int(rng.integers(0, 5))
        how = {"backward": backward, "vertices": vertices, "edges": edges}
        found = graph.reachable(arena, sources, **how, engine=engine, max_steps=most)
        size = arena.shape[0]
        inside = np.ones(size, bool) if vertices is None else np.asarray(vertices)
        inside = inside & (np.arange(size) < int(arena.num_vertices))
        real = np.arange(arena.shape[1]) < int(arena.num_edges)
        kept = real if edges is None else real & np.asarray(edges)
        step = np.zeros((size, size), bool)
        step[np.asarray(arena.src)[kept], np.asarray(arena.dst)[kept]] = True
        reached = np.asarray(sources) & inside
        for _ in range(most):
            ways = step[:, reached].any(1) if backward else step[reached].any(0)
            reached = reached | (ways & inside)
        np.testing.assert_array_equal(found, reached)


def test_a_limit_of_steps_may_be_traced():
    chain = Arena.from_csr([0, 1, 2, 3], [1, 2, 2], owner=[0, 0, 0])
    reach = jax.jit(
        lambda most: graph.reachable(chain, jnp.array([1, 0, 0]) > 0, max_steps=most)
    )
    assert [int(reach(most).sum()) for most in range(4)] == [1, 2, 3, 3]
    attract = jax.jit(
        lambda most: (
            graph.attractor(chain, jnp.array([0, 0, 1]) > 0, 0, max_steps=most).rank
        )
    )
    assert attract(1).tolist() == [-1, 1, 0]
    for wrong in (-1, 1.5):
        with pytest.raises(ValueError, match="max_steps must be"):
            graph.reachable(chain, [0], max_steps=wrong)


def test_numbers_name_sources():
    chain = ([0, 1, 2, 2], [1, 2])
    for engine in ENGINES:
        assert graph.reachable(chain, 1, engine=engine).tolist() == [0, 1, 1]
        assert graph.reachable(chain, [], engine=engine).tolist() == [0, 0, 0]
        assert graph.reachable(chain, [0, 2], engine=engine).tolist() == [1, 1, 1]


def test_a_long_path():
    size = 3000
    path = (np.minimum(np.arange(size + 1), size - 1), np.arange(1, size))
    for engine in ENGINES:
        assert graph.reachable(path, [1], engine=engine).sum() == size - 1
        back = graph.reachable(path, [1], backward=True, engine=engine)
        assert np.flatnonzero(back).tolist() == [0, 1]


def test_constants_of_a_traced_function():
    chain = Arena.from_csr([0, 1, 2, 2], [1, 2], owner=[0] * 3, dead_ends="allow")

    @jax.jit
    def constants(x):
        found = graph.reachable(chain, [1], engine="device")
        won = graph.attractor(chain, [2], 0, engine="device")
        assert graph.verify(chain, np.arange(3), engine="device")
        return x + found, x + won.rank

    found, rank = constants(jnp.zeros(3, int))
    assert found.tolist() == [0, 1, 1]
    assert rank.tolist() == [2, 1, 0]


def test_wrong_calls():
    arena = Arena.from_csr([0, 1], [0], owner=[0])
    with pytest.raises(ValueError, match="engine must be 'auto', 'host' or 'device'"):
        graph.reachable(arena, [0], engine="gpu")
    with pytest.raises(ValueError, match="a graph must be an Arena.*got None"):
        graph.place_for(None)
    with pytest.raises(ValueError, match="cannot run under tracing"):
        jax.jit(lambda a: graph.reachable(a, [True], engine="host"))(arena)
    with pytest.raises(ValueError, match="booleans under tracing, got int32"):
        jax.jit(lambda s: graph.reachable(arena, s))(jnp.array([0], jnp.int32))
