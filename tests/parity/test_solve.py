"""The front door: arguments, errors, statuses, tracing, caching."""

import dataclasses

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, SolveError, Status, fixpoint, generate, host, parity
from jaxgames.parity import FPI, Zielonka, _game
from jaxgames.parity._game import compress
from jaxgames.testing import odd_arena, odd_arenas

GAME = Arena.from_edges(
    [0, 0, 1, 2, 2], [1, 2, 0, 2, 0], owner=[0, 1, 0], priority=[2, 3, 4]
)


def test_answer():
    solution = parity.solve(GAME, "zielonka")
    assert solution.winner.tolist() == [0, 0, 0]
    assert solution.winner.dtype == np.int8
    assert solution.strategy.tolist() == [1, -1, 3]
    assert solution.strategy.dtype == np.int32
    assert solution.successor(GAME).tolist() == [2, -1, 2]
    assert solution.status is Status.SOLVED
    assert solution.stats["solver"] == "zielonka"
    assert solution.stats["layout"] == "csr"
    assert solution.stats["rounds"] > 0
    assert repr(solution) == "Solution(player 0 wins 3, player 1 wins 0)"


@pytest.mark.parametrize("name", list(parity.SOLVERS))
def test_stats_name_the_solver(name):
    assert parity.solve(GAME, name).stats["solver"] == name


def test_min_odd_conditions():
    """One cycle of priorities 2 and 5: every condition has its winner."""
    for condition, winner in {
        "max even": 1,
        "max odd": 0,
        "min even": 0,
        "min odd": 1,
    }.items():
        arena = Arena.from_edges(
            [0, 1], [1, 0], owner=[0, 1], priority=[2, 5], condition=condition
        )
        assert parity.solve(arena).winner.tolist() == [winner] * 2, condition


def test_dead_ends_are_lost_by_their_owner():
    arena = Arena.from_edges(
        [0, 0], [1, 2], owner=[0, 1, 0], priority=[1, 0, 0], dead_ends="lose"
    )
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name)
        assert solution.winner.tolist() == [0, 0, 1]
        assert solution.successor(arena).tolist() == [1, -1, -1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"priority": None}, "arena.priority and arena.edge_priority are both None"),
        ({"edge_priority": np.zeros(5, np.int32)}, "are both given"),
    ],
)
def test_games_that_are_none(change, message):
    with pytest.raises(ValueError, match=message):
        parity.solve(dataclasses.replace(GAME, **change))


def test_bad_arguments():
    with pytest.raises(ValueError, match="no parity solver is called 'npp'"):
        parity.solve(GAME, "npp")
    with pytest.raises(ValueError, match="max_steps must be at least 0"):
        parity.solve(GAME, max_steps=-1)
    with pytest.raises(TypeError):
        parity.solve(GAME, "fpi", 100)  # keywords only


def test_step_limit_without_throw():
    solution = parity.solve(GAME, "fpi", max_steps=0, throw=False)
    assert solution.status is Status.MAX_STEPS
    assert solution.winner.tolist() == [-1, -1, -1]
    assert solution.strategy.tolist() == [-1, -1, -1]
    end = parity.solve(GAME, "fpi", state=solution.state)
    assert end.winner.tolist() == [0, 0, 0]


def test_interruption_raises_with_what_was_found():
    arena = generate.hanoi(6)

    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(SolveError, match="INTERRUPTED") as caught:
        parity.solve(arena, FPI(sweeps_per_check=1), progress=interrupt)
    state = caught.value.solution.state
    end = parity.solve(arena, FPI(sweeps_per_check=1), state=state)
    assert parity.verify(arena, end)


def test_no_vertices():
    arena = Arena.from_edges([], [], owner=[], priority=[])
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name)
        assert solution.winner.shape == solution.strategy.shape == (0,)
        assert parity.verify(arena, solution)


@pytest.mark.parametrize("name", ["auto", *parity.SOLVERS])
def test_no_vertices_under_jit_and_vmap(name):
    arena = Arena.from_edges([], [], owner=[], priority=[])

    def check(arena):
        solution = parity.solve(arena, name)
        return solution.winner, solution.status, parity.verify(arena, solution).valid

    winner, status, valid = jax.jit(check)(arena)
    assert (winner.shape, Status(int(status)), bool(valid)) == ((0,), 0, True)
    stack = jax.tree.map(lambda x: jnp.stack([x] * 3), arena)
    winner, status, valid = jax.jit(jax.vmap(check))(stack)
    assert winner.shape == (3, 0)
    assert (status == Status.SOLVED).all()
    assert valid.all()


