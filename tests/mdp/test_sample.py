"""Values as functions of probabilities and rewards: bounds, batches and gradients."""

import dataclasses
from fractions import Fraction
from typing import Any

import jax
import numpy as np
import pytest

from jaxgames import SolveError, Status, mdp
from jaxgames.testing import _exact as exact

QUESTIONS = {
    'Pmax=? [ "way" U "goal" ]': {"kind": "reach", "states": "way"},
    'R{"cost"}min=? [ F "goal" ]': {"kind": "until", "reward": "cost"},
    'R{"cost"}max=? [ C ]': {"kind": "total", "reward": "cost"},
}
SAMPLES = 4


def drawn(seed: int, every: int, size: int = 5) -> mdp.MDP:
    rng = np.random.default_rng(seed)
    bare = exact.random_model(rng, size, 2, 3)
    earned = rng.integers(0, 3, bare.num_choices) * 1.0
    # Each, or each second, choice may lead to the last state, where all ends.
    columns, last = bare.columns.copy(), bare.row_group_offsets[-2]
    columns[bare.row_offsets[last] :] = size - 1
    columns[bare.row_offsets[1::every] - 1] = size - 1
    earned[last:] = 0
    return mdp.MDP.from_arrays(
        *(bare.row_group_offsets, bare.row_offsets, columns, bare.probs),
        labels={"goal": np.arange(size) == size - 1, "way": rng.random(size) < 0.9},
        choice_rewards={"cost": earned},
    )


