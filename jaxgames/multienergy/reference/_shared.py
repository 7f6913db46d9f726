"""Minimal budgets where many positions have the same: each front is a number.

What two fronts become together, or one before a move, is worked out once and noted; all
else is a worklist of positions that looks numbers up. Small caps allow few fronts, and
games have far fewer still; where they do have many, this gives up.
"""

from typing import Any

import numpy as np

from jaxgames.host import compiled
from jaxgames.multienergy.reference._levels import turned
from jaxgames.multienergy.reference._words import before, insert, larger, words_of

SOLVED, STOPPED, FULL, _GIVEN_UP = 0, 1, -1, -2

FRONTS, MOST_FRONTS = 256, 2048
"""Different fronts that there is room for at first, and at most."""

MOST_UPDATES = 256
"""Updates up to which what is needed before them is noted."""

LONGEST = 4096
"""Budgets that a front may have."""

NONE, ZERO = 0, 1
"""The numbers of the front without a budget, and of that which is zero."""

UNION, MEET = 0, 1


@compiled
def _numbered(buffer, count, fronts, table, at):
    """The number of a front, which is made if it is new; below 0 without room."""
    begin, words = fronts
    for i in range(1, count):
        word, place = buffer[i], i
        while place and buffer[place - 1] > word:
            buffer[place] = buffer[place - 1]
            place -= 1
        buffer[place] = word
    mixed = count
    for i in range(count):
        mixed = (mixed * 1103515245 + buffer[i] % 2147483647 + 12345) % 2147483647
    place = mixed & (len(table) - 1)
    while table[place] >= 0:
        number = table[place]
        first = begin[number]
        same = begin[number + 1] - first == count
        for i in range(count):
            if not same:
                break
            same = words[first + i] == buffer[i]
        if same:
            return number
        place = (place + 1) & (len(table) - 1)
    known, first = at[3], begin[at[3]]
    if known + 1 == len(begin) or first + count > len(words):
        return np.int32(FULL)
    words[first : first + count] = buffer[:count]
    begin[known + 1] = first + count
    table[place] = known
    at[3] = known + 1
    return np.int32(known)


@compiled
def _together(kind, one, other, fronts, buffer, guards, bits):
    """Writes a union, or a meet, of two fronts into the buffer: how many budgets."""
    begin, words = fronts
    count = 0
    if kind == UNION:
        for which in (one, other):
            for k in range(begin[which], begin[which + 1]):
                if count == len(buffer):
                    return _GIVEN_UP
                more = insert(buffer, 0, count, words[k], guards)
                count = more if more >= 0 else count
        return count
    for i in range(begin[one], begin[one + 1]):
        for k in range(begin[other], begin[other + 1]):
            if count == len(buffer):
                return _GIVEN_UP
            join = larger(words[i], words[k], guards, bits)
            more = insert(buffer, 0, count, join, guards)
            count = more if more >= 0 else count
    return count


@compiled
def run(
    offsets, targets, update_id, defender, back, sources, rules,
    front, queue, queued, noted, both, fronts, table, buffer, at, stop,
):  # fmt: skip
    """Visits positions until none has news.

    Args:
        offsets: integers `[V + 1]`, where the moves of each position start.
        targets: integers `[E]`.
        update_id: integers `[E]`.
        defender: bool `[V]`.
        back: integers `[V + 1]`, where the moves into each position start.
        sources: integers `[E]`.
        rules: the table of updates.
        front: int16 `[V]`, the number of the front of each position.
        queue: int32 `[V + 1]`, positions to visit, in a ring.
        queued: bool `[V]`, whether a position is among them.
        noted: int16 `[U, F]`, what is needed before an update; -1 where not known yet.
        both: int16 `[2, F, F]`, the union and the meet of two fronts, likewise.
        fronts: where the budgets of each front start, and all budgets.
        table: int32, the numbers of fronts at their hashes.
        buffer: int64, for a front.
        at: int64 `[4]`: head and tail of the queue, visits, and how many fronts.
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended.
    """
    size = len(defender)
    guards, bits, caps = rules.about[1], rules.about[0], rules.about[2]
    rows, starts, ties = rules.rows, rules.starts, rules.ties
    begin, words = fronts
    head, tail, visits = at[0], at[1], at[2]
    status = SOLVED
    while head != tail:
        if visits & 1023 == 0 and stop[0] != 0:
            status = STOPPED
            break
        visits += 1
        v = queue[head]
        meets = defender[v]
        found = np.int32(ZERO if meets else NONE)
        for edge in range(offsets[v], offsets[v + 1]):
            after, u = front[targets[edge]], update_id[edge]
            need = np.int32(noted[u, after])
            if need < 0:
                count = 0
                for k in range(begin[after], begin[after + 1]):
                    least = before(rows, starts, ties, bits, guards, caps, u, words[k])
                    more = insert(buffer, 0, count, least, guards)
                    count = more if more >= 0 else count
                need = _numbered(buffer, count, fronts, table, at)
                if need < 0:
                    status = FULL
                    break
                noted[u, after] = need
            if need == NONE:
                if meets:
                    found = np.int32(NONE)
                    break
                continue
            if found == (ZERO if meets else NONE):
                found = need
                continue
            kind = MEET if meets else UNION
            total = np.int32(both[kind, found, need])
            if total < 0:
                count = _together(kind, found, need, fronts, buffer, guards, bits)
                if count < 0:
                    status = _GIVEN_UP
                    break
                total = _numbered(buffer, count, fronts, table, at)
                if total < 0:
                    status = FULL
                    break
                both[kind, found, need] = both[kind, need, found] = total
            found = total
        if status != SOLVED:
            break
        head = head + 1 if head < size else 0
        queued[v] = False
        if found == front[v]:
            continue
        front[v] = found
        for edge in range(back[v], back[v + 1]):
            p = sources[edge]
            if not queued[p]:
                queued[p] = True
                queue[tail] = p
                tail = tail + 1 if tail < size else 0
    at[0], at[1], at[2] = head, tail, visits
    return status


