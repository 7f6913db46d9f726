"""The searches of those who check interval models, beside rounds over all branches."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.mdp.robust._verify import ALL, ANY, FIXED, Claim, Intervals
from tests.mdp.quantitative_cases import interval_chain
from tests.mdp.rounds import by_rounds


def random_intervals(rng: np.random.Generator) -> mdp.MDP:
    """Some probabilities may be zero, some are known, and some just suffice."""
    states = int(rng.integers(1, 7))
    per_state = rng.integers(1, 4, states)
    groups, rows, columns, lower, upper = [0], [0], [], [], []
    for count in per_state.tolist():
        for _ in range(count):
            width = int(rng.integers(1, 4))
            probs = [Fraction(x) for x in rng.integers(1, 5, width).tolist()]
            total = sum(probs)
            columns += rng.permutation(max(states, width))[:width].tolist()
            columns[-width:] = [x % states for x in columns[-width:]]
            for p in probs:
                p /= total
                kind = rng.integers(4)
                lower.append(float(p if kind == 0 else 0 if kind < 3 else p / 2))
                upper.append(float(p if kind == 0 else min(p * 2, 1)))
            if width > 1 and rng.random() < 0.2:  # the others can just take all
                upper[-width:-1] = [1.0 / (width - 1)] * (width - 1)
                lower[-width:] = [0.0] * width
            rows.append(len(columns))
        groups.append(len(rows) - 1)
    return mdp.MDP.from_arrays(groups, rows, columns, lower=lower, upper=upper)


def random_claim(rng: np.random.Generator, model: mdp.MDP) -> Claim:
    own = Intervals(model)
    none = np.zeros(own.size)
    scheduler = own.groups[:-1] + rng.integers(0, np.diff(own.groups))
    nature = (own.low + rng.random(len(own.low)) * (own.high - own.low)) * (
        rng.random(len(own.low)) < 0.8
    )
    return Claim(own, none, none, scheduler.astype(np.int32), nature, False, False)


def states_of(claim: Claim, good: np.ndarray, scheduler: int) -> np.ndarray:
    """The states whose choices are good: any, all, or that of the scheduler."""
    own = claim.intervals
    if scheduler == ALL:
        return own.real & ~(np.bincount(own.owner, ~good, minlength=own.size) > 0)
    some = good & claim.chosen() if scheduler == FIXED else good
    return np.bincount(own.owner, some, minlength=own.size) > 0


def any_of(own: Intervals, branches: np.ndarray) -> np.ndarray:
    return np.bincount(own.choice, branches, minlength=own.count) > 0


def reaches(claim: Claim, goal, passed, scheduler: int, nature: int) -> np.ndarray:
    own = claim.intervals

    def step(mark):
        if nature == ALL:
            good = ~own.may_avoid(mark)
        else:
            some = claim.nature > 0 if nature == FIXED else own.high > 0
            good = any_of(own, mark[own.target] & some)
        return mark | (passed & states_of(claim, good, scheduler))

    return by_rounds(step, goal & own.real)


def surely(claim: Claim, goal, scheduler: int, nature: int) -> np.ndarray:
    own = claim.intervals
    some = claim.nature > 0 if nature == FIXED else own.high > 0

    def outer(inside):
        if nature == FIXED:
            stays = ~any_of(own, some & ~inside[own.target])
        else:
            stays = own.may_avoid(~inside)

        def inner(mark):
            good = stays & any_of(own, some & mark[own.target])
            return mark | (inside & states_of(claim, good, scheduler))

        return by_rounds(inner, goal & inside)

    return by_rounds(outer, own.real)


def rests(claim: Claim, choices) -> np.ndarray:
    own = claim.intervals

    def step(inside):
        return inside & states_of(claim, choices & own.may_avoid(~inside), ANY)

    return by_rounds(step, own.real)


@pytest.mark.parametrize("seed", range(40))
def test_searches_find_what_rounds_find(seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        claim = random_claim(rng, random_intervals(rng))
        own = claim.intervals
        goal, passed = rng.random((2, own.size)) < [[0.3], [0.8]]
        for scheduler in (FIXED, ANY, ALL):
            for nature in (FIXED, ANY, ALL):
                found = claim.reaches(goal, passed, scheduler, nature)
                expected = reaches(claim, goal, passed, scheduler, nature)
                np.testing.assert_array_equal(found, expected)
        for scheduler in (FIXED, ANY):
            for nature in (FIXED, ANY):
                found = claim.surely(goal, scheduler, nature)
                expected = surely(claim, goal, scheduler, nature)
                np.testing.assert_array_equal(found, expected)
        choices = rng.random(own.count) < 0.8
        np.testing.assert_array_equal(claim.rests(choices), rests(claim, choices))


def test_what_just_suffices_is_told_by_fractions():
    """Three tenths and seven tenths are less than one as floats, and enough."""
    model = mdp.MDP.from_arrays(
        *([0, 1, 2, 3, 4], [0, 3, 4, 5, 6], [1, 2, 3, 1, 2, 3]),
        lower=[0, 0, 0, 1, 1, 1],
        upper=[0.3, 0.7, 1, 1, 1, 1],
    )
    claim = random_claim(np.random.default_rng(0), model)
    goal = np.arange(4) == 3
    everywhere = np.ones(4, bool)
    assert claim.reaches(goal, everywhere, ANY, ALL).tolist() == [False] * 3 + [True]


@pytest.mark.parametrize("text", ["Pmin", "Pmax", "Rmin"])
def test_deep_interval_models_are_checked_in_one_pass(text):
    model = interval_chain(100_000, 0.0)
    asked = f'{text}=? [ F "end" ]'
    found = mdp.check(model, asked)
    assert mdp.verify_values(model, asked, found)
    lower = found.lower.copy()
    lower[7] += 0.5
    wrong = dataclasses.replace(found, lower=lower)
    assert not mdp.verify_values(model, asked, wrong)
