"""The recursion over priorities: who wins, and out of what strategies are made."""

import dataclasses
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena, as_checked_as
from jaxgames.energyparity.host._inner import Found, Inner, StoppedError
from jaxgames.energyparity.host._part import TOP, Part
from jaxgames.graph import host as graphs
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


def solve(
    arena: Arena, inner: Inner, game: np.ndarray | None = None
) -> tuple[Region, Status]:
    """Decides an energy parity game by the recursion of [1], and more tests.

    The recursion takes the vertices of the largest priority out, as Zielonka's does.
    If it is odd, what player 0 wins in the rest he wins. If it is even, player 0 wins
    all if he wins the rest, and in all of the game can keep to cycles that gain, or
    gain nothing and are even. Here player 1's winning regions of the parity game alone
    and of the latter game are taken out first, and what player 0 wins with a strategy
    of the parity game that happens to keep the energy, or by edges that all keep it.

    The stack of calls is a list: there may be as many as priorities.

    Of several games side by side `game` says which one a vertex is of, ascending.

    Returns:
        What was decided, all of it where the status says so.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012), algorithm 1,
        doi:10.1016/j.tcs.2012.07.038.
    """
    size, edges = arena.shape
    bare = as_checked_as(arena, dataclasses.replace(arena, weight=None))
    weight = np.asarray(arena.weight)
    whole = Part(bare, np.arange(size), np.arange(edges), weight, game)
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

    Islands, which no edge connects, are won and left at different times; all that are
    there are asked about at once.
    """
    run = _Run(whole, found)
    by_parity, by_good = _Everywhere(whole), _Everywhere(whole)
    not_kept, not_easy = _Tried(whole), _Tried(whole)
    while len((part := run.rest()).vertices):
        size = len(part.vertices)
        label, extent = part.islands()
        alone = by_parity.of(part, label, inner.parity)
        if run.lost(part, alone.winner == 1, alone.strategy):
            continue
        some = not_kept.left(part, extent)
        if some.any():
            credit = _credits(inner, part, some, alone.strategy)
            if run.kept(part, credit != TOP, alone.strategy, credit):
                continue
            not_kept.enter(part, extent)
        good = by_good.of(part, label, inner.good)
        if run.lost(part, good.winner == 1, good.strategy):
            continue
        some = not_easy.left(part, extent)
        if some.any():
            move = _easily(inner, part, some, good)
            if (wins := move != NO_EDGE).any():
                move = np.where(part.arena.owner, NO_EDGE, move)
                run.kept(part, wins, move, _credits(inner, part, wins, move))
                continue
            not_easy.enter(part, extent)
        tops, even = _tops(part, label)
        above, near = tops & even, part.attractor(tops & ~even, 1)
        for_even = part.attractor(above, 0)
        below = part.part(~near.mask & ~for_even.mask)
        answer = _nothing(below)
        if len(below.vertices):
            answer = yield run.absolute(part, below)
        lower = np.full(size, UNDECIDED, np.int8)
        lower[below.vertices] = answer.winner
        # Islands where the rest of it goes against who wants the tops.
        count = int(label.max()) + 1
        against = np.zeros(count, bool)
        against[label[lower == np.where(even, 1, 0)]] = True
        against = against[label]
        deeper = below, answer
        if (mask := even & ~against).any():
            credit = _credits(inner, part, mask, good.strategy)
            move = np.where(tops, part.arena.row_ptr[:-1], for_even.strategy)
            rank = np.where(for_even.mask, for_even.rank, -1)
            run.won(part, mask, good.strategy, credit, rank, move, answer.pieces)
        if (mask := ~even & ~against).any():
            move = np.where(near.mask, near.strategy, NO_EDGE)
            move = np.where(tops, part.arena.row_ptr[:-1], move)
            run.lost(part, mask, move, deeper)
        if (mask := even & (lower == 1)).any():
            far = part.attractor(mask, 1)
            run.lost(part, far.mask, far.strategy, deeper)
        if (mask := ~even & (lower == 0)).any():
            inside = np.zeros(len(whole.arena.owner), bool)
            inside[part.vertices[mask]] = True
            run.pieces(part, mask, run.of(answer.pieces, inside))
    return found


def _tops(part: Part, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of the largest priorities, and for whom they are good.

    A play stays in one strongly connected component in the end, so that only what is
    larger than all priorities of the other parity there counts.

    A label says with what a vertex is connected.

    Returns:
        bool `[V]`: the tops, of whom it is good for; and whether that is player 0, the
        same for all that is connected.
    """
    arena, priority = part.arena, np.asarray(part.arena.priority)
    count, inner = graphs.scc(arena)
    cyclic = np.zeros(count, bool)
    cyclic[inner[arena.src[inner[arena.src] == inner[arena.dst]]]] = True
    most = np.full((2, count), -1, priority.dtype)
    np.maximum.at(most, (priority % 2, inner), priority)
    good = (cyclic & (most[0] > most[1]))[inner]
    even = np.zeros(int(label.max()) + 1, bool)
    even[label[good]] = True
    even = even[label]
    tops = cyclic[inner] & (priority > most[1 - priority % 2, inner])
    return tops & (good == even), even


def _credits(
    inner: Inner, part: Part, some: np.ndarray, move: np.ndarray
) -> np.ndarray:
    """Credits where player 0's moves are fixed, which leave no edge out; TOP elsewhere.

    Args:
        inner: solves the game.
        part: what is left.
        some: bool `[V]`: what no edge leaves that is not of player 0, nor a move.
        move: int32 `[V]`, an edge where player 0 moves.
    """
    found = np.full(len(some), TOP, np.int64)
    if some.all():
        return inner.credits(part, move)
    few = part.part(some)
    credit = inner.credits(few, _moves_in(few, move[some]))
    if credit.dtype == object:
        found = found.astype(object)
    found[some] = credit
    return found


