"""Limits of time and memory that hold for all that is done within them.

Entry points take `deadline=` and `memory=` for one call;
[`within`][jaxgames.limits.within] sets them for many. Long loops say where they are by
[`tick`][jaxgames.limits.tick], which ends them when a limit is reached; solvers look
between two chunks of rounds, and keep what they have found.

Some work cannot be stopped, such as a compilation. So where there is a limit, an entry
point works in another thread, and the caller waits no longer than it allows. What is
still going on then is told to stop, and let go.
"""

import contextlib
import contextvars
import functools
import inspect
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, TypedDict, TypeVar

import numpy as np

from jaxgames import arguments
from jaxgames.arena import is_traced
from jaxgames.later import imported, jax
from jaxgames.progress import Bar, Meter, Progress, Report, plain_progress, surrounding
from jaxgames.solution import SolveError, Status
from jaxgames.tuning.base import (
    GRACE_SECONDS,
    OWN_BYTES,
    PATIENCE_SECONDS,
    TELL_SECONDS,
    WATCH_SECONDS,
)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

Ended = tuple[T | None, BaseException | None]
"""What some work has found, or the error that ended it."""


class Bounds(TypedDict, total=False):
    """Keywords of entry points that tell nothing of themselves but what `tick` tells.

    Attributes:
        deadline: seconds for all of the call. The clock is looked at between two
            steps: an answer that is there is given, however late.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then, in every phase, and may
            end the call. Not under tracing, like the others.
        memory: bytes by which the process may grow meanwhile, beside 128 MiB for
            modules that are loaded. None: what is free.
    """

    deadline: float | None
    progress: Progress | Meter | bool | None
    memory: int | None


class LimitError(SolveError):
    """A limit was reached in a phase that leaves nothing to go on from.

    Attributes:
        phase: what was being done.
    """

    def __init__(self, status: Status, solution: Any, phase: str, seconds: float):
        super().__init__(status, solution)
        what = {
            Status.TIMEOUT: f"the time limit of {seconds:g} s was reached",
            Status.INTERRUPTED: "interrupted",
        }.get(status, "a meter asked for an end")
        more = ": allow more time" if status == Status.TIMEOUT else ""
        self.args = (f"{status.name}: {what} while {phase}{more}",)
        self.phase = phase
        self._seconds = seconds

    def __reduce__(self):
        return type(self), (self.status, self.solution, self.phase, self._seconds)

    def with_solution(self, solution: Any) -> "LimitError":
        """The same, with what is known."""
        return LimitError(self.status, solution, self.phase, self._seconds)


class TooLargeError(MemoryError):
    """A solve, or what it is to work on, does not fit into memory."""


