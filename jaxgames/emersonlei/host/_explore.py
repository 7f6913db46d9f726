"""What is reached in a product, by whole arrays."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgames.zielonka_tree import ZielonkaTree


class Leaves:
    """The leaves of a tree, numbered from 0 on, and what they do with marks.

    Args:
        tree: the tree.
    """

    def __init__(self, tree: ZielonkaTree):
        self.label = np.array(tree.label, np.int64)
        self.parent, self.place = np.array(tree.parent), np.array(tree.place)
        self.colour = np.array(tree.colour, np.int32)
        self.first_leaf = np.array(tree.first_leaf)
        self.count = np.array([len(below) for below in tree.children])
        self.first = np.cumsum(self.count) - self.count
        self.child = np.array([x for below in tree.children for x in below], np.int64)
        self.leaves = np.array(tree.leaves)
        self.number = np.full(len(self.label), -1)
        self.number[self.leaves] = np.arange(len(self.leaves))

    def __len__(self) -> int:
        return len(self.leaves)

    def read(
        self, leaf: np.ndarray, marks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The next leaf, and the priority, for each of some leaves; all climb together.

        Args:
            leaf: integers `[N]`.
            marks: int64 `[N]`, as bits: of the tree's marks alone.
        """
        node = self.leaves[leaf]
        came = node.copy()
        climbs = np.flatnonzero(marks & ~self.label[node])
        while len(climbs):
            came[climbs] = node[climbs]
            node[climbs] = self.parent[node[climbs]]
            climbs = climbs[marks[climbs] & ~self.label[node[climbs]] != 0]
        below = node.copy()
        inner = np.flatnonzero(self.count[node])
        turn = (self.place[came[inner]] + 1) % self.count[node[inner]]
        below[inner] = self.child[self.first[node[inner]] + turn]
        return self.number[self.first_leaf[below]], self.colour[node]


class Reached(NamedTuple):
    """The part of a product that is reached. N nodes, M edges.

    Attributes:
        vertex: int32 `[N]`.
        memory: int32 `[N]`.
        start: int32 `[V]`, the node of each vertex with the first memory.
        row_ptr: int32 `[N + 1]`.
        target: int32 `[M]`, nodes.
        source: int32 `[M]`, nodes.
        colour: int32 `[M]`, the priority of each edge.
    """

    vertex: np.ndarray
    memory: np.ndarray
    start: np.ndarray
    row_ptr: np.ndarray
    target: np.ndarray
    source: np.ndarray
    colour: np.ndarray


def explore(
    row_ptr: np.ndarray,
    dst: np.ndarray,
    met: np.ndarray,
    leaves: Leaves,
    tick: Callable[[int], None],
    most: int,
) -> Reached:
    """Follows all plays from all vertices with memory 0.

    Nodes are numbered by the turn in which they are found, and in it by vertex and
    memory.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        met: int64 `[E]`, the marks that each edge meets, as bits.
        leaves: what is remembered.
        tick: told how many nodes there are, after each turn.
        most: nodes, or edges, that there may be.

    Raises:
        ValueError: there are more.
    """
    size = len(row_ptr) - 1
    degree = np.diff(row_ptr).astype(np.int64)

    def follow(keys: np.ndarray):
        """The edges of some nodes: of which, where they lead, and their priorities."""
        vertex, memory = np.divmod(keys, len(leaves))
        many = degree[vertex]
        at = np.repeat(np.arange(len(keys)), many)
        edge = row_ptr[vertex][at] + np.arange(len(at)) - (np.cumsum(many) - many)[at]
        after, colour = leaves.read(memory[at], met[edge])
        return at, dst[edge] * np.int64(len(leaves)) + after, colour

    new = np.arange(size, dtype=np.int64) * len(leaves)
    known, turns, edges = new, [], 0
    found: list[tuple] = []
    while len(new):
        found.append(follow(new))
        turns.append(new)
        edges += len(found[-1][0])
        keys = np.unique(found[-1][1])
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        new = keys[known[place] != keys]
        known = np.insert(known, np.searchsorted(known, new), new)
        if max(edges, len(known)) > most:
            raise ValueError(
                f"the product with the memory has more than {most} nodes or edges"
            )
        tick(len(known))
    keys = np.concatenate([new, *turns])
    order = np.argsort(keys)
    before = np.cumsum([0, *map(len, turns)])
    none = np.zeros(0, np.int64)
    source = np.concatenate(
        [none, *(x[0] + at for x, at in zip(found, before, strict=False))]
    )
    goal, colour = (np.concatenate([none, *(x[k] for x in found)]) for k in (1, 2))
    target = order[np.searchsorted(keys[order], goal)] if len(goal) else goal
    vertex, memory = np.divmod(keys, len(leaves))
    rows = np.concatenate([[0], np.cumsum(degree[vertex])])
    arrays = vertex, memory, np.arange(size), rows, target, source, colour
    return Reached(*(x.astype(np.int32) for x in arrays))
