"""The recursion over priorities: who wins, and out of what strategies are made."""

import dataclasses
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena, as_checked_as
from jaxgames.energyparity.host._inner import Found, Inner, StoppedError
from jaxgames.energyparity.host._part import TOP, Part
from jaxgames.solution import NO_EDGE, UNDECIDED, Status


class Attract(NamedTuple):
    """Vertices from which player 0 forces the play into what comes before.

    Attributes:
        vertices: integers `[N]`, of the whole game.
        rank: integers `[N]`, from 1 on: it falls along all edges that are left.
        move: integers `[N]`, edges of the whole game, -1 where player 1 moves.
    """

    vertices: np.ndarray
    rank: np.ndarray
    move: np.ndarray


class Core(NamedTuple):
    """Vertices that player 0 wins by earning, and by going to tops.

    Attributes:
        vertices: integers `[N]`, of the whole game, ascending.
        earn: integers `[N]`: edges to take while earning, -1 where player 1 moves.
        credit: integers `[N]`: what earning needs.
        rank: integers `[N]`: steps to a top at most, -1 where it need not be reached.
        move: integers `[N]`: edges towards a top, and out of it; else -1.
        inner: what he does where no top need be reached.
    """

    vertices: np.ndarray
    earn: np.ndarray
    credit: np.ndarray
    rank: np.ndarray
    move: np.ndarray
    inner: list[Any]


class Region(NamedTuple):
    """What is known of a subgame.

    Attributes:
        winner: int8 `[V]`.
        move: int32 `[V]`: player 1's edges, of the whole game, where he wins.
        pieces: `Attract` and `Core` in the order in which they were won.
    """

    winner: np.ndarray
    move: np.ndarray
    pieces: list[Any]


Asked = Generator[Part, Region, Region]


def solve(arena: Arena, inner: Inner) -> tuple[Region, Status]:
    """Decides an energy parity game by the recursion of [1], and more tests.

    The recursion takes the vertices of the largest priority out, as Zielonka's does.
    If it is odd, what player 0 wins in the rest he wins. If it is even, player 0 wins
    all if he wins the rest, and in all of the game can keep to cycles that gain, or
    gain nothing and are even. Here player 1's winning regions of the parity game alone
    and of the latter game are taken out first, and what player 0 wins with a strategy
    of the parity game that happens to keep the energy.

    The stack of calls is a list: there may be as many as priorities.

    Args:
        arena: the game, without padding.
        inner: solves games of one kind.

    Returns:
        What was decided, all of it where the status says so.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012), algorithm 1,
        doi:10.1016/j.tcs.2012.07.038.
    """
    size, edges = arena.shape
    bare = as_checked_as(arena, dataclasses.replace(arena, weight=None))
    whole = Part(bare, np.arange(size), np.arange(edges), np.asarray(arena.weight))
    root = _nothing(whole)
    calls: list[Asked] = [_region(whole, inner, root)]
    answer: Region | None = None
    try:
        while calls:
            try:
                asked = calls[-1].send(answer)  # type: ignore[arg-type]
                calls.append(_region(asked, inner, _nothing(asked)))
                answer = None
            except StopIteration as ended:
                answer = ended.value
                calls.pop()
    except StoppedError as stopped:
        return root, stopped.status
    return root, Status.SOLVED


def _nothing(part: Part) -> Region:
    size = len(part.vertices)
    return Region(
        np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32), []
    )


def _region(whole: Part, inner: Inner, found: Region) -> Asked:
    """One call; yields subgames, and is sent what they are.

    Args:
        whole: the subgame, its vertices and edges those of the whole game.
        inner: solves games of one kind.
        found: what is filled in.
    """
    run = _Run(whole, found)
    by_parity, by_good = _Everywhere(whole), _Everywhere(whole)
    while len((part := run.rest()).vertices):
        size = len(part.vertices)
        alone = by_parity.of(part, inner.parity)
        if run.lost(part, alone.winner == 1, alone.strategy):
            continue
        credit = inner.credits(part, alone.strategy)
        if run.kept(part, credit != TOP, alone.strategy, credit):
            continue
        good = by_good.of(part, inner.good)
        if run.lost(part, good.winner == 1, good.strategy):
            continue
        priority = np.asarray(part.arena.priority)
        tops = priority == priority.max()
        player = int(priority.max()) % 2
        near = part.attractor(tops, player)
        below = part.part(~near.mask)
        answer = _nothing(below)
        if len(below.vertices):
            answer = yield run.absolute(part, below)
        lower = np.full(size, UNDECIDED, np.int8)
        lower[below.vertices] = answer.winner
        if player == 1:
            wins = lower == 0
            if wins.any():
                run.pieces(part, wins, answer.pieces)
                continue
            move = np.where(near.mask, near.strategy, NO_EDGE)
            move = np.where(tops, part.arena.row_ptr[:-1], move)
            run.lost(part, np.ones(size, bool), move, (below, answer))
            continue
        if (lower == 1).any():
            far = part.attractor(lower == 1, 1)
            run.lost(part, far.mask, far.strategy, (below, answer))
            continue
        credit = inner.credits(part, good.strategy)
        move = np.where(tops, part.arena.row_ptr[:-1], near.strategy)
        rank = np.where(near.mask, near.rank, -1)
        run.won(part, good.strategy, credit, rank, move, answer.pieces)
    return found


