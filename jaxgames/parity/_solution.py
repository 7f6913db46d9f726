"""The solution of a parity game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Winners):
    """Who wins from each vertex of a parity game, and how.

    Attributes:
        winner: int8 `[V]`: 0 or 1, or -1 where undecided.
        strategy: int32 `[V]`: for a vertex that its owner wins, the index of the
            edge to take; -1 elsewhere. None if `strategies=False` was asked for.
        measures: progress measures of both players, where the solver gives them: a
            certificate that `verify` checks in one pass.
    """

    winner: Any = None
    strategy: Any = None
    measures: Any = None
