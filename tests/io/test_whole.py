"""Texts that are held as bytes: read once, and decoded in parts."""

import gzip
import os
import threading
import warnings
from unittest import mock

import numpy as np
import pytest

from jaxgames import io
from jaxgames.io import FormatError, _pieces, _whole, hoa, kripke
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
