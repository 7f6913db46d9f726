"""Small progress measures, lifted one vertex at a time."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.reference._game import NO_LIMIT, NOBODY, Answer, Game
from jaxgames.parity.reference._work_list import dequeue, enqueue, work_list
from jaxgames.solution import NO_EDGE, UNDECIDED


class Side(NamedTuple):
    """A player, his measures, and which vertices exist for him.

    A measure is a row: 1 for the top, else 0, then a counter for each of the rival's
    priorities, the most important first.
    """

    player: int
    inside: np.ndarray  # bool [V]: the vertices that exist
    compared: np.ndarray  # how many entries are for its priority or more important ones
    bound: np.ndarray  # of each entry
    measure: np.ndarray  # int32 [V, W]


def side_of(game: Game, player: int, inside: np.ndarray) -> Side:
    """Least measures of a player."""
    counts = np.bincount(game.priority[inside], minlength=1)
    rival = np.flatnonzero(np.arange(len(counts)) % 2 != player)
    return Side(
        player,
        inside,
        compared=1 + len(rival) - np.searchsorted(rival, game.priority),
        bound=np.append(1, counts[rival[::-1]]).astype(np.int32),
        measure=np.zeros((len(inside), 1 + len(rival)), np.int32),
    )


def solve_spm(
    game: Game, order: int, single: bool, seed: int, max_steps: int, stop
) -> Answer:
    """Solves a game for player 0, then for player 1 in what he wins."""
    size = len(game.owner)
    winner = np.full(size, UNDECIDED, np.int8)
    strategy = np.full(size, NO_EDGE, np.int32)
    steps = pops = 0
    for player in (0, 1):
        # The second player solves what the first one lost: a game of its own.
        side = side_of(game, player, winner == UNDECIDED)
        lifts, more_pops, finished = _least_measure(
            game, side, order, single, seed, max_steps - steps, stop
        )
        steps, pops = steps + lifts, pops + more_pops
        if not finished:
            winner[:], strategy[:] = UNDECIDED, NO_EDGE
            break
        won = side.inside & (side.measure[:, 0] == 0)
        winner[won] = player
        least_moves(game, side._replace(inside=won), strategy)
    return winner, strategy, {"steps": steps, "pops": pops}


@compiled
def _least_measure(game, side, order, single, seed, max_lifts, stop):
    """Lifts all vertices until nothing rises."""
    work = work_list(side.inside, order, single, seed)
    return lift(game, side, work, NO_LIMIT, max_lifts, stop)


@compiled
def lift(game, side, work, attempts, max_lifts, stop):
    """Lifts the vertices that wait, at most so many; where one rises, others will wait.

    Returns how many rose, how many were tried, and False if it ended early: for the
    next lift being one too many, or because of `stop`.
    """
    raised = np.zeros(len(side.bound), np.int32)
    lifts, pops = 0, 0
    while pops < attempts:
        v = dequeue(work)
        if v == NOBODY:
            break
        pops += 1
        best = best_edge(game, side, v)
        _progress(
            side.measure[game.dst[best]],
            side.compared[v],
            game.priority[v] % 2 != side.player,
            side.bound,
            raised,
        )
        if compare(raised, side.measure[v], len(raised)) <= 0:
            continue
        if lifts == max_lifts or stop[0] != 0:
            return lifts, pops, False
        side.measure[v] = raised
        lifts += 1
        for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
            u = np.int64(game.in_src[k])
            if side.inside[u]:
                enqueue(work, u)
    return lifts, pops, True


@compiled
def best_edge(game, side, v):
    """First edge to the least measure where the player moves, else to the largest."""
    best = NO_EDGE
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        w = game.dst[e]
        if not side.inside[w]:
            continue
        if best == NO_EDGE:
            best = e
            continue
        order = compare(side.measure[w], side.measure[game.dst[best]], side.compared[v])
        if (order < 0) if game.owner[v] == side.player else (order > 0):
            best = e
    return best


@compiled
def _progress(measure, compared, raises, bound, out):
    """The least measure as large in what is compared, or larger if the vertex raises.

    Like an odometer: a counter that passes its bound starts again at 0 and raises the
    next more important one. What goes beyond the first counter is top.
    """
    out[:] = 0
    out[:compared] = measure[:compared]
    if raises and out[0] == 0:
        index = compared - 1
        while out[index] == bound[index]:
            out[index] = 0
            index -= 1
        out[index] += 1


@compiled
def compare(a, b, length):
    """Negative, 0 or positive: lexicographic order of the first entries."""
    for index in range(length):
        if a[index] != b[index]:
            return a[index] - b[index]
    return 0


@compiled
def least_moves(game, side, strategy):
    """Moves the player's vertices to the least measures."""
    for v in range(len(strategy)):
        if side.inside[v] and game.owner[v] == side.player:
            strategy[v] = best_edge(game, side, v)
