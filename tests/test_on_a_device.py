"""Games, graphs and models that lie on a device, for all that works on the host."""

import jax
import numpy as np
import pytest

from jaxgames import energy, generate, graph, mdp, meanpayoff, parity
from jaxgames.parity import preprocess


@pytest.fixture(scope="module")
def game():
    return generate.random_game(1, 60, num_priorities=5)


@pytest.mark.parametrize("solver", ["host", "auto", "race", "promotion", "spm"])
def test_parity(game, solver):
    there = jax.device_put(game)
    found = parity.solve(there, solver)
    np.testing.assert_array_equal(found.winner, parity.reference.solve(game).winner)
    assert parity.verify(there, found)
    assert parity.certificate(there, found) is not None


@pytest.mark.parametrize("name", preprocess.REDUCTIONS)
def test_preprocessing(game, name):
    reduced = preprocess.apply(jax.device_put(game), (name,))
    expected = preprocess.apply(game, (name,))
    np.testing.assert_array_equal(reduced.arena.dst, expected.arena.dst)


@pytest.mark.parametrize("solver", ["host", "auto", "race", "fvi", "vi"])
def test_energy(solver):
    game = generate.random_energy_game(1, 60, max_weight=9)
    found = energy.solve(jax.device_put(game), solver)
    np.testing.assert_array_equal(found.credit, energy.solve(game, "host").credit)
    assert energy.verify(jax.device_put(game), found)


def test_mean_payoffs():
    game = generate.random_energy_game(2, 40, max_weight=9)
    found, expected = (meanpayoff.solve(x) for x in (jax.device_put(game), game))
    np.testing.assert_array_equal(found.value_num, expected.value_num)
    np.testing.assert_array_equal(found.value_den, expected.value_den)
    assert meanpayoff.verify(jax.device_put(game), found)


@pytest.mark.parametrize("solver", ["host", "auto", "max_id", "fb_trim"])
def test_components(game, solver):
    found = graph.scc(jax.device_put(game), solver)
    np.testing.assert_array_equal(found.labels, graph.scc(game, "host").labels)
    assert graph.verify(jax.device_put(game), found)


@pytest.mark.parametrize("solver", ["host", "auto", "interleaved", "basic"])
def test_end_components(solver):
    model = generate.random_mdp(1, 40)
    found = mdp.mec(jax.device_put(model), solver)
    np.testing.assert_array_equal(found.state_label, mdp.mec(model, "host").state_label)
    assert mdp.verify(jax.device_put(model), found)
