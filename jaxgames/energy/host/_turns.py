"""The turns of fast value iteration: loops over vertices that rise and their edges."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.energy.host._game import Game
from jaxgames.energy.host._heap import drop, push
from jaxgames.energy.host._numbers import at, cost_at, minus, plus
from jaxgames.host import compiled
from jaxgames.tuning.energy import POLL

POTENTIAL, DISTANCE, OPEN_EDGES, STATE = range(4)
"""Columns of the table with a row for each vertex, which fits half a cache line.

Of numbers of two words it has the lower ones.
"""

IDLE, OPEN, KNOWN, GONE = range(4)
"""States of a vertex: content; rising; rising, and its distance is known; TOP."""

WHICH = 3
"""Bits of a state that tell which of these it is."""
MAXIMISES = 4
"""Bit of the states of the player against whom the potentials are."""
LISTED = 8
"""Bit: it is among those to be looked at when the turn ends."""
BACKWARD = 16
"""Bit: it has edges with negative reduced costs, which nobody has looked at."""

FINISHED, STOPPED, TOO_LARGE = range(3)


class Run(NamedTuple):
    """What the loops work on.

    Attributes:
        game: the game.
        table: int64 `[V, 4]`, the columns named above.
        high: int64 `[V, 2]`, the upper words of potentials and distances; of numbers of
            one word an empty array of one axis.
        line: what weights are multiplied by, and what is added; both negative.
        none: the number 0.
        far: a number that is more than any distance.
        most: a number, the largest potential or distance; four times that is `far`.
        ceiling: a number; with a larger potential a vertex is TOP.
        rising: int32 `[V]`, the vertices that rise.
        listed: int32 `[V]`, the vertices to be looked at when the turn ends.
        keys: numbers `[V + E]`, distances in the heap.
        heap: int32 `[V + E]`, their vertices.
        counts: int64 `[2]`, turns and vertices that rose.
        stop: int8 `[1]`, another thread may set it to something else than 0.
        limit: vertices that may rise, more or less: no turn begins after so many.
        whole: whether all vertices of the game are there.
    """

    game: Game
    table: np.ndarray
    high: np.ndarray
    line: Any
    none: Any
    far: Any
    most: Any
    ceiling: Any
    rising: np.ndarray
    listed: np.ndarray
    keys: np.ndarray
    heap: np.ndarray
    counts: np.ndarray
    stop: np.ndarray
    limit: Any
    whole: bool


@compiled
def _held(table, high, v, column):
    """A number of a row of the table."""
    if high.ndim == 1:
        return (table[v, column],)
    return (high[v, column], table[v, column])


@compiled
def _hold(table, high, v, column, number):
    """Writes a number to a row of the table."""
    if high.ndim == 1:
        table[v, column] = number[0]
    else:
        high[v, column], table[v, column] = number[0], number[1]


@compiled
def turns(run):
    """Turn after turn until nothing rises; how that ended."""
    count, outcome = _first(run), FINISHED
    while count > 0 and outcome == FINISHED:
        if run.counts[1] >= run.limit:
            return STOPPED
        run.counts[0] += 1
        count = _relying(run, count)
        run.counts[1] += count
        size = _borders(run, count)
        outcome, listed = _distances(run, size)
        if outcome == FINISHED:
            outcome, listed = _rise(run, count, listed)
        count = _discontent(run, listed)
    return outcome


@compiled
def _first(run):
    """Lists the vertices that are not content with nothing at all."""
    game, table, rising, line = run.game, run.table, run.rising, run.line
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    count = 0
    for v in range(len(table)):
        state = table[v, STATE]
        if state & WHICH != IDLE:
            continue
        maximises = state & MAXIMISES != 0
        rises = not maximises
        for e in range(row_ptr[v], row_ptr[v + 1]):
            if (cost_at(weight, line, e) > run.none) == maximises and (
                run.whole or table[dst[e], STATE] & WHICH != GONE
            ):
                rises = maximises
                break
        if rises:
            table[v, STATE] = state | OPEN
            rising[count] = v
            count += 1
    return count


@compiled
def _rises(run, v):
    """Whether a vertex is not content with its potential."""
    game, table, high, line, none = run.game, run.table, run.high, run.line, run.none
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    own = _held(table, high, v, POTENTIAL)
    maximises = table[v, STATE] & MAXIMISES != 0
    for e in range(row_ptr[v], row_ptr[v + 1]):
        u = dst[e]
        state = table[u, STATE] & WHICH
        if state == GONE:
            if maximises:
                return True
            continue
        cost = minus(_held(table, high, u, POTENTIAL), own)
        cost = plus(cost, cost_at(weight, line, e))
        if (cost > none or (cost == none and state == OPEN)) == maximises:
            return maximises
    return not maximises


@compiled
def _relying(run, count):
    """Adds the vertices that rely on those that rise; how many there are then."""
    game, table, high, rising = run.game, run.table, run.high, run.rising
    in_ptr, in_src, in_weight = game.in_ptr, game.in_src, game.in_weight
    line, none = run.line, run.none
    if run.counts[0] == 1:
        return count  # all potentials are 0, and no edge costs nothing
    index = 0
    while index < count:
        v = rising[index]
        index += 1
        potential = _held(table, high, v, POTENTIAL)
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_src[k]
            state = table[u, STATE]
            if state & WHICH != IDLE:
                continue
            cost = minus(potential, _held(table, high, u, POTENTIAL))
            if plus(cost, cost_at(in_weight, line, k)) != none:
                continue
            if state & MAXIMISES != 0 or _rises(run, u):
                table[u, STATE] = state | OPEN
                rising[count] = u
                count += 1
    return count


@compiled
def _borders(run, count):
    """Distances over one edge to vertices that do not rise; the size of the heap."""
    game, table, high, rising = run.game, run.table, run.high, run.rising
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    line, none, far = run.line, run.none, run.far
    size = 0
    for index in range(count):
        v = rising[index]
        own, state = _held(table, high, v, POTENTIAL), table[v, STATE]
        if state & MAXIMISES == 0:
            best = far
            for e in range(row_ptr[v], row_ptr[v + 1]):
                u = dst[e]
                if table[u, STATE] & WHICH == IDLE:
                    cost = minus(_held(table, high, u, POTENTIAL), own)
                    cost = plus(cost, cost_at(weight, line, e))
                    if cost < best:
                        best = cost
            _hold(table, high, v, DISTANCE, best)
            if best < far:
                size = push(run.keys, run.heap, size, best, v)
            continue
        best, waits = none, 0
        for e in range(row_ptr[v], row_ptr[v + 1]):
            u = dst[e]
            cost = minus(_held(table, high, u, POTENTIAL), own)
            cost = plus(cost, cost_at(weight, line, e))
            if cost < none:
                table[v, STATE] = state | BACKWARD
            elif table[u, STATE] & WHICH == IDLE:
                if cost > best:
                    best = cost
            else:
                waits += 1
        _hold(table, high, v, DISTANCE, best)
        table[v, OPEN_EDGES] = waits
        if waits == 0:
            size = push(run.keys, run.heap, size, best, v)
    return size


@compiled
def _distances(run, size):
    """Dijkstra's algorithm; lists vertices that may not be content with the outcome."""
    game, table, high, listed = run.game, run.table, run.high, run.listed
    in_ptr, in_src, in_weight = game.in_ptr, game.in_src, game.in_weight
    keys, heap, line, none = run.keys, run.heap, run.line, run.none
    count, known = 0, 0
    while size > 0:
        v, distance = heap[0], at(keys, 0)
        size = drop(keys, heap, size)
        if table[v, STATE] & WHICH != OPEN:
            continue
        if distance > run.most:
            return TOO_LARGE, count
        potential = _held(table, high, v, POTENTIAL)
        if plus(potential, distance) > run.ceiling:
            continue  # as if it were never known
        known += 1
        if known % POLL == 0 and run.stop[0] != 0:
            return STOPPED, count
        table[v, STATE] ^= OPEN ^ KNOWN
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_src[k]
            state = table[u, STATE]
            cost = minus(potential, _held(table, high, u, POTENTIAL))
            cost = plus(cost, cost_at(in_weight, line, k))
            along = plus(cost, distance)
            if state & WHICH == OPEN:
                if state & MAXIMISES == 0:
                    if along < _held(table, high, u, DISTANCE):
                        _hold(table, high, u, DISTANCE, along)
                        size = push(keys, heap, size, along, u)
                elif cost >= none:
                    if along > _held(table, high, u, DISTANCE):
                        _hold(table, high, u, DISTANCE, along)
                    table[u, OPEN_EDGES] -= 1
                    if table[u, OPEN_EDGES] == 0:
                        last = _held(table, high, u, DISTANCE)
                        size = push(keys, heap, size, last, u)
            elif state & (WHICH | LISTED) == IDLE and cost <= none and along > none:
                table[u, STATE] = state | LISTED
                listed[count] = u
                count += 1
    return FINISHED, count


