"""Reductions over the edges of an arena: the only file that gathers and scatters.

Two layouts stand behind the same calls:

- an [`Arena`][jaxgames.Arena]: padded CSR, reduced by segment operations. Its shapes
  come from a few sizes, so that many games share one compilation, and it is what a
  user's own `jit` sees.
- a [`SlicedArena`][jaxgames.ops.SlicedArena]: rows sorted into slices of equal degree,
  each stored column-major, so that a reduction is a few element-wise operations on
  dense arrays. This is the restructuring of Wijs, Katoen and Bošnački (CAV 2014,
  doi:10.1007/978-3-319-08867-9_20), and on large graphs it is several times faster.

Values on edges are tuples of arrays, one array for each piece of the layout: made by
[`target`][jaxgames.ops.target] and [`source`][jaxgames.ops.source], combined by
[`edgewise`][jaxgames.ops.edgewise], consumed by the reductions.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.arena import Arena, bucket
from jaxgames.solution import NO_EDGE

Edges = tuple[jax.Array, ...]
"""Values on edges, piece by piece."""

SLICE_FROM = 1 << 15
"""Edges from which a concrete arena's rows are sorted into slices.

Slices are faster from far fewer edges on, but their shapes are the game's own, and each
compiles anew (docs: Design notes).
"""

SLICE_COST = 1 << 16
"""What one slice more costs, in edges: the launch of its kernels."""

LONG_ROW = 1 << 8
"""Wider slices have a multiple of as many columns, and are reduced in two stages."""

_KEY_BITS = 28
_KEY_MASK = (1 << _KEY_BITS) - 1
SMALL = (1 << 31 - _KEY_BITS) - 1
"""Largest value that `out_argmin` can pack beside an edge's position."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SlicedArena:
    """An arena whose rows are sorted into slices of equal (rounded) degree.

    Vertices are renumbered as slots: slice by slice, in the old order within one. A row
    shorter than its slice repeats its last edge, which no idempotent reduction
    notices, and a slice is filled up with slots that lead to themselves.

    Attributes:
        blocks: for each slice int32 `[D, N]`: the slots that its `N` rows lead to.
        slot: int32 `[V]`, the slot of each vertex of the arena.
        row_ptr: int32 `[V + 1]` of the arena.
        real: bool `[S]`, False for slots without a vertex.
        owner: bool `[S]`.
        priority: integers `[S]` or None, of the narrowest type that holds them.
        accepting: bool `[S]` or None.
        edge_priority: for each slice integers `[D, N]`, or None.
    """

    blocks: tuple[Any, ...]
    slot: Any
    row_ptr: Any
    real: Any
    owner: Any
    priority: Any = None
    accepting: Any = None
    edge_priority: tuple[Any, ...] | None = None


Game = Arena | SlicedArena
"""What a solver works on: an arena in either layout."""


# ---- choosing and making a layout (host) ------------------------------------


def prepare(arena: Arena) -> Game:
    """Lays a concrete arena out and puts it on the default device.

    Small arenas are padded to a common size, large ones sorted into slices. The result
    is kept with the arena: a second solve starts at once.
    """
    kept = arena.__dict__.setdefault("_prepared", {})
    place = jax.config.jax_default_device  # pyright: ignore
    if place not in kept:
        narrow = dataclasses.replace(
            arena,
            priority=_narrow(arena.priority),
            edge_priority=_narrow(arena.edge_priority),
        )
        sliced = arena.shape[1] >= SLICE_FROM
        game = slice_rows(narrow) if sliced else narrow.pad()
        # Tied to its device, as are the results of calls that write to the host: JAX
        # would compile once for states that are tied and once for those that are not.
        kept[place] = jax.device_put(game, jax.device_put(np.int8(0)).device)
    return kept[place]


