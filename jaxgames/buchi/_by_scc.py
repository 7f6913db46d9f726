"""Accepting cycles by strongly connected components."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.buchi._solver import Answer, Finds, first_of
from jaxgames.graph import MaxId
from jaxgames.graph._solver import ComponentMachine, Subgraph, number, same_at_both_ends
from jaxgames.later import jax, jnp
from jaxgames.ops import Links
from jaxgames.solver import Solver


class Graph(NamedTuple):
    """A graph in both directions, with accepting vertices.

    Attributes:
        out: each vertex points at its successors.
        into: each vertex points at its predecessors.
        part: int32 `[V]`, 0 for a vertex that is not there.
        accepting: bool `[V]`.
    """

    out: Links
    into: Links
    part: Any
    accepting: Any


@dataclasses.dataclass(frozen=True)
class ByScc(Solver):
    """Finds all strongly connected components, then tests them.

    A vertex is on a cycle if and only if it has an edge inside its component.

    Attributes:
        components: the solver for the components.

    Examples:
        >>> from jaxgames import buchi
        >>> graph = [0, 1, 3, 4], [1, 0, 2, 2]
        >>> buchi.accepting_cycle(graph, accepting=[2], solver="scc")
        AcceptingCycle(Lasso(2 + 1 vertices))
    """

    components: ComponentMachine = MaxId()
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "scc"
    finds: ClassVar[Finds] = "cycle"

    def init(self, game: Graph) -> Any:
        """As the solver for the components."""
        return self.components.init(_subgraph(game))

    def step(self, game: Graph, state: Any) -> Any:
        """As the solver for the components."""
        return self.components.step(_subgraph(game), state)

    def done(self, game: Graph, state: Any) -> jax.Array:
        """All components are known."""
        return self.components.done(_subgraph(game), state)

    def answer(self, game: Graph, state: Any) -> Answer:
        """The first accepting vertex on a cycle, and its component."""
        done = self.done(game, state)
        labels = number(state.root).labels
        hit = on_cycle(game.out, labels) & game.accepting & done
        witness = first_of(hit)
        label = ops.take(labels, jnp.maximum(witness, 0))
        return Answer(jnp.any(hit), witness, (labels == label) & jnp.any(hit))

    def stats(self, game: Graph, state: Any) -> dict[str, Any]:
        """As the solver for the components."""
        return self.components.stats(_subgraph(game), state)


def on_cycle(out: Links, labels: jax.Array) -> jax.Array:
    """The vertices that lie on a cycle: bool `[V]` (pure).

    Args:
        out: each vertex points at its successors.
        labels: int32 `[V]`, the components; -1 for a vertex that is not there.
    """
    own = jnp.arange(len(labels), dtype=jnp.int32)
    alone = jnp.where(labels < 0, -1 - own, labels)
    same = same_at_both_ends(out, alone)
    return (labels >= 0) & ops.links_any(out, same)


def _subgraph(game: Graph) -> Subgraph:
    return Subgraph(game.out, game.into, game.part > 0)
