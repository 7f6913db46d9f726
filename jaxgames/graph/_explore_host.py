"""A state space on the host: one queue, one table, one state after the other."""

from typing import Any

import numpy as np

from jaxgames import host
from jaxgames.arena import MAX_SIZE
from jaxgames.graph import _explore_room as memory
from jaxgames.graph._explore_rules import (
    Rules,
    action_type,
    check_successors,
    hashes,
    packed_successors,
)
from jaxgames.graph._numbered import number_at
from jaxgames.host import compiled
from jaxgames.later import backend, jax
from jaxgames.tuning.explore import COMPILED_FROM
from jaxgames.tuning.explore import HOST_CELLS as CELLS
from jaxgames.tuning.explore import HOST_FIRST_ROOM as FIRST_ROOM


class OnHost:
    """A search that calls the transition function for some states at a time.

    The table has four bytes for each of its places, which are at least twice as many as
    states; places are probed one after the other.

    Attributes:
        head: how many states have been expanded.
        tail: how many are known.
        edges: how many edges there are.
        wrong: a state and its action that leads to a state out of range, or None.
    """

    name = "host"

    def __init__(self, rules: Rules, starts: np.ndarray):
        self._rules = rules
        self._words = np.zeros((0, rules.packing.num_words), np.uint32)
        self._table = np.zeros(0, np.int32)
        self._stamp = self._ends = self._known = np.zeros(0, np.int32)
        self._targets = np.zeros(0, np.int32)
        self._actions = np.zeros(0, action_type(rules))
        width = rules.num_actions * max(rules.packing.size, 1)
        self._at_once = 1 << max(CELLS // width, 1).bit_length() - 1
        self.head, self.tail, self.edges = 0, 0, 0
        self.wrong: tuple[int, int] | None = None
        # The initial states are the successors of nothing.
        keys, nothing = rules.packing.pack(starts), np.zeros(len(starts), int)
        self._insert(np.array([0, len(starts)]), keys, nothing)
        self.head = self.edges = 0
        self._stamp[:] = -1

    @property
    def done(self) -> bool:
        return self.head == self.tail or self.wrong is not None

    def advance(self, until: int, most: int, seconds: float) -> None:
        count = min(self._at_once, self.tail - self.head, until - self.head)
        words = self._words[self.head : self.head + count]
        expand = self._by_jax if self._is_long else self._by_numpy
        row, action, keys = expand(words)
        if self.wrong is None:
            begins = np.searchsorted(row, np.arange(count + 1))
            self._insert(begins, keys, action)

    def rows(self, begin: int, end: int) -> tuple[np.ndarray, ...]:
        some = slice(begin, end)
        edges = slice(self._ends[begin - 1] if begin else 0, self._ends[end - 1])
        return (
            self._ends[some],
            self._known[some],
            self._targets[edges],
            self._actions[edges],
        )

    def words(self, begin: int, end: int) -> np.ndarray:
        return self._words[begin:end]

    def synchronise(self) -> None:
        """Nothing is under way elsewhere."""

    @property
    def _is_long(self) -> bool:
        """Whether so many states were expanded that it pays to compile the function."""
        return (
            self.head >= COMPILED_FROM and self._rules.traceable and backend() == "cpu"
        )

    def _by_numpy(self, words: np.ndarray) -> tuple[np.ndarray, ...]:
        """The successors of some states: which row has which action and leads where."""
        packing = self._rules.packing
        states = packing.unpack(words)
        found = self._rules.successors(states)
        check_successors(found, *states.shape)
        after, enabled = (np.asarray(x) for x in found)
        row, action = np.nonzero(enabled)
        after = after[row, action]
        self._look_for_wrong(row, action, packing.outside(after))
        return row, action, packing.pack(after)

    def _by_jax(self, words: np.ndarray) -> tuple[np.ndarray, ...]:
        """The same, compiled for one number of states."""
        more = self._at_once - len(words)
        found = _packed_successors(
            self._rules, np.pad(words, ((0, more), (0, 0)), mode="edge")
        )
        keys, enabled, outside = (np.asarray(x)[: len(words)] for x in found)
        row, action = np.nonzero(enabled)
        self._look_for_wrong(row, action, outside[row, action])
        return row, action, keys[row, action]

    def _look_for_wrong(self, row, action, outside: np.ndarray) -> None:
        if outside.any():
            first = int(np.argmax(outside))
            self.wrong = self.head + int(row[first]), int(action[first])

    def _insert(self, begins: np.ndarray, keys: np.ndarray, action: Any) -> None:
        """Adds the successors of some states, row by row."""
        self._make_room(len(begins) - 1, len(keys))
        places = hashes(keys) & np.uint32(len(self._table) - 1)
        with host.plain(self.edges + len(keys)):
            tail, edges = _insert(
                keys,
                places.astype(np.int64),
                begins,
                action.astype(self._actions.dtype),
                self._words,
                self._table,
                self._stamp,
                self._ends,
                self._known,
                self._targets,
                self._actions,
                self.head,
                self.tail,
                self.edges,
                self._rules.parallel_edges,
            )
        self.head, self.tail, self.edges = self.head + len(begins) - 1, tail, edges

    def _make_room(self, rows: int, more: int) -> None:
        if max(self.tail, self.edges) + more > MAX_SIZE:
            raise too_large(MAX_SIZE)
        edges = self.edges + more
        if edges > len(self._targets):
            edges = max(edges, 2 * len(self._targets))
            self._check(edges * memory.edge_bytes(self._rules))
            self._targets = _longer(self._targets, edges)
            self._actions = _longer(self._actions, edges)
        needed = max(self.tail, self.head + rows) + more
        if needed <= len(self._words):
            return
        room = max(FIRST_ROOM, 1 << (needed - 1).bit_length())
        self._check(room * (memory.state_bytes(self._rules) + self._stamp.itemsize))
        self._words = _longer(self._words, room)
        self._stamp = _longer(self._stamp, room, -1)
        self._ends, self._known = (_longer(x, room) for x in (self._ends, self._known))
        self._table = np.full(2 * room, -1, np.int32)
        places = hashes(self._words[: self.tail]) & np.uint32(2 * room - 1)
        with host.plain(self.tail):
            _fill(places.astype(np.int64), self._table)

    def _check(self, needed: int) -> None:
        known = memory.memory_of(None)
        if known is not None and needed > known[1]:
            found = self.head, self.tail, self.edges
            raise memory.no_memory(self._rules, found, needed, None)


def places_of(words: np.ndarray, size: int) -> np.ndarray:
    """Where a few different states are in a table of a size that is a power of two."""
    taken: dict[int, None] = {}
    for place in (hashes(words) & np.uint32(size - 1)).tolist():
        while place in taken:
            place = (place + 1) % size
        taken[place] = None
    return np.array(list(taken), np.int32)


_packed_successors = jax.jit(packed_successors, static_argnums=0)


def too_large(most: int) -> ValueError:
    """More states or edges than numbers for them."""
    return ValueError(
        f"the state space has more states or edges than int32 can index ({most})"
    )


def _longer(array: np.ndarray, size: int, fill: int = 0) -> np.ndarray:
    """A longer copy of an array."""
    shape = size, *array.shape[1:]
    longer = np.full(shape, fill, array.dtype) if fill else np.zeros(shape, array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _insert(
    keys,
    places,
    begins,
    action,
    words,
    table,
    stamp,
    ends,
    known,
    targets,
    actions,
    head,
    tail,
    edges,
    parallel_edges,
):
    for row in range(len(begins) - 1):
        for i in range(begins[row], begins[row + 1]):
            state = number_at(keys[i], places[i], words, table, tail)
            tail += state == tail
            # The stamp of a state is the last row that has an edge to it.
            if parallel_edges or stamp[state] != head + row:
                stamp[state] = head + row
                targets[edges] = state
                actions[edges] = action[i]
                edges += 1
        ends[head + row] = edges
        known[head + row] = tail
    return tail, edges


@compiled
def _fill(places, table):
    last = len(table) - 1
    for state in range(len(places)):
        place = places[state]
        while table[place] >= 0:
            place = (place + 1) & last
        table[place] = state
