"""What is found in graphs: strongly connected components, and attractors."""

import dataclasses
from typing import Any, NamedTuple

from jaxgames import solution
from jaxgames.later import has_values, jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Components(solution.Solution):
    """The strongly connected components of a graph.

    Attributes:
        count: int32, how many there are.
        labels: int32 `[V]`: the component of each vertex, numbered from 0 in order of
            their smallest vertices; -1 for vertices that are masked out or padding, and
            for those that the solve did not decide.
    """

    count: Any = None
    labels: Any = None

    def __repr__(self) -> str:
        if not has_values(self.labels) or self.labels.ndim != 1:
            return f"Components(labels {getattr(self.labels, 'shape', '?')})"
        return (
            f"Components({int(self.count)} of {int((self.labels >= 0).sum())} vertices)"
        )


NO_RANK = -1
"""Rank of a vertex that is not attracted."""


class Attractor(NamedTuple):
    """Where a player can force a visit to a set, and how.

    Attributes:
        mask: bool `[V]`, the vertices from which he can.
        strategy: int32 `[V]`, the edge that he takes: the first one to a vertex of the
            next lower rank. -1 in the target, where the other player moves, and
            outside.
        rank: int32 `[V]`, how many moves it takes at most: 0 in the target, -1 outside.
    """

    mask: Any
    strategy: Any
    rank: Any
