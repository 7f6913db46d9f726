"""The textbook against brute force, and games against the engine on the host."""

import numpy as np
import pytest
from marked_graphs import Marked, marked, plain

from jaxgames import Arena
from jaxgames.buchi import host, reference
from jaxgames.testing import odd_arenas


def test_lassos():
    rng, found = np.random.default_rng(2), 0
    for case in marked(seed=1, count=200):
        arena, accepting, starts = case
        lasso = reference.accepting_cycle(arena, accepting, starts)
        assert (lasso is not None) == case.exists
        assert lasso is None or case.shows(lasso)
        vertices = rng.random(arena.shape[0]) < 0.7
        inside = vertices[arena.src] & vertices[arena.dst]
        rest = plain(arena.src[inside], arena.dst[inside], arena.shape[0])
        smaller = Marked(rest, accepting & vertices, starts[vertices[starts]])
        lasso = reference.accepting_cycle(arena, accepting, starts, vertices=vertices)
        assert (lasso is not None) == smaller.exists
        if lasso is not None:
            found += 1
            assert smaller.shows(lasso)
            shortest = host.lasso_through(arena, starts, lasso.cycle[0], vertices)
            assert len(lasso.prefix) == len(shortest.prefix)
    assert found > 20


def test_games_and_their_checks():
    rng, seen = np.random.default_rng(3), set()
    for arena in odd_arenas(seed=4, count=150):
        accepting = rng.random(arena.shape[0]) < 0.3
        game = Arena.from_edges(
            arena.src, arena.dst, owner=arena.owner, accepting=accepting
        )
        right, fast = reference.solve(game, accepting), host.solve(game, accepting)
        for mine, theirs in zip(right[:2], fast[:2], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        winner, strategy = right[0].copy(), right[1].copy()
        v = rng.integers(len(winner))
        match rng.integers(3):
            case 0:
                winner[v] = rng.integers(-1, 2)
            case 1:
                strategy[v] = rng.integers(-1, arena.shape[1])
            case 2:
                edges = rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])
                strategy = np.where(strategy >= 0, edges, -1)
        says = [
            [fault.any() for fault in faults(game, winner, strategy)]
            for faults in (reference.faults, host.faults)
        ]
        first = [row.index(True) if any(row) else -1 for row in says]
        assert first[0] == first[1], says
        seen.add(first[0])
    assert len(seen) >= 6, seen


def test_arguments():
    graph = [0, 1], [0]
    with pytest.raises(ValueError, match="has no accepting vertices"):
        reference.accepting_cycle(graph)
    with pytest.raises(ValueError, match=r"accepting\[0\] is 5"):
        reference.accepting_cycle(graph, [5])