def samples(model: mdp.MDP, seed: int = 0) -> np.ndarray:
    """Probabilities near those of a model: those of a choice sum up to one."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(model.num_choices), np.diff(model.row_offsets))
    weight = model.probs * np.exp(0.1 * rng.standard_normal((SAMPLES, len(source))))
    total = np.array([np.bincount(source, row) for row in weight])
    return weight / total[:, source]


def with_probs(model: mdp.MDP, probs) -> mdp.MDP:
    parts = (model.row_group_offsets, model.row_offsets, model.columns)
    return mdp.MDP.from_arrays(
        *parts, probs, labels=model.labels, choice_rewards=model.choice_rewards
    )


def with_ratios(model: mdp.MDP, probs) -> mdp.MDP:
    """Probabilities that do not sum up to one, which only the reference takes."""
    return dataclasses.replace(model, probs=probs)


def expected(model: mdp.MDP, text: str) -> list:
    """By the values of all schedulers, in fractions."""
    how: dict[str, Any] = dict(QUESTIONS[text])
    labels = model.labels or {}
    if "states" in how:
        how["states"] = labels["way"]
    if "reward" in how:
        how["reward"] = (model.choice_rewards or {})["cost"]
    optimum = "max" if "max" in text else "min"
    kind = how.pop("kind")
    return mdp.reference.values(model, kind, optimum, target=labels["goal"], **how)


@pytest.mark.parametrize("text", QUESTIONS)
def test_samples_and_their_gradients(text):
    model = drawn(2, every=1 if "C" in text else 2)
    given = samples(model)
    found = mdp.values(model, text, probabilities=given)
    assert found.status.tolist() == [Status.SOLVED] * SAMPLES
    step = 1e-6 * given * np.random.default_rng(1).standard_normal(given.shape)
    exactly = [expected(with_probs(model, row), text) for row in given]
    for low, high, value in zip(found.lower, found.upper, exactly, strict=True):
        for s, x in enumerate(value):
            if x == np.inf:
                assert low[s] == high[s] == x
                continue
            assert Fraction(low[s]) <= x <= Fraction(high[s])
            assert high[s] - low[s] <= 1e-6 * x
    finite = [s for s, x in enumerate(exactly[0]) if x != np.inf]
    assert len(finite) >= 3

    with jax.enable_x64(True):

        def total(probs):
            how = {"probabilities": probs, "epsilon": 1e-9}
            return mdp.values(model, text, **how).value[np.array(finite)].sum()

        slope = np.asarray(jax.jit(jax.vmap(jax.grad(total)))(given))
    for row, by, change in zip(given, slope, step, strict=True):
        # In fractions, so that a difference of what is near is exact.
        ends = [
            [expected(with_ratios(model, row + sign * change), text)[s] for s in finite]
            for sign in (-1, 1)
        ]
        assert by @ change == pytest.approx(
            float(sum(ends[1]) - sum(ends[0])) / 2, rel=1e-4
        )


TRIES = 'R=? [ F "goal" ]'


@pytest.fixture(scope="module")
def tries() -> mdp.MDP:
    """A try succeeds with some probability, and costs 1."""
    return mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]),
        labels={"goal": [0, 1]},
        choice_rewards={"cost": [1, 0]},
    )


def branches(p):
    return np.stack([1 - p, p, np.ones_like(p)], axis=-1)


def test_a_stack_is_what_each_is_and_says_which_is_wrong(tries):
    p = np.array([0.5, 0.25, 1.5, 1e-3])
    given = branches(p)
    with pytest.raises(SolveError, match="INVALID"):
        mdp.values(tries, TRIES, probabilities=given)
    found = mdp.values(tries, TRIES, probabilities=given, throw=False)
    assert found.status.tolist() == [0, 0, Status.INVALID, 0]
    assert np.isnan(found.value[2]).all()
    assert found.lower[2, 0] == -np.inf
    assert found.upper[2, 0] == np.inf
    for row, low, high in zip(p, found.lower, found.upper, strict=True):
        if row < 1:
            assert low[0] <= Fraction(1) / Fraction(row) * (1 + Fraction(1, 10**15))
            assert high[0] >= Fraction(1) / Fraction(row) * (1 - Fraction(1, 10**15))
            assert high[0] - low[0] <= 1e-6 * low[0]
    one = mdp.values(tries, TRIES, probabilities=given[1])
    assert one.value == pytest.approx([4, 0])
    assert one.status == Status.SOLVED
    # Rewards fit where they are zero and where not.
    found = mdp.values(tries, TRIES, rewards=[[3.0, 0], [-1, 0], [0, 0]], throw=False)
    assert found.status.tolist() == [0, Status.INVALID, Status.INVALID]
    assert found.value[0] == pytest.approx([6, 0])


def test_maps_in_maps_and_single_precision(tries):
    p = np.array([[0.5, 0.25], [0.75, 0.125]], np.float32)
    rewards = np.array([1.0, 0], np.float32)

    def cost(probs, rewards):
        found = mdp.values(tries, TRIES, probabilities=probs, rewards=rewards)
        return found.value[0], (found.lower, found.upper)

    slopes = jax.grad(cost, argnums=(0, 1), has_aux=True)
    both = jax.vmap(jax.vmap(slopes, in_axes=(0, None)), in_axes=(0, None))
    (by_probs, by_reward), (low, high) = jax.jit(both)(branches(p), rewards)
    # Relative to their sum: the cost is (a + b) / b.
    assert np.asarray(by_probs)[..., 0] == pytest.approx(1 / p, rel=1e-5)
    assert np.asarray(by_probs)[..., 1] == pytest.approx(1 / p - 1 / p**2, rel=1e-4)
    assert np.asarray(by_reward)[..., 0] == pytest.approx(1 / p, rel=1e-5)
    assert (np.asarray(low)[..., 0] <= 1 / p).all()
    assert (np.asarray(high)[..., 0] >= 1 / p).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R=? [ C<=3 ]", "not supported for samples"),
        ('P=? [ F<=3 "goal" ]', "not supported for samples"),
        ('P=? [ G F "goal" ]', "not supported for samples"),
        ('P>=1 [ F "goal" ]', "no number"),
        ('LRA=? [ "goal" ]', "not supported for samples"),
    ],
)
def test_questions_without_samples_are_refused(tries, text, message):
    with pytest.raises(mdp.PropertyError, match=message):
        mdp.values(tries, text)


def test_wrong_shapes_are_refused(tries):
    with pytest.raises(ValueError, match=r"probabilities must be .* got shape \[2\]"):
        mdp.values(tries, TRIES, probabilities=[0.5, 0.5])
    with pytest.raises(ValueError, match="2 and 3 samples"):
        mdp.values(
            *(tries, TRIES),
            probabilities=np.ones((2, 3)),
            rewards=np.ones((3, 2)),
        )
