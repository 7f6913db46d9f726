"""Systems: graphs with the propositions that hold in each state."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph._input import as_arena


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class System:
    """A Kripke structure: states with named propositions, transitions, initial states.

    Attributes:
        offsets: int32 `[S + 1]`; the transitions of state `s` are
            `offsets[s] .. offsets[s + 1] - 1`.
        targets: int32 `[E]`, where they lead.
        propositions: what the propositions are called.
        labels: bool `[S, P]`, which proposition holds where.
        initial: int32 `[K]`, the initial states, ascending.

    Examples:
        >>> system = System.from_graph(
        ...     ([0, 2, 3], [0, 1, 0]), {"on": [False, True]}, initial=0
        ... )
        >>> system
        System(2 states, 3 transitions, propositions on)
    """

    offsets: np.ndarray
    targets: np.ndarray
    propositions: tuple[str, ...]
    labels: np.ndarray
    initial: np.ndarray

    @classmethod
    def from_graph(
        cls, graph: Any, labels: Mapping[str, Any], *, initial: Any = 0
    ) -> "System":
        """Builds a system from a graph and named sets of its states.

        Args:
            graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
                matrix. States may lack successors.
            labels: booleans or 0/1 `[S]` by name: where the proposition holds.
            initial: the initial state, or several.

        Raises:
            ValueError: the graph is none, a label has another length or type, or an
                initial state is out of range.
        """
        arena = as_arena(graph).unpad()
        size = arena.shape[0]
        if not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a mapping from names, got {labels!r}")
        columns = np.zeros((size, len(labels)), bool)
        for i, (name, values) in enumerate(labels.items()):
            array = np.asarray(values)
            if array.shape != (size,) or array.dtype.kind not in "biu":
                raise ValueError(
                    f"label {name!r} must have one boolean for each of {size} states, "
                    f"got {array.dtype} of shape {array.shape}"
                )
            if array.dtype != bool and not np.isin(array, (0, 1)).all():
                raise ValueError(f"label {name!r} must hold booleans or 0 and 1")
            columns[:, i] = array
        starts = np.atleast_1d(np.asarray(initial))
        if starts.ndim != 1 or (starts.size and starts.dtype.kind not in "iu"):
            raise ValueError(f"initial must be a state or several, got {initial!r}")
        wrong = starts[(starts < 0) | (starts >= size)]
        if len(wrong):
            raise ValueError(
                f"initial state {wrong[0]} is not there: expected states from 0 to "
                f"{size - 1}"
            )
        return cls(
            offsets=np.asarray(arena.row_ptr),
            targets=np.asarray(arena.dst),
            propositions=tuple(labels),
            labels=columns,
            initial=np.unique(starts).astype(np.int32),
        )

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.offsets) - 1

    @property
    def num_transitions(self) -> int:
        """Number of transitions."""
        return len(self.targets)

    def arena(self) -> Arena:
        """The states and transitions as an arena, all of player 0."""
        return Arena.from_csr(
            self.offsets,
            self.targets,
            owner=np.zeros(self.num_states, bool),
            dead_ends="allow",
        )

    def letters(self, propositions: tuple[str, ...]) -> np.ndarray:
        """The letter of each state over some propositions: uint64 `[S]`.

        Raises:
            ValueError: the system does not have one of them.
        """
        letters = np.zeros(self.num_states, np.uint64)
        for i, name in enumerate(propositions):
            if name not in self.propositions:
                raise ValueError(
                    f"the system has no proposition {name!r}, only "
                    f"{', '.join(self.propositions) or 'none at all'}"
                )
            column = self.labels[:, self.propositions.index(name)]
            letters |= column.astype(np.uint64) << np.uint64(i)
        return letters

    def __repr__(self) -> str:
        """One line: the sizes."""
        return (
            f"System({self.num_states} states, {self.num_transitions} transitions, "
            f"propositions {' '.join(self.propositions) or 'none'})"
        )
