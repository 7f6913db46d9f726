"""Builds the spectroscopy game position by position, with hash tables.

It runs fast where numba is installed; the same source is plain Python elsewhere.
"""

from typing import NamedTuple

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
    Spectroscopy,
)
from jaxgames.equivalence._host_sets import contains, reached_from, split
from jaxgames.equivalence._host_tables import (
    find_set,
    look_up,
    new_table,
    wider_table,
)
from jaxgames.equivalence._system import System
from jaxgames.host import compiled

DENSE = 16
"""Pairs of processes for each that is asked for, up to which they have a table."""

_DONE, _FULL, _TOO_LARGE = 0, 1, 2

_AT, _POSITIONS, _FAR, _EDGES, _ASKED, _SETS, _ROOM = range(7)
"""Counters: positions with all their moves, positions, those in the hash table, moves,
questions, sets, and how much room the position needs where the loops stopped."""


class Grown(NamedTuple):
    """What grows while a game is built."""

    process: np.ndarray
    first: np.ndarray
    second: np.ndarray
    """int32, a position each; as the rest of these in `Spectroscopy`."""
    offsets: np.ndarray
    targets: np.ndarray
    moves: np.ndarray
    set_start: np.ndarray
    member: np.ndarray
    table: np.ndarray
    """The numbers of the attacker's positions."""
    questions: np.ndarray
    """Numbers of what was asked: what a set becomes by an action, or by a challenge of
    a process that enables what this set of labels has."""
    answers: np.ndarray
    """int32 `[_, 6]`: the sets that it becomes."""
    set_table: np.ndarray
    """The numbers of sets."""


def build_on_host(system: System, pairs: np.ndarray, most: int) -> Spectroscopy | None:
    """The game from the attack positions (p, {q}) of these pairs.

    Args:
        system: the processes.
        pairs: int32 `[N, 2]`, p and q.
        most: positions and moves beyond which it is given up.

    Returns:
        The game, or None where it has more.
    """
    pairs = np.array(pairs, np.int32).reshape(-1, 2)
    states = system.num_states
    rows = tuple(
        np.array(x, np.int32) for x in (system.offsets, system.label, system.target)
    )
    labels = tuple(np.array(x, np.int32) for x in system.enabled())
    # Where most pairs are asked for, positions of two processes have a table.
    dense = states * states <= DENSE * len(pairs)
    near = np.full(2 * states * states if dense else 1, -1, np.int32)
    # Sets: first those of one process, then the empty one, then others as they come.
    singles = np.arange(states + 1, dtype=np.int32)
    grown = Grown(
        process=np.empty(0, np.int32),
        first=np.empty(0, np.int32),
        second=np.empty(0, np.int32),
        offsets=np.zeros(1, np.int32),
        targets=np.empty(0, np.int32),
        moves=np.empty(0, np.int32),
        set_start=np.append(singles, np.int32(states)),
        member=singles[:-1].copy(),
        table=new_table(64),
        questions=new_table(64),
        answers=np.empty((64, 6), np.int32),
        set_table=new_table(64),
    )
    parts, starts = np.empty((6, states), np.int32), np.zeros(len(pairs), np.int32)
    seen, lengths = np.zeros(states + 1, np.int64), np.zeros(6, np.int64)
    count = np.zeros(7, np.int64)
    count[_SETS], count[_ROOM] = states + 1, len(pairs)
    status = _FULL
    while status == _FULL:
        grown = _with_room(grown, count)
        status = _expand(
            *(*rows, *labels, system.num_labels, pairs, most),
            *(*grown, near, dense, parts, lengths, seen, starts, count),
        )
    if status == _TOO_LARGE:
        return None
    positions, edges, sets = (count[i] for i in (_POSITIONS, _EDGES, _SETS))
    return Spectroscopy(
        grown.offsets[: positions + 1].copy(),
        grown.targets[:edges].copy(),
        grown.moves[:edges].copy(),
        grown.process[:positions].copy(),
        grown.first[:positions].copy(),
        grown.second[:positions].copy(),
        grown.set_start[: sets + 1].copy(),
        grown.member[: grown.set_start[sets]].copy(),
        starts,
    )


