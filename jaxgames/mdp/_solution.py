"""The maximal end components of a model."""

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxgames import solution
from jaxgames.arena import is_traced


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class EndComponents(solution.Solution):
    """The maximal end components of a Markov decision process.

    Attributes:
        count: int32 scalar, how many there are.
        state_label: int32 `[S]`: the component of each state; -1 for a state in none.
            Components are numbered in the order of their smallest states. In a solve
            that stopped early nothing is known to be a component yet: all are -1.
        choice_kept: bool `[C]`: the choices that lie in a component: its state and all
            it may lead to do.
    """

    count: Any = None
    state_label: Any = None
    choice_kept: Any = None

    def __repr__(self) -> str:
        """One line: how many components there are, and what they hold."""
        if is_traced(self.state_label) or np.ndim(self.state_label) != 1:
            return f"EndComponents(state_label {np.shape(self.state_label)})"
        states = int((np.asarray(self.state_label) >= 0).sum())
        choices = int(np.asarray(self.choice_kept).sum())
        return (
            f"EndComponents({int(self.count)} of {states} states and {choices} choices)"
        )
