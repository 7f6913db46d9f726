"""Texts that are held as bytes: read once, and decoded in parts."""

import bz2
import gzip
import lzma
import os
import threading
import warnings
from unittest import mock

import numpy as np
import pytest

from jaxgames import io
from jaxgames.io import (
    FormatError,
    _files,
    _hoa_loop,
    _kripke_loop,
    _pieces,
    _whole,
    ehoa,
    hoa,
    hoa_game,
    kripke,
)
from jaxgames.io._files import read_whole
from jaxgames.io._whole import BEHIND, Whole

HEADER = "kripke; propositions p;\ninitial 0;\n"
AUTOMATON = """HOA: v1
States: 2
Start: 0
AP: 1 "p"
Alias: @a !0
controllable-AP: 0 3
Acceptance: 1 Inf(0)
--BODY--
State: 0 "größer"
[@a & t] 1 {0}
[0] 0
State: 1
[(0 | !0)] 0
--END--
"""


@pytest.fixture
def by_code(monkeypatch):
    monkeypatch.setattr(_pieces, "pays", lambda *_: True)


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 1 << 20, 3_000_000])
@pytest.mark.parametrize("how", ["file", "gz", "pipe"])
def test_all_bytes_are_read_once(tmp_path, how, size):
    """Also where the length is not known before, or is more than was guessed."""
    data = bytes(size % 251) + b"a" * (size - size % 251)
    path = tmp_path / "a"
    writer = None
    if how == "pipe":
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(data,))
        writer.start()
    else:
        path.write_bytes(gzip.compress(data) if how == "gz" else data)
    found = read_whole(path, 1, BEHIND)
    if writer is not None:
        writer.join()
    assert found.tobytes() == data + BEHIND


def test_more_than_the_limit_is_refused(tmp_path):
    path = tmp_path / "a.kripke"
    path.write_text(HEADER + "0;\n" * 10_000)
    with io.limited(io.Limits(memory=1000)), pytest.raises(io.OversizeError):
        kripke.load(path)


