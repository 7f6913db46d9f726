"""Arenas as NumPy archives: nothing to parse, and every label is kept.

An archive holds the entries `format` and `version`, and the arrays `row_ptr`, `dst`
and `owner` of an arena, with `priority` (max even), `edge_priority`, `weight` and
`accepting` where it has them.
"""

import zipfile
from typing import IO, Literal

import numpy as np

from jaxgames.arena import Arena, Condition
from jaxgames.io._files import FilePath, FormatError, reading, writing

_FORMAT = "jaxgames arena"
_VERSION = 1
_ARRAYS = ("row_ptr", "dst", "owner")
_LABELS = ("priority", "edge_priority", "weight", "accepting")


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    """Reads an arena that [`save`][jaxgames.io.npz.save] wrote.

    Args:
        path: the file.
        condition: `"max even"`, as the priorities in these files are.
        dead_ends: what to do with a vertex that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Raises:
        FormatError: the file is no such archive, or its arrays are no arena.
        ValueError: another condition was asked for.
        OSError: the file cannot be read.
    """
    _check_condition(condition)
    with reading(path) as file:
        arrays = _arrays(path, file)
    for name, expected in (("format", _FORMAT), ("version", str(_VERSION))):
        found = str(arrays.pop(name, "none"))
        if found != expected:
            raise FormatError(
                path, None, f"expected {name} '{expected}', found {found[:30]!r}"
            )
    for name in _ARRAYS:
        if name not in arrays:
            raise FormatError(path, None, f"the archive has no array '{name}'")
    try:
        return Arena.from_csr(
            arrays["row_ptr"],
            arrays["dst"],
            owner=arrays["owner"],
            priority=arrays.get("priority"),
            edge_priority=arrays.get("edge_priority"),
            weight=arrays.get("weight"),
            accepting=arrays.get("accepting"),
            dead_ends=dead_ends,
        )
    except ValueError as error:
        raise FormatError(path, None, str(error)) from None


def save(path: FilePath, arena: Arena, *, condition: Condition = "max even") -> None:
    """Writes an arena with all its labels; padding is left out.

    Args:
        path: the file, replaced when all is written.
        arena: any arena.
        condition: `"max even"`, as the priorities in these files are.

    Raises:
        ValueError: another condition was asked for.
        OSError: the file cannot be written.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "arena.npz")
        >>> save(path, Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[5, -7]))
        >>> load(path).weight
        array([ 5, -7], dtype=int32)
    """
    _check_condition(condition)
    arena = arena.unpad()
    arrays = {name: getattr(arena, name) for name in (*_ARRAYS, *_LABELS)}
    present = {name: array for name, array in arrays.items() if array is not None}
    with writing(path) as file:
        np.savez(file, format=_FORMAT, version=_VERSION, **present)


def _arrays(path: FilePath, file: IO[bytes]) -> dict[str, np.ndarray]:
    """The arrays of an archive that have names of ours."""
    if not zipfile.is_zipfile(file):
        raise FormatError(path, None, "this is no .npz archive")
    file.seek(0)
    try:
        with np.load(file, allow_pickle=False) as archive:
            wanted = {"format", "version", *_ARRAYS, *_LABELS}
            return {name: archive[name] for name in wanted & set(archive.files)}
    except Exception as error:  # what a broken archive raises depends on the break
        raise FormatError(path, None, f"broken .npz archive: {error}") from error


def _check_condition(condition: Condition) -> None:
    if condition != "max even":
        raise ValueError(f".npz files hold priorities as max even, not as {condition}")
