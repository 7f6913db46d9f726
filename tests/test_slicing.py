"""Rows into slices: on the host, without its compiler, and on a device, the same."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, generate, host, ops
from jaxgames.arena import bucket
from jaxgames.graph import _links as graph_links
from jaxgames.mdp import _layout as mdp_layout
from jaxgames.ops import (
    _prepare,
    _rows,
    _sliced_device,
    _sliced_host,
    _slices,
)


@pytest.fixture(autouse=True)
def several_slices(monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(_slices, "SLICE_COST", 50)


@pytest.fixture(scope="module")
def arena():
    """A game with rows of all lengths, dead ends, padding, and all labels."""
    rng = np.random.default_rng(5)
    degree = rng.integers(0, 4, 70)
    degree[7], degree[11] = 40, 90
    edges = degree.sum()
    labels = {
        "priority": rng.integers(0, 9, 70, dtype=np.int32),
        "accepting": rng.random(70) < 0.3,
        "edge_priority": rng.integers(0, 9, edges, dtype=np.int32),
        "weight": rng.integers(-9, 9, edges, dtype=np.int32),
    }
    return Arena.from_csr(
        np.append(0, np.cumsum(degree)),
        rng.integers(0, 70, edges),
        owner=rng.random(70) < 0.5,
        dead_ends="allow",
        **labels,
    ).pad(75, edges + 40)


def same(found, expected):
    leaves, tree = jax.tree.flatten(expected)
    others, other_tree = jax.tree.flatten(found)
    assert tree == other_tree
    for x, y in zip(others, leaves, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("shares", [None, 3])
def test_every_way_gives_the_same(arena, shares, monkeypatch):
    rows = arena.row_ptr, arena.dst, 75

    def found():
        arenas = _sliced_host.slice_rows(arena, shares)
        return arenas, _sliced_host.sliced_links(*rows, shares)

    expected = found()
    assert len(expected[0].blocks) > 2
    monkeypatch.setattr(_sliced_host, "can_compile", lambda: False)
    same(found(), expected)
    monkeypatch.setattr(_sliced_host, "can_compile", lambda: True)
    with host.interpreted():
        same(found(), expected)


def test_slices_of_a_device_are_those_of_the_host(arena, monkeypatch):
    there = jax.device_put(arena)
    arenas = [dataclasses.replace(x) for x in (arena, arena, there)]
    expected = ops.prepare(arenas[0]), graph_links.prepare(arenas[0])
    for module in (_prepare, _rows):
        monkeypatch.setattr(module, "accelerated", lambda: True)
    monkeypatch.setattr(_sliced_device, "PIECE", 1)  # as if all of it was large
    for other, wide in zip(arenas[1:], (False, True), strict=True):
        with jax.enable_x64(wide):
            found = ops.prepare(other), graph_links.prepare(other)
        same(found, expected)


@pytest.mark.parametrize("size", [4097, 4700, 5119, 5120])
@pytest.mark.parametrize("least", [4 * 5120, 4 * 2560, 4 * 1024, 1])
@pytest.mark.parametrize("most", [3, 8, 16])
def test_large_arrays_are_sent_in_pieces(size, least, most, monkeypatch):
    monkeypatch.setattr(_sliced_device, "PIECE", least)
    monkeypatch.setattr(_sliced_device, "PIECES", most)
    x = np.arange(size, dtype=np.int32)
    length = bucket(size)
    pieces = _sliced_device.sent(x, length, -1)
    if size < length:
        *own, last, end = [0, *map(len, pieces)]
        assert (end, sum(own) + last) == (512, length - 512)
        assert len(own) <= most
        assert all(4 * piece >= least for piece in own[1:])
        assert {last, *own[1:]} == {512} or least > 2048 or most < 16
    joined = np.concatenate(pieces)
    np.testing.assert_array_equal(joined, np.append(x, np.full(length - size, -1)))


def test_small_arrays_are_sent_in_one_piece():
    (piece,) = _sliced_device.sent(np.arange(9, dtype=np.int8), 16, 3)
    np.testing.assert_array_equal(piece, np.append(np.arange(9), np.full(7, 3)))


def test_rows_of_links():
    rows = _sliced_device.rows_of(jnp.array([0, 0, 2, 3, 3]), 4)
    assert rows.tolist() == [1, 1, 2, 4]


def test_pairs_of_a_device_are_those_of_the_host(arena, monkeypatch):
    expected = ops.listed(arena.row_ptr, arena.dst, 75)
    monkeypatch.setattr(_rows, "accelerated", lambda: True)
    same(ops.listed(arena.row_ptr, arena.dst, 75), expected)


@pytest.mark.parametrize("there", [False, True])
def test_pairs_of_rows_that_are_filled_up(arena, there, monkeypatch):
    monkeypatch.setattr(_rows, "accelerated", lambda: there)
    longer = np.pad(arena.row_ptr, (0, 9), "edge")
    expected = ops.listed(longer, arena.dst, 75)
    same(ops.listed(arena.row_ptr, arena.dst, 75, len(longer) - 1), expected)


def test_similar_rows_have_common_shapes(monkeypatch):
    """So that what was compiled for some of them serves most others."""
    monkeypatch.undo()
    plans = {"games": [], "links": []}
    for seed in range(6):
        rows = np.bincount(np.random.default_rng(seed).poisson(1.5, 1_000_000) + 1)
        degrees = np.arange(len(rows))
        for kind, (plan, counts) in {
            "games": _slices.plan_rows(degrees, rows, bucket, spare=1),
            "links": _slices.plan_links(degrees, rows),
        }.items():
            spare = [kind == "games"] + [0] * (len(counts) - 1)
            assert counts.sum() == 1_000_000
            assert np.all(plan.sizes >= counts + spare)
            assert np.dot(plan.widths, plan.sizes) < 1.12 * degrees @ rows
            plans[kind].append(plan)
    for found in plans.values():
        assert len(set(found)) < 4


def test_rows_that_are_all_alike_are_read_once():
    for degree, rows in ((5, 1 << 20), (17, 1 << 16), (100, 1 << 12), (700, 1 << 10)):
        plan, _ = _slices.plan_links(np.array([degree]), np.array([rows]))
        assert np.dot(plan.widths, plan.sizes) <= max(1.02, 768 / 700) * degree * rows


def test_models_are_laid_out_on_a_device_as_on_the_host(monkeypatch):
    monkeypatch.setattr(ops, "SLICE_FROM", 0)
    model = generate.random_mdp(1, 40)
    expected = mdp_layout.prepare(model, graph=True)
    monkeypatch.setattr(_rows, "accelerated", lambda: True)
    found = mdp_layout.prepare(dataclasses.replace(model), graph=True)
    for name in ("into", "entering", "out", "targets"):  # filled up at the end
        values = np.asarray(getattr(expected.rows, name))
        others = np.asarray(getattr(found.rows, name))
        np.testing.assert_array_equal(others[: len(values)], values)
    same(
        dataclasses.replace(found, rows=None), dataclasses.replace(expected, rows=None)
    )


@pytest.mark.parametrize("compiles", [True, False])
def test_edges_come_to_the_host_as_positions(arena, compiles, monkeypatch):
    game = jax.device_put(_sliced_host.slice_rows(arena))
    rng = np.random.default_rng(2)
    degree = np.diff(arena.row_ptr)
    edge = arena.row_ptr[:-1] + (rng.random(75) * degree).astype(np.int32)
    edge[(degree == 0) | (rng.random(75) < 0.3)] = -1
    filled = jnp.asarray(np.pad(edge, (0, ops.num_vertices(game) - 75)))
    monkeypatch.setattr(_prepare, "accelerated", lambda: True)
    monkeypatch.setattr(_prepare, "can_compile", lambda: compiles)
    others = filled, (jnp.int8(3), None)
    found, others = ops.edges_on_host(game, filled, arena.row_ptr, others)
    np.testing.assert_array_equal(found, edge)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(others[0], filled)
    assert others[1] == (3, None)
    assert isinstance(others[0], np.ndarray)