def _moves_in(few: Part, move: np.ndarray) -> np.ndarray:
    """Edges of what a part is a part of, in its own numbers; -1 stays."""
    place = np.searchsorted(few.edges, move)
    return np.where(move == NO_EDGE, NO_EDGE, place).astype(np.int32)


def _easily(inner: Inner, part: Part, some: np.ndarray, good: Found) -> np.ndarray:
    """Player 0's moves where he wins by edges alone that always keep the energy.

    Returns:
        int32 `[V]`; an edge of player 1 where he moves; -1 elsewhere.
    """
    few = part if some.all() else part.part(some)
    keeps = good.keeps if some.all() else good.keeps[few.edges]
    found = inner.parity(few, keeps)
    move, wins = np.full(len(some), NO_EDGE, np.int32), found.winner == 0
    edge = np.where(few.arena.owner, few.arena.row_ptr[:-1], found.strategy)
    edge = edge if few is part else few.edges[edge]
    move[np.flatnonzero(some)[wins]] = edge[wins]
    return move


class _Tried:
    """What a test has found nothing in: islands only lose vertices."""

    def __init__(self, whole: Part):
        self._extent = np.zeros(len(whole.vertices), np.int64)

    def left(self, part: Part, extent: np.ndarray) -> np.ndarray:
        """Islands that were not tried as they are: bool `[V]`."""
        return self._extent[part.vertices] != extent

    def enter(self, part: Part, extent: np.ndarray) -> None:
        """All that there is was tried."""
        self._extent[part.vertices] = extent


class _Everywhere:
    """A strategy of player 0 for an inner game, as long as it wins all of an island.

    It wins there still when more is taken out of the game, if it does not lead out.
    """

    def __init__(self, whole: Part):
        self._wins = np.zeros(len(whole.vertices), bool)
        self._edge = np.full(len(whole.vertices), NO_EDGE, np.int64)
        self._keeps = np.zeros(len(whole.edges), bool)

    def of(
        self, part: Part, label: np.ndarray, solve: Callable[[Part], Found]
    ) -> Found:
        """Who wins a part and how: as it is known, or as the inner game says."""
        edge, own = self._edge[part.vertices], ~np.asarray(part.arena.owner)
        place = np.searchsorted(part.edges, edge)
        stays = part.edges[np.minimum(place, len(part.edges) - 1)] == edge
        known = self._wins[part.vertices] & (stays | ~own)
        broken = np.zeros(int(label.max()) + 1, bool)
        broken[label[~known]] = True
        asked = broken[label]
        winner = np.zeros(len(edge), np.int8)
        move = np.where(own, place, NO_EDGE).astype(np.int32)
        keeps = self._keeps[part.edges]
        if not asked.any():
            return Found(winner, move, keeps)
        if asked.all():
            found = solve(part)
        else:
            few = part.part(asked)
            answer = solve(few)
            winner[asked] = answer.winner
            none = answer.strategy == NO_EDGE
            move[asked] = np.where(none, NO_EDGE, few.edges[answer.strategy])
            keeps[few.edges] = answer.keeps
            found = Found(winner, move, keeps)
        self._wins[part.vertices] = found.winner == 0
        moves = own & (found.winner == 0)
        self._edge[part.vertices[moves]] = part.edges[found.strategy[moves]]
        self._keeps[part.edges] = found.keeps
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

    def won(
        self, part: Part, mask: np.ndarray, earn, credit, rank, move, inner: list[Any]
    ) -> None:
        """Enters that player 0 wins islands of what is left."""
        own = mask & ~np.asarray(part.arena.owner)
        earn, move = (
            self._edges(part, np.where(own & (x != NO_EDGE), x, NO_EDGE))[mask]
            for x in (earn, np.where(rank >= 0, move, NO_EDGE))
        )
        vertices = self._vertices(part, np.flatnonzero(mask))
        inside = np.zeros(len(self.whole.vertices), bool)
        inside[part.vertices[mask]] = True
        inner = self.of(inner, inside)
        core = Core(vertices, earn, credit[mask], rank[mask], move, inner)
        self.found.pieces.append(core)
        self.found.winner[part.vertices[mask]] = 0

    def of(self, pieces: list[Any], inside: np.ndarray) -> list[Any]:
        """Pieces as far as they lie in some islands (bool, of the subgame)."""
        first = np.zeros(int(self.whole.vertices[-1]) + 1, bool)
        first[self.whole.vertices[inside]] = True
        return _of(pieces, first)

    def _vertices(self, part: Part, at: np.ndarray) -> np.ndarray:
        return self.whole.vertices[part.vertices[at]]

    def _edges(self, part: Part, at: np.ndarray) -> np.ndarray:
        """Edges of a part in the numbers of the whole game; -1 stays."""
        edges = self.whole.edges[part.edges]
        return np.where(at == NO_EDGE, NO_EDGE, edges[np.maximum(at, 0)]).astype(
            np.int32
        )


def _of(pieces: list[Any], inside: np.ndarray) -> list[Any]:
    """Pieces as far as they lie in some islands (bool, of the whole game)."""
    found = []
    for piece in pieces:
        keep = inside[piece.vertices]
        if keep.all():
            found.append(piece)
        elif keep.any() and isinstance(piece, Attract):
            found.append(Attract(*(x[keep] for x in piece)))
        elif keep.any():
            arrays = (x[keep] for x in piece[:-1])
            found.append(Core(*arrays, inner=_of(piece.inner, inside)))
    return found
