"""Text that is read in pieces by all cores, long text by machine code.

Machine code reads several times as fast as operations of whole arrays, but its compiler
takes some tenths of a second to be imported. So a short text is read by arrays.
"""

import collections
import concurrent.futures
import contextvars
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from jaxgames import host
from jaxgames.io import _sources
from jaxgames.io._files import FilePath
from jaxgames.tuning.io import FOREIGN_BYTES as _FOREIGN_BYTES
from jaxgames.tuning.io import IMPORTED_BYTES as _IMPORTED_BYTES
from jaxgames.tuning.io import JOINED_BY_THREADS_FROM as _LARGE
from jaxgames.tuning.io import PACKED as _PACKED
from jaxgames.tuning.io import READY_BYTES as _READY_BYTES

T = TypeVar("T")
U = TypeVar("U")


def length(path: FilePath) -> int:
    """About how many bytes of text a file has; of a pipe, as far as it matters."""
    size = _sources.length(path, _FOREIGN_BYTES)
    return size * _PACKED if _sources.is_compressed(path) else size


def pays(code: host.compiled, size: int) -> bool:
    """Whether machine code reads so many bytes of text faster than array operations."""
    if size < _READY_BYTES:
        return False
    there = code.ready or ("numba" in sys.modules and size >= _IMPORTED_BYTES)
    return (there or size >= _FOREIGN_BYTES) and host.can_compile()


def in_order(function: Callable[[T], U], pieces: Iterable[T], size: int) -> Iterator[U]:
    """The results of a function for all pieces, in order, computed by all cores.

    A few pieces are read ahead while others are processed. The function lets go of
    Python's global lock for most of its time. Of a short text, of about `size` bytes,
    this thread has made something before others have started.
    """
    if size < _READY_BYTES:
        yield from map(function, pieces)
        return
    threads = min(host.num_cores(), 16)  # more would wait for whoever cuts the pieces
    running: collections.deque[concurrent.futures.Future[U]] = collections.deque()
    pieces, error = iter(pieces), None
    start = list(itertools.islice(pieces, 2))
    if len(start) < 2:
        yield from map(function, start)
        return
    pieces = itertools.chain(start, pieces)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                try:
                    piece = next(pieces)
                except StopIteration:
                    break
                except Exception as caught:  # what is wrong before comes first
                    error = caught
                    break
                context = contextvars.copy_context()
                running.append(pool.submit(context.run, function, piece))
                if len(running) > 2 * threads:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
    if error is not None:
        raise error


def ahead(path: FilePath, pieces: Iterator[T]) -> Iterator[T]:
    """The pieces of a file; another thread unpacks the next one if it is compressed."""
    return _made_ahead(pieces) if is_unpacked_ahead(path) else pieces


def is_unpacked_ahead(path: FilePath) -> bool:
    """Whether a file is compressed, and so long that a thread unpacks it for others."""
    return _sources.is_compressed(path) and length(path) > _IMPORTED_BYTES


def _made_ahead(pieces: Iterator[T]) -> Iterator[T]:
    context, end = contextvars.copy_context(), object()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        # One is made and the next one waits, so that the other thread never does.
        first, second = (pool.submit(context.run, next, pieces, end) for _ in range(2))
        while (piece := first.result()) is not end:
            first, second = second, pool.submit(context.run, next, pieces, end)
            yield piece  # type: ignore[misc]


def lines(text: bytes | np.ndarray) -> int:
    """How many lines end in a text; `bytes.count` is slow and holds the global lock."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of one type and dimension, one after the other; read-only."""
    size = sum(len(part) for part in parts)
    whole = np.empty(size, parts[0].dtype)
    ends = np.cumsum([len(part) for part in parts]).tolist()

    def copy(end: int, part: np.ndarray) -> None:
        whole[end - len(part) : end] = part

    if whole.nbytes < _LARGE:
        for pair in zip(ends, parts, strict=True):
            copy(*pair)
    else:
        host.together(lambda pair: copy(*pair), zip(ends, parts, strict=True))
    whole.setflags(write=False)
    return whole


def keep_freed_memory() -> None:
    """Halves the time for large files where memory is allocated by glibc.

    It hands memory back to the system after every piece and asks for it again, unless
    it has seen a large array being freed.
    """
    np.empty(24 << 20, np.uint8)
