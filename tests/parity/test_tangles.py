"""Recursive tangle learning: answers, rounds on hard families, a pool that is full."""

import jax
import numpy as np
import pytest
from alike import alike

from jaxgames import Arena, Status, generate, parity
from jaxgames.parity import reference
from jaxgames.parity._tangles import RecursiveTangleLearning
from jaxgames.solution import UNDECIDED
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

PLAIN = RecursiveTangleLearning()


def check(arena: Arena, solution, name="") -> None:
    """Winners against the reference, strategies by certificate."""
    assert solution.status == Status.SOLVED, name
    expected = reference.solve(arena).winner
    np.testing.assert_array_equal(solution.winner, expected, err_msg=str(name))
    verdict = reference.verify(arena, solution)
    assert verdict, f"{name}: {verdict}"


def test_conforms():
    check_solver(PLAIN, alike(seed=13, count=1))


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape):
    rng = np.random.default_rng(SHAPES.index(shape) + 300)
    for _ in range(20):
        arena = odd_arena(shape, rng).pad(48, 512)
        check(arena, parity.solve(arena, PLAIN), shape)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_reference_at_length(seed):
    for index, arena in enumerate(odd_arenas(400 + seed, 1000)):
        arena = arena.pad(48, 512)
        check(arena, parity.solve(arena, PLAIN), index)


FAMILIES = {
    "dp": generate.counter_dp(30),  # 1,000,000 rounds are not enough for promotion
    "rr": generate.counter_rr(30),
    "m": generate.counter_m(30),
    "ortl": generate.counter_ortl(16),
    "core": generate.counter_core(20),
    "symsi": generate.counter_symsi(6),
    "two counters": generate.two_counters(6),
    "ladder": generate.recursive_ladder(20),
    "friedmann": generate.friedmann(8),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_hard_families(name):
    """All are exponential for another solver; here rounds stay below 8 V ** 1.5."""
    game = FAMILIES[name].pad(192, 512)
    found = parity.solve(game, PLAIN, max_steps=int(8 * game.num_vertices**1.5))
    assert found.status == Status.SOLVED
    assert parity.verify(game, found)
    np.testing.assert_array_equal(found.winner, parity.solve(game, "host").winner)


def test_a_pool_that_is_full():
    """What was decided before is right, and the status says that there is no room."""
    hard = generate.two_counters(4)
    size = hard.shape[0]  # beside it a vertex that is won at once
    game = Arena.from_edges(
        np.append(hard.src, size),
        np.append(hard.dst, size),
        owner=np.append(hard.owner, False),
        priority=np.append(hard.priority, 2 * int(hard.priority.max()) + 2),
    )
    solver = RecursiveTangleLearning(room=(64, 20, 64))
    found = parity.solve(game, solver, throw=False)
    assert found.status == Status.OVERFLOW
    expected = parity.solve(game, "host").winner
    decided = np.asarray(found.winner) != UNDECIDED
    assert decided[-1]
    assert not decided.all()
    np.testing.assert_array_equal(found.winner[decided], expected[decided])
    assert found.stats["tangles"] > 0
    with pytest.raises(ValueError, match="room must be a positive integer, got 0"):
        RecursiveTangleLearning(room=(1, 0, 1))


def test_takes_over_what_is_known():
    """Dominions of another engine leave play; the rest is right."""
    game = generate.two_counters(4)
    expected = parity.solve(game, "host").winner
    first = PLAIN.init(game)
    winner = np.full(game.shape[0], UNDECIDED, np.int8)
    state = PLAIN.absorb(game, first, winner)
    np.testing.assert_array_equal(PLAIN.answer(game, state).winner, winner)
    winner[:] = expected
    state = PLAIN.absorb(game, first, winner)
    assert PLAIN.done(game, state)
    np.testing.assert_array_equal(PLAIN.answer(game, state).winner, expected)


def test_one_hard_game_among_easy_ones():
    """In one loop the others' answers are what they are alone."""
    games = [generate.random_game(seed, 60).pad(128, 256) for seed in range(3)]
    games.insert(1, generate.two_counters_plus(4).pad(128, 256))
    together = jax.tree.map(lambda *x: np.stack(x), *games)
    found = jax.jit(jax.vmap(lambda game: parity.solve(game, PLAIN).winner))(together)
    for own, game in zip(found, games, strict=True):
        np.testing.assert_array_equal(own, parity.solve(game, "host").winner)
