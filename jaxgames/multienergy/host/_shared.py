"""Minimal budgets where many positions have the same: each front is a number.

What two fronts become together, or one before a move, is worked out once and noted; all
else is visits of positions that look numbers up. Small caps allow few fronts, and
games have far fewer still; where they do have many, this gives up.
"""

from typing import Any

import numpy as np

from jaxgames.host import compiled
from jaxgames.multienergy.host._levels import turned
from jaxgames.multienergy.host._numbers import (
    FULL,
    GIVEN_UP,
    MEET,
    NONE,
    UNION,
    ZERO,
    combined,
    needed,
    numbered,
)
from jaxgames.multienergy.host._words import words_of
from jaxgames.tuning.multienergy import FRONTS, LONGEST, MOST_FRONTS, MOST_UPDATES

SOLVED, STOPPED = 0, 1


@compiled
def run(
    offsets, targets, update_id, back, sources, marks, rules,
    front, missing, due, eight, reached, noted, both, fronts, table, buffer, at, stop,
):  # fmt: skip
    """Visits positions that have news, from the last to the first, until none has.

    What a position of the attacker has is united with what is needed for the move that
    leads to news; the defender's moves are all looked at again. Moves lead from most
    positions to others close by and behind: so sweeps are few, and what they read lies
    side by side.

    Args:
        offsets: integers `[V + 1]`, where the moves of each position start.
        targets: integers `[E]`.
        update_id: integers `[E]`.
        back: integers `[V + 1]`, where the moves into each position start.
        sources: integers `[E]`, where they come from.
        marks: integers `[E]`, their updates.
        rules: the table of updates.
        front: int16 `[V]`, the number of the front of each position.
        missing: int32 `[V]`, how many moves of the defender cannot be met yet; -1 where
            he does not choose.
        due: uint8, whether a position is to be visited; a multiple of 8 of them.
        eight: int64, the same memory.
        reached: bool `[V]`, whether the moves into a position were told of it.
        noted: int16 `[U, F]`, what is needed before an update; -1 where not known yet.
        both: int16 `[2, F, F]`, the union and the meet of two fronts, likewise.
        fronts: where the budgets of each front start, and all budgets.
        table: int32, the numbers of fronts at their hashes.
        buffer: int64, for a front.
        at: int64 `[2]`: visits, and how many fronts.
        stop: int8 `[1]`: once it is not 0, the loops end early.

    Returns:
        Why they ended.
    """
    news, visits = True, at[0]
    while news:
        news = False
        for block in range(len(eight) - 1, -1, -1):
            if eight[block] == 0:
                continue
            for v in range(8 * block + 7, 8 * block - 1, -1):
                if due[v] == 0:
                    continue
                if visits & 1023 == 0 and stop[0] != 0:
                    at[0] = visits
                    return STOPPED
                visits += 1
                failed, old = np.int64(0), front[v]
                if missing[v] >= 0:
                    found = np.int64(ZERO)
                    for edge in range(offsets[v], offsets[v + 1]):
                        u, after = update_id[edge], front[targets[edge]]
                        need = np.int64(noted[u, after])
                        if need < 0:
                            need = needed(
                                u, after, rules, noted, fronts, table, buffer, at
                            )
                            failed = min(failed, need)
                        if failed < 0:
                            break
                        total = np.int64(both[MEET, found, need])
                        if total < 0:
                            total = combined(
                                MEET, found, need, rules,
                                both, fronts, table, buffer, at,
                            )  # fmt: skip
                            failed = min(failed, total)
                        if failed < 0:
                            break
                        found = total
                    if failed < 0:
                        at[0] = visits
                        return failed
                    if found == front[v]:
                        due[v] = 0
                        continue
                    front[v] = found
                due[v] = 0
                after, first = front[v], not reached[v]
                for edge in range(back[v], back[v + 1]):
                    p = sources[edge]
                    if missing[p] >= 0:
                        if first:
                            missing[p] -= 1
                        if missing[p]:
                            continue
                    else:
                        u, known = marks[edge], np.int64(front[p])
                        need = np.int64(noted[u, after])
                        if need < 0:
                            need = needed(
                                u, after, rules, noted, fronts, table, buffer, at
                            )
                            failed = min(failed, need)
                        total = np.int64(-1)
                        if failed == 0:
                            total = np.int64(both[UNION, known, need])
                            if total < 0:
                                total = combined(
                                    UNION, known, need, rules,
                                    both, fronts, table, buffer, at,
                                )  # fmt: skip
                                failed = min(failed, total)
                        if failed < 0:
                            # All of them are told again, as if nothing had changed.
                            for told in range(back[v], edge if first else back[v]):
                                if missing[sources[told]] >= 0:
                                    missing[sources[told]] += 1
                            if missing[v] >= 0:
                                front[v] = old
                            due[v], at[0] = 1, visits
                            return failed
                        if total == known:
                            continue
                        front[p] = total
                    due[p] = 1
                    news = True
                reached[v] = True
    at[0] = visits
    return SOLVED


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
    into = turned(offsets, targets, update_id)
    moves = offsets[1:] - offsets[:-1]
    won = defender & (moves == 0)
    front, reached = won.astype(np.int16), np.zeros(size, bool)
    missing = np.where(defender & (moves > 1), moves, -1).astype(np.int32)
    due = np.zeros(-(-size // 8) * 8, np.uint8)
    due[:size] = won
    at = np.zeros(2, np.int64)
    begin, words = np.zeros(FRONTS + 1, np.int32), np.zeros(16 * FRONTS, np.int64)
    noted = np.full((updates, FRONTS), -1, np.int16)
    both = np.full((2, FRONTS, FRONTS), -1, np.int16)
    table, buffer = np.full(4 * FRONTS, -1, np.int32), np.zeros(LONGEST, np.int64)
    for number in (NONE, ZERO):  # they have as many budgets
        numbered(buffer, number, (begin, words), table, at)
    while True:
        status = run(
            *(offsets, targets, update_id, *into, rules, front, missing, due),
            *(due.view(np.int64), reached, noted, both, (begin, words), table),
            *(buffer, at, stop),
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
        known, at[1] = int(at[1]), 0
        for number in range(known):
            count = begin[number + 1] - begin[number]
            buffer[:count] = words[begin[number] : begin[number + 1]]
            numbered(buffer, count, (begin, words), table, at)
    if status == GIVEN_UP:
        return None
    return int(status), int(at[0]), _laid_out(begin, words, front, rules)


def _laid_out(begin, words, front, rules) -> np.ndarray:
    """The fronts of positions as `[K, V]`."""
    sizes = np.diff(begin)
    used = np.flatnonzero(np.bincount(front))
    most = int(sizes[used].max(initial=1))
    narrow = int(rules.about[1]).bit_length() < 32
    kind = np.int32 if narrow else np.int64
    shape = int(used.max(initial=0)) + 1, 1 << (most - 1).bit_length()
    rows = np.full(shape, np.iinfo(kind).max, kind)
    for number in used.tolist():
        first, count = begin[number], sizes[number]
        rows[number, :count] = words[first : first + count]
    # Row by row, as the budgets of a front lie side by side then.
    return np.take(rows, front, axis=0, mode="clip").T
