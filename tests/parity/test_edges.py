"""Games with priorities on edges, by the definition and against their split form."""

import dataclasses

import jax
import networkx as nx
import numpy as np
import pytest
from alike import alike, side_by_side

from jaxgames import Arena, Status, ops, parity
from jaxgames.parity import _bounds, _edges, reference
from jaxgames.testing import odd_arenas


def on_edges(arena: Arena, rng: np.random.Generator, top: int = 6) -> Arena:
    """The same graph with random priorities on its edges."""
    priority = rng.integers(0, top, arena.shape[1]).astype(np.int32)
    return dataclasses.replace(arena, priority=None, edge_priority=priority)


def games(seed: int, count: int, max_vertices: int = 10):
    rng = np.random.default_rng(seed)
    for arena in odd_arenas(seed, count, max_vertices):
        yield on_edges(arena, rng)


def best_cycle(arena: Arena, kept: np.ndarray, v: int) -> set[int]:
    """Parities of the largest priorities of cycles that a play from v can end in."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(arena.shape[0]))
    for e in np.flatnonzero(kept):
        graph.add_edge(arena.src[e], arena.dst[e], priority=arena.edge_priority[e])
    reached = graph.subgraph({v} | nx.descendants(graph, v))
    found = set()
    for top in np.unique(arena.edge_priority):
        low = nx.MultiDiGraph()
        for u, w, p in reached.edges(data="priority"):
            if p <= top:
                low.add_edge(u, w, priority=p)
        for part in nx.strongly_connected_components(low):
            inside = low.subgraph(part)
            if any(p == top for _, _, p in inside.edges(data="priority")):
                found.add(int(top) % 2)
    return found


def test_strategies_win_by_the_definition():
    for arena in games(1, 60):
        solution = reference.solve(arena)
        for player in (0, 1):
            chosen = solution.strategy[arena.src] == np.arange(arena.shape[1])
            kept = (arena.owner[arena.src] != player) | chosen
            for v in np.flatnonzero(solution.winner == player):
                assert best_cycle(arena, kept, v) == {player}


def test_split_shares_what_can_be_shared():
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2, 2],
        [1, 2, 2, 2, 2, 0],
        owner=[0, 1, 0],
        edge_priority=[3, 4, 4, 5, 7, 7],
    )
    game = _edges.split(arena)
    # Vertex 2 keeps its priority; (2, priority 4) is entered from 0 and from 1.
    assert game.shape == (3 + 3, 6 + 3)
    assert game.priority.tolist() == [0, 0, 7, 3, 4, 5]
    assert game.dst.tolist() == [3, 4, 4, 5, 2, 0, 1, 2, 2]
    game.validate()


@pytest.mark.parametrize("padded", [False, True])
def test_split_keeps_numbers_and_winners(padded):
    for arena in games(2, 40):
        expected = reference.solve(arena)
        given = arena.pad() if padded else arena
        game = _edges.split(given)
        solved = reference.solve(game)
        size = arena.shape[0]
        np.testing.assert_array_equal(solved.winner[:size], expected.winner)
        winner, strategy = _edges.extend(
            game, solved.winner[:size], solved.strategy[:size]
        )
        assert reference.verify(
            game, dataclasses.replace(solved, winner=winner, strategy=strategy)
        )


@pytest.mark.parametrize("name", ["zielonka", "promotion", "fpi"])
def test_every_solver_takes_them(name):
    for arena in games(3, 30, max_vertices=8):
        arena = arena.pad(32, 128)
        solution = parity.solve(arena, name)
        expected = reference.solve(arena)
        np.testing.assert_array_equal(solution.winner, expected.winner)
        assert reference.verify(arena, solution)


def test_under_jit_and_vmap():
    arenas = [arena.pad(16, 96) for arena in games(4, 6, max_vertices=8)]
    batch = jax.tree.map(lambda *x: np.stack(x), *arenas)
    solve = jax.jit(jax.vmap(lambda arena: parity.solve(arena, "zielonka")))
    solutions = solve(batch)
    for index, arena in enumerate(arenas):
        solution = jax.tree.map(lambda x, i=index: np.asarray(x)[i], solutions)
        expected = reference.solve(arena)
        np.testing.assert_array_equal(solution.winner, expected.winner)
        assert reference.verify(arena, solution)


def test_both_kinds_or_none_are_refused():
    arena = Arena.from_edges([0], [0], owner=[0], priority=[0], edge_priority=[0])
    for change in ({}, {"priority": None, "edge_priority": None}):
        game = dataclasses.replace(arena, **change)
        for solve in (parity.solve, reference.solve):
            with pytest.raises(ValueError, match="either vertex priorities or edge"):
                solve(game)


def test_priorities_reach_the_edges_of_both_layouts():
    rng = np.random.default_rng(5)

    @jax.jit
    def seen(layout):
        return ops.by_vertex(layout, ops.out_max(layout, ops.edge_priority(layout)))

    arena = on_edges(side_by_side(list(odd_arenas(6, 40))), rng, top=50)
    at_vertices = dataclasses.replace(
        arena, priority=rng.integers(0, 9, arena.shape[0]), edge_priority=None
    )
    for game in (arena, at_vertices):
        own = game.edge_priority
        wanted = game.priority[game.src] if own is None else own
        largest = np.zeros(game.shape[0], int)
        np.maximum.at(largest, game.src, wanted)
        for layout in (game, ops.slice_rows(game)):
            found = np.asarray(seen(layout))[: game.shape[0]]
            np.testing.assert_array_equal(found, largest)


@pytest.mark.parametrize("solver", ["promotion", "spm", "host"])
def test_games_that_lie_on_a_device(solver):
    rng = np.random.default_rng(7)
    for arena in alike(7, 6):
        arena = on_edges(arena, rng)
        there = jax.device_put(arena)
        found = parity.solve(there, solver)
        np.testing.assert_array_equal(found.winner, reference.solve(arena).winner)
        assert parity.verify(there, found)


def test_pairs_of_many_vertices_and_priorities_are_told_apart():
    # Their numbers do not fit into 32 bits.
    size, top = 70_000, 69_999
    loops = np.arange(size, dtype=np.int32)
    arena = Arena.from_edges(
        np.repeat(loops, 2), np.repeat(loops, 2), owner=np.zeros(size, bool),
        edge_priority=np.stack([loops, np.minimum(loops + 1, top)], 1).ravel(),
    )  # fmt: skip
    for where in (arena, jax.device_put(arena)):
        count = _bounds.count_bounds(where, 0, size)
        assert count[1] == count[top] == 2
        assert count.sum() == size
        assert _edges.split(where).shape[0] > size + top


@pytest.mark.parametrize("name", ["spm", "alternating"])
def test_more_priorities_than_vertices_under_tracing(name):
    edges = 18
    arena = Arena.from_edges(
        [0] * edges, [0] * edges, owner=[0],
        edge_priority=[8, 15, 6, 11, 4, 5, 9, 12, 10, 17, 1, 13, 18, 16, 2, 14, 7, 3],
    )  # fmt: skip
    for game in (arena, arena.pad(12, 32)):
        found = jax.jit(lambda x: parity.solve(x, name))(game)
        assert found.status == Status.SOLVED
        assert found.winner[0] == 0
