"""Suffixes, formats by content, compressed files, and writing all or nothing."""

import bz2
import contextlib
import gzip
import lzma
import os
import pickle
import re
import stat
import threading

import numpy as np
import pytest

from jaxgames import Arena, io, ltl, mdp, synth
from jaxgames.io import _files, _formats

ARENA = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
TEXT = "parity 1;\n0 1 0 1;\n1 2 1 0;\n"


@pytest.mark.parametrize("name", ["game", "game.txt", "game.gz", "game.npz.gz", ".pg"])
def test_unknown_suffix(tmp_path, name):
    message = r"unknown suffix; known: .pg, .gm, .pgsolver, .*.gz, .bz2, .xz. and .npz"
    with pytest.raises(FileNotFoundError):
        io.load(tmp_path / name)
    with pytest.raises(io.FormatError, match=message):
        io.save(tmp_path / name, ARENA)
    assert not any(tmp_path.iterdir())


SAVED = {
    **dict.fromkeys([".pg", ".npz"], ARENA),
    **dict.fromkeys(
        [".energy", ".mpg", ".mtx"],
        Arena.from_edges([0, 1], [1, 0], owner=[0, 0], weight=[-1, 2]),
    ),
    ".eparity": Arena.from_edges(
        [0, 1], [1, 0], owner=[0, 1], weight=[-1, 2], priority=[0, 3]
    ),
    **dict.fromkeys(
        [".aut", ".csv", ".dot"], io.LTS.from_edges([0, 1], ["a", "b, c"], [1, 0])
    ),
    **dict.fromkeys(
        [".umb", ".drn", ".tra", ".prism"],
        mdp.MDP.from_arrays([0, 1, 2], [0, 1, 3], [1, 0, 1], [1, 0.5, 0.5]),
    ),
    ".kripke": io.kripke.loads("kripke; propositions p; initial 0; 0 {p} -> 0;"),
    **dict.fromkeys([".hoa", ".never"], ltl.translate("G p")),
    ".ehoa": synth.Specification.from_ltl("G(r -> F g)", ["r"]),
    ".tlsf": synth.Specification.from_ltl("G(r -> F g)", ["r"]),
    ".aag": synth.solve(synth.Specification.from_ltl("G(r -> g)", ["r"])).controller(),
}
"""Something that each format can hold."""

TEXTS = {
    "pg": [
        "parity 1;\n0 1 0 1;\n1 2 1 0;\n",
        "\n 0 1 0 1;\n1 2 1 0;\n",
        '0 1 0 1 , 0 "a; b";\n1 2 1 0;',
        "parity 1; start 0; 0 1 0 1; 1 2 1 0;",
    ],
    "mpg": [
        "1;\n0 MAX 1:-5;\n1 MIN 0:2;\n",
        "parity 1; 0 MAX 1:-5; 1 MIN 0:2;",
    ],
    "tra": [
        "2 3\n0 1 1\n1 0 0.5\n1 1 0.5\n",
        "mdp\n0 0 0 1 go\n",
        "# Transitions (IMDP)\n1 1 1\n0 0 0 [0.5,1]\n",
    ],
    "prism": [
        "// a walk\nctmc // in time\nconst int N;\n",
        "module m\n  x : [0..1];\nendmodule\n",
        "probabilistic\n\nformula f = 1;\n",
    ],
    "drn": ["// Exported\n// by nobody\n@type: MDP\n"],
    "never": ["#define p (x > 0)\nnever { /* G p */\nT0: skip }\n"],
    "dot": ["/* a graph */ strict digraph lts {\n0 -> 1;\n}\n"],
    "csv": ['0, 1,"a"\n'],
    "hoa": ["/* by hand */ HOA: v1\n"],
    "ehoa": ['HOA: v1 AP: 1 "a" /* */ controllable-AP: 0\n'],
    "aag": ["REALIZABLE\naag 0 0 0 0 0\n", "aig 0 0 0 0 0\n"],
}
"""Odd beginnings."""


@pytest.mark.parametrize("suffix", [x for x in io.FORMATS if x in SAVED])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_content_tells_the_format_where_the_suffix_does_not(tmp_path, suffix, pack):
    proper, bare = tmp_path / f"file{suffix}", tmp_path / "bare"
    io.save(proper, SAVED[suffix])
    bare.write_bytes(pack(proper.read_bytes()))
    assert io.format_of(bare) == suffix[1:]
    # Of a model its companions are missing there.
    assert type(io.load(bare)) is type(io.load(proper))
    other = bare.rename(tmp_path / "file.gz")
    if pack is not bytes:
        assert io.format_of(other) == suffix[1:]
    other.rename(tmp_path / f"other{suffix}")
    assert io.load(tmp_path / f"other{suffix}") is not None


def test_every_format_is_told_by_its_content():
    modules = {io.FORMATS[suffix] for suffix in SAVED}
    assert modules == set(io.FORMATS.values())


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in TEXTS for text in TEXTS[name]]
)
def test_odd_beginnings(tmp_path, name, text):
    path = tmp_path / "file"
    path.write_text(text)
    assert io.format_of(path) == name


