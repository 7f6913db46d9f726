"""What a solve takes of a device's memory, known before it starts.

A device holds the arena as it is laid out, a solver's state before and after a chunk of
rounds, and about as much again while a round is computed. JAX tells the shapes of a
state without computing it, so that nobody has to keep a list of them.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import limits, ops
from jaxgames.arena import Arena, bucket
from jaxgames.later import backend, imported, jax
from jaxgames.limits import TooLargeError as TooLargeError
from jaxgames.solver import Solver
from jaxgames.tuning.base import UNCHECKED

STATES = 4
"""As many states are there at a time: before some rounds and after them, and what a
round computes between."""

CELL = 4
"""Bytes of an edge that a round needs for what it finds at its target."""

EVERYWHERE = 16
"""Bytes of a vertex that each of several devices holds: what is read at the targets of
edges, and where the vertices are."""

SENT = 64
"""Bytes of a vertex and of an edge that are sent to be checked, with what is found."""

_MEMINFO = "/proc/meminfo"


@dataclasses.dataclass(frozen=True)
class Needs:
    """Bytes that a solve takes.

    Attributes:
        layout: for what it works on.
        state: for what the solver computes.
        vertices: how many there are of them.
    """

    layout: int
    state: int
    vertices: int

    def on(self, devices: int) -> int:
        """Bytes on each of some devices."""
        total = self.layout + self.state
        if devices == 1:
            return total
        return total // devices + EVERYWHERE * self.vertices


def needs(solver: Solver, game: Any, *, layouts: int = 1) -> Needs:
    """What a solver takes for a game.

    Args:
        solver: the solver, fitted to the game.
        game: what it works on; shapes and types are enough, see `shape_of_arena` and
            `shape_of_links`.
        layouts: how often the layout is there, for those that cut it.

    Examples:
        >>> from jaxgames import parity
        >>> game = shape_of_arena(1_000_000, 3_000_000, priority=np.int8)
        >>> needs(parity.FPI(), game).on(1)
        54525960
    """
    leaves, tree = jax.tree.flatten(game)
    shapes = tuple(map(_shape, leaves))
    wide = bool(jax.config.jax_enable_x64)  # pyright: ignore
    return _needs(solver, shapes, tree, layouts, wide)


def _shape(x: Any) -> jax.ShapeDtypeStruct:
    """The shape of a leaf; itself if it is one."""
    if type(x) is jax.ShapeDtypeStruct:
        return x
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@functools.lru_cache(256)
def _needs(solver: Solver, shapes, tree, layouts: int, wide: bool) -> Needs:
    """The same from what can be compared: tracing takes longer than many a solve."""
    game = jax.tree.unflatten(tree, shapes)
    state = jax.eval_shape(solver.init, game)
    answer = jax.eval_shape(solver.answer, game, state)
    sizes = [x.shape[0] for x in shapes if len(x.shape) == 1]
    cells = max(map(ops.num_cells, ops.layouts_of(game)), default=0)
    return Needs(
        layouts * bytes_of(game) + CELL * cells,
        STATES * bytes_of(state) + bytes_of(answer),
        max(sizes, default=0),
    )


def bytes_of(values: Any) -> int:
    """Bytes of a pytree of arrays, or of their shapes."""
    return sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(values))


def check(
    solver: Solver,
    game: Callable[[], Any],
    vertices: int,
    edges: int,
    *,
    layouts: int = 1,
    resident: bool = False,
) -> None:
    """Sees to it that a solve fits into the memory that is free.

    Args:
        solver: the solver.
        game: a function of no arguments that gives the shapes of what it works on. It
            is not called where there is surely room.
        vertices: how many there are, for the message.
        edges: likewise.
        layouts: as for `needs`.
        resident: whether the layout is there already.

    Raises:
        TooLargeError: it does not, saying what it takes and what there is.
    """
    if vertices + edges > UNCHECKED or limits.memory_left() is not None:
        check_needs(
            f"solver={solver.name!r} on {vertices:,} vertices and {edges:,} edges",
            lambda: needs(solver, game(), layouts=layouts),
            resident=resident,
        )


def check_needs(
    what: str, found: Callable[[], Needs], *, resident: bool = False
) -> None:
    """Sees to it that what is to be done fits into the memory that is free.

    Args:
        what: what is to be done, for the message.
        found: says what it takes.
        resident: whether the layout is there already.

    Raises:
        TooLargeError: it does not fit.
    """
    spread = ops.current_spread()
    devices = 1 if spread is None else spread.mesh.size
    room = free(None if spread is None else spread.mesh.devices.flat)
    if room is None:
        return
    wanted = found()
    taken = wanted.on(devices) - (wanted.layout // devices if resident else 0)
    if taken > room:
        complain(what, taken, room, devices)


def has_room(vertices: int, edges: int) -> bool:
    """Whether a game or graph may be sent to the default device, to be checked there.

    That takes some numbers of each vertex and edge, at most `SENT` bytes. If there is
    no room, the host does it.
    """
    room = free()
    return room is None or SENT * (vertices + edges) <= room


def complain(what: str, taken: int, room: int, devices: int = 1) -> None:
    """Raises TooLargeError.

    Args:
        what: what is to be done.
        taken: bytes that it takes.
        room: bytes that are free.
        devices: on each of so many devices.
    """
    each = "" if devices == 1 else f" on each of {devices} devices"
    raise TooLargeError(
        f"{what} takes about {taken / 1e9:.3g} GB{each}, and {room / 1e9:.3g} GB are "
        "free: take a solver with a smaller state, more devices (jaxgames.parallel), "
        'or solver="host" where there is one'
    )


def free(devices: Any = None) -> int | None:
    """Bytes that are free on a device: the least of several; None if nobody knows.

    Args:
        devices: some devices; None for the default one.
    """
    if devices is None and not imported() and backend() == "cpu":
        return free_on_host()  # JAX need not come for that
    if devices is None:
        devices = [ops.default_device()]
    own = [x for x in devices if x.process_index == jax.process_index()]
    found = [total_and_free(device) for device in own]
    return _least(found, sum(device.platform == "cpu" for device in own))


def free_on_host() -> int | None:
    """Bytes of the host's memory that are free; None if nobody knows."""
    return _least([total_and_free(None)], 1)


