"""Some rows of a spread game, numbered anew: each device copies its own together.

What edges lead to outside of such a part is known and stays, so that a sweep over the
part sends the values of its rows alone, and reads a table that is as short.
"""

import dataclasses
from typing import NamedTuple

from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import Edges, Game, SlicedArena, num_slots, split
from jaxgames.ops._lists import take
from jaxgames.ops._places import spread


class OwnPart(NamedTuple):
    """Some rows of a game.

    Attributes:
        game: they alone; an edge that leaves them leads to the slot after the last.
        slots: int32 `[shares, N]`, the slot in its share that each row has in the whole
            game; one after the last where a row is left over.
        outward: bool, which edges lead out.
        ends: what the whole game has at their targets.
    """

    game: SlicedArena
    slots: jax.Array
    outward: Edges
    ends: Edges


def fits_part(game: Game, rows: jax.Array, share: float) -> jax.Array:
    """Whether that share of each slice has room for some rows (bool `[S]`)."""
    assert isinstance(game, SlicedArena)
    rooms = _rooms(game, share)
    return jnp.all(
        jnp.stack([
            jnp.max(jnp.sum(wanted, axis=1, dtype=jnp.int32)) <= room
            for wanted, room in zip(split(game, rows), rooms, strict=True)
        ])
    )  # fmt: skip


def own_part(game: Game, rows: jax.Array, share: float, values: jax.Array) -> OwnPart:
    """The part of a spread game that has some rows, bool `[S]`.

    Building it costs a few passes over the rows, sends one value of each to all, and
    reads it at the targets of the part's edges: integers `[S]`, not negative. Rows must
    fit into that share of each slice, see `fits_part`.
    """
    assert isinstance(game, SlicedArena)
    columns, slots, start = [], [], 0
    for wanted, room in zip(split(game, rows), _rooms(game, share), strict=True):
        size = wanted.shape[1]
        column = jax.vmap(lambda x, room=room: _where(x, room))(wanted)
        slots.append(jnp.where(column < size, start + column, _beyond(game)))
        columns.append(jnp.minimum(column, size - 1))
        start += size
    slots = jnp.concatenate(slots, axis=1)
    size = slots.size

    def take_rows(pieces: Edges) -> Edges:
        return tuple(
            jax.vmap(lambda x, at: x.at[:, at].get(mode="clip"))(piece, column)
            for piece, column in zip(pieces, columns, strict=True)
        )

    # One array tells both: a row of the part has its number there, below zero.
    number = ~jnp.arange(size, dtype=values.dtype).reshape(slots.shape)
    known = spread(put_own(values, slots, number), game.mesh)
    there = tuple(take(known, block) for block in take_rows(game.blocks))
    of_rows = {
        name: x if x is None else at_own(x, slots)
        for name, x in (("owner", game.owner), ("priority", game.priority))
    }
    part = dataclasses.replace(
        game,
        blocks=tuple(jnp.where(x < 0, ~x, size).astype(jnp.int32) for x in there),
        slot=None,
        row_ptr=None,
        accepting=None,
        edge_priority=None,
        weight=None if game.weight is None else take_rows(game.weight),
        real=at_own(game.real, slots) & (slots < _beyond(game)).ravel(),
        **of_rows,
    )
    return OwnPart(part, slots, tuple(x >= 0 for x in there), there)


def at_own(x: jax.Array, slots: jax.Array) -> jax.Array:
    """Values over the rows of a part, from values `[S]` over the whole game."""
    x = x.reshape(len(slots), -1)
    return jax.vmap(lambda x, at: x.at[at].get(mode="clip"))(x, slots).ravel()


def put_own(x: jax.Array, slots: jax.Array, values: jax.Array) -> jax.Array:
    """Values `[S]` over the whole game, replaced in the rows of a part."""
    return jax.vmap(lambda x, at, new: x.at[at].set(new, mode="drop"))(
        x.reshape(len(slots), -1), slots, values.reshape(slots.shape)
    ).ravel()


def _where(keep: jax.Array, room: int) -> jax.Array:
    """As `compact`, of what one device has."""
    size = len(keep)
    rank = jnp.where(keep, jnp.cumsum(keep, dtype=jnp.int32) - 1, room)
    empty = jnp.full(room, size, jnp.int32)
    return empty.at[rank].set(jnp.arange(size, dtype=jnp.int32), mode="drop")


def _beyond(game: SlicedArena) -> int:
    return num_slots(game) // game.blocks[0].shape[0]


def _rooms(game: SlicedArena, share: float) -> list[int]:
    return [max(1, int(block.shape[-1] * share)) for block in game.blocks]
