"""Games with a battery against safety games over vertices and levels."""

import dataclasses

import brute_credits
import jax
import numpy as np
import pytest

from jaxgames import Arena, SolveError, Status, energy
from jaxgames.energy import Reason, reference
from jaxgames.energy import host as engine

CAPACITIES = (0, 1, 3, 6, 40)


def by_levels(arena, capacity):
    """Least winning levels, by removing losing pairs of a vertex and a level."""
    size = len(arena.owner)
    wins = np.ones((size, capacity + 1), bool)
    while True:
        kept = wins.copy()
        for v in range(size):
            edges = range(arena.row_ptr[v], arena.row_ptr[v + 1])
            for level in range(capacity + 1):
                after = [min(capacity, level + int(arena.weight[e])) for e in edges]
                good = [
                    x >= 0 and wins[arena.dst[e], x]
                    for e, x in zip(edges, after, strict=True)
                ]
                kept[v, level] = all(good) if arena.owner[v] else any(good)
        if (kept == wins).all():
            return np.where(wins.any(axis=1), wins.argmax(axis=1), -1)
        wins = kept


def games(count=60):
    return brute_credits.tiny_games(seed=7, count=count, largest=6, weights=4)


def test_host_against_levels():
    for arena in games():
        for capacity in CAPACITIES:
            expected = by_levels(arena, capacity)
            for solve in (engine.solve, reference.solve):
                found = solve(arena, capacity=capacity)
                np.testing.assert_array_equal(found.credit, expected)
                np.testing.assert_array_equal(found.winner, expected < 0)
                verdict = energy.verify_with_capacity(arena, found, capacity)
                assert verdict, str(verdict)
            own = (expected >= 0) & ~arena.owner
            np.testing.assert_array_equal(found.strategy >= 0, own)


def test_device_against_host():
    """One shape, so that it compiles once; alone and in a batch, traced capacities."""
    arenas = [arena.pad(8, 32) for arena in games(30)]
    rng = np.random.default_rng(0)
    capacities = rng.choice(CAPACITIES, len(arenas)).astype(np.int32)
    batch = jax.tree.map(lambda *x: np.stack(x), *arenas)
    together = jax.jit(jax.vmap(energy.solve_with_capacity))(batch, capacities)
    assert np.all(together.status == Status.SOLVED)
    for index, (arena, capacity) in enumerate(zip(arenas, capacities, strict=True)):
        expected = reference.solve(arena, capacity=capacity)
        alone = energy.solve_with_capacity(arena, capacity, "fvi")
        for name in ("credit", "winner", "strategy"):
            right = getattr(expected, name)
            size = int(arena.num_vertices)
            np.testing.assert_array_equal(getattr(alone, name)[:size], right[:size])
            np.testing.assert_array_equal(
                getattr(together, name)[index][:size], right[:size]
            )


def test_a_large_battery_is_no_limit():
    for arena in games():
        plain = reference.solve(arena)
        most = energy.bound(arena)
        for capacity in (most, 10**15, 2**62 - 1):
            found = reference.solve(arena, capacity=capacity)
            np.testing.assert_array_equal(found.credit, plain.credit)


@pytest.mark.parametrize("unit", [10**12, 10**18])
def test_large_numbers(unit):
    """In 64 bits, and in more than the device has."""
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2, 3], [1, 3, 0, 2, 0, 3], owner=[0, 1, 1, 0],
        weight=np.array([2, -3, 1, -2, 1, 0]) * unit,
    )  # fmt: skip
    for capacity in (unit, 2 * unit - 1, 2 * unit, 3 * unit, 4 * unit):
        expected = reference.solve(arena, capacity=capacity)
        for solver in ("fvi", "host"):
            found = energy.solve_with_capacity(arena, capacity, solver)
            np.testing.assert_array_equal(found.credit, expected.credit)
            np.testing.assert_array_equal(found.strategy, expected.strategy)


def test_player_1_must_know_the_level():
    """With 10 he wins from vertex 0, but by neither of its edges alone."""
    edges = [(0, 2, -8), (0, 1, 5), (1, 0, -3), (2, 2, 0)]
    owner, capacity = [1, 0, 0], 10

    def credit(edges):
        src, dst, weight = zip(*edges, strict=True)
        arena = Arena.from_edges(src, dst, owner=owner, weight=weight)
        return energy.solve_with_capacity(arena, capacity).credit.tolist()

    assert credit(edges) == [-1, -1, 0]
    assert credit([edges[0], *edges[2:]])[0] >= 0
    assert credit(edges[1:])[0] >= 0


