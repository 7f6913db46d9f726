"""Zielonka's recursion, without recursion."""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.reference._game import NOBODY, Answer, Game, sort
from jaxgames.solution import NO_EDGE, UNDECIDED

IN_PLAY = 2**62
"""Number of subgame of the vertices that no attractor has taken yet."""

QUEUED = -2
"""Winner of a vertex that was attracted, and waits to attract others."""

UNCOUNTED = -1
"""Number of exits that is not known."""


class _Play(NamedTuple):
    """What the recursion knows of each vertex.

    Subgames are numbered as they are met: those inside one have larger numbers. A
    vertex is in play until the attractor of a subgame takes it. While subgame `n` is
    solved, its vertices are those taken by it or by a later one, or still in play.
    """

    winner: np.ndarray  # int8: in the subgame that took it; UNDECIDED in play
    taken: np.ndarray  # int64: number of the subgame that took it; IN_PLAY in play
    move: np.ndarray  # int32: edge that its owner takes if he wins it
    exits: np.ndarray  # int32: how many of its edges avoid the attractor
    queue: np.ndarray  # int32: the attractors of all levels, then the one that grows


def solve_zielonka(game: Game, max_steps: int, stop) -> Answer:
    """Solves a game; at most so many vertices are attracted."""
    top = int(game.priority.max(initial=0))
    by_priority = sort(top - game.priority, top + 1)[1]
    rank = np.empty(len(by_priority), np.int32)
    rank[by_priority] = np.arange(len(rank))
    exits = np.diff(game.row_ptr)
    winner, move, *counts = _zielonka(
        game, by_priority, rank, exits, top + 1, max_steps, stop
    )
    strategy = np.where(winner == game.owner, move, NO_EDGE).astype(np.int32)
    names = ("steps", "depth", "subgames")
    return winner, strategy, dict(zip(names, map(int, counts), strict=True))


@compiled
def _zielonka(game, by_priority, rank, exits, max_depth, max_steps, halt):
    """Winners and moves; and how many steps, levels and subgames it took.

    The head of a subgame are its vertices more important than all of the other parity.
    The player who likes them attracts to the head, and the rest is solved, one level
    deeper. From what his rival wins there, the rival attracts. If nothing new comes,
    the player wins all else. Otherwise the rival keeps what came, and what is left is a
    new subgame of the same level.
    """
    size = len(by_priority)
    play = _Play(
        np.full(size, UNDECIDED, np.int8),
        np.full(size, IN_PLAY, np.int64),
        np.full(size, NO_EDGE, np.int32),
        exits,
        np.empty(2 * size, np.int32),
    )
    # The most important first: todo[at:todo_end] holds all that is in play, and others.
    todo, at, todo_end = by_priority.copy(), np.int64(0), size
    # Of each level: its subgame, who attracts to the head, and where in the queue.
    number, attracts = np.zeros(max_depth, np.int64), np.zeros(max_depth, np.int64)
    begin, end = np.zeros(max_depth, np.int64), np.zeros(max_depth, np.int64)
    # Of each level and player: the last of a list of what he has won there for good.
    won = np.full((max_depth + 1, 2), NOBODY, np.int64)
    link = np.empty(size, np.int32)

    # Numba would take a plain 0 for a type of its own, and compile for it too.
    level = free = steps = depth = subgames = np.int64(0)
    solved = False
    while level > 0 or not solved:
        if not solved:
            at, stop = _head(game, play, todo, at, todo_end, free)
            if stop == free:
                solved = True
                continue
            subgames += 1
            number[level] = subgames
            attracts[level] = game.priority[play.queue[free]] % 2
            player, prey = attracts[level], np.int64(UNDECIDED)
            done, stop = _attract(
                game, play, subgames, player, prey, free, stop, max_steps - steps
            )
            steps += done - free
            begin[level], end[level] = free, stop
            free = stop
            level += 1
            depth = max(depth, level)
            won[level, 0] = won[level, 1] = NOBODY
        else:
            level -= 1
            start, free, subgame = begin[level], end[level], number[level]
            player, rival = attracts[level], 1 - attracts[level]
            mine, lost = won[level + 1, player], won[level + 1, rival]
            stop = _escapes(game, play, player, start, free, lost != NOBODY)
            done, stop = _attract(
                game, play, subgame, rival, player, free, stop, max_steps - steps
            )
            steps += done - free
            mine = _join(link, mine, _list(link, play.queue[start:free]))
            if stop == free:
                won[level, player] = _join(link, won[level, player], mine)
            else:
                todo_end = _put_back(play, link, mine, player, todo)
                _sort_by_priority(game, todo[:todo_end], by_priority, rank)
                at = np.int64(0)
                solved = todo_end == 0
                lost = _join(link, lost, _list(link, play.queue[free:stop]))
            won[level, rival] = _join(link, won[level, rival], lost)
            free = start
        if done < stop or halt[0] != 0:
            play.winner[:] = UNDECIDED
            break
    return play.winner, play.move, steps, depth, subgames


