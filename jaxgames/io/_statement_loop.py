"""Statements, read in one pass over their bytes.

Anything unusual is left to slower code, which can tell what is wrong.
"""

import numpy as np

from jaxgames.host import compiled

ODD = -1
"""In place of a number of statements: some may be malformed."""

MOST_DIGITS = 16
"""Of a number, leading zeros included: their values do not wrap round."""


def parse(text: bytes, largest: tuple[int, ...], largest_target: int):
    """Reads statements that are well-formed.

    Args:
        text: statements, of which the last one ends with the text, but for blanks.
        largest: what each number at the start of a statement may be, the last 1.
        largest_target: likewise of those in its list.

    Returns:
        The numbers at the start of each statement, one array for each of them, int32
        but bool for the last; where the targets of each statement end, int32; and all
        targets, int32. None where a statement may be malformed.
    """
    end = text.rfind(b";") + 1
    if text[end:].strip():
        return None
    width = len(largest)
    # The shortest statement has a digit for each number, and what follows it.
    most = end // (2 * width) + 1
    fields = np.empty((width - 1, most), np.int32)
    last = np.empty(most, np.bool_)
    ends, targets = np.empty(most, np.int32), np.empty(end // 2 + 1, np.int32)
    limits = np.array([*largest, largest_target])
    byte = np.frombuffer(text, np.uint8)
    count = read(byte, end, limits, fields, last, ends, targets)
    if count == ODD:
        return None
    # What is kept takes no more memory than it needs.
    size = int(ends[count - 1]) if count else 0
    starts = (*fields[:, :count].copy(), last[:count].copy())
    return starts, ends[:count].copy(), targets[:size].copy()


@compiled
def read(byte, end, limits, fields, last, ends, targets):
    """Writes to `fields`, `last`, `ends` and `targets`; returns how many statements.

    The `end` bytes of text end with a semicolon: loops over digits and blanks stop.
    """
    width = len(limits) - 1
    at = 0
    count = 0
    size = 0
    while True:
        while at < end and (byte[at] == 32 or 9 <= byte[at] <= 13):
            at += 1
        if at >= end:
            return count
        field = 0
        while True:  # a number
            value = np.int64(byte[at]) - 48
            if value < 0 or value > 9:
                return ODD
            first = at
            at += 1
            digit = np.int64(byte[at]) - 48
            while 0 <= digit <= 9:
                value = value * 10 + digit
                at += 1
                digit = np.int64(byte[at]) - 48
            if at - first > MOST_DIGITS or value > limits[field]:
                return ODD
            mark = byte[at]
            while mark == 32 or 9 <= mark <= 13:
                at += 1
                mark = byte[at]
            if field == width:
                targets[size] = value
                size += 1
                if mark != 44:
                    break
                at += 1
                while byte[at] == 32 or 9 <= byte[at] <= 13:
                    at += 1
                continue
            if field == width - 1:
                last[count] = value == 1
                field += 1
                if mark == 59 or mark == 34:
                    break  # there are no targets
                continue
            fields[field, count] = value
            field += 1
        if mark == 34:  # a name
            at += 1
            while at < end and byte[at] != 34:
                at += 1
            at += 1
            while at < end and (byte[at] == 32 or 9 <= byte[at] <= 13):
                at += 1
            if at >= end:
                return ODD
            mark = byte[at]
        if mark != 59:
            return ODD
        at += 1
        ends[count] = size
        count += 1
