"""Large graphs of numpy, checked on the device, where they are solved.

To copy rows and to look at each edge takes a host longer than to send them. What is
wrong is said by the host, which then looks at all once more.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import memory, ops
from jaxgames.arena import bucket
from jaxgames.buchi._partition import UNKNOWN, Met, Property, listed_edges, matrix
from jaxgames.buchi._partition import split as split_states
from jaxgames.graph import _input as of_graph
from jaxgames.later import jax, jnp
from jaxgames.ops import PairLinks
from jaxgames.tuning.buchi import SENT_FROM

WORD = 32


class There(NamedTuple):
    """A graph on the default device, filled up to one of a few sizes.

    Attributes:
        shape: how many vertices and edges there are.
        pairs: each vertex points at its successors.
        degree: int32 `[R]`, the edges of each vertex; -1 for none.
        accepting: bool `[R]`.
        state: int32 `[R]`, the state of each vertex.
        met: what vertices there are in each state.
    """

    shape: tuple[int, int]
    pairs: PairLinks
    degree: jax.Array
    accepting: jax.Array
    state: jax.Array
    met: Met


def is_sent(vertices: int, edges: int) -> bool:
    """Whether a graph of numpy of this size is."""
    if edges < SENT_FROM or ops.current_spread() is not None or not ops.accelerated():
        return False
    return memory.has_room(vertices, edges)


def send(graph: Any, accepting: Any, partition: Any) -> tuple[There, Property] | None:
    """Sends rows of numpy, and accepting vertices, bool `[V]`, and checks them.

    The partition is None, or the states of the vertices, int32 `[V]`, and a list of the
    edges between states. None where they have another form, are small, or something is
    wrong.
    """
    if partition is None:
        there = looked_at(graph, accepting, None, UNKNOWN.edges)
        return there and (there, UNKNOWN)
    if not isinstance(partition, tuple) or len(partition) != 2:
        return None
    state, listed = partition[0], listed_edges(partition[1])
    if state is None or listed is None or not len(listed):
        return None
    edges = matrix(listed, 1 + int(listed.max()))
    there = looked_at(graph, accepting, state, edges)
    return there and (there, split_states(edges))


def looked_at(
    graph: Any, accepting: Any, state: Any, allowed: np.ndarray
) -> There | None:
    """A graph, rows of numpy, on the default device, checked there.

    Accepting vertices are bool `[V]`, states int32 `[V]`, None for zeros; `allowed`,
    bool `[Q, Q]`, are the states that an edge may lead to from each. None where they
    have another form, are small, or something is wrong.
    """
    rows = of_graph.rows_of(graph)
    if rows is None or not is_sent(*rows.shape):
        return None
    size, states = rows.shape[0], len(allowed)
    if not _has_form(accepting, np.bool_, size):
        return None
    if state is not None and not _has_form(state, np.int32, size):
        return None
    edges, degree = ops.edge_list(*rows)
    accepting, state = (
        None if x is None else ops.joined(ops.sent(x, bucket(size)))
        for x in (accepting, state)
    )
    allowed = np.pad(allowed, (0, -states % WORD))  # few programs serve all properties
    sizes = np.array([size, states], np.int32)
    found, summary = _look(allowed, sizes, edges, degree, accepting, state)
    wrong, *met = np.asarray(summary)
    # Now all is there: until then the caller's own arrays are read.
    if wrong.any():
        return None
    pairs, degree, accepting, state = found
    known = Met(*(x[:states] for x in met))
    return There(rows.shape, pairs, degree, accepting, state, known)


class ByState(NamedTuple):
    """Numbers of vertices, on the default device, which tells them by their states.

    Attributes:
        numbers: int32 `[N]`, by state; then at least one 0.
        state: int8 or int16 `[R]`, in pieces.
    """

    numbers: Any
    state: tuple[jax.Array, ...]

    def found(self) -> jax.Array:
        """int32 `[R]` (pure)."""
        return ops.take(self.numbers, ops.joined(self.state))


def by_state(numbers: np.ndarray, state: np.ndarray, rows: int) -> ByState:
    """Sends numbers, int32 `[Q]`, and states, int8 or int16 `[V]`, with 0 behind."""
    own = ops.sent(state, rows, len(numbers))
    return ByState(np.pad(numbers, (0, WORD - len(numbers) % WORD)), own)


def looked_up(values: np.ndarray, there: There) -> tuple[jax.Array, jax.Array]:
    """The value at the state of each vertex: int32 `[R]`, 0 where there is none.

    Returns:
        The values, and how many are not 0.
    """
    more = -len(values) % WORD
    return _look_up(np.pad(values, (0, more)), there.degree, there.state)


def marked(there: There) -> np.ndarray:
    """The accepting vertices, on the host: bool `[V]`."""
    return ops.to_host(there.accepting)[: there.shape[0]]


def fetched(there: There) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets, targets and states, on the host."""
    size, edges = there.shape
    offsets = np.zeros(size + 1, np.int32)
    np.cumsum(ops.to_host(there.degree)[:size], out=offsets[1:])
    targets = ops.to_host(there.pairs.head)[:edges]
    return offsets, targets, ops.to_host(there.state)[:size]


def _has_form(x: Any, dtype: Any, size: int) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == (size,)


@jax.jit
def _look(allowed, sizes, edges: ops.EdgeList, degree, accepting, state):
    """What `There` has, and bool `[4, 32 N]`: whether it is wrong, and what is met."""
    rows, width = len(degree), len(allowed)
    state = jnp.zeros(rows, jnp.int32) if state is None else state
    accepting, there = accepting != 0, jnp.arange(rows, dtype=jnp.int32) < sizes[0]
    real = jnp.arange(len(edges.tail), dtype=jnp.int32) < edges.count
    # Offsets go from 0 to the number of edges: if none falls they ascend.
    wrong = jnp.any(there & ((degree < 0) | (state < 0) | (state >= sizes[1])))
    wrong |= jnp.any(real & ((edges.head < 0) | (edges.head >= sizes[0])))
    state, head = jnp.clip(state, 0, width - 1), jnp.clip(edges.head, 0, rows - 1)
    here = ops.take(state, edges.tail) * width + ops.take(state, head)
    wrong |= jnp.any(real & ~ops.take(allowed.ravel(), here))
    masks = there & accepting, there & ~accepting, degree == 0
    met = [_in_states(state, mask, width // WORD) for mask in masks]
    pairs = PairLinks(jnp.where(real, edges.tail, rows), head, rows, rows)
    summary = jnp.stack([jnp.full(width, wrong), *met])
    return (pairs, degree, accepting, state), summary


def _in_states(state: jax.Array, some: jax.Array, words: int) -> jax.Array:
    """The states of some vertices: bool `[32 words]`."""
    bit = jnp.uint32(1) << (state % WORD).astype(jnp.uint32)
    word = jnp.arange(words, dtype=jnp.int32)[:, None]
    own = jnp.where(some & (state // WORD == word), bit, jnp.uint32(0))
    found = jax.lax.reduce(own, np.uint32(0), jax.lax.bitwise_or, (1,))
    bits = found[:, None] >> jnp.arange(WORD, dtype=jnp.uint32)
    return (bits & 1).astype(bool).ravel()


@jax.jit
def _look_up(values, degree, state) -> tuple[jax.Array, jax.Array]:
    found = jnp.where(degree >= 0, ops.take(values, state), 0)
    return found, jnp.sum(found != 0, dtype=jnp.int32)
