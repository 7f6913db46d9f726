"""The host engine against the definition, and as plain Python."""

import numpy as np
import pytest
from end_components import COUNTEREXAMPLE, tiny_models

from jaxgames import Status, generate
from jaxgames.host import interpreted
from jaxgames.mdp import MDP
from jaxgames.mdp import host as engine
from jaxgames.testing._exact import end_components as brute_force


def test_the_counterexample_to_the_paper():
    found = engine.mec(COUNTEREXAMPLE)
    assert found.count == 2
    np.testing.assert_array_equal(found.state_label, [0, -1, 1])
    np.testing.assert_array_equal(found.choice_kept, [True, False, False, True])


def test_agrees_with_the_definition():
    several = 0
    for model in tiny_models(seed=1, count=500):
        label, kept = brute_force(model)
        found = engine.mec(model)
        np.testing.assert_array_equal(found.state_label, label)
        np.testing.assert_array_equal(found.choice_kept, kept)
        assert found.count == label.max(initial=-1) + 1
        several += found.stats["outer"] > 1
    assert several > 50  # where components were searched again


def test_masks_agree_with_the_definition():
    rng = np.random.default_rng(2)
    for model in tiny_models(seed=3, count=300):
        states = rng.random(model.num_states) < 0.8
        choices = rng.random(model.num_choices) < 0.8
        for masks in ((states, None), (None, choices), (states, choices)):
            label, kept = brute_force(model, *masks)
            found = engine.mec(model, states=masks[0], choices=masks[1])
            np.testing.assert_array_equal(found.state_label, label)
            np.testing.assert_array_equal(found.choice_kept, kept)


def test_plain_python_agrees():
    for model in tiny_models(seed=4, count=40):
        with interpreted():
            plain = engine.mec(model)
        fast = engine.mec(model)
        np.testing.assert_array_equal(plain.state_label, fast.state_label)
        np.testing.assert_array_equal(plain.choice_kept, fast.choice_kept)


def test_empty_and_lone():
    empty = engine.mec(MDP.from_arrays([0], [0], []))
    assert (empty.count, len(empty.state_label), len(empty.choice_kept)) == (0, 0, 0)
    lone = engine.mec(MDP.from_arrays([0, 1], [0, 1], [0]))
    assert (lone.count, lone.state_label[0], lone.choice_kept[0]) == (1, 0, True)


def test_outer_steps_and_removal():
    ladder = engine.mec(generate.ladder_mdp(30))
    assert (ladder.count, ladder.stats["outer"]) == (32, 32)
    chain = engine.mec(generate.chain_mdp(50))
    assert (chain.count, chain.stats["outer"], chain.stats["removed"]) == (1, 1, 49)


def test_repeated_targets_and_choices():
    model = MDP.from_arrays([0, 2, 3], [0, 2, 4, 6], [1, 1, 1, 1, 0, 0])
    found = engine.mec(model)
    np.testing.assert_array_equal(found.state_label, [0, 0])
    assert found.choice_kept.all()


def test_stops_when_told():
    found = engine.mec(generate.cycle_mdp(100_000), stop=np.ones(1, np.int8))
    assert found.status == Status.INTERRUPTED
    assert found.count == 0
    assert (found.state_label == -1).all()
    assert not found.choice_kept.any()


def test_masks_are_checked():
    with pytest.raises(ValueError, match="states must have 3 entries, got 2"):
        engine.mec(COUNTEREXAMPLE, states=[True, False])
    with pytest.raises(ValueError, match="choices must hold booleans or 0/1"):
        engine.mec(COUNTEREXAMPLE, choices=[0.5, 1, 1, 1])
