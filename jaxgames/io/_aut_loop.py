"""Transitions as Aldebaran's text, read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _word_loop
from jaxgames.io._word_loop import natural

ODD = -1

_MOST_DIGITS = 15


class Rows(NamedTuple):
    """The transitions of a stretch, each `[E]`."""

    ends: np.ndarray
    """int32 `[2, E]`: source, target."""
    which: np.ndarray
    """int32, an index into the names."""
    names: list[bytes]
    """Of labels, in the order of their first appearance."""


def read(byte: np.ndarray, begin: int, most: int) -> Rows | None:
    """Reads lines `(from,"label",to)`.

    Args:
        byte: uint8, the text, with a blank behind it.
        begin: where it begins.
        most: the largest state.

    Returns:
        None where a line may be malformed.
    """
    length = (len(byte) - begin) // 7 + 1  # the shortest line is `(0,,0)` and its end
    found = np.empty((4, length), np.int32)
    size = _rows(byte, begin, most, found)
    if size == ODD:
        return None
    which, first = _word_loop.alike(byte, found[2, :size], found[3, :size])
    places = found[2:, first].T.tolist()
    names = [byte[start:end].tobytes() for start, end in places]
    return Rows(found[:2, :size].copy(), which, names)


@compiled
def _rows(byte, begin, most, found):
    size = len(byte)
    row = 0
    at = begin
    while at < size:
        if byte[at] == 32 or 9 <= byte[at] <= 13:
            at += 1
            continue
        if byte[at] != 40:  # (
            return ODD
        at += 1
        while at < size and (byte[at] == 32 or byte[at] == 9):
            at += 1
        if at >= size:
            return ODD
        value, at = natural(byte, at)
        if value < 0 or value > most:
            return ODD
        found[0, row] = value
        while at < size and (byte[at] == 32 or byte[at] == 9):
            at += 1
        if at >= size or byte[at] != 44:  # a comma
            return ODD
        label = at + 1
        end = label
        while end < size and byte[end] != 10:
            end += 1
        at = end
        last = end - 1
        while last > label and byte[last] <= 32:
            last -= 1
        if byte[last] != 41:  # )
            return ODD
        last -= 1
        while last > label and byte[last] <= 32:
            last -= 1
        first = last
        value = 0
        unit = 1
        while last > label and 48 <= byte[last] <= 57:
            value += (np.int64(byte[last]) - 48) * unit
            unit *= 10
            last -= 1
            if first - last > _MOST_DIGITS:
                return ODD
        if last == first or value > most:
            return ODD
        found[1, row] = value
        while last > label and byte[last] <= 32:
            last -= 1
        if last < label or byte[last] != 44:
            return ODD
        while label < last and byte[label] <= 32:
            label += 1
        while last > label and byte[last - 1] <= 32:
            last -= 1
        if last - label > 1 and byte[label] == 34 and byte[last - 1] == 34:
            label += 1
            last -= 1
        found[2, row] = label
        found[3, row] = last
        row += 1
    return row
