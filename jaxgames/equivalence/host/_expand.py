"""Builds the spectroscopy game position by position, with hash tables.

It runs fast where numba is installed; the same source is plain Python elsewhere.
"""

import numpy as np

from jaxgames.equivalence._game import (
    ANSWER,
    ATTACK,
    CHALLENGE,
    CLAUSE,
    NEGATIVE,
    OBSERVE,
    POSITIVE,
    REVIVE,
)
from jaxgames.equivalence.host._sets import contains, reached_from, split
from jaxgames.equivalence.host._tables import find_set, look_up
from jaxgames.host import compiled

DONE, FULL, TOO_LARGE = 0, 1, 2

AT, POSITIONS, FAR, EDGES, ASKED, SETS, ROOM = range(7)
"""Counters: positions with all their moves, positions, those in the hash table, moves,
questions, sets, and how much room the position needs where the loops stopped."""


@compiled
def expand(
    row, step_label, step_start, lone, target, set_of, masks, labels, pairs, limits,
    process, first, second, offsets, targets, moves, set_start, member,
    table, questions, answers, set_table, near, dense, parts, lengths, seen, reached,
    starts, count,
):  # fmt: skip
    """Finds the moves of one position after the other, until an array is full.

    The arrays are those of `Grown` and what `build_on_host` makes; none is replaced in
    here, as numba would count its references at each step.
    """
    states = len(row) - 1
    empty = states
    at, positions, far = count[AT], count[POSITIONS], count[FAR]
    edges, asked, sets = count[EDGES], count[ASKED], count[SETS]
    status = DONE
    if at == 0:
        for i in range(len(pairs)):
            p, q = pairs[i, 0], pairs[i, 1]
            if dense:
                place = 2 * (int(p) * (states + 1) + int(q))
                starts[i] = near[place] - 1 if near[place] else positions
                near[place] = starts[i] + 1
            else:
                starts[i] = look_up(table, (int(p) << 32) + 2 * int(q), positions)
            if starts[i] == positions:
                process[positions], first[positions] = p, q
                second[positions] = ATTACK
                positions += 1
        far = 0 if dense else positions
    while at < positions:
        if positions > limits[0] or edges > limits[1]:
            status = TOO_LARGE
            break
        p, whole, other = process[at], first[at], second[at]
        room = 2
        if other >= 0:
            room = set_start[whole + 1] - set_start[whole] + 1
        elif other == ATTACK:
            room = step_start[row[p + 1]] - step_start[row[p]] + 4
        if (
            edges + room > len(targets)
            or positions + room > len(process)
            or 4 * (far + room) > len(table)
        ):
            count[ROOM] = room
            status = FULL
            break
        challenge = np.int64(-1)
        if other == ATTACK and whole != empty:
            # All that is asked is answered before a move is written. One process alone
            # has steps of its own, and no part of it can be taken by a challenge.
            alone = whole < states
            step, last = (row[whole], row[whole + 1]) if alone else (0, 0)
            for turn in range(row[p], row[p + 1] + (0 if alone else 1)):
                asks = -1 if turn == row[p + 1] else step_label[turn]
                if alone:
                    while step < last and step_label[step] < asks:
                        step += 1
                    if step == last or step_label[step] != asks:
                        reached[turn - row[p]] = empty
                        continue
                    if lone[step] >= 0:
                        reached[turn - row[p]] = lone[step]
                        continue
                    lengths[:] = 0
                    for transition in range(step_start[step], step_start[step + 1]):
                        length, q = lengths[0], target[transition]
                        if length == 0 or parts[0, length - 1] != q:
                            parts[0, length] = q
                            lengths[0] += 1
                else:
                    what = labels + set_of[p] if asks < 0 else asks
                    key = (int(whole) << 31) + int(what)
                    known = look_up(questions, key, -1)
                    if known >= 0:
                        if asks < 0:
                            challenge = known
                        else:
                            reached[turn - row[p]] = answers[known, 0]
                        continue
                    values = member[set_start[whole] : set_start[whole + 1]]
                    if asks < 0:
                        split(parts, lengths, values, set_of[p], set_of, masks)
                    else:
                        seen[0] += 1
                        reached_from(
                            parts, lengths, values,
                            row, step_label, step_start, target, asks, seen,
                        )  # fmt: skip
                room = 6 + lengths.sum()
                if (
                    set_start[sets] + room > len(member)
                    or sets + 8 > len(set_start)
                    or 4 * (sets + 8) > len(set_table)
                    or 4 * (asked + 8) > len(questions)
                    or asked == len(answers)
                ):
                    count[ROOM] = room + 8
                    status = FULL
                    break
                for i in range(6 if asks < 0 else 1):
                    part = parts[i, : lengths[i]]
                    found = np.int64(empty)
                    if len(part) == 1:
                        found = np.int64(part[0])
                    elif len(part):
                        found = find_set(set_table, set_start, member, part, sets)
                        if found == sets:
                            start = set_start[sets]
                            member[start : start + len(part)] = part
                            sets += 1
                            set_start[sets] = start + len(part)
                    answers[asked, i] = found
                if alone:
                    lone[step] = answers[asked, 0]
                    reached[turn - row[p]] = lone[step]
                    continue
                look_up(questions, key, asked)
                if asks < 0:
                    challenge = np.int64(asked)
                else:
                    reached[turn - row[p]] = answers[asked, 0]
                asked += 1
            if status == FULL:
                break

        # A position that is not known is the next one.
        new, move, last = positions, np.int64(0), np.int64(2)
        begin, size, turn = set_start[whole], np.int64(0), np.int64(row[p])
        if other >= 0:
            size = np.int64(set_start[whole + 1] - begin)
            last = size + (0 if other == empty else 1)
        elif other == ATTACK:
            move, last = np.int64(step_start[turn]), np.int64(step_start[row[p + 1]])
            last = move if whole == empty else last
        for i in range(move, last):
            one, two, kind, what = p, whole, ATTACK, POSITIVE
            if other == ATTACK:
                while step_start[turn + 1] <= i:
                    turn += 1
                one, two, what = target[i], reached[turn - row[p]], OBSERVE
                if two == one or (
                    two > empty and contains(member, set_start, two, one)
                ):
                    continue
            elif other == CLAUSE:
                if i == 1:
                    one, two, what = whole, p, NEGATIVE
            elif i < size:
                two, kind, what = member[begin + i], CLAUSE, ANSWER
            else:
                two, what = other, REVIVE
            mark = 1 if kind == CLAUSE else 0
            if dense and two <= empty:
                place = 2 * (int(one) * (states + 1) + int(two)) + mark
                to = np.int64(near[place]) - 1
                if to < 0:
                    near[place], to = new + 1, new
            else:
                to = look_up(table, (int(one) << 32) + 2 * int(two) + mark, new)
                far += 1 if to == new else 0
            if to == new:
                process[new], first[new], second[new] = one, two, kind
                new += 1
            targets[edges], moves[edges] = to, what
            edges += 1
        if other == ATTACK and whole == empty:
            process[new], first[new], second[new] = p, empty, empty
            targets[edges], moves[edges] = new, CHALLENGE
            new += 1
            edges += 1
        elif other == ATTACK:
            # Challenges lead to what is new: p, and all of both parts together, were
            # not here before.
            for choice in range(1 if challenge < 0 else 4):
                rest, taken = whole, np.int32(empty)
                if choice:
                    rest = answers[challenge, 2 * choice - 2]
                    taken = answers[challenge, 2 * choice - 1]
                    repeated = rest == empty or taken == empty
                    for i in range(1, choice):
                        repeated = repeated or answers[challenge, 2 * i - 1] == taken
                    if repeated:
                        continue
                process[new], first[new], second[new] = p, rest, taken
                targets[edges], moves[edges] = new, CHALLENGE
                new += 1
                edges += 1
        positions = new
        at += 1
        offsets[at] = edges
    count[AT], count[POSITIONS], count[FAR] = at, positions, far
    count[EDGES], count[ASKED], count[SETS] = edges, asked, sets
    return status
