"""Cycles on which one player makes all the moves, and wins."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.limits import Bounds, limited
from jaxgames.parity._edges import split
from jaxgames.parity._game import compress
from jaxgames.parity.host._cycles import NEVER, cycle_priorities
from jaxgames.parity.preprocess._graph import (
    Graph,
    attract,
    graph_of,
    undecided_everywhere,
)
from jaxgames.parity.preprocess._reduced import Reduced, reduction, undecided
from jaxgames.solution import UNDECIDED


@limited()
@reduction(edge_priorities=True)
def winning_cycles(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Decides the winning cycles that a player controls alone, and what they attract.

    A player controls a vertex that he owns, or that has one edge only. On a cycle of
    such vertices nobody can stop him; if its most important priority is his, he wins
    by going round. O(E log d) time for d priorities.

    Args:
        arena: a game with vertex or edge priorities.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The game on the undecided vertices, on which no such cycle is left:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    References:
        O. Friedmann, M. Lange: Solving parity games in practice, ATVA 2009,
        doi:10.1007/978-3-642-04761-9_15 (cycles of one player); King, Kupferman and
        Vardi, On the complexity of parity word automata, FoSSaCS 2001,
        doi:10.1007/3-540-45315-6_18 (how they are found).

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2, 2], [1, 2, 0, 0, 2], owner=[0, 0, 1], priority=[2, 1, 3]
        ... )
        >>> reduced = winning_cycles(arena)
        >>> reduced.arena  # the cycle 0, 1 is player 0's, the loop player 1's
        Arena(0 vertices, 0 edges, priority)
        >>> reduced.undo([], [])
        (array([0, 0, 1], dtype=int8), array([0, 2, 4], dtype=int32))
    """
    winner, move = controlled_cycles(arena)
    attract(graph_of(arena), winner, move)
    return undecided(arena, winner, move)


def controls(arena: Arena, player: int) -> np.ndarray:
    """The vertices at which a player makes the moves, or nobody has a choice."""
    return (arena.owner == player) | (np.diff(arena.row_ptr) == 1)


def controlled_cycles(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Winners and moves on the strongly connected parts that such cycles span."""
    size = arena.shape[0]
    game = split(arena)
    graph, priority = graph_of(game), compress(game.priority)
    winner, move = undecided_everywhere(game.shape[0])
    for player in (0, 1):
        mine = controls(game, player)
        edges = np.flatnonzero(mine[game.src] & mine[game.dst])
        tail, head = game.src[edges], game.dst[edges]
        least = np.full(game.shape[1], NEVER, np.int32)
        least[edges] = cycle_priorities(tail, head, priority, False)
        _go_round(graph, priority, least, player, winner, move)
    return winner[:size], move[:size]


def _go_round(graph: Graph, priority, least, player, winner, move) -> None:
    """Lets a player win, in place, wherever he can go round a winning cycle.

    Where an edge lies on cycles, `least[e]` is the least of their most important
    priorities. Edges with `least` up to p are those inside the strongly connected
    components of what is at most p. If such a component has a vertex of priority p
    of the player's parity, he goes there from everywhere in it, again and again.
    """
    of_source = priority[graph.src]
    heads = np.flatnonzero((least == of_source) & (of_source % 2 == player))
    order = np.argsort(-of_source[heads], kind="stable")
    _lead_back(graph, priority, least, heads[order], player, winner, move)


@compiled
def _lead_back(graph, priority, least, heads, player, winner, move):
    """From the components of heads (edges that leave them), the largest first."""
    queue = np.empty(len(winner), np.int64)
    for head in heads:
        v = graph.src[head]
        if winner[v] != UNDECIDED:
            continue
        winner[v], move[v] = player, head
        queue[0] = v
        begin, end = 0, 1
        while begin < end:
            w = queue[begin]
            begin += 1
            for k in range(graph.in_ptr[w], graph.in_ptr[w + 1]):
                e = graph.in_edge[k]
                u = graph.src[e]
                if least[e] <= priority[v] and winner[u] == UNDECIDED:
                    winner[u], move[u] = player, e
                    queue[end] = u
                    end += 1
