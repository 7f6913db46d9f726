"""Rounds that follow a few changes, instead of sweeps over all links."""

import jax.numpy as jnp
import numpy as np
import pytest
from programs import forget

from jaxgames import graph
from jaxgames.graph import MaxId, _front
from jaxgames.graph import _links as graph_links
from jaxgames.graph._solver import Subgraph
from jaxgames.ops import _slices


@pytest.fixture
def follows(monkeypatch):
    """Small graphs in slices, whose changes are followed in a little room."""
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(_slices, "SLICE_COST", 1)
    monkeypatch.setattr(_front, "FROM_CELLS", 0)
    monkeypatch.setattr(_front, "ROOMS", (40, 40))
    forget()
    yield
    forget()


def winding(seed: int, order: int = 0, size: int = 400):
    """A few long ways with steps back, through vertices in any order.

    In all orders the slices have the same sizes.
    """
    rng = np.random.default_rng(seed)
    tail = np.arange(size - 1)
    back = rng.integers(0, size, 12)
    tail = np.concatenate([tail, back, rng.integers(0, size, 60)])
    head = np.concatenate(
        [np.arange(1, size), np.maximum(back - rng.integers(1, 70, 12), 0)]
        + [np.minimum(tail[-60:] + rng.integers(1, 9, 60), size - 1)]
    )
    kept = rng.random(len(tail)) < 0.97
    rng = np.random.default_rng([seed, order])
    place = np.where(rng.random(size) < 0.1, rng.permutation(size), np.arange(size))
    place = np.argsort(np.argsort(place, kind="stable"), kind="stable")
    return csr(size, place[tail[kept]], place[head[kept]])


def csr(size, tail, head):
    order = np.argsort(tail, kind="stable")
    offsets = np.searchsorted(tail[order], np.arange(size + 1))
    return offsets.astype(np.int32), head[order].astype(np.int32)


@pytest.mark.parametrize(
    "solver",
    [
        MaxId(),
        MaxId(order="bfs"),
        pytest.param(MaxId(jumps="none"), marks=pytest.mark.sweep),
    ],
)
def test_components_are_the_same(solver, follows):
    near = 0
    for seed in range(6):
        rows = winding(seed % 2, seed)
        found = graph.scc(rows, solver)
        np.testing.assert_array_equal(found.labels, graph.scc(rows, "host").labels)
        near += int(found.stats["near"])
    assert near > 0


def test_few_rounds_do_as_well(follows, monkeypatch):
    monkeypatch.setattr(_front, "ROUNDS", 2)
    rows = winding(9)
    found = graph.scc(rows, MaxId(jumps="none"))
    np.testing.assert_array_equal(found.labels, graph.scc(rows, "host").labels)
    assert found.stats["near"] > 0


def on_a_path(changed: int, room: tuple[int, int], monkeypatch, back: int = 0):
    """Spread on a path of 300 vertices, after some have learnt of the first."""
    monkeypatch.setattr(_front, "ROOMS", room)
    size = 300
    tail = np.arange(size - 1)
    rows = csr(size, np.append(tail, [250] * back), np.append(tail + 1, range(back)))
    links = graph_links.prepare(graph.as_arena(rows))
    game = Subgraph(*links, jnp.ones(links.out.num_rows, bool))
    own = jnp.arange(links.out.num_rows, dtype=jnp.int32)
    above = own.at[1 : 1 + changed].set(0)
    found = _front.spread(game, None, (own, own), (above, own))
    return np.asarray(found.above)[:size], found


def test_a_change_goes_on_for_some_rounds(follows, monkeypatch):
    above, found = on_a_path(1, (40, 40), monkeypatch)
    rounds = int(found.rounds)
    assert rounds == _front.ROUNDS
    assert not found.still
    # Each round goes a step further; those beyond have what they had.
    expected = np.arange(300)
    expected[: rounds + 2] = 0
    np.testing.assert_array_equal(above, expected)
    monkeypatch.setattr(_front, "ROUNDS", 1000)
    above, found = on_a_path(1, (40, 40), monkeypatch)
    assert found.still
    assert not above.any()


def test_what_has_no_room_is_left_to_a_sweep(follows, monkeypatch):
    _, found = on_a_path(60, (40, 40), monkeypatch)
    assert (int(found.rounds), bool(found.still)) == (0, False)
    # A vertex on the way leads to more than there is room for.
    monkeypatch.setattr(_front, "ROUNDS", 1000)
    _, found = on_a_path(1, (40, 40), monkeypatch, back=100)
    assert 0 < int(found.rounds) < 290
    assert not found.still


def test_nothing_new_is_still(follows, monkeypatch):
    _, found = on_a_path(0, (40, 40), monkeypatch)
    assert found.still
    assert int(found.rounds) == 0
