"""The algorithms that are written down as in their papers, against all others."""

import brute_force
import numpy as np
import pytest
from repeats import some_of
from test_reference import tiny_arenas

from jaxgames import Status, generate
from jaxgames.parity import reference
from jaxgames.parity.reference._succinct import leaves, subtree
from jaxgames.testing import odd_arenas

ALGORITHMS = ("promotion", "tangles", "succinct")


@some_of(150, 400)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_against_brute_force(algorithm, count):
    for arena in tiny_arenas(seed=41, count=count):
        solution = reference.solve(arena, algorithm)
        assert solution.status == Status.SOLVED
        assert solution.winner.tolist() == brute_force.winners(arena)
        assert reference.verify(arena, solution)


@some_of(60, 150)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_against_the_recursion(algorithm, count):
    for arena in odd_arenas(seed=42, count=count, max_vertices=12):
        solution = reference.solve(arena.pad(32, 256), algorithm)
        expected = reference.solve(arena).winner
        np.testing.assert_array_equal(solution.winner[: arena.shape[0]], expected)
        assert reference.verify(arena.pad(32, 256), solution)


HARD = [
    generate.counter_dp(5),
    generate.counter_rr(5),
    generate.counter_m(5),
    generate.counter_core(3),
    generate.counter_ortl(4),
    generate.recursive_ladder(6),
    generate.jurdzinski(2, 3),
    generate.two_counters(3),
    generate.two_counters_plus(3),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2])
@pytest.mark.parametrize("arena", HARD, ids=str)
def test_games_that_are_hard_for_others(arena, algorithm):
    solution = reference.solve(arena, algorithm)
    np.testing.assert_array_equal(solution.winner, reference.solve(arena).winner)
    assert reference.verify(arena, solution)


def test_tangles_are_learnt_and_promotions_made():
    """As many as the counters have bits, or as they count."""
    learnt, made = ([], [])
    for n in (4, 8):
        arena = generate.counter_rr(n)
        learnt.append(reference.solve(arena, "tangles").stats["tangles"])
        made.append(reference.solve(arena, "promotion").stats["promotions"])
    assert 0 < learnt[1] < 3 * learnt[0]
    assert made[1] > 6 * made[0] > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_steps_are_limited(algorithm):
    arena = generate.jurdzinski(2, 2)
    steps = reference.solve(arena, algorithm).stats["steps"]
    assert reference.solve(arena, algorithm, max_steps=steps).status == Status.SOLVED
    for limit in (0, steps // 2, steps - 1):
        stopped = reference.solve(arena, algorithm, max_steps=limit)
        assert stopped.status == Status.MAX_STEPS
        assert stopped.stats["steps"] <= limit
        assert set(stopped.winner.tolist()) == set(stopped.strategy.tolist()) == {-1}
    told = reference.solve(arena, algorithm, stop=np.ones(1, np.int8))
    assert told.status == Status.INTERRUPTED


# ---- the succinct universal tree ------------------------------------------------


def paths(bits, height):
    """The leaves of the tree from its definition: nested tuples of words.

    Words are ordered as 0.. < the empty one < 1.., and on a path have so many bits
    together at most.
    """
    if height == 0:
        return [()]
    found = []
    for word in words(bits):
        found += [(word, *rest) for rest in paths(bits - len(word), height - 1)]
    return found


def words(bits):
    """All words up to a length, in order."""
    if bits == 0:
        return [""]
    shorter = words(bits - 1)
    return [*("0" + w for w in shorter), "", *("1" + w for w in shorter)]


@pytest.mark.parametrize("bits", range(4))
@pytest.mark.parametrize("height", range(4))
def test_leaves_are_those_of_the_definition(bits, height):
    every = paths(bits, height)
    assert leaves(bits, height) == len(every)
    for leaf, path in enumerate(every):
        for depth in range(height + 1):
            same = [i for i, x in enumerate(every) if x[:depth] == path[:depth]]
            assert subtree(leaf, bits, height, depth) == (same[0], same[-1] + 1)
