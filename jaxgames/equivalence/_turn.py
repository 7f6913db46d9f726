"""Turns of building a spectroscopy game: the next positions of a queue get their moves.

Every position has as many cells as it can have moves at most. What their moves lead to
is looked up, and put in where it is new; so positions get the numbers that one after
the other would have given them, however many a turn takes, and no level of the search
is waited for. What becomes of sets is asked first, and answered before the moves are
made. Most need not be asked: no split of one process has two parts, and by most actions
a process reaches one other, or none.
"""

import functools
from typing import Any, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.equivalence._answers import answer, step_of
from jaxgames.equivalence._found import Found, Processes, Sizes, has_room
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
from jaxgames.graph._state_table import Known, look_up_all
from jaxgames.later import jax, jnp


class Bounds(NamedTuple):
    """Where the loop comes back to the host.

    Attributes:
        few: fewer positions that wait,
        many: and more.
        most: positions or moves.
        steps: turns.
    """

    few: Any
    many: Any
    most: Any
    steps: Any


class Cells(NamedTuple):
    """Where moves of a turn may be: `X` cells, int32 or bool each.

    Attributes:
        there: whether there is such a cell.
        place: which of its position's it is.
        process: p.
        first: Q, or q.
        second: Q*, or `ATTACK`, or `CLAUSE`.
        size: members of Q.
        begin: where these begin.
        observes: whether the attacker observes an action.
        after: the process that follows p then.
        choice: otherwise, which part a challenge takes.
        asks: whether a question has to be asked.
        what: the action, or the labels that are asked about.
        reached: what is reached, where it is not asked.
    """

    there: jax.Array
    place: jax.Array
    process: jax.Array
    first: jax.Array
    second: jax.Array
    size: jax.Array
    begin: jax.Array
    observes: jax.Array
    after: jax.Array
    choice: jax.Array
    asks: jax.Array
    what: jax.Array
    reached: jax.Array


class Asking(NamedTuple):
    """What is known while questions are asked."""

    questions: Known
    number: jax.Array
    """int32 `[X]`, the question of each cell."""
    open: jax.Array
    """bool scalar, whether they are to be asked yet."""


class Moves(NamedTuple):
    """Moves, one for each cell that has one: `X` each."""

    there: jax.Array
    kind: jax.Array
    keys: jax.Array
    """int32 `[X, 3]`, the positions that they lead to."""


@functools.partial(jax.jit, static_argnums=0, donate_argnums=3)
def advance(sizes: Sizes, processes: Processes, salt, found: Found, bounds: Bounds):
    """Makes turns until a bound is met, or there is no room for another."""

    def stop(state):
        found, turns = state
        waiting = found.positions.count - found.head
        done = (waiting == 0) | (waiting < bounds.few) | (waiting > bounds.many)
        done |= (found.positions.count > bounds.most) | (found.edges > bounds.most)
        done |= (found.answered < found.questions.count) | ~_goes_on(sizes, found)
        return done & (turns > 0) | (turns >= bounds.steps)

    def turn(state):
        return _turn(sizes, processes, salt, state[0]), state[1] + 1

    # The first turn answers what an earlier one had no room for.
    found = found._replace(lacks=jnp.zeros(3, jnp.int32))
    found, _ = fixpoint.until(stop, turn, (found, jnp.int32(0)))
    return found, jnp.stack(found.numbers())


def _goes_on(sizes: Sizes, found: Found) -> jax.Array:
    """Whether there is room, and nothing has gone wrong."""
    now = found.numbers()
    wrong = (now.cells > 0) | (now.entries > 0) | (now.longest > 0) | (now.wrong > 0)
    return functools.reduce(jnp.logical_and, has_room(sizes, found, now)) & ~wrong


def _turn(sizes: Sizes, processes: Processes, salt, found: Found) -> Found:
    """Makes the moves of the next positions, if all that they ask can be answered."""
    taken, ends, cells, lacks = _spread_out(sizes, processes, found)
    keys = jnp.stack([cells.first, cells.what], axis=1).astype(jnp.uint32)

    def ask(state: Asking) -> Asking:
        known, number, _ = look_up_all(state.questions, keys, cells.asks)
        return Asking(known, number, jnp.array(False))

    none = jnp.zeros(sizes.cells, jnp.int32)
    asking = Asking(found.questions, none, jnp.any(cells.asks))
    asking = fixpoint.until(lambda state: ~state.open, ask, asking)
    found = found._replace(
        questions=asking.questions,
        lacks=jnp.stack([lacks, found.lacks[1], found.lacks[2]]),
    )
    found = fixpoint.until(
        lambda found: (
            (found.answered == found.questions.count) | ~_goes_on(sizes, found)
        ),
        functools.partial(answer, processes, salt, sizes),
        found,
    )
    ready = (found.answered == found.questions.count) & _goes_on(sizes, found)
    moves = _moves(sizes, processes, found, cells, asking.number)
    fine = moves.there & ready
    keys = moves.keys.astype(jnp.uint32)
    positions, goal, _ = look_up_all(found.positions, keys, fine)

    rank = jnp.cumsum(fine, dtype=jnp.int32)
    last = ops.take(rank, jnp.clip(ends, 1, sizes.cells) - 1)
    last = jnp.where(ends > 0, last, 0)
    place = jnp.where(fine, found.edges + rank - 1, len(found.targets))
    taken = jnp.where(ready, taken, 0)
    return found._replace(
        positions=positions,
        ends=jax.lax.dynamic_update_slice_in_dim(
            found.ends, found.edges + last, found.head, 0
        ),
        targets=ops.store(found.targets, place, goal),
        kinds=ops.store(found.kinds, place, moves.kind.astype(jnp.uint8)),
        head=found.head + taken,
        edges=found.edges + rank[-1],
    )


