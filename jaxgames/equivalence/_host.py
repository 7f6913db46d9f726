"""Builds the spectroscopy game position by position, with hash tables.

It runs fast where numba is installed; the same source is plain Python elsewhere.
"""

import numpy as np

from jaxgames.equivalence._game import Spectroscopy
from jaxgames.equivalence._system import System
from jaxgames.equivalence._tables import (
    FREE,
    add_set,
    double,
    entry,
    find_set,
    table_size,
)
from jaxgames.host import compiled


def build_on_host(system: System, pairs: np.ndarray, most: int) -> Spectroscopy | None:
    """The game from the attack positions (p, {q}) of these pairs.

    Args:
        system: the processes.
        pairs: int32 `[N, 2]`, p and q.
        most: positions and moves beyond which it is given up.

    Returns:
        The game, or None where it has more.
    """
    enabled = system.enabled()
    found = _build(
        *(np.array(x, np.int32) for x in (system.offsets, system.label, system.target)),
        *(np.array(x, np.int32) for x in enabled),
        system.num_labels,
        np.array(pairs, np.int32).reshape(-1, 2),
        most,
    )
    offsets, targets, moves, key, set_offsets, members, starts = found
    if not len(offsets):
        return None
    process, first, second = np.ascontiguousarray(key.T)
    return Spectroscopy(
        offsets, targets, moves, process, first, second, set_offsets, members, starts
    )


@compiled
def _build(row, label, target, set_of, set_row, set_label, labels, pairs, most):
    states = len(row) - 1
    # Sets: first those of one process, then the empty one, then others as they come.
    set_start = np.zeros(2 * states + 4, np.int32)
    member = np.zeros(2 * states + 4, np.int32)
    set_table = np.full(table_size(states + 1), FREE, np.int32)
    sets = states + 1
    for state in range(states):
        set_start[state + 1] = state + 1
        member[state] = state
    set_start[states + 1] = states
    for number in range(sets):
        start, stop = set_start[number], set_start[number + 1]
        place = find_set(set_table, set_start, member, member[start:stop])
        set_table[place] = number
    empty = states

    key = np.zeros((1024, 3), np.int32)
    table = np.full(table_size(1024), FREE, np.int32)
    positions = 0
    starts = np.zeros(len(pairs), np.int32)
    for i in range(len(pairs)):
        starts[i], positions, key, table = entry(
            key, table, positions, pairs[i, 0], pairs[i, 1], -1
        )

    # What sets become: by an action, or by a challenge of a process that enables what
    # this set of labels has.
    asked = np.zeros((1024, 3), np.int32)
    asked_table = np.full(table_size(1024), FREE, np.int32)
    answers = np.zeros((1024, 6), np.int32)
    questions = 0

    offsets = np.zeros(1024, np.int32)
    targets = np.zeros(1024, np.int32)
    moves = np.zeros(1024, np.int32)
    edges = 0
    parts = np.zeros((6, 64), np.int32)
    lengths = np.zeros(6, np.int64)
    steps = np.zeros((64, 4), np.int32)  # kind of move, and the position it leads to

    at = 0
    while at < positions:
        if positions > most or edges > most:
            nothing = np.zeros(0, np.int32)
            return nothing, nothing, nothing, key[:0], nothing, nothing, nothing
        p, first, second = key[at, 0], key[at, 1], key[at, 2]
        if second >= 0:
            steps, count = _defend(steps, p, first, second, empty, set_start, member)
        elif second == -2:
            count = 2
            for turn in range(2):
                steps[turn, 0], steps[turn, 1] = 4 + turn, first if turn else p
                steps[turn, 2], steps[turn, 3] = p if turn else first, -1
        elif first == empty:
            count = 1
            steps[0, 0], steps[0, 1], steps[0, 2], steps[0, 3] = 1, p, empty, empty
        else:
            count, action, reached = 0, -1, 0
            if row[p + 1] - row[p] + 4 > len(steps):
                steps = np.zeros((row[p + 1] - row[p] + 4, 4), np.int32)
            for transition in range(row[p], row[p + 1] + 1):
                # After the last transition comes the challenge.
                challenge = transition == row[p + 1]
                if not challenge and label[transition] == action:
                    if not _contains(member, set_start, reached, target[transition]):
                        count = _observe(steps, count, target[transition], reached)
                    continue
                action = labels + set_of[p] if challenge else label[transition]
                known = questions
                number, questions, asked, asked_table = entry(
                    asked, asked_table, questions, first, action, 0
                )
                if number == len(answers):
                    answers = np.concatenate((answers, np.zeros_like(answers)))
                if number == known:
                    if challenge:
                        parts = _split(
                            parts,
                            lengths,
                            member[set_start[first] : set_start[first + 1]],
                            set_of[p],
                            set_of,
                            set_row,
                            set_label,
                        )
                    else:
                        parts = _after(
                            parts,
                            lengths,
                            member[set_start[first] : set_start[first + 1]],
                            row,
                            label,
                            target,
                            action,
                        )
                    for i in range(6 if challenge else 1):
                        answers[number, i], sets, set_start, member, set_table = (
                            add_set(
                                set_start,
                                member,
                                set_table,
                                sets,
                                parts[i, : lengths[i]],
                            )
                        )
                if challenge:
                    count = _challenge(steps, count, p, first, answers[number], empty)
                else:
                    reached = answers[number, 0]
                    if not _contains(member, set_start, reached, target[transition]):
                        count = _observe(steps, count, target[transition], reached)

        while edges + count > len(targets):
            targets, moves = double(targets), double(moves)
        for i in range(count):
            targets[edges], positions, key, table = entry(
                key, table, positions, steps[i, 1], steps[i, 2], steps[i, 3]
            )
            moves[edges] = steps[i, 0]
            edges += 1
        at += 1
        if at == len(offsets):
            offsets = double(offsets)
        offsets[at] = edges

    return (
        offsets[: positions + 1].copy(),
        targets[:edges].copy(),
        moves[:edges].copy(),
        key[:positions].copy(),
        set_start[: sets + 1].copy(),
        member[: set_start[sets]].copy(),
        starts,
    )


