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
    """

    blocks: tuple[Any, ...]
    slot: Any
    row_ptr: Any
    real: Any
    owner: Any
    priority: Any = None
    accepting: Any = None


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
        narrow = dataclasses.replace(arena, priority=_narrow(arena.priority))
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

    def block(start, size, width, of):
        targets = np.empty((width, size), np.int32)
        targets[:] = np.arange(start, start + size, dtype=np.int32)
        last = degree[of] - 1
        for column in range(width):
            edge = arena.row_ptr[of] + np.minimum(column, last)
            targets[column, : len(of)] = slot_of_target[edge]
        return targets

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


def _out_reduce(game, x, combine, segment_reduce, identity):
    edges = _on_edges(game, x)
    if isinstance(game, Arena):
        return segment_reduce(edges[0], game.src, num_segments=num_slots(game))
    start = jnp.array(identity(edges[0].dtype), edges[0].dtype)
    rows = [
        jax.lax.reduce(jnp.broadcast_to(values, block.shape), start, combine, (0,))
        for values, block in zip(edges, game.blocks, strict=True)
    ]
    # The same for what is reduced, for every later use of it.
    return jax.lax.optimization_barrier(jnp.concatenate(rows))
