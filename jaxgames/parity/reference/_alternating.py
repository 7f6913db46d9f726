"""Alternating small progress measures: two players who tell what they have won."""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.reference._game import NOBODY, Answer, Game
from jaxgames.parity.reference._spm import (
    compare,
    least_moves,
    lift,
    side_of,
)
from jaxgames.parity.reference._work_list import QUEUE, dequeue, enqueue, work_list
from jaxgames.solution import NO_EDGE, UNDECIDED


def solve_alternating(
    game: Game, order: int, single: bool, seed: int, max_steps: int, stop
) -> Answer:
    """Solves a game for both players together."""
    everything = np.ones(len(game.owner), bool)
    sides = (side_of(game, 0, everything), side_of(game, 1, everything))
    won, *counts = _alternate(game, sides, order, single, seed, max_steps, stop)
    winner = np.where(won[0], 0, np.where(won[1], 1, UNDECIDED)).astype(np.int8)
    strategy = np.full(len(winner), NO_EDGE, np.int32)
    for side in sides:
        least_moves(game, side._replace(inside=won[side.player]), strategy)
    names = ("steps", "pops", "exchanges")
    return winner, strategy, dict(zip(names, map(int, counts), strict=True))


@compiled
def _alternate(game, sides, order, single, seed, max_lifts, stop):
    """What each player certainly wins; and how many lifts, pops and exchanges it took.

    The players take turns of as many attempts to lift as there are vertices. After
    each, the rival hears what is lost for him. When nobody waits in a player's work
    list, he certainly wins all that is not at his top; his rival then has all turns,
    to find the strategy for the rest.
    """
    size = len(game.owner)
    works = (
        work_list(sides[0].inside, order, single, seed),
        work_list(sides[1].inside, order, single, seed),
    )
    won = np.zeros((2, size), np.bool_)
    lifts, pops, exchanges = 0, 0, 0
    player = 0
    while not np.all(won[0] | won[1]):
        rival = 1 - player
        more_lifts, more_pops, in_time = lift(
            game, sides[player], works[player], size, max_lifts - lifts, stop
        )
        lifts, pops = lifts + more_lifts, pops + more_pops
        if not in_time:
            won[:] = False
            break
        if more_pops > 0:
            won[player] = _winning_set(game, sides[player], won[player])
            _lose(game, sides[rival], works[rival], won[player])
            exchanges += 1
        player = rival
    return won, lifts, pops, exchanges


@compiled
def _winning_set(game, side, known):
    """The greatest set that the player's measures prove to be his.

    Measures need not be finished: they are progress measures of the game on this set,
    which the rival cannot leave. Where this is `known` it remains so, since nothing in
    the set can rise any more.
    """
    won = side.measure[:, 0] == 0
    doubted = work_list(won & ~known, QUEUE, True, 0)
    while True:
        v = dequeue(doubted)
        if v == NOBODY:
            return won
        if not _is_proved(game, side, won, v):
            won[v] = False
            for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
                u = np.int64(game.in_src[k])
                if won[u]:
                    enqueue(doubted, u)


@compiled
def _is_proved(game, side, won, v):
    """Whether the player can, or his rival must, make progress and stay in `won`."""
    mine = game.owner[v] == side.player
    raises = game.priority[v] % 2 != side.player
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        w = game.dst[e]
        order = compare(side.measure[v], side.measure[w], side.compared[v])
        progresses = won[w] and (order > 0 or (order == 0 and not raises))
        if progresses == mine:
            return mine
    return not mine


@compiled
def _lose(game, side, work, lost):
    """Puts vertices to the top; those with an edge to them will wait."""
    for v in range(len(lost)):
        if lost[v] and side.measure[v, 0] == 0:
            side.measure[v] = 0
            side.measure[v, 0] = 1
            for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
                enqueue(work, np.int64(game.in_src[k]))
