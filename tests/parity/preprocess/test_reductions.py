"""Every reduction, alone and composed, on odd games: solve, undo, verify."""

import dataclasses
import itertools

import jax
import numpy as np
import pytest
import undoing
from repeats import some_of

from jaxgames import Arena, host
from jaxgames.parity import preprocess, reference
from jaxgames.parity.preprocess import REDUCTIONS

VERTEX_PRIORITIES = {"propagate", "contract"}
TO_EDGE_PRIORITIES = {"edge-priorities", "shortcuts", "chains"}
GROWING = {"shortcuts"}

compiled = pytest.mark.skipif(
    not host.can_compile(), reason="takes minutes without numba"
)


def applies(names, arena) -> bool:
    """Whether the reductions find the kind of priorities that they read."""
    edges = arena.edge_priority is not None
    for name in names:
        if edges and name in VERTEX_PRIORITIES:
            return False
        edges |= name in TO_EDGE_PRIORITIES
    return True


@some_of(15, 40)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_alone(name, count):
    for index, arena in enumerate(undoing.arenas(seed=1, count=count)):
        if applies([name], arena):
            reduced = REDUCTIONS[name](arena)
            undoing.check(arena, reduced, (name, index))
            if name not in GROWING:
                assert reduced.arena.shape <= arena.shape
                assert reduced.arena.shape[1] <= arena.shape[1]


@compiled
@some_of(2, 4)
@pytest.mark.parametrize("first", REDUCTIONS)
def test_pairs(first, count):
    games = itertools.cycle(undoing.arenas(seed=2, count=60))
    for second in REDUCTIONS:
        for arena in itertools.islice(games, count):
            names = [first, second]
            if applies(names, arena):
                undoing.check(arena, preprocess.apply(arena, names), names)


@compiled
@pytest.mark.parametrize("first", REDUCTIONS)
def test_triples(first):
    games = itertools.cycle(undoing.arenas(seed=3, count=60))
    every = list(itertools.product(REDUCTIONS, repeat=2))
    for rest in every[list(REDUCTIONS).index(first) % 3 :: 3]:
        arena, names = next(games), [first, *rest]
        if applies(names, arena):
            undoing.check(arena, preprocess.apply(arena, names), names)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_many(seed):
    rng = np.random.default_rng(seed)
    for arena in undoing.arenas(seed + 100, count=1000, max_vertices=20):
        names = rng.choice(list(REDUCTIONS), rng.integers(1, 6)).tolist()
        if applies(names, arena):
            undoing.check(arena, preprocess.apply(arena, names), names)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_padding_stays_apart(name):
    for arena in undoing.arenas(seed=4, count=6):
        if not applies([name], arena):
            continue
        reduced = REDUCTIONS[name](arena.pad())
        solution = undoing.solve(reduced.arena)
        winner, strategy = reduced.undo(solution.winner, solution.strategy)
        size = arena.shape[0]
        assert len(winner) == len(strategy) == arena.pad().shape[0]
        assert (strategy[size:] == -1).all()
        undoing.assert_valid(arena, winner[:size], strategy[:size], name)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("player", [0, 1])
@some_of(8, 20)
def test_half_a_solution_comes_back_as_half_a_solution(name, player, count):
    """One player's region is known, the other vertices are undecided."""
    for arena in undoing.arenas(seed=5, count=count):
        if applies([name], arena):
            reduced = REDUCTIONS[name](arena)
            solution = undoing.solve(reduced.arena)
            keep = solution.winner == player
            undone = reduced.undo(
                np.where(keep, solution.winner, -1),
                np.where(keep, solution.strategy, -1),
            )
            undoing.assert_partial(arena, *undone)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_undecided_vertices_are_not_guessed(name):
    rng = np.random.default_rng(6)
    for arena in undoing.arenas(seed=6, count=20):
        if not applies([name], arena):
            continue
        reduced, truth = REDUCTIONS[name](arena), undoing.solve(arena).winner
        solution = undoing.solve(reduced.arena)
        keep = rng.random(len(solution.winner)) < 0.5
        winner, strategy = reduced.undo(
            np.where(keep, solution.winner, -1), np.where(keep, solution.strategy, -1)
        )
        assert np.isin(winner, [-1, 0, 1]).all()
        np.testing.assert_array_equal(winner[winner != -1], truth[winner != -1])
        assert (strategy[winner != arena.owner] == -1).all()
        nothing, none = np.full_like(solution.winner, -1), solution.strategy * 0 - 1
        winner, strategy = reduced.undo(nothing, none)
        assert (winner == -1).sum() >= min(1, len(nothing))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_winners_come_back_without_a_strategy(name):
    for arena in undoing.arenas(seed=7, count=20):
        if applies([name], arena):
            reduced, truth = REDUCTIONS[name](arena), undoing.solve(arena).winner
            winner, strategy = reduced.undo(undoing.solve(reduced.arena).winner, None)
            np.testing.assert_array_equal(winner, truth)
            assert strategy is None


