"""A state space on the device: a queue that is expanded many states at a time.

The states that are known are a queue in the order of their numbers. A turn takes the
next states from it, computes their successors, and looks each up in a hash table. All
look at once: of those that come to the same empty place, the first keeps it, and others
with the same state find it there. Whoever has the same state goes the same way, so new
states get the numbers that one after the other would have given them, however many are
taken at a time, and no level needs to be waited for.

Turns follow one another inside one compiled loop. It comes back to the host where there
is no more room, or where another number of states at a time is better; there are few
such numbers, and rooms grow by a factor, so that little is compiled.

What an edge costs: the `4 W` bytes of a state written and read a few times in order;
and for each place of the table that is looked at, four bytes there and `4 W` of the
state that has it, which take a sector of memory each (32 bytes on GPUs). At a load of a
half, most find their place at the first look. Turns that are too small cost more than
bytes do: a few dozen operations each, two of them waited for.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.arena import MAX_SIZE, bucket
from jaxgames.graph import _explore_room as memory
from jaxgames.graph._explore_host import places_of, too_large
from jaxgames.graph._explore_rules import EMPTY, Rules, action_type
from jaxgames.graph._explore_turn import Bounds, Found, advance, rows_of
from jaxgames.graph._state_table import (
    Known,
    known_from,
    longer,
    most_states,
    places_for,
)
from jaxgames.later import jax, jnp
from jaxgames.tuning import here
from jaxgames.tuning.explore import (
    CELLS,
    EDGES_A_STATE,
    FIRST_ROOM,
    FIRST_SHARE,
    MORE,
    TURN_SHARE,
)


class Arrays(NamedTuple):
    """What a search has found, on the device, with room for more.

    Attributes:
        words: uint32 `[R, W]`, the states.
        ends: int32 `[R]`, where the edges of each end.
        targets: int32 `[M]`.
        actions: unsigned `[M]`.
        count: how many states there are.
        edges: how many edges.
    """

    words: jax.Array
    ends: jax.Array
    targets: jax.Array
    actions: jax.Array
    count: int
    edges: int


class OnDevice:
    """A search whose arrays are on the device.

    Attributes:
        head: how many states have been expanded.
        tail: how many are known.
        edges: how many edges there are.
        wrong: a state and its action that leads to a state out of range, or None.
    """

    name = "device"

    def __init__(self, rules: Rules, starts: np.ndarray):
        self._rules = rules
        self.head, self.tail, self.edges = 0, len(starts), 0
        self.wrong: tuple[int, int] | None = None
        self._pace = memory.Pace()
        words = rules.packing.pack(starts)
        self._place = memory.place_of(jnp.asarray(words[:1]))
        known = memory.memory_of(self._place)
        limit = None if known is None else known[0]
        self._sizes = _sizes(rules, here(CELLS), limit)
        # A turn has room for the successors of one state at least.
        spare = self._sizes[0] * rules.num_actions
        most = here(FIRST_ROOM)
        least = memory.first_room(rules, limit, FIRST_SHARE, most)
        room = _power(max(least, 2 * len(starts), 2 * spare))
        edges, places = EDGES_A_STATE * room, places_for(room)
        needed = room * memory.state_bytes(rules) + edges * memory.edge_bytes(rules)
        needed += spare * memory.cell_bytes(rules)
        if known is not None and needed > known[1]:
            raise self._no_memory(needed)
        taken = places_of(words, places)
        self._found = _first(words, taken, room, edges, places, action_type(rules))
        self._numbers = np.array([0, len(starts), 0, -1, -1])

    @property
    def done(self) -> bool:
        return self.head == self.tail or self.wrong is not None

    def advance(self, until: int, most: int, seconds: float) -> None:
        """Makes turns, which may go beyond `until` or `most`."""
        which, few, many = memory.turn_of(self._sizes, self.tail - self.head, MORE)
        size = self._sizes[which]
        self._make_room(size * self._rules.num_actions)
        try:
            with self._pace.kept(seconds) as steps:
                bounds = Bounds(np.int32(until), np.int32(most), few, many, steps)
                self._found, self._numbers = advance(
                    self._rules, size, self._found, bounds
                )
                self.synchronise()
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            turn = size * self._rules.num_actions
            raise self._no_memory(turn * memory.cell_bytes(self._rules)) from error

    def synchronise(self) -> None:
        """Waits for the device, and reads its counts."""
        numbers = np.asarray(self._numbers).tolist()
        self.head, self.tail, self.edges, state, action = numbers
        self.wrong = None if state < 0 else (state, action)

    def rows(self, begin: int, end: int) -> tuple[np.ndarray, ...]:
        found = self._found
        before = self._end_of(begin - 1) if begin else 0
        after = self.edges if end == self.head else self._end_of(end - 1)
        return _some(
            (found.ends, begin, end),
            (found.known, begin, end),
            (found.targets, before, after),
            (found.actions, before, after),
        )

    def words(self, begin: int, end: int) -> np.ndarray:
        return _some((self._found.states.words, begin, end))[0]

    def arrays(self) -> Arrays:
        """What was found, where it lies."""
        found = self._found
        return Arrays(
            found.states.words, found.ends, found.targets, found.actions,
            self.tail, self.edges,
        )  # fmt: skip

    def _end_of(self, state: int) -> int:
        return int(_some((self._found.ends, state, state + 1))[0][0])

    # ---- room --------------------------------------------------------------------

    def _make_room(self, spare: int) -> None:
        """Room for a turn: where there is none, for some times more states or edges."""
        rules, found = self._rules, self._found
        states, edges = len(found.states.words), len(found.targets)
        del found  # or what is replaced would stay
        if max(self.tail, self.edges) + spare > MAX_SIZE:
            raise too_large(MAX_SIZE)
        if self.edges + spare > edges:
            each = memory.edge_bytes(rules)
            room = self._larger(edges, self.edges + spare, MAX_SIZE, each)
            self._lengthen(room, "targets", "actions")
        if self.tail + spare > states:
            most = most_states(rules.packing.num_words)
            each = memory.state_bytes(rules)
            if self.tail + spare > most:
                raise too_large(most)
            room = self._larger(states, self.tail + spare, most, each)
            # The old table goes, and then the old words, before their like are made.
            self._replace(states=self._found.states._replace(table=None))
            words = longer(self._found.states.words, room)
            self._replace(states=self._found.states._replace(words=words))
            self._lengthen(room, "ends", "known")
            self._replace(states=known_from(words, self._found.states.count))

    def _larger(self, now: int, needed: int, most: int, each: int) -> int:
        known = memory.memory_of(self._place)
        free = None if known is None else known[1]
        room = memory.larger(now, needed, most, each, free)
        if room is None:
            raise self._no_memory(needed * each)
        return room

    def _lengthen(self, size: int, *names: str) -> None:
        # One after the other: only one array is given twice.
        for name in names:
            self._replace(**{name: longer(getattr(self._found, name), size)})

    def _replace(self, **arrays: Any) -> None:
        self._found = self._found._replace(**arrays)

    def _no_memory(self, needed: int) -> MemoryError:
        found = self.head, self.tail, self.edges
        return memory.no_memory(self._rules, found, needed, self._place)


# ---- sizes -----------------------------------------------------------------------


def _sizes(rules: Rules, cells: tuple[int, ...], limit: int | None) -> list[int]:
    """States that turns take, ascending."""
    if limit is not None:
        most = int(TURN_SHARE * limit) // memory.cell_bytes(rules)
        cells = tuple(min(x, most) for x in cells)
    return sorted({rows_of(rules, x) for x in cells})


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def _first(words, taken, room: int, edges: int, places: int, action: np.dtype) -> Found:
    """The initial states are known, and have their places in the table."""
    numbers = jnp.arange(len(words), dtype=jnp.int32)
    return Found(
        states=Known(
            longer(words, room),
            ops.put(jnp.full(places, EMPTY, jnp.int32), taken, numbers),
            jnp.int32(len(words)),
        ),
        ends=jnp.zeros(room, jnp.int32),
        known=jnp.zeros(room, jnp.int32),
        targets=jnp.zeros(edges, jnp.int32),
        actions=jnp.zeros(edges, action),
        head=jnp.int32(0),
        edges=jnp.int32(0),
        wrong=jnp.full(2, -1, jnp.int32),
        steps=jnp.int32(0),
    )


def _power(size: int) -> int:
    return 1 << (int(size) - 1).bit_length()


def _some(*pieces: tuple[jax.Array, int, int]) -> tuple[np.ndarray, ...]:
    """Some entries of arrays, on the host: all copies are under way at once."""
    cuts = []
    for array, begin, end in pieces:
        # Few lengths are cut out, as each compiles anew.
        length = min(bucket(end - begin), len(array))
        first = min(begin, len(array) - length)
        cut = _cut(array, np.int32(first), length)
        cuts.append((cut, begin - first, end - first))
    return tuple(np.asarray(cut)[begin:end] for cut, begin, end in cuts)


@functools.partial(jax.jit, static_argnums=2)
def _cut(array, first, length: int):
    """Some entries, in memory of the host that the device can write to by itself."""
    cut = jax.lax.dynamic_slice_in_dim(array, first, length)
    return jax.device_put(cut, jax.memory.Space.Host)
