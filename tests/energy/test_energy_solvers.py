"""The array programs against all strategies, the host's answers and known credits."""

import dataclasses

import brute_credits
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from energy_games import FILES, in_few_sizes, load, odd_games, stacked

from jaxgames import (
    Arena,
    SolveError,
    Status,
    energy,
    fixpoint,
    generate,
    host,
    ops,
)
from jaxgames.energy import _bounds, _device, _problem, reference

SOLVERS = [energy.FVI(), energy.FVI(active=False), energy.VI(), energy.VI(active=True)]


def name(solver):
    return f"{solver.name}-active" if solver.active else solver.name


def same(solution, expected, what=""):
    size = len(expected.credit)
    for part in ("credit", "winner", "strategy"):
        np.testing.assert_array_equal(
            np.asarray(getattr(solution, part))[:size],
            getattr(expected, part),
            err_msg=f"{part} {what}",
        )


verify_each = jax.jit(jax.vmap(energy.verify))


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_small_games_in_a_batch(solver):
    tiny = list(brute_credits.tiny_games(seed=11, count=120))
    games = tiny + list(odd_games(120, seed=12))
    batch = stacked(games, 16, 64)

    @jax.jit
    @jax.vmap
    def run(arena):
        return dataclasses.replace(energy.solve(arena, solver), stats={}, state=None)

    solutions = jax.device_get(run(batch))
    verdicts = verify_each(batch, solutions)
    assert np.all(solutions.status == Status.SOLVED)
    assert np.all(verdicts.reason == energy.Reason.OK)
    for index, game in enumerate(games):
        alone = jax.tree.map(lambda x, i=index: x[i], solutions)
        same(alone, reference.solve(game), f"of game {index}")
        if index < len(tiny):
            np.testing.assert_array_equal(
                alone.credit[: len(game.owner)], brute_credits.credits(game)
            )


def quick(path):
    return path.stat().st_size < 200_000 and "hanoi_10" not in path.name


def check_file(path, solver):
    arena, credit = load(path)
    game = in_few_sizes(arena)
    solution = energy.solve(game, solver)
    np.testing.assert_array_equal(solution.credit[: len(credit)], credit)
    expected = energy.solve(game, "host")
    same(solution, expected)
    assert solution.credit.dtype == expected.credit.dtype
    verdict = energy.verify(game, solution)
    assert verdict, str(verdict)


QUICK = [path for path in FILES if quick(path)]


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
def test_known_credits(path):
    check_file(path, "fvi")


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if "n10" in path.stem and "n1000" not in path.stem],
    ids=lambda path: path.stem,
)
def test_value_iteration_finds_known_credits(path):
    if "1e" in path.stem:
        pytest.skip("too many rounds")
    check_file(path, "vi")


@pytest.mark.sweep
@pytest.mark.parametrize("solver", ["fvi", energy.FVI(active=False), "race"], ids=str)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_known_credits(path, solver):
    arena, credit = load(path)
    solution = energy.solve(arena, solver)
    np.testing.assert_array_equal(solution.credit, credit)
    same(solution, reference.solve(arena))
    verdict = energy.verify(arena, solution, "device")
    assert verdict, str(verdict)


# ---- ways to call a solver -----------------------------------------------------


@pytest.fixture(scope="module")
def game():
    """Both players win some of it, in several turns."""
    rng = np.random.default_rng(20)
    size = 60
    src = np.repeat(np.arange(size), rng.integers(1, 4, size))
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.random(size) < 0.5,
        weight=rng.integers(-16, 25, len(src)),
    )


@pytest.mark.parametrize("solver", [energy.FVI(), energy.VI()], ids=name)
def test_all_ways_agree(game, solver):
    expected = reference.solve(game)
    assert {0, 1} == set(expected.winner.tolist())
    same(energy.solve(game, solver), expected, "plainly")
    padded = game.pad()
    same(energy.solve(padded, solver), expected, "padded")
    same(jax.jit(energy.solve, static_argnums=1)(padded, solver), expected, "jitted")
    with jax.enable_x64(True):
        same(energy.solve(padded, solver), expected, "with 64-bit types")
    sliced = jax.device_put(ops.slice_rows(_bounds.narrowed(game, 32)))
    task = _device._task(solver, sliced, 7)
    found = fixpoint.run(solver, task).answer
    size = game.shape[0]
    np.testing.assert_array_equal(found.credit[:size], expected.credit)
    np.testing.assert_array_equal(found.winner[:size], expected.winner)


