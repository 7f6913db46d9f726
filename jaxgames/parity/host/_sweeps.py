"""Games that few vertices win, by sweeps along the edges: no edge is turned round.

An attractor asks a vertex whether one of its edges leads to what is attracted, or all
of them do. To ask all vertices in order of their numbers, and then the other way round,
is enough for many games: vertices that a game's maker found one after the other have
edges to those just before them, so that one sweep goes a long way. What costs most of
the time elsewhere, to bring edges into the order of their targets, is left out, and the
edge by which a vertex is attracted is its owner's move.

It gives up early: if those with the best priority are not few, if a sweep attracts
little, or if one of them can leave. Then nothing is won.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import FEW_HEADS, LITTLE, POLL, TRIED

OWNER = 1
"""Of the byte of a vertex: its owner. The next two bits say which player has it."""


@compiled
def sweep_up(row_ptr, head, owner, priority, winner, move, stop, most, counts):
    """Wins a game by sweeps; whether it has.

    Args:
        row_ptr: int32 `[V + 1]`, rows of edges.
        head: int32 `[E]`, where they lead.
        owner: bool `[V]`.
        priority: int32 `[V]`.
        winner: int8 `[V]`, UNDECIDED everywhere: gets winners.
        move: int32 `[V]`, gets edges where owners win, else NO_EDGE.
        stop: may be set to end it.
        most: vertices that it may attract.
        counts: of what has been done: steps, and won regions.
    """
    size = len(owner)
    room = size // FEW_HEADS + 1
    state, some = np.empty(size, np.uint8), np.empty(room, np.int32)
    for v in range(size):
        state[v] = owner[v]
    even, odd = _tops(priority)
    left, going = np.int64(size), size <= most
    while left > 0 and going:
        player, above = np.int64(odd > even), min(even, odd)
        many, lowest, highest = _heads(state, priority, player, above, some)
        free = left - many
        going = many <= room or free == 0
        if going and free > 0:
            down = highest > size - 1 - lowest
            begin = highest if down else lowest
            free = _attract(row_ptr, head, state, move, player, free, begin, down, stop)
            going = free >= 0
        if going:
            own = 2 << player
            if many <= room:
                for index in range(many):
                    v = some[index]
                    going &= _stays(row_ptr, head, state, move, player, v)
            else:
                for v in range(size):
                    if state[v] & own != 0 and winner[v] == UNDECIDED:
                        going &= _stays(row_ptr, head, state, move, player, v)
        if going:
            counts[0] += left - free
            counts[1] += 1
            left = free
            even, odd = np.int64(-2), np.int64(-1)
            for v in range(size):
                if winner[v] == UNDECIDED:
                    if state[v] > OWNER:
                        winner[v] = player
                    else:
                        found = np.int64(priority[v])
                        even = max(even, found - (found & 1) * (found + 2))
                        odd = max(odd, found - (found & 1 ^ 1) * (found + 1))
    return left == 0


@compiled
def are_few(priority):
    """Whether few vertices have a priority above all of the other parity, or all."""
    size, many = len(priority), 0
    even, odd = _tops(priority)
    above = min(even, odd)
    for v in range(size):
        many += priority[v] > above
    return many == size or many <= size // FEW_HEADS + 1


@compiled
def _tops(priority):
    """The largest even and the largest odd priority, or less than any such."""
    even, odd = np.int64(-2), np.int64(-1)
    for v in range(len(priority)):
        found = np.int64(priority[v])
        even = max(even, found - (found & 1) * (found + 2))
        odd = max(odd, found - (found & 1 ^ 1) * (found + 1))
    return even, odd


@compiled
def _heads(state, priority, player, above, some):
    """Begins a region with what has a priority above one.

    Returns how many vertices these are, and the first and the last of them. They are
    put into `some` as far as there is room.
    """
    many, lowest, highest = np.int64(0), np.int64(0), np.int64(0)
    own, room = 2 << player, len(some)
    for v in range(len(state)):
        if priority[v] > above and state[v] <= OWNER:
            state[v] |= own
            if many < room:
                some[many] = v
            if many == 0:
                lowest = np.int64(v)
            highest = np.int64(v)
            many += 1
    return many, lowest, highest


@compiled
def _attract(row_ptr, head, state, move, player, free, begin, down, stop):
    """Attracts by one sweep after the other.

    Each begins with what the one before attracted last: what comes before that it has
    asked since.

    Args:
        row_ptr: as in `sweep_up`.
        head: likewise.
        state: the bytes of vertices.
        move: as in `sweep_up`.
        player: whose region it is.
        free: how many vertices nobody has.
        begin: where the first sweep begins.
        down: whether it goes down.
        stop: see there.

    Returns:
        How many vertices are free then; a negative number if it has given up.
    """
    size = len(state)
    own, first, going, joined = 2 << player, True, True, np.int64(1)
    while going and free > 0 and joined > 0:
        index, last, step = np.int64(begin), np.int64(size), np.int64(1)
        if down:
            last, step = np.int64(-1), np.int64(-1)
        joined, looked = np.int64(0), np.int64(0)
        while going and index != last:
            until = index + step * min(POLL, (last - index) * step)
            while index != until:
                found = np.int64(state[index])
                if found <= OWNER:
                    owns = found == player
                    e, end = np.int64(row_ptr[index]), np.int64(row_ptr[index + 1])
                    while e < end and (state[head[e]] & own != 0) != owns:
                        e += 1
                    looked += 1
                    if (e < end) == owns:
                        state[index] = found | own
                        move[index] = e if owns else NO_EDGE
                        joined += 1
                        begin = index
                index += step
            pays = joined > 0 if first else joined * LITTLE >= looked
            proves = joined == 0 and not first and 2 * free <= size
            early = looked * TRIED < size and index != last
            going = stop[0] == 0 and (pays or proves or early)
        free -= joined
        down, first = not down, False
    return free if going else np.int64(-1)


@compiled
def _stays(row_ptr, head, state, move, player, v):
    """Whether a head stays in a region; notes how its owner does."""
    own, owns = 2 << player, state[v] & OWNER == player
    e, end = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
    while e < end and (state[head[e]] & own != 0) != owns:
        e += 1
    move[v] = e if owns and e < end else NO_EDGE
    return (e < end) == owns
