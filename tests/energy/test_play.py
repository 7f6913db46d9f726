"""Plays: the level holds where it should, and falls where it should."""

import dataclasses

import brute_credits
import numpy as np
import pytest

from jaxgames import Arena, energy
from jaxgames.energy import reference


def worst_edge(arena, solution):
    """The opponent who leaves player 0 the least to spare, written out."""

    def choose(vertex, level, edges):
        credit = solution.credit[arena.dst[edges.start : edges.stop]].astype(float)
        credit[credit < 0] = np.inf
        left = level + arena.weight[edges.start : edges.stop] - credit
        pick = np.argmin(left) if arena.owner[vertex] else np.argmax(left)
        return edges[int(pick)]

    return choose


def test_credits_are_enough_and_no_less_is():
    fell = 0
    for arena in brute_credits.tiny_games(seed=4, count=60, largest=6):
        solution = reference.solve(arena)
        for start, credit in enumerate(solution.credit):
            for opponent in ("random", "greedy", "tight", worst_edge(arena, solution)):
                level = 50 if credit < 0 else credit
                found = energy.play(
                    arena, solution, start, level, 400, opponent=opponent, seed=start
                )
                assert found.survives == (credit >= 0)
                assert found.level[0] == level
                assert found.vertex[0] == start
                np.testing.assert_array_equal(arena.src[found.edge], found.vertex[:-1])
                np.testing.assert_array_equal(arena.dst[found.edge], found.vertex[1:])
                np.testing.assert_array_equal(
                    np.diff(found.level), arena.weight[found.edge]
                )
            if credit > 0:
                found = energy.play(
                    arena, solution, start, credit - 1, 400, opponent="tight"
                )
                assert found.level.min() < credit
                fell += not found.survives
    assert fell > 20


def test_a_battery_is_cut_off_at_its_capacity():
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])
    solution = energy.solve_with_capacity(arena, 5)
    found = energy.play(arena, solution, 0, 99, 6, capacity=5)
    assert found.level.tolist() == [5, 5, 0, 5, 0, 5, 0]
    assert found.survives
    assert repr(found) == "Play(6 steps, lowest level 0)"
    found = energy.play(arena, solution, 0, 99, 6, capacity=4)
    assert found.level.tolist() == [4, 4, -1]
    assert repr(found) == "Play(2 steps, lowest level -1, where player 0 loses)"


def test_the_seed_tells_the_play():
    arena = Arena.from_edges([0, 0, 0, 0], [0, 0, 0, 0], owner=[1], weight=[0, 1, 2, 3])
    solution = reference.solve(arena)
    plays = [
        energy.play(arena, solution, 0, 0, 60, seed=seed).edge.tolist()
        for seed in (1, 1, 2, np.random.default_rng(1))
    ]
    assert plays[0] == plays[1] == plays[3] != plays[2]
    assert set(plays[0]) == {0, 1, 2, 3}


ARENA = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0], weight=[0, -3, 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": 2}, "start must be from 0 to 1, got 2"),
        ({"start": -1}, "start must be from 0 to 1, got -1"),
        ({"credit": -1}, "credit must be from 0 to .*, got -1"),
        ({"credit": 1.5}, "credit must be an integer"),
        ({"steps": -1}, "steps must be at least 0, got -1"),
        ({"capacity": -2}, "capacity must be from 0"),
        ({"opponent": "kind"}, "opponent must be one of .* got 'kind'"),
        ({"opponent": lambda *_: 7}, "one of the edges 0 to 1 of vertex 0, got 7"),
    ],
)
def test_arguments_are_checked(change, message):
    solution = reference.solve(ARENA)
    arguments = {"start": 0, "credit": 3, "steps": 5} | change
    with pytest.raises(ValueError, match=message):
        energy.play(ARENA, solution, **arguments)


def test_solutions_are_checked():
    solution = reference.solve(ARENA)
    without = dataclasses.replace(solution, strategy=None)
    with pytest.raises(ValueError, match="solution.strategy is None"):
        energy.play(ARENA, without, 0, 3, 5)
    other = dataclasses.replace(solution, credit=np.zeros(3, np.int32))
    with pytest.raises(ValueError, match=r"shape of one game's vertices, \(2,\), got"):
        energy.play(ARENA, other, 0, 3, 5)
    foreign = dataclasses.replace(solution, strategy=np.full(2, 9, np.int32))
    with pytest.raises(ValueError, match=r"strategy\[0\] is 9, which is no edge"):
        energy.play(ARENA, foreign, 0, 3, 5)


def test_levels_may_be_large():
    arena = Arena.from_edges([0], [0], owner=[0], weight=[2**61])
    played = energy.play(arena, energy.solve(arena), 0, 2**61, 9)
    assert played.level.tolist() == [2**61 * k for k in range(1, 11)]
    assert repr(played) == f"Play(9 steps, lowest level {2**61})"
