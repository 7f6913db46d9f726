"""The check of a solution: of player 1's moves, and of player 0's modes."""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energyparity._modes import NEVER, NO_CORE, Modes
from jaxgames.energyparity._verdict import Reason, Verdict
from jaxgames.energyparity.host._potentials import heaviest, strongly_connected
from jaxgames.solution import NO_EDGE

SMALL = 2**60
"""Below this four numbers can be added in 64 bits, as many as ever are here."""


class _WrongError(Exception):
    """Something is wrong, at a vertex."""

    def __init__(self, reason: Reason, vertex: int):
        super().__init__(reason.name)
        self.reason, self.vertex = reason, vertex


def verify(
    arena: Arena,
    winner: np.ndarray,
    strategy: np.ndarray,
    credit: np.ndarray,
    modes: Modes,
) -> Verdict:
    """As [`verify`][jaxgames.energyparity.verify], of arrays without padding."""
    try:
        _check_winners(arena, winner)
        _check_moves(arena, winner, strategy)
        _check_cycles(arena, winner, strategy)
        _check_modes(arena, winner, credit, modes)
    except _WrongError as wrong:
        return Verdict.at(wrong.reason, wrong.vertex)
    return Verdict.at(Reason.OK)


def _refuse(reason: Reason, wrong: np.ndarray, vertex: np.ndarray | None = None):
    """Raises where something is wrong; of edges or places, `vertex` says where."""
    if wrong.any():
        at = int(np.argmax(wrong))
        raise _WrongError(reason, at if vertex is None else int(vertex[at]))


def _exact(*arrays: Any) -> list[np.ndarray]:
    """Numbers that can be added: of 64 bits if all are small, else Python's."""
    given = [np.asarray(x) for x in arrays]
    small = all(
        x.dtype != object
        and (x.dtype.itemsize < 8 or np.all((x < SMALL) & (x > -SMALL)))
        for x in given
    )
    return [x.astype(np.int64 if small else object, copy=False) for x in given]


def _check_winners(arena: Arena, winner: np.ndarray) -> None:
    _refuse(Reason.UNDECIDED, (winner != 0) & (winner != 1))
    src, loser = arena.src, 1 - winner
    escapes = (arena.owner == loser)[src] & (winner[arena.dst] != winner[src])
    _refuse(Reason.OPPONENT_ESCAPES, escapes, src)


def _check_edges(arena: Arena, vertex: np.ndarray, edge: np.ndarray) -> None:
    """Each edge is one of its vertex."""
    wrong = (edge < arena.row_ptr[vertex]) | (edge >= arena.row_ptr[vertex + 1])
    _refuse(Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, wrong, vertex)


def _check_moves(arena: Arena, winner: np.ndarray, strategy: np.ndarray) -> None:
    moves = (winner == 1) & arena.owner
    _refuse(Reason.STRATEGY_MISSING, moves & (strategy == NO_EDGE))
    vertex = np.flatnonzero(moves)
    _check_edges(arena, vertex, strategy[vertex])
    _refuse(Reason.STRATEGY_OF_LOSER, ~moves & (strategy != NO_EDGE))
    leaves = winner[arena.dst[strategy[vertex]]] == 0
    _refuse(Reason.STRATEGY_LEAVES_REGION, leaves, vertex)


# ---- player 1 ----------------------------------------------------------------------


def _check_cycles(arena: Arena, winner: np.ndarray, strategy: np.ndarray) -> None:
    """Player 0 wins nothing against these moves.

    Where the largest priority of a strongly connected part is odd, he wins in it
    without that priority if at all.
    """
    src, dst, priority = arena.src, arena.dst, np.asarray(arena.priority)
    there = ((winner == 1) & ~arena.owner)[src]
    there[strategy[(winner == 1) & arena.owner]] = True
    (weight,), potential = _exact(arena.weight), None
    while True:
        label = strongly_connected(arena, there)
        there = there & (label[src] == label[dst])
        if not there.any():
            return
        is_top = _tops(priority, label, src[there])
        even = is_top & (priority % 2 == 0)
        if even.any():
            asked = there & np.isin(label, label[even])[src]
            # Potentials hold for all parts of what they were made for.
            if potential is None:
                potential = np.zeros(len(priority), np.int64)
                known = np.zeros(len(priority), bool)
            new = asked & ~known[src]
            if new.any():
                potential = _potentials(arena, new, potential)
                known[src[new]] = True
            edge = np.flatnonzero(asked)
            begin, end = src[edge], dst[edge]
            # No cycle gains: a potential is at least the gain of an edge and the next.
            before, after = potential[begin], potential[end] + weight[edge]
            _refuse(Reason.CYCLE_WON_BY_OPPONENT, (before < after).astype(bool), begin)
            tight = np.zeros(len(src), bool)
            tight[edge] = (before == after).astype(bool)
            part = strongly_connected(arena, tight)
            round_trip = tight[edge] & (part[begin] == part[end])
            won = np.zeros(len(priority), bool)
            won[begin[round_trip]] = True
            _refuse(Reason.CYCLE_WON_BY_OPPONENT, won & even)
        there = there & ~is_top[src] & ~is_top[dst]


