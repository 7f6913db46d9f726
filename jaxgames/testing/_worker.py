"""Checks in a process of their own, so that one that does not end can be ended."""

import contextlib
import multiprocessing
import operator
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax

from jaxgames.testing._compiling import compile_fast
from jaxgames.testing._subject import Cases, Complaint, Subject

COMPILERS = (
    "/jax/_src/compiler.py",
    "/jax/_src/interpreters/mlir.py",
    "/jax/_src/interpreters/partial_eval.py",
    "/numba/core/",
    "/llvmlite/",
)
"""Files that are on the stack of a thread that traces or compiles."""

PATIENCE = 4.0
"""How much longer than it may take a check is waited for that does not compute: other
processes may have the cores, or it sleeps for ever."""

MOST_COMPILING = 300.0
"""Seconds after which not even a compiler is waited for."""

FORKED = "forkserver" in multiprocessing.get_all_start_methods()
"""Whether processes are forked by one that has imported everything, and done nothing:
each would else import JAX anew, which takes longer than most checks."""

TO_BEGIN = 300.0
"""Seconds that a process may take to import everything."""


class StoppedError(Exception):
    """A check did not come back: it did not end, or its process died."""


class Runner(Protocol):
    """Runs the checks of a subject, by name."""

    def run(self, name: str, cases: Sequence[Any]) -> list[Complaint]:
        """The complaints of a check; or a StoppedError where it did not come back."""
        ...

    def close(self) -> None:
        """Frees what it holds."""
        ...


class Inline:
    """Runs checks in this process, and waits for them for ever."""

    def __init__(self, make: Callable[[], Subject]):
        self._checks = make().checks
        self._cases = Cases([])

    def run(self, name: str, cases: Sequence[Any]) -> list[Complaint]:
        """The complaints of a check."""
        if not _same(self._cases, cases):
            self._cases = Cases(cases)
        return self._checks[name](self._cases)

    def close(self) -> None:
        """Nothing is held."""


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(operator.is_, one, other))


class Worker:
    """Runs checks in a process that is ended, and made anew, when one takes too long.

    Time that is spent on tracing and compiling is not counted: it depends on the
    machine, and comes to an end. Nor is time in which other processes have the cores.

    Args:
        make: makes the subject; it is pickled.
        limit: seconds that a check may take for the cases of one call.
    """

    def __init__(self, make: Callable[[], Subject], limit: float):
        self._make, self.limit = make, limit
        self._process: Any = None
        # What one process has compiled the next need not.
        self._folder = tempfile.TemporaryDirectory(prefix="jaxgames-fuzz-")

    def run(self, name: str, cases: Sequence[Any], limit: float | None = None):
        """The complaints of a check; or a StoppedError after so many seconds."""
        if self._process is None:
            self._begin()
        limit = self.limit if limit is None else min(limit, self.limit)
        # What several checks need of the same cases is made once, over there.
        self._there.send((name, None if _same(self._sent, cases) else list(cases)))
        self._sent = cases
        began = time.monotonic()
        pid: Any = getattr(self._process, "pid", None)
        last, computed = began, _computed(pid)
        while not self._answers():
            now, busy = time.monotonic(), self._busy.value
            if busy > last:
                last, computed = busy, _computed(pid)
            waited = now - last > limit * PATIENCE
            spent = _computed(pid) - computed > limit
            if (now - last > limit and (spent or waited)) or (
                now > began + MOST_COMPILING + limit
            ):
                self._end()
                raise StoppedError(f"it did not end within {limit:g} s")
        return self._received()

    def _answers(self) -> bool:
        """Whether there is something to receive, an end too."""
        return self._there.poll(0.05) or not self._process.is_alive()

    def _received(self) -> Any:
        try:
            found = self._there.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(10)
            code = self._process.exitcode
            self._end()
            raise StoppedError(f"its process died: {_cause(code)}") from None
        if isinstance(found, str):
            raise RuntimeError(f"a check is broken:\n{found}")
        return found

    def _begin(self) -> None:
        how = "forkserver" if FORKED else "spawn"
        context: Any = multiprocessing.get_context(how)
        if FORKED:
            context.set_forkserver_preload([__name__])
        self._there, here = context.Pipe()
        self._busy = context.Value("d", 0.0, lock=False)
        self._sent: Sequence[Any] = ()
        arguments = (self._make, here, self._busy, self._folder.name)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        here.close()
        if not self._there.poll(TO_BEGIN):
            self._end()
            raise RuntimeError(f"a process did not begin within {TO_BEGIN:g} s")
        self._received()

    def close(self) -> None:
        """Ends the process, and removes its files."""
        self._end()
        self._folder.cleanup()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._there.close()
            self._process = None


def _computed(pid: int) -> float:
    """Seconds that a process has computed for; of the day where no system says so."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the clock of a process, in Linux
    except (AttributeError, OSError):
        return time.monotonic()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"{signal.Signals(-code).name}"
    return f"exit code {code}"


# ---- in the process --------------------------------------------------------------


def _serve(make: Callable[[], Subject], here: Any, busy: Any, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    watch = threading.Thread(target=_watch, args=(busy,), daemon=True)
    watch.start()
    compile_fast()
    if not jax.config.values["jax_compilation_cache_dir"]:
        jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    try:
        runner, cases = Inline(make), []
        here.send(None)
        while True:
            name, new = here.recv()
            cases = cases if new is None else new
            here.send(runner.run(name, cases))
    except EOFError:
        return
    except BaseException:
        here.send(traceback.format_exc())
        raise


def _watch(busy: Any) -> None:
    """Tells the parent when this process compiles."""
    me = threading.get_ident()
    while True:
        frames = list(sys._current_frames().items())
        if any(ident != me and _compiles(frame) for ident, frame in frames):
            busy.value = time.monotonic()
        time.sleep(0.05)


def _compiles(frame: Any) -> bool:
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if any(name in file for name in COMPILERS):
            return True
        frame = frame.f_back
    return False
