"""The check of values: it takes what is right, and finds what is wrong."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from quantitative_cases import FOLDER, cases, needs_folder
from test_check import BOUNDED, UNBOUNDED, haddad, question, rewarded, small

from jaxgames import io, mdp
from jaxgames.mdp import ValueReason

HOW = UNBOUNDED | BOUNDED


@pytest.mark.parametrize("text", HOW)
def test_what_is_right_and_what_is_wrong(text):
    rng = np.random.default_rng(2)
    wrongs = 0
    for model in rewarded(seed=11, count=12):
        for optimum in ("min", "max"):
            asked = text.format(optimum)
            found = mdp.check(model, asked)
            verdict = mdp.verify_values(model, asked, found)
            assert verdict, (asked, str(verdict))
            how = question(model, HOW[text])
            value = mdp.reference.values(model, how.pop("kind"), optimum, **how)
            for _ in range(4):
                state = int(rng.integers(model.num_states))
                wrong = spoilt(found, state, rng)
                ends = zip(wrong.lower, value, wrong.upper, strict=True)
                true = all(exactly(a) <= x <= exactly(b) for a, x, b in ends)
                verdict = mdp.verify_values(model, asked, wrong)
                if not true:
                    wrongs += 1
                    assert not verdict, (asked, state)
    assert wrongs > 20


def exactly(x):
    return Fraction(float(x)) if np.isfinite(x) else float(x)


def spoilt(found: mdp.Checked, state: int, rng) -> mdp.Checked:
    """A bound that is moved, in one state or in all."""
    lower, upper = found.lower.copy(), found.upper.copy()
    off = float(rng.choice([1e-3, 0.5, np.inf]))
    match rng.integers(4):
        case 0:
            lower[state] += off
            upper[state] = max(upper[state], lower[state])
        case 1:
            upper[state] = 0 if off == np.inf else upper[state] - off
            lower[state] = min(lower[state], upper[state])
        case 2:
            lower, upper = lower * (1 + 1e-3) + 1e-3, upper * (1 + 1e-3) + 1e-2
        case 3:
            lower, upper = lower * (1 - 1e-2), upper * (1 - 1e-3)
    return dataclasses.replace(found, lower=lower, upper=upper)


def test_a_circle_does_not_hold_itself_up():
    """Where rewards are zero, equations alone allow for anything."""
    model = mdp.MDP.from_arrays(
        [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1],
        labels={"goal": [0, 1]}, choice_rewards={"": [0, 7, 0]},
    )  # fmt: skip
    for text, right in (('Rmin=? [ F "goal" ]', 7), ('Pmax=? [ F "goal" ]', 1)):
        found = mdp.check(model, text)
        assert found.value == right
        assert mdp.verify_values(model, text, found)
    less = dataclasses.replace(found, scheduler=np.array([0, -1]))
    verdict = mdp.verify_values(model, text, less)
    assert verdict.reason == ValueReason.KNOWN_BELOW
    cheap = mdp.check(model, 'Rmin=? [ F "goal" ]')
    cheap = dataclasses.replace(
        cheap, lower=np.zeros(2), upper=np.zeros(2), scheduler=np.array([0, -1])
    )
    verdict = mdp.verify_values(model, 'Rmin=? [ F "goal" ]', cheap)
    assert verdict.reason == ValueReason.NOT_FINITE


def test_exact_bounds_are_seen_to_hold():
    found = mdp.check(haddad(50), 'P=? [ F "end" ]')
    assert mdp.verify_values(haddad(50), 'P=? [ F "end" ]', found)
    more = dataclasses.replace(found, lower=found.lower + 1e-15, upper=found.upper + 1)
    assert not mdp.verify_values(haddad(50), 'P=? [ F "end" ]', more)


@needs_folder
@pytest.mark.parametrize("name", ["coin2", "csma3_2", "maze_2", "t_total3", "haddad20"])
def test_published_values_are_verified(name):
    model = io.load(FOLDER / "models" / f"{name}.umb")
    assert isinstance(model, mdp.MDP)
    verified = 0
    for case in cases(name):
        if "||" in case.text:
            continue
        found = mdp.check(model, case.text)
        assert mdp.verify_values(model, case.text, found), case.text
        verified += 1
    assert verified


def test_what_is_refused():
    model = small()
    found = mdp.check(model, "Pmax=? [ F x=1 ]")
    for text, message in (
        ("x=1", "expected a query"),
        ("filter(max, Pmax=? [ F x=1 ])", "expected a query"),
        ("Pmax=? [ F x=1 || F x=2 ]", "a quotient only where there are no choices"),
    ):
        with pytest.raises(ValueError, match=message):
            mdp.verify_values(model, text, found)
    short = dataclasses.replace(found, lower=np.zeros(2))
    with pytest.raises(ValueError, match="must have 3 entries"):
        mdp.verify_values(model, "Pmax=? [ F x=1 ]", short)
    none = dataclasses.replace(found, scheduler=None)
    with pytest.raises(ValueError, match="a memoryless scheduler is needed"):
        mdp.verify_values(model, "Pmax=? [ F x=1 ]", none)
    other = dataclasses.replace(found, scheduler=np.array([3, 2, 3]))
    verdict = mdp.verify_values(model, "Pmax=? [ F x=1 ]", other)
    assert str(verdict) == (
        "state 0: the scheduler takes a choice that it does not have"
    )


def coins(flips: int) -> mdp.MDP:
    """Heads lead from a state to the next one; the last two stay where they are."""
    size = flips + 2
    targets = [x for i in range(flips) for x in (i, i + 1)] + [flips, flips + 1]
    rows = [*range(0, 2 * flips, 2), 2 * flips, 2 * flips + 1, 2 * flips + 2]
    probs = [0.5] * (2 * flips) + [1, 1]
    home = np.arange(size) == flips
    earned = {"odd": np.arange(size) % 2.0 * ~home, "loss": -(np.arange(size) % 3.0)}
    return mdp.MDP.from_arrays(
        range(size + 1), rows, targets, probs,
        labels={"home": home}, choice_rewards=earned,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        'P=? [ F<=700 "home" ]',
        'P=? [ G<=700 !"home" ]',
        'P=? [ F[9,700] "home" ]',
        'R{"odd"}=? [ C<=700 ]',
        'R{"odd"}=? [ C<=700 discount=9/10 ]',
        'R{"loss"}=? [ C<=700 ]',
    ],
)
@pytest.mark.parametrize("played", [False, True])
def test_many_steps_of_a_large_model(text, played):
    """They are too many for fractions, and some values are zero or one exactly."""
    model, asked = coins(300), text
    if played:
        model = mdp.Game(model, np.arange(302) % 2)
        asked = "<<0>>" + text.replace("=?", "max=?", 1)
    found = mdp.check(model, asked)
    assert mdp.verify_values(model, asked, found)
    rng = np.random.default_rng(4)
    for state in rng.integers(302, size=8).tolist():
        off = 1e-9 * max(1.0, abs(found.upper[state]))
        lower, upper = found.lower.copy(), found.upper.copy()
        lower[state] = upper[state] = upper[state] + off
        wrong = dataclasses.replace(found, lower=lower, upper=upper)
        verdict = mdp.verify_values(model, asked, wrong)
        assert (verdict.reason, verdict.vertex) == (ValueReason.TOO_LARGE, state)
        lower[state] = upper[state] = found.lower[state] - off
        wrong = dataclasses.replace(found, lower=lower, upper=upper)
        verdict = mdp.verify_values(model, asked, wrong)
        assert (verdict.reason, verdict.vertex) == (ValueReason.TOO_SMALL, state)


def test_bounds_too_near_for_floating_point_are_neither_right_nor_wrong():
    model, asked = coins(300), 'R{"odd"}=? [ C<=700 ]'
    found = mdp.check(model, asked)
    lower, upper = found.lower.copy(), found.upper.copy()
    lower[299] = upper[299] = 2  # 2 ** -699 too much
    near = dataclasses.replace(found, lower=lower, upper=upper)
    with pytest.raises(ValueError, match="bound of state 299 is too near"):
        mdp.verify_values(model, asked, near)
