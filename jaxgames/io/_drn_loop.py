"""Lines of a model in DRN, read one after the other, by machine code.

Anything unusual is left to slower code, which can tell what is wrong.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _word_loop
from jaxgames.io._word_loop import letters, natural, real

STATE, ACTION, BRANCH = range(3)
"""Kinds of lines."""

ODD = -1

_STATE, _ACTION = (int.from_bytes(word, "big") for word in (b"state", b"action"))


class Stretch(NamedTuple):
    """What some lines say: `S` states, `A` choices and `B` branches."""

    kinds: np.ndarray
    """int32 `[2]`, of which kind the first line is and the last one; or -1."""
    numbers: np.ndarray
    """int32 `[2]`, the numbers of these lines in the file, counted from 1."""
    state: np.ndarray
    """int32 `[3, S]`: its number, the line, and the choices before it."""
    action: np.ndarray
    """int32 `[2, A]`: the branches before it, and the line."""
    branch: np.ndarray
    """int32 `[2, B]`: the target, and the line."""
    prob: np.ndarray
    """float64 `[B]`."""
    notes: tuple["Notes", "Notes"]
    """What follows states, and `action`."""
    values: list[bytes]
    """Comments with the values of a state's variables."""
    valued: np.ndarray
    """int32, how many states come before each of these comments."""


class Notes(NamedTuple):
    """Texts behind states or choices."""

    which: np.ndarray
    """int32, the number of each text."""
    first: np.ndarray
    """int32, where each number appears first."""
    texts: list[bytes]


def read(byte: np.ndarray, before: int, last: int) -> Stretch | None:
    """Reads lines after `@model`.

    Args:
        byte: uint8, the text, with a margin before and a blank after it.
        before: how many lines come before.
        last: the last state.

    Returns:
        None where a line may be malformed, out of order, or has an interval.
    """
    size = len(byte)
    # The shortest lines are `state 0`, `action 0`, `0 : 1` and `//[]`.
    state = np.empty((5, size // 8 + 2), np.int32)
    action = np.empty((4, size // 9 + 2), np.int32)
    branch, prob = np.empty((2, size // 6 + 2), np.int32), np.empty(size // 6 + 2)
    values, ends = np.empty((3, size // 4 + 2), np.int32), np.full((2, 2), -1, np.int32)
    states, actions, branches, comments = _read(
        byte,
        before,
        last,
        _word_loop.POWERS,
        state,
        action,
        branch,
        prob,
        values,
        ends,
    )
    if states == ODD:
        return None
    state, action = state[:, :states], action[:, :actions]
    places = values[:2, :comments].T.tolist()
    return Stretch(
        ends[0],
        ends[1],
        state[:3].copy(),
        action[:2].copy(),
        branch[:, :branches].copy(),
        prob[:branches].copy(),
        (_notes(byte, *state[3:]), _notes(byte, *action[2:])),
        [byte[begin:end].tobytes() for begin, end in places],
        values[2, :comments].copy(),
    )


def _notes(byte: np.ndarray, start: np.ndarray, end: np.ndarray) -> Notes:
    which, first = _word_loop.alike(byte, start, end)
    places = zip(start[first].tolist(), end[first].tolist(), strict=True)
    return Notes(which, first, [byte[begin:stop].tobytes() for begin, stop in places])


@compiled
def _read(byte, before, last, powers, state, action, branch, prob, values, ends):
    size = len(byte)
    line = before + 1
    states = 0
    actions = 0
    branches = 0
    comments = 0
    kind = -1
    at = 0
    while at < size:
        mark = byte[at]
        if mark == 10:
            line += 1
            at += 1
            continue
        if mark == 32 or 9 <= mark <= 13:
            at += 1
            continue
        if mark == 47:
            if byte[at + 1] != 47:
                return ODD, 0, 0, 0
            start = at
            while at < size and byte[at] != 10:
                at += 1
            if byte[start + 2] == 91:
                stop = at
                while byte[stop - 1] == 32 or 9 <= byte[stop - 1] <= 13:
                    stop -= 1
                values[0, comments] = start
                values[1, comments] = stop
                values[2, comments] = states
                comments += 1
            continue
        former = kind
        if mark == 97:
            if at + 7 >= size or letters(byte, at, 6) != _ACTION:
                return ODD, 0, 0, 0
            at += 6
            if byte[at] != 32 and byte[at] != 9:
                return ODD, 0, 0, 0
            kind = ACTION
            # It comes after a state, or after the branches of another one.
            if former == ACTION:
                return ODD, 0, 0, 0
        elif mark == 115:
            if at + 6 >= size or letters(byte, at, 5) != _STATE:
                return ODD, 0, 0, 0
            at += 5
            if byte[at] != 32 and byte[at] != 9:
                return ODD, 0, 0, 0
            kind = STATE
            if former >= 0 and former != BRANCH:
                return ODD, 0, 0, 0
        else:
            kind = BRANCH
            if former == STATE:
                return ODD, 0, 0, 0
        if former < 0:
            ends[0, 0] = kind
            ends[1, 0] = line
        ends[0, 1] = kind
        ends[1, 1] = line
        value = 0
        if kind != ACTION:
            while byte[at] == 32 or byte[at] == 9:
                at += 1
                if at >= size:
                    return ODD, 0, 0, 0
            first = at
            value, at = natural(byte, at)
            # The last byte of the text is a blank.
            ends_here = byte[at] == 32 or 9 <= byte[at] <= 13
            zeros = byte[first] == 48 and at - first > 1
            if value == ODD or value > last or zeros or not ends_here:
                return ODD, 0, 0, 0
        while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
            at += 1
        if kind == BRANCH:
            if at + 2 >= size or byte[at] != 58:
                return ODD, 0, 0, 0
            at += 1
            if byte[at] != 32 and byte[at] != 9:
                return ODD, 0, 0, 0
            while at < size - 1 and (byte[at] == 32 or byte[at] == 9):
                at += 1
            first = at
            if byte[at] < 48 or byte[at] > 57:
                return ODD, 0, 0, 0
            while byte[at] > 32:
                at += 1
            found = real(byte, first, at, powers)
            if not found >= 0:
                return ODD, 0, 0, 0
            while at < size and (byte[at] == 32 or byte[at] == 9 or byte[at] == 13):
                at += 1
            if at < size and byte[at] != 10:
                return ODD, 0, 0, 0
            branch[0, branches] = value
            branch[1, branches] = line
            prob[branches] = found
            branches += 1
            continue
        first = at
        while at < size and byte[at] != 10:
            at += 1
        stop = at
        while stop > first and (byte[stop - 1] == 32 or 9 <= byte[stop - 1] <= 13):
            stop -= 1
        if kind == ACTION:
            if stop == first:
                return ODD, 0, 0, 0
            action[0, actions] = branches
            action[1, actions] = line
            action[2, actions] = first
            action[3, actions] = stop
            actions += 1
        else:
            state[0, states] = value
            state[1, states] = line
            state[2, states] = actions
            state[3, states] = first
            state[4, states] = stop
            states += 1
    return states, actions, branches, comments
