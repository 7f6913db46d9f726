"""Games that are spread over the devices of a mesh.

Every device holds a share of the rows of each slice, of what lies on their edges, and
of what a solver knows of their vertices. Solvers need not know of it: what they compute
is dealt out by XLA, and only what is read at the targets of edges is sent to all.
"""

import contextlib
import contextvars
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena, eager, is_traced
from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import SlicedArena, num_slots
from jaxgames.ops._links import EdgeList, Links, PairLinks, SlicedLinks
from jaxgames.ops._places import in_shares, programs_for, whole


class Spread(NamedTuple):
    """Devices, and how many shares an arena is cut into: a multiple of their number.

    Slots are numbered share by share, so that what a solver works on is the same for
    any number of devices, and one can go on where others stopped.
    """

    mesh: jax.sharding.Mesh
    shares: int


_spread: contextvars.ContextVar[Spread | None] = contextvars.ContextVar(
    "spread", default=None
)


@contextlib.contextmanager
def spread_over(mesh: jax.sharding.Mesh, shares: int) -> Iterator[None]:
    """Arenas that are laid out meanwhile are spread over a mesh of one axis."""
    token = _spread.set(Spread(mesh, shares))
    try:
        yield
    finally:
        _spread.reset(token)


def current_spread() -> Spread | None:
    """What arenas are spread over, or None."""
    return _spread.get()


def on_own_devices() -> contextlib.AbstractContextManager[None]:
    """Spreads arenas over this process' devices alone, of those of several.

    For what each process solves by itself: it need not wait for the others.

    Raises:
        ValueError: this process has none of them.
    """
    spread = current_spread()
    if spread is None:
        return contextlib.nullcontext()
    devices = spread.mesh.devices.flatten().tolist()
    own = [each for each in devices if each.process_index == jax.process_index()]
    if len(own) == len(devices):
        return contextlib.nullcontext()
    if not own:
        raise ValueError(
            "each process solves its own games on its own devices, and this one has "
            f"none of the mesh: {devices}"
        )
    shares = spread.shares // len(devices) * len(own)
    return spread_over(
        jax.sharding.Mesh(np.asarray(own), spread.mesh.axis_names), shares
    )


def at_once() -> contextlib.AbstractContextManager[None]:
    """Computes what is concrete now, also while somebody's jit is traced.

    Not so over a mesh: a large arena is nobody's constant.

    Raises:
        ValueError: somebody's jit is traced, and arenas are spread.
    """
    if current_spread() is None:
        return eager()
    if is_traced(jnp.zeros(())):
        raise ValueError(
            "a concrete game cannot be spread over several devices while jax.jit "
            "traces a function: solve it outside of that, or leave parallel.over"
        )
    return contextlib.nullcontext()


def refuse_spread(what: str, instead: str) -> None:
    """Raises ValueError where arenas are spread, for what runs on one device only."""
    if current_spread() is not None:
        raise ValueError(
            f"{what} cannot be spread over several devices: {instead}, or leave "
            "parallel.over"
        )


# ---- placing -------------------------------------------------------------------------


def spread_out(found: Any, spread: Spread) -> Any:
    """Puts a sliced arena, or links, made for as many shares, on the devices of a mesh.

    Each process puts the shares of its own devices there.
    """
    mesh = spread.mesh
    lengths = _lengths(found)

    def place(x) -> jax.Array:
        return placed(x, in_shares(mesh) if x.shape[0] in lengths else whole(mesh))

    known_to_all = {}
    if isinstance(found, SlicedArena):
        # By vertex, of which there may be as many as slots.
        own = {"slot": found.slot, "row_ptr": found.row_ptr}
        known_to_all = {name: placed(x, whole(mesh)) for name, x in own.items()}
    found = jax.tree.map(place, found)
    return dataclasses.replace(found, mesh=mesh, **known_to_all)


def placed(x: Any, sharding: jax.sharding.NamedSharding) -> jax.Array:
    """Puts an array on the devices of a mesh, each process on its own."""
    x = np.asarray(x)
    return jax.make_array_from_callback(x.shape, sharding, lambda part: x[part])


