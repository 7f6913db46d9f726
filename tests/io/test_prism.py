"""PRISM's explicit files: both headers, labels and states beside, what is refused."""

import gzip
import warnings
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


odd = (*WORDS, *ODD)
any_prism = models(rewards=False, names=odd, variables=True)
any_prism |= models(rewards=False, intervals=True)


@few
@hypothesis.given(any_prism)
def test_any_model(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("any") / "any.tra"
    io.save(path, model)
    sizes = f"{model.num_states} {model.num_choices} {model.num_branches}"
    kind = "MDP"
    if model.num_choices == model.num_states:
        sizes, kind = f"{model.num_states} {model.num_branches}", "DTMC"
    if model.lower is not None:
        kind = f"I{kind}"
    lines = path.read_text().splitlines()
    assert lines[:2] == [f"# Transitions ({kind})", sizes]
    assert equal(io.load(path), model)


@few
@hypothesis.given(models(rewards=False, variables=True))
def test_any_model_for_storm(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("any") / "any.tra"
    prism.save(path, model, style="storm")
    kind = "dtmc" if model.num_choices == model.num_states else "mdp"
    assert path.read_text().startswith(f"{kind}\n")
    assert equal(io.load(path), model)


def test_a_chain_is_written_as_one(tmp_path):
    arrays = [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]
    chain = MDP.from_arrays(*arrays, branch_rewards={"": [1, 2, 0]})
    io.save(tmp_path / "a.tra", chain)
    assert (tmp_path / "a.tra").read_text().splitlines() == [
        *("# Transitions (DTMC)", "2 3", "0 0 0.5", "0 1 0.5", "1 1 1"),
    ]
    rewards = (tmp_path / "a.trew").read_text().splitlines()
    assert rewards[-3:] == ["2 2", "0 0 1", "0 1 2"]
    prism.save(tmp_path / "b.tra", chain, style="storm")
    assert (tmp_path / "b.tra").read_text().startswith("dtmc\n0 0 0.5\n")
    for name in ("a.tra", "b.tra"):
        assert sums(io.load(tmp_path / name)) == sums(chain)


def sums(model: MDP) -> dict:
    """The rewards of states, and those of branches with those of their choices."""
    choice = np.repeat(np.arange(model.num_choices), np.diff(model.row_offsets))
    kinds = model.state_rewards, model.choice_rewards, model.branch_rewards
    found = {}
    for name in {name for rewards in kinds for name in rewards or ()}:
        states, choices, branches = (
            (rewards or {}).get(name, np.zeros(length))
            for rewards, length in zip(
                kinds,
                (model.num_states, model.num_choices, model.num_branches),
                strict=True,
            )
        )
        found[name] = states.tolist(), (choices[choice] + branches).tolist()
    return found


@few
@hypothesis.given(models(names=(*odd, ""), labels=False, branches=True))
def test_any_rewards(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("any") / "any.tra"
    io.save(path, model)
    again = io.load(path)
    assert sums(again) == sums(model)
    assert not set(again.choice_rewards or {}) & set(again.branch_rewards or {})


@few
@hypothesis.given(models(names=("",), labels=False, branches=True))
def test_any_rewards_for_storm(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("any") / "any.tra"
    zero = {
        name: found for name, found in sums(model).items() if not any(map(any, found))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if zero else "error")
        prism.save(path, model, style="storm")
    found = sums(io.load(path))
    assert found | zero == sums(model)
    for file in path.parent.glob("*.?rew"):
        assert "#" not in file.read_text()


def test_what_storm_cannot_hold_is_told(tmp_path):
    arrays = [0, 1], [0, 1], [0], [1]
    rewards = {"steps": [1], "none": [0]}
    model = MDP.from_arrays(*arrays, state_rewards=rewards)
    message = "left out: the name 'steps' of a reward model, .*'none', which is zero"
    with pytest.warns(UserWarning, match=message):
        prism.save(tmp_path / "a.tra", model, style="storm")
    assert (tmp_path / "a1.srew").read_text() == "0 1\n"
    interval = MDP.from_arrays(*arrays[:3], lower=[1], upper=[1])
    with pytest.raises(ValueError, match="tra needs probabilities"):
        prism.save(tmp_path / "b.tra", interval, style="storm")
    spaced = MDP.from_arrays(*arrays, labels={"a b": [1]})
    with pytest.raises(ValueError, match="lab cannot hold the name 'a b'"):
        prism.save(tmp_path / "b.tra", spaced, style="storm")


def test_a_variable_that_cannot_be_held_is_told(tmp_path):
    values = {"a,b": [1], "x": [2], "d": [np.inf]}
    model = MDP.from_arrays([0, 1], [0, 1], [0], [1], valuations=values)
    with pytest.warns(UserWarning, match="left out: variable 'a,b', variable 'd'"):
        io.save(tmp_path / "a.tra", model)
    assert list(io.load(tmp_path / "a.tra").valuations) == ["x"]


def test_a_choice_label_that_is_nowhere_is_told(tmp_path):
    arrays = [0, 1], [0, 1], [0], [1]
    model = MDP.from_arrays(*arrays, choice_labels={"no": [0], "go": [1]})
    with pytest.warns(UserWarning, match="left out: label 'no' of choices, which"):
        io.save(tmp_path / "a.tra", model)
    assert list(io.load(tmp_path / "a.tra").choice_labels) == ["go"]


def test_another_label_init_is_told(tmp_path):
    arrays = [0, 1, 2], [0, 1, 2], [0, 1], [1, 1]
    same = MDP.from_arrays(*arrays, initial=[1], labels={"init": [0, 1]})
    other = MDP.from_arrays(*arrays, initial=[1], labels={"init": [1, 0]})
    for suffix in (".tra",):
        path = tmp_path / f"a{suffix}"
        io.save(path, same)
        with pytest.warns(UserWarning, match="left out: label 'init' .there it mark"):
            io.save(path, other)
        assert io.load(path).initial.tolist() == [1]


# ---- rewards -----------------------------------------------------------------------

SREW = '# Reward structure "r"\n# State rewards\n2 1\n1 2.5\n'
TREW = '# Reward structure "r"\n# Transition rewards\n2 3 2\n0 0 0 3\n0 0 1 1/2\n'


def test_rewards_as_prism_writes_them(write):
    write(SREW, ".srew")
    write(TREW, ".trew")
    model = io.load(write("# Transitions (MDP)\n" + PRISM))
    assert model.state_rewards["r"].tolist() == [0, 2.5]
    assert model.branch_rewards["r"].tolist() == [3, 0.5, 0, 0]
    write(TREW.replace("1/2", "3"), ".trew")
    model = io.load(write(PRISM))
    assert model.choice_rewards["r"].tolist() == [3, 0, 0]
    assert model.branch_rewards is None


def test_rewards_as_storm_writes_them(write):
    write("1 2.5\n", ".srew")
    write("mdp\n0 0 0 3\n0 0 1 0.5\n", ".trew")
    model = io.load(write(STORM))
    assert model.state_rewards[""].tolist() == [0, 2.5]
    assert model.branch_rewards[""].tolist() == [3, 0.5, 0, 0]


def test_rewards_of_chains(write):
    write("# Reward structure\n# Transition rewards\n2 2\n0 1 5\n1 1 7\n", ".trew")
    model = io.load(write("# Transitions (DTMC)\n2 3\n0 0 .5\n0 1 .5\n1 1 1\n"))
    assert model.branch_rewards[""].tolist() == [0, 5, 7]
    write("0 1 5\n1 1 7\n", ".trew")
    model = io.load(write("dtmc\n0 0 .5\n0 1 .5\n1 1 1\n"))
    assert model.branch_rewards[""].tolist() == [0, 5, 7]


def test_branches_that_look_alike(write):
    text = "2 3 5\n0 0 1 .25\n0 0 0 .5\n0 0 1 .25\n0 1 1 1\n1 0 1 1\n"
    write("2 3 2\n0 0 1 3\n0 0 1 4\n", ".trew")
    assert io.load(write(text)).branch_rewards[""].tolist() == [3, 0, 4, 0, 0]
    write("2 3 1\n0 0 1 3\n", ".trew")  # one line is for both
    assert io.load(write(text)).branch_rewards[""].tolist() == [3, 0, 3, 0, 0]
    write("2 3 3\n" + 3 * "0 0 1 3\n", ".trew")
    with pytest.raises(
        io.FormatError, match="from 0 to 1 occurs 2 times in the model, but an"
    ):
        io.load(write(text))


def test_several_structures_are_numbered(tmp_path, write):
    rewards = {"b": [1, 0], "a": [0, 2], "": [0, 3]}
    model = MDP.from_arrays(
        [0, 1, 2], [0, 1, 2], [0, 1], [1, 1], initial=[0], state_rewards=rewards
    )
    io.save(tmp_path / "m.tra.gz", model)
    names = [f"m{k}.{kind}.gz" for k in "123" for kind in ("srew", "trew")]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        [*names, "m.lab.gz", "m.tra.gz"]
    )
    assert equal(io.load(tmp_path / "m.tra.gz"), model)
    companions = prism.companions(tmp_path / "m.tra.gz")
    assert [Path(p).name for p in companions] == ["m.lab.gz", *names]
    # Those of another model are not taken for ours.
    for text in ("2 1\n0 4\n", "2 1\n1 5\n"):
        (tmp_path / "n2.srew").write_text("2 1\n1 5\n")
        (tmp_path / "n1.srew").write_text(text)
    (tmp_path / "n.tra").write_text(PRISM)
    assert list(io.load(tmp_path / "n.tra").state_rewards) == ["", "2"]
    (tmp_path / "n1.tra").write_text(PRISM)
    assert io.load(tmp_path / "n.tra").state_rewards is None


def test_nothing_is_written_beside_what_would_be_read_with_it(tmp_path, write):
    model = io.load(write(PRISM))
    for suffix, text in ((".sta", STATES), (".srew", SREW), ("1.trew", TREW)):
        lone = write(text, suffix)
        before = write(PRISM).read_text()
        with pytest.raises(ValueError, match=rf"model{suffix} exists and would be"):
            io.save(tmp_path / "model.tra", model)
        assert (lone.read_text(), write(PRISM).read_text()) == (text, before)
        lone.unlink()
    io.save(tmp_path / "model.tra", model)


@pytest.mark.parametrize(
    ("suffix", "old", "new", "message"),
    [
        (".srew", SREW, "", r"model.srew: the file is empty"),
        (".srew", "2 1", "3 1", r"model.srew:3: expected 2 states as in the model, fo"),
        (".srew", "2 1", "2 2", r"announces 2 rewards, but there are 1; was the file"),
        (".srew", "2 1", "2 x", r"model.srew:3: expected a size"),
        (".srew", "2 1", "2 3 1", r"model.srew:3: expected 'states rewards' in num"),
        (".srew", "1 2.5", "2 2.5", r"model.srew:4: expected a state \(a number from"),
        (".srew", "1 2.5", "1 nan", r"model.srew:4: expected a reward .*found 'nan'"),
        (".srew", "1 2.5", "1 1e999", r"model.srew:4: expected a reward"),
        (".srew", "1 2.5", "1", r"model.srew:4: expected 'state reward', found '1'"),
        (".srew", "2 1\n", "2 2\n1 1\n", r"model.srew:5: state 1 has two rewards"),
        (".srew", "State rew", "Transition rew", r"expected '# State rewards', found"),
        (".srew", '"r"', '"s"', r"rewards have different names: \['r', 's'\]"),
        (".trew", "2 3 2", "2 4 2", r"model.trew:3: expected 3 choices as in the mod"),
        (".trew", "0 0 0 3", "0 2 0 3", r"model.trew:4: state 0 has no choice 2"),
        (".trew", "0 0 0 3", "1 0 0 3", r"model.trew:4: there is no transition from 1"),
        (".trew", "0 0 0 3", "0 9 0 3", r"model.trew:4: expected a choice"),
        (".trew", "0 0 0 3", "0 0 3", r":4: expected 'state choice state reward', fo"),
    ],
)
def test_broken_rewards(write, suffix, old, new, message):
    texts = {".srew": SREW, ".trew": TREW}
    assert old in texts[suffix]
    texts[suffix] = texts[suffix].replace(old, new)
    for file, text in texts.items():
        write(text, file)
    with pytest.raises(io.FormatError, match=message):
        io.load(write(PRISM))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("suffix", [".lab", ".sta", ".srew", ".trew"])
def test_damage_beside(tmp_path, write, suffix, seed):
    texts = {".lab": LABELS, ".sta": STATES, ".srew": SREW, ".trew": TREW}
    write(PRISM)
    for file, text in texts.items():
        write(text, file)
    path = tmp_path / "model.tra"

    class Beside:
        """Where the damage goes, and what is then read."""

        def write_bytes(self, data):
            (tmp_path / f"model{suffix}").write_bytes(data)

        def __fspath__(self):
            return str(path)

    check_that_damage_is_told(Beside(), texts[suffix].encode(), seed)


@pytest.mark.parametrize("word", ["[0.25,0.5", "[0.25]", "[x,1]", "[0.25,nan]", "[,]"])
def test_broken_intervals(write, word):
    text = PRISM.replace("0 0 0 0.25", f"0 0 0 {word}")
    with pytest.raises(io.FormatError, match=r":2: expected a prob|have bounds|bounds"):
        io.load(write(text if word != "[0.25,0.5" else text.replace(word, "[.5,.25]")))


@pytest.mark.parametrize("kind", ["CTMC", "POMDP", "LTS", "SMG"])
def test_other_types_are_named(write, kind):
    with pytest.raises(
        io.FormatError, match=rf"type MDP, DTMC, IMDP, .*found '{kind}'"
    ):
        io.load(write(f"# Transitions ({kind})\n" + PRISM))


# ---- published files ---------------------------------------------------------------

PUBLISHED = Path(__file__).parents[3] / "shared/data/public/mdp-quantitative"
PUBLISHED /= "prism_explicit"
needed = pytest.mark.skipif(not PUBLISHED.exists(), reason="no published files")


@needed
def test_a_chain_that_prism_wrote():
    model = io.load(PUBLISHED / "dice.tra")
    assert (model.num_states, model.num_choices, model.num_branches) == (13, 13, 20)
    assert model.initial.tolist() == [0]
    values = {name: x.tolist() for name, x in model.valuations.items()}
    assert values == {
        "s": [*range(7), *[7] * 6],
        "d": [*[0] * 7, *range(1, 7)],
    }
    assert np.array_equal(model.labels["end"], model.valuations["s"] == 7)
    assert np.array_equal(model.labels["six"], model.valuations["d"] == 6)
    assert [*model.state_rewards] == ["coin_flips"]
    assert np.array_equal(model.state_rewards["coin_flips"], model.valuations["s"] < 7)
    assert model.choice_rewards is None


@needed
def test_a_model_that_prism_wrote(tmp_path):
    model = io.load(PUBLISHED / "robot.tra")
    assert (model.num_states, model.num_choices, model.num_branches) == (6, 10, 16)
    assert set(model.choice_labels) == {"south", "east", "stuck", "west", "north"}
    states = {name: x.tolist() for name, x in model.state_rewards.items()}
    assert states == {"time": [1] * 6, "energy": [2.3, 2.3, 0.1, 0.1, 2.3, 2.3]}
    choices = {name: x.tolist() for name, x in model.choice_rewards.items()}
    assert choices == {
        "energy": [0, 0, 0, 0, 3.5, 3.5, 0, 0, 0, 0],
        "move": [1, 1, 1, 1, 0, 0, 1, 1, 1, 1],
    }
    io.save(tmp_path / "robot.tra", model)
    ours = {p.name for p in tmp_path.iterdir()}
    theirs = {p.name for p in PUBLISHED.glob("robot*")} - {"robot.pexp"}
    assert ours == theirs
    for name in ours:  # the same, byte by byte
        written = (tmp_path / name).read_text()
        assert written == (PUBLISHED / name).read_text(), name
    assert equal(io.load(tmp_path / "robot.tra"), model)


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
    with pytest.raises(
        io.FormatError, match="state 1 is larger than the last state, 0"
    ):
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
        (
            "0 1 1 1 go",
            "0 2 1 1 go",
            r":4: choice 2 of state 0 is listed, but the choice before",
        ),
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


def test_rates_are_no_probabilities(write):
    path = write("2 2\n0 1 3.0\n1 0 2.5\n")
    with pytest.raises(
        io.FormatError, match=r":2: .* to 3, expected 1; if they are ra"
    ):
        io.load(path)


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
        ("(x)\n\n0:(0,1)\n", r":3: expected 1 value, found '0,1'"),
        ("(x)\n0:(a)\n", r":2: expected numbers, true or false, found 'a'"),
        ("(x)\n0:(1)\n1:(true)\n", r":3: variable 'x' has values of different types"),
        ("(x)\n0:(nan)\n", r":2: expected numbers, true or false, found 'nan'"),
        ("(x,x)\n0:(1,2)\n", r":1: two variables have one name"),
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
