"""States of long solves in files, so that a process may be killed at any moment.

A state is what `solution.state` holds: a pytree of arrays. A file of it can be read on
another machine and another number of devices.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames import ops
from jaxgames.batch import Standing
from jaxgames.progress import Deadline, Meter, Progress, as_progress
from jaxgames.solution import SolveError, Status

_STRUCTURE = "structure"
"""Name of the entry that says what the arrays make up."""


def save(path: str | os.PathLike, state: Any) -> None:
    """Writes a state to a file, all of it or nothing.

    The file is written beside its place, synced, and moved there, so that whenever the
    process ends there is either the old file or the new one.

    Args:
        path: the file: an archive of numpy, whatever its suffix.
        state: a pytree of arrays.
    """
    path = Path(path)
    arrays = {
        f"leaf{number}": np.asarray(leaf)
        for number, leaf in enumerate(jax.tree.leaves(ops.on_host(state)))
    }
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            structure = np.array(_structure(state))
            np.savez(file, allow_pickle=False, **{_STRUCTURE: structure}, **arrays)
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
        like: a state of the same solve: that of the beginning, for instance, which
            `solve(..., max_steps=0, throw=False).state` is. It says what the arrays
            make up; how many games are left of a batch may differ.

    Returns:
        A pytree of numpy arrays.

    Raises:
        ValueError: the file holds a state of something else.

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
    leaves, tree = jax.tree.flatten(like)
    with np.load(path, allow_pickle=False) as file:
        if _STRUCTURE not in file:
            raise ValueError(f"{os.fspath(path)} holds no state of a solve")
        found, wanted = str(file[_STRUCTURE]), _structure(like)
        if found != wanted:
            raise ValueError(
                f"{os.fspath(path)} holds a state of another solve: it has the "
                f"structure {found}, expected {wanted}"
            )
        arrays = [file[f"leaf{number}"] for number in range(len(leaves))]
    shrinks = _shrinks(like)
    for number, (array, leaf) in enumerate(zip(arrays, leaves, strict=True)):
        found, wanted = array.shape, np.shape(leaf)
        if shrinks[number]:
            found, wanted = found[1:], wanted[1:]
        if array.dtype != leaf.dtype or found != wanted:
            raise ValueError(
                f"{os.fspath(path)} holds a state of another game: its array {number} "
                f"is {array.dtype}{list(array.shape)}, expected "
                f"{leaf.dtype}{list(np.shape(leaf))}"
            )
    return jax.tree.unflatten(tree, arrays)


def _structure(state: Any) -> str:
    return str(jax.tree.structure(state))


def _shrinks(state: Any) -> list[bool]:
    """Which arrays have an entry for each game that is left of a batch."""
    found = []
    for part in jax.tree.leaves(state, is_leaf=lambda x: isinstance(x, Standing)):
        if isinstance(part, Standing):
            found += [True] * len(jax.tree.leaves((part.ids, part.carry)))
            found += [False] * len(jax.tree.leaves(part.written))
        else:
            found.append(False)
    return found


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
                save(path, state)
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
