"""Choosing a layout for a concrete arena, and putting it where it is worked on."""

import dataclasses

import jax
import numpy as np

from jaxgames.arena import Arena
from jaxgames.kept import is_kept, kept
from jaxgames.ops import _slices
from jaxgames.ops._layouts import Game
from jaxgames.ops._shards import Spread, shard_rows
from jaxgames.ops._sliced_device import accelerated, slice_rows_there
from jaxgames.ops._sliced_host import slice_rows
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
        narrow = dataclasses.replace(
            arena,
            priority=_narrow(arena.priority),
            edge_priority=_narrow(arena.edge_priority),
        )
        return _put(narrow) if spread is None else shard_rows(narrow, spread)

    return kept(arena, _key(spread), lay_out)


def is_prepared(arena: Arena, spread: Spread | None = None) -> bool:
    """Whether `prepare` has put a concrete arena where it is worked on."""
    return is_kept(arena, _key(spread))


def _key(spread: Spread | None) -> tuple:
    return "layout", spread or jax.config.jax_default_device  # pyright: ignore


def _put(arena: Arena) -> Game:
    if arena.shape[1] < _slices.SLICE_FROM:
        game = arena.pad()
    elif accelerated():
        game = slice_rows_there(arena)
    else:
        game = slice_rows(arena)
    # Tied to its device, as are the results of calls that write to the host: JAX
    # would compile once for states that are tied and once for those that are not.
    return jax.device_put(game, jax.device_put(np.int8(0)).device)


def _narrow(x):
    """The same integers in the narrowest signed type that holds them."""
    if x is None or x.dtype == bool:
        return x
    top = int(x.max(initial=0))
    kind = np.int8 if top < 127 else np.int16 if top < 32767 else np.int32
    return freeze(x.astype(kind))
