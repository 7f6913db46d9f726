"""Programs that hold what a test changes, and are given up before and after."""

from typing import Any

from jaxgames import fixpoint


def forget() -> None:
    """Gives up the rounds of all solvers, which alone are compiled again then.

    JAX would give up all that this process has compiled and traced.
    """
    programs: list[Any] = [fixpoint.initial, fixpoint._start, fixpoint._chunk]
    for program in programs:
        program.clear_cache()
