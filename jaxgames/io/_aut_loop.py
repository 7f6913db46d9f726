"""Transitions as Aldebaran's text, read one after the other, by machine code."""

import numpy as np

from jaxgames.host import compiled

ODD = -1
"""Where a line is malformed, or nearly so."""


def parse(byte, start, end, most: int):
    """Reads lines `(from,"label",to)`.

    Args:
        byte: uint8, the text.
        start: int32 `[L]`, where each line starts, without blanks before it.
        end: int32 `[L]`, where it ends, without blanks behind it.
        most: the largest state.

    Returns:
        int32 `[L]` four times: sources, targets, where each label starts and ends. None
        where a line may be malformed.
    """
    found = np.empty((4, len(start)), np.int32)
    return None if _parse(byte, start, end, most, found) == ODD else found


@compiled
def _parse(byte, start, end, most, found):
    for line in range(len(start)):
        at = start[line]
        last = end[line] - 1
        # The shortest is (0,,0).
        if last - at < 5 or byte[at] != 40 or byte[last] != 41:
            return ODD
        at += 1
        while at < last and byte[at] <= 32:
            at += 1
        value = 0
        first = at
        while 48 <= byte[at] <= 57:  # the line ends with a parenthesis
            value = value * 10 + byte[at] - 48
            at += 1
            if at - first > 15:
                return ODD
        if at == first or value > most:
            return ODD
        found[0, line] = value
        while at < last and byte[at] <= 32:
            at += 1
        if byte[at] != 44:
            return ODD
        at += 1
        last -= 1
        while last > at and byte[last] <= 32:
            last -= 1
        value = 0
        unit = 1
        first = last
        while 48 <= byte[last] <= 57:  # a comma comes before
            value += (byte[last] - 48) * unit
            unit *= 10
            last -= 1
            if first - last > 15:
                return ODD
        if last == first or value > most:
            return ODD
        found[1, line] = value
        while last > at and byte[last] <= 32:
            last -= 1
        if last < at or byte[last] != 44:
            return ODD
        while at < last and byte[at] <= 32:
            at += 1
        while last > at and byte[last - 1] <= 32:
            last -= 1
        if last - at > 1 and byte[at] == 34 and byte[last - 1] == 34:
            at += 1
            last -= 1
        found[2, line] = at
        found[3, line] = last
    return 0
