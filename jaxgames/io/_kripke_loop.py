"""States of a system in text, read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _pieces, _texts, _whole
from jaxgames.io._whole import Whole
from jaxgames.io._word_loop import natural
from jaxgames.tuning.io import KRIPKE_BYTES as _BYTES_AT_ONCE
from jaxgames.tuning.io import KRIPKE_SLOWER as _SLOWER

ODD = -1
"""Instead of a position or a number: something may be malformed."""


class States(NamedTuple):
    """The contents of `S` statements, in their order."""

    number: np.ndarray
    """int32 `[S]`."""
    row_ptr: np.ndarray
    """int32 `[S + 1]`, where the successors of each start, and where all end."""
    targets: np.ndarray
    """int32."""
    name: np.ndarray
    """int32 `[2, S]`, where its name starts and ends, without quotes; else zeros."""
    held: _texts.Texts
    """`[S]`, the list of its propositions."""


def pays(size: int) -> bool:
    """Whether reading so many bytes is faster than token by token."""
    return _pieces.pays(_parse, size * _SLOWER)


def read(whole: Whole, begin: int, most: int) -> States | None:
    """Reads the statements of a text from a position on.

    A long text is read by all cores, piece by piece. Gives None if a statement may be
    malformed, or the text is not UTF-8.
    """

    def parse(byte: np.ndarray, begin: int, end: int) -> States | None:
        # What follows, a semicolon or a line end, stands for nothing.
        return _parsed(byte[: end + 1], begin, most)

    found = whole.parsed(parse, begin, b";\n", _BYTES_AT_ONCE, 1)
    if found is None:  # a name or a comment may be cut
        return parse(whole.byte, begin, whole.size)
    return _joined(whole.byte, found) if len(found) > 1 else found[0]


def _joined(byte: np.ndarray, found: list[States]) -> States:
    before = np.cumsum([0, *(part.row_ptr[-1] for part in found)], dtype=np.int32)
    rows = [n + part.row_ptr[:-1] for n, part in zip(before, found, strict=False)]
    return States(
        _pieces.joined([part.number for part in found]),
        np.concatenate([*rows, before[-1:]]),
        _pieces.joined([part.targets for part in found]),
        np.concatenate([part.name for part in found], axis=1),
        _texts.joined(byte, [part.held for part in found]),
    )


def _parsed(byte: np.ndarray, begin: int, most: int) -> States | None:
    """Reads a piece, with a semicolon or a line end behind it."""
    if not _whole.is_utf8(byte[begin:-1]):
        return None
    # The shortest statements are `0;`, and a successor takes a digit and a blank.
    room = (len(byte) - begin) // 2 + 1
    number, row_ptr, targets = np.empty((3, room + 1), np.int32)
    places = np.empty((4, room), np.int32)
    count = _parse(byte, begin, most, number, row_ptr, targets, places)
    if count == ODD:
        return None
    return States(
        number[:count].copy(),
        row_ptr[: count + 1].copy(),
        targets[: row_ptr[count]].copy(),
        places[:2, :count].copy(),
        _texts.told_apart(byte, places[2:, :count]),
    )


@compiled
def _parse(byte, begin, most, number, row_ptr, targets, places):
    end = len(byte) - 1
    count = 0
    size = 0
    at = _skip(byte, begin, end)
    while at < end:
        row_ptr[count] = size
        places[0, count] = places[1, count] = 0
        places[2, count] = places[3, count] = 0
        field = 0
        while True:  # the state, then its successors
            value, at = natural(byte, at)
            if value < 0 or value > most:
                return ODD
            at = _skip(byte, at, end)
            if field == 0:
                number[count] = value
                if byte[at] == 34:
                    last = _string_end(byte, at, end)
                    if last >= end:
                        return ODD
                    places[0, count] = at + 1
                    places[1, count] = last
                    at = _skip(byte, last + 1, end)
                if byte[at] == 123:
                    at += 1
                    places[2, count] = at
                    while at < end and byte[at] != 125:
                        if byte[at] == 34:
                            at = _string_end(byte, at, end)
                        elif byte[at] == 47:  # may be a comment
                            return ODD
                        at += 1
                    if at >= end:
                        return ODD
                    places[3, count] = at
                    at = _skip(byte, at + 1, end)
                if byte[at] == 45:
                    if byte[at + 1] != 62:
                        return ODD
                    at = _skip(byte, at + 2, end)
                    field = 1
                elif byte[at] != 59:
                    return ODD
            else:
                targets[size] = value
                size += 1
            if byte[at] == 59:
                break
        if at >= end:
            return ODD
        count += 1
        at = _skip(byte, at + 1, end)
    row_ptr[count] = size
    return count


@compiled
def _skip(byte, at, end):
    """The next place without a blank that is in no comment."""
    while at < end:
        if byte[at] == 32 or 9 <= byte[at] <= 13:
            at += 1
        elif byte[at] == 47 and byte[at + 1] == 42:
            opened = at
            at += 2
            while not (byte[at] == 42 and byte[at + 1] == 47):
                at += 2 if byte[at] == 47 and byte[at + 1] == 42 else 1
                if at >= end:
                    return opened  # where nothing can begin
            at += 2
        else:
            return at
    return end


@compiled
def _string_end(byte, at, end):
    """Where the quote is that ends a string; the end if it is not closed in a line."""
    at += 1
    while at < end and byte[at] != 34:
        if byte[at] == 10:
            return end
        if byte[at] == 92:
            at += 1
            if byte[at] == 10:
                return end
        at += 1
    return at
