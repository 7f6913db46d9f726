"""Sequential loops on the host: Python, compiled where numba is installed."""

import collections
import contextlib
import contextvars
import dataclasses
import dis
import functools
import importlib.util
import os
import queue
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames import native
from jaxgames.tuning.base import (
    ASK_SECONDS,
    FEWEST_PLACES,
    LOAD_SECONDS,
    PLAIN_SECONDS,
)
from jaxgames.tuning.base import LENT_AS_COPY_UP_TO as COPIED_UP_TO
from jaxgames.tuning.base import PLAIN_AT_ONCE_UP_TO as TINY
from jaxgames.tuning.base import PLAIN_UP_TO as SMALL
from jaxgames.tuning.base import WARNED_FROM as MANY
from jaxgames.tuning.drive import WAIT_SECONDS

_interpreted = contextvars.ContextVar("interpreted", default=False)
_compiling = contextvars.ContextVar("compiling", default=False)


class compiled:
    """Decorator: compiles a function of numpy arrays where numba is installed.

    Elsewhere the same source runs as plain Python. The function is compiled at the
    first call; the machine code is kept on disk for later processes, and runs without
    holding Python's global lock. A compiled function may call other compiled functions,
    but not itself.

    What `jaxgames.native` understands is compiled by what numba stands on, sooner than
    by numba; all else by numba.

    Examples:
        >>> import numpy as np
        >>> @compiled
        ... def total(values):
        ...     result = 0
        ...     for value in values:
        ...         result += value
        ...     return result
        >>> int(total(np.arange(5)))
        10
    """

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: Any) -> Any:
        """Calls the machine code, or the Python function."""
        if _interpreted.get() or not can_compile():
            return self._function(*args)
        return self._machine_code(*args)

    @property
    def ready(self) -> bool:
        """Whether this process has its machine code already."""
        return "_machine_code" in self.__dict__

    @functools.cached_property
    def _machine_code(self) -> Callable:
        _keep_memory()
        return self._translated if native.can_translate() else self._by_numba

    @functools.cached_property
    def _program(self) -> "native.Program":
        return native.Program(self._function, _plain)

    def _translated(self, *args: Any) -> Any:
        found = self._program.code(args)
        if found is None:
            return self._by_numba(*args)
        code, room = found
        return code(room, args)

    def on_each(self, args: tuple, more: list[tuple]) -> None:
        """Calls it with the same arguments and some more, on all cores.

        Args:
            args: those that all have.
            more: what follows for each, of one kind.
        """
        calls = []
        if native.can_translate():
            found = (self._program.code((*args, *each)) for each in more)
            calls = [call for call in found if call is not None]
        if len(calls) == len(more):
            calls[0][0].on_each(_crew(), [room for _, room in calls])
        else:
            together(lambda each: self._by_numba(*args, *each), more)

    def in_steps(self, args: tuple, steps: np.ndarray) -> None:
        """Calls it with the same arguments and a range, on all cores.

        Args:
            args: those that all calls have.
            steps: as for `in_steps`.
        """
        found = None
        if native.can_translate():
            found = self._program.code((*args, 0, 0))
        if found is None:
            for first, last in steps[:, :2].tolist():
                self(*args, first, last)
        else:
            code, room = found
            code.in_steps(_crew(), room, steps, min(num_cores(), len(steps)))

    def _by_numba(self, *args: Any) -> Any:
        """For what is not translated."""
        return self._numba(*(args if _is_lent(args) else map(lend, args)))

    @functools.cached_property
    def _numba(self) -> Callable:
        import numba

        function = self._for_numba()
        if self._calls:
            function.__qualname__ += f"-{self._edited():x}"
        try:
            return numba.njit(cache=True, nogil=True)(function)
        except RuntimeError:  # no place for the cache, or a function typed at a prompt
            return numba.njit(nogil=True)(function)

    @functools.cached_property
    def _inner(self) -> Callable:
        """What other compiled functions call.

        What would make it callable from Python takes as long to compile as itself, and
        their code on disk has all of it.
        """
        import numba

        without_wrappers = numba.njit(  # pyright: ignore[reportCallIssue]
            nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
        )
        return without_wrappers(self._for_numba())

    def _for_numba(self) -> types.FunctionType:
        """The function, whose globals have numba's functions instead of wrappers.

        Numba reads them when it compiles.
        """
        function = self._function
        scope = dict(function.__globals__)
        scope.update({name: callee._inner for name, callee in self._calls.items()})
        return types.FunctionType(function.__code__, scope, function.__name__)

    @functools.cached_property
    def _calls(self) -> dict[str, "compiled"]:
        """The compiled functions that this one calls, by the names it has for them."""
        scope = self._function.__globals__
        # Names of attributes too are among the names of the code: those are not meant.
        loads = dis.get_instructions(self._function)
        names = {x.argval for x in loads if x.opname == "LOAD_GLOBAL"}
        found = {name: scope.get(name) for name in sorted(names)}
        return {name: f for name, f in found.items() if isinstance(f, compiled)}

    def _edited(self) -> int:
        """When the last edit was made to the files of this function and its callees.

        Numba inlines callees into the code that it keeps on disk, but forgets it only
        when the caller's own file changes. So the time becomes part of its name there.
        """
        file = Path(self._function.__code__.co_filename)
        own = file.stat().st_mtime_ns if file.exists() else 0
        return max([own, *(callee._edited() for callee in self._calls.values())])