class _Everywhere:
    """A strategy of player 0 for an inner game, as long as it wins all that is left.

    It wins there still when more is taken out of the game, if it does not lead out.
    """

    def __init__(self, whole: Part):
        self._wins = np.zeros(len(whole.vertices), bool)
        self._edge = np.full(len(whole.vertices), NO_EDGE, np.int64)

    def of(self, part: Part, solve: Callable[[Part], Found]) -> Found:
        """Who wins a part and how: as it is known, or as the inner game says."""
        edge, own = self._edge[part.vertices], ~np.asarray(part.arena.owner)
        place = np.searchsorted(part.edges, edge)
        stays = part.edges[np.minimum(place, len(part.edges) - 1)] == edge
        if self._wins[part.vertices].all() and stays[own].all():
            move = np.where(own, place, NO_EDGE).astype(np.int32)
            return Found(np.zeros(len(edge), np.int8), move)
        found = solve(part)
        self._wins[part.vertices] = found.winner == 0
        moves = own & (found.winner == 0)
        self._edge[part.vertices[moves]] = part.edges[found.strategy[moves]]
        return found


class _Run:
    """What is left of a subgame, and what is entered of the rest."""

    def __init__(self, whole: Part, found: Region):
        self.whole, self.found = whole, found

    def rest(self) -> Part:
        """What is undecided, as a part of the subgame."""
        return self.whole.part(self.found.winner == UNDECIDED)

    def absolute(self, part: Part, below: Part) -> Part:
        """A part of a part, in the numbers of the whole game."""
        vertices = self._vertices(part, below.vertices)
        edges = self._edges(part, below.edges)
        return below._replace(vertices=vertices, edges=edges)

    def lost(
        self,
        part: Part,
        mask: np.ndarray,
        move: np.ndarray,
        deeper: tuple[Part, Region] | None = None,
    ) -> bool:
        """Enters what player 1 wins; whether there is any.

        Args:
            part: what is left.
            mask: bool `[V]`: what he wins.
            move: edges of the part that he takes there, if he owns it; -1 elsewhere.
            deeper: a part of it with an answer whose moves are taken where he wins it.
        """
        if not mask.any():
            return False
        owned = mask & np.asarray(part.arena.owner)
        here = self._edges(part, np.where(owned, move, NO_EDGE))
        if deeper is not None:
            below, answer = deeper
            his = answer.winner == 1
            here[below.vertices[his]] = answer.move[his]
        at = part.vertices[mask]
        self.found.winner[at] = 1
        self.found.move[at] = here[mask]
        return True

    def kept(
        self, part: Part, mask: np.ndarray, move: np.ndarray, credit: np.ndarray
    ) -> bool:
        """Enters what player 0 wins without memory; whether there is any."""
        if not mask.any():
            return False
        own = mask & ~np.asarray(part.arena.owner)
        none = np.full(int(mask.sum()), -1)
        earn = self._edges(part, np.where(own, move, NO_EDGE))[mask]
        vertices = self._vertices(part, np.flatnonzero(mask))
        core = Core(vertices, earn, credit[mask], none, none, [])
        self.pieces(part, mask, [core])
        return True

    def pieces(self, part: Part, mask: np.ndarray, pieces: list[Any]) -> None:
        """Enters what player 0 wins, and what he can force into it."""
        near = part.attractor(mask, 0)
        more = near.mask & ~mask
        self.found.pieces.extend(pieces)
        if more.any():
            vertices = self._vertices(part, np.flatnonzero(more))
            move = self._edges(part, np.asarray(near.strategy))[more]
            self.found.pieces.append(Attract(vertices, near.rank[more], move))
        self.found.winner[part.vertices[near.mask]] = 0

    def won(self, part: Part, earn, credit, rank, move, inner: list[Any]) -> None:
        """Enters that player 0 wins all that is left."""
        own = ~np.asarray(part.arena.owner)
        earn, move = (
            self._edges(part, np.where(own & (x != NO_EDGE), x, NO_EDGE))
            for x in (earn, np.where(rank >= 0, move, NO_EDGE))
        )
        vertices = self._vertices(part, np.arange(len(own)))
        self.found.pieces.append(Core(vertices, earn, credit, rank, move, inner))
        self.found.winner[part.vertices] = 0

    def _vertices(self, part: Part, at: np.ndarray) -> np.ndarray:
        return self.whole.vertices[part.vertices[at]]

    def _edges(self, part: Part, at: np.ndarray) -> np.ndarray:
        """Edges of a part in the numbers of the whole game; -1 stays."""
        edges = self.whole.edges[part.edges]
        return np.where(at == NO_EDGE, NO_EDGE, edges[np.maximum(at, 0)]).astype(
            np.int32
        )
