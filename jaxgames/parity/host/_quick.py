"""Priority promotion for games that it wins in a few regions, as most are.

What is asked of a vertex for each edge is one byte: its owner, whether it is in a
region, and how many of its edges lead elsewhere than to what the other player has. The
bytes of a million vertices fit into a cache. All else that is read lies in rows, and is
fetched before it is needed.

It follows the published rule [1]: a promotion gives up all that lies below its target,
and a dominion gives up all regions. That is too much work for games with many of them.
So it counts its work, and leaves the rest of a game to other engines when it has done
too much.

References:
    [1] Benerecetti, Dell'Erba and Mogavero, Solving parity games via priority
    promotion, CAV 2016, doi:10.1007/978-3-319-41540-6_15.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled, prefetch
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import AHEAD, EARLY, LOOKS, POLL
from jaxgames.tuning.parity import EARLY_ATTRACTS as LITTLE

OWNER, TAKEN, ONE = 1, 2, 4
"""Of the byte of a vertex: its owner, whether it is won or in a region, and the unit in
which the edges are counted that do not lead to what the other player has."""

FULL = 63
"""Edges from which on `left` has their number."""


LEVELS = 250
"""Regions at most, so that a byte names one."""

ROOM = 512
"""Edges that are written one after the other before they are looked at."""

NOWHERE = 255
"""In the place of a level: the vertex is won."""


class Board(NamedTuple):
    """A game, and room for its regions; `V` and `E` leave padding out.

    Attributes:
        row_ptr: int32 `[V + 1]`, rows of edges.
        head: int32 `[E]`, where edges lead.
        in_ptr: int32 `[V + 1]`, rows of edges by where they lead.
        in_tail: int32 `[E]`, where those begin.
        priority: int32 `[V]`.
        queue: int32 `[V + 1]`, the regions, one after the other.
        by: int32 `[V + 1]`: to which vertex each of these was attracted, or leads.
        level: uint8 `[V]`: the number of its region, where a vertex is in one.
        far: whether edges lead to no place near the vertex where those before lead.
    """

    row_ptr: np.ndarray
    head: np.ndarray
    in_ptr: np.ndarray
    in_tail: np.ndarray
    priority: np.ndarray
    queue: np.ndarray
    by: np.ndarray
    level: np.ndarray
    far: bool


@compiled
def first_bytes(owner, row_ptr, state):
    """Fills the bytes of vertices; whether one of them has many edges."""
    most = 0
    for v in range(len(owner)):
        many = row_ptr[v + 1] - row_ptr[v]
        most = max(most, many)
        state[v] = ONE * min(many, FULL) + owner[v]
    return most >= FULL


@compiled
def promote_quickly(board, loops, owner, base, goal, stop, limit, counts):
    """Wins what few regions win; whether that is all of the game.

    Args:
        board: the game.
        loops: int32, the edges that are loops.
        owner: bool `[V]`.
        base: uint8 `[V]`, gets the bytes of vertices.
        goal: int32 `[V]`, gets the vertices to which owners move where they win.
        stop: may be set to end it.
        limit: work that it may do: vertices attracted, and edges into these.
        counts: of what has been done: steps, regions, promotions, dominions, and work.
    """
    size, row_ptr = len(base), board.row_ptr
    # How many edges are left of each vertex; empty if none has many.
    base_left = np.empty(size * first_bytes(owner, row_ptr, base), np.int32)
    for v in range(len(base_left)):
        base_left[v] = row_ptr[v + 1] - row_ptr[v]
    state, left = np.empty(size, np.uint8), base_left.copy()
    rest, near = np.empty(size, np.int32), np.empty(size, np.int32)
    begins = np.zeros(LEVELS + 1, np.int64)
    heads, players = np.zeros(LEVELS, np.int64), np.zeros(LEVELS, np.int64)
    after = _table()
    undecided = size - _win_loops(
        board, loops, after, base, base_left, goal, stop, counts
    )
    listed, going = np.int64(-1), stop[0] == 0
    while undecided > 0 and going:
        state[:], left[:] = base, base_left
        begin, end = np.int64(0), np.int64(0)
        level, named = np.int64(0), np.int64(0)
        many, (even, odd) = listed, _tops(board, rest, listed, state)
        counts[4] += undecided // LOOKS
        closed = False
        while going and not closed:
            counts[1] += 1
            player = np.int64(odd > even)
            begins[level], players[level] = end, player
            begin, above = end, min(even, odd)
            if level == 0:
                end = _heads(board, rest, many, above, state, end)
            else:
                end = _heads(board, near, many, above, state, end)
            heads[level] = end
            end = _spread(board, after, state, left, player, begin, end, stop, counts)
            going = stop[0] == 0
            closed = going and _rivals_stay(board, state, player, begin, heads[level])
            afresh = level == 0
            while closed:
                begins[level + 1] = end
                named = _name(board, begins, named, level + 1)
                closed = _own_stay(board, state, player, begin, heads[level], level)
                target = np.int64(-1)
                if closed:
                    target = _escape(board, state, players, level, begin, end, counts)
                if target < 0:
                    break
                counts[2] += 1
                first = begins[target + 1]
                for index in range(target + 1, level):
                    some, last = begins[index], begins[index + 1]
                    _give_up(board, state, left, players[index], some, last, counts)
                _move(board, begin, end, first)
                end, level = first + end - begin, target
                begin = begins[level]
                last = _look_again(board, state, player, first, end, counts)
                end = _spread(
                    board, after, state, left, player, end, last, stop, counts
                )
                named, afresh, going = level, True, stop[0] == 0
                closed = going
                if going:
                    last = heads[level]
                    closed = _rivals_stay(board, state, player, begin, last)
            if not closed:
                level += 1
                if afresh:
                    many = _free(board, rest, listed, near, state)
                else:
                    many = _free(board, near, many, near, state)
                even, odd = _tops(board, near, many, state)
                counts[4] += many // LOOKS
                little = counts[4] > limit // EARLY and counts[0] < size // LITTLE
                going = going and counts[4] <= limit and level < LEVELS and not little
        if closed:
            counts[3] += 1
            if end - begin == undecided:
                for index in range(begin, end):
                    base[board.queue[index]] |= TAKEN
            elif begin < end - begin:
                first, last = _keep(
                    board, state, left, players, begins, level, end, near, counts
                )
                end = _spread(
                    board, after, state, left, player, first, last, stop, counts
                )
                for index in range(level * (end < undecided)):
                    if players[index] != player:  # which `_keep` has left to do
                        first, last = begins[index], begins[index + 1]
                        _count_again(board, state, left, 1 - player, near, first, last)
                base[:], base_left[:] = state, left
            else:
                _move(board, begin, end, 0)
                end -= begin
                for index in range(end):
                    base[board.queue[index]] |= TAKEN
                end = _spread(
                    board, after, base, base_left, player, 0, end, stop, counts
                )
            undecided -= end
            _conclude(board, base, player, end, goal, undecided > 0)
            if undecided > 0:
                listed = _free(board, rest, listed, rest, base)
            going = stop[0] == 0 and counts[4] <= limit
    return undecided == 0


@compiled
def _win_loops(board, loops, after, base, left, goal, stop, counts):
    """Wins what loops win, and leaves those out of account that nobody would take.

    A loop is good for its owner, who wins there, or for the other player, and then the
    owner takes it only if he has no other edge. Returns how many vertices are won.
    """
    head, priority, queue, by = board.head, board.priority, board.queue, board.by
    for e in loops:
        v = head[e]
        if (base[v] ^ priority[v]) & OWNER == 1:
            _count(base, left, v, -1)
    won = np.int64(0)
    for player in range(2):
        end = np.int64(0)
        for e in loops:
            v = head[e]
            wins = (base[v] ^ priority[v]) & OWNER == 0 or base[v] < ONE
            if priority[v] & 1 == player and wins and base[v] & TAKEN == 0:
                queue[end], by[end] = v, v
                base[v] |= TAKEN
                end += 1
        if end > 0:
            counts[3] += 1
            end = _spread(board, after, base, left, player, 0, end, stop, counts)
            _conclude(board, base, player, end, goal, True)
            won += end
    return won


@compiled
def _count(state, left, v, by):
    """Counts one edge more of a vertex, or one less."""
    if state[v] >= ONE * FULL:
        left[v] += by
        if left[v] < FULL:
            state[v] -= ONE
    elif by < 0:
        state[v] -= ONE
    else:
        state[v] += ONE
        if state[v] >= ONE * FULL:
            left[v] = FULL


@compiled
def _tops(board, some, many, state):
    """The largest even and the largest odd priority of what is in no region.

    Args:
        board: the game.
        some: int32, vertices, or whatever there is where all are meant.
        many: how many of them there are, negative where all vertices are meant.
        state: the bytes of vertices.

    Returns:
        Them, or a number that is less than all of that parity.
    """
    priority = board.priority
    even, odd = np.int64(-2), np.int64(-1)
    if many < 0:
        for v in range(len(state)):
            found, taken = np.int64(priority[v]), -(np.int64(state[v]) >> 1 & 1)
            even = max(even, found | taken | -(found & 1))
            odd = max(odd, found | taken | -(found & 1 ^ 1))
    else:
        for index in range(many):
            v = some[index]
            found, taken = np.int64(priority[v]), -(np.int64(state[v]) >> 1 & 1)
            even = max(even, found | taken | -(found & 1))
            odd = max(odd, found | taken | -(found & 1 ^ 1))
    return even, odd


@compiled
def _free(board, some, many, near, state):
    """Puts what is in no region into `near`, and returns how many that are.

    The arguments are those of `_tops`.
    """
    kept = np.int64(0)
    # Without branches: who is free nobody could predict.
    if many < 0:
        for v in range(len(state)):
            near[kept] = v
            kept += state[v] & TAKEN == 0
    else:
        for index in range(many):
            v = some[index]
            near[kept] = v
            kept += state[v] & TAKEN == 0
    return kept


@compiled
def _heads(board, some, many, above, state, end):
    """Begins a region with what has a priority above one; the end of the queue.

    All of these priorities are of one parity, so that nothing distinguishes them. The
    arguments are those of `_tops`.
    """
    priority, queue, far = board.priority, board.queue, board.far
    if many < 0:
        for v in range(len(state)):
            end = _head(priority, queue, state, v, above, end, far)
    else:
        for index in range(many):
            end = _head(priority, queue, state, some[index], above, end, far)
    return end


@compiled
def _head(priority, queue, state, v, above, end, far):
    """Adds a vertex to a region if it is one of its heads; the end then."""
    if far:  # it is as in `_free`
        old = np.int64(state[v])
        taken = (priority[v] > above) & (old & TAKEN == 0)
        queue[end] = v
        state[v] = old | (TAKEN * taken)
        end += taken
    elif priority[v] > above and state[v] & TAKEN == 0:
        queue[end] = v
        state[v] |= TAKEN
        end += 1
    return end


@compiled
def _spread(board, after, state, left, player, begin, end, stop, counts):
    """Attracts to queue[begin:end]; where it ends then.

    An edge counts no more when it leads to what the other player has. Loops count
    always, or never.
    """
    in_ptr, in_tail = board.in_ptr, board.in_tail
    queue, by, far = board.queue, board.by, board.far
    room = ROOM * far
    tails, heads = np.empty(room, np.int32), np.empty(room, np.int32)
    first, work, done = np.int64(begin), np.int64(0), np.int64(0)
    begin = first
    while begin < end and (begin % POLL != 0 or stop[0] == 0):
        if begin + 2 * AHEAD < end:
            prefetch(in_ptr, queue[begin + 2 * AHEAD])
            prefetch(in_tail, in_ptr[queue[begin + AHEAD]])
        if far:
            many, begin, done = _write_down(
                in_ptr, in_tail, queue, begin, end, done, tails, heads
            )
            for k in range(many):
                prefetch(state, tails[min(k + 2 * AHEAD, many - 1)])
                end = _ask(
                    after, state, left, queue, by, player, tails[k], heads[k], end
                )
            work += many
        else:
            v = queue[begin]
            into, until = np.int64(in_ptr[v]), np.int64(in_ptr[v + 1])
            for k in range(into, until):
                end = _ask(after, state, left, queue, by, player, in_tail[k], v, end)
            work += until - into
            begin += 1
    counts[0] += begin - first
    counts[4] += begin - first + work
    return end


@compiled
def _ask(after, state, left, queue, by, player, u, v, end):
    """Attracts a vertex by an edge to one that has joined, if it can be; the end then.

    Without branches: which are taken nobody could predict. `after` is from `_table`.
    """
    old = np.int64(state[u])
    new = np.int64(after[player, old])
    if u == v:
        new = old
    if old >= ONE * FULL:
        rival = ((old ^ player) & OWNER) * (u != v)
        left[u] -= rival
        new = _asked(old, player, rival * (left[u] < FULL))
    queue[end], by[end] = u, v
    state[u] = new
    return end + ((old ^ new) & TAKEN) // TAKEN


@compiled
def _asked(old, player, fewer):
    """The byte of a vertex after it was asked, and has so many fewer edges left."""
    new = old - ONE * fewer
    own = (old ^ player) & OWNER == 0
    return new | (TAKEN * ((new & TAKEN == 0) & (own | (new < ONE))))


@compiled
def _table():
    """What `_asked` makes of each byte, for either player, where an edge less is left.

    To look it up takes a fifth less time of all than to find it out for each edge.
    """
    after = np.empty((2, 256), np.uint8)
    for player in range(2):
        for old in range(256):
            after[player, old] = _asked(old, player, (old ^ player) & OWNER) & 255
    return after


@compiled
def _write_down(in_ptr, in_tail, queue, begin, end, done, tails, heads):
    """Writes the edges into some vertices of the queue one after the other.

    Where the next of many short rows ends would be mispredicted else, and nothing
    could be fetched from memory before that is known.

    Args:
        in_ptr: as in `Board`, like the next two.
        in_tail: likewise.
        queue: likewise.
        begin: the first of these vertices.
        end: of the queue.
        done: how many edges of the first vertex were written before.
        tails: gets where they begin.
        heads: gets where they lead.

    Returns:
        How many edges these are, the next vertex of the queue, and how many of its
        edges are written.
    """
    room, many, edges = len(tails), np.int64(0), len(in_tail)
    last = min(np.int64(end), begin + room // 8)
    while begin < last and many < room:
        if begin + 2 * AHEAD < end:
            prefetch(in_ptr, queue[begin + 2 * AHEAD])
            prefetch(in_tail, in_ptr[queue[begin + AHEAD]])
        v = queue[begin]
        into, until = np.int64(in_ptr[v]) + done, np.int64(in_ptr[v + 1])
        if until - into <= 8 and into + 8 <= edges and many + 8 <= room:
            # All four are written, since how many there are nobody could predict.
            _write_four(in_tail, into, tails, heads, many, v)
            if until - into > 4:
                _write_four(in_tail, into + 4, tails, heads, many + 4, v)
            many += until - into
            begin += 1
            done = np.int64(0)
        else:
            more = min(until - into, room - many)
            for k in range(more):
                tails[many + k], heads[many + k] = in_tail[into + k], v
            many += more
            ends = into + more == until
            begin += ends
            done = (done + more) * (1 - ends)
    return many, begin, done


@compiled
def _write_four(in_tail, into, tails, heads, at, v):
    """Writes down four edges to a vertex, or what follows them."""
    tails[at], tails[at + 1] = in_tail[into], in_tail[into + 1]
    tails[at + 2], tails[at + 3] = in_tail[into + 2], in_tail[into + 3]
    heads[at] = heads[at + 1] = heads[at + 2] = heads[at + 3] = v


@compiled
def _rivals_stay(board, state, player, begin, last):
    """Whether no head of the rival's leads to the rest of the game."""
    queue, stays, index = board.queue, True, np.int64(begin)
    while stays and index < last:
        found = np.int64(state[queue[index]])
        stays = ((found ^ player) & OWNER) * found < ONE  # without another branch
        index += 1
    return stays


