"""Sweeps over large games, which read no more than they must: on small ones."""

import dataclasses

import numpy as np
import pytest
from programs import forget

from jaxgames import generate, parity
from jaxgames.ops import _slices
from jaxgames.parity import _attract, _promotion, _zielonka
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._zielonka import Zielonka

SOLVERS = (PriorityPromotion(), PriorityPromotion(sweeps=3), Zielonka(sweeps=2))


@pytest.fixture
def asked(monkeypatch):
    """What sweeps are asked to read, of small games in slices."""
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    found = []

    def sweep(game, kind, foreign, where=None):
        found.append(where is not None)
        return _attract.sweep(game, kind, foreign, where)

    for module in (_promotion, _zielonka):
        monkeypatch.setattr(module, "sweep", sweep)
    forget()
    yield found
    forget()


def games():
    sizes = (150, 2), (240, 4)
    for seed in range(8):
        size, degree = sizes[seed % 2]
        # Two graphs, of which each layout is compiled for once, and who owns what.
        arena = generate.random_game(seed % 2, size, max_degree=degree)
        rng = np.random.default_rng(seed)
        yield dataclasses.replace(
            arena,
            owner=rng.random(size) < 0.5,
            priority=rng.integers(2 + seed, size=size, dtype=np.int32),
        )
    yield generate.recursive_ladder(12)
    yield generate.jurdzinski(3, 4)


@pytest.mark.parametrize(
    "solver",
    [
        # Several sweeps a step, which compile long, are tried of the other one.
        pytest.param(x, marks=[pytest.mark.sweep] * (x == PriorityPromotion(sweeps=3)))
        for x in SOLVERS
    ],
    ids=str,
)
def test_reads_little_and_finds_the_same(solver, asked, monkeypatch):
    whole = [parity.solve(game, solver) for game in games()]
    assert set(asked) == {False}
    asked.clear()
    forget()
    monkeypatch.setattr(_attract, "READS_LITTLE_FROM", 0)
    for game, expected in zip(games(), whole, strict=True):
        found = parity.solve(game, solver)
        np.testing.assert_array_equal(found.winner, expected.winner)
        np.testing.assert_array_equal(found.strategy, expected.strategy)
        assert found.stats["rounds"] == expected.stats["rounds"]
        verdict = parity.verify(game, found)
        assert verdict, verdict
    assert set(asked) == {True}
