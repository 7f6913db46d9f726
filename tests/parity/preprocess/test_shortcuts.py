"""Shortcuts: the theorems' conditions, and strategies without contradictions."""

import itertools

import numpy as np
import pytest
import undoing
from repeats import some_of

from jaxgames import Arena, generate
from jaxgames.parity import preprocess
from jaxgames.parity.preprocess import _positional
from jaxgames.testing import odd_arenas


def labelled(arena):
    """All edges with their priorities."""
    return set(
        zip(
            arena.src.tolist(),
            arena.dst.tolist(),
            arena.edge_priority.tolist(),
            strict=True,
        )
    )


def likes(player, priority):
    """How good a priority is for a player."""
    return priority + 1 if priority % 2 == player else -priority - 1


def best(arena, edges):
    """Of parallel edges, the best for the owner of their source."""
    kept = {}
    for u, w, p in edges:
        player = int(arena.owner[u])
        kept[u, w] = max(kept.get((u, w), p), p, key=lambda p: likes(player, p))
    return {(u, w, p) for (u, w), p in kept.items()}


def by_the_theorems(arena, edges):
    """One level, edge by edge."""
    rows = {u: [e for e in edges if e[0] == u] for u in range(arena.shape[0])}
    new = set()
    for u, v, p in edges:
        if u == v or (len(rows[v]) > 1 and arena.owner[u] != arena.owner[v]):
            new.add((u, v, p))
            continue
        new |= {(u, w, max(p, q)) for _, w, q in rows[v]}
        if len(rows[u]) > 1:
            new.add((u, v, p))
    return best(arena, new)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_edges_are_those_of_the_theorems(levels):
    for arena in undoing.arenas(seed=1, count=30, max_vertices=8):
        first = preprocess.to_edge_priorities(arena).arena
        expected = best(first, labelled(first))
        for _ in range(levels):
            expected = by_the_theorems(arena, expected)
        reduced = preprocess.shortcuts(arena, levels).arena
        assert labelled(reduced) == expected
        assert len(expected) == reduced.shape[1]


def test_nobody_chooses_for_the_other_player():
    arena = Arena.from_edges(
        [0, 1, 1, 2], [1, 2, 0, 2], owner=[0, 1, 0], priority=[1, 2, 0]
    )
    reduced = preprocess.shortcuts(arena).arena
    # By 1 Odd would choose for Even; 0 and 2 have one edge, which anybody may take.
    assert labelled(reduced) == {(0, 1, 1), (1, 2, 2), (1, 0, 2), (1, 1, 2), (2, 2, 0)}


@some_of(20, 60)
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_winners_and_strategies(levels, count):
    arenas = undoing.arenas(seed=2, count=count, max_vertices=14)
    for index, arena in enumerate(arenas):
        undoing.check(arena, preprocess.shortcuts(arena, levels), (levels, index))


def test_every_winning_strategy_is_undone():
    """All that a solver might answer, on tiny games where moves can contradict."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        size = int(rng.integers(2, 5))
        src = np.repeat(np.arange(size), rng.integers(1, 3, size))
        arena = Arena.from_edges(
            src,
            rng.integers(0, size, len(src)),
            owner=np.zeros(size, int) + rng.integers(2),
            priority=rng.integers(0, 4, size),
        )
        reduced = preprocess.shortcuts(arena, 2)
        game = reduced.arena
        winner = undoing.solve(game).winner
        rows = [
            range(game.row_ptr[v], game.row_ptr[v + 1])
            if winner[v] == game.owner[v]
            else [-1]
            for v in range(size)
        ]
        for strategy in itertools.islice(itertools.product(*rows), 100):
            strategy = np.array(strategy, np.int32)
            try:
                undoing.assert_valid(game, winner, strategy)
            except AssertionError:
                continue
            undoing.assert_valid(arena, *reduced.undo(winner, strategy))


def contradiction():
    """A solution whose shortcut from 0 by 1 contradicts the move of 1.

    Even wins 0 -> 1 -> 0 by priority 2, by a shortcut from 0 to itself. From vertex 1,
    which no play comes back to, he goes by vertex 2 of priority 3.
    """
    arena = Arena.from_edges(
        [0, 1, 1, 2, 2], [1, 0, 2, 0, 1], owner=[0, 0, 0], priority=[2, 0, 3]
    )
    reduced = preprocess.shortcuts(arena)
    edges = list(zip(reduced.arena.src, reduced.arena.dst, strict=True))
    strategy = [edges.index(edge) for edge in [(0, 0), (1, 2), (2, 0)]]
    return arena, reduced, np.array(strategy, np.int32)


def test_moves_that_contradict_are_made_to_agree():
    arena, reduced, strategy = contradiction()
    winner = np.zeros(3, np.int8)
    undoing.assert_valid(reduced.arena, winner, strategy)
    undone = reduced.undo(winner, strategy)
    undoing.assert_valid(arena, *undone)
    assert undone[1][1] == 1  # and not 2, which sees priority 3 again and again


def test_the_solver_behind_undo_is_needed(monkeypatch):
    calls = []
    solve = _positional._solve_region
    monkeypatch.setattr(
        _positional, "_solve_region", lambda *args: [calls.append(args), solve(*args)]
    )
    arena, reduced, strategy = contradiction()
    reduced.undo(np.zeros(3, np.int8), strategy)
    assert calls
    calls.clear()
    undoing.check(chained := generate.hanoi(3), preprocess.shortcuts(chained))
    assert not calls


def test_lies_become_undecided():
    arena = Arena.from_edges(
        [0, 0, 1], [1, 1, 0], owner=[0, 0], edge_priority=[1, 3, 1]
    )
    winner, strategy = _positional.positional(
        arena, np.array([0, -1], np.int8), np.array([0, -1], np.int32), np.array([0])
    )
    assert winner.tolist() == [-1, -1]
    assert strategy.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("arena", "vertices"),
    [
        (generate.propagation(50, 1000), 50_000),
        (generate.hanoi(7), 2000),
    ],
    ids=["propagation", "hanoi"],
)
def test_games_that_the_thesis_speeds_up(arena, vertices):
    """Vertices linked both ways see over their neighbours."""
    reduced = preprocess.shortcuts(arena)
    game = reduced.arena
    assert game.shape[0] == arena.shape[0]
    assert game.shape[1] > 2 * arena.shape[1]
    assert len(np.unique(game.src[game.src == game.dst])) > vertices * 0.9
    undoing.check(arena, reduced)


def test_a_chain_halves_with_each_level():
    size = 64
    arena = Arena.from_edges(
        np.arange(size),
        np.minimum(np.arange(size) + 1, size - 1),
        owner=np.arange(size) % 2,
        priority=np.arange(size),
    )
    for levels in (1, 2, 5):
        reduced = preprocess.shortcuts(arena, levels).arena
        assert reduced.shape == arena.shape
        assert reduced.dst[0] == 2**levels


def test_parallel_edges_keep_the_best():
    for arena in odd_arenas(seed=4, count=30, max_vertices=6):
        game = preprocess.shortcuts(arena).arena
        pairs = set(zip(game.src.tolist(), game.dst.tolist(), strict=True))
        assert len(pairs) == game.shape[1]
