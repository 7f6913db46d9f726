"""Things that are found and numbered on the device, and the hash table they are in.

A list has them in the order of their numbers. Many are looked up in the table at once.

All go from place to place, until they find their state or a place that is empty. Of
those that come to the same empty place, the first keeps it; others with the same state
find it there, and the rest go on. Whoever has the same state goes the same way, so the
first of them is the one that has the place in the end, however many there are.
"""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.graph._explore_rules import EMPTY, hashes
from jaxgames.later import jax, jnp
from jaxgames.tuning import here
from jaxgames.tuning.explore import CLAIMS as STEPS
from jaxgames.tuning.explore import ENTERED_AT_ONCE as AT_ONCE
from jaxgames.tuning.explore import FULLEST, LARGEST_TABLE, LOOKS, PLACES
from jaxgames.tuning.explore import SHORTER_LIST as FEW


class Known(NamedTuple):
    """Things of `W` words that are known.

    Attributes:
        words: uint32 `[S, W]`, in the order of their numbers; beyond them, anything.
        table: int32 `[P]`, numbers by hashes; `EMPTY` where there is none.
        count: int32 scalar, how many there are.
    """

    words: jax.Array
    table: jax.Array
    count: jax.Array


class Sought(NamedTuple):
    """What a search in a table has found.

    Attributes:
        place: int32 `[R]`, where each is in the table.
        number: int32 `[R]`, its number; that of the first that is the same, counted on
            from those that were known, where it is new.
        new: bool `[R]`, whether it is new, and the first that is the same.
    """

    place: jax.Array
    number: jax.Array
    new: jax.Array


def seek(known: Known, keys: jax.Array, among: jax.Array) -> tuple[Known, Sought]:
    """Looks for keys, uint32 `[R, W]`, and gives those that are new a place.

    Only those `among` which it is said to (bool `[R]`); there is room for all.
    """
    # For now each has a number of its own: it is compared like others.
    own = known.count + jnp.arange(len(keys), dtype=jnp.int32)
    words = jax.lax.dynamic_update_slice_in_dim(known.words, keys, known.count, 0)
    table, place, number = look_up(words, known.table, own, keys, among)
    return Known(words, table, known.count), Sought(
        place, number, among & (number == own)
    )


def enter(
    known: Known, keys: jax.Array, sought: Sought, number: jax.Array, count: jax.Array
) -> tuple[Known, jax.Array]:
    """Enters those that are new, after a `seek` for these keys.

    Each of them has its number, int32 `[R]`; so many are known then.

    Returns:
        What is known then, and the number of each that was looked for.
    """
    words, table, before = known
    place, found, new = sought
    # Those that are the same as a new one have its number.
    same = ops.take(number, jnp.maximum(found - before, 0))
    table = ops.put(table, jnp.where(new, place, len(table)), number)
    words = ops.put(words, jnp.where(new, number, len(words)), keys)
    return Known(words, table, count), jnp.where(found < before, found, same)


def look_up_all(
    known: Known, keys: jax.Array, among: jax.Array
) -> tuple[Known, jax.Array, jax.Array]:
    """Looks for things as `seek` does, and enters those that are new in their order.

    Returns:
        What is known then; the number of each, int32 `[R]`; and which ones are new,
        each where it comes first.
    """
    known, sought = seek(known, keys, among)
    rank = jnp.cumsum(sought.new, dtype=jnp.int32)
    last = known.count + rank[-1]
    known, number = enter(known, keys, sought, known.count + rank - 1, last)
    return known, number, sought.new


def most_states(num_words: int) -> int:
    """States that can be told from one another at most."""
    words = (2**31 - 1) // num_words  # each has a number too
    return min(int(FULLEST * LARGEST_TABLE), words) // AT_ONCE * AT_ONCE


def places_for(states: int) -> int:
    """Places of a table for so many states: a power of two."""
    return min(1 << (PLACES * states - 1).bit_length(), LARGEST_TABLE)


def nothing(room: int, width: int) -> Known:
    """Room for so many things of so many words."""
    table = jnp.full(places_for(room), EMPTY, jnp.int32)
    return Known(jnp.zeros((room, width), jnp.uint32), table, jnp.int32(0))


