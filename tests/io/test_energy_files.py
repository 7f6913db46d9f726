"""Text formats of energy games, and archives with weights."""

import gzip
import re

import numpy as np
import pytest

from jaxgames import Arena, cli, generate, io
from jaxgames.io import _weighted_rows, _weighted_write, energy, mpg

ENERGY = """\
energy 3
0 0 1 -5,2 7
1 1 0 2
2 0 2 0
"""
MPG = """\
2;
0 MAX 1:-5,2:7;
1 MIN 0:2;
2 MAX 2:0;
"""


def same(first, second):
    names = ("row_ptr", "dst", "owner", "weight")
    for name in names:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.weight.dtype == second.weight.dtype


@pytest.fixture
def arena():
    return Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 0], weight=[-5, 7, 2, 0]
    )


@pytest.mark.parametrize(
    ("name", "text"), [("game.energy", ENERGY), ("game.eg", ENERGY), ("game.mpg", MPG)]
)
def test_text_and_game(tmp_path, arena, name, text):
    path = tmp_path / name
    io.save(path, arena.pad())
    assert path.read_text() == text
    same(io.load(path), arena)
    with gzip.open(f"{path}.gz", "wt") as file:
        file.write(text)
    same(io.load(f"{path}.gz"), arena)


@pytest.mark.parametrize(
    "text",
    [
        "\n energy\t3 \r\n2 0 2 0\r\n\r\n  0 0  1\t-5 , 2 7 \r\n1 1 0 2",
        "energy 3\n0 0 1 -5 ,2 7\n1 1 00 0000000000000000000002\n2 0 2 -0",
    ],
)
def test_blanks_and_orders_of_lines(tmp_path, arena, text):
    path = tmp_path / "game.energy"
    path.write_bytes(text.encode())
    same(energy.load(path), arena)


@pytest.mark.parametrize(
    "text",
    [
        "arena 2 7; 2 MAX 2:0; 1 MIN 0:2; 0 MAX 1:-5,2:7;",
        "2;0 MAX 1:-5,2:7;1 MIN 0:2;2 MAX 2:0;",
        'parity 2 ;\n0 MAX\n1 : -5\n,2:7 "a; name,\n 1:2" ; 1 MIN 0:2"";\n\n2 MAX 2:0;',
    ],
)
def test_white_space_and_names(tmp_path, arena, text):
    path = tmp_path / "game.mpg"
    path.write_text(text)
    same(mpg.load(path), arena)
    quoted = {"a; name,\n 1:2": 0, "": 1} if '"' in text else {}
    names = mpg.names(path)
    path.write_text(text.replace(" 0 MAX", ' "of nobody" 0 MAX'))
    assert mpg.names(path) == names
    assert {name: v for v, name in enumerate(names) if name is not None} == quoted


@pytest.mark.parametrize("suffix", [".energy", ".mpg", ".npz"])
def test_round_trips(tmp_path, suffix, monkeypatch):
    """Weights of all sizes; with small stretches every row meets a border."""
    monkeypatch.setattr(_weighted_rows, "_STRETCH_BYTES", 40)
    monkeypatch.setattr(_weighted_write, "_STRETCH_ROWS", 3)
    path = tmp_path / f"game{suffix}"
    for seed in range(30):
        most = 10 ** (seed % 20) if seed % 20 < 18 else 2**62
        game = generate.random_energy_game(
            seed, 1 + seed, min_weight=-most, max_weight=most, min_degree=1
        )
        io.save(path, game)
        same(io.load(path), game)


@pytest.mark.parametrize("suffix", [".energy", ".mpg", ".npz"])
def test_extreme_weights(tmp_path, suffix):
    path = tmp_path / f"game{suffix}"
    weight = [2**63 - 1, -(2**63), -(2**31), 2**31]
    arena = Arena.from_edges([0] * 4, [0] * 4, owner=[1], weight=weight)
    io.save(path, arena)
    same(io.load(path), arena)


@pytest.mark.parametrize("suffix", [".energy", ".mpg"])
def test_dead_ends(tmp_path, suffix):
    path = tmp_path / f"game{suffix}"
    arena = Arena.from_edges(
        [1, 1], [0, 2], owner=[0, 1, 1], weight=[-3, 4], dead_ends="allow"
    )
    io.save(path, arena)
    same(io.load(path, dead_ends="allow"), arena)
    with pytest.raises(io.FormatError, match=r":2: vertex 0 has no successor; pass"):
        io.load(path)
    lose = io.load(path, dead_ends="lose")
    assert lose.weight.tolist() == [-1, -3, 4, 1]


