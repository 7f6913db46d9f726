"""Whatever the bytes are, a reader returns a value or raises FormatError."""

import io as streams
import json
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from jaxgames import io, systems
from jaxgames.io import npz

MODEL = "@type: MDP\n@reward_models\n{}\n@nr_states\n{}\n@model\nstate 0 {}\n{}"
HOA = "HOA: v1\nStates: {}\nStart: 0\nAP: 2 {}\nAcceptance: {}\n--BODY--\n{}\n--END--\n"
LETTERS = '"a" "b"'

ALIASES = "Alias: @0 0&1" + "".join(
    f"\nAlias: @{i} @{i - 1}&@{i - 1}" for i in range(1, 40)
)

TEXTS = {
    "digits of another script": (
        "a.drn",
        MODEL.format("r", "²", "", "action a\n0 : 1\n"),
        "a number up to .* found '²'",
    ),
    "nan reward": (
        "a.drn",
        MODEL.format("r", "1", "[nan]", "action a\n0 : 1\n"),
        r":7: expected rewards, found '\[nan\]'",
    ),
    "infinite reward": (
        "a.drn",
        MODEL.format("r", "1", "[1e999]", "action a\n0 : 1\n"),
        r":7: expected rewards, found '\[1e999\]'",
    ),
    "reward with an underscore": (
        "a.drn",
        MODEL.format("r", "1", "[1_0]", "action a\n0 : 1\n"),
        r":7: expected rewards, found '\[1_0\]'",
    ),
    "infinite probability": (
        "a.drn",
        MODEL.format("", "1", "", "action a\n0 : 1e999\n"),
        "a probability .a finite number., found '1e999'",
    ),
    "30 digits in kripke": (
        "a.kripke",
        "kripke; propositions; initial 0; 0 -> 000000000012345678901234567890;",
        "state 000000000012345678901234567890 has no statement",
    ),
    "state of 30 digits in kripke": (
        "a.kripke",
        f"kripke; propositions; initial 0; {'1' * 30} -> 0;",
        "expected a state below",
    ),
    "5000 digits in csv": ("a.csv", f"0,{'5' * 5000},a\n", "expected a state .*'55"),
    "30 digits in csv": ("a.csv", f"{'0' * 18}{'5' * 12},0,a\n", "expected a state"),
    "the end before the start": ("a.hoa", "--ABORT-- $", "expected a token, found"),
    "aliases in aliases": (
        "a.hoa",
        HOA.format(1, LETTERS, f"0 t\n{ALIASES}", ""),
        "the formula has .* propositions, more than 10000",
    ),
    "sets of sets": (
        "a.hoa",
        HOA.format(
            1,
            LETTERS,
            "2 " + "|".join(["(Inf(0)&Inf(1))"] * 60),
            "State: 0 [t] 0",
        ),
        "needs more than 64 sets of edges",
    ),
    "a quote in dot": ("a.dot", 'digraph {\n0 -> 1 [label="a];\n}\n', "is not closed"),
    "energy games have no vertex": ("a.energy", "energy 000\n", "found 0"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message"), TEXTS.values(), ids=TEXTS)
def test_text_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(io.FormatError, match=message):
        io.load(path)


def test_leading_zeros_are_digits(tmp_path):
    (tmp_path / "a.csv").write_text(f"{'0' * 5000}1,0,a\n")
    assert io.load(tmp_path / "a.csv").num_states == 2
    (tmp_path / "a.pg").write_text(f"0 0 0 {'0' * 5000};\n")
    assert io.load(tmp_path / "a.pg").shape == (1, 1)
    (tmp_path / "a.energy").write_text(f"energy {'0' * 30}1\n0 0 0 1\n")
    assert io.load(tmp_path / "a.energy").shape == (1, 1)
    (tmp_path / "a.aut").write_text(f"des ({'0' * 30}1, 0, {'0' * 30}2)\n")
    assert io.load(tmp_path / "a.aut").initial == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ('0="init"\n:\n', ":2: expected a state .a number from 0 to 0., found ':'"),
        ('0="init"\n²: 0\n', ":2: expected a state .* found '²'"),
        ("1" * 10**5 + "\n", ':1: expected \'0="init"'),
    ],
)
def test_labels_are_refused(tmp_path, labels, message):
    (tmp_path / "a.tra").write_text("1 1 1\n0 0 0 1\n")
    (tmp_path / "a.lab").write_text(labels)
    with pytest.raises(io.FormatError, match=message):
        io.load(tmp_path / "a.tra")


