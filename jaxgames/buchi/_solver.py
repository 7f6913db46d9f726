"""What the solvers for accepting cycles share."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple

from jaxgames import ops
from jaxgames.graph._solver import same_at_both_ends
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.ops import Links, Pieces
from jaxgames.states import register

NONE = -1
"""Witness where there is none."""

Finds = Literal["cycle", "ahead", "somewhere"]
"""What is true of the vertices that a solver has left where it finds a cycle.

`"cycle"`: the witness accepts, and lies on a cycle of vertices that are left.
`"ahead"`: each of them reaches an accepting cycle of such vertices.
`"somewhere"`: there is one among them.
In all cases every accepting cycle lies among them, or one of the witness was enough.
"""


class Problem(NamedTuple):
    """What a solver works on.

    Attributes:
        links: each vertex points at its successors, or at its predecessors where the
            solver wants those.
        accepting: bool `[V]`.
        part: int32 `[V]`: 0 for a vertex that is not there; for others a positive
            number, the same for all of a cycle.
        rank: int32 `[V]`, distinct positive numbers; what they mean is the solver's
            business.
    """

    links: Links
    accepting: Any
    part: Any
    rank: Any


@register
class Answer(NamedTuple):
    """What a solver has found.

    Attributes:
        exists: bool.
        witness: int32, a vertex that is left, or NONE.
        left: bool `[V]`, vertices among which there is an accepting cycle.
    """

    exists: Any
    witness: Any
    left: Any


@dataclasses.dataclass(frozen=True)
class CycleSolver(Machine):
    """Base of the solvers that are machines of sweeps over the edges, and turns."""

    finds: ClassVar[Finds] = "cycle"

    @property
    def backward(self) -> bool:
        """Whether each vertex shall point at its predecessors."""
        return False

    def cells(self, game: Problem) -> int:
        """The edges."""
        return ops.num_cells(game.links)


def inside(links: Links, part: jax.Array) -> Pieces:
    """The links between two vertices of one part: bool on links."""
    own = jnp.arange(len(part), dtype=jnp.int32)
    # A vertex that is not there is alone in a part of its own, and has no self-loop.
    alone = jnp.where(part > 0, part, -1 - own)
    there = ops.at_rows(links, part > 0)
    return ops.edgewise(jnp.logical_and, same_at_both_ends(links, alone), there)


def first_of(mask: jax.Array) -> jax.Array:
    """The first vertex of a set, NONE if it is empty: int32."""
    first = jnp.argmax(mask).astype(jnp.int32)
    return jnp.where(jnp.any(mask), first, NONE)
