"""The reachable product of a system and an automaton, level by level on the device.

All vertices of a level are expanded by one array program: each takes as many places of
a list as it has edges, and what is met for the first time is sorted. The length of the
list is one of a few, chosen on the host for each level.

What has been met is known from a table with an entry for each pair of states or, where
that would be too large, from a hash table, as state spaces have one.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits, ops
from jaxgames.arena import MAX_SIZE, bucket
from jaxgames.graph._state_table import (
    Known,
    enter,
    known_from,
    longer,
    most_states,
    seek,
)
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.systems.host import Found, Rules
from jaxgames.tuning import here
from jaxgames.tuning.explore import LARGEST_PAIR_TABLE as LARGEST_TABLE
from jaxgames.tuning.explore import LEAST_COPIED, ROOMS

NEVER = np.iinfo(np.int32).max
"""Sorts behind every pair."""


class Pairs(NamedTuple):
    """States of the system, each with one of the automaton.

    Attributes:
        system: int32 `[B]`; beyond the last state, where there is no pair.
        state: int32 `[B]`.
    """

    system: Any
    state: Any


class Size(NamedTuple):
    """How large a level is.

    Attributes:
        count: how many vertices it has.
        edges: how many edges these have.
        about: the same in float32, which does not wrap round.
    """

    count: Any
    edges: Any
    about: Any


def expand_on_device(
    rules: Rules, starts: np.ndarray, largest_table: int = LARGEST_TABLE
) -> Found | None:
    """As `host.expand`, by array programs.

    Args:
        rules: the system and the automaton.
        starts: int64 `[K]`, ascending: pair `(s, q)` is `s A + q`.
        largest_table: pairs up to which a table is used.
    """
    size, states = len(rules.offsets) - 1, max(rules.num_automaton_states, 1)
    beyond, seen = _bucket(size), None
    by_table = size * states <= largest_table
    rules = _padded(rules)
    level = Pairs(
        (starts // states).astype(np.int32), (starts % states).astype(np.int32)
    )
    level = _resized(level, _room(len(starts)), beyond)
    if by_table:
        seen = _first_table(level, len(starts), states, _bucket(size * states))
    extent = to_numpy(_extent(rules, level))
    levels, edges, parts = [0], 0, []
    while extent.count:
        limits.tick("building the product", levels[-1], "vertices")
        levels.append(levels[-1] + int(extent.count))
        edges += int(extent.edges)
        if extent.about > MAX_SIZE / 2 or edges > MAX_SIZE or levels[-1] > MAX_SIZE:
            return None
        room = _room(max(extent.count, extent.edges))
        if not by_table:
            seen = _with_room(seen or level, levels[-1], room)
        meet = _meet_by_table if by_table else _meet_by_hash
        degree, heads, following, seen, next_extent = _expand(
            meet, rules, _resized(level, room, beyond), seen, np.int32(levels[-1])
        )
        parts.append(_on_the_way(extent, level, degree, heads))
        level, extent = following, to_numpy(next_extent)
    return _collected(parts, levels)


def _on_the_way(extent: Size, level: Pairs, degree, heads) -> tuple[jax.Array, ...]:
    """A level on its way to the host, while others are expanded."""
    count, edges = int(extent.count), int(extent.edges)
    vertices = _length(count, len(degree))
    arrays = level.system, level.state, degree, heads
    lengths = *(min(vertices, len(x)) for x in arrays[:3]), _length(edges, len(heads))
    return _cut(arrays, lengths)


def _length(count: int, most: int) -> int:
    """Some more entries than there are, as few lengths are compiled."""
    return min(1 << max(count - 1, LEAST_COPIED - 1).bit_length(), most)


@functools.partial(jax.jit, static_argnums=1)
def _cut(arrays, lengths: tuple[int, ...]):
    """First entries, in memory of the host that the device can write to by itself."""
    host = jax.memory.Space.Host
    return tuple(
        jax.device_put(x[:length], host)
        for x, length in zip(arrays, lengths, strict=True)
    )


def _collected(parts: list, levels: list[int]) -> Found:
    """The arrays of all levels together, without padding."""
    counts = np.diff(levels)

    def joined(which: int, sizes: Any) -> np.ndarray:
        pieces = zip(parts, sizes, strict=True)
        pieces = [np.asarray(part[which])[:size] for part, size in pieces]
        return np.concatenate([np.zeros(0, np.int32), *pieces])

    degree = joined(2, counts)
    offsets = np.append(0, np.cumsum(degree)).astype(np.int32)
    return Found(
        offsets=offsets,
        targets=joined(3, np.diff(offsets[np.array(levels)])),
        system_state=joined(0, counts),
        automaton_state=joined(1, counts),
        levels=np.array(levels, np.int32),
    )


# ---- sizes -----------------------------------------------------------------------


def _room(size: int) -> int:
    """The next of a few sizes: each is compiled once, and small ones cost the same."""
    rooms = here(ROOMS)
    for room in rooms:
        if size <= room:
            return room
    return 1 << (int(size) - 1).bit_length()


def _bucket(size: int) -> int:
    """The next of a few sizes, for arrays that stay the same from level to level."""
    return bucket(max(size, 1 << 10))


def _resized(pairs: Pairs, room: int, beyond: int) -> Pairs:
    """The first pairs, or with more places for pairs."""
    more = max(room - len(pairs.system), 0)
    return Pairs(
        jnp.pad(pairs.system[:room], (0, more), constant_values=beyond),
        jnp.pad(pairs.state[:room], (0, more)),
    )


def _padded(rules: Rules) -> Rules:
    """On the device, in one of a few sizes: like systems share one compilation."""

    def longer(x: np.ndarray, one: int = 0, mode="constant") -> jax.Array:
        more = _bucket(len(x) - one) + one - len(x)
        return jnp.asarray(np.pad(x, (0, more), mode=mode))  # pyright: ignore

    return Rules(
        offsets=longer(rules.offsets, 1, "edge"),
        targets=longer(rules.targets),
        letter=longer(rules.letter),
        move_offsets=longer(rules.move_offsets, 1, "edge"),
        move_targets=longer(rules.move_targets),
        num_automaton_states=np.int32(rules.num_automaton_states),
    )


# ---- a level ---------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=0, donate_argnums=3)
def _expand(meet, rules: Rules, level: Pairs, seen, base):
    """The edges of a level, and the next one.

    Args:
        meet: tells numbers of pairs, from what has been seen.
        rules: the system and the automaton.
        level: the vertices, in a list with room for their edges.
        seen: the vertices that have been met.
        base: how many these are.

    Returns:
        How many edges each vertex has; where they lead, row by row; the next level;
        what has been met then; the size of the next level.
    """
    first_edge, first_move, edges, moves = _ways(rules, level)
    degree = edges * moves
    owner, rank, there = ops.expand(degree, len(degree))
    width = jnp.maximum(ops.take(moves, owner), 1)
    edge = ops.take(first_edge, owner) + rank // width
    move = ops.take(first_move, owner) + rank % width
    beyond = len(rules.offsets) - 1
    ends = Pairs(
        jnp.where(there, ops.at(rules.targets, edge), beyond),
        jnp.where(there, ops.at(rules.move_targets, move), 0),
    )
    heads, following, seen = meet(rules, ends, seen, base)
    return degree, heads, following, seen, _extent(rules, following)


def _ways(rules: Rules, level: Pairs):
    """The first transition and the first move of each pair, and the numbers of both."""
    first_edge = ops.at(rules.offsets, level.system)
    last_edge = ops.at(rules.offsets, level.system + 1)
    letter = ops.at(rules.letter, level.system)
    row = letter * rules.num_automaton_states + level.state
    first_move = ops.at(rules.move_offsets, row)
    moves = ops.at(rules.move_offsets, row + 1) - first_move
    # Beyond the last state there are no transitions.
    return first_edge, first_move, last_edge - first_edge, moves


@jax.jit
def _extent(rules: Rules, level: Pairs) -> Size:
    """The size of a level."""
    _, _, edges, moves = _ways(rules, level)
    there = level.system < len(rules.offsets) - 1
    return Size(
        jnp.sum(there, dtype=jnp.int32),
        jnp.sum(edges * moves, dtype=jnp.int32),
        jnp.sum(edges.astype(jnp.float32) * moves.astype(jnp.float32)),
    )


# ---- what has been met -----------------------------------------------------------


@functools.partial(jax.jit, static_argnums=3)
def _first_table(level: Pairs, count, states, size: int) -> jax.Array:
    """A table in which the pairs of the first level have their numbers."""
    place = jnp.arange(len(level.system), dtype=jnp.int32)
    key = jnp.where(place < count, level.system * states + level.state, NEVER)
    return ops.put(jnp.full(size, -1, jnp.int32), key, place)


def _meet_by_table(rules: Rules, ends: Pairs, table: jax.Array, base):
    """The numbers of pairs, the pairs that are new, and the table with them.

    The table has the number of each pair, -1 where it has not been met.
    """
    beyond, states = len(rules.offsets) - 1, rules.num_automaton_states
    there = ends.system < beyond
    key = jnp.where(there, ends.system * states + ends.state, NEVER)
    fresh = there & (ops.at(table, key) < 0)
    key_of_fresh = jnp.sort(jnp.where(fresh, key, NEVER))
    head = ops.differs_from_last(key_of_fresh) & (key_of_fresh != NEVER)
    number = base + jnp.cumsum(head, dtype=jnp.int32) - 1
    table = ops.put(table, key_of_fresh, number)
    index = ops.compact(head)
    code = ops.at(key_of_fresh, index)
    following = Pairs(
        jnp.where(index < len(head), code // states, beyond), code % states
    )
    return ops.at(table, key), following, table


def _meet_by_hash(rules: Rules, ends: Pairs, seen: Known, base):
    """As `_meet_by_table`; what has been seen are the pairs by their numbers."""
    beyond = len(rules.offsets) - 1
    keys = jnp.stack(ends, axis=1).astype(jnp.uint32)
    seen, sought = seek(seen, keys, ends.system < beyond)
    # Those that are new have their numbers in the order of pairs.
    cell = jnp.arange(len(keys), dtype=jnp.int32)
    system = jnp.where(sought.new, ends.system, beyond)
    state = jnp.where(sought.new, ends.state, 0)
    system, state, where = jax.lax.sort((system, state, cell), num_keys=2)
    number = ops.put(cell, where, base + cell)
    count = base + jnp.sum(sought.new, dtype=jnp.int32)
    seen, heads = enter(seen, keys, sought, number, count)
    return heads, Pairs(system, state), seen


def _with_room(seen: Known | Pairs, count: int, more: int) -> Known:
    """What has been seen, at first the pairs of a level, with room for more."""
    most = most_states(num_words=2)
    if count + more > most:
        raise ValueError(
            f"the product has more vertices than a table has room for ({most})"
        )
    room = min(_room(count + more), most)
    if isinstance(seen, Pairs):
        words = jnp.stack(seen, axis=1).astype(jnp.uint32)
    else:
        words = seen.words
        if room <= len(words):
            return seen
    words = longer(words[:room], room)
    return known_from(words, jnp.int32(count))
