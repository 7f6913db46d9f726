"""What an energy parity game is."""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena


def check(arena: Arena) -> tuple[Arena, Any]:
    """Checks that an arena is an energy parity game; it may be traced.

    Returns:
        What [`checked`][jaxgames.validity.checked] does.

    Raises:
        ValueError: naming what is missing or wrong.
    """
    found = validity.checked(arena)
    if arena.weight is None:
        raise ValueError(
            "an energy parity game needs a weight on each edge: weight is None"
        )
    if np.ndim(arena.weight) != np.ndim(arena.owner):
        raise ValueError(
            "an energy parity game has one weight on each edge, shape [E]: weight has "
            f"shape {np.shape(arena.weight)}"
        )
    if arena.priority is None:
        raise ValueError(
            "an energy parity game needs a priority on each vertex: priority is None"
        )
    if arena.edge_priority is not None:
        raise ValueError(
            "an energy parity game has priorities on vertices alone: edge_priority is "
            "given too"
        )
    return found
