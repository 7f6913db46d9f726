"""The solution of a discounted game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import has_values, jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solution(solution.Strategies):
    """The value of each vertex of a discounted game, between bounds, and how to play.

    Attributes:
        lower: float64 `[V]`: player 0's strategy gets as much, whatever player 1 does.
            Under tracing of the width that JAX has.
        upper: float64 `[V]`: player 1's strategy lets him get no more.
        value: float64 `[V]`, between them.
        strategy: int32 `[V]`: for every vertex the index of the edge that its owner
            takes, whatever was before; -1 where undecided. None if
            `strategies=False` was asked for.
    """

    lower: Any = None
    upper: Any = None
    value: Any = None
    strategy: Any = None

    def __repr__(self) -> str:
        if not has_values(self.lower, self.upper) or self.lower.ndim != 1:
            return f"Solution(values {getattr(self.lower, 'shape', '?')})"
        low, high = self.lower.tolist(), self.upper.tolist()
        if not low:
            return "Solution(0 vertices)"
        width = max(y - x for x, y in zip(low, high, strict=True))
        text = f"{len(low)} vertices with values from {min(self.value):.6g} to "
        return f"Solution({text}{max(self.value):.6g}, known to {width:.1e})"
