"""Every slice is fuzzed: nothing is found, and what is planted is found and shrunk."""

import dataclasses

import numpy as np
import pytest

from jaxgames import (
    buchi,
    energy,
    equivalence,
    graph,
    ltl,
    mdp,
    meanpayoff,
    multienergy,
)
from jaxgames.testing import SLICES, fuzz

QUICK = {
    "energy": (["host", "auto", "verify", "vi"], 32),
    "meanpayoff": (["host", "decide", "verify", "many"], 32),
    "discounted": (["host", "verify", "many"], 32),
    "energyparity": (["host", "play", "decide", "verify", "many"], 32),
    "emersonlei": (["host", "recursion", "verify", "many"], 32),
    "multienergy": (["host", "auto", "verify", "many"], 32),
    "cycles": (["host", "auto", "verify", "many"], 64),
    "buchi": (["host", "auto", "verify", "attractors"], 64),
    "ltl": (["translate", "translate.generalised", "parse"], 24),
    "synth": (["verdict", "dual", "machines", "verify", "deterministic"], 24),
    "equivalence": (["bisimulation.host", "compare", "spectrum", "formulas"], 8),
    "scc": (["reference", "host", "verify", "reachable", "kinds", "attractor"], 64),
    "mec": (["reference", "host", "verify", "basic"], 64),
    "reach": (["reference", "host", "bounds", "verify"], 48),
    "values": (["host", "verify", "game", "front"], 8),
    "robust": (["host", "verify"], 4),
    "programs": (["host"], 40),
    "timed": (["host"], 4),
}
"""Checks that compile little; the others run in `make fuzz`."""


def test_all_slices_are_here():
    assert {*QUICK, "parity", "parity-edges", "files"} == set(SLICES)


@pytest.mark.parametrize("name", QUICK)
def test_nothing_is_found(name):
    checks, games = QUICK[name]
    summary = fuzz(SLICES[name], checks, games=games, seed=1, limit=None)
    assert summary.failure is None, summary.failure
    assert summary.games == games


def changed(found, **fields):
    """A solution with other answers."""
    return dataclasses.replace(found, **fields)


def dearer(found):
    credit = np.asarray(found.credit)
    return changed(found, credit=np.where(credit > 2, credit + 1, credit))


def halved(found):
    odd = (np.asarray(found.value_den) > 1) & (np.asarray(found.strategy) >= 0)
    return changed(found, value_den=np.where(odd, 1, found.value_den))


def nothing_found(found):
    return changed(found, exists=np.bool_(False), lasso=None, witness=np.int32(-1))


def flipped(found):
    return changed(found, winner=np.where(found.winner == 1, 0, found.winner))


def merged(found):
    labels = np.asarray(found.labels)
    return changed(found, labels=np.where(labels == 2, 1, labels))


def escaping(found):
    inside = np.asarray(found.state_label) >= 0
    return changed(found, choice_kept=found.choice_kept | inside.all())


def too_near(found):
    return changed(found, lower=np.where(found.lower < 1, found.upper, found.lower))


def too_low(found):
    return dataclasses.replace(found, upper=np.minimum(found.upper, 1.5))


def one_class(found):
    return dataclasses.replace(found, labels=np.minimum(found.labels, 1))


def turned(automaton):
    """Every colour that is more than the least is one more."""
    colour = automaton.colour
    return changed(automaton, colour=colour + (colour > colour.min(initial=9)))


PLANTED = {
    "synth": (ltl, "deterministic", turned, "deterministic"),
    "energy": (energy, "solve", dearer, "host"),
    "meanpayoff": (meanpayoff, "solve", halved, "host"),
    "cycles": (buchi, "accepting_cycle", nothing_found, "host"),
    "buchi": (buchi, "solve", flipped, "host"),
    "scc": (graph, "scc", merged, "host"),
    "mec": (mdp, "mec", escaping, "host"),
    "reach": (mdp, "reach_probability", too_near, "bounds"),
    "values": (mdp, "check", too_low, "host"),
    "equivalence": (equivalence, "bisimulation", one_class, "bisimulation.host"),
}
"""A function of a slice, what spoils its answers, and the check that must see it."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found_and_shrunk(name, monkeypatch):
    module, function, spoil, check = PLANTED[name]
    right = getattr(module, function)

    def wrong(*arguments, **options):
        return spoil(right(*arguments, **options))

    monkeypatch.setattr(module, function, wrong)
    failure = fuzz(SLICES[name], [check], games=512, seed=2, limit=None).failure
    assert failure is not None
    assert failure.check == check
    assert failure.case.size <= 4, failure.code


def test_a_planted_bug_in_games_of_several_energies(monkeypatch):
    right = multienergy.solve

    def wrong(game, *arguments):
        return right(dataclasses.replace(game, defender=~game.defender), *arguments)

    monkeypatch.setattr(multienergy, "solve", wrong)
    failure = fuzz(SLICES["multienergy"], ["host"], games=64, limit=None).failure
    assert failure is not None
    assert failure.case.size <= 2, failure.code


def test_a_planted_bug_in_a_translation(monkeypatch):
    right = ltl.translate

    def wrong(formula, **options):
        strong = str(formula).replace("W", "U")
        return right(strong, **options)

    monkeypatch.setattr(ltl, "translate", wrong)
    failure = fuzz(SLICES["ltl"], ["translate"], games=256, seed=2, limit=None).failure
    assert failure is not None
    assert "W" in str(failure.case)
    assert len(str(failure.case)) < 12
