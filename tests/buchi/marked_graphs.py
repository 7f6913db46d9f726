"""Small graphs with accepting and initial vertices, and what is true of them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxgames import Arena


class Marked(NamedTuple):
    """A graph, its accepting vertices, and where runs start."""

    arena: Arena
    accepting: np.ndarray
    starts: np.ndarray

    @property
    def closure(self) -> np.ndarray:
        """Where paths of an edge or more lead: Warshall's closure, `[V, V]`."""
        size = self.arena.shape[0]
        edges = np.zeros((size, size), bool)
        edges[self.arena.src, self.arena.dst] = True
        paths = edges
        for v in range(size):
            paths = paths | (paths[:, v : v + 1] & paths[v])
        return paths

    @property
    def exists(self) -> bool:
        """Whether an accepting vertex that is reached lies on a cycle."""
        paths = self.closure
        reached = np.isin(np.arange(len(paths)), self.starts)
        reached |= paths[self.starts].any(axis=0)
        return bool((reached & self.accepting & np.diag(paths)).any())

    def shows(self, lasso) -> bool:
        """Whether a lasso is one, edge by edge."""
        edges = set(zip(self.arena.src.tolist(), self.arena.dst.tolist(), strict=True))
        walk = [*lasso.prefix.tolist(), *lasso.cycle.tolist(), int(lasso.cycle[0])]
        steps = set(zip(walk, walk[1:], strict=False))
        accepts = bool(self.accepting[lasso.cycle].any())
        return walk[0] in self.starts and steps <= edges and accepts


def plain(src, dst, size: int, **labels) -> Arena:
    owner = np.zeros(size, bool)
    return Arena.from_edges(src, dst, owner=owner, dead_ends="allow", **labels)


def marked(seed: int, count: int, largest: int = 8) -> Iterator[Marked]:
    """Random graphs: sparse and dense, with loops and dead ends, few or all marked."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        size = int(rng.integers(1, largest + 1))
        edges = int(rng.integers(0, (1 + index % 3) * size + 1))
        src, dst = rng.integers(0, size, (2, edges))
        if index % 4 == 1:  # mostly one long cycle
            src, dst = (
                np.append(src, np.arange(size)),
                np.append(dst, (np.arange(size) + 1) % size),
            )
        if index % 4 == 2:  # acyclic but for self-loops
            src, dst = np.minimum(src, dst), np.maximum(src, dst)
        share = (0.15, 0.5, 1.0)[int(rng.integers(0, 3))]
        accepting = rng.random(size) < share
        starts = np.flatnonzero(rng.random(size) < 0.3) if index % 2 else np.array([0])
        yield Marked(plain(src, dst, size), accepting, starts)


COUNTEREXAMPLE = Marked(
    plain([0, 0, 1, 1, 3], [3, 2, 0, 2, 1], 4),
    np.array([True, False, True, False]),
    np.array([0]),
)
"""Relabelling that is fused into propagation tears its cycle 0, 3, 1 apart."""
