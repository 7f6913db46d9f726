"""The time and the memory of a whole command, and what shows that it goes on.

A command ends by itself where it looks at its limits. What cannot look, such as a
compilation, is ended with the process.
"""

import argparse
import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from jaxgames import later
from jaxgames.cli._exit import Exit
from jaxgames.cli._interrupt import when_interrupted, when_unheard

LOOK_SECONDS = 0.05
"""How often the watchdog looks at the clock and at the memory."""

GRACE_SECONDS = 1.0
GRACE_PART = 0.05
"""A command may take so much longer, and that part of its time, to tell what it has
found."""


def since_start() -> float:
    """Seconds since this process began, or 0 where nobody knows."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        began = ticks / os.sysconf("SC_CLK_TCK")
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - began, 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


class Watch:
    """The limits of a command; whether it may end the process, if that is its own."""

    def __init__(self, argv: Sequence[str], ends_process: bool):
        self.began = time.perf_counter() - (since_start() if ends_process else 0.0)
        self.ends_process = ends_process
        self._subject = argv[0] if argv else "jaxgames"
        self._timeout = _timeout_in(argv)
        self._limits: Any = None
        self._args: Any = None
        wanted = "--json" in argv or "--jsonl" in argv
        if wanted and self._timeout is not None:
            # It may be over before the arguments are read: then that is told, too.
            importlib.import_module("jaxgames.cli._report")
            words = {"command": self._subject, "file": None, "json": True}
            self._args = argparse.Namespace(**words)
        self._over = threading.Event()
        if ends_process and self._timeout is not None:
            self._start()

    @contextlib.contextmanager
    def limits(self, args: Any) -> Iterator[Any]:
        """Sets the limits that the arguments of a command ask for."""
        from jaxgames import io, limits
        from jaxgames.progress import Bar

        timeout, memory = getattr(args, "timeout", None), getattr(args, "memory", None)
        self._subject, self._args = subject(args), args
        deadline = None
        if timeout is not None:
            deadline = max(self.began + timeout - time.perf_counter(), 1e-9)
        shown = sys.stderr is not None and sys.stderr.isatty()
        bar = Bar() if shown and not getattr(args, "quiet", False) else None
        reading = None if memory is None else io.Limits(memory=memory)
        with (
            io.limited(reading),
            limits.within(deadline=deadline, memory=memory, progress=bar) as around,
            when_interrupted(around.interrupt),
        ):
            if timeout is not None:
                around.seconds = timeout
            around.watched = self.ends_process
            self._limits = around
            if self.ends_process:
                when_unheard(lambda: self._end("interrupted", KeyboardInterrupt()))
            if self.ends_process and memory is not None and self._timeout is None:
                self._start()
            yield around

    def close(self, code: int) -> None:
        """The command is over, and no thread of it keeps the process."""
        self._over.set()
        late = self._timeout is not None and (
            time.perf_counter() > self.began + self._timeout
        )
        # Interrupted, JAX may go on in threads of its own, which crash where Python
        # ends. And Python ends by the signal itself where a module was being made.
        interrupted = code == Exit.INTERRUPTED
        if self.ends_process and (late or interrupted or _others_run()):
            _leave(code)

    def _start(self) -> None:
        threading.Thread(target=self._look, daemon=True, name="jaxgames-watch").start()

    def _look(self) -> None:
        end = float("inf")
        if self._timeout is not None:
            end = self.began + self._timeout * (1 + GRACE_PART) + GRACE_SECONDS
        while not self._over.wait(LOOK_SECONDS):
            around = self._limits
            phase = "starting" if around is None else around.phase
            if time.perf_counter() > end:
                message = f"not done: {reached(self._timeout, phase)}"
                self._end(message, TimeoutError())
            try:
                if around is not None:
                    around.check_memory()
            except MemoryError as error:
                self._end(f"out of memory: {error}", MemoryError())

    def _end(self, message: str, error: BaseException) -> None:
        """Ends the process, whatever it does."""
        if self._over.is_set():
            return
        # It may be about to be imported; then nothing has been written yet.
        files = sys.modules.get("jaxgames.io._files")
        getattr(files, "remove_temporaries", lambda: None)()
        text = " ".join(f"jaxgames: {self._subject}: {message}".split()) + "\n"
        with contextlib.suppress(OSError):
            os.write(2, text.encode())
        with contextlib.suppress(Exception):
            self._tell_program(message, error)
        os._exit(_code(error))

    def _tell_program(self, message: str, error: BaseException) -> None:
        """Prints the object of a command that was asked for one."""
        args, report = self._args, sys.modules.get("jaxgames.cli._report")
        wanted = getattr(args, "json", False) or getattr(args, "jsonl", False)
        if wanted and report is not None and not getattr(args, "told", False):
            facts = report.error_facts(args, _code(error), error, message)
            if isinstance(error, TimeoutError):
                facts["status"] = "timeout"
            os.write(1, (report.text_of(args, facts) + "\n").encode())


def _code(error: BaseException) -> Exit:
    return Exit.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Exit.UNSOLVED


def subject(args: Any) -> str:
    """What a command is about: the file that it reads, or else writes."""
    return getattr(args, "file", None) or getattr(args, "output", None) or "jaxgames"


def reached(timeout: float | None, phase: str) -> str:
    """Says that the time is over."""
    return f"the limit of {timeout or 0:g} s was reached while {phase}"


def _timeout_in(argv: Sequence[str]) -> float | None:
    """What `--timeout` or `-z` says, before what could parse it is imported."""
    found = None
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if word[:2] == "-z":  # which its value may follow at once
            name, equals, value = "--timeout", word[2:], word[2:]
        if name == "--timeout":
            with contextlib.suppress(ValueError):
                found = float(value if equals else following)
    return found if found is not None and found > 0 else None


def _others_run() -> bool:
    """Whether an engine that lost a race, a compilation or JAX's start goes on."""
    race = sys.modules.get("jaxgames.drive._race")
    if later.is_starting() or (race is not None and race.some_run()):
        return True
    fixpoint = sys.modules.get("jaxgames.fixpoint")
    return fixpoint is not None and fixpoint.is_compiling()


def _leave(code: int) -> None:
    """Ends the process without waiting for threads that go on."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)
