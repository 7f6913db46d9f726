"""What the solvers for strongly connected components share."""

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.ops import Links, Pieces
from jaxgames.solver import Solver
from jaxgames.states import register
from jaxgames.tuning.graph import LARGE_CELLS

NONE = -1
"""Root or label of a vertex that has none."""


@register
class Subgraph(NamedTuple):
    """What a solver works on.

    Attributes:
        out: each vertex points at its successors.
        into: each vertex points at its predecessors.
        alive: bool `[V]`, the vertices that there are.
    """

    out: Links
    into: Links
    alive: Any


@register
class Answer(NamedTuple):
    """The components, as in [`Components`][jaxgames.graph.Components]."""

    count: jax.Array
    labels: jax.Array


@dataclasses.dataclass(frozen=True)
class ComponentSolver(Solver):
    """Base of all solvers for components; their answer is an `Answer`."""


@dataclasses.dataclass(frozen=True)
class ComponentMachine(ComponentSolver, Machine):
    """Base of those that work on links: machines that sweep over edges, and turn.

    A turn finds components, and sets the state up for other sweeps over what is left.

    Attributes:
        compress: whether to rake and compress the graph first, which is worth it where
            many vertices have one successor or predecessor. Not under tracing.
    """

    compress: bool = dataclasses.field(default=False, kw_only=True)

    @abc.abstractmethod
    def begin(self, game: Subgraph) -> Any:
        """The state to start from where links join vertices that are alive.

        It has `root` (int32 `[V]`, a vertex of the component where that is known, else
        NONE), `stable` (bool) and `left` (int32, vertices without a root).
        """

    @abc.abstractmethod
    def settle(self, game: Subgraph, state: Any) -> Any:
        """Finds components where the state is stable."""

    @abc.abstractmethod
    def live(self, game: Subgraph, state: Any) -> tuple[Pieces, Pieces]:
        """The links that a settled state needs, in both directions."""

    cuts: ClassVar[bool] = False
    """Whether a turn must cut the links that are not live."""

    def subject(self, game: Subgraph) -> Any:
        """Edges from one of their ends: the others follow, and need not be read."""
        return game.out, game.alive

    @abc.abstractmethod
    def restart(self, game: Subgraph, state: Any) -> Any:
        """The state for the next sweeps, from one that is settled."""

    @abc.abstractmethod
    def restrict(
        self, game: Subgraph, state: Any, vertices: jax.Array, place: jax.Array
    ) -> Any:
        """The state of a smaller graph.

        Args:
            game: the smaller graph.
            state: of the larger one.
            vertices: int32, the vertices of the smaller graph in the larger one; beyond
                its end where there is none.
            place: int32 `[V]`, where a vertex of the larger graph has gone.
        """

    @abc.abstractmethod
    def stats(self, game: Subgraph, state: Any) -> dict[str, Any]:
        """How many turns and sweeps it made, by name."""

    def can_shrink(self, state: Any) -> Any:
        """Whether `restrict` may be called for a state that has just been settled."""
        return jnp.array(True)

    def init(self, game: Subgraph) -> Any:
        """The state to start from."""
        return self.begin(game)

    def cells(self, game: Subgraph) -> int:
        """The links of both directions."""
        return ops.num_cells((game.out, game.into))

    def sweeps_per_step(self, game: Subgraph) -> int:
        """The sweeps between two tests: one where the graph is large."""
        long = self.sweeps is None and self.cells(game) >= LARGE_CELLS
        return 1 if long else super().sweeps_per_step(game)

    def turn(self, game: Subgraph, state: Any) -> Any:
        """Settles and starts again."""
        return self.restart(game, self.settle(game, state))

    def due(self, game: Subgraph, state: Any) -> jax.Array:
        """Whether it is time to turn: nothing is found where all is."""
        return state.stable

    def done(self, game: Subgraph, state: Any) -> jax.Array:
        """Every vertex has a root."""
        return state.left == 0

    def answer(self, game: Subgraph, state: Any) -> Answer:
        """The components that are known."""
        return number(state.root)


def number(root: jax.Array) -> Answer:
    """Numbers components in the order of their smallest vertices.

    The root, int32 `[V]`, is the same vertex for all of a component, or NONE.
    """
    own = jnp.arange(len(root), dtype=jnp.int32)
    least = least_of(root)
    first = (root != NONE) & (least == own)
    rank = ops.running_sum(first) - 1
    return Answer(
        count=jnp.sum(first, dtype=jnp.int32),
        labels=jnp.where(root == NONE, NONE, ops.take(rank, least)),
    )


def least_of(root: jax.Array) -> jax.Array:
    """The smallest vertex with the same root as each vertex: int32 `[V]`.

    Its own number for a vertex without a root.
    """
    size = len(root)
    own = jnp.arange(size, dtype=jnp.int32)
    # Of neighbours with one root the first is enough: a large component would have
    # all its vertices written to one place.
    before = jnp.concatenate([jnp.full(1, NONE, root.dtype), root[:-1]])
    heads = jnp.where((root != NONE) & (root != before), root, size)
    least = ops.min_into(heads, own, size, size)
    return jnp.where(root == NONE, own, ops.take(least, jnp.maximum(root, 0)))


def same_at_both_ends(links: Links, *values: jax.Array) -> Pieces:
    """The links between two vertices with the same values: bool on links."""
    same = None
    for x in values:
        pieces = tuple(
            at_row == at_target
            for at_row, at_target in zip(
                ops.at_rows(links, x), ops.at_targets(links, x), strict=True
            )
        )
        same = pieces if same is None else ops.edgewise(jnp.logical_and, same, pieces)
    return same or ()
