"""The check of components: it takes right ones, and no others."""

import itertools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import odd_graphs
import pytest

from jaxgames import Arena, graph, ops
from jaxgames.graph import Directions, Reason, _verify
from jaxgames.ops import _slices

ENGINES = ["host", "device"]


def components(labels):
    return SimpleNamespace(labels=labels, count=labels.max(initial=-1) + 1)


def verdicts(masked, found):
    """What both engines say; they must agree."""
    arena, vertices, edges = masked
    both = [
        graph.verify(arena, found, vertices=vertices, edges=edges, engine=engine)
        for engine in ENGINES
    ]
    assert str(both[0]) == str(both[1])
    return both[0]


def test_right_components_pass():
    for masked in odd_graphs.graphs(seed=0, count=20):
        assert verdicts(masked, components(masked.labels))
        assert verdicts(masked, masked.labels)


def test_rows_in_slices(monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    for masked in odd_graphs.graphs(seed=1, count=4):
        assert verdicts(masked, masked.labels)


def test_links_made_on_the_device():
    # From each vertex twice round a cycle; 5 and 6 go there, and to one another.
    ahead = jnp.array([[1, 2, 3, 4, 0, 6, 0], [2, 3, 4, 0, 1, 0, 5]], jnp.int32)
    back = [[4, 0, 1, 2, 3, 6, 5], [3, 4, 0, 1, 2, 7, 7], [5] + [7] * 6, [6] + [7] * 6]
    made = Directions(
        ops.regular(ahead), ops.regular(jnp.array(back, jnp.int32), num_targets=7)
    )
    found = graph.scc(made, "max_id")
    for labels in (found, np.array([0, 0, 0, 0, 0, 1, 1]), found.labels):
        assert graph.verify(made, labels)
    wrong = graph.verify(made, jnp.zeros(7, jnp.int32))
    assert (wrong.reason, wrong.vertex) == (Reason.NOT_REACHED, 5)
    wrong = graph.verify(made, np.array([0, 0, 0, 0, 0, 1, 2]))
    assert (wrong.reason, wrong.vertex) == (Reason.CYCLE_OF_COMPONENTS, 5)
    wrong = graph.verify(made, np.array([0, 0, 0, 0, 0, 1, 2**32 + 1]))
    assert (wrong.reason, wrong.vertex) == (Reason.LABEL_OUT_OF_RANGE, 6)
    alive = np.arange(7) != 6
    labels = np.array([0, 0, 0, 0, 0, 1, -1])
    assert graph.verify(made, labels, vertices=alive)
    check = jax.jit(lambda made, labels: graph.verify(made, labels).valid)
    assert check(made, found.labels)
    assert not check(made, jnp.zeros(7, jnp.int32))
    with pytest.raises(ValueError, match="engine='host' cannot check"):
        graph.verify(made, found, engine="host")


def test_a_deep_component_takes_few_rounds():
    size = 1000
    order = np.random.default_rng(5).permutation(size)
    tail, head = order, np.roll(order, -1)
    links = ops.pairs(head, tail, size, size)
    least, still, rounds = jnp.arange(size, dtype=jnp.int32), False, 0
    round_of = jax.jit(_verify.nearer)
    while not still:
        least, still = round_of(links, least)
        rounds += 1
    assert (np.asarray(least) == 0).all()
    assert rounds < 25


def in_order(labels):
    """The same partition, numbered by smallest vertices."""
    kept = labels >= 0
    found, first = np.unique(labels[kept], return_index=True)
    number = np.empty(labels.max(initial=0) + 1, np.int32)
    number[found[np.argsort(first)]] = np.arange(len(found))
    return np.where(kept, number[labels], -1).astype(np.int32)


def merge(rng, labels):
    one, other = rng.choice(np.unique(labels[labels >= 0]), 2, replace=False)
    return np.where(labels == one, other, labels)


def split(rng, labels):
    sizes = np.bincount(labels[labels >= 0])
    members = np.flatnonzero(labels == rng.choice(np.flatnonzero(sizes > 1)))
    apart = rng.choice(members, rng.integers(1, len(members)), replace=False)
    labels = labels.copy()
    labels[apart] = labels.max() + 1
    return labels


def move(rng, labels):
    labels = labels.copy()
    v = rng.choice(np.flatnonzero(labels >= 0))
    labels[v] = rng.choice(np.setdiff1d(labels, [-1, labels[v]]))
    return labels


def swap(rng, labels):
    """Two vertices of different components change places."""
    labels = labels.copy()
    one = rng.choice(np.flatnonzero(labels >= 0))
    other = rng.choice(np.flatnonzero((labels >= 0) & (labels != labels[one])))
    labels[[one, other]] = labels[[other, one]]
    return labels


IN_NUMBERS = {Reason.NUMBERED_OUT_OF_ORDER, Reason.WRONG_COUNT}
IN_GRAPH = {Reason.NOT_REACHED, Reason.NOT_REACHING, Reason.CYCLE_OF_COMPONENTS}


@pytest.mark.parametrize("mutate", [merge, split, move, swap])
def test_mutants_are_found(mutate):
    """Numbered in order again, what is wrong is the partition."""
    rng = np.random.default_rng(0)
    found = set()
    for masked in odd_graphs.graphs(seed=2, count=100):
        labels, sizes = masked.labels, np.bincount(masked.labels[masked.labels >= 0])
        if len(sizes) < 2 or sizes.max() < 2:
            continue
        mutant = in_order(mutate(rng, labels))
        if (mutant == labels).all():  # two single vertices have changed places
            continue
        verdict = verdicts(masked, components(mutant))
        assert not verdict
        assert int(verdict.reason) in IN_GRAPH
        assert masked.inside[verdict.vertex]
        found.add(Reason(int(verdict.reason)))
    expected = {split: {Reason.CYCLE_OF_COMPONENTS}, merge: IN_GRAPH - {8}}
    assert found >= expected.get(mutate, IN_GRAPH - {8})


def test_every_labelling_of_small_graphs():
    tried = 0
    for masked in odd_graphs.graphs(seed=3, count=30, largest=3):
        size = masked.arena.shape[0]
        if size > 3:
            continue
        for labels in itertools.product(range(-2, 4), repeat=size):
            labels = np.array(labels, np.int32)
            verdict = graph.verify(
                masked.arena,
                labels,
                vertices=masked.vertices,
                edges=masked.edges,
                engine="host",
            )
            assert bool(verdict) == bool((labels == masked.labels).all())
            tried += 1
    assert tried > 1000


def reason(labels, count=None, **masks):
    """Of labels for 0 <-> 1 -> 2, both engines."""
    arena = Arena.from_csr([0, 1, 3, 3], [1, 0, 2], owner=[0] * 3, dead_ends="allow")
    labels = np.array(labels)
    found = labels if count is None else SimpleNamespace(labels=labels, count=count)
    masked = odd_graphs.Masked(arena, masks.get("vertices"), masks.get("edges"))
    verdict = verdicts(masked, found)
    return Reason(int(verdict.reason)), int(verdict.vertex)


def test_reasons():
    assert reason([0, 0, 1], 2) == (Reason.OK, -1)
    assert reason([0, 0, -2]) == (Reason.LABEL_OUT_OF_RANGE, 2)
    assert reason([0, 0, 3]) == (Reason.LABEL_OUT_OF_RANGE, 2)
    assert reason([0, 0, 2**32 + 1]) == (Reason.LABEL_OUT_OF_RANGE, 2)
    assert reason([0, 0, 1], 1) == (Reason.LABEL_OUT_OF_RANGE, 2)
    assert reason([0, -1, 1]) == (Reason.LABEL_MISSING, 1)
    assert reason([1, 1, 0]) == (Reason.NUMBERED_OUT_OF_ORDER, 0)
    assert reason([0, 0, 2]) == (Reason.NUMBERED_OUT_OF_ORDER, 2)
    assert reason([0, 0, 1], 3) == (Reason.WRONG_COUNT, -1)
    assert reason([0, 0, 0]) == (Reason.NOT_REACHING, 2)
    assert reason([0, 1, 2]) == (Reason.CYCLE_OF_COMPONENTS, 0)
    assert reason([0, 1, 1]) == (Reason.NOT_REACHING, 2)
    two = np.array([True, True, False])
    assert reason([0, 0, 1], vertices=two) == (Reason.LABEL_OF_NO_VERTEX, 2)
    assert reason([0, 0, -1], 1, vertices=two) == (Reason.OK, -1)
    forward = np.array([True, False, True])
    assert reason([0, 0, 1], edges=forward) == (Reason.NOT_REACHING, 1)
    assert reason([0, 1, 2], edges=forward) == (Reason.OK, -1)


def test_under_jit_and_vmap():
    arena = Arena.from_csr([0, 1, 3, 3], [1, 0, 2], owner=[0] * 3, dead_ends="allow")
    labellings = np.array(list(itertools.product(range(-1, 3), repeat=3)), np.int32)
    check = jax.jit(
        jax.vmap(lambda labels, arena: graph.verify(arena, labels), (0, None))
    )
    together = check(labellings, arena)
    valid = labellings[np.asarray(together.valid)]
    np.testing.assert_array_equal(valid, [[0, 0, 1]])
    for index, labels in enumerate(labellings):
        alone = graph.verify(arena, labels, engine="host")
        assert (alone.reason, alone.vertex) == (
            together.reason[index],
            together.vertex[index],
        )
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(lambda labels: bool(graph.verify(arena, labels)))(labellings[0])


def test_batches_of_graphs():
    batch = [odd_graphs.full(m) for m in odd_graphs.graphs(4, 8, pad=True)]
    stacked = jax.tree.map(lambda *x: np.stack(x), *batch)
    labels = np.stack([masked.labels for masked in batch])

    def check(masked, labels):
        return graph.verify(
            masked.arena, labels, vertices=masked.vertices, edges=masked.edges
        )

    assert jax.jit(jax.vmap(check))(stacked, labels).valid.all()


def test_wrong_calls():
    arena = Arena.from_csr([0, 1], [0], owner=[0])
    with pytest.raises(ValueError, match=r"labels must hold integers of shape \(1,\)"):
        graph.verify(arena, np.array([0, 1]))
    with pytest.raises(ValueError, match="labels must hold integers.* float64"):
        graph.verify(arena, np.array([0.0]))
    with pytest.raises(ValueError, match="cannot run under tracing"):
        jax.jit(lambda a: graph.verify(a, [0], engine="host").valid)(arena)
