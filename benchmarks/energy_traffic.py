"""How many bytes a round on an energy game must move at the least.

Counted as in `traffic.py`: for each cell of the layout the index of a successor, the
number that is found there, and what the edge costs; for each row its number, read and
written, and its owner. Rounds that copy the rows that are active have no fixed number.
"""

from typing import Any

from benchmarks.traffic import INDEX
from jaxgames import Arena


def bytes_per_round(arena: Arena, solution: Any) -> int | None:
    """Bytes that a sweep over the edges moves.

    Args:
        arena: the game.
        solution: tells what numbers and which layout the solver had.

    Returns:
        The number, or None where rounds have no fixed one.
    """
    stats = solution.stats
    if "cells" not in stats or "bits" not in stats:
        return None
    number = int(stats["bits"]) // 8
    return int(stats["cells"]) * (INDEX + 2 * number) + arena.shape[0] * (
        2 * number + 1
    )
