"""Keeps a long run of tests within what one process may map."""

import itertools
from pathlib import Path

import jax
import pytest

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