def known_from(words: jax.Array, count: jax.Array) -> Known:
    """What is known if the first entries are."""
    return Known(words, table_of(words, count, places_for(len(words))), count)


@functools.partial(jax.jit, static_argnums=1)
def longer(array: jax.Array, size: int) -> jax.Array:
    """The same with zeros at the end."""
    more = [(0, size - len(array))] + [(0, 0)] * (array.ndim - 1)
    return jnp.pad(array, more)


class Lookup(NamedTuple):
    """Where lookups are.

    Attributes:
        place: int32 `[R]`, the place where each looks.
        state: int32 `[R]`, what it has found; -1 while it looks.
    """

    place: jax.Array
    state: jax.Array


def look_up(words, table, own, keys, among):
    """Finds states in the table, and puts in those that are not there.

    Args:
        words: uint32 `[S, W]`, the states by their numbers: those in the table, and
            those that are looked up.
        table: int32 `[P]`, numbers of states; `EMPTY` where there is none.
        own: int32 `[R]`, the numbers of those that are looked up, ascending, all larger
            than those in the table.
        keys: uint32 `[R, W]`, the states themselves.
        among: bool `[R]`, whether there is one.

    Returns:
        The table; the place of each; and the first number of the same state.
    """
    size, room = len(table), len(keys)
    some = max(room // FEW, 1)
    looks = here(LOOKS)

    def seek(table, keys, search: Lookup) -> Lookup:
        place, state = search
        for _ in range(looks):
            there = ops.take(table, place)
            taken = (state < 0) & (there != EMPTY)
            same = taken & _equal(words, jnp.where(taken, there, 0), keys)
            state = jnp.where(same, there, state)
            place = jnp.where(taken & ~same, (place + 1) & (size - 1), place)
        return Lookup(place, state)

    def claim(table, own, search: Lookup) -> jax.Array:
        # Looks may have ended before a place that somebody has, with a larger number.
        free = (search.state < 0) & (ops.take(table, search.place) == EMPTY)
        return ops.lower(table, jnp.where(free, search.place, size), own)

    def go_on(state: tuple[jax.Array, Lookup]) -> tuple[jax.Array, Lookup]:
        table, search = state
        index = ops.compact(search.state < 0, some)
        those, numbers = ops.at(keys, index), ops.at(own, index)
        short = Lookup(ops.at(search.place, index), jnp.where(index < room, -1, 0))
        for _ in range(STEPS):
            table = claim(table, numbers, short)
            short = seek(table, those, short)
        return table, Lookup(
            ops.put(search.place, index, short.place),
            ops.put(search.state, index, short.state),
        )

    place = (hashes(keys) & np.uint32(size - 1)).astype(jnp.int32)
    search = seek(table, keys, Lookup(place, jnp.where(among, -1, 0)))
    table = claim(table, own, search)
    search = seek(table, keys, search)
    table, search = fixpoint.until(
        lambda state: jnp.all(state[1].state >= 0), go_on, (table, search)
    )
    return table, search.place, search.state


def _equal(words: jax.Array, index: jax.Array, keys: jax.Array) -> jax.Array:
    """Whether states are what is looked for, word by word: bool `[R]`."""
    width = words.shape[1]
    flat, same = words.reshape(-1), jnp.ones(len(index), bool)
    for w in range(width):
        same &= ops.take(flat, index * width + w) == keys[:, w]
    return same


@functools.partial(jax.jit, static_argnums=2)
def table_of(words: jax.Array, count: jax.Array, size: int) -> jax.Array:
    """A table of the first `count` states, all of them different.

    Of words, uint32 `[S, W]`, `S` is a multiple of `AT_ONCE` or less than that; how
    many places the table has is a power of two.
    """
    some = min(len(words), AT_ONCE)

    def put_in(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        table, first = state
        keys = jax.lax.dynamic_slice_in_dim(words, first, some)
        own = first + jnp.arange(some, dtype=jnp.int32)
        table, _, _ = look_up(words, table, own, keys, own < count)
        return table, first + some

    empty = jnp.full(size, EMPTY, jnp.int32)
    return fixpoint.until(
        lambda state: state[1] >= count, put_in, (empty, jnp.int32(0))
    )[0]
