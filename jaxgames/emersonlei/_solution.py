"""The solution of a game with a condition of Emerson and Lei."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Winners):
    """Who wins from each vertex, and how.

    Attributes:
        winner: int8 `[V]`: 0 or 1, or -1 where undecided.
        strategy: int32 `[V]`: for a vertex that its owner wins, the edge to take when
            the play begins there; -1 elsewhere. Later on it is the memory that tells.
            None if `strategies=False` was asked for.
        machine: the strategies of both players, which need memory:
            [`Machine`][jaxgames.emersonlei.Machine]. None without strategies, or where
            not all was decided; under tracing that cannot be seen, and it has moves
            where something was.
    """

    winner: Any = None
    strategy: Any = None
    machine: Any = None
