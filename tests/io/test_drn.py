"""Storm's DRN: read by us and by a plain reader, written, refused."""

import contextlib
import re
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from random_models import (
    ODD,
    WORDS,
    check_that_damage_is_told,
    equal,
    models,
    without,
)

from jaxgames import io
from jaxgames.io import _lines, drn
from jaxgames.mdp import MDP

few = hypothesis.settings(deadline=None, max_examples=40)

TEXT = """\
// Exported by storm
// Original model type: MDP
@type: MDP
@value_type: double
@parameters

@reward_models
steps cost
@nr_states
3
@nr_choices
4
@model
state 0 [0, 2.5] init "a"
	action go [1, 0]
		0 : 0.5
		1 : 5e-1
	action __NOLABEL__ [0, 0]
		2 : 1
// a comment
state 1 [0, 0]
	action stay [0, 1]
		1 : 1
state 2 [0, 1] a b

	action 0 [0, 0]
		2 : 1
"""


def plain(text: str) -> dict:
    """The reader that one would write first: a line after the other."""
    found = {"init": [], "labels": {}, "groups": [], "rows": [], "actions": []}
    body = text.partition("@model\n")[2]
    for line in body.splitlines():
        words = re.sub(r"\[.*?\]|\"", "", line.partition("//")[0]).split()
        if not words:
            continue
        if words[0] == "state":
            state = int(words[1])
            for label in words[2:]:
                found["labels"].setdefault(label, []).append(state)
            found["groups"].append(0)
        elif words[0] == "action":
            found["groups"][-1] += 1
            found["actions"].append(words[1])
            found["rows"].append([])
        else:
            found["rows"][-1].append((int(words[0]), float(words[2])))
    return found


def agrees(model: MDP, found: dict) -> bool:
    pairs = [pair for row in found["rows"] for pair in row]
    named = {} if model.labels is None else model.labels
    labels = {name: np.flatnonzero(x).tolist() for name, x in named.items() if x.any()}
    if model.initial is not None and len(model.initial):
        labels["init"] = model.initial.tolist()
    return (
        np.diff(model.row_group_offsets).tolist() == found["groups"]
        and np.diff(model.row_offsets).tolist() == [len(row) for row in found["rows"]]
        and list(zip(model.columns.tolist(), model.probs.tolist(), strict=True))
        == pairs
        and labels == found["labels"]
    )


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        (tmp_path / "model.drn").write_text(text)
        return tmp_path / "model.drn"

    return write


def test_example(write):
    model = io.load(write(TEXT))
    assert agrees(model, plain(TEXT))
    assert model.initial.tolist() == [0]
    sets = {name: x.tolist() for name, x in model.choice_labels.items()}
    assert sets == {"go": [1, 0, 0, 0], "stay": [0, 0, 1, 0]}
    assert model.choice_rewards["steps"].tolist() == [1, 0, 0, 0]
    assert model.choice_rewards["cost"].tolist() == [0, 0, 1, 0]
    assert {k: x.tolist() for k, x in model.state_rewards.items()} == {
        "cost": [2.5, 0, 1]
    }


def test_chains_fractions_and_no_names(write):
    text = "@type: DTMC\n@value_type: rational\n@nr_states\n2\n@model\n"
    text += "state 0 [3]\naction 0 [1]\n0 : 1/3\n1 : 2/3\nstate 1\naction 0\n1 : 1\n"
    model = io.load(write(text))
    assert model.probs.tolist() == [1 / 3, 2 / 3, 1]
    assert (model.choice_labels, model.labels, model.initial) == (None, None, None)
    assert model.state_rewards[""].tolist() == [3, 0]
    assert model.choice_rewards[""].tolist() == [1, 0]


def told(model: MDP):
    """Labels that are nowhere are left out, and of that there is a warning."""
    nowhere = any(not x.any() for x in (model.labels or {}).values())
    if nowhere:
        return pytest.warns(
            UserWarning, match="left out: label .*, which holds nowhere"
        )
    return contextlib.nullcontext()


