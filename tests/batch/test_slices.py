"""Many games of every kind at once: the same answers as one by one."""

import dataclasses
import functools

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import (
    Arena,
    SolveError,
    Status,
    buchi,
    checkpoint,
    energy,
    fixpoint,
    generate,
    mdp,
    meanpayoff,
    multienergy,
)
from jaxgames.batch import stack, union
from jaxgames.drive import PROBLEMS, _many, _rounds
from jaxgames.energy import _problem as energy_games
from jaxgames.energy._lockstep import Lockstep
from jaxgames.ops import num_cells


@pytest.fixture(autouse=True)
def _packs_small_stacks(monkeypatch):
    monkeypatch.setattr(_rounds, "CELLS_WORTH_IT", {"gpu": 1 << 9})
    monkeypatch.setattr(_many._Many, "_begins_on_host", lambda *_: False)


def equal(found, alone, *names) -> None:
    """Fields of two solutions are equal in all bits, and in type."""
    for name in names:
        own, other = np.asarray(getattr(found, name)), np.asarray(getattr(alone, name))
        assert own.dtype == other.dtype, name
        np.testing.assert_array_equal(own, other, err_msg=name)


def goes_on(problem, games, tmp_path, expected, *names, limit: int) -> None:
    """A solve that is stopped after some rounds goes on from a file."""
    begin = jaxgames.solve_many(problem, games, max_steps=0, throw=False)
    part = jaxgames.solve_many(problem, games, max_steps=limit, throw=False)
    assert part.status == Status.MAX_STEPS
    checkpoint.save(tmp_path / "state", part.state)
    state = checkpoint.load(tmp_path / "state", begin.state)
    for own, other in zip(
        jaxgames.solve_many(problem, games, state=state), expected, strict=True
    ):
        equal(own, other, *names)


def test_every_package_that_solves_games_does_so_in_batches():
    for package in (buchi, energy, mdp, meanpayoff, multienergy):
        assert jaxgames.solve_many(package, []) == []
    names = "parity", "scc", "mec", "accepting_cycle"
    for name in names:
        assert jaxgames.solve_many(name, []) == []
    assert {*names} < {*PROBLEMS}


# ---- models ----------------------------------------------------------------------


def models(count: int) -> list[mdp.MDP]:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(count):
        states = int(rng.integers(5, 8))
        groups = np.append(0, np.cumsum(rng.integers(1, 3, states)))
        rows = np.append(0, np.cumsum(rng.integers(1, 3, groups[-1])))
        targets = rng.integers(0, states, rows[-1])
        found.append(mdp.MDP.from_arrays(groups, rows, targets))
    return found


def test_end_components(tmp_path):
    some = models(40)
    found = jaxgames.solve_many(mdp, some)
    names = "count", "state_label", "choice_kept"
    for model, own in zip(some, found, strict=True):
        equal(own, mdp.mec(model, "host"), *names[1:])
        assert mdp.verify(model, own)
    assert len({int(own.count) for own in found}) > 2
    equal(found[3], mdp.mec(some[3], "interleaved"), *names)
    goes_on("mec", some, tmp_path, found, *names, limit=3)


def test_models_are_padded_as_one_alone_is():
    some = models(6)
    form = PROBLEMS["mec"].form
    stacked = form.stack(some, (8, 16, 32))
    for name in ("row_group_offsets", "row_offsets", "columns"):
        each = [getattr(model.pad(8, 16, 32), name) for model in some]
        np.testing.assert_array_equal(getattr(stacked, name), np.stack(each))
    whole = jaxgames.solve_many("mec", stacked)
    assert whole.state_label.shape == (6, 8)
    with pytest.raises(ValueError, match="list of MDPs, or an MDP whose"):
        jaxgames.solve_many("mec", some[0])
    with pytest.raises(ValueError, match="game 1: model must be an MDP"):
        jaxgames.solve_many("mec", [some[0], None])


# ---- Büchi games and accepting cycles --------------------------------------------


def marked(seed: int, **options) -> Arena:
    size = 4 + seed % 4
    arena = generate.random_game(seed, size, max_degree=2, **options)
    accepting = np.random.default_rng(seed).random(size) < 0.3
    return dataclasses.replace(arena, priority=None, accepting=accepting)


