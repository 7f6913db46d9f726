"""Rows of successors with weights, read in one pass over their bytes.

Anything unusual is left to slower code, which can tell what is wrong.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _pieces

ODD = -1
"""In place of a number of rows: some may be malformed."""


def pays(size: int) -> bool:
    """Whether so many bytes of text are read sooner by machine code than by arrays."""
    return _pieces.pays(_parse, size)


def parse(
    text: bytes, marks: tuple[int, int], owners: tuple[bytes, bytes], count: int
) -> tuple[np.ndarray, ...] | None:
    """Reads rows that are well-formed.

    Args:
        text: some rows, the last of which may go on to the end of the text.
        marks: what stands between a successor and its weight, a blank for any blanks,
            and what stands behind a row.
        owners: the words for player 0 and player 1.
        count: how many vertices there are.

    Returns:
        Of each row its vertex, int32, its owner, bool, how many successors it has and
        how many lines end before it, int32; all successors, int32, and weights, int64.
        None where a row may be malformed.
    """
    between, mark = marks
    # The shortest row has a digit, an owner, and a blank or a mark behind each.
    room = len(text) // 4 + 2
    rows, owner = np.empty((3, room), np.int32), np.empty(room, np.bool_)
    target = np.empty(len(text) // 4 + 2, np.int32)
    weight = np.empty(len(text) // 4 + 2, np.int64)
    byte = np.frombuffer(text + b"\n", np.uint8)
    words = (np.frombuffer(word, np.uint8) for word in owners)
    found = _parse(byte, between, mark, *words, count, rows, owner, target, weight)
    size, edges = found
    if size == ODD:
        return None
    vertex, degree, line = (row[:size].copy() for row in rows)
    return (
        vertex,
        owner[:size].copy(),
        degree,
        line,
        target[:edges].copy(),
        weight[:edges].copy(),
    )


@compiled
def _parse(byte, between, mark, word0, word1, count, rows, owner, target, weight):
    end = len(byte) - 1
    lines = mark == 10  # whether no row has two lines
    line = 0
    size = 0
    edges = 0
    at, line = _skip(byte, 0, line, end, False)
    while at < end:
        rows[2, size] = line
        value, at = _integer(byte, at)
        if at == ODD or value < 0 or value >= count:
            return ODD, 0
        rows[0, size] = value
        stop = at
        at, line = _skip(byte, at, line, end, lines)
        if at == stop:  # nothing stands between
            return ODD, 0
        zero = True
        one = True
        for k in range(len(word0)):  # both are as long
            if at >= end:
                return ODD, 0
            zero &= byte[at] == word0[k]
            one &= byte[at] == word1[k]
            at += 1
        if not (zero or one):
            return ODD, 0
        owner[size] = one
        stop = at
        at, line = _skip(byte, at, line, end, lines)
        first = edges
        while byte[at] != mark and byte[at] != 34:
            if at == stop:
                return ODD, 0
            value, at = _integer(byte, at)
            if at == ODD or value < 0 or value >= count:
                return ODD, 0
            target[edges] = value
            stop = at
            at, line = _skip(byte, at, line, end, lines)
            if between != 32:
                if byte[at] != between:
                    return ODD, 0
                stop = at
                at, line = _skip(byte, at + 1, line, end, lines)
            elif at == stop:
                return ODD, 0
            value, at = _integer(byte, at)
            if at == ODD:
                return ODD, 0
            weight[edges] = value
            edges += 1
            stop = -1
            at, line = _skip(byte, at, line, end, lines)
            if byte[at] != 44:
                break
            at, line = _skip(byte, at + 1, line, end, lines)
            if byte[at] == mark or byte[at] == 34:
                return ODD, 0
        if byte[at] == 34 and not lines:  # a name
            at += 1
            while at < end and byte[at] != 34:
                line += byte[at] == 10
                at += 1
            if at >= end:
                return ODD, 0
            at, line = _skip(byte, at + 1, line, end, lines)
        if byte[at] != mark:
            return ODD, 0
        rows[1, size] = edges - first
        size += 1
        if at >= end:
            break
        line += byte[at] == 10
        at, line = _skip(byte, at + 1, line, end, False)
    return size, edges


@compiled
def _skip(byte, at, line, end, in_line):
    """The next place without a blank, and the lines that have ended until there."""
    while at < end and (byte[at] == 32 or 9 <= byte[at] <= 13):
        if byte[at] == 10:
            if in_line:
                break
            line += 1
        at += 1
    return at, line


@compiled
def _integer(byte, at):
    """An integer and where it ends, which is ODD where there is none."""
    minus = byte[at] == 45
    if minus:
        at += 1
    first = at
    value = 0
    while 48 <= byte[at] <= 57:
        value = value * 10 + byte[at] - 48
        at += 1
        if at - first > 16:
            return 0, ODD
    if at == first:
        return 0, ODD
    return -value if minus else value, at
