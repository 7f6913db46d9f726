"""The solution of an energy game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import jax

TOP = -1
"""Credit of a vertex from which no credit is enough: player 1 wins it."""

UNKNOWN = -2
"""Credit of a vertex that the solve did not decide."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Winners):
    """How much energy each vertex of an energy game needs, and what to do with it.

    Attributes:
        credit: integers `[V]`, in units of the weights: the least initial energy with
            which player 0 can go on for ever; [`TOP`][jaxgames.energy.TOP] where none
            is enough, [`UNKNOWN`][jaxgames.energy.UNKNOWN] where undecided. int32, or
            int64 where `energy.bound` says that more may be needed.
        winner: int8 `[V]`: 0 where some credit is enough, 1 where none is, or -1 where
            undecided.
        strategy: int32 `[V]`: for a vertex that its owner wins, the index of the edge
            to take; -1 elsewhere. None if `strategies=False` was asked for.
    """

    credit: Any = None
    winner: Any = None
    strategy: Any = None

    def _more(self) -> str:
        return f" with credits up to {int(self.credit.max())}"
