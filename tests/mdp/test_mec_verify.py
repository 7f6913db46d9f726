"""The check of end components: right ones pass, and each kind of wrong is seen."""

import dataclasses

import jax
import numpy as np
import pytest
from end_components import COUNTEREXAMPLE, padded, tiny_models

from jaxgames import generate, mdp
from jaxgames.mdp import MDP, Reason, reference
from jaxgames.testing._exact import end_components as brute_force

ENGINES = ["host", "device"]


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def reason(model, label, kept, engine, **masks) -> Reason:
    verdict = mdp.verify(model, (label, kept), engine=engine, **masks)
    assert bool(verdict) == (int(verdict.reason) == Reason.OK)
    return Reason(int(verdict.reason))


def test_right_answers_pass(engine):
    for model in tiny_models(seed=31, count=100):
        model = padded(model)
        verdict = mdp.verify(model, brute_force(model), engine=engine)
        assert verdict, str(verdict)
        assert str(verdict) == "valid"


def test_every_other_answer_fails(engine):
    """Of tiny models all labels and choices: only one answer may pass."""
    rng = np.random.default_rng(32)
    wrong = 0
    for model in tiny_models(seed=33, count=100):
        model = padded(model)
        label, kept = brute_force(model)
        size, choices = len(np.unique(label)), int(model.row_group_offsets[-1])
        states = int((np.diff(model.row_group_offsets) > 0).sum())
        for _ in range(4):
            bad_label, bad_kept = label.copy(), kept.copy()
            for _ in range(rng.integers(1, 3)):
                if rng.random() < 0.5:
                    bad_label[rng.integers(states)] = rng.integers(-1, size + 1)
                else:
                    bad_kept[rng.integers(choices)] ^= True
            same = np.array_equal(bad_label, label) and np.array_equal(bad_kept, kept)
            found = reason(model, bad_label, bad_kept, engine)
            assert (found == Reason.OK) == same, (bad_label, bad_kept)
            wrong += not same
    assert wrong > 200


def test_engines_agree_on_the_reason():
    rng = np.random.default_rng(34)
    seen = set()
    for model in tiny_models(seed=35, count=150):
        states, choices = model.num_states, model.num_choices
        model = padded(model)
        label, kept = brute_force(model)
        if rng.random() < 0.5:
            label[rng.integers(states)] = rng.integers(-2, 3)
        if rng.random() < 0.5:
            kept[rng.integers(choices)] ^= True
        on_host, on_device = (
            mdp.verify(model, (label, kept), engine=engine) for engine in ENGINES
        )
        assert int(on_host.reason) == int(on_device.reason)
        assert int(on_host.vertex) == int(on_device.vertex)
        assert int(on_host.reason) == int(reference.verify(model, label, kept).reason)
        seen.add(Reason(int(on_host.reason)))
    assert len(seen) >= 6, seen


TWO_LOOPS = MDP.from_arrays([0, 2, 4], [0, 1, 2, 3, 4], [0, 1, 1, 0])
"""Two states, each with a choice back to itself and one to the other."""

ALL = [True] * 4


@pytest.mark.parametrize(
    ("model", "label", "kept", "expected"),
    [
        (TWO_LOOPS, [0, 0], ALL, Reason.OK),
        (TWO_LOOPS, [0, -2], ALL, Reason.LABEL_OUT_OF_RANGE),
        (TWO_LOOPS, [0, 2], ALL, Reason.LABEL_OUT_OF_RANGE),
        (TWO_LOOPS.pad(3, 4, 4), [0, 0, 0], ALL, Reason.LABEL_OF_NO_STATE),
        (TWO_LOOPS, [1, 1], ALL, Reason.NUMBERED_OUT_OF_ORDER),
        (TWO_LOOPS, [0, -1], ALL, Reason.CHOICE_LEAVES),
        (TWO_LOOPS.pad(2, 5, 4), [0, 0], [*ALL, True], Reason.CHOICE_LEAVES),
        (TWO_LOOPS, [0, 0], [True, True, False, True], Reason.CHOICE_MISSING),
        (COUNTEREXAMPLE, [0, 0, 1], [1, 0, 1, 1], Reason.NOT_REACHED),
        (COUNTEREXAMPLE, [-1, -1, 0], [0, 0, 0, 1], Reason.NOT_MAXIMAL),
        (TWO_LOOPS, [0, 1], [1, 0, 1, 0], Reason.NOT_MAXIMAL),
        (TWO_LOOPS, [-1, -1], [0, 0, 0, 0], Reason.NOT_MAXIMAL),
        (MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1]), [0, 0], [1, 1], "reaching"),
        (MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1]), [0, 1], [0, 1], "no choice"),
    ],
)
def test_each_reason(model, label, kept, expected, engine):
    expected = {"reaching": Reason.NOT_REACHING, "no choice": Reason.NO_CHOICE}.get(
        expected, expected
    )
    assert reason(model, np.array(label), np.array(kept, bool), engine) == expected


