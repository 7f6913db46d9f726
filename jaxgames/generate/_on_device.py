"""Random games by key: pure functions for `jit` and `vmap`, of fixed sizes.

Each number is drawn from 32 random bits, scaled down: every value of a range of n has a
probability within 2^-32 of 1/n.
"""

import functools
from typing import NamedTuple, Unpack

from jaxgames import ops
from jaxgames.arena import MAX_PRIORITY, Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits, flag, share, usual_degree
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.tuning.ops import SORTED_BY_COMPARING as SHORT

MOST = 2**30
"""Weights are from minus this to this."""


@limited()
def random_game_by_key(
    key: jax.Array,
    num_vertices: int,
    *,
    num_priorities: int = 16,
    min_degree: int = 1,
    max_degree: int | None = None,
    owner_share: float = 0.5,
    self_loops: bool = True,
    parallel_edges: bool = False,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random game from a JAX key, made on the device.

    Every vertex draws its owner, its priority, its out-degree (each uniform in the
    range given) and a uniform set of that many successors, in ascending order: the
    distribution of [`random_game`][jaxgames.generate.random_game], but other games. The
    same key gives the same game on every device.

    Works inside `jax.jit` and `jax.vmap`: all arguments but the key are static. Where
    out-degrees differ the arena is padded, by one vertex, to
    `num_vertices * max_degree + 1` edges.

    Args:
        key: a key of `jax.random`.
        num_vertices: number of vertices, at least 1.
        num_priorities: priorities are drawn from 0 to `num_priorities - 1`.
        min_degree: least out-degree, at least 1.
        max_degree: largest out-degree; the same as `min_degree` for a steady one. None:
            4, or as many as there are possible successors if these are fewer, or
            `min_degree` if that is more.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        self_loops: whether a vertex may be its own successor.
        parallel_edges: whether a vertex may have the same successor twice (its
            successors are then drawn independently).
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range, or there are
            fewer possible successors than `max_degree`.

    Examples:
        >>> keys = jax.random.split(jax.random.key(0), 1000)
        >>> jax.jit(jax.vmap(lambda key: random_game_by_key(key, 50)))(keys)
        Arena(owner (1000, 51), priority)
    """
    if max_degree is None:
        candidates = integer("num_vertices", num_vertices, 1) - (not self_loops)
        max_degree = usual_degree(min_degree, None if parallel_edges else candidates)
    shape = _Shape.of(num_vertices, min_degree, max_degree, owner_share)
    top = integer("num_priorities", num_priorities, 1, MAX_PRIORITY + 1)
    loops, parallel = (
        flag("self_loops", self_loops),
        flag("parallel_edges", parallel_edges),
    )
    return _game(key, shape, top, loops, parallel)


# One program, where each operation by itself would be one.
@functools.partial(jax.jit, static_argnums=(1, 2, 3, 4))
def _game(key, shape: "_Shape", top: int, loops: bool, parallel: bool) -> Arena:
    draw = _Draw(key, shape)
    successors = draw.successors(loops, parallel)
    return draw.arena(successors, priority=draw.below(top).astype(jnp.int32))


@limited()
def random_energy_game_by_key(
    key: jax.Array,
    num_vertices: int,
    *,
    min_weight: int = -100,
    max_weight: int = 100,
    min_degree: int = 2,
    max_degree: int = 4,
    owner_share: float = 0.5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random energy game from a JAX key, made on the device.

    Every vertex draws its out-degree and its owner, every edge its target and its
    weight, each uniformly from its range, so that there may be self-loops and parallel
    edges: the distribution of
    [`random_energy_game`][jaxgames.generate.random_energy_game], but other games.

    Works inside `jax.jit` and `jax.vmap`, as
    [`random_game_by_key`][jaxgames.generate.random_game_by_key] does.

    Args:
        key: a key of `jax.random`.
        num_vertices: number of vertices, at least 1.
        min_weight: least weight, from minus 2^30.
        max_weight: largest weight, to 2^30.
        min_degree: least out-degree, at least 1.
        max_degree: largest out-degree.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> make = jax.jit(lambda key: random_energy_game_by_key(key, 5, min_degree=4))
        >>> make(jax.random.key(0))
        Arena(5 vertices, 20 edges, weight)
    """
    shape = _Shape.of(num_vertices, min_degree, max_degree, owner_share)
    low = integer("min_weight", min_weight, -MOST, MOST)
    high = integer("max_weight", max_weight, low, MOST)
    return _energy_game(key, shape, low, high)


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _energy_game(key, shape: "_Shape", low: int, high: int) -> Arena:
    draw = _Draw(key, shape)
    successors = draw.successors(self_loops=True, parallel_edges=True)
    weight = low + draw.below(high - low + 1, draw.high).astype(jnp.int32)
    return draw.arena(successors, weight=weight)


class _Shape(NamedTuple):
    """How large a game is, and how its vertices are dealt out."""

    size: int
    low: int
    high: int
    owner_share: float

    @classmethod
    def of(cls, num_vertices, min_degree, max_degree, owner_share) -> "_Shape":
        """The shape that arguments ask for, checked."""
        size = integer("num_vertices", num_vertices, 1)
        low = integer("min_degree", min_degree, 1)
        high = integer("max_degree", max_degree, low)
        fits(size + 1, size * high + 1)
        return cls(size, low, high, share("owner_share", owner_share))


class _Draw:
    """The random numbers of a game, by vertex: drawn in one go for each purpose."""

    def __init__(self, key, shape: _Shape):
        self.size, self.low, self.high, chance = shape
        self._keys = iter(jax.random.split(key, 5))
        self.degree = None
        if self.low < self.high:
            self.degree = self.low + self.below(self.high - self.low + 1)
        self.owner = self._bits() < jnp.uint32(min(int(chance * 2**32), 2**32 - 1))
        self.owner |= chance == 1

    def _bits(self, *shape: int) -> jax.Array:
        return jax.random.bits(next(self._keys), (*shape, self.size), jnp.uint32)

    def below(self, count: int, *shape: int) -> jax.Array:
        """Numbers below a count: uint32 `[*shape, V]`."""
        return _scaled(self._bits(*shape), jnp.uint32(count))

    def successors(self, self_loops: bool, parallel_edges: bool) -> jax.Array:
        """Successors of each vertex: int32 `[D, V]`; the first ones are to be taken."""
        candidates = self.size if self_loops else self.size - 1
        if candidates < (1 if parallel_edges else self.high):
            raise ValueError(
                "max_degree must be at most the number of possible successors "
                f"({candidates}), got {self.high}"
            )
        bits = self._bits(self.high)
        if parallel_edges:
            rows = list(_scaled(bits, jnp.uint32(candidates)).astype(jnp.int32))
        else:
            rows = _ascending(self._subsets(bits, candidates))
        if not self_loops:
            own = jnp.arange(self.size, dtype=jnp.int32)
            rows = [row + (row >= own) for row in rows]
        return jnp.stack(rows)

    def _subsets(self, bits: jax.Array, candidates: int) -> list[jax.Array]:
        """Uniform random sets by Robert Floyd's method; what is left over is large.

        The k-th element is drawn from one more candidate than the one before, and where
        it is there already, the new candidate is taken.
        """
        degree = self.high if self.degree is None else self.degree.astype(jnp.int32)
        drawn: list[jax.Array] = []
        for k in range(self.high):
            newest = jnp.broadcast_to(candidates - degree + k, (self.size,))
            below = jnp.maximum(newest + 1, 1).astype(jnp.uint32)
            pick = _scaled(bits[k], below).astype(jnp.int32)
            taken = jnp.zeros(self.size, bool)
            for other in drawn:
                taken |= other == pick
            pick = jnp.where(taken, newest, pick)
            drawn.append(jnp.where(k < degree, pick, jnp.iinfo(jnp.int32).max))
        return drawn

    def arena(self, successors: jax.Array, *, priority=None, weight=None) -> Arena:
        """The arena with these rows; labels are by vertex, or by column of a row."""
        size, high = self.size, self.high
        if self.degree is None:
            rows = jnp.arange(size + 1, dtype=jnp.int32) * high
            return Arena(
                row_ptr=rows,
                src=jnp.repeat(jnp.arange(size, dtype=jnp.int32), high),
                dst=successors.T.reshape(-1),
                owner=self.owner,
                priority=priority,
                weight=None if weight is None else weight.T.reshape(-1),
                num_vertices=jnp.int32(size),
                num_edges=jnp.int32(size * high),
            )
        degree = self.degree.astype(jnp.int32)
        ends = jnp.cumsum(degree, dtype=jnp.int32)
        edges = size * high + 1
        column = jnp.arange(high, dtype=jnp.int32)[:, None]
        place = jnp.where(column < degree, ends - degree + column, edges).reshape(-1)

        def spread(values, fill):
            values = jnp.broadcast_to(values, (high, size)).reshape(-1)
            return ops.put(jnp.full(edges, fill, jnp.int32), place, values)

        return Arena(
            row_ptr=jnp.concatenate([jnp.array([0]), ends, jnp.array([edges])]).astype(
                jnp.int32
            ),
            src=spread(jnp.arange(size, dtype=jnp.int32), size),
            dst=spread(successors, size),
            owner=jnp.append(self.owner, False),
            priority=None if priority is None else jnp.append(priority, 0),
            weight=None if weight is None else spread(weight, 0),
            num_vertices=jnp.int32(size),
            num_edges=ends[-1],
        )


def _scaled(bits: jax.Array, count: jax.Array) -> jax.Array:
    """`bits * count >> 32` in 32 bits: uniform below the count (uint32)."""
    low, high = bits & 0xFFFF, bits >> 16
    count_low, count_high = count & 0xFFFF, count >> 16
    middle = high * count_low + (low * count_low >> 16)
    carry = low * count_high + (middle & 0xFFFF)
    return high * count_high + (middle >> 16) + (carry >> 16)


def _ascending(rows: list[jax.Array]) -> list[jax.Array]:
    """Rows sorted entry by entry, by a network of comparisons where they are few."""
    if len(rows) > SHORT:
        return list(jnp.sort(jnp.stack(rows), axis=0))
    rows = list(rows)
    for turn in range(len(rows)):
        for at in range(turn % 2, len(rows) - 1, 2):
            pair = rows[at], rows[at + 1]
            rows[at], rows[at + 1] = jnp.minimum(*pair), jnp.maximum(*pair)
    return rows
