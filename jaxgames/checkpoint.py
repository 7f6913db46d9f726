"""States of long solves in files, so that a process may be killed at any moment.

A state is what `solution.state` holds: a pytree of arrays. A file of it can be read on
another machine and another number of devices. It says which problem it is of, which
solver with which options, and which version wrote it: with anything else it is refused,
and so is a file that is damaged. Reading one runs nothing that it names: it is numbers,
and names of classes that are keys of a closed table.
"""

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits, ops, states
from jaxgames.arguments import positive
from jaxgames.drive import Standing
from jaxgames.later import jax
from jaxgames.progress import Deadline, Meter, Progress, as_progress
from jaxgames.solution import SolveError, Status

MAGIC = b"jaxgames checkpoint 2\n"
"""How a file begins; the number is that of the format. Then come the length of the
header in eight bytes, the header in JSON, the arrays one after the other, and the
SHA-256 of all that."""

BEFORE = ".1"
"""What is added to a file's name for the state before the last one."""

_DIGEST = hashlib.sha256().digest_size

_KINDS = "biufU"
"""Kinds of entries that arrays may have: booleans, integers, floats, and text for
integers of any size."""

_MALFORMED = (
    *(AttributeError, IndexError, KeyError, RecursionError, StopIteration, TypeError),
)
"""What comes of a header that says something else than `save` would."""


class DamagedError(ValueError):
    """A file holds no state: it is cut, changed, or something else."""


def save(path: str | os.PathLike, state: Any, begin: Any = None) -> None:
    """Writes a state to a file, all of it or nothing.

    The file is written beside its place, synced, and moved there, so that whenever the
    process ends there is either the old file or the new one. The state that was there
    is kept under the same name with `.1` added. What killed processes have left of
    their writing is removed.

    Args:
        path: the file, whatever its suffix; or a link to it.
        state: a pytree of arrays.
        begin: the state of the beginning, by which `load` knows the solve; without, by
            the form of the state itself, which some solves change on the way.

    Raises:
        ValueError: there is something in the state that cannot be written, or the path
            leads to a folder, a device or a pipe.
    """
    path = file_of(path)
    form, leaves = _form(state)
    told, first = (form, leaves) if begin is None else _form(begin)
    values = ops.on_host([leaf.array for leaf in leaves])
    arrays = [_plain(x) for x in values]
    header = {
        "version": states.version(),
        "origins": _origins(state if begin is None else begin),
        "structure": form,
        "begin": [told, [leaf.shape for leaf in first]],
        "arrays": [
            [x.dtype.str, list(np.shape(of))]
            for x, of in zip(arrays, values, strict=True)
        ],
    }
    text = json.dumps(header).encode()
    _clean(path)
    with _written(path) as file:
        digest = hashlib.sha256()
        parts = [MAGIC, len(text).to_bytes(8, "little"), text]
        for part in (*parts, *(x.reshape(-1).view(np.uint8).data for x in arrays)):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def load(path: str | os.PathLike, like: Any) -> Any:
    """Reads a state from a file.

    A file is data: no code that it names is run. It is not proof of what its numbers
    are, though: verify an answer that goes on from the file of somebody else.

    Args:
        path: a file that `save` has written.
        like: the state that `save` was told of, or another of the same form: that of
            the beginning, for instance, which `solve(..., max_steps=0,
            throw=False).state` is. How many games are left of a batch may differ.

    Returns:
        The state, with numpy arrays.

    Raises:
        DamagedError: the file is cut or changed, of another format, or none of these
            files; it is a ValueError.
        ValueError: the file holds a state of something else: of another problem,
            another solver or other options, of another version; or one that was spread
            over devices and is to be loaded outside of `parallel.over`.

    Examples:
        >>> import tempfile
        >>> from jaxgames import generate, parity
        >>> game = generate.random_game(1, 50)
        >>> some = parity.solve(game, "fpi", max_steps=3, throw=False)
        >>> begin = parity.solve(game, "fpi", max_steps=0, throw=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(folder + "/state", some.state)
        ...     state = load(folder + "/state", begin.state)
        >>> parity.solve(game, "fpi", state=state).status.name
        'SOLVED'
    """
    name = os.fspath(path)
    wanted, leaves = _form(like)
    header, arrays = _read(name)
    try:
        version, origins = header["version"], header["origins"]
        (found, shapes), form = header["begin"], header["structure"]
    except (KeyError, TypeError, ValueError):
        raise DamagedError(f"{name} is damaged: its header lacks a part") from None
    if version != states.version():
        raise ValueError(
            f"{name} was written by version {version} of jaxgames, this is "
            f"{states.version()}: what solvers carry may have changed"
        )
    _check_origins(name, origins, _origins(like))
    if found != wanted:
        raise ValueError(
            f"{name} holds a state of another solve: it has the structure "
            f"{json.dumps(found)[:400]}, expected {json.dumps(wanted)[:400]}"
        )
    try:
        _check_shapes(name, shapes, leaves)
        return _formed(form, iter(arrays))
    except (DamagedError, *_MALFORMED) as error:
        raise DamagedError(f"{name} is damaged: its header is wrong") from error


