"""Byte-level fuzzing of readers: that nothing is found, and what is wrong is found."""

import sys
import time

import pytest

from jaxgames import io
from jaxgames.testing import SLICES, _files, fuzz
from jaxgames.testing._files import READERS, Case, complaint
from jaxgames.testing._fuzz import draw

SAME = {".gm", ".pgsolver", ".eg", ".pm", ".nm", ".sm"}
"""Other suffixes of formats that are read under another one."""
FORMATS = set(io.FORMATS) - SAME


def test_every_format_is_there():
    assert {f".{name.split('.')[1]}" for name in READERS if "." in name} >= FORMATS


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_mutated_is_read(name, tmp_path):
    reader = READERS[name]
    for number, case in enumerate(reader.samples(name)):
        assert complaint(case) is None
        folder = tmp_path / str(number)
        folder.mkdir()
        for file, data in _files._packed(case).items():
            (folder / file).write_bytes(data)
        reader.read(folder / name)


def test_nothing_is_found():
    summary = fuzz(SLICES["files"], games=600, seed=7, limit=None)
    assert summary.failure is None, summary.failure
    assert summary.games == 600


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [8, 9])
def test_nothing_is_found_at_length(seed):
    """With the one for every slice, ten minutes."""
    summary = fuzz(SLICES["files"], games=10**9, seconds=240, seed=seed)
    assert summary.failure is None, summary.failure


def test_cases_differ_and_can_be_made_again(monkeypatch):
    subject = SLICES["files"]()
    cases = [draw(subject, 9, index) for index in range(100)]
    monkeypatch.setattr(time, "time", lambda: 2e9)  # compressed files say when
    assert cases == [draw(subject, 9, index) for index in range(100)]
    samples = [x for name, reader in READERS.items() for x in reader.samples(name)]
    assert sum(case not in samples for case in cases) > 90


def planted(path):
    """A reader with four faults."""
    data = path.read_bytes()
    if b"7" in data:
        raise KeyError("seven")
    if b"8" in data:
        raise io.FormatError(path, 1, f"found {data * 1000!r}")
    if b"6" in data:
        raise OSError("broken")
    if b"5" in data:
        return bytearray(32 << 30)
    return None


def broken():
    """All readers, and one that is wrong."""
    READERS["a.csv"] = READERS["a.csv"]._replace(read=planted)
    return _files.subject()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"17", "KeyError in test_files.py"),
        (b"18", "a message of .* characters"),
        (b"16", "OSError in test_files.py"),
        (b"1", None),
    ],
)
def test_what_is_wrong_is_complained_of(monkeypatch, data, message):
    monkeypatch.setitem(READERS, "a.csv", READERS["a.csv"]._replace(read=planted))
    found = complaint(Case("a.csv", "", {"a.csv": data}))
    assert found is None if message is None else message.split(" .*")[0] in found


@pytest.mark.skipif(sys.platform != "linux", reason="only there can it be bounded")
def test_memory_is_bounded(monkeypatch):
    monkeypatch.setitem(READERS, "a.csv", READERS["a.csv"]._replace(read=planted))
    check = _files.subject().checks["a.csv"]
    found = check([Case("a.csv", "", {"a.csv": b"5"})])
    assert "MemoryError" in found[0]


def test_a_broken_reader_is_found_and_its_file_shrunk(monkeypatch):
    monkeypatch.setitem(READERS, "a.csv", READERS["a.csv"])
    failure = fuzz(broken, ["a.csv"], games=20_000, seed=3, limit=None).failure
    assert failure is not None
    (data,) = failure.case.parts.values()
    assert data in (b"5", b"6", b"7") or b"8" in data
    scope = {}
    exec(failure.code.replace("complaint(Case", "found = complaint(Case"), scope)
    # Nothing bounds memory here: some machines have as much as the bug wants.
    assert scope["found"] == failure.complaint or data == b"5" or b"8" in data