def _tops(priority: np.ndarray, label: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The vertices above all of the other parity in their component: bool `[V]`.

    Args:
        priority: integers `[V]`.
        label: integers `[V]`, components.
        vertices: those that there are.
    """
    there = np.zeros(len(priority), bool)
    there[vertices] = True
    most = np.full((2, int(label.max()) + 1), -1)
    np.maximum.at(most, (priority[there] % 2, label[there]), priority[there])
    return there & (priority > most[1 - priority % 2, label])


def _potentials(arena: Arena, edges: np.ndarray, potential: np.ndarray) -> np.ndarray:
    """Potentials with the largest gains of paths of some edges; there may be none."""
    at = np.flatnonzero(np.bincount(arena.src[edges], minlength=len(potential)))
    found, vertex = heaviest(arena, edges, at)
    if vertex is not None:
        raise _WrongError(Reason.CYCLE_WON_BY_OPPONENT, vertex)
    potential, found = _exact(potential, found)
    potential[at] = found
    return potential


# ---- player 0 ----------------------------------------------------------------------


def _check_modes(
    arena: Arena, winner: np.ndarray, credit: np.ndarray, modes: Modes
) -> None:
    tree = _Tree(arena, winner, modes)
    tree.check_form()
    wrong = (winner == 1) != (credit == -1)
    _refuse(Reason.NOT_ENOUGH_ENERGY, wrong)
    mine = np.flatnonzero(winner == 0)
    short = credit[mine] < tree.needed(mine, NO_CORE)
    _refuse(Reason.NOT_ENOUGH_ENERGY, short.astype(bool), mine)
    tree.check_outside()
    for core in range(len(modes.outer)):
        tree.check_core(core)


class _Tree:
    """The cores of some modes, and what they say of vertices."""

    def __init__(self, arena: Arena, winner: np.ndarray, modes: Modes):
        self.arena, self.winner, self.modes = arena, winner, modes
        self.size = arena.shape[0]
        self.core = np.asarray(modes.core)[: self.size]
        self.move = np.asarray(modes.move)[: self.size]
        self.is_top = np.asarray(modes.is_top)[: self.size]
        self.reaches = np.asarray(modes.reaches)[: self.size]
        self.order = np.asarray(modes.order)[: self.size]
        self.weight, need, self.level, self.floor, self.credit = _exact(
            arena.weight, modes.need, modes.level, modes.floor, modes.credit
        )
        self.need = need[: self.size]
        self.begin, self.vertex = np.asarray(modes.begin), np.asarray(modes.vertex)
        self.outer, self.earn = np.asarray(modes.outer), np.asarray(modes.earn)

    def check_form(self) -> None:
        """Cores lie one in another as `core` and `outer` say, and numbers are sound."""
        count, broken = len(self.outer), Reason.MODES_BROKEN
        lengths = np.diff(self.begin)
        if self.begin[0] or self.begin[-1] != len(self.vertex) or (lengths < 1).any():
            raise _WrongError(broken, -1)
        if ((self.outer < NO_CORE) | (self.outer >= np.arange(count))).any():
            raise _WrongError(broken, -1)
        below = (self.vertex < 0) | (self.vertex >= self.size)
        if below.any() or (self.credit < 0).any() or (self.floor < 0).any():
            raise _WrongError(broken, -1)
        own = np.repeat(np.arange(count), lengths)
        within = np.diff(own) == 0
        if (within & (np.diff(self.vertex) <= 0)).any():
            raise _WrongError(broken, -1)
        _refuse(broken, self.winner[self.vertex] != 0, self.vertex)
        _refuse(broken, (self.core < NO_CORE) | (self.core >= count))
        mine = self.winner == 0
        _refuse(broken, ~mine & (self.core != NO_CORE))
        _refuse(broken, (self.need < 0).astype(bool))
        # The vertices of a core are those whose chain passes it: all, and no others.
        seen = np.zeros(len(self.vertex), bool)
        at, chain = np.flatnonzero(self.core != NO_CORE), None
        chain = self.core[at]
        while len(at):
            place = self.place(chain, at)
            _refuse(broken, place < 0, at)
            seen[place] = True
            chain = self.outer[chain]
            at, chain = at[chain != NO_CORE], chain[chain != NO_CORE]
        _refuse(broken, ~seen, self.vertex)
        ends = self.level == NEVER
        tops = self.is_top | self.reaches
        inside = np.flatnonzero(tops)
        _refuse(broken, self.core[inside] == NO_CORE, inside)
        _refuse(broken, self.is_top & ~self.reaches)
        _refuse(broken, ends[self.core[inside]].astype(bool), inside)
        _refuse(broken, (self.level < NEVER).astype(bool), self.vertex[self.begin[:-1]])

    def place(self, core: np.ndarray, vertex: np.ndarray) -> np.ndarray:
        """Where vertices are among those of cores; -1 where they are not."""
        size = np.int64(self.size + 1)
        own = np.repeat(np.arange(len(self.outer)), np.diff(self.begin))
        keys = own * size + self.vertex
        wanted = core.astype(np.int64) * size + vertex
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        if not len(keys):
            return np.full(len(vertex), -1)
        return np.where(keys[at] == wanted, at, -1)

    def element(self, vertex: np.ndarray, core: int) -> np.ndarray:
        """The core directly inside one that each of its vertices is in; -1 for none.

        Core -1 is all that there is.
        """
        found = self.core[vertex].copy()
        while True:
            deeper = (found != core) & (found != NO_CORE)
            deeper[deeper] = self.outer[found[deeper]] != core
            if not deeper.any():
                return np.where(found == core, NO_CORE, found)
            found[deeper] = self.outer[found[deeper]]

    def needed(self, vertex: np.ndarray, core: int) -> np.ndarray:
        """Energy to come to vertices of a core with, when it is not earned there."""
        child = self.element(vertex, core)
        inside = child != NO_CORE
        found = self.need[vertex].copy()
        place = self.place(child[inside], vertex[inside])
        found[inside] = self.floor[child[inside]] + self.credit[place]
        return found

    def placed(self, vertex: np.ndarray, core: int) -> tuple[np.ndarray, np.ndarray]:
        """Where vertices are in the order of what lies in a core.

        Returns:
            The order, and whether it is that of moves to a top.
        """
        child = self.element(vertex, core)
        inside = child != NO_CORE
        order = self.order[vertex].copy()
        order[inside] = np.asarray(self.modes.core_order)[child[inside]]
        return order, ~inside & self.reaches[vertex] & (core != NO_CORE)

    def common(self, core: int, vertex: np.ndarray) -> np.ndarray:
        """The innermost core around a core, or it, that each vertex lies in."""
        found = np.full(len(vertex), core)
        while True:
            outside = found != NO_CORE
            outside[outside] = self.place(found[outside], vertex[outside]) < 0
            if not outside.any():
                return found
            found[outside] = self.outer[found[outside]]

    def arrive(
        self, src: np.ndarray, dst: np.ndarray, core: int, have: np.ndarray
    ) -> None:
        """Checks edges that lead on in a core, or out of what is in it.

        Core -1 is all that there is; `have` is the energy after the edges.
        """
        order, to_top = self.placed(src, core)
        new, new_to_top = self.placed(dst, core)
        # What leads to a top goes on so; all else may come to that, or to less.
        falls = np.where(to_top, new_to_top & (new < order), new_to_top | (new < order))
        _refuse(Reason.NO_PROGRESS, ~falls, src)
        short = (have < self.needed(dst, core)).astype(bool)
        _refuse(Reason.NOT_ENOUGH_ENERGY, short, src)

    def outward(self, src, dst, have, core: np.ndarray) -> None:
        """As `arrive`, for edges that stay in different cores, one for each edge."""
        for where in np.unique(core):
            some = core == where
            self.arrive(src[some], dst[some], int(where), have[some])

    def check_outside(self) -> None:
        """Moves outside of earning, of vertices that need such."""
        arena = self.arena
        inner = self.core != NO_CORE
        ends = np.zeros(self.size, bool)
        ends[inner] = (self.level[self.core[inner]] == NEVER).astype(bool)
        acts = (self.winner == 0) & ~ends
        own = np.flatnonzero(acts & ~arena.owner)
        _check_edges(arena, own, self.move[own])
        taken = ~arena.owner[arena.src]
        taken &= self.move[arena.src] != np.arange(len(arena.src))
        edge = np.flatnonzero(acts[arena.src] & ~taken)
        src, dst = arena.src[edge], arena.dst[edge]
        _refuse(Reason.STRATEGY_LEAVES_REGION, self.winner[dst] != 0, src)
        have = self.need[src] + self.weight[edge]
        for core in np.unique(self.core[src]):
            here = self.core[src] == core
            own_src, own_dst, own_have = src[here], dst[here], have[here]
            common = self.common(int(core), own_dst)
            # From a top play goes on anywhere in the core, if earning can begin there.
            top = self.is_top[own_src] & (common == core)
            place = self.place(np.full(int(top.sum()), core), own_dst[top])
            enough = own_have[top] >= self.floor[core] + self.credit[place]
            _refuse(Reason.NOT_ENOUGH_ENERGY, ~enough.astype(bool), own_src[top])
            on = ~top
            self.outward(own_src[on], own_dst[on], own_have[on], common[on])

    def check_core(self, core: int) -> None:
        """Tops, levels and earning of one core."""
        arena = self.arena
        begin, end = int(self.begin[core]), int(self.begin[core + 1])
        vertex, earn = self.vertex[begin:end], self.earn[begin:end]
        credit, floor = self.credit[begin:end], self.floor[core]
        priority = np.asarray(arena.priority)
        if self.level[core] != NEVER:
            tops = vertex[(self.core[vertex] == core) & self.is_top[vertex]]
            wrong = (priority[tops] % 2 == 1) | ~self._above(vertex, tops)
            _refuse(Reason.TOP_IS_NO_TOP, wrong, tops)
            short = self.level[core] < self.needed(vertex, core)
            _refuse(Reason.NOT_ENOUGH_ENERGY, short.astype(bool), vertex)
        own = ~arena.owner[vertex]
        _check_edges(arena, vertex[own], earn[own])
        edge, at = _edges_from(arena, vertex, np.where(own, earn, NO_EDGE))
        src, dst = vertex[at], arena.dst[edge]
        _refuse(Reason.STRATEGY_LEAVES_REGION, self.winner[dst] != 0, src)
        have = credit[at] + self.weight[edge]
        place = self.place(np.full(len(dst), core), dst)
        stays = place >= 0
        left = have - np.where(stays, self.credit[np.maximum(place, 0)], 0)
        _refuse(Reason.NOT_ENOUGH_ENERGY, (stays & (left < 0)).astype(bool), src)
        # Who gains without end is to end earning, where there is an end of it.
        for_ever = stays & ((left == 0).astype(bool) | (self.level[core] == NEVER))
        there = np.zeros(len(arena.src), bool)
        there[edge[for_ever]] = True
        self._check_even(there)
        out = ~stays
        if out.any():
            common = self.common(int(self.outer[core]), dst[out])
            self.outward(src[out], dst[out], floor + have[out], common)

    def _above(self, vertex: np.ndarray, tops: np.ndarray) -> np.ndarray:
        """Which tops are above all odd priorities where a play in a core may stay."""
        arena, priority = self.arena, np.asarray(self.arena.priority)
        inside = priority[vertex]
        odd = inside[inside % 2 == 1].max(initial=-1)
        if (above := priority[tops] > odd).all():
            return above
        is_in = np.zeros(self.size, bool)
        is_in[vertex] = True
        label = strongly_connected(arena, is_in[arena.src] & is_in[arena.dst])
        return _tops(priority, label, vertex)[tops]

    def _check_even(self, there: np.ndarray) -> None:
        """No cycle of some edges has an odd priority on top."""
        arena, priority = self.arena, np.asarray(self.arena.priority)
        src, dst = arena.src, arena.dst
        while (priority[src[there]] % 2 == 1).any():
            label = strongly_connected(arena, there)
            there = there & (label[src] == label[dst])
            if not there.any():
                return
            is_top = _tops(priority, label, src[there])
            _refuse(Reason.EARNING_IS_ODD, is_top & (priority % 2 == 1))
            there = there & ~is_top[src] & ~is_top[dst]


def _edges_from(
    arena: Arena, vertex: np.ndarray, fixed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The edges that are left to some vertices, and the place of each one's source.

    Args:
        arena: the game.
        vertex: integers `[N]`.
        fixed: integers `[N]`: the only edge, or -1 for all of the vertex.
    """
    first = np.where(fixed == NO_EDGE, arena.row_ptr[vertex], fixed)
    many = np.where(fixed == NO_EDGE, np.diff(arena.row_ptr)[vertex], 1)
    at = np.repeat(np.arange(len(vertex)), many)
    start = np.cumsum(many) - many
    return first[at] + np.arange(len(at)) - start[at], at
