"""The solution of an energy game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import Tracer, jax

TOP = -1
"""Credit of a vertex from which no credit is enough: player 1 wins it."""

UNKNOWN = -2
"""Credit of a vertex that the solve did not decide."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solution(solution.Solution):
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

    def successor(self, arena) -> Any:
        """The strategy as vertices: int32 `[V]`, -1 where there is no move.

        Raises:
            ValueError: the solution has no strategy.
        """
        if self.strategy is None:
            raise ValueError("solved with strategies=False: there is no strategy")
        return solution.successor_of(arena, self.strategy)

    def __repr__(self) -> str:
        """One line: how many vertices each player wins, and the largest credit."""
        if isinstance(self.winner, Tracer) or self.winner.ndim != 1:
            return f"Solution(winner {self.winner.shape})"
        won = [int((self.winner == player).sum()) for player in (0, 1, -1)]
        most = f" with credits up to {int(self.credit.max())}" if won[0] else ""
        undecided = f", {won[2]} undecided" if won[2] else ""
        return (
            f"Solution(player 0 wins {won[0]}{most}, player 1 wins {won[1]}{undecided})"
        )
