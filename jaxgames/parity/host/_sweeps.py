"""Games that few vertices win: from one to the next, and no edge is turned round.

An attractor asks a vertex whether one of its edges leads to what is attracted, or all
of them do. Which vertices are to be asked, those from which an edge leads to one that
has joined, is not known where edges are only known by where they begin. But edges of
many games can be taken back: of those on grids and trees, of puzzles. So those are
asked to which edges of one that has joined lead. All are asked besides in order of
their numbers, and then the other way round: vertices that a game's maker found one
after the other have edges to those just before them, so that one sweep goes a long way.
What costs most of the time elsewhere, to bring edges into the order of their targets,
is left out, and the edge by which a vertex is attracted is its owner's move.

It begins with sinks, where a play stays for ever, and goes on with the vertices of the
best priority. Where rows are long, to bring edges into order costs the most, and loops
are soon found. There it begins with all vertices that have a loop by which who controls
them wins, and asks in order alone: from each that joins, edges lead to nearly all.

It gives up early: if these are not few, if most that are asked do not join, or if one
of the best can leave. Then nothing is won.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import (
    FEW_HEADS,
    LITTLE,
    LITTLE_OF_MANY,
    LONG_ROWS,
    POLL,
    TRIED,
)

OWNER, WON = 1, 8
"""Of the byte of a vertex: its owner, and whether it is won. The two bits between say
which player has it."""


@compiled
def _find_sinks(row_ptr, head, queue, enough):
    """Puts vertices that lead to themselves alone into the queue; how many they are.

    Where they are more than is enough, not all are counted.
    """
    many, begin, size = np.int64(0), np.int64(0), len(row_ptr) - 1
    while begin < size and many <= enough:
        end = min(begin + POLL, size)
        short, found = 0, 0  # most look for what is not there: heads are read last
        for v in range(max(begin, 0), end):
            short += row_ptr[v + 1] - row_ptr[v] == 1
        if short > 0:
            for v in range(max(begin, 0), end):
                e = row_ptr[v]
                found += (row_ptr[v + 1] - e == 1) & (head[e] == v)
        if found > 0:
            for v in range(max(begin, 0), end):
                e = row_ptr[v]
                queue[many] = v
                many += (row_ptr[v + 1] - e == 1) & (head[e] == v)
        begin = end
    return many


@compiled
def _count_above(priority, above, enough):
    """How many priorities are above one; where more than is enough, not all of them."""
    many, begin, size = np.int64(0), np.int64(0), len(priority)
    while begin < size and many <= enough:
        end = min(begin + POLL, size)
        for v in range(max(begin, 0), end):
            many += priority[v] > above
        begin = end
    return many


@compiled
def _begin(owner, state):
    """Fills the bytes of vertices."""
    for v in range(len(owner)):
        state[v] = owner[v]


@compiled
def sweep_up(row_ptr, head, owner, priority, winner, move, stop, most, counts):
    """Wins a game; whether it has.

    Args:
        row_ptr: int32 `[V + 1]`, rows of edges.
        head: int32 `[E]`, where they lead.
        owner: bool `[V]`.
        priority: int32 `[V]`.
        winner: int8 `[V]`, gets winners.
        move: int32 `[V]`, gets edges where owners win, else NO_EDGE.
        stop: may be set to end it.
        most: vertices that it may attract.
        counts: of what has been done: steps, and won regions.
    """
    size, sinks = len(owner), np.int64(0)
    odd_sinks, lowest, highest = np.int64(0), np.int64(0), np.int64(0)
    row = len(head) // max(size, 1)
    dense = row >= LONG_ROWS and row * row >= size // LONG_ROWS
    even, odd = np.int64(-2), np.int64(-1)
    for v in range(size):
        found = np.int64(priority[v])
        even, odd = max(even, found | -(found & 1)), max(odd, found | -(found & 1 ^ 1))
    room = size // FEW_HEADS + 1
    leaders = size
    if min(even, odd) >= 0:
        leaders = _count_above(priority, min(even, odd), room)
    few, state = leaders <= room or leaders == size, np.empty(size, np.uint8)
    some, queue = np.empty(room, np.int32), np.empty(size, np.int32)
    if dense:
        _begin(owner, state)
        sinks, odd_sinks, lowest, highest = _loops(row_ptr, head, state, priority, move)
    elif leaders < size:
        sinks = _find_sinks(row_ptr, head, queue, size if few else room)
    few |= sinks > 0 and (sinks <= room or dense)
    if not few or size > most:
        return False
    if not dense:
        _begin(owner, state)
    if sinks > 0 and not dense:
        odd_sinks = _win_sinks(row_ptr, queue, sinks, state, priority, move)
        lowest, highest = np.int64(queue[0]), np.int64(queue[sinks - 1])
    left, going = np.int64(size - sinks), True
    for player in range(2):
        many = odd_sinks if player == 1 else sinks - odd_sinks
        if many > 0 and going:
            counts[1] += 1
            left = _attract(
                row_ptr, head, state, move, queue, player, left, lowest, highest,
                dense, stop,
            )  # fmt: skip
            going = left >= 0
    while left > 0 and going:
        if left < size:
            even, odd = _tops(state, priority)
        player, above = np.int64(odd > even), min(even, odd)
        many, lowest, highest = _heads(state, priority, player, above, some)
        left -= many
        going = many <= room or left == 0
        if going:
            left = _attract(
                row_ptr, head, state, move, queue, player, left, lowest, highest,
                dense, stop,
            )  # fmt: skip
            going = left >= 0
        if many <= room:
            for index in range(many):
                v = some[index]
                going &= _stays(row_ptr, head, state, move, player, v)
        else:
            for v in range(size):
                if going and state[v] < WON:
                    going &= _stays(row_ptr, head, state, move, player, v)
        counts[1] += 1
    for v in range(size):
        winner[v] = state[v] & (2 << 1) != 0
    counts[0] = size
    return going


@compiled
def _win_sinks(row_ptr, queue, many, state, priority, move):
    """Gives what leads to itself alone to who wins there.

    Returns at how many vertices of these player 1 wins.
    """
    at_odd = np.int64(0)
    for index in range(many):
        v = queue[index]
        player = np.int64(priority[v] & 1)
        move[v] = row_ptr[v] if state[v] == player else NO_EDGE
        state[v] |= 2 << player
        at_odd += player
    return at_odd


@compiled
def _loops(row_ptr, head, state, priority, move):
    """Gives what has a loop that who controls it wins by to him.

    A player controls a vertex that he owns, or that has one edge alone. Returns how
    many vertices these are, at how many of them player 1 wins, and the first and the
    last one.
    """
    many, at_odd, lowest, highest = np.int64(0), np.int64(0), np.int64(-1), np.int64(0)
    for v in range(len(state)):
        first, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        player = np.int64(priority[v] & 1)
        owns, found = state[v] == player, False
        if owns or last - first == 1:
            for e in range(max(first, 0), last):
                found |= head[e] == v
        if found:
            if owns:
                e = first
                while head[e] != v:
                    e += 1
                move[v] = e
            else:
                move[v] = NO_EDGE
            state[v] |= 2 << player
            if lowest < 0:
                lowest = np.int64(v)
            highest = np.int64(v)
            many += 1
            at_odd += player
    return many, at_odd, lowest, highest


@compiled
def _tops(state, priority):
    """Notes that what somebody has is won; the largest priorities of what is left.

    Returns the largest even and the largest odd one, or less than any such.
    """
    even, odd = np.int64(-2), np.int64(-1)
    for v in range(len(state)):
        found, free = np.int64(priority[v]), state[v] <= OWNER
        state[v] |= WON * (1 - free)
        even = max(even, found | -(found & 1) | -(1 - free))
        odd = max(odd, found | -(found & 1 ^ 1) | -(1 - free))
    return even, odd


@compiled
def _heads(state, priority, player, above, some):
    """Begins a region with what has a priority above one.

    Returns how many vertices these are, and the first and the last of them. They are
    put into `some` as far as there is room.
    """
    many, lowest, highest = np.int64(0), np.int64(0), np.int64(0)
    own, room = 2 << player, len(some)
    size, begin = len(state), np.int64(0)
    while begin < size:
        end, found = min(begin + POLL, size), False
        for v in range(max(begin, 0), end):
            found |= priority[v] > above
        if found:
            for v in range(max(begin, 0), end):
                if priority[v] > above and state[v] <= OWNER:
                    state[v] |= own
                    if many < room:
                        some[many] = v
                    if many == 0:
                        lowest = np.int64(v)
                    highest = np.int64(v)
                    many += 1
        begin = end
    return many, lowest, highest


@compiled
def _attract(
    row_ptr, head, state, move, queue, player, free, lowest, highest, dense, stop
):
    """Attracts to a region, by one sweep after the other.

    Args:
        row_ptr: as in `sweep_up`.
        head: likewise.
        state: the bytes of vertices.
        move: as in `sweep_up`.
        queue: int32 `[V]`, room for vertices that have just joined.
        player: whose region it is.
        free: how many vertices nobody has.
        lowest: the first vertex of the region.
        highest: the last one.
        dense: whether all loops that are good for who controls them are won.
        stop: see there.

    Returns:
        How many vertices are free then; a negative number if it has given up.
    """
    size = len(state)
    down = highest > size - 1 - lowest
    begin = highest if down else lowest
    first, going, joined = True, True, np.int64(1)
    looked, before = np.int64(0), np.int64(0)
    while going and free > 0 and joined > 0:
        index, last, step = np.int64(begin), np.int64(size), np.int64(1)
        if down:
            last, step = np.int64(-1), np.int64(-1)
        joined = np.int64(0)
        if not dense:
            looked = np.int64(0)
        while going and index != last and joined < free:
            until = index + step * min(POLL, (last - index) * step)
            while index != until and going:
                if state[index] <= OWNER:
                    looked += 1
                    if _joins(row_ptr, head, state, move, player, index, dense):
                        more, asked = np.int64(1), np.int64(0)
                        if not dense:  # else all would be asked for each that joins
                            more, asked, going = _go_on(
                                row_ptr, head, state, move, queue, player, index, stop
                            )
                        joined += more
                        looked += asked
                index += step
            pays = joined * LITTLE >= looked
            if dense:
                pays = (before + joined) * LITTLE_OF_MANY >= looked
            proves = joined == 0 and not first and (dense or 2 * free <= size)
            early = looked * TRIED < size and index != last
            going &= stop[0] == 0 and (pays or proves or early)
        free -= joined
        before += joined
        begin = 0 if down else size - 1
        down, first = not down, False
    return free if going else np.int64(-1)


@compiled
def _go_on(row_ptr, head, state, move, queue, player, v, stop):
    """Asks those to which edges lead from what has just joined, and so on.

    Of those that have joined last it takes some together: they often lie side by side,
    and few wait meanwhile.

    Returns how many have joined with the vertex, how many were asked, and whether it
    was not stopped.
    """
    queue[0] = v
    top, joined, asked, going = np.int64(1), np.int64(0), np.int64(0), True
    while top > 0 and going:
        first, end = max(top - POLL, 0), top
        for index in range(first, top):
            u = queue[index]
            for e in range(row_ptr[u], row_ptr[u + 1]):
                w = head[e]
                if state[w] <= OWNER:
                    asked += 1
                    if _follows(row_ptr, head, state, move, player, w, u):
                        queue[end] = w
                        end += 1
        joined += top - first
        for index in range(top, end):
            queue[first + index - top] = queue[index]
        top = first + end - top
        going = stop[0] == 0
    return joined, asked, going


@compiled
def _follows(row_ptr, head, state, move, player, v, joined):
    """As `_joins`, for a vertex to which an edge leads from one that has joined.

    Mostly another edge leads back, and then no other vertex need be looked at.
    """
    found = np.int64(state[v])
    if found == player:
        e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        while e < end and head[e] != joined:
            e += 1
        if e < end:
            state[v] = found | 2 << player
            move[v] = e
            return True
    return _joins(row_ptr, head, state, move, player, v, False)


@compiled
def _joins(row_ptr, head, state, move, player, v, dense):
    """Attracts a free vertex if it can be; whether it was.

    Where all good loops are won, others keep nothing: their owners lose by them.
    """
    found, own = np.int64(state[v]), 2 << player
    owns = found == player
    if dense and not owns:
        state[v] = found | own  # so that its loops do not lead elsewhere
    e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
    while e < end and (state[head[e]] & own != 0) != owns:
        e += 1
    joins = (e < end) == owns
    if joins:
        state[v] = found | own
        move[v] = e if owns else NO_EDGE
    elif dense:
        state[v] = found
    return joins


@compiled
def _stays(row_ptr, head, state, move, player, v):
    """Whether a head stays in a region; notes how its owner does."""
    own, owns = 2 << player, state[v] & OWNER == player
    e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
    while e < end and (state[head[e]] & own != 0) != owns:
        e += 1
    move[v] = e if owns and e < end else NO_EDGE
    return (e < end) == owns
