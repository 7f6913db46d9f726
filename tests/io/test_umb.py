"""UMB archives: built by hand, by Storm and by umbi, and what is refused."""

import copy
import dataclasses
import gzip
import io as std_io
import json
import lzma
import re
import struct
import tarfile
import warnings
from fractions import Fraction
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from random_models import (
    ODD,
    WORDS,
    check_that_damage_is_told,
    equal,
    models,
    without,
)

from jaxgames import Arena, io, mdp
from jaxgames.mdp import MDP

few = hypothesis.settings(deadline=None, max_examples=60)

MODEL = MDP.from_arrays(
    [0, 2, 3],
    [0, 2, 3, 4],
    [0, 1, 1, 1],
    [0.25, 0.75, 1, 1],
    initial=[0],
    labels={"goal": [0, 1], "never": [0, 0]},
    choice_labels={"go": [1, 0, 0], "wait": [0, 0, 1]},
    state_rewards={"cost": [1.5, 0]},
    choice_rewards={"cost": [0, 1, 2], "": [1, 1, 1]},
)

# The same without rewards, byte by byte as the specification says.
INDEX = {
    "format-version": 1,
    "format-revision": 0,
    "transition-system": {
        "time": "discrete",
        "#players": 1,
        "#states": 2,
        "#initial-states": 1,
        "#choices": 3,
        "#choice-actions": 3,
        "#branches": 4,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": {"type": "double", "size": 64},
    },
    "annotations": {
        "aps": {
            "g": {"alias": "goal", "applies-to": ["states"], "type": {"type": "bool"}},
            "never": {"applies-to": ["states"], "type": {"type": "bool"}},
        }
    },
}
MEMBERS = {
    "index.json": INDEX,
    "state-to-choices.bin": struct.pack("<3Q", 0, 2, 3),
    "state-is-initial.bin": b"\1" + bytes(7),
    "choice-to-branches.bin": struct.pack("<4Q", 0, 2, 3, 4),
    "branch-to-target.bin": struct.pack("<4Q", 0, 1, 1, 1),
    "branch-to-probability.bin": struct.pack("<4d", 0.25, 0.75, 1, 1),
    "actions/choices/values.bin": struct.pack("<3I", 1, 0, 2),
    "actions/choices/string-mapping.bin": struct.pack("<4Q", 0, 0, 2, 6),
    "actions/choices/strings.bin": b"gowait",
    "annotations/aps/g/states/values.bin": b"\2" + bytes(7),
}


def pack(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            data = data if isinstance(data, bytes) else json.dumps(data).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, std_io.BytesIO(data))
    return path


def changed(**system):
    """The index with other entries about the transition system."""
    index = copy.deepcopy(INDEX)
    for name, value in system.items():
        index["transition-system"][name.replace("_", "-")] = value
    return index


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_by_hand(tmp_path, mode):
    path = pack(tmp_path / "model.umb", MEMBERS, mode)
    assert equal(io.load(path), without(MODEL, "state_rewards", "choice_rewards"))
    folders = {f"./{name}": data for name, data in MEMBERS.items()}
    assert equal(io.load(pack(path, folders, mode)), io.load(path))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"model.umb{suffix}"
    io.save(path, MODEL)
    assert equal(io.load(path), MODEL)
    first = path.read_bytes()
    io.save(path, MODEL.pad(16, 16, 16))
    assert equal(io.load(path), MODEL)
    assert path.read_bytes() == first


everything = {"names": (*WORDS, *ODD, ""), "branches": True, "variables": True}


