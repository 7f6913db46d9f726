"""Matrix Market's coordinate format: read as scipy reads it, written, refused."""

import dataclasses

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from random_models import check_that_damage_is_told

from jaxgames import Arena, io
from jaxgames.io import _lines

few = hypothesis.settings(deadline=None, max_examples=100)

HEAD = "%%MatrixMarket matrix coordinate"
TEXT = f"{HEAD} integer general\n% a comment\n\n3 3 4\n1 2 5\n3 3 -7\n1 1 0\n1 2 +6\n"


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        (tmp_path / "graph.mtx").write_text(text)
        return tmp_path / "graph.mtx"

    return write


def edges(arena: Arena) -> list:
    return list(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))


def test_example(write):
    arena = io.load(write(TEXT))
    assert edges(arena) == [(0, 1), (0, 0), (0, 1), (2, 2)]
    assert arena.weight.tolist() == [5, 0, 6, -7]
    assert not arena.owner.any()


@pytest.mark.parametrize(
    ("kind", "entries", "expected", "weight"),
    [
        ("pattern general", "2 1\n1 1", [(0, 0), (1, 0)], None),
        ("pattern symmetric", "2 1\n1 1", [(0, 0), (0, 1), (1, 0)], None),
        ("integer symmetric", "2 1 3\n1 1 4", [(0, 0), (0, 1), (1, 0)], [4, 3, 3]),
        ("integer skew-symmetric", "2 1 3\n1 1 0", None, [0, -3, 3]),
        ("real general", "2 1 1e-3\n1 1 0.5", [(0, 0), (1, 0)], None),
        ("Real General", "2 1 1e-3\n1 1 0.5", [(0, 0), (1, 0)], None),
    ],
)
def test_kinds(write, kind, entries, expected, weight):
    arena = io.load(write(f"{HEAD} {kind}\n2 2 2\n{entries}\n"))
    assert edges(arena) == (expected or [(0, 0), (0, 1), (1, 0)])
    assert (None if arena.weight is None else arena.weight.tolist()) == weight


def test_no_edges_and_no_vertices(write):
    for size in (0, 3):
        arena = io.load(write(f"{HEAD} pattern general\n{size} {size} 0\n"))
        assert arena.shape == (size, 0)
        path = write("")
        io.save(path, arena)
        assert io.load(path).shape == (size, 0)


@few
@hypothesis.given(st.data())
def test_any_graph_is_as_scipy_reads_it(tmp_path_factory, data):
    scipy_io = pytest.importorskip("scipy.io", reason="scipy is not installed")
    path = tmp_path_factory.getbasetemp() / "any.mtx"
    size = data.draw(st.integers(1, 6))
    ends = st.lists(st.integers(0, size - 1), min_size=7, max_size=7)
    weights = st.lists(st.integers(-(10**6), 10**6), min_size=7, max_size=7)
    arena = Arena.from_edges(
        data.draw(ends),
        data.draw(ends),
        owner=np.zeros(size, bool),
        weight=data.draw(st.none() | weights),
        dead_ends="allow",
    )
    io.save(path, arena.pad(16, 32))
    again = io.load(path)
    for name in ("row_ptr", "dst", "weight"):
        assert np.array_equal(getattr(again, name), getattr(arena, name))
    matrix = scipy_io.mmread(path, spmatrix=False).toarray()
    expected = np.zeros((size, size), np.int64)
    values = np.ones(7) if arena.weight is None else arena.weight
    np.add.at(expected, (arena.src, arena.dst), values.astype(np.int64))
    assert np.array_equal(matrix, expected)


@pytest.mark.parametrize("size", [1, 8, 40])
def test_stretches_of_any_size(write, monkeypatch, size):
    expected = edges(io.load(write(TEXT)))
    monkeypatch.setattr(_lines, "_STRETCH_BYTES", size)
    assert edges(io.load(write(TEXT))) == expected
    with pytest.raises(io.FormatError, match=r"mtx:7: expected a row"):
        io.load(write(TEXT.replace("1 1 0", "0 1 0")))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (TEXT, "", r": the file ends before the size of the matrix"),
        (TEXT, f"{HEAD} real general\n", r": the file ends before the size"),
        (f"{HEAD} integer general\n", "", r":1: expected '%%MatrixMarket matrix coord"),
        ("coordinate", "array", r":1: expected '%%MatrixMarket matrix coordinate FIE"),
        ("matrix coordinate", "vector coordinate", r":1: expected '%%MatrixMarket"),
        ("integer", "complex", r":1: expected one of pattern, real, double, integer,"),
        ("general", "hermitian", r":1: expected one of general, symmetric, skew-symm"),
        ("3 3 4", "3 4 4", r":4: expected a square matrix, found 3 rows and 4 columns"),
        ("3 3 4", "3 3", r":4: expected 'rows columns entries', found '3 3'"),
        ("3 3 4", "3 3 x", r":4: expected a size .*, found 'x'"),
        ("3 3 4", "3 3 5", r"announces 5 entries, but there are 4; was the file cut"),
        ("3 3 4", "2 2 4", r":6: expected a row \(a number from 1 to 2\), found '3'"),
        ("1 1 0", "0 1 0", r":7: expected a row \(a number from 1 to 3\), found '0'"),
        ("1 1 0", "1 -1 0", r":7: expected a column .*, found '-1'"),
        ("1 1 0", "1 1", r":7: expected 'row column value', found '1 1'"),
        ("1 1 0", "1 1 0 0", r":7: expected 'row column value', found '1 1 0 0'"),
        ("1 1 0", "1 1 0.5", r":7: expected an integer .*, found '0.5'"),
        ("1 1 0", "1 1 -", r":7: expected an integer"),
    ],
)
def test_refused(write, old, new, message):
    assert old in TEXT
    path = write(TEXT.replace(old, new))
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(path))


def test_values_of_real_matrices_are_numbers(write):
    path = write(f"{HEAD} real general\n1 1 1\n1 1 x\n")
    with pytest.raises(io.FormatError, match=r":3: expected a value .*, found 'x'"):
        io.load(path)


@pytest.mark.parametrize("seed", range(4))
def test_damage(tmp_path, seed):
    check_that_damage_is_told(tmp_path / "graph.mtx", TEXT.encode(), seed)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "graph.mtx"
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 0])
    for change, message in (
        ({"owner": np.array([False, True])}, "vertex 1 is player 1's; .npz can"),
        ({"priority": np.array([0, 1])}, "cannot hold priority; .npz can"),
        ({"weight": np.ones((2, 2), np.int32)}, "holds one weight for each edge"),
    ):
        with pytest.raises(ValueError, match=message):
            io.save(path, dataclasses.replace(arena, **change))
    assert not path.exists()
