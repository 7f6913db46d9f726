"""What a check of a parity game's solution finds."""

import dataclasses
import enum
from typing import Any

import jax
import numpy as np

from jaxgames.arena import is_traced

NO_VERTEX = -1
"""Vertex of a verdict that finds nothing wrong."""


class Reason(enum.IntEnum):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.STRATEGY_LEAVES_REGION.message
        "its winner's strategy leads to a vertex that the other player wins"
    """

    OK = 0
    UNDECIDED = 1
    STRATEGY_MISSING = 2
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = 3
    STRATEGY_OF_LOSER = 4
    STRATEGY_LEAVES_REGION = 5
    OPPONENT_ESCAPES = 6
    CYCLE_WON_BY_OPPONENT = 7
    CUT_OUT_OF_ORDER = 8
    MEASURE_RISES = 9

    @property
    def message(self) -> str:
        """What holds of the vertex where the check fails."""
        return _MESSAGES[self]


_MESSAGES = {
    Reason.OK: "nothing is wrong",
    Reason.UNDECIDED: "its winner is neither 0 nor 1",
    Reason.STRATEGY_MISSING: "its owner wins it, but has no strategy there",
    Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX: (
        "its strategy is not the index of one of its edges"
    ),
    Reason.STRATEGY_OF_LOSER: "its owner loses it, yet has a strategy there",
    Reason.STRATEGY_LEAVES_REGION: (
        "its winner's strategy leads to a vertex that the other player wins"
    ),
    Reason.OPPONENT_ESCAPES: (
        "its owner loses it, yet has an edge to a vertex that he wins"
    ),
    Reason.CYCLE_WON_BY_OPPONENT: (
        "the other player wins a cycle through it that its winner's strategy allows"
    ),
    Reason.CUT_OUT_OF_ORDER: (
        "a priority compares more of a measure than a less important one, or more than "
        "there is"
    ),
    Reason.MEASURE_RISES: (
        "its measure is the top, or does not fall as it must along an edge that its "
        "winner's strategy allows"
    ),
}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Verdict:
    """What a check of a solution found: true if nothing is wrong.

    Attributes:
        valid: bool, whether the solution is right.
        reason: int32, a [`Reason`][jaxgames.parity.Reason]: the first one that holds
            somewhere, or `Reason.OK`.
        vertex: int32, a vertex where it holds, or -1.

    Examples:
        >>> verdict = Verdict.at(Reason.STRATEGY_MISSING, 5)
        >>> bool(verdict)
        False
        >>> print(verdict)
        vertex 5: its owner wins it, but has no strategy there
    """

    valid: Any
    reason: Any
    vertex: Any

    @classmethod
    def at(cls, reason: Reason, vertex: int = NO_VERTEX) -> "Verdict":
        """The verdict for a concrete reason."""
        return cls(np.bool_(reason == Reason.OK), np.int32(reason), np.int32(vertex))

    def __bool__(self) -> bool:
        """Whether the solution is right; an error where the verdict is traced."""
        return bool(self.valid)

    def __str__(self) -> str:
        """The reason and the vertex, in words."""
        if is_traced(self.valid) or np.ndim(self.valid):
            return repr(self)
        if self:
            return "valid"
        message = Reason(int(self.reason)).message
        return (
            message if self.vertex == NO_VERTEX else f"vertex {self.vertex}: {message}"
        )
