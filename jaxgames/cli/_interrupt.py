"""Ctrl-C, also where Python loses it.

An exception that comes up in a callback of the garbage collector is told and dropped,
and JAX has such callbacks: an interrupt can get lost there, and a long solve would go
on.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator

from jaxgames.progress import Meter, Report, as_progress
from jaxgames.solution import Status

_wanted = threading.Event()


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Remembers an interrupt as long as the context lasts, beside raising it."""
    _wanted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen to signals
        return

    def interrupt(number, frame):
        _wanted.set()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Interruptible:
    """Ends a solve after an interrupt that was lost; wraps a meter."""

    def __init__(self, meter: Meter | None = None):
        self._meter = as_progress(meter)

    def __call__(self, report: Report) -> Status | None:
        """Passes the report on."""
        return Status.INTERRUPTED if _wanted.is_set() else self._meter(report)

    def close(self) -> None:
        """Closes the meter inside."""
        self._meter.close()
