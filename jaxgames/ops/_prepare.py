"""Choosing a layout for a concrete arena, and putting it where it is worked on."""

import functools
from typing import Any

import numpy as np

from jaxgames.arena import Arena, bucket, changed, pays, within
from jaxgames.host import can_compile, compiled, on_all_cores
from jaxgames.kept import is_kept, kept
from jaxgames.later import jax, jnp
from jaxgames.ops import _slices
from jaxgames.ops._layouts import Game, SlicedArena, move_type
from jaxgames.ops._shards import Spread, spread_out
from jaxgames.ops._sliced_device import accelerated, slice_rows_there
from jaxgames.ops._sliced_host import slice_rows
from jaxgames.ops._transfers import at_host, default_device, taken
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.ops import LEAST_EDGES, LEAST_VERTICES
from jaxgames.value import freeze


def prepare(arena: Arena, spread: Spread | None = None) -> Game:
    """Lays a concrete arena out and puts it on the default device, or on a mesh.

    Small arenas are padded to a common size, large ones sorted into slices, and what
    goes to a mesh is cut into shares. The result is kept with the arena: a second solve
    starts at once.

    Args:
        arena: the arena.
        spread: the mesh to spread it over; None for one device.
    """

    def lay_out() -> Game:
        of_vertices, of_edges = narrowest(arena)
        narrow = changed(
            arena,
            priority=_narrow(arena.priority, of_vertices),
            edge_priority=_narrow(arena.edge_priority, of_edges),
        )
        if spread is None:
            return _put(narrow)
        return spread_out(slice_rows(narrow, spread.shares), spread)

    return kept(arena, _key(spread), lay_out)


def edges_on_host(
    game: Game, edge: jax.Array, row_ptr: Any, others: Any = ()
) -> tuple[np.ndarray, Any]:
    """Edge indices, int32 `[V]`, that a device has found in these rows, on the host.

    From a device with memory of its own they are sent as positions in rows, which are
    narrow where there are many, and others of its arrays, a pytree, together with them.
    """
    sliced = isinstance(game, SlicedArena) and game.mesh is None
    if not (sliced and isinstance(row_ptr, np.ndarray) and accelerated()):
        return np.asarray(edge), jax.tree.map(np.asarray, others)
    sent = _positions(game.row_ptr, edge, others, move_type(game))
    position, others = np.asarray(sent[0]), taken(sent[1])
    found = np.empty(len(row_ptr) - 1, np.int32)
    if can_compile():
        on_all_cores(_add_positions, len(found), row_ptr, position, found)
    else:
        position = position[: len(found)]
        np.add(row_ptr[:-1], position, out=found)
        found[position == NO_EDGE] = NO_EDGE
    return found, others


@functools.partial(jax.jit, static_argnums=3)
def _positions(row_ptr: jax.Array, edge: jax.Array, others: Any, kind: Any) -> Any:
    position = jnp.where(edge == NO_EDGE, NO_EDGE, edge - row_ptr[:-1]).astype(kind)
    return at_host((position, others))


@compiled
def _add_positions(row_ptr, position, found, begin, end):
    for vertex in range(max(begin, 0), end):
        at = position[vertex]
        found[vertex] = at if at < 0 else row_ptr[vertex] + at


def is_prepared(arena: Arena, spread: Spread | None = None) -> bool:
    """Whether `prepare` has put a concrete arena where it is worked on."""
    return is_kept(arena, _key(spread))


def _key(spread: Spread | None) -> tuple:
    return "layout", spread or jax.config.jax_default_device  # pyright: ignore


def _put(arena: Arena) -> Game:
    if arena.shape[1] < _slices.SLICE_FROM:
        game = arena.pad(*_common(arena))
    elif accelerated():
        game = slice_rows_there(arena)
    else:
        game = slice_rows(arena)
    # Tied to its device, as are the results of calls that write to the host: JAX
    # would compile once for states that are tied and once for those that are not.
    return jax.device_put(game, default_device())


def _common(arena: Arena) -> tuple[int, int]:
    """Vertices and edges that a small arena is padded to: of few sizes.

    So few programs are compiled for many small games.
    """
    old_vertices, old_edges = arena.shape
    vertices = max(bucket(old_vertices + 1), LEAST_VERTICES)
    edges = bucket(old_edges + vertices - old_vertices)
    return vertices, max(edges, LEAST_EDGES)


def narrowest(arena: Arena) -> tuple[Any, Any]:
    """The narrowest types of priorities; kept with the arena.

    Returns:
        The signed types that hold those of vertices, and of edges, and one more; None
        where there are none.
    """
    given = arena.priority, arena.edge_priority
    return kept(arena, "narrowest", lambda: tuple(map(_narrowest, given)))


def _narrowest(priority: Any) -> Any:
    if priority is None or priority.dtype == bool:
        return None if priority is None else priority.dtype
    if isinstance(priority, np.ndarray) and len(priority):

        def fits(kind: Any) -> bool:
            return within(priority, 0, np.iinfo(kind).max - 1)
    else:
        top = int(priority.max(initial=0))

        def fits(kind: Any) -> bool:
            return top < np.iinfo(kind).max

    return next((kind for kind in (np.int8, np.int16) if fits(kind)), np.int32)


def _narrow(priority: Any, kind: Any) -> Any:
    """The same priorities in a narrower type."""
    if priority is None or priority.dtype == kind:
        return priority
    plain = isinstance(priority, np.ndarray) and priority.flags.c_contiguous
    if not (plain and priority.dtype == np.int32 and pays(len(priority))):
        return freeze(priority.astype(kind))
    found = np.empty(len(priority), kind)
    on_all_cores(_copy, len(priority), priority, found)
    return freeze(found)


@compiled
def _copy(values, found, begin, end):
    for i in range(max(begin, 0), end):
        found[i] = values[i]
