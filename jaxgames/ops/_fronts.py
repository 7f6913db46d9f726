"""A search from one vertex both ways, level by level, where each takes a kernel.

A level is a front of vertices: what their edges lead to and is new is the next one. So
a level costs as much as its front has edges, however many the graph has.
"""

from typing import Any, NamedTuple

from jaxgames.later import jax, jnp
from jaxgames.ops import _edge_kernels
from jaxgames.ops._edge_kernels import LEVELS, MOST, TOTAL
from jaxgames.ops._groups import sum_into
from jaxgames.ops._links import EdgeList
from jaxgames.ops._lists import running_sum


class Front(NamedTuple):
    """A search in one direction.

    Attributes:
        first: int32 `[V + 1]`, where the edges of each vertex begin.
        far: int32 `[R]`, what they lead to.
        mark: int32 `[V]`, 0 for what is not reached; else the place that a vertex had
            in its front, from 1 on.
        places: int32 `[V]` twice: the vertices of the front, and room for the next one.
    """

    first: Any
    far: Any
    mark: Any
    places: tuple[Any, Any]


class Fronts(NamedTuple):
    """A search in both directions.

    Attributes:
        both: along edges, and against them.
        counts: int32 `[2 * LEVELS + 4]`, see `_edge_kernels`.
    """

    both: tuple[Front, Front]
    counts: Any

    @property
    def news(self) -> jax.Array:
        """How many vertices the last level has found, of which some more than once."""
        return self.counts[0] + self.counts[1]

    @property
    def found(self) -> jax.Array:
        """How many all levels before have, likewise."""
        return self.counts[TOTAL] + self.counts[TOTAL + 1]

    @property
    def fits(self) -> jax.Array:
        """Whether each front had room for all that was found."""
        return jnp.max(self.counts[MOST:]) <= len(self.both[0].mark)


def fronts(edges: EdgeList, pivot: jax.Array, size: int) -> Fronts:
    """The search before its first level: two sorts of the edges (pure).

    Args:
        edges: the edges.
        pivot: where it begins, a scalar.
        size: V, the number of vertices.
    """
    real = jnp.arange(len(edges.tail), dtype=jnp.int32) < edges.count
    start, pivot = jnp.zeros(size, jnp.int32), jnp.asarray(pivot, jnp.int32)

    def front(near: jax.Array, far: jax.Array) -> Front:
        near = jnp.where(real, near, size)
        ends = running_sum(sum_into(near, jnp.ones_like(near), size))
        _, far = jax.lax.sort((near, far), num_keys=1, is_stable=False)
        first = jnp.concatenate([jnp.zeros(1, jnp.int32), ends])
        places = start.at[0].set(pivot), jnp.copy(start)
        return Front(first, far, start.at[pivot].set(1), places)

    both = front(edges.tail, edges.head), front(edges.head, edges.tail)
    counts = jnp.zeros(2 * LEVELS + 4, jnp.int32).at[:2].set(1)
    return Fronts(both, counts)


def advance_both(search: Fronts) -> Fronts:
    """`LEVELS` levels more (pure)."""
    both, counts = search
    for level in range(LEVELS):
        both, counts = _edge_kernels.advance_both(both, counts, level)
    return Fronts(both, counts)


def widest(search: Fronts) -> jax.Array:
    """The most edges that a vertex has, of either kind (pure)."""
    return jnp.max(jnp.stack([jnp.max(jnp.diff(x.first)) for x in search.both]))
