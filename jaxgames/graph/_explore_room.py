"""Room for a state space: how much memory it takes, and whether there is so much."""

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxgames import limits, memory
from jaxgames.graph._explore_rules import Rules, action_type
from jaxgames.graph._state_table import AT_ONCE, PLACES
from jaxgames.later import jax
from jaxgames.tuning.explore import FIRST_STEPS, GROWTH

ALWAYS = np.iinfo(np.int32).max
"""No limit."""

CELL_BYTES = 48
"""What a turn takes for each successor, beside its components and its words."""


def memory_of(place: Any) -> tuple[int, int] | None:
    """Bytes of memory that there are, and how many it may take; None: nobody tells.

    Of a device of JAX, or of the host for None.
    """
    known, left = memory.total_and_free(place), limits.memory_left()
    if left is None:
        return known
    left = max(left, 0)
    return (left, left) if known is None else (known[0], min(known[1], left))


def state_bytes(rules: Rules) -> int:
    """Bytes for each state that there is room for, at most."""
    # A table has a power of two of places: up to twice as many.
    return 4 * rules.packing.num_words + 8 + 2 * 4 * PLACES


def edge_bytes(rules: Rules) -> int:
    """Bytes for each edge that there is room for."""
    return 4 + action_type(rules).itemsize


def cell_bytes(rules: Rules) -> int:
    """Bytes that a turn takes for each successor that it computes."""
    return CELL_BYTES + 4 * rules.packing.size + 8 * rules.packing.num_words


def larger(now: int, needed: int, most: int, each: int, free: int | None) -> int | None:
    """The size that a room grows to, or None if there is no memory for that.

    Its size `now` is a power of two, or a multiple of `AT_ONCE`. So much is `needed`,
    and `most` is the largest that may be. An entry takes `each` bytes, and so many are
    `free`.
    """
    space = math.inf if free is None else free
    for factor, share in GROWTH:
        size = min(_rounded(max(int(factor * now), needed)), most)
        if size * each <= share * space:
            return size
    size = min(_rounded(needed), most)
    return size if size * each <= space else None


def _rounded(size: int) -> int:
    if size <= AT_ONCE:
        return 1 << (size - 1).bit_length()
    return -(-size // AT_ONCE) * AT_ONCE


def no_memory(rules: Rules, found: tuple[int, int, int], needed: int, place: Any):
    """The error where memory is not enough for room of `needed` bytes.

    States that were expanded, states, and edges were `found`; there is no room on
    `place`, a device, or None for the host.
    """
    head, tail, edges = found
    known = memory_of(place)
    free = "" if known is None else f", and {_giga(known[1])} are free"
    return MemoryError(
        f"the state space does not fit: {tail} states ({head} of them expanded) and "
        f"{edges} edges were found, room for more takes {_giga(needed)}{free} on "
        f"{'the host' if place is None else place} ({state_bytes(rules)} bytes a state "
        f"and {edge_bytes(rules)} an edge, while it grows both the old room and the "
        "new); max_states ends a search before that"
    )


def _giga(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def first_room(rules: Rules, limit: int | None, share: float, most: int) -> int:
    """States that there is room for at first: a power of two, and `most` at most.

    With a few edges each they may take that share of the bytes that there are, `limit`.
    """
    each = state_bytes(rules) + 4 * edge_bytes(rules)
    room = most if limit is None else min(most, int(share * limit) // each)
    return 1 << max(int(np.log2(max(room, 1))), 0)


def turn_of(
    sizes: Sequence[int], waiting: int, more: int
) -> tuple[int, np.int32, np.int32]:
    """How many of a queue a turn takes: one of some sizes, ascending, each compiled.

    It is the next size where more than `more` turns of this one wait.

    Returns:
        Which of the sizes; and the least and the most that may wait until it is time
        to ask again.
    """
    which = next((i for i, x in enumerate(sizes) if waiting <= more * x), -1)
    which %= len(sizes)
    few = sizes[which - 1] if which else 0
    many = ALWAYS if which == len(sizes) - 1 else more * sizes[which]
    return which, np.int32(few), np.int32(many)


class Pace:
    """How many turns the host asks for at once, so that it can tell where they are.

    Attributes:
        steps: turns; twice as many from one time to the next, until they take long.
    """

    def __init__(self):
        self.steps = FIRST_STEPS

    @contextlib.contextmanager
    def kept(self, seconds: float) -> Iterator[np.int32]:
        """Around turns that should not take longer by much; yields how many."""
        began = time.perf_counter()
        yield np.int32(self.steps)
        if time.perf_counter() - began < seconds / 2:
            self.steps = min(2 * self.steps, 1 << 20)


def place_of(array: jax.Array) -> Any:
    """The device that an array is on."""
    return next(iter(array.devices()))
