"""Decimal numbers in text, read and written as whole arrays."""

import numpy as np

MARGIN = 16
"""Bytes that must stand before the first digit that `read` looks at, and the most
digits of a number that it can read."""


def read(text: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Reads the numbers at `text[start:end]`.

    Args:
        text: uint8 `[N]`, ASCII, with `MARGIN` bytes before the first number.
        start: integers `[T]`, where each number's digits start.
        end: integers `[T]`, where they end; at most `MARGIN` digits each.

    Returns:
        uint64 `[T]`.
    """
    words = np.ndarray(len(text) - 7, "<u8", text.data, strides=(1,))
    length = end - start
    values = _eight_digits(words[end - 8], np.minimum(length, 8))
    long = np.flatnonzero(length > 8)
    if len(long):
        high = _eight_digits(words[end[long] - 16], length[long] - 8)
        values[long] += high * 10**8
    return values


def _eight_digits(words: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Values of the last `length` bytes of each word, which are ASCII digits.

    The first digit is the lowest byte. Neighbours are joined to pairs, pairs to
    fours, fours to eights, all within one word.
    """
    before = (64 - 8 * length).astype(np.uint64)
    x = words & 0x0F0F0F0F0F0F0F0F
    x >>= before
    x <<= before
    x = x * 10 + (x >> 8)
    even, odd = x & 0x000000FF000000FF, (x >> 16) & 0x000000FF000000FF
    return (even * (100 + (10**6 << 32)) + odd * (1 + (10**4 << 32))) >> 32


def write(numbers: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Writes numbers, each followed by a separator.

    Args:
        numbers: int32, int64 or uint64 `[T]`, not negative.
        after: uint32 `[T]`, what follows each number: from `separator`.

    Returns:
        uint8, the text.

    Examples:
        >>> comma, end = separator(","), separator("; ")
        >>> write(np.array([12, 0, 30405]), np.array([comma, comma, end])).tobytes()
        b'12,0,30405; '
    """
    # Four digits to a 32-bit word, absent ones as NUL bytes, which are dropped last.
    digits = len(str(int(numbers.max(initial=0))))
    groups = -(-digits // 4)
    text = np.empty((len(numbers), groups + 1), "<u4")
    text[:, groups] = after
    table = _LAST
    for group in reversed(range(groups)):
        rest = numbers // 10_000
        first = (rest == 0) * numbers.dtype.type(10_000)
        text[:, group] = table[numbers - rest * 10_000 + first]
        numbers, table = rest, _UPPER
    characters = text.view(np.uint8).ravel()
    return characters[characters != 0]


def separator(text: str) -> np.uint32:
    """Packs one to four ASCII characters into the word that `write` takes."""
    return np.frombuffer(text.encode("ascii").ljust(4, b"\0"), "<u4")[0]


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Texts of 0 to 9999: with leading zeros, then without; for `write`."""
    number = np.arange(10_000)[:, None]
    unit = np.array([1000, 100, 10, 1])
    padded = (number // unit % 10 + ord("0")).astype(np.uint8)
    bare = np.where((number >= unit) | (unit == 1), padded, 0).astype(np.uint8)
    last = np.concatenate([padded, bare]).view("<u4").ravel()
    upper = last.copy()
    upper[10_000] = 0  # a group that is zero, with nothing before it, is not written
    return last, upper


_LAST, _UPPER = _tables()
