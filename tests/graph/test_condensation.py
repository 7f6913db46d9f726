"""The graph of components, and facts about each."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import networkx
import numpy as np
import odd_graphs
import pytest

from jaxgames import Arena, graph
from jaxgames.graph import host


def components(masked):
    labels = masked.labels
    return SimpleNamespace(labels=labels, count=int(labels.max(initial=-1)) + 1)


def network(masked):
    """The graph as networkx has it; loops and all."""
    found = networkx.DiGraph()
    found.add_nodes_from(np.flatnonzero(masked.inside).tolist())
    found.add_edges_from(np.argwhere(masked.matrix).tolist())
    return found


@pytest.mark.parametrize("given", [False, True])
def test_against_networkx(given):
    for masked in odd_graphs.graphs(seed=0, count=150):
        arena, vertices, edges = masked
        parts = graph.condensation(
            arena,
            components(masked) if given else None,
            vertices=vertices,
            edges=edges,
        )
        expected = networkx.condensation(network(masked))
        number = {
            c: int(masked.labels[min(data["members"])])
            for c, data in expected.nodes(data=True)
        }
        pairs = {(number[c], number[d]) for c, d in expected.edges}
        assert sorted(pairs) == sorted(odd_graphs.pairs_of_vertices(parts.arena))
        assert parts.count == len(number) == parts.arena.shape[0]
        np.testing.assert_array_equal(parts.labels, masked.labels)
        for c, data in expected.nodes(data=True):
            members = parts.members(number[c])
            assert members.tolist() == sorted(data["members"])


def test_each_edge_stands_for_the_first():
    for masked in odd_graphs.graphs(seed=1, count=100):
        arena, vertices, edges = masked
        parts = graph.condensation(arena, vertices=vertices, edges=edges)
        label = parts.labels
        tail, head = label[arena.src], label[arena.dst]
        for (c, d), e in zip(
            odd_graphs.pairs_of_vertices(parts.arena), parts.edge, strict=True
        ):
            between = (tail == c) & (head == d)
            if edges is not None:
                between &= edges
            assert e == np.flatnonzero(between)[0]


def test_the_order_is_topological():
    for masked in odd_graphs.graphs(seed=2, count=100):
        parts = graph.condensation(*masked[:1], None, vertices=masked.vertices)
        place = np.argsort(parts.order)
        assert sorted(parts.order) == list(range(parts.count))
        assert (place[parts.arena.src] < place[parts.arena.dst]).all()
        sources = np.setdiff1d(np.arange(parts.count), parts.arena.dst)
        np.testing.assert_array_equal(parts.order[: len(sources)], sources)


def test_members_and_repr():
    parts = graph.condensation(([0, 1, 3, 4], [1, 0, 2, 2]))
    assert repr(parts) == "Condensation(2 components, 1 edges)"
    with pytest.raises(ValueError, match="component must be from 0 to 1, got 2"):
        parts.members(2)


def test_wrong_components():
    two = ([0, 1, 3, 4], [1, 0, 2, 2])
    wrong = SimpleNamespace(labels=np.array([0, 1, 2]), count=3)
    with pytest.raises(
        ValueError, match="cycle leads through several of them, to .* 0"
    ):
        graph.condensation(two, wrong)
    for found, message in (
        (SimpleNamespace(labels=np.array([0, 0, 2]), count=2), r"labels\[2\] is 2"),
        (
            SimpleNamespace(labels=np.array([0, 0]), count=1),
            r"labels must hold integers of shape \(3,\)",
        ),
    ):
        for function in (graph.condensation, graph.bottom_sccs, graph.is_trivial):
            with pytest.raises(ValueError, match=message):
                function(two, found)
    arena = graph.as_arena(two)
    with pytest.raises(ValueError, match="condensation runs on the host, not under"):
        jax.jit(lambda a: graph.condensation(a).edge)(arena)
    with pytest.raises(ValueError, match="components must be given"):
        jax.jit(lambda a: graph.bottom_sccs(a))(arena)


def facts(masked):
    """Bottom, trivial, and trivial but for a loop, from the closure."""
    reach, matrix, labels = masked.reach, masked.matrix, masked.labels
    found = []
    for c in range(labels.max(initial=-1) + 1):
        inside = labels == c
        bottom = not reach[inside][:, ~inside].any()
        single = inside.sum() == 1
        loop = matrix[inside][:, inside].any()
        found.append((bottom, single and not loop, single))
    return np.array(found, bool).reshape(-1, 3).T


def told(arena, parts=None, **masks):
    return [
        graph.bottom_sccs(arena, parts, **masks),
        graph.is_trivial(arena, parts, **masks),
        graph.is_trivial(arena, parts, self_loops=True, **masks),
    ]


def test_facts_about_components():
    for masked in odd_graphs.graphs(seed=3, count=200):
        masks = {"vertices": masked.vertices, "edges": masked.edges}
        expected = facts(masked)
        np.testing.assert_array_equal(told(masked.arena, **masks), expected)
        found = told(masked.arena, components(masked), **masks)
        np.testing.assert_array_equal(found, expected)


def test_facts_under_jit_and_vmap():
    def tell(masked, labels, count):
        parts = SimpleNamespace(labels=labels, count=count)
        return told(masked.arena, parts, vertices=masked.vertices, edges=masked.edges)

    batch = [odd_graphs.full(m) for m in odd_graphs.graphs(4, 12, pad=True)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *batch)
    parts = [components(masked) for masked in batch]
    together = jax.jit(jax.vmap(tell))(
        stacked,
        jnp.stack([part.labels for part in parts]),
        jnp.array([part.count for part in parts]),
    )
    for index, masked in enumerate(batch):
        found = np.stack([np.asarray(fact[index]) for fact in together])
        np.testing.assert_array_equal(found[:, : parts[index].count], facts(masked))
        assert not found[:, parts[index].count :].any()


def test_a_long_path_of_components():
    size = 3000
    path = Arena.from_edges(
        np.arange(1, size), np.arange(size - 1), owner=[0] * size, dead_ends="allow"
    )
    parts = graph.condensation(path)
    np.testing.assert_array_equal(parts.order, np.arange(size)[::-1])
    assert np.flatnonzero(graph.bottom_sccs(path)).tolist() == [0]
    assert graph.is_trivial(path).all()
    assert host.reachable(path, [size - 1]).all()