@compiled
def _rise(run, count, listed):
    """Adds the distances to the potentials; what has none is TOP, with its attractor.

    Returns how it ended and how many vertices are listed.
    """
    game, table, high, rising = run.game, run.table, run.high, run.rising
    in_ptr, in_src = game.in_ptr, game.in_src
    gone, outcome = 0, STOPPED if run.stop[0] != 0 else FINISHED
    for index in range(count):
        v = rising[index]
        state = table[v, STATE]
        if state & WHICH == KNOWN:
            risen = _held(table, high, v, POTENTIAL)
            risen = plus(risen, _held(table, high, v, DISTANCE))
            _hold(table, high, v, POTENTIAL, risen)
            if risen > run.most:
                outcome = TOO_LARGE
            state ^= KNOWN ^ IDLE
            if state & BACKWARD != 0:
                state ^= BACKWARD ^ LISTED
                run.listed[listed] = v
                listed += 1
            table[v, STATE] = state
        else:
            table[v, STATE] = (state | GONE) & (WHICH | MAXIMISES)
            rising[gone] = v
            gone += 1
    index = 0
    while index < gone:
        v = rising[index]
        index += 1
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_src[k]
            state = table[u, STATE]
            if state & WHICH == GONE:
                continue
            if state & MAXIMISES != 0 or _lost(run, u):
                table[u, STATE] = state | GONE
                rising[gone] = u
                gone += 1
            elif state & LISTED == 0:
                table[u, STATE] = state | LISTED
                run.listed[listed] = u
                listed += 1
    return outcome, listed


@compiled
def _lost(run, v):
    """Whether all successors of a vertex are TOP."""
    game, table = run.game, run.table
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        if table[game.dst[e], STATE] & WHICH != GONE:
            return False
    return True


@compiled
def _discontent(run, listed):
    """Of the vertices that are listed, those that rise next; how many."""
    table, count = run.table, 0
    for index in range(listed):
        v = run.listed[index]
        table[v, STATE] &= ~LISTED
        if table[v, STATE] & WHICH == IDLE and _rises(run, v):
            table[v, STATE] |= OPEN
            run.rising[count] = v
            count += 1
    return count
