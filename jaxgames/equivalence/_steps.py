"""The steps of a level of the spectroscopy game, as array programs.

[`_levels`][jaxgames.equivalence] calls them one after the other and says how much room
there is. Cells, questions and lists beyond the real ones are padding.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.equivalence._bisimulation import scramble
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

PARTS = 6
"""Lists that a challenge splits a set into: three times the rest and the part taken."""


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


class Sets(NamedTuple):
    """The sets known so far: that of each one process, the empty one, and others."""

    start: jax.Array
    """int32 `[S + 1]`."""
    hashes: tuple[jax.Array, ...]
    """Two, uint32 `[S]` each."""
    member: jax.Array
    """int32 `[M]`."""
    count: jax.Array
    """int32 scalar."""


class Positions(NamedTuple):
    """The positions known so far."""

    process: jax.Array
    """int32 `[V]`."""
    first: jax.Array
    """int32 `[V]`."""
    second: jax.Array
    """int32 `[V]`."""
    count: jax.Array
    """int32 scalar."""


class Cells(NamedTuple):
    """Where moves of a level may be: `X` cells."""

    at: jax.Array
    """int32, the position."""
    place: jax.Array
    """int32, which of the position's cells it is."""
    there: jax.Array
    """bool."""
    question: jax.Array
    """int32, the question that the cell has to ask."""


class Questions(NamedTuple):
    """What is asked of sets: `Q` of (set, action) or (set, labels + enabled set)."""

    first: jax.Array
    """int32."""
    what: jax.Array
    """int32."""
    count: jax.Array
    """int32 scalar."""


# ---- the steps of a level ---------------------------------------------------


def _cell_counts(processes: Processes, sets: Sets, positions: Positions, low):
    """Cells of each position from `low` on; none for those before."""
    p, first, second = positions[:3]
    index = jnp.arange(len(p), dtype=jnp.int32)
    degree = ops.take(processes.row, p + 1) - ops.take(processes.row, p)
    rest = jnp.where(second == CLAUSE, 0, first)
    size = ops.take(sets.start, rest + 1) - ops.take(sets.start, rest)
    attack = jnp.where(first == processes.empty, 1, degree + 4)
    cells = jnp.where(
        second == CLAUSE, 2, jnp.where(second == ATTACK, attack, size + 1)
    )
    return jnp.where((index >= low) & (index < positions.count), cells, 0)


@jax.jit
def measure(processes, sets, positions, low):
    """How many cells the level has."""
    return jnp.sum(_cell_counts(processes, sets, positions, low), dtype=jnp.int32)


@functools.partial(jax.jit, static_argnames="room")
def ask(processes, sets, positions, low, salt, *, room: int):
    """Cells, and the questions that they have, each once."""
    counts = _cell_counts(processes, sets, positions, low)
    at, place, there = ops.expand(counts, room)
    p, first, second = (ops.take(x, at) for x in positions[:3])
    start = ops.take(processes.row, p)
    degree = ops.take(processes.row, p + 1) - start
    splits = there & (second == ATTACK) & (first != processes.empty)
    observes = splits & (place < degree)
    transition = jnp.where(observes, start + place, 0)
    action = ops.take(processes.label, transition)
    what = jnp.where(
        observes, action, processes.labels + ops.take(processes.enables, p)
    )
    found, left = ops.first_equal((first, what), splits, salt)
    question, count = ops.number_groups(found)
    leads = ops.compact(found == jnp.arange(room, dtype=jnp.int32), room)
    leads = jnp.minimum(leads, room - 1)
    questions = Questions(ops.take(first, leads), ops.take(what, leads), count)
    sizes = _set_sizes(sets, questions)
    return (
        Cells(at, place, there, question),
        questions,
        (count, jnp.sum(sizes, dtype=jnp.int32), left),
    )


def _set_sizes(sets: Sets, questions: Questions):
    first = questions.first
    sizes = ops.take(sets.start, first + 1) - ops.take(sets.start, first)
    asked = jnp.arange(len(first), dtype=jnp.int32) < questions.count
    return jnp.where(asked, sizes, 0)


