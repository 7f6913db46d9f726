"""Small games of odd shapes that share what is compiled for them."""

from collections.abc import Iterator

import numpy as np

from jaxgames import Arena
from jaxgames.testing import SHAPES, odd_arenas

SIZE = 16, 32
"""Vertices and edges to which all of these are padded in a solve."""


def alike(seed: int, count: int) -> Iterator[Arena]:
    """Odd arenas of any number of vertices and edges that a solve pads to `SIZE`."""
    arenas = odd_arenas(seed, 20 * len(SHAPES), max_vertices=14)
    some = [arena for arena in arenas if arena.pad().shape == SIZE]
    assert len(some) >= count
    yield from some[:count]


def side_by_side(arenas: list[Arena]) -> Arena:
    """One game of all."""
    first = np.cumsum([0, *(arena.shape[0] for arena in arenas)])

    def all_of(name):
        return np.concatenate([np.asarray(getattr(arena, name)) for arena in arenas])

    more = np.repeat(first[:-1], [arena.shape[1] for arena in arenas])
    kind = "priority" if arenas[0].edge_priority is None else "edge_priority"
    return Arena.from_edges(
        all_of("src") + more,
        all_of("dst") + more,
        owner=all_of("owner"),
        **{kind: all_of(kind)},
    )
