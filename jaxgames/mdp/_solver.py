"""What the solvers for end components share."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.mdp._layout import Layout
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register

IDLE_CELLS = 1 << 23
"""Branches that may be read for nothing between two tests, on an accelerator."""


@register
class Answer(NamedTuple):
    """The maximal end components, as [`EndComponents`][jaxgames.mdp.EndComponents]."""

    count: jax.Array
    state_label: jax.Array
    choice_kept: jax.Array


@dataclasses.dataclass(frozen=True)
class EndComponentSolver(Solver):
    """Base of the solvers: a machine whose steps are some rounds and a transition.

    Attributes:
        sweeps: rounds between two tests whether something has changed.
    """

    sweeps: int | None = None
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    needs_graph: ClassVar[bool] = False
    """Whether the layout must have the graph of the model."""

    def __post_init__(self):
        """Checks the options."""
        super().__post_init__()
        check_positive(sweeps=self.sweeps)

    def stats(self, game: Layout, state: Any) -> dict[str, Any]:
        """Outer steps, and rounds of each kind."""
        del game
        return {
            "outer": state.outer,
            "propagation": state.propagation,
            "removal": state.removal,
        }

    def sweeps_per_step(self, game: Layout) -> int:
        """The rounds of a step on the default backend."""
        if self.sweeps is not None:
            return self.sweeps
        if jax.default_backend() == "cpu":
            return 1
        return max(2, min(8, IDLE_CELLS // max(game.cells, 1)))


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
