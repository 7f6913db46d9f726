"""What the solvers for end components share."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.mdp._layout import Layout
from jaxgames.states import register


@register
class Answer(NamedTuple):
    """The maximal end components, as [`EndComponents`][jaxgames.mdp.EndComponents]."""

    count: jax.Array
    state_label: jax.Array
    choice_kept: jax.Array


@dataclasses.dataclass(frozen=True)
class EndComponentSolver(Machine):
    """Base of the solvers: a machine whose steps are some rounds and a transition.

    Attributes:
        sweeps: rounds between two tests whether something has changed.
    """

    needs_graph: ClassVar[bool] = False
    """Whether the layout must have the graph of the model."""

    def subject(self, game: Layout) -> Any:
        """Branches, owners and masks: all else follows, and need not be read."""
        return game.branches, game.owner, game.states, game.live

    def stats(self, game: Layout, state: Any) -> dict[str, Any]:
        """Outer steps, and rounds of each kind."""
        return {
            "outer": state.outer,
            "propagation": state.propagation,
            "removal": state.removal,
        }

    def cells(self, game: Layout) -> int:
        """Branches of the model."""
        return game.cells


def answer(alive: Any, live: Any, root: Any, done: Any) -> Answer:
    """The answer from what is left, and the least state of each one's component.

    Args:
        alive: bool `[S]`, the states that are left.
        live: bool `[C]`, the choices that are left.
        root: int32 `[S]`, the least state of the component of each state that is left.
        done: bool scalar; nothing is known to be a component before.
    """
    first = alive & (root == jnp.arange(len(root), dtype=jnp.int32)) & done
    number = ops.running_sum(first) - 1
    return Answer(
        count=jnp.sum(first, dtype=jnp.int32),
        state_label=jnp.where(alive & done, ops.take(number, root), -1),
        choice_kept=live & done,
    )