@pytest.mark.parametrize("word", ["1_0", "²", "9" * 30, "9" * 5000, "1.5.2", "nan"])
def test_values_of_variables_are_refused(tmp_path, word):
    (tmp_path / "a.sta").write_text(f"(x)\n0:({word})\n")
    with pytest.raises(io.FormatError, match="expected numbers, true or false"):
        io.prism.valuations(tmp_path / "a.sta")


# ---- archives --------------------------------------------------------------------

SYSTEM = {
    "format": "jaxgames system",
    "version": 1,
    "offsets": [0, 1],
    "targets": [0],
    "initial": [0],
    "propositions": ["on"],
    "labels": [[True]],
}
PRODUCT = {"offsets": [0, 1], "targets": [0], "initial": [0], "accepting": [True]}

ARRAYS = [
    (SYSTEM, "propositions", np.array("on"), "propositions must be texts in one dim"),
    (SYSTEM, "propositions", np.array([1.5]), "propositions must be texts .* float64"),
    (SYSTEM, "names", np.array(1), "names must be texts"),
    (SYSTEM, "initial", np.array([0.5]), "initial must be integers"),
    (SYSTEM, "initial", np.array("a"), "initial must be integers"),
    (SYSTEM, "labels", np.array(True), "labels must have a column for each"),
    (SYSTEM, "labels", np.array([["a"]]), "must have one boolean for each"),
    (SYSTEM, "offsets", np.array(0), "indptr must have one dimension"),
    (SYSTEM, "offsets", np.array([0, 1.5]), "is no graph|indptr must"),
    (SYSTEM, "targets", np.array(["a"]), "is no graph|indices must"),
    (PRODUCT, "offsets", np.array(1.5), "row_ptr must have one dimension"),
    (PRODUCT, "initial", np.array([0.5]), "initial must be integers"),
    (PRODUCT, "initial", np.array("a"), "initial must be integers"),
    (PRODUCT, "initial", np.array([[0]]), "initial must be integers in one dimension"),
    (PRODUCT, "accepting", np.array(["a"]), "accepting must hold booleans"),
    (PRODUCT, "prop_state", np.array([0.5]), "prop_state must be integers"),
]


@pytest.mark.parametrize(("kind", "name", "array", "message"), ARRAYS)
def test_arrays_of_another_kind(tmp_path, kind, name, array, message):
    path = tmp_path / "a.npz"
    np.savez(path, **{**kind, name: array})
    with pytest.raises(io.FormatError, match=message):
        io.load(path)
    if kind is PRODUCT:
        with pytest.raises(io.FormatError, match=message):
            npz.load_product(path)


def header(shape, kind="<i4") -> bytes:
    file = streams.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"shape": shape, "fortran_order": False, "descr": kind}
    )
    return file.getvalue()


MEMBERS = [
    (header((10**12,)), r"array 'dst' has 0 bytes, which are not those of shape"),
    (header((-2, -2), "|u1") + b"\0" * 4, "has 4 bytes, which are not those of shape"),
    (header((10**12, 0)), r"dst must have one dimension, got shape \(1000000000000, 0"),
    (header((2**62,), "<U0"), "has entries without bytes"),
    (header((1,), "|b1") + b"\7", "holds bytes that are not booleans"),
    (header((1,), "<U1") + struct.pack("<I", 0x110000), "holds text that is not Unic"),
    (header((1,), "|O") + b"\0" * 8, "holds Python objects"),
    (header((1,), "<m8[s]") + b"\0" * 8, "has type timedelta64.s., expected numbers"),
    (b"\x93NUMPY\3\0", "has a header of version .3, 0."),
    (b"not an array", "broken .npz archive: "),
    (b"", "broken .npz archive: "),
]


@pytest.mark.parametrize(("member", "message"), MEMBERS)
def test_members_that_are_no_arrays(tmp_path, member, message):
    path = tmp_path / "a.npz"
    np.savez(path, format="jaxgames arena", version=1, row_ptr=[0, 1], owner=[0])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("dst.npy", member)
    with pytest.raises(io.FormatError, match=message):
        io.load(path)


def test_an_archive_that_unpacks_to_very_much(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, dst=np.zeros(10**7, np.int64))
    with pytest.raises(
        io.OversizeError, match="the arrays take about 80 MB, more than"
    ):
        io.load(path, limits=io.Limits(memory=10**7))
    with pytest.raises(io.FormatError, match="expected format"):
        io.load(path)


