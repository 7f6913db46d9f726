"""Transitions as CSV and as plain Graphviz text, read by machine code."""

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _pieces
from jaxgames.io._decimal import MARGIN
from jaxgames.io._word_loop import letters, natural

ODD = -1
"""Where there is something else, which other code is to look at."""

_ARROW, _LABEL = (int.from_bytes(word, "big") for word in (b" -> ", b" [label="))

SLOWER = 8
"""So many times longer as reading text by arrays takes what looks at it else."""


def pays(size: int) -> bool:
    """Whether so many bytes are worth this code."""
    return _pieces.pays(_csv, SLOWER * size)


def csv(byte, start, end, most: int):
    """Reads lines `from,to,label` without quotes.

    Args:
        byte: uint8, the text, with margins.
        start: int32 `[L]`, where each line starts, without blanks before it.
        end: int32 `[L]`, where it ends, without blanks behind it.
        most: the largest state.

    Returns:
        int32 `[4, L]`: sources, targets, where each label starts and ends. None where
        there is something else.
    """
    found = np.empty((4, len(start)), np.int32)
    start, end = (x.astype(np.int32, copy=False) for x in (start, end))
    return None if _csv(byte, start, end, most, found) == ODD else found


def dot(byte, start, end, most: int):
    """Reads lines `0 -> 1 [label="a"];` and `0;`.

    Args:
        byte: uint8, the text, with margins.
        start: int32 `[L]`, where each line starts, without blanks before it.
        end: int32 `[L]`, where it ends, without blanks behind it.
        most: the largest state.

    Returns:
        int32 `[4, L]`: sources, targets, where each label starts and ends. The source
        of a line that is no edge is -1; its target is the vertex, or -1 where the line
        is something else.
    """
    found = np.empty((4, len(start)), np.int32)
    start, end = (x.astype(np.int32, copy=False) for x in (start, end))
    _dot(byte, start, end, most, found)
    return found


@compiled
def _csv(byte, start, end, most, found):
    before = MARGIN
    for line in range(len(start) + 1):
        # Between lines nothing else may be than what ends them.
        stop = start[line] if line < len(start) else len(byte) - 1
        for place in range(before, stop):
            if byte[place] != 10 and byte[place] != 13:
                return ODD
        if line == len(start):
            break
        at = start[line]
        before = end[line]
        for part in range(2):
            value, at = natural(byte, at)  # a byte that is no digit ends the line
            if value == ODD or value > most or at == before or byte[at] != 44:
                return ODD
            at += 1
            found[part, line] = value
        found[2, line] = at
        found[3, line] = before
        for place in range(at, before):
            code = byte[place]
            if code == 34 or code == 44 or code < 32 or code > 126:
                return ODD
    return 0


@compiled
def _dot(byte, start, end, most, found):
    for line in range(len(start)):
        found[0, line] = ODD
        found[1, line] = ODD
        found[2, line] = start[line]
        found[3, line] = start[line]
        last = end[line]
        source, at = natural(byte, start[line])
        if source == ODD or source > most or byte[last - 1] != 59:
            continue
        if at == last - 1:
            found[1, line] = source
            continue
        if last - at < 16 or letters(byte, at, 4) != _ARROW:
            continue
        target, at = natural(byte, at + 4)
        if target == ODD or target > most:
            continue
        # Then a quote; at the end a quote, "]" and ";".
        if last - at < 12 or letters(byte, at, 8) != _LABEL:
            continue
        if byte[at + 8] != 34 or byte[last - 2] != 93 or byte[last - 3] != 34:
            continue
        plain = True
        for place in range(at + 9, last - 3):
            code = byte[place]
            if code == 34 or code == 92 or code < 32 or code > 126:
                plain = False
        if plain:
            found[0, line] = source
            found[1, line] = target
            found[2, line] = at + 9
            found[3, line] = last - 3