@functools.cache
def _keep_memory() -> None:
    """Has the process keep memory that is freed for the arrays of the next call.

    The system fills each page that it gives with zeros, which takes as long as many a
    loop over it. The C library of Linux keeps as much as twice the largest array that
    was freed, up to this size. So one is freed that nobody has written to.
    """
    np.empty((32 << 20) - (64 << 10), np.uint8)


def _plain(function: Any) -> types.FunctionType | None:
    """The source of a compiled function; None of anything else."""
    return function._function if isinstance(function, compiled) else None


prefetch = compiled(native.prefetch)
"""Has an item of an array fetched that a compiled function reads soon."""


def lend(argument: Any) -> Any:
    """Arrays for machine code, which takes those that are read-only for another type.

    It would be compiled once more for each mixture of such. So it sees memory that it
    could write to: the same, or a copy where that is sooner done. It writes to none of
    it: the Python of the same source gets the arrays as they are, and would raise.

    Args:
        argument: an array, a tuple of arrays, or anything else, which stays as it is.
            What is given out more than once is better lent once.
    """
    if type(argument) is np.ndarray:
        if argument.flags.writeable:
            return argument
        small = argument.nbytes <= COPIED_UP_TO
        return argument.copy() if small else np.asarray(_Lent(argument))
    if isinstance(argument, tuple) and not _is_lent(argument):
        lent = tuple(map(lend, argument))
        return type(argument)(*lent) if hasattr(argument, "_fields") else lent
    return argument


def _is_lent(arguments: tuple) -> bool:
    """Whether no array among them is read-only: most often so, and told fast."""
    for argument in arguments:
        if type(argument) is np.ndarray:
            if not argument.flags.writeable:
                return False
        elif isinstance(argument, tuple) and not _is_lent(argument):
            return False
    return True


class _Lent:
    """An array whose memory numpy takes for such that can be written to."""

    def __init__(self, array: np.ndarray):
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__, self._array = interface, array  # kept alive


@functools.cache
def can_compile() -> bool:
    """Whether numba is installed, so that `compiled` functions are fast."""
    return importlib.util.find_spec("numba") is not None


def serves(edges: int, until: int) -> bool:
    """Whether what may run here or on the device is best done here.

    It is where a compiler is and JAX computes on a CPU, or where there are so few edges
    that the launches of an accelerator alone would take longer. Without a compiler, it
    is where plain Python is done before JAX would have compiled. The size is looked at
    first: to ask for the backend may start JAX.

    Args:
        edges: how many there are.
        until: how many are worth an accelerator.
    """
    from jaxgames.later import backend

    if not can_compile():
        return edges < until and (_interpreted.get() or is_plain(edges))
    return edges < until or backend() == "cpu"


