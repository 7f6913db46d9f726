"""Many games at once: the same answers as one by one, whatever is packed and when."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import (
    Arena,
    SolveError,
    Status,
    checkpoint,
    energy,
    fixpoint,
    generate,
    graph,
    ops,
    parity,
)
from jaxgames.batch import buckets, stack
from jaxgames.drive import _many, _rounds
from jaxgames.energy import _problem as energy_games
from jaxgames.parity import reference
from jaxgames.parity._game import compress, compress_few
from jaxgames.progress import Report

FPI = parity.FPI(sweeps_per_check=1)
"""So that a game takes as many rounds on any backend, in a batch and alone."""

NAMES = ("row_ptr", "src", "dst", "owner", "priority", "num_vertices", "num_edges")


@pytest.fixture(autouse=True)
def _packs_small_stacks(monkeypatch):
    """Stacks of some hundred cells are packed, as large ones are by default."""
    monkeypatch.setattr(_rounds, "CELLS_WORTH_IT", {"gpu": 1 << 7})
    monkeypatch.setattr(_many._Many, "_begins_on_host", lambda *_: False)


@pytest.fixture(scope="module")
def games() -> list[Arena]:
    """Games of one bucket; some take many times the rounds of others."""
    some = [
        generate.random_game(
            seed,
            4 + seed % 4,
            num_priorities=1 + seed % 7,
            min_degree=2,
            max_degree=2,
            owner_share=seed % 5 / 4,
        )
        for seed in range(60)
    ]
    assert len(buckets(some)) == 1
    return some


@pytest.fixture(scope="module")
def vmapped(games):
    """The answers of `vmap`, which packs nothing."""
    solve = jax.jit(jax.vmap(functools.partial(parity.solve, solver=FPI)))
    return jax.device_get(solve(stack(games)))


def same(found, expected, size: int | None = None) -> bool:
    """Whether two parity solutions are equal in all bits."""
    return all(
        x.dtype == y.dtype and np.array_equal(x, y)
        for x, y in (
            (np.asarray(found.winner), np.asarray(expected.winner)[..., :size]),
            (np.asarray(found.strategy), np.asarray(expected.strategy)[..., :size]),
        )
    )


# ---- stacks ----------------------------------------------------------------------


def test_a_stack_holds_each_game_as_it_is_padded():
    some = [generate.random_game(seed, 3 + seed, max_degree=3) for seed in range(9)]
    stacked = stack(some)
    for name in NAMES:
        each = [getattr(game.pad(*stacked.shape), name) for game in some]
        found = getattr(stacked, name)
        assert found.dtype == each[0].dtype
        np.testing.assert_array_equal(found, np.stack(each), err_msg=name)


def test_labels_on_edges_are_stacked_too():
    some = [generate.random_energy_game(seed, 3 + seed) for seed in range(4)]
    stacked = stack(some)
    each = [game.pad(*stacked.shape).weight for game in some]
    np.testing.assert_array_equal(stacked.weight, np.stack(each))


def test_a_stack_refuses_what_does_not_fit(games):
    with pytest.raises(ValueError, match="at least one"):
        stack([])
    with pytest.raises(ValueError, match=r"game 1 has \(5, 10\) vertices and edges"):
        stack(games[:2], 5, 11)
    bare = dataclasses.replace(games[1], priority=None)
    with pytest.raises(ValueError, match="game 1 has no priority"):
        stack([games[0], bare])


@pytest.mark.parametrize("size", [7, 300])
def test_dense_rows_reduce_as_the_arena_does(size):
    arena = generate.random_game(size, size, max_degree=5).pad()
    dense = jax.jit(ops.dense_rows, static_argnums=1)(arena, 6)
    assert dense.blocks[0].dtype == (jnp.uint8 if size == 7 else jnp.uint16)
    x = np.random.default_rng(1).integers(0, 2, arena.shape[0]).astype(np.int32)

    @jax.jit
    def reductions(game, x):
        move = ops.out_argmin(game, x, bound=1)[1]
        edge = ops.edge_of(game, move)
        return (
            ops.out_max(game, x),
            ops.in_any(game, x),
            [ops.out_argmin(game, x, bound=bound) for bound in (1, 7, None)],
            ops.slot_of_move(game, move),
            edge,
            ops.move_of(game, edge) == move,
        )

    found, expected = reductions(dense, x), reductions(arena, x)
    assert np.all(found[-1])
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_few_priorities_are_compressed_as_many_are():
    rng = np.random.default_rng(2)
    for top in (0, 1, 4, 31):
        rows = rng.integers(0, top + 1, (20, 6))
        few = jax.jit(jax.vmap(functools.partial(compress_few, top=top)))
        found = few(rows)
        np.testing.assert_array_equal(found, [compress(row) for row in rows])


# ---- the same answers ------------------------------------------------------------


@pytest.mark.counts
def test_answers_are_those_of_one_by_one(games, vmapped):
    packed = []
    original = _rounds._packed

    def spy(run, game, standing, room, size):
        packed.append(room)
        return original(run, game, standing, room, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rounds, "_packed", spy)
        found = jaxgames.solve_many(parity, games, FPI)
    assert len(packed) > 1
    assert found.status == Status.SOLVED
    assert found.state is None
    for at, (game, own) in enumerate(zip(games, found, strict=True)):
        expected = jax.tree.map(lambda x, at=at: x[at], vmapped)
        assert same(own, expected, len(game.owner))
        assert own.stats["rounds"] == expected.stats["rounds"]
        np.testing.assert_array_equal(own.winner, reference.solve(game).winner)
    alone = parity.solve(games[7], FPI)
    assert same(found[7], alone)
    assert found[7].stats["rounds"] == alone.stats["rounds"]


@pytest.mark.counts
def test_a_stack_gives_a_stack(games, vmapped):
    found = jaxgames.solve_many("parity", jax.device_put(stack(games)), FPI)
    assert isinstance(found.winner, jax.Array)
    assert same(found, vmapped)
    assert not np.any(found.status)
    np.testing.assert_array_equal(found.stats["rounds"], vmapped.stats["rounds"])
    bare = jaxgames.solve_many("parity", stack(games), "fpi", strategies=False)
    assert bare.strategy is None
    np.testing.assert_array_equal(bare.winner, vmapped.winner)


def test_games_of_many_sizes_and_kinds():
    """By the solver of batches: sizes, wide rows, and priorities on edges."""
    star = Arena.from_edges(
        [0] * 7 + list(range(1, 8)), [*range(1, 8), *[0] * 7],
        owner=[1] + [0] * 7, priority=[1, 2, 3, 4, 5, 6, 7, 8],
    )  # fmt: skip
    on_edges = Arena.from_edges(
        [0, 0, 1, 1], [0, 1, 0, 1], owner=[0, 1], edge_priority=[1, 2, 3, 0]
    )
    wide = generate.random_game(1, 9, num_priorities=200)
    some = [star, on_edges, wide]
    found = jaxgames.solve_many(parity, some)
    assert len(buckets(some)) == 2
    for game, own in zip(some, found, strict=True):
        alone = parity.solve(game, "promotion")
        assert own.stats["solver"] == "promotion"
        assert same(own, alone)
        assert parity.verify(game, own).valid


def test_hard_games_do_not_keep_the_others_waiting():
    """Promotion is exponential on two: they are solved alone, by what is not."""
    easy = [generate.random_game(seed, 64, num_priorities=9) for seed in range(6)]
    hard = [generate.counter_dp(15), generate.counter_rr(15)]
    together = stack([*easy[:3], hard[0], *easy[3:], hard[1]])
    games = [jax.tree.map(lambda x, at=at: x[at], together) for at in range(8)]
    found = jaxgames.solve_many(parity, games)
    names = [solution.stats["solver"] for solution in found]
    assert names == ["promotion"] * 3 + ["host"] + ["promotion"] * 3 + ["host"]
    whole = jaxgames.solve_many(parity, together)
    assert (whole.status == Status.SOLVED).all()
    for at, game in enumerate(games):
        assert found[at].status == Status.SOLVED
        assert reference.verify(game, found[at])
        np.testing.assert_array_equal(whole.winner[at], found[at].winner)
        np.testing.assert_array_equal(whole.strategy[at], found[at].strategy)
    limited = jaxgames.solve_many(parity, games, max_steps=50, throw=False)
    assert [x.status for x in limited].count(Status.MAX_STEPS) >= 2
    end = jaxgames.solve_many(parity, games, state=limited.state)
    assert end.status == Status.SOLVED
    np.testing.assert_array_equal(end[3].winner, found[3].winner)


def test_components_of_many_graphs(monkeypatch):
    monkeypatch.setattr(_rounds, "CELLS_WORTH_IT", {"gpu": 1 << 19})
    rng = np.random.default_rng(3)
    some = []
    for size in range(33, 43):
        edges = rng.integers(0, size, (2, rng.integers(size, 2 * size)))
        rows = np.append(0, np.cumsum(np.bincount(edges[0], minlength=size)))
        order = np.argsort(edges[0], kind="stable")
        some.append(graph.as_arena((rows, edges[1][order])))
    assert len(buckets(some)) == 1
    found = jaxgames.solve_many(graph, some)
    for arena, own in zip(some, found, strict=True):
        alone = graph.scc(arena, "host")
        assert own.count == alone.count
        np.testing.assert_array_equal(own.labels, alone.labels)
        assert own.stats["solver"] == "closure"


@pytest.mark.counts
def test_energy_games_in_two_solves(tmp_path, monkeypatch, habits_of_a_cpu):
    """Credits, and then the moves of player 1: each may be stopped and gone on with."""
    some = [
        generate.random_energy_game(
            seed, 4 + seed % 4, max_degree=3, min_weight=-9 - seed % 3, max_weight=9
        )
        for seed in range(40)
    ]
    assert len(buckets(some)) == 1
    found = jaxgames.solve_many(energy, some)
    for game, own in zip(some, found, strict=True):
        alone = energy.reference.solve(game)
        for name in ("credit", "winner", "strategy"):
            np.testing.assert_array_equal(getattr(own, name), getattr(alone, name))
    won = np.concatenate([own.winner for own in found])
    assert 0 < won.mean() < 1
    begin = jaxgames.solve_many(energy, some, max_steps=0, throw=False)
    slowest = max(own.stats["rounds"] for own in found)
    for limit in (3, slowest - 2):  # in the first solve; in the second
        part = jaxgames.solve_many(energy, some, max_steps=limit, throw=False)
        assert part.status == Status.MAX_STEPS
        checkpoint.save(tmp_path / "state", part.state)
        state = checkpoint.load(tmp_path / "state", begin.state)
        again = jaxgames.solve_many(energy, some, state=state)
        for own, other in zip(found, again, strict=True):
            np.testing.assert_array_equal(own.strategy, other.strategy)
            assert own.stats["rounds"] == other.stats["rounds"]
    monkeypatch.setattr(_rounds, "CELLS_WORTH_IT", {"gpu": 1 << 19})
    bare = jaxgames.solve_many(energy, some, strategies=False)
    assert all(own.strategy is None for own in bare)
    for own, other in zip(found, bare, strict=True):
        np.testing.assert_array_equal(own.credit, other.credit)
    monkeypatch.setattr(energy_games, "SWEEPS", {"cpu": 3})
    swept = jaxgames.solve_many(energy, some)
    for own, other in zip(found, swept, strict=True):
        for name in ("credit", "winner", "strategy"):
            np.testing.assert_array_equal(getattr(own, name), getattr(other, name))
        assert other.stats["rounds"] <= own.stats["rounds"]
    assert max(own.stats["rounds"] for own in swept) < slowest


# ---- stopping and going on -------------------------------------------------------


@pytest.mark.counts
def test_a_step_limit_names_the_games_and_the_state_goes_on(games, vmapped):
    rounds = vmapped.stats["rounds"]
    limit = int(np.median(rounds))
    late = np.flatnonzero(rounds > limit)
    with pytest.raises(SolveError, match=f"Not solved: games {late[0]}, ") as error:
        jaxgames.solve_many(parity, games, FPI, max_steps=limit)
    some = error.value.solution
    assert error.value.status == some.status == Status.MAX_STEPS
    for at, own in enumerate(some):
        assert (own.status == Status.SOLVED) == (at not in late)
        assert np.all(own.winner == -1) == (at in late)
    found = jaxgames.solve_many(parity, games, FPI, state=some.state)
    assert all(
        same(own, jax.tree.map(lambda x, at=at: x[at], vmapped), len(own.winner))
        for at, own in enumerate(found)
    )


def test_a_state_of_another_problem_is_refused():
    how = {"max_steps": 1, "throw": False}
    parities = [generate.random_game(i, 30, num_priorities=4) for i in range(2)]
    energies = [generate.random_energy_game(i, 30) for i in range(2)]
    of_parity = jaxgames.solve_many(parity, parities, FPI, **how).state
    of_energy = jaxgames.solve_many(energy, energies, "fvi", **how).state
    expected = "state must be solution.state of an earlier call with the same problem"
    with pytest.raises(ValueError, match=expected):
        jaxgames.solve_many(energy, energies, "fvi", state=of_parity)
    with pytest.raises(ValueError, match=expected):
        jaxgames.solve_many(parity, parities, FPI, state=of_energy)


@pytest.mark.counts
def test_progress_is_told_and_may_stop(games, vmapped, monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0)
    stacked, reports = stack(games), []

    def stop(report: Report):
        reports.append(report)
        if report.rounds > 20:  # some stack is packed already
            raise KeyboardInterrupt

    some = jaxgames.solve_many(parity, stacked, FPI, progress=stop, throw=False)
    assert {report.unit for report in reports} == {"games"}
    done = np.asarray(some.status) == Status.SOLVED
    assert done.sum() > 20
    assert set(np.asarray(some.status)[~done].tolist()) == {Status.INTERRUPTED}
    assert len(some.state.ids) < len(games)
    np.testing.assert_array_equal(
        np.asarray(some.winner)[done], np.asarray(vmapped.winner)[done]
    )
    found = jaxgames.solve_many(parity, stacked, FPI, state=some.state)
    assert same(found, vmapped)
    np.testing.assert_array_equal(found.stats["rounds"], vmapped.stats["rounds"])


# ---- what is refused -------------------------------------------------------------


def test_wrong_arguments_are_refused(games):
    refused = {
        "problem must be one of .*'parity'": ("chess", games),
        "no parity solver is called 'magic'": (parity, games, "magic"),
        "arenas must be a list": (parity, games[0]),
        "game 1: a parity game needs": (parity, [games[0], bare(games[1])]),
    }
    for message, arguments in refused.items():
        with pytest.raises(ValueError, match=message):
            jaxgames.solve_many(*arguments)
    with pytest.raises(ValueError, match="max_steps must be at least 0"):
        jaxgames.solve_many(parity, games, max_steps=-1)
    with pytest.raises(ValueError, match=r"state must be solution\.state of"):
        jaxgames.solve_many(parity, games, FPI, state=(None, None))
    with pytest.raises(ValueError, match=r"solve a stack by jax\.vmap"):
        jax.eval_shape(lambda x: jaxgames.solve_many(parity, x).winner, stack(games))
    assert jaxgames.solve_many(parity, []) == []


def bare(arena: Arena) -> Arena:
    return dataclasses.replace(arena, priority=None)


# ---- inside other people's JAX ---------------------------------------------------


def test_games_are_made_and_solved_in_one_program(vmapped):
    del vmapped

    @jax.jit
    def share(keys):
        make = functools.partial(
            generate.random_game_by_key, num_vertices=6, min_degree=2, max_degree=2
        )
        solutions = jax.lax.map(lambda key: parity.solve(make(key), "fpi"), keys)
        return solutions.winner, jax.vmap(make)(keys)

    winner, made = jax.device_get(share(jax.random.split(jax.random.key(0), 5)))
    for at in range(5):
        game = jax.tree.map(lambda x, at=at: x[at], made).validate()
        np.testing.assert_array_equal(winner[at], reference.solve(game).winner)


def test_gradients_stop_at_integers(games):
    """Answers are integers: their derivative is zero, and of type float0."""
    arena = games[0].pad(8, 32)

    def loss(scale, arena):
        winner = parity.solve(arena, "fpi").winner
        return scale * jnp.sum(winner == 0)

    value, (by_scale, by_arena) = jax.value_and_grad(
        loss, argnums=(0, 1), allow_int=True
    )(2.0, arena)
    assert value == 2 * by_scale
    assert {x.dtype for x in jax.tree.leaves(by_arena)} == {jax.dtypes.float0}
