"""Solutions: maximal end components, and probabilities."""

import dataclasses
from typing import Any

import numpy as np

from jaxgames import solution
from jaxgames.later import has_values, jax


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
        if not has_values(self.state_label) or self.state_label.ndim != 1:
            shape = getattr(self.state_label, "shape", "?")
            return f"EndComponents(state_label {shape})"
        states = int((np.asarray(self.state_label) >= 0).sum())
        choices = int(np.asarray(self.choice_kept).sum())
        return (
            f"EndComponents({int(self.count)} of {states} states and {choices} choices)"
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class ReachProbability(solution.Solution):
    """Probabilities to reach a target.

    Attributes:
        lower: float64 `[S]`, proved lower bounds; under tracing of the width that JAX
            has.
        upper: likewise, proved upper bounds.
        value: likewise, the middle between them.
        scheduler: int32 `[S]`, the choice in each state of a memoryless scheduler; -1
            in the target, and where a path has failed. If the solve was for the largest
            probability, it reaches the target with at least `lower`; if for the least,
            with at most `upper`.
    """

    lower: Any = None
    upper: Any = None
    value: Any = None
    scheduler: Any = None

    @property
    def iterations(self) -> int:
        """How often the equations were applied."""
        return self.stats["rounds"]

    def __repr__(self) -> str:
        if not has_values(self.lower, self.upper) or self.lower.ndim != 1:
            return f"ReachProbability(value {getattr(self.lower, 'shape', '?')})"
        gap = np.max(self.upper - self.lower, initial=0.0)
        return (
            f"ReachProbability({len(self.lower)} states, bounds at most {gap:.1e} "
            f"apart after {self.iterations} iterations)"
        )