def _least(found: list[tuple[int, int] | None], on_host: int) -> int | None:
    """The least of what is free, where some devices share the host's memory."""
    rooms = [sizes[1] // max(on_host, 1) for sizes in found if sizes is not None]
    left = limits.memory_left()
    return min(rooms if left is None else [*rooms, max(left, 0)], default=None)


def total_and_free(device: Any) -> tuple[int, int] | None:
    """Bytes that there are, and how many of these are free; None if nobody knows.

    Args:
        device: a device, or None for the host.
    """
    stats = {} if device is None else device.memory_stats() or {}
    if "bytes_limit" in stats:
        total = stats["bytes_limit"]
        return total, total - stats.get("bytes_in_use", 0)
    if device is not None and device.platform != "cpu":
        return None
    try:
        with open(_MEMINFO) as lines:
            known = dict(line.split(":") for line in lines)
        total, free = (
            int(known[name].split()[0]) << 10 for name in ("MemTotal", "MemAvailable")
        )
        return total, free
    except (OSError, KeyError, ValueError):  # not on this kind of machine
        return None


# ---- shapes ----------------------------------------------------------------------
#
# Large layouts are filled up to a few sizes. So are their shapes: what another one of
# such a size takes need not be found out once more, which takes tracing.


def shape_of(arena: Arena) -> "ops.SlicedArena":
    """What a concrete arena will look like when it is laid out."""
    of_vertices, of_edges = ops.narrowest(arena)
    return shape_of_arena(
        *arena.shape,
        priority=of_vertices,
        edge_priority=of_edges,
        weight=_kind(arena.weight),
        accepting=_kind(arena.accepting),
    )


def shape_of_arena(
    vertices: int,
    edges: int,
    *,
    priority: Any = None,
    edge_priority: Any = None,
    weight: Any = None,
    accepting: Any = None,
) -> "ops.SlicedArena":
    """The shapes of an arena in slices.

    Args:
        vertices: how many.
        edges: how many.
        priority: type of the priorities of vertices, or None; likewise the others.
        edge_priority: of those of edges.
        weight: of weights.
        accepting: bool, if there are accepting vertices.
    """
    vertices, edges = bucket(vertices), bucket(edges)

    def on_vertices(kind):
        return None if kind is None else _row(vertices, kind)

    def on_edges(kind):
        return None if kind is None else _blocks(vertices, edges, kind)

    return ops.SlicedArena(
        blocks=_blocks(vertices, edges, np.int32),
        slot=on_vertices(np.int32),
        row_ptr=_row(vertices + 1, np.int32),
        real=on_vertices(bool),
        owner=on_vertices(bool),
        priority=on_vertices(priority),
        accepting=on_vertices(accepting),
        edge_priority=on_edges(edge_priority),
        weight=on_edges(weight),
    )


def shape_of_links(rows: int, links: int, targets: int) -> "ops.SlicedLinks":
    """The shapes of links in slices.

    Args:
        rows: how many.
        links: how many.
        targets: things to point at.
    """
    return _shape_of_links(bucket(rows), bucket(links), bucket(targets))


@functools.lru_cache(256)
def _shape_of_links(rows: int, links: int, targets: int) -> "ops.SlicedLinks":
    """The same of sizes that are filled up: JAX takes long to make a shape."""
    places = jax.ShapeDtypeStruct((rows,), np.int32)
    return ops.SlicedLinks(
        _blocks(rows, links, np.int32), places, places, rows, targets
    )


def mask(size: int) -> jax.ShapeDtypeStruct:
    """The shape of booleans."""
    return _row(bucket(size), np.bool_)


def numbers(size: int) -> jax.ShapeDtypeStruct:
    """The shape of integers."""
    return _row(bucket(size), np.int32)


@functools.lru_cache(256)
def _row(size: int, kind: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((size,), kind)


@functools.lru_cache(256)
def _blocks(rows: int, cells: int, kind: Any) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Rows of two neighbouring degrees that have so many cells."""
    width, more = divmod(cells, max(rows, 1))
    sizes = (width, rows - more), (width + 1, more)
    return tuple(jax.ShapeDtypeStruct(size, kind) for size in sizes)


def _kind(x: Any) -> Any:
    return None if x is None else x.dtype
