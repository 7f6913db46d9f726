"""Entries of a sparse matrix in text, read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _word_loop
from jaxgames.io._word_loop import natural, real

ODD = -1


def read(byte: np.ndarray, begin: int, most: int, field: str) -> np.ndarray | None:
    """Reads lines `row column`, or `row column value`.

    Args:
        byte: uint8, the text, with a blank behind it.
        begin: where it begins.
        most: the largest number of a row and of a column; they are counted from 1.
        field: what values are: `"pattern"` for none, `"integer"` or a real one.

    Returns:
        int32 `[2, E]`, rows and columns counted from 0; None where something may be
        malformed, is a comment, or is an integer, which are for others to keep.
    """
    if field == "integer":
        return None
    found = np.empty((2, (len(byte) - begin) // 4 + 1), np.int32)
    size = _entries(byte, begin, most, field != "pattern", _word_loop.POWERS, found)
    return None if size == ODD else found[:, :size].copy()


@compiled
def _entries(byte, begin, most, has_value, powers, found):
    size = len(byte)
    row = 0
    at = begin
    while at < size:
        if byte[at] == 32 or 9 <= byte[at] <= 13:
            at += 1
            continue
        for column in range(2):
            if at >= size:
                return ODD
            value, at = natural(byte, at)
            if value < 1 or value > most:
                return ODD
            found[column, row] = value - 1
            first = at
            while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
                at += 1
            if at == first and at < size and byte[at] != 10:
                return ODD
        if has_value:
            first = at
            while at < size and byte[at] > 32:
                at += 1
            if at == first:
                return ODD
            number = real(byte, first, at, powers)
            if not (number <= 0 or number > 0):
                return ODD
            while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
                at += 1
        if at < size and byte[at] != 10:
            return ODD
        row += 1
    return row
