"""Graphs that arrive in pieces, and files of them that grow while they are read."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Unpack

import numpy as np

from jaxgames import archive, limits
from jaxgames.arena import MAX_SIZE
from jaxgames.arguments import check_array, check_offsets, check_places
from jaxgames.limits import Bounds, limited
from jaxgames.tuning.base import BYTES_AT_ONCE as _AT_ONCE

MAGIC = b"jgpieces"
"""The first bytes of a file of pieces."""

END = "end"
"""A file of this name in a folder of pieces says that there are no more."""

_HEADER = np.dtype("<i8")
_NUMBER = np.dtype("<i4")


class Piece(NamedTuple):
    """The next `N` vertices of a graph, with all their edges.

    Vertices are numbered in the order in which pieces bring them, breadth first from
    the initial ones, so that what has come is a prefix. Edges may lead to vertices of
    later pieces.

    Attributes:
        offsets: integers `[N + 1]`, from 0; the edges of the piece's vertex `i` are
            `offsets[i] .. offsets[i + 1] - 1`.
        targets: integers `[M]`, vertices of the whole graph.
        accepting: bool `[N]`.
        part: integers `[N]`, the part of each vertex, as in the `partition` of
            [`accepting_cycle`][jaxgames.buchi.accepting_cycle]; or None.
    """

    offsets: Any
    targets: Any
    accepting: Any
    part: Any = None


def check_piece(piece: Any, number: int) -> Piece:
    """The piece as arrays of numpy; else a ValueError names it."""
    try:
        piece = Piece(*piece)
    except TypeError:
        raise ValueError(
            f"piece {number} must be (offsets, targets, accepting) or these and parts, "
            f"got {type(piece).__name__}"
        ) from None
    offsets, targets = np.asarray(piece.offsets), np.asarray(piece.targets)
    accepting = np.asarray(piece.accepting)
    if targets.size == 0:
        targets = targets.astype(np.int32)
    name = f"piece {number}"
    check_places(f"{name}.targets", targets, np.iinfo(np.int32).max)
    check_offsets(f"{name}.offsets", offsets, len(targets))
    size = len(offsets) - 1
    check_array(f"{name}.accepting", accepting, (size,), "b")
    part = None if piece.part is None else np.asarray(piece.part)
    if part is not None:
        check_array(f"{name}.part", part, (size,), "iu")
    return Piece(offsets.astype(np.int64), targets.astype(np.int32), accepting, part)


# ---- files -----------------------------------------------------------------------


class PieceWriter:
    """Writes pieces one after the other where another process may read them.

    To a folder: each piece is an `.npz` file with the arrays `offsets`, `targets`,
    `accepting` and perhaps `part`, read in the order of their names, and an empty file
    `end` says that there are no more. A file appears when it is complete.

    To a file, appended to: the bytes `jgpieces`; then for each piece three numbers of
    64 bits, its vertices N, its edges M, and 1 if it has parts, else 0; then the
    out-degrees int32 `[N]`, targets int32 `[M]`, accepting uint8 `[N]`, and parts int32
    `[N]` if it has such; all little endian. N = -1 says that there are no more pieces.

    Args:
        path: a folder that there is, or a file to write.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with PieceWriter(folder) as writer:
        ...         writer.append(Piece([0, 1], [0], np.array([True])))
        ...     [piece.targets for piece in read_pieces(folder)]
        [array([0], dtype=int32)]
    """

    def __init__(self, path: str | Path):
        self._path = Path(path)
        self._count = 0
        self._file: BinaryIO | None = None
        if not self._path.is_dir():
            self._file = self._path.open("wb")
            self._file.write(MAGIC)
            self._file.flush()

    def append(self, piece: Any) -> None:
        """Writes the next piece.

        Raises:
            ValueError: it is none.
        """
        piece = check_piece(piece, self._count)
        if self._file is None:
            arrays = {k: v for k, v in piece._asdict().items() if v is not None}
            part = self._path / f"piece-{self._count:09}.part"
            with part.open("wb") as file:
                np.savez(file, **arrays)
            part.rename(part.with_suffix(".npz"))
        else:
            degree = np.diff(piece.offsets)
            header = [len(degree), len(piece.targets), piece.part is not None]
            self._file.write(np.array(header, _HEADER).tobytes())
            self._file.write(degree.astype(_NUMBER).tobytes())
            self._file.write(piece.targets.astype(_NUMBER).tobytes())
            self._file.write(piece.accepting.astype(np.uint8).tobytes())
            if piece.part is not None:
                self._file.write(piece.part.astype(_NUMBER).tobytes())
            self._file.flush()
        self._count += 1

    def close(self) -> None:
        """Says that there are no more pieces."""
        if self._file is None:
            (self._path / END).touch()
        elif not self._file.closed:
            self._file.write(np.array([-1, 0, 0], _HEADER).tobytes())
            self._file.close()

    def __enter__(self) -> "PieceWriter":
        return self

    def __exit__(self, *error: Any) -> None:
        """Closes it; after an error there may be pieces missing, and no end is said."""
        if error[0] is None:
            self.close()
        elif self._file is not None:
            self._file.close()


@limited()
def write_pieces(
    path: str | Path, pieces: Iterable[Any], **bounds: Unpack[Bounds]
) -> None:
    """Writes pieces to a folder or a file; how says `PieceWriter`.

    Args:
        path: a folder that ends in a separator or is there, or a file.
        pieces: [`Piece`][jaxgames.systems.Piece]s, or tuples of the same fields.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: a piece is wrong.
    """
    with PieceWriter(path) as writer:
        for piece in limits.ticking(pieces, "writing pieces"):
            writer.append(piece)


@limited()
def read_pieces(
    path: str | Path,
    *,
    poll: float = 0.05,
    patience: float | None = None,
    **bounds: Unpack[Bounds],
) -> Iterator[Piece]:
    """Reads pieces as they are written, until their end is said.

    Args:
        path: a folder or a file that [`PieceWriter`][jaxgames.systems.PieceWriter]
            writes, or has written.
        poll: seconds between two looks for more.
        patience: seconds to wait for the next piece; None: for ever.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the file or a piece is malformed.
        TimeoutError: no piece came in that time.
    """
    path = Path(path)
    wait = _Waiting(path, poll, patience)
    if path.is_dir():
        yield from _from_folder(path, wait)
    else:
        with path.open("rb") as file:
            yield from _from_file(path, file, wait)


class _Waiting:
    """Waits, but not for ever."""

    def __init__(self, path: Path, poll: float, patience: float | None):
        self._path, self._poll, self._patience = path, poll, patience
        self._since = time.monotonic()

    def reset(self) -> None:
        self._since = time.monotonic()

    def __call__(self) -> None:
        waited = time.monotonic() - self._since
        if self._patience is not None and waited > self._patience:
            raise TimeoutError(
                f"{self._path}: no piece, nor the end, came in {self._patience} seconds"
            )
        limits.tick("waiting for a piece")
        time.sleep(self._poll)


def _from_folder(path: Path, wait: _Waiting) -> Iterator[Piece]:
    last = ""
    while True:
        ended = (path / END).exists()  # looked for first: what follows is complete
        names = sorted(x.name for x in path.glob("*.npz") if x.name > last)
        for name in names:
            try:
                with (path / name).open("rb") as file:
                    piece = Piece(**archive.read(file, Piece._fields))
            except (TypeError, ValueError, OSError) as error:
                raise ValueError(
                    f"{path / name} is not a piece, expected an npz file with offsets, "
                    f"targets and accepting: {error}"
                ) from None
            last = name
            wait.reset()
            yield piece
        if ended:
            return
        if not names:
            wait()


def _from_file(path: Path, file: BinaryIO, wait: _Waiting) -> Iterator[Piece]:
    def read(count: int, dtype: np.dtype) -> np.ndarray:
        missing = count * dtype.itemsize
        parts = []
        while missing:
            # As many bytes as a piece says may never come.
            more = file.read(min(missing, _AT_ONCE))
            parts.append(more)
            missing -= len(more)
            if not more:
                wait()
        return np.frombuffer(b"".join(parts), dtype)

    magic = read(len(MAGIC), np.dtype(np.uint8)).tobytes()
    if magic != MAGIC:
        raise ValueError(
            f"{path} is not a file of pieces: it begins with {magic!r}, not {MAGIC!r}"
        )
    while True:
        where = file.tell()
        size, edges, has_part = read(3, _HEADER).tolist()
        if size == -1:
            return
        sizes_fit = 0 <= size <= MAX_SIZE and 0 <= edges <= MAX_SIZE
        if not sizes_fit or has_part not in (0, 1):
            raise ValueError(
                f"{path}: the piece at byte {where} says that it has {size} vertices, "
                f"{edges} edges and {has_part} for its parts"
            )
        degree = read(size, _NUMBER)
        if (degree < 0).any() or degree.sum(dtype=np.int64) != edges:
            raise ValueError(
                f"{path}: the piece at byte {where} has {edges} edges, but its degrees "
                f"sum up to {degree.sum(dtype=np.int64)}"
            )
        offsets = np.append(0, np.cumsum(degree, dtype=np.int64))
        targets = read(edges, _NUMBER).astype(np.int32)
        accepting = read(size, np.dtype(np.uint8)) != 0
        part = read(size, _NUMBER).astype(np.int32) if has_part else None
        wait.reset()
        yield Piece(offsets, targets, accepting, part)
