"""The states of a program, found on the host breadth first, and what they can do.

The first pieces of the queue are expanded by numpy, all states of a piece at once. If
there is more to do, a machine that goes from state to state takes over: it does not
matter to it how narrow pieces are. Numpy expands what the machine does not get past,
tells what is wrong there, and serves where no compiler is.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxgames import host, limits
from jaxgames.graph._numbered import number_at
from jaxgames.host import can_compile, compiled
from jaxgames.kept import kept
from jaxgames.mdp._property import Place, PropertyError
from jaxgames.mdp.program import _machine
from jaxgames.mdp.program._choices import check_defined, expanded
from jaxgames.mdp.program._code import Code, written
from jaxgames.mdp.program._packed import Columns
from jaxgames.mdp.program._resolved import Resolved
from jaxgames.tuning.prism import (
    BRANCHES_AT_ONCE,
    COMMANDS_BEFORE_LOADING,
    FIRST_ROOM,
    FIRST_STATES,
    INITIAL_AT_ONCE,
    MOST_LOOKS,
    PIECES_BY_NUMPY,
    STATES_BEFORE_LOADING,
)

MOST = 2**31 - 1
"""States, choices or branches that a model may have."""

MOST_CANDIDATES = 2**26
"""Values of all variables that `init ... endinit` is evaluated for."""


class Explored(NamedTuple):
    """All that can be reached, states in the order of their words.

    Attributes:
        words: int64 `[S, W]`, of numpy or on a device.
        groups: int32 `[S + 1]`, the choices of each state.
        rows: int32 `[C + 1]`, the branches of each choice, each to another state.
        columns: int32 `[E]`, where they lead.
        probs: float64 `[E]`, their probabilities.
        action: int32 `[C]`, the action of each choice by number; None for chains.
        exits: float64 `[S]`, the rate at which a state is left; None without time.
        initial: int32 `[K]`.
        deadlocks: bool `[S]`, where nothing could happen.
        shares: of chains the parts that each step of a state is made of: their states,
            actions, and how much of the step each is; else None.
        values: those of the expressions that a device was asked for, with their types.
    """

    words: Any
    groups: Any
    rows: Any
    columns: Any
    probs: Any
    action: Any
    exits: Any
    initial: Any
    deadlocks: Any
    shares: tuple[Any, Any, Any] | None
    values: Mapping[Any, Any] | None = None


def initial_words(program: Resolved) -> np.ndarray:
    """The initial states: int64 `[K, W]`, in order.

    Raises:
        PropertyError: there are none, or too many to be tried.
    """
    packed = program.packed
    if program.first is not None:
        if not program.first:  # nothing can change: one state
            return np.zeros((1, packed.num_words), np.int64)
        return packed.pack([np.array([x]) for x in program.first])
    assert program.start is not None
    total = 1
    for space in packed.spaces:
        total *= space
    if total > MOST_CANDIDATES or packed.num_words > 1:
        raise PropertyError(
            Place(), f"init ... endinit would be tried for {total} states: too many"
        )
    found = []
    for begin in range(0, total, INITIAL_AT_ONCE):
        limits.tick("looking for initial states", begin, "states")
        words = np.arange(begin, min(begin + INITIAL_AT_ONCE, total))[:, None]
        columns = Columns(packed, words)
        with np.errstate(all="ignore"):
            what = "what is initial", Place()
            check_defined(program.start, packed, columns, *what)
            holds = program.start.on(np, columns)
        found.append(words[np.broadcast_to(holds, (len(words),))])
    result = np.concatenate(found)
    if not len(result):
        raise PropertyError(Place(), "no state is initial: init ... endinit is false")
    return result


def explore(
    program: Resolved, most: int = MOST, patience: int = MOST
) -> Explored | None:
    """Finds all states that can be reached, and what they can do.

    Returns:
        What was found; None where it was given up, after `patience` states.

    Raises:
        PropertyError: as `expanded`.
        ValueError: there are more states, or more branches than int32 can index.
        TooLargeError: there is no room for more.
    """
    known = _Known(program.packed.num_words)
    start = known.numbers(initial_words(program))
    if known.count > most:
        raise ValueError(f"the program has more than {most} initial states")
    head, at_once = 0, FIRST_STATES
    pieces, shares, deadlocks, exits = [], [], [], []
    chain, timed = program.kind != "mdp", program.kind == "ctmc"
    branches = 0
    by_machine, is_asked, looks = None, False, 0
    while head < known.count:
        limits.tick("exploring", head, "states")
        if not is_asked and _is_due(program, len(pieces), head):
            by_machine, is_asked = _ByMachine.of(program, known), True
        found = by_machine.expanded(head) if by_machine else None
        if found is None:
            # What the machine does not get past is one state, and told of by numpy.
            many = 1 if by_machine else at_once
            looks += by_machine is not None
            if looks > MOST_LOOKS:
                by_machine = None
            found = _by_numpy(program, known, head, min(head + many, known.count))
        count, row, action, ends, probs, numbers = found
        per_row = np.bincount(row, minlength=count)
        width = np.diff(ends, prepend=0)
        if chain:
            share = np.ones(len(row))
            if timed:
                share = _sums(probs, ends)
                exit_ = np.bincount(row, share, minlength=count)
                probs = probs / np.repeat(exit_[row], width)
                share = share / exit_[row]
                exits.append(np.where(per_row == 0, 1.0, exit_))
            elif len(row) > np.count_nonzero(per_row):
                share = share / per_row[row]
                probs = probs * np.repeat(share, width)
            shares.append((row + head, action, share))
            width = np.bincount(row, width, minlength=count).astype(np.int64)
            per_row, width = (per_row > 0).astype(np.int64), width[per_row > 0]
        stuck = per_row == 0
        deadlocks.append(stuck)
        pieces.append((per_row, width, numbers, probs, action))
        branches += len(numbers)
        if known.count > most:
            raise ValueError(f"the program has more than {most} states")
        if known.count > patience:
            return None
        if branches > MOST:
            raise ValueError(
                f"the program has more branches than int32 can index ({MOST})"
            )
        head += count
        per_state = max(len(numbers) / count, 1.0)
        at_once = int(min(2 * at_once, max(BRANCHES_AT_ONCE / per_state, 1)))
    dead = np.concatenate(deadlocks)
    return _arranged(
        program, known, pieces, start, dead, shares, np.concatenate(exits or [dead])
    )


class Piece(NamedTuple):
    """What some states can do that follow each other: see `_choices.Expanded`.

    Attributes:
        count: how many states.
        numbers: int32 `[B]`, the states to which branches lead.
    """

    count: int
    row: np.ndarray
    action: np.ndarray
    ends: np.ndarray
    probs: np.ndarray
    numbers: np.ndarray


def _by_numpy(program: Resolved, known: "_Known", head: int, end: int) -> Piece:
    """All at once: the way for wide pieces where no machine code is, and for few."""
    found = expanded(program, known.words[head:end])
    numbers = known.numbers(found.words)
    return Piece(end - head, found.row, found.action, found.ends, found.probs, numbers)


class _ByMachine:
    """One state after the other, by compiled code: no piece is too narrow for it."""

    def __init__(self, code: Code, known: "_Known"):
        width = known.words.shape[1]
        self._known, self._code = known, code
        self._registers = code.ints.copy(), code.reals.copy()
        self._counted = np.zeros(_machine.COUNTED, np.int64)
        self._work = (
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros((code.parts, 2), np.int64),
            np.zeros(code.part_choices + 1, np.int64),
            np.zeros(code.part_branches),
            np.zeros((code.part_branches, width), np.int64),
            np.zeros(code.parts, np.int64),
            np.zeros(code.parts, np.int64),
        )
        self._make_room(BRANCHES_AT_ONCE)
        known.make_room(FIRST_ROOM)

    @staticmethod
    def of(program: Resolved, known: "_Known") -> "_ByMachine | None":
        """For a program; None where it cannot be written as code."""
        code = kept(program, "code", lambda: written(program))
        return _ByMachine(code, known) if code else None

    def _make_room(self, branches: int) -> None:
        limits.check_room(32 * branches, "the branches of a state")
        self._found = (
            np.empty(branches, np.int64),
            np.empty(branches, np.int32),
            np.empty(branches, np.int64),
            np.empty(branches, np.float64),
            np.empty(branches, np.int32),
        )

    def expanded(self, head: int) -> Piece | None:
        """Some states from number `head` on; None if that one is to be looked at."""
        known, code = self._known, self._code
        if 2 * known.count > len(known.words):
            known.make_room(2 * len(known.words))
        while True:
            with np.errstate(over="ignore"):  # where it is not compiled
                self._counted[_machine.COUNT] = known.count
                end, why = _machine.run(
                    *code[:5], *self._registers, known.words, known.table, known.shift,
                    head, self._counted, *self._work, *self._found,
                )  # fmt: skip
            known.count, choices, branches = self._counted[:3].tolist()
            if end > head:
                row, action, ends, probs, numbers = self._found
                return Piece(
                    end - head,
                    row[:choices].copy(),
                    action[:choices].copy(),
                    ends[:choices].copy(),
                    probs[:branches].copy(),
                    numbers[:branches].copy(),
                )
            if why == _machine.LOOK:
                return None
            if why == _machine.STATES:
                known.make_room(2 * len(known.words))
            else:
                self._make_room(2 * len(self._found[0]))


def _is_due(program: Resolved, pieces: int, states: int) -> bool:
    """Whether so much was done by numpy that the machine is worth its beginning."""
    if not can_compile():
        return False
    if _machine.run.ready:
        return pieces >= PIECES_BY_NUMPY
    commands = sum(len(some) for own in program.commands for some in own.values())
    looked_at = pieces * commands
    return looked_at >= COMMANDS_BEFORE_LOADING or states >= STATES_BEFORE_LOADING


def _sums(probs: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The sum of each choice; none is empty."""
    return (
        np.add.reduceat(probs, ends - np.diff(ends, prepend=0))
        if len(ends)
        else (np.zeros(0))
    )