@functools.partial(jax.jit, static_argnames="room")
def list_members(processes, sets, questions, *, room: int):
    """Members of the sets asked for, and how many entries each makes."""
    question, place, there = ops.expand(_set_sizes(sets, questions), room)
    first, what = (
        ops.take(questions.first, question),
        ops.take(questions.what, question),
    )
    member = ops.take(
        sets.member, jnp.where(there, ops.take(sets.start, first) + place, 0)
    )
    low, high = ops.take(processes.row, member), ops.take(processes.row, member + 1)
    begin = ops.search_rows(processes.label, low, high, what)
    end = ops.search_rows(processes.label, low, high, what + 1)
    splits = what >= processes.labels
    entries = jnp.where(there, jnp.where(splits, 3, end - begin), 0)
    return (question, member, begin), entries, jnp.sum(entries, dtype=jnp.int32)


@functools.partial(jax.jit, static_argnames=("room", "lists"))
def make_sets(processes, sets, questions, members, entries, *, room: int, lists: int):
    """The sets that answer the questions, sorted lists of members: `PARTS` for each."""
    index, place, there = ops.expand(entries, room)
    question, member, begin = (ops.take(x, index) for x in members)
    what = ops.take(questions.what, question)
    splits = what >= processes.labels
    reached = ops.take(processes.target, jnp.where(there & ~splits, begin + place, 0))
    own = jnp.where(splits, what - processes.labels, 0)
    other = ops.take(processes.enables, member)
    width = processes.includes.shape[1]
    table = processes.includes.reshape(-1)
    less, more = (
        ops.take(table, own * width + other),
        ops.take(table, other * width + own),
    )
    taken = jnp.where(place == 0, less, jnp.where(place == 1, more, less & more))
    part = jnp.where(splits, 2 * place + taken, 0)
    which = jnp.where(there, question * PARTS + part, lists)
    value = jnp.where(splits, member, reached)
    which, value = ops.sort_rows(which, value)
    fresh = ops.differs_from_last(which, value) & (which < lists)
    kept = jnp.minimum(ops.compact(fresh, room), room - 1)
    count = jnp.sum(fresh, dtype=jnp.int32)
    real = jnp.arange(room, dtype=jnp.int32) < count
    return jnp.where(real, ops.take(which, kept), lists), ops.take(value, kept)


@functools.partial(jax.jit, static_argnames="lists", donate_argnums=0)
def number_sets(sets, questions, which, value, salt, *, lists: int):
    """Numbers the lists; those that are new become sets."""
    known, room = len(sets.hashes[0]), len(which)
    ones = jnp.ones(room, jnp.int32)
    sizes = ops.sum_into(which, ones, lists)
    hashes = tuple(
        ops.sum_into(which, scramble(value, salt + word), lists) for word in range(2)
    )
    owner = jnp.arange(lists, dtype=jnp.int32) // PARTS
    among = owner < questions.count
    there = jnp.arange(known, dtype=jnp.int32) < sets.count
    # Known sets come first, so that the first of equal ones is the known one.
    found, wrong = ops.first_equal(
        tuple(jnp.concatenate(pair) for pair in zip(sets.hashes, hashes, strict=True)),
        jnp.concatenate([there, among]),
        salt,
    )
    found = found[known:]
    index = jnp.arange(lists, dtype=jnp.int32) + known
    new = (found == index) & among
    rank = jnp.cumsum(new, dtype=jnp.int32) - 1
    number = sets.count + ops.take(rank, jnp.clip(found - known, 0, lists - 1))
    number = jnp.where(found < known, found, number)
    number = jnp.where(among, number, 0)

    starts = jnp.cumsum(jnp.where(new, sizes, 0), dtype=jnp.int32)
    base = ops.take(sets.start, sets.count)
    aim = jnp.where(new, sets.count + rank, known)
    start = ops.write_into(sets.start, aim + 1, base + starts)
    # A list's place minus that of its first entry is the place in its set.
    first = jnp.cumsum(sizes, dtype=jnp.int32) - sizes
    listed = jnp.minimum(which, lists - 1)
    place = jnp.arange(room, dtype=jnp.int32) - ops.take(first, listed)
    goal = ops.take(start, ops.take(number, listed)) + place
    writes = (which < lists) & ops.take(new, listed)
    member = ops.write_into(
        sets.member, jnp.where(writes, goal, len(sets.member)), value
    )
    grown = Sets(
        start,
        tuple(
            ops.write_into(old, aim, more)
            for old, more in zip(sets.hashes, hashes, strict=True)
        ),
        member,
        sets.count + jnp.sum(new, dtype=jnp.int32),
    )
    # Lists that were taken for a set must have its members.
    real = which < lists
    goal = jnp.clip(goal, 0, len(member) - 1)
    wrong += jnp.sum(real & (ops.take(member, goal) != value), dtype=jnp.int32)
    length = ops.take(start, number + 1) - ops.take(start, number)
    wrong += jnp.sum(among & (length != sizes), dtype=jnp.int32)
    return grown, number, wrong


