"""The check of averages, formulas, and bounds that take a product or a walk."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from test_check import rewarded

from jaxgames import ltl, mdp
from jaxgames.mdp import ValueReason

TEXTS = [
    'R{{"cost"}}{}=? [ LRA ]',
    'LRA{}=? [ "goal" ]',
    'P{}=? [ G F "goal" ]',
    'P{}=? [ F G "way" ]',
    'P{}=? [ (G F "goal") & (F G "way") ]',
    'P{}=? [ F ("goal" & X "way") ]',
    'P{}=? [ !(G ("way" => X X "goal")) ]',
    'P{}=? [ F>=2 "goal" ]',
    'P{}=? [ G>3 "way" ]',
    'P{}=? [ "way" W>=1 "goal" ]',
    'P{}=? [ F^{{rew{{"cost"}}<=3}} "goal" ]',
    'P{}=? [ "way" U^{{rew{{"cost"}}>=2}} "goal" ]',
    'P{}=? [ G^{{rew{{"cost"}}[1,2]}} "way" ]',
    'T{}=? [ F "goal" ]',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_right_and_what_is_wrong(text):
    """What is moved out of values, which other code finds as fractions, is found."""
    rng, wrongs = np.random.default_rng(5), 0
    for model in rewarded(seed=17, count=10):
        for optimum in ("min", "max"):
            asked = text.format(optimum)
            found = mdp.check(model, asked)
            verdict = mdp.verify_values(model, asked, found)
            assert verdict, (asked, str(verdict))
            exact = mdp.check(model, asked, exact=True, throw=False).exact
            assert exact is not None
            for bound in ("lower", "upper"):
                state = int(rng.integers(model.num_states))
                ends = {"lower": found.lower.copy(), "upper": found.upper.copy()}
                off = rng.choice([1e-4, 0.25]) * (1 if bound == "lower" else -1)
                if not np.isfinite(float(exact[state])):
                    continue
                ends["lower"][state] = ends["upper"][state] = float(exact[state]) + off
                wrong = dataclasses.replace(found, **ends)
                verdict = mdp.verify_values(model, asked, wrong)
                assert not verdict, (asked, state, off)
                wrongs += 1
    assert wrongs > 20


@pytest.mark.parametrize("text", [*TEXTS[:4], TEXTS[7], TEXTS[10]])
def test_bounds_that_are_the_value_itself(text):
    """They are next to the fraction: floating point alone does not show them."""
    for model in rewarded(seed=29, count=8):
        for optimum in ("min", "max"):
            asked = text.format(optimum)
            found = mdp.check(model, asked, exact=True)
            assert mdp.verify_values(model, asked, found), asked
            for state, value in enumerate(found.exact):
                upper = np.nextafter(found.lower, -np.inf)
                lower = np.minimum(found.lower, upper)
                if Fraction(upper[state]) >= value or value == 0:
                    continue
                wrong = dataclasses.replace(found, lower=lower, upper=upper)
                assert not mdp.verify_values(model, asked, wrong), asked


def test_a_scheduler_that_does_not_attain_its_bound_is_found():
    model = mdp.MDP.from_arrays(
        [0, 2, 3], [0, 1, 2, 3], [0, 1, 0], [1, 1, 1],
        labels={"there": [0, 1]}, choice_rewards={"": [1, 0, 3]},
    )  # fmt: skip
    for asked, value in (
        ("Rmax=? [ LRA ]", 1.5),
        ('LRAmax=? [ "there" ]', 0.5),
        ('Pmax=? [ G F "there" ]', 1.0),
    ):
        found = mdp.check(model, asked)
        assert found.value == value
        assert found.scheduler.tolist()[0] == 1
        assert mdp.verify_values(model, asked, found)
        lazy = dataclasses.replace(found, scheduler=np.array([0, 2]))
        verdict = mdp.verify_values(model, asked, lazy)
        assert (verdict.reason, verdict.vertex) == (ValueReason.TOO_LARGE, 0)
        other = dataclasses.replace(found, scheduler=np.array([2, 2]))
        verdict = mdp.verify_values(model, asked, other)
        assert verdict.reason == ValueReason.NO_CHOICE_OF_IT


def ring(size: int, seed: int) -> mdp.MDP:
    """States around a circle: on by one, or a jump by lot; one more is left."""
    rng = np.random.default_rng(seed)
    columns, probs, rows = [], [], [0]
    for state in range(size):
        for _ in range(2):
            columns += [(state + 1) % size, int(rng.integers(size))]
            share = rng.integers(1, 8) / 8
            probs += [share, 1 - share] if share < 1 else [0.5, 0.5]
            rows.append(len(columns))
    columns += [0, size]
    probs += [0.25, 0.75]
    rows.append(len(columns))
    return mdp.MDP.from_arrays(
        [*range(0, 2 * size + 1, 2), 2 * size + 1],
        rows, columns, probs, initial=[size],
        choice_rewards={"": rng.integers(-4, 9, 2 * size + 1) * 1.0},
        labels={"half": np.arange(size + 1) % 2 == 0},
    )  # fmt: skip


@pytest.mark.parametrize("optimum", ["min", "max"])
@pytest.mark.parametrize("text", ["R{}=? [ LRA ]", 'LRA{}=? [ "half" ]'])
def test_averages_of_many_states_need_no_fractions(text, optimum, monkeypatch):
    from jaxgames.mdp import _verify_average

    monkeypatch.setattr(_verify_average, "CHAIN_SOLVED_UP_TO", 0)
    model, asked = ring(5_000, 3), text.format(optimum)
    found = mdp.check(model, asked)
    assert mdp.verify_values(model, asked, found)
    off = 1e-4
    for lower, upper in (
        (found.upper + off, found.upper + off),
        (found.lower - off, found.lower - off),
    ):
        wrong = dataclasses.replace(found, lower=lower, upper=upper)
        assert not mdp.verify_values(model, asked, wrong)


@pytest.mark.parametrize(
    "asked",
    ["P=? [ F x=3 || G x>0 ]", "P=? [ G F x=2 || F x=2 ]", "P=? [ X x=1 || F x=2 ]"],
)
def test_conditions_of_chains_are_quotients(asked):
    chain = mdp.MDP.from_arrays(
        range(6), [0, 3, 5, 6, 7, 8], [1, 2, 3, 0, 2, 2, 3, 4],
        [0.5, 0.3, 0.2, 0.4, 0.6, 1, 1, 1], valuations={"x": [1, 1, 2, 3, 0]},
    )  # fmt: skip
    found = mdp.check(chain, asked)
    assert mdp.verify_values(chain, asked, found)
    for off in (-1e-4, 1e-4):
        ends = {"lower": found.lower + off, "upper": found.upper + off}
        wrong = dataclasses.replace(found, **ends)
        if 0 < found.value < 1 or found.value + off not in (0, 1):
            assert not mdp.verify_values(chain, asked, wrong), off


@pytest.mark.parametrize(
    "text",
    [
        'P{}[ F "goal" ]',
        'R{{"cost"}}{}[ LRA ]',
        'P{}[ F>=1 "goal" ]',
        'P{}[ G F "way" ]',
    ],
)
def test_a_threshold_is_verified_by_the_number_that_it_is_of(text):
    told = 0
    for model in rewarded(seed=23, count=8):
        for relation in (">=0.5", "max<0.5", "min>0.25", "<=1/3", ">=1"):
            asked = text.format(relation)
            found = mdp.check(model, asked)
            assert mdp.verify_values(model, asked, found), asked
            turned = dataclasses.replace(
                found, lower=1 - found.upper, upper=1 - found.lower
            )
            assert not mdp.verify_values(model, asked, turned), asked
            told += 1
    assert told == 40


GAME = mdp.Game.from_arrays(
    [0, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7, 8], [2, 3, 1, 0, 2, 3, 2, 3],
    [0.25, 0.75, 1, 1, 0.5, 0.5, 1, 1], player=[0, 1, -1, -1],
    labels={"goal": [0, 0, 1, 0], "home": [0, 1, 1, 0]},
)  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        '<<0>>Pmax=? [ G F "home" ]',
        '<<1>>Pmin=? [ G F "home" ]',
        '<<0>>Pmax=? [ F ("home" & X "goal") ]',
        '<<0>>Pmax=? [ F>=2 "goal" ]',
        '<<1>>Pmin=? [ !(F>=2 "goal") ]',
        '<<0>>P>=0.25 [ F "goal" ]',
        '<<1>>P<0.25 [ F "goal" ]',
    ],
)
def test_games_are_verified_too(asked):
    found = mdp.check(GAME, asked)
    assert mdp.verify_values(GAME, asked, found)
    if found.is_truth:
        ends = {"lower": 1 - found.upper, "upper": 1 - found.lower}
    else:
        moved = np.where(found.lower > 0.5, found.lower - 1e-3, found.upper + 1e-3)
        ends = {"lower": moved, "upper": moved}
    wrong = dataclasses.replace(found, **ends)
    assert not mdp.verify_values(GAME, asked, wrong)


def test_an_automaton_that_is_wrong_is_found(monkeypatch):
    """The check asks for the automaton of another formula than the solver does."""
    line = mdp.MDP.from_arrays(
        range(4), range(4), [1, 2, 2], [1, 1, 1],
        labels={"goal": [1, 0, 0], "way": [0, 0, 1]},
    )  # fmt: skip
    asked, real = 'P=? [ F ("goal" & X "way") ]', ltl.deterministic

    def other(formula, **how):
        return real(str(formula).replace("X", "X X"), **how)

    with monkeypatch.context() as patch:
        patch.setattr(ltl, "deterministic", other)
        wrong = mdp.check(line, asked)
    assert wrong.value == 1
    verdict = mdp.verify_values(line, asked, wrong)
    assert (verdict.reason, verdict.vertex) == (ValueReason.TOO_LARGE, 0)
    assert mdp.verify_values(line, asked, mdp.check(line, asked))


def test_what_would_need_too_many_levels_says_so():
    model = next(rewarded(seed=11, count=1))
    asked = 'Pmax=? [ F^{rew{"cost"}<=90000000} "goal" ]'
    ends = np.zeros(model.num_states), np.ones(model.num_states)
    found = mdp.Checked(
        0, stats={}, lower=ends[0], upper=ends[1], initial=np.array([0])
    )
    with pytest.raises(ValueError, match="followed on 90000002 levels"):
        mdp.verify_values(model, asked, found)


# ---- averages of large models --------------------------------------------------------


def mixing(size: int, seed: int, choices: int) -> mdp.MDP:
    """All states lead to three others each, so each is visited for ever."""
    rng = np.random.default_rng(seed)
    count = size * choices
    weight = rng.random((count, 3)) + 0.1
    weight /= weight.sum(1, keepdims=True)
    return mdp.MDP.from_arrays(
        *(choices * np.arange(size + 1), 3 * np.arange(count + 1)),
        *(rng.integers(0, size, 3 * count), weight.ravel()),
        labels={"end": rng.random(size) < 0.05},
        state_rewards={"": rng.random(size)},
    )


def moved(found: mdp.Checked, state: int, off: float) -> mdp.Checked:
    """Both bounds of a state beyond those that were found, by a share of them."""
    lower, upper = found.lower.copy(), found.upper.copy()
    end = upper if off > 0 else lower
    lower[state] = upper[state] = end[state] * (1 + off)
    return dataclasses.replace(found, lower=lower, upper=upper)


@pytest.mark.parametrize("choices", [1, 2])
@pytest.mark.parametrize("text", ["R{}=? [ LRA ]", 'S{}=? [ "end" ]'])
def test_averages_of_large_models_are_shown_and_refuted(text, choices):
    """Nobody could do that in fractions."""
    model = mixing(5000, 1, choices)
    for optimum in ("max", "min") if choices > 1 else ("",):
        asked = text.format(optimum)
        found = mdp.check(model, asked)
        assert mdp.verify_values(model, asked, found)
        for off in (1e-6, -1e-6, 1e-9, -1e-9):
            verdict = mdp.verify_values(model, asked, moved(found, 77, off))
            assert not verdict
            assert verdict.vertex == 77


def test_averages_of_many_states_that_are_left():
    """The end is one exactly; what is off is seen without fractions."""
    size = 5000
    state = np.arange(size)
    columns = np.stack([state, np.minimum(state + 1, size - 1)], 1).ravel()
    model = mdp.MDP.from_arrays(
        *(np.arange(size + 1), 2 * np.arange(size + 1), columns),
        np.tile([0.1, 0.9], size),
        labels={"end": state == size - 1},
    )
    asked = 'S=? [ "end" ]'
    found = mdp.check(model, asked)
    assert found.upper.max() == 1
    assert mdp.verify_values(model, asked, found)
    ones = np.ones(size)
    sharp = dataclasses.replace(found, lower=ones, upper=ones)
    assert mdp.verify_values(model, asked, sharp)
    for at in (77, size - 1):
        for off in (1e-6, -1e-6, 1e-9, -1e-9):
            verdict = mdp.verify_values(model, asked, moved(sharp, at, off))
            assert not verdict
