"""The check of sets of probability zero and one, by the textbook and by mutants."""

import dataclasses

import numpy as np
import pytest
from test_prob01 import models

from jaxgames import mdp
from jaxgames.mdp import RegionReason


def restricted(model: mdp.MDP, scheduler: np.ndarray) -> np.ndarray:
    """The choices of a scheduler, and all where it says nothing: bool `[C]`."""
    groups = np.asarray(model.row_group_offsets)
    choices = np.zeros(int(groups[-1]), bool)
    for s, choice in enumerate(scheduler):
        if choice < 0:
            choices[groups[s] : groups[s + 1]] = True
        else:
            choices[choice] = True
    return choices


def moved(model: mdp.MDP, found: mdp.Region):
    """The region with each scheduler that makes one other choice."""
    if found.scheduler is None:
        return
    groups = np.asarray(model.row_group_offsets)
    for state in np.flatnonzero(found.scheduler >= 0):
        for choice in range(groups[state], groups[state + 1]):
            scheduler = found.scheduler.copy()
            scheduler[state] = choice
            yield found._replace(scheduler=scheduler)


@pytest.mark.parametrize("sought", ["zero", "one"])
@pytest.mark.parametrize("optimum", ["min", "max"])
def test_sets_and_schedulers(sought, optimum):
    rng, refused, accepted = np.random.default_rng(5), 0, 0
    question = mdp.prob0 if sought == "zero" else mdp.prob1
    for model, target, passed in models(seed=7, count=100):
        how = {"states": passed}
        found = question(model, target, optimum, engine="host", **how)
        asked = sought, optimum
        assert mdp.verify_region(model, target, found, *asked, **how)
        wrong = found.states.copy()
        state = rng.integers(len(wrong))
        wrong[state] ^= True
        verdict = mdp.verify_region(
            model, target, found._replace(states=wrong), *asked, **how
        )
        assert (verdict.reason, verdict.vertex) == (2 if wrong[state] else 1, state)
        for other in moved(model, found):
            verdict = mdp.verify_region(model, target, other, *asked, **how)
            own = restricted(model, other.scheduler)
            if sought == "one":
                shown = mdp.reference.prob1(
                    model, target, "min", states=passed, choices=own
                )
            else:
                shown = mdp.reference.prob0(
                    model, target, "max", states=passed, choices=own
                )
            assert bool(verdict) == bool(shown.states[found.states].all())
            refused, accepted = refused + (not verdict), accepted + bool(verdict)
    if (sought, optimum) in (("zero", "min"), ("one", "max")):
        assert min(refused, accepted) > 5


def test_visits_for_ever():
    rng, refused = np.random.default_rng(6), 0
    for model, target, _ in models(seed=8, count=80):
        found = mdp.almost_sure_buchi(model, target, engine="host")
        assert mdp.verify_region(model, target, found, "for ever")
        wrong = found.states.copy()
        wrong[rng.integers(len(wrong))] ^= True
        other = found._replace(states=wrong)
        assert not mdp.verify_region(model, target, other, "for ever")
        for other in moved(model, found):
            if mdp.verify_region(model, target, other, "for ever"):
                chain = mdp.induced_chain(model, other.scheduler)
                again = mdp.almost_sure_buchi(chain, target, engine="host").states
                assert again[found.states].all()
            else:
                refused += 1
    assert refused > 5


def test_choices_of_others_and_what_is_malformed():
    model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
    found = mdp.prob1(model, [2])
    other = found._replace(scheduler=np.array([3, -1, -1]))
    verdict = mdp.verify_region(model, [2], other, "one")
    assert RegionReason(int(verdict.reason)) == RegionReason.NO_CHOICE_OF_IT
    silent = found._replace(scheduler=np.array([-1, -1, -1]))
    verdict = mdp.verify_region(model, [2], silent, "one")
    assert RegionReason(int(verdict.reason)) == RegionReason.NOT_SHOWN
    without = dataclasses.replace(model, probs=None)
    assert mdp.verify_region(without, [2], found, "one")
    for arguments, message in (
        (([2], found, "all"), "sought must be zero, one or for ever"),
        (([2], found, "for ever", "min"), "for ever goes with optimum max"),
        (([2], found, "one", "most"), "optimum must be"),
        (([3], found, "one"), "there is no state 3"),
        (([2], mdp.Region(np.ones(2, bool)), "one"), "states must have 3 entries"),
    ):
        with pytest.raises(ValueError, match=message):
            mdp.verify_region(model, *arguments)
