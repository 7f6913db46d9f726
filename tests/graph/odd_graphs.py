"""Small graphs of odd shapes, with masks, and what is reachable in them by closure."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxgames import Arena


class Masked(NamedTuple):
    """A graph with the vertices and edges that there are: masks, or None for all."""

    arena: Arena
    vertices: np.ndarray | None
    edges: np.ndarray | None

    @property
    def inside(self) -> np.ndarray:
        """The vertices that there are, without padding."""
        real = np.arange(self.arena.shape[0]) < self.arena.num_vertices
        return real if self.vertices is None else real & self.vertices

    @property
    def matrix(self) -> np.ndarray:
        """Where edges lead between such vertices: bool `[V, V]`."""
        arena, size = self.arena, self.arena.shape[0]
        keep = self.inside[arena.src] & self.inside[arena.dst]
        if self.edges is not None:
            keep &= self.edges
        matrix = np.zeros((size, size), bool)
        matrix[arena.src[keep], arena.dst[keep]] = True
        return matrix

    @property
    def reach(self) -> np.ndarray:
        """Which vertices paths lead to, from each: Warshall's closure, `[V, V]`."""
        reach = self.matrix | np.diag(self.inside)
        for v in range(len(reach)):
            reach |= reach[:, v : v + 1] & reach[v]
        return reach

    @property
    def labels(self) -> np.ndarray:
        """Strongly connected components by their smallest vertices, numbered anew."""
        mutual = self.reach & self.reach.T
        labels = np.full(len(mutual), -1, np.int32)
        if len(mutual):
            smallest = np.argmax(mutual, axis=1)
            labels[self.inside] = np.unique(smallest[self.inside], return_inverse=True)[
                1
            ]
        return labels


def arena_of(src, dst, size, rng) -> Arena:
    owner = rng.integers(0, 2, size)
    return Arena.from_edges(src, dst, owner=owner, dead_ends="allow")


def graphs(seed: int, count: int, largest: int = 10, pad: bool = False):
    """Random graphs, many without edges somewhere, some masked."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        size = int(rng.integers(0 if index % 11 == 0 else 1, largest + 1))
        src, dst = np.zeros((2, 0), int)
        kind = index % 5
        if size and kind == 1:  # cycles of various lengths, and edges between them
            dst = np.arange(size)
            cuts = np.sort(rng.integers(0, size + 1, 2))
            for part in np.split(np.arange(size), cuts):
                dst[part] = np.roll(part, 1)
            src, more = np.arange(size), rng.integers(0, size, (2, size // 3))
            src, dst = np.append(src, more[0]), np.append(dst, more[1])
        elif size and kind == 2:  # without cycles, but for self-loops
            src, dst = np.sort(rng.integers(0, size, (2, 2 * size)), axis=0)
        elif size:  # anything, sparse or dense
            src, dst = rng.integers(0, size, (2, int(rng.integers(0, 3 * size + 1))))
        if kind == 3:
            src, dst = np.repeat(src, 2), np.repeat(dst, 2)
        arena = arena_of(src, dst, size, rng)
        if pad or index % 7 == 0:
            arena = arena.pad(largest + 2, 8 * largest)
        vertices = rng.random(arena.shape[0]) < 0.7 if index % 3 == 0 else None
        edges = rng.random(arena.shape[1]) < 0.7 if index % 4 == 0 else None
        yield Masked(arena, vertices, edges)


def full(masked: Masked) -> Masked:
    """The same with both masks there."""
    arena, vertices, edges = masked
    return Masked(
        arena,
        np.ones(arena.shape[0], bool) if vertices is None else vertices,
        np.ones(arena.shape[1], bool) if edges is None else edges,
    )


def pairs_of_vertices(arena: Arena) -> Iterator[tuple[int, int]]:
    """The edges of an arena."""
    return zip(arena.src.tolist(), arena.dst.tolist(), strict=True)
