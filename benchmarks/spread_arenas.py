"""Large random arenas for the suite `devices`, made where they lie."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from jaxgames import ops
from jaxgames.energy._fvi import Task
from jaxgames.graph import Directions

SHARES = 8
"""Shares of every arena, so that it is the same on one device and on eight."""

DEGREES = (2, 3, 4)
"""Out-degrees of a game, each of a third of the vertices."""

GRAIN = len(DEGREES) * SHARES * 32
"""Vertices come in multiples of so many: each share has a warp of each degree, as
`parallel.over` lays arenas out."""

PRIORITIES, WEIGHT = 6, 20

BITS, PARALLEL_EDGES, KEPT = 25, 4, 0.8
"""Of a graph: bits of a vertex, edges that leave it, and the part of them kept."""


def parity_game(mesh: Mesh, vertices: int) -> ops.SlicedArena:
    """A random parity game, of a multiple of `GRAIN` vertices, in shares."""
    return _arena(mesh, vertices, False, _row_ptr(vertices))


def energy_game(mesh: Mesh, vertices: int) -> Task:
    """A random energy game, in shares, as fast value iteration reads it."""
    game = _arena(mesh, vertices, True, _row_ptr(vertices))
    lost = ops.in_its_shares(game, jnp.zeros(vertices, bool))
    return Task(game, jnp.int32(14), lost)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _arena(mesh: Mesh, vertices: int, weights: bool, row_ptr) -> ops.SlicedArena:
    keys = iter(jax.random.split(jax.random.key(vertices), 2 + 2 * len(DEGREES)))
    size = vertices // len(DEGREES) // SHARES

    def on_edges(least: int, beyond: int) -> tuple[jax.Array, ...]:
        return tuple(
            jax.random.randint(next(keys), (SHARES, degree, size), least, beyond)
            for degree in DEGREES
        )

    game = ops.SlicedArena(
        blocks=on_edges(0, vertices),
        slot=None,
        row_ptr=row_ptr,
        real=jnp.ones(vertices, bool),
        owner=jax.random.bernoulli(next(keys), 0.5, (vertices,)),
        priority=jax.random.randint(next(keys), (vertices,), 0, PRIORITIES, jnp.int8),
        weight=on_edges(-WEIGHT, WEIGHT + 1) if weights else None,
        mesh=mesh,
    )
    return ops.in_its_shares(game, game)


def _row_ptr(vertices: int) -> np.ndarray:
    size = vertices // len(DEGREES) // SHARES
    degrees = np.tile(np.repeat(np.array(DEGREES, np.int32), size), SHARES)
    return np.append(np.int32(0), np.cumsum(degrees, dtype=np.int32))


@functools.partial(jax.jit, static_argnums=(0, 1))
def directions(mesh: Mesh, bits: int) -> Directions:
    """A random graph in shares: of some permutations, whose edges are there or not."""
    size = 1 << bits
    own = jnp.arange(size, dtype=jnp.uint32)

    def links(end: Callable[[int, jax.Array], jax.Array], backward: bool):
        columns = []
        for edge in range(PARALLEL_EDGES):
            other = end(edge, own)
            tail = other if backward else own
            kept = mixed(tail, 31 * edge + 7) < np.uint32(KEPT * 2**32)
            columns.append(jnp.where(kept, other.astype(jnp.int32), size))
        block = jnp.stack(columns).reshape(PARALLEL_EDGES, SHARES, -1)
        return ops.SlicedLinks(
            (jnp.moveaxis(block, 1, 0),), None, None, size, size, mesh
        )

    def ahead(edge: int, x: jax.Array) -> jax.Array:
        for factor in _factors(edge):
            x = x * np.uint32(factor) & np.uint32(size - 1)
            x = x ^ (x >> (bits + 1) // 2)
        return x

    def back(edge: int, x: jax.Array) -> jax.Array:
        for factor in reversed(_factors(edge)):
            x = x ^ (x >> (bits + 1) // 2)
            x = x * np.uint32(pow(factor, -1, size)) & np.uint32(size - 1)
        return x

    found = Directions(links(ahead, False), links(back, True))
    return ops.in_its_shares(found, found)


def _factors(edge: int) -> list[int]:
    return [(0x9E3779B1 * (3 * edge + k + 1) | 1) % 2**32 for k in range(3)]


def mixed(x: jax.Array, salt: int) -> jax.Array:
    """Numbers that look random, of each number another: uint32."""
    x = (x + np.uint32(salt)) * np.uint32(0x9E3779B1)
    x = (x ^ (x >> 15)) * np.uint32(0x85EBCA6B)
    return x ^ (x >> 13)
