"""The solution: strongly connected components."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxgames import solution
from jaxgames.graph._input import as_arena
from jaxgames.solution import UNDECIDED, Stats, Status


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


def undecided(status: Status, graph: Any, *_, state: Any = None, **__) -> Components:
    """What is known of no vertex, for the arguments of `scc`."""
    made = getattr(graph, "out", None)  # links of the device
    size = as_arena(graph).shape[0] if made is None else made.num_rows
    return Components(
        count=np.int32(0),
        labels=np.full(size, UNDECIDED, np.int32),
        status=status,
        stats=Stats(solver="none", rounds=0),
        state=state,
    )
