"""Lines of a model in DRN, told apart one after the other, by machine code."""

import numpy as np

from jaxgames.host import compiled

STATE, ACTION, BRANCH, COMMENT, VALUES = range(5)
"""Kinds of lines; the last are comments with the values of a state's variables."""

ODD = -1


def kinds(byte, start, end, first) -> np.ndarray | None:
    """Of which kind each line is.

    Args:
        byte: uint8, the text.
        start: int32 `[W]`, where each word starts.
        end: int32 `[W]`, where it ends.
        first: int32 `[L + 1]`, the first word of each line, and their number.

    Returns:
        int8 `[L]`; None where a line may be malformed.
    """
    found = np.empty(len(first) - 1, np.int8)
    return None if _kinds(byte, start, end, first, found) == ODD else found


@compiled
def _kinds(byte, start, end, first, found):
    for line in range(len(found)):
        word = first[line]
        count = first[line + 1] - word
        at = start[word]
        length = end[word] - at
        if length >= 2 and byte[at] == 47 and byte[at + 1] == 47:
            has_values = length >= 3 and byte[at + 2] == 91
            found[line] = VALUES if has_values else COMMENT
            continue
        if count < 2:
            return ODD
        if (
            length == 5
            and byte[at] == 115
            and byte[at + 1] == 116
            and byte[at + 2] == 97
            and byte[at + 3] == 116
            and byte[at + 4] == 101
        ):
            found[line] = STATE
            continue
        if (
            length == 6
            and byte[at] == 97
            and byte[at + 1] == 99
            and byte[at + 2] == 116
            and byte[at + 3] == 105
            and byte[at + 4] == 111
            and byte[at + 5] == 110
        ):
            found[line] = ACTION
            continue
        colon = start[word + 1]
        if byte[colon] != 58 or end[word + 1] != colon + 1:
            return ODD
        if count != 3 and (count != 4 or byte[start[word + 2]] != 91):
            return ODD
        found[line] = BRANCH
    return 0
