"""Classes of equivalent states."""

import dataclasses
from typing import Any

import numpy as np

from jaxgames.solution import Solution, Status


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Classes(Solution):
    """Which states of a system are equivalent.

    Attributes:
        labels: int32 `[V]`, the class of each state, numbered in the order of their
            first ones; -1 where it is not known.
    """

    labels: Any = None

    @property
    def count(self) -> int:
        """How many classes there are."""
        return int(np.max(self.labels, initial=-1)) + 1

    def __repr__(self) -> str:
        if self.status != Status.SOLVED:
            return f"Classes({Status(self.status).name})"
        return f"Classes({self.count} of {len(self.labels)} states)"
