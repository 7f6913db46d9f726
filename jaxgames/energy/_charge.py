"""What a capacity means: facts about concrete arenas."""

import operator

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energy import _bounds


def check_capacity(capacity) -> int:
    """The capacity as an int.

    Raises:
        ValueError: it is no integer, negative, or does not fit.
    """
    try:
        number = operator.index(capacity)
    except TypeError:
        number = None
    if number is None or isinstance(capacity, (bool, np.bool_)):
        raise ValueError(f"capacity must be an integer, got {capacity!r}")
    if not 0 <= number < 2**62:
        raise ValueError(f"capacity must be from 0 to 2**62 - 1, got {number}")
    return number


def largest_credit(arena: Arena, capacity: int | None) -> tuple[int, type]:
    """The largest credit that a vertex can need, and the type for credits.

    Args:
        arena: a concrete energy game.
        capacity: no credit is larger. None: there is no such limit.

    """
    if capacity is None:
        return _bounds.bound(arena), _bounds.credit_type(arena)
    most = min(check_capacity(capacity), _bounds.bound(arena))
    return most, np.int32 if most < 2**31 else np.int64
