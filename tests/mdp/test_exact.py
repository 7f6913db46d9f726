"""Values as fractions, and averages of what mixes slowly."""

import itertools
from fractions import Fraction
from operator import ge, gt, le, lt

import numpy as np
import pytest

from jaxgames import SolveError, Status, mdp
from jaxgames.mdp import _average, _average_policies, _by_products
from jaxgames.mdp.host._steps import gains
from jaxgames.testing import _exact as exact

QUESTIONS = {
    'P{}=? [ F "goal" ]': {"kind": "reach"},
    'R{{"cost"}}{}=? [ F "goal" ]': {"kind": "until"},
    'R{{"cost"}}{}=? [ C ]': {"kind": "total"},
    'R{{"cost"}}{}=? [ C<=3 ]': {"kind": "total", "steps": 3},
    'R{{"cost"}}{}=? [ Cdiscount=2/3 ]': {
        "kind": "total",
        "discount": Fraction(2, 3),
    },
    'R{{"cost"}}{}=? [ LRA ]': {"kind": "average"},
}


def models(seed: int, count: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(1, 6))
        bare = exact.random_model(rng, size, 2, 3)
        yield mdp.MDP.from_arrays(
            *(bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs),
            labels={"goal": rng.random(size) < 0.3},
            choice_rewards={"cost": rng.integers(0, 4, bare.num_choices) * 1.0},
        )


def compare(text: str, seed: int, count: int) -> None:
    for model in models(seed, count):
        how = dict(QUESTIONS[text])
        if how["kind"] != "reach":
            how["reward"] = (model.choice_rewards or {})["cost"]
        goal = (model.labels or {})["goal"]
        for optimum in ("min", "max"):
            expected = mdp.reference.values(
                *(model, str(how["kind"]), optimum),
                target=goal,
                **{k: x for k, x in how.items() if k != "kind"},  # type: ignore
            )
            found = mdp.check(model, text.format(optimum), exact=True)
            assert list(found.exact or ()) == expected
            assert all(low <= x for low, x in zip(found.lower, expected, strict=True))
            assert all(x <= high for high, x in zip(found.upper, expected, strict=True))


@pytest.mark.parametrize("text", QUESTIONS)
def test_fractions_against_all_schedulers(text):
    compare(text, seed=5, count=8)


@pytest.mark.sweep
@pytest.mark.parametrize("text", QUESTIONS)
def test_many_fractions_against_all_schedulers(text):
    compare(text, seed=6, count=500)


def test_averages_by_policies_alone(monkeypatch):
    """No rounds before: policies are improved from nothing."""
    monkeypatch.setattr(_average, "PATIENCE_WITH_AVERAGES", 0)
    monkeypatch.setattr(_average, "FEWEST_AVERAGES", 1)
    monkeypatch.setattr(_average, "RATIONAL_UP_TO", 0)
    monkeypatch.setattr(_average, "MOST_AVERAGES", 1)
    for model in models(seed=7, count=40):
        reward = (model.choice_rewards or {})["cost"]
        for optimum in ("min", "max"):
            found = mdp.check(model, f'R{{"cost"}}{optimum}=? [ LRA ]')
            expected = mdp.reference.values(model, "average", optimum, reward=reward)
            for low, high, x in zip(found.lower, found.upper, expected, strict=True):
                assert Fraction(low) <= x <= Fraction(high)
                assert high - low <= 1e-6 * x


def slow(rare: float) -> mdp.MDP:
    """Two places that are left once in a long time; in the second one may earn more."""
    return mdp.MDP.from_arrays(
        [0, 1, 3],
        [0, 2, 4, 6],
        [0, 1, 0, 1, 0, 1],
        [1 - rare, rare, 2 * rare, 1 - 2 * rare, 4 * rare, 1 - 4 * rare],
        choice_rewards={"cost": [1, 5, 7]},
    )


