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
