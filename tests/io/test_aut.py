"""Aldebaran's text: what is read, written and refused."""

import re

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from random_models import check_that_damage_is_told

from jaxgames import Arena, io
from jaxgames.io import LTS, _lines

few = hypothesis.settings(deadline=None, max_examples=100)

TEXT = 'des (1, 4, 3)\n(0,"send(1,2)",1)\n(2,"",0)\n(1,"tau",1)\n(0,"send(1,2)",2)\n'


def transitions(lts: LTS) -> list:
    names = [lts.names[label] for label in lts.label]
    return list(zip(lts.arena.src.tolist(), names, lts.arena.dst.tolist(), strict=True))


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        (tmp_path / "system.aut").write_text(text)
        return tmp_path / "system.aut"

    return write


def test_example(write):
    lts = io.load(write(TEXT))
    assert repr(lts) == "LTS(3 states, 4 transitions, 3 labels)"
    assert (lts.initial, lts.names) == (1, ("send(1,2)", "", "tau"))
    assert lts.label.dtype == np.int32
    assert transitions(lts) == [
        (0, "send(1,2)", 1),
        (0, "send(1,2)", 2),
        (1, "tau", 1),
        (2, "", 0),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('(0,"a b",1)', (0, "a b", 1)),
        ("(0,a,1)", (0, "a", 1)),
        (" ( 0 , a b , 1 ) ", (0, "a b", 1)),
        ('(0, "a", 1)', (0, "a", 1)),
        ('(0,"",1)', (0, "", 1)),
        ("(0,,1)", (0, "", 1)),
        ('(0,",",1)', (0, ",", 1)),
        ('(0,"a"b"",1)', (0, 'a"b"', 1)),
        ('(0,",),(",1)', (0, ",),(", 1)),
        ('(0,",1)",1)', (0, ",1)", 1)),
        ('(0,",1),1)', (0, '",1)', 1)),
        ('(0,"é",1)', (0, "é", 1)),
        ('(0,",1)', (0, '"', 1)),
    ],
)
def test_labels(write, line, expected):
    assert transitions(io.load(write(f"des (0,1,2)\n{line}\n"))) == [expected]


@st.composite
def systems(draw):
    size = draw(st.integers(1, 6))
    state = st.integers(0, size - 1)
    text = st.text(
        st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"])
    )
    label = st.sampled_from(["a", "b", "i"]) | text
    edges = draw(st.lists(st.tuples(state, label, state), max_size=12))
    src, labels, dst = zip(*edges, strict=True) if edges else ([], [], [])
    return LTS.from_edges(src, labels, dst, num_states=size, initial=draw(state))


@few
@hypothesis.given(systems())
def test_any_system(tmp_path_factory, lts):
    path = tmp_path_factory.getbasetemp() / "any.aut"
    io.save(path, lts)
    again = io.load(path)
    assert transitions(again) == transitions(lts)
    assert (again.initial, again.num_states) == (lts.initial, lts.num_states)
    first = path.read_bytes()
    io.save(path, again)
    assert path.read_bytes() == first


@pytest.mark.parametrize("size", [1, 8, 30])
def test_stretches_of_any_size(write, monkeypatch, size):
    expected = transitions(io.load(write(TEXT)))
    monkeypatch.setattr(_lines, "_STRETCH_BYTES", size)
    monkeypatch.setattr(_lines, "_STRETCH_LINES", 2)
    path = write(TEXT)
    lts = io.load(path)
    assert transitions(lts) == expected
    io.save(path, lts)
    assert transitions(io.load(path)) == expected
    with pytest.raises(io.FormatError, match=r"aut:4: expected a state"):
        io.load(write(TEXT.replace('"tau",1', '"tau",3')))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed(tmp_path, write, suffix):
    lts = io.load(write(TEXT))
    io.save(tmp_path / f"other.aut{suffix}", lts)
    assert transitions(io.load(tmp_path / f"other.aut{suffix}")) == transitions(lts)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (TEXT, "", r": the file is empty"),
        ("des (1, 4, 3)", "parity 3;", r":1: expected 'des \(initial state, number of"),
        ("des (1, 4, 3)", "des (1, 4)", r":1: expected 'des \(initial state, number"),
        (
            "des (1, 4, 3)",
            "des (3, 4, 3)",
            r":1: expected an initial state from 0 to 2",
        ),
        ("des (1, 4, 3)", "des (0, 4, 0)", r":1: expected 1 to \d+ states"),
        ("des (1, 4, 3)", f"des (0, 4, {10**30})", r":1: expected 1 to \d+ states"),
        ("des (1, 4, 3)", "des (1, 5, 3)", r"announces 5 transitions, but there are 4"),
        ("des (1, 4, 3)", "des (1, 3, 3)", r"announces 3 transitions, but there are 4"),
        ("des (1, 4, 3)", "des (1, 4, 2)", r":3: expected a state .*1\), found '2'"),
        ('(2,"",0)', '2,"",0', r":3: expected '\(from,\"label\",to\)', found '2,"),
        ('(2,"",0)', '(2,"")', r":3: expected '\(from,\"label\",to\)', found"),
        ('(2,"",0)', '(2,"",)', r":3: expected a state .*, found ''"),
        ('(2,"",0)', '(,"",2)', r":3: expected a state .*, found ''"),
        ('(2,"",0)', '(2,"",0', r":3: expected '\(from,\"label\",to\)'"),
        ('(2,"",0)', '(-2,"",0)', r":3: expected a state .*, found '-2'"),
        ('(2,"",0)', '(2,"",0 1)', r":3: expected a state .*, found '0 1'"),
        ('(2,"",0)', f'(2,"",{"1" * 40})', r":3: expected a state .*, found '111"),
    ],
)
def test_refused(write, old, new, message):
    assert old in TEXT
    path = write(TEXT.replace(old, new))
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("seed", range(4))
def test_damage(tmp_path, seed):
    check_that_damage_is_told(tmp_path / "system.aut", TEXT.encode(), seed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [1], [0], ["a"], 1), "labels must be from 0 to 0"),
        (([0], [0, 0], [0], ["a"], 1), r"must have the same length, got \(1,\) and"),
        (([0], [0], [2], ["a"], 1), r"dst\[0\] is 2, expected a value from 0 to 0"),
        (([0], [0], [0], ["a"], 1, 1), "initial state must be from 0 to 0, got 1"),
        (([0.5], [0], [0], ["a"], 1), "src must be a list of integers, got float64"),
        (([0], [0.5], [0], ["a"], 1), "label must be a list of integers, got float"),
        (([[0]], [0], [0], ["a"], 1), r"got int64 of shape \(1, 1\)"),
    ],
)
def test_wrong_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        LTS.from_arrays(*arguments)


def test_states_are_not_rounded():
    with pytest.raises(ValueError, match="dst must be a list of integers, got float"):
        LTS.from_edges([0], ["a"], [1.5])


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "system.aut"
    with pytest.raises(ValueError, match=re.escape(r"cannot hold the label 'a\nb'")):
        io.save(path, LTS.from_edges([0], ["a\nb"], [0]))
    with pytest.raises(ValueError, match="needs an initial state, but the"):
        io.save(path, LTS.from_arrays([], [], [], [], 0))
    with pytest.raises(ValueError, match=".aut files hold an object of class LTS"):
        io.save(path, Arena.from_edges([0], [0], owner=[0]))
    assert not path.exists()
