"""Builds the spectroscopy game on the host: what it works on, and room for it."""

from typing import NamedTuple

import numpy as np

from jaxgames.equivalence._game import BUILDING, Spectroscopy
from jaxgames.equivalence._system import System
from jaxgames.equivalence.host._expand import (
    ASKED,
    EDGES,
    FAR,
    FULL,
    POSITIONS,
    ROOM,
    SETS,
    TOO_LARGE,
    expand,
)
from jaxgames.equivalence.host._tables import new_table, wider_table
from jaxgames.limits import tick
from jaxgames.tuning.equivalence import FIRST_SETS, MOST_FIRST
from jaxgames.tuning.equivalence import MOVES_A_POSITION as MOVES
from jaxgames.tuning.equivalence import POSITIONS_A_PAIR as FIRST

DENSE, ALWAYS = 32, 1 << 20
"""Places of a table of all pairs of processes, for each pair that is asked for and in
any case, up to which there is one; memory that is not touched costs nothing.
"""


class Steps(NamedTuple):
    """The transitions of all processes, by process and label: `G` steps."""

    row: np.ndarray
    """int32 `[n + 1]`, where the steps of each process start."""
    label: np.ndarray
    """int32 `[G]`."""
    start: np.ndarray
    """int32 `[G + 1]`, where the transitions of each step start."""
    lone: np.ndarray
    """int32 `[G]`, the set that a step reaches; -1 where it is not known yet."""
    target: np.ndarray
    """int32 `[E]`, where each transition leads."""


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


def build_on_host(
    system: System,
    pairs: np.ndarray,
    most: int,
    most_moves: int | None = None,
) -> Spectroscopy | None:
    """The game from the attack positions (p, {q}) of these pairs.

    Args:
        system: the processes.
        pairs: int32 `[N, 2]`, p and q.
        most: positions beyond which it is given up.
        most_moves: moves beyond which it is; None: as many.

    Returns:
        The game, or None where it has more.
    """
    limits = np.array([most, most if most_moves is None else most_moves], np.int64)
    pairs = np.array(pairs, np.int32, order="C").reshape(-1, 2)
    states = system.num_states
    enables = system.enabled().of, system.enabled().masks()
    # Where most pairs are asked for, positions of two processes have a table.
    near = 2 * states * (states + 1)
    dense = near <= max(DENSE * len(pairs), ALWAYS)
    near = np.zeros(near if dense else 1, np.int32)
    # Sets: first those of one process, then the empty one, then others as they come.
    singles = np.arange(states + 1, dtype=np.int32)
    room = len(pairs) + min(FIRST * len(pairs), MOST_FIRST) + 64
    grown = Grown(
        *(np.empty(room, np.int32) for _ in range(3)),
        offsets=np.zeros(room + 1, np.int32),
        targets=np.empty(MOVES * room, np.int32),
        moves=np.empty(MOVES * room, np.uint8),
        set_start=np.append(singles, np.int32(states)),
        member=singles[:-1].copy(),
        table=new_table(FIRST_SETS if dense else 2 * len(pairs)),
        questions=new_table(FIRST_SETS),
        answers=np.empty((FIRST_SETS, 6), np.int32),
        set_table=new_table(FIRST_SETS),
    )
    parts, starts = np.empty((6, states), np.int32), np.zeros(len(pairs), np.int32)
    steps = _steps_of(system)
    reached = np.empty(int(np.diff(steps.row).max(initial=0)), np.int32)
    seen, lengths = np.zeros(states + 1, np.int64), np.zeros(6, np.int64)
    count = np.zeros(7, np.int64)
    count[SETS], count[ROOM] = states + 1, 64
    status = FULL
    while status == FULL:
        tick(BUILDING, int(count[POSITIONS]), "positions")
        grown = _with_room(grown, count)
        status = expand(
            *(*steps, *enables, system.num_labels, pairs, limits),
            *(*grown, near, dense, parts, lengths, seen, reached, starts, count),
        )
    if status == TOO_LARGE:
        return None
    positions, edges, sets = (int(count[i]) for i in (POSITIONS, EDGES, SETS))
    return Spectroscopy(
        _cut(grown.offsets, positions + 1),
        _cut(grown.targets, edges),
        _cut(grown.moves, edges),
        _cut(grown.process, positions),
        _cut(grown.first, positions),
        _cut(grown.second, positions),
        _cut(grown.set_start, sets + 1),
        _cut(grown.member, int(grown.set_start[sets])),
        starts,
    )


def is_ready() -> bool:
    """Whether the loops were compiled, or read from the disk, before."""
    return expand.ready


def _steps_of(system: System) -> Steps:
    """Steps, and the sets that some reach: a single process has its own number."""
    source, label, target = system.source, system.label, system.target
    fresh = np.ones(len(label) + 1, bool)
    fresh[1:-1] = (source[1:] != source[:-1]) | (label[1:] != label[:-1])
    start = np.flatnonzero(fresh).astype(np.int32)
    first, transitions = start[:-1], np.diff(start)
    return Steps(
        np.searchsorted(first, system.offsets).astype(np.int32),
        label[first].astype(np.int32),
        start,
        np.where(transitions == 1, target[first], -1).astype(np.int32),
        target.astype(np.int32),
    )


def _cut(array: np.ndarray, size: int) -> np.ndarray:
    """The beginning of an array; the rest is let go where there is much of it."""
    part = array[:size]
    return part.copy() if 8 * size < len(array) else part


def _with_room(grown: Grown, count: np.ndarray) -> Grown:
    """The same with room for the next position, and more."""
    room = int(count[ROOM])

    def more(array: np.ndarray, used: int) -> np.ndarray:
        if used + room < len(array):
            return array
        wide = np.empty((2 * (used + room) + 1, *array.shape[1:]), array.dtype)
        wide[:used] = array[:used]
        return wide

    def wider(table: np.ndarray, used: int) -> np.ndarray:
        enough = 4 * (used + room) < len(table)
        return table if enough else wider_table(table, 2 * (used + room))

    positions, sets = int(count[POSITIONS]), int(count[SETS])
    edges, asked = int(count[EDGES]), int(count[ASKED])
    return Grown(
        process=more(grown.process, positions),
        first=more(grown.first, positions),
        second=more(grown.second, positions),
        offsets=more(grown.offsets, positions + 1),
        targets=more(grown.targets, edges),
        moves=more(grown.moves, edges),
        set_start=more(grown.set_start, sets + 1),
        member=more(grown.member, int(grown.set_start[sets])),
        table=wider(grown.table, int(count[FAR])),
        questions=wider(grown.questions, asked),
        answers=more(grown.answers, asked),
        set_table=wider(grown.set_table, sets),
    )
