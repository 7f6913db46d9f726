"""The graphs that are measured, by name and group."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import Arena, graph, ops
from jaxgames.graph import Directions

WINDOW = 10_000
"""How far from a vertex local targets lie, at most."""

SLICE = 2
"""Rows of a graph that is made on the device are sorted by degree into slices; their
widths are multiples of as many columns.
"""

WARP = 32
"""The rows of a slice are filled up to a multiple of as many, as `ops.links` does."""


class Graph(NamedTuple):
    """A graph, not made yet.

    Attributes:
        name: the same for all solvers and peers.
        group: `thin`, `random` or `device`.
        make: makes an arena, or the links of a graph that never leaves the device.
    """

    name: str
    group: str
    make: Callable[[], Arena | Directions]


# ---- long and thin ---------------------------------------------------------------


def path(size: int) -> Arena:
    """From each vertex to the next."""
    return _from_ends(size, np.arange(size - 1), np.arange(1, size))


def cycle(size: int) -> Arena:
    """From each vertex to the next, and from the last to the first."""
    vertex = np.arange(size)
    return _from_ends(size, vertex, np.roll(vertex, -1))


def walk(size: int) -> Arena:
    """From each vertex to the next and back."""
    low, high = np.arange(size - 1), np.arange(1, size)
    return _from_ends(size, np.append(low, high), np.append(high, low))


def grid(side: int) -> Arena:
    """A square whose opposite sides are one: each vertex leads right and down."""
    vertex = np.arange(side * side).reshape(side, side)
    right, down = np.roll(vertex, -1, 1), np.roll(vertex, -1, 0)
    ends = np.concatenate([right.ravel(), down.ravel()])
    return _from_ends(side * side, np.tile(vertex.ravel(), 2), ends)


# ---- random ----------------------------------------------------------------------


def random(seed: int, size: int, degree: float, *, local: bool = False) -> Arena:
    """Edges from any vertex to any, or to any near by.

    Args:
        seed: of the generator.
        size: vertices.
        degree: edges for each vertex, on average.
        local: whether edges lead at most `WINDOW` vertices to either side; the first
            vertex comes after the last.
    """
    rng = np.random.default_rng(seed)
    count = round(degree * size)
    degrees = np.bincount(rng.integers(0, size, count), minlength=size)
    if not local:
        targets = rng.integers(0, size, count, dtype=np.int32)
    else:
        reach = min(WINDOW, size // 4)
        targets = rng.integers(-reach, reach, count, np.int32, endpoint=True)
        targets += np.repeat(np.arange(size, dtype=np.int32), degrees)
        targets %= size
    offsets = np.append(0, np.cumsum(degrees)).astype(np.int32)
    return graph.as_arena((offsets, targets))


def _from_ends(size: int, tail: np.ndarray, head: np.ndarray) -> Arena:
    order = np.argsort(tail, kind="stable")
    degrees = np.bincount(tail, minlength=size)
    offsets = np.append(0, np.cumsum(degrees)).astype(np.int32)
    return graph.as_arena((offsets, head[order].astype(np.int32)))


# ---- made on the device ----------------------------------------------------------


def on_device(seed: int, size: int, degree: int, *, local: bool = False) -> Directions:
    """A random graph that is made on the device and stays there.

    All vertices have the same number of successors. Predecessors are had by sorting the
    edges by their ends; rows of like length become slices, as `ops.links` makes them of
    concrete rows.

    Args:
        seed: of the generator.
        size: vertices.
        degree: successors of each vertex.
        local: as for `random`.
    """
    targets = _targets(jax.random.key(seed), size, degree, local)
    offsets, sources = _sorted_by_target(targets)
    width = -(-jnp.diff(offsets) // SLICE) * SLICE
    order, counts = jnp.argsort(width, stable=True), np.asarray(jnp.bincount(width))
    blocks, slices, first = [], [], 0
    for each in np.flatnonzero(counts):
        part = order[first : first + counts[each]]
        # There is no row of this number: it has no links.
        part = jnp.pad(part, (0, -len(part) % WARP), constant_values=size)
        slices.append(part.astype(jnp.int32))
        blocks.append(_block(offsets, sources, part, int(each), size))
        first += counts[each]
    row = jnp.concatenate(slices)
    number = jnp.arange(len(row), dtype=jnp.int32)
    slot = jnp.zeros(size, jnp.int32).at[row].set(number, mode="drop")
    row = jnp.minimum(row, size - 1)
    into = ops.SlicedLinks(tuple(blocks), slot, row, size, size)
    return jax.block_until_ready(Directions(ops.regular(targets), into))


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _targets(key, size: int, degree: int, local: bool):
    """int32 `[D, V]`: the successors of each vertex."""
    if not local:
        return jax.random.randint(key, (degree, size), 0, size, jnp.int32)
    reach = min(WINDOW, size // 4)
    steps = jax.random.randint(key, (degree, size), -reach, reach + 1, jnp.int32)
    return (jnp.arange(size, dtype=jnp.int32) + steps) % size


@jax.jit
def _sorted_by_target(targets):
    """Where the predecessors of each vertex begin, and who they are."""
    degree, size = targets.shape
    sources = jnp.tile(jnp.arange(size, dtype=jnp.int32), degree)
    counts = jnp.bincount(targets.ravel(), length=size)
    offsets = jnp.append(0, jnp.cumsum(counts)).astype(jnp.int32)
    return offsets, jax.lax.sort((targets.ravel(), sources), num_keys=1)[1]


@functools.partial(jax.jit, static_argnums=(3, 4))
def _block(offsets, sources, rows, width: int, nothing: int):
    """int32 `[D, N]`: what some rows hold, and where they hold nothing that number."""
    begin, end = (offsets.at[row].get(mode="clip") for row in (rows, rows + 1))
    place = begin + jnp.arange(width, dtype=jnp.int32)[:, None]
    return jnp.where(place < end, sources.at[place].get(mode="clip"), nothing)


def arena_of(made: Directions) -> Arena:
    """The same graph on the host, from one whose vertices have all one out-degree."""
    (targets,) = ops.link_targets(made.out)
    degree, size = targets.shape
    offsets = np.arange(size + 1, dtype=np.int32) * np.int32(degree)
    return graph.as_arena((offsets, np.asarray(targets).T.reshape(-1)))


# ---- all of them -----------------------------------------------------------------


def _random(power: int, degree: float, local: bool) -> Graph:
    name = f"{'local' if local else 'random'} 1e{power} d={degree:g}"
    return Graph(name, "random", lambda: random(power, 10**power, degree, local=local))


def _on_device(millions: int, degree: int, local: bool) -> Graph:
    name = f"{'local' if local else 'random'} {millions}e6 d={degree} on device"
    return Graph(
        name, "device", lambda: on_device(1, millions * 10**6, degree, local=local)
    )


GRAPHS: tuple[Graph, ...] = (
    Graph("path 1e6", "thin", lambda: path(10**6)),
    Graph("cycle 1e6", "thin", lambda: cycle(10**6)),
    Graph("walk 1e6", "thin", lambda: walk(10**6)),
    Graph("grid 1000x1000", "thin", lambda: grid(1000)),
    *(
        _random(power, degree, local)
        for power in (6, 7)
        for degree in (1.5, 3, 6)
        for local in (False, True)
    ),
    *(_on_device(73, 6, local) for local in (False, True)),
)
"""Graphs that are made here; those of the models come from `models.py`."""

SMALL: tuple[Graph, ...] = (
    Graph("tiny path", "thin", lambda: path(50)),
    Graph("tiny walk", "thin", lambda: walk(50)),
    Graph("tiny grid", "thin", lambda: grid(7)),
    Graph("tiny cycle", "thin", lambda: cycle(40)),
    Graph("tiny random", "random", lambda: random(1, 60, 1.5)),
    Graph("tiny local", "random", lambda: random(2, 60, 3, local=True)),
    Graph("tiny on device", "device", lambda: on_device(1, 90, 3)),
)
"""For a quick look."""
