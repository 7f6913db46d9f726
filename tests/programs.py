"""Programs that hold what a test changes, and are given up before and after."""

from jaxgames import fixpoint


def forget() -> None:
    """Gives up the rounds of all solvers, which alone are compiled again then.

    JAX would give up all that this process has compiled and traced.
    """
    fixpoint.initial.clear_cache()
    fixpoint._chunk.clear_cache()
