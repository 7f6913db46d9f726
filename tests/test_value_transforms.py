"""Values under JAX: what is traced on the host, exported, or never promoted."""

import dataclasses

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    Status,
    buchi,
    discounted,
    energy,
    energyparity,
    generate,
    graph,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    solve_many,
)

GAME = generate.random_game(3, 6)
ON_EDGES = Arena.from_csr(
    GAME.row_ptr, GAME.dst, owner=GAME.owner, edge_priority=np.arange(GAME.shape[1]) % 5
)
WEIGHTED = Arena.from_csr(
    GAME.row_ptr,
    GAME.dst,
    owner=GAME.owner,
    weight=np.arange(GAME.shape[1]) % 5 - 2,
    accepting=GAME.owner,
)
WITH_BOTH = dataclasses.replace(WEIGHTED, priority=GAME.priority)
MODEL = mdp.MDP.from_arrays(
    [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2], [1, 0.5, 0.5, 1, 1]
)
ENERGIES = multienergy.Game.from_arrays(
    [0, 1, 2, 2],
    [1, 2],
    [0, 1],
    [[-1, 0], [0, ("min", 0)]],
    defender=[False, True, True],
    cap=3,
)


# ---- promotion --------------------------------------------------------------------


def first_state(model):
    return jnp.arange(model.num_states) == 0


def first_vertex(arena):
    return jnp.arange(arena.shape[0]) == 0


SOLVES = {
    **{f"parity {x}": (lambda a, x=x: parity.solve(a, x), GAME)
       for x in parity.SOLVERS},
    **{
        f"parity on edges {x}": (lambda a, x=x: parity.solve(a, x), ON_EDGES)
        for x in parity.SOLVERS
    },
    "parity": (parity.solve, GAME),
    "parity spm second": (lambda a: parity.solve(a, parity.SPM(player=1)), GAME),
    "parity spm explicit": (
        lambda a: parity.solve(a, parity.SPM(queue="explicit")),
        GAME,
    ),
    "parity verify": (lambda a: parity.verify(a, parity.solve(a)), GAME),
    "parity verify measures": (
        lambda a: parity.verify(a, parity.solve(a, "spm")), GAME
    ),
    **{f"energy {x}": (lambda a, x=x: energy.solve(a, x), WEIGHTED)
       for x in ("fvi", "vi")},
    "energy verify": (lambda a: energy.verify(a, energy.solve(a)), WEIGHTED),
    "mean payoff": (lambda a: meanpayoff.decide(a, 1), WEIGHTED),
    **{f"components {x}": (lambda a, x=x: graph.scc(a, x), GAME)
       for x in ("max_id", "fb_trim", "in_place")},
    "components compressed": (
        lambda a: graph.scc(a, graph.FBTrim(compress=True)), GAME
    ),
    "components verify": (lambda a: graph.verify(a, graph.scc(a)), GAME),
    "reachable": (lambda a: graph.reachable(a, first_vertex(a)), GAME),
    "attractor": (lambda a: graph.attractor(a, first_vertex(a), 1), GAME),
    **{f"end components {x}": (lambda m, x=x: mdp.mec(m, x), MODEL)
       for x in ("interleaved", "basic")},
    "end components verify": (lambda m: mdp.verify(m, mdp.mec(m)), MODEL),
    "probability 0": (lambda m: mdp.prob0(m, first_state(m)), MODEL),
    "probability 1": (lambda m: mdp.prob1(m, first_state(m)), MODEL),
    **{f"accepting cycle {x}": (
        lambda a, x=x: buchi.accepting_cycle(a, solver=x), WEIGHTED)
       for x in ("map", "owcty", "scc")},
    "Büchi game": (buchi.solve, WEIGHTED),
    "accepting cycle of a vertex": (
        lambda a: buchi.accepting_cycle(a, initial=a.dst[0]), WEIGHTED
    ),
    "energy parity": (energyparity.solve, WITH_BOTH),
    "energy parity threshold": (lambda a: energyparity.decide(a, 1), WITH_BOTH),
    "discounted": (lambda a: discounted.solve(a, 0.5), WEIGHTED),
    "reachability": (lambda m: mdp.reach_probability(m, first_state(m)), MODEL),
    "several energies": (multienergy.solve, ENERGIES),
    "several energies bitmap": (lambda g: multienergy.solve(g, "bitmap"), ENERGIES),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVES)
