"""What a capacity means: facts about concrete arenas."""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.energy import _bounds


def check_capacity(capacity) -> int:
    """The capacity as an int.

    Raises:
        ValueError: it is no integer, negative, or does not fit.
    """
    return integer("capacity", capacity, 0, 2**62 - 1)


def largest_credit(arena: Arena, capacity: int | None) -> tuple[int, type]:
    """The largest credit that a vertex can need, and the type for credits."""
    if capacity is None:
        return _bounds.bound(arena), _bounds.credit_type(arena)
    most = min(check_capacity(capacity), _bounds.bound(arena))
    return most, np.int32 if most < 2**31 else np.int64
