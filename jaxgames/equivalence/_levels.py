"""Builds the spectroscopy game level by level, as array programs on the device.

A level are the positions that the one before led to for the first time. Its moves are
made at once: every position has as many cells as it can have moves at most. The sets
of processes that they need are asked for once each, as (set, action) or (set, labels
that a challenger enables), made by listing members, and numbered by hashes of their
members. New sets and positions are told from known ones by sorting both together; the
first of equal ones counts, so that the numbers are those of a breadth-first search.
Sizes are read by the host between the steps of a level, and rounded up.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.arena import bucket
from jaxgames.equivalence._bisimulation import scramble
from jaxgames.equivalence._game import ATTACK, Spectroscopy
from jaxgames.equivalence._steps import (
    PARTS,
    Positions,
    Processes,
    Questions,
    Sets,
    ask,
    list_members,
    make_sets,
    measure,
    move,
    number_sets,
)
from jaxgames.equivalence._system import System

LEAST = 1 << 10
"""Entries that there is room for at least."""

MOST_LABEL_SETS = 1 << 13
"""Different sets of enabled labels up to which there is a table of all pairs."""


def build_on_device(
    system: System, pairs: np.ndarray, most: int
) -> Spectroscopy | None:
    """The game from the attack positions (p, {q}) of these pairs, on the device.

    Args:
        system: the processes.
        pairs: int32 `[N, 2]`, p and q.
        most: positions and moves beyond which it is given up.

    Returns:
        The game, or None where it has more.

    Raises:
        ValueError: the processes enable too many different sets of labels.
    """
    salt = 0
    while True:  # until no hash has misled
        found = _try(system, pairs, most, salt)
        if found != "collision":
            return found  # pyright: ignore[reportReturnType]
        salt += 2


def _try(system: System, pairs: np.ndarray, most: int, salt: int):
    processes = _processes(system)
    sets, positions, starts = _begin(system, pairs, salt)
    salts = jnp.uint32(salt)
    sizes, kinds, targets = [np.zeros(0, np.int32)], [], []
    low, count, edges = 0, int(positions.count), 0
    num_sets, num_members = system.num_states + 1, system.num_states
    cells = int(measure(processes, sets, positions, low))
    # Rooms never shrink, so that few programs are compiled.
    room, asks, lists, entries_room = LEAST, LEAST, LEAST, LEAST
    while cells:
        room = max(room, _round(cells))
        asked, questions, told = ask(processes, sets, positions, low, salts, room=room)
        num_questions, num_listed, left = map(int, told)
        asks, lists = max(asks, _round(num_questions)), max(lists, _round(num_listed))
        questions = _cut(questions, asks)
        members, entries, total = list_members(processes, sets, questions, room=lists)
        total = int(total)
        entries_room = max(entries_room, _round(total))
        which, value = make_sets(
            processes,
            sets,
            questions,
            members,
            entries,
            room=entries_room,
            lists=asks * PARTS,
        )
        sets = _grow_sets(sets, num_sets + num_questions * PARTS, num_members + total)
        sets, number, wrong = number_sets(
            sets, questions, which, value, salts, lists=asks * PARTS
        )
        positions = _grow_positions(positions, count + cells)
        positions, found, told = move(processes, sets, positions, asked, number, salts)
        told = jax.device_get((*told, sets.count, wrong))
        new_edges, new_count, cells, lost, num_sets, wrong = map(int, told)
        num_members = int(sets.start[num_sets])
        if left + lost + wrong:
            return "collision"
        at, goal, kind = (np.asarray(x)[:new_edges] for x in found)
        sizes.append(np.bincount(at - low, minlength=count - low).astype(np.int32))
        targets.append(goal)
        kinds.append(kind)
        low, count, edges = count, new_count, edges + new_edges
        if count > most or edges > most:
            return None
    return _finish(sets, positions, starts, num_sets, count, sizes, targets, kinds)


def _finish(sets, positions, starts, num_sets, count, sizes, targets, kinds):
    none = [np.zeros(0, np.int32)]
    offsets = np.append(0, np.cumsum(np.concatenate(sizes))).astype(np.int32)
    set_offsets = np.asarray(sets.start)[: num_sets + 1]
    process, first, second = (np.asarray(x)[:count] for x in positions[:3])
    return Spectroscopy(
        offsets,
        np.concatenate(targets or none),
        np.concatenate(kinds or none),
        process,
        first,
        second,
        set_offsets,
        np.asarray(sets.member)[: set_offsets[-1]],
        starts,
    )


def _processes(system: System) -> Processes:
    enabled = system.enabled()
    if len(enabled.offsets) - 1 > MOST_LABEL_SETS:
        raise ValueError(
            f"the processes enable {len(enabled.offsets) - 1} different sets of "
            f"labels, and this engine takes {MOST_LABEL_SETS} at most; use "
            "engine='host'"
        )
    states, edges = system.num_states, len(system.label)
    fill, more = bucket(states + 1) - states, bucket(edges + 1) - edges
    width = bucket(len(enabled.offsets) - 1)
    includes = np.zeros((width, width), bool)
    table = enabled.includes()
    includes[: len(table), : len(table)] = table
    return Processes(
        jnp.asarray(np.pad(system.offsets, (0, fill), "edge")),
        jnp.asarray(np.pad(system.label, (0, more))),
        jnp.asarray(np.pad(system.target, (0, more))),
        jnp.asarray(np.pad(enabled.of, (0, fill))),
        jnp.asarray(includes),
        jnp.int32(system.num_labels),
        jnp.int32(states),
    )


def _begin(system: System, pairs: np.ndarray, salt: int):
    """Sets of one process each and of none, the starts, and where each pair is."""
    states = system.num_states
    start = np.append(np.arange(states + 1), states).astype(np.int32)
    room = _round(2 * states + 2)
    numbers = jnp.arange(room, dtype=jnp.int32)
    hashes = tuple(
        jnp.where(numbers < states, scramble(numbers, jnp.uint32(salt + word)), 0)
        for word in range(2)
    )
    sets = Sets(
        jnp.asarray(np.pad(start, (0, room + 1 - len(start)))),
        hashes,
        jnp.asarray(np.pad(np.arange(states, dtype=np.int32), (0, room - states))),
        jnp.int32(states + 1),
    )
    pairs = np.asarray(pairs, np.int32).reshape(-1, 2)
    key = pairs[:, 0].astype(np.int64) * states + pairs[:, 1]
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    pairs = pairs[np.sort(first)]
    more = _round(len(pairs)) - len(pairs)
    columns = (*pairs.T, np.full(len(pairs), ATTACK, np.int32))
    process, one, attack = (jnp.asarray(np.pad(x, (0, more))) for x in columns)
    positions = Positions(process, one, attack, jnp.int32(len(pairs)))
    return sets, positions, rank[back.reshape(-1)]


def _round(size: int) -> int:
    """The next power of four: few shapes, and few programs."""
    return max(LEAST, 4 ** -(-max(size - 1, 1).bit_length() // 2))


def _grow(x: jax.Array, size: int) -> jax.Array:
    """With room for as many entries."""
    return x if len(x) >= size else jnp.pad(x, (0, _round(size) - len(x)))


def _grow_positions(positions: Positions, size: int) -> Positions:
    process, first, second = (_grow(x, size) for x in positions[:3])
    return Positions(process, first, second, positions.count)


def _cut(questions: Questions, room: int) -> Questions:
    first, what = (
        x[:room] if len(x) >= room else _grow(x, room) for x in questions[:2]
    )
    return Questions(first, what, questions.count)


def _grow_sets(sets: Sets, count: int, members: int) -> Sets:
    if len(sets.hashes[0]) < count:
        room = _round(count)
        more = room - len(sets.hashes[0])
        sets = sets._replace(
            start=jnp.pad(sets.start, (0, more)),
            hashes=tuple(jnp.pad(x, (0, more)) for x in sets.hashes),
        )
    return sets._replace(member=_grow(sets.member, members))