class Limits:
    """What holds within a context, and where the work stands that is done there.

    Attributes:
        parent: what holds around it, too; or None.
        end: the time when it must be over, by `time.perf_counter`.
        seconds: how long that was from the start; infinite if there is no such limit.
        memory: bytes by which the process may grow; None for any.
        stop: a status that ends the work, once somebody asks for that.
        inside: whether an entry point is at work, which answers for those it calls.
        watched: whether another thread sees to it that nobody waits for longer.
        told: how many reports were told.
    """

    def __init__(
        self,
        parent: "Limits | None" = None,
        *,
        deadline: float | None = None,
        progress: Progress | Meter | bool | None = None,
        memory: int | None = None,
    ):
        if deadline is not None:
            deadline = arguments.positive("deadline", deadline, "seconds")
        if memory is not None:
            size = arguments.positive("memory", memory, "bytes")
            memory = None if size == math.inf else math.ceil(size)
        began = time.perf_counter()
        end = math.inf if deadline is None else began + deadline
        outer = math.inf if parent is None else parent.end
        self.parent = parent
        self.end = min(end, outer)
        self.seconds = math.inf if deadline is None else deadline
        if parent is not None and outer <= end:
            self.seconds = parent.seconds
        self.memory = memory
        self.stop: Status | None = None
        self.watched = parent is not None and parent.watched and outer <= end
        self.watched = self.watched and memory is None
        self.inside = parent is not None and parent.inside
        self.told = 0
        self._resident = resident() if memory is not None else None
        self._own = progress is not None and progress is not False
        if self._own or parent is None:
            self._meter = plain_progress(progress)
        else:
            self._meter = parent._meter
        self._phase = _Phase() if parent is None else parent._phase
        self._look = began  # when to look at the memory again

    # ---- what is reached -------------------------------------------------------

    @property
    def limited(self) -> bool:
        """Whether there is a limit of time or memory here."""
        return self.end < math.inf or self.memory_left() is not None

    def status(self) -> Status | None:
        """Why the work must end, if it must."""
        if self.stop is not None:
            return self.stop
        if time.perf_counter() > self.end:
            return Status.TIMEOUT
        return None if self.parent is None else self.parent.status()

    def leaves(self, seconds: float) -> bool:
        """Whether so much time is left, and any memory."""
        if self.status() is not None or self.memory_left() is not None:
            return False
        return time.perf_counter() + seconds < self.end

    def memory_left(self) -> int | None:
        """Bytes by which the process may still grow; None for any."""
        around = None if self.parent is None else self.parent.memory_left()
        if self.memory is None:
            return around
        now = resident()
        grown = 0 if now is None or self._resident is None else now - self._resident
        # The system cannot tell modules that are loaded meanwhile from data.
        own = self.memory - max(grown - OWN_BYTES, 0)
        return own if around is None else min(own, around)

    def check_memory(self) -> None:
        """Raises TooLargeError where the process has grown by more than it may."""
        left = self.memory_left()
        if left is not None and left < 0:
            raise TooLargeError(
                f"the memory limit is exceeded by {-left / 1e9:.3g} GB while "
                f"{self.phase}: allow more, or take something smaller"
            )

    def raise_if_reached(self) -> None:
        """Raises what `tick` raises."""
        status = self.status()
        if status is not None:
            self.fail(status)
        now = time.perf_counter()
        if now >= self._look:
            self._look = now + TELL_SECONDS
            self.check_memory()

    def fail(self, status: Status) -> None:
        """Raises a LimitError."""
        raise LimitError(status, None, self.phase, self.seconds)

    def interrupt(self) -> None:
        """Asks for the end of the work."""
        self.stop = Status.INTERRUPTED

    def lift(self) -> None:
        """Lets the work go on: what was found until now is to be told."""
        self.end, self.seconds, self.stop, self.memory = math.inf, math.inf, None, None
        if self.parent is not None:
            self.parent.lift()

    # ---- what is told ----------------------------------------------------------

    @property
    def phase(self) -> str:
        """What is going on."""
        return self._phase.what

    def say(self, what: str) -> None:
        """Notes what begins now."""
        if isinstance(self._meter, Bar):
            self._meter.clear()
        self._phase.begin(what)

    def tick(self, what: str, done: int, unit: str) -> None:
        """Notes where a loop is, and ends it where a limit is reached."""
        phase = self._phase
        if what != phase.what:
            self.say(what)
        if unit:
            phase.done, phase.unit = done, unit
        self.raise_if_reached()
        now = time.perf_counter()
        if now > phase.next:
            phase.next = now + TELL_SECONDS
            stop = self(phase.report(now))
            if stop is not None:
                self.fail(stop)

    def __call__(self, report: Report) -> Status | None:
        """Takes a report; the status that ends what it is about."""
        self.told += 1
        self._phase.next = time.perf_counter() + TELL_SECONDS
        stop = self._meter(report)
        return self.status() if stop is None else stop

    def silent(self) -> "Limits":
        """The same limits for an engine that somebody else tells of."""
        child = Limits(self)
        child._meter = plain_progress(None)
        child.watched = True
        return child

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Has a bar redrawn as time passes, and closes the meter in the end."""
        ended = threading.Event()
        meter = self._meter
        if self._own and isinstance(meter, Bar):

            def redraw():
                while not ended.wait(TELL_SECONDS * 2):
                    now = time.perf_counter()
                    if now > self._phase.next:
                        meter(self._phase.report(now))

            threading.Thread(target=redraw, daemon=True, name="jaxgames-bar").start()
        try:
            yield
        finally:
            ended.set()
            if self._own:
                meter.close()


class _Phase:
    """What is going on, and how far it is."""

    def __init__(self):
        self.begin("starting")

    def begin(self, what: str) -> None:
        self.what, self.done, self.unit = what, 0, ""
        self.since = time.perf_counter()
        self.next = self.since + PATIENCE_SECONDS

    def report(self, now: float) -> Report:
        return Report(self.what, self.done, now - self.since, self.unit)


# ---- the context -----------------------------------------------------------------


@contextlib.contextmanager
def within(
    *,
    deadline: float | None = None,
    progress: Progress | Meter | bool | None = None,
    memory: int | None = None,
) -> Iterator[Limits]:
    """Sets limits for all that is done while the context lasts.

    Limits around it hold as well: the earlier end, and the lesser memory.

    Args:
        deadline: seconds from now. The clock is looked at between two steps: an answer
            that is there is given, however late.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then; it may end what it is
            told of by the status that it returns.
        memory: bytes by which the process may grow, beside 128 MiB for modules that
            are loaded; and what a solve may take on a device.

    Yields:
        The limits.

    Examples:
        >>> from jaxgames import Arena, limits, parity
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[0, 1])
        >>> with limits.within(deadline=60):
        ...     parity.solve(arena)
        Solution(player 0 wins 0, player 1 wins 2)
    """
    limits = Limits(current(), deadline=deadline, progress=progress, memory=memory)
    token = surrounding.set(limits)
    try:
        with limits.shown():
            yield limits
    finally:
        surrounding.reset(token)


def current() -> Limits | None:
    """The limits that hold here, if there are any."""
    return surrounding.get()


def tick(what: str, done: int = 0, unit: str = "") -> None:
    """Says where a long loop is; to be called in it now and then.

    It costs next to nothing where there are no limits, and a look at the clock where
    there are.

    Args:
        what: what is being done, such as `"translating"`.
        done: how much of it is.
        unit: what is counted.

    Raises:
        LimitError: the time is over, or somebody has asked for an end.
        TooLargeError: the process has grown by more than it may.

    Examples:
        >>> for number in range(3):
        ...     tick("counting", number, "numbers")
    """
    limits = surrounding.get()
    if limits is not None:
        limits.tick(what, done, unit)


def ticking(items: Iterable[T], what: str) -> Iterator[T]:
    """The same items, with a `tick` before each."""
    for item in items:
        tick(what)
        yield item


@contextlib.contextmanager
def ticking_beside(what: str) -> Iterator[np.ndarray]:
    """Ticks in another thread while machine code runs, which cannot.

    Args:
        what: what is being done.

    Yields:
        int8 `[1]`, not zero once a limit is reached: a compiled loop looks at it now
        and then, and ends. Where nobody set limits it stays zero.

    Raises:
        LimitError: as from `tick`, when the context ends.
        TooLargeError: likewise.

    Examples:
        >>> with within(deadline=0.01), ticking_beside("turning") as stop:
        ...     while not stop[0]:
        ...         pass
        Traceback (most recent call last):
        jaxgames.limits.LimitError: TIMEOUT: the time limit ... reached while turning...
    """
    tick(what)
    stop, limits = np.zeros(1, np.int8), surrounding.get()
    if limits is None:
        yield stop
        return
    ended = threading.Event()
    reached: list[Exception] = []

    def look():
        while not ended.wait(WATCH_SECONDS):
            try:
                limits.tick(what, 0, "")
            except Exception as error:
                reached.append(error)
                stop[0] = 1
                return

    beside = threading.Thread(target=look, daemon=True, name="jaxgames-tick")
    beside.start()
    try:
        yield stop
    finally:
        ended.set()
        beside.join()
    if reached:
        raise reached[0]


def say(what: str) -> None:
    """Notes what begins now, for those who wait: such as `"compiling"`."""
    limits = surrounding.get()
    if limits is not None:
        limits.say(what)


def fail(status: Status, what: str) -> None:
    """Raises LimitError: a part of a call has ended, without which it cannot go on."""
    limits = surrounding.get()
    raise LimitError(status, None, what, math.inf if limits is None else limits.seconds)


def memory_left() -> int | None:
    """Bytes by which the process may still grow; None where there is no limit."""
    limits = surrounding.get()
    return None if limits is None else limits.memory_left()


def check_room(size: int, what: str) -> None:
    """Sees to it that so many bytes may be taken, before they are.

    Raises:
        TooLargeError: they may not.
    """
    left = memory_left()
    if left is not None and size > left:
        raise TooLargeError(
            f"{what} takes about {size / 1e9:.3g} GB, and the memory limit leaves "
            f"{max(left, 0) / 1e9:.3g} GB: allow more, or take something smaller"
        )


@functools.cache
def _page_size() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def resident() -> int | None:
    """Bytes of memory that this process has now; None where nobody knows."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _page_size()
    except (OSError, ValueError, IndexError):
        return None


