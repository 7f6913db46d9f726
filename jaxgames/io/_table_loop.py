"""Rows of a table of transitions in text, read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _word_loop
from jaxgames.io._word_loop import natural, real

ODD = -1


class Rows(NamedTuple):
    """Columns of a stretch, each `[E]`."""

    numbers: np.ndarray
    """int32 `[3, E]`: state, choice, target."""
    prob: np.ndarray
    """float64."""
    which: np.ndarray
    """int32, an index into the names."""
    names: list[bytes]
    """Of actions, an empty one where a row has none."""
    line: np.ndarray
    """int32, counted from 1."""


def read(
    byte: np.ndarray, before: int, tells_choices: bool, last: int, most: int
) -> Rows | None:
    """Reads rows.

    Args:
        byte: uint8, the text, with a margin before and a blank after it.
        before: how many lines come before.
        tells_choices: whether rows have four columns, not three.
        last: the last state.
        most: the largest number of a choice.

    Returns:
        None where something may be malformed, is a comment or an interval.
    """
    length = len(byte) // 6 + 2  # the shortest row is `0 0 1`
    numbers, prob = np.empty((6, length), np.int32), np.empty(length)
    powers = _word_loop.POWERS
    size = _rows(byte, before, tells_choices, last, most, powers, numbers, prob)
    if size == ODD:
        return None
    found = numbers[:, :size]
    which, first = _word_loop.alike(byte, found[4], found[5])
    places = found[4:, first].T.tolist()
    names = [byte[start:end].tobytes() for start, end in places]
    return Rows(found[:3].copy(), prob[:size].copy(), which, names, found[3].copy())


@compiled
def _rows(byte, before, tells_choices, last, most, powers, numbers, prob):
    size = len(byte)
    line = before + 1
    row = 0
    at = 0
    while at < size:
        mark = byte[at]
        if mark == 10:
            line += 1
            at += 1
            continue
        if mark == 32 or 9 <= mark <= 13:
            at += 1
            continue
        for column in range(3):
            if column == 1 and not tells_choices:
                numbers[1, row] = 0
                continue
            value, at = natural(byte, at)
            if value == ODD or value > (most if column == 1 else last):
                return ODD
            numbers[column, row] = value
            # A blank ends the text, so none is left out before the next column.
            first = at
            while byte[at] == 32 or byte[at] == 9:
                at += 1
                if at >= size:
                    return ODD
            if at == first:
                return ODD
        first = at
        if byte[at] < 48 or byte[at] > 57:
            return ODD
        while byte[at] > 32:
            at += 1
        found = real(byte, first, at, powers)
        if not found >= 0:
            return ODD
        prob[row] = found
        numbers[3, row] = line
        while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
            at += 1
        numbers[4, row] = at
        while at < size and byte[at] > 32:
            at += 1
        numbers[5, row] = at
        while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
            at += 1
        if at < size and byte[at] != 10:
            return ODD
        row += 1
    return row


def choices(
    state: np.ndarray, choice: np.ndarray, action: np.ndarray, num_states: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Where the choices and the states of a table start.

    Args:
        state: int32 `[E]`.
        choice: int32 `[E]`, the number of the choice among the state's.
        action: int32 `[E]`.
        num_states: how many states there are.

    Returns:
        int32 `[C + 1]`, the first row of each choice, and `E`; int32 `[S + 1]`, the
        first choice of each state, and `C`. None where rows are out of order, choices
        have gaps or more than one action, or the table was not read by machine code.
    """
    if not _rows.ready or not len(state):
        return None
    first = np.empty(len(state) + 1, np.int32)
    groups = np.empty(num_states + 1, np.int32)
    count = _choices(state, choice, action, first, groups)
    return None if count == ODD else (first[: count + 1].copy(), groups)


@compiled
def _choices(state, choice, action, first, groups):
    count = 0
    last = -1  # state
    place = -1  # choice
    for row in range(len(state)):
        of = np.int64(state[row])
        if of < last:
            return ODD
        if of > last:
            while last < of:
                last += 1
                groups[last] = count
            place = -1
        if choice[row] != place:
            place += 1
            if choice[row] != place:
                return ODD
            first[count] = row
            count += 1
        elif action[row] != action[row - 1]:
            return ODD
    first[count] = len(state)
    while last < len(groups) - 1:
        last += 1
        groups[last] = count
    return count
