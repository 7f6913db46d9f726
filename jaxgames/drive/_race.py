"""A race: several engines solve the same problem, and the first to finish wins.

Each runs in a thread of its own, so that a solve can report progress and be interrupted
whatever its engines do. The losers are told to stop, and not waited for.
"""

import concurrent.futures
import contextvars
import dataclasses
import functools
import math
import os
import queue
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from jaxgames import limits
from jaxgames.progress import Meter, Progress, Report, as_progress, surrounding
from jaxgames.solution import Solution, Status
from jaxgames.tuning.drive import AT_ONCE_SECONDS, REPORT_SECONDS, WAIT_SECONDS

S = TypeVar("S", bound=Solution)


class Track:
    """What the engines of a race share.

    Attributes:
        stop: int8 `[1]`: not zero once there is no use in going on. Compiled loops on
            the host look at it now and then.
        rounds: those that the device has made.
        ahead: seconds, and rounds, that the device has for itself, at most.
    """

    def __init__(self):
        self.stop = np.zeros(1, np.int8)
        self.rounds = 0
        self.ahead = 0.0, math.inf

    def wait(self, seconds: float, rounds: float = math.inf) -> None:
        """Lets the other engines have a start of so long, or until the race is over.

        Or until the device has made so many rounds: then it will make many more.
        """
        end = time.perf_counter() + seconds
        while not self.stop[0] and (left := end - time.perf_counter()) > 0:
            if self.rounds >= rounds:
                break
            time.sleep(min(left, WAIT_SECONDS))

    def let_ahead(self) -> None:
        """Lets the device have what it has for itself; the host calls it once."""
        self.wait(*self.ahead)
        self.ahead = 0.0, math.inf

    def meter(self, report: Report) -> Status | None:
        """The meter for an engine on the device: tells it when to stop."""
        self.rounds = report.rounds
        return Status.INTERRUPTED if self.stop[0] else None


def is_short(size: int, bound: int, *, ends: bool) -> bool:
    """Whether to solve something at once, which is sooner than a thread wakes up.

    Where somebody wants to know how far it is, or may end it, only if it `ends` after
    so many steps in any case, and memory is not limited, nor time nearly over.
    """
    around = limits.current()
    if around is not None and not (ends and around.leaves(AT_ONCE_SECONDS)):
        return False
    return size < bound


def first(
    track: Track,
    engines: Mapping[str, Callable[[], S]],
    *,
    progress: Progress | Meter | bool | None = None,
    prefer: str | None = None,
    last: str | None = None,
) -> S:
    """Runs each engine in a thread; the solution of the first that finishes.

    Engines must end soon after `stop` of the track is set. The solution of one, such as
    that of the device, which can be resumed, may be preferred where none has finished.
    One may have the last word: if its bounds come no nearer, nobody waits for others.

    Returns:
        The first solution of `Status.SOLVED`. If there is none, the preferred one, or
        any: with its own status, or with that of the meter that ended the race, or
        with `Status.INTERRUPTED` after an interrupt from the keyboard.

    Raises:
        Exception: that of an engine, if no engine had anything else to show.

    Examples:
        >>> track = Track()
        >>> def quick():
        ...     return Solution(Status.SOLVED)
        >>> def endless():
        ...     while not track.stop[0]:
        ...         time.sleep(0.01)
        ...     return Solution(Status.INTERRUPTED)
        >>> first(track, {"host": quick, "device": endless}).status.name
        'SOLVED'
    """
    meter = as_progress(progress)
    began, name = time.perf_counter(), " and ".join(engines)
    ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    status, solution, failure = None, None, None
    waiting = set(engines)

    def take(who: str, outcome: Any) -> bool:
        """Notes how an engine ended; whether the race is over."""
        nonlocal solution, failure
        waiting.remove(who)
        if isinstance(outcome, BaseException):
            failure = outcome
            return False
        over = outcome.status == Status.SOLVED
        over |= who == last and outcome.status == Status.PRECISION
        if over or solution is None or who == prefer:
            solution = outcome
        return over

    try:
        for who, solve in engines.items():
            _start(ended, who, solve)
        while waiting and status is None:
            try:
                if take(*ended.get(timeout=REPORT_SECONDS)):
                    waiting.clear()
            except queue.Empty:
                seconds = time.perf_counter() - began
                status = meter(Report(name, track.rounds, seconds))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    finally:
        track.stop[0] = 1
        meter.close()
    while waiting:
        if take(*ended.get()):
            break
    if solution is None:
        raise failure or ValueError("a race needs an engine")
    if status is None or solution.status == Status.SOLVED:
        return solution
    return dataclasses.replace(solution, status=status)


def _start(ended: queue.SimpleQueue, who: str, solve: Callable[[], Any]) -> None:
    """Runs an engine in another thread; what becomes of it is put into `ended`."""
    settings, context = limits.jax_settings(), contextvars.copy_context()
    around = limits.current()
    if around is not None:  # the race tells of all engines
        context.run(surrounding.set, around.silent())

    def run():
        try:
            with settings():
                ended.put((who, context.run(solve)))
        except BaseException as error:  # told in the thread that waits
            ended.put((who, error))

    future = _threads().submit(run)
    _running.add(future)
    future.add_done_callback(_running.discard)


_running: set[concurrent.futures.Future] = set()


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    # Kept, since JAX sets much up when a thread calls it for the first time.
    return concurrent.futures.ThreadPoolExecutor(32, "jaxgames")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)
    os.register_at_fork(after_in_child=_running.clear)


def some_run() -> bool:
    """Whether an engine that has lost its race has not stopped yet."""
    return bool(_running)


def wait_for_losers() -> None:
    """Waits until every engine that has lost its race has stopped.

    A race does not wait for it; who measures times may want to.
    """
    concurrent.futures.wait(set(_running))