def test_buchi_games(tmp_path):
    some = [marked(seed, min_degree=2) for seed in range(40)]
    found = jaxgames.solve_many(buchi, some)
    for arena, own in zip(some, found, strict=True):
        equal(own, buchi.solve(arena, "host"), "winner", "strategy")
        winner, strategy, _ = buchi.reference.solve(arena, arena.accepting)
        np.testing.assert_array_equal(own.winner, winner)
        np.testing.assert_array_equal(own.strategy, strategy)
    assert 0 < np.mean([own.winner.mean() for own in found]) < 1
    goes_on("buchi", some, tmp_path, found, "winner", "strategy", limit=4)
    bare = jaxgames.solve_many(buchi, some, strategies=False)
    assert all(own.strategy is None for own in bare)
    dead = Arena.from_edges([0], [1], owner=[0, 1], accepting=[0, 1], dead_ends="allow")
    with pytest.raises(ValueError, match="game 1: vertex 1 has no successor"):
        jaxgames.solve_many(buchi, [some[0], dead])


@pytest.mark.parametrize("solver", ["auto", "owcty", "scc"])
def test_accepting_cycles(solver, tmp_path):
    some = [marked(seed, self_loops=False) for seed in range(30)]
    found = jaxgames.solve_many("accepting_cycle", some, solver)
    alone = [buchi.accepting_cycle(arena, solver="host") for arena in some]
    assert [bool(own.exists) for own in found] == [bool(x.exists) for x in alone]
    assert {bool(own.exists) for own in found} == {True, False}
    assert all(own.decided for own in found)
    name = "map" if solver == "auto" else solver
    search = jax.jit(functools.partial(buchi.accepting_cycle, solver=name))
    for arena, own in list(zip(some, found, strict=True))[:4]:
        equal(own, search(arena.pad(16, 32)), "exists", "witness")  # one shape
    if solver == "auto":
        names = "exists", "witness", "decided"
        goes_on("accepting_cycle", some, tmp_path, found, *names, limit=2)


def test_what_a_stack_of_searches_cannot_have():
    some = [marked(1)]
    with pytest.raises(ValueError, match="every part is weak"):
        jaxgames.solve_many("accepting_cycle", some, "trim")
    order = buchi.Map(order=np.arange(5))
    with pytest.raises(ValueError, match="order must be a name"):
        jaxgames.solve_many("accepting_cycle", some, order)
    with pytest.raises(ValueError, match="game 0: there are no accepting vertices"):
        jaxgames.solve_many("accepting_cycle", [generate.random_game(0, 4)])


# ---- energy games in 64 bits -----------------------------------------------------


def test_energy_games_of_any_width(tmp_path):
    small = [generate.random_energy_game(seed, 5, max_degree=2) for seed in range(6)]
    wide = [
        dataclasses.replace(game, weight=game.weight.astype(np.int64) << 40)
        for game in small
    ]
    # These fit 32 bits, and the sums of those do not.
    near = [
        dataclasses.replace(game, weight=game.weight * np.int32(10**6))
        for game in small
    ]
    long = [
        dataclasses.replace(game, weight=game.weight.astype(np.int64)) for game in small
    ]
    some = [game for four in zip(small, wide, near, long, strict=True) for game in four]
    found = jaxgames.solve_many(energy, some)
    names = "credit", "winner", "strategy"
    for arena, own in zip(some, found, strict=True):
        equal(own, energy.solve(arena, "host"), *names)
    assert {own.credit.dtype for own in found} == {*map(np.dtype, (np.int32, np.int64))}
    assert max(own.credit.max() for own in found) > 2**40
    assert not jax.config.jax_enable_x64
    goes_on(energy, some, tmp_path, found, *names, limit=2)
    whole = jaxgames.solve_many(energy, stack(wide))
    np.testing.assert_array_equal(
        whole.credit[:, :5], [own.credit for own in found[1::4]]
    )


def test_a_game_whose_numbers_do_not_fit_is_solved_alone():
    arena = Arena.from_edges([0, 1, 2], [1, 2, 0], owner=[0, 0, 0], weight=[-5, 2, 4])
    # With so many bits for steps, 32 leave none for five.
    narrow = energy.FVI(scale=27)
    found = jaxgames.solve_many(energy, [arena] * 2, narrow)
    equal(found[1], energy.solve(arena, narrow), "credit", "winner", "strategy")
    # Rounds that are made in lockstep see that as well, and guess nothing.
    solver = Lockstep(sweeps=2)
    for scale, expected in ((27, "OVERFLOW"), (2, "SOLVED")):
        facts = energy_games.Facts(degree=1, scale=scale, bits=32, narrow=8)
        outcome = fixpoint.run(solver, energy_games._task(solver, arena, facts))
        assert outcome.status.name == expected
    np.testing.assert_array_equal(outcome.answer.credit, found[0].credit)
    vast = dataclasses.replace(arena, weight=np.array([-(2**62), 1, 1]))
    (alone,) = jaxgames.solve_many(energy, [vast])
    equal(alone, energy.solve(vast), "credit", "winner", "strategy")