@compiled
def _own_stay(board, state, player, begin, last, level):
    """Whether each head of the player's leads to the region; notes where."""
    row_ptr, head, queue, by = board.row_ptr, board.head, board.queue, board.by
    stays, index = True, np.int64(begin)
    while stays and index < last:
        v = queue[index]
        if (state[v] ^ player) & OWNER == 0:
            e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
            stays = False
            while not stays and e < end:
                w = head[e]
                stays = state[w] & TAKEN != 0 and board.level[w] == level
                by[index] = w
                e += 1
        index += 1
    return stays


@compiled
def _escape(board, state, players, level, begin, end, counts):
    """The nearest region of the player's that the rival can leave a closed one for.

    Negative if there is none.
    """
    row_ptr, head, queue = board.row_ptr, board.head, board.queue
    player = players[level]
    nearest = np.int64(level) - 1
    while nearest >= 0 and players[nearest] != player:
        nearest -= 1
    found, index = np.int64(-1), np.int64(begin)
    while found < nearest and index < end:
        v = queue[index]
        if (state[v] ^ player) & OWNER == 1:
            counts[4] += 1
            for e in range(row_ptr[v], row_ptr[v + 1]):
                w = head[e]
                there = np.int64(board.level[w])
                if there < level and players[there] == player:
                    found = max(found, there)
        index += 1
    return found


