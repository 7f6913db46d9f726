"""Small files may not ask for much, and nothing may go on for ever."""

import contextlib
import gzip
import os
import pickle
import threading

import pytest

from jaxgames import Arena, io
from jaxgames.quoting import clipped, quoted

LAST = 2**31 - 3
MTX = "%%MatrixMarket matrix coordinate pattern general"

GREEDY = {
    "last.csv": f"0,{LAST},a\n",
    "header.aut": f"des (0, 0, {LAST})\n",
    "far.dot": f"digraph {{\n0 -> {LAST};\n}}\n",
    "empty.mtx": f"{MTX}\n{LAST} {LAST} 0\n",
}
"""Files of a few bytes with two billion vertices."""


@pytest.mark.parametrize("name", GREEDY)
def test_sizes_are_believed_as_far_as_the_file_can_bear_them(tmp_path, name):
    path = tmp_path / name
    path.write_text(GREEDY[name])
    with pytest.raises(
        io.OversizeError, match=r"about 68\.7 GB, more than .* 134 MB"
    ) as e:
        io.load(path)
    assert e.value.path == str(path)
    assert "pass limits=io.Limits(memory=" in str(e.value)


@pytest.mark.parametrize("name", GREEDY)
def test_sizes_that_are_granted_are_read(tmp_path, name):
    path = tmp_path / name
    path.write_text(GREEDY[name].replace(str(LAST), "100000"))
    assert getattr(io.load(path), "arena", io.load(path)).shape[0] >= 100_000
    with pytest.raises(io.OversizeError, match="more than the limit of 1 MB; if"):
        io.load(path, limits=io.Limits(memory=10**6))
    with io.limited(io.Limits(memory=10**6)):
        with pytest.raises(io.OversizeError):
            io.load(path)
        io.load(path, limits=io.Limits(memory=10**7))
    io.load(path)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    {
        "pg": ("a.pg", b"parity 1;\n0 0 0 1;\n1 0 0 0" + b" " * 3000, 2),
        "pg.gz": ("a.pg.gz", gzip.compress(b"0 0 0 0;\n" + b"\0" * 10**6), 1),
        "mpg": ("a.mpg", b"1;\n0 MAX 1:1;\n1 MIN " + b"0:1," * 1000, 2),
        "energy": ("a.energy", b"energy 2\n0 0 1 1\n1 1 0 " + b"1" * 3000, 3),
        "aut": ("a.aut", b'des (0, 1, 1)\n(0,"' + b"a" * 3000, 2),
        "dot": ("a.dot", b"digraph {\n0 -> 1;" + b" " * 3000, 2),
        "drn": ("a.drn", b"@type: MDP\n@nr_states\n" + b"1 " * 3000, 3),
    }.values(),
)
def test_a_statement_that_does_not_end(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_bytes(text)
    with pytest.raises(
        io.OversizeError, match="starts here has more than 1000 bytes"
    ) as e:
        io.load(path, limits=io.Limits(statement=1000))
    assert e.value.line == line
    assert "pass limits=io.Limits(statement=2000) or more" in str(e.value)


def test_a_limit_for_all_of_the_text(tmp_path):
    path = tmp_path / "game.pg.gz"
    text = b"0 0 0 0;\n" * 100_000
    for file, data in ((path, gzip.compress(text)), (path.with_suffix(""), text)):
        file.write_bytes(data)
        with pytest.raises(io.OversizeError, match="more than 41666 bytes of text"):
            io.load(file, limits=io.Limits(memory=10**6))
        with pytest.raises(io.FormatError, match="vertex 0 occurs twice"):
            io.load(file)


def test_what_unpacks_to_very_much(tmp_path, monkeypatch):
    monkeypatch.setattr(io._limits, "FLOOR", 10**6)
    path = tmp_path / "game.pg.gz"
    path.write_bytes(gzip.compress(b"0 0 0 0;\n" * 10**6))
    assert io._limits.PER_BYTE * path.stat().st_size < 9 * 10**6
    with pytest.raises(io.OversizeError, match="bytes of text"):
        io.load(path)


@pytest.fixture
def piped():
    """Gives bytes to a pipe; returns its name."""
    ends = []

    def pipe(*parts):
        reader, writer = os.pipe()

        def feed():
            with (
                contextlib.suppress(BrokenPipeError),
                open(writer, "wb", buffering=0) as file,
            ):
                for part in parts:
                    file.write(part)

        thread = threading.Thread(target=feed)
        thread.start()
        ends.append((reader, thread))
        return f"/dev/fd/{reader}"

    yield pipe
    for reader, thread in ends:
        os.close(reader)
        thread.join()


def test_a_pipe_announces_more_than_it_brings(piped):
    for name in GREEDY:
        text = GREEDY[name].encode()
        with pytest.raises(
            io.OversizeError, match=rf"68\.7 GB, more than .* of {len(text)} bytes"
        ):
            io.load(piped(text))


def test_as_much_of_a_pipe_is_waited_for_as_bears_what_is_announced(piped, monkeypatch):
    monkeypatch.setattr(io._limits, "FLOOR", 10**5)
    text = b"des (0, 20000, 5000)\n" + b'(0,"a",1)\n' * 20_000
    assert io.load(piped(text[:60], text[60:])).num_states == 5000
    short = text.replace(b"20000", b"200", 1)[:2019]
    with pytest.raises(io.OversizeError, match="for a file of 2019 bytes"):
        io.load(piped(short))


def test_what_unpacks_to_very_much_in_a_pipe(piped, monkeypatch):
    monkeypatch.setattr(io._limits, "FLOOR", 10**5)
    bomb = gzip.compress(b"0 0 0 0;\n" * 10**6)
    with pytest.raises(io.OversizeError, match="bytes of text, which is the limit"):
        io.load(piped(bomb))
    # What comes later may bear what is unpacked first.
    rest = os.urandom(10**5)
    good = gzip.compress(b"0 0 0 0" + b" " * 3 * 10**6 + b';\n1 0 0 1 "')
    text = b"".join(b"%02x" % x for x in rest)
    good += gzip.compress(text + b'";')
    assert io.load(piped(good), format="pg").shape[0] == 2


def test_a_limit_for_all_of_a_pipe(piped):
    text = b"0 0 0 0;\n" * 100_000
    for data in (text, gzip.compress(text)):
        with pytest.raises(io.OversizeError, match="more than 41666 bytes of text"):
            io.load(piped(data), limits=io.Limits(memory=10**6))


@pytest.mark.parametrize("limits", [{"memory": 0}, {"statement": -1}])
def test_limits_are_positive(limits):
    with pytest.raises(ValueError, match="must be at least 1, got"):
        io.Limits(**limits)


def test_a_limit_error_is_a_format_error_and_can_be_pickled():
    error = pickle.loads(pickle.dumps(io.OversizeError("a.pg", 3, "too much")))
    assert isinstance(error, io.FormatError)
    assert (str(error), error.line) == ("a.pg:3: too much", 3)


def test_what_is_quoted_is_cut():
    assert quoted("x" * 80) == repr("x" * 80)
    assert quoted("x" * 81) == repr("x" * 77 + "...")
    assert quoted(b"\xff" * 10**6) == repr("\ufffd" * 77 + "...")
    assert quoted(["x"] * 1000) == "['x', " + "'x', " * 14 + "'..."
    assert quoted(10**5000) == "a value of type int"
    assert clipped("x" * 81) == "x" * 77 + "..."


def test_arenas_are_read_as_before(tmp_path):
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
    for suffix in (".pg", ".pg.xz", ".npz"):
        io.save(tmp_path / f"a{suffix}", arena)
        found = io.load(tmp_path / f"a{suffix}", limits=io.Limits(memory=10**6))
        assert found.dst.tolist() == [1, 0]


def test_labels_are_believed_as_far_as_the_file_can_bear_them(tmp_path, monkeypatch):
    """As many labels as states would take the square of the file."""
    states = "".join(f"state {i} l{i}\naction a\n0 : 1\n" for i in range(3000))
    path = tmp_path / "a.drn"
    path.write_text(f"@type: MDP\n@nr_states\n3000\n@model\n{states}")
    with pytest.raises(io.OversizeError, match="3000 labels of 3000 states .* 9 MB"):
        io.load(path, limits=io.Limits(memory=8 * 10**6))
    assert io.load(path).labels["l7"].nonzero()[0].tolist() == [7]
    names = [f"p{i}" for i in range(3000)]
    rows = "".join(f"{i} {{p{i}}};" for i in range(3000))
    path = tmp_path / "a.kripke"
    path.write_text(f"kripke; propositions {' '.join(names)}; initial 0; {rows}")
    assert io.load(path).num_states == 3000
    monkeypatch.setattr(io._limits, "FLOOR", 1000)
    with pytest.raises(io.OversizeError, match="3000 propositions of 3000 states"):
        io.load(path)


def test_states_of_a_table_are_believed_as_far_as_the_file_can_bear_them(tmp_path):
    path = tmp_path / "a.tra"
    for text in (f"mdp\n0 0 {LAST} 1\n", f"{LAST + 1} 1 1\n0 0 0 1\n"):
        path.write_text(text)
        with pytest.raises(
            io.OversizeError, match=r"states take about 68\.7 GB, more th"
        ):
            io.load(path)


def test_labels_may_be_much_shorter_than_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(io._limits, "FLOOR", 100)
    (tmp_path / "a.tra").write_text(
        "dtmc\n" + "".join(f"{i} 0 1\n" for i in range(500))
    )
    (tmp_path / "a.lab").write_text('0="init" 1="x"\n0: 0\n')
    (tmp_path / "a.srew").write_text("0 1.5\n")
    model = io.load(tmp_path / "a.tra")
    assert model.labels["x"].sum() == 0
    assert model.state_rewards[""].sum() == 1.5