def slice_rows(arena: Arena) -> SlicedArena:
    """Sorts the rows of a concrete arena into slices."""
    degree = np.diff(arena.row_ptr)
    widths = _slice_widths(np.bincount(degree))
    which = np.searchsorted(widths, degree).astype(np.uint8)
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=len(widths))
    # Wide slices are not filled up: one row more would cost as much as many edges.
    sizes = [
        int(n) if w > 64 else bucket(int(n))
        for n, w in zip(counts, widths, strict=True)
    ]
    starts = np.cumsum([0, *sizes])
    slot = np.empty(len(degree), np.int32)
    rows = np.split(order, np.cumsum(counts)[:-1])
    for start, of in zip(starts, rows, strict=False):
        slot[of] = np.arange(start, start + len(of), dtype=np.int32)
    slot_of_target = slot[arena.dst]

    def columns(width, size, of, values, fill):
        out = np.empty((width, size), values.dtype)
        out[:] = fill
        last = degree[of] - 1
        for column in range(width):
            edge = arena.row_ptr[of] + np.minimum(column, last)
            out[column, : len(of)] = values[edge]
        return out

    def block(start, size, width, of):
        to_itself = np.arange(start, start + size, dtype=np.int32)
        return columns(width, size, of, slot_of_target, to_itself)

    def edge_block(size, width, of):
        return columns(width, size, of, arena.edge_priority, 0)

    def spread(x):
        if x is None:
            return None
        out = np.zeros(starts[-1], x.dtype)
        out[slot] = x
        return out

    return SlicedArena(
        blocks=tuple(map(block, starts, sizes, widths, rows)),
        slot=slot,
        row_ptr=arena.row_ptr,
        real=spread(np.arange(len(degree)) < arena.num_vertices),
        owner=spread(arena.owner),
        priority=spread(arena.priority),
        accepting=spread(arena.accepting),
        edge_priority=None
        if arena.edge_priority is None
        else tuple(map(edge_block, sizes, widths, rows)),
    )