@few
@hypothesis.given(
    models() | models(**everything) | models(intervals=True) | models(rates=True)
)
def test_any_model(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "any.umb"
    io.save(path, model)
    assert equal(io.load(path), model)


def test_what_is_written_is_as_by_hand(tmp_path):
    io.save(tmp_path / "model.umb", without(MODEL, "state_rewards", "choice_rewards"))
    with tarfile.open(tmp_path / "model.umb") as archive:
        names = archive.getnames()
        found = {name: archive.extractfile(name).read() for name in names}
    assert names[0] == "index.json"
    index = json.loads(found.pop("index.json"))
    assert index["transition-system"] == INDEX["transition-system"]
    expected = {name.replace("/g/", "/goal/"): x for name, x in MEMBERS.items()}
    del expected["index.json"]
    never = "annotations/aps/never/states/values.bin"
    assert found == {**expected, never: bytes(8)}


def test_a_chain_is_written_as_one(tmp_path):
    chain = MDP.from_arrays([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], initial=[0])
    io.save(tmp_path / "a.umb", chain)
    with tarfile.open(tmp_path / "a.umb") as archive:
        index = json.load(archive.extractfile("index.json"))["transition-system"]
    assert (index["time"], index["#players"]) == ("discrete", 0)
    assert equal(io.load(tmp_path / "a.umb"), chain)


# A chain in continuous time, byte by byte: 0 is left at rate 1.5, 1 at rate 1/3.
RATES = "state-to-exit-rate.bin"
TIMED = {
    "index.json": {
        **INDEX,
        "annotations": {},
        "transition-system": {
            "time": "stochastic",
            "#players": 0,
            "#states": 2,
            "#initial-states": 1,
            "#choices": 2,
            "#choice-actions": 0,
            "#branches": 3,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": {"type": "double", "size": 64},
            "exit-rate-type": {"type": "rational", "size": 128},
        },
    },
    "state-is-initial.bin": b"\1" + bytes(7),
    "choice-to-branches.bin": struct.pack("<3Q", 0, 2, 3),
    "branch-to-target.bin": struct.pack("<3Q", 0, 1, 0),
    "branch-to-probability.bin": struct.pack("<3d", 0.25, 0.75, 1),
    RATES: struct.pack("<qQqQ", 3, 2, 1, 3),
}


def timed(kind):
    """The index with another type of exit rates."""
    index = copy.deepcopy(TIMED["index.json"])
    index["transition-system"]["exit-rate-type"] = kind
    return index


def test_rates(tmp_path):
    model = io.load(pack(tmp_path / "timed.umb", TIMED))
    assert model.exit_rates.tolist() == [1.5, 1 / 3]
    assert model.probs.tolist() == [0.25, 0.75, 1]
    io.save(tmp_path / "again.umb", model.pad(8, 8, 8))
    assert equal(io.load(tmp_path / "again.umb"), model)
    with tarfile.open(tmp_path / "again.umb") as archive:
        index = json.load(archive.extractfile("index.json"))["transition-system"]
        rates = archive.extractfile(RATES).read()
    assert (index["time"], index["#players"]) == ("stochastic", 0)
    assert index["exit-rate-type"] == {"type": "double", "size": 64}
    assert rates == struct.pack("<2d", 1.5, 1 / 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({RATES: struct.pack("<qQqQ", 3, 2, 0, 3)}, "exit rate of state 1 is 0, expec"),
        ({RATES: struct.pack("<qQqQ", 3, 2, -1, 3)}, "exit rate of state 1 is -0.333"),
        ({RATES: struct.pack("<2d", 1, 2)}, "expected 32 bytes for 4 entries of 8"),
        ({"index.json": timed(None)}, "exit rates of type double or rational, found N"),
        ({"index.json": timed({"type": "string"})}, "type double or rational, found"),
        (
            {"index.json": timed({"type": "double-interval"}), RATES: bytes(32)},
            "exit rates of type double or rational, found",
        ),
        (
            {
                "choice-to-branches.bin": struct.pack("<4Q", 0, 1, 2, 3),
                "state-to-choices.bin": struct.pack("<3Q", 0, 2, 3),
                "index.json": json.loads(
                    json.dumps(TIMED["index.json"]).replace(
                        '"#choices": 2', '"#choices": 3'
                    )
                ),
                "branch-to-probability.bin": struct.pack("<3d", 1, 1, 1),
            },
            "state 0 has several choices: in continuous time only Markov chains",
        ),
    ],
)
def test_refused_rates(tmp_path, changes, message):
    with pytest.raises(io.FormatError, match=message):
        io.load(pack(tmp_path / "timed.umb", TIMED | changes))


def test_a_game(tmp_path):
    path = tmp_path / "game.umb"
    io.save(path, mdp.Game(MODEL.pad(4, 4, 8), np.array([2, -1], np.int8)))
    found = io.load(path)
    assert isinstance(found, mdp.Game)
    assert equal(found.model, MODEL)
    assert found.player.tolist() == [2, 0]
    members = {
        "index.json": changed(**{"#players": 3, "player-names": ["a", "b", "c"]}),
        "state-to-player.bin": struct.pack("<2I", 1, 2),
    }
    pack(path, MEMBERS | members)
    with pytest.warns(UserWarning, match="left out: names of players"):
        assert io.load(path).player.tolist() == [1, 2]


