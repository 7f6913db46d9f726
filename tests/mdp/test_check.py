"""Properties of models: bounds that hold, are near, and are attained."""

import dataclasses
import functools
import itertools
import math
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest
from quantitative_cases import FOLDER, cases, needs_folder
from repeats import some_of

from jaxgames import SolveError, Status, io, ltl, mdp
from jaxgames.mdp import PropertyError, _improve, _open, _value_iteration
from jaxgames.mdp.host._rounds import Component, leap
from jaxgames.testing import _exact as exact

INFINITE = float("inf")


def rewarded(seed: int, count: int, most: int = 5):
    """Small models with rewards of choices, many of them zero, and labels."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(1, most + 1))
        bare = exact.random_model(rng, size, 2, 3)
        yield mdp.MDP.from_arrays(
            *(bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs),
            labels={"goal": rng.random(size) < 0.3, "way": rng.random(size) < 0.7},
            choice_rewards={"cost": rng.integers(0, 3, bare.num_choices) * 1.0},
            state_rewards={"here": rng.integers(0, 4, size) * 1.0},
        )


def holds(found: mdp.Checked, expected, epsilon: float = 1e-6) -> None:
    """Bounds hold exactly, and are near relative to the values."""
    low, high = found.lower.tolist(), found.upper.tolist()
    for s, value in enumerate(expected):
        if value == INFINITE:
            assert low[s] == high[s] == INFINITE, (found, s)
            continue
        assert Fraction(low[s]) <= value <= Fraction(high[s]), (found, s, value)
        assert high[s] - low[s] <= epsilon * abs(value), (found, s, value)


UNBOUNDED = {
    'P{}=? [ F "goal" ]': {"kind": "reach"},
    'P{}=? [ "way" U "goal" ]': {"kind": "reach", "states": "way"},
    'P{}=? [ G F "goal" ]': {"kind": "buchi"},
    'R{{"cost"}}{}=? [ F "goal" ]': {"kind": "until", "reward": "cost"},
    'R{{"cost"}}{}=? [ C ]': {"kind": "total", "reward": "cost"},
    'R{{"cost"}}{}=? [ LRA ]': {"kind": "average", "reward": "cost"},
    'R{{"cost"}}{}=? [ Cdiscount=3/4 ]': {
        "kind": "total",
        "reward": "cost",
        "discount": Fraction(3, 4),
    },
}


def question(model: mdp.MDP, how: dict) -> dict:
    """The arguments of the reference."""
    labels, rewards = model.labels or {}, model.choice_rewards or {}
    found = {"target": labels["goal"], **how}
    if "states" in how:
        found["states"] = labels[how["states"]]
    if "reward" in how:
        found["reward"] = rewards[how["reward"]]
    return found


@some_of(16, 40)
@pytest.mark.parametrize("text", UNBOUNDED)
def test_against_all_schedulers(text, count):
    for model in rewarded(seed=3, count=count):
        for optimum in ("min", "max"):
            how = question(model, UNBOUNDED[text])
            expected = mdp.reference.values(model, how.pop("kind"), optimum, **how)
            found = mdp.check(model, text.format(optimum))
            holds(found, expected)
            attains(model, found, how | UNBOUNDED[text], optimum)


def attains(model: mdp.MDP, found: mdp.Checked, how: dict, optimum: str) -> None:
    """The chain of the scheduler is worth what the bounds say."""
    scheduler = found.scheduler
    groups = np.asarray(model.row_group_offsets)
    scheduler = np.where(scheduler < 0, groups[:-1], scheduler)
    chain = mdp.induced_chain(model, scheduler)
    asked = question(model, how)
    if "reward" in how:
        asked["reward"] = asked["reward"][scheduler]
    worth = mdp.reference.values(chain, asked.pop("kind"), **asked)
    for s, value in enumerate(worth):
        if optimum == "max":
            assert (
                value >= Fraction(found.lower[s])
                if found.lower[s] < INFINITE
                else (value == INFINITE)
            ), (found, s)
        elif found.upper[s] < INFINITE:
            assert value <= Fraction(found.upper[s]), (found, s)


BOUNDED = {
    'P{}=? [ F<=3 "goal" ]': {"kind": "reach", "steps": 3},
    'P{}=? [ "way" U[1,4] "goal" ]': {
        "kind": "reach",
        "steps": 4,
        "first": 1,
        "states": "way",
    },
    'P{}=? [ X "goal" ]': {"kind": "reach", "steps": 1, "first": 1},
    'R{{"cost"}}{}=? [ C<=4 ]': {"kind": "total", "steps": 4, "reward": "cost"},
    'R{{"cost"}}{}=? [ C<=4 discount=1/2 ]': {
        "kind": "total",
        "steps": 4,
        "reward": "cost",
        "discount": Fraction(1, 2),
    },
}


@pytest.mark.parametrize("text", BOUNDED)
def test_steps_against_the_definition(text):
    for model in rewarded(seed=4, count=25):
        for optimum in ("min", "max"):
            how = question(model, BOUNDED[text])
            expected = mdp.reference.values(model, how.pop("kind"), optimum, **how)
            found = mdp.check(model, text.format(optimum))
            holds(found, expected)
            assert found.scheduler.shape == (how["steps"], model.num_states)


def test_opposites():
    for model in rewarded(seed=5, count=20):
        for one, other in (
            ('G "way"', 'F !"way"'),
            ('"way" W "goal"', '(!"goal") U (!"way" & !"goal")'),
            ('"goal" R "way"', '(!"goal") U !"way"'),
            ('G<=3 "way"', 'F<=3 !"way"'),
            ('F G "way"', 'G F !"way"'),
            ('!(F "goal")', 'F "goal"'),
        ):
            large = mdp.check(model, f"Pmax=? [ {one} ]")
            small = mdp.check(model, f"Pmin=? [ {other} ]")
            assert np.all(large.lower <= 1 - small.lower + 1e-15)
            assert np.all(large.upper >= 1 - small.upper - 1e-15)
            assert np.all(large.upper - large.lower <= 1e-6 * large.lower + 1e-15)


def test_instants():
    for model in rewarded(seed=6, count=15):
        earned = (model.state_rewards or {})["here"]
        for optimum, steps in itertools.product(("min", "max"), (0, 1, 3)):
            expected = mdp.reference.values(
                model, "instant", optimum, reward=earned, steps=steps
            )
            holds(mdp.check(model, f'R{{"here"}}{optimum}=? [ I={steps} ]'), expected)


def test_from_some_step_on():
    for model in rewarded(seed=7, count=15):
        found = mdp.check(model, 'Pmax=? [ "way" U>=2 "goal" ]')
        far = mdp.check(model, 'Pmax=? [ "way" U[2,60] "goal" ]')
        near = mdp.check(model, 'Pmax=? [ "way" U "goal" ]')
        assert np.all(far.lower <= found.upper)
        assert np.all(found.lower <= near.upper)
        np.testing.assert_allclose(found.lower, far.lower, atol=1e-3)


def test_averages_of_mixed_signs():
    for model in rewarded(seed=8, count=25):
        moved = (model.choice_rewards or {})["cost"] - 1
        model = mdp.MDP.from_arrays(
            *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
            choice_rewards={"": moved},
        )
        for optimum in ("min", "max"):
            expected = mdp.reference.values(model, "average", optimum, reward=moved)
            found = mdp.check(model, f"R{optimum}=? [ LRA ]", epsilon=1e-5)
            for s, value in enumerate(expected):
                assert Fraction(found.lower[s]) <= value <= Fraction(found.upper[s])
                assert found.upper[s] - found.lower[s] <= 2e-5
            less = mdp.check(model, f"R{optimum}=? [ Cdiscount=1/2 ]", throw=False)
            expected = mdp.reference.values(
                model, "total", optimum, reward=moved, discount=Fraction(1, 2)
            )
            for s, value in enumerate(expected):
                assert Fraction(less.lower[s]) <= value <= Fraction(less.upper[s])


@pytest.mark.parametrize("solver", ["host", "values"])
def test_what_is_lost_and_earned_alike_is_nothing_on_average(solver):
    """A mean of zero is near if it is so beside what is earned."""
    model = mdp.MDP.from_arrays(
        *([0, 1, 2, 5, 6], [0, 2, 3, 4, 5, 6, 7], [1, 3, 1, 1, 2, 3, 3]),
        [0.5, 0.5, 1, 1, 1, 1, 1],
        choice_rewards={"": [1, 2, 1, -2, 1, -2]},
    )
    found = mdp.check(model, "Rmin=? [ LRA ]", solver)
    assert found.status == Status.SOLVED
    assert (found.lower <= [0, 2, -2, -2]).all()
    assert (found.upper >= [0, 2, -2, -2]).all()
    assert (found.upper - found.lower).max() <= 2e-6


# ---- published models ----------------------------------------------------------------

NAMES = sorted(path.stem for path in FOLDER.glob("models/*.umb"))


@needs_folder
@pytest.mark.parametrize("name", NAMES)
def test_published_values(name):
    model = io.load(FOLDER / "models" / f"{name}.umb")
    assert isinstance(model, mdp.MDP)
    for case in cases(name):
        found = mdp.check(model, case.text, constants=case.constants)
        assert found.status == Status.SOLVED
        if case.values is not None:
            finite = np.isfinite(case.values)
            np.testing.assert_array_equal(np.isfinite(found.lower), finite)
            values = case.values[finite]
            low, high = found.lower[finite], found.upper[finite]
            off = 1e-9 * np.abs(values)  # the files have rounded probabilities
            assert np.all(low - off <= values), case
            assert np.all(values <= high + off), case
            assert np.all(high - low <= 1e-6 * np.abs(values)), case
        if case.exact is not None:
            assert found.value == pytest.approx(float(case.exact), rel=1e-6), case


def haddad(size: int) -> mdp.MDP:
    """Two walks away from the middle, which a step sets back with one half."""
    middle, count = size, 2 * size + 1
    columns, rows = [0], [0, 1]
    for state in range(1, count - 1):
        away = state - 1 if state < middle else state + 1
        columns += [middle - 1, middle + 1] if state == middle else [away, middle]
        rows.append(len(columns))
    columns, rows = [*columns, count - 1], [*rows, len(columns) + 1]
    probs = [1.0, *[0.5] * (len(columns) - 2), 1.0]
    labels = {"end": np.arange(count) == count - 1}
    initial = [middle]
    return mdp.MDP.from_arrays(
        range(count + 1), rows, columns, probs, labels=labels, initial=initial
    )


@pytest.mark.parametrize("size", [20, 50])
def test_stiff_chains_are_solved(size):
    """Value iteration would take more rounds than two to the size."""
    found = mdp.check(haddad(size), 'P=? [ F "end" ]')
    assert found.stats["stiff"] == 1
    assert found.value == pytest.approx(0.5, rel=1e-7)
    assert np.all(found.upper - found.lower <= 1e-6 * found.lower)


def gambler(last: int) -> mdp.MDP:
    """One step to the left or to the right, until one of both ends is reached."""
    inner = np.arange(1, last)
    columns = np.concatenate([[0], np.stack([inner - 1, inner + 1], 1).ravel(), [last]])
    probs = np.concatenate([[1.0], np.full(2 * len(inner), 0.5), [1.0]])
    rows = np.concatenate([[0], np.arange(1, 2 * last, 2), [2 * last]])
    return mdp.MDP.from_arrays(
        np.arange(last + 2), rows, columns, probs,
        labels={"end": np.isin(np.arange(last + 1), (0, last))},
        choice_rewards={"": np.ones(last + 1)},
    )  # fmt: skip


def test_a_long_walk_ends_with_bounds_that_hold(monkeypatch):
    # Rounding alone leaves them further apart than is asked for: no round mends that.
    monkeypatch.setattr(_improve, "LAST_LOOKS", 1 << 20)
    monkeypatch.setattr(_improve, "_sharpened", lambda *_: False)
    last = 30_000
    found = mdp.reach_probability(
        gambler(last), np.arange(last + 1) == last, throw=False
    )
    assert found.status == Status.PRECISION
    value = np.arange(last + 1) / last
    assert np.all(found.lower <= value * (1 + 1e-15))
    assert np.all(value * (1 - 1e-15) <= found.upper)
    assert np.max(found.upper - found.lower) < 1e-5


def test_a_walk_of_many_states_has_sharp_bounds():
    """It stays for some 10^9 steps: those add up what is rounded in each."""
    last = 120_000
    found = mdp.reach_probability(gambler(last), np.arange(last + 1) == last)
    assert found.status == Status.SOLVED
    low, high = found.lower.tolist(), found.upper.tolist()
    for state in range(0, last + 1, 97):
        value = Fraction(state, last)
        assert Fraction(low[state]) <= value <= Fraction(high[state])
        assert high[state] - low[state] <= 1e-13 * value
    steps = mdp.check(gambler(last), 'R=? [ F "end" ]')
    low, high = steps.lower.tolist(), steps.upper.tolist()
    for state in range(0, last + 1, 97):
        value = state * (last - state)
        assert Fraction(low[state]) <= value <= Fraction(high[state])
        assert high[state] - low[state] <= 1e-13 * value


def test_values_of_two_numbers_hold_exactly(monkeypatch):
    """Narrow models with choices, by the policies that are improved at once."""
    monkeypatch.setattr(_improve, "NARROW_FROM", 30)
    monkeypatch.setattr(_open, "PATIENCE_WITH_NARROW", 2)
    used, real = [], _improve._sharpened

    def counted(*given):
        used.append(real(*given))
        return used[-1]

    monkeypatch.setattr(_improve, "_sharpened", counted)
    monkeypatch.setattr(_improve, "concluded", lambda *_: 0)  # as if it were too wide
    rng = np.random.default_rng(6)
    for _ in range(2):
        size, columns, probs, rows, groups = 110, [], [], [0], [0]
        for state in range(size):
            edge = state in (0, size - 1)
            for _ in range(1 if edge else int(rng.integers(1, 4))):
                to = [state]
                if not edge:
                    less, more = rng.integers(1, 4, 2)
                    to = [max(0, state - less), min(size - 1, state + more), state]
                    to = to[: rng.integers(2, 4)]
                weights = rng.random(len(to)) + 0.01
                columns += to
                probs += (weights / weights.sum()).tolist()
                rows.append(len(columns))
            groups.append(len(rows) - 1)
        model = mdp.MDP.from_arrays(
            groups, rows, columns, probs,
            labels={"top": np.arange(size) == size - 1},
            choice_rewards={"": rng.integers(0, 4, len(rows) - 1) * 1.0},
        )  # fmt: skip
        for asked in (
            'Pmax=? [ F "top" ]', 'Pmin=? [ F "top" ]', 'Pmax=? [ G !"top" ]',
            "Rmax=? [ LRA ]", "Rmin=? [ LRA ]",
        ):  # fmt: skip
            expected = mdp.check(model, asked, exact=True).exact
            found = mdp.check(model, asked, throw=False)
            for low, high, value in zip(
                found.lower, found.upper, expected, strict=True
            ):
                assert Fraction(low) <= value <= Fraction(high), asked
    assert used.count(True) >= 4


def narrow() -> mdp.MDP:
    """Two gates, each passed with a chance of 2^-30, or half of that in state 0."""
    rare = 2.0**-31
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4, 5],
        [0, 3, 5, 7, 8, 9],
        [0, 1, 3, 1, 3, 2, 3, 2, 3],
        [0.5, rare, 0.5 - rare, rare, 1 - rare, 2 * rare, 1 - 2 * rare, 1, 1],
        labels={"fine": [1, 1, 1, 0], "home": [0, 0, 1, 0], "none": [0, 0, 0, 0]},
        initial=[0],
    )


@pytest.mark.parametrize(
    "path",
    [
        *('G "fine"', '"fine" W "none"', '!(true U !"fine")', 'F G "fine"'),
        *('G F "home"', '!(F G !"home")', '!(G F !"home")', 'G ("fine" & X "fine")'),
    ],
)
def test_small_chances_of_what_never_happens(path):
    """One less what happens would be nothing, to all digits."""
    model = narrow()
    for optimum, value in (("max", 2.0**-60), ("min", 2.0**-61)):
        for exact_too in (False, True):
            found = mdp.check(model, f"P{optimum}=? [ {path} ]", exact=exact_too)
            assert found.lower[0] <= value <= found.upper[0]
            assert found.upper[0] - found.lower[0] <= 1e-6 * value
            if exact_too:
                assert found.exact is not None
                assert found.exact[0] == Fraction(value)


# ---- what is said --------------------------------------------------------------------


def small() -> mdp.MDP:
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4],
        [0, 2, 3, 4, 5],
        [1, 2, 0, 1, 2],
        [0.5, 0.5, 1, 1, 1],
        labels={"goal": [0, 1, 0]},
        choice_rewards={"cost": [1, 2, 0, 0], "gain": [0, -1, 0, 0]},
        valuations={"x": [0, 1, 2], "on": [True, False, True]},
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Pmax>=0.5 [ F x=1 ]", True),
        ("Pmax>0.5 [ F x=1 ]", False),
        ("P<=0.5 [ F x=1 ]", True),
        ("P>0 [ F x=1 ]", False),
        ('x=0 & on & !"goal"', True),
        ("Pmax=? [ F x=k ] + 1", 1.5),
        ("2*x + k^3", 1.0),
        ('filter(max, Pmin=? [ F "goal" ], x>0)', 1.0),
        ('filter(count, "goal")', 1.0),
        ("filter(sum, x)", 3.0),
        ("filter(avg, x, x>0)", 1.5),
        ("filter(forall, x>=0)", True),
        ("filter(exists, x>2)", False),
        ("filter(range, Pmax=? [ F x=1 ])", 0.5),
        ("filter(argmax, x)", False),
        ('"init"', True),
        ('"deadlock"', False),
        ("Pmax=? [ F Pmin>=1 [ F x=1 ] ]", 0.5),
        ("on ? x : 7", 0.0),
        ("min(x, 2, -1) + floor(1.5) + mod(7, 4) + max(1, 2)", 5.0),
        ('R{"cost"}min=? [ F x>0 ]', 1.0),
        ("R{2}max=? [ C<=3 ]", 0.0),
        ("R{2}min=? [ C<=3 ]", -3.0),
        # What is larger than any float64 is a number, too.
        ("x<1e400 & -1e400<x", True),
        ("x=1e400", False),
        ("filter(exists, x>large)", False),
        ('R{"cost"}min>=1e400 [ F x>0 ]', False),
        ('multi(Pmax=? [ F "goal" ], R{"cost"}<=1e400 [ C<=1 ])', 0.5),
    ],
)
def test_expressions(text, value):
    found = mdp.check(small(), text, constants={"k": 1, "large": 10**30})
    assert found.value == pytest.approx(value)
    assert found.is_truth == isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            'Pmax=? [ F "gaol" ]',
            12,
            "no label 'gaol' .did you mean 'goal'.*it has 'goal'",
        ),
        ("Pmax=? [ F y=1 ]", 12, "no variable or constant 'y'; the model has x, on"),
        ('P=? [ F "goal" ]', 1, "must say min or max, since the model has choices"),
        ("Rmax=? [ C ]", 1, "has these rewards: 'cost', 'gain'; name one"),
        ('R{"cast"}max=? [ C ]', 1, "no rewards 'cast' .did you mean 'cost'"),
        ('R{"gain"}max=? [ C ]', 18, "negative, such as -1 of choice 1"),
        ('R{"cost"}max=? [ I=2 ]', 18, "rewards 'cost' are not rewards of states"),
        ("Pmax=? [ F<=x x=1 ]", 13, "'x' is not the same number in all states"),
        ("Pmax=? [ F<=1.5 x=1 ]", 13, "integer from 0 on, but '1.5' is 1.5"),
        ("Pmax=? [ F<=(0-1) x=1 ]", 15, "integer from 0 on, but"),
        ("Pmax=? [ F<=-1e400 x=1 ]", 13, "integer from 0 on, but '-1000"),
        ("Pmax=? [ F<=1e400 x=1 ]", 13, r"'10+\.\.\.' is too large for a step"),
        ("Pmax=? [ F<=(10^400) x=1 ]", 16, "'10.400' is inf: no finite number"),
        ("Pmax=? [ F<0 x=1 ]", 11, "no step is from 0 to -1"),
        ("Pmax=? [ F[3,2] x=1 ]", 11, "no step is from 3 to 2"),
        ('R{"cost"}max=? [ Cdiscount=2 ]', 28, "a discount must be more than 0"),
        ("Pmax=? [ F x ]", 12, "'x' is a number, expected true or false"),
        ("x & on", 1, "& takes true or false, but 'x' is a number"),
        ("on + 1", 1, r"\+ takes a number, but 'on' is true or false"),
        ("Pmaxmin=? [ F on ]", 1, "two optima are for interval models"),
        ("Pmax>=1.5 [ F on ]", 7, "a probability from 0 to 1, found '1.5'"),
        ("const double p = 2; Pmin<p [ F on ]", 26, "a probability from 0 to 1, fou"),
        ("Pmax>(0-0.1) [ X on ]", 8, "a probability from 0 to 1, found"),
        ("LRAmax<=2 [ on ]", 9, "a probability from 0 to 1, found '2'"),
        ("multi(Pmax=? [ F on ], P>=2 [ F on ])", 27, "a probability from 0 to 1"),
        ("filter(max, on)", 1, "max takes numbers"),
        ("filter(range, x) > 1", 1, "a range is two numbers, and can only be"),
        ("Pmax=? [ F filter(range, x)=1 ]", 12, "a range is two numbers"),
        ("filter(max, x, x>5)", 1, "no state is in the filter"),
        ("const int k; x=k", 16, "the constant k has no value"),
        ("const int k = k + 1; x=k", 15, "k is defined in terms of itself"),
        ("1/x > 0", None, None),
        ("0/x > 0", 2, "is not a number in some state"),
    ],
)
def test_what_a_model_cannot_be_asked(text, place, message):
    if message is None:
        assert mdp.check(small(), text).value is True
        return
    with pytest.raises(PropertyError, match=message) as caught:
        mdp.check(small(), text)
    assert caught.value.place == (1, place)


@pytest.mark.parametrize(
    "text",
    [
        '2*P=? [ F "a" ] >= 0',
        'P=? [ F "a" ]*P=? [ X "a" ] <= 0',
        'P=? [ F "a" ]/2 >= 0',
        '1 + P=? [ F "a" ] <= 1',
        'filter(forall, 1 - P=? [ F "a" ] <= 1)',
        '-P=? [ F "a" ] >= 0',
        'max(P=? [ F "a" ], P=? [ X "a" ]) <= 0',
        'floor(P=? [ F "a" ]) = 0',
        'round(P=? [ F "a" ] + 0.49999999999999994) = 0',
        'P>=1 [ F (2*P=? [ F "a" ] >= 0) ]',
    ],
)
def test_arithmetic_of_exact_values_is_decided(text):
    """Where nothing is rounded, values stay as near as they were."""
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3],
        [0, 2, 3, 4],
        [1, 2, 1, 2],
        [0.25, 0.75, 1, 1],
        initial=[2],
        labels={"a": [0, 1, 0]},
    )
    assert mdp.check(model, text).value is True


def test_a_quotient_by_what_is_near_zero_is_unknown():
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3],
        [0, 3, 4, 5],
        [0, 1, 2, 1, 2],
        [0.3, 0.4, 0.3, 1, 1],
        labels={"a": [0, 1, 0], "b": [0, 0, 1]},
    )
    asked = 'P=? [ F "a" ]'
    middle = f"{mdp.check(model, asked).value:.17f}"
    asked = (model, f"1/({asked} - {middle})")
    found = mdp.check(*asked, throw=False)
    assert (found.lower[0], found.upper[0]) == (-np.inf, np.inf)
    assert found.status == Status.PRECISION
    with pytest.raises(SolveError):
        mdp.check(*asked)


def test_arithmetic_holds_the_exact_values():
    rng = np.random.default_rng(4)
    for _ in range(200):
        weights = rng.integers(1, 9, 3).astype(float)
        probs = weights / weights.sum()
        model = mdp.MDP.from_arrays(
            [0, 1, 2, 3],
            [0, 3, 4, 5],
            [0, 1, 2, 1, 2],
            [*probs.tolist(), 1, 1],
            labels={"a": [0, 1, 0]},
        )
        some, total = [Fraction(p) for p in probs.tolist()], sum(map(Fraction, probs))
        reach = some[1] / (total - some[0])
        step = some[1] / total
        number = Fraction(int(rng.integers(1, 99)), 64)
        text, value = [
            ("{p} + {x}", reach + step),
            ("{p} - {x}", reach - step),
            ("{p} * {x}", reach * step),
            ("{p} / ({x} + 1)", reach / (step + 1)),
            (f"{float(number)} - {{p}} * 3", number - 3 * reach),
            (f"-{{p}} / {float(number)}", -reach / number),
            ("max({p}, {x})", max(reach, step)),
            ("ceil({p}) - {x}", 1 - step),
        ][rng.integers(8)]
        asked = text.format(p='P=? [ F "a" ]', x='P=? [ X "a" ]')
        found = mdp.check(model, asked)
        assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0]), asked
        assert found.upper[0] - found.lower[0] <= 1e-5


def test_what_is_undecided_is_not_guessed():
    # In state 0 the goal is reached with 1/3 + 2/9 ...: one half, but for rounding.
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3, 4],
        [0, 3, 5, 6, 7],
        [0, 1, 2, 0, 3, 2, 3],
        [1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 1, 1],
    )
    labels = {"a": np.arange(4) == 2}
    model = mdp.MDP.from_arrays(
        *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
        labels=labels,
    )
    value = mdp.check(model, 'P=? [ F "a" ]')
    # Fractions decide what floats cannot: the file's thirds are no thirds.
    true = exact.chain_values(exact.chain_of(model), labels["a"], np.ones(4, bool))[0]
    middle = f"{value.lower[0]:.30f}"
    found = mdp.check(model, f'P>={middle} [ F "a" ]', epsilon=1e-3)
    assert found.value == (true >= Fraction(middle))
    # Of many steps only bounds are known.
    text = 'P{} [ F<=30000 "a" ]'
    many = mdp.check(model, text.format("=?"))
    middle = f"{(many.lower[0] + many.upper[0]) / 2:.30f}"
    assert many.lower[0] < many.upper[0]
    assert mdp.check(model, text.format(f">={middle}")).value is None
    with pytest.raises(SolveError, match="is undecided in state 0: the bounds are on"):
        mdp.check(model, f"P=? [ X {text.format(f'>={middle}')} ]")
    few = mdp.check(model, 'P=? [ F<=3 "a" ]')
    middle = f"{(few.lower[0] + few.upper[0]) / 2:.30f}"
    values = mdp.reference.values(model, "reach", target=labels["a"], steps=3)
    right = values[0] >= Fraction(middle)
    assert mdp.check(model, f'P>={middle} [ F<=3 "a" ]').value == right


def test_limits_are_kept():
    model = haddad(400)
    with pytest.raises(SolveError):
        mdp.check(model, 'P=? [ F "end" ]', deadline=1e-4)
    found = mdp.check(model, 'P=? [ F "end" ]', deadline=1e-4, throw=False)
    assert found.status == Status.TIMEOUT
    assert found.lower[0] == -INFINITE


def test_other_arguments():
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        mdp.check(small(), "x=1", epsilon=0)
    with pytest.raises(ValueError, match="no value solver is called 'magic'"):
        mdp.check(small(), "x=1", "magic")
    with pytest.raises(ValueError, match="the constant 'k' must be a finite number"):
        mdp.check(small(), "x=1", constants={"k": "1"})
    for large in (10**400, Fraction(10**400, 3), -(10**400), float("inf")):
        with pytest.raises(ValueError, match="the constant 'k' must be a finite"):
            mdp.check(small(), "x<k", constants={"k": large})
    with pytest.raises(ValueError, match="expected a property or its text, got 3"):
        mdp.check(small(), 3)  # type: ignore
    bare = mdp.MDP.from_arrays([0, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="has no probabilities"):
        mdp.check(bare, "P=? [ F true ]")
    assert repr(mdp.check(small(), "x=0")) == "Checked(x=0: True)"


# ---- on the device -------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["values", "race"])
def test_the_device_finds_bounds_too(solver):
    for model in rewarded(seed=9, count=6):
        for text in UNBOUNDED:
            for optimum in ("min", "max"):
                how = question(model, UNBOUNDED[text])
                expected = mdp.reference.values(model, how.pop("kind"), optimum, **how)
                found = mdp.check(model, text.format(optimum), solver)
                holds(found, expected)


@needs_folder
def test_published_values_on_the_device():
    model = io.load(FOLDER / "models" / "coin2.umb")
    assert isinstance(model, mdp.MDP)
    for case in cases("coin2")[:4]:
        found = mdp.check(model, case.text, "values", constants=case.constants)
        assert case.values is not None
        assert np.all(found.lower <= case.values * (1 + 1e-9))
        assert np.all(case.values <= found.upper * (1 + 1e-9))
        assert np.all(found.upper - found.lower <= 1e-6 * case.values)
    assert found.stats["solver"] == "values"


def ruin(size: int) -> mdp.MDP:
    """A line that is left at its ends; in the middle one may also stay for a while.

    From place `k` it takes `k (size - k)` steps at least.
    """
    targets, probs, rows, groups = [0], [1.0], [0, 1], [0, 1]
    for place in range(1, size):
        targets += [place - 1, place + 1]
        probs += [0.5, 0.5]
        rows.append(len(targets))
        if place == size // 2:
            targets += [place, place - 1, place + 1]
            probs += [0.5, 0.25, 0.25]
            rows.append(len(targets))
        groups.append(len(rows) - 1)
    targets, probs = [*targets, size], [*probs, 1.0]
    rows.append(len(targets))
    groups.append(len(rows) - 1)
    ends = {"right": np.arange(size + 1) == size, "end": np.zeros(size + 1, bool)}
    ends["end"][[0, size]] = True
    steps = np.ones(size + 1)
    return mdp.MDP.from_arrays(
        *(groups, rows, targets, probs), labels=ends, state_rewards={"": steps}
    )


@pytest.mark.parametrize(
    ("spoilt", "sweeps"), [(None, 1), (1e3, 3), (np.nan, 5)], ids=str
)
def test_slow_walks_take_few_rounds_on_the_device(spoilt, sweeps, monkeypatch):
    """And values that are no nearer to the truth are not taken."""
    if spoilt is not None:  # no other solver of so many sweeps is compiled anywhere
        spoil = functools.partial(jnp.full_like, fill_value=spoilt)
        monkeypatch.setattr(
            _value_iteration, "_solved", lambda product, right, *_: spoil(right)
        )
    solver = _value_iteration.ValueIteration(sweeps_per_check=sweeps)
    size = 60 if spoilt is None else 30
    model, place = ruin(size), range(size + 1)
    chance = mdp.check(model, 'Pmax=? [ F "right" ]', solver)
    holds(chance, [Fraction(k, size) for k in place])
    most = mdp.check(model, 'Rmax=? [ F "end" ]', solver)
    middle = size // 2
    # Each visit of the middle takes a step more; there are so many of them.
    visits = [2 * min(k, middle) * (size - max(k, middle)) for k in place]
    holds(most, [k * (size - k) + Fraction(visits[k], size) for k in place])
    assert most.stats["solves"] > 0
    if spoilt is None:  # a round alone adds a thousandth of what is missing
        assert most.stats["rounds"] < 200


def test_the_host_is_asked_after_equations_on_the_device():
    """They take as long as many rounds, which nobody could end."""
    told: list[int] = []

    def note(report) -> None:
        told.append(report.rounds)

    found = mdp.check(ruin(200), 'Rmax=? [ F "end" ]', "values", progress=note)
    assert len(told) >= found.stats["solves"] >= 2, (told, found.stats)


# ---- what takes long, or is small ----------------------------------------------------


def line(size: int, up: Fraction, down: Fraction) -> mdp.MDP:
    """A birth-death chain, whose last state has a label."""
    columns, probs, rows = [], [], [0]
    for state in range(size):
        here = {state - 1: down if state else 0, state + 1: up}
        if state == size - 1:
            del here[state + 1]
        here[state] = 1 - sum(here.values())
        some = {to: prob for to, prob in here.items() if prob}
        columns += some.keys()
        probs += [float(prob) for prob in some.values()]
        rows.append(len(columns))
    last = np.arange(size) == size - 1
    return mdp.MDP.from_arrays(
        range(size + 1), rows, columns, probs, labels={"last": last}
    )


@pytest.mark.parametrize(
    ("size", "up", "down"),
    [
        (3000, Fraction(1, 4), Fraction(1, 4)),
        (1000, Fraction(1, 4), Fraction(3, 8)),
        (200, Fraction(1, 2**30), Fraction(1, 2**30)),
    ],
)
def test_shares_of_time_are_known_relatively(size, up, down):
    """However small they are, and however slowly the chain mixes."""
    found = mdp.check(line(size, up, down), 'S=? [ "last" ]')
    ratio = up / down
    weights = Fraction(size) if ratio == 1 else (1 - ratio**size) / (1 - ratio)
    holds(found, [ratio ** (size - 1) / weights] * size)


@pytest.mark.parametrize("size", [3, 120])
def test_crowds_that_are_left_once_in_a_long_time(size):
    """All states of a crowd are next to one another: a matrix takes fewer looks."""
    rng = np.random.default_rng(8)
    rare = 2.0**-30
    probs = np.zeros((2 * size, 2 * size))
    for crowd in range(2):
        here = slice(crowd * size, (crowd + 1) * size)
        there = slice((1 - crowd) * size, (2 - crowd) * size)
        parts = rng.multinomial(1 << 20, np.ones(size) / size, size) / 2**20
        away = rare * (1 + 2 * crowd)
        # Shares that sum up to 1 - away exactly: powers of two are moved.
        probs[here, here] = parts
        for state in range(crowd * size, (crowd + 1) * size):
            to = crowd * size + int(parts[state - crowd * size].argmax())
            probs[state, to] -= away
            probs[state, there.start] = away
    row, column = np.nonzero(probs)
    rows = np.append(0, np.cumsum(np.bincount(row, minlength=2 * size)))
    model = mdp.MDP.from_arrays(
        range(2 * size + 1),
        *(rows, column, probs[row, column]),
        labels={"first": np.arange(2 * size) < size},
    )
    holds(mdp.check(model, 'S=? [ "first" ]'), [Fraction(3, 4)] * (2 * size))


def walk(size: int, luck: Fraction) -> tuple[mdp.MDP, list[Fraction]]:
    """A walk from 0 to `size` with as many ways to waste time, and its chances.

    A state goes up with a probability of `luck`, else down; at 0 all is lost.
    """
    columns, probs, rows, groups = [], [], [0], [0]
    for state in range(size + 1):
        if state in (0, size):
            columns.append(state)
            probs.append(1.0)
            rows.append(len(columns))
        else:
            for stay in (0, Fraction(1, 2)):
                columns += [state - 1, state, state + 1]
                share = 1 - stay
                probs += [float((1 - luck) * share), float(stay), float(luck * share)]
                rows.append(len(columns))
        groups.append(len(rows) - 1)
    model = mdp.MDP.from_arrays(
        *(groups, rows, columns, probs),
        labels={"top": np.arange(size + 1) == size},
    )
    ratio = (1 - luck) / luck
    return model, [(1 - ratio**x) / (1 - ratio**size) for x in range(size + 1)]


@pytest.mark.parametrize("optimum", ["min", "max"])
@pytest.mark.parametrize("size", [12, 200])
def test_small_chances_are_known_relatively(optimum, size):
    """Next to others that are near one, in the same component."""
    model, chances = walk(size, Fraction(1, 8))
    found = mdp.check(model, f'P{optimum}=? [ F "top" ]')
    holds(found, chances)
    assert found.status == Status.SOLVED


@pytest.mark.parametrize("forwards", [True, False])
def test_components_are_gone_through_in_the_order_of_their_branches(forwards):
    """A long way with a short cut back is few rounds, however it is numbered."""
    size = 2000
    numbers = np.arange(size) if forwards else np.arange(size)[::-1]
    columns, probs, rows = [], [], [0]
    order = np.argsort(numbers)
    for state in order:
        to = {int(numbers[min(state + 1, size - 1)]): 1.0}
        if state % 100 == 99 and state < size - 1:
            to = {int(numbers[state + 1]): 0.5, int(numbers[state - 99]): 0.5}
        columns += to.keys()
        probs += to.values()
        rows.append(len(columns))
    model = mdp.MDP.from_arrays(
        *(range(size + 1), rows, columns, probs),
        labels={"end": np.arange(size) == numbers[size - 1]},
        state_rewards={"steps": np.ones(size)},
    )
    found = mdp.check(model, 'R{"steps"}=? [ F "end" ]')
    first = int(numbers[0])
    assert found.stats["rounds"] <= 20 * 19
    # A stretch of 100 steps is gone twice on average, and the last one once.
    assert found.lower[first] <= 19 * 200 + 99 <= found.upper[first]
    assert found.upper[first] - found.lower[first] <= 1e-6 * found.lower[first]


def shuffled(model: mdp.MDP, number: np.ndarray) -> mdp.MDP:
    """The same model, in which each state has another number."""
    groups, rows = model.row_group_offsets, model.row_offsets
    columns, probs, ends, begins = [], [], [0], [0]
    states = np.argsort(number)
    for state in states:
        for choice in range(groups[state], groups[state + 1]):
            branches = slice(rows[choice], rows[choice + 1])
            columns += number[model.columns[branches]].tolist()
            probs += model.probs[branches].tolist()
            ends.append(len(columns))
        begins.append(len(ends) - 1)
    return mdp.MDP.from_arrays(
        *(begins, ends, columns, probs),
        labels={name: marks[states] for name, marks in (model.labels or {}).items()},
        state_rewards={k: x[states] for k, x in (model.state_rewards or {}).items()},
    )


def in_breadth(model: mdp.MDP) -> np.ndarray:
    """Numbers of states as a breadth-first search from the initial one finds them."""
    number = np.full(model.num_states, -1)
    found = [int(np.ravel(model.initial)[0])]
    number[found[0]] = 0
    edges = model.row_offsets[model.row_group_offsets]
    for state in found:
        for to in model.columns[edges[state] : edges[state + 1]].tolist():
            if number[to] < 0:
                number[to] = len(found)
                found.append(to)
    return number


@pytest.mark.parametrize(
    "question",
    [
        'Pmin=? [ F "heads" ]',
        'Pmax=? [ F "heads" ]',
        'R{"steps"}min=? [ F "ended" ]',
        'R{"steps"}max=? [ F "ended" ]',
    ],
)
def test_rounds_hardly_depend_on_how_states_are_numbered(question):
    """A model that comes sorted, backwards, as it is explored, or in no order."""
    model = mdp.Program.parse(consensus(3, 4)).build()
    size = model.num_states
    numbers = [np.arange(size)[::-1], in_breadth(model)]
    numbers += [np.random.default_rng(seed).permutation(size) for seed in range(2)]
    first = mdp.check(model, question, solver="host")
    assert mdp.verify_values(model, question, first)
    looks = [first.stats["looks"]]
    for number in numbers:
        found = mdp.check(shuffled(model, number), question, solver="host")
        assert np.all(found.lower[number] <= first.upper)
        assert np.all(found.upper[number] >= first.lower)
        assert np.all(found.upper - found.lower <= 1e-6 * found.lower)
        looks.append(found.stats["looks"])
    assert max(looks) <= 1.5 * min(looks), looks


@pytest.mark.parametrize("seed", range(4))
def test_slow_walks_are_exact_in_any_order(seed):
    model, chances = walk(40, Fraction(2, 5))
    number = np.random.default_rng(seed).permutation(41)
    found = mdp.check(shuffled(model, number), 'Pmax=? [ F "top" ]')
    holds(found, [chances[state] for state in np.argsort(number)])


# ---- rounds that leap ----------------------------------------------------------------


def consensus(processes: int, rounds: int) -> str:
    """The shared coin of randomised consensus: a walk that all processes move."""
    most = 2 * (rounds + 1) * processes
    modules = "".join(
        f"""
