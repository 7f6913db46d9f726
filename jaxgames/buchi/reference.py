"""The textbook: cycles by the definition, and games by attractors round by round.

Plain Python, to read, and to compare the engines with, which search a graph once.
"""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.buchi._solution import Lasso
from jaxgames.graph import reference as graphs
from jaxgames.graph._input import concrete, vertex_mask
from jaxgames.solution import NO_EDGE

NO_CYCLE = -1
"""Witness where there is no accepting cycle."""


def accepting_cycle(
    graph: Any, accepting: Any = None, initial: Any = 0, *, vertices: Any = None
) -> Lasso | None:
    """A lasso with an accepting cycle, or None.

    Of all accepting vertices that are reached, the first one with a way back to itself
    shows it. O(A (V + E)) time for A such vertices. Its cycle is a shortest one, and
    the prefix a shortest one to that cycle.

    Args:
        graph: an arena, a pair `(indptr, indices)`, or a sparse matrix.
        accepting: bool `[V]`, or vertices by number; None for those of the arena.
        initial: where runs start: a vertex, several, or booleans `[V]`.
        vertices: bool `[V]`, the vertices that there are; None for all.

    Raises:
        ValueError: an argument is wrong.

    References:
        Vardi and Wolper, An automata-theoretic approach to automatic program
        verification, LICS 1986: a run for ever comes back to an accepting state.

    Examples:
        >>> found = accepting_cycle(([0, 1, 3, 4], [1, 0, 2, 2]), [2])
        >>> found
        Lasso(2 + 1 vertices)
        >>> found.prefix, found.cycle
        (array([0, 1], dtype=int32), array([2], dtype=int32))
    """
    arena, vertices, _ = concrete(graph, vertices, None)
    if accepting is None:
        accepting = arena.accepting
    if accepting is None:
        raise ValueError("accepting is None, and the graph has no accepting vertices")
    accepting = np.asarray(vertex_mask("accepting", arena, accepting))
    starts = np.flatnonzero(vertex_mask("initial", arena, initial)).astype(np.int32)
    witness = search(arena, accepting, starts, vertices=vertices)
    if witness == NO_CYCLE:
        return None
    cycle = _way(arena, _successors(arena, witness, vertices), {witness}, vertices)
    cycle = [witness, *cycle[:-1]]
    first = [v for v in starts.tolist() if vertices is None or vertices[v]]
    path = _way(arena, first, set(cycle), vertices)
    at = cycle.index(path[-1])
    return Lasso(
        np.array(path[:-1], np.int32), np.array(cycle[at:] + cycle[:at], np.int32)
    )


def search(
    arena: Arena,
    accepting: np.ndarray,
    starts: np.ndarray,
    *,
    vertices: np.ndarray | None = None,
) -> int:
    """The first accepting vertex that is reached from a start, and from itself.

    Args:
        arena: the graph.
        accepting: bool `[V]`.
        starts: int32 `[K]`.
        vertices: bool `[V]`, the vertices that there are, or None for all.

    Returns:
        The vertex, or NO_CYCLE.
    """
    reached = graphs.reachable(arena, starts, vertices=vertices)
    for v in np.flatnonzero(reached & accepting).tolist():
        if _way(arena, _successors(arena, v, vertices), {v}, vertices):
            return v
    return NO_CYCLE


