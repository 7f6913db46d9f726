"""The definition as loops over arrays: compiled where numba is installed."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.host import compiled

MOST = (1 << 30) - 1
"""Energies from here on are not held."""

SOLVED, STOPPED, TOO_LARGE = 0, 1, 2


class Updates(NamedTuple):
    """A table of updates as loops read it.

    Attributes:
        delta: int32 `[U, D]`, what is added.
        starts: int32 `[U + 1]`, where the ties of an update start.
        whose: int32 `[T]`, the energy that a minimum is written to.
        tied: int32 `[T]`, an energy that it reads.
        cap: int32 `[D]`, the caps; where there is none, more than any energy.
    """

    delta: np.ndarray
    starts: np.ndarray
    whose: np.ndarray
    tied: np.ndarray
    cap: np.ndarray


def updates_of(game: Any) -> Updates:
    """The table of updates of a game."""
    delta, minima = np.asarray(game.delta), np.asarray(game.minima)
    update, whose, tied = np.nonzero(minima)
    starts = np.searchsorted(update, np.arange(len(delta) + 1)).astype(np.int32)
    caps = np.array(game.cap or (0,) * delta.shape[1], np.int32)
    return Updates(
        delta=delta.astype(np.int32),
        starts=starts,
        whose=whose.astype(np.int32),
        tied=tied.astype(np.int32),
        cap=np.where(caps > 0, caps, MOST + 1).astype(np.int32),
    )


@compiled
def needed(updates, update, after, k, before):
    """Writes the least energies before a move to row `k` into `before` `[1, D]`."""
    delta, starts, whose, tied, cap = updates
    for i in range(after.shape[1]):
        energy = after[k, i]
        if energy < cap[i]:
            energy = min(max(energy - delta[update, i], 0), cap[i])
        before[0, i] = energy
    for tie in range(starts[update], starts[update + 1]):
        j = tied[tie]
        before[0, j] = max(before[0, j], min(after[k, whose[tie]], cap[j]))


@compiled
def at_most(some, k, others, m):
    """Whether no energy of row `k` of some budgets is above that of one of others."""
    for i in range(some.shape[1]):  # noqa: SIM110 - compiled
        if some[k, i] > others[m, i]:
            return False
    return True


@compiled
def insert(front, count, budget):
    """Adds a budget `[1, D]` to an antichain of `count`; how many there are then."""
    for k in range(count):
        if at_most(front, k, budget, 0):
            return count
    left = 0
    for k in range(count):
        if not at_most(budget, 0, front, k):
            for i in range(front.shape[1]):
                front[left, i] = front[k, i]
            left += 1
    for i in range(front.shape[1]):
        front[left, i] = budget[0, i]
    return left + 1


@compiled
def larger(array, size):
    """The same rows with room for twice as many, and `size` at least."""
    found = np.empty((max(2 * len(array), size), array.shape[1]), array.dtype)
    found[: len(array)] = array
    return found


@compiled
def all_needed(updates, pool, first, count, update, found, free):
    """Adds what is needed for a move to what is found: the buffer, and a count."""
    before = np.empty((1, pool.shape[1]), np.int32)
    for k in range(first, first + count):
        if free == len(found):
            found = larger(found, 0)
        needed(updates, update, pool, k, before)
        free = insert(found, free, before)
    return found, free


@compiled
def run(offsets, targets, update_id, defender, back, sources, updates, stop):
    """The minimal budgets of all positions, by a worklist.

    Returns:
        Why it ended, how many positions were visited, and the fronts: where that of
        each position starts, how many budgets it has, and all of them.
    """
    size, dimensions = len(defender), updates.delta.shape[1]
    start, count = np.zeros(size, np.int64), np.zeros(size, np.int32)
    room = np.zeros(size, np.int32)
    pool = np.zeros((size + 16, dimensions), np.int32)
    used, visits, status = 0, 0, SOLVED
    one = np.empty((16, dimensions), np.int32)
    two, three = one.copy(), one.copy()
    join = np.empty((1, dimensions), np.int32)
    queue, queued = np.empty(size + 1, np.int32), np.zeros(size, np.bool_)
    head, tail = 0, 0
    for v in range(size):
        if defender[v] and offsets[v] == offsets[v + 1]:
            start[v], count[v], room[v] = used, 1, 1
            used += 1
            for edge in range(back[v], back[v + 1]):
                p = sources[edge]
                if not queued[p]:
                    queued[p] = True
                    queue[tail] = p
                    tail += 1
    while head != tail:
        if visits & 1023 == 0 and stop[0] != 0:
            status = STOPPED
            break
        visits += 1
        v = queue[head]
        head = head + 1 if head < size else 0
        queued[v] = False
        free = 0
        if not defender[v]:
            for edge in range(offsets[v], offsets[v + 1]):
                t, u = targets[edge], update_id[edge]
                one, free = all_needed(updates, pool, start[t], count[t], u, one, free)
        else:
            one[0] = 0
            free = 1
            for edge in range(offsets[v], offsets[v + 1]):
                t, u = targets[edge], update_id[edge]
                two, other = all_needed(updates, pool, start[t], count[t], u, two, 0)
                joined = 0
                for a in range(free):
                    for b in range(other):
                        for i in range(dimensions):
                            join[0, i] = max(one[a, i], two[b, i])
                        if joined == len(three):
                            three = larger(three, 0)
                        joined = insert(three, joined, join)
                one, three, free = three, one, joined
                if free == 0:
                    break
        # What is found is no less than what was: it is more if some of it is new.
        news = False
        for k in range(free):
            known = False
            for old in range(start[v], start[v] + count[v]):
                known = known or at_most(pool, old, one, k)
            news = news or not known
            for i in range(dimensions):
                if one[k, i] > MOST:
                    status = TOO_LARGE
        if status == TOO_LARGE:
            break
        if not news:
            continue
        if free > room[v]:
            start[v], room[v] = used, free + free // 2
            used += room[v]
            if used > len(pool):
                pool = larger(pool, used)
        count[v] = free
        for k in range(free):
            for i in range(dimensions):
                pool[start[v] + k, i] = one[k, i]
        for edge in range(back[v], back[v + 1]):
            p = sources[edge]
            if not queued[p]:
                queued[p] = True
                queue[tail] = p
                tail = tail + 1 if tail < size else 0
    return status, visits, start, count, pool


def fronts(game: Any, back: Any, sources: Any, stop: np.ndarray | None = None):
    """Runs the loops on a game; the fronts one after the other, sorted.

    Args:
        game: a [`Game`][jaxgames.multienergy.Game].
        back: integers `[V + 1]`: where the predecessors of each position start.
        sources: integers `[E]`, the predecessors.
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended, how many positions were visited, where the budgets of each
        position start, and all budgets, sorted lexicographically.
    """
    stop = np.zeros(1, np.int8) if stop is None else stop
    arrays = (np.asarray(x) for x in (game.offsets, game.targets, game.update_id))
    status, visits, start, count, pool = run(
        *arrays, np.asarray(game.defender), back, sources, updates_of(game), stop
    )
    offsets = np.append(0, np.cumsum(count, dtype=np.int64))
    owner = np.repeat(np.arange(len(count)), count)
    points = pool[start[owner] + np.arange(len(owner)) - offsets[owner]]
    order = np.lexsort((*points.T[::-1], owner))
    return status, visits, offsets, points[order]