module process{i}
  at{i} : [0..3]; coin{i} : [0..1];
  [] at{i}=0 -> 1/2 : (coin{i}'=0) & (at{i}'=1) + 1/2 : (coin{i}'=1) & (at{i}'=1);
  [] at{i}=1 & coin{i}=0 & walk>0 -> (walk'=walk-1) & (at{i}'=2) & (coin{i}'=0);
  [] at{i}=1 & coin{i}=1 & walk<{most} -> (walk'=walk+1) & (at{i}'=2) & (coin{i}'=0);
  [] at{i}=2 & walk<={processes} -> (at{i}'=3) & (coin{i}'=0);
  [] at{i}=2 & walk>={most - processes} -> (at{i}'=3) & (coin{i}'=1);
  [] at{i}=2 & walk>{processes} & walk<{most - processes} -> (at{i}'=0);
  [done] at{i}=3 -> true;
endmodule"""
        for i in range(processes)
    )
    ended = " & ".join(f"at{i}=3" for i in range(processes))
    heads = " & ".join(f"coin{i}=1" for i in range(processes))
    return f"""mdp
global walk : [0..{most}] init {most // 2};
{modules}
label "ended" = {ended};
label "heads" = {ended} & {heads};
rewards "steps" true : 1; endrewards"""


@pytest.mark.parametrize(
    "question",
    ['R{"steps"}min=? [ F "ended" ]', 'Pmax=? [ F "heads" ]', 'Pmin=? [ F "heads" ]'],
)
def test_leaps_that_go_astray_are_taken_back(question):
    """A walk changes evenly at first, which looks like a steady ratio."""
    model = mdp.Program.parse(consensus(4, 2)).build()
    found = mdp.check(model, question, solver="host")
    assert found.stats["stiff"] == 0
    assert np.all(found.upper - found.lower <= 1e-6 * found.lower)
    assert mdp.verify_values(model, question, found)


def test_no_leap_is_made_where_changes_are_no_numbers():
    size = np.zeros(2)
    local = Component(*[np.zeros(0)] * 6, value=np.ones(2), room=np.full(2, -2.0))
    for change, before in ((np.inf, np.inf), (0.5, np.inf), (1.0, 0.0), (0.9, 1.0)):
        assert not leap(local, change, before, 0.9, size) < 0
        assert local.value.tolist() == [1.0, 1.0]


def walk_between_ends(size: int, up: float) -> mdp.MDP:
    """A walk between two ends, from the middle."""
    rows, columns, probs = [0], [], []
    for state in range(size):
        ends = state in (0, size - 1)
        columns += [state] if ends else [state - 1, state + 1]
        probs += [1.0] if ends else [1 - up, up]
        rows.append(len(columns))
    goal = np.arange(size) == size - 1
    return mdp.MDP.from_arrays(
        *(list(range(size + 1)), rows, columns, probs),
        labels={"goal": goal},
        initial=[size // 2],
    )


def test_chances_below_all_numbers_do_no_harm():
    # Of state s it is (9^s - 1) / (9^399 - 1): below 1e-308 in many.
    found = mdp.check(walk_between_ends(400, 0.1), 'P=? [ F "goal" ]', epsilon=1e-5)
    for state in range(400):
        value = Fraction(9**state - 1, 9**399 - 1)
        low, high = Fraction(found.lower[state]), Fraction(found.upper[state])
        # The model's 0.1 and 0.9 are not quite that.
        assert low * Fraction(99, 100) <= value <= high * Fraction(101, 100), state
        if value > Fraction(1, 10**250):
            assert high - low <= Fraction(1, 10**5) * high


def test_no_bound_of_a_probability_is_more_than_one():
    for up in (0.1, 0.4, 0.6):
        for text in ('P=? [ F "goal" ]', 'P=? [ G !"goal" ]'):
            found = mdp.check(walk_between_ends(400, up), text)
            assert found.lower.min() >= 0
            assert found.upper.max() <= 1


def test_bounds_of_very_many_steps_that_are_too_far_apart_are_no_solution():
    found = mdp.check(small(), "Pmax=? [ F<=100000000 x=1 ]")
    assert found.status == Status.SOLVED
    with pytest.raises(SolveError) as caught:
        mdp.check(small(), "Pmax=? [ F<=100000000000 x=1 ]")
    found = caught.value.solution
    assert found.status == Status.PRECISION
    assert found.lower[0] <= 0.5 <= found.upper[0]
    sure = mdp.check(small(), "Pmax>0.4 [ F<=100000000000 x=1 ]")
    assert sure.value is True


@pytest.mark.parametrize("text", ['"way" U[7,40] "goal"', 'F<=50 "goal"', 'F=9 "goal"'])
def test_many_steps_are_those_of_as_many_single_ones(text):
    bounds = {'"way" U[7,40] "goal"': (7, 40), 'F<=50 "goal"': (0, 50)}
    first, last = bounds.get(text, (9, 9))
    for model in itertools.islice(rewarded(77, 40), 40):
        for optimum in ("min", "max"):
            found = mdp.check(model, f"P{optimum}=? [ {text} ]")
            assert np.shape(found.scheduler) == (last, model.num_states)
            goal, way = ((model.labels or {})[name] for name in ("goal", "way"))
            way = way if "way" in text else np.ones_like(goal)
            best = min if optimum == "min" else max
            value = [Fraction(int(x)) for x in goal]
            for left in range(1, last + 1):
                value = [
                    Fraction(1)
                    if goal[s] and left <= last - first
                    else best(
                        sum(p * value[t] for t, p in exact.branches(model, c))
                        for c in range(*model.row_group_offsets[s : s + 2])
                    )
                    if way[s]
                    else Fraction(0)
                    for s in range(model.num_states)
                ]
            assert all(
                low <= x <= high and high - low <= 1e-9
                for low, x, high in zip(found.lower, value, found.upper, strict=True)
            )


def test_fractions_that_get_long_are_refused_at_once():
    chain = mdp.MDP.from_arrays(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [1 - 1e-12, 1e-12, 1], labels={"goal": [0, 1]}
    )
    with pytest.raises(SolveError, match="no value as a fraction"):
        mdp.check(chain, 'P=? [ F<=10000 "goal" ]', exact=True)
    found = mdp.check(chain, 'P=? [ F<=1000000 "goal" ]')
    assert found.value == pytest.approx(1e-6, rel=1e-6)


def conditional(model: mdp.MDP) -> list[Fraction]:
    """What all schedulers come to that meet "way": the share that meets "goal", too.

    They look at what has been met; from the first state.
    """
    size = model.num_states
    met = [np.asarray((model.labels or {})[name]) for name in ("goal", "way")]
    rows = [exact.branches(model, choice) for choice in range(model.num_choices)]

    def place(state: int, seen: int) -> int:
        return 4 * state + (seen | int(met[0][state]) | 2 * int(met[1][state]))

    own = [
        # Nothing is to be won or lost any more once both are met.
        range(*model.row_group_offsets[s : s + 2].tolist())[: 1 if seen == 3 else None]
        for s in range(size)
        for seen in range(4)
    ]
    sets = [np.array([seen & want == want for _ in range(size) for seen in range(4)])
            for want in (2, 3)]  # fmt: skip
    found = []
    for picked in itertools.product(*own):
        chain = [
            [(place(t, at % 4), p) for t, p in rows[choice]]
            for at, choice in enumerate(picked)
        ]
        some, both = (
            exact.chain_values(chain, target, np.ones(4 * size, bool))[place(0, 0)]
            for target in sets
        )
        if some:
            found.append(both / some)
    return found


def test_conditional_probabilities_against_all_schedulers():
    asked = 0
    for model in rewarded(seed=31, count=40, most=2):
        shares = conditional(model)
        for optimum, best in (("max", max), ("min", min)):
            text = f'P{optimum}=? [ F "goal" || F "way" ]'
            if not shares:
                with pytest.raises(PropertyError, match="probability zero"):
                    mdp.check(model, text)
                continue
            found, value = mdp.check(model, text), best(shares)
            assert found.lower[0] <= value <= found.upper[0], text
            assert found.upper[0] - found.lower[0] <= 1e-6 * value
            asked += 1
    assert asked > 30


def test_shares_of_time_are_at_most_one():
    for model in rewarded(seed=32, count=40):
        found = mdp.check(model, 'LRAmax=? [ "way" ]')
        assert found.lower.min() >= 0
        assert found.upper.max() <= 1


def test_rewards_of_nothing_are_exactly_nothing():
    circle = mdp.MDP.from_arrays(
        [0, 1, 2, 3],
        [0, 1, 3, 4],
        [0, 2, 0, 1],
        [1.0, 0.5, 0.5, 1.0],
        labels={"goal": [1, 0, 0]},
        choice_rewards={"": [0.0, 0, 0]},
    )
    found = mdp.check(circle, 'Rmax=? [ F "goal" ]')
    assert found.upper.tolist() == [0, 0, 0]


# ---- a limit of rounds -----------------------------------------------------------


def slow_ruin(size=40):
    """A gambler who plays fair or worse, and stops with nothing or with all."""
    rows, columns, probs, groups = [0], [], [], [0]
    for state in range(size):
        ends = state in (0, size - 1)
        for odds in [None] if ends else [0.5, 0.4]:
            columns += [state] if odds is None else [state - 1, state + 1]
            probs += [1.0] if odds is None else [1 - odds, odds]
            rows.append(len(columns))
        groups.append(len(rows) - 1)
    goal = np.arange(size) == size - 1
    return mdp.MDP.from_arrays(
        groups, rows, columns, probs, labels={"goal": goal}, initial=[size // 2]
    )


@pytest.mark.parametrize("optimum", ["max", "min"])
def test_bounds_hold_after_any_number_of_rounds(optimum):
    model, size = slow_ruin(), 40
    asked = f'P{optimum}=? [ F "goal" ]'
    # In closed form: with odds r of losing to winning, (1 - r^k) / (1 - r^n).
    chance = np.arange(size) / (size - 1)
    if optimum == "min":
        odds = 0.6 / 0.4
        chance = (1 - odds ** np.arange(size)) / (1 - odds ** (size - 1))
    widths = []
    for most in (0, 1, 50, 100, 200, 1000):
        how = {"max_steps": most, "relative": False, "throw": False}
        found = mdp.check(model, asked, epsilon=1e-6, **how)
        assert (found.lower <= chance + 1e-12).all()
        assert (found.upper >= chance - 1e-12).all()
        assert found.stats["rounds"] <= most
        widths.append(float((found.upper - found.lower).max()))
        solved = widths[-1] <= 1e-6
        assert found.status == (Status.SOLVED if solved else Status.MAX_STEPS)
    assert widths[0] == 1
    assert widths[-1] <= 1e-6
    with pytest.raises(SolveError, match="step limit"):
        mdp.check(model, asked, max_steps=1)


def test_what_is_true_may_be_known_before_the_limit():
    model = slow_ruin()
    found = mdp.check(model, 'P<0.9 [ F "goal" ]', max_steps=0, throw=False)
    assert (found.status, found.value) == (Status.MAX_STEPS, None)
    found = mdp.check(model, 'P<=1 [ F "goal" ]', max_steps=0, throw=False)
    assert (found.status, found.value) == (Status.SOLVED, True)
    found = mdp.check(model, 'Pmax=? [ F<=5 "goal" ]', max_steps=0)
    assert found.value == 0  # which takes its five steps


def test_a_limit_of_rounds_is_of_all_systems_together():
    model, automaton = slow_ruin(), ltl.deterministic("F goal")
    found = mdp.acceptance_probability(model, automaton, max_steps=7, throw=False)
    assert (found.status, found.stats["rounds"]) == (Status.MAX_STEPS, 7)
    assert found.lower[20] <= 20 / 39 <= found.upper[20]


@pytest.mark.parametrize(
    ("asked", "how", "message"),
    [
        ('Pmax=? [ F "goal" ]', {"exact": True}, "rational arithmetic takes others"),
        ('Pmax=? [ F "goal" ]', {"solver": "host"}, "'host' takes neither"),
        ('Pmax=? [ F "goal" ]', {"max_steps": -1}, "at least 0, got -1"),
        (
            'multi(Pmax=? [ F "goal" ], P>=0.1 [ F "goal" ])',
            {},
            "several objectives takes others",
        ),
    ],
)
def test_where_rounds_are_not_counted(asked, how, message):
    with pytest.raises(ValueError, match=message):
        mdp.check(slow_ruin(), asked, **{"max_steps": 3, **how})


@pytest.mark.parametrize("k", [1, 2, 20])
def test_what_is_missed_in_some_steps_is_known_relative_to_itself(k):
    rare = 2.0**-40
    model = mdp.MDP.from_arrays(
        [0, 2, 3, 4],
        [0, 2, 4, 5, 6],
        [0, 1, 0, 1, 1, 2],
        [rare, 1 - rare, rare / 2, 1 - rare / 2, 1, 1],
        labels={"stay": [1, 0, 0], "out": [0, 1, 0]},
    )
    for word, share in (("max", Fraction(rare)), ("min", Fraction(rare / 2))):
        for text in (f'P{word}=? [ G<={k} "stay" ]', f'P{word}=? [ !(F<={k} "out") ]'):
            found = mdp.check(model, text)
            holds(found, [share**k, 0, 0 if "stay" in text else 1])
            assert mdp.verify_values(model, text, found)
        # Who is out before that step has missed it.
        late = mdp.check(model, f'P{word}=? [ !("stay" U>={k} "out") ]')
        other = Fraction(rare / 2 if word == "max" else rare)
        holds(late, [1 - other ** (k - 1), 1, 1])


@pytest.mark.parametrize("text", ['F<=900 "home"', 'F[9,900] "home"', 'X !"home"'])
@pytest.mark.parametrize("interval", [False, True])
def test_bounds_of_probabilities_are_probabilities(text, interval):
    """Rounding of many steps is not added to what is almost one."""
    size = 20
    chances = {"probs": [0.25, 0.75] * (size - 1) + [1]}
    if interval:
        chances = {
            "lower": [0.25, 0.5] * (size - 1) + [1],
            "upper": [0.5, 0.75] * (size - 1) + [1],
        }
    model = mdp.MDP.from_arrays(
        range(size + 1),
        [*range(0, 2 * size - 1, 2), 2 * size - 1],
        [x for i in range(size - 1) for x in (i, i + 1)] + [size - 1],
        **chances,
        labels={"home": np.arange(size) == size - 1},
    )
    optimum = "max" if interval else ""
    found = mdp.check(model, f"P{optimum}=? [ {text} ]")
    assert found.lower.min() >= 0
    assert found.lower.max() > 0.5
    assert found.upper.max() <= 1


def test_chances_of_some_steps_below_all_numbers_are_between_their_bounds():
    """Flips until there were 600 heads: fewer of 2000 are less likely than float64."""
    heads, flips = 600, 2000
    targets = [x for i in range(heads) for x in (i, i + 1)] + [heads]
    model = mdp.MDP.from_arrays(
        range(heads + 2),
        [*range(0, 2 * heads, 2), 2 * heads, 2 * heads + 1],
        targets,
        [0.5] * (2 * heads) + [1],
        labels={"home": np.arange(heads + 1) == heads},
    )
    asked = f'P=? [ G<={flips} !"home" ]'
    found = mdp.check(model, asked)
    fewer = list(itertools.accumulate(math.comb(flips, i) for i in range(heads)))
    values = [Fraction(x, 2**flips) for x in reversed(fewer)] + [Fraction(0)]
    for lower, value, upper in zip(found.lower, values, found.upper, strict=True):
        assert 0 <= Fraction(lower) <= value <= Fraction(upper)
    assert mdp.verify_values(model, asked, found)


def test_a_conditional_probability_that_is_not_near_is_no_answer():
    tiny = 2.0**-42
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3],
        [0, 2, 3, 4],
        [1, 2, 1, 2],
        [tiny, 1 - tiny, 1, 1],
        labels={"goal": [0, 1, 0], "way": [0, 1, 1]},
    )
    text = 'Pmin=? [ F "goal" || F "way" ]'
    found = mdp.check(model, text, throw=False)
    value = Fraction(tiny)
    assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])
    near = found.upper[0] - found.lower[0] <= 1e-6 * tiny
    assert near == (found.status == Status.SOLVED)


def test_a_model_without_states_has_no_value():
    found = mdp.check(mdp.MDP.from_arrays([0], [0], [], []), "P=? [ F true ]")
    assert repr(found) == "Checked(P=? [ F true ]: no states)"
    with pytest.raises(ValueError, match="has no states"):
        _ = found.value


def test_states_with_the_largest_values_are_not_guessed():
    # All of 0, 1 and 2 have 1/3, and 3 a bit less than that.
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3, 4, 5, 6],
        [0, 3, 5, 6, 8, 9, 10],
        [0, 4, 5, 2, 0, 0, 0, 5, 4, 5],
        [0.25, 0.25, 0.5, 0.5, 0.5, 1, 1 - 2.0**-30, 2.0**-30, 1, 1],
        labels={"goal": [0, 0, 0, 0, 1, 0]},
    )
    query = 'P=? [ F "goal" ]'
    assert mdp.check(model, query, exact=True).exact[:3] == (Fraction(1, 3),) * 3
    for how in ({}, {"epsilon": 1e-2}):
        found = mdp.check(model, f'filter(argmax, {query}, !"goal")', **how)
        assert found.lower.tolist() == found.upper.tolist() == [1, 1, 1, 0, 0, 0]
        least = mdp.check(model, f'filter(argmin, {query}, P>0 [ F "goal" ])', **how)
        assert least.lower.tolist() == least.upper.tolist() == [0, 0, 0, 1, 0, 0]
    # What has no fractions, and values that are too near, stays open.
    asked = f'filter(argmax, 1-{query}, P>0 [ F "goal" ] & !"goal")'
    near = mdp.check(model, asked, epsilon=1e-2)
    assert (near.lower <= [0, 0, 0, 1, 0, 0]).all()
    assert (near.upper >= [0, 0, 0, 1, 0, 0]).all()


def test_states_with_the_largest_values_against_all_schedulers():
    for model in rewarded(4, 60):
        goal = np.asarray((model.labels or {})["goal"])
        if goal.all():
            continue
        query = 'Pmax=? [ F "goal" ]'
        values = mdp.check(model, query, exact=True).exact
        assert values is not None
        some = [x for x, ends in zip(values, goal, strict=True) if not ends]
        for kind, best in (("argmax", max(some)), ("argmin", min(some))):
            found = mdp.check(model, f'filter({kind}, {query}, !"goal")', epsilon=1e-2)
            wanted = [x == best and not s for x, s in zip(values, goal, strict=True)]
            assert found.lower.tolist() == found.upper.tolist() == wanted


def test_several_cores_look_where_variables_have_a_value(monkeypatch):
    monkeypatch.setattr("jaxgames.host.num_cores", lambda: 3)
    monkeypatch.setattr("jaxgames.host.FEWEST_PLACES", 1)
    states = np.arange(8)
    model = mdp.MDP.from_arrays(
        *(range(9), range(9), states, np.ones(8)),
        valuations={"x": states % 3 - 1, "far": states % 2 * 2**40},
    )
    for text, wanted in (
        ("x=-1", states % 3 == 0),
        ("1=x", states % 3 == 2),
        ("far=1099511627776 & x=0", (states % 2 == 1) & (states % 3 == 1)),
        ("x=far", (states % 2 == 0) & (states % 3 == 1)),
    ):
        found = mdp.check(model, text)
        assert found.lower.tolist() == found.upper.tolist() == wanted.tolist(), text


def test_what_gets_another_array_under_a_name_is_solved_anew():
    model = mdp.MDP.from_arrays(
        [0, 2, 3, 4], [0, 1, 3, 4, 5], [2, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        labels={"end": [0, 1, 1]}, choice_rewards={"gain": [1.0, 0, 0, 0]},
    )  # fmt: skip
    asked = 'Rmax=? [ F "end" ]'
    assert mdp.check(model, asked).value == 1
    assert mdp.values(model, asked, probabilities=model.probs).value[0] == 1
    gain = np.array([5.0, 0, 0, 0])
    with pytest.raises(TypeError, match="read-only"):
        model.choice_rewards["gain"] = gain
    model = dataclasses.replace(model, choice_rewards={"gain": gain})
    assert mdp.check(model, asked).value == 5
    assert mdp.values(model, asked, probabilities=model.probs).value[0] == 5
    waits = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [1, 1], [1.0, 1]),
        state_rewards={"": [2.0, 0]}, labels={"end": [0, 1]}, exit_rates=[0.5, 1],
    )  # fmt: skip
    assert mdp.check(waits, 'R=? [ F "end" ]').value == pytest.approx(4)
    waits = dataclasses.replace(waits, state_rewards={"": np.array([3.0, 0])})
    assert mdp.check(waits, 'R=? [ F "end" ]').value == pytest.approx(6)


def test_values_of_the_same_text_with_other_definitions():
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.25, 0.75, 1, 1],
        labels={"a": [0, 1, 0], "b": [0, 0, 1]},
    )  # fmt: skip
    for named, value in (("a", 0.25), ("b", 0.75)):
        (asked,) = mdp.Property.parse_many(f'label "x" = "{named}"; P=? [ F "x" ]')
        found = mdp.values(model, asked, probabilities=model.probs)
        assert float(found.value[0]) == pytest.approx(value)


def test_properties_that_name_one_another_too_deeply_say_so():
    model = small()
    lines = ['"p0": Pmax>=0.5 [ F x=1 ];']
    lines += [f'"p{i}": "p{i - 1}" | Pmax>=0.5 [ X x=1 ];' for i in range(1, 900)]
    asked = mdp.Property.parse_many("\n".join(lines))
    assert mdp.check(model, asked[90]).value is not None
    with pytest.raises(PropertyError, match="one of more than 100 that are defined"):
        mdp.check(model, asked[-1])
