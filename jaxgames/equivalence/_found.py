"""What has been found of a spectroscopy game on the device, and how much room it has.

Positions, questions and sets are numbered as they are found. A question is what becomes
of a set: by an action, or by a challenge of a process that enables certain
labels. It is asked once; its answer are sets.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.equivalence._system import System
from jaxgames.graph._state_table import Known
from jaxgames.later import jax
from jaxgames.tuning.equivalence import MOST_LABEL_SETS

PARTS = 6
"""Sets that answer a challenge: three times the rest and the part taken. The first of
them is the answer to an action."""


class Processes(NamedTuple):
    """The system, on the device."""

    row: jax.Array
    """int32 `[n + 1]`, where the transitions of each process start."""
    label: jax.Array
    """int32 `[E]`."""
    target: jax.Array
    """int32 `[E]`."""
    enables: jax.Array
    """int32 `[n]`, which set of labels each process enables."""
    includes: jax.Array
    """bool `[C, C]`, whether the row's set includes the column's."""
    labels: jax.Array
    """int32 scalar, how many labels there are."""
    empty: jax.Array
    """int32 scalar, the number of the set without members: that of processes."""


class Found(NamedTuple):
    """What has been found.

    Attributes:
        positions: process, first and second of each.
        ends: int32 `[V]`, where the moves of each position end.
        targets: int32 `[E]`, where each move leads.
        kinds: uint8 `[E]`, the kind of each move.
        questions: the set, and an action or labels and what they enable.
        answers: int32 `[Q, PARTS]`, sets.
        sets: two hashes of the members, and how many these are; first the sets of one
            process, then the empty one.
        begins: int32 `[S + 1]`, where the members of each set begin.
        members: int32 `[M]`, ascending in each set.
        head: positions whose moves are known.
        answered: questions whose answers are known.
        edges: moves.
        lacks: int32 `[3]`: what a turn was too small for; it wants so many cells, so
            many entries of lists, sets of so many members; 0 where it was not.
        wrong: members of lists that were taken for sets with others.
    """

    positions: Known
    ends: jax.Array
    targets: jax.Array
    kinds: jax.Array
    questions: Known
    answers: jax.Array
    sets: Known
    begins: jax.Array
    members: jax.Array
    head: jax.Array
    answered: jax.Array
    edges: jax.Array
    lacks: jax.Array
    wrong: jax.Array

    def numbers(self) -> "Numbers":
        """What the host wants to know."""
        return Numbers(
            self.head,
            self.positions.count,
            self.edges,
            self.questions.count,
            self.answered,
            self.sets.count,
            ops.take(self.begins, self.sets.count),
            *(self.lacks[0], self.lacks[1], self.lacks[2]),
            self.wrong,
        )


class Numbers(NamedTuple):
    """How much has been found: int32 scalars, or integers on the host."""

    head: Any
    positions: Any
    edges: Any
    questions: Any
    answered: Any
    sets: Any
    members: Any
    cells: Any
    entries: Any
    longest: Any
    wrong: Any


class Sizes(NamedTuple):
    """How much a turn takes at once; compiled for.

    Attributes:
        rows: positions.
        cells: their moves, as many as these may be.
        asks: questions.
        entries: members of the sets that they ask about, and of those that answer.
        longest: transitions of a process, and members of a set, at most.
    """

    rows: int
    cells: int
    asks: int
    entries: int
    longest: int


def has_room(sizes: Sizes, found: Found, now: Numbers) -> tuple[Any, ...]:
    """Whether there is room for what a turn may find.

    Tells it of positions, moves, questions, sets and members.
    """
    return (
        now.positions + sizes.cells <= len(found.positions.words),
        now.edges + sizes.cells <= len(found.targets),
        now.questions + sizes.cells <= len(found.questions.words),
        now.sets + sizes.asks * PARTS <= len(found.sets.words),
        now.members + sizes.entries <= len(found.members),
    )


# ---- what is given ------------------------------------------------------------


def processes_of(system: System) -> Processes:
    """A system on the device, in arrays of a few lengths."""
    enabled = system.enabled()
    if len(enabled.offsets) - 1 > MOST_LABEL_SETS:
        raise ValueError(
            f"the processes enable {len(enabled.offsets) - 1} different sets of "
            f"labels, and this engine takes {MOST_LABEL_SETS} at most; use "
            "engine='host'"
        )
    states, edges = system.num_states, len(system.label)
    fill, more = _round(states + 1) - states, _round(edges + 1) - edges
    width = power_of_two(max(len(enabled.offsets) - 1, 16))
    includes = np.zeros((width, width), bool)
    table = enabled.includes()
    includes[: len(table), : len(table)] = table
    arrays = (
        np.pad(system.offsets, (0, fill), "edge"),
        np.pad(system.label, (0, more)),
        np.pad(system.target, (0, more)),
        np.pad(enabled.of, (0, fill)),
        includes,
        np.int32(system.num_labels),
        np.int32(states),
    )
    return Processes(*jax.device_put(arrays))


def _round(size: int) -> int:
    """The next power of four from 256 on: few shapes, and few programs."""
    return max(256, 4 ** -(-max(size - 1, 1).bit_length() // 2))


def power_of_two(size: int) -> int:
    """The next one."""
    return 1 << max(int(size) - 1, 0).bit_length()