@pytest.mark.parametrize("name", ["file", "file.txt", "file.gz"])
@pytest.mark.parametrize(
    "text", ["\n", "hello", "1 2 3\n", "/* " * 30_000, "/* */ " * 30_000, "0 0 2;\n"]
)
def test_nobody_knows_the_format(tmp_path, name, text):
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(io.FormatError) as e:
        io.load(path)
    assert e.value.path == str(path)
    assert "its content is not that of any known format" in e.value.message
    assert "pass format=, one of pg, gm, pgsolver, energy" in e.value.message


def test_nothing_has_no_format(tmp_path):
    (tmp_path / "file").write_bytes(gzip.compress(b""))
    with pytest.raises(io.FormatError, match="no suffix, and it is empty; pass format"):
        io.load(tmp_path / "file")


def test_two_formats_begin_alike(tmp_path, monkeypatch):
    monkeypatch.setitem(_formats.SIGNS, ".kripke", re.compile(b"par"))
    path = tmp_path / "game"
    path.write_text(TEXT)
    with pytest.raises(io.FormatError, match=r"no suffix, and .pg and .kripke files"):
        io.load(path)
    assert io.load(path, format="pg").shape[0] == 2


def test_a_format_by_name(tmp_path):
    path = tmp_path / "game.aut"
    path.write_text(TEXT)
    with pytest.raises(
        io.FormatError,
        match=r"game.aut:1: expected 'des .*found 'parity 1;'; it starts like .pg files"
        ": if it is one, pass format='pg'",
    ):
        io.load(path)
    for name in ("pg", ".pg", "PGSolver"):
        assert io.load(path, format=name).dst.tolist() == [1, 0]
    assert io.names(path, format="pg") == [None, None]
    with pytest.raises(
        ValueError, match=r"there is no format 'krypke' \(did you mean 'kripke'\?\); "
    ):
        io.load(path, format="krypke")
    with pytest.raises(ValueError, match=r"'pg\.gz' \(did you mean 'pg'\? Compression"):
        io.load(path, format="pg.gz")
    io.save(tmp_path / "bare", ARENA, format="npz")
    assert io.format_of(tmp_path / "bare") == "npz"
    with pytest.raises(ValueError, match="there is no format"):
        io.save(tmp_path / "bare", ARENA, format="")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("suffix", [".pg", ".npz", ".umb", ".mtx"])
def test_a_pipe_is_read_like_a_file(tmp_path, suffix, pack):
    io.save(tmp_path / f"file{suffix}", SAVED[suffix])
    data = pack((tmp_path / f"file{suffix}").read_bytes())
    pipe = tmp_path / "pipe"
    for name in (None, suffix[1:]):
        with fed(pipe, data):
            assert type(io.load(pipe, format=name)) is type(SAVED[suffix])
    reader, writer = os.pipe()
    with open(writer, "wb") as file:
        file.write(data)
    found = io.load(f"/dev/fd/{reader}")
    assert type(found) is type(SAVED[suffix])
    os.close(reader)  # it has not been closed by that


def test_what_is_wrong_in_a_pipe_is_told_by_its_line(tmp_path):
    text = b"parity 9;\n" + b"".join(b"%d 1 0 0;\n" % n for n in range(9))
    with (
        fed(tmp_path / "pipe", text + b"9 1 0 17;\n"),
        pytest.raises(io.FormatError, match=r"pipe:11: vertex 9 has successor 17"),
    ):
        io.load(tmp_path / "pipe")


@contextlib.contextmanager
def fed(path, data):
    """A pipe with a name, into which bytes are written once."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    os.mkfifo(path)

    def feed():
        with contextlib.suppress(BrokenPipeError):
            path.write_bytes(data)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        path.unlink()


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


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("suffix", [x for x in io.FORMATS if x in SAVED])
def test_a_mark_of_utf8_is_no_part_of_a_text(tmp_path, suffix, pack):
    path, other = tmp_path / f"plain{suffix}", tmp_path / f"marked{suffix}"
    io.save(path, SAVED[suffix])
    text = path.read_bytes()
    if b"\0" in text:  # an archive
        return
    other.write_bytes(pack(b"\xef\xbb\xbf" + text))
    bare = tmp_path / "bare"
    bare.write_bytes(pack(text))
    left, right = (io.load(x, format=suffix[1:]) for x in (other, bare))
    assert repr(left) == repr(right)
    bare.write_bytes(other.read_bytes())
    assert io.format_of(bare) == suffix[1:]


def test_lines_are_those_behind_a_mark(tmp_path):
    path = tmp_path / "game.pg"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode() + b"7 x 0 1;\n")
    with pytest.raises(io.FormatError) as e:
        io.load(path)
    assert e.value.line == TEXT.count("\n") + 1


@pytest.mark.parametrize("name", ["game.pg.zst", "game.zst", "game.pg", "game"])
def test_zstandard_is_not_read(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(io.FormatError, match="compression by Zstandard is not"):
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
    monkeypatch.setitem(io.FORMATS, ".parity", "jaxgames.io.pgsolver")
    io.save(tmp_path / "game.parity", ARENA)
    assert np.array_equal(io.load(tmp_path / "game.parity").priority, ARENA.priority)


def test_what_cannot_be_written_has_its_own_name(tmp_path, monkeypatch):
    """Not that of the file beside it."""
    with pytest.raises(FileNotFoundError) as e:
        io.save(tmp_path / "nowhere" / "game.pg", ARENA)
    assert e.value.filename == str(tmp_path / "nowhere" / "game.pg")
