"""How far the vertices of a graph are from the first one."""

from jaxgames import fixpoint, ops
from jaxgames.graph._solver import Subgraph
from jaxgames.later import jax, jnp


def distances(game: Subgraph) -> jax.Array:
    """Steps from vertex 0, or the first one that is alive; of others int32's largest.

    Breadth-first search: a sweep for each level.
    """
    size, far = len(game.alive), jnp.iinfo(jnp.int32).max

    def step(near: jax.Array) -> tuple[jax.Array, jax.Array]:
        before = ops.links_min(game.into, near)
        new = jnp.minimum(near, jnp.where(before == far, far, before + 1))
        return new, jnp.all(new == near)

    first = jnp.arange(size) == jnp.argmax(game.alive)
    return fixpoint.settled(step, jnp.where(first, 0, far).astype(jnp.int32))
