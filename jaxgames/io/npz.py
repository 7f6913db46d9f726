"""Arenas, systems and products as NumPy archives: nothing to parse, nothing is lost.

An archive holds the entries `format` and `version`, and the arrays of its format:

- `jaxgames arena`: `row_ptr`, `dst` and `owner`, with `priority` (max even),
  `edge_priority`, `weight` and `accepting` where the arena has them.
- `jaxgames system`: `offsets`, `targets`, `initial`, `propositions` (texts) and
  `labels` (booleans `[S, P]`), with `names` (texts) where the states have names.
- An archive without `format`: `offsets` and `targets` of a graph, with `accepting`
  (booleans), `initial`, and of the property `prop_state` and `prop_edges` where they
  are known.

The last is the product of a system and an automaton as other programs may write it;
`prop_state` and `prop_edges` are the two halves of the `partition` that
[`accepting_cycle`][jaxgames.buchi.accepting_cycle] takes.
"""

import zipfile
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from jaxgames import archive
from jaxgames.arena import Arena, Condition
from jaxgames.io import _limits
from jaxgames.io._files import FilePath, FormatError, reading, writing
from jaxgames.quoting import quoted
from jaxgames.systems import System

_FORMAT = "jaxgames arena"
_VERSION = 1
_ARRAYS = ("row_ptr", "dst", "owner")
_LABELS = ("priority", "edge_priority", "weight", "accepting")
_SYSTEM = "jaxgames system"
_OF_SYSTEM = ("offsets", "targets", "initial", "propositions", "labels", "names")
_OF_PRODUCT = ("accepting", "prop_state", "prop_edges")

_PER_BYTE = 8
"""Bytes that reading takes for each byte of an archive, about."""

HOLDS_TOO = (System,)
"""What `save` takes as well as arenas."""

MOST_NAMES = 1 << 20
"""States of a system up to which their names are written: text takes much room."""


class Product(NamedTuple):
    """A graph with accepting vertices, and what is known of the runs on it.

    Attributes:
        arena: the graph; all vertices belong to player 0.
        initial: where runs start, or None where the archive does not say.
        partition: the state of the property's automaton of each vertex, and the edges
            between these states; None where the archive does not say.
    """

    arena: Arena
    initial: np.ndarray | None
    partition: tuple[np.ndarray, np.ndarray] | None


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena | System:
    """Reads an arena or a system that [`save`][jaxgames.io.npz.save] wrote.

    Or the graph of a product, as an arena, whose vertices may lack successors.

    Args:
        path: the file.
        condition: `"max even"`, as the priorities in these files are.
        dead_ends: what to do with a vertex of a game that has no successor, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].

    Raises:
        FormatError: the file is no such archive, or its arrays are not what they
            should be.
        ValueError: another condition was asked for.
        OSError: the file cannot be read.
    """
    _check_condition(condition)
    with reading(path, _PER_BYTE) as file:
        arrays = _arrays(path, file)
    if _is_product(arrays):
        return _product(path, arrays).arena
    if str(arrays.get("format")) == _SYSTEM:
        _check_header(path, arrays, _SYSTEM, _OF_SYSTEM[:-1])
        return _system(path, arrays)
    _check_header(path, arrays, _FORMAT, _ARRAYS)
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


def load_product(path: FilePath) -> Product | None:
    """Reads a graph with accepting vertices, and all that the archive says of it.

    Args:
        path: the file.

    Returns:
        The product; None for an archive that says what its format is.

    Raises:
        FormatError: the file is no archive, or its arrays do not belong together.
        OSError: the file cannot be read.
    """
    with reading(path, _PER_BYTE) as file:
        arrays = _arrays(path, file)
    return _product(path, arrays) if _is_product(arrays) else None