# ---- side by side ----------------------------------------------------------------


def test_mean_payoff_games():
    some = [
        generate.random_energy_game(seed, 3 + seed % 4, max_degree=2, max_weight=9)
        for seed in range(20)
    ]
    some[3] = some[3].pad()
    some[7] = dataclasses.replace(some[7], weight=some[7].weight.astype(np.int64) << 45)
    found = jaxgames.solve_many(meanpayoff, some)
    names = "value_num", "value_den", "strategy"
    for arena, own in zip(some, found, strict=True):
        alone = meanpayoff.solve(arena)
        equal(own, alone, *names)
        assert own.stats["values"] == alone.stats["values"]
    part = jaxgames.solve_many(meanpayoff, some, max_steps=2, throw=False)
    assert part.status == Status.MAX_STEPS
    for own, other in zip(
        jaxgames.solve_many(meanpayoff, some, state=part.state), found, strict=True
    ):
        equal(own, other, *names)
    with pytest.raises(SolveError, match="Not solved: games 0, 1"):
        jaxgames.solve_many(meanpayoff, some, max_steps=1)
    with pytest.raises(ValueError, match="solved side by side: arenas must be a list"):
        jaxgames.solve_many(meanpayoff, stack(some[:2]))
    with pytest.raises(ValueError, match="game 1: .*weight"):
        jaxgames.solve_many(meanpayoff, [some[0], generate.random_game(0, 4)])
    nothing = Arena.from_edges([], [], owner=[], weight=np.zeros(0, np.int32))
    found = jaxgames.solve_many(meanpayoff, [nothing, some[0]])
    assert found[0].value_num.shape == (0,)
    equal(found[1], meanpayoff.solve(some[0]), *names)


def test_games_of_several_energies():
    def game(k: int, cap: int | None) -> multienergy.Game:
        return multienergy.Game.from_arrays(
            [0, 2, 4, 4, 4], [1, 2, 2, 3], [0, 1, 2, 1],
            [[-1, 0], [0, -k], [("min", 1), 0]],
            defender=[False, True, True, True], cap=cap,
        )  # fmt: skip

    some = [game(k, cap) for k in (1, 2, 3) for cap in (None, 4)]
    found = jaxgames.solve_many(multienergy, some)
    for one, own in zip(some, found, strict=True):
        alone = multienergy.solve(one)
        for at in range(one.num_positions):
            np.testing.assert_array_equal(own.budgets(at), alone.budgets(at))
    part = jaxgames.solve_many(multienergy, some, "fronts", max_steps=1, throw=False)
    again = jaxgames.solve_many(multienergy, some, "fronts", state=part.state)
    assert part.status == Status.MAX_STEPS
    for own, other in zip(again, found, strict=True):
        np.testing.assert_array_equal(own.budgets(0), other.budgets(0))
    with pytest.raises(ValueError, match="game 1: game must be a Game"):
        jaxgames.solve_many(multienergy, [some[0], None])


def test_arenas_side_by_side():
    some = [generate.random_game(seed, 4 + seed) for seed in range(4)]
    whole, first = union(some)
    whole.validate()
    for arena, (v, e) in zip(some, first, strict=False):
        vertices, edges = arena.shape
        np.testing.assert_array_equal(whole.dst[e : e + edges] - v, arena.dst)
        np.testing.assert_array_equal(
            whole.row_ptr[v : v + vertices] - e, arena.row_ptr[:-1]
        )
        np.testing.assert_array_equal(whole.priority[v : v + vertices], arena.priority)


def test_what_is_no_layout_has_no_cells():
    """A task may hold other facts beside its game: on a GPU all are counted."""
    arena = generate.random_game(0, 5)
    facts = np.zeros(3), {"wrong": np.zeros(2)}, (np.zeros(4),)
    assert num_cells((arena, *facts)) == num_cells(arena) == arena.shape[1]
