"""On the fly: a graph is searched while it is still being made."""

import contextlib
import dataclasses
import queue
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.buchi._cycle import accepting_cycle
from jaxgames.buchi._solution import AcceptingCycle
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver
from jaxgames.systems._pieces import Piece, check_piece, read_pieces
from jaxgames.tuning.buchi import FIRST, GROWTH


@limited()
def accepting_cycle_of(
    pieces: Iterable[Any] | str | Path,
    *,
    initial: Any = 0,
    solver: str | Solver = "auto",
    overlap: bool = True,
    num_vertices: int | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> AcceptingCycle:
    """Looks for an accepting cycle in a graph that arrives in pieces.

    A cycle of some prefix is one of the whole graph, so it ends the search, and no more
    pieces are asked for. That there is none is known only at the end. Prefixes are
    searched that each have twice the vertices of the one before: all searches together
    cost less than two of the largest. While one is searched, the pieces up to the next
    are made, in a thread of their own.

    Args:
        pieces: an iterable of [`Piece`][jaxgames.systems.Piece]s, or tuples of the same
            fields; or the path of a folder or file of them, which may still grow (see
            [`read_pieces`][jaxgames.systems.read_pieces]).
        initial: where runs start: a vertex, or several. None: anywhere, or all vertices
            are known to be reached inside the prefix.
        solver: as for [`accepting_cycle`][jaxgames.buchi.accepting_cycle].
        overlap: whether to make the next pieces in another thread meanwhile. Which
            prefixes are searched depends on nothing but the pieces.
        num_vertices: how many vertices there will be, if that is known, to tell in
            `stats` which part of them it took.
        throw: as for `accepting_cycle`.
        progress: told about each search.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        As `accepting_cycle`, with more in `stats`: `built`, the vertices that had come
        when the answer was known; `searched`, those of the last prefix; `searches`, how
        many there were; and, if known, `fraction`, what part of all vertices was built.

    Raises:
        ValueError: a piece is wrong, or an edge leads to a vertex that never comes.

    Examples:
        >>> from jaxgames import buchi
        >>> def endless():
        ...     yield [0, 2, 3], [1, 2, 0], np.array([False, True])
        ...     while True:
        ...         yield [0, 0], [], np.array([False])
        >>> found = buchi.accepting_cycle_of(endless())
        >>> found.lasso.cycle
        array([0, 1], dtype=int32)
    """
    if isinstance(pieces, (str, Path)):
        pieces = read_pieces(pieces)
    source = _Ahead(pieces) if overlap else _InTurn(pieces)
    prefix = _Prefix(initial)
    due, searches = FIRST, 0
    found = None
    try:
        while True:
            source.ask_for(max(due, prefix.size + 1))
            for piece in source.take():
                prefix.append(piece)
            ended = source.ended
            if not ended and (prefix.size < due or not prefix.has_initial):
                continue
            searches += 1
            due = GROWTH * prefix.size
            source.ask_for(due)
            found = accepting_cycle(
                prefix.graph(ended),
                accepting=prefix.accepting(),
                initial=initial,
                partition=prefix.part(),
                solver=solver,
                throw=throw,
                progress=progress,
            )
            if ended or found.exists or found.status != Status.SOLVED:
                break
    finally:
        source.close()
    built = max(source.built, prefix.size)
    total = built if ended else num_vertices
    facts = {} if not total else {"fraction": built / total}
    stats = Stats(
        **found.stats, built=built, searched=prefix.size, searches=searches, **facts
    )
    return dataclasses.replace(found, stats=stats, state=None)


class _Prefix:
    """The vertices that have come."""

    def __init__(self, initial: Any):
        self._initial = np.zeros(0, int) if initial is None else np.asarray(initial)
        self._pieces: list[Piece] = []
        self.size = 0

    def append(self, piece: Any) -> None:
        piece = check_piece(piece, len(self._pieces))
        if self._pieces and (piece.part is None) != (self._pieces[0].part is None):
            raise ValueError(
                f"piece {len(self._pieces)} must have parts if the first one has, and "
                "none if that has none"
            )
        self._pieces.append(piece)
        self.size += len(piece.accepting)

    @property
    def has_initial(self) -> bool:
        return bool((self._initial < self.size).all())

    def accepting(self) -> np.ndarray:
        return self._joined([x.accepting for x in self._pieces], bool)

    def part(self) -> np.ndarray | None:
        if not self._pieces or self._pieces[0].part is None:
            return None
        return self._joined([x.part for x in self._pieces], np.int64)

    def graph(self, ended: bool) -> tuple[np.ndarray, np.ndarray]:
        """The edges between the vertices that have come."""
        degrees = [np.diff(x.offsets) for x in self._pieces]
        degree = self._joined(degrees, np.int64)
        targets = self._joined([x.targets for x in self._pieces], np.int32)
        offsets = np.append(0, np.cumsum(degree))
        there = targets < self.size
        if not there.all():
            if ended:
                edge = int(np.argmin(there))
                tail = int(np.searchsorted(offsets, edge, "right")) - 1
                raise ValueError(
                    f"an edge leads from vertex {tail} to vertex {targets[edge]}, but "
                    f"the pieces ended after {self.size} vertices"
                )
            offsets = np.append(0, np.cumsum(there))[offsets]
            targets = targets[there]
        return offsets, targets

    def _joined(self, arrays: list[Any], dtype: Any) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)


class _InTurn:
    """Pieces that are made when they are asked for."""

    def __init__(self, pieces: Iterable[Any]):
        self._pieces = iter(pieces)
        self.ended = False
        self.built = 0

    def ask_for(self, size: int) -> None:
        """They are made by `take`."""

    def take(self) -> Iterator[Any]:
        """The next piece, if there is one."""
        try:
            yield next(self._pieces)
        except StopIteration:
            self.ended = True

    def close(self) -> None:
        """No more will be asked for."""
        _close(self._pieces)


class _Ahead:
    """Pieces that are made in another thread, as many as were asked for."""

    def __init__(self, pieces: Iterable[Any]):
        self._made: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        self._change = threading.Condition()
        self._wanted = 0
        self._closed = False
        self.ended = False
        self.built = 0
        threading.Thread(target=self._make, args=(iter(pieces),), daemon=True).start()

    def _make(self, pieces: Iterator[Any]) -> None:
        try:
            number = 0
            while self._is_wanted():
                piece = next(pieces, None)
                if piece is None:
                    break
                piece = check_piece(piece, number)
                number += 1
                self.built += len(piece.accepting)
                self._made.put((piece, None))
            _close(pieces)
            self._made.put((None, None))
        except BaseException as error:  # told in the thread that waits
            self._made.put((None, error))

    def _is_wanted(self) -> bool:
        with self._change:
            self._change.wait_for(lambda: self._closed or self.built < self._wanted)
            return not self._closed

    def ask_for(self, size: int) -> None:
        """Pieces are made until there are so many vertices."""
        with self._change:
            self._wanted = max(size, self._wanted)
            self._change.notify()

    def take(self) -> Iterator[Any]:
        """The next piece, once it has come, if there is one."""
        piece, error = self._made.get()
        if error is not None:
            raise error
        if piece is None:
            self.ended = True
        else:
            yield piece

    def close(self) -> None:
        """No more will be asked for; the one that is being made is not waited for."""
        with self._change:
            self._closed = True
            self._change.notify()


def _close(pieces: Iterator[Any]) -> None:
    with contextlib.suppress(AttributeError):
        pieces.close()  # type: ignore[attr-defined]