def _slice_widths(histogram: np.ndarray) -> np.ndarray:
    """Widths of the slices that cost least: cells to read plus a price for each slice.

    `histogram[d]` is the number of vertices of degree `d`. A dynamic program over the
    candidate widths; rows without edges get a slice of width 0.
    """
    degrees = np.flatnonzero(histogram)
    if len(degrees) == 0:
        return np.zeros(1, np.int64)
    # Above 16, widths in steps of a quarter: few candidates, little waste.
    steps = np.unique(np.ceil(16 * 1.25 ** np.arange(100)).astype(np.int64))
    rounded = np.where(degrees <= 16, degrees, steps[np.searchsorted(steps, degrees)])
    rounded[-1] = degrees[-1]
    rounded = np.where(rounded > LONG_ROW, -(-rounded // LONG_ROW) * LONG_ROW, rounded)
    candidates, where = np.unique(rounded, return_inverse=True)
    rows = np.bincount(where, weights=histogram[degrees])
    rows_before = np.append(0, np.cumsum(rows))
    best, choice = np.zeros(len(candidates) + 1), []
    for stop, width in enumerate(candidates, start=1):
        # The last slice takes candidates[start:stop], all at this width; rows without
        # edges keep to themselves.
        first = int(candidates[0] == 0 and stop > 1)
        cells = (rows_before[stop] - rows_before[first:stop]) * width
        costs = best[first:stop] + cells + SLICE_COST
        choice.append(first + int(np.argmin(costs)))
        best[stop] = costs.min()
    widths, stop = [], len(candidates)
    while stop:
        widths.append(candidates[stop - 1])
        stop = choice[stop - 1]
    return np.array(widths[::-1])


def _narrow(x):
    """The same integers in the narrowest signed type that holds them."""
    if x is None or x.dtype == bool:
        return x
    top = int(x.max(initial=0))
    return x.astype(np.int8 if top < 127 else np.int16 if top < 32767 else np.int32)


# ---- facts about a layout ----------------------------------------------------


def num_slots(game: Game) -> int:
    """Length of a game's arrays over vertices, padding included."""
    return game.owner.shape[0]


def num_vertices(game: Game) -> int:
    """Vertices that answers are given for: those of the arena that was laid out."""
    return (game.slot if isinstance(game, SlicedArena) else game.owner).shape[0]


def num_cells(game: Game) -> int:
    """Edges that one sweep reads, padding included."""
    if isinstance(game, SlicedArena):
        return sum(block.size for block in game.blocks)
    return game.dst.shape[0]


def move_type(game: Game):
    """The narrowest integer type that holds positions in rows, and NO_EDGE."""
    if isinstance(game, SlicedArena):
        widest = max((block.shape[0] for block in game.blocks), default=0)
        return jnp.int8 if widest < 127 else jnp.int32
    return jnp.int32


def real(game: Game) -> jax.Array:
    """Which entries of a game's arrays stand for vertices: bool `[S]`."""
    if isinstance(game, SlicedArena):
        return game.real
    return jnp.arange(num_slots(game)) < game.num_vertices


def layout(game: Game) -> str:
    """Name of the layout, for statistics."""
    return "slices" if isinstance(game, SlicedArena) else "csr"


def by_vertex(game: Game, x: jax.Array) -> jax.Array:
    """Brings values over a game's slots back into the order of its vertices."""
    return _take(x, game.slot) if isinstance(game, SlicedArena) else x


def by_slot(game: Game, x: jax.Array, fill) -> jax.Array:
    """Brings values over the vertices into the order of a game's slots."""
    if isinstance(game, SlicedArena):
        return jnp.full(num_slots(game), fill, x.dtype).at[game.slot].set(x)
    return x


def move_of(game: Game, edge: jax.Array) -> jax.Array:
    """Positions in rows `[S]` from edge indices `[V]`: the inverse of `edge_of`."""
    move = jnp.where(edge == NO_EDGE, NO_EDGE, edge - game.row_ptr[:-1])
    return by_slot(game, move, NO_EDGE)


def edge_of(game: Game, move: jax.Array) -> jax.Array:
    """Edge indices `[V]` from positions in rows `[S]` (NO_EDGE stays)."""
    move = by_vertex(game, move).astype(jnp.int32)
    return jnp.where(move == NO_EDGE, NO_EDGE, game.row_ptr[:-1] + move)


# ---- values on edges ---------------------------------------------------------


def target(game: Game, x: jax.Array) -> Edges:
    """The value of `x` `[S]` at the target of each edge."""
    # Without the barrier XLA may compute x anew for every edge that reads it.
    x = jax.lax.optimization_barrier(x)
    if isinstance(game, SlicedArena):
        return tuple(_take(x, block) for block in game.blocks)
    return (_take(x, game.dst),)


def source(game: Game, x: jax.Array) -> Edges:
    """The value of `x` `[S]` at the source of each edge."""
    if isinstance(game, SlicedArena):
        return tuple(piece[None] for piece in _split(game, x))
    return (_take(x, game.src),)


def edge_priority(game: Game) -> Edges:
    """The priority of each edge: its own, or that of its source where it has none."""
    if game.edge_priority is None:
        return source(game, game.priority)
    if isinstance(game, SlicedArena):
        return game.edge_priority
    return (game.edge_priority,)


def position(game: Game) -> Edges:
    """The position of each edge in its row: int32."""
    if isinstance(game, SlicedArena):
        return tuple(
            jax.lax.broadcasted_iota(jnp.int32, block.shape, 0) for block in game.blocks
        )
    edge = jnp.arange(game.dst.shape[0], dtype=jnp.int32)
    return (edge - _take(game.row_ptr, game.src),)


def edgewise(function, *edges: Edges) -> Edges:
    """Applies a function of arrays to values on edges."""
    return tuple(map(function, *edges))


# ---- reductions --------------------------------------------------------------


def out_min(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Least value over the edges that leave each vertex.

    Args:
        game: the arena.
        x: values on edges, or values `[S]` taken at the targets.

    Returns:
        `[S]`; for a vertex without edges the largest value of the type.
    """
    return _out_reduce(game, x, jnp.minimum, jax.ops.segment_min, _highest)


def out_max(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Largest value over the edges that leave each vertex, as `out_min`."""
    return _out_reduce(game, x, jnp.maximum, jax.ops.segment_max, _lowest)


def out_any(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Whether `x` holds on some edge that leaves each vertex: bool `[S]`."""
    bits = edgewise(lambda e: e.astype(jnp.int32), _on_edges(game, x))
    return out_max(game, bits) > 0


def out_all(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Whether `x` holds on all edges that leave each vertex: bool `[S]`."""
    bits = edgewise(lambda e: e.astype(jnp.int32), _on_edges(game, x))
    return out_min(game, bits) > 0


def out_argmin(
    game: Game, x: jax.Array | Edges, *, bound: int | None = None
) -> tuple[jax.Array, jax.Array]:
    """Least value over the edges that leave each vertex, and the first such edge.

    Args:
        game: the arena.
        x: values on edges, or values `[S]` taken at the targets.
        bound: if the values are known to lie in `0 .. bound` with
            `bound <= ops.SMALL`, one reduction does both.

    Returns:
        The least value `[S]`, and the position of its first edge in the row
        (int32 `[S]`; meaningless for a vertex without edges).
    """
    x = _on_edges(game, x)
    if bound is None:
        least = out_min(game, x)
        x = edgewise(lambda e, best: e != best, x, source(game, least))
        return least, out_argmin(game, x, bound=1)[1]
    if (
        bound > SMALL
        or num_cells(game) > _KEY_MASK
        and not isinstance(game, SlicedArena)
    ):
        raise ValueError(
            f"out_argmin packs values up to {SMALL} beside 2**{_KEY_BITS} edges, got "
            f"values up to {bound} and {num_cells(game)} edges"
        )
    if isinstance(game, SlicedArena):
        where, base = position(game), 0
    else:
        # Edge numbers order a row as positions do, and need no gather.
        where = (jnp.arange(game.dst.shape[0], dtype=jnp.int32),)
        base = game.row_ptr[:-1]
    key = out_min(
        game,
        edgewise(lambda e, at: (e.astype(jnp.int32) << _KEY_BITS) | at, x, where),
    )
    return key >> _KEY_BITS, (key & _KEY_MASK) - base


def in_max(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Largest value over the edges that enter each vertex (values taken at sources).

    Returns:
        `[S]`; for a vertex that no edge enters the least value of the type.
    """
    edges = x if isinstance(x, tuple) else source(game, x)
    pieces = game.blocks if isinstance(game, SlicedArena) else (game.dst,)
    out = jnp.full(num_slots(game), _lowest(edges[0].dtype), edges[0].dtype)
    for values, into in zip(edges, pieces, strict=True):
        out = out.at[into].max(jnp.broadcast_to(values, into.shape))
    return out


def in_any(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Whether `x` holds on some edge that enters each vertex: bool `[S]`."""
    edges = x if isinstance(x, tuple) else source(game, x)
    return in_max(game, edgewise(lambda e: e.astype(jnp.int32), edges)) > 0


# ---- counting and tables -----------------------------------------------------


def look_up(table: jax.Array, index: jax.Array) -> jax.Array:
    """Entries of a small table; indices beyond its end get the last one."""
    return jnp.asarray(table).at[index.astype(jnp.int32)].get(mode="clip")


def count(game: Game, x: jax.Array, length: int) -> jax.Array:
    """How many vertices have each value of `x` `[S]`: int32 `[length]`."""
    x = jnp.where(real(game), x.astype(jnp.int32), length)
    return jnp.bincount(jnp.minimum(x, length), length=length + 1)[:length]


def count_sources(game: Game, x: Edges, length: int) -> jax.Array:
    """How many vertices have each value of `x` on an edge that leaves them.

    O(E log E): the edges are sorted.

    Args:
        game: the arena.
        x: values on edges, not negative.
        length: values from here on are left out.

    Returns:
        int32 `[length]`.
    """
    slots = jnp.where(real(game), jnp.arange(num_slots(game), dtype=jnp.int32), -1)
    value, slot = (
        jnp.concatenate([
            jnp.broadcast_to(piece, at.shape).ravel().astype(jnp.int32)
            for piece, at in zip(edges, position(game), strict=True)
        ])
        for edges in (x, source(game, slots))
    )  # fmt: skip
    value = jnp.where(slot < 0, length, jnp.minimum(value, length))
    value, slot = jax.lax.sort((value, slot), num_keys=2)
    same = (value[1:] == value[:-1]) & (slot[1:] == slot[:-1])
    first = jnp.concatenate([jnp.ones(1, bool), ~same])
    counted = jnp.where(first, value, length)
    return jnp.bincount(counted, length=length + 1)[:length]


# ---- some rows of a game -----------------------------------------------------

LEVEL_BITS = 2
"""Each level of rows has room for a quarter of the one before."""

FEWEST_CELLS = 1 << 10
"""Cells of a piece of the layout below which its rows are not told apart."""


def num_levels(game: Game) -> int:
    """How many sizes of parts `rows` can take: level 0 is the whole game."""
    level = 0
    while any(_room(game, level + 1)[i] < n for i, n in enumerate(_room(game, level))):
        level += 1
    return level + 1


def level_of(game: Game, rows: jax.Array) -> jax.Array:
    """The last level with room for some rows (bool `[S]`): int32 scalar."""
    if isinstance(game, SlicedArena):
        needed = [jnp.sum(piece, dtype=jnp.int32) for piece in _split(game, rows)]
    else:
        degree = game.row_ptr[1:] - game.row_ptr[:-1]
        needed = [
            jnp.sum(rows, dtype=jnp.int32),
            jnp.sum(jnp.where(rows, degree, 0), dtype=jnp.int32),
        ]
    fits = [
        jnp.all(jnp.stack(needed) <= jnp.array(_room(game, level), jnp.int32))
        for level in range(1, num_levels(game))
    ]
    return sum((x.astype(jnp.int32) for x in fits), jnp.int32(0))


def part(game: Game, rows: jax.Array, level: int) -> tuple[Game, jax.Array | None]:
    """A game of some rows only: reductions over the edges that leave them.

    Values over the part's own slots come from `at` and go back by `put`; the targets
    of its edges are slots of the whole game, so that `target(part, x)` takes values
    over those. Building it costs a few passes over the rows and, in CSR, the edges.

    Args:
        game: the whole game.
        rows: bool `[S]`, which rows are wanted.
        level: at most `level_of(game, rows)`; level 0 is the whole game.

    Returns:
        The part, whose arrays have the size of the level and not of `rows`; and the
        slot of each of its rows, `S` where a row is left over; None for all slots.
    """
    if level == 0:
        return game, None
    room = _room(game, level)
    if isinstance(game, Arena):
        return _part_of_arena(game, rows, *room)
    columns, slots, start = [], [], 0
    for wanted, most in zip(_split(game, rows), room, strict=True):
        column = _positions(wanted, most)
        slots.append(jnp.where(column < len(wanted), start + column, num_slots(game)))
        columns.append(jnp.minimum(column, max(len(wanted) - 1, 0)))
        start += len(wanted)
    slots = jnp.concatenate(slots)

    def take(pieces):
        return tuple(
            jnp.take(piece, column, axis=1, mode="clip")
            for piece, column in zip(pieces, columns, strict=True)
        )

    return dataclasses.replace(
        game,
        blocks=take(game.blocks),
        slot=None,
        row_ptr=None,
        accepting=None,
        edge_priority=None if game.edge_priority is None else take(game.edge_priority),
        **_row_values(game, slots),
    ), slots


def at(x: jax.Array, slots: jax.Array | None) -> jax.Array:
    """Values over the rows of a part from values `[S]` over the whole game."""
    return x if slots is None else jnp.asarray(x).at[slots].get(mode="clip")


def put(x: jax.Array, slots: jax.Array | None, values: jax.Array) -> jax.Array:
    """Values `[S]` over the whole game, replaced in the rows of a part."""
    return values if slots is None else x.at[slots].set(values, mode="drop")


def _room(game: Game, level: int) -> list[int]:
    """How many rows of each slice a level holds; for an arena, vertices and edges."""
    if isinstance(game, SlicedArena):
        sizes = [block.shape for block in game.blocks]
    else:
        sizes = [(1, num_slots(game)), (1, num_cells(game))]
    return [
        min(n, max(n >> LEVEL_BITS * level, FEWEST_CELLS // max(width, 1), 1))
        for width, n in sizes
    ]


def _positions(wanted, most: int):
    """Where `wanted` holds, in order, filled up with its length: int32 `[most]`."""
    size = len(wanted)
    rank = jnp.cumsum(wanted, dtype=jnp.int32) - 1
    empty = jnp.full(most, size, jnp.int32)
    rank = jnp.where(wanted, rank, most)
    return empty.at[rank].set(jnp.arange(size, dtype=jnp.int32), mode="drop")


def _part_of_arena(arena: Arena, rows, vertices: int, edges: int):
    slots = _positions(rows, vertices + 1)  # the last row takes edges left over
    edge = _positions(_take(rows, arena.src), edges)
    inside = edge < len(arena.dst)
    edge = jnp.minimum(edge, len(arena.dst) - 1)
    row = jnp.cumsum(rows, dtype=jnp.int32) - 1
    return dataclasses.replace(
        arena,
        row_ptr=None,
        src=jnp.where(inside, _take(row, _take(arena.src, edge)), vertices),
        dst=_take(arena.dst, edge),
        accepting=None,
        weight=None,
        edge_priority=None
        if arena.edge_priority is None
        else _take(arena.edge_priority, edge),
        num_vertices=None,
        num_edges=None,
        **_row_values(arena, slots),
    ), slots


def _row_values(game: Game, slots) -> dict:
    values = {"owner": game.owner, "priority": game.priority}
    if isinstance(game, SlicedArena):
        values["real"] = game.real
    return {k: None if x is None else at(x, slots) for k, x in values.items()}


# ---- along one edge of each vertex -------------------------------------------


def slot_of_move(game: Game, move: jax.Array) -> jax.Array:
    """The slot that one edge of each vertex leads to: int32 `[S]`.

    Args:
        game: the arena.
        move: positions in rows `[S]`; where NO_EDGE, so is the result.
    """
    at = jnp.maximum(move, 0).astype(jnp.int32)
    if isinstance(game, SlicedArena):
        there = [
            jnp.take_along_axis(block, piece[None], axis=0, mode="clip")[0]
            if len(block)
            else piece
            for block, piece in zip(game.blocks, _split(game, at), strict=True)
        ]
        slot = jnp.concatenate(there)
    else:
        slot = jnp.asarray(game.dst).at[game.row_ptr[:-1] + at].get(mode="clip")
    return jnp.where(move == NO_EDGE, NO_EDGE, slot)


def at_slot(x: jax.Array, slot: jax.Array, outside: jax.Array | int) -> jax.Array:
    """The value of `x` `[S]` where each slot points to, for pointer doubling.

    Args:
        x: values.
        slot: int32 `[S]`: slots; a negative one points outside.
        outside: what is there: a scalar, or values `[S]`.
    """
    return jnp.where(slot < 0, outside, _take(x, jnp.maximum(slot, 0))).astype(x.dtype)


# ---- inside ------------------------------------------------------------------


def _take(x, index):
    return jnp.asarray(x).at[index].get(mode="promise_in_bounds")


def _split(game: SlicedArena, x) -> list[jax.Array]:
    sizes = [block.shape[1] for block in game.blocks]
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist())


def _on_edges(game: Game, x) -> Edges:
    return x if isinstance(x, tuple) else target(game, x)


def _highest(dtype):
    return jnp.iinfo(dtype).max


def _lowest(dtype):
    return jnp.iinfo(dtype).min


def _reduce_columns(values, start, combine):
    """Reduces `[D, N]` to `[N]`; long columns, which are few, in two stages.

    One reduction alone would keep most of a GPU idle, and two without a barrier XLA
    would make one.
    """
    width = values.shape[0]
    if width > LONG_ROW:
        parts = values.reshape(LONG_ROW, width // LONG_ROW, -1)
        values = jax.lax.optimization_barrier(
            jax.lax.reduce(parts, start, combine, (0,))
        )
    return jax.lax.reduce(values, start, combine, (0,))


def _out_reduce(game, x, combine, segment_reduce, identity):
    edges = _on_edges(game, x)
    if isinstance(game, Arena):
        return segment_reduce(edges[0], game.src, num_segments=num_slots(game))
    start = jnp.array(identity(edges[0].dtype), edges[0].dtype)
    rows = [
        _reduce_columns(jnp.broadcast_to(values, block.shape), start, combine)
        for values, block in zip(edges, game.blocks, strict=True)
    ]
    # The same for what is reduced, for every later use of it.
    return jax.lax.optimization_barrier(jnp.concatenate(rows))


# ---- graphs that shrink: lists of edges in no order ---------------------------


def take(x: jax.Array, index: jax.Array) -> jax.Array:
    """The values of `x` at indices that are known to be in its range."""
    return _take(x, index)


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


def compact(keep: jax.Array) -> jax.Array:
    """The indices where `keep` `[N]` holds, in order, filled up with N: int32 `[N]`."""
    return _positions(keep, keep.shape[0])


def follow(pointer: jax.Array) -> jax.Array:
    """Where each index gets to in the end: a fixed point, or the least of a cycle.

    Pointer doubling: O(log N) gathers, a few if all ways are short.

    Args:
        pointer: int32 `[N]`, each entry in `0 .. N - 1`.

    Examples:
        >>> follow(jnp.array([1, 2, 2, 5, 3, 4, 5]))
        Array([2, 2, 2, 3, 3, 3, 3], dtype=int32)
    """
    # After k doublings `end` is 2**k steps away, and `least` the least of the 2**k
    # vertices before it.
    size = pointer.shape[0]
    start = pointer.astype(jnp.int32), jnp.arange(size, dtype=jnp.int32)

    def answer(path):
        end, least = path
        return _take(least, end)

    def double(path):
        end, least = path
        further = _take(end, end), jnp.minimum(least, _take(least, end))
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
        >>> max_upwards(jnp.array([0, 0, 1, 3]), jnp.array([1, 0, 7, 5]))
        Array([7, 7, 7, 5], dtype=int32)
    """

    def double(state):
        # `above` is 2**k steps up, `most` covers descendants less than 2**k steps down.
        above, most = state
        further = _take(above, above)
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
    same = (_take(tail, first) == tail) & (_take(head, first) == head)
    return same & (first != index)


_WINDOW_BITS = 16
"""The edges of one vertex are spread over 2 to this many places of a table."""


def _count(x):
    # A sum, as XLA takes long to compile conjunctions of many values.
    return jnp.sum(x, dtype=jnp.int32)


def _doublings(double, state, size: int, rounds: int = 3):
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

    return some(state, left, rounds)
