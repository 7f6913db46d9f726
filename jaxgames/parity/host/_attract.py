"""What the host engine knows of a play, and how a region attracts.

Numba counts references to the arrays of a tuple, by atomic instructions that cost more
than a small region does, unless it sees that a function need not. It does where the
arrays are named first, a loop is left by its condition and the function by its end, and
no branch alone reads an array. That is why the functions here are written so.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import EDGES_OF_A_VERTEX as EDGES
from jaxgames.tuning.parity import LONG_ROW as LONG
from jaxgames.tuning.parity import POLL

WON = 2**28
"""Region of what player 0 has won for good; that of player 1 is the next."""

NO_LIMIT = 2**62


class Prepared(NamedTuple):
    """A parity game as the engine reads it; `V` and `E` leave padding out.

    Loops that are of no use to their owners lead elsewhere: see `prepare`.

    Attributes:
        key: int32 `[V]`, four times the compressed priority, and the owner.
        row_ptr: int32 `[V + 1]`; the edges of vertex `v` are `row_ptr[v]` to
            `row_ptr[v + 1] - 1`.
        head: int32 `[E]`, where each edge leads.
        in_ptr: int32 `[V + 1]`; the edges into `v` are `in_edge[k]`, from
            `in_tail[k]`, for `in_ptr[v] <= k < in_ptr[v + 1]`.
        in_tail: int32 `[E]`.
        in_edge: int32 `[E]`.
        order: int32 `[V]`, the vertices, the most important first.
        rank: int32 `[V]`, where each stands in `order`.
        loops: int32, the edges that are loops.
        edges: int32 `[E]`, in a part of a game which edge of it each is; else empty.
        useless: int32 `[3, L]`: the vertices of loops that lead elsewhere; these loops,
            as edges; and edges of the same vertices that lead there in the arena, too.
        size: number of vertices with padding.
    """

    key: np.ndarray
    row_ptr: np.ndarray
    head: np.ndarray
    in_ptr: np.ndarray
    in_tail: np.ndarray
    in_edge: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    loops: np.ndarray
    edges: np.ndarray
    useless: np.ndarray
    size: int

    def of_arena(self, move: np.ndarray) -> np.ndarray:
        """Moves of the engine as those of the arena: int32 `[V]`.

        The edge of the arena in place of a loop that leads elsewhere here; all others
        are the same edges.
        """
        if self.useless.size == 0:
            return move
        vertex, loop, other = self.useless
        taken = move[vertex] == loop
        if not taken.any():
            return move
        move = move.copy()
        move[vertex[taken]] = other[taken]
        return move


class Play(NamedTuple):
    """What is known of the vertices, and the stack of regions.

    A vertex that is in no region has its priority in the place of a label: it may
    become the start of a region of that priority. Labels of regions are larger than all
    priorities, fall up the stack, and have the parity of their player.

    Region number `level` is `queue[begin[level]:begin[level + 1]]`, the last one up to
    the end. It starts with its heads, the vertices of its priority, up to
    `heads[level]`. Those before `checked[level]` do not leave the region for the rest.
    """

    key: np.ndarray  # int32: four times the label; 2 where no edge leads down; owner
    move: np.ndarray  # int32: edge that keeps its owner in the region
    seen: np.ndarray  # int32: where the search of a long row ended
    queue: np.ndarray  # int32: the stack
    idle: np.ndarray  # bool: blocks of the order without a vertex that is in no region
    taken: np.ndarray  # bool: those of the order that were in one when last looked at
    rim: np.ndarray  # int32: what `_escape` knows of the last region
    label: np.ndarray  # int32, by level, as all that follow
    priority: np.ndarray  # of its heads
    begin: np.ndarray
    heads: np.ndarray
    checked: np.ndarray


@compiled
def attract(game, play, begin, end, mark, least, stop, max_steps):
    """Attracts to queue[begin:end] what is in lower regions than that of the mark.

    Returns how far the queue was worked off, and its end; the highest priority of a
    region that is spoiled by it, if not less than `least`; and how much work that was.
    Priorities of regions are given four times.
    """
    key, move, queue, seen = play.key, play.move, play.queue, play.seen
    row_ptr, head = game.row_ptr, game.head
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    player = (mark >> 2) & 1
    limit = min(mark, 4 * WON)
    spoiled, work = np.int64(-1), np.int64(0)
    last = begin + min(max_steps, len(queue))
    while begin < end and begin < last and (begin % POLL != 0 or stop[0] == 0):
        v = queue[begin]
        into, until = np.int64(in_ptr[v]), np.int64(in_ptr[v + 1])
        work += 1 + (until - into) // EDGES
        for k in range(into, until):
            u = in_tail[k]
            old = np.int64(key[u])
            if old >= limit:
                continue
            if old & 1 == player:
                move[u] = in_edge[k]
            else:
                first, stop_row = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
                left = limit
                if stop_row - first <= LONG:
                    enough = max(least, old & ~3)
                    for e in range(first, stop_row):
                        successor = np.int64(key[head[e]])
                        if successor < left:
                            left = successor
                            if left < enough:
                                break
                else:
                    before = np.int64(seen[u])
                    left = lowest(key, head, seen, u, first, stop_row, limit)
                    turned = np.int64(seen[u]) - before
                    work += (turned + (stop_row - first) * (turned < 0)) // EDGES
                if left < limit:
                    if left >= least and left >= old & ~3:
                        spoiled = max(spoiled, left)
                    continue
            spoiled = max(spoiled, old)
            key[u] = mark | (old & 1)
            queue[end] = u
            end += 1
        begin += 1
    return begin, end, spoiled >> 2, work


@compiled
def pull(game, play, vertices, first, last, end, mark, least):
    """What of vertices[first:last] moves, or must move, to the region of the mark.

    Begins `attract` from the other side, where that is the smaller one. Returns the end
    of the queue, what is spoiled, and how much work that was.
    """
    key, moves, queue = play.key, play.move, play.queue
    row_ptr, head = game.row_ptr, game.head
    player = (mark >> 2) & 1
    limit = min(mark, 4 * WON)
    spoiled, looked = np.int64(-1), np.int64(0)
    for index in range(first, last):
        u = vertices[index]
        old = np.int64(key[u])
        own = old & 1 == player
        move, left = NO_EDGE, limit
        enough = max(least, old & ~3)
        e, stop_row = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
        while (
            e < stop_row
            and old < limit
            and move == NO_EDGE
            and (left == limit or left >= enough)
        ):
            successor = np.int64(key[head[e]])
            if not own:
                left = min(left, successor)
            elif (successor ^ mark) < 4:
                move = e
            e += 1
        looked += e - row_ptr[u]
        if old >= limit or (own and move == NO_EDGE):
            continue
        if left < limit:
            if left >= enough:
                spoiled = max(spoiled, left)
            continue
        if own:
            moves[u] = move
        spoiled = max(spoiled, old)
        key[u] = mark | (old & 1)
        queue[end] = u
        end += 1
    return end, spoiled >> 2, looked // EDGES


@compiled
def lowest(key, head, seen, u, first, stop, limit):
    """Any key below the limit among many successors, else the limit."""
    found, e = np.int64(limit), first + seen[u]
    left = stop - first
    while left > 0 and found >= limit:
        found = np.int64(key[head[e]])
        seen[u] = e - first
        e = e + 1 if e + 1 < stop else first
        left -= 1
    return min(found, limit)
