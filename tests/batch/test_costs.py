"""Batches start at once: by the host, unless compiling for the device pays."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    SolveError,
    Status,
    batch,
    buchi,
    energy,
    fixpoint,
    generate,
    graph,
    host,
    limits,
    mdp,
    parity,
    solve_many,
)
from jaxgames.drive import PROBLEMS, _costs, _each, _many
from jaxgames.drive._stack import grouped, joined, merged, size_of
from jaxgames.parity._problem import Parity


def weighted(seed: int) -> Arena:
    return generate.random_energy_game(seed, 4 + seed, max_degree=2)


def marked(seed: int) -> Arena:
    arena = generate.random_game(seed, 4 + seed, max_degree=2, min_degree=2)
    accepting = np.random.default_rng(seed).random(4 + seed) < 0.3
    return dataclasses.replace(arena, priority=None, accepting=accepting)


def model(seed: int) -> mdp.MDP:
    return generate.random_mdp(seed, 4 + seed)


CASES = {
    "parity": (functools.partial(generate.random_game, num_vertices=9), parity.solve),
    "energy": (weighted, energy.solve),
    "scc": (marked, graph.scc),
    "mec": (model, mdp.mec),
    "buchi": (marked, buchi.solve),
    "accepting_cycle": (marked, buchi.accepting_cycle),
}
needs_numba = pytest.mark.skipif(not host.can_compile(), reason="no engine to speak of")


@pytest.fixture(autouse=True)
def _nothing_learnt(monkeypatch):
    monkeypatch.setattr(_costs, "_learnt", {})
    monkeypatch.setattr(_costs, "_spent", {})


@pytest.fixture
def nothing_runs_on_the_device(monkeypatch):
    def run(*_, **__):
        raise AssertionError("the device was asked")

    monkeypatch.setattr(fixpoint, "run", run)


def equal(found, expected) -> None:
    for field in dataclasses.fields(expected):
        if field.name not in ("status", "stats", "state", "lasso"):
            own, other = (getattr(x, field.name) for x in (found, expected))
            np.testing.assert_array_equal(own, other, field.name)


@needs_numba
@pytest.mark.parametrize("name", CASES)
def test_small_batches_compile_nothing(name, nothing_runs_on_the_device):
    make, solve = CASES[name]
    games = [make(seed) for seed in range(5)]
    found = solve_many(name, games)
    named = solve_many(name, games, "host")
    for game, own, other in zip(games, found, named, strict=True):
        assert own.stats["solver"] == "host"
        equal(own, solve(game, solver="host"))
        equal(own, other)
    padded = [game.pad(16, 64) for game in games] if name != "mec" else None
    if padded is not None:
        whole = jax.tree.map(lambda *x: np.stack(x), *padded)
        both = solve_many(name, whole)
        for at, game in enumerate(padded):
            equal(
                jax.tree.map(lambda x, at=at: x[at], both), solve(game, solver="host")
            )
        assert not np.any(both.status)


def games_of(count: int) -> list[Arena]:
    return [generate.random_game(seed, 4, max_degree=2) for seed in range(count)]


@needs_numba
def test_where_compiling_pays_the_device_has_all(monkeypatch):
    seconds, graphs = itertools.count(), graph.PROBLEM.__class__
    monkeypatch.setattr(_costs, "SAMPLE", 4)
    monkeypatch.setattr(_each.time, "thread_time", lambda: float(next(seconds)))
    games = games_of(12)
    monkeypatch.setattr(graphs, "compile_seconds", 100.0)
    expected = solve_many(graph, games)
    assert {x.stats["solver"] for x in expected} == {"host"}
    monkeypatch.setattr(_costs, "_spent", {})
    monkeypatch.setattr(graphs, "compile_seconds", 0.5)
    found = solve_many(graph, games)
    assert {x.stats["solver"] for x in found} == {"closure"}
    for own, other in zip(found, expected, strict=True):
        equal(own, other)
    # What was learnt is what such games took, and no guess.
    monkeypatch.setattr(graphs, "compile_seconds", 1e9)
    assert _costs._learnt
    monkeypatch.setattr(_costs, "_spent", {})
    seconds = itertools.count(step=10**6)
    assert solve_many(graph, games)[0].stats["solver"] == "closure"


def test_loading_an_engine_is_not_its_speed():
    assert _costs.rate([20.0, 1.0, 5.0, 1.0, 1.0, 2.0, 3.0, 1.0]) == 1
    assert _costs.rate([20.0, 1.0, 3.0]) == 2
    assert _costs.rate([]) == 0


def test_a_host_that_took_long_before_is_followed_by_the_device():
    sizes = [_costs.key_of(parity.PROBLEM, (8, 8), 32, 8)]
    before = _costs.instead(parity.PROBLEM, sizes)
    # A guess has to be beaten twice, by a host that needs more than 6 seconds.
    assert before == 2 * parity.PROBLEM.compile_seconds
    assert _costs.rate_before(sizes) == 0
    _costs.spend(sizes, [1.0, 1.0, 1.0, 1.0])
    assert _costs.instead(parity.PROBLEM, sizes) == before - 4
    assert _costs.rate_before(sizes) == 1
    _costs.learn(sizes[0], 7.0)
    _costs.learn(sizes[0], 0.5)
    assert _costs.instead(parity.PROBLEM, sizes) == 0.5 - 4
    others = [_costs.key_of(parity.PROBLEM, (16, 16), 32, 8)]
    assert _costs.instead(parity.PROBLEM, others) == 7  # no guess any more


def test_few_sizes_are_made_of_many():
    games = [generate.random_game(i, 6 + 3 * i, max_degree=5) for i in range(60)]
    groups = grouped((32, size_of(game)) for game in games)
    fewer = merged(groups, joined)
    assert len(groups) > 4
    assert len(fewer) == 1
    for (_, size), members in fewer.items():
        assert members == sorted(members)
        batch.stack([games[at] for at in members], *size[:2])  # they all fit
    assert sorted(sum(fewer.values(), [])) == list(range(60))
    # Other labels, or other widths, are never solved together.
    other = dataclasses.replace(games[0], weight=games[0].dst, priority=None)
    assert joined(size_of(games[0]), size_of(other)) is None
    assert len(merged({(32, size_of(games[0])): [0], (64, size_of(games[9])): [1]},
                      joined)) == 2  # fmt: skip
    # Many large games are worth programs of their own.
    large = generate.random_game(1, 3000), generate.random_game(1, 900)
    many = {(32, size_of(game)): [*range(10**4)] for game in large}
    assert len(merged(many, joined)) == 2
    models = PROBLEMS["mec"].form.join
    assert models((8, 16, 8), (16, 8, 8)) == (16, 16, 8)


@needs_numba
def test_the_host_is_ended_between_two_games():
    games = games_of(6)
    calls = []

    def stop(report):
        calls.append(report)
        return Status.TIMEOUT if len(calls) == 2 else None

    found = solve_many(parity, games, throw=False, progress=stop)
    assert [x.status for x in found] == [Status.SOLVED] * 2 + [Status.TIMEOUT] * 4
    assert found.status == Status.TIMEOUT
    assert found.state is None
    assert np.all(found[5].winner == -1)
    assert calls[-1].unit == "games"
    with (
        limits.within(progress=lambda _: Status.INTERRUPTED),
        pytest.raises(SolveError, match="Not solved: games 1, 2"),
    ):
        solve_many(parity, games)


@needs_numba
def test_games_of_a_stack_come_to_the_host_in_blocks(monkeypatch):
    games = [game.pad(8, 16) for game in games_of(7)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *games)
    whole = solve_many(parity, stacked)
    monkeypatch.setattr(_many, "BLOCK", 3)  # the last one is not full
    found = solve_many(parity, stacked)
    for at, game in enumerate(games):
        assert found.winner[at].tolist() == parity.solve(game).winner.tolist()
    np.testing.assert_array_equal(found.strategy, whole.strategy)
    assert isinstance(found.winner, jax.Array)


@needs_numba
def test_solutions_are_a_pytree():
    games = games_of(3)
    found = solve_many(parity, games)
    again = jax.jit(lambda x: x)(found)
    assert type(again) is type(found)
    assert again.status == Status.SOLVED
    assert again.state is None
    for own, other in zip(again, found, strict=True):
        np.testing.assert_array_equal(own.winner, other.winner)
    sums = jax.tree.map(np.sum, found)
    assert int(sums[1].winner) == found[1].winner.sum()
    status = jax.jit(lambda x: x.status)
    assert status(found) == Status.SOLVED
    some = [*found]
    some[1] = dataclasses.replace(some[1], status=Status.TIMEOUT)
    assert status(type(found)(some, None)) == Status.TIMEOUT


@pytest.mark.parametrize(("games", "plain"), [(3, True), (400, False)])
def test_what_is_small_alone_is_not_where_there_are_many(games, plain, monkeypatch):
    monkeypatch.setattr(host, "_has_llvm", lambda: False)
    monkeypatch.setattr(host, "_plain_left", 60.0)
    arena = generate.random_game(0, 50)
    assert 3 * arena.shape[1] <= host.SMALL < 400 * arena.shape[1]
    seen = []
    real = Parity.on_host

    def on_host(self, question, **how):
        seen.append(
            isinstance(getattr(how.get("track"), "stop", None), host.Impatience)
        )
        return real(self, question, **how)

    monkeypatch.setattr(Parity, "on_host", on_host)
    solve_many(parity, [arena] * games, "host")
    assert set(seen) == {plain}
