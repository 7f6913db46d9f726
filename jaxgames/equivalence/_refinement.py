"""Bisimilarity by signature refinement.

All states start in one class. A state's signature is the set of pairs (label, class of
the target) of its transitions; each round splits the classes by their states'
signatures, until no class splits [1]. Signatures are compared by sums of hashes, which
can only take different ones for equal: so the last partition is checked, and if a hash
has misled, refined further with another.

References:
    [1] Blom, Orzan: A distributed algorithm for strong bisimulation reduction of state
        spaces. STTT 2005. https://doi.org/10.1007/s10009-004-0159-4
"""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.solution import UNDECIDED
from jaxgames.solver import Solver
from jaxgames.states import register, spread

WORDS = 2
"""Hashes of a signature: 64 bits."""


class Transitions(NamedTuple):
    """What a refinement works on."""

    source: Any
    """int32 `[E]`, `V` for padding."""
    label: Any
    """int32 `[E]`."""
    target: Any
    """int32 `[E]`."""
    start: Any
    """int32 `[V]`, the classes to start from: 0, and 1 for padding."""


@register
class Partition(NamedTuple):
    """Where a refinement is."""

    classes: jax.Array
    """int32 `[V]`, numbered in the order of their first states."""
    count: jax.Array
    """int32 scalar, how many there are."""
    before: jax.Array
    """int32 scalar, how many there were a round ago."""
    left: jax.Array
    """int32 scalar, states whose signatures found no place in the tables."""
    salt: jax.Array
    """uint32 scalar, which hash."""


class Labels(NamedTuple):
    """The class of each state."""

    labels: Any
    """int32 `[V]`, -1 where it is not known yet."""


@dataclasses.dataclass(frozen=True)
class Refinement(Solver):
    """Signature refinement as a solver."""

    name: ClassVar[str] = "refinement"

    def init(self, game: Any) -> Partition:
        """The classes to start from."""
        return self.again(game.start, jnp.uint32(0))

    def again(self, classes: jax.Array, salt: jax.Array) -> Partition:
        """These classes, to be refined by a hash that was not taken before."""
        return Partition(classes, jnp.int32(0), jnp.int32(-1), jnp.int32(0), salt)

    def step(self, game: Any, state: Partition) -> Partition:
        """Splits all classes by the signatures of their states."""
        size = len(state.classes)
        aim = ops.take(state.classes, game.target)
        source, label, aim = ops.sort_rows(game.source, game.label, aim)
        fresh = ops.differs_from_last(source, label, aim)
        source = jnp.where(fresh, source, size)
        sums = [
            ops.sum_into(
                source, scramble(label, scramble(aim, state.salt + word)), size
            )
            for word in range(WORDS)
        ]
        keys = (state.classes, *sums)
        first, left = ops.first_equal(keys, jnp.ones(size, bool), state.salt)
        classes, count = ops.number_groups(first)
        return Partition(classes, count, state.count, state.left + left, state.salt)

    def overflow(self, state: Partition) -> jax.Array:
        """Whether equal signatures were left apart: the tables were too full."""
        return state.left > 0

    def done(self, game: Any, state: Partition) -> jax.Array:
        """Whether the last round has split nothing."""
        return state.count == state.before

    def answer(self, game: Any, state: Partition) -> Labels:
        """The classes, once nothing splits them."""
        done = self.done(game, state)
        return Labels(jnp.where(done, state.classes, UNDECIDED))


def scramble(x: jax.Array, salt: jax.Array) -> jax.Array:
    """A hash of integers: uint32, of the shape of both."""
    salt = jnp.asarray(salt, jnp.uint32) * jnp.uint32(0x9E3779B9)
    return spread(x.astype(jnp.uint32) + salt)
