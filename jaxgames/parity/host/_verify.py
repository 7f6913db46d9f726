"""A solution is checked: regions, moves, and the cycles that are left."""

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.parity._edges import check_priorities, extend, split
from jaxgames.parity._game import compress
from jaxgames.parity._solution import Solution
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.parity.host._cycles import cycle_priorities
from jaxgames.solution import NO_EDGE


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
    row_ptr, src, dst, owner, priority = (
        np.ascontiguousarray(x)
        for x in (game.row_ptr, game.src, game.dst, game.owner, game.priority)
    )
    priority = np.asarray(compress(priority), np.int32)

    decided = (winner == 0) | (winner == 1)
    wins = winner == owner
    moves = strategy != NO_EDGE
    along_edge = (strategy >= row_ptr[:-1]) & (strategy < row_ptr[1:])
    kept = ~wins[src] | (strategy[src] == np.arange(len(src)))
    leaves = np.zeros(len(winner), bool)
    leaves[src[kept & (winner[src] != winner[dst])]] = True
    for reason, where in (
        (Reason.UNDECIDED, ~decided),
        (Reason.STRATEGY_MISSING, wins & ~moves),
        (Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, wins & ~along_edge),
        (Reason.STRATEGY_OF_LOSER, ~wins & moves),
        (Reason.STRATEGY_LEAVES_REGION, wins & leaves),
        (Reason.OPPONENT_ESCAPES, ~wins & leaves),
    ):
        if where.any():
            return Verdict.at(reason, int(np.argmax(where)))

    tail, head = src[kept], dst[kept]
    least = cycle_priorities(tail.copy(), head, priority)
    lost = (least == priority[tail]) & (least % 2 != winner[tail])
    if lost.any():
        return Verdict.at(Reason.CYCLE_WON_BY_OPPONENT, int(tail[np.argmax(lost)]))
    return Verdict.at(Reason.OK)