def test_marks_are_found_across_windows():
    rng = np.random.default_rng(1)
    for size in (1, 4095, 4096, 4097, 20_000, 1_000_000):
        data = rng.integers(97, 99, size).astype(np.uint8)
        for at in {0, size // 2, max(size - 3, 0), min(4094, size)}:
            text = data.tobytes()[:at] + b";\n" + data.tobytes()[at + 2 :]
            byte = np.frombuffer(text, np.uint8)
            for start in (0, 1, at, at + 1):
                found = _whole.find(byte, b";\n", start, len(text))
                assert found == text.find(b";\n", start)


def test_a_text_without_utf8_is_refused_with_its_line(tmp_path, by_code):
    path = tmp_path / "a.kripke"
    path.write_bytes(HEADER.encode() + b'0 "\xff" -> 0;\n')
    with pytest.raises(FormatError, match=r"a\.kripke:3: .*UTF-8"):
        kripke.load(path)
    path.write_bytes(AUTOMATON.encode("latin-1"))
    with pytest.raises(FormatError, match=":9: .*UTF-8"):
        hoa.load(path)


def test_characters_of_several_bytes_are_read_by_machine_code(tmp_path, by_code):
    path = tmp_path / "a"
    path.write_text(HEADER + '0 "größer" {p} -> 1;\n1 "\N{SNOWMAN}" -> 0;\n')
    with mock.patch.object(Whole, "text", property(lambda _: pytest.fail("decoded"))):
        assert kripke.load(path).names == ("größer", "\N{SNOWMAN}")
        path.write_text(AUTOMATON * 2)
        with pytest.warns(UserWarning, match="is ignored"):
            first, second = hoa.load_all(path)
    assert hoa.dumps(first) == hoa.dumps(second)


def test_what_machine_code_leaves_is_warned_of_once(by_code):
    """It is read once more, token by token."""
    odd = AUTOMATON.replace("[0] 0", "[0] /* */ 0")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hoa.loads(odd)
    assert len(caught) == 1


@pytest.mark.parametrize("length", [1, 30, 100, 200])
def test_a_header_may_go_on(monkeypatch, by_code, length):
    """It is read token by token then, and errors have the place in the whole text."""
    monkeypatch.setattr(_whole, "_HEADER_BYTES", length)
    assert kripke.loads(HEADER + "0 {p} -> 0;\n").num_states == 1
    with pytest.raises(FormatError, match=r":5: column 1: expected"):
        kripke.loads("\n\n" + HEADER + ";;")
    with pytest.raises(FormatError, match="several automata"):
        hoa.loads(AUTOMATON.replace(" 0 3", " 0") * 3)
    with pytest.raises(FormatError, match=":15: column 1: expected"):
        hoa.loads(AUTOMATON.replace(" 0 3", " 0") + "$$")


GAME = """HOA: v1
States: 3
spot-state-player: 0 1 0
Acceptance: 1 Fin(0)
--BODY--
State: 2 {0}
[t] 0
State: 0
[t] 1 {0}
[0] 2
State: 1
[t] 0
--END--
"""
STATES = "".join(f'{n} "größer {n}" {{p}} -> {n} 0;\n' for n in range(6))

COMPRESSED = [
    *((kripke.load, HEADER + text) for text in (STATES, STATES[:-1], STATES + "\n\n")),
    *((kripke.load, HEADER + STATES.replace(*old, 1)) for old in (
        ("2 0;", "2 ;"), ("2 0;", "3 0;"), ("2 0", "2 /* ;\n */ 0"), ("{p}", "{q}"),
        ('er 1"', 'er; 1'), ("->", "--"), ("0;", "0;\n\n"), ("1 \"", "1 \n \""),
    )),
    *((kripke.load, text) for text in ("", HEADER, HEADER[:20], "kripke" * 99)),
    *((hoa.load, AUTOMATON.replace(*old, 1)) for old in (
        ("", ""), ("[0] 0", "[0] 2"), ("[0] 0", "0"), ("State: 1", "State: 0"),
        ('größer', '"'), ("größer", "\nState: 1\n"), ("größer", "--END--"),
        ("--END--", ""), ("--END--\n", "--END--"), ("--END--", "--END-- $"),
        ("--END--", "--ABORT--"), ("--BODY--", "--BODY-- 0"), ("States: 2", ""),
    )),
    *((hoa.load, AUTOMATON * n) for n in (2, 3)),
    (ehoa.load, AUTOMATON),
    (ehoa.load, AUTOMATON * 3),
    *((hoa_game.load, GAME.replace(*old, 1)) for old in (
        ("", ""), ("--END--\n", "--END--"), ("--END--", ""), ("--END--", "--END-- t"),
        ("[0]", "[x]"), ("1 {0}", "1 {1}"), ("[t] 1", "t 1"), ("--BODY--", ""),
    )),
]  # fmt: skip


def said(load, path):
    """What a reader says of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = load(path)
        except FormatError as error:
            return str(error)
    if load is kripke.load:
        return kripke.dumps(found)
    return {hoa.load: hoa, ehoa.load: ehoa, hoa_game.load: hoa_game}[load].dumps(found)


@pytest.fixture
def in_bits(monkeypatch):
    """Compressed files come a few bytes at a time, and are read in short pieces."""
    monkeypatch.setattr(_pieces, "is_unpacked_ahead", lambda _: True)
    monkeypatch.setattr(_pieces, "_READY_BYTES", 0)
    for loop in (_kripke_loop, _hoa_loop):
        monkeypatch.setattr(loop, "_BYTES_AT_ONCE", 30)
    monkeypatch.setattr(_files, "_AT_ONCE", 7)
    monkeypatch.setattr(_whole, "_HEADER_BYTES", 110)


@pytest.mark.parametrize(("load", "text"), COMPRESSED)
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_what_is_unpacked_beside_is_read_alike(
    tmp_path, request, by_code, load, text, pack
):
    path = tmp_path / "a"
    path.write_bytes(pack(text.encode()))
    right = said(load, path)
    request.getfixturevalue("in_bits")
    assert said(load, path) == right


def short_only(parse):
    """Parses pieces of what has not all come."""

    def parsed(byte, begin, most):
        assert len(byte) - begin < 80, "all had come"
        return parse(byte, begin, most)

    return parsed


@pytest.mark.parametrize(("load", "text"), [
    (kripke.load, HEADER + STATES), (hoa.load, AUTOMATON), (ehoa.load, AUTOMATON),
    (hoa_game.load, GAME),
])  # fmt: skip
def test_it_is_parsed_while_it_comes(
    tmp_path, monkeypatch, by_code, in_bits, load, text
):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(text.encode()))
    right = said(load, path)
    for loop in (_kripke_loop, _hoa_loop):
        monkeypatch.setattr(loop, "_parsed", short_only(loop._parsed))
    assert said(load, path) == right
    data = path.read_bytes()
    path.write_bytes(data[:-9])  # which all of the text comes before
    with pytest.raises(FormatError, match="broken .gz data"):
        load(path)
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    if load is not hoa_game.load:
        monkeypatch.undo()
        with pytest.raises(FormatError, match="expected UTF-8 text"):
            load(path)


def test_what_comes_grows(tmp_path, monkeypatch, by_code):
    """It unpacks to more than was expected, and to more than it may."""
    path = tmp_path / "a"
    text = HEADER + "".join(f"{n} {{p}} -> 0;\n" for n in range(20_000))
    path.write_bytes(gzip.compress(text.encode(), 9))
    monkeypatch.setattr(_pieces, "is_unpacked_ahead", lambda _: True)
    monkeypatch.setattr(_files, "_PACKED", 0)
    assert kripke.dumps(kripke.load(path)) == text.replace("; p", ";\np")
    with io.limited(io.Limits(memory=40_000_000)), pytest.raises(io.OversizeError):
        kripke.load(path)