@pytest.mark.parametrize(("member", "message"), MEMBERS[:2] + MEMBERS[6:])
def test_pieces_that_are_no_arrays(tmp_path, member, message):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("targets.npy", member)
    (tmp_path / "end").touch()
    with pytest.raises(ValueError, match="a.npz is not a piece"):
        list(systems.read_pieces(tmp_path))


def test_a_piece_that_says_it_is_large(tmp_path):
    path = tmp_path / "pieces"
    path.write_bytes(b"jgpieces" + struct.pack("<3q", 2**40, 0, 0))
    with pytest.raises(ValueError, match="says that it has 1099511627776 vertices"):
        list(systems.read_pieces(path, patience=0))
    path.write_bytes(b"jgpieces" + struct.pack("<3q", 2**30, 0, 0))
    with pytest.raises(TimeoutError):
        list(systems.read_pieces(path, patience=0))


# ---- UMB -------------------------------------------------------------------------

UMB = {
    "format-version": 1,
    "transition-system": {
        "time": "discrete",
        "#players": 1,
        "#states": 1,
        "#initial-states": 0,
        "#choices": 1,
        "#branches": 1,
        "#choice-actions": 0,
        "branch-probability-type": {"type": "double", "size": 64},
    },
}
PROBABILITY = {"branch-to-probability.bin": struct.pack("<d", 1.0)}


def pack(path, index, members=PROBABILITY, mode="w"):
    text = index if isinstance(index, bytes) else json.dumps(index).encode()
    with tarfile.open(path, mode) as archive:
        for name, data in {"index.json": text, **members}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, streams.BytesIO(data))


def of(**changes):
    return {**UMB, "transition-system": {**UMB["transition-system"], **changes}}


def rewards(kind, value=1.0):
    name = "annotations/rewards/r/states/values.bin"
    return (
        {**UMB, "annotations": {"rewards": {"r": {"type": kind}}}},
        {**PROBABILITY, name: struct.pack("<d", value)},
    )


INDICES = {
    "deep": (b'{"a":' + b"[" * 10**5, PROBABILITY, "'index.json': is not JSON"),
    "size is text": (
        of(**{"branch-probability-type": {"type": "rational", "size": "128"}}),
        PROBABILITY,
        "expected probabilities of type",
    ),
    "size is negative": (
        of(**{"branch-probability-type": {"type": "rational", "size": -128}}),
        PROBABILITY,
        "expected probabilities of type",
    ),
    "size is large": (
        of(**{"branch-probability-type": {"type": "rational", "size": 128 * 10**30}}),
        PROBABILITY,
        "expected .* bytes for .* entries",
    ),
    "no number of states": (of(**{"#states": True}), PROBABILITY, "found True"),
    "many states": (
        of(**{"#states": 2**31 - 2, "#choices": 2**31 - 2, "#branches": 2**31 - 2}),
        {},
        "2147483646 rows take about 8.59 GB",
    ),
    "nan": (*rewards({"type": "double"}, float("nan")), "entry 0 is nan, expected a f"),
    "inf": (*rewards({"type": "double"}, float("inf")), "entry 0 is inf, expected a f"),
    "large quotient": (
        of(**{"branch-probability-type": {"type": "rational", "size": 4096}}),
        {"branch-to-probability.bin": b"\xff" * 255 + b"\x7f\1" + b"\0" * 255},
        "entry 0 is inf, expected a probability",
    ),
}


@pytest.mark.parametrize(("index", "members", "message"), INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_models_are_refused(tmp_path, mode, index, members, message):
    pack(tmp_path / "a.umb", index, members, mode)
    with pytest.raises(io.FormatError, match=message):
        io.load(tmp_path / "a.umb")


def test_a_reward_type_that_is_text_is_left_out(tmp_path):
    pack(tmp_path / "a.umb", *rewards("double"))
    with pytest.warns(UserWarning, match="left out: rewards 'r'"):
        assert io.load(tmp_path / "a.umb").state_rewards is None


def test_a_member_that_says_it_is_large(tmp_path):
    path = tmp_path / "a.umb"
    member = tarfile.TarInfo("index.json")
    member.size = 8 << 30
    path.write_bytes(member.tobuf() + b"\0" * 1024)
    with pytest.raises(io.FormatError, match="expected a tar archive|cut off"):
        io.load(path)


def test_a_packed_model_that_unpacks_to_very_much(tmp_path):
    pack(tmp_path / "a.umb", UMB, {"other.bin": b"\0" * 10**7}, "w:gz")
    with pytest.raises(io.OversizeError, match="bytes of text"):
        io.load(tmp_path / "a.umb", limits=io.Limits(memory=10**7))
