"""NumPy archives: every label kept, and nothing accepted that is no arena."""

import dataclasses

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from jaxgames import Arena, io

ARENA = Arena.from_edges(
    [0, 0, 1],
    [0, 1, 0],
    owner=[0, 1],
    priority=[3, 2],
    edge_priority=[1, 2, 3],
    weight=[[1, -(2**40)], [0, 5], [7, 7]],
    accepting=[True, False],
)
ENTRIES = {
    "format": "jaxgames arena",
    "version": 1,
    **{
        name: getattr(ARENA, name)
        for name in (
            *("row_ptr", "dst", "owner", "priority"),
            *("edge_priority", "weight", "accepting"),
        )
    },
}


def equal(a: Arena, b: Arena) -> bool:
    for field in dataclasses.fields(Arena):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if (x is None) != (y is None):
            return False
        if x is not None and (x.dtype != y.dtype or not np.array_equal(x, y)):
            return False
    return True


def test_round_trip(tmp_path):
    path = tmp_path / "arena.npz"
    for arena in (ARENA, Arena.from_edges([], [], owner=[]), ARENA.reverse()):
        io.save(path, arena.pad(16, 32))
        assert equal(io.load(path), arena)


@hypothesis.settings(deadline=None, max_examples=50)
@hypothesis.given(st.data())
def test_any_labels(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.npz"
    size = data.draw(st.integers(1, 6))
    vertices = st.lists(st.integers(0, size - 1), min_size=9, max_size=9)
    arena = Arena.from_edges(
        data.draw(vertices),
        data.draw(vertices),
        owner=np.arange(size) % 2,
        priority=data.draw(st.none() | st.just(np.arange(size))),
        edge_priority=data.draw(st.none() | st.just(np.arange(9))),
        weight=data.draw(st.none() | st.just(np.arange(9) - 5)),
        accepting=data.draw(st.none() | st.just(np.arange(size) == 2)),
        dead_ends="allow",
    )
    io.save(path, arena)
    assert equal(io.load(path, dead_ends="allow"), arena)


def test_dead_ends_are_refused_unless_allowed(tmp_path):
    path = tmp_path / "graph.npz"
    io.save(path, Arena.from_edges([0], [1], owner=[0, 0], dead_ends="allow"))
    with pytest.raises(io.FormatError, match="vertex 1 has no successor"):
        io.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": None}, "expected format 'jaxgames arena', found 'none'"),
        ({"format": "other"}, "expected format 'jaxgames arena', found 'other'"),
        ({"version": 2}, "expected version '1', found '2'"),
        ({"version": np.arange(5000)}, "expected version '1', found"),
        ({"row_ptr": None}, "the archive has no array 'row_ptr'"),
        ({"dst": None}, "the archive has no array 'dst'"),
        ({"owner": None}, "the archive has no array 'owner'"),
        ({"priority": [3.0, np.nan]}, "priority must hold integers, got float64"),
        ({"dst": [0.0, 1.0, 0.0]}, "dst must hold integers, got float64"),
        ({"weight": [1.0, np.inf, 0.0]}, "weight must hold signed integers, got float"),
        ({"owner": [0, 1, 1]}, r"row_ptr must have one entry more than owner \(4\)"),
        ({"dst": [0, 1]}, r"row_ptr must ascend from 0 to the number of edges \(2\)"),
        ({"row_ptr": [0, 4, 3]}, "row_ptr must ascend"),
        (
            {"priority": [3]},
            r"priority must have one entry for each vertex \(2\), got 1",
        ),
        ({"edge_priority": [1, 2]}, "edge_priority must have one entry for each edge"),
        ({"weight": [1, 2, 3, 4]}, "weight must have one entry for each edge"),
        ({"accepting": [1]}, "accepting must have one entry for each vertex"),
        ({"dst": [0, 2, 0]}, r"dst\[1\] is 2, expected a value from 0 to 1"),
        ({"dst": [0, -1, 0]}, r"dst\[1\] is -1, expected a value from 0 to 1"),
        ({"owner": [0, 2]}, r"owner\[1\] is 2, expected a value from 0 to 1"),
        ({"priority": [3, -2]}, r"priority\[1\] is -2"),
        ({"priority": [3, 2**31]}, r"priority\[1\] is 2147483648"),
        ({"owner": [[0, 1]]}, "owner must have one dimension"),
        ({"owner": ["a", "b"]}, "owner must hold booleans or 0 and 1"),
    ],
)
def test_refused(tmp_path, changes, message):
    path = tmp_path / "arena.npz"
    entries = {k: v for k, v in {**ENTRIES, **changes}.items() if v is not None}
    np.savez(path, **entries)
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.line is None


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "arena.npz"
    np.savez(path, **{**ENTRIES, "owner": np.array([print, None], object)})
    with pytest.raises(
        io.FormatError, match="broken .npz archive: array 'owner' holds Python objects"
    ):
        io.load(path)


def test_other_files_and_broken_ones(tmp_path):
    path = tmp_path / "arena.npz"
    for data in (b"", b"parity 1;\n", b"PK\3\4", b"\x93NUMPY\1\0"):
        path.write_bytes(data)
        with pytest.raises(io.FormatError, match="this is not an .npz archive"):
            io.load(path)
    np.savez(path, offsets=[0, 1], targets=[0], owner=[0])
    with pytest.raises(io.FormatError, match="expected format"):
        io.load(path)


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.data())
def test_damage_is_noticed_or_harmless(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    io.save(folder / "whole.npz", ARENA)
    damaged = bytearray((folder / "whole.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(
            st.integers(0, 255)
        )
    del damaged[data.draw(st.integers(1, len(damaged)) | st.just(len(damaged))) :]
    (folder / "damaged.npz").write_bytes(damaged)
    try:
        arena = io.load(folder / "damaged.npz")
    except io.FormatError:
        return
    # A label whose name was hit is not seen; all that is seen is right.
    for name in ("row_ptr", "dst", "owner", "priority", "weight", "accepting"):
        if getattr(arena, name) is not None:
            assert np.array_equal(getattr(arena, name), getattr(ARENA, name))


def test_only_max_even(tmp_path):
    path = tmp_path / "arena.npz"
    with pytest.raises(
        ValueError, match="hold priorities as max even, not as min even"
    ):
        io.save(path, ARENA, condition="min even")
    io.save(path, ARENA)
    with pytest.raises(ValueError, match="hold priorities as max even, not as max odd"):
        io.load(path, condition="max odd")
