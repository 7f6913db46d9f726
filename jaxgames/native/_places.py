"""Where Python and NumPy hold what machine code reads: in bytes."""

import ctypes

import numpy as np

HEAD = object.__basicsize__
"""Of all objects; the last word of it is the class."""

CLASS, SIZE, ITEMS = HEAD - 8, HEAD, tuple.__basicsize__
"""The class, and of a tuple how many items it has, and the first."""

TELLS = HEAD + 8
"""Of what NumPy knows items by: the word by which those of one kind are told."""


def _place_in_arrays() -> int:
    """Where numpy's arrays hold the address of their items, in the array itself.

    It follows the head of all Python objects: numpy's own header has compiled code read
    it there, and the words that follow. To be told of it in another way takes three
    times as long.
    """
    tried = [np.empty(3), np.empty((2, 5), np.int32)[1], np.empty((1, 4), bool).T]
    told = [each.__array_interface__["data"][0] for each in tried]
    for place in range(0, HEAD + 3 * 8, 8):
        if [_word(x, place) for x in tried] == told and all(
            _word(x, CLASS) == id(np.ndarray)
            and _word(x, place + 8) & 0xFFFFFFFF == x.ndim
            and _lengths(x, place + 16) == x.shape
            and _word(x, place + 40) == id(x.dtype)
            and _word(x, place + 48) & 0xFFFFFFFF == x.flags.num
            for x in tried
        ):
            return place
    raise ImportError("this NumPy has arrays of an unknown form")  # never seen


def _word(value: object, place: int) -> int:
    return ctypes.c_uint64.from_address(id(value) + place).value


def _lengths(value: np.ndarray, place: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * value.ndim).from_address(_word(value, place)))


PLACE = _place_in_arrays()
"""Of an array: the address of its items."""

AXES, LENGTHS, DTYPE, FLAGS = PLACE + 8, PLACE + 16, PLACE + 40, PLACE + 48
"""How many axes it has, the address of their lengths, what its items are, flags."""
