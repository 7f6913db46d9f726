"""Progress measures on a succinct universal tree: a quasi-polynomial algorithm.

Small progress measures are the leaves of a tree with a level for each odd priority, in
which there is room for every count. So large a tree is not needed: the measures of a
game whose odd priorities are at `n` vertices make an ordered tree of `n + 1` leaves at
most, and there are trees of quasi-polynomial size in which each of these can be found
[1]. A measure is the number of a leaf, from the left.

References:
    [1] Jurdziński and Lazić, Succinct progress measures for solving parity games, LICS
    2017, doi:10.1109/LICS.2017.8005092.
"""

import functools

import numpy as np

from jaxgames.parity.reference._game import Answer, Game
from jaxgames.solution import NO_EDGE, UNDECIDED


@functools.cache
def leaves(bits: int, height: int) -> int:
    """Leaves of the succinct tree of a height, which words of so many bits name.

    It has two subtrees of the same height whose words are a bit shorter, at the left
    and at the right, and between them one that is a level lower.

    Examples:
        >>> [leaves(3, height) for height in range(5)]
        [1, 15, 49, 111, 209]
    """
    if bits == 0 or height == 0:
        return 1
    return 2 * leaves(bits - 1, height) + leaves(bits, height - 1)


def subtree(leaf: int, bits: int, height: int, depth: int) -> tuple[int, int]:
    """Where the subtree at a depth that has a leaf begins, and where the next does.

    Examples:
        >>> subtree(0, 3, 4, 0), subtree(0, 3, 4, 4), subtree(104, 3, 4, 1)
        ((0, 209), (0, 1), (49, 160))
    """
    begin = 0
    while depth > 0:
        left = leaves(bits - 1, height) if bits > 0 else 0
        middle = leaves(bits, height - 1)
        if leaf < left:
            bits -= 1
        elif leaf < left + middle:
            begin, leaf = begin + left, leaf - left
            height, depth = height - 1, depth - 1
        else:
            begin, leaf = begin + left + middle, leaf - left - middle
            bits -= 1
    return begin, begin + leaves(bits, height)


def solve_succinct(game: Game, max_steps: int, stop) -> Answer:
    """Solves a game; at most so many measures rise.

    Player 0 wins where his measure stays on the tree, and player 1 where that of the
    game does in which the players have changed their roles.
    """
    size = len(game.owner)
    winner = np.full(size, UNDECIDED, np.int8)
    strategy = np.full(size, NO_EDGE, np.int32)
    stats = {"steps": 0}
    for player in (0, 1):
        found = _lifted(game, player, max_steps - stats["steps"], stop)
        stats["steps"] += found[2]
        if not found[3]:
            return (
                np.full_like(winner, UNDECIDED),
                np.full_like(strategy, NO_EDGE),
                stats,
            )
        wins, moves = found[:2]
        winner[wins] = player
        own = wins & (game.owner == player)
        strategy[own] = moves[own]
    return winner, strategy, stats


def _lifted(game: Game, player: int, max_steps: int, stop):
    """Lifts the measures of a player until none rises.

    Returns where he wins and how, how many times measures rose, and whether they all
    have.
    """
    priority = (game.priority + player).tolist()
    owner = (game.owner.astype(int) ^ player).tolist()
    row_ptr, dst = game.row_ptr.tolist(), game.dst.tolist()
    odd = sorted({p for p in priority if p % 2})
    height, bits = len(odd), sum(p % 2 for p in priority)
    bits = (bits + 1).bit_length() - 1
    top = leaves(bits, height)
    depth = [sum(q >= p for q in odd) for p in priority]
    measure = [0] * len(owner)

    def asked(e: int, p: int, k: int) -> int:
        """The least measure that an edge allows."""
        if measure[dst[e]] == top:
            return top
        begin, after = subtree(measure[dst[e]], bits, height, k)
        return min(after if p % 2 else begin, top)

    steps, rises = 0, True
    while rises:
        rises = False
        for v, (p, k) in enumerate(zip(priority, depth, strict=True)):
            asks = [asked(e, p, k) for e in range(row_ptr[v], row_ptr[v + 1])]
            new = min(asks) if owner[v] == 0 else max(asks)
            if new > measure[v]:
                if steps >= max_steps or stop[0] != 0:
                    return np.zeros(len(owner), bool), np.empty(0), steps, False
                measure[v], rises = new, True
                steps += 1
    wins = np.array([x < top for x in measure], bool)
    moves = np.array(
        [
            min(range(row_ptr[v], row_ptr[v + 1]), key=lambda e: measure[dst[e]])
            for v in range(len(owner))
        ],
        np.int32,
    )
    return wins, moves, steps, True
