"""Transition systems as CSV and as Graphviz text: read, written and refused."""

import numpy as np
import pytest

from jaxgames import io
from jaxgames.io import LTS


def transitions(lts: LTS) -> list:
    names = [lts.names[label] for label in lts.label]
    return list(zip(lts.arena.src.tolist(), names, lts.arena.dst.tolist(), strict=True))


LABELS = ["a", "b, c", 'say "x"', "", "é", "back\\slash", "r1(in(d1))", "two\nlines"]


def random_lts(seed: int) -> LTS:
    draw = np.random.default_rng(seed)
    states, count = int(draw.integers(1, 8)), int(draw.integers(1, 20))
    source, target = draw.integers(0, states, (2, count))
    target[0] = states - 1
    labels = [LABELS[i] for i in draw.integers(0, len(LABELS), count)]
    return LTS.from_edges(source, labels, target, num_states=states)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".dot", ".dot.xz"])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_read(suffix, seed, tmp_path):
    lts = random_lts(seed)
    io.save(tmp_path / f"system{suffix}", lts)
    again = io.load(tmp_path / f"system{suffix}")
    assert isinstance(again, LTS)
    assert transitions(again) == transitions(lts)
    assert (again.num_states, again.initial) == (lts.num_states, lts.initial)


def test_states_without_transitions_and_the_initial_one_are_kept_as_dot(tmp_path):
    lts = LTS.from_edges([1], ["a"], [0], num_states=4, initial=1)
    io.save(tmp_path / "system.dot", lts)
    again = io.load(tmp_path / "system.dot")
    assert isinstance(again, LTS)
    assert (again.num_states, again.initial) == (4, 1)
    with pytest.raises(ValueError, match="whose initial state is 0"):
        io.save(tmp_path / "system.csv", lts)
    with pytest.raises(ValueError, match="whose last state has transitions"):
        io.save(tmp_path / "s.csv", LTS.from_edges([0], ["a"], [0], num_states=2))
    assert not (tmp_path / "system.csv").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1,a\n\n1,0,b\n", [(0, "a", 1), (1, "b", 0)]),
        ("0,1,a\r\n1,0,b", [(0, "a", 1), (1, "b", 0)]),
        (' 0 , 1 ,"x,y"', None),
        ('2,0,"x,""y"""\n', [(2, 'x,"y"', 0)]),
        ('0,0,"one\ntwo"\n0,0,z\n', [(0, "one\ntwo", 0), (0, "z", 0)]),
    ],
)
def test_csv(text, expected, tmp_path):
    path = tmp_path / "system.csv"
    path.write_text(text)
    found = io.load(path)
    assert isinstance(found, LTS)
    assert transitions(found) == (expected or [(0, "x,y", 1)])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0,1,a\n1,2\n", 2, "expected 'from,to,label', found 2 fields: '1,2'"),
        ("0,1,a\n\n1,2,b,c\n", 3, "found 4 fields"),
        ("0,x,a\n", 1, "expected a state (a number from 0 to "),
        ("-1,0,a\n", 1, "found '-1'"),
        ("0,99999999999999999999,a\n", 1, "found '99999999999999999999'"),
        ('0,0,"one\ntwo"\n0,0\n', 3, "found 2 fields"),
        ('0,1,a\n0,1,"open\n', 2, "broken CSV: "),
        ('0,1,"a"b\n', 1, "broken CSV: "),
        ("", None, "the file has no transitions"),
    ],
)
def test_broken_csv(text, line, message, tmp_path):
    path = tmp_path / "system.csv"
    path.write_text(text)
    with pytest.raises(io.FormatError) as caught:
        io.load(path)
    assert caught.value.line == line
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('digraph {\n0 -> 1 [label="a"]\n}\n', [(0, "a", 1)]),
        ("digraph g {\n  0 -> 1 [label=a, color=red]; 1 -> 0;\n}", None),
        (
            'strict digraph "x y" {\n// note\n\nrankdir=LR;\nnode [shape=box];\n'
            '3 [label="s", shape=circle];\n'
            '"0" -> "3" [color="red", label="p;q\\"]"];\n}',
            [(0, 'p;q"]', 3)],
        ),
    ],
)
def test_dot(text, expected, tmp_path):
    path = tmp_path / "system.dot"
    path.write_text(text)
    found = io.load(path)
    assert isinstance(found, LTS)
    assert transitions(found) == (expected or [(0, "a", 1), (1, "", 0)])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("graph {\n0 -- 1;\n}", 1, "expected 'digraph name {', found 'graph {'"),
        ("digraph {\n0 -> a;\n}", 2, "found '0 -> a'"),
        ("digraph {\n0 -> 1 -> 2;\n}", 2, "found '0 -> 1 -> 2'"),
        ("digraph {\nsubgraph x {\n}", 2, "found 'subgraph x {'"),
        ("digraph {\n0 -> 999999999999;\n}", 2, "expected a state below"),
        ("digraph {\n0 -> 1;\n", None, "was the file cut off?"),
        ("digraph {\n0 -> 1;\n}\nmore", 4, "expected no more, found 'more'"),
        ("digraph {\ninitial=2;\n0 -> 1;\n}", None, "initial state 2 does not occur"),
    ],
)
def test_broken_dot(text, line, message, tmp_path):
    path = tmp_path / "system.dot"
    path.write_text(text)
    with pytest.raises(io.FormatError) as caught:
        io.load(path)
    assert caught.value.line == line
    assert message in caught.value.message
