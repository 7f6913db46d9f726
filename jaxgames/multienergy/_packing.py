"""Budgets in words: all energies of a budget are compared, added and joined at once.

Each energy is a field of some bits, and above it is one more, the guard, which is 0. A
subtraction of words with all guards set subtracts field by field, and leaves the guard
set exactly where the field was not smaller. Fields that do not fit into one int32 are
spread over several; a field of 30 bits has a word of its own, and then all of this is
plain arithmetic of integers.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.multienergy._game import Game
from jaxgames.tuning.multienergy import CHAIN as _CHAIN

EMPTY = np.int32(2**31 - 1)
"""The word of no budget: it comes after all others, and dominates none."""

NARROW, WIDE = 14, 30
"""Bits of an energy without a cap: at first, and where these do not suffice."""

_SIGN = -(2**31)
Budget = tuple[jax.Array, ...]
"""Words of budgets: arrays of one shape."""


def arrays_of(words: Any) -> Any:
    """The library whose arrays these are: for those of numpy nothing is compiled."""
    return np if isinstance(words[0], np.ndarray) else jnp


class Rule(NamedTuple):
    """What an update does to words: read from the tables for each edge.

    Attributes:
        lose: for each word the losses of its fields.
        room: for each word the caps without the losses.
        gain: for each word the gains of its fields; None if there are none.
        ties: minima: from which word and which shift the field comes that is tied, its
            mask, and to which word and shift it goes. The mask is 0 where there is no
            tie.
    """

    lose: Budget
    room: Budget
    gain: Budget | None
    ties: tuple[tuple[jax.Array, ...], ...]


@dataclasses.dataclass(frozen=True)
class Packing:
    """How budgets lie in words.

    Attributes:
        dimensions: the number of energies.
        bits: the bits of a field, without its guard.
        cap: for each energy its cap, or 0; or None.
    """

    dimensions: int
    bits: int
    cap: tuple[int, ...] | None

    @classmethod
    def of(cls, game: Game, bits: int = WIDE) -> "Packing":
        """The packing of a game; `bits` are wanted for energies without a cap."""
        cap, size = game.cap, game.dimensions
        capped = max(cap or (0,)).bit_length()
        if cap is not None and 0 not in cap:
            return cls(size, capped, cap)
        # One energy has a word of its own in any case.
        bits = NARROW if bits == NARROW and capped <= NARROW and size > 1 else WIDE
        return cls(size, bits, cap)

    @property
    def num_words(self) -> int:
        """How many words a budget has."""
        return -(-self.dimensions // self._per_word)

    @property
    def _per_word(self) -> int:
        return 31 // (self.bits + 1)

    @property
    def limit(self) -> int:
        """The largest energy of a field."""
        return (1 << self.bits) - 1

    @property
    def open(self) -> bool:
        """Whether an energy has no cap, so that its field may be too small."""
        return self.cap is None or 0 in self.cap

    def place(self, energy: int) -> tuple[int, int]:
        """Word and shift of a field: the first energies weigh most."""
        word, index = divmod(energy, self._per_word)
        here = min(self._per_word, self.dimensions - word * self._per_word)
        return word, (here - 1 - index) * (self.bits + 1)

    def word(self, values) -> tuple[int, ...]:
        """Words of values that are known on the host."""
        words = [0] * self.num_words
        for energy, value in enumerate(values):
            word, shift = self.place(energy)
            words[word] |= int(value) << shift
        return tuple(words)

    def guards(self) -> tuple[int, ...]:
        """The guard bits of each word."""
        return self.word([1 << self.bits] * self.dimensions)

    def caps(self) -> list[int]:
        """The cap of each energy; the limit of a field where there is none."""
        return [c or self.limit for c in self.cap or (0,) * self.dimensions]

    # ---- to and fro ---------------------------------------------------------

    def pack(self, values) -> Budget:
        """Words `[...]` of energies `[..., D]`."""
        values = jnp.asarray(values, jnp.int32)
        words: list[Any] = [jnp.int32(0)] * self.num_words
        for energy in range(self.dimensions):
            word, shift = self.place(energy)
            words[word] = words[word] | (values[..., energy] << shift)
        return tuple(words)

    def unpack(self, budget: Budget) -> Any:
        """Energies `[..., D]` of words `[...]`; -1 where there is no budget."""
        fields = []
        for energy in range(self.dimensions):
            word, shift = self.place(energy)
            fields.append((budget[word] >> shift) & self.limit)
        arrays = arrays_of(budget)
        empty = (budget[0] == EMPTY)[..., None]
        return arrays.where(empty, np.int32(-1), arrays.stack(fields, -1))

    # ---- comparing ----------------------------------------------------------

    def at_most(self, one: Budget, other: Budget) -> jax.Array:
        """Whether no energy of one is above that of the other; not if one is EMPTY.

        EMPTY has all bits but the sign, so a difference with it is zero or negative.
        """
        fits = [
            ((b | g) - a) & (g | _SIGN) == g
            for a, b, g in zip(one, other, self.guards(), strict=True)
        ]
        return _all(fits)

    def same(self, one: Budget, other: Budget) -> jax.Array:
        """Whether budgets are equal."""
        return _all([a == b for a, b in zip(one, other, strict=True)])

    def join(self, one: Budget, other: Budget) -> Budget:
        """The larger of each energy; EMPTY where one of them is."""
        empty = (one[0] == EMPTY) | (other[0] == EMPTY)
        return self._unless(empty, self._max(one, other))

    def too_large(self, budget: Budget) -> jax.Array:
        """Whether an energy without a cap has come to the limit of its field."""
        caps = self.cap or (0,) * self.dimensions
        limit = self.word([0 if cap else self.limit for cap in caps])
        tested = self.word([0 if cap else 1 << self.bits for cap in caps])
        hits = [
            ((x | g) - most) & test != 0
            for x, g, most, test in zip(
                budget, self.guards(), limit, tested, strict=True
            )
        ]
        return (budget[0] != EMPTY) & ~_all([~hit for hit in hits])

    # ---- updates ------------------------------------------------------------

    def tables(self, game: Game) -> Rule:
        """The updates of a game as words `[U]`."""
        delta, minima = jnp.asarray(game.delta), jnp.asarray(game.minima)
        lose, gain = jnp.maximum(-delta, 0), jnp.maximum(delta, 0)
        caps = jnp.array(self.caps(), jnp.int32)
        pairs = minima.reshape(len(delta), -1)
        first = jnp.argsort(~pairs, axis=1, stable=True)[:, : game.ties]
        there = jnp.take_along_axis(pairs, first, 1)
        places = jnp.array(
            [self.place(energy) for energy in range(self.dimensions)], jnp.int32
        )
        ties = []
        for tie in range(game.ties):
            whose, tied = jnp.divmod(first[:, tie], self.dimensions)
            # Energy i becomes at most j: what i needs afterwards, j needs before.
            out, into = ops.take(places, whose), ops.take(places, tied)
            mask = jnp.where(there[:, tie], jnp.int32(self.limit), jnp.int32(0))
            ties.append((out[:, 0], out[:, 1], mask, into[:, 0], into[:, 1]))
        return Rule(
            lose=self.pack(lose),
            room=self.pack(caps - jnp.minimum(lose, caps)),
            gain=self.pack(gain) if game.gains else None,
            ties=tuple(ties),
        )

    def inverse(self, rule: Rule, budget: Budget) -> Budget:
        """The least budgets before a move that leave at least these after it."""
        before = tuple(
            x + lose
            for x, lose in zip(self._min(budget, rule.room), rule.lose, strict=True)
        )
        if rule.gain is not None:
            caps = self.word(self.caps())
            more = self._max(before, rule.gain)
            less = tuple(x - gain for x, gain in zip(more, rule.gain, strict=True))
            infinite = self._masks(budget, caps)
            before = tuple(
                (x & m) | (y & ~m)
                for x, y, m in zip(before, less, infinite, strict=True)
            )
        for word_from, out, mask, word_to, into in rule.ties:
            needed = sum(
                jnp.where(word_from == word, (x >> out) & mask, 0)
                for word, x in enumerate(budget)
            )
            tied = tuple(
                jnp.where(word_to == word, needed << into, 0)
                for word in range(self.num_words)
            )
            before = self._max(before, tied)
        if rule.ties and len(set(self.caps())) > 1:
            before = self._min(before, self.word(self.caps()))
        return self._unless(budget[0] == EMPTY, before)

    def _masks(self, one, other) -> list[Any]:
        """All bits of the fields in which one is not below the other."""
        masks = []
        for a, b, guard in zip(one, other, self.guards(), strict=True):
            bits = ((a | guard) - b) & guard
            masks.append(bits - (bits >> self.bits))
        return masks

    def _max(self, one, other) -> Budget:
        masks = self._masks(one, other)
        return tuple(
            (a & m) | (b & ~m) for a, b, m in zip(one, other, masks, strict=True)
        )

    def _min(self, one, other) -> Budget:
        masks = self._masks(one, other)
        return tuple(
            (b & m) | (a & ~m) for a, b, m in zip(one, other, masks, strict=True)
        )

    def _unless(self, empty: jax.Array, budget: Budget) -> Budget:
        return tuple(jnp.where(empty, EMPTY, x) for x in budget)


def look_up(tables: Rule, number: jax.Array) -> Rule:
    """The rules of updates, by their numbers `[N]`."""
    number = number.astype(jnp.int32)

    def read(table: jax.Array) -> jax.Array:
        if len(table) > _CHAIN:
            return ops.take(table, number)
        found = jnp.zeros(number.shape, table.dtype)
        for update in range(len(table)):
            found = jnp.where(number == update, table[update], found)
        return found

    return jax.tree.map(read, tables)


def _all(holds: list[jax.Array]) -> jax.Array:
    found = holds[0]
    for more in holds[1:]:
        found = found & more
    return found