class TestTracing:
    def test_status_under_jit(self):
        solve = jax.jit(lambda arena, n: parity.solve(arena, "fpi", max_steps=n))
        assert solve(GAME.pad(), 100).status == Status.SOLVED
        stopped = solve(GAME.pad(), 0)
        assert stopped.status == Status.MAX_STEPS
        assert stopped.winner[:3].tolist() == [-1, -1, -1]

    def test_stats_pass_through_jit(self):
        # Of the size for which tests of tangles compile the same.
        stats = jax.jit(parity.solve)(GAME.pad(128, 512)).stats
        assert stats["solver"] == "promotion, tangles"
        assert int(stats["rounds"]) > 0
        assert int(stats["turn"]) == 0

    def test_state_resumes_under_jit(self):
        solve = jax.jit(
            lambda arena, state: parity.solve(arena, "fpi", state=state, throw=False)
        )
        first = jax.jit(lambda a: parity.solve(a, "fpi", max_steps=1))(GAME.pad())
        assert solve(GAME.pad(), first.state).winner[:3].tolist() == [0, 0, 0]

    def test_a_constant_arena_is_solved_at_trace_time(self):
        @jax.jit
        def count(x):
            return x + jnp.sum(parity.solve(GAME).winner == 0)

        assert count(1) == 4

    def test_batch_of_different_games(self):
        arenas = [a.pad(32, 160) for a in odd_arenas(3, 10, 12)]
        batch = jax.tree.map(lambda *x: jnp.stack(x), *arenas)
        solutions = jax.jit(jax.vmap(parity.solve))(batch)
        verdicts = jax.jit(jax.vmap(parity.verify))(batch, solutions)
        assert verdicts.valid.all()
        for arena, winner in zip(arenas, solutions.winner, strict=True):
            np.testing.assert_array_equal(winner, parity.solve(arena).winner)

    def test_lax_map(self):
        arenas = [a.pad(32, 160) for a in odd_arenas(4, 3, 12)]
        batch = jax.tree.map(lambda *x: jnp.stack(x), *arenas)
        mapped = jax.lax.map(lambda arena: parity.solve(arena, "fpi").winner, batch)
        for arena, winner in zip(arenas, mapped, strict=True):
            np.testing.assert_array_equal(winner, parity.solve(arena).winner)


def test_one_trace_for_each_size(monkeypatch):
    """Games of one bucket, whatever their own sizes, share a compilation."""
    traces = []
    step = Zielonka.step

    def counted(self, game, state):
        traces.append(game.dst.shape)
        return step(self, game, state)

    monkeypatch.setattr(Zielonka, "step", counted)
    solver = Zielonka(sweeps=2)  # no other test uses it
    rng = np.random.default_rng(0)
    shapes = set()
    for _ in range(12):
        arena = odd_arena("sparse", rng, 20)
        shapes.add(parity.prepare(arena)[1].dst.shape)
        parity.solve(arena, solver)
    assert 1 <= len(shapes) < 6
    assert len(traces) == len(set(traces)) == len(shapes)


@pytest.mark.counts
@pytest.mark.parametrize("name", list(parity.SOLVERS))
def test_one_compilation_serves_every_chunk_and_resumption(
    name, monkeypatch, habits_of_a_cpu
):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 2)
    # Two sweeps compile three times as long: of one solver. No other test has the size.
    solver = parity.SOLVERS[name](sweeps_per_check=2 if name == "fpi" else 1)
    arena = generate.hanoi(4).pad(100, 5000)
    before = fixpoint._chunk._cache_size()
    stopped = parity.solve(arena, solver, max_steps=7, throw=False)
    assert stopped.status == Status.MAX_STEPS
    assert parity.solve(arena, solver, state=stopped.state).stats["rounds"] > 8
    assert fixpoint._chunk._cache_size() == before + 1


def test_second_solve_prepares_nothing(monkeypatch):
    arena = odd_arena("sparse", np.random.default_rng(1), 20)
    parity.solve(arena, "zielonka")
    monkeypatch.setattr(Arena, "pad", None)
    chex.assert_trees_all_equal(
        parity.solve(arena, "zielonka").winner, parity.solve(arena, "fpi").winner
    )


class TestCompress:
    @pytest.mark.parametrize("seed", range(20))
    def test_keeps_order_and_parity(self, seed):
        rng = np.random.default_rng(seed)
        priority = rng.integers(0, rng.choice([3, 50, 10**9]), rng.integers(1, 60))
        new = compress(priority)
        assert ((new - priority) % 2 == 0).all()
        order = np.argsort(priority, kind="stable")
        assert (np.diff(new[order]) >= 0).all()
        # A new priority is where the parity turns, and nowhere else.
        turns = np.diff(priority[order]) % 2
        assert (np.diff(new[order]) == turns).all()
        assert new.min() == priority.min() % 2

    @pytest.mark.parametrize("many", [2, 63, 64, 65, 300])
    def test_same_by_all_cores(self, many, monkeypatch):
        rng = np.random.default_rng(many)
        priority = rng.integers(0, many, 500).astype(np.int32)
        priority[0] = many - 1
        right = compress(priority)
        monkeypatch.setattr(_game, "pays", lambda entries: True)
        monkeypatch.setattr(host, "FEWEST_PLACES", 50)
        np.testing.assert_array_equal(compress(priority), right)
        with host.interpreted():
            np.testing.assert_array_equal(compress(priority), right)

    @pytest.mark.parametrize("seed", range(5))
    def test_same_under_tracing(self, seed):
        rng = np.random.default_rng(seed)
        priority = rng.integers(0, 90, 40).astype(np.int32)
        traced = jax.jit(compress)(priority)
        np.testing.assert_array_equal(traced, compress(priority))
