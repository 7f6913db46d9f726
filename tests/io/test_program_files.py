"""Files in PRISM's language: read, written, and recognised by what they begin with."""

import gzip

import numpy as np
import pytest

from jaxgames import io, mdp

COIN = """// a coin
dtmc
const double p = 1/4;
module coin
  x : [0..2];
  [] x=0 -> p : (x'=1) + 1-p : (x'=2);
  [] x>0 -> true;
endmodule
label "heads" = x=1;
rewards "tosses" x=0 : 1; endrewards
"""


@pytest.mark.parametrize("name", ["a.prism", "a.pm", "a.nm", "a.sm", "a.nm.gz", "a"])
def test_files_are_read_by_suffix_or_content(tmp_path, name):
    path = tmp_path / name
    packed = gzip.compress(COIN.encode())
    path.write_bytes(packed if name.endswith(".gz") else COIN.encode())
    model = io.load(path)
    assert isinstance(model, mdp.MDP)
    assert model.probs.tolist() == [0.25, 0.75, 1, 1]
    assert model.labels["heads"].tolist() == [False, True, False]


def test_what_is_wrong_names_the_file_and_the_line(tmp_path):
    path = tmp_path / "coin.pm"
    path.write_text(COIN.replace("x>0", "y>0"))
    with pytest.raises(io.FormatError, match=r"coin.pm:7: column 6: nothing is called"):
        io.load(path)
    path.write_text(COIN.replace("= 1/4", ""))
    with pytest.raises(io.FormatError, match="the constant p has no value"):
        io.load(path)
    model = io.program.load(path, constants={"p": 0.5})
    assert model.probs[0] == 0.5


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "a.prism"
    model = mdp.MDP.from_arrays(
        *([0, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 0, 1, 2], [0.1, 0.9, 1, 1, 1]),
        initial=[0, 2],
        labels={"goal": [0, 1, 1], "none": [0, 0, 0]},
        choice_labels={"go": [1, 0, 0, 0], "stay": [0, 1, 0, 0]},
        state_rewards={"cost": [0.1, 0, 2]},
        choice_rewards={"cost": [0, 5, 0, 0]},
    )
    io.save(path, model)
    again = io.load(path)
    for name in ("row_group_offsets", "row_offsets", "columns", "probs", "initial"):
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    for name in ("labels", "choice_labels", "state_rewards", "choice_rewards"):
        for key, values in getattr(model, name).items():
            assert np.array_equal(getattr(again, name)[key], values), (name, key)


def test_what_a_program_cannot_hold_is_told(tmp_path):
    model = mdp.MDP.from_arrays(
        *([0, 2], [0, 1, 2], [0, 0], [1, 1]), choice_rewards={"": [1, 2]}
    )
    with pytest.raises(ValueError, match="no action that tells them apart"):
        io.save(tmp_path / "a.prism", model)
    model = mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1], valuations={"x": [3]})
    with pytest.warns(UserWarning, match="variable 'x'"):
        io.save(tmp_path / "a.prism", model)


MARKOV_AUTOMATON = """ma
module m
  s : [0..1] init 0;
  <> s=0 -> 2 : (s'=1);
endmodule
"""


@pytest.mark.parametrize("name", ["a.ma", "a.prism", "a", "a.ma.gz"])
def test_other_kinds_of_programs_are_named(tmp_path, name):
    path = tmp_path / name
    data = MARKOV_AUTOMATON.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(io.FormatError) as caught:
        io.load(path)
    assert caught.value.line == 1
    assert "not supported: Markov automata; a dtmc, a ctmc or an mdp is" in str(
        caught.value
    )


@pytest.mark.parametrize(("suffix", "what"), [
    (".ma", "Markov automata are not read; models are read from .umb"),
    (".jani", "models in JANI are not read"),
])  # fmt: skip
def test_what_others_read_is_told(tmp_path, suffix, what):
    path = tmp_path / f"a{suffix}"
    path.write_text("#INITIALS\ns0\n#TRANSITIONS\ns0 a\n* s1 1\n")
    with pytest.raises(io.FormatError, match=what):
        io.load(path)


def test_the_name_of_a_program_may_have_any_suffix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ma").write_text(MARKOV_AUTOMATON)
    with pytest.raises(mdp.ProgramError, match=r"a\.ma:1: column 1: .* automata"):
        mdp.Program.parse("a.ma")
    with pytest.raises(FileNotFoundError):
        mdp.Program.parse("b.ma")


def test_labels_of_many_states_are_read_again(tmp_path):
    """They are conjunctions or disjunctions with a part for each."""
    size = 2000
    model = mdp.MDP.from_arrays(
        range(size + 1), range(size + 1), [*range(1, size), 0], np.ones(size),
        initial=[0], labels={"odd": np.arange(size) % 2 == 1},
    )  # fmt: skip
    path = tmp_path / "a.prism"
    io.save(path, model)
    assert np.array_equal(io.load(path).labels["odd"], model.labels["odd"])


@pytest.mark.parametrize("sign", ["&", "|"])
@pytest.mark.parametrize("size", [1, 2, 64, 65, 129, 5000])
def test_many_parts_say_what_few_do(sign, size):
    rng = np.random.default_rng(size)
    limits = rng.integers(0, 3, (size, 2))
    test = f" {sign} ".join(f"!(x={a} {sign} x={b})" for a, b in limits)
    program = mdp.Program.from_text(
        "dtmc module m x:[0..4]; [] x<4 -> (x'=x+1); [] x=4 -> (x'=4); endmodule "
        f'label "here" = {test};'
    )
    x = np.arange(5)[:, None]
    first, second = x == limits[:, 0], x == limits[:, 1]
    if sign == "&":
        right = (~(first & second)).all(axis=1)
    else:
        right = (~(first | second)).any(axis=1)
    assert program.build().labels["here"].tolist() == right.tolist()


def test_too_many_operators_are_told(tmp_path):
    path = tmp_path / "a.pm"
    path.write_text(COIN.replace("x>0", " + ".join(["x"] * 2000) + " > 0"))
    with pytest.raises(io.FormatError, match="too many operators in a row"):
        io.load(path)