def test_members_left_out(tmp_path):
    # A Markov chain without labels: one choice and one branch each.
    index = changed(**{"#players": 0, "#choices": 2, "#branches": 2})
    index["transition-system"]["#choice-actions"] = 0
    index["transition-system"]["#initial-states"] = 0
    del index["annotations"], index["transition-system"]["branch-probability-type"]
    target = struct.pack("<2Q", 1, 0)
    pack(
        tmp_path / "a.umb",
        {"index.json": index, "branch-to-target.bin": target},
    )
    model = io.load(tmp_path / "a.umb")
    assert model.row_group_offsets.tolist() == model.row_offsets.tolist() == [0, 1, 2]
    assert (model.columns.tolist(), model.probs) == ([1, 0], None)
    assert (model.initial.tolist(), model.labels) == ([], None)
    io.save(tmp_path / "b.umb", model)
    again = io.load(tmp_path / "b.umb")
    assert (again.columns.tolist(), again.probs) == ([1, 0], None)


@pytest.mark.parametrize("half", [8, 16, 24])
def test_rational_probabilities(tmp_path, half):
    parts = [Fraction(1, 3), Fraction(2, 3), Fraction(1), Fraction(1)]
    data = b"".join(
        part.numerator.to_bytes(half, "little", signed=True)
        + part.denominator.to_bytes(half, "little")
        for part in parts
    )
    kind = {"type": "rational", "size": 16 * half}
    if half == 8:
        del kind["size"]
    index = changed(branch_probability_type=kind)
    members = {**MEMBERS, "index.json": index, "branch-to-probability.bin": data}
    model = io.load(pack(tmp_path / "model.umb", members))
    assert model.probs.tolist() == [float(part) for part in parts]
    zero = data[:-half] + bytes(half)
    members["branch-to-probability.bin"] = zero
    with pytest.raises(io.FormatError, match="entry 3 has the denominator 0"):
        io.load(pack(tmp_path / "model.umb", members))


