"""A state space that has been found."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from jaxgames.arena import Arena, Condition
from jaxgames.graph._packing import Packing
from jaxgames.kept import keeps
from jaxgames.solution import Solution
from jaxgames.tuning.explore import STATES_AT_ONCE as AT_ONCE
from jaxgames.value import Value, freeze


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class StateSpace(Solution, Value):
    """The states that a transition function reaches, and the edges between them.

    States are numbered breadth first; the initial ones come first. `V` and `E` are the
    numbers of states and edges.

    Attributes:
        status: whether all of them were found.
        words: uint32 `[V, W]`, the states, packed.
        packing: how they are packed.
        offsets: int32 `[V + 1]`; the edges of state `v` are
            `offsets[v] .. offsets[v + 1] - 1`, in the order of actions.
        targets: int32 `[E]`, where they lead.
        actions: integers `[E]`, the action of each edge; of several with the same
            target the first, unless all edges were kept.
        initial: int32 `[N]`, the initial states.
        levels: int32 `[L + 1]`, where each level begins, and the number of states: the
            states of level `i` are `i` steps away. In a part of a state space the last
            level need not be whole.
        num_expanded: the first so many states have their edges; all have, if the status
            says so.
    """

    words: np.ndarray
    packing: Packing
    offsets: np.ndarray
    targets: np.ndarray
    actions: np.ndarray
    initial: np.ndarray
    levels: np.ndarray
    num_expanded: int

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.words)

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return len(self.targets)

    @keeps
    def states(self) -> np.ndarray:
        """The states: int32 `[V, K]`."""
        return np.ascontiguousarray(self.packing.unpack(self.words))

    def at(self, numbers: Any) -> np.ndarray:
        """Some states by their numbers, without unpacking all: int32 `[..., K]`."""
        numbers = np.asarray(numbers, np.int64)
        states = self.packing.unpack(self.words[numbers.ravel()])
        return np.ascontiguousarray(states).reshape(*numbers.shape, self.packing.size)

    @property
    def graph(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges as compressed sparse rows: `(offsets, targets)`."""
        return self.offsets, self.targets

    @property
    def depth(self) -> int:
        """How many steps away the last states are."""
        return len(self.levels) - 2

    @property
    def deadlocks(self) -> np.ndarray:
        """The states that have no successor: int32, ascending."""
        degree = np.diff(self.offsets[: self.num_expanded + 1])
        return np.flatnonzero(degree == 0).astype(np.int32)

    def evaluate(self, function: Callable[[Any], Any]) -> np.ndarray:
        """What a vectorised function says of each state: `[V]`.

        Args:
            function: from states, int32 `[N, K]`, one value for each, `[N]`.

        Raises:
            ValueError: it returns another number of values.

        Examples:
            >>> from jaxgames import graph
            >>> space = graph.explore(lambda x: (x[:, None] + 1, x < 3), [0])
            >>> space.evaluate(lambda x: x[:, 0] % 2 == 0)
            array([ True, False,  True, False])
        """
        return self.evaluate_each([function])[0]

    def evaluate_each(
        self, functions: Sequence[Callable[[Any], Any]]
    ) -> list[np.ndarray]:
        """What several functions say: each state is unpacked once for all of them.

        Args:
            functions: as for `evaluate`.

        Returns:
            `[V]` for each function.

        Raises:
            ValueError: as `evaluate`.
        """
        found: list[list[np.ndarray]] = [[] for _ in functions]
        for begin in range(0, max(self.num_states, 1), AT_ONCE):
            states = self.packing.unpack(self.words[begin : begin + AT_ONCE])
            for function, pieces in zip(functions, found, strict=True):
                values = np.asarray(function(states))
                if values.shape != (len(states),):
                    raise ValueError(
                        f"a function of [{len(states)}, {states.shape[1]}] states must "
                        f"have one value for each, got shape {list(values.shape)}"
                    )
                pieces.append(values)
        return [np.concatenate(pieces) for pieces in found]

    def arena(
        self,
        *,
        owner: Any = None,
        priority: Any = None,
        accepting: Any = None,
        condition: Condition = "max even",
        dead_ends: Literal["error", "lose", "allow"] = "allow",
    ) -> Arena:
        """The state space as a game.

        Args:
            owner: who moves, False for player 0: a function of states, as for
                `evaluate`, or an array `[V]`; None: player 0 everywhere.
            priority: a function or an array, or None.
            accepting: a function or an array, or None.
            condition: what the priorities mean.
            dead_ends: what a state without successor means, as for
                [`Arena.from_csr`][jaxgames.Arena.from_csr].

        Raises:
            ValueError: as `Arena.from_csr`.
        """

        def values(given: Any) -> Any:
            return self.evaluate(given) if callable(given) else given

        return Arena.from_csr(
            self.offsets,
            self.targets,
            owner=freeze(np.zeros(self.num_states, bool))
            if owner is None
            else values(owner),
            priority=values(priority),
            accepting=values(accepting),
            condition=condition,
            dead_ends=dead_ends,
        )

    def __repr__(self) -> str:
        return f"StateSpace({self.num_states} states, {self.num_edges} edges)"


def levels_of(known: np.ndarray, starts: int) -> np.ndarray:
    """Where levels begin.

    What is known are integers `[V]`, how many states were when each had been expanded;
    perhaps not for the last ones. So many are initial.
    """
    levels = [0, starts]
    while levels[-1] <= len(known) and (end := int(known[levels[-1] - 1])) > levels[-1]:
        levels.append(end)
    last = int(known[-1]) if len(known) else starts
    if last > levels[-1]:  # a part of a level
        levels.append(last)
    return np.array(levels, np.int32)
