"""UMB archives: built by hand, by Storm and by umbi, and what is refused."""

import copy
import gzip
import io as std_io
import json
import lzma
import struct
import tarfile
from fractions import Fraction

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from random_models import check_that_damage_is_told, equal, models, without

from jaxgames import Arena, io
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


@few
@hypothesis.given(models())
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
        ({"index.json": b"{"}, "member 'index.json': is no JSON"),
        ({"index.json": b"\xff\xfe"}, "member 'index.json': is no JSON"),
        ({"index.json": b"[]"}, "member 'index.json': expected an object"),
        ({"index.json": {"format-version": 1}}, "has no object 'transition-system'"),
        (
            {"index.json": {**INDEX, "format-version": 2}},
            "member 'index.json': expected format-version 1, found 2",
        ),
        ({"index.json": changed(time="stochastic")}, "expected time 'discrete'"),
        ({"index.json": changed(**{"#players": 2})}, "expected #players 0 or 1"),
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
            "expected probabilities of type double or rational",
        ),
        (
            {"index.json": changed(branch_probability_type="double")},
            "expected probabilities of type double or rational",
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
            "annotation 'g' is no object",
        ),
        (
            {"index.json": {**INDEX, "annotations": {"aps": {"g": {"alias": 1}}}}},
            "annotation 'g' has no alias",
        ),
        ({"index.json": {**INDEX, "annotations": 3}}, "'annotations' is no object"),
        ({"index.json": {**INDEX, "annotations": {"aps": [1]}}}, "'aps' is no object"),
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
    with pytest.raises(ValueError, match="UMB needs a state"):
        io.save(path, MDP.from_arrays([0], [0], []))
    arena = Arena.from_edges([0], [0], owner=[0])
    with pytest.raises(ValueError, match=r".umb files hold an object of class MDP"):
        io.save(path, arena)
    with pytest.raises(ValueError, match="conditions are for games"):
        io.save(path, MODEL, condition="min even")
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