@compiled
def _give_up(board, state, left, player, begin, end, counts):
    """Makes the vertices of a region free."""
    _free_all(board, state, begin, end)
    queue = board.queue
    counts[4] += _count_again(board, state, left, player, queue, begin, end)


@compiled
def _free_all(board, state, begin, end):
    """Notes that the vertices of a region are in none, and nothing else."""
    queue = board.queue
    for index in range(begin, end):
        state[queue[index]] &= 255 - TAKEN


@compiled
def _count_again(board, state, left, player, some, begin, end):
    """Counts the edges to vertices that a player had; how much work it was."""
    in_ptr, in_tail, work = board.in_ptr, board.in_tail, np.int64(end - begin)
    for index in range(begin, end):
        if index + 2 * AHEAD < end:
            prefetch(in_ptr, some[index + 2 * AHEAD])
            prefetch(in_tail, in_ptr[some[index + AHEAD]])
        v = some[index]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            old = np.int64(state[u])
            rival = ((old ^ player) & OWNER) * (u != v)
            if old >= ONE * (FULL - 1):
                if rival == 1:
                    _count(state, left, u, 1)
            else:
                state[u] = old + ONE * rival
        work += in_ptr[v + 1] - in_ptr[v]
    return work


@compiled
def _keep(board, state, left, players, begins, level, end, near, counts):
    """Gives up all regions but the last, and attracts to it what is free then.

    It becomes the first. Edges to what the rival gives up are not counted again: that
    matters to no attractor of the player, and to nobody if all is attracted. Returns
    where that begins that was attracted, and its end.
    """
    row_ptr, head, queue, by = board.row_ptr, board.head, board.queue, board.by
    begin, player = begins[level], players[level]
    for index in range(level):
        first, last = begins[index], begins[index + 1]
        if players[index] == player:
            _give_up(board, state, left, player, first, last, counts)
        else:
            _free_all(board, state, first, last)
    for index in range(begin):
        near[index] = queue[index]
    _move(board, begin, end, 0)
    first = end - begin
    last = first
    for index in range(begin):
        if index + 2 * AHEAD < begin:
            prefetch(row_ptr, near[index + 2 * AHEAD])
            prefetch(head, row_ptr[near[index + AHEAD]])
        u = near[index]
        found = np.int64(state[u])
        joins = found < ONE
        if (found ^ player) & OWNER == 0:
            e, stop = np.int64(row_ptr[u]), np.int64(row_ptr[u + 1])
            joins = False
            while not joins and e < stop:
                w = head[e]
                joins = state[w] & TAKEN != 0 and board.level[w] == level
                by[last] = w
                e += 1
            counts[4] += e - row_ptr[u]
        if joins:
            queue[last] = u
            state[u] |= TAKEN
            last += 1
    return first, last


