"""Files of graphs that arrive in pieces: what ends them, and what is none."""

import numpy as np
import pytest

from jaxgames import systems


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_patience_ends(kind, tmp_path):
    path = tmp_path if kind == "folder" else tmp_path / "graph.pieces"
    with systems.PieceWriter(path) as writer:
        writer.append(([0, 0], [], np.array([False])))
        pieces = systems.read_pieces(path, poll=0.001, patience=0.02)
        assert len(next(pieces).accepting) == 1
        with pytest.raises(TimeoutError, match="no piece, nor the end, came"):
            next(pieces)


def test_a_writer_that_fails_says_no_end(tmp_path):
    path = tmp_path / "graph.pieces"
    with (
        pytest.raises(ValueError, match="piece 0 must be"),
        systems.PieceWriter(path) as writer,
    ):
        writer.append(([0], []))
    with pytest.raises(TimeoutError):
        list(systems.read_pieces(path, poll=0.001, patience=0.01))


def test_malformed_files(tmp_path):
    path = tmp_path / "graph.pieces"
    path.write_bytes(b"nonsense of some length")
    with pytest.raises(ValueError, match="is not a file of pieces"):
        list(systems.read_pieces(path))
    header = np.array([2, 1, 0], "<i8").tobytes()
    path.write_bytes(b"jgpieces" + header + np.array([1, 1], "<i4").tobytes())
    with pytest.raises(ValueError, match="at byte 8 has 1 edges, but its degrees sum"):
        list(systems.read_pieces(path))
    path.write_bytes(b"jgpieces" + np.array([-2, 0, 0], "<i8").tobytes())
    with pytest.raises(ValueError, match="says that it has -2 vertices"):
        list(systems.read_pieces(path))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x.npz").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is not a piece"):
        list(systems.read_pieces(folder))
