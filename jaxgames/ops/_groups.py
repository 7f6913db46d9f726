"""Rows of unequal length, and groups of equal entries."""

import math

from jaxgames.later import jax, jnp
from jaxgames.ops._lists import compact, take
from jaxgames.tuning.ops import FEW_STEPS as _FEW_STEPS


def sum_into(index: jax.Array, values: jax.Array, size: int) -> jax.Array:
    """Sum of the values that have each index: `[size]`.

    Indices from `size` on are left out.

    Examples:
        >>> sum_into(jnp.array([1, 1, 3]), jnp.array([5, 6, 7]), 3)
        Array([ 0, 11,  0], dtype=int32)
    """
    return jnp.zeros(size, values.dtype).at[index].add(values, mode="drop")


def add_into(array: jax.Array, index: jax.Array, values: jax.Array) -> jax.Array:
    """The array with values added at these indices; those beyond its end are left out.

    Examples:
        >>> add_into(jnp.array([1, 2]), jnp.array([1, 1, 2]), jnp.array([5, 6, 7]))
        Array([ 1, 13], dtype=int32)
    """
    return array.at[index].add(values, mode="drop")


def expand(counts: jax.Array, room: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """One entry for each cell of rows of unequal length, row by row.

    Args:
        counts: int32 `[R]`, the length of each row.
        room: how many entries there shall be; those beyond are left out.

    Returns:
        For each entry its row, its place in the row (both int32 `[room]`), and whether
        there is such an entry: bool `[room]`.

    Examples:
        >>> jax.jit(expand, static_argnums=1)(jnp.array([2, 0, 1]), 4)
        (Array([0, 0, 2, 2], dtype=int32), Array([0, 1, 0, 1], dtype=int32),
         Array([ True,  True,  True, False], dtype=bool))
    """
    rows = counts.shape[0]
    ends = jnp.cumsum(counts, dtype=jnp.int32)
    starts = ends - counts
    number = jnp.arange(rows, dtype=jnp.int32)
    at = jnp.where(counts > 0, starts, room)
    row = jnp.zeros(room, jnp.int32).at[at].max(number, mode="drop")
    row = jax.lax.cummax(row)
    entry = jnp.arange(room, dtype=jnp.int32)
    return row, entry - take(starts, row), entry < ends[-1]


def first_equal(
    keys: tuple[jax.Array, ...], among: jax.Array, salt: jax.Array | int = 0
) -> tuple[jax.Array, jax.Array]:
    """For each entry the first one that equals it, by looking up in a few tables.

    O(N): equal entries are at one place of a table of four times their number, and
    where others were there before them they try another table. After six tables nearly
    never any are left; with another salt it will be others.

    Args:
        keys: integers `[N]` each; entries are equal if all of theirs are.
        among: bool `[N]`, the entries that there are; others get N.
        salt: uint32 scalar, which hash.

    Returns:
        int32 `[N]`, and how many entries are left that have got themselves instead.

    Examples:
        >>> there = jnp.array([True, True, True, False])
        >>> jax.jit(first_equal)((jnp.array([7, 5, 7, 7]),), there)[0]
        Array([0, 1, 0, 4], dtype=int32)
    """
    size = among.shape[0]
    index = jnp.arange(size, dtype=jnp.int32)
    first = jnp.where(among, index, size)
    if not size:
        return first, jnp.int32(0)
    salt = jnp.asarray(salt, jnp.uint32)

    def look_up(keys, index, open_, salt):
        """Leaders, and who has found none."""
        room = 1 << max(4, (4 * len(index) - 1).bit_length())
        place = jnp.where(open_, _hash(keys, salt) & (room - 1), room).astype(jnp.int32)
        here = jnp.arange(len(index), dtype=jnp.int32)
        table = jnp.full(room, len(index), jnp.int32).at[place].min(here, mode="drop")
        leader = jnp.minimum(table.at[place].get(mode="clip"), len(index) - 1)
        same = open_
        for key in keys:
            same &= take(key, leader) == key
        return take(index, leader), open_ & ~same

    leader, left = look_up(keys, index, among, salt)
    first = jnp.where(among & ~left, leader, first)
    # Those that are left fit in less: an eighth or so of what there is.
    rest = compact(left, max(size // 4, min(size, 64)))
    some = jnp.minimum(rest, size - 1)
    keys, open_ = tuple(take(key, some) for key in keys), rest < size
    missed = jnp.sum(left, dtype=jnp.int32) - jnp.sum(open_, dtype=jnp.int32)

    def again(state, salt):
        first, open_ = state
        leader, still = look_up(keys, rest, open_, salt)
        found = jnp.where(open_ & ~still, rest, size)
        return (first.at[found].set(leader, mode="drop"), still), None

    salts = salt + jnp.arange(1, 6, dtype=jnp.uint32) * jnp.uint32(0x9E3779B1)
    (first, open_), _ = jax.lax.scan(again, (first, open_), salts)
    return first, missed + jnp.sum(open_, dtype=jnp.int32)


def _hash(keys: tuple[jax.Array, ...], salt: jax.Array) -> jax.Array:
    mixed = jnp.full(keys[0].shape, salt * jnp.uint32(0x85EBCA6B) + 1, jnp.uint32)
    for key in keys:
        mixed = (mixed ^ key.astype(jnp.uint32)) * jnp.uint32(0x9E3779B1)
        mixed = (mixed ^ (mixed >> 15)) * jnp.uint32(0x85EBCA6B)
        mixed = (mixed ^ (mixed >> 13)) * jnp.uint32(0xC2B2AE35)
        mixed ^= mixed >> 16
    return mixed


def sort_rows(
    *keys: jax.Array, bounds: tuple[int, ...] | None = None
) -> tuple[jax.Array, ...]:
    """Sorts entries by several keys, the first one counting most.

    A stable sort by each key, from the last to the first: sorts by one key are fast on
    every device, and quick to compile. If all keys fit into 31 bits it is one sort.

    Args:
        keys: int32 `[N]` each.
        bounds: for each key what all of its entries are below; none is negative.

    Examples:
        >>> sort_rows(jnp.array([2, 1, 2]), jnp.array([5, 9, 3]))
        (Array([1, 2, 2], dtype=int32), Array([9, 3, 5], dtype=int32))
    """
    if bounds is not None and math.prod(bounds) <= 1 << 31:
        mixed = jnp.zeros(len(keys[0]), jnp.int32)
        for key, bound in zip(keys, bounds, strict=True):
            mixed = mixed * bound + key
        mixed, found = jax.lax.sort(mixed, is_stable=False), []
        for bound in reversed(bounds):
            found.append(mixed % bound)
            mixed //= bound
        return tuple(reversed(found))
    order = jnp.arange(len(keys[0]), dtype=jnp.int32)
    for key in reversed(keys):
        _, order = jax.lax.sort((take(key, order), order), num_keys=1, is_stable=True)
    return tuple(take(key, order) for key in keys)


def search_rows(
    values: jax.Array,
    begin: jax.Array,
    end: jax.Array,
    wanted: jax.Array,
    longest: int | None = None,
) -> jax.Array:
    """Where values are, or would be, in rows of ascending values: int32 `[N]`.

    O(log M) gathers, or as many as the longest row needs.

    Args:
        values: integers `[M]`, row by row.
        begin: int32 `[N]`, where the row of each wanted value begins.
        end: int32 `[N]`, where it ends.
        wanted: integers `[N]`.
        longest: the length of the longest row, if that is known.

    Examples:
        >>> values = jnp.array([2, 4, 6, 1, 9])
        >>> begin, end = jnp.array([0, 3]), jnp.array([3, 5])
        >>> jax.jit(search_rows)(values, begin, end, jnp.array([5, 1]))
        Array([2, 3], dtype=int32)
    """

    def halve(state):
        low, high = state
        middle = (low + high) // 2
        less = take(values, jnp.minimum(middle, len(values) - 1)) < wanted
        less &= low < high
        return jnp.where(less, middle + 1, low), jnp.where(less, high, middle)

    steps = max(len(values) if longest is None else longest, 1).bit_length()
    if steps <= _FEW_STEPS:
        state = begin, end
        for _ in range(steps):
            state = halve(state)
        return state[0]
    return jax.lax.scan(lambda x, _: (halve(x), None), (begin, end), length=steps)[0][0]


def row_ends(counts: jax.Array, room: int) -> jax.Array:
    """Where rows of these lengths, int32 `[R]`, end that lie one behind the other.

    Beyond the room, which is less than 2**30, they are anything above it. Unlike those
    of sums, results do not wrap round.

    Examples:
        >>> ends = row_ends(jnp.array([2, 3, 2**31 - 1, 4]), 8)
        >>> ends <= 8
        Array([ True,  True, False, False], dtype=bool)
    """
    counts = jnp.minimum(counts, room + 1)
    if len(counts) * (room + 1) < 1 << 31:
        return jnp.cumsum(counts, dtype=jnp.int32)
    if room >= 1 << 23:
        return jax.lax.associative_scan(
            lambda one, other: jnp.minimum(one + other, room + 1), counts
        )
    # Sums below 2**24 are exact, and none that is not comes near to the room.
    ends = jnp.cumsum(counts.astype(jnp.float32))
    return jnp.minimum(ends, 1 << 24).astype(jnp.int32)


def differs_from_last(*keys: jax.Array) -> jax.Array:
    """Whether each entry differs from the one before; the first does: bool `[N]`.

    Examples:
        >>> differs_from_last(jnp.array([4, 4, 5]))
        Array([ True, False,  True], dtype=bool)
    """
    differs = jnp.zeros(max(len(keys[0]) - 1, 0), bool)
    for key in keys:
        differs |= key[1:] != key[:-1]
    return jnp.concatenate([jnp.ones(min(len(keys[0]), 1), bool), differs])


def number_groups(first: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Numbers the groups that `first_equal` finds, in the order of their first ones.

    Returns:
        The group of each entry (int32 `[N]`, at least 0), and how many there are.

    Examples:
        >>> jax.jit(number_groups)(jnp.array([0, 1, 0, 3]))
        (Array([0, 1, 0, 2], dtype=int32), Array(3, dtype=int32))
    """
    size = first.shape[0]
    leads = first == jnp.arange(size, dtype=jnp.int32)
    rank = jnp.cumsum(leads, dtype=jnp.int32)
    group = take(rank, jnp.minimum(first, size - 1)) - 1
    return jnp.maximum(group, 0), rank[-1]