@compiled
def _head(game, play, todo, at, todo_end, free):
    """Queues the head of what is in play; where `todo` goes on, and the queue ends."""
    stop = free
    while at < todo_end:
        v = todo[at]
        if play.winner[v] == UNDECIDED:
            if stop > free and (game.priority[v] - game.priority[play.queue[free]]) % 2:
                break
            play.move[v] = NO_EDGE
            play.winner[v] = QUEUED
            play.queue[stop] = v
            stop += 1
        at += 1
    return at, stop


@compiled
def _attract(game, play, subgame, player, prey, begin, end, max_steps):
    """Attracts to queue[begin:end], at most `max_steps` steps.

    From the vertices of the subgame whose winner is `prey`, those join from which the
    player can, or his rival must, move to the attractor. Returns how far the queue was
    worked off, and its end.
    """
    stop = begin + min(max_steps, len(play.queue))
    while begin < end and begin < stop:
        v = play.queue[begin]
        for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
            u = game.in_src[k]
            if play.winner[u] != prey or play.taken[u] < subgame:
                continue
            if game.owner[u] == player:
                play.move[u] = game.in_edge[k]
            else:
                if play.exits[u] == UNCOUNTED:
                    play.exits[u] = _count_exits(game, play, prey, u)
                play.exits[u] -= 1
                if play.exits[u] > 0:
                    continue
            play.winner[u] = QUEUED
            play.queue[end] = u
            end += 1
        # Not earlier: a count of exits includes all edges to v, which then come off.
        play.winner[v] = player
        play.taken[v] = subgame
        play.exits[v] = UNCOUNTED
        begin += 1
    return begin, end


@compiled
def _count_exits(game, play, prey, v):
    """How many edges of v lead to the prey, or to what was attracted and waits.

    All these stay in the subgame: an edge to what the owner of v wins outside of it
    would have brought v there, too.
    """
    count = 0
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        winner = play.winner[game.dst[e]]
        if winner in (prey, QUEUED):
            count += 1
    return count


@compiled
def _escapes(game, play, player, begin, end, lost):
    """Queues what leaves the attractor queue[begin:end] for what the rival won.

    `lost` says whether he won anything. Vertices of the head get their moves here: to
    anywhere in what the player wins. Again, all of this is inside the subgame. Returns
    the end of the queue.
    """
    stop = end
    for index in range(begin, end):
        v = play.queue[index]
        own = game.owner[v] == player
        if (own and play.move[v] != NO_EDGE) or (not own and not lost):
            continue
        wanted = player if own else 1 - player
        play.move[v] = NO_EDGE
        for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
            if play.winner[game.dst[e]] == wanted:
                play.move[v] = e
                break
        if own == (play.move[v] == NO_EDGE):
            play.winner[v] = QUEUED
            play.queue[stop] = v
            stop += 1
    return stop


@compiled
def _put_back(play, link, last, player, todo):
    """Puts back into play what the player has left of a list; fills `todo` with it."""
    count = 0
    v = NOBODY
    while v != last:
        v = link[last] if v == NOBODY else link[v]
        if play.winner[v] == player:
            play.winner[v] = UNDECIDED
            play.taken[v] = IN_PLAY
            todo[count] = v
            count += 1
    return count


@compiled
def _sort_by_priority(game, vertices, by_priority, rank):
    """Sorts some vertices like `by_priority`, by the faster of two ways."""
    top = game.priority[by_priority[0]]
    if len(vertices) > top:
        keys, unsorted = np.empty(len(vertices), np.int32), vertices.copy()
        for index in range(len(vertices)):
            keys[index] = top - game.priority[vertices[index]]
        order = sort(keys, np.int64(top + 1))[1]
        for index in range(len(vertices)):
            vertices[index] = unsorted[order[index]]
    else:
        ranks = np.empty(len(vertices), np.int32)
        for index in range(len(vertices)):
            ranks[index] = rank[vertices[index]]
        ranks.sort()
        for index in range(len(vertices)):
            vertices[index] = by_priority[ranks[index]]


@compiled
def _list(link, vertices):
    """Links vertices to a circular list, known by its last one."""
    last = NOBODY
    if len(vertices) > 0:
        last = vertices[-1]
        previous = last
        for v in vertices:
            link[previous] = v
            previous = v
    return last


@compiled
def _join(link, last, other):
    """Joins two circular lists, in constant time."""
    if last == NOBODY:
        return other
    if other != NOBODY:
        link[last], link[other] = link[other], link[last]
        return other
    return last
