"""The textbook: energy as a part of the vertex, and then a parity game.

Plain, to read, and to compare with on small games: as many copies of each vertex as
there are levels of energy that need to be told apart.
"""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.energyparity._checks import check
from jaxgames.energyparity._modes import Memory, Modes
from jaxgames.energyparity._solution import LOST, Solution
from jaxgames.parity import reference as parity
from jaxgames.solution import Stats, Status


def solve(arena: Arena, capacity: int | None = None) -> Solution:
    """Who wins an energy parity game from each vertex, and the least initial energy.

    Player 0 wins with a strategy for which `2 n d W` levels, and a few more, are enough
    [1], for `n` vertices, `d` priorities and weights that take `W` at most. So energy
    above that is thrown away, and he wins from a vertex with a level what he wins in
    the parity game over pairs of both. What takes the energy below zero leads to a
    vertex that he loses. O(n d W) copies of the arena.

    Args:
        arena: a game with one integer weight on each edge, and priorities on vertices;
            every vertex has a successor.
        capacity: the highest level that is told apart; None for that bound.

    Returns:
        Winners, and as `credit` the least energy that is enough, -1 where none is. No
        strategies.

    Raises:
        ValueError: the arena is no such game.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012),
        doi:10.1016/j.tcs.2012.07.038.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 0, 2], owner=[0, 0, 1],
        ...     weight=[1, -5, 0, 1], priority=[1, 2, 3],
        ... )
        >>> solve(arena).credit
        array([ 0,  0, -1])
    """
    check(arena)
    shape, arena = arena.shape, arena.unpad()
    size, edges = arena.shape
    weight = np.asarray(arena.weight)
    if capacity is None:
        kinds = len(np.unique(arena.priority))
        loss = max(0, -int(weight.min(initial=0)))
        capacity = 2 * size * kinds * loss + 2 * loss
    levels = capacity + 1
    # The copies of a vertex, level by level; then the one where energy has run out.
    lost = size * levels
    src = (arena.src[:, None] * levels + np.arange(levels)).reshape(-1)
    level = np.arange(levels) + weight[:, None]
    dst = arena.dst[:, None] * levels + np.minimum(level, capacity)
    dst = np.where(level < 0, lost, dst).reshape(-1)
    game = Arena.from_edges(
        np.append(src, lost),
        np.append(dst, lost),
        owner=np.append(np.repeat(arena.owner, levels), False),
        priority=np.append(np.repeat(arena.priority, levels), 1),
    )
    winner = parity.solve(game).winner[:-1].reshape(size, levels)
    wins = winner == 0
    credit = np.where(wins.any(axis=1), wins.argmax(axis=1), LOST)
    more = (0, shape[0] - size)
    return Solution(
        winner=np.pad(credit == LOST, more).astype(np.int8),
        credit=np.pad(credit, more),
        status=Status.SOLVED,
        stats=Stats(solver="reference"),
    )


def verify(arena: Arena, solution: Solution) -> bool:
    """Whether winners and both strategies are right, by playing them (small games).

    Winners are compared with those of `solve`. Player 1's moves are right if player 0
    wins nothing against them; and player 0's modes if in the graph of all vertices with
    all that he may remember there no energy falls below zero, and no cycle has an odd
    priority on top. Energy far above the highest level is not told apart.

    Args:
        arena: the game.
        solution: winners, player 1's moves, credits and modes.

    Examples:
        >>> from jaxgames import Arena, energyparity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 0, 2], owner=[0, 0, 1],
        ...     weight=[1, -5, 0, 1], priority=[1, 2, 3],
        ... )
        >>> verify(arena, energyparity.solve(arena))
        True
    """
    arena = arena.unpad()
    size, edge = arena.shape[0], np.arange(arena.shape[1])
    winner, strategy, credit = (
        np.asarray(x)[:size]
        for x in (solution.winner, solution.strategy, solution.credit)
    )
    if (winner != solve(arena).winner).any():
        return False
    moves = (winner == 1) & arena.owner
    legal = (arena.row_ptr[:-1] <= strategy) & (strategy < arena.row_ptr[1:])
    if (moves != (strategy >= 0)).any() or (moves & ~legal).any():
        return False
    kept = ~moves[arena.src] | (strategy[arena.src] == edge)
    fixed = Arena.from_edges(
        arena.src[kept],
        arena.dst[kept],
        owner=arena.owner,
        priority=arena.priority,
        weight=arena.weight[kept],
    )
    if (solve(fixed).winner != winner).any() or ((credit < 0) != (winner == 1)).any():
        return False
    return solution.modes is not None and _wins(arena, winner, credit, solution.modes)


def _wins(arena: Arena, winner: np.ndarray, credit: np.ndarray, modes: Modes) -> bool:
    """Whether player 0 wins with his modes, whatever player 1 does."""
    widest = int(np.abs(arena.weight).max(initial=0))
    most = max([0, *modes.level.tolist(), *credit.tolist()])
    most += 2 * arena.shape[0] * widest + 1
    number: dict[tuple[int, Memory], int] = {}
    todo: list[tuple[int, Memory]] = []
    src, dst = [], []

    def of(vertex: int, memory: Memory) -> int:
        memory = memory._replace(energy=min(memory.energy, most))
        if (vertex, memory) not in number:
            number[vertex, memory] = len(number)
            todo.append((vertex, memory))
        return number[vertex, memory]

    for v in np.flatnonzero(winner == 0).tolist():
        of(v, modes.start(v, int(credit[v])))
    while todo:
        v, memory = todo.pop()
        edges = range(arena.row_ptr[v], arena.row_ptr[v + 1])
        if not arena.owner[v]:
            taken = modes.edge(v, memory)
            if taken not in edges:
                return False
            edges = [taken]
        here = of(v, memory)
        for e in edges:
            target = int(arena.dst[e])
            after = modes.after(v, memory, int(arena.weight[e]), target)
            if after.energy < 0 or winner[target]:
                return False
            src.append(here)
            dst.append(of(target, after))
    if not number:
        return True
    game = Arena.from_edges(
        src,
        dst,
        owner=np.ones(len(number), bool),
        priority=[int(arena.priority[v]) for v, _ in number],
    )
    return not parity.solve(game).winner.any()
