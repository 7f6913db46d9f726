"""The device verifier against the host verifier, on right and on spoilt solutions."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames import Arena, Status, generate, ops, parity
from jaxgames.parity import Reason, Solution, reference
from jaxgames.testing import odd_arenas

# Player 0 wins 0 and 1 (loop on 0); player 1 wins 2 and 3.
GAME = Arena.from_edges(
    [0, 0, 1, 2, 3, 3], [0, 2, 0, 3, 2, 0], owner=[0, 1, 0, 1], priority=[2, 1, 3, 4]
)
GOOD = {"winner": [0, 0, 0, 0], "strategy": [0, -1, 3, -1]}


def solution(winner, strategy) -> Solution:
    return Solution(
        Status.SOLVED, winner=np.array(winner, np.int8), strategy=np.array(strategy)
    )


def test_accepts():
    verdict = parity.verify(GAME, solution(**GOOD))
    assert verdict
    assert (int(verdict.reason), int(verdict.vertex)) == (Reason.OK, -1)


@pytest.mark.parametrize(
    ("change", "reason", "vertex"),
    [
        ({"winner": [0, -1, 0, 0]}, Reason.UNDECIDED, 1),
        ({"winner": [0, 2, 0, 0]}, Reason.UNDECIDED, 1),
        ({"strategy": [0, -1, -1, -1]}, Reason.STRATEGY_MISSING, 2),
        ({"strategy": [2, -1, 3, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 0),
        ({"strategy": [0, -1, 99, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 2),
        ({"strategy": [-7, -1, 3, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 0),
        ({"strategy": [0, 2, 3, -1]}, Reason.STRATEGY_OF_LOSER, 1),
        ({"winner": [0, 0, 0, 1], "strategy": [0, -1, 3, 4]},
         Reason.STRATEGY_LEAVES_REGION, 2),
        ({"winner": [1, 0, 0, 0], "strategy": [-1, -1, 3, -1]},
         Reason.OPPONENT_ESCAPES, 0),
    ],
)  # fmt: skip
def test_rejects(change, reason, vertex):
    spoilt = solution(**{**GOOD, **change})
    verdict = parity.verify(GAME, spoilt)
    assert not verdict
    assert (int(verdict.reason), int(verdict.vertex)) == (reason, vertex)
    assert str(verdict).startswith(f"vertex {vertex}: ")


def test_rejects_a_cycle_won_by_the_opponent():
    """Every single vertex is fine; the strategies run in a circle of priority 3."""
    game = Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 0, 0], priority=[0, 3, 2]
    )
    assert parity.verify(game, solution([0, 0, 0], [1, 2, 3]))
    verdict = parity.verify(game, solution([0, 0, 0], [0, 2, 3]))
    assert int(verdict.reason) == Reason.CYCLE_WON_BY_OPPONENT
    assert int(verdict.vertex) == 1


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_host_verifier_on_spoilt_solutions(seed):
    rng = np.random.default_rng(seed)
    seen = set()
    for arena in odd_arenas(seed=10 + seed, count=40, max_vertices=20):
        right = parity.solve(arena)
        for _ in range(6):
            winner, strategy = np.array(right.winner), np.array(right.strategy)
            vertex = rng.integers(len(winner))
            own = np.flatnonzero(strategy >= 0)
            kind = rng.integers(4 if len(own) else 2)
            if kind == 0:
                winner[vertex] ^= 1
            elif kind == 1:
                strategy[vertex] = rng.integers(-1, arena.shape[1])
            else:  # the likeliest to pass unnoticed: another edge of the same vertex
                vertex = own[rng.integers(len(own))]
                strategy[vertex] = rng.integers(
                    arena.row_ptr[vertex], arena.row_ptr[vertex + 1]
                )
            spoilt = dataclasses.replace(right, winner=winner, strategy=strategy)
            ours, host = parity.verify(arena, spoilt), reference.verify(arena, spoilt)
            assert bool(ours) == bool(host), (str(ours), str(host))
            seen.add(int(ours.reason))
    assert {Reason.OK, Reason.CYCLE_WON_BY_OPPONENT} < seen
    assert len(seen) >= 4


@pytest.mark.parametrize("fair", [True, False])
def test_in_slices(fair, monkeypatch):
    monkeypatch.setattr(ops, "SLICE_FROM", 0)
    arena = generate.elevator(3, fair=fair)
    right = parity.solve(arena)
    assert right.stats["layout"] == "slices"
    assert parity.verify(arena, right)
    winner = np.array(right.winner)
    winner[-1] ^= 1
    assert not parity.verify(arena, dataclasses.replace(right, winner=winner))


def test_under_jit():
    verify = jax.jit(parity.verify)
    assert verify(GAME, solution(**GOOD)).valid
    bad = verify(GAME, solution(GOOD["winner"], [0, -1, 3, 4]))
    assert (bool(bad.valid), int(bad.reason)) == (False, Reason.STRATEGY_OF_LOSER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": [0, 0, 0]}, r"solution.winner must have the arena's shape \(4,\)"),
        (
            {"strategy": [[0, -1, 3, -1]]},
            "solution.strategy must have the arena's shape",
        ),
        ({"strategy": [0.0, -1.0, 3.0, -1.0]}, "solution.strategy must hold integers"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        parity.verify(GAME, solution(**{**GOOD, **change}))