@compiled
def _defend(steps, p, rest, taken, empty, set_start, member):
    """A clause for each process of the rest, and a revival for the part taken."""
    count = 0
    start, stop = set_start[rest], set_start[rest + 1]
    if stop - start + 1 > len(steps):
        steps = np.zeros((2 * (stop - start + 1), 4), np.int32)
    for i in range(start, stop):
        steps[count, 0], steps[count, 1] = 3, p
        steps[count, 2], steps[count, 3] = member[i], -2
        count += 1
    if taken != empty:
        steps[count, 0], steps[count, 1] = 2, p
        steps[count, 2], steps[count, 3] = taken, -1
        count += 1
    return steps, count


@compiled
def _observe(steps, count, after, reached):
    steps[count, 0], steps[count, 1] = 0, after
    steps[count, 2], steps[count, 3] = reached, -1
    return count + 1


@compiled
def _challenge(steps, count, p, which, answer, empty):
    """All of the set is the rest, or one of its splits with two parts, each once."""
    for choice in range(4):
        rest, taken = which, empty
        if choice:
            rest, taken = answer[2 * choice - 2], answer[2 * choice - 1]
            repeated = rest == empty or taken == empty
            for other in range(1, choice):
                if answer[2 * other - 1] == taken:
                    repeated = True
            if repeated:
                continue
        steps[count, 0], steps[count, 1] = 1, p
        steps[count, 2], steps[count, 3] = rest, taken
        count += 1
    return count


@compiled
def _after(parts, lengths, values, row, label, target, action):
    """The processes that some reach by an action, as the first part."""
    length = 0
    for i in range(len(values)):
        q = values[i]
        low, high = row[q], row[q + 1]
        while low < high:
            middle = (low + high) // 2
            if label[middle] < action:
                low = middle + 1
            else:
                high = middle
        while low < row[q + 1] and label[low] == action:
            if length == parts.shape[1]:
                parts = np.concatenate((parts, np.zeros_like(parts)), axis=1)
            parts[0, length] = target[low]
            length += 1
            low += 1
    found = np.sort(parts[0, :length])
    kept = 0
    for i in range(length):
        if i == 0 or found[i] != found[i - 1]:
            parts[0, kept] = found[i]
            kept += 1
    lengths[0] = kept
    return parts


@compiled
def _split(parts, lengths, values, own, set_of, set_row, set_label):
    """Splits processes by what they enable: less than p, more, and the same.

    Of three splits, each the rest and the part taken.
    """
    if len(values) > parts.shape[1]:
        parts = np.zeros((6, 2 * len(values)), np.int32)
    lengths[:] = 0
    for i in range(len(values)):
        other = set_of[values[i]]
        less = _includes(set_row, set_label, own, other)
        more = _includes(set_row, set_label, other, own)
        for choice in range(3):
            taken = more if choice == 1 else less
            if choice == 2:
                taken = less and more
            part = 2 * choice + (1 if taken else 0)
            parts[part, lengths[part]] = values[i]
            lengths[part] += 1
    return parts


@compiled
def _includes(set_row, set_label, large, small):
    """Whether one set of labels includes another."""
    i, stop = set_row[large], set_row[large + 1]
    for j in range(set_row[small], set_row[small + 1]):
        while i < stop and set_label[i] < set_label[j]:
            i += 1
        if i == stop or set_label[i] != set_label[j]:
            return False
    return True


@compiled
def _contains(member, set_start, which, process):
    low, high = set_start[which], set_start[which + 1]
    while low < high:
        middle = (low + high) // 2
        if member[middle] < process:
            low = middle + 1
        else:
            high = middle
    return low < set_start[which + 1] and member[low] == process