@functools.partial(jax.jit, donate_argnums=2)
def move(processes, sets, positions, cells, number, salt):
    """The moves of the cells, and the positions that are new."""
    at, place, there, question = cells
    room, known = len(at), len(positions.process)
    p, first, second = (ops.take(x, at) for x in positions[:3])
    empty = processes.empty
    start = ops.take(processes.row, p)
    degree = ops.take(processes.row, p + 1) - start
    attack, clause = second == ATTACK, second == CLAUSE
    defend, plain = ~attack & ~clause, attack & (first != empty)
    observes = plain & (place < degree)
    choice = jnp.where(attack & ~observes, jnp.where(plain, place - degree, 0), -1)

    def answer(part):
        last = len(number) - 1
        return ops.take(number, jnp.minimum(question * PARTS + part, last))

    # An observation, unless the process is among those that follow it.
    after = ops.take(processes.target, jnp.where(observes, start + place, 0))
    reached = jnp.where(observes, answer(0), empty)
    # A challenge: nothing taken, or one of three splits with two parts, each once.
    rest, taken, sound = first, jnp.where(choice == 0, empty, first), choice == 0
    before = []
    for split in range(3):
        left, part = answer(2 * split), answer(2 * split + 1)
        fine = (choice == split + 1) & (left != empty) & (part != empty)
        for other in before:
            fine &= part != other
        before.append(part)
        rest = jnp.where(choice == split + 1, left, rest)
        taken = jnp.where(choice == split + 1, part, taken)
        sound |= fine
    # A clause for a member of the rest, or the revival.
    low = ops.take(sets.start, jnp.where(defend, first, 0))
    size = ops.take(sets.start, jnp.where(defend, first, 0) + 1) - low
    answers = defend & (place < size)
    member = ops.take(sets.member, jnp.where(answers, low + place, 0))
    revives = defend & ~answers

    kind = jnp.select(
        [observes, attack, answers, revives, place == 0],
        [OBSERVE, CHALLENGE, ANSWER, REVIVE, POSITIVE],
        NEGATIVE,
    )
    swap = clause & (place == 1)
    to_process = jnp.where(observes, after, jnp.where(swap, first, p))
    to_first = jnp.select(
        [observes, attack, answers, revives, swap],
        [reached, rest, member, second, p],
        first,
    )
    to_second = jnp.select(
        [observes | revives | clause, attack], [ATTACK, taken], CLAUSE
    )
    lost = _contains(sets, reached, after)
    fine = there & jnp.select(
        [observes, attack, revives], [~lost, sound, second != empty], True
    )

    keys = tuple(
        jnp.concatenate([old, new])
        for old, new in zip(
            positions[:3], (to_process, to_first, to_second), strict=True
        )
    )
    real = jnp.arange(known, dtype=jnp.int32) < positions.count
    found, left = ops.first_equal(keys, jnp.concatenate([real, fine]), salt)
    found = found[known:]
    index = jnp.arange(room, dtype=jnp.int32)
    new = fine & (found == index + known)
    rank = jnp.cumsum(new, dtype=jnp.int32) - 1
    goal = positions.count + ops.take(rank, jnp.clip(found - known, 0, room - 1))
    goal = jnp.where(found < known, found, goal)
    aim = jnp.where(new, positions.count + rank, known)
    process, first, second = (
        ops.write_into(old, aim, more)
        for old, more in zip(
            positions[:3], (to_process, to_first, to_second), strict=True
        )
    )
    grown_count = positions.count + jnp.sum(new, dtype=jnp.int32)
    grown = Positions(process, first, second, grown_count)
    moves = jnp.minimum(ops.compact(fine, room), room - 1)
    edges = ops.take(at, moves), ops.take(goal, moves), ops.take(kind, moves)
    # The new positions are those from the old count on: the next level.
    cells_then = jnp.sum(
        _cell_counts(processes, sets, grown, positions.count), dtype=jnp.int32
    )
    return grown, edges, (jnp.sum(fine, dtype=jnp.int32), grown.count, cells_then, left)


def _contains(sets: Sets, which, process):
    begin, end = ops.take(sets.start, which), ops.take(sets.start, which + 1)
    at = ops.search_rows(sets.member, begin, end, process)
    found = ops.take(sets.member, jnp.minimum(at, len(sets.member) - 1))
    return (at < end) & (found == process)
