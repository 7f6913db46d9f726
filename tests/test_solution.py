import functools
import multiprocessing
import pickle

import jax
import numpy as np
import pytest

from jaxgames import (
    Arena,
    SolveError,
    Status,
    buchi,
    discounted,
    emersonlei,
    energy,
    energyparity,
    generate,
    graph,
    mdp,
    meanpayoff,
    multienergy,
    parity,
)


def stopped(seed):
    return parity.solve(generate.random_game(seed, 40), "fpi", max_steps=1)


def test_an_error_of_a_solve_can_be_pickled():
    with pytest.raises(SolveError) as caught:
        stopped(3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is SolveError
    assert str(again) == str(caught.value)
    assert again.status == Status.MAX_STEPS
    assert (again.solution.winner == caught.value.solution.winner).all()


def test_an_error_in_a_pool_reaches_the_parent():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(stopped, (3,))
        with pytest.raises(SolveError, match="MAX_STEPS"):
            result.get(timeout=120)


@pytest.mark.parametrize("status", Status)
def test_every_status_says_what_it_means(status):
    assert status.message.endswith(".")


def test_where_there_is_one_solver_no_other_is_advised():
    walk = mdp.MDP.from_arrays(
        [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 0, 3, 2, 3], [0.5] * 4 + [1.0] * 2
    )
    with pytest.raises(SolveError, match="Raise max_steps") as caught:
        mdp.reach_probability(walk, [3], max_steps=1, epsilon=1e-12)
    assert "another solver" not in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


@functools.cache
def shown():
    """Something of each kind that is found, or asked, and is a pytree."""
    arena = Arena.from_edges(
        [0, 0, 1, 2],
        [1, 2, 0, 2],
        owner=[0, 1, 1],
        priority=[0, 1, 2],
        weight=[1, -1, 2, 0],
        accepting=[0, 1, 0],
    )
    model = mdp.MDP.from_arrays([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], [0.2, 0.8, 1, 1])
    game = mdp.Game(model, np.array([0, 1], np.int32))
    rabin = emersonlei.Game.rabin(arena, [([0, 0, 1], [1, 0, 0])])
    energies = multienergy.Game.from_arrays([0, 1], [0], [0], [[-4]], defender=[False])
    return {
        "arena": arena,
        "parity": parity.solve(arena),
        "verdict": parity.verify(arena, parity.solve(arena)),
        "energy": energy.solve(arena),
        "meanpayoff": meanpayoff.solve(arena),
        "discounted": discounted.solve(arena, 0.5),
        "energyparity": energyparity.solve(arena),
        "buchi": buchi.solve(arena),
        "cycle": buchi.accepting_cycle(arena),
        "scc": graph.scc(arena),
        "rabin": rabin,
        "emersonlei": emersonlei.solve(rabin),
        "multienergy": multienergy.solve(energies),
        "mec": mdp.mec(model),
        "reach": mdp.reach_probability(model, [1]),
        "check": mdp.check(game, "<<0>>Pmax=? [ F false ]"),
        "game": game,
        "values": mdp.solve_game(game, [1]),
    }


KINDS = (
    *("arena", "parity", "verdict", "energy", "meanpayoff", "discounted"),
    *("energyparity", "buchi", "cycle", "scc", "rabin", "emersonlei", "multienergy"),
    *("mec", "reach", "check", "game", "values"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_shapes_and_of_axes_are_shown(kind):
    """What JAX makes of a solution is printed, and quoted in JAX's own errors."""
    found = shown()[kind]
    name = type(found).__name__
    assert "?" not in repr(found).replace("=?", "")
    for leaf in (
        lambda x: jax.ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype),
        lambda x: 0,
        lambda x: None,
    ):
        assert repr(jax.tree.map(leaf, found)).startswith(f"{name}(")
    said = []

    def traced(tree):
        said.append(repr(tree))
        return 0

    if kind != "meanpayoff":  # its state is of the host
        jax.eval_shape(traced, found)
        assert said[0].startswith(f"{name}(")
