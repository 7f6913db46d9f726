"""The solution of an energy parity game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import jax

LOST = -1
"""Credit of a vertex that player 1 wins: no energy is enough."""

UNKNOWN = -2
"""Credit of a vertex that the solve did not decide."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Winners):
    """Who wins from each vertex of an energy parity game, and how.

    Attributes:
        winner: int8 `[V]`: 0 where player 0 wins with some energy, 1 where he does not,
            or -1 where undecided.
        strategy: int32 `[V]`: for a vertex that player 1 owns and wins, the index of
            the edge to take; -1 elsewhere. He needs no memory. None if
            `strategies=False` was asked for.
        credit: integers `[V]`: initial energy that is enough for player 0's strategy,
            not the least there is; -1 where he loses, -2 where undecided. None
            without strategies. Of a traced game it is the least there is, and there are
            no strategies.
        modes: player 0's strategy, which needs memory:
            [`Modes`][jaxgames.energyparity.Modes]. None without strategies, or where
            not all was decided.
    """

    winner: Any = None
    strategy: Any = None
    credit: Any = None
    modes: Any = None
