"""PRISM's explicit files: both headers, labels and states beside, what is refused."""

import gzip

import hypothesis
import numpy as np
import pytest
from random_models import check_that_damage_is_told, equal, models, without

from jaxgames import io
from jaxgames.io import _lines, prism
from jaxgames.mdp import MDP

few = hypothesis.settings(deadline=None, max_examples=60)

PRISM = "2 3 4\n0 0 0 0.25\n0 0 1 0.75\n0 1 1 1 go\n1 0 1 1\n"
STORM = "mdp\n0 0 0 0.25\n0 0 1 0.75\n0 1 1 1 go\n1 0 1 1\n"
LABELS = '0="init" 1="deadlock" 2="goal"\n0: 0\n1: 2 1\n'
STORM_LABELS = "#DECLARATION\ninit deadlock\ngoal\n#END\n0 init\n1 goal deadlock\n"
STATES = "(x,done)\n0:(3,false)\n1:(-1,true)\n"


@pytest.fixture
def write(tmp_path):
    def write(text: str, suffix: str = ".tra"):
        (tmp_path / f"model{suffix}").write_text(text)
        return tmp_path / f"model{suffix}"

    return write


@pytest.mark.parametrize("text", [PRISM, STORM, STORM.replace("mdp", " MDP \n\n")])
@pytest.mark.parametrize("labels", [LABELS, STORM_LABELS])
def test_both_headers(write, text, labels):
    write(labels, ".lab")
    model = io.load(write(text))
    expected = MDP.from_arrays(
        [0, 2, 3],
        [0, 2, 3, 4],
        [0, 1, 1, 1],
        [0.25, 0.75, 1, 1],
        initial=[0],
        labels={"deadlock": [0, 1], "goal": [0, 1]},
        choice_labels={"go": [0, 1, 0]},
    )
    assert equal(model, expected)


@pytest.mark.parametrize("head", ["3 4\n", "dtmc\n"])
def test_chains(write, head):
    model = io.load(write(head + "1 1 1\n0 1 .5 a\n0 2 5e-1 a\n2 0 1\n"))
    assert model.row_group_offsets.tolist() == [0, 1, 2, 3]
    assert model.columns.tolist() == [1, 2, 1, 0]
    assert model.choice_labels["a"].tolist() == [True, False, False]
    assert (model.initial, model.labels) == (None, None)


def test_any_order(write):
    lines = PRISM.splitlines()
    for order in ([3, 4, 1, 2], [4, 3, 2, 1], [1, 4, 2, 3]):
        text = "\n".join([lines[0], *(lines[k] for k in order)])
        model = io.load(write(text))
        rows = np.split(model.columns, model.row_offsets[1:-1])
        assert [sorted(row.tolist()) for row in rows] == [[0, 1], [1], [1]]
        assert model.choice_labels["go"].tolist() == [False, True, False]


@few
@hypothesis.given(models(rewards=False))
@pytest.mark.parametrize("style", ["prism", "storm"])
def test_any_model(tmp_path_factory, style, model):
    path = tmp_path_factory.mktemp("any") / "any.tra"
    prism.save(path, model, style=style)
    sizes = f"{model.num_states} {model.num_choices} {model.num_branches}"
    head = path.read_text().partition("\n")[0]
    assert head == ("mdp" if style == "storm" else sizes)
    assert equal(io.load(path), model)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_compressed_with_its_labels(tmp_path, write, suffix):
    write(LABELS, ".lab")
    model = io.load(write(PRISM))
    io.save(tmp_path / f"other.tra{suffix}", model)
    assert (tmp_path / f"other.lab{suffix}").exists()
    assert equal(io.load(tmp_path / f"other.tra{suffix}"), model)
    if suffix == ".gz":  # labels may also lie beside it uncompressed
        packed = gzip.compress(PRISM.encode())
        (tmp_path / "model.tra.gz").write_bytes(packed)
        assert equal(io.load(tmp_path / "model.tra.gz"), model)


def test_labels_of_another_model_do_not_stay(tmp_path, write):
    write(LABELS, ".lab")
    model = io.load(write(PRISM))
    io.save(tmp_path / "model.tra", without(model, "labels", "initial"))
    again = io.load(tmp_path / "model.tra")
    assert (again.labels, again.initial.tolist()) == ({}, [])


def test_states_file(write):
    path = write(STATES, ".sta")
    values = prism.valuations(path)
    assert values["x"].tolist() == [3, -1]
    assert values["done"].tolist() == [False, True]
    assert io.load(write(STORM)).num_states == 2
    write(STATES + "2:(0,true)\n", ".sta")
    with pytest.raises(io.FormatError, match="state 2 has no choice"):
        io.load(write(STORM))
    write("(x,done)\n0:(3,false)\n", ".sta")
    with pytest.raises(io.FormatError, match="state 1 is beyond the last, 0"):
        io.load(write(STORM))


