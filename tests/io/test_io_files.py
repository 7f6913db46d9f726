"""Suffixes, compressed files, and writing all or nothing."""

import bz2
import gzip
import lzma
import os
import pickle
import stat

import numpy as np
import pytest

from jaxgames import Arena, io
from jaxgames.io import _files

ARENA = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
TEXT = "parity 1;\n0 1 0 1;\n1 2 1 0;\n"


@pytest.mark.parametrize("name", ["game", "game.txt", "game.gz", "game.npz.gz", ".pg"])
def test_unknown_suffix(tmp_path, name):
    message = (
        r"unknown suffix; known are .pg, .gm, .pgsolver, .*.gz, .bz2, .xz. and .npz"
    )
    with pytest.raises(io.FormatError, match=message):
        io.load(tmp_path / name)
    with pytest.raises(io.FormatError, match=message):
        io.save(tmp_path / name, ARENA)
    assert not any(tmp_path.iterdir())


def test_paths_may_be_strings(tmp_path):
    path = str(tmp_path / "Game.PG")
    io.save(path, ARENA)
    assert io.load(path).dst.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["game.pg", "game.pg.gz", "game.pg.bz2", "game.npz"])
def test_no_such_file_and_a_folder(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        io.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        io.save(tmp_path / "nowhere" / name, ARENA)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError):
        io.load(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        io.save(tmp_path / name, ARENA)


def test_compressed_text_is_the_text(tmp_path):
    for name, module in (
        ("game.pg.gz", gzip),
        ("game.pg.bz2", bz2),
        ("game.pg.xz", lzma),
    ):
        io.save(tmp_path / name, ARENA)
        assert module.decompress((tmp_path / name).read_bytes()).decode() == TEXT
    first = (tmp_path / "game.pg.gz").read_bytes()
    io.save(tmp_path / "other.pg.gz", ARENA)
    assert (tmp_path / "other.pg.gz").read_bytes() == first


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".gz", gzip.compress(TEXT.encode())[:-9]),
        (".gz", gzip.compress(TEXT.encode())[:-8] + bytes(8)),
        (".gz", gzip.compress(TEXT.encode())[:12] + b"\xff" * 20),
        (".gz", TEXT.encode()),
        (".gz", b"\x1f\x8b"),
        (".bz2", bz2.compress(TEXT.encode())[:-9]),
        (".bz2", bz2.compress(TEXT.encode())[:12] + b"\xff" * 20),
        (".bz2", TEXT.encode()),
        (".xz", lzma.compress(TEXT.encode())[:-9]),
        (".xz", lzma.compress(TEXT.encode())[:24] + b"\xff" * 20),
        (".xz", TEXT.encode()),
    ],
    ids=range(11),  # gzip puts the time into its data
)
def test_broken_compression(tmp_path, suffix, data):
    path = tmp_path / f"game.pg{suffix}"
    path.write_bytes(data)
    with pytest.raises(
        io.FormatError, match=rf"game.pg{suffix}: broken {suffix} data: "
    ):
        io.load(path)


def test_compressed_nothing(tmp_path):
    path = tmp_path / "game.pg.gz"
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(io.FormatError, match="found the end of the file"):
        io.load(path)


@pytest.mark.parametrize("name", ["game.pg", "game.pg.gz", "game.pg.bz2", "game.npz"])
def test_a_failed_write_leaves_what_was_there(tmp_path, name, monkeypatch):
    path = tmp_path / name
    io.save(path, ARENA)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        io.save(path, ARENA)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "game.pg"
    path.write_text("old")

    def interrupted():
        with _files.writing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "store").mkdir()
    target = tmp_path / "store" / "blob"
    target.write_bytes(b"")
    link = tmp_path / "game.pg.gz"
    link.symlink_to(target)
    io.save(link, ARENA)
    assert link.is_symlink()
    assert gzip.decompress(target.read_bytes()).decode() == TEXT


def test_mode_of_a_new_file(tmp_path):
    old = os.umask(0o027)
    try:
        io.save(tmp_path / "game.pg", ARENA)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "game.pg").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    reader, writer = os.openpty() if hasattr(os, "openpty") else pytest.skip("no pty")
    try:
        path = os.ttyname(writer)
        with _files.writing(path) as file:
            file.write(b"hello\n")
        assert os.read(reader, 100).split() == [b"hello"]
        assert stat.S_ISCHR(os.stat(path).st_mode)
    finally:
        os.close(reader)
        os.close(writer)


def test_errors_survive_pickling():
    error = io.FormatError("game.pg", 3, "expected ';'")
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.line, again.message) == ("game.pg", 3, "expected ';'")
    assert str(again) == str(error) == "game.pg:3: expected ';'"


def test_a_format_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(io.TEXT_FORMATS, ".parity", io.pgsolver)
    io.save(tmp_path / "game.parity", ARENA)
    assert np.array_equal(io.load(tmp_path / "game.parity").priority, ARENA.priority)
