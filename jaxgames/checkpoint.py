"""States of long solves in files, so that a process may be killed at any moment.

A state is what `solution.state` holds: a pytree of arrays. A file of it can be read on
another machine and another number of devices.
"""

import dataclasses
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from jaxgames import ops
from jaxgames.batch import Standing
from jaxgames.progress import Deadline, Meter, Progress, as_progress
from jaxgames.solution import SolveError, Status

_STRUCTURE, _BEGIN = "structure", "begin"
"""Names of the entries that say what the arrays make up, and how the solve began."""


def save(path: str | os.PathLike, state: Any, begin: Any = None) -> None:
    """Writes a state to a file, all of it or nothing.

    The file is written beside its place, synced, and moved there, so that whenever the
    process ends there is either the old file or the new one.

    Args:
        path: the file: an archive of numpy, whatever its suffix.
        state: a pytree of arrays.
        begin: the state of the beginning, by which `load` knows the solve; without, by
            the form of the state itself, which some solves change on the way.

    Raises:
        ValueError: there is something in the state that cannot be written.
    """
    path = Path(path)
    form, leaves = _form(state)
    told, first = (form, leaves) if begin is None else _form(begin)
    values = ops.on_host([leaf.array for leaf in leaves])
    arrays = {f"leaf{number}": np.asarray(x) for number, x in enumerate(values)}
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            about = {
                _STRUCTURE: np.array(json.dumps(form)),
                _BEGIN: np.array(json.dumps([told, [leaf.shape for leaf in first]])),
            }
            np.savez(file, allow_pickle=False, **about, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load(path: str | os.PathLike, like: Any) -> Any:
    """Reads a state from a file.

    Args:
        path: a file that `save` has written.
        like: the state that `save` was told of, or another of the same form: that of
            the beginning, for instance, which `solve(..., max_steps=0,
            throw=False).state` is. How many games are left of a batch may differ.

    Returns:
        The state, with numpy arrays.

    Raises:
        ValueError: the file holds a state of something else, or one that was spread
            over devices and is to be loaded outside of `parallel.over`.

    Examples:
        >>> import tempfile
        >>> from jaxgames import generate, parity
        >>> game = generate.random_game(1, 50)
        >>> some = parity.solve(game, "fpi", max_steps=3, throw=False)
        >>> begin = parity.solve(game, "fpi", max_steps=0, throw=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(folder + "/state.npz", some.state)
        ...     state = load(folder + "/state.npz", begin.state)
        >>> parity.solve(game, "fpi", state=state).status.name
        'SOLVED'
    """
    wanted, leaves = _form(like)
    name = os.fspath(path)
    with np.load(path, allow_pickle=False) as file:
        if _STRUCTURE not in file or _BEGIN not in file:
            raise ValueError(f"{name} holds no state of a solve")
        form = json.loads(str(file[_STRUCTURE]))
        found, shapes = json.loads(str(file[_BEGIN]))
        if found != wanted:
            raise ValueError(
                f"{name} holds a state of another solve: it has the structure "
                f"{json.dumps(found)}, expected {json.dumps(wanted)}"
            )
        _check_shapes(name, shapes, leaves)
        arrays = (file[f"leaf{number}"] for number in range(len(file.files)))
        return _formed(form, arrays)


def _check_shapes(name: str, shapes: list, leaves: "list[_Leaf]") -> None:
    pairs = zip(shapes, leaves, strict=True)
    for number, ((kind, shape), leaf) in enumerate(pairs):
        kind_wanted, wanted = leaf.shape
        some = int(leaf.shrinks)
        if kind != kind_wanted or shape[some:] != wanted[some:]:
            raise ValueError(
                f"{name} holds a state of another game: its array {number} is "
                f"{kind}{shape}, expected {kind_wanted}{wanted}"
            )


# ---- what the arrays make up ---------------------------------------------------------


class _Leaf(NamedTuple):
    """An array of a state, and whether it has an entry for each game that is left."""

    array: Any
    shrinks: bool

    @property
    def shape(self) -> list:
        return [str(self.array.dtype), list(self.array.shape)]


def _form(state: Any) -> tuple[Any, list[_Leaf]]:
    """A state without its arrays, as JSON can hold it, and these."""
    leaves: list[_Leaf] = []

    def leaf(kind: str, array: Any, shrinks: bool) -> dict:
        leaves.append(_Leaf(array, shrinks))
        return {kind: None}

    def of(x: Any, shrinks: bool = False) -> dict:
        if isinstance(x, np.ndarray) and x.dtype == object:  # integers of any size
            return leaf("integers", x.astype(str), shrinks)
        if isinstance(x, np.ndarray | np.generic | jax.Array):
            return leaf("array", x, shrinks)
        if isinstance(x, bool | int):  # a count, say
            return leaf("number", np.asarray(x), shrinks)
        if x is None or isinstance(x, str):
            return {"plain": x}
        if isinstance(x, Mesh):
            return {"mesh": None}
        if isinstance(x, dict):
            return {"dict": {name: of(x[name], shrinks) for name in sorted(x)}}
        if names := _names(x):
            few = ("ids", "carry") if isinstance(x, Standing) else ()
            return {
                "class": f"{type(x).__module__}:{type(x).__qualname__}",
                "parts": {n: of(getattr(x, n), shrinks or n in few) for n in names},
            }
        if isinstance(x, tuple | list):
            return {type(x).__name__: [of(part, shrinks) for part in x]}
        raise ValueError(f"a state with {type(x).__name__} cannot be written to a file")

    return of(state), leaves


def _names(x: Any) -> tuple[str, ...]:
    """The parts of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(x):
        return tuple(field.name for field in dataclasses.fields(x))
    return getattr(x, "_fields", ())


def _formed(form: dict[str, Any], arrays: Iterator[np.ndarray]) -> Any:
    """A state from what `_form` has made of it."""
    kind, inner = next(iter(form.items()))
    if kind == "array":
        return next(arrays)
    if kind == "number":
        return next(arrays).item()
    if kind == "integers":
        found = next(arrays)
        return np.array([int(x) for x in found.ravel()], object).reshape(found.shape)
    if kind == "plain":
        return inner
    if kind == "mesh":
        spread = ops.current_spread()
        if spread is None:
            raise ValueError(
                "the state is of a solve on several devices: load it within "
                "parallel.over, with as many shares"
            )
        return spread.mesh
    if kind == "dict":
        return {name: _formed(part, arrays) for name, part in inner.items()}
    if kind in ("tuple", "list"):
        parts = [_formed(part, arrays) for part in inner]
        return tuple(parts) if kind == "tuple" else parts
    module, name = inner.split(":")
    if module.split(".")[0] != __package__:
        raise ValueError(f"a state of {inner} is none of this library")
    found = getattr(importlib.import_module(module), name)
    parts = {name: _formed(part, arrays) for name, part in form["parts"].items()}
    return found(**parts)


def solve(
    path: str | os.PathLike,
    solve: Callable[..., Any],
    *,
    every: float = 60.0,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
) -> Any:
    """Solves with checkpoints: goes on from the file if there is one.

    The state is saved when an interval is over, when the solve is interrupted, and at
    the end. Whenever the process is killed, a call with the same arguments loses what
    was done in the last interval and no more.

    Args:
        path: the file.
        solve: a function with the keywords `state`, `max_steps`, `throw` and
            `progress`, the rest being given: such as
            `functools.partial(parity.solve, arena, "fpi")`. Its solver must be one of
            the device, by name.
        every: seconds between two files; a chunk of rounds is finished first.
        throw: whether to raise where the solve ends early.
        progress: as for any solve; it may end this one.

    Returns:
        The solution.

    Raises:
        ValueError: the file is of another solve, or the solver has no state.
        SolveError: the solve was interrupted or stopped by `progress`, and `throw` is
            set. The file holds its state.
    """
    meter = _Kept(as_progress(progress))
    like, state = solve(max_steps=0, throw=False).state, None
    if like is None:
        raise ValueError("this solver has no state: name one of the device")
    if Path(path).exists():
        state = load(path, like)
    rounds = None
    try:
        while True:
            solution = solve(
                state=state,
                throw=False,
                progress=Deadline(every, meter),
                max_steps=None,
            )
            if solution.state is not None:
                state = solution.state
                save(path, state, like)
                # A round that takes longer than an interval must end some time.
                before, rounds = rounds, _rounds(solution)
                every *= 2 if rounds == before else 1
            elif _status(solution) == Status.TIMEOUT:
                raise ValueError("the engine taken has no state: name a device solver")
            if meter.stop is not None or _status(solution) != Status.TIMEOUT:
                break
    finally:
        meter.end()
    status = _status(solution)
    if throw and status != Status.SOLVED:
        raise SolveError(status, solution)
    return solution


def _rounds(solution: Any) -> int:
    """The rounds that were made; of many games, all together."""
    if isinstance(solution, list):
        return sum(map(_rounds, solution))
    return int(np.sum(np.asarray(solution.stats.get("rounds", 0))))


def _status(solution: Any) -> Status:
    """Why a solve ended; of many, the first that is not solved."""
    statuses = np.ravel(np.asarray(solution.status))
    unsolved = statuses[statuses != Status.SOLVED]
    return Status(int(unsolved[0])) if len(unsolved) else Status.SOLVED


class _Kept:
    """A meter for several runs, that knows whether it has stopped one."""

    def __init__(self, progress: Progress):
        self._progress = progress
        self.stop: Status | None = None

    def __call__(self, report) -> Status | None:
        self.stop = self._progress(report)
        return self.stop

    def close(self) -> None:
        pass

    def end(self) -> None:
        self._progress.close()
