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

SHARE = 1 << 9
"""The rows of a slice are filled up to a multiple of one in so many of all, so that
graphs of one size and degree have slices of the same sizes: one compilation does.
"""

WARP = 32
"""As many rows at least are filled up to, as `ops.links` does."""


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


def mesh(seed: int, side: int, backward: float = 0.1) -> Arena:
    """A cube of vertices, each linked to its neighbours; most links lead one way.

    As in sweeps over meshes: from a vertex to the next in each of three directions, but
    for a share of the links, drawn by lot, that lead the other way.
    """
    vertex = np.arange(side**3).reshape(side, side, side)
    low, high = (
        np.concatenate(
            [vertex.take(where, axis).ravel() for axis in range(vertex.ndim)]
        )
        for where in (np.arange(side - 1), np.arange(1, side))
    )
    turned = np.random.default_rng(seed).random(len(low)) < backward
    return _from_ends(side**3, np.where(turned, high, low), np.where(turned, low, high))


def roads(seed: int, side: int, kept: float = 0.7, one_way: float = 0.1) -> Arena:
    """A square grid of streets: some are missing, and some lead one way."""
    rng = np.random.default_rng(seed)
    vertex = np.arange(side * side).reshape(side, side)
    low = np.append(vertex[:, :-1].ravel(), vertex[:-1].ravel())
    high = np.append(vertex[:, 1:].ravel(), vertex[1:].ravel())
    there = rng.random(len(low)) < kept
    low, high = low[there], high[there]
    way = rng.random(len(low))
    forth, back = way >= one_way / 2, way < 1 - one_way / 2
    return _from_ends(
        side * side,
        np.append(low[forth], high[back]),
        np.append(high[forth], low[back]),
    )


# ---- random ----------------------------------------------------------------------


def rmat(seed: int, scale: int, degree: int = 16) -> Arena:
    """Skewed degrees, as those of social networks: a recursive matrix.

    Chakrabarti, Zhan and Faloutsos, SDM 2004, doi:10.1137/1.9781611972740.43, with the
    shares of the Graph500 benchmark: each edge goes down `scale` times to one of four
    quarters of the matrix. Edges that are drawn twice are one.

    Args:
        seed: of the generator.
        scale: there are `2**scale` vertices.
        degree: edges drawn for each vertex.
    """
    rng = np.random.default_rng(seed)
    count = degree << scale
    edges = np.zeros(count, np.int64)
    for bit in range(scale):
        share = rng.random(count, np.float32)
        lower = share >= 0.76  # quarters of 0.57, 0.19, 0.19 and 0.05
        right = ((share >= 0.57) & ~lower) | (share >= 0.95)
        edges |= (lower.astype(np.int64) << scale | right) << bit
    edges = np.unique(edges)
    return _from_ends(1 << scale, edges >> scale, edges & ((1 << scale) - 1))


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
    # In order, as the matrix is that scipy is given: a depth-first search of a local
    # graph takes longer in any other.
    edges = np.repeat(np.arange(size, dtype=np.int64) * size, degrees) + targets
    edges.sort()
    offsets = np.append(0, np.cumsum(degrees)).astype(np.int32)
    return graph.as_arena((offsets, (edges % size).astype(np.int32)))


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
    offsets, sources, order, counts = _sorted_by_target(targets)
    counts = np.asarray(counts)
    if counts.sum() < size:
        raise ValueError(f"a vertex has {MOST} predecessors or more")
    # The few rows that are wider than almost all others have one slice.
    some = max(WARP, size // SHARE)
    widths = [w for w in np.flatnonzero(counts).tolist() if counts[w:].sum() > some]
    if counts[widths[-1] + 1 :].any():
        widest = np.flatnonzero(counts)[-1]
        widths.append(-(-int(widest) // (4 * SLICE)) * 4 * SLICE)
    ends = np.cumsum(counts)[np.minimum(widths, MOST - 1)]
    numbers = np.diff(ends, prepend=0)
    rooms = -(-numbers // some) * some
    into = _sliced(
        offsets,
        sources,
        order,
        jnp.asarray(np.append(0, ends)),
        tuple(zip(widths, rooms.tolist(), strict=True)),
    )
    return jax.block_until_ready(Directions(ops.regular(targets), into))


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _targets(key, size: int, degree: int, local: bool):
    """int32 `[D, V]`: the successors of each vertex."""
    if not local:
        return jax.random.randint(key, (degree, size), 0, size, jnp.int32)
    reach = min(WINDOW, size // 4)
    steps = jax.random.randint(key, (degree, size), -reach, reach + 1, jnp.int32)
    return (jnp.arange(size, dtype=jnp.int32) + steps) % size


MOST = 1 << 8
"""A vertex has fewer predecessors than this."""


@jax.jit
def _sorted_by_target(targets):
    """Where the predecessors of each vertex begin, and who they are.

    Also the vertices by the widths of their rows, and how many have each.
    """
    degree, size = targets.shape
    sources = jnp.tile(jnp.arange(size, dtype=jnp.int32), degree)
    heads, sources = jax.lax.sort((targets.ravel(), sources), num_keys=1)
    every = jnp.arange(size + 1, dtype=jnp.int32)
    offsets = jnp.searchsorted(heads, every, method="scan_unrolled").astype(jnp.int32)
    width = -(-jnp.diff(offsets) // SLICE) * SLICE
    width, order = jax.lax.sort((width, every[:-1]), num_keys=1)
    bounds = jnp.searchsorted(width, jnp.arange(MOST + 1), method="scan_unrolled")
    return offsets, sources, order, jnp.diff(bounds)


@functools.partial(jax.jit, static_argnums=4)
def _sliced(offsets, sources, order, bounds, shapes) -> ops.SlicedLinks:
    """Rows as slices: of each the width, and how many rows there is room for."""
    size = len(offsets) - 1
    blocks, rows = [], []
    for k, (width, room) in enumerate(shapes):
        place = bounds[k] + jnp.arange(room, dtype=jnp.int32)
        row = order.at[place].get(mode="clip")
        # There is no row of this number: it has no links.
        row = jnp.where(place < bounds[k + 1], row, size)
        begin, end = (offsets.at[x].get(mode="clip") for x in (row, row + 1))
        place = begin + jnp.arange(width, dtype=jnp.int32)[:, None]
        source = sources.at[place].get(mode="clip")
        blocks.append(jnp.where(place < end, source, size))
        rows.append(row)
    row = jnp.concatenate(rows)
    number = jnp.arange(len(row), dtype=jnp.int32)
    slot = jnp.zeros(size, jnp.int32).at[row].set(number, mode="drop")
    return ops.SlicedLinks(tuple(blocks), slot, jnp.minimum(row, size - 1), size, size)


def shape_of(made: Directions) -> tuple[int, int]:
    """Vertices and edges, if all vertices have one out-degree."""
    (targets,) = ops.link_targets(made.out)
    return targets.shape[1], targets.size


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
