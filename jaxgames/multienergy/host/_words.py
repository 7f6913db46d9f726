"""Budgets as words of the machine, for compiled loops.

All energies of a budget lie in one word, with a guard bit above each: they are compared
and joined at once, as [`Packing`][jaxgames.multienergy] has it.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.tuning.multienergy import MOST_LEVELS

MOST_BITS = 62
"""Bits that a budget may have."""


class Words(NamedTuple):
    """A table of updates as words.

    Attributes:
        fields: int64 `[D]`, the shifts of the fields.
        about: int64 `[4]`: the bits of a field without its guard, all guards, all caps,
            and how far a sum is shifted to be a level.
        rows: int64 `[U, 3]`: losses, caps without losses, and gains.
        starts: int32 `[U + 1]`, where the ties of an update start.
        ties: int64 `[T, 2]`: shifts of the field that a tie reads after the move, and
            of that which needs as much before it.
    """

    fields: np.ndarray
    about: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    ties: np.ndarray


def fits(cap: tuple[int, ...] | None) -> bool:
    """Whether budgets with these caps fit into a word: all of them have one."""
    return cap is not None and 0 not in cap and _width(cap) * len(cap) <= MOST_BITS


def _width(cap: tuple[int, ...]) -> int:
    return max(cap).bit_length() + 1


def words_of(game: Any) -> Words:
    """The table of updates of a game with caps."""
    width, dimensions = _width(game.cap), len(game.cap)
    fields = np.arange(dimensions - 1, -1, -1, dtype=np.int64) * width
    caps = np.array(game.cap, np.int64)
    delta, minima = np.asarray(game.delta, np.int64), np.asarray(game.minima)
    lose, gain = np.maximum(-delta, 0), np.maximum(delta, 0)
    rows = [(each << fields).sum(1) for each in (lose, caps - lose, gain)]
    guards, all_caps = ((1 << fields) << (width - 1)).sum(), (caps << fields).sum()
    shift = max(0, int(caps.sum()).bit_length() - MOST_LEVELS.bit_length() + 1)
    update, whose, tied = np.nonzero(minima)
    return Words(
        fields=fields,
        about=np.array([width - 1, guards, all_caps, shift], np.int64),
        rows=np.stack(rows, axis=1),
        starts=np.searchsorted(update, np.arange(len(delta) + 1)).astype(np.int32),
        ties=np.stack([fields[whose], fields[tied]], axis=1),
    )


@compiled
def larger(one, other, guards, bits):
    """The larger of each energy."""
    mask = ((one | guards) - other) & guards
    mask -= mask >> bits
    return (one & mask) | (other & ~mask)


@compiled
def smaller(one, other, guards, bits):
    """The smaller of each energy."""
    mask = ((one | guards) - other) & guards
    mask -= mask >> bits
    return (other & mask) | (one & ~mask)


@compiled
def before(rows, starts, ties, bits, guards, caps, update, after):
    """The least budget before a move that leaves at least one after it."""
    before = smaller(after, rows[update, 1], guards, bits) + rows[update, 0]
    gain = rows[update, 2]
    if gain:
        infinite = ((after | guards) - caps) & guards
        infinite -= infinite >> bits
        less = larger(before, gain, guards, bits) - gain
        before = (before & infinite) | (less & ~infinite)
    first, stop = starts[update], starts[update + 1]
    if first < stop:
        most = (np.int64(1) << bits) - 1
        for tie in range(first, stop):
            needed = ((after >> ties[tie, 0]) & most) << ties[tie, 1]
            before = larger(before, needed, guards, bits)
        before = smaller(before, caps, guards, bits)
    return before


@compiled
def level_of(bits, dimensions, shift, budget):
    """The level of a budget: its sum, shifted."""
    most = (np.int64(1) << bits) - 1
    total = np.int64(0)
    for _ in range(dimensions):
        total += budget & most
        budget >>= bits + 1
    return total >> shift


@compiled
def insert(front, start, count, budget, guards):
    """Adds a budget to an antichain, in which there must be room for it.

    Returns:
        How many it has then, or -1 where the budget is not needed.
    """
    for k in range(start, start + count):
        if ((budget | guards) - front[k]) & guards == guards:
            return -1
    left = start
    for k in range(start, start + count):
        if ((front[k] | guards) - budget) & guards != guards:
            front[left] = front[k]
            left += 1
    front[left] = budget
    return left + 1 - start
