"""Checks of reachable vertices and attractors take what is right, and nothing else."""

import numpy as np
import pytest

from jaxgames import Arena, graph
from jaxgames.graph import Attractor, ReachReason, reference


def _arena(seed: int) -> tuple[Arena, np.ndarray, np.random.Generator]:
    draw = np.random.default_rng(seed)
    size, edges = int(draw.integers(1, 9)), int(draw.integers(0, 20))
    src, dst = draw.integers(0, size, (2, edges))
    owner = draw.integers(0, 2, size)
    arena = Arena.from_edges(src, dst, owner=owner, dead_ends="allow")
    return arena, draw.random(size) < 0.3, draw


@pytest.mark.parametrize("seed", range(40))
def test_attractors(seed):
    arena, target, draw = _arena(seed)
    player = seed % 2
    right = reference.attractor(arena, target, player)
    assert graph.verify_attractor(arena, right, target, player)
    padded = arena.pad()
    found = graph.attractor(padded, np.resize(target, padded.shape[0]), player)
    both = padded, found, np.resize(target, padded.shape[0]), player
    assert graph.verify_attractor(*both)
    # Anything else is wrong, but for a strategy of the same worth.
    v = int(draw.integers(arena.shape[0]))
    flipped = right.mask.copy()
    flipped[v] ^= True
    assert not graph.verify_attractor(
        arena, right._replace(mask=flipped), target, player
    )
    rank = right.rank.copy()
    rank[v] += 1
    verdict = graph.verify_attractor(arena, right._replace(rank=rank), target, player)
    assert not verdict
    strategy = right.strategy.copy()
    strategy[v] = draw.integers(-1, arena.shape[1] + 1)
    e = strategy[v]
    fine = e == right.strategy[v] or (
        right.strategy[v] >= 0
        and 0 <= e < arena.shape[1]
        and arena.src[e] == v
        and right.rank[arena.dst[e]] == right.rank[v] - 1
    )
    other = right._replace(strategy=strategy)
    assert bool(graph.verify_attractor(arena, other, target, player)) == fine


def test_what_keeps_itself_up_is_no_attractor():
    # Ranks that run in a circle far from the target.
    arena = Arena.from_edges([0, 1, 2], [1, 0, 2], owner=[0, 0, 0])
    none = np.full(3, -1, np.int32)
    for rank in ([1, 1, 0], [2, 1, 0], [1, 2, 0]):
        mask = np.array([True, True, True])
        strategy = np.array([0, 1, -1], np.int32)
        found = Attractor(mask, strategy, np.array(rank, np.int32))
        verdict = graph.verify_attractor(arena, found, [2], 0)
        assert not verdict
    assert verdict.reason in (ReachReason.TOO_MUCH, ReachReason.WRONG_RANK)
    found = Attractor(np.array([False, False, True]), none, np.array([-1, -1, 0]))
    assert graph.verify_attractor(arena, found, [2], 0)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("backward", [False, True])
def test_reachable_vertices(seed, backward):
    arena, sources, draw = _arena(seed)
    right = reference.reachable(arena, sources, backward=backward)
    assert graph.verify_reachable(arena, right, sources, backward=backward)
    v = int(draw.integers(arena.shape[0]))
    wrong = right.copy()
    wrong[v] ^= True
    verdict = graph.verify_reachable(arena, wrong, sources, backward=backward)
    why = ReachReason.MISSED if right[v] else ReachReason.TOO_MUCH
    assert (verdict.reason, verdict.vertex) == (why, v)


def test_bad_input_is_told():
    arena = Arena.from_edges([0], [0], owner=[0])
    with pytest.raises(ValueError, match=r"found must hold booleans of shape \(1,\)"):
        graph.verify_reachable(arena, [0], [0])
    found = graph.attractor(arena, [0], 0)
    with pytest.raises(ValueError, match="player must be 0 or 1"):
        graph.verify_attractor(arena, found, [0], 2)
    with pytest.raises(ValueError, match="found must be an Attractor.*got NoneType"):
        graph.verify_attractor(arena, None, [0], 0)
    with pytest.raises(ValueError, match="rank must hold integers"):
        graph.verify_attractor(arena, found._replace(rank=[0.5]), [0], 0)