def test_survives():
    arena = Arena.from_edges(
        [0, 1, 2, 2], [1, 0, 2, 0], owner=[0, 1, 1], weight=[6, -5, -1, 0]
    )
    solution = reference.solve(arena)
    assert energy.survives(solution, 4).tolist() == [True, False, False]
    assert energy.survives(solution, [0, 5, 99]).tolist() == [True, True, False]
    assert energy.survives(solution, 10**30).tolist() == [True, True, False]
    assert energy.survives(solution, -(10**30)).tolist() == [False] * 3
    traced = jax.jit(energy.survives)(solution, 4)
    assert traced.tolist() == [True, False, False]
    with pytest.raises(ValueError, match="level must be an integer, got float64"):
        energy.survives(solution, 4.5)


def test_wrong_answers_are_refused():
    for arena in games(30):
        solution = reference.solve(arena, capacity=5)
        for v in range(len(solution.credit)):
            for other in {-1, 0, 6, solution.credit[v] - 1, solution.credit[v] + 1}:
                if other == solution.credit[v]:
                    continue
                credit = solution.credit.copy()
                credit[v] = other
                wrong = dataclasses.replace(solution, credit=credit)
                assert not energy.verify_with_capacity(arena, wrong, 5)


def test_another_winner_is_refused():
    solution = energy.solve_with_capacity(ARENA, 5)
    for winner in ([1, 0], [0, 1], [-1, 0], [0, 2]):
        wrong = dataclasses.replace(solution, winner=np.array(winner, np.int8))
        assert not energy.verify_with_capacity(ARENA, wrong, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": None}, "solution.winner is None"),
        ({"credit": np.zeros(3, int)}, "solution.credit must have the arena's shape"),
        ({"winner": np.zeros(2)}, "solution.winner must hold integers, got float64"),
        ({"strategy": np.zeros(1, int)}, "solution.strategy must have the arena's"),
    ],
)
def test_answers_of_another_form_are_none(change, message):
    wrong = dataclasses.replace(energy.solve_with_capacity(ARENA, 5), **change)
    with pytest.raises(ValueError, match=message):
        energy.verify_with_capacity(ARENA, wrong, 5)


def test_what_is_no_energy_game_is_not_verified():
    solution = energy.solve_with_capacity(ARENA, 5)
    for weight, message in (
        (None, "weight is None"),
        (np.zeros((2, 2), np.int32), "one weight on each edge"),
        (ARENA.weight.astype(object), "weight must hold signed integers, got object"),
    ):
        with pytest.raises(ValueError, match=message):
            energy.verify_with_capacity(
                dataclasses.replace(ARENA, weight=weight), solution, 5
            )


def test_moves_of_player_1_are_refused():
    arena = Arena.from_edges([0], [0], owner=[1], weight=[-1])
    solution = energy.solve_with_capacity(arena, 3)
    assert solution.strategy.tolist() == [-1]
    wrong = dataclasses.replace(solution, strategy=np.zeros(1, np.int32))
    found = energy.verify_with_capacity(arena, wrong, 3)
    assert found.reason == Reason.STRATEGY_OF_LOSER


ARENA = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacity": -1}, r"capacity must be from 0 to 4611686018427387903, got -1"),
        ({"capacity": 2.5}, "capacity must be an integer from 0 to .*, got 2.5"),
        ({"capacity": True}, "capacity must be an integer from 0 to .*, got True"),
        ({"capacity": 1, "solver": "magic"}, "no energy solver is called 'magic'"),
        ({"capacity": 1, "max_steps": -1}, "max_steps must be at least 0"),
        (
            {"capacity": 1, "arena": dataclasses.replace(ARENA, weight=None)},
            "weight is None",
        ),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        energy.solve_with_capacity(**({"arena": ARENA} | arguments))


def test_a_battery_goes_on_where_it_stopped():
    expected = energy.solve_with_capacity(ARENA, 5, "host")
    stopped = energy.solve_with_capacity(ARENA, 5, max_steps=0, throw=False)
    assert stopped.status == Status.MAX_STEPS
    for found in (
        energy.solve_with_capacity(ARENA, 5, state=stopped.state),
        energy.solve_with_capacity(ARENA, 5, "race"),
    ):
        np.testing.assert_array_equal(found.credit, expected.credit)
    with pytest.raises(ValueError, match="another problem of the same kind"):
        energy.solve_with_capacity(ARENA, 4, state=stopped.state)


def test_limits():
    with pytest.raises(SolveError) as caught:
        energy.solve_with_capacity(ARENA.pad(8, 32), 4, max_steps=0)
    assert caught.value.status == Status.MAX_STEPS
    assert caught.value.solution.winner[0] == -1
    found = jax.jit(energy.solve_with_capacity)(ARENA.pad(8, 32), np.int32(2**30))
    assert found.status == Status.OVERFLOW
    with pytest.raises(ValueError, match="where a traced game cannot be"):
        jax.jit(lambda a: energy.solve_with_capacity(a, 3, "host"))(ARENA)
