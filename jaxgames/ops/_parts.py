"""Some rows of a game: smaller games that the same reductions read."""

import dataclasses

from jaxgames.arena import Arena, labels_by
from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import Game, SlicedArena, num_cells, num_slots, split
from jaxgames.ops._lists import compact, take
from jaxgames.tuning.ops import FEWEST_CELLS, LEVEL_BITS


def num_levels(game: Game) -> int:
    """How many sizes of parts `rows` can take: level 0 is the whole game."""
    if isinstance(game, SlicedArena) and game.mesh is not None:
        return 1  # rows that are far apart would have to be brought together
    level = 0
    while any(_room(game, level + 1)[i] < n for i, n in enumerate(_room(game, level))):
        level += 1
    return level + 1


def level_of(game: Game, rows: jax.Array) -> jax.Array:
    """The last level with room for some rows (bool `[S]`): int32 scalar."""
    if isinstance(game, SlicedArena):
        needed = [jnp.sum(piece, dtype=jnp.int32) for piece in split(game, rows)]
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
    for wanted, most in zip(split(game, rows), room, strict=True):
        column = compact(wanted, most)
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
        weight=None if game.weight is None else take(game.weight),
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


def _part_of_arena(arena: Arena, rows, vertices: int, edges: int):
    slots = compact(rows, vertices + 1)  # the last row takes edges left over
    edge = compact(take(rows, arena.src), edges)
    inside = edge < len(arena.dst)
    edge = jnp.minimum(edge, len(arena.dst) - 1)
    row = jnp.cumsum(rows, dtype=jnp.int32) - 1
    return dataclasses.replace(
        arena,
        row_ptr=None,
        src=jnp.where(inside, take(row, take(arena.src, edge)), vertices),
        dst=take(arena.dst, edge),
        accepting=None,
        **labels_by(arena, None, lambda x: take(x, edge)),
        num_vertices=None,
        num_edges=None,
        **_row_values(arena, slots),
    ), slots


def _row_values(game: Game, slots) -> dict:
    values = {"owner": game.owner, "priority": game.priority}
    if isinstance(game, SlicedArena):
        values["real"] = game.real
    return {k: None if x is None else at(x, slots) for k, x in values.items()}