@compiled
def _look_again(board, state, player, begin, end, counts):
    """Attracts to what has joined a region what was in others then; the new end."""
    in_ptr, in_tail = board.in_ptr, board.in_tail
    queue, by, last = board.queue, board.by, np.int64(end)
    for index in range(begin, end):
        v = queue[index]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            found = np.int64(state[u])
            own = (found ^ player) & OWNER == 0
            if found & TAKEN == 0 and (own or found < ONE):
                queue[last], by[last] = u, v
                state[u] |= TAKEN
                last += 1
        counts[4] += 1 + in_ptr[v + 1] - in_ptr[v]
    return last


@compiled
def _name(board, begins, named, levels):
    """Writes in which region vertices are, of regions where that is not written yet."""
    queue, level = board.queue, board.level
    for number in range(named, levels):
        for index in range(begins[number], begins[number + 1]):
            level[queue[index]] = number
    return levels


@compiled
def _move(board, begin, end, to):
    """Moves a part of the queue to the front."""
    queue, by = board.queue, board.by
    if begin != to:
        for index in range(begin, end):
            queue[to + index - begin] = queue[index]
            by[to + index - begin] = by[index]


@compiled
def _conclude(board, base, player, end, goal, names):
    """Writes down how the start of the queue is won; and that it is, if there is more.

    A vertex is its owner's if it has a goal.
    """
    queue, by, level = board.queue, board.by, board.level
    if board.far:  # then who owns the next vertex nobody could predict
        for index in range(end):
            v = queue[index]
            owns = (base[v] ^ player) & OWNER == 0
            goal[v] = owns * (by[index] - NO_EDGE) + NO_EDGE
    else:
        for index in range(end):
            v = queue[index]
            if (base[v] ^ player) & OWNER == 0:
                goal[v] = by[index]
    if names:
        for index in range(end):
            level[queue[index]] = NOWHERE


@compiled
def answer(row_ptr, head, base, goal, winner, far, begin, end):
    """Fills winners, and puts the first edge to it in the place of a goal.

    Where edges lead far nobody could predict which it is, nor who wins, and no branch
    asks about that in a row of up to four. What is read may be edges of later vertices,
    but an edge of the vertex itself comes first.
    """
    many = len(head)
    for v in range(max(begin, 0), end):
        to, e = np.int64(goal[v]), np.int64(row_ptr[v])
        owns = to >= 0
        if far and row_ptr[v + 1] - e <= 4 and e + 2 < many:
            first = head[e] != to
            second = first & (head[e + 1] != to)
            third = second & (head[e + 2] != to)
            e += first
            e += second
            e += third
        elif owns:
            while head[e] != to:
                e += 1
        goal[v] = owns * (e - NO_EDGE) + NO_EDGE
        found = np.int64(base[v])
        won, player = (found // TAKEN) & 1, (found & OWNER) ^ owns ^ 1
        winner[v] = won * (player - UNDECIDED) + UNDECIDED
