"""A part of a game: an arena of its own, and what its vertices and edges are there."""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energy import TOP as TOP
from jaxgames.graph import host as graphs
from jaxgames.graph._solution import Attractor


class Part(NamedTuple):
    """A subgame.

    Attributes:
        arena: with owners and priorities; every vertex has a successor.
        vertices: integers `[V]`, which they are in the game that it is a part of.
        edges: integers `[E]`, likewise.
        weight: integers `[E]`, also Python's.
        game: integers `[V]`, ascending: which of several games a vertex is of; None
            where there is one.
    """

    arena: Arena
    vertices: np.ndarray
    edges: np.ndarray
    weight: np.ndarray
    game: np.ndarray | None = None

    def part(self, keep: np.ndarray) -> "Part":
        """A subgame, with vertices and edges as they are numbered here.

        Args:
            keep: bool `[V]`.
        """
        arena, vertices, edges = self.arena.subgame(keep)
        game = None if self.game is None else self.game[vertices]
        return Part(arena, vertices, edges, self.weight[edges], game)

    def islands(self) -> tuple[np.ndarray, np.ndarray]:
        """What no edge connects: a number for each vertex, and its part's size."""
        label = graphs.islands(self.arena.row_ptr, self.arena.dst)
        return label, np.bincount(label)[label]

    def attractor(self, target: np.ndarray, player: int) -> Attractor:
        """Where a player can force a visit to a target (bool `[V]`)."""
        return graphs.attractor(self.arena, target, player)
