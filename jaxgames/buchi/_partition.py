"""What the property says about cycles: components of its automaton, and their kinds."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import as_array
from jaxgames.buchi import host
from jaxgames.graph import as_arena
from jaxgames.graph import host as graphs
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._operations import Kind, classify
from jaxgames.value import freeze

MAX_STATES = 1 << 12
"""States of a property automaton, or parts, that a partition may have."""


class Property(NamedTuple):
    """States of the property's automaton, and their parts: no cycle is in two.

    Attributes:
        edges: bool `[Q, Q]`, the edges between states.
        part_of: int32 `[Q]`, the part of each state, from 0.
        terminal: bool `[P]`: known to be terminal if it is weak, and all of its
            vertices have a successor.
    """

    edges: np.ndarray
    part_of: np.ndarray
    terminal: np.ndarray

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.terminal)

    def numbers(self, wanted: list[bool]) -> np.ndarray:
        """int32 `[Q]`: a positive number for states of wanted parts, else 0."""
        number = np.where(wanted, np.arange(1, len(wanted) + 1), 0).astype(np.int32)
        return number[self.part_of]


UNKNOWN = Property(np.ones((1, 1), bool), np.zeros(1, np.int32), np.zeros(1, bool))
"""One part, where nothing is known."""


class Met(NamedTuple):
    """States of the property that some vertex is in: bool `[Q]` each.

    Attributes:
        accepting: one that accepts.
        rejecting: one that does not.
        stuck: one without successor.
    """

    accepting: np.ndarray
    rejecting: np.ndarray
    stuck: np.ndarray


class Seen(NamedTuple):
    """The vertices of a graph, by their states.

    Attributes:
        state: int8 or int16 `[V]`, the state of each vertex.
        counts: integers `[Q, 4]`, how many vertices each state has, as from
            `host.counted`.
    """

    state: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(
        cls, arena: Arena, accepting: np.ndarray, state: np.ndarray, states: int
    ) -> "Seen":
        """Those of a graph whose states, integers `[V]`, and edges were checked."""
        narrow = state if state.itemsize < 4 else host.narrowed(state, states)
        assert narrow is not None
        any_edge = np.ones((states, states), bool)
        counts = host.counted(arena, accepting, narrow, any_edge)
        assert counts is not None
        return cls(narrow, counts)

    @property
    def met(self) -> Met:
        """What vertices there are in each state."""
        accepting, rejecting, stuck = (
            np.asarray(self.counts[:, kinds].any(axis=1))
            for kinds in ((2, 3), (0, 1), (1, 3))
        )
        return Met(accepting, rejecting, stuck)

    def count(self, some: np.ndarray) -> int:
        """How many vertices are in some states, bool `[Q]`."""
        return int(self.counts[some].sum())


def partition_of(
    arena: Arena, accepting: np.ndarray, partition: Any
) -> tuple[np.ndarray, Seen | None, Property]:
    """Reads what a user says of the parts, and checks it against the edges.

    Args:
        arena: the graph, without padding.
        accepting: bool `[V]`, or `[B, V]` for a batch.
        partition: None; the part of each vertex; or the state of each vertex and the
            graph of the states.

    Returns:
        The state of each vertex, integers `[V]`; the vertices by their states, where
        that was found on the way; and what is known of states.

    Raises:
        ValueError: it is none of these, or an edge or cycle contradicts it.
    """
    if partition is None:
        return np.zeros(arena.shape[0], np.int8), None, UNKNOWN
    if isinstance(partition, tuple) and len(partition) == 2:
        many = accepting.ndim == 2
        marks = np.zeros(arena.shape[0], bool) if many else accepting
        seen, known = _of_states(arena, marks, *partition)
        return seen.state, None if many else seen, known
    part, known = _of_parts(arena, partition)
    return part, None, known


def split(edges: np.ndarray) -> Property:
    """States between which these are the edges, bool `[Q, Q]`, and their components."""
    tails, heads = np.nonzero(edges)
    count, label = graphs.scc(_rows(tails, heads, len(edges)))
    return Property(edges, label, np.zeros(count, bool))


def of_automaton(automaton: Automaton) -> Property:
    """The states of an automaton, and its components."""
    classes = classify(automaton)
    count = len(automaton.offsets) - 1
    edges = np.zeros((count, count), bool)
    edges[automaton.sources, automaton.targets] = True
    terminal = np.array([kind == Kind.TERMINAL for kind in classes.kind], bool)
    return Property(edges, classes.label, terminal)


def kinds(found: Property, met: Met) -> list[Kind]:
    """What each part can do for acceptance, by what vertices its states have."""
    states, rejects = len(found.edges), met.rejecting
    hopeful, stuck, avoids = (np.zeros(found.count, bool) for _ in range(3))
    hopeful[found.part_of[met.accepting]] = True
    stuck[found.part_of[met.stuck]] = True
    # Is there a cycle of states that have vertices which do not accept?
    between = found.edges & rejects[:, None] & rejects
    tails, heads = np.nonzero(between)
    _, label = graphs.scc(_rows(tails, heads, states))
    avoids[found.part_of[tails[label[tails] == label[heads]]]] = True
    result = []
    for part in range(found.count):
        if not hopeful[part]:
            result.append(Kind.REJECTING)
        elif avoids[part]:
            result.append(Kind.STRONG)
        elif found.terminal[part] and not stuck[part]:
            result.append(Kind.TERMINAL)
        else:
            result.append(Kind.WEAK)
    return result


def listed_edges(graph: Any) -> np.ndarray | None:
    """The edges of the states, where a user has listed them: integers `[N, 2]`.

    Raises:
        ValueError: they are none.
    """
    array = None
    if not isinstance(graph, (Arena, tuple)):
        array = as_array("partition[1]", graph)
    if array is None or array.ndim != 2 or array.shape[1] != 2:
        return None
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0):
        raise ValueError("partition[1] must hold states, which are not negative")
    return array


def matrix(listed: np.ndarray, states: int) -> np.ndarray:
    """The same as bool `[Q, Q]`."""
    check_count(states)
    edges = np.zeros((states, states), bool)
    if listed.size:
        edges[listed[:, 0], listed[:, 1]] = True
    return edges


def _of_states(
    arena: Arena, accepting: np.ndarray, state: Any, graph: Any
) -> tuple[Seen, Property]:
    given = _integers("partition[0]", arena, state)
    try:
        edges = _between(graph, 0)
        state = host.narrowed(given, len(edges))
    except ValueError:  # unless something is wrong with the states, which comes first
        state = None
    if state is None:
        _refuse_negative("partition[0]", given)
        edges = _between(graph, 1 + _largest(given))
        wrong = np.flatnonzero(given >= len(edges))
        if len(wrong):
            raise ValueError(
                f"partition[0][{wrong[0]}] is {given[wrong[0]]}, expected a state from "
                f"0 to {len(edges) - 1}"
            )
        state = host.narrowed(given, len(edges))
        assert state is not None
    counts = host.counted(arena, accepting, state, edges)
    if counts is None:
        tail, head = host.ends(arena, host.stray_edge(arena, state, edges))
        raise ValueError(
            f"partition[1] has no edge from state {state[tail]} to state {state[head]}"
            f", yet vertices {tail} and {head} are in these and there is an edge"
        )
    return Seen(freeze(state), counts), split(edges)


def _between(graph: Any, states: int) -> np.ndarray:
    """The edges between so many states, bool `[Q, Q]`; of more, if a list has more."""
    listed = listed_edges(graph)
    if listed is not None:
        return matrix(listed, max(states, 1 + _largest(listed)))
    states_graph = as_arena(graph)
    states = states_graph.shape[0]
    check_count(states)
    return host.quotient(states_graph, np.arange(states, dtype=np.int32), states)


def _largest(array: np.ndarray) -> int:
    return int(array.max()) if array.size else -1


def _of_parts(arena: Arena, partition: Any) -> tuple[np.ndarray, Property]:
    given = _integers("partition", arena, partition)
    _refuse_negative("partition", given)
    names, part = np.unique(given, return_inverse=True)
    part, count = part.astype(np.int32), len(names)
    check_count(count)
    leads = host.quotient(arena, part, count)
    tails, heads = np.nonzero(leads)
    _, label = graphs.scc(_rows(tails, heads, count))
    sizes = np.bincount(label, minlength=1)
    crossed = np.flatnonzero(sizes[label] > 1)
    if len(crossed):
        first, second = np.flatnonzero(label == label[crossed[0]])[:2]
        raise ValueError(
            f"partition must put every cycle into one part, but edges lead from part "
            f"{names[first]} to part {names[second]}, directly or not, and back"
        )
    own = np.arange(count, dtype=np.int32)
    return part, Property(leads | np.eye(count, dtype=bool), own, own < 0)


def _integers(name: str, arena: Arena, values: Any) -> np.ndarray:
    array = as_array(name, values)
    if array.shape != (arena.shape[0],) or (
        array.size and array.dtype.kind not in "iu"
    ):
        raise ValueError(
            f"{name} must have one integer for each vertex ({arena.shape[0]}), got "
            f"{array.dtype} of shape {array.shape}"
        )
    return array if array.size else array.astype(np.int32)


def _refuse_negative(name: str, array: np.ndarray) -> None:
    if array.size and array.min() < 0:
        at = int(np.argmax(array < 0))
        raise ValueError(f"{name}[{at}] is {array[at]}, expected no negative number")


def check_count(count: int) -> None:
    """Raises ValueError: there are too many states or parts."""
    if count > MAX_STATES:
        raise ValueError(
            f"a partition may have {MAX_STATES} states or parts, got {count}"
        )


def _rows(tails: np.ndarray, heads: np.ndarray, size: int) -> Any:
    """The rows of a graph from its edges, which are known to be such."""
    tails = tails.astype(np.intp)
    indptr = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(tails, minlength=size), out=indptr[1:])
    return indptr, heads[np.argsort(tails, kind="stable")].astype(np.int32)
