"""The reductions on published games, where these lie at hand."""

from pathlib import Path

import numpy as np
import pytest
import undoing

from jaxgames import Arena, host
from jaxgames.parity import preprocess, reference

THESIS = Path(__file__).parents[4] / "shared/data/public/parity_thesis"
NAMES = [
    "cabp8",
    "ctlsbc8",
    "flctl7",
    "lifti4l",
    "nester5",
    "pdlbc8",
    "swp4_2r",
    "swp8_1i",
]

pytestmark = [
    pytest.mark.skipif(not THESIS.is_dir(), reason="the folder of games is not there"),
    pytest.mark.skipif(not host.can_compile(), reason="takes minutes without numba"),
]


def load(name):
    with np.load(THESIS / f"{name}.npz") as game:
        return Arena.from_csr(
            game["offsets"],
            game["targets"],
            owner=game["owner"],
            priority=game["priority"],
            condition="min even",
        )


def test_chains_of_model_checking():
    arena = load("ctlsbc8")
    reduced = preprocess.chains(arena)
    assert reduced.arena.shape[0] < arena.shape[0] / 200
    undoing.check(arena, reduced)


def test_nests_of_priorities():
    arena = load("nester5")
    compressed = preprocess.compress_priorities(arena)
    assert len(np.unique(compressed.arena.priority)) < len(np.unique(arena.priority))
    reduced = preprocess.apply(
        arena, ["propagate", "compress", "winning-cycles", "chains"]
    )
    assert reduced.arena.shape[0] < arena.shape[0] / 5
    undoing.check(arena, reduced)
    solution = preprocess.by_components(arena, reference.solve)
    assert solution.stats["calls"] < 10
    assert solution.stats["largest"] < arena.shape[0] / 10
    undoing.assert_valid(arena, solution.winner, solution.strategy)


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reduction", preprocess.REDUCTIONS)
def test_all(name, reduction):
    arena = load(name)
    undoing.check(arena, preprocess.REDUCTIONS[reduction](arena), (name, reduction))
