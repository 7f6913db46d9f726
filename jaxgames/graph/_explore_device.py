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
half, most find their place at the first look, and few need more than three, so those
that are left move to a shorter list. Turns that are too small cost more than bytes do:
about 30 operations each, some of them waited for.
"""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import ops
from jaxgames.arena import MAX_SIZE
from jaxgames.graph._explore_host import places_of, too_large
from jaxgames.graph._explore_rules import EMPTY, Rules, action_type
from jaxgames.graph._explore_turn import Bounds, Found, advance, room_of
from jaxgames.graph._state_table import put_in

ROWS = (1 << 10, 1 << 14, 1 << 18)
"""States that turns take at most: the next size where more than twice as many wait."""

FIRST_ROOM = {"cpu": 1 << 14, "gpu": 1 << 22}
"""States that there is room for at the beginning, by backend."""

GROWTH = 4
"""Rooms grow by this factor."""

FIRST_STEPS = 16
"""Turns of the first chunk that the host asks for; they double from there."""

ALWAYS = np.iinfo(np.int32).max
"""No limit."""


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
        # A turn has room for the successors of one state at least.
        spare = room_of(rules, ROWS[0])
        least = FIRST_ROOM.get(jax.default_backend(), FIRST_ROOM["gpu"])
        room = _power(max(least, 2 * len(starts), 2 * spare))
        words = rules.packing.pack(starts)
        table = jnp.full(2 * room, EMPTY, jnp.int32)
        numbers = jnp.arange(len(starts), dtype=jnp.int32)
        self._found = Found(
            words=_longer(jnp.asarray(words), room),
            table=ops.put(table, jnp.asarray(places_of(words, 2 * room)), numbers),
            ends=jnp.zeros(room, jnp.int32),
            known=jnp.zeros(room, jnp.int32),
            targets=jnp.zeros(2 * room, jnp.int32),
            actions=jnp.zeros(2 * room, action_type(rules)),
            head=jnp.zeros((), jnp.int32),
            tail=jnp.asarray(len(starts), jnp.int32),
            edges=jnp.zeros((), jnp.int32),
            wrong=jnp.full(2, -1, jnp.int32),
            steps=jnp.zeros((), jnp.int32),
        )
        self._numbers = np.array([0, len(starts), 0, -1, -1])
        self.wrong: tuple[int, int] | None = None
        self.synchronise()
        self._steps = FIRST_STEPS

    @property
    def done(self) -> bool:
        """Whether there is nothing left to expand."""
        return self.head == self.tail or self.wrong is not None

    def advance(self, until: int, most: int, seconds: float) -> None:
        """Expands states: some, or all before `until`, or until more than `most`.

        Args:
            until: states expanded, when to stop; a turn may go beyond.
            most: states known, when to stop; a turn may go beyond.
            seconds: what the time between two calls should not exceed by much.
        """
        began = time.perf_counter()
        wait = self.tail - self.head
        size = next((i for i, x in enumerate(ROWS) if wait <= 2 * x), len(ROWS) - 1)
        rows = ROWS[size]
        bounds = Bounds(
            until=np.int32(until),
            most=np.int32(most),
            few=np.int32(ROWS[size - 1] if size else 0),
            many=np.int32(2 * rows if size < len(ROWS) - 1 else ALWAYS),
            steps=np.int32(self._steps),
        )
        self._make_room(room_of(self._rules, rows))
        self._found, self._numbers = advance(self._rules, rows, self._found, bounds)
        self.synchronise()
        if time.perf_counter() - began < seconds / 2:
            self._steps = min(2 * self._steps, 1 << 20)

    def synchronise(self) -> None:
        """Waits for the device, and reads its counts."""
        numbers = np.asarray(self._numbers).tolist()
        self.head, self.tail, self.edges, state, action = numbers
        self.wrong = None if state < 0 else (state, action)

    def rows(self, begin: int, end: int) -> tuple[np.ndarray, ...]:
        """What is known of some states that were expanded, one at least.

        Returns:
            Where the edges of each end, how many states were known then; where all
            these edges lead, and by which actions.
        """
        found = self._found
        before = int(_some(found.ends, begin - 1, begin)[0]) if begin else 0
        ends = _some(found.ends, begin, end)
        return (
            ends,
            _some(found.known, begin, end),
            _some(found.targets, before, int(ends[-1])),
            _some(found.actions, before, int(ends[-1])),
        )

    def words(self, begin: int, end: int) -> np.ndarray:
        """The words of some states."""
        return _some(self._found.words, begin, end)

    def _make_room(self, spare: int) -> None:
        """Room for a turn: where there is none, for some times more states or edges."""
        found = self._found
        states, edges = len(found.words), len(found.targets)
        if max(self.tail, self.edges) + spare > MAX_SIZE:
            raise too_large()
        while self.edges + spare > edges:
            edges *= GROWTH
        if edges > len(found.targets):
            found = found._replace(
                targets=_longer(found.targets, edges),
                actions=_longer(found.actions, edges),
            )
        while self.tail + spare > states:
            states *= GROWTH
        if states > len(found.words):
            found = found._replace(
                words=_longer(found.words, states),
                ends=_longer(found.ends, states),
                known=_longer(found.known, states),
                table=jnp.full(2 * states, EMPTY, jnp.int32),
            )
            words, table, some = found.words, found.table, min(states, ROWS[-1])
            for first in range(0, self.tail, some):
                words, table = put_in(
                    words, table, np.int32(first), np.int32(self.tail), some
                )
            found = found._replace(words=words, table=table)
        self._found = found


# ---- sizes -----------------------------------------------------------------------


def _power(size: int) -> int:
    return 1 << (int(size) - 1).bit_length()


def _longer(array: jax.Array, size: int) -> jax.Array:
    more = jnp.zeros((size - len(array), *array.shape[1:]), array.dtype)
    return jnp.concatenate([array, more])


def _some(array: jax.Array, begin: int, end: int) -> np.ndarray:
    """Some entries, on the host: few lengths are cut out, as each compiles anew."""
    length = min(_power(max(end - begin, 1)), len(array))
    first = min(begin, len(array) - length)
    piece = np.asarray(_cut(array, np.int32(first), length))
    return piece[begin - first : end - first]


@functools.partial(jax.jit, static_argnums=2)
def _cut(array, first, length: int):
    return jax.lax.dynamic_slice_in_dim(array, first, length)
