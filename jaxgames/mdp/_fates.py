"""States whose death is another's too: removal of whole chains at once."""

from typing import NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Layout
from jaxgames.states import register
from jaxgames.tuning.mdp import NARROW


@register
class Pointers(NamedTuple):
    """For each state another or itself, in each of two ways: int32 `[S]`."""

    ahead: jax.Array  # found by where its choices may lead
    behind: jax.Array  # found by where it is entered from


@register
class Fates(NamedTuple):
    """For each state such as are in every end component that it is in.

    The state dies with any of them: so it does with all that they lead on to, and that
    stays true while choices die.
    """

    next: Pointers  # the state itself where none is known
    ends: Pointers  # where the ways of these ended when they were last followed


def no_fates(size: int) -> Fates:
    """None is known."""
    own = jnp.arange(size, dtype=jnp.int32)
    return Fates(Pointers(own, own), Pointers(own, own))


def are_narrow(fates: Fates, alive: jax.Array) -> jax.Array:
    """Whether nearly all states that are alive have fates: bool scalar."""
    own = jnp.arange(len(alive), dtype=jnp.int32)
    free = alive & (fates.next.ahead == own) & (fates.next.behind == own)
    return _count(free) <= _count(alive) // NARROW


def _count(x: jax.Array) -> jax.Array:
    return jnp.sum(x, dtype=jnp.int32)


def tell(layout: Layout, live: jax.Array, fates: Fates) -> Fates:
    """More fates, for states that have none yet.

    Say `t` is in every end component of some states, those with the end `t`. Now let an
    end component have the state `s`. It has a choice of `s`, with all states that this
    may lead to: so it has `t`, if each live choice of `s` may lead to one of those. It
    also has a state from which a live choice enters `s`, which may be `s` itself: so it
    has `t`, if all such states are among those. Either way `t` is a fate of `s`.

    Of the targets of a choice, that with the last end is looked at.

    Args:
        layout: the model.
        live: bool `[C]`, choices that are not dead.
        fates: those that are known.
    """
    (ahead, behind), ends = fates
    own = jnp.arange(len(ahead), dtype=jnp.int32)
    target = ops.links_max(layout.branches, ends.ahead)
    source = ops.take(ends.behind, layout.owner)
    told = _common(layout.choices, live, target), _common(layout.entering, live, source)
    return fates._replace(
        next=Pointers(
            jnp.where(ahead == own, told[0], ahead),
            jnp.where(behind == own, told[1], behind),
        )
    )


def _common(links: ops.Links, live: jax.Array, x: jax.Array) -> jax.Array:
    """What `x` is for all live choices of each state; the state, where it differs."""
    size = links.num_rows
    there = ops.at_targets(links, jnp.where(live, x, -1))
    most = ops.links_max(links, there)
    least = ops.links_min(
        links, ops.edgewise(lambda y: jnp.where(y < 0, size, y), there)
    )
    return jnp.where(least == most, most, jnp.arange(size, dtype=jnp.int32))


def jump(
    layout: Layout, live: jax.Array, alive: jax.Array, fates: Fates
) -> tuple[jax.Array, Fates]:
    """One step: more fates, and all die whose way comes to a dead state.

    Args:
        layout: the model.
        live: bool `[C]`, choices that are not dead.
        alive: bool `[S]`, states that are not dead.
        fates: those that are known.

    Returns:
        The states that are not dead now, and the fates.
    """
    fates = tell(layout, live, fates)
    ends = []
    for pointer in fates.next:
        ends.append(_follow(pointer, alive))
        alive &= ops.take(alive, ends[-1])
    return alive, fates._replace(ends=Pointers(*ends))


def _follow(pointer: jax.Array, alive: jax.Array) -> jax.Array:
    """The ends of all ways: the first dead state, or where no pointer leads on.

    Pointer doubling: O(log S) gathers, few if all ways are short. What goes round a
    cycle ends somewhere on it.
    """
    size = len(alive)
    own = jnp.arange(size, dtype=jnp.int32)

    def double(state):
        doublings, way, _ = state
        # Without the barrier XLA would fuse both, and gather more.
        further = jax.lax.optimization_barrier(ops.take(way, way))
        further = ops.take(further, further)
        return doublings + 2, further, jnp.any(further != way)

    def settled(state):
        doublings, _, moves = state
        return ~moves | (doublings >= size.bit_length())

    # All devices of a mesh have all of it, or they would send it with each doubling.
    way = ops.known_to_all(jnp.where(alive, pointer, own))
    return fixpoint.until(settled, double, (jnp.int32(0), way, jnp.array(True)))[1]
