"""How far the vertices of a graph are from the first one."""

import dataclasses
from typing import ClassVar

from jaxgames import ops
from jaxgames.graph._solver import Subgraph
from jaxgames.later import jax, jnp
from jaxgames.solver import Solver


@dataclasses.dataclass(frozen=True)
class Distances(Solver):
    """Breadth-first search from vertex 0, or the first one that is alive."""

    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "distances"

    def init(self, game: Subgraph):
        """The first vertex is near, all others are far."""
        size = len(game.alive)
        first = jnp.arange(size) == jnp.argmax(game.alive)
        far = jnp.iinfo(jnp.int32).max
        return jnp.where(first, 0, far).astype(jnp.int32), jnp.array(size == 0)

    def step(self, game: Subgraph, state):
        """One more than the nearest predecessor."""
        near, _ = state
        far = jnp.iinfo(jnp.int32).max
        before = ops.links_min(game.into, near)
        new = jnp.minimum(near, jnp.where(before == far, far, before + 1))
        return new, jnp.all(new == near)

    def done(self, game: Subgraph, state) -> jax.Array:
        """Nothing came nearer."""
        del game
        return state[1]

    def answer(self, game: Subgraph, state) -> jax.Array:
        """The distances."""
        del game
        return state[0]
