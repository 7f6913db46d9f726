"""What is reached in a product, pair by pair."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgames.host import linear
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


class Reached(NamedTuple):
    """The part of a product that is reached. N nodes, M edges.

    Attributes:
        vertex: int32 `[N]`.
        memory: int32 `[N]`.
        start: int32 `[V]`, the node of each vertex with the first memory.
        row_ptr: int32 `[N + 1]`.
        target: int32 `[M]`, nodes.
        colour: int32 `[M]`, the priority of each edge.
    """

    vertex: np.ndarray
    memory: np.ndarray
    start: np.ndarray
    row_ptr: np.ndarray
    target: np.ndarray
    colour: np.ndarray


def explore(
    row_ptr: np.ndarray,
    dst: np.ndarray,
    met: np.ndarray,
    leaves: Leaves,
    tick: Callable[[int], None],
    most: int,
) -> Reached | None:
    """Follows all plays from all vertices with memory 0.

    Nodes are numbered as they are found, breadth first. They are looked up in a table
    by hashing; O(M) time on average, times the height of the tree.

    Args:
        row_ptr: int32 `[V + 1]`.
        dst: int32 `[E]`.
        met: int64 `[E]`, the marks that each edge meets, as bits.
        leaves: what is remembered.
        tick: told how many nodes there are, now and then.
        most: nodes, or edges, that there may be.

    Returns:
        What is reached; None where there is more.
    """
    size, edges = len(row_ptr) - 1, len(dst)
    # A node more may have as many edges as all vertices together.
    nodes, links = 2 * size + 1, 3 * edges
    vertex, memory = np.zeros((2, nodes), np.int32)
    vertex[:size] = np.arange(size)
    rows = np.zeros(nodes + 1, np.int64)
    target, colour = np.zeros((2, links), np.int32)
    # The node to go on from, how many there are, and by what vertices are numbered.
    state = np.array([0, size, len(leaves)], np.int64)
    tree = leaves.label, leaves.parent, leaves.colour, leaves.leaves, leaves.turn
    while True:
        table = np.full(1 << (2 * len(vertex)).bit_length(), -1, np.int32)
        _enter(table, vertex, memory, state)
        arrays = table, vertex, memory, rows, target, colour
        _follow(row_ptr, dst, met, *tree, *arrays, state)
        at, count = int(state[0]), int(state[1])
        if max(count, int(rows[at])) > most:
            return None
        tick(count)
        if at == count:
            break
        vertex, memory = (_twice(x, len(vertex)) for x in (vertex, memory))
        rows = _twice(rows, len(vertex) + 1 - len(rows))
        target, colour = (_twice(x, len(target)) for x in (target, colour))
    end = int(rows[count])
    return Reached(
        vertex=vertex[:count].copy(),
        memory=memory[:count].copy(),
        start=np.arange(size, dtype=np.int32),
        row_ptr=rows[: count + 1].astype(np.int32),
        target=target[:end].copy(),
        colour=colour[:end].copy(),
    )


def _twice(array: np.ndarray, more: int) -> np.ndarray:
    return np.concatenate([array, np.zeros(more, array.dtype)])


@linear
def _enter(table, vertex, memory, state):
    """Enters all nodes that there are into an empty table."""
    many, mask = state[2], len(table) - 1
    for n in range(state[1]):
        key = vertex[n] * many + memory[n]
        slot = (key ^ (key >> 7)) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = n


@linear
def _follow(
    row_ptr,
    dst,
    met,
    label,
    parent,
    shade,
    leaves,
    turn,
    table,
    vertex,
    memory,
    rows,
    target,
    colour,
    state,
):
    """Goes on from a node, as long as there is room for what another one brings."""
    at, count, many, mask = state[0], state[1], state[2], len(table) - 1
    while at < count:
        v, m, end = vertex[at], memory[at], rows[at]
        degree = row_ptr[v + 1] - row_ptr[v]
        if count + degree > len(vertex) or end + degree > len(target):
            break
        for e in range(row_ptr[v], row_ptr[v + 1]):
            node = leaves[m]
            came = node
            while met[e] & ~label[node] != 0:
                came = node
                node = parent[node]
            after = m if came == node else turn[came]
            w = dst[e]
            key = w * many + after
            slot = (key ^ (key >> 7)) & mask
            found = table[slot]
            while found >= 0 and (vertex[found] != w or memory[found] != after):
                slot = (slot + 1) & mask
                found = table[slot]
            if found < 0:
                found = count
                table[slot] = found
                vertex[found] = w
                memory[found] = after
                count += 1
            target[end] = found
            colour[end] = shade[node]
            end += 1
        at += 1
        rows[at] = end
    state[0] = at
    state[1] = count
