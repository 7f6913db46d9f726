"""Builds the spectroscopy game on the device: a queue, many positions at a time.

Turns follow one another inside one compiled loop. It comes back to the host where there
is no more room, or where another number of positions at a time is better; there are few
such numbers, and rooms grow by a factor, so that little is compiled.
"""

import functools

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.equivalence._found import (
    PARTS,
    Found,
    Numbers,
    Sizes,
    has_room,
    power_of_two,
    processes_of,
)
from jaxgames.equivalence._game import ATTACK, BUILDING, Spectroscopy
from jaxgames.equivalence._refinement import scramble
from jaxgames.equivalence._system import System
from jaxgames.equivalence._turn import Bounds, advance
from jaxgames.graph._explore_room import Pace, turn_of
from jaxgames.graph._state_table import (
    Known,
    known_from,
    longer,
    look_up_all,
    nothing,
)
from jaxgames.later import jax, jnp
from jaxgames.limits import TELL_SECONDS, tick
from jaxgames.tuning import here
from jaxgames.tuning.equivalence import FIRST_ROOM, GROWTH, MEMBERS, MORE, MOVES, SIZES

MOST = (1 << 29, (1 << 31) - (1 << 26))
"""Positions, and moves, for which there are numbers."""


def build_on_device(
    system: System,
    pairs: np.ndarray,
    most: int,
) -> Spectroscopy | None:
    """The game from the attack positions (p, {q}) of these pairs, on the device.

    Args:
        system: the processes.
        pairs: int32 `[N, 2]`, p and q.
        most: positions and moves beyond which it is given up.

    Returns:
        The game, or None where it has more.

    Raises:
        ValueError: the processes enable too many different sets of labels.
    """
    salt = 0
    while True:  # until no hash has misled
        builder = _Builder(system, pairs, most, salt)
        while not builder.done:
            builder.advance()
            tick(BUILDING, builder.now.positions, "positions")
        if not builder.now.wrong:
            return builder.game()
        salt += 2