def test_averages_of_what_mixes_slowly():
    rare = 2.0**-40
    model = slow(rare)
    # A third of the time in state 1 at 4 rare, half as much away at 2 rare.
    values = {"max": max(Fraction(1 * 2 + 5 * 1, 3), Fraction(1 * 4 + 7 * 1, 5))}
    values["min"] = min(Fraction(1 * 2 + 5 * 1, 3), Fraction(1 * 4 + 7 * 1, 5))
    for optimum, value in values.items():
        found = mdp.check(model, f"R{optimum}=? [ LRA ]")
        assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])
        assert found.upper[0] - found.lower[0] <= 1e-6 * found.lower[0]
        assert mdp.check(model, f"R{optimum}=? [ LRA ]", exact=True).exact == (
            value,
            value,
        )


def hills(rng, size: int, steep: float) -> mdp.MDP:
    """A line with a low place at each end, and a hill between; two choices each."""
    groups, rows, columns, probs, reward = [0], [0], [], [], []
    for state in range(size):
        for push in (1.0, rng.uniform(0.8, 1.0)):
            drift = steep * push * np.sin(2 * np.pi * (2 * state / (size - 1)))
            ways = [(max(state - 1, 0), 1 - drift), (min(state + 1, size - 1), 1)]
            for to, weight in ways:
                columns.append(to)
                probs.append(weight / (2 - drift))
            rows.append(len(columns))
            reward.append((state / size) ** 2 * push)
        groups.append(len(rows) - 1)
    how = {"choice_rewards": {"cost": reward}}
    return mdp.MDP.from_arrays(groups, rows, columns, probs, **how)


@pytest.mark.parametrize("relative", [True, False])
def test_processes_that_mix_slowly_need_no_fractions(monkeypatch, relative):
    """More digits than float64 has, but less than a fraction: as where all is large."""
    rng = np.random.default_rng(3)
    many = [slow(2.0**-50), hills(rng, 40, 0.6), hills(rng, 41, 0.8)]
    for model in many:
        for optimum in ("min", "max"):
            asked = f"R{optimum}=? [ LRA ]"
            exactly = mdp.check(model, asked, exact=True).exact
            with monkeypatch.context() as patched:
                patched.setattr(_average, "RATIONAL_UP_TO", 0)
                patched.setattr(_average, "MOST_AVERAGES", 1)
                found = mdp.check(model, asked, relative=relative)
            assert found.status == Status.SOLVED
            assert exactly is not None
            for low, high, x in zip(found.lower, found.upper, exactly, strict=True):
                assert Fraction(low) <= x <= Fraction(high)
                assert high - low <= 1e-6 * (x if relative else 1)


def crowds(rng, size: int, rare: float) -> mdp.MDP:
    """Two crowds of states, each left once in a long time; two choices each."""
    columns, probs = [], []
    for state in range(2 * size):
        here, there = state // size * size, (1 - state // size) * size
        for choice in range(2):
            some = here + rng.choice(size, 3, replace=False)
            columns += [*some.tolist(), there + int(rng.integers(size))]
            probs += [0.5, 0.25, 0.25 - rare * (1 + choice), rare * (1 + choice)]
    rows = np.arange(0, len(columns) + 1, 4)
    reward = np.repeat([1, 2], 2 * size) + rng.random(4 * size) / 8
    how = {"choice_rewards": {"cost": reward}}
    return mdp.MDP.from_arrays(range(0, len(rows), 2), rows, columns, probs, **how)


@pytest.mark.parametrize("products", [30, 1])
def test_large_processes_that_mix_slowly(monkeypatch, products):
    """By products, that must be right for a while; or by factors, where few do not do.

    Factors fill in where each state leads to any others: they must not be needed.
    """
    model = crowds(np.random.default_rng(9), 12, 2.0**-35)
    exactly = mdp.check(model, "Rmax=? [ LRA ]", exact=True).exact
    assert exactly is not None
    factored, asked = _average_policies.factored, []

    def counted(*parts):
        asked.append(1)
        return factored(*parts)

    monkeypatch.setattr(_average_policies, "factored", counted)
    monkeypatch.setattr(_average_policies, "DENSE_UP_TO", 0)
    monkeypatch.setattr(_by_products, "MOST_PRODUCTS_OF_AVERAGES", products)
    monkeypatch.setattr(_average, "RATIONAL_UP_TO", 0)
    monkeypatch.setattr(_average, "MOST_AVERAGES", 1)
    found = mdp.check(model, "Rmax=? [ LRA ]")
    assert found.status == Status.SOLVED
    assert Fraction(found.lower[0]) <= exactly[0] <= Fraction(found.upper[0])
    assert found.upper[0] - found.lower[0] <= 1e-6 * found.lower[0]
    assert bool(asked) == (products == 1)


