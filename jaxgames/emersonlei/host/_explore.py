"""What is reached in a product, by whole arrays."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgames.zielonka_tree import ZielonkaTree


class Leaves:
    """The leaves of a tree, numbered from 0 on, and what they do with marks.

    Args:
        tree: the tree.

    Attributes:
        label: int64, the marks of each node of the tree, as bits.
        parent: of each node; that of the root is -1.
        colour: int32, the priority of each node.
        leaves: the nodes that are leaves.
        turn: for each node the leaf, by its number, that follows a climb from it to its
            parent.
    """

    def __init__(self, tree: ZielonkaTree):
        self.label = np.array(tree.label, np.int64)
        self.parent = np.array(tree.parent)
        self.colour = np.array(tree.colour, np.int32)
        self.leaves = np.array(tree.leaves)
        number = np.full(len(self.label), -1)
        number[self.leaves] = np.arange(len(self.leaves))
        self.turn = np.full(len(self.label), -1)
        for below in tree.children:
            for child, following in zip(below, below[1:] + below[:1], strict=True):
                self.turn[child] = number[tree.first_leaf[following]]

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def height(self) -> int:
        """How often a leaf may have to climb."""
        return int(self.colour[0] - self.colour.min())

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
        return np.where(came == node, leaf, self.turn[came]), self.colour[node]


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