LEFT_OUT = None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"index.json": LEFT_OUT}, "member 'index.json': is missing"),
        ({"index.json": b"{"}, "member 'index.json': is not JSON"),
        ({"index.json": b"\xff\xfe"}, "member 'index.json': is not JSON"),
        ({"index.json": b"[]"}, "member 'index.json': expected an object"),
        ({"index.json": {"format-version": 1}}, "lacks the object 'transition-system'"),
        (
            {"index.json": {**INDEX, "format-version": 2}},
            "member 'index.json': expected format-version 1, found 2",
        ),
        ({"index.json": changed(time="dense")}, "'discrete' or 'stochastic', found 'd"),
        ({"index.json": changed(time="urgent-stochastic")}, "holds a Markov automaton"),
        ({"index.json": changed(time="stochastic")}, "exit-rate.bin': is missing"),
        (
            {"index.json": changed(time="stochastic", **{"#players": 2})},
            "a game of 2 players in continuous time, which is not supported",
        ),
        ({"index.json": changed(**{"#players": 2})}, "is missing, though there are 2"),
        ({"index.json": changed(**{"#players": 129})}, "#players from 0 to 128, found"),
        ({"index.json": changed(**{"#players": True})}, "from 0 to 128, found True"),
        (
            {
                "index.json": changed(**{"#players": 2}),
                "state-to-player.bin": struct.pack("<2I", 0, 2),
            },
            "entry 1 is 2, expected a player from 0 to 1",
        ),
        ({"index.json": changed(**{"#observations": 3})}, "expected #observations 0"),
        ({"index.json": changed(**{"#states": -1})}, "'#states', found -1"),
        ({"index.json": changed(**{"#states": 2**40})}, "'#states', found 109951"),
        ({"index.json": changed(**{"#branches": "4"})}, "'#branches', found '4'"),
        (
            {"index.json": changed(**{"#initial-states": 2})},
            "member 'state-is-initial.bin': expected 2 initial states, found 1",
        ),
        (
            {
                "index.json": changed(
                    branch_probability_type={"type": "double-interval"}
                )
            },
            "'branch-to-probability.bin': expected 64 bytes for 8 entries of 8",
        ),
        (
            {"index.json": changed(branch_probability_type={"type": "int"})},
            "expected probabilities of type double, rational, double-interval, rat",
        ),
        (
            {"index.json": changed(branch_probability_type="double")},
            "expected probabilities of type double, rational, double-interval, rat",
        ),
        (
            {"index.json": changed(**{"#choices": 4})},
            "member 'state-to-choices.bin': must go from 0 to 4, but goes from 0 to 3",
        ),
        ({"state-to-choices.bin": LEFT_OUT}, "missing, though 2 rows have 3 entries"),
        ({"choice-to-branches.bin": LEFT_OUT}, "missing, though 3 rows have 4 entries"),
        ({"branch-to-target.bin": LEFT_OUT}, "'branch-to-target.bin': is missing"),
        ({"branch-to-probability.bin": LEFT_OUT}, "probability.bin': is missing"),
        ({"state-is-initial.bin": LEFT_OUT}, "expected 1 initial states, found 0"),
        (
            {"branch-to-target.bin": struct.pack("<3Q", 0, 1, 1)},
            "'branch-to-target.bin': expected 32 bytes for 4 entries of 8, found 24",
        ),
        (
            {"branch-to-target.bin": struct.pack("<4Q", 0, 1, 2, 1)},
            "'branch-to-target.bin': entry 2 is 2, expected a state from 0 to 1",
        ),
        (
            {"branch-to-target.bin": struct.pack("<4Q", 0, 1, 2**63, 1)},
            "entry 2 is 9223372036854775808",
        ),
        (
            {"choice-to-branches.bin": struct.pack("<4Q", 0, 3, 2, 4)},
            "must ascend, but falls from 3 to 2 at entry 2",
        ),
        ({"state-is-initial.bin": b"\1\0"}, "expected 8 bytes for 2 bits, found 2"),
        (
            {"choice-to-branches.bin": struct.pack("<4Q", 0, 2, 2, 4)},
            "choice 1 .number 1 of state 0. has no branches",
        ),
        (
            {"state-to-choices.bin": struct.pack("<3Q", 0, 3, 3)},
            "state 1 has no choice",
        ),
        (
            {"branch-to-probability.bin": struct.pack("<4d", 0.2, 0.75, 1, 1)},
            "choice 0 .number 0 of state 0. sum up to 0.95, expected 1",
        ),
        (
            {"branch-to-probability.bin": struct.pack("<4d", -0.25, 1.25, 1, 1)},
            "'branch-to-probability.bin': entry 0 is -0.25, expected a probability",
        ),
        (
            {"branch-to-probability.bin": struct.pack("<4d", 0, 1, float("nan"), 1)},
            "'branch-to-probability.bin': entry 2 is nan, expected a probability",
        ),
        (
            {"actions/choices/values.bin": struct.pack("<3I", 1, 3, 2)},
            "'actions/choices/values.bin': entry 1 is 3, expected an action from 0 to",
        ),
        (
            {"actions/choices/strings.bin": b"gowaiting"},
            "string-mapping.bin': must go from 0 to 9",
        ),
        ({"actions/choices/strings.bin": b"\xff" * 6}, "strings.bin': .* can't decode"),
        (
            {"annotations/aps/g/states/values.bin": b""},
            "'annotations/aps/g/states/values.bin': expected 8 bytes for 2 bits",
        ),
        (
            {"index.json": {**INDEX, "annotations": {"aps": {"g": 1}}}},
            "annotation 'g' is not an object",
        ),
        (
            {"index.json": {**INDEX, "annotations": {"aps": {"g": {"alias": 1}}}}},
            "annotation 'g' has no alias",
        ),
        ({"index.json": {**INDEX, "annotations": 3}}, "'annotations' is not an object"),
        (
            {"index.json": {**INDEX, "annotations": {"aps": [1]}}},
            "'aps' is not an object",
        ),
    ],
)
def test_refused(tmp_path, changes, message):
    members = {**MEMBERS, **changes}
    path = pack(
        tmp_path / "model.umb", {k: v for k, v in members.items() if v is not LEFT_OUT}
    )
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_no_archive_and_broken_ones(tmp_path):
    path = tmp_path / "model.umb"
    whole = pack(path, MEMBERS).read_bytes()
    for data in (b"", b"state 0", whole[:700], whole[:1500], whole[:5000]):
        path.write_bytes(data)
        with pytest.raises(io.FormatError, match="tar archive|is missing"):
            io.load(path)
    for data in (gzip.compress(whole)[:400], lzma.compress(whole)[:400]):
        path.write_bytes(data)
        with pytest.raises(io.FormatError, match="broken|tar archive"):
            io.load(path)
    with pytest.raises(FileNotFoundError):
        io.load(tmp_path / "none.umb")


