"""Links that lead on, and values that add up where they are."""

from jaxgames.later import jax, jnp
from jaxgames.ops._links import Links, PairLinks, SlicedLinks, at_targets, link_targets


def add_into(array: jax.Array, index: jax.Array, values: jax.Array) -> jax.Array:
    """The array with values added at these indices; those beyond its end are left out.

    Examples:
        >>> add_into(jnp.array([1, 2]), jnp.array([1, 1, 2]), jnp.array([5, 6, 7]))
        Array([ 1, 13], dtype=int32)
    """
    return array.at[index].add(values, mode="drop")


def redirect(links: Links, x: jax.Array, num_targets: int) -> Links:
    """The links that lead on: to what `x` says of what they point at (pure).

    Args:
        links: the links.
        x: int32 `[T]`, in `0 .. num_targets - 1`.
        num_targets: the number of things to point at then.
    """
    if isinstance(links, PairLinks):
        (head,) = at_targets(links, x)
        return PairLinks(links.tail, head, links.num_rows, num_targets)
    blocks = tuple(
        jnp.where(block < links.num_targets, value, num_targets)
        for block, value in zip(link_targets(links), at_targets(links, x), strict=True)
    )
    return SlicedLinks(blocks, links.slot, links.row, links.num_rows, num_targets)
