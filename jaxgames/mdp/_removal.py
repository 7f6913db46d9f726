"""Taking out choices that may lead to dead states, and states without choices."""

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Layout


def remove(
    layout: Layout, live: jax.Array, alive: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """One round: a choice dies if a target is dead, a state if no choice is left.

    Args:
        layout: the model.
        live: bool `[C]`, choices that are not dead.
        alive: bool `[S]`, states that are not dead.

    Returns:
        The choices and states that are not dead now.
    """
    live = live & ops.links_all(layout.branches, alive)
    return live, alive & ops.links_any(layout.choices, live)


def remove_both_ways(
    layout: Layout, live: jax.Array, alive: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """As `remove`; choices die with their state, and states that none enters."""
    live, alive = remove(layout, live, alive)
    live &= ops.take(alive, layout.owner)
    return live, alive & ops.links_any(layout.entering, live)


def leave(layout: Layout, *labels: jax.Array) -> jax.Array:
    """The choices that may lead to a state with another label: bool `[C]`.

    States are told apart where one of their labels, int32 `[S]` each, differs.
    """
    leaves = jnp.zeros(layout.live.shape, bool)
    for label in labels:
        own = ops.at_rows(layout.branches, ops.take(label, layout.owner))
        there = ops.at_targets(layout.branches, label)
        other = ops.edgewise(jnp.not_equal, there, own)
        leaves = leaves | ops.links_any(layout.branches, other)
    return leaves