@pytest.mark.parametrize("seed", range(4))
def test_damage(tmp_path, seed):
    whole = pack(tmp_path / "model.umb", MEMBERS).read_bytes()
    check_that_damage_is_told(tmp_path / "model.umb", whole, seed)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "model.umb"
    both = {"go": [1, 0, 0], "wait": [1, 0, 1]}
    several = MDP.from_arrays(
        MODEL.row_group_offsets,
        MODEL.row_offsets,
        MODEL.columns,
        choice_labels=both,
    )
    with pytest.raises(ValueError, match="choice 0 has the labels 'go' and 'wait'"):
        io.save(path, several)
    with pytest.raises(ValueError, match="UMB needs at least one state"):
        io.save(path, MDP.from_arrays([0], [0], []))
    arena = Arena.from_edges([0], [0], owner=[0])
    with pytest.raises(ValueError, match=r".umb files hold an object of class MDP"):
        io.save(path, arena)
    with pytest.raises(ValueError, match="conditions are for games"):
        io.save(path, MODEL, condition="min even")
    chain = MDP.from_arrays([0, 1], [0, 1], [0], [1], exit_rates=[2])
    with pytest.raises(ValueError, match="a game in continuous time cannot be written"):
        io.save(path, mdp.Game(chain, np.array([0], np.int8)))
    assert not path.exists()
    io.save(path, MODEL)
    with pytest.raises(ValueError, match="conditions and dead ends are for games"):
        io.load(path, dead_ends="lose")


@few
@hypothesis.given(
    st.dictionaries(
        st.text(max_size=3), st.lists(st.booleans(), min_size=2, max_size=2)
    )
)
def test_names_of_any_kind(tmp_path_factory, labels):
    path = tmp_path_factory.getbasetemp() / "names.umb"
    sets = {name: np.array(members) for name, members in labels.items()}
    model = MDP.from_arrays([0, 1, 2], [0, 1, 2], [0, 1], labels=sets)
    io.save(path, model)
    found = io.load(path).labels or {}
    assert {k: v.tolist() for k, v in found.items()} == labels


# ---- intervals, rewards and values of variables ------------------------------------


def of_type(kind, **more):
    """The index with a reward model of a type, for choices."""
    index = copy.deepcopy(INDEX)
    about = {"applies-to": ["choices"], "type": kind, **more}
    index["annotations"]["rewards"] = {"default": about}
    return index


REWARD = "annotations/rewards/default/choices/values.bin"


@pytest.mark.parametrize(
    ("kind", "data", "values"),
    [
        ({"type": "double", "size": 64}, struct.pack("<3d", 0.5, 0, 2), [0.5, 0, 2]),
        ({"type": "double"}, struct.pack("<3d", 0.5, 0, 2), [0.5, 0, 2]),
        (
            {"type": "rational"},
            struct.pack("<qQqQqQ", 1, 2, 0, 1, -3, 4),
            [0.5, 0, -0.75],
        ),
        ({"type": "int", "size": 64}, struct.pack("<3q", -1, 0, 2), [-1, 0, 2]),
        ({"type": "uint", "size": 64}, struct.pack("<3Q", 1, 0, 2), [1, 0, 2]),
        (
            {"type": "double-interval", "size": 128},
            struct.pack("<6d", 0.5, 0.5, 0, 0, 2, 2),
            [0.5, 0, 2],
        ),
    ],
)
def test_rewards_of_any_type(tmp_path, kind, data, values):
    members = {**MEMBERS, "index.json": of_type(kind), REWARD: data}
    model = io.load(pack(tmp_path / "model.umb", members))
    assert model.choice_rewards[""].tolist() == values


@pytest.mark.parametrize(
    "kind", [{"type": "double-interval"}, {"type": "int", "size": 8}]
)
def test_rewards_that_are_left_out_are_told(tmp_path, kind):
    data = struct.pack("<6d", 0, 1, 0, 0, 2, 2)
    members = {**MEMBERS, "index.json": of_type(kind, alias="r"), REWARD: data}
    path = pack(tmp_path / "model.umb", members)
    with pytest.warns(UserWarning, match=r"left out: rewards 'r' of choices .a mod"):
        assert io.load(path).choice_rewards is None