def on_all_cores(function: compiled, size: int, *arguments: Any, work: int = 0) -> None:
    """Has a compiled function work on ranges of places, one range on each core.

    Args:
        function: called with the arguments, and with where a range begins and ends. It
            may write to what belongs to the places of its range alone. Numba can
            tell of a loop from `max(begin, 0)` that its indices do not count from an
            array's end, and works on several places at once.
        size: how many places there are.
        *arguments: of numpy arrays and numbers.
        work: how much is read and written, such as edges of vertices, where that is
            more than one thing for each place.

    Examples:
        >>> import numpy as np
        >>> @compiled
        ... def double(values, begin, end):
        ...     for i in range(max(begin, 0), end):
        ...         values[i] *= 2
        >>> values = np.arange(4)
        >>> on_all_cores(double, 4, values)
        >>> values
        array([0, 2, 4, 6])
    """
    on_ranges(function, ranges_of(size, work=work), *arguments)


def ranges_of(
    size: int, most: int | None = None, work: int = 0
) -> list[tuple[int, int]]:
    """Ranges of so many places, one for each core that they are worth.

    Args:
        size: how many places there are.
        most: ranges at most, if not as many as there are cores.
        work: as for `on_all_cores`.
    """
    worth = min(-(-max(size, work) // FEWEST_PLACES), size)
    if worth < 2:  # told fast
        return [(0, size)]
    parts = max(1, min(most or num_cores(), num_cores(), worth))
    bounds = [size * part // parts for part in range(parts + 1)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def on_ranges(function: compiled, ranges: list[tuple], *arguments: Any) -> None:
    """Has a compiled function work on ranges, side by side where it is compiled.

    Args:
        function: called with the arguments, and with those of each range.
        ranges: what is said of each.
        *arguments: as in `on_all_cores`.
    """
    if len(ranges) < 2 or _interpreted.get() or not can_compile():
        for each in ranges:
            function(*arguments, *each)
    else:
        function.on_each(arguments, ranges)


def in_steps(function: compiled, steps: np.ndarray, *arguments: Any) -> None:
    """Has a compiled function work on ranges, side by side but for what has to wait.

    Cores that wait look for it again and again, for millionths of a second: threads
    that slept would be woken too late.

    Args:
        function: called with the arguments, and with where a range begins and ends.
        steps: int64 `[N, 3]`, in each row a range, and the first row of its level: all
            rows before that one are done first.
        *arguments: as in `on_all_cores`.

    Examples:
        >>> import numpy as np
        >>> @compiled
        ... def add_up(values, begin, end):
        ...     for i in range(begin, end):
        ...         values[i] += values[i - 2]
        >>> values = np.ones(7, int)
        >>> levels = np.array([[2, 4, 0], [4, 5, 1], [5, 6, 1], [6, 7, 3]])
        >>> in_steps(add_up, levels, values)
        >>> values
        array([1, 1, 2, 2, 3, 3, 4])
    """
    if len(steps) < 2 or _interpreted.get() or not can_compile():
        for first, last in steps[:, :2].tolist():
            function(*arguments, first, last)
    else:
        function.in_steps(arguments, np.ascontiguousarray(steps, np.int64))


def together(work: Callable[[Any], Any], parts: Iterable[Any]) -> None:
    """Does the work for each part, on this thread and on those of the other cores.

    Each takes the next part when it has done one, from the first to the last.

    Args:
        work: lets go of Python's global lock, or gains nothing; it may not call this.
        parts: what it is called with.

    Raises:
        Exception: what the work for a part raised, when all parts have ended; those
            that had not begun are left out then.
    """
    left = collections.deque(parts)
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()
    errors: list[BaseException] = []

    def take() -> None:
        while True:
            try:
                part = left.popleft()
            except IndexError:
                return
            try:
                if not errors:
                    work(part)
            except BaseException as raised:  # is raised again by the one who waits
                errors.append(raised)
            ended.put(None)

    count = len(left)
    tasks = _tasks()
    for _ in range(min(count, num_cores()) - 1):
        tasks.put(take)
    take()
    for _ in range(count):  # nobody else may write to what is shared from here on
        ended.get()
    for error in errors:
        raise error


class Aside:
    """Work that another core does meanwhile, if one is free.

    Args:
        work: lets go of Python's global lock, or gains nothing.

    Examples:
        >>> aside = Aside(lambda: 6 * 7)
        >>> aside.begin()
        >>> 42 if aside.take_back() else aside.result()
        42
    """

    def __init__(self, work: Callable[[], Any]):
        self._work, self._begun = work, threading.Lock()
        self._ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._result: Any = None

    def begin(self) -> None:
        """Lets another thread do it, where there are cores and compiled loops."""
        if num_cores() > 1 and can_compile() and not _interpreted.get():
            _tasks().put(self._do)

    def _do(self) -> None:
        if self.take_back():
            error = None
            try:
                self._result = self._work()
            except BaseException as raised:  # is raised again by the one who waits
                error = raised
            self._ended.put(error)

    def result(self, waits: Callable[[], Any] = lambda: None) -> Any:
        """What the work returns, which another thread has begun.

        Args:
            waits: called now and then while another thread is at work.

        Raises:
            Exception: what the work raised.
        """
        while True:
            try:
                error = self._ended.get(timeout=WAIT_SECONDS)
                break
            except queue.Empty:
                waits()
        if error is not None:
            raise error
        return self._result

    def take_back(self) -> bool:
        """Whether nobody has begun the work; then nobody will."""
        return self._begun.acquire(blocking=False)


@functools.cache
def num_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _crew() -> "native.Crew":
    """Threads for machine code, one for each other core."""
    with _hiring:  # two that ask at once get the same
        return _hired()


@functools.cache
def _hired() -> "native.Crew":
    return native.Crew(max(1, num_cores() - 1))


_hiring = threading.Lock()


@functools.cache
def _tasks() -> queue.SimpleQueue:
    """What threads take their work from, one for each other core.

    A part of the work takes some milliseconds, or not much more than that: a future and
    its lock for each would take some tenths of one.
    """
    tasks = queue.SimpleQueue()
    for _ in range(max(1, num_cores() - 1)):
        threading.Thread(
            target=_serve, args=(tasks,), name="jaxgames", daemon=True
        ).start()
    return tasks


def _serve(tasks: queue.SimpleQueue) -> None:
    while True:
        work = tasks.get()
        work()
        del work  # what it holds is free, as long as nothing comes


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(
        before=_hiring.acquire,
        after_in_parent=_hiring.release,
        after_in_child=_hiring.release,
    )
    os.register_at_fork(after_in_child=_tasks.cache_clear)
    os.register_at_fork(after_in_child=_hired.cache_clear)


# ---- small inputs -------------------------------------------------------------------

_plain_left = PLAIN_SECONDS


class Impatience(np.ndarray):
    """The `stop` of an engine that runs as plain Python: set when its time is over.

    Examples:
        >>> stop = Impatience.of(60.0)
        >>> bool(stop[0])
        False
        >>> Impatience.of(0.0)[0]
        1
    """

    began: float
    end: float
    asked: float
    ask: Callable[[float], Any]
    told: Any

    @classmethod
    def of(
        cls, seconds: float, ask: Callable[[float], Any] = lambda _: None
    ) -> "Impatience":
        """Int8 `[1]`, 0 for so many seconds and 1 from then on.

        Args:
            seconds: how many.
            ask: called now and then with the seconds that have gone; where it returns
                something that is true, that is `told`, and the time is over.
        """
        stop = np.zeros(1, np.int8).view(cls)
        stop.began = stop.asked = time.perf_counter()
        stop.end, stop.ask, stop.told = stop.began + seconds, ask, None
        return stop

    def __getitem__(self, place: Any) -> int:
        now = time.perf_counter()
        if now - self.asked > ASK_SECONDS and not self.told:
            self.asked, self.told = now, self.ask(now - self.began)
        return int(now >= self.end or bool(self.told))


def is_plain(edges: int) -> bool:
    """Whether a small input is better left to plain Python, for the time being."""
    if edges > SMALL or _plain_left <= 0 or _has_llvm():
        return False
    return not _interpreted.get() and not _compiling.get()


def _has_llvm() -> bool:
    """Whether LLVM is in the process.

    To load machine code then takes a millisecond, and to make it, once on a machine,
    some tens.
    """
    return "llvmlite.binding" in sys.modules


class linear(compiled):
    """Decorator: as `compiled`, for what takes about as long as its arrays are.

    Small ones run as plain Python, as long as that is sooner: see `plain`.

    Examples:
        >>> import numpy as np
        >>> @linear
        ... def first(values):
        ...     return values[0]
        >>> int(first(np.array([7, 8])))
        7
    """

    def __call__(self, *args: Any) -> Any:
        """Calls the Python function where it is sooner."""
        if self.ready or not is_plain(_size_of(args)):
            return super().__call__(*args)
        with plain(0):
            return self._function(*args)


def _size_of(arguments: tuple) -> int:
    """How long the longest array is."""
    size = 0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            size = max(size, argument.size)
        elif isinstance(argument, tuple):
            size = max(size, _size_of(argument))
    return size


@contextlib.contextmanager
def plain(edges: int) -> Iterator[bool]:
    """Within this context `compiled` functions run as plain Python if that is sooner.

    It is for a small input, as long as this process has not spent `PLAIN_SECONDS` so.
    Yields whether it is.

    Args:
        edges: how large the input is.

    Examples:
        >>> with plain(10**6) as sooner:
        ...     sooner
        False
    """
    global _plain_left
    if not is_plain(edges):
        yield False
        return
    began = time.perf_counter()
    try:
        with interpreted():
            yield True
    finally:
        _plain_left -= time.perf_counter() - began


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Within this context nothing is too small for machine code, so that it gets ready.

    Examples:
        >>> with compiling():
        ...     is_plain(1)
        False
    """
    token = _compiling.set(True)
    try:
        yield
    finally:
        _compiling.reset(token)


def plain_left(engines: str | None = None, edges: int = TINY) -> float:
    """Seconds that this process may still spend in plain Python.

    Args:
        engines: the name of the package that has what is called. Fewer are left if its
            machine code is on the disk. That is asked late, since it takes time, too.
        edges: how large the input is.
    """
    left = _plain_left
    late = edges >= TINY or left < PLAIN_SECONDS - LOAD_SECONDS / 2
    if engines is not None and late and left > 0 and _is_made(engines):
        left -= PLAIN_SECONDS - LOAD_SECONDS
    return max(left, 0.0)


@functools.cache
def _is_made(package: str) -> bool:
    if not can_compile():
        return False
    with contextlib.suppress(ImportError, ValueError):  # a problem from elsewhere
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            return native.is_any_kept(package, Path(spec.origin))
    return False


# ---- where it is missed ----------------------------------------------------------

_told = False


class SlowWarning(UserWarning):
    """A large input takes a slow way, because numba is not installed."""


def told_if_slow(solver: Any, edges: int) -> Callable[[Any], Any]:
    """Says once in a process that numba is missed, where a solve would use it.

    On the host itself, and by `"auto"` on a CPU, which would leave a large input to the
    host; not where a solver of the device was named.

    Args:
        solver: what the solve was asked to take.
        edges: how many the input has.

    Returns:
        What adds the same to the `stats` of the solution.
    """
    if edges < MANY or can_compile() or solver not in ("auto", "host", "race"):
        return lambda found: found
    from jaxgames.later import backend

    if solver != "host" and backend() != "cpu":
        return lambda found: found
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"numba is not installed: {edges:,} edges go a slow way. With "
            "'pip install numba' the host's engine solves them, mostly many times as "
            "fast",
            SlowWarning,
            stacklevel=3,
        )
    return _noted


def _noted(found: Any) -> Any:
    """A solution whose `stats` say that numba was missed."""
    stats = type(found.stats)(**{**found.stats, "numba": "not installed"})
    return dataclasses.replace(found, stats=stats)


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Within this context `compiled` functions run as plain Python.

    Examples:
        >>> with interpreted():
        ...     pass  # step through them in a debugger, or compare the results
    """
    token = _interpreted.set(True)
    try:
        yield
    finally:
        _interpreted.reset(token)
