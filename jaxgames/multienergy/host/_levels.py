"""Minimal budgets in the order of their sums.

Where no move adds energy, a budget needs no more after a move than before it: so those
of the least sum are found first, and each one that is taken up is minimal for good, as
distances are in Dijkstra's algorithm. Where moves add energy, one that was taken up may
fall out again; what it has led to falls out with it, for something less is found.
"""

from typing import Any

import numpy as np

from jaxgames.host import compiled
from jaxgames.multienergy.host._words import (
    before,
    insert,
    larger,
    level_of,
    words_of,
)

SOLVED, STOPPED, FULL = 0, 1, -1

ROW, COUNT, START, MISSING, ROOM, PLACES = 8, 0, 1, 2, 3, 4
"""What the pool has for each position, so that it is read at once: how many budgets
there are, where they start, how many moves of the defender cannot be met yet (-1 where
he does not choose), how many budgets there is room for; then room for the first few.
"""


@compiled
def turned(offsets, targets, update_id):
    """The moves into each position: where they start, from where, by which updates."""
    size = len(offsets) - 1
    edges = offsets[size]
    back = np.zeros(size + 2, np.int32)
    for edge in range(edges):
        back[targets[edge] + 2] += 1
    for v in range(size):
        back[v + 2] += back[v + 1]
    sources, marks = np.empty(edges, np.int32), np.empty(edges, update_id.dtype)
    for v in range(size):
        for edge in range(offsets[v], offsets[v + 1]):
            place = back[targets[edge] + 1]
            sources[place], marks[place] = v, update_id[edge]
            back[targets[edge] + 1] = place + 1
    return back[: size + 1], sources, marks


@compiled
def _meet(rows, starts, ties, masks, pool, offsets, targets, update_id, v, one, two):
    """The minimal budgets with which all moves of a position can be met.

    Returns:
        Whether the second buffer holds them, not the first; and how many there are: -1
        where there was no room.
    """
    bits, guards, caps = masks
    one[0] = 0
    have, other = 1, False
    for edge in range(offsets[v], offsets[v + 1]):
        t, u = targets[edge], update_id[edge]
        count, start = pool[ROW * t + COUNT], pool[ROW * t + START]
        old, new = (two, one) if other else (one, two)
        found = 0
        for k in range(start, start + count):
            need = before(rows, starts, ties, bits, guards, caps, u, pool[k])
            for i in range(have):
                if found == len(new):
                    return other, -1
                join = larger(old[i], need, guards, bits)
                more = insert(new, 0, found, join, guards)
                if more >= 0:
                    found = more
        other, have = not other, found
    return other, have


@compiled
def begin(offsets, defender, pool, heads, entries):
    """What is known at first; how many numbers of the entries are taken."""
    made = 0
    for v in range(len(defender)):
        moves = offsets[v + 1] - offsets[v]
        pool[ROW * v + COUNT], pool[ROW * v + ROOM] = 0, PLACES
        pool[ROW * v + START] = ROW * v + ROW - PLACES
        pool[ROW * v + MISSING] = moves if defender[v] and moves > 1 else -1
        if defender[v] and moves == 0:
            pool[ROW * v + ROW - PLACES], pool[ROW * v + COUNT] = 0, 1
            entries[made], entries[made + 1], entries[made + 2] = v, 0, heads[0]
            heads[0] = made
            made += 3
    return made


