"""A hash table of states on the device, in which many are looked up at once.

All look at their places in turn. Of those that come to the same empty place, the first
keeps it; others with the same state find it there, and the rest go on to the next one.
Whoever has the same state goes the same way, so the first of them is the one that has
the place in the end, however many there are.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.graph._explore_rules import EMPTY, hashes

FEW = 8
"""Lookups go on in a list so many times shorter when all that are left fit into it."""


class Lookup(NamedTuple):
    """Where lookups are.

    Attributes:
        table: int32 `[2 S]`.
        place: int32 `[R]`, the place where each looks.
        state: int32 `[R]`, what it has found; -1 while it looks.
    """

    table: jax.Array
    place: jax.Array
    state: jax.Array


def look_up(words, table, tail, keys, among):
    """Finds states in the table, and puts in those that are not there.

    Args:
        words: the states that are known, with room for all that are looked up.
        table: the table of these.
        tail: how many these are.
        keys: uint32 `[R, W]`, the states to find.
        among: bool `[R]`, whether there is one.

    Returns:
        All states that are known then; the table of these; the number of each state,
        int32 `[R]`; and which ones are new, each where it comes first.
    """
    size, room = len(table), len(keys)
    own = tail + jnp.arange(room, dtype=jnp.int32)
    # For now each lookup's own state has a number: its comparisons are like others.
    words = jax.lax.dynamic_update_slice_in_dim(words, keys, tail, 0)
    place = (hashes(keys) & np.uint32(size - 1)).astype(jnp.int32)
    state = jnp.where(among, -1, 0)

    def probe(own, keys, search: Lookup) -> Lookup:
        table, place, state = search
        looks = state < 0
        empty = looks & (ops.take(table, place) == EMPTY)
        table = ops.lower(table, jnp.where(empty, place, size), own)
        there = ops.take(table, place)
        same = ops.take(words, jnp.where(looks, there, 0)) == keys
        state = jnp.where(looks & jnp.all(same, axis=1), there, state)
        place = jnp.where(state < 0, (place + 1) & (size - 1), place)
        return Lookup(table, place, state)

    def left(search: Lookup) -> jax.Array:
        return jnp.sum(search.state < 0, dtype=jnp.int32)

    some = max(room // FEW, 1)
    search = Lookup(table, place, state)
    search = fixpoint.until(
        lambda x: left(x) <= some, functools.partial(probe, own, keys), search
    )
    index = ops.compact(search.state < 0, some)
    short = Lookup(
        search.table,
        ops.at(search.place, index),
        jnp.where(index < room, -1, 0),
    )
    short = fixpoint.until(
        lambda x: left(x) == 0,
        functools.partial(probe, ops.at(own, index), ops.at(keys, index)),
        short,
    )
    table, place = short.table, ops.put(search.place, index, short.place)
    state = ops.put(search.state, index, short.state)

    # Those that have found themselves are new, and get their numbers.
    fresh = among & (state == own)
    number = tail + jnp.cumsum(fresh, dtype=jnp.int32) - 1
    state = jnp.where(state >= tail, ops.at(number, state - tail), state)
    table = ops.put(table, jnp.where(fresh, place, size), number)
    new = ops.at(keys, ops.compact(fresh))
    words = jax.lax.dynamic_update_slice_in_dim(words, new, tail, 0)
    return words, table, state, fresh


@functools.partial(jax.jit, static_argnums=4, donate_argnums=(0, 1))
def put_in(words, table, first, count, some: int):
    """Puts states into a larger table, from `first` on, `some` at most."""
    keys = jax.lax.dynamic_slice_in_dim(words, first, some)
    among = first + jnp.arange(some, dtype=jnp.int32) < count
    words, table, _, _ = look_up(words, table, first, keys, among)
    return words, table
