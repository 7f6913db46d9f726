"""An arena whose rows are spread over the devices of a mesh.

Every device holds a share of the rows of each slice, and all values over vertices. A
reduction over edges is done by each for its own rows and gathered by all: a collective
a sweep, of one value a vertex. What is computed from values over vertices is computed
by all alike, so that solvers need not know of it.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgames.arena import Arena
from jaxgames.ops._layouts import ShardedArena, SlicedArena, slice_rows


class Spread(NamedTuple):
    """Devices, and how many shares an arena is cut into: a multiple of their number.

    Slots are numbered share by share, so that what a solver works on is the same for
    any number of devices, and one can go on where others stopped.
    """

    mesh: Mesh
    shares: int


_spread: contextvars.ContextVar[Spread | None] = contextvars.ContextVar(
    "spread", default=None
)


@contextlib.contextmanager
def spread_over(mesh: Mesh, shares: int) -> Iterator[None]:
    """Arenas that are laid out meanwhile are spread over a mesh of one axis."""
    token = _spread.set(Spread(mesh, shares))
    try:
        yield
    finally:
        _spread.reset(token)


def current_spread() -> Spread | None:
    """What arenas are spread over, or None."""
    return _spread.get()


def at_once() -> contextlib.AbstractContextManager[None]:
    """Computes what is concrete now, also while somebody's jit is traced.

    Not so over a mesh: the axes of `jax.shard_map` are unknown in such a context (JAX
    0.10), and a large arena is nobody's constant.
    """
    if current_spread() is None:
        return jax.ensure_compile_time_eval()
    return contextlib.nullcontext()


def shard_rows(arena: Arena, spread: Spread) -> ShardedArena:
    """Spreads the rows of a concrete arena over the devices of a mesh (host only)."""
    mesh = spread.mesh
    whole = slice_rows(arena, spread.shares)

    def place(x, spec: PartitionSpec) -> jax.Array:
        x = np.asarray(x)
        sharding = NamedSharding(mesh, spec)
        return jax.make_array_from_callback(x.shape, sharding, lambda part: x[part])

    return ShardedArena(jax.tree.map(place, whole, _specs(whole, mesh)), mesh)


def dealt(stack: Any) -> Any:
    """A stack of games, some for each device that arenas are spread over now, if any.

    Games do not read one another's values, so that JAX can leave each to its device.

    Raises:
        ValueError: the games cannot be dealt out evenly.
    """
    spread = current_spread()
    if spread is None:
        return stack
    games = jax.tree.leaves(stack)[0].shape[0]
    if games % spread.mesh.size:
        raise ValueError(
            f"a stack for {spread.mesh.size} devices must have a multiple of so many "
            f"games, got {games}"
        )
    rows = NamedSharding(spread.mesh, PartitionSpec(spread.mesh.axis_names))
    return jax.device_put(stack, rows)


def on_all(game: Any, values: Any) -> Any:
    """Puts values, a pytree, on all devices that a game is on."""
    mesh = _mesh_of(game)
    if mesh is None:
        return values
    whole = NamedSharding(mesh, PartitionSpec())
    return jax.device_put(jax.device_get(values), whole)


def agreed(game: Any, number: int) -> int:
    """What the first process says, where a game is spread over those of several hosts.

    What depends on a clock or on a user would differ, and each would wait for the
    others in another place.
    """
    if _mesh_of(game) is None or jax.process_count() == 1:
        return number
    return int(multihost_utils.broadcast_one_to_all(np.int32(number)))


def everywhere(function: Callable[..., Any], game: Any, *arguments: Any) -> Any:
    """Calls a pure function of a game, on all devices that hold shares of it.

    Args:
        function: its first argument is the game; what it computes is the same on every
            device.
        game: an arena in any layout, or a pytree with one among its leaves. If that is
            not spread over devices, the function is simply called.
        *arguments: more arguments of the function.
    """
    mesh = _mesh_of(game)
    if mesh is None:
        return function(game, *arguments)
    leaves, tree = jax.tree.flatten(game, is_leaf=_is_sharded)
    rest = PartitionSpec()
    specs = [_specs(x.whole, mesh) if _is_sharded(x) else rest for x in leaves]

    def on_one(leaves, *arguments):
        own = [_own(x, mesh) if isinstance(x, SlicedArena) else x for x in leaves]
        return function(jax.tree.unflatten(tree, own), *arguments)

    return jax.shard_map(
        on_one,
        mesh=mesh,
        in_specs=(specs, *[rest] * len(arguments)),
        out_specs=rest,
        check_vma=False,  # constants of a loop's carry vary over no axis
    )([x.whole if _is_sharded(x) else x for x in leaves], *arguments)


def _is_sharded(x: Any) -> bool:
    return isinstance(x, ShardedArena)


def _mesh_of(game: Any) -> Mesh | None:
    """The mesh that a game is spread over, or None."""
    leaves = jax.tree.leaves(game, is_leaf=_is_sharded)
    return next((x.mesh for x in leaves if _is_sharded(x)), None)


_ON_EDGES = ("blocks", "edge_priority", "weight")


def _own(whole: SlicedArena, mesh: Mesh) -> SlicedArena:
    """What one device sees: the slices of its shares, one share after the other."""
    (axis,) = mesh.axis_names

    def in_turn(slices):
        if slices is None:
            return None
        return tuple(piece for share in zip(*slices, strict=True) for piece in share)

    own = {name: in_turn(getattr(whole, name)) for name in _ON_EDGES}
    return dataclasses.replace(whole, axis=axis, **own)


def _specs(whole: SlicedArena, mesh: Mesh):
    """How each array of a sliced arena lies on a mesh: of the arena's own shape."""
    (axis,) = mesh.axis_names
    everything = jax.tree.map(lambda _: PartitionSpec(), whole)
    shares = {
        name: jax.tree.map(lambda _: PartitionSpec(axis), getattr(whole, name))
        for name in _ON_EDGES
    }
    return dataclasses.replace(everything, **shares)