def test_a_reward_model_without_a_name(tmp_path):
    # Storm's file has no alias then, and the identifier may not be empty.
    data = struct.pack("<3d", 0, 1, 2)
    double = {"type": "double"}
    members = {**MEMBERS, "index.json": of_type(double), REWARD: data}
    assert list(io.load(pack(tmp_path / "a.umb", members)).choice_rewards) == [""]
    members["index.json"] = of_type(double, alias="default")
    named = io.load(pack(tmp_path / "a.umb", members))
    assert list(named.choice_rewards) == ["default"]
    rewards = {"": [0, 0, 1], "default": [1, 2, 3]}
    for order in (["", "default"], ["default", ""]):
        several = {name: np.array(rewards[name], float) for name in order}
        model = dataclasses.replace(MODEL, choice_rewards=several)
        io.save(tmp_path / "b.umb", model)
        assert equal(io.load(tmp_path / "b.umb"), model)


def test_rational_intervals(tmp_path):
    halves = [(1, 8), (3, 8), (1, 2), (7, 8), (1, 1), (1, 1), (1, 1), (1, 1)]
    data = b"".join(struct.pack("<qQ", *pair) for pair in halves)
    index = changed(branch_probability_type={"type": "rational-interval", "size": 256})
    members = {**MEMBERS, "index.json": index, "branch-to-probability.bin": data}
    model = io.load(pack(tmp_path / "model.umb", members))
    assert model.probs is None
    assert model.lower.tolist() == [0.125, 0.5, 1, 1]
    assert model.upper.tolist() == [0.375, 0.875, 1, 1]


VARIABLES = [
    {"name": "b", "type": {"type": "bool", "size": 1}},
    {"padding": 2},
    {"name": "x", "type": {"type": "uint", "size": 7}, "offset": -3},
    {"name": "i", "type": {"type": "int", "size": 5}},
    {"name": "u", "type": {"type": "uint", "size": 3}, "is-optional": True},
    {"name": "d", "type": {"type": "double", "size": 64}},
    {"name": "w", "type": {"type": "uint", "size": 62}},
    {"padding": 7},
]
VALUES = {"b": [1, 0], "x": [-3, 124], "i": [-16, 15], "u": [7, 0], "d": [0.1, -2.5]}
VALUES["w"] = [2**62 - 1, 5]


