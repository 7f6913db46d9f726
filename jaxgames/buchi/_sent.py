"""Large graphs of numpy, checked on the device, where they are solved.

To copy rows and to look at each edge takes a host longer than to send them. What is
wrong is said by the host, which then looks at all once more.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena
from jaxgames.buchi import _links
from jaxgames.buchi._partition import Met, Partition, listed_edges, matrix, split, whole
from jaxgames.graph import _input as of_graph
from jaxgames.graph import as_arena
from jaxgames.later import jax, jnp
from jaxgames.tuning.buchi import SENT_FROM

WORD = 32


class Sent(NamedTuple):
    """A graph on the default device.

    Attributes:
        arena: the graph.
        accepting: bool `[V]`, there as well.
        partition: the same.
    """

    arena: Arena
    accepting: jax.Array
    partition: Partition


def is_sent(edges: int) -> bool:
    """Whether a graph of numpy with so many edges is."""
    return edges >= SENT_FROM and ops.current_spread() is None and ops.accelerated()


def send(graph: Any, accepting: Any, partition: Any) -> Sent | None:
    """Sends arguments of `accepting_cycle` and checks them.

    Args:
        graph: rows of numpy.
        accepting: bool `[V]`.
        partition: None, or the states of the vertices, int32 `[V]`, and a list of the
            edges between states.

    Returns:
        None where they have another form, are small, or something may be wrong.
    """
    state, edges = None, None
    if partition is not None:
        if not isinstance(partition, tuple) or len(partition) != 2:
            return None
        state, listed = partition[0], listed_edges(partition[1])
        if listed is None or not len(listed):
            return None
        edges = matrix(listed, 1 + int(listed.max()))
    arrays = arrays_there(graph, accepting, state)
    if arrays is None:
        return None
    arena, accepting, state = arrays
    if edges is None:
        return Sent(arena, accepting, whole(state))
    pairs = _links.pairs(arena)  # which are kept for those who solve it
    if bool(_contradicts(pairs, state, _padded(edges), len(edges))):
        return None
    return Sent(arena, accepting, split(state, edges))


def arrays_there(
    graph: Any, accepting: Any, state: Any
) -> tuple[Arena, jax.Array, jax.Array] | None:
    """A graph, its accepting vertices and its states on the default device.

    Args:
        graph: rows of numpy.
        accepting: bool `[V]`.
        state: int32 `[V]`; None for zeros.

    Returns:
        None where they have another form or are small, or it is no graph.
    """
    rows = of_graph.rows_of(graph)
    if rows is None or not is_sent(len(rows.indices)):
        return None
    size = len(rows.indptr) - 1
    for x, dtype in ((accepting, np.bool_), (state, np.int32)):
        if x is not None and not _has_form(x, dtype, size):
            return None
    pieces = jax.block_until_ready(
        [ops.send(x) for x in (*rows, accepting, state) if x is not None]
    )
    indptr, indices, accepting, *states = map(_joined, pieces)
    try:
        arena = as_arena((indptr, indices))
    except ValueError:
        return None
    state = states[0] if states else jnp.zeros(size, jnp.int32)
    return arena, accepting, state


def met(arena: Arena, accepting: jax.Array, found: Partition) -> Met:
    """What vertices there are in each state of the property."""
    words = -(-len(found.edges) // WORD)
    bits = np.asarray(_met(arena.row_ptr, accepting, found.state, words))
    return Met(*bits[:, : len(found.edges)])


@jax.jit
def _joined(pieces: Any) -> jax.Array:
    return jnp.concatenate(pieces)


def _has_form(x: Any, dtype: Any, size: int) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == (size,)


def _padded(edges: np.ndarray) -> np.ndarray:
    """The same for a multiple of so many states: few programs serve all properties."""
    more = -len(edges) % WORD
    return np.pad(edges, (0, more))


@jax.jit
def _contradicts(pairs: ops.PairLinks, state, edges, states) -> jax.Array:
    """Whether a vertex has no state, or an edge leads where the property has none."""
    wrong = jnp.any((state < 0) | (state >= states))
    state = jnp.clip(state, 0, len(edges) - 1)
    tail = jnp.minimum(pairs.tail, len(state) - 1)
    here = ops.take(state, tail) * len(edges) + ops.take(state, pairs.head)
    fits = ops.take(edges.ravel(), here) | (pairs.tail >= len(state))
    return wrong | ~jnp.all(fits)


@functools.partial(jax.jit, static_argnums=3)
def _met(row_ptr, accepting, state, words: int) -> jax.Array:
    """Bool `[3, 32 words]`: see `Met`."""
    stuck = row_ptr[1:] == row_ptr[:-1]
    masks = accepting, ~accepting, stuck
    return jnp.stack([_in_states(state, mask, words) for mask in masks])


def _in_states(state: jax.Array, some: jax.Array, words: int) -> jax.Array:
    """The states of some vertices: bool `[32 words]`."""
    bit = jnp.uint32(1) << (state % WORD).astype(jnp.uint32)
    word = jnp.arange(words, dtype=jnp.int32)[:, None]
    own = jnp.where(some & (state // WORD == word), bit, jnp.uint32(0))
    found = jax.lax.reduce(own, np.uint32(0), jax.lax.bitwise_or, (1,))
    bits = found[:, None] >> jnp.arange(WORD, dtype=jnp.uint32)
    return (bits & 1).astype(bool).ravel()