def save(
    path: FilePath, arena: Arena | System, *, condition: Condition = "max even"
) -> None:
    """Writes an arena or a system with all its labels; padding is left out.

    The names of the states of a system are left out if it has more than a million.

    Args:
        path: the file, replaced when all is written.
        arena: any arena, or a system.
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
    if isinstance(arena, System):
        form, names = _SYSTEM, _OF_SYSTEM
    else:
        form, names, arena = _FORMAT, (*_ARRAYS, *_LABELS), arena.unpad()
    arrays = {name: getattr(arena, name) for name in names}
    if isinstance(arena, System) and arena.num_states > MOST_NAMES:
        del arrays["names"]
    for name in ("propositions", "names"):
        if arrays.get(name) is not None:
            arrays[name] = np.array(list(arrays[name]), np.str_)
    present: dict[str, Any] = {
        name: array for name, array in arrays.items() if array is not None
    }
    with writing(path) as file:
        np.savez(file, format=form, version=_VERSION, **present)


def _is_product(arrays: dict[str, np.ndarray]) -> bool:
    games = {"format", *_ARRAYS, *_LABELS} - set(_OF_PRODUCT)
    return {"offsets", "targets"} <= arrays.keys() and not games & arrays.keys()


def _check_header(path: FilePath, arrays: dict, form: str, names: tuple) -> None:
    for name, expected in (("format", form), ("version", str(_VERSION))):
        found = str(arrays.get(name, "none"))
        if found != expected:
            raise FormatError(
                path, None, f"expected {name} '{expected}', found {quoted(found)}"
            )
    for name in names:
        if name not in arrays:
            raise FormatError(path, None, f"the archive has no array '{name}'")


def _system(path: FilePath, arrays: dict[str, np.ndarray]) -> System:
    labels, names = arrays["labels"], arrays.get("names")
    _check_kinds(path, arrays, {"propositions": "U", "names": "U", "initial": "iu"})
    propositions = arrays["propositions"].tolist()
    if labels.ndim != 2 or labels.shape[1] != len(propositions):
        raise FormatError(
            path,
            None,
            f"labels must have a column for each of {len(propositions)} propositions, "
            f"got shape {labels.shape}",
        )
    if len(set(propositions)) < len(propositions):
        raise FormatError(path, None, "two propositions have the same name")
    try:
        return System.from_graph(
            (arrays["offsets"], arrays["targets"]),
            dict(zip(map(str, propositions), labels.T, strict=True)),
            initial=arrays["initial"],
            names=None if names is None else names.tolist(),
        )
    except ValueError as error:
        raise FormatError(path, None, str(error)) from None


def _check_kinds(path: FilePath, arrays: dict, kinds: dict[str, str]) -> None:
    """Refuses arrays of a type that is not among those, or of several dimensions."""
    for name, kind in kinds.items():
        array = arrays.get(name)
        # One initial state may stand alone.
        most = (1,) if name != "initial" else (0, 1)
        if array is not None and (
            array.dtype.kind not in kind or array.ndim not in most
        ):
            wanted = "texts" if kind == "U" else "integers"
            raise FormatError(
                path,
                None,
                f"{name} must be {wanted} in one dimension, got {array.dtype} of shape "
                f"{array.shape}",
            )


def _product(path: FilePath, arrays: dict[str, np.ndarray]) -> Product:
    offsets, initial = arrays["offsets"], arrays.get("initial")
    _check_kinds(path, arrays, {"initial": "iu", "prop_state": "iu"})
    try:
        arena = Arena.from_csr(
            offsets,
            arrays["targets"],
            owner=np.zeros(max(offsets.size - 1, 0), bool),
            accepting=arrays.get("accepting"),
            dead_ends="allow",
        )
    except ValueError as error:
        raise FormatError(path, None, str(error)) from None
    if initial is not None:
        initial = np.atleast_1d(initial)
        wrong = (initial < 0) | (initial >= arena.shape[0])
        if wrong.any():
            raise FormatError(
                path,
                None,
                f"expected initial vertices from 0 to {arena.shape[0] - 1}, found "
                f"{initial[wrong][0]}",
            )
    partition = None
    if {"prop_state", "prop_edges"} <= arrays.keys():
        partition = arrays["prop_state"], arrays["prop_edges"]
    return Product(arena, initial, partition)


def _arrays(path: FilePath, file: IO[bytes]) -> dict[str, np.ndarray]:
    """The arrays of an archive that have names of ours."""
    if not zipfile.is_zipfile(file):
        raise FormatError(path, None, "this is not an .npz archive")
    file.seek(0)
    wanted = {"format", "version", *_ARRAYS, *_LABELS, *_OF_SYSTEM, *_OF_PRODUCT}
    try:
        return archive.read(
            file, wanted, lambda size: _limits.check(path, None, "the arrays", size)
        )
    except archive.ArchiveError as error:
        if isinstance(error.__cause__, FormatError):
            raise error.__cause__ from None
        raise FormatError(path, None, f"broken .npz archive: {error}") from error


def _check_condition(condition: Condition) -> None:
    if condition != "max even":
        raise ValueError(f".npz files hold priorities as max even, not as {condition}")