def valued(variables=VARIABLES, **more):
    """The members of the model with values of variables, bit by bit."""
    data = b""
    for state in range(2):
        number = place = 0
        for variable in variables:
            if "padding" in variable:
                place += variable["padding"]
                continue
            value, kind = VALUES[variable["name"]][state], variable["type"]
            if kind["type"] == "double":
                (value,) = struct.unpack("<Q", struct.pack("<d", value))
            value = (value - variable.get("offset", 0)) % (1 << kind["size"])
            if variable.get("is-optional"):
                number |= 1 << place
                place += 1
            number |= value << place
            place += kind["size"]
        data += number.to_bytes(-(-place // 8), "little")
    index = {**INDEX, "valuations": {"states": {"classes": [{"variables": variables}]}}}
    return {**MEMBERS, "index.json": index, FILE: data, **more}


FILE = "valuations/states/valuations.bin"


def test_values_of_variables(tmp_path):
    found = io.load(pack(tmp_path / "model.umb", valued())).valuations
    assert {name: x.tolist() for name, x in found.items()} == VALUES
    kinds = {"b": bool, "x": np.int64, "i": np.int64, "u": np.int64, "w": np.int64}
    assert {name: x.dtype for name, x in found.items()} == {**kinds, "d": np.float64}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": "x", "type": {"type": "string"}}, "left out: variable 'x'"),
        ({"name": "x", "type": {"type": "rational"}}, "left out: variable 'x'"),
        ({"name": "x", "type": {"type": "uint", "size": 72}}, "left out: variable"),
        ({"name": "x", "type": {"type": "uint"}}, "left out: variable 'x'"),
    ],
)
def test_values_that_are_left_out_are_told(tmp_path, entry, message):
    size = entry["type"].get("size", 128 if "rational" in str(entry) else 64)
    members = valued([])
    classes = [{"variables": [entry]}]
    members["index.json"]["valuations"] = {"states": {"classes": classes}}
    members[FILE] = b"\xff" * (2 * size // 8)
    with pytest.warns(UserWarning, match=message):
        model = io.load(pack(tmp_path / "model.umb", members))
    assert model.valuations is None


def test_what_else_is_left_out_is_told(tmp_path):
    members = valued(VARIABLES)
    index = members["index.json"]
    index["annotations"] = {**index["annotations"], "mine": {}}
    index["valuations"]["choices"] = {}
    index["transition-system"] = {**index["transition-system"], "#branch-actions": 2}
    several = {"states": {"classes": [{}, {}]}}
    told = "annotations 'mine', valuations of choices, actions of branches .a model"
    with pytest.warns(UserWarning, match=told):
        io.load(pack(tmp_path / "model.umb", members))
    members = {**MEMBERS, "index.json": {**INDEX, "valuations": several}}
    with pytest.warns(
        UserWarning, match=r"valuations of states \(of several classes\)"
    ):
        io.load(pack(tmp_path / "model.umb", members))


@pytest.mark.parametrize(
    ("variables", "data", "message"),
    [
        ([{"padding": 7}], None, "expected 2 times 7 bits, found 2 bytes"),
        (VARIABLES, b"1234567", r"expected 2 times \d+ bits, found 7 bytes"),
        (VARIABLES, LEFT_OUT, f"member '{FILE}': is missing"),
        ([{"padding": -8}], b"", "not supported in valuations: {'padding': -8}"),
        ([{"padding": 10**30}], b"", "not supported in valuations"),
        ([{"name": "x"}], b"", "not supported in valuations: {'name': 'x'}"),
        ([{"name": 3, "type": {"type": "bool"}}], b"", "not supported"),
        ([{"name": "x", "type": {"type": "bool", "size": "1"}}], b"", "not supported"),
        ([{"name": "x", "type": {"type": "int"}, "offset": 0.5}], b"", "not supported"),
        ([7], b"", "not supported in valuations: 7"),
        (7, b"", "not supported in valuations"),
        (
            [{"name": "x", "type": {"type": "uint", "size": 8}}] * 2,
            bytes(4),
            "there are two variables 'x'",
        ),
        (
            [{"name": "x", "type": {"type": "double"}}],
            struct.pack("<2d", 0, float("nan")),
            "variable 'x' is not a number in some state",
        ),
    ],
)
def test_broken_values_of_variables(tmp_path, variables, data, message):
    members = valued([])
    states = {"classes": [{"variables": variables}]}
    members["index.json"] = {**INDEX, "valuations": {"states": states}}
    members[FILE] = bytes(2) if data is None else data
    if data is LEFT_OUT and variables is VARIABLES:
        del members[FILE]
    with pytest.raises(io.FormatError, match=message):
        io.load(pack(tmp_path / "model.umb", members))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_values(tmp_path, seed):
    whole = pack(tmp_path / "model.umb", valued()).read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names change, and are left out
        check_that_damage_is_told(tmp_path / "model.umb", whole, seed)


def test_nan_is_no_reward(tmp_path):
    members = {**MEMBERS, "index.json": of_type({"type": "double"})}
    members[REWARD] = struct.pack("<3d", 0, float("nan"), 2)
    with pytest.raises(
        io.FormatError, match="entry 1 is nan, expected a finite number"
    ):
        io.load(pack(tmp_path / "model.umb", members))


def whole_umbi():
    """The package umbi, if it can read all that it should."""
    umbi = pytest.importorskip("umbi", reason="umbi is not installed")
    bits = pytest.importorskip("bitstring", reason="bitstring is not installed")
    if int(bits.__version__.partition(".")[0]) > 4:
        pytest.skip("umbi reads neither values nor intervals with bitstring 5")
    return umbi


# ---- published files -------------------------------------------------------------

PUBLISHED = Path(__file__).parents[3] / "shared/data/public/mdp-quantitative"


def published(pattern):
    found = sorted(PUBLISHED.glob(pattern))
    return found or [pytest.param(None, marks=pytest.mark.skip("no published files"))]


@pytest.mark.parametrize(
    "path", published("*/*.umb"), ids=lambda path: path and path.stem
)
def test_published_files(path, tmp_path):
    """Valuations are as the labels that Storm made of expressions say."""
    model = io.load(path)
    for name, members in model.labels.items():
        if simple := re.fullmatch(r"\((\w+) (=|>|<|!=) (-?\d+)\)", name):
            variable, sign, value = simple.groups()
            values = model.valuations[variable]
            expected = {
                "=": values == int(value),
                "!=": values != int(value),
                ">": values > int(value),
                "<": values < int(value),
            }
            assert np.array_equal(members, expected[sign]), name
    io.save(tmp_path / "again.umb", model)
    assert equal(io.load(tmp_path / "again.umb"), model)


@pytest.mark.parametrize(
    "path", published("intervals/*.umb"), ids=lambda p: p and p.stem
)
def test_published_intervals(path):
    umbi = whole_umbi()
    model, umb = io.load(path), umbi.umb.read(path)
    assert model.probs is None
    found = [(x.left, x.right) for x in umb.branch_to_probability]
    assert list(zip(model.lower, model.upper, strict=True)) == found


@pytest.mark.parametrize("name", ["two_dice", "maze_2", "brp16_2"])
def test_values_as_umbi_reads_them(name):
    umbi = whole_umbi()
    path = PUBLISHED / f"models/{name}.umb"
    if not path.exists():
        pytest.skip("the folder of published models is not there")
    model, umb = io.load(path), umbi.umb.read(path)
    (about,) = umb.index.valuations["states"].classes
    offset = {x.name: x.offset or 0 for x in about if hasattr(x, "name")}
    for variable, values in model.valuations.items():
        raw = [state[variable] for state in umb.valuations["states"]]
        assert values.tolist() == [x + offset[variable] for x in raw]


# ---- other programs --------------------------------------------------------------


def test_umbi_reads_what_we_write(tmp_path):
    umbi = pytest.importorskip("umbi", reason="umbi is not installed")
    path, other = tmp_path / "ours.umb", tmp_path / "theirs.umb"
    io.save(path, MODEL)
    umb = umbi.umb.read(path, strict=True)
    assert umb.branch_to_probability == MODEL.probs.tolist()
    assert umb.choice_action_to_string == ["", "go", "wait"]
    assert umb.annotations["aps"]["goal"]["states"] == [False, True]
    umbi.umb.write(umb, other)
    assert equal(io.load(other), MODEL)
    ats = umbi.ats.read(path)
    assert (ats.num_states, ats.num_choices, ats.num_branches) == (2, 3, 4)


def test_umbi_and_rates(tmp_path):
    umbi = pytest.importorskip("umbi", reason="umbi is not installed")
    path, other = pack(tmp_path / "timed.umb", TIMED), tmp_path / "theirs.umb"
    model = io.load(path)
    umb = umbi.umb.read(path, strict=True)
    assert umb.state_to_exit_rate == [Fraction(3, 2), Fraction(1, 3)]
    io.save(path, model)
    umb = umbi.umb.read(path, strict=True)
    assert umb.state_to_exit_rate == [1.5, 1 / 3]
    assert umbi.ats.read(path).markovian_states == [0, 1]
    umbi.umb.write(umb, other)
    assert equal(io.load(other), model)


def test_umbi_reads_our_games(tmp_path):
    umbi = pytest.importorskip("umbi", reason="umbi is not installed")
    path, other = tmp_path / "ours.umb", tmp_path / "theirs.umb"
    io.save(path, mdp.Game(MODEL, np.array([1, 0], np.int8)))
    ats = umbi.ats.read(path)
    assert (ats.num_players, list(ats.state_to_player)) == (2, [1, 0])
    umbi.umb.write(umbi.umb.read(path, strict=True), other)
    found = io.load(other)
    assert found.player.tolist() == [1, 0]
    assert equal(found.model, MODEL)


def test_umbi_reads_values_and_intervals(tmp_path):
    umbi = whole_umbi()
    path, other = tmp_path / "ours.umb", tmp_path / "theirs.umb"
    values = {"x": [-2, 5], "b": [True, False], "d": [0.5, 0.1]}
    more = {"valuations": {k: np.array(v) for k, v in values.items()}}
    more["branch_rewards"] = {"": np.arange(4.0)}
    whole = dataclasses.replace(MODEL, **more)
    io.save(path, whole)
    umb = umbi.umb.read(path, strict=True)
    found = umb.valuations["states"]
    assert found == [{"x": 0, "b": True, "d": 0.5}, {"x": 7, "b": False, "d": 0.1}]
    assert umb.annotations["rewards"]["default"]["branches"] == [0, 1, 2, 3]
    umbi.umb.write(umb, other)
    assert equal(io.load(other), whole)
    bounds = {"probs": None, "lower": MODEL.probs / 2, "upper": MODEL.probs}
    io.save(path, dataclasses.replace(MODEL, **bounds))
    umb = umbi.umb.read(path, strict=True)
    assert [x.left for x in umb.branch_to_probability] == [0.125, 0.375, 0.5, 0.5]
    umbi.umb.write(umb, other)
    assert equal(io.load(other), dataclasses.replace(MODEL, **bounds))
