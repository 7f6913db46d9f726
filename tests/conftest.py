"""How tests are run: what they compile with, where that is kept, and how they end.

Most tests compile much and compute little, so programs are compiled fast, and kept in a
folder that all processes of a run share.
"""

import itertools
import os
import tempfile
from pathlib import Path

import jax
import pytest

FAST_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_use_fusion_emitters=false",
)
"""Options of XLA with which a program for a CPU takes half as long to compile.

Set `XLA_FLAGS`, if only to nothing, to test with what users have. JAX reads the
variable when it first looks for devices.
"""

if jax.__version_info__ < (0, 11):  # XLA ends a process that names an option it lost
    os.environ.setdefault("XLA_FLAGS", " ".join(FAST_COMPILATION))

MAPS = Path("/proc/self/maps")

MOST_MAPS = 25_000
"""Pieces of mapped memory from which on compiled programs are given up.

Linux allows a process 65,530. Every compiled program takes some, and where there are no
more LLVM crashes. A user's process does not compile thousands of programs; tests do.
"""

EVERY = 10
"""Tests between two looks."""

_tests = itertools.count()


@pytest.fixture(autouse=True)
def _few_programs():
    yield
    if next(_tests) % EVERY or not MAPS.exists():
        return
    with MAPS.open("rb") as maps:
        if sum(1 for _ in maps) > MOST_MAPS:
            jax.clear_caches()


# ---- where programs are kept -----------------------------------------------------


def pytest_configure(config):
    """Lets all processes of a run share what they compile.

    The first process makes a folder, unless a user has named one, and takes it away.
    """
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="jaxgames-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
    # A process that a test starts reads these; this one has read them already.
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
    jax.config.update(
        "jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"]
    )
    jax.config.update(
        "jax_persistent_cache_min_compile_time_secs",
        float(os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"]),
    )


def pytest_make_parametrize_id(config, val, argname):
    """Names for what is too long for one; each process must find the same."""
    if isinstance(val, bytes | str) and len(val) > 60:
        return f"{argname} of {len(val)}"
    return None


# ---- what a test may take to be so -------------------------------------------------


def pytest_addoption(parser):
    parser.addoption(
        "--like-a-gpu",
        action="store_true",
        help="have the library choose as it does where there is a GPU: several sweeps "
        "between two tests for the end, larger batches, other engines",
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
