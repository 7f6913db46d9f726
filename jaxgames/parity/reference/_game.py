"""A game as the algorithms read it: in normal form, with its edges by their targets."""

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.parity._edges import check_priorities

Answer = tuple[np.ndarray, np.ndarray, dict[str, int]]
"""Winners, strategies and statistics."""

NO_LIMIT = 2**62
"""More steps than anybody can wait for."""

NOBODY = -1
"""No vertex."""


class Game(NamedTuple):
    """The real part of an arena, and its edges by their targets.

    The edges into `v` are `in_edge[k]`, from `in_src[k]`, for `in_ptr[v] <= k <
    in_ptr[v + 1]`.
    """

    row_ptr: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    owner: np.ndarray
    priority: np.ndarray
    in_ptr: np.ndarray
    in_edge: np.ndarray
    in_src: np.ndarray


def game_of(arena: Arena) -> Game:
    """The normal form of an arena, its edges sorted both ways."""
    arena = normal_form(arena)
    in_ptr, in_edge = sort(arena.dst, len(arena.owner))
    return Game(
        arena.row_ptr,
        arena.src,
        arena.dst,
        arena.owner,
        arena.priority,
        in_ptr,
        in_edge,
        arena.src[in_edge],
    )


def normal_form(arena: Arena) -> Arena:
    """The real part of an arena, checked, as numpy arrays, priorities compressed."""
    arena, _ = validity.checked(arena)
    check_priorities(arena)
    arena = arena.unpad()
    names = ("row_ptr", "src", "dst", "owner", "priority")
    arrays = {name: np.ascontiguousarray(getattr(arena, name)) for name in names}
    arrays["priority"] = _compress(arrays["priority"])
    return dataclasses.replace(arena, **arrays)


def _compress(priority: np.ndarray) -> np.ndarray:
    """Numbers priorities from 0 or 1 on: neighbours of one parity become the same."""
    values, index = np.unique(priority, return_inverse=True)
    if len(values) == 0:
        return priority
    turns = np.cumsum(np.diff(values) % 2, dtype=np.int32)
    return np.insert(turns, 0, 0)[index] + values[0] % 2


@compiled
def sort(keys, bound):
    """Where each key `0 .. bound - 1` starts, and indices in order of their keys."""
    start = np.zeros(bound + 1, np.int32)
    for key in keys:
        start[key + 1] += 1
    for key in range(bound):
        start[key + 1] += start[key]
    free = start.copy()
    order = np.empty(len(keys), np.int32)
    for index in range(len(keys)):
        key = keys[index]
        order[free[key]] = index
        free[key] += 1
    return start, order
