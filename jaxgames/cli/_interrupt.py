"""Ctrl-C, also where Python loses it.

An exception that comes up in a callback of the garbage collector is told and dropped,
and JAX has such callbacks: an interrupt can get lost there, and a long solve would go
on.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_asked: list[Callable[[], None]] = []
_heard = threading.Event()

HEARD_SECONDS = 2.0
"""How long an interrupt may go unheard."""


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Remembers an interrupt as long as the context lasts, beside raising it.

    Where Python drops it, it does not print a traceback as well.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen to signals
        return

    def interrupt(number, frame):
        _heard.set()
        for ask in _asked:
            ask()
        signal.default_int_handler(number, frame)

    def dropped(what: Any) -> None:
        if not isinstance(what.exc_value, KeyboardInterrupt):
            tell(what)

    tell, sys.unraisablehook = sys.unraisablehook, dropped
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = tell


@contextlib.contextmanager
def when_interrupted(ask: Callable[[], None]) -> Iterator[None]:
    """Has something called on every interrupt, while the context lasts."""
    _asked.append(ask)
    try:
        yield
    finally:
        _asked.remove(ask)


def when_unheard(end: Callable[[], None]) -> None:
    """Has something called, by a thread, where an interrupt is not heard in time.

    Python hears one between two steps of the main thread, and machine code may take
    minutes for one step. What writes to a pipe at once is the C part of the listener.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def look() -> None:
        while numbers := os.read(reader, 1 << 10):
            if signal.SIGINT not in numbers:
                continue
            if not _heard.wait(HEARD_SECONDS):
                end()
            time.sleep(0.05)  # Python hears several at once as one
            os.set_blocking(reader, False)
            with contextlib.suppress(BlockingIOError):
                os.read(reader, 1 << 10)
            os.set_blocking(reader, True)
            _heard.clear()

    threading.Thread(target=look, daemon=True, name="jaxgames-interrupt").start()