@pytest.mark.parametrize("solver", [energy.FVI(), energy.VI()], ids=name)
@pytest.mark.parametrize("times", [1, 30_000_000])  # numbers of 32 and of 64 bits
def test_stopped_and_resumed(game, solver, times):
    weight = np.asarray(game.weight, np.int64) * times
    game = dataclasses.replace(game, weight=weight)
    final, state, limit, stops = energy.solve(game, solver), None, 0, 0
    stride = 3 if solver.name == "fvi" else 40
    while True:
        solution = energy.solve(game, solver, max_steps=limit, state=state, throw=False)
        if solution.status == Status.SOLVED:
            break
        assert solution.status == Status.MAX_STEPS
        known = np.asarray(solution.winner) >= 0
        np.testing.assert_array_equal(solution.winner[known], final.winner[known])
        np.testing.assert_array_equal(solution.credit[known], final.credit[known])
        assert np.all(solution.credit[~known] == energy.UNKNOWN)
        assert np.all(solution.strategy[~known] == -1)
        state, limit, stops = solution.state, limit + stride, stops + 1
    assert stops >= 2
    same(solution, final)


def test_resumed_under_tracing(game):
    padded = game.pad()
    solver = energy.FVI()
    solve = jax.jit(
        lambda arena, limit, state: energy.solve(
            arena, solver, max_steps=limit, state=state
        )
    )
    solution = jax.jit(lambda a: energy.solve(a, solver, max_steps=1))(padded)
    assert int(solution.status) == Status.MAX_STEPS
    for limit in range(2, 60):
        solution = solve(padded, limit, solution.state)
        if int(solution.status) == Status.SOLVED:
            break
    same(solution, reference.solve(game))


def test_other_solvers_of_the_registry(game):
    expected = reference.solve(game)
    for solver in ("auto", "host", "race"):
        solution = energy.solve(game, solver)
        same(solution, expected, solver)
        assert solution.stats["solver"] in ("host", "fvi")
    assert energy.place_for(game, "race") == "race"


def test_without_strategies(game):
    expected = reference.solve(game)
    for solver in ("fvi", "host"):
        solution = energy.solve(game, solver, strategies=False)
        assert solution.strategy is None
        np.testing.assert_array_equal(solution.credit, expected.credit)
        with pytest.raises(ValueError, match="strategies=False"):
            solution.successor(game)


def test_a_limit_raises(game):
    with pytest.raises(SolveError) as raised:
        energy.solve(game, "fvi", max_steps=1)
    assert raised.value.status == Status.MAX_STEPS
    same(
        energy.solve(game, "fvi", state=raised.value.solution.state),
        reference.solve(game),
    )


def test_progress_may_stop_it(game):
    solution = energy.solve(
        game,
        energy.VI(),
        progress=lambda report: Status.TIMEOUT,
        throw=False,
    )
    assert solution.status == Status.TIMEOUT


# ---- numbers -------------------------------------------------------------------


def test_more_than_32_bits():
    arena = Arena.from_edges(
        [0, 1, 2, 2],
        [1, 2, 2, 0],
        owner=[0, 1, 0],
        weight=[-(2**31), -(2**31), 0, -(2**40)],
    )
    for solver in ("fvi", "vi"):
        solution = energy.solve(arena, solver)
        assert solution.credit.dtype == np.int64
        assert solution.credit.tolist() == [2**32, 2**31, 0]
        same(solution, reference.solve(arena))
        assert energy.verify(arena, solution, "device")


def test_huge_gains_do_not_need_wide_numbers():
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[2**31 - 1, -5])
    solution = energy.solve(arena, "fvi")
    assert solution.stats["bits"] == 32
    assert solution.credit.tolist() == [0, 5]