def climbing(size: int) -> mdp.MDP:
    """A line on which it goes up a third as often as down; the top is seldom seen."""
    columns, probs = [0, 1], [0.75, 0.25]
    for state in range(1, size):
        columns += [state - 1, min(state + 1, size - 1)]
        probs += [0.75, 0.25]
    top = np.arange(size) == size - 1
    lines = np.arange(size + 1), np.arange(0, 2 * size + 1, 2)
    return mdp.MDP.from_arrays(*lines, columns, probs, labels={"top": top})


def test_an_average_far_smaller_than_what_is_earned(monkeypatch):
    """Rounding of what is earned in the one state is far more than the average."""
    monkeypatch.setattr(_average, "average_of_chain", lambda *_: None)
    monkeypatch.setattr(_average, "RATIONAL_UP_TO", 0)
    model, value = climbing(36), Fraction(2, 3**36 - 1)
    assert value < 2e-17
    found = mdp.check(model, 'LRA=? [ "top" ]')
    assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])
    assert found.upper[0] - found.lower[0] <= 1e-6 * value
    assert found.status == Status.SOLVED


def test_averages_whose_bounds_stay_apart_say_so(monkeypatch):
    """And no rounds are made of which it is known that they are lost in rounding."""
    monkeypatch.setattr(_average, "average_of_chain", lambda *_: None)
    monkeypatch.setattr(_average, "improved", lambda *_: None)
    monkeypatch.setattr(_average, "RATIONAL_UP_TO", 0)
    monkeypatch.setattr(_average, "MOST_AVERAGES", 10**12)  # more than a test can take
    with pytest.raises(SolveError) as raised:
        mdp.check(climbing(36), 'LRA=? [ "top" ]')
    found = raised.value.solution
    assert found.status == Status.PRECISION
    assert found.lower[0] <= 2 / (3**36 - 1) <= found.upper[0]


def test_what_is_added_to_values_is_within_its_error():
    """Against fractions: values that are far apart, and weights of any sum."""
    rng = np.random.default_rng(8)
    size = 6
    for scale in (1.0, 1e8, 1e20):
        high = rng.standard_normal(size) * scale
        low = high * 2.0**-54 * rng.standard_normal(size)
        first = np.repeat(np.arange(size, dtype=np.int32), 2)
        rows = np.arange(0, 3 * len(first) + 1, 3, dtype=np.int32)
        columns = rng.integers(size, size=rows[-1]).astype(np.int32)
        probs, reward = rng.random(rows[-1]), rng.standard_normal(len(first))
        found, off = np.empty((2, len(first)))
        gains(first, rows, columns, probs, reward, high, low, found, off)
        value = [Fraction(x) + Fraction(y) for x, y in zip(high, low, strict=True)]
        for choice, state in enumerate(first.tolist()):
            some = range(rows[choice], rows[choice + 1])
            weight = sum(Fraction(probs[b]) for b in some)
            true = Fraction(reward[choice]) + sum(
                Fraction(probs[b]) / weight * (value[columns[b]] - value[state])
                for b in some
            )
            assert abs(Fraction(found[choice]) - true) <= Fraction(off[choice])
            assert off[choice] <= 1e-14 * (1 + scale)
        # Where a reward is lost by a change nothing is left, and little of an error.
        lost = reward - found
        gains(first, rows, columns, probs, lost, high, low, found, off)
        assert (np.abs(found) <= 1e-14 * (1 + scale)).all()
        assert (off <= 1e-15 * np.abs(found) + 1e-27 * (1 + scale)).all()


