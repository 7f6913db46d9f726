"""Weighted sums over links, in both layouts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import ops
from jaxgames.ops import _slices, _weights


def random_rows(rng, num_rows: int, num_targets: int):
    """Rows of very different degrees, some empty; offsets, targets and weights."""
    degree = rng.choice([0, 1, 3, 40, 300], num_rows, p=[0.2, 0.4, 0.3, 0.05, 0.05])
    offsets = np.append(0, np.cumsum(degree)).astype(np.int32)
    targets = rng.integers(0, num_targets, offsets[-1]).astype(np.int32)
    return offsets, targets, rng.random(offsets[-1])


@pytest.mark.parametrize("sliced", [False, True, "there"])
def test_sums_are_numpys(sliced, monkeypatch):
    if sliced == "there":  # laid out by a device
        monkeypatch.setattr(_weights, "accelerated", lambda: True)
    if sliced:
        monkeypatch.setattr(_slices, "SLICE_FROM", 1)
        monkeypatch.setattr(_slices, "SLICE_COST", 8)
    rng = np.random.default_rng(0)
    for num_rows in (1, 60):
        offsets, targets, values = random_rows(rng, num_rows, 50)
        if len(targets) == 0:
            offsets, targets, values = np.array([0, 1]), np.array([3]), np.ones(1)
        links = ops.links(offsets, targets, 50)
        assert isinstance(links, ops.SlicedLinks) == bool(sliced)
        if sliced and num_rows > 1:
            assert len(links.blocks) > 2
        x = rng.random(50)
        rows = np.repeat(np.arange(num_rows), np.diff(offsets))
        expected = np.bincount(rows, values * x[targets], num_rows)
        with jax.enable_x64(True):
            laid_out = ops.on_links(links, offsets, values)
            found = jax.jit(ops.links_sum)(links, x, tuple(laid_out))
            assert found.dtype == np.float64
            found = np.asarray(found)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        # What is no link weighs nothing.
        assert sum(np.asarray(w).sum() for w in laid_out) == pytest.approx(values.sum())


def test_rows_and_targets_that_are_not_there():
    none = ops.links(np.array([0, 0, 0]), np.zeros(0, np.int32), 0)
    weights = tuple(
        map(jnp.asarray, ops.on_links(none, np.zeros(3, np.int32), np.zeros(0)))
    )
    assert ops.links_sum(none, jnp.zeros(0), weights).tolist() == [0, 0]


@pytest.mark.parametrize("sliced", [False, True])
def test_extremes_of_real_numbers(sliced, monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 1 if sliced else 100)
    rows = ops.links(np.array([0, 2, 2]), np.array([0, 1]), 2)
    extremes = jax.jit(lambda *x: (ops.links_max(*x), ops.links_min(*x)))
    most, least = extremes(rows, np.array([0.5, -1.5], np.float32))
    assert most.tolist() == [0.5, -np.inf]
    assert least.tolist() == [-1.5, np.inf]


def test_some_rows_alone(monkeypatch):
    """Sums of rows that are picked, some of them twice and some of none."""
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(_slices, "SLICE_COST", 16)  # several slices
    rng = np.random.default_rng(4)
    offsets = np.append(0, np.cumsum(rng.integers(0, 5, 200))).astype(np.int32)
    targets = rng.integers(0, 30, offsets[-1]).astype(np.int32)
    links = ops.links(offsets, targets, 30)
    assert isinstance(links, ops.SlicedLinks)
    assert len(links.blocks) > 2
    values, x = rng.random(len(targets)), rng.random(30)
    weights = tuple(ops.on_links(links, offsets, values))

    @jax.jit
    def sums(links, weights, rows, x):
        alone = ops.picked(links, weights, rows)
        assert alone is not None
        return ops.links_sum(alone[0], x, alone[1])

    rows = np.array([3, 199, 3, 200, 0, 17, 250, 64])
    with jax.enable_x64(True):
        found = np.asarray(sums(links, weights, rows, x))
    ends = [(offsets[r], offsets[r + 1]) if r < 200 else (0, 0) for r in rows]
    wanted = [sum(values[e] * x[targets[e]] for e in range(*ends_)) for ends_ in ends]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # As wide as the widest row they would be no fewer than all.
    assert ops.picked(links, weights, np.zeros(200, np.int32)) is None
