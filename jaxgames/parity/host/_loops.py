"""What the host engine wins before it makes regions: loops.

A player controls a vertex that he owns, or that has one edge only. If such a vertex has
a loop and his parity, he wins there by going round, and so does he wherever he can lead
to it. What is won for good no promotion has to attract again; and games that come from
formulas end in loops, which decide a good part of them.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import NO_LIMIT, WON, attract


@compiled
def win_loops(game, play, stop, publish, max_steps, counts):
    """Wins the loops that are good for who controls them; whether it came to an end."""
    key, move, queue = play.key, play.move, play.queue
    head, row_ptr, loops = game.head, game.row_ptr, game.loops
    player, going = np.int64(0), True
    while player < 2 and going:
        mark = 4 * (WON + player)
        end = np.int64(0)
        for e in loops:
            v = head[e]
            old = np.int64(key[v])
            controlled = old & 1 == player or row_ptr[v + 1] - row_ptr[v] == 1
            if controlled and (old >> 2) & 1 == player and old < 4 * WON:
                key[v] = mark | (old & 1)
                move[v] = e
                queue[end] = v
                end += 1
        if end > 0:
            going = _win(game, play, end, mark, stop, publish, max_steps, counts)
        player += 1
    return going


@compiled
def win_on(game, key, move, queue, vertices, publish):
    """Attracts to what is won of some vertices, of which nothing need be attracted yet.

    It may be won by either player. So it is not enough for a vertex of the rival
    that all its successors are won: they must be the same player's.
    """
    row_ptr, head = game.row_ptr, game.head
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    for player in range(2):
        won = np.int64(WON + player)
        begin, end = np.int64(0), np.int64(0)
        for v in vertices:
            if key[v] >> 2 == won:
                queue[end] = v
                end += 1
        while begin < end:
            v = queue[begin]
            for k in range(in_ptr[v], in_ptr[v + 1]):
                u = in_tail[k]
                joins = key[u] < 4 * WON
                if joins and key[u] & 1 == player:
                    move[u] = in_edge[k]
                elif joins:
                    e, last = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
                    while joins and e < last:
                        joins = key[head[e]] >> 2 == won
                        e += 1
                if joins:
                    key[u] = 4 * won | (key[u] & 1)
                    queue[end] = u
                    end += 1
            begin += 1
        if len(publish) > 0:
            for index in range(end):
                publish[queue[index]] = player


@compiled
def _win(game, play, end, mark, stop, publish, max_steps, counts):
    """Attracts to what is won at the start of the queue; whether it came to an end."""
    queue, begin = play.queue, np.int64(0)
    done, end, _, _ = attract(
        game, play, begin, end, mark, NO_LIMIT, stop, max_steps - counts[0]
    )
    counts[0] += done
    counts[3] += 1
    if len(publish) > 0:
        for index in range(end):
            publish[queue[index]] = (mark >> 2) - WON
    return done == end
