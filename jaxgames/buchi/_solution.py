"""The answer to whether there is an accepting cycle."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import solution
from jaxgames.later import has_values, jax
from jaxgames.solution import UNDECIDED


@dataclasses.dataclass(frozen=True, eq=False)
class Lasso:
    """A run for ever: the prefix, then the cycle again and again.

    The run starts at an initial vertex: at `prefix[0]`, or at `cycle[0]` where the
    prefix is empty. An edge leads from each vertex to the next, from the last one of
    the prefix to `cycle[0]`, and from the last one of the cycle back to `cycle[0]`.

    Attributes:
        prefix: int32, may be empty.
        cycle: int32, at least one vertex; one of them accepts.
    """

    prefix: np.ndarray
    cycle: np.ndarray

    def __repr__(self) -> str:
        return f"Lasso({len(self.prefix)} + {len(self.cycle)} vertices)"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class AcceptingCycle(solution.Solution):
    """Whether an accepting cycle is reached, and one to show.

    For a batch of `B` accepting sets all but `lasso` have a leading dimension `[B]`.

    Attributes:
        exists: bool, whether there is one; False where that is not decided.
        decided: bool, whether the search came to an end. One that has found a cycle
            has, and so has one that has seen all.
        witness: int32, a vertex from which an accepting cycle is reached, itself
            reached from an initial vertex; -1 where there is none.
        lasso: a [`Lasso`][jaxgames.buchi.Lasso], or None where there is no cycle, or
            under tracing; a list of those for a batch. Which lasso it is depends on the
            solver.
    """

    exists: Any = None
    decided: Any = None
    witness: Any = None
    lasso: Any = dataclasses.field(default=None, metadata={"static": True})

    def __repr__(self) -> str:
        if not has_values(self.exists):
            return f"AcceptingCycle(exists {getattr(self.exists, 'shape', '?')})"
        if np.ndim(self.exists):
            found = int(np.sum(self.exists))
            return f"AcceptingCycle({found} of {np.size(self.exists)} exist)"
        if not self.decided:
            return "AcceptingCycle(undecided)"
        if self.lasso is None:
            return f"AcceptingCycle({'exists' if self.exists else 'none'})"
        return f"AcceptingCycle({self.lasso!r})"


class Shown(NamedTuple):
    """What an accepting cycle says, besides what all solutions do."""

    exists: Any
    decided: Any
    witness: Any
    lasso: Any


def shown(lasso: Lasso | None, witness: int, **how: Any) -> AcceptingCycle:
    """What is said where all is known: a lasso, and a vertex of it; or that none is."""
    return AcceptingCycle(
        solution.Status.SOLVED,
        exists=np.bool_(lasso is not None),
        decided=np.bool_(True),
        witness=np.int32(witness),
        lasso=lasso,
        **how,
    )


def nothing(batch: tuple[int, ...] = ()) -> Shown:
    """What is said where nothing is known; of a batch for each."""
    return Shown(
        exists=np.zeros(batch, bool)[()],
        decided=np.zeros(batch, bool)[()],
        witness=np.full(batch, UNDECIDED, np.int32)[()],
        lasso=tuple([None] * batch[0]) if batch else None,
    )