@compiled
def run(
    offsets, targets, update_id, back, sources, marks, words, reached, due, heads,
    pool, entries, waiting, one, two, at, stop,
):  # fmt: skip
    """Takes up one budget after the other, until all are, or an array is full.

    None of the arrays is replaced in here, as numba would count its references at each
    step: who calls gives them more room, and calls again.

    Args:
        offsets: integers `[V + 1]`, where the moves of each position start.
        targets: integers `[E]`.
        update_id: integers `[E]`.
        back: integers `[V + 1]`, where the moves into each position start.
        sources: integers `[E]`, where they come from.
        marks: integers `[E]`, their updates.
        words: the table of updates.
        reached: bool `[V]`, whether a budget of a position was taken up.
        due: bool `[V]`, whether a position of the defender waits.
        heads: int64, for each level a stack of budgets to take up: its first entry.
        pool: integers, what is known of each position, and fronts that are larger.
        entries: int64, three for each entry: a position, a budget, the next entry.
        waiting: int32, positions of the defender that wait until all budgets of the
            level are taken up.
        one: int64, a buffer for budgets.
        two: int64, another.
        at: int64 `[9]`, where the loops are: `AT`.
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended.
    """
    rows, starts, ties = words.rows, words.starts, words.ties
    bits, guards, caps = words.about[0], words.about[1], words.about[2]
    masks, shift, dimensions = (bits, guards, caps), words.about[3], len(words.fields)
    level, used, made, free, num_waiting, visits, first, t, after = at
    status = SOLVED
    while True:
        # What there is to do: the moves into a position for a budget of it, or a
        # position of the defender.
        p, last, meets, other = np.int64(0), np.int64(0), False, False
        if first >= 0:
            last = np.int64(back[t + 1])
        elif visits & 1023 == 0 and stop[0] != 0:
            status = STOPPED
            break
        elif heads[level] >= 0:
            top = heads[level]
            heads[level] = entries[top + 2]
            t, after = entries[top], entries[top + 1]
            entries[top + 2], free = free, top
            kept = False
            start = pool[ROW * t + START]
            for k in range(start, start + pool[ROW * t + COUNT]):
                kept = kept or pool[k] == after
            if not kept:
                continue
            visits += 1
            first, last = np.int64(back[t]), np.int64(back[t + 1])
        elif num_waiting:
            p = np.int64(waiting[num_waiting - 1])
            other, last = _meet(
                rows,
                starts,
                ties,
                masks,
                pool,
                offsets,
                targets,
                update_id,
                p,
                one,
                two,
            )
            if last < 0:
                status = FULL
                break
            meets, first = True, np.int64(0)
        else:
            level += 1
            if level == len(heads):
                break
            continue
        while first < last:
            if meets:
                budget = two[first] if other else one[first]
            else:
                p = np.int64(sources[first])
                if pool[ROW * p + MISSING] >= 0:
                    if num_waiting == len(waiting):
                        status = FULL
                        break
                    if not reached[t]:
                        pool[ROW * p + MISSING] -= 1
                    if pool[ROW * p + MISSING] == 0 and not due[p]:
                        due[p] = True
                        waiting[num_waiting] = p
                        num_waiting += 1
                    first += 1
                    continue
                budget = before(
                    rows, starts, ties, bits, guards, caps, marks[first], after
                )
            count, room = pool[ROW * p + COUNT], pool[ROW * p + ROOM]
            if free < 0 and made == len(entries) or used + 2 * room > len(pool):
                status = FULL
                break
            if count == room:
                start = pool[ROW * p + START]
                for k in range(count):
                    pool[used + k] = pool[start + k]
                pool[ROW * p + START], pool[ROW * p + ROOM] = used, 2 * room
                used += 2 * room
            more = insert(pool, pool[ROW * p + START], count, budget, guards)
            first += 1
            if more < 0:
                continue
            pool[ROW * p + COUNT] = more
            if free < 0:
                entries[made + 2], free = -1, made
                made += 3
            top = free
            free = entries[top + 2]
            rank = level_of(bits, dimensions, shift, budget)
            entries[top], entries[top + 1], entries[top + 2] = p, budget, heads[rank]
            heads[rank] = top
            level = min(level, rank)
        if status == FULL:
            # A position of the defender is met from the beginning again.
            first = np.int64(-1) if meets else first
            break
        if meets:
            # Its own budgets do not make it due: that takes one that is taken up.
            num_waiting -= 1
            due[p] = False
        else:
            reached[t] = True
        first = np.int64(-1)
    at[0], at[1], at[2], at[3], at[4] = level, used, made, free, num_waiting
    at[5], at[6], at[7], at[8] = visits, first, t, after
    return status


@compiled
def _laid_out(pool, size, found):
    """Writes the fronts, sorted, into `[K, V]`."""
    for v in range(size):
        start, count = pool[ROW * v + START], pool[ROW * v + COUNT]
        for k in range(count):
            budget = pool[start + k]
            place = k
            while place and found[place - 1, v] > budget:
                found[place, v] = found[place - 1, v]
                place -= 1
            found[place, v] = budget


def _roomy(array: np.ndarray, used: int) -> np.ndarray:
    """The same with twice as much room where a quarter of it is taken."""
    return np.concatenate((array, array)) if 4 * used > len(array) else array


def fronts(game: Any, stop: np.ndarray | None = None):
    """Runs the loops on a game whose budgets fit into a word.

    Args:
        game: a [`Game`][jaxgames.multienergy.Game].
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended, how many budgets were taken up, and the fronts: `[K, V]`, sorted
        words in which the last energy has the lowest bits; where there are no more the
        largest number of their type. `K` is a power of two.
    """
    stop = np.zeros(1, np.int8) if stop is None else stop
    words, size = words_of(game), len(game.defender)
    narrow = int(words.about[1]).bit_length() < 32 and ROW * size < 1 << 29
    arrays = [np.asarray(x) for x in (game.offsets, game.targets, game.update_id)]
    fixed = *arrays, *turned(*arrays), words, np.zeros(size, bool), np.zeros(size, bool)
    highest = int(np.sum(game.cap)) >> int(words.about[3])
    heads = np.full(highest + 1, -1, np.int64)
    pool = np.empty(ROW * size + 64, np.int32 if narrow else np.int64)
    entries, waiting = np.empty(3 * max(size, 64), np.int64), np.empty(64, np.int32)
    one, two = np.empty(64, np.int64), np.empty(64, np.int64)
    made = begin(arrays[0], np.asarray(game.defender), pool, heads, entries)
    at = np.array([0, ROW * size, made, -1, 0, 0, -1, 0, 0], np.int64)
    while True:
        grows = pool, entries, waiting, one, two
        status = run(*fixed, heads, *grows, at, stop)
        if status != FULL:
            break
        # What is full is more than a quarter full: a front moves to twice its room.
        pool = _roomy(pool, at[1])
        entries, waiting = _roomy(entries, at[2]), _roomy(waiting, at[4])
        one, two = _roomy(one, len(one)), _roomy(two, len(two))
    visits = int(at[5])
    most = int(pool[COUNT : ROW * size : ROW].max(initial=1))
    shape = 1 << (most - 1).bit_length(), size
    found = np.full(shape, np.iinfo(pool.dtype).max, pool.dtype)
    _laid_out(pool, size, found)
    return status, visits, found