class _Known:
    """States that were found, numbered in the order in which they were.

    Attributes:
        count: how many there are.
        words: int64 `[R, W]`, the first `count` are theirs.
        table: int32, the number of a state where it is looked for, or -1.
    """

    def __init__(self, width: int):
        self.count = 0
        self.words = np.zeros((FIRST_STATES, width), np.int64)
        self.table = np.full(4 * FIRST_STATES, -1, np.int32)

    def numbers(self, words: np.ndarray) -> np.ndarray:
        """The number of each state, those of new ones given in order: int32 `[N]`."""
        found = np.empty(len(words), np.int32)
        done = 0
        while done < len(words):
            part = words[done : done + max(len(self.words) // 2, 1)]
            self.make_room(self.count + len(part))
            places = _places(part, len(self.table))
            with host.plain(len(part)):
                self.count = _enter(
                    part, places, self.words, self.table, self.count,
                    found[done : done + len(part)],
                )  # fmt: skip
            done += len(part)
        return found

    @property
    def shift(self) -> int:
        """By how many bits a number of 64 is shifted to be a place of the table."""
        return 64 - (len(self.table).bit_length() - 1)

    def make_room(self, most: int) -> None:
        """Sees to it that so many states have room."""
        if most <= len(self.words):
            return
        size = 1 << (most - 1).bit_length()
        limits.check_room(size * (8 * self.words.shape[1] + 16), "the states")
        words = np.zeros((size, self.words.shape[1]), np.int64)
        words[: self.count] = self.words[: self.count]
        self.words = words
        self.table = np.full(4 * size, -1, np.int32)
        own = self.words[: self.count]
        places = _places(own, len(self.table))
        numbers = np.empty(self.count, np.int32)
        with host.plain(self.count):
            _enter(own, places, own.copy(), self.table, 0, numbers)


def _places(words: np.ndarray, size: int) -> np.ndarray:
    """Where each state is looked for first, in a table of a power of two."""
    mixed = np.zeros(len(words), np.uint64)
    for w in range(words.shape[1]):
        mixed = (mixed ^ words[:, w].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    shift = np.uint64(64 - (size.bit_length() - 1))
    return ((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> shift).astype(np.int64)


@compiled
def _enter(keys, places, words, table, count, numbers):
    for i in range(len(keys)):
        number = number_at(keys[i], places[i], words, table, count)
        count += number == count
        numbers[i] = number
    return count


def _arranged(
    program: Resolved, known: _Known, pieces, start, dead, shares, exits
) -> Explored:
    """States in the order of their words, deadlocks with a loop, branches merged."""
    size = known.count
    words = known.words[:size]
    order = np.lexsort(words.T[::-1]).astype(np.int32)
    number = np.empty(size, np.int32)
    number[order] = np.arange(size, dtype=np.int32)
    per_row, width, target, probs, action = (
        np.concatenate(parts) for parts in zip(*pieces, strict=True)
    )
    groups = np.append(0, np.cumsum(per_row))
    rows = np.append(0, np.cumsum(width))
    loops = int(dead.sum())
    choices, most = len(width) + loops, len(target) + loops
    limits.check_room(24 * most + 16 * choices, "the model")
    new_groups = np.zeros(size + 1, np.int32)
    new_rows = np.zeros(choices + 1, np.int32)
    origin = np.zeros(choices, np.int32)
    columns, merged = np.zeros(most, np.int32), np.zeros(most)
    with host.plain(most):
        count = _arrange(
            order, number, groups, rows, target, probs, np.full(size, -1, np.int32),
            new_groups, new_rows, origin, columns, merged,
        )  # fmt: skip
    chain, timed = program.kind != "mdp", program.kind == "ctmc"
    parts = None
    if chain:
        row, own, share = (np.concatenate(part) for part in zip(*shares, strict=True))
        parts = number[row], own, share
    # What is there for a deadlock has no name.
    named = None if chain else np.append(action, 0)[origin].astype(np.int32)
    return Explored(
        words[order],
        new_groups,
        new_rows,
        columns[:count].copy() if count < most else columns,
        merged[:count].copy() if count < most else merged,
        named,
        exits[order] if timed else None,
        np.sort(number[start]),
        dead[order],
        parts,
    )


@compiled
def _arrange(
    order, number, groups, rows, target, probs, stamp, new_groups, new_rows, origin,
    columns, merged,
):  # fmt: skip
    choices, branches = 0, 0
    for place in range(len(order)):
        state = order[place]
        if groups[state] == groups[state + 1]:
            columns[branches] = place
            merged[branches] = 1.0
            branches += 1
            origin[choices] = -1
            choices += 1
            new_rows[choices] = branches
        for choice in range(groups[state], groups[state + 1]):
            first = branches
            for branch in range(rows[choice], rows[choice + 1]):
                there = number[target[branch]]
                # Branches are counted upwards: an older stamp is of another choice.
                if stamp[there] >= first:
                    merged[stamp[there]] += probs[branch]
                else:
                    stamp[there] = branches
                    columns[branches] = there
                    merged[branches] = probs[branch]
                    branches += 1
            origin[choices] = choice
            choices += 1
            new_rows[choices] = branches
        new_groups[place + 1] = choices
    return branches
