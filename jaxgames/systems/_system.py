"""Systems: graphs with the propositions that hold in each state."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.arguments import as_array, texts
from jaxgames.graph._input import as_arena
from jaxgames.quoting import unspaced
from jaxgames.value import Value, freeze


class Actions(NamedTuple):
    """The actions of a system whose states say which is taken next.

    Attributes:
        state: integers `[S]`, the state of the graph that each state is made of.
        action: integers `[S]`, the action that is taken next; -1 for none.
        names: what the actions are called.
    """

    state: np.ndarray
    action: np.ndarray
    names: Sequence[str]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class System(Value):
    """A Kripke structure: states with named propositions, transitions, initial states.

    Attributes:
        offsets: int32 `[S + 1]`; the transitions of state `s` are
            `offsets[s] .. offsets[s + 1] - 1`.
        targets: int32 `[E]`, where they lead.
        propositions: what the propositions are called.
        labels: bool `[S, P]`, which proposition holds where.
        initial: int32 `[K]`, the initial states, ascending.
        names: what each state is called, `[S]`, or None.

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
    names: Sequence[str] | None = None

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        labels: Mapping[str, Any],
        *,
        initial: Any = 0,
        names: Sequence[str] | None = None,
    ) -> "System":
        """Builds a system from a graph and named sets of its states.

        Args:
            graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
                matrix. States may lack successors.
            labels: booleans or 0/1 `[S]` by name: where the proposition holds.
            initial: the initial state, or several.
            names: what each state is called, `[S]`.

        Raises:
            ValueError: the graph is none, a label has another length or type, an
                initial state is out of range, or there is another number of names.
        """
        arena = as_arena(graph).unpad()
        size = arena.shape[0]
        if not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a mapping from names, got {labels!r}")
        columns = np.zeros((size, len(labels)), bool)
        for i, (name, values) in enumerate(labels.items()):
            array = as_array(f"label {name!r}", values)
            if array.shape != (size,) or array.dtype.kind not in "biu":
                raise ValueError(
                    f"label {name!r} must have one boolean for each of {size} states, "
                    f"got {array.dtype} of shape {array.shape}"
                )
            if array.dtype != bool and not np.isin(array, (0, 1)).all():
                raise ValueError(f"label {name!r} must hold booleans or 0 and 1")
            columns[:, i] = array
        if names is not None and len(names) != size:
            raise ValueError(f"{size} states must have {size} names, got {len(names)}")
        starts = np.atleast_1d(as_array("initial", initial))
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
            labels=freeze(columns),
            initial=np.unique(starts).astype(np.int32),
            names=names,
        )

    @classmethod
    def from_actions(
        cls,
        graph: Any,
        action: Any,
        names: Sequence[str],
        *,
        initial: int = 0,
        propositions: Iterable[str] | None = None,
    ) -> "System":
        """Builds a system from a graph whose edges are labelled by actions.

        A state of it is a state of the graph with the action that is taken there next,
        and that action is the one proposition that holds: a run of the graph that takes
        the actions `a`, `b`, ... is the word `{a} {b} ...`. In a state of the graph
        without edges no action is taken and no proposition holds. The states of the
        system are in ascending order of the state of the graph, then of the action. At
        most as many states as the graph has edges and dead ends; O(S + E') time.

        Args:
            graph: as for [`from_graph`][jaxgames.systems.System.from_graph].
            action: integers `[E]`, the action of each edge, an index into `names`.
            names: what the actions are called.
            initial: the initial state of the graph.
            propositions: the actions that shall be propositions; by default all.

        Raises:
            ValueError: an action or the initial state is out of range, a proposition is
                no action, or the system would have more transitions than int32 can
                index.

        Examples:
            >>> graph = [0, 1, 3], [1, 0, 1]  # 0 -send-> 1, 1 -receive-> 0, 1 -tau-> 1
            >>> names = "send", "receive", "tau"
            >>> system = System.from_actions(graph, [0, 1, 2], names)
            >>> system
            System(3 states, 5 transitions, propositions send receive tau)
            >>> list(system.names)
            ['state 0, then send', 'state 1, then receive', 'state 1, then tau']
        """
        arena = as_arena(graph).unpad()
        size, edges = arena.shape
        action = as_array("action", action)
        if action.shape != (edges,) or (edges and action.dtype.kind not in "iu"):
            raise ValueError(
                f"action must have one integer for each of {edges} edges, got "
                f"{action.dtype} of shape {action.shape}"
            )
        names = texts("names", names)
        if edges and not 0 <= action.min() <= action.max() < len(names):
            raise ValueError(f"actions must be from 0 to {len(names) - 1}")
        if not 0 <= initial < size:
            raise ValueError(
                f"initial state {initial} is not there: expected states from 0 to "
                f"{size - 1}"
            )
        wanted = names
        if propositions is not None:
            wanted = texts("propositions", propositions)
        for name in wanted:
            if name not in names:
                raise ValueError(
                    f"the system has no action {name!r}, only "
                    f"{', '.join(names) or 'none at all'}"
                )
        # Pairs of a state and an action; the dead ends have action 0, which is none.
        kinds = len(names) + 1
        row_ptr = np.asarray(arena.row_ptr, np.int64)
        tails = np.repeat(np.arange(size), np.diff(row_ptr))
        taken = tails * kinds + action + 1
        dead = np.flatnonzero(np.diff(row_ptr) == 0) * kinds
        pairs = np.union1d(taken, dead)
        first = np.searchsorted(pairs, np.arange(size + 1) * kinds)
        # An edge leads to all pairs of its target.
        order = np.argsort(taken, kind="stable")
        heads = np.asarray(arena.dst)[order]
        counts = np.diff(first)[heads]
        total = int(counts.sum())
        if total > MAX_SIZE:
            raise ValueError(
                f"the system would have {total} transitions, more than {MAX_SIZE}"
            )
        begins = np.append(0, np.cumsum(counts))
        targets = np.arange(total) + np.repeat(first[heads] - begins[:-1], counts)
        owner = np.searchsorted(pairs, taken[order])
        degree = np.bincount(owner, weights=counts, minlength=len(pairs))
        state, kind = np.divmod(pairs, kinds)
        labels = np.zeros((len(pairs), len(wanted)), bool)
        for i, name in enumerate(wanted):
            labels[:, i] = kind == names.index(name) + 1
        return cls(
            offsets=freeze(np.append(0, np.cumsum(degree)).astype(np.int32)),
            targets=freeze(targets.astype(np.int32)),
            propositions=wanted,
            labels=freeze(labels),
            initial=np.arange(*first[initial : initial + 2], dtype=np.int32),
            names=_Pairs(state, kind - 1, names),
        )

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.offsets) - 1

    @property
    def num_transitions(self) -> int:
        """Number of transitions."""
        return len(self.targets)

    @property
    def actions(self) -> Actions | None:
        """The actions, if it was made by `from_actions`."""
        return self.names.actions if isinstance(self.names, _Pairs) else None

    def arena(self) -> Arena:
        """The states and transitions as an arena, all of player 0."""
        return Arena.from_csr(
            self.offsets,
            self.targets,
            owner=freeze(np.zeros(self.num_states, bool)),
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
                    f"{unspaced(name, self.propositions)}"
                )
            column = self.labels[:, self.propositions.index(name)]
            letters |= column.astype(np.uint64) << np.uint64(i)
        return letters

    def __repr__(self) -> str:
        return (
            f"System({self.num_states} states, {self.num_transitions} transitions, "
            f"propositions {' '.join(self.propositions) or 'none'})"
        )


class _Pairs(Sequence):
    """Names of states with their next actions, made when they are asked for."""

    def __init__(self, state: np.ndarray, action: np.ndarray, names: Sequence[str]):
        self._state, self._action, self._names = state, action, names

    @property
    def actions(self) -> Actions:
        return Actions(self._state, self._action, self._names)

    def __len__(self) -> int:
        return len(self._state)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        action = int(self._action[index])
        what = "nothing" if action < 0 else self._names[action]
        return f"state {self._state[index]}, then {what}"
