"""Graphs as sparse matrices in the Matrix Market's coordinate format.

    %%MatrixMarket matrix coordinate pattern general
    % An entry in row i and column j is an edge from i to j; both are counted from 1.
    3 3 2
    1 2
    2 1

The matrix must be square. Of a symmetric one the file holds half, and each entry off
the diagonal gives two edges. Every entry that is stored is an edge, also where its
value is zero; values are kept as weights where they are integers, not where they are
real.

References:
    R. Boisvert, R. Pozo, K. Remington: The Matrix Market Exchange Formats: Initial
    Design. NISTIR 5935, 1996. https://doi.org/10.6028/NIST.IR.5935
"""

import numpy as np

from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.io import _decimal, _entry_loop, _limits, _lines, _pieces
from jaxgames.io._files import FilePath, FormatError
from jaxgames.quoting import quoted

HOLDS = Arena
"""What `load` returns and `save` takes."""

_FIELDS = {"pattern": 0, "real": 1, "double": 1, "integer": 1}
"""How many words the value of an entry takes."""

_MIRRORED = {"general": 0, "symmetric": 1, "skew-symmetric": -1}
"""By what an entry is multiplied to give the one across the diagonal."""


def load(path: FilePath) -> Arena:
    r"""Reads a graph; all vertices belong to player 0, and some may be dead ends.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The graph, with edges in the order of the file among those of a vertex; those
        from mirrored entries come after all others.

    Raises:
        FormatError: the file is something else, or the matrix is not square.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.mtx")
        >>> head = "%%MatrixMarket matrix coordinate pattern symmetric"
        >>> _ = path.write_text(f"{head}\n2 2 2\n1 1\n2 1\n")
        >>> load(path).src, load(path).dst
        (array([0, 0, 1], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    field, mirrored, sizes = "", 0, None
    ends, weight = [np.empty((2, 0), np.int32)], [np.empty(0, np.int64)]
    reals = _lines.Reals()

    def rows(byte: np.ndarray, _: int) -> np.ndarray | None:
        most = sizes[0] if sizes else 0
        return _entry_loop.read(byte, _decimal.MARGIN, most, field)

    for lines in _lines.read_rows(path, rows):
        if isinstance(lines, np.ndarray):
            ends.append(lines)
            continue
        if not field:
            if not len(lines.number):
                continue
            field, mirrored = _banner(lines)
            lines = lines.skip(1)
        lines = lines.keep(lines.initials != ord("%"))
        if sizes is None and len(lines.number):
            sizes = _sizes(lines)
            lines = lines.skip(1)
        if sizes is None or not len(lines.number):
            continue
        words = 2 + _FIELDS[field]
        value = "" if words == 2 else " value"
        lines.expect(lines.count == words, f"'row column{value}'")
        first = lines.first[:-1]
        row = lines.integers(first, "a row", 1, sizes[0])
        column = lines.integers(first + 1, "a column", 1, sizes[0])
        ends.append(np.stack([row - 1, column - 1]).astype(np.int32))
        if field == "integer":
            weight.append(_signed(lines, first + 2))
        elif words == 3:
            lines.reals(first + 2, "a value", reals)
    if sizes is None:
        raise FormatError(path, None, "the file ends before the size of the matrix")
    size, entries = sizes
    src, dst = map(_pieces.joined, zip(*ends, strict=True))
    weight = np.concatenate(weight)
    _lines.check_count(path, entries, len(src), "entry")
    _limits.check_vertices(path, size, "rows")
    if mirrored:
        off = np.flatnonzero(src != dst)
        weight = np.append(weight, mirrored * weight[off]) if len(weight) else weight
        src, dst = np.append(src, dst[off]), np.append(dst, src[off])
    return Arena.from_edges(
        src,
        dst,
        owner=np.zeros(size, bool),
        weight=weight if field == "integer" else None,
        dead_ends="allow",
    )


def save(path: FilePath, arena: Arena) -> None:
    """Writes a graph, with its weights if it has one for each edge.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        arena: the graph; its padding is left out.

    Raises:
        ValueError: the arena is a game: a vertex of player 1, or labels, which this
            format cannot hold.
        OSError: the file cannot be written.
    """
    arena = arena.unpad()
    if np.any(arena.owner):
        vertex = int(np.argmax(arena.owner))
        raise ValueError(
            f"Matrix Market's format cannot hold owners, and vertex {vertex} is "
            "player 1's; .npz can"
        )
    for label in ("priority", "edge_priority", "accepting"):
        if getattr(arena, label) is not None:
            raise ValueError(f"Matrix Market's format cannot hold {label}; .npz can")
    weight = arena.weight
    if weight is not None and weight.ndim != 1:
        raise ValueError("Matrix Market's format holds one weight for each edge")
    field = "pattern" if weight is None else "integer"
    vertices, edges = arena.shape
    values = [] if weight is None else [b" ", _lines.decimals(weight)]
    _lines.write(
        path,
        f"%%MatrixMarket matrix coordinate {field} general\n"
        f"{vertices} {vertices} {edges}\n",
        _lines.decimals(arena.src + 1),
        b" ",
        _lines.decimals(arena.dst + 1),
        *values,
        b"\n",
    )


def _banner(lines: _lines.Lines) -> tuple[str, int]:
    """What entries hold, and by what they are multiplied across the diagonal."""
    words = [word.lower() for word in lines.words(0)]
    if len(words) != 5 or words[:3] != ["%%matrixmarket", "matrix", "coordinate"]:
        expected = "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
        lines.fail(0, f"expected {expected}, found {quoted(lines.text(0))}")
    for word, known in zip(words[3:], (_FIELDS, _MIRRORED), strict=True):
        if word not in known:
            lines.fail(0, f"expected one of {', '.join(known)}, found {quoted(word)}")
    return words[3], _MIRRORED[words[4]]


def _sizes(lines: _lines.Lines) -> tuple[int, int]:
    """Numbers of vertices and of entries."""
    lines.expect(lines.count[:1] == 3, "'rows columns entries'")
    index = lines.first[0] + np.arange(3)
    rows, columns, entries = lines.integers(index, "a size", 0, MAX_SIZE).tolist()
    if rows != columns:
        lines.fail(
            0, f"expected a square matrix, found {rows} rows and {columns} columns"
        )
    return rows, entries


def _signed(lines: _lines.Lines, words: np.ndarray) -> np.ndarray:
    """Integers that may have a sign."""
    sign = lines.byte[lines.start[words]]
    signed = (sign == ord("-")) | (sign == ord("+"))
    start = lines.start.copy()
    start[words] += signed
    values = lines._replace(start=start).integers(words, "an integer", 0, 2**53)
    return np.where(sign == ord("-"), -values, values)
