"""The certificate check of a large game on a GPU, by the components of its edges."""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena, bucket
from jaxgames.graph import InPlace
from jaxgames.graph._in_place import ListedGraph
from jaxgames.graph._links import listed
from jaxgames.later import jax, jnp
from jaxgames.ops import EdgeList
from jaxgames.parity import host
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.parity.host import REASONS
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.parity import FEW_INSIDE, ROUNDS


class Looked(NamedTuple):
    """What a look at each vertex and edge has found.

    Attributes:
        first: int32 `[6]`, the first vertex with each of `host.REASONS`; R where none.
        edges: the edges; those that the strategies leave out are loops.
        kept: bool `[P]`, those that they do not.
    """

    first: jax.Array
    edges: EdgeList
    kept: jax.Array


def check(arena: Arena, winner: np.ndarray, strategy: np.ndarray) -> Verdict:
    """Checks winners and strategies where the arena's edges are sent for it.

    The components of the edges that strategies leave are found there. If the largest
    priority of one is the other player's, he wins a cycle through it. Else cycles
    through its vertices are harmless, and the components of the others are found in
    turn. Once few edges are inside of any, the host looks at these alone.

    Args:
        arena: the game, without padding, with priorities on vertices.
        winner: int8 `[V]`.
        strategy: int32 `[V]`.
    """
    edges, degree = listed(arena)
    size = arena.shape[0]
    owner, won, move, priority = (
        ops.joined(ops.sent(np.asarray(x), bucket(size)))
        for x in (arena.owner, winner, strategy, arena.priority)
    )
    looked = _look(edges, degree, owner, won, move)
    for reason, vertex in zip(REASONS, np.asarray(looked.first).tolist(), strict=True):
        if vertex < len(degree):
            return Verdict.at(reason, vertex)
    solver, (_, edges, kept) = InPlace(), looked
    for _ in range(ROUNDS):
        game = ListedGraph(edges, degree)
        found = solver, game, fixpoint.completed(solver, game)
        numbers, inner, edges, kept = _taken_apart(*found, kept, priority, won)
        count, vertex = np.asarray(numbers).tolist()
        if vertex < len(degree):
            return Verdict.at(Reason.CYCLE_WON_BY_OPPONENT, vertex)
        if count <= FEW_INSIDE:
            break
    packed = np.asarray(inner)
    where = np.flatnonzero(packed)
    row, bit = np.nonzero(np.unpackbits(packed[where]).reshape(-1, 8))
    return host.cycles_of(arena, winner, 8 * where[row] + bit)


@jax.jit
def _look(edges: EdgeList, degree, owner, won, move) -> Looked:
    rows, (tail, head) = len(degree), (edges.tail, edges.head)
    vertex, edge = (jnp.arange(n, dtype=jnp.int32) for n in (rows, len(tail)))
    there, real = degree >= 0, edge < edges.count
    wins, moves = won == owner, move != NO_EDGE
    ends = ops.running_sum(jnp.maximum(degree, 0))
    along_edge = (move >= ends - degree) & (move < ends)
    kept = real & (~ops.take(wins, tail) | (ops.take(move, tail) == edge))
    leaves = kept & (ops.take(won, tail) != ops.take(won, head))

    def first(mask):
        return jnp.min(jnp.where(there & mask, vertex, rows))

    def first_tail(mask):
        return jnp.min(jnp.where(mask, tail, rows))

    found = (
        first((won != 0) & (won != 1)),
        first(wins & ~moves),
        first(wins & ~along_edge),
        first(~wins & moves),
        first_tail(leaves & ops.take(wins, tail)),
        first_tail(leaves & ~ops.take(wins, tail)),
    )
    left = EdgeList(tail, jnp.where(kept, head, tail), edges.count, edges.kernels)
    return Looked(jnp.stack(found), left, kept)


@functools.partial(jax.jit, static_argnums=0)
def _taken_apart(solver: InPlace, game: ListedGraph, state, kept, priority, won):
    """How many edges are inside of components, and a vertex with a bad priority.

    Returns:
        Both, R where there is no such vertex: int32 `[2]`; these edges as bits, uint8
        `[P / 8]`; and the edges that are left, as in `Looked`, without the vertices of
        the largest priority of each component.
    """
    labels, edges = solver.answer(game, state).labels, game.edges
    rows, tail, head = len(labels), edges.tail, edges.head
    component = ops.take(labels, tail)
    inner = kept & (component == ops.take(labels, head))
    own = ops.take(priority, tail)
    of_inner = jnp.where(inner, component, rows)
    best = ops.take(ops.max_into(of_inner, own, rows, -1), component)
    bad = inner & (own == best) & (best & 1 != ops.take(won, tail))
    vertex = jnp.min(jnp.where(bad, tail, rows))
    kept = inner & (own != best)  # what nothing leads on from is on no cycle
    left = EdgeList(tail, jnp.where(kept, head, tail), edges.count, edges.kernels)
    numbers = jnp.stack([jnp.sum(inner, dtype=jnp.int32), vertex])
    return numbers, jnp.packbits(inner), left, kept
