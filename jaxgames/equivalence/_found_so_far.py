"""Tells a meter how far the search for positions has come, and ends it if asked to."""

import time

from jaxgames.progress import Meter, Report
from jaxgames.solution import SolveError, Status


class FoundSoFar:
    """Called with the number of positions, now and then."""

    def __init__(self, meter: Meter | None = None):
        self._meter = meter
        self._began = time.perf_counter()

    def __call__(self, positions: int) -> None:
        """Passes it on.

        Raises:
            SolveError: the meter wants the search to end.
        """
        if self._meter is None:
            return
        seconds = time.perf_counter() - self._began
        stop = self._meter(Report("game", positions, seconds, "positions"))
        if stop is not None:
            raise SolveError(Status(stop), None)