def test_stretches_of_any_size(write, monkeypatch):
    model = io.load(write(PRISM))
    for size in (1, 9, 20):
        monkeypatch.setattr(_lines, "_STRETCH_BYTES", size)
        assert np.array_equal(io.load(write(PRISM)).columns, model.columns)
        with pytest.raises(io.FormatError, match=r"model.tra:5: expected a state"):
            io.load(write(PRISM.replace("1 0 1 1", "x 0 1 1")))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 3 4\n", "", r":1: expected 'states choices transitions', .* found '0 0 0"),
        ("2 3 4", "ctmc", r":1: expected 'states choices.* 'mdp' or 'dtmc', found 'c"),
        ("2 3 4", "2 3 4 5", r":1: expected 'states choices transitions'"),
        ("2 3 4", "2 3 5", r"announces 5 transitions, but there are 4; was the file"),
        ("2 3 4", "2 4 4", r"announces 4 choices, but there are 3; was the file cut"),
        ("2 3 4", "3 3 4", r"state 2 has no choice"),
        ("2 3 4", "1 3 4", r":5: expected a state \(a number from 0 to 0\), found '1'"),
        ("2 3 4", "9999999999 3 4", r":1: expected a size"),
        ("0 0 1 0.75", "0 0 1", r":3: expected 'state choice target probability' and"),
        ("0 0 1 0.75", "0 0 1 0.75 a b", r":3: expected 'state choice target prob"),
        ("0 0 1 0.75", "0 0 1 x", r":3: expected a probability .*, found 'x'"),
        ("0 0 1 0.75", "0 0 1 inf", r":3: expected a probability .*, found 'inf'"),
        ("0 0 1 0.75", "0 0 1 -0.75", r":3: expected .* not negative, found '-0.75'"),
        ("0 0 1 0.75", "0 0 1 0.7", r":2: .* choice 0 of state 0 sum up to 0.95, exp"),
        ("0 0 1 0.75", "0 0.0 1 0.75", r":3: expected a choice .*, found '0.0'"),
        ("0 0 1 0.75", "0 0 2 0.75", r":3: expected a state .*, found '2'"),
        ("0 1 1 1 go", "0 2 1 1 go", r":4: choice 2 of state 0 comes without the one"),
        ("0 1 1 1 go", "0 0 1 1 go", r"announces 3 choices, but there are 2"),
        ("0 0 1 0.75", "0 0 1 0.75 b", r":3: choice 0 of state 0 has two different"),
        (PRISM, "", r": the file is empty"),
    ],
)
def test_refused(write, old, new, message):
    assert old in PRISM
    path = write(PRISM.replace(old, new))
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"model.lab: the file is empty"),
        ("init\n", r"model.lab:1: expected '0=\"init\" 1=...' or '#DECLARATION'"),
        ("#DECLARATION\ninit\n", r"model.lab:1: expected '#END' after"),
        (LABELS + "2: 1\n", r"model.lab:4: expected a state .*0 to 1\), found '2'"),
        (LABELS + "x: 1\n", r"model.lab:4: expected a state .*, found 'x'"),
        (LABELS + "1: 7\n", r"model.lab:4: label '7' is not declared"),
        (STORM_LABELS + "1 best\n", r"model.lab:7: label 'best' is not declared"),
    ],
)
def test_labels_refused(write, text, message):
    write(text, ".lab")
    with pytest.raises(io.FormatError, match=message):
        io.load(write(PRISM))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r":1: expected '\(variable,...\)', found the end of the file"),
        ("x,y\n", r":1: expected '\(variable,...\)', found 'x,y'"),
        ("(x)\n1:(0)\n", r":2: expected '0:\(value,...\)', found '1:\(0\)'"),
        ("(x)\n\n0:(0,1)\n", r":3: expected 1 values, found '0,1'"),
        ("(x)\n0:(a)\n", r":2: expected integers, true or false, found 'a'"),
    ],
)
def test_states_refused(write, text, message):
    with pytest.raises(io.FormatError, match=message):
        prism.valuations(write(text, ".sta"))


@pytest.mark.parametrize("text", [PRISM, STORM])
@pytest.mark.parametrize("seed", range(3))
def test_damage(tmp_path, text, seed):
    check_that_damage_is_told(tmp_path / "model.tra", text.encode(), seed)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "model.tra"
    arrays = [0, 1], [0, 1], [0]
    for what, message in (
        ({}, ".tra needs probabilities, this model has none; .umb can"),
        ({"probs": [1], "labels": {'a"': [1]}}, ".lab cannot hold the name 'a\"'"),
        ({"probs": [1], "choice_labels": {"a b": [1]}}, ".tra cannot hold the name"),
    ):
        with pytest.raises(ValueError, match=message):
            io.save(path, MDP.from_arrays(*arrays, **what))
    with pytest.raises(ValueError, match="style must be 'prism' or 'storm'"):
        prism.save(path, MDP.from_arrays(*arrays, [1]), style="mrmc")
    assert not any(tmp_path.iterdir())
