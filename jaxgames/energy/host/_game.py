"""An energy game as the algorithms read it: checked, with its edges both ways."""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energy import _bounds
from jaxgames.host import lend, linear

LARGEST = 2**62
"""No number of the algorithms may reach this, so that sums of two fit 64 bits."""


class Game(NamedTuple):
    """The real part of an arena, and its edges by their targets.

    The edges into `v` come from `in_src[k]` and have weight `in_weight[k]`, for
    `in_ptr[v] <= k < in_ptr[v + 1]`.
    """

    row_ptr: np.ndarray
    dst: np.ndarray
    weight: np.ndarray
    owner: np.ndarray
    in_ptr: np.ndarray
    in_src: np.ndarray
    in_weight: np.ndarray


def game_of(arena: Arena) -> Game:
    """Checks a concrete arena and sorts its edges both ways; else raises ValueError."""
    _bounds.check(arena, wide=True)
    arena = arena.unpad()
    row_ptr, dst, weight, owner = (
        lend(np.ascontiguousarray(x))
        for x in (arena.row_ptr, arena.dst, arena.weight, arena.owner)
    )
    return Game(row_ptr, dst, weight, owner, *turned(row_ptr, dst, weight))


def turned(row_ptr, dst, weight):
    """Where the edges into each vertex begin, their sources and weights."""
    if weight.dtype != object:
        return _turned(row_ptr, dst, weight)
    in_ptr, in_src, edge = _turned(row_ptr, dst, np.arange(len(dst), dtype=np.int32))
    return in_ptr, in_src, weight[edge]


@linear
def _turned(row_ptr, dst, weight):
    """Where the edges into each vertex begin, their sources and weights."""
    size, many = len(row_ptr) - 1, len(dst)
    in_ptr = np.zeros(size + 2, np.int32)
    in_src, in_weight = np.empty(many, np.int32), np.empty_like(weight)
    for e in range(many):
        in_ptr[dst[e] + 2] += 1
    for v in range(size):
        in_ptr[v + 2] += in_ptr[v + 1]
    for v in range(size):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            k = in_ptr[dst[e] + 1]
            in_ptr[dst[e] + 1] += 1
            in_src[k], in_weight[k] = v, weight[e]
    return in_ptr[: size + 1], in_src, in_weight
