"""Turns of a search on the device: the next states of a queue are expanded at once."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import fixpoint, ops
from jaxgames.graph._explore_rules import Rules
from jaxgames.graph._state_table import look_up

EDGES_A_ROW = 8
"""Edges that a turn has room for, for each state; if there are more, it takes fewer
states."""

SHORT_ROW = 32
"""Rows up to this length are compared with themselves in one fused operation."""


class Found(NamedTuple):
    """What has been found.

    Attributes:
        words: uint32 `[S, W]`, the states that are known; beyond them, anything.
        table: int32 `[2 S]`, states by their hashes; `EMPTY` where there is none.
        ends: int32 `[S]`, where the edges of each state end.
        known: int32 `[S]`, how many states were known when it had been expanded.
        targets: int32 `[E]`.
        actions: unsigned `[E]`.
        head: how many states have been expanded.
        tail: how many are known.
        edges: how many edges there are.
        wrong: int32 `[2]`: a state and its action that leads out of range, or -1.
        steps: turns since the host asked.
    """

    words: jax.Array
    table: jax.Array
    ends: jax.Array
    known: jax.Array
    targets: jax.Array
    actions: jax.Array
    head: jax.Array
    tail: jax.Array
    edges: jax.Array
    wrong: jax.Array
    steps: jax.Array


class Bounds(NamedTuple):
    """Where the loop comes back to the host.

    Attributes:
        until: states expanded.
        most: states known.
        few: fewer states that wait,
        many: and more.
        steps: turns.
    """

    until: Any
    most: Any
    few: Any
    many: Any
    steps: Any


def room_of(rules: Rules, rows: int) -> int:
    """Edges that a turn of so many states has room for: a power of two."""
    edges = max(rows * min(EDGES_A_ROW, rules.num_actions), rules.num_actions)
    return 1 << (edges - 1).bit_length()


@functools.partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def advance(rules: Rules, rows: int, found: Found, bounds: Bounds):
    """Makes turns until one of the bounds is met, or there is no room for another.

    Returns:
        What has been found; and its numbers together, int32 `[5]`.
    """
    room = room_of(rules, rows)

    def stop(found: Found):
        waiting = found.tail - found.head
        return (
            (waiting == 0)
            | (found.wrong[0] >= 0)
            | (found.head >= bounds.until)
            | (found.tail > bounds.most)
            | (waiting < bounds.few)
            | (waiting > bounds.many)
            | (found.steps >= bounds.steps)
            | (found.tail + room > len(found.words))
            | (found.edges + room > len(found.targets))
        )

    found = found._replace(steps=jnp.int32(0))
    found = fixpoint.until(stop, functools.partial(_turn, rules, rows), found)
    return found, jnp.stack([found.head, found.tail, found.edges, *found.wrong])


def _turn(rules: Rules, rows: int, found: Found) -> Found:
    """Expands the next states in the queue, as many as have room for their edges."""
    room, actions = room_of(rules, rows), rules.num_actions
    here = jax.lax.dynamic_slice_in_dim(found.words, found.head, rows)
    there = jnp.arange(rows, dtype=jnp.int32) < found.tail - found.head
    # The transition function sees states that are reached, and no others.
    here = jnp.where(there[:, None], here, here[:1])
    after, enabled = rules.successors(rules.packing.unpack(here))
    ends = jnp.cumsum(jnp.sum(enabled & there[:, None], 1, dtype=jnp.int32))
    taken = there & (ends <= room)
    count = jnp.sum(taken, dtype=jnp.int32)
    enabled = (enabled & taken[:, None]).reshape(-1)
    outside = enabled & rules.packing.outside(after).reshape(-1)
    first = jnp.argmax(outside).astype(jnp.int32)
    wrong = jnp.stack([found.head + first // actions, first % actions])

    edge = ops.compact(enabled, room)
    among = edge < len(enabled)
    words = rules.packing.pack(after.astype(jnp.int32)).reshape(len(enabled), -1)
    words, table, state, fresh = look_up(
        found.words, found.table, found.tail, ops.at(words, edge), among
    )
    row, action = edge // actions, edge % actions
    keep = among
    if not rules.parallel_edges:
        keep &= ~_repeats(jnp.where(among, row, -1), state, actions)
    kept = ops.compact(keep, room)

    def before(marks: jax.Array) -> jax.Array:
        """How many marks there are up to the end of each row."""
        counts = jnp.pad(jnp.cumsum(marks, dtype=jnp.int32), (1, 0))
        return ops.at(counts, ends)

    def write(array: jax.Array, values: jax.Array, first: jax.Array) -> jax.Array:
        values = values.astype(array.dtype)
        return jax.lax.dynamic_update_slice_in_dim(array, values, first, 0)

    return Found(
        words=words,
        table=table,
        ends=write(found.ends, found.edges + before(keep), found.head),
        known=write(found.known, found.tail + before(fresh), found.head),
        targets=write(found.targets, ops.at(state, kept), found.edges),
        actions=write(found.actions, ops.at(action, kept), found.edges),
        head=found.head + count,
        tail=found.tail + jnp.sum(fresh, dtype=jnp.int32),
        edges=found.edges + jnp.sum(keep, dtype=jnp.int32),
        wrong=jnp.where(jnp.any(outside), wrong, found.wrong),
        steps=found.steps + 1,
    )


def _repeats(row: jax.Array, state: jax.Array, longest: int) -> jax.Array:
    """Which edges lead to the same state as an earlier one of their row.

    The edges of a row are next to one another: each is compared with those before it.
    """
    if longest <= SHORT_ROW:
        same = jnp.zeros(len(row), bool)
        for back in range(1, min(longest, len(row))):
            equal = (row[back:] == row[:-back]) & (state[back:] == state[:-back])
            same |= jnp.pad(equal, (back, 0))
        return same & (row >= 0)

    def compare(same, back):
        equal = (jnp.roll(row, back) == row) & (jnp.roll(state, back) == state)
        return same | equal & (jnp.arange(len(row)) >= back), None

    backs = jnp.arange(1, longest)
    same, _ = jax.lax.scan(compare, jnp.zeros(len(row), bool), backs)
    return same & (row >= 0)
