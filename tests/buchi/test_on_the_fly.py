"""Graphs that arrive in pieces: searches of prefixes, threads, and files that grow."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from marked_graphs import Marked, marked, plain

from jaxgames import buchi, systems
from jaxgames.buchi import _on_the_fly

CORPUS = Path(__file__).parents[3] / "shared/data/made/ltl"


def in_pieces(arena, accepting, size: int, part=None):
    """The graph, so many vertices at a time."""
    for begin in range(0, len(accepting), size):
        end = min(begin + size, len(accepting))
        row_ptr = arena.row_ptr[begin : end + 1]
        yield systems.Piece(
            row_ptr - row_ptr[0],
            arena.dst[row_ptr[0] : row_ptr[-1]],
            accepting[begin:end],
            None if part is None else part[begin:end],
        )


def ring(size: int, closing: int) -> Marked:
    """A path with one edge back from `closing` to the beginning; all accept."""
    src = np.append(np.arange(size - 1), closing)
    dst = np.append(np.arange(1, size), 0)
    return Marked(plain(src, dst, size), np.ones(size, bool), np.array([0]))


@pytest.mark.parametrize("overlap", [False, True])
def test_random_graphs(overlap, monkeypatch):
    monkeypatch.setattr(_on_the_fly, "FIRST", 2)
    for case in marked(seed=20, count=200):
        start = case.starts[:1] if len(case.starts) else np.array([0])
        case = case._replace(starts=start)
        pieces = in_pieces(case.arena, case.accepting, 2)
        found = buchi.accepting_cycle_of(pieces, initial=start, overlap=overlap)
        assert found.exists == case.exists
        if found.exists:
            assert case.shows(found.lasso)
        else:
            assert found.stats["fraction"] == 1.0


@pytest.mark.parametrize("overlap", [False, True])
def test_a_cycle_ends_the_search(overlap):
    case, made = ring(100_000, closing=1500), []

    def pieces():
        for piece in in_pieces(case.arena, case.accepting, 100):
            made.append(piece)
            yield piece

    found = buchi.accepting_cycle_of(pieces(), overlap=overlap, num_vertices=100_000)
    assert case.shows(found.lasso)
    # Prefixes of 1100 and 2200 vertices; at most those up to the next are made.
    assert (found.stats["searches"], found.stats["searched"]) == (2, 2200)
    assert found.stats["built"] <= (4400 if overlap else 2200)
    assert found.stats["fraction"] == found.stats["built"] / 100_000
    time.sleep(0.05)
    assert len(made) <= 45


def test_prefixes_double():
    case = ring(20_000, closing=19_999)
    case = case._replace(accepting=np.zeros(20_000, bool))
    found = buchi.accepting_cycle_of(in_pieces(case.arena, case.accepting, 64))
    assert not found.exists
    # 1024, 2048, ..., 16384, and all of it.
    assert found.stats["searches"] == 6
    assert found.stats["searched"] == found.stats["built"] == 20_000


def test_both_ways_search_the_same():
    for closing in (10, 3000, 7999):
        case = ring(8000, closing)
        answers = [
            buchi.accepting_cycle_of(
                in_pieces(case.arena, case.accepting, 300), overlap=overlap
            )
            for overlap in (False, True)
        ]
        first, second = (
            (x.stats["searches"], x.stats["searched"], x.lasso.cycle.tolist())
            for x in answers
        )
        assert first == second


def test_pieces_are_made_while_a_prefix_is_searched(monkeypatch):
    case = ring(6000, closing=5999)
    searching, made, order = threading.Event(), threading.Event(), []
    search = _on_the_fly.accepting_cycle

    def slow(graph, **arguments):
        order.append("search")
        searching.set()
        assert made.wait(10)
        order.append("found")
        return search(graph, **arguments)

    def pieces():
        for number, piece in enumerate(in_pieces(case.arena, case.accepting, 500)):
            if number == 3:  # the first three are enough for a search
                assert searching.wait(10)
                order.append("piece")
                made.set()
            yield piece

    monkeypatch.setattr(_on_the_fly, "accepting_cycle", slow)
    assert buchi.accepting_cycle_of(pieces()).exists
    assert order[:3] == ["search", "piece", "found"]


def test_a_late_initial_vertex_and_parts():
    case = ring(3000, closing=2999)
    case = case._replace(starts=np.array([2500]))
    found = buchi.accepting_cycle_of(
        in_pieces(case.arena, case.accepting, 200, np.zeros(3000, int)), initial=2500
    )
    assert case.shows(found.lasso)
    assert found.stats["searches"] == 1 + 1


@pytest.mark.parametrize("overlap", [False, True])
def test_errors_of_the_pieces_are_told(overlap):
    def failing():
        yield [0, 1], [1], np.array([True])
        raise RuntimeError("the model is wrong")

    def of(*pieces):
        return buchi.accepting_cycle_of(iter(pieces), overlap=overlap)

    with pytest.raises(RuntimeError, match="the model is wrong"):
        buchi.accepting_cycle_of(failing(), overlap=overlap)
    good = [0, 1], [0], np.array([False])
    for bad, message in (
        (([0, 1], [0]), "piece 1 must be"),
        (([0, 2], [0], [True]), r"piece 1\.offsets must go from 0 to 1, got 0 to 2"),
        (
            ([0, 2, 1, 1], [0], np.ones(3, bool)),
            r"offsets\[2\] is 1, expected 2",
        ),
        (([0, 1], [-1], np.ones(1, bool)), r"piece 1\.targets\[0\] is -1"),
        (
            ([0, 1], [0.5], np.ones(1, bool)),
            r"piece 1\.targets must be a list",
        ),
        (
            ([0, 1], [0], np.ones(2, bool)),
            r"piece 1\.accepting must hold bool",
        ),
        (
            ([0, 1], [0], np.ones(1, bool), [0, 0]),
            r"piece 1\.part must hold int",
        ),
        (([0, 1], [0], np.ones(1, bool), [0]), "piece 1 must have parts if"),
    ):
        with pytest.raises(ValueError, match=message):
            of(good, bad)
    with pytest.raises(ValueError, match="from vertex 1 to vertex 7, but the pieces"):
        of(good, ([0, 1], [7], np.ones(1, bool)))
    with pytest.raises(ValueError, match="initial is 3"):
        buchi.accepting_cycle_of([good], initial=3, overlap=overlap)


# ---- files -----------------------------------------------------------------------


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_files_keep_pieces(kind, parts, tmp_path):
    path = tmp_path if kind == "folder" else tmp_path / "graph.pieces"
    for case in marked(seed=21, count=10):
        part = np.zeros(case.arena.shape[0], int) if parts else None
        pieces = list(in_pieces(case.arena, case.accepting, 3, part))
        for old in tmp_path.iterdir():
            old.unlink()
        systems.write_pieces(path, pieces)
        read = list(systems.read_pieces(path))
        assert len(read) == len(pieces)
        for ours, theirs in zip(read, pieces, strict=True):
            for x, y in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(x, y)
        found = buchi.accepting_cycle_of(path)
        assert found.exists == case._replace(starts=np.array([0])).exists


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_files_that_grow(kind, tmp_path):
    path = tmp_path if kind == "folder" else tmp_path / "graph.pieces"
    case = ring(5000, closing=4999)
    writer = systems.PieceWriter(path)

    def write():
        with writer:
            for piece in in_pieces(case.arena, case.accepting, 1000):
                time.sleep(0.02)
                writer.append(piece)

    thread = threading.Thread(target=write)
    thread.start()
    found = buchi.accepting_cycle_of(systems.read_pieces(path, poll=0.005))
    thread.join()
    assert case.shows(found.lasso)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("elevator-6-naive.serve1", 0.5),
        ("anderson-4.recur0", 0.5),
        ("peterson-3-err2.resp0", 0.2),
        ("anderson-3.someone", 1.0),
    ],
)
def test_stored_products(name, most):
    path = CORPUS / f"{name}.npz"
    if not path.is_file():
        pytest.skip("the folder of stored products is not there")
    with np.load(path) as data:
        z = dict(data)
    size = len(z["accepting"])
    arena = plain(np.repeat(np.arange(size), np.diff(z["offsets"])), z["targets"], size)
    found = buchi.accepting_cycle_of(
        in_pieces(arena, z["accepting"], 500), overlap=False, num_vertices=size
    )
    assert found.exists == bool(z["has_accepting_cycle"])
    assert found.stats["fraction"] <= most
