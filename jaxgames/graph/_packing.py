"""States as words: what each component of a state needs, side by side."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

WORD = 32
"""Bits of a word."""

LOWEST, HIGHEST = -(2**31), 2**31 - 1
"""What a component may be where no range is given."""


@dataclasses.dataclass(frozen=True)
class Packing:
    """Where the components of a state are in its words.

    A component takes as many bits as its range needs, all in one word. Packing works on
    arrays of numpy and of JAX, inside `jax.jit` as well.

    Attributes:
        low: the least value of each component.
        high: the largest.
        word: the word that each component is in.
        shift: its lowest bit there.

    Examples:
        >>> packing = Packing.of([4, (-1, 1)], 2)
        >>> packing.num_words, packing.bits
        (1, 4)
        >>> packing.pack(np.array([[3, -1]]))
        array([[3]], dtype=uint32)
        >>> packing.unpack(packing.pack(np.array([[2, 1]])))
        array([[2, 1]], dtype=int32)
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    word: tuple[int, ...]
    shift: tuple[int, ...]

    @classmethod
    def of(cls, ranges: Sequence[Any] | None, size: int) -> "Packing":
        """The packing of states.

        Args:
            ranges: for each component how many values it has, from 0 on, or a pair of
                its least and its largest value; None: any int32.
            size: how many components there are.

        Raises:
            ValueError: naming the component whose range is wrong.
        """
        if ranges is None:
            ranges = [(LOWEST, HIGHEST)] * size
        if len(ranges) != size:
            raise ValueError(
                f"ranges must have one entry for each component ({size}), got "
                f"{len(ranges)}"
            )
        pairs = [_pair(k, entry) for k, entry in enumerate(ranges)]
        word, shift, used = [], [], []
        for low, high in pairs:
            # First fit: words are few, and rarely is more than a bit or two lost.
            width = (high - low).bit_length()
            fits = [w for w, bits in enumerate(used) if bits + width <= WORD]
            if not fits:
                fits = [len(used)]
                used.append(0)
            word.append(fits[0])
            shift.append(used[fits[0]])
            used[fits[0]] += width
        low, high = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(low, high, tuple(word), tuple(shift))

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.low)

    @property
    def num_words(self) -> int:
        """Words of a state, one at least."""
        return max(self.word, default=0) + 1

    @property
    def bits(self) -> int:
        """Bits that are used."""
        return sum(map(int.bit_length, self._spans()))

    def pack(self, states: Any) -> Any:
        """The words of states `[..., K]` in range: uint32 `[..., W]`."""
        xp = states.__array_namespace__()
        words = [xp.zeros(states.shape[:-1], np.uint32)] * self.num_words
        for k, low in enumerate(self.low):
            # In unsigned arithmetic differences of int32 never overflow.
            offset = states[..., k].astype(np.uint32) - np.uint32(low % 2**WORD)
            if self.shift[k] < WORD:
                w = self.word[k]
                words[w] = words[w] | (offset << np.uint32(self.shift[k]))
        return xp.stack(words, axis=-1)

    def unpack(self, words: Any) -> Any:
        """The states of words `[..., W]`: int32 `[..., K]`.

        In numpy each component is together in memory, as functions read them.
        """
        xp = words.__array_namespace__()
        columns = []
        for k, span in enumerate(self._spans()):
            mask = (1 << span.bit_length()) - 1
            shift = np.uint32(self.shift[k] % WORD)
            offset = (words[..., self.word[k]] >> shift) & np.uint32(mask)
            value = offset + np.uint32(self.low[k] % 2**WORD)
            columns.append(value.astype(np.int32))
        if not columns:
            return xp.zeros((*words.shape[:-1], 0), np.int32)
        if isinstance(words, np.ndarray):
            return np.moveaxis(np.stack(columns), 0, -1)
        return xp.stack(columns, axis=-1)

    def outside(self, states: Any) -> Any:
        """Which states `[..., K]` have a component out of its range: bool `[...]`."""
        xp = states.__array_namespace__()
        wrong = xp.zeros(states.shape[:-1], bool)
        for k, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            column = states[..., k]
            limits = np.iinfo(column.dtype)
            if low > limits.min:
                wrong = wrong | (column < low)
            if high < limits.max:
                wrong = wrong | (column > high)
        return wrong

    def explain(self, state: np.ndarray) -> str:
        """Which component of a state is out of its range, and what that is."""
        for k, value in enumerate(state.tolist()):
            if not self.low[k] <= value <= self.high[k]:
                return (
                    f"component {k} is {value}, expected {self.low[k]} to "
                    f"{self.high[k]}"
                )
        raise AssertionError("every component is in its range")

    def _spans(self) -> list[int]:
        return [b - a for a, b in zip(self.low, self.high, strict=True)]


def _pair(component: int, entry: Any) -> tuple[int, int]:
    pair = (0, entry - 1) if isinstance(entry, (int, np.integer)) else tuple(entry)
    if len(pair) != 2 or not all(isinstance(x, (int, np.integer)) for x in pair):
        raise ValueError(
            f"ranges[{component}] must be a number of values or a pair of the least "
            f"and the largest, got {entry!r}"
        )
    low, high = map(int, pair)
    if not LOWEST <= low <= high <= HIGHEST:
        raise ValueError(
            f"ranges[{component}] must be a range of int32 that is not empty, got "
            f"{entry!r}"
        )
    return low, high