def test_a_reward_larger_than_any_float64_has_bounds():
    """So many times heads in a row take 2 to the power of that plus one, less two."""
    many = 1100
    model = mdp.MDP.from_arrays(
        range(many + 2),
        [*range(0, 2 * many + 1, 2), 2 * many + 1],
        [x for i in range(many) for x in (i + 1, 0)] + [many],
        [0.5] * (2 * many) + [1],
        labels={"end": [0] * many + [1]},
        choice_rewards={"throws": np.ones(many + 1)},
    )
    with pytest.raises(SolveError, match="PRECISION"):
        mdp.check(model, 'R=? [ F "end" ]')
    found = mdp.check(model, 'R=? [ F "end" ]', throw=False)
    value = Fraction(2) ** (many + 1) - 2
    assert Fraction(found.lower[0]) <= value
    assert found.lower[0] > 1e308
    assert found.upper[0] == np.inf
    assert mdp.check(model, 'R>1e300 [ F "end" ]').value is True
    assert mdp.check(model, f'R<{2**60} [ F "end" ]').value is False


def test_what_is_hardly_ever_left_is_no_answer():
    """It takes 1e323 steps on average, which is no float64."""
    least = 5e-324
    model = mdp.MDP.from_arrays(
        *([0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [1, least, least, 1, 1]),
        labels={"end": [0, 1, 1]},
        choice_rewards={"steps": [1, 0, 0]},
    )
    with pytest.raises(SolveError, match="PRECISION"):
        mdp.check(model, 'R=? [ F "end" ]')
    found = mdp.check(model, 'R=? [ F "end" ]', throw=False)
    assert found.lower[0] < found.upper[0] == np.inf


def test_rare_steps_have_bounds_from_zero_to_one():
    model = mdp.MDP.from_arrays(
        *([0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [1, 1e-300, 1e-300, 1, 1]),
        labels={"goal": [0, 1, 0]},
    )
    for path in ('F<=3 "goal"', 'F[2,3] "goal"', 'G<=3 !"goal"', 'X "goal"',
                 'X !"goal"', 'F>=2 "goal"', 'G>=2 !"goal"'):  # fmt: skip
        found = mdp.check(model, f"P=? [ {path} ]", throw=False)
        assert (found.lower >= 0).all(), path
        assert (found.upper <= 1).all(), path


def test_what_has_no_fraction_says_so():
    model = next(models(seed=1, count=1))
    with pytest.raises(SolveError, match="no value as a fraction"):
        mdp.check(model, 'filter(max, Pmax=? [ F "goal" ])', exact=True)
    found = mdp.check(
        *(model, 'filter(max, Pmax=? [ F "goal" ])'), exact=True, throw=False
    )
    assert found.status == Status.PRECISION
    assert found.exact is None
    assert mdp.check(model, 'Pmax>=0 [ F "goal" ]', exact=True).value is True


def test_rewards_of_states_and_choices_that_sum_up_exactly():
    model = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]),
        labels={"goal": [0, 1]},
        state_rewards={"cost": [0.25, 0], "odd": [0.1, 0]},
        choice_rewards={"cost": [2.5, 0], "odd": [0.2, 0]},
    )
    found = mdp.check(model, 'R{"cost"}=? [ F "goal" ]', exact=True)
    assert found.exact == (Fraction(11, 2), 0)
    with pytest.raises(SolveError, match="do not sum up to numbers of float64"):
        mdp.check(model, 'R{"odd"}=? [ F "goal" ]', exact=True)


def once(probs=(1,), **rewards) -> mdp.MDP:
    """One step to the end, which is one of several states."""
    many = len(probs)
    spread = {
        kind: {"odd": [*np.atleast_1d(x), *[0] * many]} for kind, x in rewards.items()
    }
    return mdp.MDP.from_arrays(
        range(many + 2),
        [0, *range(many, 2 * many + 1)],
        [*range(1, many + 1)] * 2,
        [*probs, *[1] * many],
        labels={"end": [0, *[1] * many]},
        **spread,
    )


