"""From what the recursion has won to player 0's strategy: levels, needs, orders."""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energyparity._modes import NEVER, NO_CORE, Modes
from jaxgames.energyparity._solution import LOST
from jaxgames.energyparity.host._inner import narrow
from jaxgames.energyparity.host._regions import Attract, Core
from jaxgames.solution import NO_EDGE


def modes_of(arena: Arena, pieces: list[Any]) -> tuple[np.ndarray, Modes]:
    """The strategy, and energy that is enough at each vertex; -1 where he loses.

    An edge takes `W` at most. What comes later may lead into what came before, so it
    leaves the most that is needed there, and `W` for the edge that leads there.

    Pieces are what player 0 wins, in the order in which it was won.
    """
    size, loss = arena.shape[0], max(0, -int(arena.weight.min(initial=0)))
    made = _Made(size)
    todo: list[tuple[list[Any], int, int, int]] = [(pieces, NO_CORE, 0, 0)]
    while todo:
        some, outer, leave, level = todo.pop()
        most, place = leave, 0
        for piece in some:
            if isinstance(piece, Attract):
                need = piece.rank.astype(object) * loss + most
                made.outside(piece.vertices, piece.move, piece.rank + place, need)
                place, most = place + int(piece.rank.max()), int(need.max())
                continue
            assert isinstance(piece, Core)
            # Nothing is left from what was won first.
            floor = most + loss if place or outer != NO_CORE else 0
            full = floor + int(piece.credit.max())
            place += 1
            reaches = piece.rank >= 0
            core = made.core(piece, outer, floor, place)
            if reaches.any():
                need = (piece.rank[reaches].astype(object) + 1) * loss + full
                at = piece.vertices[reaches], piece.move[reaches], piece.rank[reaches]
                made.outside(*at, need)
                made.reaches[at[0]] = True
                made.is_top[at[0]] = at[2] == 0
                top = int(need.max())
                made.level[core] = top
                todo.append((piece.inner, core, top, top))
            most = max(most, full)
        if outer != NO_CORE:
            made.level[outer] = max(level, most)
    return made.done()


def parted(pieces: list[Any], first: np.ndarray) -> dict[int, list[Any]]:
    """What player 0 wins of several games side by side, by the number of the game.

    Args:
        pieces: of all.
        first: integers `[G + 1, 2]`: the first vertex and edge of each, and the end.
    """
    found: dict[int, list[Any]] = {}
    for piece in pieces:
        cut = np.searchsorted(piece.vertices, first[:, 0])
        inner = parted(piece.inner, first) if isinstance(piece, Core) else {}
        for game in np.flatnonzero(np.diff(cut)).tolist():
            own, (vertex, edge) = slice(cut[game], cut[game + 1]), first[game].tolist()

            def moves(x: np.ndarray, own=own, edge=edge) -> np.ndarray:
                return np.where(x[own] == NO_EDGE, NO_EDGE, x[own] - edge)

            vertices, rank = piece.vertices[own] - vertex, piece.rank[own]
            if isinstance(piece, Attract):
                one = Attract(vertices, rank, moves(piece.move))
            else:
                one = Core(
                    *(vertices, moves(piece.earn), piece.credit[own], rank),
                    *(moves(piece.move), inner.get(game, [])),
                )
            found.setdefault(game, []).append(one)
    return found


class _Made:
    """The arrays of `Modes` as far as they are made."""

    def __init__(self, size: int):
        self.innermost = np.full(size, NO_CORE, np.int32)
        self.move = np.full(size, NO_EDGE, np.int32)
        self.is_top, self.reaches = np.zeros(size, bool), np.zeros(size, bool)
        self.order = np.zeros(size, np.int32)
        self.need = np.zeros(size, object)
        self.enough = np.full(size, LOST, object)
        self.outer: list[int] = []
        self.level: list[int] = []
        self.floor: list[int] = []
        self.place: list[int] = []
        self.cores: list[Core] = []

    def core(self, piece: Core, outer: int, floor: int, place: int) -> int:
        """Enters a core and returns its number; those around it come first."""
        core = len(self.cores)
        self.innermost[piece.vertices] = core
        if outer == NO_CORE:
            self.enough[piece.vertices] = piece.credit.astype(object) + floor
        self.cores.append(piece)
        self.outer.append(outer)
        self.floor.append(floor)
        self.place.append(place)
        self.level.append(NEVER)
        return core

    def outside(self, vertices, move, order, need) -> None:
        """Enters moves outside of earning."""
        self.move[vertices], self.order[vertices] = move, order
        self.need[vertices] = need
        first = vertices[self.enough[vertices] == LOST]
        self.enough[first] = self.need[first]

    def done(self) -> tuple[np.ndarray, Modes]:
        """The energy that is enough, and the strategy."""

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(core, name) for core in self.cores])

        sizes = [len(core.vertices) for core in self.cores]
        none = np.zeros(0, np.int32)
        modes = Modes(
            core=self.innermost,
            move=self.move,
            is_top=self.is_top,
            reaches=self.reaches,
            order=self.order,
            need=narrow(self.need),
            outer=np.array(self.outer, np.int32),
            level=narrow(np.array(self.level, object)),
            floor=narrow(np.array(self.floor, object)),
            core_order=np.array(self.place, np.int32),
            begin=np.cumsum([0, *sizes]).astype(np.int32),
            vertex=joined("vertices").astype(np.int32) if sizes else none,
            earn=joined("earn").astype(np.int32) if sizes else none,
            credit=narrow(joined("credit")) if sizes else none,
        )
        return narrow(self.enough), modes
