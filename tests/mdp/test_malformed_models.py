"""What is no model is refused, and no check takes an answer for granted."""

import dataclasses
import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxgames import Status, mdp, solve_many
from jaxgames.verdict import NO_PROBLEM

MODEL = mdp.MDP.from_arrays(
    [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2], [1, 0.5, 0.5, 1, 1], initial=[0]
).pad(4, 6, 8)
FIRST = np.arange(4) == 0


def changed(name, place, value):
    """The model with another entry in a field, as a new object."""
    values = np.array(getattr(MODEL, name))
    values[place] = value
    return dataclasses.replace(MODEL, **{name: values})


BY_VALUE = {
    "target-negative": (changed("columns", 1, -1), r"columns\[1\] is -1"),
    "target-too-large": (changed("columns", 1, 4), r"columns\[1\] is 4"),
    "target-far-out": (changed("columns", 1, 2**31 - 1), r"columns\[1\] is 2147483647"),
    "groups-begin-late": (changed("row_group_offsets", 0, 1), r"offsets\[0\] is 1"),
    "groups-fall": (changed("row_group_offsets", 1, 4), r"row_group_offsets\[2\] is 3"),
    "groups-end-late": (changed("row_group_offsets", 4, 7), r"offsets\[4\] is 7"),
    "rows-fall": (changed("row_offsets", 2, 9), r"row_offsets\[3\] is 4"),
    "rows-end-late": (changed("row_offsets", 6, 99), r"row_offsets\[6\] is 99"),
    "no-branches": (
        changed("row_offsets", 1, 0),
        r"choice 0 \(number 0 of state 0\) has no",
    ),
    "no-such-state": (changed("initial", 0, 4), r"initial\[0\] is 4"),
    "no-number": (changed("probs", 0, np.nan), r"probs\[0\] is nan"),
    "negative": (changed("probs", 0, -1), r"probs\[0\] is -1"),
    "more-than-one": (changed("probs", 0, 2), r"probs\[0\] is 2"),
    "infinite": (changed("probs", 0, np.inf), r"probs\[0\] is inf"),
}
BY_SHAPE = {
    "columns-float": ({"columns": np.zeros(8)}, "columns must hold integers"),
    "columns-of-two-axes": ({"columns": np.zeros((2, 8), np.int32)}, "one model|axes"),
    "rows-float": ({"row_offsets": np.zeros(7)}, "row_offsets must hold integers"),
    "groups-missing": ({"row_group_offsets": None}, "row_group_offsets must hold"),
    "probs-too-short": ({"probs": np.ones(7)}, "probs must have shape"),
    "labels-too-short": ({"labels": {"a": np.ones(3, bool)}}, r"labels\['a'\] must"),
}
DOORS = {
    "mec": mdp.mec,
    "mec-host": lambda model: mdp.mec(model, "host"),
    "mec-race": lambda model: mdp.mec(model, "race"),
    "mec-basic": lambda model: mdp.mec(model, "basic"),
    "mec-interleaved": lambda model: mdp.mec(model, "interleaved"),
    "reference": mdp.reference.mec,
    "verify-host": lambda model: mdp.verify(model, RIGHT, engine="host"),
    "verify-device": lambda model: mdp.verify(model, RIGHT, engine="device"),
    "prob0": lambda model: mdp.prob0(model, [2]),
    "prob1-device": lambda model: mdp.prob1(model, [2], engine="device"),
    "prob1-host": lambda model: mdp.prob1(model, [2], engine="host"),
    "reach": lambda model: mdp.reach_probability(model, [2]),
    "almost": lambda model: mdp.almost_sure_buchi(model, [2]),
    "quotient": lambda model: mdp.quotient(model, RIGHT),
    "solve_many": lambda model: solve_many("mec", [model]),
}
RIGHT = mdp.mec(MODEL)


