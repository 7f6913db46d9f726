"""Deaths that follow from deaths, where few happen at once."""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Layout, Rows
from jaxgames.states import register
from jaxgames.tuning.mdp import PACE, ROOMS

NEVER = int(np.iinfo(np.int32).max)
"""When something dies that lives."""


@register
class Cascade(NamedTuple):
    """Who lives, and the front."""

    choice: jax.Array  # int32 [C]: NEVER while a choice is live
    state: jax.Array  # int32 [S]: NEVER while a state is alive
    left: jax.Array  # int32 [2 S]: live choices of each state; branches that enter it
    front: jax.Array  # int32 [R]: states that died in the last round; S for none
    cells: jax.Array  # int32: branches into and out of these
    read: jax.Array  # int32: those of the rounds before
    rounds: jax.Array  # int32


def has_room(rows: Rows, front: jax.Array) -> jax.Array:
    """Whether some have died (bool `[S]`), and few enough for `spread_deaths`."""
    cells = _cells_around(rows, front)
    return (cells > 0) & (cells <= ROOMS[-1])


def spread_deaths(
    layout: Layout,
    live: jax.Array,
    alive: jax.Array,
    front: jax.Array,
    limit: jax.Array,
    patience: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Rounds of removal, each of which reads only what is next to the last deaths.

    A choice dies that may lead to a state that has died. A state dies that has no live
    choice, or that no branch enters from a state that is alive. As many rounds as there
    are, or until more dies at once than there is room for, or the limit; or until they
    turn out to be slow.

    Args:
        layout: the model, with its `rows`.
        live: bool `[C]`; choices into states that died before the front are not.
        alive: bool `[S]`.
        front: bool `[S]`, the states that have just died, not among those alive; there
            is room for their branches.
        limit: int32, rounds at most.
        patience: int32, rounds after which they may be slow.

    Returns:
        What is live and what is alive then; the rounds; and whether there is nothing
        left to do.
    """
    rows = layout.rows
    assert rows is not None
    large = ROOMS[-1]
    cascade = Cascade(
        choice=jnp.where(live, NEVER, 0),
        state=jnp.where(alive, NEVER, 0),
        left=jnp.concatenate(_counts(layout, live, alive | front)),
        front=ops.compact(front, large),
        cells=_cells_around(rows, front),
        read=jnp.int32(0),
        rounds=jnp.int32(0),
    )
    least = 2 * len(rows.targets) // PACE

    def over(room: int, cascade: Cascade) -> jax.Array:
        slow = cascade.read // jnp.maximum(cascade.rounds, 1) < least
        stops = (cascade.rounds >= patience) & slow
        stops |= (cascade.cells == 0) | (cascade.cells > room)
        return stops | (cascade.rounds >= limit)

    def step(cascade: Cascade) -> Cascade:
        one = functools.partial(_round, layout, large)
        if len(ROOMS) == 1:
            return one(cascade)
        some = functools.partial(_rounds, layout, over, ROOMS[0])
        return jax.lax.cond(cascade.cells <= ROOMS[0], some, one, cascade)

    cascade = fixpoint.until(functools.partial(over, large), step, cascade)
    alive = cascade.state == NEVER
    live = (cascade.choice == NEVER) & ops.take(alive, layout.owner)
    return live, alive, cascade.rounds, cascade.cells == 0


def _rounds(layout: Layout, over, room: int, cascade: Cascade) -> Cascade:
    """Rounds in a smaller room."""
    front, size = cascade.front, len(cascade.state)
    where = ops.compact(front < size, room)
    there = where < len(front)
    some = ops.take(front, jnp.minimum(where, len(front) - 1))
    small = cascade._replace(front=jnp.where(there, some, size))
    small = fixpoint.until(
        functools.partial(over, room),
        functools.partial(_round, layout, room),
        small,
    )
    more = jnp.full(len(front) - room, size, jnp.int32)
    return small._replace(front=jnp.concatenate([small.front, more]))


def _round(layout: Layout, room: int, cascade: Cascade) -> Cascade:
    rows, size = layout.rows, len(cascade.state)
    assert rows is not None
    front, here = jnp.minimum(cascade.front, size - 1), cascade.front < size
    enter = ops.take(rows.into, front + 1) - ops.take(rows.into, front)
    leave = ops.take(rows.out, front + 1) - ops.take(rows.out, front)
    index, place, there = ops.expand(jnp.where(here, enter + leave, 0), room)
    dead, enter = ops.take(front, index), ops.take(enter, index)
    backward, last = there & (place < enter), len(rows.targets) - 1
    comes = jnp.clip(ops.take(rows.into, dead) + place, 0, last)
    goes = jnp.clip(ops.take(rows.out, dead) + place - enter, 0, last)
    cell = jnp.arange(room, dtype=jnp.int32)

    # Of the cells that all kill the same, one does.
    choice = ops.take(rows.entering, comes)
    dies = backward & (ops.take(cascade.choice, choice) == NEVER)
    killed = ops.lower(cascade.choice, _chosen(dies, choice, cascade.choice), cell)
    dies &= ops.take(killed, choice) == cell

    loser = jnp.where(
        backward, ops.take(layout.owner, choice), ops.take(rows.targets, goes)
    )
    loses = dies | (there & ~backward)
    what = jnp.where(backward, loser, size + loser)
    less = jnp.full(room, -1, jnp.int32)
    left = ops.add_into(cascade.left, _chosen(loses, what, cascade.left), less)
    ends = loses & (ops.take(left, what) == 0)
    ends &= ops.take(cascade.state, loser) == NEVER
    ended = ops.lower(cascade.state, _chosen(ends, loser, cascade.state), cell)
    ends &= ops.take(ended, loser) == cell
    around = ops.take(rows.into, loser + 1) - ops.take(rows.into, loser)
    around += ops.take(rows.out, loser + 1) - ops.take(rows.out, loser)
    more = jnp.full(len(cascade.front) - room, size, jnp.int32)
    return Cascade(
        choice=killed,
        state=ended,
        left=left,
        front=jnp.concatenate([jnp.where(ends, loser, size), more]),
        cells=jnp.sum(jnp.where(ends, around, 0), dtype=jnp.int32),
        read=cascade.read + cascade.cells,
        rounds=cascade.rounds + 1,
    )


def _chosen(which: jax.Array, index: jax.Array, array: jax.Array) -> jax.Array:
    return jnp.where(which, index, len(array))


def _cells_around(rows: Rows, states: jax.Array) -> jax.Array:
    return jnp.sum(jnp.where(states, _degrees(rows), 0), dtype=jnp.int32)


def _degrees(rows: Rows) -> jax.Array:
    into, out = jnp.asarray(rows.into), jnp.asarray(rows.out)
    return into[1:] - into[:-1] + out[1:] - out[:-1]


def _counts(layout: Layout, live: jax.Array, sources: jax.Array):
    """Live choices of each state, and the branches that enter it from some states."""
    assert layout.graph is not None
    return _sum(layout.choices, live), _sum(layout.graph.into, sources)


def _sum(links: ops.Links, x: jax.Array) -> jax.Array:
    there = tuple(x < links.num_targets for x in ops.link_targets(links))
    weights = tuple(x.astype(jnp.int32) for x in there)
    return ops.links_sum(links, x.astype(jnp.int32), weights)
