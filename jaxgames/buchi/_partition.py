"""What the property says about cycles: components of its automaton, and their kinds."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena
from jaxgames.buchi import host
from jaxgames.graph import as_arena
from jaxgames.graph import host as graphs
from jaxgames.ltl._operations import Kind, classify
from jaxgames.systems._product import Product

MAX_STATES = 1 << 12
"""States of a property automaton, or parts, that a partition may have."""


class Partition(NamedTuple):
    """Parts of the vertices: no cycle leads through two of them.

    Attributes:
        part: int32 `[V]`, from 0.
        state: int32 `[V]`, the state of the property automaton; its kind says more.
        edges: bool `[Q, Q]`, the edges between such states.
        part_of: int32 `[Q]`, the part of each state.
        terminal: bool `[P]`: known to be terminal if it is weak, and all of its
            vertices have a successor.
    """

    part: np.ndarray
    state: np.ndarray
    edges: np.ndarray
    part_of: np.ndarray
    terminal: np.ndarray

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.terminal)


def partition_of(arena: Arena, partition: Any) -> Partition:
    """Reads what a user says of the parts, and checks it against the edges.

    Args:
        arena: the graph, without padding.
        partition: None; the part of each vertex; or the state of each vertex and the
            graph of the states.

    Raises:
        ValueError: it is none of these, or an edge or cycle contradicts it.
    """
    size = arena.shape[0]
    if partition is None:
        everything = np.zeros(size, np.int32)
        one = np.ones((1, 1), bool)
        return Partition(everything, everything, one, np.zeros(1, np.int32), ~one[0])
    if isinstance(partition, tuple) and len(partition) == 2:
        return _of_states(arena, *partition)
    return _of_parts(arena, partition)


def of_product(product: Product) -> Partition:
    """The parts of a product: the components of its automaton."""
    automaton = product.automaton
    classes = classify(automaton)
    count = len(automaton.offsets) - 1
    edges = np.zeros((count, count), bool)
    edges[automaton.sources, automaton.targets] = True
    terminal = np.array([kind == Kind.TERMINAL for kind in classes.kind], bool)
    part = classes.label[product.automaton_state]
    return Partition(part, product.automaton_state, edges, classes.label, terminal)


def kinds(found: Partition, accepting: np.ndarray, dead_ends: np.ndarray) -> list[Kind]:
    """What each part can do for acceptance.

    Args:
        found: the parts.
        accepting: bool `[V]`, the accepting vertices.
        dead_ends: bool `[V]`, those without successor.
    """
    states = len(found.edges)
    rejects = host.met(found.state, ~accepting, states)
    hopeful = host.met(found.part, accepting, found.count)
    # Is there a cycle of states that have vertices which do not accept?
    between = found.edges & rejects[:, None] & rejects
    tails, heads = np.nonzero(between)
    _, label = graphs.scc(_rows(tails, heads, states))
    avoids = np.zeros(found.count, bool)
    avoids[found.part_of[tails[label[tails] == label[heads]]]] = True
    stuck = host.met(found.part, dead_ends, found.count)
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


def _of_states(arena: Arena, state: Any, graph: Any) -> Partition:
    state = _numbers("partition[0]", arena, state)
    array = None if isinstance(graph, (Arena, tuple)) else np.asarray(graph)
    if array is not None and array.ndim == 2 and array.shape[1] == 2:
        if array.size and (array.dtype.kind not in "iu" or array.min() < 0):
            raise ValueError("partition[1] must hold states, which are not negative")
        states = 1 + max(state.max(initial=-1), array.max(initial=-1))
        _check_count(states)
        tails, heads = array[:, 0], array[:, 1]
    else:
        states_graph = as_arena(graph)
        states = states_graph.shape[0]
        _check_count(states)
        tails, heads = np.nonzero(
            host.quotient(states_graph, np.arange(states, dtype=np.int32), states)
        )
    wrong = np.flatnonzero(state >= states)
    if len(wrong):
        raise ValueError(
            f"partition[0][{wrong[0]}] is {state[wrong[0]]}, expected a state from 0 "
            f"to {states - 1}"
        )
    edges = np.zeros((states, states), bool)
    edges[tails, heads] = True
    stray = host.stray_edge(arena, state, edges)
    if stray >= 0:
        tail, head = host.ends(arena, stray)
        raise ValueError(
            f"partition[1] has no edge from state {state[tail]} to state {state[head]}"
            f", yet vertices {tail} and {head} are in these and there is an edge"
        )
    count, label = graphs.scc(_rows(tails, heads, states))
    part = host.looked_up(label, state)
    return Partition(part, state, edges, label, np.zeros(count, bool))


def _of_parts(arena: Arena, partition: Any) -> Partition:
    given = _numbers("partition", arena, partition)
    names, part = np.unique(given, return_inverse=True)
    part, count = part.astype(np.int32), len(names)
    _check_count(count)
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
    return Partition(part, part, leads | np.eye(count, dtype=bool), own, own < 0)


def _numbers(name: str, arena: Arena, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.shape != (arena.shape[0],) or (
        array.size and array.dtype.kind not in "iu"
    ):
        raise ValueError(
            f"{name} must have one integer for each vertex ({arena.shape[0]}), got "
            f"{array.dtype} of shape {array.shape}"
        )
    if array.size and array.min() < 0:
        at = int(np.argmax(array < 0))
        raise ValueError(f"{name}[{at}] is {array[at]}, expected no negative number")
    return array.astype(np.int32)


def _check_count(count: int) -> None:
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
