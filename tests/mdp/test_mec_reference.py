"""The textbook against the definition, and against the engine on the host."""

import numpy as np
from end_components import tiny_models

from jaxgames.mdp import host, reference
from jaxgames.testing._exact import end_components as brute_force


def test_masks_agree_with_the_definition():
    rng = np.random.default_rng(2)
    for model in tiny_models(seed=3, count=100):
        states = rng.random(model.num_states) < 0.8
        choices = rng.random(model.num_choices) < 0.8
        for masks in ((None, None), (states, None), (None, choices), (states, choices)):
            label, kept = brute_force(model, *masks)
            masks = dict(zip(("states", "choices"), masks, strict=True))
            found = reference.mec(model, **masks)
            np.testing.assert_array_equal(found.state_label, label)
            np.testing.assert_array_equal(found.choice_kept, kept)
            assert found.count == label.max(initial=-1) + 1
            assert reference.verify(model, label, kept, **masks)


def test_regions_and_schedulers_are_those_of_the_engine():
    rng = np.random.default_rng(5)
    for model in tiny_models(seed=6, count=150):
        target, states = rng.random((2, model.num_states)) < [[0.3], [0.8]]
        choices = rng.random(model.num_choices) < 0.8
        for masks in ({}, {"states": states}, {"choices": choices}):
            for optimum in ("min", "max"):
                for name in ("prob0", "prob1"):
                    right = getattr(reference, name)(model, target, optimum, **masks)
                    found = getattr(host, name)(model, target, optimum, **masks)
                    np.testing.assert_array_equal(found.states, right.states)
                    np.testing.assert_array_equal(found.scheduler, right.scheduler)
        right = reference.almost_sure_buchi(model, target)
        found = host.almost_sure_buchi(model, target, reference.mec(model))
        np.testing.assert_array_equal(found.states, right.states)
        assert ((right.scheduler >= 0) == right.states).all()
