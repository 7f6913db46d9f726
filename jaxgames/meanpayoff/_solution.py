"""Solutions of mean-payoff games."""

import dataclasses
from fractions import Fraction
from typing import Any

from jaxgames import solution
from jaxgames.later import has_values, jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solution(solution.Strategies):
    """The value of each vertex of a mean-payoff game, and how to attain it.

    A value is a fraction in lowest terms: what a play gains on the long run for each
    edge, in units of the weights, if both players do their best.

    Attributes:
        value_num: integers `[V]`, numerators. int32, or int64 where the weights times
            the number of vertices may need it, or objects that are Python's integers
            where one needs more.
        value_den: integers `[V]`, denominators, from 1 to the number of vertices; 0
            where the solve did not find the value.
        strategy: int32 `[V]`: for every vertex the index of the edge that its owner
            takes. With these each player gets the value at least, wherever a play
            begins. -1 where undecided; None if `strategies=False` was asked for.
    """

    value_num: Any = None
    value_den: Any = None
    strategy: Any = None

    def value(self, vertex: int) -> Fraction:
        """The value of one vertex.

        Raises:
            ValueError: the solve did not find it.
        """
        den = int(self.value_den[vertex])
        if not den:
            raise ValueError(f"the value of vertex {vertex} was not found")
        return Fraction(int(self.value_num[vertex]), den)

    def __repr__(self) -> str:
        if not has_values(self.value_num, self.value_den):
            return f"Solution(values {getattr(self.value_num, 'shape', '?')})"
        known = self.value_den > 0
        undecided = int((~known).sum())
        text = f"{int(known.sum())} vertices"
        if known.any():
            num, den = self.value_num[known], self.value_den[known]
            values = [
                Fraction(int(n), int(d)) for n, d in {*zip(num, den, strict=True)}
            ]
            text += f" with values from {min(values)} to {max(values)}"
        return f"Solution({text}{f', {undecided} undecided' if undecided else ''})"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Decision(solution.Winners):
    """Which vertices of a mean-payoff game have at least a given value.

    Attributes:
        winner: int8 `[V]`: 0 where the value is at least the threshold, 1 where it is
            less, or -1 where undecided.
        strategy: int32 `[V]`: for a vertex that its owner wins, the index of the edge
            to take; -1 elsewhere. None if `strategies=False` was asked for.
    """

    winner: Any = None
    strategy: Any = None
