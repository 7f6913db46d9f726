"""The solution of a parity game."""

import dataclasses
from typing import Any

from jaxgames import solution
from jaxgames.later import Tracer, jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solution(solution.Solution):
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

    def successor(self, arena) -> Any:
        """The strategy as vertices: int32 `[V]`, -1 where there is no move.

        Raises:
            ValueError: the solution has no strategy.
        """
        if self.strategy is None:
            raise ValueError("solved with strategies=False: there is no strategy")
        return solution.successor_of(arena, self.strategy)

    def __repr__(self) -> str:
        """One line: how many vertices each player wins, and how it was found."""
        if isinstance(self.winner, Tracer) or self.winner.ndim != 1:
            return f"Solution(winner {self.winner.shape})"
        won = [int((self.winner == player).sum()) for player in (0, 1, -1)]
        undecided = f", {won[2]} undecided" if won[2] else ""
        return f"Solution(player 0 wins {won[0]}, player 1 wins {won[1]}{undecided})"