def complaint_of(door, *args) -> str:
    """What a front door says in the ValueError that it raises."""
    try:
        return f"taken: {door(*args)!r}"
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_model_is_refused_by_name(door):
    for name, (model, message) in BY_VALUE.items():
        said = complaint_of(DOORS[door], dataclasses.replace(model))
        assert re.search(message, said), f"{name}: {said}"


@pytest.mark.parametrize("door", ["mec", "prob0"])
def test_wrong_shapes_are_refused_while_tracing_too(door):
    for name, (change, message) in BY_SHAPE.items():
        model = dataclasses.replace(MODEL, **change)
        for said in (
            complaint_of(DOORS[door], model),
            complaint_of(jax.eval_shape, DOORS[door], model),
        ):
            assert re.search(message, said), f"{name}: {said}"


def test_probabilities_sum_up_to_one():
    wrong = changed("probs", 1, 0.25)
    with pytest.raises(ValueError, match=r"choice 1 \(.*\) sum up to 0.75"):
        mdp.reach_probability(wrong, [2])


def stack():
    """The right model, and after it all that are none."""
    models = [MODEL, *(model for model, _ in BY_VALUE.values())]
    return jax.tree.map(lambda *rows: np.stack(rows), *models)


@pytest.mark.parametrize("solver", ["interleaved", "basic"])
def test_under_vmap_what_is_no_model_is_invalid_alone(solver):
    found = jax.jit(jax.vmap(lambda model: mdp.mec(model, solver)))(stack())
    assert found.status.tolist() == [Status.SOLVED] + [Status.INVALID] * len(BY_VALUE)
    np.testing.assert_array_equal(found.state_label[0], RIGHT.state_label)
    assert (found.state_label[1:] == -1).all()
    assert not found.choice_kept[1:].any()
    assert not found.count[1:].any()


def test_nothing_holds_of_what_is_no_model():
    verdict = jax.jit(jax.vmap(lambda model: mdp.verify(model, RIGHT)))(stack())
    assert verdict.valid.tolist() == [True] + [False] * len(BY_VALUE)
    assert (verdict.reason[1:] == NO_PROBLEM).all()
    for question in (mdp.prob0, mdp.prob1):
        ask = jax.jit(jax.vmap(lambda model, ask=question: ask(model, FIRST)))
        states = ask(stack()).states
        np.testing.assert_array_equal(states[0], question(MODEL, FIRST).states)
        assert not states[1:].any()


def test_a_bad_model_of_a_stack_is_named():
    right = jax.tree.map(lambda x: x[:1], stack())
    assert solve_many("mec", right).status.tolist() == [0]
    with pytest.raises(ValueError, match=r"game 1: columns\[1\] is -1"):
        solve_many("mec", stack())


@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 1000, 2**40, -1, -2])
def test_no_wrong_count_is_valid(engine, count):
    label, kept = np.asarray(RIGHT.state_label), np.asarray(RIGHT.choice_kept)
    claim = SimpleNamespace(state_label=label, choice_kept=kept, count=2)
    assert mdp.verify(MODEL, claim, engine=engine)
    claim.count = count
    assert not mdp.verify(MODEL, claim, engine=engine)
    claim.state_label = np.where(label == 1, np.int64(max(count - 1, 0)), label)
    assert not mdp.verify(MODEL, claim, engine=engine)


@pytest.mark.parametrize("engine", ["host", "device"])
def test_no_malformed_labels_are_valid(engine):
    label, kept = np.asarray(RIGHT.state_label), np.asarray(RIGHT.choice_kept)
    for wrong in (label[:-1], label.astype(float), label.astype(np.uint64)):
        with pytest.raises(ValueError, match="labels must be integers"):
            mdp.verify(MODEL, (wrong, kept), engine=engine)
    for value in (-2, 4, 10**6, 2**40, -(2**40), 2**32):
        changed = label.astype(np.int64)
        changed[0] = value
        assert not mdp.verify(MODEL, (changed, kept), engine=engine)