@few
@hypothesis.given(
    models()
    | models(names=(*WORDS, *ODD), rewards=False, variables=True)
    | models(intervals=True)
)
def test_any_model(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "any.drn"
    with told(model):
        io.save(path, model)
    again = io.load(path)
    if model.lower is None and not set(model.labels or {}) & set(ODD):
        assert agrees(again, plain(path.read_text()))
    # All rewards are written for states and choices, and zeros may be left out.
    named = {**(model.state_rewards or {}), **(model.choice_rewards or {})}
    for kind, size in (("state_rewards", "states"), ("choice_rewards", "choices")):
        for name in named:
            zeros = np.zeros(getattr(model, f"num_{size}"))
            x, y = ((getattr(m, kind) or {}).get(name, zeros) for m in (model, again))
            assert np.array_equal(x, y)
    if len(model.initial) == 0:
        assert again.initial is None
        model = without(model, "initial")
    assert equal(again, model, empty_sets=False, rewards=False)


def test_labels_that_storm_quotes(write):
    name = "((l = 4) & (ip = 1))"
    model = io.load(write(TEXT.replace('init "a"', f'init "{name}" !x "[b] {{c}}"')))
    assert list(model.labels) == ["!x", name, "[b] {c}", "a", "b"]
    path = write("")
    io.save(path, model)
    assert f' init "!x" "{name}" "[b] {{c}}"\n' in path.read_text()
    assert equal(io.load(path), model)


def test_values_as_storm_writes_them(write):
    lines = TEXT.splitlines()
    comments = ["//[x=1\t& !b\t& \t& y=0.5]", "//[x=-2\t& \t& c\t& y=3]"]
    comments.append("//[x=0\t& !b\t& !c\t& y=1]")
    for text in comments:
        at = next(k for k, x in enumerate(lines) if x.startswith("state"))
        lines[at : at + 1] = ["", lines[at].replace("state", " state"), text]
    model = io.load(write("\n".join(lines)))
    assert {name: x.tolist() for name, x in model.valuations.items()} == {
        "x": [1, -2, 0],
        "b": [False, True, False],
        "c": [True, True, False],
        "y": [0.5, 3, 1],
    }
    # Where a state has no such comment, or another one, they are only comments.
    for old, new in (("//[x=1", "// x=1"), ("y=3", "y=a"), ("y=3]", "y=3\t& z]")):
        text = "\n".join(lines)
        assert old in text
        assert io.load(write(text.replace(old, new))).valuations is None
    nameless = "\n".join(lines).replace("!c", "")
    nameless = nameless.replace("& c", "& ")
    with pytest.warns(UserWarning, match="left out: a variable that is always true"):
        found = io.load(write(nameless)).valuations
    assert set(found) == {"x", "b", "y"}


def test_what_is_left_out_is_told(tmp_path):
    arrays = [0, 1], [0, 1], [0], [1]
    model = MDP.from_arrays(
        *arrays,
        labels={"never": [0]},
        choice_labels={"no": [0]},
        branch_rewards={"r": [1], "zero": [0]},
        valuations={"a b": [1], "x": [2]},
    )
    told = "label 'never', .* 'no' of choices, .* rewards 'r' of branches, .*'a b' .DRN"
    with pytest.warns(UserWarning, match=told):
        io.save(tmp_path / "a.drn", model)
    assert list(io.load(tmp_path / "a.drn").valuations) == ["x"]
    io.save(tmp_path / "a.drn", MDP.from_arrays(*arrays, branch_rewards={"zero": [0]}))
    other = MDP.from_arrays(*arrays, initial=[], labels={"init": [1]})
    with pytest.warns(UserWarning, match="left out: label 'init' .there it marks"):
        io.save(tmp_path / "a.drn", other)


def test_rewards_that_are_intervals(write):
    text = TEXT.replace("[0, 2.5]", "[[0, 0], [2.5, 2.5]]")
    assert equal(io.load(write(text)), io.load(write(TEXT)))
    text = TEXT.replace("[0, 2.5]", "[[0, 0], [2, 2.5]]")
    with pytest.warns(UserWarning, match="left out: rewards 'cost', which are int"):
        model = io.load(write(text))
    assert (model.state_rewards, list(model.choice_rewards)) == (None, ["steps"])


PUBLISHED = Path(__file__).parents[3] / "shared/data/public/mdp-quantitative/intervals"


@pytest.mark.skipif(not PUBLISHED.exists(), reason="no published files")
@pytest.mark.parametrize("name", ["robot_int.drn", "coin2_int.drn", "brp_int.drn.gz"])
def test_published_intervals(name, tmp_path):
    model = io.load(PUBLISHED / name)
    other = io.load(PUBLISHED / f"{name.partition('.')[0]}.umb")
    assert np.allclose(model.lower, other.lower, rtol=1e-9)  # Storm rounds them
    assert np.allclose(model.upper, other.upper, rtol=1e-9)
    assert np.array_equal(model.columns, other.columns)
    assert set(model.valuations) <= set(other.valuations)
    for variable, values in model.valuations.items():
        assert np.array_equal(values, other.valuations[variable])
    io.save(tmp_path / "a.drn", model)
    assert equal(io.load(tmp_path / "a.drn"), model)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_stretches_of_any_size(write, monkeypatch, size):
    model = io.load(write(TEXT))
    monkeypatch.setattr(_lines, "_STRETCH_BYTES", size)
    path = write(TEXT)
    assert equal(io.load(path), model)
    monkeypatch.setattr(drn, "_STATES_AT_ONCE", 2)
    io.save(path, model)
    assert equal(io.load(path), model)
    path.write_text(TEXT.replace("2 : 1\n// a", "2 : x\n// a"))
    with pytest.raises(io.FormatError, match=r"model.drn:19: .*found 'x'"):
        io.load(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_compressed(tmp_path, write, suffix):
    model = io.load(write(TEXT))
    io.save(tmp_path / f"b.drn{suffix}", model)
    assert equal(io.load(tmp_path / f"b.drn{suffix}"), model)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "@type: MDP",
            "@type: MA",
            r":3: expected @type MDP or DTMC or CTMC, found 'MA'",
        ),
        ("@type: MDP", "@type:", r":3: expected @type MDP or DTMC or CTMC, found ''"),
        ("@type: MDP\n", "", r":12: expected section '@type' before '@model'"),
        ("@nr_states\n3\n", "", r":11: expected section '@nr_states' before"),
        (
            "@type: MDP",
            "hello",
            r":3: expected '@type: MDP', DTMC or CTMC, found 'hello'",
        ),
        ("double", "parametric", r":4: expected @value_type double or rational"),
        ("@parameters\n\n", "@parameters\np q\n", r":6: models with parameters are"),
        ("@model", "@placeholders\n$x : 1\n@model", r":14: models with placeholders"),
        ("@model", "", r": the file has no section '@model'|expected"),
        ("states\n3", "states\nthree", r"section '@nr_states', found 'three'"),
        ("states\n3", "states\n", r"section '@nr_states', found ''"),
        ("states\n3", "states\n4", r"announces 4 states, but there are 3; was the"),
        ("states\n3", "states\n2", r":\d+: expected a (target|state)"),
        ("choices\n4", "choices\n5", r"announces 5 choices, but there are 4; was the"),
        ("state 1", "state 2", r":21: expected state 1: states come in order, found"),
        ("state 1", "state x", r":21: expected a state \(a number from 0 to 2\), foun"),
        ("state 1", "State 1", r":21: expected 'state', 'action' or 'target : prob"),
        ("state 1 [0, 0]", "state", r":21: expected a name after 'state'"),
        ("\taction stay [0, 1]\n", "", r":21: expected an action after this state"),
        ("\t\t2 : 1\n//", "//", r":18: expected a transition, .* after this action"),
        ("2 : 1\n// a", "2 : 1\n 2\n// a", r":20: expected 'state', 'action' or"),
        ("1 : 5e-1", "3 : 5e-1", r":17: expected a target \(a number from 0 to 2\)"),
        ("1 : 5e-1", "-1 : 5e-1", r":17: expected a target .* found '-1'"),
        ("1 : 5e-1", "1 = 5e-1", r":17: expected .*'target : probability', found '1 ="),
        ("1 : 5e-1", "1 : half", r":17: expected a probability .*, found 'half'"),
        ("1 : 5e-1", "1 : nan", r":17: expected a probability .*, found 'nan'"),
        ("1 : 5e-1", "1 : 1e", r":17: expected a probability .*, found '1e'"),
        ("1 : 5e-1", "1 : 1/0", r":17: expected a probability .*, found '1/0'"),
        ("1 : 5e-1", "1 : -0.5", r":17: expected .* not negative, found '-0.5'"),
        ("1 : 5e-1", "1 : [0.1, 0.2]", r"bounds of choice 0 .* sum up to 0.6 and 0.7"),
        ("1 : 5e-1", "1 : [0.1, x]", r":17: expected a probability \(a number, or '\["),
        ("1 : 5e-1", "1 : [0.1 0.2]", r":17: expected a probability \(a number, or"),
        ("1 : 5e-1", "1 : [0.5, 0.6", r":17: expected a probability \(a number, or"),
        ("[0, 2.5]", "[[0, x], 1]", r":14: expected rewards, found"),
        ("[0, 2.5]", "[[0], [1, 2], 1]", r":14: expected 2 rewards, found 3"),
        ("1 : 5e-1", "1 : 0.6", r":16: .* of choice 0 of state 0 sum up to 1.1, exp"),
        ("[0, 2.5]", "[0]", r":14: expected 2 rewards, found 1"),
        ("[0, 2.5]", "[0, x]", r":14: expected rewards, found '\[0, x\]'"),
        ("[0, 2.5]", "[0, 2.5", r":14: expected '\[rewards\]' and labels, found '\["),
        ("state 0 [", "state 0 {1} [", r":14: expected '\[rewards\]' and labels"),
        ("state 0 [", "state 0 !2.5 [", r":14: expected '\[rewards\]' and labels"),
        ("state 0", "0 : 1\nstate 0", r":14: expected 'state 0' before this"),
        ("action 0 [0, 0]\n\t\t2 : 1\n", "", r":24: expected an action after this st"),
        ("\t\t2 : 1\n", "", r"expected a transition"),
    ],
)
def test_refused(write, old, new, message):
    assert old in TEXT
    path = write(TEXT.replace(old, new))
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(path))