def test_every_traced_solve_is_strict_about_types(name):
    solve, value = SOLVES[name]
    with jax.numpy_dtype_promotion("strict"):
        # A function of its own: jit keeps what it traced before.
        shapes = jax.eval_shape(lambda x: solve(x), value)
    expected = jax.eval_shape(lambda x: solve(x), value)
    assert jax.tree.leaves(shapes) == jax.tree.leaves(expected)


@pytest.mark.parametrize("name", ["parity spm", "components max_id",
                                  "accepting cycle map"])  # fmt: skip
def test_concrete_solves_are_strict_too(name):
    solve, value = SOLVES[name]
    wanted = solve(value)
    with jax.numpy_dtype_promotion("strict"):
        found = solve(dataclasses.replace(value))
    field = next(x for x in ("winner", "labels", "exists") if hasattr(wanted, x))
    assert np.array_equal(getattr(found, field), getattr(wanted, field))


@pytest.mark.parametrize("name", SOLVES)
def test_every_traced_solve_has_types_of_its_own_with_64_bits(name):
    """Sums of int32 are of 64 bits then, which no loop may carry."""
    solve, value = SOLVES[name]
    for promotion in ("standard", "strict"):
        with jax.enable_x64(True), jax.numpy_dtype_promotion(promotion):
            jax.eval_shape(lambda x: solve(x), value)


@pytest.mark.parametrize(
    ("problem", "solver", "value"),
    [
        ("parity", "fpi", GAME),
        ("parity", "promotion", GAME),
        ("energy", "fvi", WEIGHTED),
        ("scc", "max_id", GAME),
        ("buchi", "attractors", WEIGHTED),
        ("mec", "interleaved", MODEL),
    ],
)
def test_batches_are_strict_about_types(problem, solver, value):
    values = [value, value]
    with jax.numpy_dtype_promotion("strict"):
        found = [x.status for x in solve_many(problem, values, solver)]
    assert found == [Status.SOLVED] * 2


# ---- weights that 32 bits do not hold -----------------------------------------------

LARGE = 1 << 33
WIDE = Arena.from_edges(
    [0, 0, 1, 2],
    [1, 2, 0, 2],
    owner=[0, 1, 0],
    priority=[1, 2, 0],
    weight=[-LARGE - 1, -5, LARGE + 4, 0],
)
"""To 32 bits cut, the credits are 1, 0 and 0."""


def test_jax_refuses_what_it_would_cut():
    jitted = jax.jit(lambda arena: energy.solve(arena).credit)
    with pytest.raises(TypeError, match=r"\.weight"):
        jitted(WIDE)
    stack = jax.tree.map(lambda *x: np.stack(x), WIDE, WIDE)
    with pytest.raises(TypeError, match="object"):
        jax.vmap(energy.solve)(stack)
    with jax.enable_x64(True):
        assert jitted(WIDE).tolist() == [5, 0, 0]
        assert jax.vmap(energy.solve)(stack).credit.tolist() == [[5, 0, 0]] * 2
    assert jitted(dataclasses.replace(WIDE, weight=np.arange(4))).shape == (3,)


def test_wide_weights_stay_what_they_are_in_a_pytree_of_numpy():
    narrow = dataclasses.replace(WIDE, weight=np.arange(4, dtype=np.int32))
    stack = jax.tree.map(lambda *x: np.stack(x), WIDE, narrow)
    assert stack.weight.dtype == np.int64
    for at, arena in enumerate((WIDE, narrow)):
        alone = jax.tree.map(lambda x, at=at: x[at], stack)
        assert np.array_equal(alone.weight, arena.weight)
    assert jax.device_get(WIDE).weight.dtype == np.int64
    leaves, tree = jax.tree.flatten(WIDE)
    assert same(jax.tree.unflatten(tree, leaves), WIDE)
    # What no 64 bits hold stays as it is; so does what is no array.
    larger = dataclasses.replace(WIDE, weight=WIDE.weight.astype(object) * LARGE)
    assert jax.tree.map(lambda x: x, larger).weight.tolist() == larger.weight.tolist()
    assert jax.tree.map(lambda _: None, WIDE).weight is None


PARTLY_TRACED = {
    "energy": (lambda n: energy.solve(WIDE, max_steps=n).credit, 99),
    "owners": (lambda x: energy.solve(dataclasses.replace(WIDE, owner=x)), WIDE.owner),
    "verify": (lambda x: energy.verify(WIDE, x), energy.solve(WIDE, "host")),
    "capacity": (lambda n: energy.solve_with_capacity(WIDE, n), 9),
    "mean payoff": (lambda n: meanpayoff.decide(WIDE, n), 1),
    "convert": (lambda n: energy.from_mean_payoff(WIDE, n), 1),
    "energy parity": (lambda n: energyparity.solve(WIDE, max_steps=n), 99),
    "discounted": (lambda d: discounted.solve(WIDE, d), 0.5),
}


