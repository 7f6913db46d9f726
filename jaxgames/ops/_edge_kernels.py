"""Sweeps over a list of edges as kernels for a GPU, by Pallas and Triton.

A program of a kernel takes a block of edges, then another one far ahead, until there
are no more: how many edges there are is known on the device alone. Values are lowered
in place, so that later blocks of a sweep see what earlier ones wrote.

Threads write without waiting for each other: where two write to one place, one of the
values is lost. Both are true, and less than what the writers saw there, so that from
sweep to sweep values only become less. Whose value was lost writes it in the next
sweep, and a sweep that finds nothing to write is the last. Atomic minima would lose
nothing, and take several times as long, since JAX has them wait for memory.

Reference:
    Alabandi, Sands, Biros and Burtscher, A GPU algorithm for detecting strongly
    connected components (ECL-SCC), SC 2023, doi:10.1145/3581784.3607071.
"""

from collections.abc import Callable
from typing import Any

from jaxgames.later import jax, jnp
from jaxgames.tuning.ops import BLOCK, FRONT_BLOCK, FRONT_PROGRAMS, PROGRAMS, WARPS
from jaxgames.tuning.ops import LONG_LIST as LONG

LEVELS = 4
"""Levels of a search that are counted at a time: the one that is read, the one that is
written, and the one after that, which becomes 0. A fourth makes their number even, so
that fronts are where they have been.
"""

TOTAL, MOST = 2 * LEVELS, 2 * LEVELS + 2
"""Where `counts` of a search has all that was found, and the most at one level, each
for both ways; the levels come before.
"""


def times(x: Any, factor: Any, size: int) -> Any:
    """A number times a factor modulo a power of two that is at least `size` (pure)."""
    mask = jnp.uint32((1 << max(size - 1, 1).bit_length()) - 1)
    return ((x.astype(jnp.uint32) * factor) & mask).astype(jnp.int32)


def lower_both(tail, head, count, above, below, stamp, counts, turn, now, inverse):
    """As `ops.lower_both`."""
    size = len(above)
    # What a kernel reads as it was, and writes too, XLA copies before each sweep.
    old = () if len(tail) >= LONG else (above, below)

    def sweep(tail, head, count, now, inverse, *arrays):
        above, below, stamp, counts = arrays[-4:]
        old_above, old_below = arrays[:2] if old else (above, below)
        factor, time = inverse[0], now[0] + turn

        def block(there, u, v):
            # What changed in this sweep or the one before may tell something.
            since = (
                (time - load(stamp.at[x], mask=there, other=0).astype(jnp.int32)) & 127
                for x in (u, v)
            )
            there &= jnp.minimum(*since) <= 1

            def look(ref, at):
                return load(ref.at[at], mask=there, other=0)

            above_u, below_v = look(old_above, u), look(old_below, v)
            first, last = times(above_u, factor, size), times(below_v, factor, size)
            best = jnp.minimum(above_u, look(old_above, first))
            least = jnp.minimum(below_v, look(old_below, last))
            changes = jnp.zeros(BLOCK, jnp.int32)
            mark = (changes + time).astype(jnp.int8)
            # The last two: what my best ancestor reaches, and who reaches my best
            # descendant.
            for ref, at, value in (
                (above, v, best),
                (above, u, best),
                (below, u, least),
                (below, v, least),
                (below, first, least),
                (above, last, best),
            ):
                tells = there & (value < look(ref, at))
                store(ref.at[at], value, mask=tells)
                store(stamp.at[at], mark, mask=tells)
                changes += tells.astype(jnp.int32)
            return changes

        runs = counts[turn] > 0
        add(counts, turn + 1, _blocks(tail, head, count, runs, block))

    given = tail, head, count, now, inverse, *old
    return _call(sweep, given, (above, below, stamp, counts))


def spread_both(tail, head, count, ahead, behind, counts, turn):
    """As `ops.spread_both`."""

    def sweep(tail, head, count, _ahead, _behind, _counts, ahead, behind, counts):
        def block(there, u, v):
            # Marks of tails are near each other: they say which others to look up.
            sends = there & (load(ahead.at[u], mask=there, other=0) > 0)
            open_ = there & (load(behind.at[u], mask=there, other=1) == 0)
            forth = sends & (load(ahead.at[v], mask=sends, other=1) == 0)
            back = open_ & (load(behind.at[v], mask=open_, other=0) > 0)
            marked = jnp.ones(BLOCK, jnp.int8)
            store(ahead.at[v], marked, mask=forth)
            store(behind.at[u], marked, mask=back)
            return forth.astype(jnp.int32) + back.astype(jnp.int32)

        runs = counts[turn] > 0
        add(counts, turn + 1, _blocks(tail, head, count, runs, block))

    return _call(sweep, (tail, head, count), (ahead, behind, counts))


def touch_both(tail, head, count, left, entered):
    """As `ops.touched`, into arrays of zeros."""

    def sweep(tail, head, count, _left, _entered, left, entered):
        def block(there, u, v):
            leads, marked = there & (u != v), jnp.ones(BLOCK, jnp.int8)
            store(left.at[u], marked, mask=leads)
            store(entered.at[v], marked, mask=leads)
            return there

        _blocks(tail, head, count, True, block)

    return _call(sweep, (tail, head, count), (left, entered))