def test_thresholds_at_what_is_rounded_are_left_open():
    """A mean of branches, or a sum with the state's reward, may be no float64."""
    probs, worth = (0.1, 0.9), (3.0, 7.0)
    whole = sum(map(Fraction, probs))
    mean = sum(Fraction(p) * Fraction(x) for p, x in zip(probs, worth, strict=True))
    branches = once(probs, branch_rewards=worth), mean / whole
    both = once(state_rewards=0.1, choice_rewards=0.2), Fraction(0.1) + Fraction(0.2)
    relations = {">=": ge, ">": gt, "<": lt, "<=": le}
    paths = 'F "end"', "C", "C<=1", "Cdiscount=0.5"
    for (model, value), path in itertools.product((branches, both), paths):
        near = Fraction(float(value))
        assert near != value
        for relation, compare in relations.items():
            for t in (value, near):
                asked, constants = f"R{relation}t [ {path} ]", {"t": t}
                found = mdp.check(model, asked, constants=constants, throw=False)
                assert found.value in (compare(value, t), None), asked
            found = mdp.check(model, f"R{relation}9 [ {path} ]")
            assert found.value is compare(value, 9)
    # What is none the less a float64 is decided.
    plain = once((0.5, 0.5), branch_rewards=(1.0, 2.0), state_rewards=0.25)
    assert mdp.check(plain, 'R>=1.75 [ F "end" ]').value is True
    assert mdp.check(plain, 'R=? [ F "end" ]', exact=True).exact[0] == Fraction(7, 4)


@pytest.mark.parametrize("path", ["C<=1", "Cdiscount=0.5", "LRA"])
def test_rewards_that_nearly_cancel_out(path):
    """0.1 and 0.2 less 0.3 is not zero, and not what sums of float64 make of it."""
    rewards = {"state_rewards": 0.1, "choice_rewards": 0.2, "branch_rewards": -0.3}
    model = once(**rewards)
    if path == "LRA":
        alone = {kind: {"odd": [x]} for kind, x in rewards.items()}
        model = mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1], **alone)
    value = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    for exactly in (False, True):
        found = mdp.check(model, f"R=? [ {path} ]", exact=exactly, throw=False)
        assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])


def test_averages_of_means_that_cancel_out():
    """The parts are rounded each, and what they leave is less than that."""
    wrong = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        weights, earned = rng.random((2, 3)), rng.random((2, 3))
        probs = weights / weights.sum(1, keepdims=True)
        # From 0 to 1 in any of three ways, and back.
        exact_probs = [[Fraction(p) for p in row] for row in probs.tolist()]
        means = [
            sum(p * Fraction(x) for p, x in zip(row, own, strict=True)) / sum(row)
            for row, own in zip(exact_probs, earned.tolist(), strict=True)
        ]
        less = -float(sum(means))
        model = mdp.MDP.from_arrays(
            *([0, 1, 2, 3], [0, 3, 6, 7], [1] * 3 + [2] * 3 + [0], [*probs.ravel(), 1]),
            branch_rewards={"r": [*earned.ravel(), less]},
        )
        value = (sum(means) + Fraction(less)) / 3
        found = mdp.check(model, "R=? [ LRA ]", exact=True, throw=False)
        if not Fraction(found.lower[0]) <= value <= Fraction(found.upper[0]):
            wrong.append(seed)
    assert wrong == []


def test_fractions_of_what_comes_after_some_steps():
    for model in models(5, 20):
        for word, best in (("min", min), ("max", max)):
            text = f'P{word}=? [ F>=2 "goal" ]'
            ever = mdp.check(model, f'P{word}=? [ F "goal" ]', exact=True).exact
            assert ever is not None
            value = list(ever)
            for _ in range(2):
                value = [
                    best(
                        sum(p * value[t] for t, p in exact.branches(model, choice))
                        for choice in range(*model.row_group_offsets[s : s + 2])
                    )
                    for s in range(model.num_states)
                ]
            assert mdp.check(model, text, exact=True).exact == tuple(value)
