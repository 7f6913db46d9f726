"""Attractors on both engines, against all positional strategies, and under jit."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import odd_graphs
import pytest

from jaxgames import Arena, graph
from jaxgames.graph import host, reference
from jaxgames.ops import _slices

FAR = 99
"""Moves of a play that never gets there."""


def successors(masked, edges=None):
    """Edges of each vertex that there are; of the given edges only."""
    arena, inside = masked.arena, masked.inside
    rows = [[] for _ in inside]
    for e, (u, v) in enumerate(odd_graphs.pairs_of_vertices(arena)):
        if inside[u] and inside[v] and (edges is None or e in edges):
            rows[u].append(e)
    return rows


def strategies(masked, player):
    """All ways to choose an edge wherever a player moves and has one."""
    rows = successors(masked)
    own = [row for v, row in enumerate(rows) if masked.arena.owner[v] == player and row]
    return list(itertools.product(*own))


def moves(masked, target, choice):
    """Moves until a play visits the target, from each vertex; FAR if it never does."""
    arena = masked.arena
    move = {int(arena.src[e]): int(arena.dst[e]) for e in choice}
    found = np.full(arena.shape[0], FAR)
    for start in np.flatnonzero(masked.inside):
        v = int(start)
        for steps in range(arena.shape[0] + 1):
            if target[v]:
                found[start] = steps
                break
            if v not in move:
                break
            v = move[v]
    return found


def brute_force(masked, target, player):
    """Ranks: what the player's best strategy makes of the worst for it."""
    mine, yours = strategies(masked, player), strategies(masked, 1 - player)
    worst = [
        np.max([moves(masked, target, (*s, *t)) for t in yours], axis=0) for s in mine
    ]
    rank = np.min(worst, axis=0)
    return np.where((rank == FAR) | ~masked.inside, -1, rank)


def check(masked, target, player, won, rank):
    """Compares ranks, and lets the strategy play against all others."""
    arena = masked.arena
    np.testing.assert_array_equal(won.rank, rank)
    np.testing.assert_array_equal(won.mask, rank >= 0)
    strategy = np.asarray(won.strategy)
    has = strategy >= 0
    np.testing.assert_array_equal(has, (rank > 0) & (arena.owner == player))
    assert (arena.src[strategy[has]] == np.flatnonzero(has)).all()
    for v in np.flatnonzero(has):
        downward = [
            e for e in successors(masked)[v] if rank[arena.dst[e]] == rank[v] - 1
        ]
        assert strategy[v] == downward[0]


def tiny(seed, count):
    for masked in odd_graphs.graphs(seed, count, largest=5):
        if masked.arena.shape[1] <= 12:
            yield masked._replace(edges=None)


def test_against_all_strategies():
    rng = np.random.default_rng(0)
    tried = 0
    for masked in tiny(seed=0, count=400):
        target = rng.random(masked.arena.shape[0]) < 0.3
        for player in (0, 1):
            if len(strategies(masked, 0)) * len(strategies(masked, 1)) > 300:
                continue
            rank = brute_force(masked, target, player)
            how = {"vertices": masked.vertices}
            fast = host.attractor(masked.arena, target, player, **how)
            check(masked, target, player, fast, rank)
            won = reference.attractor(masked.arena, target, player, **how)
            check(masked, target, player, won, rank)
            np.testing.assert_array_equal(won.strategy, fast.strategy)
            # Whatever the other player does, the strategy needs no more than the rank.
            mine = [e for e in won.strategy if e >= 0]
            for theirs in strategies(masked, 1 - player):
                needed = moves(masked, target, (*mine, *theirs))
                assert (needed[won.mask] <= rank[won.mask]).all()
            tried += won.mask.sum() > (target & masked.inside).sum()
    assert tried > 50


@pytest.mark.parametrize("player", [0, 1])
def test_the_device_agrees(player):
    rng = np.random.default_rng(1)
    for masked in odd_graphs.graphs(seed=1, count=60):
        target = rng.random(masked.arena.shape[0]) < 0.2
        host, device = (
            graph.attractor(
                masked.arena, target, player, vertices=masked.vertices, engine=engine
            )
            for engine in ("host", "device")
        )
        jax.tree.map(np.testing.assert_array_equal, host, device)
        check(masked._replace(edges=None), target, player, device, host.rank)