def test_bounds_beyond_64_bits():
    many = 8
    ring = np.arange(many)
    arena = Arena.from_edges(
        ring,
        (ring + 1) % many,
        owner=np.zeros(many, bool),
        weight=np.full(many, -(2**62)),
    )
    assert energy.bound(arena) == many * 2**62
    solution = energy.solve(arena)
    assert (solution.winner == 1).all()
    assert energy.verify(arena, solution)


def test_what_the_device_cannot_hold_the_host_solves():
    """A vertex needs much and takes many steps: too much for 64 bits of both."""
    size = 200
    chain = np.arange(size)
    weight = np.full(size, -(2**53))
    weight[-1] = 0
    arena = Arena.from_edges(
        chain, np.minimum(chain + 1, size - 1), owner=chain % 2, weight=weight
    )
    solution = energy.solve(arena, "fvi")
    assert solution.stats["solver"] == "host"
    np.testing.assert_array_equal(solution.credit, 2**53 * (size - 1 - chain))
    with pytest.raises(SolveError, match='or take another solver, "host"') as caught:
        energy.solve(arena, "fvi", max_steps=100_000)
    assert caught.value.status == Status.OVERFLOW
    assert "number of words" not in str(caught.value)


def test_a_small_game_that_takes_long_on_the_host_is_watched(monkeypatch):
    """Without machine code a few thousand vertices take seconds."""
    monkeypatch.setattr(host, "can_compile", lambda: False)
    arena = generate.random_energy_game(1, 8000)
    assert arena.shape[1] < energy.PROBLEM.inline
    how = {"progress": lambda report: Status.TIMEOUT, "throw": False}
    for solution in (
        energy.solve(arena, "host", **how),
        energy.solve_with_capacity(arena, 400, "host", **how),
    ):
        assert solution.status == Status.TIMEOUT
        assert (solution.winner == -1).all()


@pytest.mark.parametrize("lifts", [0, 5])
def test_what_is_begun_anew_has_the_same_answer(monkeypatch, lifts):
    monkeypatch.setattr(_problem, "PATIENCE", lifts)
    arena = generate.random_energy_game(1, 50)
    same(energy.solve(arena, "host"), reference.solve(arena))


def test_numbers_that_do_not_fit_under_tracing():
    arena = Arena.from_edges(
        [0, 1, 2], [1, 2, 2], owner=[0, 0, 0], weight=[-(2**29), -(2**29), 0]
    )
    for solver in ("fvi", "vi"):
        found = jax.jit(energy.solve, static_argnums=1)(arena, solver)
        assert int(found.status) == Status.OVERFLOW
        assert not np.any(np.asarray(found.winner) == 1)


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_few_bits_for_steps_are_found_out(scale):
    """A long way to a credit of 0, and a cycle that loses little."""
    many = 40
    ring = np.arange(many)
    weight = np.zeros(2 * many, np.int64)
    weight[0], weight[many + 3] = -1, -1
    arena = Arena.from_edges(
        np.append(ring, ring + many),
        np.append((ring + 1) % many, np.append(ring[1:] + many, 2 * many - 1)),
        owner=np.arange(2 * many) < many,
        weight=weight,
    )
    expected = reference.solve(arena)
    assert set(expected.winner.tolist()) == {0, 1}
    game = jax.device_put(_bounds.narrowed(arena, 32).pad())
    solver = energy.FVI()
    status = fixpoint.run(solver, _device._task(solver, game, scale)).status
    assert status == Status.OVERFLOW
    same(energy.solve(arena, energy.FVI()), expected)


def test_solves_again_with_more_bits():
    """Where a path takes more energy than narrow numbers hold."""
    many = 3000
    ring = np.arange(many)
    weight = np.full(many, -(2**15))
    weight[-1] = 0
    arena = Arena.from_edges(
        ring, np.append(ring[1:], many - 1), owner=np.zeros(many, bool), weight=weight
    )
    solution = energy.solve(arena, "fvi", strategies=False)
    assert solution.stats["bits"] == 64
    np.testing.assert_array_equal(solution.credit, (many - 1 - ring) * 2**15)


