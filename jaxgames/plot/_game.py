"""What a picture shows of a game: its real part, who wins where, and the names."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxgames.arena import Arena
from jaxgames.later import to_numpy
from jaxgames.quoting import all_counted
from jaxgames.solution import NO_EDGE, UNDECIDED

MAX_DRAWN_VERTICES = 200
"""Larger games are shown as charts."""

MAX_DRAWN_EDGES = 600
"""Games with more edges are shown as charts."""

PLAYERS = (0, 1, UNDECIDED)
FILL = {0: "#d3e5f5", 1: "#fde0c2", UNDECIDED: "#ffffff"}
LINE = {0: "#10609f", 1: "#bd5200", UNDECIDED: "#6b6b6b"}
REGIONS = ("won by player 0", "won by player 1", "undecided")


def is_drawn(arena: Arena) -> bool:
    """Whether a game is small enough to be drawn vertex by vertex.

    Args:
        arena: one game; its padding does not count.

    Examples:
        >>> is_drawn(Arena.from_edges([0, 1], [1, 1], owner=[0, 1]))
        True
    """
    return bool(
        arena.num_vertices <= MAX_DRAWN_VERTICES and arena.num_edges <= MAX_DRAWN_EDGES
    )


@dataclasses.dataclass(frozen=True)
class Game:
    """The real part of an arena, with what is known of it.

    `winner` is `[V]` or None, `chosen` says for each edge whether a strategy takes it.
    """

    arena: Arena
    winner: np.ndarray | None
    chosen: np.ndarray
    names: Sequence[str | None] | None

    @property
    def title(self) -> str:
        vertices, edges = self.arena.shape
        return all_counted(vertex=vertices, edge=edges)

    def name(self, vertex: int) -> str:
        """The vertex's name with what neither SVG nor Graphviz can hold replaced."""
        name = self.names[vertex] if self.names is not None else None
        return "\n".join(map(printable, (name or "").split("\n")))

    def insides(self) -> list[str]:
        """What is written in the vertices."""
        if self.arena.priority is None:
            return [str(v) for v in range(self.arena.shape[0])]
        return [str(p) for p in self.arena.priority.tolist()]

    def edge_labels(self) -> list[str]:
        labels = [""] * self.arena.shape[1]
        for values in (self.arena.edge_priority, self.arena.weight):
            if values is not None:
                # A vector's text is that of a tuple: (1, -2).
                texts = [
                    str(tuple(x) if values.ndim > 1 else x) for x in values.tolist()
                ]
                labels = [
                    " / ".join(filter(None, x)) for x in zip(labels, texts, strict=True)
                ]
        return labels

    def edge_color(self, edge: int) -> str:
        if self.winner is None:
            return LINE[UNDECIDED]
        if not self.chosen[edge]:
            return "#9a9a9a"
        return LINE[int(self.winner[self.arena.src[edge]])]


def read_game(arena: Arena, solution, names) -> Game:
    if np.ndim(arena.num_vertices):
        raise ValueError(
            "a picture shows one arena, got a stack of shape "
            f"{np.shape(arena.num_vertices)}"
        )
    padded = arena.shape[0]
    arena = to_numpy(arena).unpad()
    vertices, edges = arena.shape
    if names is not None and len(names) != vertices:
        raise ValueError(
            f"names must have one entry for each vertex ({vertices}), got {len(names)}"
        )

    def entries(name):
        values = np.asarray(getattr(solution, name))
        if values.shape not in ((vertices,), (padded,)):
            raise ValueError(
                f"solution.{name} must have one entry for each vertex ({vertices}), "
                f"got shape {values.shape}"
            )
        return values[:vertices]

    chosen = np.zeros(edges, bool)
    if solution is None:
        return Game(arena, None, chosen, names)
    winner = entries("winner")
    strange = np.flatnonzero((winner < UNDECIDED) | (winner > 1))
    if len(strange):
        v = strange[0]
        raise ValueError(f"solution.winner[{v}] is {winner[v]}, expected 0, 1 or -1")
    if solution.strategy is not None:
        strategy = entries("strategy")
        movers = np.flatnonzero(strategy != NO_EDGE)
        moves = strategy[movers]
        wrong = (moves < arena.row_ptr[movers]) | (moves >= arena.row_ptr[movers + 1])
        if wrong.any():
            v = movers[wrong][0]
            raise ValueError(
                f"solution.strategy[{v}] is {strategy[v]}, "
                f"which is not an edge of vertex {v}"
            )
        chosen[moves] = True
    return Game(arena, winner, chosen, names)


def printable(text: str) -> str:
    """The text with what neither SVG nor Graphviz can hold replaced."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text
    )
