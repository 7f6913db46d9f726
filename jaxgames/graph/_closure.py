"""Components of small graphs by their transitive closure, as bits of words."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.graph._solver import NONE, Answer, Subgraph, number
from jaxgames.later import jax, jnp
from jaxgames.solver import Solver

WORD = 32
"""Bits of a word."""


class State(NamedTuple):
    """What is reached over the first vertices."""

    reach: jax.Array  # uint32 [V, W]: bit u of row v: u is reached from v
    via: jax.Array  # int32: paths go over vertices before this one
    size: jax.Array  # int32: vertices that there are


@dataclasses.dataclass(frozen=True)
class Closure(Solver):
    """Warshall's algorithm, a row of the matrix of reachability as bits of words.

    One round for each vertex, whatever the edges, and no gather over them: for batches
    of graphs with some dozens of vertices. O(V^2 / 32) words, V rounds over them.

    Reference:
        Warshall, A theorem on Boolean matrices, JACM 9 (1962),
        doi:10.1145/321105.321107.
    """

    name: ClassVar[str] = "closure"

    def init(self, game: Subgraph) -> State:
        """Each vertex reaches itself and its successors."""
        size = game.out.num_rows
        own = jnp.arange(size, dtype=jnp.int32)
        words = []
        for word in range(-(-size // WORD)):
            bits = _bit_in(own, word)
            for targets in ops.link_targets(game.out):
                for column in targets:
                    bits |= jnp.where(column < size, _bit_in(column, word), 0)
            words.append(bits)
        return State(
            reach=jnp.stack(words, axis=1),
            via=jnp.int32(0),
            size=jnp.sum(game.alive, dtype=jnp.int32),
        )

    def step(self, game: Subgraph, state: State) -> State:
        """What reaches a vertex reaches all that it reaches."""
        reach, via = state.reach, jnp.minimum(state.via, len(state.reach) - 1)
        word = jnp.sum(
            jnp.where(jnp.arange(reach.shape[1]) == via // WORD, reach, 0),
            axis=1,
            dtype=jnp.uint32,
        )
        reaches = (word >> (via % WORD).astype(jnp.uint32)) & 1
        row = ops.take(reach, via)
        more = jnp.where((reaches > 0)[:, None], row, jnp.uint32(0))
        going = (state.via < state.size).astype(jnp.int32)
        return state._replace(reach=reach | more, via=state.via + going)

    def done(self, game: Subgraph, state: State) -> jax.Array:
        """Paths go over all vertices."""
        return state.via >= state.size

    def answer(self, game: Subgraph, state: State) -> Answer:
        """A component is what reaches the same vertices, each itself among them."""
        size, words = state.reach.shape
        root = jnp.zeros(size, jnp.int32)
        # One row after the other: a table of all pairs would not fit for a batch.
        for vertex in range(size - 1, -1, -1):
            same = jnp.ones(size, bool)
            for word in range(words):
                column = state.reach[:, word]
                same &= column == column[vertex]
            root = jnp.where(same, vertex, root)
        known = game.alive & self.done(game, state)
        return number(jnp.where(known, root, NONE))


def _bit_in(vertex: jax.Array, word: int) -> jax.Array:
    """The bit of a vertex in a word of a row: uint32."""
    bit = jnp.uint32(1) << (vertex % WORD).astype(jnp.uint32)
    return jnp.where(vertex // WORD == word, bit, jnp.uint32(0))
