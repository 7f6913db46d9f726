"""A state is of one problem and one solver: with others it is refused."""

import dataclasses
import functools
import pickle
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import (
    Arena,
    Status,
    buchi,
    checkpoint,
    energy,
    fixpoint,
    generate,
    graph,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    states,
)
from jaxgames.batch import stack

SIZE = 60
PATH = np.arange(SIZE), np.r_[1:SIZE, SIZE - 1]


def parity_game(seed: int) -> Arena:
    rng = np.random.default_rng(seed)
    return Arena.from_edges(
        *graph_of(7), owner=rng.random(SIZE) < 0.5, priority=rng.integers(9, size=SIZE)
    )


def graph_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A path whose last vertex is a loop, and more edges."""
    rng = np.random.default_rng(seed)
    more = rng.integers(SIZE, size=(2, SIZE))
    tails, heads = (np.r_[a, b] for a, b in zip(PATH, more, strict=True))
    return tails, heads


def energy_game(seed: int) -> Arena:
    rng = np.random.default_rng(seed)
    weight = rng.integers(-9, 9, size=2 * SIZE)
    return Arena.from_edges(*graph_of(7), owner=np.arange(SIZE) % 2 == 0, weight=weight)


def buchi_game(seed: int) -> Arena:
    rng = np.random.default_rng(seed)
    return Arena.from_edges(
        *graph_of(7), owner=rng.random(SIZE) < 0.5, accepting=rng.random(SIZE) < 0.2
    )


def marked_graph(seed: int) -> Arena:
    rng = np.random.default_rng(seed)
    return Arena.from_edges(
        *graph_of(seed), owner=np.zeros(SIZE, bool), accepting=rng.random(SIZE) < 0.05
    )


def csr(seed: int):
    arena = marked_graph(seed)
    return np.asarray(arena.row_ptr), np.asarray(arena.dst)


def model(seed: int) -> mdp.MDP:
    """Two choices of each state, of two branches each; the last state is a trap."""
    rng = np.random.default_rng(seed)
    to = rng.integers(SIZE, size=(2 * SIZE, 2))
    to[:, 0] = np.minimum(np.repeat(np.arange(SIZE), 2) + 1, SIZE - 1)
    to[-2:] = SIZE - 1
    return mdp.MDP.from_arrays(
        2 * np.arange(SIZE + 1), 2 * np.arange(2 * SIZE + 1), to.ravel(),
        np.full(4 * SIZE, 0.5),
    )  # fmt: skip


def reaching(seed: int):
    return functools.partial(mdp.reach_probability, model(7), [SIZE // 2 + seed])


def multi_game(seed: int) -> multienergy.Game:
    rng = np.random.default_rng(seed)
    arena = Arena.from_edges(*graph_of(7), owner=np.zeros(SIZE, bool))
    offsets = np.asarray(arena.row_ptr).copy()
    offsets[-1] = edges = offsets[-2]  # in the last position the defender is stuck
    return multienergy.Game.from_arrays(
        offsets, np.asarray(arena.dst)[:edges], list(range(edges)),
        rng.integers(-1, 2, size=(edges, 2)),
        defender=np.arange(SIZE) % 12 == 11, cap=6,
    )  # fmt: skip


def many(problem, game, solver, stacked=False):
    def solve(seed: int):
        games: Any = [game(seed + i) for i in range(3)]
        games = stack(games) if stacked else games
        return functools.partial(jaxgames.solve_many, problem, games, solver)

    return solve


def one(function, game, solver):
    return lambda seed: functools.partial(function, game(seed), solver=solver)


SOLVES = {
    **{f"parity {x}": one(parity.solve, parity_game, x) for x in parity.SOLVERS},
    "parity auto": one(parity.solve, parity_game, "auto"),
    **{f"energy {x}": one(energy.solve, energy_game, x) for x in energy.SOLVERS},
    "mean payoff": one(meanpayoff.solve, energy_game, "host"),
    **{f"components {x}": one(graph.scc, csr, x) for x in graph.SOLVERS},
    "components compressed": one(graph.scc, csr, graph.MaxId(compress=True)),
    **{f"end components {x}": one(mdp.mec, model, x) for x in ("basic", "interleaved")},
    "probability": reaching,
    "cycles map": one(buchi.accepting_cycle, marked_graph, "map"),
    "cycles owcty": one(buchi.accepting_cycle, marked_graph, "owcty"),
    "Büchi": one(buchi.solve, buchi_game, "attractors"),
    "several energies": one(multienergy.solve, multi_game, "fronts"),
    "bitmap": one(multienergy.solve, multi_game, "bitmap"),
    "parity list": many(parity, parity_game, "fpi"),
    "parity stack": many(parity, parity_game, "fpi", stacked=True),
    "energy list": many(energy, energy_game, "fvi"),
    "mean payoff list": many(meanpayoff, energy_game, "host"),
    "several energies list": many(multienergy, multi_game, "fronts"),
}


def answers(found) -> list[np.ndarray]:
    """All that a solution says, but for how it was found."""
    parts = []
    for solution in found if isinstance(found, list) else [found]:
        bare = dataclasses.replace(
            solution, state=None, stats=type(solution.stats)(), status=0
        )
        parts += [np.asarray(x) for x in jax.tree.leaves(bare)]
    return parts


@pytest.mark.counts
@pytest.mark.parametrize("name", SOLVES)
def test_the_state_of_another_problem(name, tmp_path, habits_of_a_cpu):
    solve, other = SOLVES[name](1), SOLVES[name](2)
    part = solve(max_steps=1, throw=False)
    assert part.state is not None
    with pytest.raises(ValueError, match="state is not of th"):
        other(state=part.state, throw=False)
    # From the beginning, on the device too where the solver is chosen.
    whole = solve(state=solve(max_steps=0, throw=False).state)
    rest = solve(state=part.state)
    for x, y in zip(answers(whole), answers(rest), strict=True):
        np.testing.assert_array_equal(x, y)
    # Likewise from a file, and both are of the same shape.
    begin = other(max_steps=0, throw=False).state
    checkpoint.save(
        tmp_path / "state", part.state, solve(max_steps=0, throw=False).state
    )
    with pytest.raises(ValueError, match="state is of another|state of another"):
        checkpoint.load(tmp_path / "state", begin)
    with pytest.raises(ValueError, match="of another problem"):
        checkpoint.solve(tmp_path / "state", other)
    found = checkpoint.solve(tmp_path / "state", solve)
    for x, y in zip(answers(whole), answers(found), strict=True):
        np.testing.assert_array_equal(x, y)


def test_another_solver_or_other_options():
    game = parity_game(1)
    part = parity.solve(game, "spm", max_steps=1, throw=False)
    with pytest.raises(ValueError, match=r"SPM\(.*this solve's is FPI"):
        parity.solve(game, "fpi", state=part.state)
    with pytest.raises(ValueError, match=r"player=1"):
        parity.solve(game, parity.SPM(player=1), state=part.state)
    # How often the end is looked for changes no state.
    assert parity.solve(game, parity.SPM(sweeps_per_check=3), state=part.state)
    wrongs: list[Any] = [3, part.state.state, part]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="state must be solution.state"):
            parity.solve(game, "spm", state=wrong)


def test_another_version():
    game = parity_game(1)
    state = parity.solve(game, "fpi", max_steps=1, throw=False).state
    origin = dataclasses.replace(state.origin, version="0.0.7")
    with pytest.raises(ValueError, match=r"version 0\.0\.7"):
        parity.solve(game, "fpi", state=state._replace(origin=origin))


def test_a_state_passes_through_pickle():
    game = parity_game(1)
    state = parity.solve(game, "fpi", max_steps=1, throw=False).state
    state = pickle.loads(pickle.dumps(jax.device_get(state)))
    assert parity.solve(game, "fpi", state=state).status == Status.SOLVED
    with pytest.raises(ValueError, match="another problem"):
        parity.solve(parity_game(2), "fpi", state=state)


# ---- under tracing -------------------------------------------------------------------


def traced(function, game, **options):
    @jax.jit
    def program(game, state, limit):
        return function(game, max_steps=limit, state=state, **options)

    def solve(seed: int, state=None, max_steps=None):
        limit = fixpoint.MAX_ROUNDS if max_steps is None else max_steps
        return program(game(seed), state, jnp.int32(limit))

    return solve


TRACED = {
    **{
        f"parity {x}": traced(parity.solve, parity_game, solver=x)
        for x in ("fpi", "spm")
    },
    **{
        f"energy {x}": traced(energy.solve, energy_game, solver=x)
        for x in ("fvi", "vi")
    },
    "components": traced(graph.scc, marked_graph, solver="fb_trim"),
    "end components": traced(mdp.mec, model, solver="basic"),
    "cycles": traced(buchi.accepting_cycle, marked_graph, solver="map"),
    "Büchi": traced(buchi.solve, buchi_game),
    "several energies": traced(multienergy.solve, multi_game, solver="fronts"),
}


@pytest.mark.parametrize(
    "name",
    [
        # Their solves are traced as those of the other solvers of their games.
        pytest.param(x, marks=[pytest.mark.sweep] * (x in ("parity spm", "energy vi")))
        for x in TRACED
    ],
)
def test_the_state_of_another_problem_under_jit(name):
    solve = TRACED[name]
    part, whole = solve(1, max_steps=1), solve(1)
    assert whole.status == Status.SOLVED
    rest = solve(1, part.state)
    for x, y in zip(answers(whole), answers(rest), strict=True):
        np.testing.assert_array_equal(x, y)
    wrong = solve(2, part.state)
    assert wrong.status == Status.INVALID
    nothing = solve(2, max_steps=0)
    for x, y in zip(answers(wrong), answers(nothing), strict=True):
        np.testing.assert_array_equal(x, y)


def test_each_game_of_a_traced_batch_has_its_own_state():
    games = jax.tree.map(
        lambda *x: jnp.stack(x), *(parity_game(seed).pad(64, 128) for seed in range(3))
    )
    solve = jax.jit(
        jax.vmap(lambda game, state: parity.solve(game, "fpi", state=state))
    )
    begin = jax.jit(jax.vmap(lambda game: parity.solve(game, "fpi", max_steps=1).state))
    state = begin(games)
    right = solve(games, state)
    assert (right.status == Status.SOLVED).all()
    order = jnp.array([0, 2, 1])
    mixed = solve(games, jax.tree.map(lambda x: x[order], state))
    assert mixed.status.tolist() == [Status.SOLVED, Status.INVALID, Status.INVALID]
    np.testing.assert_array_equal(mixed.winner[0], right.winner[0])
    assert (mixed.winner[1:, :SIZE] == -1).all()


def test_another_solver_under_jit_is_an_error_while_tracing():
    game = parity_game(1)
    state = jax.jit(lambda x: parity.solve(x, "fpi", max_steps=1).state)(game)
    with pytest.raises(ValueError, match="FPI"):
        jax.jit(lambda x, s: parity.solve(x, "zielonka", state=s))(game, state)
    with pytest.raises(ValueError, match="other shapes"):
        jax.jit(lambda x, s: parity.solve(x, "fpi", state=s))(game.pad(80, 200), state)


# ---- batches -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "game", "solver"),
    [
        (parity, parity_game, "fpi"),
        (energy, energy_game, "fvi"),
        (meanpayoff, energy_game, "host"),
        (multienergy, multi_game, "fronts"),
    ],
    ids=["parity", "energy", "meanpayoff", "multienergy"],
)
def test_a_partial_state_of_other_games_names_one(problem, game, solver):
    games = [game(seed) for seed in range(4)]
    solve = functools.partial(jaxgames.solve_many, problem, solver=solver)
    state = solve(games, max_steps=1, throw=False).state
    swapped = [games[0], games[1], games[3], games[2]]
    with pytest.raises(ValueError, match="game 2 is not the one .* another order"):
        solve(swapped, state=state)
    with pytest.raises(ValueError, match="game 3 is not the one .* it is another"):
        solve([*games[:3], game(9)], state=state)
    with pytest.raises(ValueError, match="state is of 4 games, and 3 were passed"):
        solve(games[:3], state=state)
    with pytest.raises(ValueError, match="state is of 4 games, and 5 were passed"):
        solve([*games, games[0]], state=state)
    with pytest.raises(ValueError, match="state must be"):
        solve(games, state=3)


def test_games_of_several_sizes_keep_their_numbers():
    games = [generate.random_game(seed, 5 if seed % 2 else 90) for seed in range(6)]
    solve = functools.partial(jaxgames.solve_many, parity, solver="fpi")
    state = solve(games, max_steps=0, throw=False).state
    changed = list(games)
    changed[3] = generate.random_game(30, 5)
    assert changed[3].shape[0] == games[3].shape[0]
    changed[3] = dataclasses.replace(games[3], priority=games[3].priority + 2)
    with pytest.raises(ValueError, match="game 3 is not"):
        solve(changed, state=state)


def test_a_stack_that_was_packed():
    games = [generate.random_game(seed, 7, max_degree=2) for seed in range(64)]
    games[5], games[40] = (generate.recursive_ladder(n) for n in (3, 4))
    solve = functools.partial(jaxgames.solve_many, parity, solver="fpi")
    whole = stack(games)
    state = solve(whole, max_steps=30, throw=False).state
    other = stack([*games[:9], games[10], games[9], *games[11:]])
    with pytest.raises(ValueError, match="game 9 is not the one .* another order"):
        solve(other, state=state)
    np.testing.assert_array_equal(solve(whole, state=state).winner, solve(whole).winner)


# ---- fingerprints --------------------------------------------------------------------


def values(rng) -> dict[str, Any]:
    """Of all types, and of few shapes: without `jit` each operation is compiled."""
    return {
        "wide": rng.integers(-(2**62), 2**62, (4, 2)),
        "double": rng.random(4),
        "single": rng.random(4).astype(np.float32),
        "mask": rng.random(4) < 0.5,
        "small": np.int8(-3),
        "unsigned": np.arange(4, dtype=np.uint32) + np.uint32(2**31),
        "none": None,
        "empty": np.zeros((0, 3)),
        "huge": np.arange(4, dtype=np.uint64) + np.uint64(2**63),
        "scalar": np.float64(3.5),
    }


def words(found) -> tuple[int, int]:
    return int(found[0]), int(found[1])


def test_the_same_bits_from_numpy_jax_jit_vmap_and_any_width():
    host = values(np.random.default_rng(0))
    expected = words(states.fingerprint(host))
    with jax.enable_x64(True):
        device = jax.tree.map(jnp.asarray, host)
        assert words(states.fingerprint(device)) == expected
        assert words(jax.jit(states.fingerprint)(device)) == expected
        assert words(states.fingerprint(device, apart=True)) == expected
        both = jax.tree.map(lambda x: jnp.stack([x, x]), device)
        first, second = jax.jit(jax.vmap(states.fingerprint))(both)
        assert {(int(a), int(b)) for a, b in zip(first, second, strict=True)} == {
            expected
        }
    narrow = host | {"small": np.int64(-3), "mask": host["mask"].astype(np.int32)}
    narrow["unsigned"] = host["unsigned"].astype(np.int64)
    assert words(states.fingerprint(narrow)) == expected


def test_nothing_is_compiled_for_the_fingerprint_of_a_small_game(monkeypatch):
    game, solver = parity_game(3).pad(64, 128), parity.FPI()
    expected = words(fixpoint._fingerprint(game))

    def compiled(_):
        raise AssertionError

    monkeypatch.setattr(fixpoint, "_fingerprint", compiled)
    monkeypatch.setattr(fixpoint, "_whole_jit", compiled)
    assert words(fixpoint.origin(solver, game).problem) == expected
    for limit, size in (("READ_BY_NUMPY", (65, 130)), ("SELDOM", (66, 132))):
        with monkeypatch.context() as patch:
            patch.setattr(fixpoint, limit, 0)
            with pytest.raises(AssertionError):
                fixpoint.origin(solver, game.pad(*size))


def test_every_entry_its_place_its_name_and_the_shape_count():
    x = np.random.default_rng(1).integers(-3, 3, size=200).astype(np.int32)
    found = {words(states.fingerprint({"x": x}))}
    for place in range(len(x)):
        for bit in (0, 7, 31):
            other = x.copy()
            other[place] ^= np.int32(1) << np.int32(bit)
            found.add(words(states.fingerprint({"x": other})))
    swapped = x.copy()
    where = int(np.argmax(x[1:] != x[:-1]))
    swapped[[where, where + 1]] = x[[where + 1, where]]
    for other in (
        {"y": x}, {"x": x.reshape(2, 100)}, {"x": x.reshape(100, 2)}, {"x": x[:-1]},
        {"x": x[::-1]}, {"x": x.astype(np.float32)}, {"x": x, "y": None, "z": x[:0]},
        {"x": swapped}, {"x": x.astype(np.int64) + 2**32},
    ):  # fmt: skip
        found.add(words(states.fingerprint(other)))
    assert len(found) == 1 + 3 * len(x) + 9


def test_random_small_games_have_fingerprints_of_their_own():
    games = {
        (
            a.dst.tobytes(),
            a.priority.tobytes(),
            a.owner.tobytes(),
            a.row_ptr.tobytes(),
        ): a
        for a in (generate.random_game(seed, 4) for seed in range(400))
    }
    found = {words(states.fingerprint(game)) for game in games.values()}
    assert len(found) == len(games) > 100


def test_integers_of_any_size_have_fingerprints():
    small, large = np.array([3, -(2**40)], object), [2**70, 2**70 + 1, -(2**70)]
    expected = words(states.fingerprint(small.astype(np.int64)))
    assert words(states.fingerprint(small)) == expected
    found = {words(states.fingerprint(np.array([x, 1], object))) for x in large}
    assert len(found) == 3


def test_text_has_no_fingerprint():
    with pytest.raises(ValueError, match="no fingerprint"):
        states.fingerprint(np.array(["a"]))


# ---- classes -------------------------------------------------------------------------


class Unknown(NamedTuple):
    x: Any


def test_only_classes_that_are_registered_are_written(tmp_path):
    with pytest.raises(ValueError, match="Unknown cannot be written"):
        checkpoint.save(tmp_path / "state", Unknown(np.zeros(2)))