def _spread_out(sizes: Sizes, processes: Processes, found: Found):
    """The cells of the next positions, as many as have room for theirs.

    Returns:
        How many positions are taken; where the cells of each end; the cells; and how
        many the first one has, if it is not taken.
    """
    count, empty = found.positions.count, processes.empty
    rows = jax.lax.dynamic_slice_in_dim(found.positions.words, found.head, sizes.rows)
    there = jnp.arange(sizes.rows, dtype=jnp.int32) < count - found.head
    p, first, second = (rows[:, column].astype(jnp.int32) for column in range(3))
    p = jnp.where(there, p, 0)
    attack, clause = second == ATTACK, second == CLAUSE
    which = jnp.where(there & ~clause, first, empty)
    begin = ops.take(found.begins, which)
    size = ops.take(found.begins, which + 1) - begin
    start = ops.take(processes.row, p)
    degree = ops.take(processes.row, p + 1) - start
    several = jnp.where(size > 1, degree + 4, jnp.where(size, degree + 1, 1))
    defend = size + jnp.int32(second != empty)
    counts = jnp.where(clause, 2, jnp.where(attack, several, defend))
    counts = jnp.where(there, counts, 0)
    ends = ops.row_ends(counts, sizes.cells)
    taken = there & (ends <= sizes.cells)
    lacks = jnp.where(there[0] & ~taken[0], counts[0], 0)

    table = jnp.stack([p, first, second, start, degree, begin, size], axis=1)
    row, place, real = ops.expand(jnp.where(taken, counts, 0), sizes.cells)
    cells = ops.take(table, row)
    p, first, second, start, degree, begin, size = (cells[:, i] for i in range(7))
    plain = real & (second == ATTACK) & (size > 0)
    observes = plain & (place < degree)
    transition = jnp.where(observes, start + place, 0)
    action, after = (
        ops.take(x, transition) for x in (processes.label, processes.target)
    )
    choice = jnp.where(plain & ~observes, place - degree, 0)
    # One process alone may reach no other, or one.
    only = jnp.where(observes & (size == 1), first, 0)
    low, high = step_of(processes, sizes, only, action)
    reached = ops.take(processes.target, jnp.where(high > low, low, 0))
    reached = jnp.where(high > low, reached, empty)
    several = observes & ((size > 1) | (high > low + 1))
    what = processes.labels + ops.take(processes.enables, p)
    found_cells = Cells(
        there=real,
        place=place,
        process=p,
        first=first,
        second=second,
        size=size,
        begin=begin,
        observes=observes,
        after=after,
        choice=choice,
        asks=several | (choice > 0),
        what=jnp.where(observes, action, what),
        reached=reached,
    )
    return jnp.sum(taken, dtype=jnp.int32), ends, found_cells, lacks


def _moves(sizes, processes, found: Found, cells: Cells, question) -> Moves:
    """The moves of cells."""
    p, first, second = cells.process, cells.first, cells.second
    empty, observes, choice = processes.empty, cells.observes, cells.choice
    answers = ops.take(found.answers, question)
    # An observation, unless the process is among those that follow it.
    asked = observes & cells.asks
    reached = jnp.where(asked, answers[:, 0], cells.reached)
    begin, end = (
        ops.take(found.begins, jnp.where(asked, reached, empty) + i) for i in range(2)
    )
    at = ops.search_rows(found.members, begin, end, cells.after, sizes.longest)
    member = ops.take(found.members, jnp.minimum(at, len(found.members) - 1))
    lost = jnp.where(
        asked, (at < end) & (member == cells.after), reached == cells.after
    )
    # A challenge: nothing taken, or one of three splits with two parts, each once.
    rest, taken, sound = first, jnp.where(choice == 0, empty, first), choice == 0
    before = []
    for split in range(3):
        left, part = answers[:, 2 * split], answers[:, 2 * split + 1]
        fine = (choice == split + 1) & (left != empty) & (part != empty)
        for other in before:
            fine &= part != other
        before.append(part)
        rest = jnp.where(choice == split + 1, left, rest)
        taken = jnp.where(choice == split + 1, part, taken)
        sound |= fine
    # A clause for a member of the rest, or the revival.
    attack, clause = second == ATTACK, second == CLAUSE
    named = ~attack & ~clause & (cells.place < cells.size)
    member = ops.take(found.members, jnp.where(named, cells.begin + cells.place, 0))
    swap = clause & (cells.place == 1)

    kind = jnp.select(
        [observes, attack, swap, clause, named],
        [OBSERVE, CHALLENGE, NEGATIVE, POSITIVE, ANSWER],
        REVIVE,
    )
    process = jnp.where(observes, cells.after, jnp.where(swap, first, p))
    goal = jnp.select(
        [observes, attack, swap, clause, named],
        [reached, rest, p, first, member],
        second,
    )
    then = jnp.select([observes, attack, named], [ATTACK, taken, CLAUSE], ATTACK)
    there = cells.there & jnp.select([observes, attack], [~lost, sound], True)
    return Moves(there, kind, jnp.stack([process, goal, then], axis=1))