@pytest.mark.parametrize("name", REDUCTIONS)
def test_compiled_and_interpreted_agree(name):
    for arena in undoing.arenas(seed=8, count=10):
        if applies([name], arena):
            fast = REDUCTIONS[name](arena).arena
            with host.interpreted():
                slow = REDUCTIONS[name](arena).arena
            for field in dataclasses.fields(Arena):
                np.testing.assert_array_equal(
                    getattr(fast, field.name), getattr(slow, field.name)
                )


def test_the_arena_is_left_as_it_was():
    for arena in undoing.arenas(seed=9, count=10):
        copy = jax.tree.map(np.copy, arena)
        for name in REDUCTIONS:
            if applies([name], arena):
                undoing.check(arena, REDUCTIONS[name](arena))
        for field in dataclasses.fields(Arena):
            np.testing.assert_array_equal(
                getattr(arena, field.name), getattr(copy, field.name)
            )


def test_nothing_applied_is_the_game_itself():
    arena = next(undoing.arenas(seed=10, count=1))
    reduced = preprocess.apply(arena, [])
    assert reduced.arena is arena
    undoing.check(arena, reduced)


def test_functions_and_names_mix():
    arena = next(undoing.arenas(seed=11, count=1))
    names = [lambda arena: preprocess.shortcuts(arena, 2), "self-loops"]
    undoing.check(arena, preprocess.apply(arena, names))


# ---- bad input ---------------------------------------------------------------

GAME = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[0, 1])


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="reductions are self-loops, .*got 'magic'"):
        preprocess.apply(GAME, ["magic"])


def test_propagation_refuses_edge_priorities():
    with pytest.raises(ValueError, match="propagate_priorities reads vertex priorit"):
        preprocess.apply(GAME, ["edge-priorities", "propagate"])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_is_no_game_is_refused(name):
    without = dataclasses.replace(GAME, priority=None)
    with pytest.raises(ValueError, match="both None"):
        REDUCTIONS[name](without)
    stuck = Arena.from_edges([0], [1], owner=[0, 1], priority=[0, 1], dead_ends="allow")
    with pytest.raises(ValueError, match="vertex 1 has no successor"):
        REDUCTIONS[name](stuck)


def test_batches_are_refused():
    batch = dataclasses.replace(GAME, owner=np.stack([GAME.owner, GAME.owner]))
    with pytest.raises(ValueError, match=r"one game at a time.*shape \(2, 2\)"):
        preprocess.self_loops(batch)


def test_traced_arenas_are_refused():
    with pytest.raises(ValueError, match="traced by jax"):
        jax.jit(lambda arena: preprocess.chains(arena).arena)(GAME)


@pytest.mark.parametrize("levels", [0, -1, 1.5, "2"])
def test_levels_are_positive_integers(levels):
    with pytest.raises(ValueError, match="levels must be (an integer )?at least 1"):
        preprocess.shortcuts(GAME, levels)


def test_orders_are_known():
    with pytest.raises(ValueError, match="order must be one of .*got 'random'"):
        preprocess.reorder(GAME, "random")  # pyright: ignore[reportArgumentType]


def test_solutions_of_another_length_are_refused():
    reduced = preprocess.self_loops(GAME)
    with pytest.raises(ValueError, match=r"winner must have one entry .*shape \(3,\)"):
        reduced.undo(np.zeros(3, np.int8), None)
    with pytest.raises(ValueError, match=r"strategy must have one .*shape \(1,\)"):
        reduced.undo(np.zeros(2, np.int8), np.zeros(1, np.int32))


def test_the_reference_solves_what_is_left_of_nothing():
    empty = preprocess.winning_cycles(
        Arena.from_edges([0], [0], owner=[0], priority=[0])
    ).arena
    assert empty.shape == (0, 0)
    assert len(reference.solve(empty).winner) == 0
    for reduction in REDUCTIONS.values():
        assert reduction(empty).arena.shape == (0, 0)
