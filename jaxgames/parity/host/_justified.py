"""Fixpoint iteration with justifications on the host.

Each vertex is claimed for a player: at first for the one who likes its priority. A
claim has *support* if the player has an edge to a vertex that is claimed for him, or if
all edges lead to such vertices, where his rival moves. The least important vertices are
looked at first. If the claims of these agree with where their edges lead, they get
support. Else the wrong ones are claimed for the other player, and what was supported by
them, directly or not, is claimed as at the first, without support. When every claim has
support, the claims are right, and the edges that support them are strategies [1].

There is little to do where few claims are wrong, however many priorities there are and
however far the game is from falling into regions. It is exponential on the counters
that defeat promotion, as is all that goes by priorities from the least one on.

References:
    [1] Lapauw, Bruynooghe and Denecker, Improving parity game solvers with
    justifications, VMCAI 2020, doi:10.1007/978-3-030-39322-9_21.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import POLL, SKIPPED


class Claims(NamedTuple):
    """Who is claimed to win, and why."""

    winner: np.ndarray  # int8 [V]
    support: np.ndarray  # bool [V]: whether the claim has any
    move: np.ndarray  # int32 [V]: an edge of the winner that supports it
    without: np.ndarray  # int32: how many claims of each priority have no support
    blocks: np.ndarray  # int32: how many of each `SKIPPED` priorities
    end: np.ndarray  # int32: where vertices of each priority end in the order
    queue: np.ndarray  # int32 [V]: what is claimed anew
    at: np.ndarray  # int64 [1]: the least priority that is not supported


def new_claims(size: int, priorities: int) -> Claims:
    """Room for the claims of so many vertices, of so many compressed priorities."""
    return Claims(
        winner=np.empty(size, np.int8),
        support=np.empty(size, np.bool_),
        move=np.empty(size, np.int32),
        without=np.zeros(priorities, np.int32),
        blocks=np.zeros(priorities // SKIPPED + 1, np.int32),
        end=np.zeros(priorities, np.int32),
        queue=np.empty(size, np.int32),
        at=np.zeros(1, np.int64),
    )


@compiled
def begin(game, key, claims):
    """What is claimed at first; what is won needs no support."""
    winner, support, move = claims.winner, claims.support, claims.move
    without, end, labels, order = claims.without, claims.end, game.key, game.order
    blocks = claims.blocks
    for place in range(len(order)):
        v = order[place]
        priority = np.int64(labels[v] >> 2)
        end[priority] = place + 1
        player = np.int64(key[v] >> 2) - WON
        support[v] = player >= 0
        if player < 0:
            player = priority & 1
            without[priority] += 1
            blocks[priority // SKIPPED] += 1
        winner[v], move[v] = player, NO_EDGE


@compiled
def settle(game, key, claims, counts):
    """Takes over what was won since, which needs no support from now on.

    Where it was claimed for the other player, what that supported is claimed anew.
    Claims of what was won before have no move, and are right: they stay as they are.
    """
    winner, support, move = claims.winner, claims.support, claims.move
    without, blocks, queue = claims.without, claims.blocks, claims.queue
    labels, wrong, least = game.key, np.int64(0), np.int64(claims.at[0])
    for v in range(len(key)):
        player = np.int64(key[v] >> 2) - WON
        if player >= 0:
            move[v] = NO_EDGE
            if not support[v]:
                priority = np.int64(labels[v] >> 2)
                without[priority] -= 1
                blocks[priority // SKIPPED] -= 1
            support[v] = winner[v] == player
            if winner[v] != player:
                queue[wrong] = v
                wrong += 1
    end, least, work = _drop(game, claims, wrong, least)
    for index in range(wrong, end):
        u = queue[index]
        winner[u] = (labels[u] >> 2) & 1
    for index in range(wrong):
        v = queue[index]
        winner[v] = 1 - winner[v]
        support[v] = True
    claims.at[0] = least
    counts[0] += work + len(key)
    counts[1] += end


@compiled
def justify(game, claims, stop, limit, counts):
    """Supports claims, until all of them are or there was too much work.

    `counts` are steps, which are edges and vertices looked at, and claims withdrawn.
    Returns whether all have support.
    """
    without, at, most = claims.without, claims.at, len(claims.without)
    blocks = claims.blocks
    priority, rounds = np.int64(at[0]), np.int64(0)
    while (
        priority < most and counts[0] < limit and (rounds % POLL != 0 or stop[0] == 0)
    ):
        rounds += 1
        counts[0] += 1
        if priority % SKIPPED == 0 and blocks[priority // SKIPPED] == 0:
            priority += SKIPPED
        elif without[priority] == 0:
            priority += 1
        else:
            wrong = _look(game, claims, priority, counts)
            if wrong > 0:
                priority = _withdraw(game, claims, priority, wrong, counts)
    at[0] = priority
    return priority >= most


@compiled
def _look(game, claims, priority, counts):
    """Queues the wrong claims of a priority: how many. All get support if none is."""
    winner, support, move = claims.winner, claims.support, claims.move
    without, end, queue = claims.without, claims.end, claims.queue
    row_ptr, head, labels, order = game.row_ptr, game.head, game.key, game.order
    player, wrong, work = priority & 1, np.int64(0), np.int64(0)
    last = np.int64(end[priority])
    place, left = last, np.int64(without[priority])
    while left > 0:
        place -= 1
        v = order[place]
        if not support[v]:
            left -= 1
            own = (labels[v] & 1) == player
            # An edge that is for whom the vertex belongs to.
            wanted = np.int64(labels[v] & 1)
            e, until = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
            work -= e
            while e < until and winner[head[e]] != wanted:
                e += 1
            work += e + 1
            found = e < until
            move[v] = NO_EDGE
            if found:
                move[v] = e
            if found != own:
                queue[wrong] = v
                wrong += 1
    if wrong == 0:
        for index in range(place, last):
            support[order[index]] = True
        claims.blocks[priority // SKIPPED] -= without[priority]
        without[priority] = 0
        work += last - place
    counts[0] += work
    return wrong


@compiled
def _withdraw(game, claims, priority, wrong, counts):
    """Claims queued vertices for the other player, and what they supported anew.

    Returns the least priority that is not supported.
    """
    winner, support = claims.winner, claims.support
    without, queue = claims.without, claims.queue
    labels, blocks = game.key, claims.blocks
    player = priority & 1
    end, least, work = _drop(game, claims, wrong, np.int64(priority))
    for index in range(wrong, end):
        u = queue[index]
        winner[u] = (labels[u] >> 2) & 1
    for index in range(wrong):
        u = queue[index]
        winner[u] = 1 - player
        support[u] = True
    without[priority] -= wrong
    blocks[priority // SKIPPED] -= wrong
    counts[0] += work
    counts[1] += end
    return least


@compiled
def _drop(game, claims, wrong, least):
    """Takes the support from all that rests on the first claims in the queue.

    Returns the end of the queue, the least priority that is not supported, if it is
    less than `least`, and how much work it was.
    """
    winner, support, move = claims.winner, claims.support, claims.move
    without, queue = claims.without, claims.queue
    in_ptr, in_tail, labels = game.in_ptr, game.in_tail, game.key
    head, blocks = game.head, claims.blocks
    begin, end, work = np.int64(0), np.int64(wrong), np.int64(0)
    while begin < end:
        v = queue[begin]
        player = np.int64(winner[v])
        begin += 1
        first, last = np.int64(in_ptr[v]), np.int64(in_ptr[v + 1])
        work += last - first + 1
        for k in range(first, last):
            u = in_tail[k]
            if support[u] and winner[u] == player:
                rests = (labels[u] & 1) != player
                if not rests:
                    rests = move[u] >= 0 and head[move[u]] == v
                if rests:
                    support[u] = False
                    below = np.int64(labels[u] >> 2)
                    without[below] += 1
                    blocks[below // SKIPPED] += 1
                    least = min(least, below)
                    queue[end] = u
                    end += 1
    return end, least, work


@compiled
def win(claims, key, move, publish):
    """Takes the claims over, all of which have support."""
    winner, own_move = claims.winner, claims.move
    for v in range(len(key)):
        if key[v] < 4 * WON:
            player = np.int64(winner[v])
            if key[v] & 1 == player:
                move[v] = own_move[v]
            key[v] = 4 * (WON + player) + (key[v] & 1)
            if len(publish) > 0:
                publish[v] = player
