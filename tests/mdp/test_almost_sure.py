"""Reaching a set, and visiting one for ever, with probability one."""

import jax
import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.testing import _exact as exact


def models(seed: int, count: int, sizes: tuple[int, int] = (1, 5)):
    """Models with a set of states."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(sizes[0], sizes[1] + 1))
        yield exact.random_model(rng, size), rng.random(size) < 0.3


def test_reach_by_hand():
    # 0 may gamble for 1 for ever; in 2 every choice may lead to the trap 3.
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 4, 5], [0, 2, 3, 5, 7, 8], [0, 1, 0, 1, 3, 2, 3, 3]
    )
    region = mdp.almost_sure_reach(model, [1])
    assert region.states.tolist() == [True, True, False, False]
    assert region.scheduler.tolist() == [0, -1, -1, -1]
    # A path may not pass 0.
    region = mdp.almost_sure_reach(model, [1], states=[2, 3])
    assert region.states.tolist() == [False, True, False, False]


def test_buchi_by_hand():
    # {0, 1} is a component; 2 gets there by its second choice only; 3 is a trap.
    model = mdp.MDP.from_arrays(
        [0, 2, 3, 5, 6], [0, 1, 2, 3, 5, 7, 8], [0, 1, 0, 0, 3, 2, 0, 3]
    )
    region = mdp.almost_sure_buchi(model, [1])
    assert region.states.tolist() == [True, True, True, False]
    assert region.scheduler.tolist() == [1, 2, 4, -1]
    # Reached with probability one, but not for ever: 2 is in no component it can visit.
    assert mdp.almost_sure_buchi(model, [2]).states.tolist() == [False] * 4


def test_buchi_against_all_schedulers():
    won = 0
    for model, accepting in models(seed=1, count=150):
        region = mdp.almost_sure_buchi(model, accepting, engine="host")
        expected = exact.buchi_states(model, accepting)
        assert region.states.tolist() == expected.tolist()
        won += expected.any()
        # The scheduler does it, and says nothing elsewhere.
        assert ((region.scheduler >= 0) == region.states).all()
        chain = exact.chain_of(mdp.induced_chain(model, region.scheduler))
        does = exact.surely_for_ever(chain, accepting)
        assert does[region.states].all()
    assert won > 50


def test_buchi_on_the_device():
    for model, accepting in models(seed=2, count=12, sizes=(7, 8)):
        host = mdp.almost_sure_buchi(model, accepting, engine="host")
        wide = np.pad(accepting, (0, 8 - len(accepting)))
        device = jax.device_get(
            mdp.almost_sure_buchi(model.pad(8, 16, 64), wide, engine="device")
        )
        size = model.num_states
        np.testing.assert_array_equal(device.states[:size], host.states)
        np.testing.assert_array_equal(device.scheduler[:size], host.scheduler)
        assert not device.states[size:].any()


def test_buchi_under_jit_and_vmap():
    (model, _), *_ = models(seed=3, count=1, sizes=(8, 8))
    model = model.pad(8, 16, 64)
    sets = np.random.default_rng(4).random((6, 8)) < 0.3
    solve = jax.jit(jax.vmap(lambda x: mdp.almost_sure_buchi(model, x)))
    found = jax.device_get(solve(sets))
    for number, accepting in enumerate(sets):
        host = mdp.almost_sure_buchi(model, accepting, engine="host")
        np.testing.assert_array_equal(found.states[number], host.states)
        np.testing.assert_array_equal(found.scheduler[number], host.scheduler)


@pytest.mark.parametrize("engine", ["host", "device"])
def test_known_components_are_taken(engine):
    model = mdp.MDP.from_arrays([0, 2, 3], [0, 1, 2, 3], [0, 1, 0])
    whole = mdp.mec(model)
    part = mdp.mec(model, states=np.array([True, False]))
    for components, expected in ((whole, [True, True]), (part, [False, False])):
        region = mdp.almost_sure_buchi(model, [1], components=components, engine=engine)
        assert np.asarray(region.states).tolist() == expected
