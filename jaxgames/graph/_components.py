"""The solution: strongly connected components."""

import dataclasses
from typing import Any

import jax
from jax.core import Tracer

from jaxgames import solution


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
        """One line: how many components and vertices there are."""
        if isinstance(self.labels, Tracer) or self.labels.ndim != 1:
            return f"Components(labels {self.labels.shape})"
        return (
            f"Components({int(self.count)} of {int((self.labels >= 0).sum())} vertices)"
        )
