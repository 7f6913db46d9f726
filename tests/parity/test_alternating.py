"""Both players' measures in lock step."""

import brute_force
import numpy as np
import pytest
from alike import alike
from measured import (
    assert_certificate,
    extended,
    split_all,
    with_edge_priorities,
)
from repeats import some_of

from jaxgames import Arena, SolveError, Status, generate, parity
from jaxgames.parity import SPM, Alternating, reference
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

# Two words compile faster than the five that a traced game of unknown counts takes.
WAYS = {
    "exchange": Alternating(words=2, digits=24),
    "no exchange": Alternating(exchange=False, words=2, digits=24),
    "2 sweeps a check": Alternating(sweeps_per_check=2, words=2, digits=24),
}


@pytest.mark.parametrize(
    "way", ["exchange", pytest.param("no exchange", marks=pytest.mark.sweep)]
)
def test_conforms(way):
    check_solver(WAYS[way], alike(seed=1, count=3))


def check(arena: Arena, solver) -> None:
    """The answer against the reference, with both certificates."""
    solution = parity.solve(arena, solver)
    np.testing.assert_array_equal(solution.winner, reference.solve(arena).winner)
    assert reference.verify(arena, solution)
    assert_certificate(arena, solution)


@some_of(40, 100)
@pytest.mark.parametrize("way", WAYS)
def test_agrees_with_the_reference(way, count):
    for arena in odd_arenas(seed=11, count=count):
        check(arena.pad(48, 512), WAYS[way])


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_reference_at_length(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        for shape in SHAPES:
            arena = odd_arena(shape, rng, max_vertices=40).pad(48, 512)
            for solver in WAYS.values():
                check(arena, solver)


def test_against_all_strategies():
    for arena in odd_arenas(seed=15, count=20, max_vertices=5):
        solution = parity.solve(arena.pad(16, 128), Alternating())
        winner = np.asarray(solution.winner)[: arena.shape[0]]
        np.testing.assert_array_equal(winner, brute_force.winners(arena))
        for who in (0, 1):
            assert brute_force.wins(arena, who, winner, np.asarray(solution.strategy))


def test_measures_are_those_of_each_player_alone():
    """What is certain early is final: both are the least measures."""
    for arena in odd_arenas(seed=21, count=40):
        arena = arena.pad(48, 512)
        both = parity.solve(arena, Alternating())
        for player in (0, 1):
            alone = parity.solve(arena, SPM(player=player))
            np.testing.assert_array_equal(
                both.measures.words[player], alone.measures.words[player]
            )
            mine = arena.owner == player
            np.testing.assert_array_equal(
                np.asarray(both.strategy)[mine], np.asarray(alone.strategy)[mine]
            )


@some_of(20, 40)
@pytest.mark.parametrize("way", WAYS)
def test_priorities_on_edges_against_the_split_game(way, count):
    rng = np.random.default_rng(16)
    for arena in odd_arenas(seed=16, count=count, max_vertices=16):
        arena = with_edge_priorities(arena, rng)
        solution = parity.solve(arena.pad(48, 512), WAYS[way])
        winner = np.asarray(solution.winner)[: arena.shape[0]]
        strategy = np.asarray(solution.strategy)[: arena.shape[0]]
        split = split_all(arena)
        expected = reference.solve(split).winner[: arena.shape[0]]
        np.testing.assert_array_equal(winner, expected)
        whole = extended(arena, winner, strategy)
        assert reference.verify(split, parity.Solution(0, *whole))
        assert_certificate(arena, solution)


def test_path_bounds():
    for arena in alike(seed=13, count=6):
        plain = parity.solve(arena, Alternating())
        solution = parity.solve(arena, Alternating(bounds="path"))
        np.testing.assert_array_equal(solution.winner, plain.winner)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)
        assert_certificate(arena, solution)


def test_exchange_saves_exponentially_many_rounds():
    arena = generate.jurdzinski(5, 10)
    solution = parity.solve(arena, Alternating(), max_steps=200)
    assert reference.verify(arena, solution)
    assert_certificate(arena, solution)
    with pytest.raises(SolveError, match="MAX_STEPS"):
        parity.solve(arena, Alternating(exchange=False), max_steps=2000)


def test_what_is_certain_before_the_end_is_right_and_proved():
    arena = generate.elevator(3, fair=True)
    final = np.asarray(parity.solve(arena, "zielonka").winner)
    known_sizes, state = set(), None
    for steps in range(0, 200, 5):
        solution = parity.solve(
            arena, Alternating(), max_steps=steps, state=state, throw=False
        )
        winner, state = np.asarray(solution.winner), solution.state
        known = winner != -1
        known_sizes.add(int(known.sum()))
        np.testing.assert_array_equal(winner[known], final[known])
        below = np.asarray(solution.measures.words)[:, 0] < 2**31 - 1
        np.testing.assert_array_equal(below[0], winner == 0)
        np.testing.assert_array_equal(below[1], winner == 1)
        if solution.status == Status.SOLVED:
            break
    assert solution.status == Status.SOLVED
    assert_certificate(arena, solution)
    assert len(known_sizes) > 2