# ---- entry points ----------------------------------------------------------------


def limited(undecided: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Decorator: a function that takes `deadline`, `progress` and `memory`.

    The function itself does not get the first and the last. Its `progress` is None
    where it is not traced: what [`as_progress`][jaxgames.progress.as_progress] makes of
    that tells the meter which was passed. One that says no more of them than
    `**bounds: Unpack[Bounds]` gets none of the three. Of a generator each step is
    within the limits, from the first one on.

    Args:
        undecided: a function of a status and of the arguments; gives the solution that
            knows nothing. With it, a function with `throw=False` returns that where it
            would raise a LimitError.

    Examples:
        >>> @limited()
        ... def count(end, *, deadline=None, memory=None):
        ...     for number in range(end):
        ...         tick("counting", number, "numbers")
        >>> count(10**9, deadline=0.01)
        Traceback (most recent call last):
        jaxgames.limits.LimitError: TIMEOUT: the time limit of 0.01 s was reached ...
    """

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters
        bare = parameters.keys() - {BOUNDS} | Bounds.__annotations__.keys()
        takes_all = BOUNDS not in parameters
        if inspect.isgeneratorfunction(function):
            return _named(_in_steps(function))

        @functools.wraps(function)
        def call(*args, deadline=None, memory=None, **options):
            if not (takes_all or options.keys() <= bare):
                _check_names(function, options, bare)
            if deadline is memory is None and surrounding.get() is None:
                progress = options.get("progress")
                if progress is None or progress is False:
                    return function(*args, **options)
            return _limited(
                function, undecided, args, options, deadline=deadline, memory=memory
            )

        return call if takes_all else _named(call)  # type: ignore[return-value]

    return decorate


BOUNDS = "bounds"
"""What a function calls these keywords where it says no more of them."""


def spelled_out(call: F, keywords: str, named: type, defaults: Mapping[str, Any]) -> F:
    """A function with a signature that has some keywords by their names.

    Args:
        call: the function; what it calls `**keywords` is not in its signature then.
        keywords: that name.
        named: a TypedDict of them.
        defaults: of each, in the order in which they are listed.
    """
    signature = inspect.signature(call)
    kinds = inspect.get_annotations(named) | Bounds.__annotations__
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=kinds[name],
        )
        for name, default in defaults.items()
    ]
    own = [x for x in signature.parameters.values() if x.name != keywords]
    call.__signature__ = signature.replace(parameters=own + more)  # type: ignore
    return call


def _named(call: Any) -> Any:
    return spelled_out(call, BOUNDS, Bounds, dict.fromkeys(Bounds.__annotations__))


def _check_names(function: Callable, options: Iterable[str], known: Container[str]):
    """Raises what Python raises for a keyword that there is not."""
    for name in options:
        if name not in known:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}"
            )


def _in_steps(function: Callable[..., Iterator[T]]) -> Callable[..., Iterator[T]]:
    """A generator each of whose steps is within limits, from the first one on."""
    known = inspect.signature(function).parameters.keys() - {BOUNDS}

    @functools.wraps(function)
    def steps(*args, deadline=None, progress=None, memory=None, **options):
        _check_names(function, options, known)
        items, end = function(*args, **options), object()
        if deadline is memory is None and not progress and current() is None:
            yield from items
            return
        limits = Limits(current(), deadline=deadline, progress=progress, memory=memory)
        watched, limits.inside = limits.watched, True

        def step() -> Any:
            # Set in each step alone: whoever takes the items works without it.
            token = surrounding.set(limits)
            try:
                if watched or not limits.limited or _is_distributed():
                    return next(items, end)
                return _watched(limits, lambda: next(items, end))
            finally:
                surrounding.reset(token)

        with limits.shown():
            while (item := step()) is not end:
                yield item

    return steps


def _limited(function, undecided, args, options, *, deadline, memory):
    """A call within limits."""
    if is_traced((args, options)):
        if deadline is not None or memory is not None:
            raise ValueError(
                "deadline and memory are kept by the host, which does nothing while "
                "traced functions run: limit the call of the jitted function, or pass "
                "max_steps"
            )
        return function(*args, **options)
    options = dict(options)
    progress = options.pop("progress", None)
    around = current()
    inside = around is not None and around.inside
    try:
        with within(deadline=deadline, progress=progress, memory=memory) as limits:
            limits.inside = True
            if limits.watched or not limits.limited or _is_distributed():
                # Several processes do the same: none of them may leave the others.
                return function(*args, **options)
            return _watched(limits, functools.partial(function, *args, **options))
    except LimitError as error:
        if undecided is None or inside:
            raise
        nothing = undecided(error.status, *args, **options)
        if not options.get("throw", True):
            return nothing
        raise error.with_solution(nothing) from error


def _watched(limits: Limits, work: Callable[[], Any]) -> Any:
    """Works in another thread, and waits for it no longer than the limits allow."""
    limits.watched = True
    ended = in_another_thread(work)
    grace = min(GRACE_SECONDS, WATCH_SECONDS * 5 + limits.seconds)
    last, why = math.inf, None
    while True:
        now = time.perf_counter()
        if now > last:
            raise why or AssertionError("unreachable")
        try:
            found, error = ended.get(timeout=min(WATCH_SECONDS, max(last - now, 0.001)))
        except queue.Empty:
            if why is None:
                why = _reached(limits)
                last = math.inf if why is None else time.perf_counter() + grace
        except KeyboardInterrupt as interrupt:
            limits.stop, why = Status.INTERRUPTED, interrupt
            last = time.perf_counter() + GRACE_SECONDS
        else:
            is_end = error is None or isinstance(error, (LimitError, MemoryError))
            if isinstance(why, TooLargeError) and is_end:
                raise why
            if isinstance(error, LimitError) and why:
                raise why
            if error is not None:
                raise error
            return found


def _reached(limits: Limits) -> BaseException | None:
    """What is wrong, seen by the one who waits."""
    try:
        status = limits.status()
        if status is not None:
            limits.fail(status)
        limits.check_memory()
    except LimitError as error:
        return error
    except TooLargeError as error:
        limits.stop = Status.INTERRUPTED
        return error
    return None


_SETTINGS = (
    "default_device",
    "enable_x64",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "debug_nans",
    "disable_jit",
)
"""JAX's settings that a thread has for itself; contexts have these names too."""


def _is_distributed() -> bool:
    """Whether other processes wait for what this one computes."""
    return imported() and jax.distributed.is_initialized()


def jax_settings() -> Callable[[], contextlib.AbstractContextManager[Any]]:
    """The settings of JAX in this thread: a function that makes a context of them."""
    if not imported():
        return contextlib.nullcontext
    here = {name: getattr(jax.config, f"jax_{name}") for name in _SETTINGS}

    def settings() -> contextlib.ExitStack:
        stack = contextlib.ExitStack()
        for name, value in here.items():
            # Left alone where nothing was chosen, JAX finds its programs faster.
            if getattr(jax.config, f"jax_{name}") != value:
                stack.enter_context(getattr(jax, name)(value))
        return stack

    return settings


def in_another_thread(work: Callable[[], T]) -> queue.SimpleQueue[Ended[T]]:
    """Begins some work in another thread, which nobody need wait for.

    That thread has the context and the settings of JAX that this one has.

    Returns:
        What gets what was found, or the error that ended it.
    """
    ended: queue.SimpleQueue[Ended[T]] = queue.SimpleQueue()
    context, settings = contextvars.copy_context(), jax_settings()

    def run() -> Ended[T]:
        try:
            with settings():
                return context.run(work), None
        except BaseException as error:
            return None, error

    _hand_over(run, ended)
    return ended


_idle: list[queue.SimpleQueue] = []


def _hand_over(work: Callable[[], Any], ended: queue.SimpleQueue[Any]) -> None:
    """Has a thread do some work and tell what it found; nobody need wait for it."""
    try:  # JAX sets much up when a thread calls it for the first time
        inbox = _idle.pop()
    except IndexError:
        inbox = queue.SimpleQueue()
        threading.Thread(
            target=_serve, args=(inbox,), daemon=True, name="jaxgames"
        ).start()
    inbox.put((work, ended))


def _serve(inbox: queue.SimpleQueue[Any]) -> None:
    """Does what comes, one after the other."""
    while True:
        work, ended = inbox.get()
        found = work()
        _idle.append(inbox)  # before the caller goes on, who may come back at once
        ended.put(found)
        del work, ended, found  # or they would live until something comes again
