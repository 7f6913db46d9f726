"""Lists without an order: pointers, and edges of graphs that shrink."""

from jaxgames.later import jax, jnp
from jaxgames.ops._places import known_to_all, num_devices


def take(x: jax.Array, index: jax.Array) -> jax.Array:
    """The values of `x` at indices that are known to be in its range.

    As `x[index]`, which takes longer to trace.
    """
    x, index = known_to_all(jnp.asarray(x)), jnp.asarray(index)
    if index.dtype == jnp.int32:  # without a sign it is in range at one end
        index = jax.lax.convert_element_type(index, jnp.uint32)
    rows = jax.lax.GatherDimensionNumbers(
        offset_dims=tuple(range(index.ndim, index.ndim + x.ndim - 1)),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
    )
    places = jax.lax.expand_dims(index, [index.ndim])
    return jax.lax.gather(x, places, rows, (1, *x.shape[1:]), mode="promise_in_bounds")


def min_into(index: jax.Array, values: jax.Array, size: int, fill) -> jax.Array:
    """Least of the values that have each index: `[size]`, at most `fill`.

    Indices from `size` on are left out.
    """
    out = jnp.full(size, fill, values.dtype)
    return out.at[index].min(values, mode="drop")


def max_into(index: jax.Array, values: jax.Array, size: int, fill) -> jax.Array:
    """Largest of the values that have each index: `[size]`, at least `fill`.

    Indices from `size` on are left out.
    """
    out = jnp.full(size, fill, values.dtype)
    return out.at[index].max(values, mode="drop")


def lower(x: jax.Array, index: jax.Array, values: jax.Array) -> jax.Array:
    """`x` where an entry is the least of its own and the values that have its index.

    Indices beyond the last are left out.
    """
    return x.at[index].min(values, mode="drop")


def running_sum(x: jax.Array) -> jax.Array:
    """The sum of all entries up to each one: int32 `[N]`.

    On several devices each sums up its own: what XLA makes of a sum along an axis that
    is dealt out has a cost that is quadratic.
    """
    devices = num_devices()
    if devices == 1:
        return jnp.cumsum(x, dtype=jnp.int32)
    if len(x) % devices:
        return jnp.cumsum(known_to_all(x), dtype=jnp.int32)
    sums = jnp.cumsum(x.reshape(devices, -1), axis=1, dtype=jnp.int32)
    ends = jnp.cumsum(known_to_all(sums[:, -1]))
    return (sums + (ends - sums[:, -1])[:, None]).ravel()


def compact(keep: jax.Array, room: int | None = None) -> jax.Array:
    """The indices where `keep` `[N]` holds, in order, filled up with N.

    Args:
        keep: booleans.
        room: length of the result; by default N. Indices beyond it are left out.

    Returns:
        int32 `[room]`.
    """
    size = len(keep)
    room = size if room is None else room
    rank = jnp.where(keep, running_sum(keep) - 1, room)
    empty = jnp.full(room, size, jnp.int32)
    return empty.at[rank].set(jnp.arange(size, dtype=jnp.int32), mode="drop")


def follow(pointer: jax.Array) -> jax.Array:
    """Where each index gets to in the end: a fixed point, or the least of a cycle.

    Pointer doubling: O(log N) gathers, a few if all ways are short.

    Args:
        pointer: int32 `[N]`, each entry in `0 .. N - 1`.

    Examples:
        >>> jax.jit(follow)(jnp.array([1, 2, 2, 5, 3, 4, 5]))
        Array([2, 2, 2, 3, 3, 3, 3], dtype=int32)
    """
    # After k doublings `end` is 2**k steps away, and `least` the least of the 2**k
    # vertices before it.
    size = pointer.shape[0]
    start = pointer.astype(jnp.int32), jnp.arange(size, dtype=jnp.int32)

    def answer(path):
        end, least = path
        return take(least, end)

    def double(path):
        end, least = path
        further = take(end, end), jnp.minimum(least, take(least, end))
        # The same answer is the least of steps 2**k .. 2**(k + 1) - 1 and of those to
        # 2**(k + 2) - 1: so it lies on a cycle, which has been gone round.
        return further, _count(answer(path) != answer(further)) == 0

    return answer(_doublings(double, start, size))


def max_upwards(parent: jax.Array, values: jax.Array) -> jax.Array:
    """Largest value in the subtree below each vertex of a forest.

    Pointer doubling: O(log N) gathers and scatters, a few if all trees are shallow.

    Args:
        parent: int32 `[N]`; roots are their own parents.
        values: integers `[N]`.

    Examples:
        >>> jax.jit(max_upwards)(jnp.array([0, 0, 1, 3]), jnp.array([1, 0, 7, 5]))
        Array([7, 7, 7, 5], dtype=int32)
    """

    def double(state):
        # `above` is 2**k steps up, `most` covers descendants less than 2**k steps down.
        above, most = state
        further = take(above, above)
        state = further, most.at[above].max(most)
        return state, _count(further != above) == 0

    return _doublings(double, (parent, values), parent.shape[0])[1]


def repeats(
    tail: jax.Array, head: jax.Array, among: jax.Array, size: int, salt: jax.Array
) -> jax.Array:
    """Edges that repeat an earlier one, but for a few that are overlooked.

    Edges are looked up in a table by a hash; one whose place was taken by another edge
    is not compared with any. It is found with another salt. A table needs neither the
    order of a sort nor its time, and edges of one vertex lie close together in it.

    Args:
        tail: int32 `[E]`, in `0 .. size - 1`.
        head: int32 `[E]`, in the same range.
        among: bool `[E]`, edges to look at.
        size: the number of vertices.
        salt: uint32 scalar: which hash.

    Returns:
        bool `[E]`: edges with the tail and head of one with a smaller index.
    """
    edges = tail.shape[0]
    bits = min(30, max(_WINDOW_BITS, (2 * edges).bit_length(), size.bit_length()))
    key = head.astype(jnp.uint32) + salt * jnp.uint32(0x9E3779B1)
    key = (key ^ (key >> 15)) * jnp.uint32(0x85EBCA6B)
    key = (key ^ (key >> 13)) * jnp.uint32(0xC2B2AE35)
    near = tail.astype(jnp.uint32) << max(0, bits - size.bit_length())
    slot = (near + (key >> (32 - _WINDOW_BITS))) % (1 << bits)
    slot = jnp.where(among, slot.astype(jnp.int32), 1 << bits)
    index = jnp.arange(edges, dtype=jnp.int32)
    table = min_into(slot, index, 1 << bits, edges)
    first = jnp.where(among, table.at[slot].get(mode="clip"), index)
    same = (take(tail, first) == tail) & (take(head, first) == head)
    return same & (first != index)


_WINDOW_BITS = 16
"""The edges of one vertex are spread over 2 to this many places of a table."""


def _count(x):
    # A sum, as XLA takes long to compile conjunctions of many values.
    return jnp.sum(x, dtype=jnp.int32)


def _doublings(double, state, size: int):
    """Doubles until paths of `size` steps are covered, or all is settled.

    `double` gives the new state, and whether it is final: that is asked after 3 rounds,
    6 more, 12 more and so on.
    """
    left = max(size - 1, 1).bit_length()

    def some(state, left, rounds):
        more = min(left, rounds) - 1
        state, _ = jax.lax.scan(lambda s, _: (double(s)[0], None), state, length=more)
        state, settled = double(state)
        if left <= rounds:
            return state
        return jax.lax.cond(
            settled,
            lambda state: state,
            lambda state: some(state, left - rounds, 2 * rounds),
            state,
        )

    return some(state, left, 3)
