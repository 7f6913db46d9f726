"""A search from one vertex of a deep graph, forward and backward, level by level."""

from typing import Any, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.ops import LEVELS, EdgeList
from jaxgames.tuning.graph import SEARCH_SPREAD as SPREAD
from jaxgames.tuning.graph import SEARCHES, STEPS_OF_LEVELS, WIDEST


class Reached(NamedTuple):
    """What a search has found.

    Attributes:
        ahead: int8 `[V]`, 1 where a vertex is reached from the first one.
        behind: int8 `[V]`, 1 where it reaches that.
        complete: whether that is all: bool.
    """

    ahead: jax.Array
    behind: jax.Array
    complete: jax.Array


class _Search(NamedTuple):
    found: Any  # ops.Fronts, or marks
    levels: jax.Array  # int32
    news: jax.Array  # int32, what the last level has found; 0 at the end
    marks: jax.Array  # int32, all that was found


def reached(edges: EdgeList, pivot: jax.Array, size: int) -> Reached:
    """What one vertex reaches, and what reaches it (pure).

    The search is given up where less is found than in a graph of the plane, of which
    what is near grows with the square of the distance: so it takes O(sqrt(V)) levels.
    With kernels a level is O(its edges), all edges are sorted first, and where a vertex
    has very many nothing is searched. Elsewhere a level is O(E).

    Args:
        edges: the edges.
        pivot: the vertex, a scalar.
        size: V, the number of vertices.
    """
    begin, runs, advance, marks = (_fronts if edges.kernels else _sweeps)(
        edges, pivot, size
    )

    def over(search: _Search) -> jax.Array:
        levels = search.levels.astype(jnp.float32)
        grows = SPREAD * search.marks.astype(jnp.float32) >= levels * levels
        return (search.news == 0) | ~grows

    first = _Search(begin, jnp.int32(0), jnp.int32(runs), jnp.int32(1))
    search = fixpoint.until(over, advance, first)
    return Reached(*marks(search.found, search.news == 0))


def _fronts(edges: EdgeList, pivot: jax.Array, size: int):
    first = ops.fronts(edges, pivot, size)
    narrow = ops.widest(first) <= WIDEST

    def advance(search: _Search) -> _Search:
        found = fixpoint.repeat(STEPS_OF_LEVELS, ops.advance_both, search.found)
        marks = jnp.where(found.fits, found.found + found.news, 0)
        levels = search.levels + STEPS_OF_LEVELS * LEVELS
        return _Search(found, levels, found.news, marks)

    def marks(found: Any, ended: jax.Array):
        ahead, behind = ((x.mark > 0).astype(jnp.int8) for x in found.both)
        return ahead, behind, ended & narrow & found.fits

    return first, narrow, advance, marks


def _sweeps(edges: EdgeList, pivot: jax.Array, size: int):
    only = (jnp.arange(size, dtype=jnp.int32) == pivot).astype(jnp.int8)

    def advance(search: _Search) -> _Search:
        counts = jnp.zeros(SEARCHES + 1, jnp.int32).at[0].set(search.news)
        ahead, behind = search.found
        for sweep in range(SEARCHES):
            ahead, behind, counts = ops.spread_both(edges, ahead, behind, counts, sweep)
        marks = search.marks + jnp.sum(counts[1:], dtype=jnp.int32)
        levels, found = search.levels + SEARCHES, (ahead, behind)
        return _Search(found, levels, counts[SEARCHES], marks)

    def marks(found: Any, ended: jax.Array):
        return *found, ended

    return (only, only), True, advance, marks