@pytest.mark.parametrize(("engine", "count"), [("host", 100), ("device", 20)])
def test_in_so_many_moves(engine, count):
    """Ranks say who is near enough; those without a limit are checked above."""
    for masked in tiny(seed=4, count=count):
        arena, vertices, _ = masked
        rng = np.random.default_rng(arena.shape[0])
        target = rng.random(arena.shape[0]) < 0.3
        for player in (0, 1):
            how = {"vertices": vertices, "engine": engine}
            whole = graph.attractor(arena, target, player, **how)
            for most in range(4):
                part = graph.attractor(arena, target, player, **how, max_steps=most)
                near = (whole.rank >= 0) & (whole.rank <= most)
                np.testing.assert_array_equal(part.mask, near)
                np.testing.assert_array_equal(part.rank, np.where(near, whole.rank, -1))
                kept = np.where(near, whole.strategy, -1)
                np.testing.assert_array_equal(part.strategy, kept)


def test_rows_in_slices(monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    rng = np.random.default_rng(2)
    for masked in odd_graphs.graphs(seed=2, count=8):
        target = rng.random(masked.arena.shape[0]) < 0.3
        both = [
            graph.attractor(masked.arena, target, 1, engine=engine)
            for engine in ("host", "device")
        ]
        jax.tree.map(np.testing.assert_array_equal, *both)


def test_under_jit_and_vmap():
    rng = np.random.default_rng(3)
    batch = [odd_graphs.full(m) for m in odd_graphs.graphs(3, 16, pad=True)]
    targets = [rng.random(masked.arena.shape[0]) < 0.3 for masked in batch]
    players = rng.integers(0, 2, len(batch))

    def attract(arena, target, player, vertices):
        return graph.attractor(arena, target, player, vertices=vertices)

    stacked = jax.tree.map(lambda *x: jnp.stack(x), *batch)
    together = jax.jit(jax.vmap(attract))(
        stacked.arena, jnp.stack(targets), jnp.array(players), stacked.vertices
    )
    for index, masked in enumerate(batch):
        won = reference.attractor(
            masked.arena, targets[index], players[index], vertices=masked.vertices
        )
        one = jax.tree.map(lambda x: x[index], together)  # noqa: B023
        jax.tree.map(np.testing.assert_array_equal, won, one)


@pytest.mark.parametrize("engine", ["host", "device"])
def test_dead_ends_are_not_attracted(engine):
    # 0 -> 1, and 1, 2 have no successor; 3 -> 1 and 3 -> 0.
    arena = Arena.from_edges(
        [0, 3, 3], [1, 1, 0], owner=[0, 1, 1, 1], dead_ends="allow"
    )
    won = graph.attractor(arena, [1], 0, engine=engine)
    assert won.rank.tolist() == [1, 0, -1, 2]
    assert won.strategy.tolist() == [0, -1, -1, -1]
    none = graph.attractor(arena, [], 0, engine=engine)
    assert not none.mask.any()
    # Without vertex 0 all that vertex 3 can do leads into the target.
    rest = np.array([False, True, True, True])
    assert graph.attractor(arena, [1], 0, vertices=rest).rank.tolist() == [-1, 0, -1, 1]
    # And without vertex 1 it is stuck, as is vertex 0.
    rest = np.array([True, False, True, True])
    assert graph.attractor(arena, [2], 0, vertices=rest).mask.tolist() == [0, 0, 1, 0]


def test_wrong_calls():
    arena = Arena.from_csr([0, 1], [0], owner=[0])
    with pytest.raises(ValueError, match="needs an Arena, which has owners, got tuple"):
        graph.attractor(([0, 1], [0]), [0], 0)
    with pytest.raises(ValueError, match="player must be 0 or 1, got 2"):
        graph.attractor(arena, [0], 2)
    with pytest.raises(ValueError, match=r"target\[0\] is 1, expected .* 0 to 0"):
        graph.attractor(arena, [1], 0)
    with pytest.raises(ValueError, match="cannot run under tracing"):
        jax.jit(lambda a: graph.attractor(a, [True], 0, engine="host"))(arena)
