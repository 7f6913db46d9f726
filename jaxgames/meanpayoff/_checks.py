"""What a mean-payoff game is."""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena


def check(arena: Arena) -> tuple[Arena, Any]:
    """Checks that an arena is a mean-payoff game; it may be traced.

    Returns:
        What [`checked`][jaxgames.validity.checked] does.

    Raises:
        ValueError: naming what is missing or wrong.
    """
    found = validity.checked(arena)
    weight = arena.weight
    if weight is None:
        raise ValueError(
            "a mean-payoff game needs a weight on each edge: weight is None"
        )
    if np.ndim(weight) != 1:
        raise ValueError(
            "a mean-payoff game has one weight on each edge, shape [E]: weight has "
            f"shape {np.shape(weight)}"
        )
    return found
