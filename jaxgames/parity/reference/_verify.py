"""A solution is checked: regions, moves, and each priority of the cycles left."""

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.graph import reference as graphs
from jaxgames.parity._edges import extend, split
from jaxgames.parity._solution import Solution
from jaxgames.parity._verdict import Verdict
from jaxgames.parity.reference._game import normal_form
from jaxgames.solution import NO_EDGE


def verify(arena: Arena, solution: Solution) -> Verdict:
    """Checks winners and strategies of a parity game by the definition.

    Every vertex must be decided; a winner's strategy must take an edge of the vertex
    that stays in his region; the loser must have no edge out of it, and no strategy
    there. When the winners' strategies are fixed, no cycle that is left may be won by
    the other player: no vertex with his parity may lie on a cycle on which nothing is
    more important, a cycle of the graph that has no such vertices [1]. O(d (V + E))
    time for d priorities.

    Args:
        arena: a game with priorities on vertices, or on edges; every vertex has a
            successor.
        solution: winners and strategies of the arena's length; those of the padding
            do not matter.

    Returns:
        True if all is right, else the first of the reasons and the first vertex where
        it shows: [`Verdict`][jaxgames.parity.Verdict].

    Raises:
        ValueError: the arena is no such game, or the solution is not of its shape.

    References:
        [1] King, Kupferman and Vardi, On the complexity of parity word automata,
        FoSSaCS 2001, doi:10.1007/3-540-45315-6_18.

    Examples:
        >>> from jaxgames import Arena
        >>> from jaxgames.parity import reference
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> solution = reference.solve(arena)
        >>> print(reference.verify(arena, solution))
        valid
        >>> solution.strategy[0] = 0  # stays at vertex 0 for ever
        >>> print(reference.verify(arena, solution))
        vertex 0: the other player wins a cycle through it ...
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
    game = normal_form(arena)
    src, dst, priority = game.src, game.dst, game.priority
    wins, moves = winner == game.owner, strategy != NO_EDGE
    along_edge = (strategy >= game.row_ptr[:-1]) & (strategy < game.row_ptr[1:])
    kept = ~wins[src] | (strategy[src] == np.arange(len(src)))
    leaves, lost = np.zeros((2, len(winner)), bool)
    leaves[src[kept & (winner[src] != winner[dst])]] = True
    wrong = [
        (winner != 0) & (winner != 1),
        wins & ~moves,
        wins & ~along_edge,
        ~wins & moves,
        wins & leaves,
        ~wins & leaves,
    ]
    for p in () if np.any(wrong) else np.unique(priority):
        _, component = graphs.scc(game, vertices=priority <= p, edges=kept)
        cyclic = kept & (component[src] == component[dst]) & (priority[src] == p)
        lost[src[cyclic & (priority[dst] <= p) & (p % 2 != winner[src])]] = True
    return Verdict.first_of(*wrong, lost, np.bool_(False), np.bool_(False))
