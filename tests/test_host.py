"""The decorator that compiles where numba is installed."""

import importlib
import os
import sys

import numpy as np
import pytest

from jaxgames import Arena, host
from jaxgames.parity import reference


@host.compiled
def sum_of_squares(values):
    """Adds up squares."""
    total = 0
    for value in values:
        total += square(value)
    return total


@host.compiled
def square(value):
    return value * value


def test_calls_other_compiled_functions():
    assert sum_of_squares(np.arange(4)) == 14
    with host.interpreted():
        assert sum_of_squares(np.arange(4)) == 14
    assert sum_of_squares.__doc__ == "Adds up squares."


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_compiles_but_not_when_interpreted():
    """Numba widens small integers, Python does not."""
    assert square(np.int8(100)) == 10_000
    with host.interpreted(), pytest.warns(RuntimeWarning, match="overflow"):
        assert square(np.int8(100)) == 16
    assert square(np.int8(100)) == 10_000


@host.compiled
def square_of_first(values):
    """Reads an attribute that has the name of a compiled function."""
    return square(values.item())


@host.compiled
def item(value):
    return value


def test_attributes_may_have_names_of_functions():
    assert square_of_first(np.arange(3, 4)) == 9


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_an_edit_of_a_callee_is_seen(tmp_path, monkeypatch):
    """Machine code on disk is not used if what it calls was changed meanwhile."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    header = "from jaxgames.host import compiled\n"
    callee, caller = tmp_path / "edited_callee.py", tmp_path / "edited_caller.py"
    caller.write_text(
        f"{header}from edited_callee import f\n@compiled\ndef g(x):\n    return f(x)\n"
    )
    for time in (1, 2):
        callee.write_text(f"{header}@compiled\ndef f(x):\n    return x + {time}\n")
        os.utime(callee, (time, time))
        os.utime(caller, (0, 0))
        for name in ("edited_callee", "edited_caller"):
            sys.modules.pop(name, None)
        assert importlib.import_module("edited_caller").g(10) == 10 + time


def test_interpreted_ends_with_its_context():
    with pytest.raises(ZeroDivisionError), host.interpreted():
        _ = 1 / 0
    assert not host._interpreted.get()


def test_works_without_numba(monkeypatch):
    host.can_compile.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    try:
        assert not host.can_compile()
        arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
        solution = reference.solve(arena)
        assert solution.winner.tolist() == [0, 0]
        assert reference.verify(arena, solution)
    finally:
        host.can_compile.cache_clear()