BAD_ENERGY = {
    "": (1, "expected 'energy N', with the number of vertices, found ''"),
    "parity 3;\n": (1, "expected 'energy N', with the number of vertices, found"),
    "energy -3\n": (1, "found 'energy -3'"),
    "energy 0\n": (1, "for 1 to 2147483646 vertices, found 0"),
    "energy 1\n": (None, "there are no vertices after the header"),
    "energy 2\n0 0 0 1\n2 0 0 1\n": (
        3, "expected an identifier (a number from 0 to 1), found '2'"),
    "energy 2\n0 0 0 1\n\n1 0 2 1\n": (
        4, "expected a successor of vertex 1 (a number from 0 to 1), found '2'"),
    "energy 1\n0 2 0 1\n": (
        2, "expected the owner of vertex 0 (0 or 1), found '2'"),
    "energy 1\n0 0 0 1.5\n": (
        2, "expected a weight of vertex 0 (an integer of 64 bits), found '1.5'"),
    "energy 1\n0 0 0 nan\n": (2, "expected a weight of vertex 0"),
    "energy 1\n0 0 0 9223372036854775808\n": (2, "found '9223372036854775808'"),
    "energy 1\n0 0 0 -99999999999999999999999\n": (2, "expected a weight of vertex 0"),
    "energy 1\n0 0 0 -\n": (2, "found '-'"),
    "energy 1\n0 0 0 --1\n": (2, "found '--1'"),
    "energy 2\n0 0 0,1 2\n": (
        2, "expected a weight after a successor of vertex 0, '0', found ','"),
    "energy 2\n0 0 0 1,1\n": (
        2, "expected a weight after a successor of vertex 0, '1', found the line end"),
    "energy 2\n0 0 0 1 1 2\n": (
        2, "expected ',' or the line end after a weight of vertex 0, '1', found '1'"),
    "energy 2\n0 0 0 1,,1 2\n": (
        2, "expected ',' or the line end after a weight of vertex 0, '1', found sev"),
    "energy 2\n0 0 0 1,\n1 0 0 1\n": (2, "expected a successor after ','"),
    "energy 2\n0\n": (
        2, "expected its owner after an identifier, '0', found the line end"),
    "energy 2\n0,1 2\n": (2, "expected its owner after an identifier, '0', found ','"),
    "energy 2\n,0 0 1 2\n": (2, "expected a vertex, found ','"),
    "energy 2\n0 0 0 1\n1 1 0 1\n0 0 0 1\n": (4, "vertex 0 occurs twice"),
    "energy 3\n0 0 0 1\n2 0 0 1\n": (
        None, "vertex 1 is missing: the header announces 3 vertices, from 0 to 2, but "
        "there are 2; was the file cut off?"),
    "energy 2000000000\n0 0 0 1\n": (None, "vertex 1 is missing"),
}  # fmt: skip

BAD_MPG = {
    "x;": (1, "expected 'N;', with the largest identifier, found 'x;'"),
    "1;\n0 MAX 0:1;\n1 max 0:1;": (
        3, "expected the owner of vertex 1 (MAX or MIN), found 'max'"),
    "1;\n0 MAX 0:1,1;\n1 MAX 0:1;": (
        2, "expected ':' and a weight after a successor of vertex 0, '1', found ';'"),
    "1;\n0 MAX 0:1 1:2;": (
        2, "expected ',' or ';' after a weight of vertex 0, '1', found '1'"),
    "1;\n0 MAX 0:1:2;": (
        2, "expected ',' or ';' after a weight of vertex 0, '1', found ':'"),
    "1;\n0 MAX 0:1": (
        2, "expected ',' or ';' after a weight of vertex 0, '1', found the end of the"),
    "1;\n0 MAX 0:1\n;\n1 MIN\n 5:1;": (
        5, "expected a successor of vertex 1 (a number from 0 to 1), found '5'"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "text", "line", "message"),
    [(".energy", text, *fault) for text, fault in BAD_ENERGY.items()]
    + [(".mpg", text, *fault) for text, fault in BAD_MPG.items()],
)
@pytest.mark.parametrize("size", [1 << 20, 8])
def test_faults_are_named(tmp_path, suffix, text, line, message, size, monkeypatch):
    monkeypatch.setattr(_weighted_rows, "_STRETCH_BYTES", max(size, len(text[:22])))
    path = tmp_path / f"bad{suffix}"
    path.write_text(text)
    with pytest.raises(io.FormatError, match=re.escape(message)) as caught:
        io.load(path)
    assert caught.value.line == line
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", [".energy", ".mpg"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": None}, "one weight on each edge; this one has none"),
        ({"weight": [[1, 2]]}, "one weight on each edge; this one has more"),
        ({"priority": [3]}, "cannot hold priority; .npz can"),
    ],
)
def test_what_the_formats_cannot_hold(tmp_path, suffix, change, message):
    arena = Arena.from_edges([0], [0], **({"owner": [0], "weight": [1]} | change))
    path = tmp_path / f"game{suffix}"
    with pytest.raises(ValueError, match=message):
        io.save(path, arena)
    assert not path.exists()
    for use in (lambda: io.load(path, condition="min even"),
                lambda: io.save(path, arena, condition="min even")):  # fmt: skip
        with pytest.raises(ValueError, match="conditions are for priorities"):
            use()


def test_on_the_command_line(tmp_path, arena, capsys, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    first, second = tmp_path / "game.energy", tmp_path / "game.mpg.xz"
    io.save(first, arena)
    assert cli.main(["convert", str(first), str(second)]) == 0
    same(io.load(second), arena)
    assert cli.main(["info", str(second)]) == 0
    assert re.search(r"weight +-5 to 7, mean 1.00", capsys.readouterr().out)
