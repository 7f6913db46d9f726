"""Bounds of values of a number of steps, beside their definition in fractions."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.mdp import _verify_steps
from jaxgames.mdp._verify_steps import Walk, stepped_ends
from jaxgames.mdp._verify_values import Claim


def by_definition(model: mdp.MDP, walk: Walk) -> list[Fraction]:
    """The values of a walk, state by state."""
    groups, rows = model.row_group_offsets.tolist(), model.row_offsets.tolist()
    columns, probs = model.columns.tolist(), model.probs.tolist()
    states = model.num_states
    maximises = np.broadcast_to(
        walk.optimum == "max" if isinstance(walk.optimum, str) else walk.optimum, states
    )
    values = [Fraction(x) for x in walk.start.tolist()]
    for step in range(1, walk.steps + 1):
        after, values = values, []
        for state in range(states):
            worth = []
            for choice in range(groups[state], groups[state + 1]):
                here = range(rows[choice], rows[choice + 1])
                total = sum(Fraction(probs[b]) for b in here)
                mean = sum(Fraction(probs[b]) * after[columns[b]] for b in here) / total
                worth.append(Fraction(walk.earned[choice]) + walk.discount * mean)
            if not worth:
                value = after[state]
            elif walk.chosen is not None:
                own = int(walk.chosen[walk.steps - step, state])
                value = worth[0] if own < 0 else worth[own - groups[state]]
            else:
                value = max(worth) if maximises[state] else min(worth)
            if walk.left is not None and not walk.left[state]:
                value = Fraction(0)
            if walk.right is not None and walk.right[state] and step <= walk.window:
                value = Fraction(1)
            values.append(value)
    return [1 - x for x in values] if walk.flips else values


def random_model(rng: np.random.Generator) -> mdp.MDP:
    states = int(rng.integers(1, 6))
    per_state = rng.integers(1, 4, states)
    per_choice = rng.integers(1, 4, int(per_state.sum()))
    columns = rng.integers(0, states, int(per_choice.sum()))
    rows = np.append(0, np.cumsum(per_choice))
    weight = rng.random(len(columns)) * (rng.random(len(columns)) < 0.9)
    if rng.random() < 0.3:
        weight = rng.integers(1, 3, len(columns)).astype(float)
    weight[rows[:-1]] += 0.01
    weight /= np.repeat(np.add.reduceat(weight, rows[:-1]), per_choice)
    groups = np.append(0, np.cumsum(per_state))
    model = mdp.MDP.from_arrays(groups, rows, columns, weight)
    if rng.random() < 0.3:
        sizes = model.num_states, model.num_choices, model.num_branches
        model = model.pad(*(x + int(rng.integers(1, 3)) for x in sizes))
    return model


def random_walk(rng: np.random.Generator, model: mdp.MDP) -> Walk:
    """Of one of the kinds that questions have."""
    size, steps = model.num_states, int(rng.integers(0, 12))
    optimum = ["min", "max", rng.random(size) < 0.5][rng.integers(3)]
    none = np.zeros(model.num_choices)
    kind = rng.integers(3)
    if kind == 0:
        left, right = rng.random((2, size)) < [[0.8], [0.3]]
        start, window = right.astype(float), int(rng.integers(0, steps + 1))
        # Of what flips the opposite is computed, by those who want the opposite.
        flips = bool(rng.random() < 0.5)
        walk = Walk(steps, start, optimum, none, Fraction(1), left, right, window)
        walk = walk._replace(flips=flips)
    else:
        size_of = 10.0 ** rng.integers(-3, 6)
        earned = rng.normal(size=model.num_choices) * size_of * (kind == 1)
        earned *= rng.random(len(earned)) < 0.7
        share = [Fraction(1), Fraction(9, 10), Fraction(1, 3)][rng.integers(3)]
        start = rng.normal(size=size) * 10.0 ** rng.integers(-323, 6)
        walk = Walk(steps, start, optimum, earned, share)
    if rng.random() < 0.3:
        groups = model.row_group_offsets
        widths = np.maximum(np.diff(groups), 1)
        chosen = groups[:-1] + rng.integers(0, widths, (steps, size))
        chosen[rng.random(chosen.shape) < 0.2] = -1
        walk = walk._replace(chosen=chosen)
    return walk


def claim_of(model: mdp.MDP, low=None, high=None) -> Claim:
    none = np.zeros(model.num_states)
    return Claim(model, none if low is None else low, none if high is None else high, 0)


@pytest.mark.parametrize("seed", range(30))
def test_each_way_to_find_bounds_holds_them(seed):
    """None is beyond the value, and the first is near already."""
    rng = np.random.default_rng(seed)
    for _ in range(15):
        model = random_model(rng)
        walk = random_walk(rng, model)
        values = by_definition(model, walk)
        real = np.flatnonzero(np.diff(model.row_group_offsets) > 0)
        ends = list(stepped_ends(claim_of(model), walk))
        assert len(ends) == 3
        size = max(map(abs, values), default=0) + float(
            np.abs(walk.start).max() + walk.steps * np.abs(walk.earned).max()
        )
        for (least, most), off in zip(ends, (1e-13, 1e-15, 0), strict=True):
            for state in real.tolist():
                low, high = (
                    Fraction(*x[state].as_integer_ratio()) for x in (least, most)
                )
                assert low <= values[state] <= high
                assert float(high - low) <= off * size + 1e-280
                if walk.left is not None:  # and what is known is known exactly
                    assert low >= 0
                    assert high <= 1


@pytest.mark.parametrize("off", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("optimum", ["min", "max"])
def test_what_is_off_is_found_and_what_is_right_is_not_refused(off, optimum):
    """Beside the nearest numbers to values that are known by definition."""
    rng = np.random.default_rng(int(1 / off) + len(optimum) + (optimum == "max"))
    wrongs = 0
    for _ in range(25):
        model = random_model(rng)
        size = model.num_states
        labels = {"a": rng.random(size) < 0.8, "b": rng.random(size) < 0.3}
        earned = rng.random(model.num_choices)
        model = dataclasses.replace(model, labels=labels, choice_rewards={"": earned})
        none = np.zeros(model.num_choices)
        goal = labels["b"].astype(float)
        until = Walk(
            *(7, goal, optimum, none, Fraction(1), labels["a"], labels["b"], 4),
        )
        total = Walk(9, np.zeros(size), optimum, earned)
        for text, walk in (
            (f'P{optimum}=? [ "a" U[3,7] "b" ]', until),
            (f"R{optimum}=? [ C<=9 ]", total),
        ):
            values = by_definition(model, walk)
            near = np.array([float(x) for x in values])
            found = mdp.check(model, text)
            sharp = dataclasses.replace(
                found,
                lower=np.array([below(x) for x in values]),
                upper=np.array([above(x) for x in values]),
            )
            assert mdp.verify_values(model, text, found)
            assert mdp.verify_values(model, text, sharp)
            for state in np.flatnonzero(near > 0).tolist():
                if model.row_group_offsets[state] == model.row_group_offsets[state + 1]:
                    continue
                lower, upper = near * (1 - 1e-13), near * (1 + 1e-13)
                if rng.random() < 0.5:
                    lower[state] = upper[state] = near[state] * (1 + off)
                else:
                    lower[state] = upper[state] = near[state] * (1 - off)
                wrong = dataclasses.replace(found, lower=lower, upper=upper)
                verdict = mdp.verify_values(model, text, wrong)
                assert not verdict
                assert verdict.vertex == state
                wrongs += 1
    assert wrongs > 50


def below(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) <= value else float(np.nextafter(near, -np.inf))


def above(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))


@pytest.mark.parametrize(
    "text",
    [
        'P=? [ X "end" ]',
        'P=? [ F<=40 "end" ]',
        'P=? [ G<=40 !"end" ]',
        'P=? [ F[9,40] "end" ]',
        'P=? [ F>=9 "end" ]',
        "R=? [ C<=40 ]",
        "R=? [ C<=40 discount=9/10 ]",
        "R=? [ I=40 ]",
    ],
)
def test_what_a_solver_finds_of_large_models_needs_no_more_digits(text, monkeypatch):
    """They and fractions would take a hundred times as long as the solve does."""

    def refused(*_):
        raise AssertionError("float64 does not decide")

    monkeypatch.setattr(_verify_steps, "stepped_between", refused)
    monkeypatch.setattr(_verify_steps, "stepped", refused)
    rng = np.random.default_rng(3)
    size = 20_000
    columns = rng.integers(0, size, (size, 3))
    weight = rng.random((size, 3))
    weight /= weight.sum(1, keepdims=True)
    model = mdp.MDP.from_arrays(
        *(np.arange(size + 1), 3 * np.arange(size + 1), columns.ravel()),
        weight.ravel(),
        labels={"end": rng.random(size) < 0.05},
        state_rewards={"": rng.random(size)},
    )
    found = mdp.check(model, text)
    assert mdp.verify_values(model, text, found)
    upper = found.upper.copy()
    upper[77] = found.lower[77] - 1e-9
    lower = np.minimum(found.lower, upper)
    wrong = dataclasses.replace(found, lower=lower, upper=upper)
    verdict = mdp.verify_values(model, text, wrong)
    assert not verdict
    assert verdict.vertex == 77


def test_sizes_that_float64_cannot_hold_are_left_to_more_digits():
    model = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1], [1.0, 1.0])
    for start in (1e300, np.inf):
        walk = Walk(3, np.array([0.0, start]), "max", np.zeros(2))
        claim = claim_of(model)
        assert not _verify_steps._is_usual(claim, walk)
    assert _verify_steps._is_usual(claim, walk._replace(start=np.ones(2)))


def test_where_no_probability_leads_counts_for_nothing():
    """A claim of exactly zero is shown, though there is a branch to the goal."""
    model = mdp.MDP.from_arrays(
        *([0, 1, 2, 3], [0, 2, 4, 5], [1, 2, 0, 1, 2], [0.5, 0.5, 0.5, 0.5, 1.0])
    )
    model = dataclasses.replace(model, probs=np.array([1.0, 0.0, 0.5, 0.5, 1.0]))
    goal = np.array([0.0, 0.0, 1.0])
    walk = Walk(300, goal, "max", np.zeros(3), Fraction(1), goal >= 0, goal > 0, 300)
    least, most = next(stepped_ends(claim_of(model), walk))
    assert least.tolist() == most.tolist() == goal.tolist()


def test_numbers_that_get_too_small_for_float64_are_not_lost():
    """Their errors are no share of them."""
    tiny = 5e-324
    model = mdp.MDP.from_arrays([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.75, 0.25, 1.0])
    for start in ([0.0, tiny], [tiny, 0.0], [-tiny, 3 * tiny]):
        walk = Walk(5, np.array(start), "max", np.zeros(2))
        value = by_definition(model, walk)[0]
        least, most = next(stepped_ends(claim_of(model), walk))
        assert Fraction(least[0]) <= value <= Fraction(most[0])
