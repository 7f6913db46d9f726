"""Signatures of states: the first to reach each, and the first that it reaches."""

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Graph, Layout
from jaxgames.ops import Pieces

NOWHERE = int(np.iinfo(np.int32).max)


def spread(
    graph: Graph, live: tuple[Pieces, Pieces], above: jax.Array, below: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """One round: signatures go along every live branch, and jump.

    Args:
        graph: the graph of the model.
        live: bool on its links `into` and `out`.
        above: int32 `[S]`, the least state known to reach each.
        below: int32 `[S]`, the least state known to be reached from it.
    """
    into, out = live
    size = len(above)
    above = jnp.minimum(above, ops.links_min(graph.into, above, into))
    below = jnp.minimum(below, ops.links_min(graph.out, below, out))
    # Who reaches my least ancestor reaches me, and it reaches what I reach. It is told
    # only news: it may be that of many, and many writes to one place take long.
    tells = jnp.where(below < ops.take(below, above), above, size)
    hears = jnp.where(above < ops.take(above, below), below, size)
    told = ops.min_into(tells, below, size, NOWHERE)
    above = jnp.minimum(above, ops.min_into(hears, above, size, NOWHERE))
    below = jnp.minimum(below, told)
    return (
        jnp.minimum(above, ops.take(above, above)),
        jnp.minimum(below, ops.take(below, below)),
    )


def descend(
    graph: Graph, live: tuple[Pieces, Pieces], above: jax.Array, below: jax.Array
) -> jax.Array:
    """One round of the lower halves alone, where the upper ones are final."""
    size = len(above)
    below = jnp.minimum(below, ops.links_min(graph.out, below, live[1]))
    tells = jnp.where(below < ops.take(below, above), above, size)
    below = jnp.minimum(below, ops.min_into(tells, below, size, NOWHERE))
    return jnp.minimum(below, ops.take(below, below))


def branches_of(game: Layout, live: jax.Array) -> tuple[Pieces, Pieces]:
    """The branches of live choices: bool on the links `into` and `out` of the graph."""
    return (
        ops.at_targets(game.entering, live),
        ops.at_targets(graph_of(game).out_choice, live),
    )


def graph_of(game: Layout) -> Graph:
    """The graph of a layout that has one."""
    if game.graph is None:
        raise ValueError("the layout has no graph: prepare it with one")
    return game.graph