def _check_shapes(name: str, shapes: list, leaves: "list[_Leaf]") -> None:
    for number, (found, leaf) in enumerate(zip(shapes, leaves, strict=False)):
        (kind, shape), (kind_wanted, wanted) = found, leaf.shape
        some = int(leaf.shrinks)
        if kind != kind_wanted or shape[some:] != wanted[some:]:
            raise ValueError(
                f"{name} holds a state of another game: its array {number} is "
                f"{kind}{shape}, expected {kind_wanted}{wanted}"
            )
    if len(shapes) != len(leaves):
        raise ValueError(f"{name} holds a state of another game: it has other arrays")


# ---- what a state is of --------------------------------------------------------------


def _origins(state: Any) -> list[dict[str, Any]]:
    """What the parts of a state are of, as JSON can hold it."""
    if isinstance(state, states.Origin):
        words = [np.asarray(x, "<u4") for x in ops.on_host(state.problem)]
        digest = hashlib.sha256(b"".join(x.tobytes() for x in words)).hexdigest()
        found = {"problem": digest, "solver": state.solver, "version": state.version}
        return [found]
    if isinstance(state, dict):
        return _origins([state[name] for name in sorted(state)])
    if names := _names(state):
        return _origins([getattr(state, name) for name in names])
    if isinstance(state, tuple | list):
        return [found for part in state for found in _origins(part)]
    return []


def _check_origins(name: str, found: Any, wanted: list[dict[str, Any]]) -> None:
    if found == wanted:
        return
    why = "other parts"
    if isinstance(found, list) and len(found) == len(wanted):
        for own, other in zip(wanted, found, strict=True):
            differ = [key for key in own if own[key] != other.get(key)]
            if "version" in differ:
                why = f"version {other.get('version')} of jaxgames"
            elif "solver" in differ:
                why = f"{other.get('solver')}, and this solve's is {own['solver']}"
                why = f"another solver or options: {why}"
            elif differ:
                why = "another problem"
            if differ:
                break
    raise ValueError(
        f"{name} holds a state of another solve: it is of {why}. Take another file, or "
        "remove this one to start anew"
    )


def _plain(x: Any) -> np.ndarray:
    """An array as files have it: one entry after the other, the lowest byte first."""
    x = np.asarray(x)
    return np.ascontiguousarray(x, x.dtype.newbyteorder("<"))


# ---- the file ------------------------------------------------------------------------


