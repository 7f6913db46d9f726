"""Meters that the host drives between two chunks of rounds.

Anything callable with a [`Report`][jaxgames.progress.Report] is a meter. What it
returns decides how the solve goes on: None to go on, a [`Status`][jaxgames.Status] to
stop with.
"""

import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TextIO

from jaxgames.arguments import positive
from jaxgames.solution import Status


class Report(NamedTuple):
    """Where a solve stands; `rounds` is in `unit`.

    Of other phases, such as compiling, `solver` says what is being done, `seconds` how
    long, and `unit` is empty where nothing is counted.
    """

    solver: str
    rounds: int
    seconds: float
    unit: str = "rounds"


Meter = Callable[[Report], Status | None]


class Progress(Protocol):
    """A meter that is told when the solve is over."""

    def __call__(self, report: Report) -> Status | None:
        """Takes a report; a status that is returned stops the solve."""
        ...

    def close(self) -> None:
        """Called once, however the solve ended."""
        ...


class Bar:
    """A line on a terminal that says how many rounds were made.

    Nothing is written before the solve has taken `patience` seconds. Any thread may
    call it.
    """

    def __init__(self, stream: TextIO | None = None, patience: float = 0.5):
        self._stream = stream or sys.stderr
        self._patience = patience
        self._shown = 0  # characters
        self._lock = threading.Lock()

    def __call__(self, report: Report) -> None:
        """Redraws the line."""
        if report.seconds < self._patience:
            return
        line = f"{report.solver}: {report.seconds:.1f} s"
        if report.unit:
            rate = report.rounds / report.seconds
            line = (
                f"{report.solver}: {report.rounds:,} {report.unit}, "
                f"{report.seconds:.1f} s, {rate:,.0f} {report.unit}/s   "
            )
        with self._lock:
            self._stream.write(f"\r{line:{self._shown}}")
            self._stream.flush()
            self._shown = len(line)

    def clear(self) -> None:
        """Takes the line away: something else is printed now."""
        self._leave(lambda shown: "\r" + " " * shown + "\r")

    def close(self) -> None:
        """Ends the line."""
        self._leave(lambda _: "\n")

    def _leave(self, end: Callable[[int], str]) -> None:
        with self._lock:
            if self._shown:
                self._stream.write(end(self._shown))
                self._stream.flush()
                self._shown = 0


class Deadline:
    """Stops a solve with `Status.TIMEOUT` some seconds from now; wraps a meter.

    The time is looked at between two chunks of rounds, so a solve may run over by a
    chunk (a quarter of a second or one round, whichever is longer).
    """

    def __init__(self, seconds: float, meter: "Meter | bool | None" = None):
        self._end = time.perf_counter() + positive("seconds", seconds, "seconds")
        self._meter = as_progress(meter)

    def __call__(self, report: Report) -> Status | None:
        """Passes the report on, and stops the solve when the time is over."""
        stop = self._meter(report)
        if stop is None and time.perf_counter() > self._end:
            return Status.TIMEOUT
        return stop

    def close(self) -> None:
        """Closes the meter inside."""
        self._meter.close()


class _Quiet:
    """Adapts a plain callable, or nothing, to a `Progress`."""

    def __init__(self, meter: Meter | None):
        self._meter = meter

    def __call__(self, report: Report) -> Status | None:
        return None if self._meter is None else self._meter(report)

    def close(self) -> None:
        pass


class _Overseen:
    """A meter, and what holds around the solve: its limits, and its meter."""

    def __init__(self, meter: Progress, around: Any):
        self._meter = meter
        self._around = around

    def __call__(self, report: Report) -> Status | None:
        before = self._around.told
        stop = self._meter(report)
        if stop is not None or self._around.told != before:
            return stop  # the meter inside passes on what it is told
        return self._around(report)

    def close(self) -> None:
        self._meter.close()


surrounding: ContextVar[Any] = ContextVar("surrounding", default=None)
"""The limits that hold, see [`limits`][jaxgames.limits]."""


def as_progress(progress: "Progress | Meter | bool | None") -> Progress:
    """A `Progress` from what a user may pass: True for a bar, a callable, or None.

    Within [`limits`][jaxgames.limits] it also says when one of them is reached.
    """
    meter, around = plain_progress(progress), surrounding.get()
    if around is None or isinstance(meter, _Overseen):
        return meter
    return _Overseen(meter, around)


def plain_progress(progress: "Progress | Meter | bool | None") -> Progress:
    """The same, without what holds around it."""
    if progress is True:
        return Bar()
    if progress is None or progress is False:
        return _Quiet(None)
    if not callable(progress):
        raise ValueError(f"progress must be a bool or callable, got {progress!r}")
    if hasattr(progress, "close"):
        return progress  # type: ignore[return-value]
    return _Quiet(progress)
