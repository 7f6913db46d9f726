"""Priorities on edges, and edges that stand for paths of two."""

import dataclasses
from typing import Unpack

import numpy as np

from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.arguments import integer
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._parallel import without_parallels
from jaxgames.parity.preprocess._positional import positional
from jaxgames.parity.preprocess._reduced import (
    Reduced,
    edge_priorities,
    identity,
    ranges,
    reduction,
    translate,
)
from jaxgames.solution import NO_EDGE


@limited()
@reduction(edge_priorities=True)
def to_edge_priorities(arena: Arena, **bounds: Unpack[Bounds]) -> Reduced:
    """Gives each edge the priority of its source; the game stays the same.

    Args:
        arena: a game with vertex or edge priorities; the latter stays as it is.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The game with edge priorities: [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 6.1.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> to_edge_priorities(arena).arena.edge_priority
        array([1, 1, 2], dtype=int32)
    """
    return identity(on_edges(arena))


def on_edges(arena: Arena) -> Arena:
    """The game with the priority of each edge's source on the edge."""
    return dataclasses.replace(
        arena, priority=None, edge_priority=edge_priorities(arena)
    )


@limited()
@reduction(edge_priorities=True)
def shortcuts(arena: Arena, levels: int = 1, **bounds: Unpack[Bounds]) -> Reduced:
    """Adds edges that stand for two, and removes what they make superfluous.

    For edges `(u, v)` and `(v, w)`, u not v, an edge `(u, w)` is added, with the more
    important of the two priorities, if v has no other edge or the owner of u. The edge
    `(u, v)` goes if it is the only one of u and such shortcuts were added, for then
    they were added to all successors of v. Of parallel edges stays the one that the
    owner of their source likes best. Paths of `2 ** levels` edges become one.

    The number of edges grows, by a factor of up to the largest out-degree for each
    level. O(V + E') time for E' edges of the result, before parallel ones are removed.

    Args:
        arena: a game with vertex or edge priorities.
        levels: how often this is done, at least once.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The same vertices with edge priorities:
        [`Reduced`][jaxgames.parity.preprocess.Reduced]. To `undo` may mean to solve,
        where a player's moves along several paths contradict each other, a game in
        which he has hardly a choice left.

    Raises:
        ValueError: the arena is no parity game, `levels` is no positive integer, or
            there would be more edges than int32 can number.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, theorems 6.1 to 6.3.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 1, 2, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[1, 2, 3]
        ... )
        >>> reduced = shortcuts(arena).arena
        >>> reduced.src, reduced.dst
        (array([0, 1, 1, 2, 2, 2], dtype=int32), array([2, 0, 2, 0, 1, 2], dtype=int32))
    """
    levels = integer("levels", levels, 1)
    game, single = without_parallels(
        arena.owner, arena.row_ptr, arena.dst, edge_priorities(arena)
    )
    paths = [(single, np.full(len(single), NO_EDGE))]
    for _ in range(levels):
        game, first, second = _level(game)
        paths.append((first, second))

    def undo(winner, strategy):
        taken = strategy[(winner == arena.owner) & (strategy != NO_EDGE)]
        for first, second in reversed(paths):
            strategy = translate(strategy, first)
            steps = np.concatenate([first[taken], second[taken]])
            taken = np.flatnonzero(np.bincount(steps - NO_EDGE)[1:])
        return positional(arena, winner, strategy, taken)

    return Reduced(game, undo)


def _level(arena: Arena) -> tuple[Arena, np.ndarray, np.ndarray]:
    """One level of shortcuts, and the one or two old edges that each edge stands for.

    Why winners stay the same: a player who wins the new game makes every move of his
    as one or two moves in the old one, in the middle of which his rival has no choice.
    What his rival does in the old game is, at once or after one more step on which the
    player has no choice, a move of the new one, or one that the rival likes less: if
    he goes along an edge that was removed, then from its end either he or nobody
    chooses, and all ways to go on have their shortcuts. So the player knows what to do
    in the old game, though he may have to remember how he came to a vertex.
    """
    src, dst, priority = arena.src, arena.dst, arena.edge_priority
    degree = np.diff(arena.row_ptr)
    passes = (src != dst) & (
        (degree[dst] == 1) | (arena.owner[src] == arena.owner[dst])
    )
    stays = ~(passes & (degree[src] == 1))
    count = stays + np.where(passes, degree[dst], 0).astype(np.int64)
    if count.sum() > MAX_SIZE:
        raise ValueError(
            f"with shortcuts there would be {count.sum()} edges, more than int32 can "
            "number: ask for fewer levels"
        )
    first = np.repeat(np.arange(len(src), dtype=np.int32), count)
    # Of what an old edge becomes, itself comes first, if it stays.
    step = ranges(np.where(stays, NO_EDGE, 0), count)
    second = np.where(step == NO_EDGE, NO_EDGE, arena.row_ptr[dst[first]] + step)
    last = np.where(second == NO_EDGE, first, second)
    begins = np.append(0, np.cumsum(count))[arena.row_ptr].astype(np.int32)
    longer = np.maximum(priority[first], priority[last])
    game, single = without_parallels(arena.owner, begins, dst[last], longer)
    return game, first[single], second[single]
