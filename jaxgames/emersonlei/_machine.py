"""Strategies of both players that remember something, as tables."""

import dataclasses
from typing import Any

from jaxgames.later import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Machine:
    """Strategies with finite memory: a graph over pairs of a vertex and a memory.

    The nodes are what may be reached from where memory begins at some vertex. The edges
    of a node are those of its vertex, in their order, whoever takes them: the memory
    moves on by what happens, and is one for both players. N is the number of nodes, M
    that of their edges.

    Attributes:
        vertex: int32 `[N]`, the vertex of each node.
        memory: int32 `[N]`, what is remembered there.
        start: int32 `[V]`, the node where a play that begins at a vertex begins.
        row_ptr: int32 `[N + 1]`: the edges of node `n` are `row_ptr[n]` to
            `row_ptr[n + 1] - 1`.
        target: int32 `[M]`, the node that each edge leads to.
        move: int32 `[N]`, the edge of the game to take, for a node whose owner wins its
            vertex; -1 elsewhere.

    Examples:
        >>> from jaxgames import Arena, emersonlei
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 0], owner=[0, 0, 0]
        ... )
        >>> wanted = emersonlei.both([emersonlei.inf(0), emersonlei.inf(1)])
        >>> game = emersonlei.Game.of_sets(arena, wanted, [[1], [2]])
        >>> machine = emersonlei.solve(game).machine
        >>> node, path = int(machine.start[0]), []
        >>> for _ in range(6):
        ...     path.append(int(machine.vertex[node]))
        ...     node = machine.after(arena, node, int(machine.move[node]))
        >>> path
        [0, 1, 0, 2, 0, 1]
    """

    vertex: Any
    memory: Any
    start: Any
    row_ptr: Any
    target: Any
    move: Any

    @property
    def memories(self) -> int:
        """How many memories there are."""
        return len(set(self.memory.tolist()))

    def after(self, arena: Any, node: int, edge: int) -> int:
        """The node that a play comes to by an edge of the game.

        Args:
            arena: the game's graph.
            node: where the play is.
            edge: one of its vertex, by number.

        Raises:
            ValueError: the edge is none of that vertex.
        """
        vertex = int(self.vertex[node])
        place = edge - int(arena.row_ptr[vertex])
        if not 0 <= place < int(self.row_ptr[node + 1]) - int(self.row_ptr[node]):
            raise ValueError(f"edge {edge} does not leave vertex {vertex}")
        return int(self.target[int(self.row_ptr[node]) + place])

    def __repr__(self) -> str:
        return f"Machine({len(self.vertex)} nodes, {self.memories} memories)"
