"""A solution is checked: regions, moves, and the cycles that are left."""

import numpy as np

from jaxgames import limits, validity
from jaxgames.arena import Arena
from jaxgames.graph.host import room_for, smallest
from jaxgames.host import compiled, num_cores, on_all_cores, together
from jaxgames.parity._edges import check_priorities, extend, split
from jaxgames.parity._game import compress
from jaxgames.parity._solution import Solution
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.parity.host._cycles import cycle_priorities
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.base import FEWEST_PLACES

REASONS = (
    Reason.UNDECIDED,
    Reason.STRATEGY_MISSING,
    Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX,
    Reason.STRATEGY_OF_LOSER,
    Reason.STRATEGY_LEAVES_REGION,
    Reason.OPPONENT_ESCAPES,
)
"""What may be wrong with a vertex, in the order of the bits that say so."""


def verify(arena: Arena, solution: Solution) -> Verdict:
    """Checks winners and strategies of a parity game, trusting nothing.

    What is asked says [`parity.verify`][jaxgames.parity.verify]. When the winners'
    strategies are fixed, divide and conquer over the priorities [1] finds cycles that
    the other player wins in O(E log d) time for d priorities, O(V + E) memory.

    Args and results are those of
    [`reference.verify`][jaxgames.parity.reference.verify].

    References:
        [1] King, Kupferman and Vardi, On the complexity of parity word automata,
        FoSSaCS 2001, doi:10.1007/3-540-45315-6_18.
    """
    validity.checked(arena)
    for name, array in (("winner", solution.winner), ("strategy", solution.strategy)):
        validity.check_answer(name, array, arena.owner.shape)
    size = int(arena.num_vertices)
    winner = np.asarray(solution.winner)[:size]
    strategy = np.asarray(solution.strategy)[:size]
    if arena.edge_priority is not None:
        arena = split(arena)
        winner, strategy = extend(arena, winner, strategy)
    check_priorities(arena)
    game = arena.unpad()
    row_ptr, dst, owner, priority = (
        np.ascontiguousarray(x)
        for x in (game.row_ptr, game.dst, game.owner, game.priority)
    )
    given = row_ptr, dst, owner.view(np.int8), winner, strategy
    fault, ends = np.zeros(size, np.uint8), np.zeros(size + 1, np.int32)
    on_all_cores(_look, size, *given, fault, ends[1:], work=len(dst))
    if fault.any():
        for bit, reason in enumerate(REASONS):
            where = fault >> bit & 1
            if where.any():
                return Verdict.at(reason, int(np.argmax(where)))
    np.cumsum(ends, out=ends)
    head = np.empty(ends[-1], np.int32)
    on_all_cores(_keep, size, *given, ends, head, work=len(dst))
    tail, head = _inside(ends, head, _components(ends, head, winner))
    return _lost(winner, tail, head, priority)


def _components(begins: np.ndarray, head: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """The least vertex of the component of each: no edge leads between two regions.

    Those of the two players are found side by side, where that pays.
    """
    size = len(winner)
    with limits.ticking_beside("looking for cycles") as stop:

        def among(vertices: np.ndarray | None) -> np.ndarray:
            room = room_for(size, len(head))
            return smallest(begins, head, vertices, None, stop, room)[1]

        some = np.count_nonzero(winner)
        if min(some, size - some) < FEWEST_PLACES or num_cores() == 1:
            return among(None)
        found: list[np.ndarray] = []
        together(lambda player: found.append(among(winner == player)), (0, 1))
        return np.maximum(*found)


def cycles_of(arena: Arena, winner: np.ndarray, edges: np.ndarray) -> Verdict:
    """Whether a cycle of some edges is won by the player who loses its vertices.

    Args:
        arena: the game, without padding, with priorities on vertices.
        winner: int8 `[V]`.
        edges: their numbers; each lies on a cycle of them. They should be few.
    """
    vertices, tail, head = _ends(
        np.asarray(arena.row_ptr), np.asarray(arena.dst), edges
    )
    return _lost(winner, tail, head, np.asarray(arena.priority)[vertices], vertices)


@compiled
def _ends(row_ptr, dst, edges):
    """The ends of edges, which ascend: vertices, and both by their places there."""
    tails, heads = np.empty(len(edges), np.int32), np.empty(len(edges), np.int32)
    # A place counts if it is that of the vertex: so none need be cleared.
    place = np.empty(len(row_ptr) - 1, np.int32)
    vertices = np.empty(min(2 * len(edges), len(place)), np.int32)
    count, tail = 0, 0
    for k in range(len(edges)):
        e = edges[k]
        while row_ptr[tail + 1] <= e:
            tail += 1
        for end in range(2):
            v = np.int64(tail)
            if end == 1:
                v = np.int64(dst[e])
            known = np.int64(place[v])
            if known < 0 or known >= count or vertices[known] != v:
                known = np.int64(count)
                place[v], vertices[count] = count, v
                count += 1
            if end == 0:
                tails[k] = known
            else:
                heads[k] = known
    return vertices[:count], tails, heads


def _lost(winner, tail, head, priority, vertices=None) -> Verdict:
    """The same; ends are the numbers of `vertices`, unless there are all."""
    rank = np.asarray(compress(priority), np.int32)
    owner = winner if vertices is None else winner[vertices]
    least = cycle_priorities(tail.copy(), head, rank, True)
    lost = (least == rank[tail]) & (least % 2 != owner[tail])
    if not lost.any():
        return Verdict.at(Reason.OK)
    vertex = int(tail[np.argmax(lost)])
    vertex = vertex if vertices is None else int(vertices[vertex])
    return Verdict.at(Reason.CYCLE_WON_BY_OPPONENT, vertex)


@compiled
def _look(row_ptr, dst, owner, winner, strategy, fault, kept, begin, end):
    """What is wrong with vertices, as bits; how many edges strategies leave them."""
    for v in range(max(begin, 0), end):
        won, move = winner[v], strategy[v]
        first, last = row_ptr[v], row_ptr[v + 1]
        wrong = 0
        if won != 0 and won != 1:
            wrong |= 1
        if won == owner[v]:
            kept[v] = 1
            if move == NO_EDGE:
                wrong |= 2
            if move < first or move >= last:
                wrong |= 4
            elif winner[dst[move]] != won:
                wrong |= 16
        else:
            kept[v] = last - first
            if move != NO_EDGE:
                wrong |= 8
            for e in range(first, last):
                if winner[dst[e]] != won:
                    wrong |= 32
        if wrong != 0:
            fault[v] = wrong


@compiled
def _keep(row_ptr, dst, owner, winner, strategy, begins, head, begin, end):
    """Lists where the edges lead that strategies leave."""
    for v in range(max(begin, 0), end):
        place = begins[v]
        if winner[v] == owner[v]:
            head[place] = dst[strategy[v]]
        else:
            first = row_ptr[v]
            for e in range(first, row_ptr[v + 1]):
                head[place + e - first] = dst[e]


@compiled
def _inside(begins, head, label):
    """The edges with both ends in one component."""
    tails, heads = np.empty(len(head), np.int32), np.empty(len(head), np.int32)
    count = 0
    for v in range(len(label)):
        for k in range(begins[v], begins[v + 1]):
            tails[count], heads[count] = v, head[k]
            count += label[head[k]] == label[v]
    return tails[:count], heads[:count]
