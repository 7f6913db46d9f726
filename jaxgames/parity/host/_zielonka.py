"""Zielonka's recursion on the host, without recursion, from one turn to the next.

The most important vertices of a subgame of one parity are its *head*. The player who
likes them attracts to it, and the rest is solved, one level deeper. From what his rival
wins there the rival attracts. If nothing new comes, the player wins all else. Otherwise
the rival keeps what came, and what is left is a new subgame of the same level [1].

It has little to do where few subgames are solved again, however many levels there are:
what the others do region by region, and again when a region changes, it does once. What
the rival wins at the first level is won for good.

References:
    [1] Zielonka, Infinite games on finitely coloured graphs with applications to
    automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import POLL

IN_PLAY = 2**62
"""Number of subgame of the vertices that no attractor has taken yet."""

NOBODY = -1


class Recursion(NamedTuple):
    """What the recursion knows of each vertex, and its stack.

    Subgames are numbered as they are met: those inside one have larger numbers. A
    vertex is in play until the attractor of a subgame takes it. While subgame `n` is
    solved, its vertices are those taken by it or by a later one, or still in play.
    """

    winner: np.ndarray  # int8 [V]: in the subgame that took it; UNDECIDED in play
    taken: np.ndarray  # int64 [V]: number of that; IN_PLAY in play; -1: won before
    move: np.ndarray  # int32 [V]: edge that its owner takes if he wins it
    seen: np.ndarray  # int32 [V]: where the search of a row ended
    queue: np.ndarray  # int32 [2 V]: attractors of all levels, then the one that grows
    todo: np.ndarray  # int32 [V]: all that is in play by importance, and others
    link: np.ndarray  # int32 [V]: circular lists of what is won
    number: np.ndarray  # int64, by level: its subgame
    begin: np.ndarray  # int32, by level: where its attractor is in the queue
    end: np.ndarray  # int32, by level
    won: np.ndarray  # int32 [levels + 1, 2]: the last of what a player has won there
    place: np.ndarray  # int64 [7]: whether it goes on, and where: see `recurse`


def new_recursion(size: int, priorities: int) -> Recursion:
    """Room for so many vertices, of so many compressed priorities."""
    return Recursion(
        winner=np.empty(size, np.int8),
        taken=np.empty(size, np.int64),
        move=np.empty(size, np.int32),
        seen=np.zeros(size, np.int32),
        queue=np.empty(2 * size, np.int32),
        todo=np.empty(size, np.int32),
        link=np.empty(size, np.int32),
        number=np.empty(priorities, np.int64),
        begin=np.empty(priorities, np.int32),
        end=np.empty(priorities, np.int32),
        won=np.empty((priorities + 1, 2), np.int32),
        place=np.zeros(7, np.int64),
    )


@compiled
def recurse(game, key, play, stop, limit, counts):
    """Solves subgames until there are no more, or there was too much work.

    `counts` are steps, which are edges and vertices looked at, and subgames. Returns
    whether all is won. Where too much work has ended it, it goes on from there when it
    is called again, if nobody else has won anything since. Nothing of what is not won
    can be attracted to what is.
    """
    queue, number, begin, end = play.queue, play.number, play.begin, play.end
    won, place, link, key_of = play.won, play.place, play.link, game.key
    if place[0] == 0:
        _begin(game, key, play)
    level, free = np.int64(place[1]), np.int64(place[2])
    at, todo_end = np.int64(place[3]), np.int64(place[4])
    subgames, solved = np.int64(place[5]), place[6] != 0
    going = True
    while going and (level > 0 or not solved) and counts[0] < limit:
        if not solved:
            first = at
            at, last = _head(game, play, at, todo_end, free, subgames + 1)
            counts[0] += at - first + 1
            solved = last == free
            if not solved:
                subgames += 1
                counts[1] += 1
                player = np.int64(key_of[queue[free]] >> 2) & 1
                number[level], begin[level] = subgames, free
                asks = player, np.int64(UNDECIDED), subgames
                done, last, work = _attract(game, play, free, last, asks, stop)
                counts[0] += work
                going = done == last
                end[level] = free = last
                level += 1
                won[level, 0] = won[level, 1] = NOBODY
        else:
            level -= 1
            start, free = np.int64(begin[level]), np.int64(end[level])
            player = np.int64(key_of[queue[start]] >> 2) & 1
            rival = 1 - player
            mine, lost = (
                np.int64(won[level + 1, player]),
                np.int64(won[level + 1, rival]),
            )
            last, work = _escapes(game, play, start, free, player, lost != NOBODY)
            asks = rival, player, np.int64(number[level])
            done, last, more = _attract(game, play, free, last, asks, stop)
            counts[0] += work + more
            going = done == last
            mine = _join(link, mine, _list(link, queue, start, free))
            if last == free:
                won[level, player] = _join(link, np.int64(won[level, player]), mine)
            else:
                todo_end, work = _put_back(game, play, start, mine, player)
                counts[0] += work
                at = np.int64(0)
                solved = todo_end == 0
                lost = _join(link, lost, _list(link, queue, free, last))
            won[level, rival] = _join(link, np.int64(won[level, rival]), lost)
            free = start
    place[0], place[1], place[2], place[3] = going, level, free, at
    place[4], place[5], place[6] = todo_end, subgames, solved
    return going and level == 0 and solved


@compiled
def _begin(game, key, play):
    """Puts all in play that is not won."""
    winner, taken, todo, place = play.winner, play.taken, play.todo, play.place
    count = np.int64(0)
    for v in game.order:
        player = np.int64(key[v] >> 2) - WON
        if player >= 0:
            winner[v], taken[v] = player, -1
        else:
            winner[v], taken[v] = UNDECIDED, IN_PLAY
            todo[count] = v
            count += 1
    play.won[0, 0] = play.won[0, 1] = NOBODY
    place.fill(0)
    place[4] = count


@compiled
def _head(game, play, at, todo_end, free, subgame):
    """Queues the head of what is in play; where `todo` goes on, and the queue ends."""
    winner, taken, move = play.winner, play.taken, play.move
    todo, queue, priorities = play.todo, play.queue, game.key
    end, player, going = np.int64(free), np.int64(NOBODY), True
    while going and at < todo_end:
        v = todo[at]
        if winner[v] == UNDECIDED:
            likes = np.int64(priorities[v] >> 2) & 1
            going = player == NOBODY or likes == player
            if going:
                player = likes
                move[v] = NO_EDGE
                winner[v] = player
                taken[v] = subgame
                queue[end] = v
                end += 1
        at += going
    return at, end


@compiled
def _attract(game, play, begin, end, asks, stop):
    """Attracts to queue[begin:end]; `asks` are player, prey and subgame.

    From the vertices of the subgame whose winner is the prey, those join from which the
    player can, or his rival must, move to the attractor. Returns how far the queue was
    worked off, its end, and how much work it was.

    No edge leads from these out of the subgame to what has the prey for its winner: it
    would have brought them there, too.
    """
    player, prey, subgame = asks
    winner, taken, move = play.winner, play.taken, play.move
    seen, queue = play.seen, play.queue
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    begin, work = np.int64(begin), np.int64(0)
    while begin < end and (begin % POLL != 0 or stop[0] == 0):
        v = queue[begin]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            if winner[u] != prey or taken[u] < subgame:
                continue
            if owners[u] & 1 == player:
                move[u] = in_edge[k]
            else:
                row, last = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
                e, left = row + seen[u], last - row
                while left > 0 and winner[head[e]] != prey:
                    left -= 1
                    e += 1
                    if e == last:
                        e = row
                work += last - row - left
                if left > 0:
                    seen[u] = e - row
                    continue
            winner[u] = player
            taken[u] = subgame
            queue[end] = u
            end += 1
        work += 1 + in_ptr[v + 1] - in_ptr[v]
        begin += 1
    return begin, end, work


@compiled
def _escapes(game, play, begin, end, player, lost):
    """Queues what leaves the attractor queue[begin:end] for what the rival won.

    `lost` says whether he won anything. Vertices of the head get their moves here: to
    anywhere in what the player wins. Again, all of this is inside the subgame. Returns
    the end of the queue, and how much work it was.
    """
    winner, move, queue, owners = play.winner, play.move, play.queue, game.key
    row_ptr, head = game.row_ptr, game.head
    stop, work = np.int64(end), np.int64(end - begin)
    for index in range(begin, end):
        v = queue[index]
        own = owners[v] & 1 == player
        if (not own and lost) or (own and move[v] == NO_EDGE):
            wanted = player if own else 1 - player
            e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
            work -= e
            while e < last and winner[head[e]] != wanted:
                e += 1
            work += e
            found = e < last
            if found:
                move[v] = e
            if own != found:
                winner[v] = 1 - player
                queue[stop] = v
                stop += 1
    return stop, work


@compiled
def _put_back(game, play, start, last, player):
    """Puts back into play what the player has left of a list.

    Lists it by importance. Returns how much it is, and how much work that was.
    """
    winner, taken, todo, link = play.winner, play.taken, play.todo, play.link
    order, ranks = game.order, game.rank
    first = np.int64(ranks[play.queue[start]])
    count, length, v = np.int64(0), np.int64(0), np.int64(NOBODY)
    while v != last:
        v = np.int64(link[last]) if v == NOBODY else np.int64(link[v])
        length += 1
        if winner[v] == player:
            winner[v] = UNDECIDED
            taken[v] = IN_PLAY
            todo[count] = ranks[v]
            count += 1
    if 4 * count < len(order) - first:
        some = todo[:count]
        some.sort()
        for index in range(count):
            todo[index] = order[todo[index]]
        length += 4 * count
    else:
        length += len(order) - first
        count = np.int64(0)
        for index in range(first, len(order)):
            v = np.int64(order[index])
            if winner[v] == UNDECIDED:
                todo[count] = v
                count += 1
    return count, length


@compiled
def _list(link, queue, begin, end):
    """Links queue[begin:end] to a circular list, known by its last one."""
    last = np.int64(NOBODY)
    if begin < end:
        last = np.int64(queue[end - 1])
        previous = last
        for index in range(begin, end):
            v = np.int64(queue[index])
            link[previous] = v
            previous = v
    return last


@compiled
def _join(link, last, other):
    """Joins two circular lists, in constant time."""
    if last == NOBODY:
        joined = other
    else:
        joined = last
        if other != NOBODY:
            link[last], link[other] = link[other], link[last]
            joined = other
    return joined


@compiled
def keep(play, key, move, publish):
    """Wins for good what is won at the first level; how many vertices."""
    won, link, moves, count = play.won, play.link, play.move, np.int64(0)
    for player in range(2):
        last, v = np.int64(won[0, player]), np.int64(NOBODY)
        while v != last:
            v = np.int64(link[last]) if v == NOBODY else np.int64(link[v])
            if key[v] < 4 * WON:
                key[v] = 4 * (WON + player) | (key[v] & 1)
                move[v] = moves[v]
                count += 1
                if len(publish) > 0:
                    publish[v] = player
    return count
