"""Words of a text, found and read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _pieces

MOST_DIGITS = 16
"""Of an integer, leading zeros included: their values do not wrap round."""

POWERS = 10.0 ** np.arange(23)
"""The powers of ten that are real numbers of 64 bits, without rounding."""


def pays(size: int) -> bool:
    """Whether so many bytes of text are read sooner by these loops than by arrays."""
    return _pieces.pays(_cut, size)


def cut(byte: np.ndarray, begin: int) -> tuple[np.ndarray, ...]:
    """Cuts a text at its blanks.

    Args:
        byte: uint8, the text, with a blank behind it.
        begin: where it begins.

    Returns:
        int32 arrays: where each word starts and ends; the first word of each line that
        has some, and the number of words; the numbers of these lines, from 0 on.
    """
    most = (len(byte) - begin) // 2 + 1
    start, end, first, number = np.empty((4, most + 1), np.int32)
    words, lines = _cut(byte, begin, start, end, first, number)
    first[lines] = words
    # What is kept takes no more memory than it needs.
    parts = start[:words], end[:words], first[: lines + 1], number[:lines]
    return tuple(part.copy() for part in parts)


@compiled
def _cut(byte, begin, start, end, first, number):
    line = 0
    words = 0
    lines = 0
    opens = True
    at = begin
    size = len(byte)
    while at < size:
        mark = byte[at]
        if mark == 10:
            line += 1
            opens = True
            at += 1
        elif mark == 32 or 9 <= mark <= 13:
            at += 1
        else:
            if opens:
                first[lines] = words
                number[lines] = line
                lines += 1
                opens = False
            start[words] = at
            while not (mark == 32 or 9 <= mark <= 13):
                at += 1
                mark = byte[at]
            end[words] = at
            words += 1
    return words, lines


def integers(byte, start, end, least: int, most: int) -> tuple[np.ndarray, int]:
    """Reads words as integers: int64; and the first one not in the range, or -1."""
    values = np.empty(len(start), np.int64)
    return values, _integers(byte, start, end, least, most, values)


@compiled
def _integers(byte, start, end, least, most, values):
    for word in range(len(start)):
        at = start[word]
        stop = end[word]
        if stop <= at or stop - at > MOST_DIGITS:
            return word
        value = 0
        while at < stop:
            digit = np.int64(byte[at]) - 48
            if digit < 0 or digit > 9:
                return word
            value = value * 10 + digit
            at += 1
        if value < least or value > most:
            return word
        values[word] = value
    return -1


def reals(byte, start, end) -> np.ndarray:
    """Reads words as real numbers or quotients: float64, NaN where that is not sure.

    What has few digits is an integer times or over a power of ten, both without
    rounding: one operation makes of them what is nearest.

    References:
        W. Clinger: How to Read Floating Point Numbers Accurately. PLDI 1990,
        doi:10.1145/93542.93557.
    """
    values = np.empty(len(start))
    _reals(byte, start, end, POWERS, values)
    return values


@compiled
def _reals(byte, start, end, powers, values):
    for word in range(len(start)):
        values[word] = real(byte, start[word], end[word], powers)


@compiled
def real(byte, at, stop, powers):
    """One of the real numbers that `reals` reads: compiled, for other loops.

    Their powers of ten are `POWERS`.
    """
    found = 1.0
    over = False
    while True:  # a number, and perhaps another one that it is divided by
        sign = 1.0
        if at < stop and (byte[at] == 45 or byte[at] == 43):
            sign = -1.0 if byte[at] == 45 else 1.0
            at += 1
        digits = 0
        value = 0
        exponent = 0
        point = False
        while at < stop:
            digit = np.int64(byte[at]) - 48
            if 0 <= digit <= 9:
                if value > 1 << 59:  # else it would wrap round
                    digits = 0
                    break
                value = value * 10 + digit
                digits += 1
                if point:
                    exponent -= 1
            elif byte[at] == 46 and not point:
                point = True
            else:
                break
            at += 1
        if digits > 0 and at < stop and (byte[at] == 101 or byte[at] == 69):
            at += 1
            minus = False
            if at < stop and (byte[at] == 45 or byte[at] == 43):
                minus = byte[at] == 45
                at += 1
            if at >= stop or stop - at > 4:
                digits = 0
            power = 0
            while digits > 0 and at < stop:
                digit = np.int64(byte[at]) - 48
                if digit < 0 or digit > 9:
                    digits = 0
                power = power * 10 + digit
                at += 1
            exponent += -power if minus else power
        if digits == 0 or value > 1 << 53 or exponent < -22 or exponent > 22:
            return np.nan
        if exponent < 0:
            number = sign * value / powers[-exponent]
        else:
            number = sign * value * powers[exponent]
        if over:
            # Of nothing divided by nothing somebody else tells.
            return found / number if number != 0 and at == stop else np.nan
        found = number
        if at == stop:
            return found
        if byte[at] != 47:
            return np.nan
        over = True
        at += 1


@compiled
def natural(byte, at):
    """Reads one natural number: compiled, for other loops, which inline it.

    A byte that is no digit must follow the text.

    Returns:
        The number, and where it ends. It is -1 if there is no digit, or if there are
        more than `MOST_DIGITS`.
    """
    first = at
    value = 0
    while 48 <= byte[at] <= 57:
        value = value * 10 + np.int64(byte[at]) - 48
        at += 1
        if at - first > MOST_DIGITS:
            return -1, at
    if at == first:
        return -1, at
    return value, at


@compiled
def letters(byte, at, size):
    """Up to eight bytes as one number, as `int.from_bytes` has it: for other loops."""
    found = 0
    for place in range(at, at + size):
        found = found * 256 + np.int64(byte[place])
    return found


def alike(byte, start, end) -> tuple[np.ndarray, np.ndarray]:
    """Numbers the different words among some, in the order of their first appearance.

    Gives int32 twice: the number of each word, and the first word of each number.
    """
    size = 16
    while size < 2 * len(start):
        size *= 2
    codes, firsts = np.empty((2, len(start)), np.int32)
    table = np.full(size, -1, np.int32)
    count = _alike(byte, start, end, table, codes, firsts)
    return codes, firsts[:count]


@compiled
def _alike(byte, start, end, table, codes, firsts):
    mask = len(table) - 1
    count = 0
    for word in range(len(start)):
        begin = start[word]
        length = end[word] - begin
        key = 2166136261  # the hash of Fowler, Noll and Vo, in 32 bits
        for at in range(begin, begin + length):
            key = ((key ^ np.int64(byte[at])) * 16777619) & 0xFFFFFFFF
        place = (key ^ (key >> 15)) & mask
        while True:
            code = table[place]
            if code < 0:
                table[place] = count
                firsts[count] = word
                codes[word] = count
                count += 1
                break
            other = start[firsts[code]]
            same = end[firsts[code]] - other == length
            if same:
                for k in range(length):
                    if byte[begin + k] != byte[other + k]:
                        same = False
                        break
            if same:
                codes[word] = code
                break
            place = (place + 1) & mask
    return count
