"""Parts of a text, many of which are equal."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxgames import host
from jaxgames.io import _word_loop
from jaxgames.tuning.io import ROWS_AT_ONCE as _ROWS


class Texts(NamedTuple):
    """Texts, many of which are equal."""

    which: np.ndarray
    """int32 `[N]`, the number of each text; numbered by first appearance."""
    places: np.ndarray
    """int32 `[2, K]`, start and end of the first text with each number."""


def told_apart(byte: np.ndarray, places: np.ndarray) -> Texts:
    """Numbers the different texts at some places, by machine code.

    Args:
        byte: uint8, the text.
        places: int32 `[2, N]`, start and end of each text.
    """
    which, first = _word_loop.alike(byte, *places)
    return Texts(which, places[:, first])


def rows(table: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The row of a table for each number, `table[which]`: by all cores, read-only.

    Args:
        table: `[K, ...]`.
        which: int32 `[N]`, numbers below `K`.
    """
    found = np.empty((len(which), *table.shape[1:]), table.dtype)
    _take([(table, found)], which)
    return found


def columns(table: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The column of a table for each number, `table[:, which]`: as `rows`.

    Args:
        table: `[M, K]`.
        which: integers `[N]`, numbers below `K`.
    """
    found = np.empty((len(table), len(which)), table.dtype)
    _take(list(zip(table, found, strict=True)), which)
    found.setflags(write=False)
    return found


def _take(tables: list[tuple[np.ndarray, np.ndarray]], which: np.ndarray) -> None:
    """Writes the rows of each table to the array beside it."""

    def take(begin: int) -> None:
        own = slice(begin, begin + _ROWS)
        for table, found in tables:
            # The mode needs no copy, and none of the numbers is too large.
            np.take(table, which[own], axis=0, out=found[own], mode="clip")

    if len(which):
        host.together(take, range(0, len(which), _ROWS))
    for _, found in tables:
        found.setflags(write=False)


def joined(byte: np.ndarray, parts: Sequence[Texts]) -> Texts:
    """The texts of all parts in order, with common numbers for all parts."""
    number: dict[bytes, int] = {}
    first: list[tuple[int, int]] = []
    codes = []
    for part in parts:
        codes.append(np.empty(part.places.shape[1], np.int32))
        for place, (start, end) in enumerate(part.places.T.tolist()):
            code = number.setdefault(byte[start:end].tobytes(), len(number))
            if code == len(first):
                first.append((start, end))
            codes[-1][place] = code
    ends = np.cumsum([len(part.which) for part in parts]).tolist()
    which = np.empty(ends[-1], np.int32)

    def renumber(k: int) -> None:
        own = which[ends[k] - len(parts[k].which) : ends[k]]
        np.take(codes[k], parts[k].which, out=own, mode="clip")  # which needs no copy

    host.together(renumber, range(len(parts)))
    return Texts(which, np.array(first, np.int32).reshape(-1, 2).T)
