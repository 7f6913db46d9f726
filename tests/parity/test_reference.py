"""The host algorithms against all strategies of tiny games, and against each other."""

import dataclasses
from pathlib import Path
from typing import get_args

import brute_force
import jax
import numpy as np
import pytest
from repeats import some_of

from jaxgames import Arena, Status, generate, host
from jaxgames.io import pgsolver
from jaxgames.parity import Reason, Solution, reference
from jaxgames.parity import host as engine
from jaxgames.parity.host._cycles import NEVER, cycle_priorities
from jaxgames.testing import odd_arenas


def tiny_arenas(seed, count):
    """Random games of at most 5 vertices with at most 3 edges each."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = rng.integers(1, 6)
        src = np.repeat(np.arange(size), rng.integers(1, 4, size))
        yield Arena.from_edges(
            src,
            rng.integers(0, size, len(src)),
            owner=rng.integers(0, 2, size),
            priority=rng.integers(0, rng.integers(1, 9), size),
        )


def edges(arena):
    return arena.row_ptr[:-1], arena.row_ptr[1:]


# ---- answers -----------------------------------------------------------------


@some_of(700, 3000)
def test_zielonka_against_brute_force(count):
    for arena in tiny_arenas(seed=1, count=count):
        solution = reference.solve(arena)
        assert solution.status == Status.SOLVED
        assert solution.winner.tolist() == brute_force.winners(arena)
        assert reference.verify(arena, solution)


@some_of(3, 10)
@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("priorities", [2, 10, 1000])
def test_zielonka_is_right_on_larger_games(degree, priorities, count):
    """The certificate is proof; here the recursion goes deep and solves anew."""
    rng = np.random.default_rng([degree, priorities])
    for size in (30, 100, 300):
        for _ in range(count):
            src = np.repeat(np.arange(size), rng.integers(1, degree + 1, size))
            arena = Arena.from_edges(
                src,
                rng.integers(0, size, len(src)),
                owner=rng.integers(0, 2, size),
                priority=rng.integers(0, priorities, size),
            )
            assert reference.verify(arena, reference.solve(arena))


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_plain_and_compiled_are_the_same():
    for arena in odd_arenas(seed=4, count=100, max_vertices=16):
        compiled = reference.solve(arena)
        with host.interpreted():
            plain = reference.solve(arena)
            assert reference.verify(arena, compiled)
        np.testing.assert_array_equal(plain.winner, compiled.winner)
        np.testing.assert_array_equal(plain.strategy, compiled.strategy)
        assert dict(plain.stats) == dict(compiled.stats)


# ---- the work of zielonka ----------------------------------------------------


def test_depth_costs_nothing():
    """As many levels as vertices, none of them solved twice."""
    size = 3000
    loops = np.arange(size)
    arena = Arena.from_edges(loops, loops, owner=loops % 3 == 0, priority=loops)
    solution = reference.solve(arena)
    np.testing.assert_array_equal(solution.winner, loops % 2)
    assert dict(solution.stats) == {
        "solver": "reference.zielonka",
        "steps": size,
        "depth": size,
        "subgames": size,
    }


def test_head_takes_all_above_the_other_parity():
    loops = np.arange(6)
    arena = Arena.from_edges(loops, loops, owner=[0] * 6, priority=[0, 2, 4, 1, 8, 6])
    assert reference.solve(arena).stats["subgames"] == 3


# ---- limits ------------------------------------------------------------------


def test_max_steps():
    arena = generate.jurdzinski(2, 2)
    steps = reference.solve(arena).stats["steps"]
    assert reference.solve(arena, max_steps=steps).status == Status.SOLVED
    for limit in (0, steps // 2, steps - 1):
        stopped = reference.solve(arena, max_steps=limit)
        assert stopped.status == Status.MAX_STEPS
        assert stopped.stats["steps"] == limit
        assert set(stopped.winner.tolist()) == {-1}
        assert set(stopped.strategy.tolist()) == {-1}


def test_an_exponential_game_ends():
    stopped = reference.solve(generate.recursive_ladder(50), max_steps=10_000)
    assert stopped.status == Status.MAX_STEPS


# ---- what is accepted --------------------------------------------------------


def test_padding_plays_no_part():
    for arena in odd_arenas(seed=6, count=20, max_vertices=8):
        padded = arena.pad()
        size = arena.shape[0]
        for algorithm in ("zielonka", "spm"):
            plain = reference.solve(arena, algorithm)
            solution = reference.solve(padded, algorithm)
            assert solution.winner.shape == padded.owner.shape
            np.testing.assert_array_equal(solution.winner[:size], plain.winner)
            np.testing.assert_array_equal(solution.strategy[:size], plain.strategy)
            solution.strategy[size:] = 12345
            assert reference.verify(padded, solution)


def test_takes_arrays_of_a_device():
    arena = next(odd_arenas(seed=7, count=1))
    there = jax.device_put(arena)
    solution = reference.solve(there)
    np.testing.assert_array_equal(solution.winner, reference.solve(arena).winner)
    assert reference.verify(there, jax.device_put(solution))


def test_the_empty_game():
    arena = Arena.from_edges([], [], owner=[], priority=[])
    for algorithm in get_args(reference.Algorithm):
        solution = reference.solve(arena, algorithm)
        assert solution.status == Status.SOLVED
        assert solution.winner.shape == (0,)
        assert reference.verify(arena, solution)


LOOP = Arena.from_edges([0], [0], owner=[0], priority=[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"priority": None}, "both None"),
        ({"edge_priority": np.array([1], np.int32)}, "both given"),
        ({"owner": np.array([[False]])}, "one game at a time"),
    ],
)
def test_refuses_other_games(change, message):
    arena = dataclasses.replace(LOOP, **change)
    with pytest.raises(ValueError, match=message):
        reference.solve(arena)


def test_refuses_dead_ends():
    arena = Arena.from_edges([0], [1], owner=[0, 0], priority=[0, 0], dead_ends="allow")
    with pytest.raises(ValueError, match="vertex 1 has no successor"):
        reference.solve(arena)
    with pytest.raises(ValueError, match="vertex 1 has no successor"):
        reference.verify(arena, claim([0, 0], [0, -1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "oink"}, "algorithm must be one of"),
        ({"algorithm": "spm", "lifting": "heap"}, "lifting must be one of"),
        ({"max_steps": -1}, "max_steps must be at least 0"),
        ({"alternating": True}, 'only "spm" has alternating players'),
        ({"stop": np.zeros(1, bool)}, "stop must be int8 of shape"),
        ({"stop": np.zeros(2, np.int8)}, "stop must be int8 of shape"),
    ],
)
def test_refuses_other_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        reference.solve(LOOP, **arguments)


# ---- the verifier ------------------------------------------------------------


def claim(winner, strategy) -> Solution:
    return Solution(Status.SOLVED, winner=np.array(winner), strategy=np.array(strategy))


# Player 0 wins 0 by its loop, and 1; player 1 wins 2 and 3 by a cycle of priority 5.
GAME = Arena.from_edges(
    [0, 0, 1, 2, 3, 3],
    [0, 2, 0, 3, 2, 0],
    owner=[0, 1, 0, 1],
    priority=[2, 1, 5, 4],
)


@pytest.mark.parametrize(
    ("winner", "strategy", "reason", "vertex"),
    [
        ([0, 0, 1, 1], [0, -1, -1, 4], Reason.OK, -1),
        ([0, 0, 1, -1], [0, -1, -1, 4], Reason.UNDECIDED, 3),
        ([0, 2, 1, 1], [0, -1, -1, 4], Reason.UNDECIDED, 1),
        ([0, 0, 1, 1], [0, -1, -1, -1], Reason.STRATEGY_MISSING, 3),
        (
            [0, 0, 1, 1],
            [2, -1, -1, 4],
            Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX,
            0,
        ),
        (
            [0, 0, 1, 1],
            [0, -1, -1, 6],
            Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX,
            3,
        ),
        (
            [0, 0, 1, 1],
            [-2, -1, -1, 4],
            Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX,
            0,
        ),
        ([0, 0, 1, 1], [0, 2, -1, 4], Reason.STRATEGY_OF_LOSER, 1),
        ([0, 0, 1, 1], [1, -1, -1, 4], Reason.STRATEGY_LEAVES_REGION, 0),
        ([0, 0, 0, 1], [0, -1, 3, 4], Reason.STRATEGY_LEAVES_REGION, 2),
        ([1, 0, 1, 1], [-1, -1, -1, 4], Reason.OPPONENT_ESCAPES, 1),
        ([0, 0, 0, 0], [0, -1, 3, -1], Reason.CYCLE_WON_BY_OPPONENT, 2),
    ],
)
def test_reasons(winner, strategy, reason, vertex):
    for verify in (reference.verify, engine.verify):
        verdict = verify(GAME, claim(winner, strategy))
        assert bool(verdict) == (reason == Reason.OK)
        assert (int(verdict.reason), int(verdict.vertex)) == (reason, vertex)
        assert str(verdict) == (
            "valid" if verdict else f"vertex {vertex}: {reason.message}"
        )


def test_every_reason_has_a_message():
    assert len({reason.message for reason in Reason}) == len(Reason)


def test_verdict_passes_through_jit():
    verdict = reference.verify(GAME, claim([0, 0, 1, 1], [0, -1, -1, -1]))
    through = jax.jit(lambda x: x)(verdict)
    assert not through
    assert str(through) == str(verdict)


@pytest.mark.parametrize(
    ("winner", "strategy", "message"),
    [
        ([0, 0, 1], [0, -1, -1, 4], "winner must have the arena's shape"),
        ([0, 0, 1, 1], [0, -1, -1], "strategy must have the arena's shape"),
        ([0.0, 0, 1, 1], [0, -1, -1, 4], "winner must hold integers"),
        ([0, 0, 1, 1], [0.0, -1, -1, 4], "strategy must hold integers"),
    ],
)
def test_verify_refuses_other_shapes(winner, strategy, message):
    with pytest.raises(ValueError, match=message):
        reference.verify(GAME, claim(winner, strategy))


def test_verify_agrees_with_brute_force_on_other_strategies():
    rng = np.random.default_rng(8)
    right = wrong = 0
    for arena in tiny_arenas(seed=9, count=600):
        solution = reference.solve(arena)
        first, end = edges(arena)
        strategy = np.where(solution.strategy == -1, -1, rng.integers(first, end))
        verdict = engine.verify(arena, claim(solution.winner, strategy))
        textbook = reference.verify(arena, claim(solution.winner, strategy))
        assert (verdict.reason, verdict.vertex) == (textbook.reason, textbook.vertex)
        expected = all(
            brute_force.wins(arena, player, solution.winner, strategy)
            for player in (0, 1)
        )
        assert bool(verdict) == expected, str(verdict)
        right, wrong = right + expected, wrong + (not expected)
    assert right > 100
    assert wrong > 100


def test_verify_rejects_other_winners():
    """Winners are unique: no strategies can make others right."""
    rng = np.random.default_rng(10)
    for arena in tiny_arenas(seed=11, count=300):
        winner = reference.solve(arena).winner ^ (rng.random(len(arena.owner)) < 0.3)
        if np.array_equal(winner, reference.solve(arena).winner):
            continue
        strategy = np.where(winner == arena.owner, rng.integers(*edges(arena)), -1)
        assert not engine.verify(arena, claim(winner, strategy))


def test_cycle_priorities_against_reachability():
    rng = np.random.default_rng(12)
    for _ in range(100):
        size = int(rng.integers(1, 10))
        tail, head = rng.integers(0, size, (2, 2 * size)).astype(np.int32)
        priority = rng.integers(0, 12, size).astype(np.int32)
        least = cycle_priorities(tail.copy(), head.copy(), priority, False)
        expected = np.full(len(tail), NEVER)
        for p in reversed(range(12)):
            alive = np.maximum(priority[tail], priority[head]) <= p
            reach = np.eye(size, dtype=bool)
            for _ in range(size):
                for a, b in zip(tail[alive], head[alive], strict=True):
                    reach[a] |= reach[b]
            expected[alive & reach[head, tail]] = p
        np.testing.assert_array_equal(least, expected)


# ---- games of others ---------------------------------------------------------

PUBLIC = Path(__file__).parents[3] / "shared/data/public"


def corpus():
    path = PUBLIC / "parity/winners.npz"
    if not path.exists():
        return []
    with np.load(path) as winners:
        return sorted(winners.files)


def check_corpus(name):
    with np.load(PUBLIC / "parity/winners.npz") as winners:
        packed = winners[name]
    size = int(packed[:8].view("<i8")[0])
    expected = np.unpackbits(packed[8:], count=size, bitorder="little")
    arena = pgsolver.load(PUBLIC / f"parity/{name}.gz")
    # Recursive ladders are made to be exponential for this algorithm.
    hard = "rladder" in name or "recursiveladder" in name
    solution = reference.solve(arena, max_steps=100_000 if hard else None)
    if hard and solution.status == Status.MAX_STEPS:
        return
    np.testing.assert_array_equal(solution.winner, expected)
    assert engine.verify(arena, solution)


needs_corpus = pytest.mark.skipif(
    not corpus(), reason="the public games are not beside the project"
)
SAMPLE = [name for name in corpus() if "jgame" not in name and "jurdz" not in name][
    ::20
]


@needs_corpus
@pytest.mark.skipif(not host.can_compile(), reason="takes minutes without numba")
@pytest.mark.parametrize("name", SAMPLE)
def test_sample_of_the_corpus(name):
    check_corpus(name)


@needs_corpus
@pytest.mark.sweep
@pytest.mark.parametrize("name", corpus())
def test_corpus(name):
    check_corpus(name)


@pytest.mark.skipif(not host.can_compile(), reason="takes minutes without numba")
@pytest.mark.parametrize(
    "path",
    sorted(PUBLIC.glob("parity_thesis/*.sol.npz"))
    or [pytest.param(None, marks=pytest.mark.skip("the games are not there"))],
    ids=lambda path: path.name.partition(".")[0] if path else "none",
)
def test_games_of_the_thesis(path):
    with np.load(path.with_name(path.name.replace(".sol", ""))) as game:
        arena = Arena.from_csr(
            game["offsets"],
            game["targets"],
            owner=game["owner"],
            priority=game["priority"],
            condition="min even",
        )
    with np.load(path) as expected:
        solution = reference.solve(arena)
        np.testing.assert_array_equal(solution.winner, expected["winner"])
    assert engine.verify(arena, solution)