class _Builder:
    """What has been found of a game, and the sizes of turns."""

    def __init__(self, system: System, pairs: np.ndarray, most: int, salt: int):
        self._processes = processes_of(system)
        self._salt = jnp.uint32(salt)
        self._most, self._pairs = most, len(pairs)
        self._pace = Pace()
        sizes = [Sizes(*each) for each in here(SIZES)]
        degree = int(np.diff(system.offsets).max(initial=0))
        self._sizes = [x._replace(longest=_longest(x.longest, degree)) for x in sizes]
        room = here(FIRST_ROOM)
        self._found, self._starts = self._begin(system.num_states, pairs, room)
        self._read(_numbers(self._found))

    @property
    def done(self) -> bool:
        """Whether all is found, or too much, or nothing that is right."""
        now = self.now
        return (
            (now.head == now.positions and now.answered == now.questions)
            or self.too_large
            or now.wrong > 0
        )

    @property
    def too_large(self) -> bool:
        """Whether there are more positions or moves than asked for, or than numbers."""
        now, spare = self.now, max(sizes.cells for sizes in self._sizes)
        last = now.positions + spare > MOST[0] or now.edges + spare > MOST[1]
        return last or max(now.positions, now.edges) > self._most

    def advance(self) -> None:
        """Makes turns, as many as there is room and time for."""
        waiting = self.now.positions - self.now.head
        rows = [sizes.rows for sizes in self._sizes]
        which, few, many = turn_of(rows, waiting, MORE)
        sizes, most = self._sizes[which], np.int32(min(self._most, MAX_SIZE))
        self._make_room(sizes)
        with self._pace.kept(TELL_SECONDS) as steps:
            bounds = Bounds(few, many, most, steps)
            arguments = sizes, self._processes, self._salt, self._found, bounds
            self._found, numbers = advance(*arguments)
            self._read(numbers)

    def game(self) -> Spectroscopy | None:
        """The game, unless it is too large."""
        now = self.now
        if self.too_large:
            return None
        lengths = now.positions, now.edges, now.sets, now.members, self._pairs
        return Spectroscopy(*_cut_out(lengths, self._found, self._starts))

    def _read(self, numbers) -> None:
        """Reads what has been found; where turns were too small they become larger."""
        self.now = Numbers(*np.asarray(numbers).tolist())
        self._sizes = [_enlarged(sizes, self.now) for sizes in self._sizes]

    # ---- room ---------------------------------------------------------------

    def _begin(self, states: int, pairs: np.ndarray, room: int):
        """Sets of one process each and of none, and the starts."""
        small, large = self._sizes[0], self._sizes[-1]
        pairs = np.asarray(pairs, np.int32).reshape(-1, 2)
        some = small.cells if len(pairs) <= small.cells else large.cells
        room = power_of_two(max(room, 2 * len(pairs) + 2 * some, 2 * small.cells))
        sets_room = power_of_two(
            max(room // 2, 2 * (states + 1 + small.asks * PARTS), 2 * small.cells)
        )
        found = _nothing(room, sets_room, np.int32(states), self._salt)
        positions, starts = found.positions, []
        for first in range(0, len(pairs), some):
            part = pairs[first : first + some]
            there = np.pad(part, ((0, some - len(part)), (0, 0)))
            positions, numbers = _start(positions, there, np.int32(len(part)))
            starts.append(numbers)
        return found._replace(positions=positions), starts

    def _make_room(self, sizes: Sizes) -> None:
        """Room for a turn: where there is none, for some times more."""
        while True:
            found = self._found
            has = has_room(sizes, found, self.now)
            if all(has):
                return
            if not all(has[:2]):
                most = power_of_two(min(self._most, MOST[0]) + sizes.cells)
                self._found = _more_positions(found, min(most, MOST[0]))
            else:
                self._found = _more_sets(found)


def _more_positions(found: Found, most: int) -> Found:
    room = min(GROWTH * len(found.ends), most)
    moves = min(MOVES * room, MOST[1])
    found = found._replace(
        targets=longer(found.targets, moves), kinds=longer(found.kinds, moves)
    )
    found = found._replace(ends=longer(found.ends, room))
    return found._replace(positions=_roomier(found.positions, room))


def _more_sets(found: Found) -> Found:
    room = GROWTH * len(found.answers)
    return found._replace(
        questions=_roomier(found.questions, room),
        answers=longer(found.answers, room),
        sets=_roomier(found.sets, room),
        begins=longer(found.begins, room + 1),
        members=longer(found.members, MEMBERS * room),
    )


def _roomier(known: Known, room: int) -> Known:
    return known_from(longer(known.words, room), known.count)


def _enlarged(sizes: Sizes, now: Numbers) -> Sizes:
    """Sizes for what some turn was too small for."""
    cells = max(sizes.cells, power_of_two(now.cells))
    entries = max(sizes.entries, power_of_two(now.entries))
    # Sums of what rows have do not pass 31 bits.
    rows, asks = (
        min(few, max((1 << 30) // most, 1)) if most >= 1 << 22 else few
        for few, most in ((sizes.rows, cells), (sizes.asks, entries))
    )
    return Sizes(rows, cells, asks, entries, _longest(sizes.longest, now.longest))


def _longest(now: int, wanted: int) -> int:
    """Few bounds on lengths, and few programs."""
    while now < wanted:
        now = 16 * now + 15
    return now


# ---- arrays ------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=(0, 1))
def _nothing(room: int, sets_room: int, states: jax.Array, salt: jax.Array) -> Found:
    """The sets that are known from the beginning, and no positions."""
    number = jnp.arange(sets_room, dtype=jnp.int32)
    there = number < states
    hashes = [jnp.where(there, scramble(number, salt + word), 0) for word in range(2)]
    sets = jnp.stack([*hashes, there.astype(jnp.uint32)], axis=1)
    zero = jnp.int32(0)
    return Found(
        positions=nothing(room, 3),
        ends=jnp.zeros(room, jnp.int32),
        targets=jnp.zeros(MOVES * room, jnp.int32),
        kinds=jnp.zeros(MOVES * room, jnp.uint8),
        questions=nothing(sets_room, 2),
        answers=jnp.zeros((sets_room, PARTS), jnp.int32),
        sets=known_from(sets, states + 1),
        begins=jnp.minimum(jnp.arange(sets_room + 1, dtype=jnp.int32), states),
        members=jnp.arange(MEMBERS * sets_room, dtype=jnp.int32),
        head=zero,
        answered=zero,
        edges=zero,
        lacks=jnp.zeros(3, jnp.int32),
        wrong=zero,
    )


@jax.jit
def _numbers(found: Found) -> jax.Array:
    return jnp.stack(found.numbers())


@functools.partial(jax.jit, donate_argnums=0)
def _start(positions: Known, pairs, count):
    """Looks up the attack positions of pairs."""
    attack = jnp.full(len(pairs), ATTACK, jnp.int32)
    keys = jnp.stack([*pairs.T, attack], axis=1).astype(jnp.uint32)
    among = jnp.arange(len(pairs), dtype=jnp.int32) < count
    return look_up_all(positions, keys, among)[:2]


@functools.partial(jax.jit, static_argnums=0)
def _cut_out(lengths: tuple[int, ...], found: Found, starts: list[jax.Array]):
    """The arrays of a game of these sizes."""
    positions, moves, sets, members, pairs = lengths
    columns = found.positions.words[:positions].astype(jnp.int32)
    return (
        jnp.concatenate([jnp.zeros(1, jnp.int32), found.ends[:positions]]),
        found.targets[:moves],
        found.kinds[:moves],
        *(columns[:, column] for column in range(3)),
        found.begins[: sets + 1],
        found.members[:members],
        jnp.concatenate([*starts, jnp.zeros(0, jnp.int32)])[:pairs],
    )