def on_host(values: Any) -> Any:
    """Values, a pytree, as numpy arrays; all processes that hold some must ask."""

    def gathered(x):
        if isinstance(x, jax.Array) and not x.is_fully_addressable:
            from jax.experimental import multihost_utils

            return multihost_utils.process_allgather(x, tiled=True)
        return x

    return jax.device_get(jax.tree.map(gathered, values))


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
    rows = jax.sharding.NamedSharding(
        spread.mesh, jax.sharding.PartitionSpec(spread.mesh.axis_names)
    )
    return jax.device_put(stack, rows)


def agreed(game: Any, number: int) -> int:
    """What the first process says, where a game is spread over those of several hosts.

    What depends on a clock or on a user would differ, and each would wait for the
    others in another place.
    """
    mesh = mesh_of(game)
    if mesh is None or not mesh.is_multi_process:
        return number
    from jax.experimental import multihost_utils

    return int(multihost_utils.broadcast_one_to_all(np.int32(number)))


# ---- programs ------------------------------------------------------------------------


def everywhere(function: Callable[..., Any], game: Any, *arguments: Any) -> Any:
    """Calls a pure function of a game, for all devices that hold shares of it.

    A game is an arena in any layout, links, or a pytree with such among its leaves. If
    none is spread over devices, the function is simply called.
    """
    with programs_for(mesh_of(game)):
        return function(game, *arguments)


def for_devices(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of pure functions on the way of a solve, below `jax.jit`.

    If there is a layout among the arguments that is spread, they are for its devices,
    and what they return lies there in shares.
    """

    @functools.wraps(function)
    def on_mesh(*arguments):
        with programs_for(mesh_of(arguments)):
            found = function(*arguments)
        return in_its_shares((arguments, found), found)

    return on_mesh


def in_its_shares(game: Any, values: Any) -> Any:
    """Puts values, a pytree, where the game has what they are about.

    Arrays over its vertices, rows or edges, traced or concrete, are dealt out as these
    are; all others are on every device.
    """
    mesh = mesh_of(game)
    if mesh is None:
        return values
    lengths = {n for part in _spread_parts(game) for n in _lengths(part)}

    def place(x):
        dealt_out = x.ndim and x.shape[0] in lengths
        return _put(x, in_shares(mesh) if dealt_out else whole(mesh))

    return jax.tree.map(place, values)


def on_all(game: Any, values: Any) -> Any:
    """Puts values, a pytree, on all devices that a game is on."""
    mesh = mesh_of(game)
    if mesh is None:
        return values
    return jax.tree.map(lambda x: _put(x, whole(mesh)), values)


def _put(x, sharding: jax.sharding.NamedSharding):
    if is_traced(x):
        return jax.lax.with_sharding_constraint(x, sharding)
    if isinstance(x, jax.Array):
        return x if x.sharding == sharding else jax.device_put(x, sharding)
    return placed(x, sharding)


def mesh_of(game: Any) -> jax.sharding.Mesh | None:
    """The mesh that a game is spread over, or None."""
    return next((part.mesh for part in _spread_parts(game)), None)


def layouts_of(game: Any) -> list[Any]:
    """The layouts of arenas and links in a game, a pytree."""
    parts = jax.tree.leaves(game, is_leaf=is_layout)
    return [part for part in parts if is_layout(part)]


def _spread_parts(game: Any) -> list[SlicedArena | Links]:
    """The layouts in a game that are spread."""
    return [x for x in layouts_of(game) if getattr(x, "mesh", None) is not None]


def is_layout(x: Any) -> bool:
    """Whether something is an arena in any layout, or links."""
    return isinstance(x, Arena | SlicedArena | SlicedLinks | PairLinks | EdgeList)


def _lengths(part: SlicedArena | Links) -> set[int]:
    """First axes that are dealt out: those of shares, of slots, of rows."""
    if isinstance(part, SlicedArena):
        sizes = {num_slots(part)}
    else:
        sizes = {part.num_rows, part.num_targets}
    if isinstance(part, PairLinks):
        shares = part.mesh.size if part.mesh else 1
        sizes.add(len(part.tail))
    else:
        shares = part.blocks[0].shape[0] if part.blocks else 1
        sizes.add(shares)
    return {n for n in sizes if n and n % shares == 0}
