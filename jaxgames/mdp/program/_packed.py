"""States as few integers: where each variable of a program stands in them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

ROOM = 2**62
"""Values that a word may have."""


@dataclasses.dataclass(frozen=True)
class Packed:
    """How the variables of a state make up its words.

    Numbers with a base of their own for each variable: the first one counts most, so
    that words are ordered as lists of values are. A change of a variable changes its
    word by so much, whatever the others are.

    Attributes:
        names: the variables.
        lows: the least value of each.
        sizes: how many values each has.
        truths: whether each is a truth value.
        words: the word that each is in.
        weights: what one more of it adds there.
        spaces: how many values each word may have.

    Examples:
        >>> packed = Packed.of(["x", "b"], [(2, 4), None])
        >>> words = packed.pack([np.array([2, 4]), np.array([True, False])])
        >>> words.ravel()
        array([1, 4])
        >>> packed.column(words, 0)
        array([2, 4])
    """

    names: tuple[str, ...]
    lows: tuple[int, ...]
    sizes: tuple[int, ...]
    truths: tuple[bool, ...]
    words: tuple[int, ...]
    weights: tuple[int, ...]
    spaces: tuple[int, ...]

    @classmethod
    def of(
        cls, names: Sequence[str], ranges: Sequence[tuple[int, int] | None]
    ) -> "Packed":
        """For variables of some ranges; None for truth values."""
        pairs = [(0, 1) if pair is None else pair for pair in ranges]
        sizes = [high - low + 1 for low, high in pairs]
        words, spaces = [], [1]
        for size in sizes:
            if spaces[-1] * size > ROOM:
                spaces.append(1)
            spaces[-1] *= size
            words.append(len(spaces) - 1)
        left, weights = list(spaces), []
        for size, word in zip(sizes, words, strict=True):
            left[word] //= size
            weights.append(left[word])
        return cls(
            names=tuple(names),
            lows=tuple(low for low, _ in pairs),
            sizes=tuple(sizes),
            truths=tuple(pair is None for pair in ranges),
            words=tuple(words),
            weights=tuple(weights),
            spaces=tuple(spaces),
        )

    @property
    def num_words(self) -> int:
        """Words of a state."""
        return len(self.spaces)

    def column(self, words: Any, number: int) -> Any:
        """The values of a variable, from words `[N, W]`: int64 or bool `[N]`."""
        found = words[:, self.words[number]]
        weight, size = self.weights[number], self.sizes[number]
        if weight > 1:
            found = found // weight
        if weight * size < self.spaces[self.words[number]]:
            found = found % size
        if self.truths[number]:
            return found != 0
        return found + self.lows[number]

    def pack(self, columns: Sequence[Any]) -> np.ndarray:
        """The words of states, int64 `[N, W]`, from the values of all variables."""
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
        found = np.zeros((*shape, self.num_words), np.int64)
        for number, column in enumerate(columns):
            part = (np.asarray(column, np.int64) - self.lows[number]) * np.int64(
                self.weights[number]
            )
            found[..., self.words[number]] += part
        return found

    def told(self, words: np.ndarray) -> str:
        """A state as messages name it."""
        parts = []
        for number, name in enumerate(self.names[:MOST_TOLD]):
            value = self.column(words[None], number)[0].item()
            parts.append(f"{name}={str(value).lower()}")
        more = ", ..." if len(self.names) > MOST_TOLD else ""
        return f"({', '.join(parts)}{more})"


MOST_TOLD = 12
"""Variables of a state that a message names."""


class Columns:
    """The variables of some states, taken from their words when they are asked for.

    Args:
        packed: where they stand.
        words: int64 `[N, W]`.
    """

    def __init__(self, packed: Packed, words: Any):
        self.packed = packed
        self.words = words
        self._found: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, number: int) -> Any:
        if number not in self._found:
            self._found[number] = self.packed.column(self.words, number)
        return self._found[number]

    def at(self, rows: np.ndarray) -> "Columns":
        """Some of the states; what was taken from their words is not taken again."""
        if len(rows) == len(self):
            return self
        part = Columns(self.packed, self.words[rows])
        part._found = {k: column[rows] for k, column in self._found.items()}
        return part
