"""Turns of a search on the device: the next states of a queue are expanded at once."""

import functools
from typing import Any, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.graph._explore_rules import Rules, packed_successors
from jaxgames.graph._state_table import Known, enter, seek
from jaxgames.later import jax, jnp
from jaxgames.tuning.explore import COMPONENTS, LANES, SHORT_ROW


class Found(NamedTuple):
    """What has been found.

    Attributes:
        states: those that are known.
        ends: int32 `[S]`, where the edges of each state end.
        known: int32 `[S]`, how many states were known when it had been expanded.
        targets: int32 `[E]`.
        actions: unsigned `[E]`.
        head: how many states have been expanded.
        edges: how many edges there are.
        wrong: int32 `[2]`: a state and its action that leads out of range, or -1.
        steps: turns since the host asked.
    """

    states: Known
    ends: jax.Array
    known: jax.Array
    targets: jax.Array
    actions: jax.Array
    head: jax.Array
    edges: jax.Array
    wrong: jax.Array
    steps: jax.Array

    @property
    def tail(self) -> jax.Array:
        """How many states are known."""
        return self.states.count


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


def rows_of(rules: Rules, cells: int) -> int:
    """States that a turn takes at most, so that they have about so many successors."""
    cells = min(cells, COMPONENTS // max(rules.packing.size, 1))
    rows = max(cells // rules.num_actions, 1)
    return rows - rows % LANES if rows > LANES else rows


@functools.partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def advance(rules: Rules, rows: int, found: Found, bounds: Bounds):
    """Makes turns until one of the bounds is met, or there is no room for another.

    Returns:
        What has been found; and its numbers together, int32 `[5]`.
    """
    room = rows * rules.num_actions

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
            # Rooms may be as large as numbers are: a sum might be larger.
            | (found.tail > len(found.states.words) - room)
            | (found.edges > len(found.targets) - room)
        )

    found = found._replace(steps=jnp.int32(0))
    found = fixpoint.until(stop, functools.partial(_turn, rules, rows), found)
    return found, jnp.stack([found.head, found.tail, found.edges, *found.wrong])


def _turn(rules: Rules, rows: int, found: Found) -> Found:
    """Expands the next states in the queue."""
    actions = rules.num_actions
    here = jax.lax.dynamic_slice_in_dim(found.states.words, found.head, rows)
    there = jnp.arange(rows, dtype=jnp.int32) < found.tail - found.head
    # The transition function sees states that are reached, and no others.
    here = jnp.where(there[:, None], here, here[:1])
    keys, enabled, outside = packed_successors(rules, here)
    enabled, outside = (x & there[:, None] for x in (enabled, outside))
    first = jnp.argmax(outside.reshape(-1)).astype(jnp.int32)
    wrong = jnp.stack([found.head + first // actions, first % actions])

    keys = keys.reshape(rows * actions, -1)
    states, sought = seek(found.states, keys, enabled.reshape(-1))
    fresh, keep = sought.new.reshape(rows, actions), enabled
    if not rules.parallel_edges:
        same = sought.number.reshape(rows, actions)
        keep &= ~_repeats(jnp.where(enabled, same, -1))
    in_row = jnp.cumsum(jnp.stack([fresh, keep]), axis=2, dtype=jnp.int32)
    of_row = in_row[:, :, -1]
    ends = jnp.cumsum(of_row, axis=1, dtype=jnp.int32)
    rank = in_row - 1 + (ends - of_row)[:, :, None]
    number, edge = (found.tail + rank[0]).reshape(-1), found.edges + rank[1]
    states, state = enter(states, keys, sought, number, found.tail + ends[0, -1])

    def put(array: jax.Array, values: jax.Array) -> jax.Array:
        at = jnp.where(keep, edge, len(array)).reshape(-1)
        return ops.put(array, at, values.astype(array.dtype))

    def write(array: jax.Array, values: jax.Array) -> jax.Array:
        return jax.lax.dynamic_update_slice_in_dim(array, values, found.head, 0)

    action = jnp.tile(jnp.arange(actions, dtype=jnp.int32), rows)
    return Found(
        states=states,
        ends=write(found.ends, found.edges + ends[1]),
        known=write(found.known, found.tail + ends[0]),
        targets=put(found.targets, state),
        actions=put(found.actions, action),
        head=jnp.minimum(found.head + rows, found.tail),
        edges=found.edges + ends[1, -1],
        wrong=jnp.where(jnp.any(outside), wrong, found.wrong),
        steps=found.steps + 1,
    )


def _repeats(state: jax.Array) -> jax.Array:
    """Which edges `[N, A]` lead to the state of an earlier one of their row: bool."""
    longest = state.shape[1]
    if longest <= SHORT_ROW:
        same = jnp.zeros(state.shape, bool)
        for back in range(1, longest):
            equal = state[:, back:] == state[:, :-back]
            same |= jnp.pad(equal, ((0, 0), (back, 0)))
        return same

    def compare(same, back):
        equal = jnp.roll(state, back, axis=1) == state
        return same | equal & (jnp.arange(longest) >= back), None

    backs = jnp.arange(1, longest)
    return jax.lax.scan(compare, jnp.zeros(state.shape, bool), backs)[0]