# ---- bad input -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": None}, "weight is None"),
        ({"weight": np.zeros((2, 3), np.int32)}, "shape \\(2, 3\\)"),
        ({"weight": np.zeros(2)}, "float64"),
    ],
)
def test_no_energy_game(change, message):
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[1, -1])
    with pytest.raises(ValueError, match=message):
        energy.solve(dataclasses.replace(arena, **change))


def test_a_dead_end():
    arena = Arena.from_edges(
        [0, 0], [1, 0], owner=[0, 1], weight=[1, -1], dead_ends="allow"
    )
    with pytest.raises(ValueError, match="vertex 1 has no successor"):
        energy.solve(arena)


def test_wrong_arguments(game):
    with pytest.raises(ValueError, match="no energy solver is called 'spm'"):
        energy.solve(game, "spm")
    with pytest.raises(ValueError, match="must be at least 0"):
        energy.solve(game, max_steps=-1)
    with pytest.raises(ValueError, match="max_steps counts rounds of array programs"):
        energy.solve(game, "host", max_steps=3)
    with pytest.raises(ValueError, match="runs on the host"):
        jax.jit(lambda a: energy.solve(a, "host"))(game)
    with pytest.raises(ValueError, match="scale must be at least 1"):
        energy.FVI(scale=0)


# ---- one vertex ----------------------------------------------------------------


def test_decide():
    for game in odd_games(12, seed=3):
        credit = reference.solve(game).credit
        for vertex, needed in enumerate(credit.tolist()):
            for level in {0, needed - 1, needed, needed + 1} - {-1, -2}:
                expected = needed >= 0 and level >= needed
                assert energy.decide(game, vertex, level, "host") == expected


def test_decide_under_tracing():
    game = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5]).pad()
    decide = jax.jit(energy.decide)
    assert not decide(game, 1, 4)
    assert decide(game, 1, 5)


def test_decide_says_what_is_wrong(game):
    with pytest.raises(ValueError, match="vertex must be from 0 to 59, got 60"):
        energy.decide(game, 60, 1)
    with pytest.raises(ValueError, match="credit must be at least 0, got -1"):
        energy.decide(game, 0, -1)
    with pytest.raises(ValueError, match="credit must be an integer"):
        energy.decide(game, 0, 1.5)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, jnp.int32])
@pytest.mark.parametrize("most", [2**6, 2**30, 2**40])
def test_bounds_of_many_edges(most, kind, monkeypatch):
    if most > jnp.iinfo(kind).max:
        pytest.skip("the weights do not fit")
    monkeypatch.setattr(host, "FEWEST_PLACES", 16)  # so that cores share them
    rng = np.random.default_rng(0)
    src = np.append(np.arange(30), rng.integers(0, 30, 60))
    weight = rng.integers(-most, most, 90)
    largest = [[0, *weight[src == v].tolist()] for v in range(30)]
    losses, gains = -sum(map(min, largest)), sum(map(max, largest))
    ends = int(weight.min()), int(weight.max())
    array = (jnp.asarray if kind is jnp.int32 else np.asarray)(weight, kind)
    for many in (1 << 20, 0):
        monkeypatch.setattr(_bounds, "MANY", many)
        arena = Arena.from_edges(src, src, owner=np.zeros(30, bool), weight=array)
        assert energy.bound(arena) == losses
        assert _bounds.gain(arena) == gains
        assert _bounds.extremes(arena) == (losses, gains, *ends)
        narrow = _bounds.narrowed(arena, 32)
        cut = np.clip(np.asarray(arena.weight), -(2**29) + 1, 2**29 - 1)
        fits = np.abs(weight).max() < 2**29
        assert (narrow is arena) == (arena.weight.dtype == np.int32 and fits)
        np.testing.assert_array_equal(narrow.weight, cut.astype(np.int32))


def test_a_state_of_wider_numbers_than_there_are_is_refused():
    arena = generate.random_energy_game(3, 177)
    found = energy.solve(arena, energy.FVI())
    assert np.any(arena.owner & (found.winner == 1))
    wider = dataclasses.replace(found.state, moves=None, widths=(0, 99))
    with pytest.raises(ValueError, match="its numbers are wider"):
        energy.solve(arena, energy.FVI(), state=wider)