@pytest.mark.parametrize("name", PARTLY_TRACED)
def test_weights_of_a_constant_are_not_cut_either(name):
    solve, argument = PARTLY_TRACED[name]
    with pytest.raises(ValueError, match="32 bits do not hold.*set jax_enable_x64"):
        jax.eval_shape(lambda x: solve(x), argument)
    with jax.enable_x64(True):
        jax.eval_shape(lambda x: solve(x), argument)


# ---- padding and parts -------------------------------------------------------------


def same(one: Arena, other: Arena) -> bool:
    return all(
        np.array_equal(x, y)
        for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )


@pytest.mark.parametrize("arena", [GAME, ON_EDGES, WEIGHTED])
@pytest.mark.parametrize("sizes", [(), (9,), (9, 40)])
def test_padding_under_jit_is_padding(arena, sizes):
    assert same(jax.jit(lambda a: a.pad(*sizes))(arena), arena.pad(*sizes))


def test_padding_under_vmap():
    games = [generate.random_game(seed, 6, min_degree=2, max_degree=2)
             for seed in range(3)]  # fmt: skip
    stack = jax.tree.map(lambda *x: np.stack(x), *games)
    padded = jax.vmap(lambda a: a.pad(9, 20))(stack)
    for i, game in enumerate(games):
        assert same(jax.tree.map(lambda x, i=i: x[i], padded), game.pad(9, 20))


def test_models_and_games_of_energies_are_padded_under_jit_too():
    for value, sizes in ((MODEL, (4, 6, 9)), (ENERGIES, (5, 4, 3))):
        found = jax.jit(lambda x, sizes=sizes: x.pad(*sizes))(value)
        assert same(found, value.pad(*sizes))


@pytest.mark.parametrize(
    "method",
    ["unpad", "reverse", "validate", "subgame", "successors"],
)
def test_what_is_for_the_host_says_so(method):
    arguments = {"subgame": [np.ones(GAME.shape[0], bool)], "successors": [0]}

    def f(arena):
        return getattr(arena, method)(*arguments.get(method, []))

    with pytest.raises(ValueError, match=r"traced.*outside"):
        jax.jit(f)(GAME)


def test_parts_that_are_traced_say_so():
    with pytest.raises(ValueError, match="keep is traced"):
        jax.jit(lambda keep: GAME.subgame(keep))(np.ones(GAME.shape[0], bool))


# ---- exported functions -------------------------------------------------------------


def exported(function, *arguments):
    """The function as another process would load it."""
    pytest.importorskip("flatbuffers")  # with which jax writes it
    written = jax.export.export(jax.jit(function))(*arguments).serialize()
    return jax.export.deserialize(written).call


@pytest.mark.parametrize("arena", [GAME, ON_EDGES, GAME.pad()])
def test_a_solve_is_exported(arena):
    call = exported(lambda a: parity.solve(a, "fpi").winner, arena)
    wanted = parity.solve(arena, "fpi").winner
    assert np.array_equal(call(jax.tree.map(jnp.asarray, arena)), wanted)


def test_an_exported_function_may_return_an_arena():
    call = exported(lambda a: a.pad(9, 40), GAME)
    found = call(jax.tree.map(jnp.asarray, GAME))
    assert isinstance(found, Arena)
    assert same(found, GAME.pad(9, 40))


def test_models_and_games_of_energies_are_exported():
    call = exported(lambda m: mdp.mec(m).state_label, MODEL)
    wanted = mdp.mec(MODEL).state_label
    assert np.array_equal(call(jax.tree.map(jnp.asarray, MODEL)), wanted)
    game = mdp.Game(MODEL, np.array([0, -1, -1], np.int8))
    call = exported(lambda g: mdp.solve_game(g, [1], epsilon=1e-3).upper, game)
    exact = np.array(mdp.reference.game_values(game, [False, True, False]), float)
    excess = np.asarray(call(jax.tree.map(jnp.asarray, game))) - exact
    assert (excess >= 0).all()
    assert (excess <= 2e-3).all()
    call = exported(lambda g: multienergy.solve(g).sizes, ENERGIES)
    wanted = multienergy.solve(ENERGIES).sizes
    assert np.array_equal(call(jax.tree.map(jnp.asarray, ENERGIES)), wanted)