def keep_inside(tail, head, count, first, last, tail_room, head_room):
    """As `ops.keep_inside`: the list that is kept, and its length."""

    def sweep(tail, head, count, first_kind, last_kind, _tail, _head, _left, *own):
        tail_room, head_room, left = own

        def block(there, u, v):
            def look(ref, at):
                return load(ref.at[at], mask=there, other=0)

            first, last = look(first_kind, u), look(last_kind, u)
            kept = there & (u != v) & (first != last)
            kept &= (first == look(first_kind, v)) & (last == look(last_kind, v))
            number = kept.astype(jnp.int32)
            place = add(left, 0, number) + jnp.cumsum(number, dtype=jnp.int32) - 1
            store(tail_room.at[place], u, mask=kept)
            store(head_room.at[place], v, mask=kept)
            return number

        _blocks(tail, head, count, True, block)

    given = tail, head, count, first, last
    return _call(sweep, given, (tail_room, head_room, jnp.zeros_like(count)))


def advance_both(fronts, counts, level):
    """As `ops.advance_both`, one of its `LEVELS` levels.

    Where threads find a vertex at the same time each writes it to the next front, and
    its place there as the mark. One of these marks stays; at the other places the
    vertex is passed over.
    """
    size = len(fronts[0].mark)
    now, then, later = (2 * ((level + i) % LEVELS) for i in range(3))
    ends = [x for front in fronts for x in (front.first, front.far)]
    own = [x for front in fronts for x in (front.mark, *front.places)]

    def sweep(*refs):
        from jax.experimental import pallas as pl

        counts, mine = refs[-1], pl.program_id(0) // 2
        for side in range(2):
            first, far = refs[2 * side : 2 * side + 2]
            mark, *places = refs[3 * side - 7 :][:3]
            front, ahead = places if level % 2 == 0 else places[::-1]
            here = pl.program_id(0) % 2 == side
            number = load(counts.at[now + side])
            for at, value in (
                (later, jnp.int32(0)),
                (TOTAL, load(counts.at[TOTAL + side]) + number),
                (MOST, jnp.maximum(load(counts.at[MOST + side]), number)),
            ):
                store(counts.at[at + side], value, mask=here & (mine == 0))
            number = jnp.where(here, jnp.minimum(number, size), 0)
            _advance(mine, number, first, far, mark, front, ahead, counts, then + side)

    *own, counts = _call(sweep, ends, (*own, counts), FRONT_PROGRAMS)
    forth, back = (
        front._replace(mark=mark, places=(one, other))
        for front, mark, one, other in zip(
            fronts, own[::3], own[1::3], own[2::3], strict=True
        )
    )
    return (forth, back), counts


def _advance(mine, number, first, far, mark, front, ahead, counts, then):
    """What a program does for a front: some blocks of its vertices, edge by edge."""
    size, programs = mark.shape[0], FRONT_PROGRAMS // 2
    blocks = (number + FRONT_BLOCK - 1) // FRONT_BLOCK

    def block(i, carry):
        lane = jnp.arange(FRONT_BLOCK, dtype=jnp.int32)
        place = (mine + i * programs) * FRONT_BLOCK + lane
        there = place < number
        u = load(front.at[place], mask=there, other=0)
        there &= load(mark.at[u], mask=there, other=0) == place + 1
        begin = load(first.at[u], mask=there, other=0)
        degree = load(first.at[u + 1], mask=there, other=0) - begin

        def along(edge, carry):
            leads = edge < degree
            v = load(far.at[begin + edge], mask=leads, other=0)
            finds = leads & (load(mark.at[v], mask=leads, other=1) == 0)
            found = finds.astype(jnp.int32)
            place = add(counts, then, found) + jnp.cumsum(found, dtype=jnp.int32)
            finds &= place <= size  # else there is no room, which the count tells
            store(ahead.at[place - 1], v, mask=finds)
            store(mark.at[v], place, mask=finds)
            return carry

        return jax.lax.fori_loop(0, jnp.max(degree), along, carry)

    jax.lax.fori_loop(0, (blocks - mine + programs - 1) // programs, block, 0)


# ---- how a kernel is run, and what it is made of ---------------------------------


def _call(kernel: Callable, given: Any, own: tuple, programs: int | None = None):
    """Runs a kernel; what is its `own` it writes in place, and returns."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    arrays = (*given, *own)
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        kernel,
        grid=(programs or min(PROGRAMS, -(-len(given[0]) // BLOCK)),),
        in_specs=[anywhere] * len(arrays),
        out_specs=[anywhere] * len(own),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in own],
        input_output_aliases={len(given) + i: i for i in range(len(own))},
        compiler_params=triton.CompilerParams(num_warps=WARPS),
    )(*arrays)


def _blocks(tail, head, count, runs, block: Callable) -> jax.Array:
    """Does something with each block of edges; the sum of what that says: `[BLOCK]`.

    If it runs, `block` makes numbers of which edges there are, their tails and heads.
    """
    from jax.experimental import pallas as pl

    program, programs = pl.program_id(0), pl.num_programs(0)
    number = count[0]
    blocks = jnp.where(runs, (number + BLOCK - 1) // BLOCK, 0)
    mine = (blocks - program + programs - 1) // programs

    def body(i, said):
        index = (program + i * programs) * BLOCK + jnp.arange(BLOCK, dtype=jnp.int32)
        there = index < number
        u = load(tail.at[index], mask=there, other=0)
        v = load(head.at[index], mask=there, other=0)
        return said + block(there, u, v).astype(jnp.int32)

    return jax.lax.fori_loop(0, mine, body, jnp.zeros(BLOCK, jnp.int32))


def load(ref, **how):
    """Reads memory of the device."""
    from jax.experimental.pallas import triton

    return triton.load(ref, **how)


def store(ref, value, **how):
    """Writes memory of the device."""
    from jax.experimental.pallas import triton

    triton.store(ref, value, **how)


def add(ref, at, values):
    """Adds the sum of some values to an entry, and returns what it was."""
    from jax.experimental.pallas import triton

    total = jnp.sum(values, dtype=jnp.int32)
    return triton.atomic_add(ref, (jnp.int32(at),), total)