def fronts(game: Any, stop: np.ndarray | None = None):
    """Runs the loops on a game whose budgets fit into a word.

    Args:
        game: a [`Game`][jaxgames.multienergy.Game].
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended, how many positions were visited, and the fronts: `[K, V]`,
        sorted words in which the last energy has the lowest bits; where there are no
        more the largest number of their type. `K` is a power of two. None where the
        game has too many different fronts.
    """
    stop = np.zeros(1, np.int8) if stop is None else stop
    rules, size = words_of(game), len(game.defender)
    updates = len(rules.rows)
    if updates > MOST_UPDATES:
        return None
    offsets, targets, update_id, defender = (
        np.asarray(x)
        for x in (game.offsets, game.targets, game.update_id, game.defender)
    )
    back, sources, _ = turned(offsets, targets, update_id)
    won = defender & (offsets[1:] == offsets[:-1])
    front, queued = won.astype(np.int16), np.zeros(size, bool)
    queue = np.zeros(size + 1, np.int32)
    due = np.unique(sources[np.repeat(won, np.diff(back))])
    queue[: len(due)], queued[due] = due, True
    at = np.array([0, len(due), 0, 0], np.int64)
    begin, words = np.zeros(FRONTS + 1, np.int32), np.zeros(16 * FRONTS, np.int64)
    noted = np.full((updates, FRONTS), -1, np.int16)
    both = np.full((2, FRONTS, FRONTS), -1, np.int16)
    table, buffer = np.full(4 * FRONTS, -1, np.int32), np.zeros(LONGEST, np.int64)
    for number in (NONE, ZERO):  # they have as many budgets
        _numbered(buffer, number, (begin, words), table, at)
    while True:
        status = run(
            *(offsets, targets, update_id, defender, back, sources, rules),
            *(front, queue, queued, noted, both, (begin, words), table, buffer, at),
            stop,
        )
        if status != FULL:
            break
        room = 2 * (len(begin) - 1)
        if room > MOST_FRONTS:
            return None
        begin = np.pad(begin, (0, room - len(begin) + 1))
        words = np.pad(words, (0, len(words)))
        noted = np.pad(noted, ((0, 0), (0, room // 2)), constant_values=-1)
        both = np.pad(both, ((0, 0), *2 * [(0, room // 2)]), constant_values=-1)
        table = np.full(4 * room, -1, np.int32)
        known, at[3] = int(at[3]), 0
        for number in range(known):
            count = begin[number + 1] - begin[number]
            buffer[:count] = words[begin[number] : begin[number + 1]]
            _numbered(buffer, count, (begin, words), table, at)
    if status == _GIVEN_UP:
        return None
    return status, int(at[2]), _laid_out(begin, words, front, rules)


def _laid_out(begin, words, front, rules) -> np.ndarray:
    """The fronts of positions as `[K, V]`."""
    sizes = np.diff(begin)
    used = np.unique(front)
    most = int(sizes[used].max(initial=1))
    narrow = int(rules.about[1]).bit_length() < 32
    kind = np.int32 if narrow else np.int64
    shape = 1 << (most - 1).bit_length(), int(used.max(initial=0)) + 1
    columns = np.full(shape, np.iinfo(kind).max, kind)
    for number in used.tolist():
        first, count = begin[number], sizes[number]
        columns[:count, number] = words[first : first + count]
    return np.take(columns, front, axis=1)