def test_the_count(engine):
    found = reference.mec(TWO_LOOPS)
    assert mdp.verify(TWO_LOOPS, found, engine=engine)
    missed, more = Reason.LABEL_OUT_OF_RANGE, Reason.WRONG_COUNT
    for count, expected in ((0, missed), (2, more), (9, more)):
        wrong = dataclasses.replace(found, count=np.int32(count))
        verdict = mdp.verify(TWO_LOOPS, wrong, engine=engine)
        assert int(verdict.reason) == expected


def test_wide_labels_do_not_wrap_round(engine):
    label = np.array([0, 2**32])
    assert reason(TWO_LOOPS, label, np.array(ALL), engine) == Reason.LABEL_OUT_OF_RANGE


def test_masks(engine):
    rng = np.random.default_rng(36)
    for model in tiny_models(seed=37, count=60):
        model = padded(model)
        masks = {"states": rng.random(8) < 0.8, "choices": rng.random(32) < 0.8}
        right = brute_force(model, **masks)
        assert reason(model, *right, engine, **masks) == Reason.OK
        whole = brute_force(model)
        same = all(np.array_equal(x, y) for x, y in zip(right, whole, strict=True))
        assert (reason(model, *whole, engine, **masks) == Reason.OK) == same


def test_larger_components(engine):
    model = generate.random_mdp(38, 500, reach=3)
    found = reference.mec(model)
    assert mdp.verify(model, found, engine=engine)
    # A component that is taken for none is overlooked.
    label = np.where(found.state_label == 0, -1, found.state_label - 1)
    kept = (
        found.choice_kept
        & (label >= 0)[np.repeat(np.arange(500), np.diff(model.row_group_offsets))]
    )
    label = np.where(label < -1, -1, label)
    assert reason(model, label, kept, engine) == Reason.NOT_MAXIMAL


def test_the_state_is_named():
    verdict = mdp.verify(TWO_LOOPS, ([0, 1], [1, 0, 1, 0]))
    assert str(verdict).startswith("state 0: it can be stayed with for ever")


def test_jit_and_vmap():
    models = [padded(model) for model in tiny_models(seed=39, count=12)]
    answers = [brute_force(model) for model in models]
    wrong = [(label, ~kept) for label, kept in answers]
    stacked = jax.tree.map(lambda *x: np.stack(x), *models)
    check = jax.jit(jax.vmap(lambda model, *answer: mdp.verify(model, answer).valid))
    for given, expected in ((answers, True), (wrong, False)):
        labels, kept = (np.stack(x) for x in zip(*given, strict=True))
        assert (np.asarray(check(stacked, labels, kept)) == expected).all()


def test_the_empty_model(engine):
    empty = MDP.from_arrays([0], [0], [])
    assert mdp.verify(empty, reference.mec(empty), engine=engine)


def test_bad_arguments():
    right = reference.mec(TWO_LOOPS)
    with pytest.raises(
        ValueError, match=r"labels must be integers, one for each state"
    ):
        mdp.verify(TWO_LOOPS, ([0], ALL))
    with pytest.raises(ValueError, match="labels must be integers"):
        mdp.verify(TWO_LOOPS, ([0.0, 0.0], ALL))
    with pytest.raises(ValueError, match="choice_kept must have 4 entries, got 3"):
        mdp.verify(TWO_LOOPS, ([0, 0], ALL[:3]))
    with pytest.raises(ValueError, match="engine must be 'auto', 'host' or 'device'"):
        mdp.verify(TWO_LOOPS, right, engine="gpu")  # pyright: ignore
    with pytest.raises(ValueError, match="engine='host' cannot run under tracing"):
        jax.jit(lambda m: mdp.verify(m, right, engine="host").valid)(TWO_LOOPS)