def test_a_chain_is_written_as_one(tmp_path):
    arrays = [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]
    chain = MDP.from_arrays(*arrays, choice_labels={"go": [True, False]})
    io.save(tmp_path / "a.drn", chain)
    assert (tmp_path / "a.drn").read_text().startswith("@type: DTMC\n")
    assert equal(io.load(tmp_path / "a.drn"), chain)


def test_a_chain_has_one_choice_each(write):
    text = TEXT.replace("@type: MDP", "@type: DTMC")
    with pytest.raises(io.FormatError, match="announces 3 choices, but there are 4"):
        io.load(write(text))


def test_cut_off_anywhere(write):
    whole = io.load(write(TEXT))
    for length in range(len(TEXT) - 1):
        try:
            model = io.load(write(TEXT[:length]))
        except io.FormatError:
            continue
        assert equal(model, whole)  # only the last line end was cut off
        assert length >= len(TEXT) - 2


@pytest.mark.parametrize("seed", range(6))
def test_damage(tmp_path, seed):
    check_that_damage_is_told(tmp_path / "model.drn", TEXT.encode(), seed)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "model.drn"
    arrays = [0, 1], [0, 1], [0]
    for what, message in (
        ({}, "DRN needs probabilities, this model has none; .umb can"),
        (
            {"probs": [1], "labels": {'a "b"': [1]}},
            "DRN cannot hold the name 'a \"b\"'",
        ),
        ({"probs": [1], "labels": {"a\nb": [1]}}, r"DRN cannot hold the name 'a.*nb'"),
        ({"probs": [1], "choice_labels": {"7": [1]}}, "reads the choice label '7' as"),
        ({"probs": [1], "choice_labels": {"": [1]}}, "DRN cannot hold the name ''"),
        (
            {"probs": [1], "choice_labels": {"a": [1], "b": [1]}},
            "choice 0 has the labels 'a' and 'b'; DRN holds one for each choice",
        ),
        (
            {"probs": [1], "state_rewards": {"": [1], "b": [1]}},
            "a reward without a name beside others",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            io.save(path, MDP.from_arrays(*arrays, **what))
    assert not path.exists()
