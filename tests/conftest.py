"""Compiles tests' programs fast, and keeps a long run within what a process may map."""

import itertools
import os
from pathlib import Path

import jax
import pytest

FAST_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_use_fusion_emitters=false",
)
"""Options of XLA with which a program for a CPU takes half as long to compile.

Most tests compile much and compute little. Set `XLA_FLAGS`, if only to nothing, to test
with what users have. JAX reads the variable when it first looks for devices.
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
