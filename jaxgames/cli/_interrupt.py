"""Ctrl-C, also where Python loses it.

An exception that comes up in a callback of the garbage collector is told and dropped,
and JAX has such callbacks: an interrupt can get lost there, and a long solve would go
on.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

_asked: list[Callable[[], None]] = []


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Remembers an interrupt as long as the context lasts, beside raising it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen to signals
        return

    def interrupt(number, frame):
        for ask in _asked:
            ask()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def when_interrupted(ask: Callable[[], None]) -> Iterator[None]:
    """Has something called on every interrupt, while the context lasts."""
    _asked.append(ask)
    try:
        yield
    finally:
        _asked.remove(ask)