def solve(arena: Arena, accepting: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Who wins a Büchi game, and how, by the classical algorithm [1].

    What player 0 cannot force into an accepting vertex is lost for him, and so is what
    player 1 can force there; the rest is a smaller game.

    Args:
        arena: the game; every vertex has a successor. Padding is left out.
        accepting: bool `[V]`, the vertices that player 0 wants to visit for ever.

    Returns:
        Winners (int8 `[V]`), strategies (edges, int32 `[V]`, -1 where there is none),
        and rounds.

    References:
        [1] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 1], owner=[0, 1])
        >>> winner, strategy, rounds = solve(arena, np.array([False, True]))
        >>> winner, strategy
        (array([0, 0], dtype=int8), array([ 1, -1], dtype=int32))
    """
    validity.checked(arena)
    owner = np.asarray(arena.owner)
    left = np.arange(arena.shape[0]) < int(arena.num_vertices)
    winner = np.where(left, 0, -1).astype(np.int8)
    strategy = np.full(arena.shape[0], NO_EDGE, np.int32)
    rounds = 0
    while True:
        rounds += 1
        visits = graphs.attractor(arena, accepting & left, 0, vertices=left)
        avoids = left & ~visits.mask
        if not avoids.any():
            break
        lost = graphs.attractor(arena, avoids, 1, vertices=left)
        stays = _first_into(arena, avoids, avoids & owner)
        strategy = np.where(lost.mask, np.maximum(lost.strategy, stays), strategy)
        winner[lost.mask] = 1
        left &= ~lost.mask
    goes_on = _first_into(arena, left, accepting & left & ~owner)
    strategy = np.where(left, np.maximum(visits.strategy, goes_on), strategy)
    return winner, strategy.astype(np.int32), rounds


def faults(arena: Arena, winner: Any, strategy: Any) -> list[np.ndarray]:
    """Where each reason for a solution to be wrong holds: bool `[V]` each.

    Winners are right if `solve` finds them, and a player's strategy if it does so too
    in the game that leaves him no other edges.

    In the order of [`Reason`][jaxgames.buchi.Reason], from `UNDECIDED` to
    `CYCLE_WON_BY_OPPONENT`.

    Args:
        arena: the game.
        winner: integers `[V]`.
        strategy: integers `[V]`.
    """
    validity.checked(arena)
    owner, accepting = np.asarray(arena.owner), np.asarray(arena.accepting)
    src, dst = np.asarray(arena.src), np.asarray(arena.dst)
    real = np.arange(arena.shape[0]) < int(arena.num_vertices)
    winner, strategy = np.asarray(winner), np.asarray(strategy).astype(np.int64)
    decided = (winner == 0) | (winner == 1)
    wins, moves = decided & (winner == owner), strategy != NO_EDGE
    along = (arena.row_ptr[:-1] <= strategy) & (strategy < arena.row_ptr[1:])
    crosses = winner[src] != winner[dst]
    leaves, escapes = np.zeros((2, arena.shape[0]), bool)
    leaves[src[crosses & (strategy[src] == np.arange(len(src)))]] = True
    escapes[src[crosses]] = True
    found = [
        ~decided,
        wins & ~moves,
        moves & ~along,
        decided & ~wins & moves,
        wins & leaves,
        decided & ~wins & escapes,
    ]
    found, lost = [real & fault for fault in found], np.zeros(arena.shape[0], bool)
    for player in () if np.any(found) else (0, 1):
        fixed = (wins & (owner == player))[src]
        keep = ~fixed | (strategy[src] == np.arange(len(src)))
        game = Arena.from_edges(src[keep], dst[keep], owner=owner)
        lost |= (winner == player) & (solve(game, accepting)[0] != player)
    return [*found, real & lost]


# ---- searches --------------------------------------------------------------------


def _successors(arena: Arena, v: int, vertices) -> list[int]:
    """The successors of a vertex that there are."""
    found = np.asarray(arena.dst)[arena.row_ptr[v] : arena.row_ptr[v + 1]].tolist()
    return [w for w in found if vertices is None or vertices[w]]


def _way(arena: Arena, starts: list[int], goal: set[int], vertices) -> list[int]:
    """A shortest path from a start to a goal; empty if there is none."""
    before = dict.fromkeys(starts, -1)
    queue = list(before)
    for v in queue:
        if v in goal:
            path = [v]
            while before[path[-1]] >= 0:
                path.append(before[path[-1]])
            return path[::-1]
        for w in _successors(arena, v, vertices):
            if w not in before:
                before[w] = v
                queue.append(w)
    return []


def _first_into(arena: Arena, goal: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The first edge from each of some vertices into a goal; -1 elsewhere."""
    found = np.full(len(own), NO_EDGE, np.int32)
    for e in np.flatnonzero(own[arena.src] & goal[arena.dst])[::-1]:
        found[arena.src[e]] = e
    return found
