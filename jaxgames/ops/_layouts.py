"""Layouts of an arena: what they hold, how they are made, and facts about them."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.arena import Arena, bucket
from jaxgames.ops import _slices
from jaxgames.ops._links import PairLinks, SlicedLinks
from jaxgames.ops._lists import take
from jaxgames.ops._slices import slice_widths
from jaxgames.solution import NO_EDGE

Edges = tuple[jax.Array, ...]
"""Values on edges, piece by piece."""


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
        sliced = arena.shape[1] >= _slices.SLICE_FROM
        game = slice_rows(narrow) if sliced else narrow.pad()
        # Tied to its device, as are the results of calls that write to the host: JAX
        # would compile once for states that are tied and once for those that are not.
        kept[place] = jax.device_put(game, jax.device_put(np.int8(0)).device)
    return kept[place]


def slice_rows(arena: Arena) -> SlicedArena:
    """Sorts the rows of a concrete arena into slices."""
    degree = np.diff(arena.row_ptr)
    widths = slice_widths(np.bincount(degree))
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


def num_cells(game: Any) -> int:
    """Edges that one sweep reads, padding included.

    Args:
        game: an arena in either layout; links, or a tuple of such.
    """
    if isinstance(game, tuple):
        return sum(map(num_cells, game))
    if isinstance(game, SlicedArena | SlicedLinks):
        return sum(block.size for block in game.blocks)
    return (game.head if isinstance(game, PairLinks) else game.dst).shape[0]


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
    return take(x, game.slot) if isinstance(game, SlicedArena) else x


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


def split(game: SlicedArena, x) -> list[jax.Array]:
    """Values over slots, slice by slice."""
    sizes = [block.shape[1] for block in game.blocks]
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist())
