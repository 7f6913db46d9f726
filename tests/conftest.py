"""How tests are run: what they compile with, where that is kept, and how they end.

Most tests compile much and compute little, so programs are compiled fast, and kept in a
folder that all processes and later runs share. Engines of the host check all indices.
Set `XLA_FLAGS`, if only to nothing, to test with what users have.
"""

import atexit
import gc
import multiprocessing.util
import os
import tempfile
from pathlib import Path

import jax
import pytest

from jaxgames import host, native
from jaxgames.testing._compiling import compile_fast

MAPS = Path("/proc/self/maps")

MOST_MAPS = 52_000
"""Pieces of mapped memory from which on compiled programs are given up.

Linux allows a process 65,530. Every compiled program takes some eighteen, and where
there are no more LLVM crashes. A user's process does not compile thousands of programs;
tests do. To give them up takes ten seconds, and some are compiled again then.
"""

EVERY = 200
"""Programs that are compiled between two looks: a look takes as long as many a test."""

_compiled = 0


def _count(event: str, *_, **__) -> None:
    global _compiled
    _compiled += event.endswith("backend_compile_duration")


jax.monitoring.register_event_duration_secs_listener(_count)


@pytest.fixture
def wide_pages(monkeypatch):
    """Tables of the benchmarks' pages are not cut, however wide they are."""
    from benchmarks import tables

    monkeypatch.setattr(tables, "MOST_COLUMNS", 99)


@pytest.fixture(autouse=True)
def _few_programs():
    global _compiled
    yield
    if _compiled < EVERY or not MAPS.exists():
        return
    _compiled = 0
    with MAPS.open("rb") as maps:
        if sum(1 for _ in maps) > MOST_MAPS:
            jax.clear_caches()


# ---- a quick run -------------------------------------------------------------------

SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")

QUICK_SECONDS = 0.3
"""What the first case of a test may take for it to be in a quick run."""

_first: dict[str, float] = {}


def pytest_collection_modifyitems(config, items):
    """Leaves out all but the first case of each quick test, where that is asked for."""
    if not config.getoption("--quick"):
        return
    seen = set(SLOW_TESTS.read_text().split())
    taken, left = [], []
    for item in items:
        name = _function_of(item.nodeid)
        (left if name in seen else taken).append(item)
        seen.add(name)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = taken


def pytest_runtest_logreport(report):
    """Notes what the first case of each test takes, which compiles for the others."""
    if report.when == "call" and report.passed:
        _first.setdefault(_function_of(report.nodeid), report.duration)


def pytest_sessionfinish(session):
    """Writes which tests are slow, where that is asked for."""
    config = session.config
    if config.getoption("--note-slow") and not hasattr(config, "workerinput"):
        slow = {name for name, time in _first.items() if time > QUICK_SECONDS}
        if config.getoption("--quick"):  # what nobody has compiled for, takes longer
            slow |= set(SLOW_TESTS.read_text().split())
        SLOW_TESTS.write_text("\n".join(sorted(slow)) + "\n")
    gc.collect()
    gc.freeze()  # pytest goes through all that is left five times


def pytest_unconfigure(config):
    """Lets the system take what a process of xdist leaves.

    To give back one compiled program after the other takes seconds.
    """
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)  # what is registered last comes first


def _function_of(nodeid: str) -> str:
    """A test without the names of its parameters."""
    return nodeid.partition("[")[0]


# ---- where programs are kept -----------------------------------------------------


PROGRAMS = Path(__file__).parent.parent / ".cache" / "jax"
"""Where compiled programs are kept, for all processes of a run and for later runs."""

KEPT_FROM = 0.05
"""Seconds of compiling from which a program is kept.

To write one takes some 30 ms, and to read one less. Few are met again within a run,
but later runs read them.
"""


def pytest_configure():
    """Has this process compile fast, and lets all share what they compile."""
    compile_fast()
    # A process spends a second on plain Python at first: which test does, chance says.
    host._plain_left = 0.0
    where = os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(PROGRAMS))
    least = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
    seconds = os.environ.setdefault(least, str(KEPT_FROM))
    # A process that a test starts reads these; this one has read them already.
    jax.config.update("jax_compilation_cache_dir", where)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", float(seconds))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than cores, since some tests wait for time to pass."""
    return host.num_cores() + 1


def pytest_sessionstart(session):
    """Has what examples write lie with what tests write, which pytest clears away."""
    if not hasattr(session.config, "workerinput"):
        # Removed when the process ends, which is after pytest has cleared away.
        multiprocessing.util.get_temp_dir()
    folder = session.config._tmp_path_factory.mktemp("t", numbered=True)
    tempfile.tempdir = str(folder)


def pytest_collection_finish():
    """Leaves out of that search what is there for good."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(config, val, argname):
    """Names for what is too long for one; each process must find the same."""
    if isinstance(val, bytes | str) and len(val) > 60:
        return f"{argname} of {len(val)}"
    return None


LEFT_TO_NUMBA = "jaxgames.parity.reference."
"""Loops over lists and heaps; what else of the package is translated must stay so."""


@pytest.fixture(autouse=True, scope="session")
def _engines_are_translated():
    """Numba takes ten times as long, and nobody would notice but those who wait."""
    by_numba = host.compiled._by_numba

    def watched(self, *args):
        name = f"{self.__module__}.{self.__qualname__}"
        allowed = not name.startswith("jaxgames.") or name.startswith(LEFT_TO_NUMBA)
        assert allowed or not native.can_translate(), f"{name} is left to numba"
        return by_numba(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host.compiled, "_by_numba", watched)
        yield


# ---- what a test may take to be so -------------------------------------------------


def pytest_addoption(parser):
    parser.addoption(
        "--like-a-gpu",
        action="store_true",
        help="have the library choose as it does where there is a GPU: several sweeps "
        "between two tests for the end, larger batches, other engines",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="run one case of each test, and leave out those that slow_tests.txt names",
    )
    parser.addoption(
        "--note-slow",
        action="store_true",
        help="write slow_tests.txt anew: the tests whose first case takes more than "
        f"{QUICK_SECONDS} s; in a run of all of them, or in a quick run those besides",
    )


@pytest.fixture(autouse=True, scope="session")
def _like_a_gpu(request):
    if not request.config.getoption("--like-a-gpu"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "default_backend", lambda: "gpu")
        yield


@pytest.fixture
def habits_of_a_cpu(monkeypatch):
    """For tests that count: one sweep is made between two tests, on any backend."""
    if jax.default_backend() == "cpu":
        yield
        return
    jax.clear_caches()  # programs were made with other habits
    with monkeypatch.context() as patch:
        patch.setattr(jax, "default_backend", lambda: "cpu")
        yield
    jax.clear_caches()


@pytest.fixture
def counted():
    """The names of the programs that were compiled by now in a test."""
    names = []

    def listen(event, *_, **about):
        if event.endswith("backend_compile_duration"):
            names.append(about.get("fun_name"))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names.copy
    jax.monitoring.unregister_event_duration_listener(listen)
