"""Values on the edges of an arena, and reductions over them."""

import dataclasses

import numpy as np

from jaxgames.arena import Arena
from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import (
    Edges,
    Game,
    SlicedArena,
    join,
    num_cells,
    num_slots,
    real,
    split,
)
from jaxgames.ops._links import WORD, packed, packed_at
from jaxgames.ops._lists import take
from jaxgames.ops._places import known_to_all
from jaxgames.ops._slices import highest, lowest, reduce_columns
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.ops import PACK_FROM, SEND_PACKED_FROM

_KEY_BITS = 28
_KEY_MASK = (1 << _KEY_BITS) - 1
SMALL = (1 << 31 - _KEY_BITS) - 1
"""Largest value that `out_argmin` can pack beside an edge's position."""


# ---- values on edges ---------------------------------------------------------


def target(
    game: Game,
    x: jax.Array,
    *,
    beyond: int | None = None,
    where: Edges | None = None,
    known: bool = False,
    bits: int | None = None,
) -> Edges:
    """The value of `x` `[S]` at the target of each edge.

    Args:
        game: the arena.
        x: values.
        beyond: what is at targets that are no slots of the arena; None: all are.
        where: bool on edges: which values are wanted. Others are those of any vertex.
        known: x has come through a barrier.
        bits: x (int8) has values below `1 << bits`, so that many can be packed into a
            word; 1, 2 or 4. None: as many as its type has.
    """
    if not known:
        # Without the barrier XLA may compute x anew for every edge that reads it.
        x = jax.lax.optimization_barrier(x)
    if not isinstance(game, SlicedArena):
        return (take(x, game.dst),)
    blocks = game.blocks
    if where is not None:
        # Reading one place again and again takes no time.
        blocks = [jnp.where(w, b, 0) for w, b in zip(where, blocks, strict=True)]
    if beyond is not None:
        x = known_to_all(x)
        return tuple(x.at[b].get(mode="fill", fill_value=beyond) for b in blocks)
    bits = 1 if x.dtype == bool else bits
    if bits is not None and _pays_to_pack(game, len(x), bits):
        words = known_to_all(jax.lax.optimization_barrier(packed(x, bits)))
        return tuple(packed_at(words, block, bits).astype(x.dtype) for block in blocks)
    return tuple(take(x, block) for block in blocks)


def _pays_to_pack(game: SlicedArena, size: int, bits: int) -> bool:
    if game.mesh is None:
        return size >= PACK_FROM
    return size >= SEND_PACKED_FROM and size * bits % (WORD * game.mesh.size) == 0


def source(game: Game, x: jax.Array) -> Edges:
    """The value of `x` `[S]` at the source of each edge."""
    if isinstance(game, SlicedArena):
        return tuple(piece[..., None, :] for piece in split(game, x))
    return (take(x, game.src),)


def edge_priority(game: Game) -> Edges:
    """The priority of each edge: its own, or that of its source where it has none."""
    if game.edge_priority is None:
        return source(game, game.priority)
    if isinstance(game, SlicedArena):
        return game.edge_priority
    return (game.edge_priority,)


def edge_weight(game: Game) -> Edges:
    """The weight of each edge, of a game whose edges have one."""
    if isinstance(game, SlicedArena):
        assert game.weight is not None
        return game.weight
    return (game.weight,)


def with_edge_weight(game: Game, weight: Edges) -> Game:
    """The same game with other weights."""
    sliced = isinstance(game, SlicedArena)
    return dataclasses.replace(game, weight=weight if sliced else weight[0])


def position(game: Game) -> Edges:
    """The position of each edge in its row: int32."""
    if isinstance(game, SlicedArena):
        return tuple(
            jax.lax.broadcasted_iota(jnp.int32, block.shape, block.ndim - 2)
            for block in game.blocks
        )
    edge = jnp.arange(game.dst.shape[0], dtype=jnp.int32)
    return (edge - take(game.row_ptr, game.src),)


def edgewise(function, *edges: Edges) -> Edges:
    """Applies a function of arrays to values on edges."""
    return tuple(map(function, *edges))


# ---- reductions --------------------------------------------------------------


def out_min(game: Game, x: jax.Array | Edges, *, once: bool = False) -> jax.Array:
    """Least value over the edges that leave each vertex.

    Args:
        game: the arena.
        x: values on edges, or values `[S]` taken at the targets.
        once: the result is used only once, so that it may be found where it is.

    Returns:
        `[S]`; for a vertex without edges the largest value of the type.
    """
    return _out_reduce(game, x, jnp.minimum, jax.ops.segment_min, highest, once)


def out_max(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Largest value over the edges that leave each vertex, as `out_min`."""
    return _out_reduce(game, x, jnp.maximum, jax.ops.segment_max, lowest)


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
    shift, kind = _KEY_BITS, jnp.int32
    if isinstance(game, SlicedArena):
        where, base = position(game), 0
        widest = max((block.shape[-2] for block in game.blocks), default=0)
        bits = max(widest - 1, 0).bit_length()
        if bits + bound.bit_length() < 8:  # a quarter of the bytes
            shift, kind = bits, jnp.int8
    else:
        # Edge numbers order a row as positions do, and need no gather.
        where = (jnp.arange(game.dst.shape[0], dtype=jnp.int32),)
        base = game.row_ptr[:-1]
    key = out_min(
        game,
        edgewise(lambda e, at: (e.astype(kind) << shift) | at.astype(kind), x, where),
    ).astype(jnp.int32)
    return key >> shift, (key & ((1 << shift) - 1)) - base


def in_max(game: Game, x: jax.Array | Edges) -> jax.Array:
    """Largest value over the edges that enter each vertex (values taken at sources).

    Returns:
        `[S]`; for a vertex that no edge enters the least value of the type.
    """
    edges = x if isinstance(x, tuple) else source(game, x)
    pieces = game.blocks if isinstance(game, SlicedArena) else (game.dst,)
    out = jnp.full(num_slots(game), lowest(edges[0].dtype), edges[0].dtype)
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
            jnp.take_along_axis(block, piece[..., None, :], axis=-2, mode="clip")[
                ..., 0, :
            ]
            if block.shape[-2]
            else piece
            for block, piece in zip(game.blocks, split(game, at), strict=True)
        ]
        slot = join(game, there).astype(jnp.int32)
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
    return jnp.where(slot < 0, outside, take(x, jnp.maximum(slot, 0))).astype(x.dtype)


# ---- inside ------------------------------------------------------------------


def _on_edges(game: Game, x) -> Edges:
    return x if isinstance(x, tuple) else target(game, x)


def _out_reduce(game, x, combine, segment_reduce, identity, once=False):
    edges = _on_edges(game, x)
    if isinstance(game, Arena):
        return segment_reduce(edges[0], game.src, num_segments=num_slots(game))
    # Of numpy: an array of JAX would not be a constant inside a conditional.
    start = np.array(identity(edges[0].dtype), edges[0].dtype)
    rows = [
        reduce_columns(jnp.broadcast_to(values, block.shape), start, combine)
        for values, block in zip(edges, game.blocks, strict=True)
    ]
    # The same for what is reduced, for every later use of it.
    found = join(game, rows)
    return found if once else jax.lax.optimization_barrier(found)
