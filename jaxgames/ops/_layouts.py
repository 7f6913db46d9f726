"""Layouts of an arena: what they hold, how they are made, and facts about them."""

import dataclasses
from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.later import jax, jnp
from jaxgames.ops._links import EdgeList, PairLinks, SlicedLinks
from jaxgames.ops._lists import take
from jaxgames.ops._places import on_devices, spread
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
        slot: int32 `[V]`, the slot of each vertex of the arena; None if that is its
            number. `V` is one of a few sizes: vertices that only fill it up come last,
            and have a slot without a vertex.
        row_ptr: int32 `[V + 1]` of the arena; they have no edges.
        real: bool `[S]`, False for slots without a vertex.
        owner: bool `[S]`.
        priority: integers `[S]` or None, of the narrowest type that holds them.
        accepting: bool `[S]` or None.
        edge_priority: for each slice integers `[D, N]`, or None.
        weight: for each slice integers `[D, N]`, or None; only one for each edge.
        mesh: None; or the devices that the arena is spread over (see
            [`parallel`][jaxgames.parallel]). Then what lies on edges has one axis more
            in front, that of the shares, and slots are numbered share by share.
    """

    blocks: tuple[Any, ...]
    slot: Any
    row_ptr: Any
    real: Any
    owner: Any
    priority: Any = None
    accepting: Any = None
    edge_priority: tuple[Any, ...] | None = None
    weight: tuple[Any, ...] | None = None
    mesh: jax.sharding.Mesh | None = dataclasses.field(
        default=None, metadata={"static": True}
    )


Game = Arena | SlicedArena
"""What a solver works on: an arena in either layout."""


# ---- facts about a layout ----------------------------------------------------


def num_slots(game: Game) -> int:
    """Length of a game's arrays over vertices, padding included."""
    return game.owner.shape[0]


def num_vertices(game: Game) -> int:
    """Vertices that answers are given for: those of the arena, and filling."""
    slots = game.slot if isinstance(game, SlicedArena) else None
    return (game.owner if slots is None else slots).shape[0]


def num_cells(game: Any) -> int:
    """Edges that one sweep reads, padding included.

    Args:
        game: an arena in either layout; links; or a tuple of such and of other facts,
            which have no edges.
    """
    if isinstance(game, tuple):
        return sum(map(num_cells, game))
    if isinstance(game, SlicedArena | SlicedLinks):
        return sum(block.size for block in game.blocks)
    if isinstance(game, PairLinks | EdgeList):
        return game.head.size
    return game.dst.size if isinstance(game, Arena) else 0


def move_type(game: Game):
    """The narrowest integer type that holds positions in rows, and NO_EDGE."""
    if isinstance(game, SlicedArena):
        widest = max((block.shape[-2] for block in game.blocks), default=0)
        return jnp.int8 if widest < 127 else jnp.int32
    return jnp.int32


def real(game: Game) -> jax.Array:
    """Which entries of a game's arrays stand for vertices: bool `[S]`."""
    if isinstance(game, SlicedArena):
        return game.real
    return jnp.arange(num_slots(game), dtype=jnp.int32) < game.num_vertices


def layout(game: Game) -> str:
    """Name of the layout, for statistics."""
    if not isinstance(game, SlicedArena):
        return "csr"
    return "slices" + on_devices(game.mesh)


def by_vertex(game: Game, x: jax.Array) -> jax.Array:
    """Brings values over a game's slots back into the order of its vertices."""
    if isinstance(game, SlicedArena) and game.slot is not None:
        return take(x, game.slot)
    return x


def by_slot(game: Game, x: jax.Array, fill) -> jax.Array:
    """Brings values over the vertices into the order of a game's slots."""
    if isinstance(game, SlicedArena) and game.slot is not None:
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
    """Values over slots, slice by slice: `[N]`, or `[shares, N]` on several devices."""
    sizes = [block.shape[-1] for block in game.blocks]
    if game.mesh is not None:
        x = x.reshape(game.blocks[0].shape[0], sum(sizes))
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis=-1)


def join(game: SlicedArena, pieces: list[jax.Array]) -> jax.Array:
    """Values over slots from those of each slice: the inverse of `split`."""
    return spread(jnp.concatenate(pieces, axis=-1).ravel(), game.mesh)