def is_ready() -> bool:
    """Whether the loops were compiled, or read from the disk, before."""
    return _expand.ready


def _with_room(grown: Grown, count: np.ndarray) -> Grown:
    """The same with room for the next position, and more."""
    room = int(count[_ROOM])

    def more(array: np.ndarray, used: int) -> np.ndarray:
        if used + room < len(array):
            return array
        wide = np.empty((2 * (used + room) + 1, *array.shape[1:]), array.dtype)
        wide[: len(array)] = array
        return wide

    def wider(table: np.ndarray, used: int) -> np.ndarray:
        enough = 4 * (used + room) < len(table)
        return table if enough else wider_table(table, 2 * (used + room))

    positions, sets = int(count[_POSITIONS]), int(count[_SETS])
    edges, asked = int(count[_EDGES]), int(count[_ASKED])
    process = more(grown.process, positions)
    return Grown(
        process=process,
        first=more(grown.first, positions),
        second=more(grown.second, positions),
        # One more than positions, however many of them there will be.
        offsets=np.append(
            grown.offsets, np.zeros(len(process) + 1 - len(grown.offsets), np.int32)
        ),
        targets=more(grown.targets, edges),
        moves=more(grown.moves, edges),
        set_start=more(grown.set_start, sets + 1),
        member=more(grown.member, int(grown.set_start[sets])),
        table=wider(grown.table, int(count[_FAR])),
        questions=wider(grown.questions, asked),
        answers=more(grown.answers, asked),
        set_table=wider(grown.set_table, sets),
    )


