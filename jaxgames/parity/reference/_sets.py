"""Games as sets of vertices, for algorithms that are written down as in papers."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from jaxgames.parity.reference._game import Answer, Game
from jaxgames.solution import NO_EDGE, UNDECIDED

Moves = dict[int, int]
"""The edges that a player takes, by vertex."""


class Tangle(NamedTuple):
    """A set of vertices in which a player wins all plays that stay.

    Attributes:
        player: who.
        vertices: strongly connected when he moves so.
        moves: an edge that stays, of each of his vertices.
        escapes: the vertices outside that his rival can move to.
    """

    player: int
    vertices: frozenset[int]
    moves: Moves
    escapes: frozenset[int]


class Stopped(Exception):
    """No more steps are allowed, or somebody has asked for an end."""


class Board:
    """A game, what has been won of it, and how many steps that took.

    Attributes:
        priority: of each vertex.
        left: the vertices that nobody has won.
        stats: counts, by name.
    """

    def __init__(self, game: Game, max_steps: int, stop):
        size = len(game.owner)
        self.owner = game.owner.astype(int).tolist()
        self.priority = game.priority.tolist()
        self.row_ptr, self.dst = game.row_ptr.tolist(), game.dst.tolist()
        self.left = set(range(size))
        self.stats = {"steps": 0}
        self._max_steps, self._stop = max_steps, stop
        self._winner = np.full(size, UNDECIDED, np.int8)
        self._strategy = np.full(size, NO_EDGE, np.int32)

    def edges(self, v: int) -> Iterable[int]:
        return range(self.row_ptr[v], self.row_ptr[v + 1])

    def successors(self, v: int, among: Collection[int]) -> set[int]:
        return {self.dst[e] for e in self.edges(v)} & {*among}

    def move(self, v: int, into: Collection[int]) -> int | None:
        """The first edge of a vertex that leads there."""
        return next((e for e in self.edges(v) if self.dst[e] in into), None)

    def attract(
        self,
        player: int,
        target: Iterable[int],
        among: set[int],
        tangles: Iterable[Tangle] = (),
    ) -> tuple[set[int], Moves]:
        """What the player can drive to the target, within a subgame, and how.

        Tangles of the player join as a whole when each way out of them that there is in
        the subgame leads to what is attracted.
        """
        reached, moves = {*target}, {}
        grows = True
        while grows:
            grows = False
            for v in sorted(among - reached):
                if self.owner[v] == player:
                    edge = self.move(v, reached)
                    joins = edge is not None
                    if joins:
                        moves[v] = edge
                else:
                    after = self.successors(v, among)
                    joins = bool(after) and after <= reached
                if joins:
                    reached.add(v)
                    self.step()
                    grows = True
            for tangle in tangles:
                out = tangle.escapes & among
                new = tangle.vertices - reached
                mine = tangle.player == player and tangle.vertices <= among
                if mine and new and out and out <= reached:
                    moves |= {v: e for v, e in tangle.moves.items() if v in new}
                    reached |= new
                    self.step(len(new))
                    grows = True
        return reached, moves

    def win(self, player: int, vertices: set[int], moves: Moves) -> None:
        """Takes what a player wins out of the game."""
        self.left -= vertices
        for v in vertices:
            self._winner[v] = player
            if self.owner[v] == player:
                self._strategy[v] = moves[v]

    def step(self, many: int = 1) -> None:
        """Counts some steps; raises Stopped where they are too many."""
        if self.stats["steps"] + many > self._max_steps or self._stop[0] != 0:
            raise Stopped
        self.stats["steps"] += many

    def answer(self) -> Answer:
        """What has been found; nothing unless all of it has."""
        if self.left:
            self._winner[:], self._strategy[:] = UNDECIDED, NO_EDGE
        return self._winner, self._strategy, self.stats
