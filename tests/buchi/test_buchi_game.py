"""Büchi games: against parity games, brute force, and by their certificate."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from repeats import some_of

from jaxgames import Arena, SolveError, Status, buchi, fixpoint, generate, parity
from jaxgames.buchi import Reason

SOLVERS = ("host", "attractors", "race", "auto")


def games(seed: int, count: int, largest: int = 8):
    rng = np.random.default_rng(seed)
    for index in range(count):
        size = int(rng.integers(1, largest + 1))
        degree = rng.integers(1, (2, 3, 5)[index % 3], size)
        src = np.repeat(np.arange(size), degree)
        share = (0.1, 0.4, 0.8)[int(rng.integers(0, 3))]
        yield Arena.from_edges(
            src,
            rng.integers(0, size, len(src)),
            owner=rng.random(size) < 0.5,
            accepting=rng.random(size) < share,
        )


def as_parity(arena: Arena) -> Arena:
    priority = np.where(arena.accepting, 2, 1).astype(np.int32)
    return dataclasses.replace(arena, priority=priority)


def by_steps(arena: Arena) -> np.ndarray:
    """Winners by the fixpoint nu X. mu Y. (cpre Y) or (accepting and cpre X)."""
    size = arena.shape[0]

    def pre(goal: np.ndarray) -> np.ndarray:
        can = np.zeros(size, bool)
        must = np.ones(size, bool)
        for tail, head in zip(arena.src, arena.dst, strict=True):
            can[tail] |= goal[head]
            must[tail] &= goal[head]
        return np.where(arena.owner, must, can)

    outer = np.ones(size, bool)
    while True:
        inner = np.zeros(size, bool)
        while True:
            more = pre(inner) | (arena.accepting & pre(outer))
            if (more == inner).all():
                break
            inner = more
        if (inner == outer).all():
            return np.where(outer, 0, 1)
        outer = inner


@some_of(60, 150)
@pytest.mark.parametrize("solver", SOLVERS)
def test_random_games(solver, count):
    won = 0
    for arena in games(seed=1, count=7 * count if solver == "host" else count):
        found = buchi.solve(arena, solver)
        np.testing.assert_array_equal(found.winner, by_steps(arena))
        verdict = buchi.verify(arena, found)
        assert verdict, str(verdict)
        won += int((found.winner == 1).sum())
    assert won > 100


def test_parity_games_agree():
    for arena in games(seed=2, count=60, largest=12):
        expected = parity.solve(as_parity(arena), "host").winner
        np.testing.assert_array_equal(buchi.solve(arena, "host").winner, expected)
        np.testing.assert_array_equal(buchi.solve(arena, "attractors").winner, expected)


def test_every_engine_has_the_same_strategy():
    for arena in games(seed=3, count=100):
        host, device = (buchi.solve(arena, s) for s in ("host", "attractors"))
        np.testing.assert_array_equal(host.strategy, device.strategy)
        assert host.strategy.dtype == device.strategy.dtype == np.int32
        assert host.winner.dtype == device.winner.dtype == np.int8
        heads = host.successor(arena)
        moves = host.strategy >= 0
        np.testing.assert_array_equal(heads[moves], arena.dst[host.strategy[moves]])


def test_under_jit_and_vmap_with_padding():
    padded, expected, traced = [], [], jax.jit(buchi.solve)
    for arena in games(seed=4, count=12):
        padded.append(arena.pad(12, 48))
        expected.append(buchi.solve(arena, "host"))
        found = jax.device_get(traced(padded[-1]))
        size = arena.shape[0]
        assert int(found.status) == Status.SOLVED
        np.testing.assert_array_equal(found.winner[:size], expected[-1].winner)
        np.testing.assert_array_equal(found.strategy[:size], expected[-1].strategy)
        assert (found.winner[size:] == -1).all()
        assert (found.strategy[size:] == -1).all()
        for solver in ("host", "attractors"):
            again = buchi.solve(padded[-1], solver)
            np.testing.assert_array_equal(again.winner, found.winner)
            np.testing.assert_array_equal(again.strategy, found.strategy)
            assert buchi.verify(padded[-1], again)
    stacked = jax.tree.map(lambda *x: np.stack(x), *padded)
    found = jax.jit(jax.vmap(buchi.solve))(stacked)
    for row, one in zip(np.asarray(found.winner), expected, strict=True):
        np.testing.assert_array_equal(row[: len(one.winner)], one.winner)


def test_limits_and_going_on():
    stops = 0
    for arena in games(seed=5, count=30):
        expected, state, steps = by_steps(arena), None, 0
        while True:
            found = buchi.solve(
                arena, "attractors", max_steps=steps, state=state, throw=False
            )
            winner = np.asarray(found.winner)
            known = winner >= 0
            np.testing.assert_array_equal(winner[known], expected[known])
            if found.status == Status.SOLVED:
                break
            state, steps, stops = found.state, steps + 1, stops + 1
        assert known.all()
        assert buchi.verify(arena, found)
    assert stops > 30
    with pytest.raises(SolveError, match="MAX_STEPS"):
        buchi.solve(arena, max_steps=0)


def test_many_rounds():
    # A ladder on which each round loses one more accepting vertex.
    size = 40
    src = np.repeat(np.arange(size), 2)
    dst = np.stack([np.maximum(np.arange(size) - 1, 0), np.arange(size)], 1)
    dst[:, 1] = np.arange(size)
    dst[1:, 1] = np.arange(size - 1)
    arena = Arena.from_edges(
        src, dst.ravel(), owner=np.zeros(size, bool), accepting=np.arange(size) > 0
    )
    for solver in ("host", "attractors"):
        found = buchi.solve(arena, solver)
        assert (found.winner == 1).all()
        assert buchi.verify(arena, found)
        assert int(found.stats["outer"]) >= 2


def test_bad_games():
    arena = next(games(seed=6, count=1))
    plain = dataclasses.replace(arena, accepting=None)
    dead = Arena.from_edges([0], [1], owner=[0, 1], accepting=[0, 0], dead_ends="allow")
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (([0], []), {}, "expected an Arena, got tuple"),
        (plain, {}, "needs accepting vertices"),
        (dead, {}, "vertex 1 has no successor"),
        (arena, {"solver": "spm"}, "no Büchi game solver is called 'spm'"),
        (arena, {"solver": "host", "max_steps": 1}, "takes neither"),
        (arena, {"max_steps": -1}, "must be at least 0"),
    ]
    for game, arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            buchi.solve(game, **arguments)
    with pytest.raises(ValueError, match="runs on the host"):
        jax.jit(lambda x: buchi.solve(x, "host").winner)(arena)


# Player 0 goes from 0 to himself, or to 1, from where player 1 goes on to 2.
SMALL = Arena.from_edges(
    [0, 0, 1, 2, 2], [0, 1, 2, 2, 0], owner=[0, 1, 1], accepting=[1, 0, 0]
)


@pytest.mark.parametrize(
    ("winner", "strategy", "reason", "vertex"),
    [
        ([0, 1, 1], [0, 2, 3], Reason.OK, -1),
        ([0, -1, 1], [0, 2, 3], Reason.UNDECIDED, 1),
        ([0, 1, 1], [-1, 2, 3], Reason.STRATEGY_MISSING, 0),
        ([0, 1, 1], [0, 3, 3], Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 1),
        ([0, 0, 1], [0, 2, 3], Reason.STRATEGY_OF_LOSER, 1),
        ([0, 1, 1], [1, 2, 3], Reason.STRATEGY_LEAVES_REGION, 0),
        ([0, 0, 1], [0, -1, 3], Reason.OPPONENT_ESCAPES, 1),
        ([1, 1, 1], [-1, 2, 4], Reason.CYCLE_WON_BY_OPPONENT, 0),
        ([0, 0, 0], [0, -1, -1], Reason.CYCLE_WON_BY_OPPONENT, 2),
    ],
)
def test_wrong_solutions_are_seen(winner, strategy, reason, vertex):
    solution = buchi.Solution(
        Status.SOLVED,
        winner=np.array(winner, np.int8),
        strategy=np.array(strategy, np.int32),
    )
    verdict = buchi.verify(SMALL, solution)
    assert (verdict.reason, verdict.vertex) == (reason, vertex)
    assert bool(verdict) == (reason == Reason.OK)


def test_mutated_solutions_are_seen():
    rng = np.random.default_rng(7)
    seen = 0
    for arena in games(seed=7, count=200):
        found = buchi.solve(arena, "host")
        winner = found.winner.copy()
        winner[rng.integers(0, len(winner))] ^= 1
        assert not buchi.verify(arena, dataclasses.replace(found, winner=winner))
        strategy = found.strategy.copy()
        at = int(rng.integers(0, len(strategy)))
        edges = np.arange(arena.row_ptr[at], arena.row_ptr[at + 1])
        strategy[at] = rng.choice(edges)
        mutant = dataclasses.replace(found, strategy=strategy)
        # Right only if player and strategy still win: fixed, in a game of one player.
        if found.winner[at] != arena.owner[at]:
            assert not buchi.verify(arena, mutant)
            seen += 1
            continue
        keep = np.ones(len(arena.src), bool)
        mine = found.winner[arena.src] == arena.owner[arena.src]
        keep[mine] = strategy[arena.src[mine]] == np.flatnonzero(mine)
        fixed = Arena.from_edges(
            arena.src[keep],
            arena.dst[keep],
            owner=arena.owner,
            accepting=arena.accepting,
        )
        wins = bool((by_steps(fixed) == found.winner).all())
        assert bool(buchi.verify(arena, mutant)) == wins
        seen += not wins
    assert seen > 50


def test_one_program_serves_the_first_chunk_and_all_others(monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    game = generate.random_game(0, 400)
    arena = Arena.from_csr(
        game.row_ptr, game.dst, owner=game.owner, accepting=game.priority == 0
    )
    before = fixpoint._chunk._cache_size()  # no other test uses this solver
    found = buchi.solve(arena, buchi.Attractors(sweeps_per_check=3))
    assert int(found.stats["rounds"]) > 4
    assert fixpoint._chunk._cache_size() == before + 1