@compiled
def _expand(
    row, label, target, set_of, set_row, set_label, labels, pairs, most,
    process, first, second, offsets, targets, moves, set_start, member,
    table, questions, answers, set_table, near, dense, parts, lengths, seen,
    starts, count,
):  # fmt: skip
    """Finds the moves of one position after the other, until an array is full.

    The arrays are those of `Grown` and what `build_on_host` makes; none is replaced in
    here, as numba would count its references at each step.
    """
    states = len(row) - 1
    empty = states
    at, positions, far = count[_AT], count[_POSITIONS], count[_FAR]
    edges, asked, sets = count[_EDGES], count[_ASKED], count[_SETS]
    status = _DONE
    if at == 0:
        for i in range(len(pairs)):
            p, q = pairs[i, 0], pairs[i, 1]
            starts[i] = _number(near, table, states, dense, positions, p, q, ATTACK)
            if starts[i] == positions:
                process[positions], first[positions] = p, q
                second[positions] = ATTACK
                positions += 1
        far = 0 if dense else positions
    while at < positions:
        if positions > most or edges > most:
            status = _TOO_LARGE
            break
        p, whole, other = process[at], first[at], second[at]
        room = 2
        if other >= 0:
            room = set_start[whole + 1] - set_start[whole] + 1
        elif other == ATTACK:
            room = row[p + 1] - row[p] + 4
        if (
            edges + room > len(targets)
            or positions + room > len(process)
            or 4 * (far + room) > len(table)
        ):
            count[_ROOM] = room
            status = _FULL
            break
        if other == ATTACK and whole != empty:
            # All that is asked is answered before a move is written.
            room, action = 0, -1
            for transition in range(row[p], row[p + 1] + 1):
                challenge = transition == row[p + 1]
                if not challenge and label[transition] == action:
                    continue
                action = labels + set_of[p] if challenge else label[transition]
                key = (int(whole) << 31) + int(action)
                if look_up(questions, key, -1) >= 0:
                    continue
                values = member[set_start[whole] : set_start[whole + 1]]
                if challenge:
                    split(parts, lengths, values, set_of[p], set_of, set_row, set_label)
                else:
                    seen[0] += 1
                    reached_from(
                        parts, lengths, values, row, label, target, action, seen
                    )
                room = 6 + lengths.sum()
                if (
                    set_start[sets] + room > len(member)
                    or sets + 8 > len(set_start)
                    or 4 * (sets + 8) > len(set_table)
                    or 4 * (asked + 8) > len(questions)
                    or asked == len(answers)
                ):
                    count[_ROOM] = room + 8
                    status = _FULL
                    break
                look_up(questions, key, asked)
                for i in range(6 if challenge else 1):
                    part = parts[i, : lengths[i]]
                    if len(part) < 2:
                        answers[asked, i] = part[0] if len(part) else empty
                        continue
                    found = find_set(set_table, set_start, member, part, sets)
                    answers[asked, i] = found
                    if found == sets:
                        start = set_start[sets]
                        member[start : start + len(part)] = part
                        sets += 1
                        set_start[sets] = start + len(part)
                asked += 1
            if status == _FULL:
                break

        # A position that is not known is the next one.
        new = positions
        if other >= 0:
            for i in range(set_start[whole], set_start[whole + 1]):
                to = _number(near, table, states, dense, new, p, member[i], CLAUSE)
                if to == new:
                    process[new], first[new], second[new] = p, member[i], CLAUSE
                    new += 1
                targets[edges], moves[edges] = to, ANSWER
                edges += 1
            if other != empty:
                to = _number(near, table, states, dense, new, p, other, ATTACK)
                if to == new:
                    process[new], first[new], second[new] = p, other, ATTACK
                    new += 1
                targets[edges], moves[edges] = to, REVIVE
                edges += 1
        elif other == CLAUSE:
            for turn in range(2):
                one, two = (whole, p) if turn else (p, whole)
                to = _number(near, table, states, dense, new, one, two, ATTACK)
                if to == new:
                    process[new], first[new], second[new] = one, two, ATTACK
                    new += 1
                targets[edges], moves[edges] = to, NEGATIVE if turn else POSITIVE
                edges += 1
        elif whole == empty:
            process[new], first[new], second[new] = p, empty, empty
            targets[edges], moves[edges] = new, CHALLENGE
            new += 1
            edges += 1
        else:
            action, reached = -1, 0
            for transition in range(row[p], row[p + 1]):
                if label[transition] != action:
                    action = label[transition]
                    key = (int(whole) << 31) + int(action)
                    reached = answers[look_up(questions, key, -1), 0]
                q = target[transition]
                if not contains(member, set_start, reached, q):
                    to = _number(near, table, states, dense, new, q, reached, ATTACK)
                    if to == new:
                        process[new], first[new], second[new] = q, reached, ATTACK
                        new += 1
                    targets[edges], moves[edges] = to, OBSERVE
                    edges += 1
            # Challenges lead to what is new: p, and all of both parts together, were
            # not here before.
            number = look_up(
                questions, (int(whole) << 31) + labels + int(set_of[p]), -1
            )
            for choice in range(4):
                rest, taken = whole, empty
                if choice:
                    rest = answers[number, 2 * choice - 2]
                    taken = answers[number, 2 * choice - 1]
                    repeated = rest == empty or taken == empty
                    for i in range(1, choice):
                        repeated = repeated or answers[number, 2 * i - 1] == taken
                    if repeated:
                        continue
                process[new], first[new], second[new] = p, rest, taken
                targets[edges], moves[edges] = new, CHALLENGE
                new += 1
                edges += 1
        far += new - positions
        positions = new
        at += 1
        offsets[at] = edges
    count[_AT], count[_POSITIONS], count[_FAR] = at, positions, far
    count[_EDGES], count[_ASKED], count[_SETS] = edges, asked, sets
    return status


@compiled
def _number(near, table, states, dense, new, p, whole, kind):
    """The number of a position of the attacker, which is `new` if it is new."""
    if dense and whole < states:
        place = 2 * (int(p) * states + int(whole)) + (1 if kind == CLAUSE else 0)
        if near[place] < 0:
            near[place] = new
        return np.int64(near[place])
    key = (int(p) << 32) + 2 * int(whole) + (1 if kind == CLAUSE else 0)
    return look_up(table, key, new)