def _read(name: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the arrays of a file that is as it was written."""
    with open(name, "rb") as file:
        begins = file.read(len(MAGIC))
        if begins != MAGIC:
            raise DamagedError(f"{name} {_other(begins)}")
        content = memoryview(begins + file.read())
    content, digest = content[:-_DIGEST], content[-_DIGEST:]
    if len(content) < len(MAGIC) + 8 or hashlib.sha256(content).digest() != digest:
        raise DamagedError(
            f"{name} is damaged: it is cut, or bytes of it are not what was written"
        )
    # From here on it is what somebody wrote on purpose, who may mean no good.
    start = len(MAGIC) + 8
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    try:
        header = json.loads(bytes(content[start:end]))
        return header, list(_arrays(header["arrays"], content[end:]))
    except (ValueError, *_MALFORMED) as error:
        raise DamagedError(f"{name} is damaged: its header is wrong") from error


def _arrays(shapes: list, content: memoryview) -> Iterator[np.ndarray]:
    """The arrays that make up what follows a header."""
    for name, shape in shapes:
        kind = np.dtype(name)
        if kind.kind not in _KINDS or not all(type(n) is int for n in shape):
            raise ValueError(f"no array of numbers: {kind}{shape}")
        count = math.prod(shape)
        if min(shape, default=0) < 0 or count * kind.itemsize > len(content):
            raise ValueError("an array that is longer than the file")
        values = np.frombuffer(content, kind, count) if count else np.empty(0, kind)
        yield values.reshape(shape).astype(kind.newbyteorder("="))
        content = content[count * kind.itemsize :]
    if len(content):
        raise ValueError("more than the arrays")


def _other(begins: bytes) -> str:
    """What a file is that does not begin as it should."""
    if not begins:
        return "is empty: it holds no state of a solve"
    common = MAGIC.split(b" checkpoint ")[0] + b" checkpoint "
    if begins[:4] == b"PK\x03\x04" or begins.startswith(common):
        return (
            "holds no state of a solve in the format of this version: another version "
            "wrote it, or it is something else"
        )
    return "holds no state of a solve"


@contextlib.contextmanager
def _written(path: Path) -> Iterator[Any]:
    """A file to write to, which takes the place of another when it is complete."""
    handle, name = tempfile.mkstemp(
        prefix=_prefix(path) + f"{os.getpid()}-", suffix=_SUFFIX, dir=path.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_last(path, name + _LAST)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _keep_last(path: Path, name: str) -> None:
    """Gives the file that is there another name as well, by way of a third one."""
    if not path.exists():
        return
    try:
        os.link(path, name)
    except OSError:  # no such links here: for a moment the last one has its old name
        os.replace(path, _before(path))
    else:
        os.replace(name, _before(path))


def _before(path: Path) -> Path:
    return path.with_name(path.name + BEFORE)


_SUFFIX, _LAST = ".saving", ".last"


def _prefix(path: Path) -> str:
    """How names of files begin that are being written on this machine."""
    machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f".{path.name}.{machine}-"


def _clean(path: Path) -> None:
    """Removes what processes of this machine have left that are no more."""
    prefix = _prefix(path)
    for left in path.parent.iterdir():
        ours = left.name.startswith(prefix)
        if ours and left.name.endswith((_SUFFIX, _SUFFIX + _LAST)):
            number = left.name[len(prefix) :].partition("-")[0]
            if number.isdigit() and not _is_alive(int(number)):
                left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # there a signal, even none, would end it
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


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
        if isinstance(x, jax.sharding.Mesh):
            return {"mesh": None}
        if isinstance(x, dict):
            return {"dict": {name: of(x[name], shrinks) for name in sorted(x)}}
        if names := _names(x):
            name = states.name_of(type(x))
            if states.CLASSES.get(name) is not type(x):
                raise ValueError(
                    f"a state with {type(x).__name__} cannot be written to a file: "
                    "decorate the class by jaxgames.states.register"
                )
            few = ("ids", "carry") if isinstance(x, Standing) else ()
            return {
                "class": name,
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
        try:
            numbers = [int(x) for x in found.ravel()]
        except ValueError:
            raise DamagedError("what should be integers is not") from None
        return np.array(numbers, object).reshape(found.shape)
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
    found = states.CLASSES.get(inner) if kind == "class" else None
    if found is None:
        raise DamagedError(f"a state of {inner!r:.80} is not one of this library")
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
    was done in the last interval and no more. Where the file is damaged it goes on from
    the state before, which is kept too, and warns.

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
        The solution. A question that is answered without a round has no state, and
        nothing is saved.

    Raises:
        ValueError: the file is of another solve or damaged, and so is the one before;
            the path leads to a folder, a device or a pipe; or the solver has no state.
        SolveError: the solve was interrupted or stopped by `progress`, and `throw` is
            set. The file holds its state.
    """
    every = positive("every", every, "seconds")
    meter = _Kept(as_progress(progress))
    path = file_of(path)
    begin = solve(max_steps=0, throw=False)
    like = begin.state
    if like is None and _status(begin) == Status.SOLVED:
        meter.end()
        return begin
    if like is None:
        raise ValueError(
            "this solver has no state to keep: name a solver of the device"
        )
    state = _last(path, like)
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
            around = limits.current()
            ended = meter.stop if around is None else meter.stop or around.status()
            if ended is not None or _status(solution) != Status.TIMEOUT:
                break
    finally:
        meter.end()
    status = _status(solution)
    if throw and status != Status.SOLVED:
        raise SolveError(status, solution)
    return solution


def file_of(path: str | os.PathLike) -> Path:
    """The file that is replaced where a state is saved: what a link leads to.

    Raises:
        ValueError: there is a folder, a device or a pipe, which no state may replace.
    """
    found = Path(os.path.realpath(path) if os.path.islink(path) else path)
    if found.exists() and not found.is_file():
        raise ValueError(
            f"{os.fspath(path)} is a folder, a device or a pipe: expected a file, "
            "which each state that is saved replaces"
        )
    return found


def _last(path: Path, like: Any) -> Any:
    """The last state that was saved and is whole; None if nothing was saved."""
    before = _before(path)
    if not path.exists() and not before.exists():
        return None
    try:
        return load(path, like)
    except (DamagedError, FileNotFoundError) as error:
        if not before.exists():
            raise
        state, why = load(before, like), error
    # The next save keeps what is there: that must not be what is damaged.
    os.replace(before, path)
    missing = isinstance(why, FileNotFoundError)
    warnings.warn(
        f"{f'{path} is missing' if missing else why}: going on from the state before "
        "it, which was kept",
        stacklevel=3,
    )
    return state


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
