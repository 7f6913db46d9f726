"""What a solve returns: the minimal budgets of each position."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import ops, solution
from jaxgames.kept import keeps
from jaxgames.later import has_values, jax, jnp
from jaxgames.multienergy import _checks
from jaxgames.multienergy._packing import EMPTY, Packing, arrays_of
from jaxgames.solution import Status
from jaxgames.value import Value


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fronts(solution.Solution, Value):
    """The minimal budgets with which the attacker wins from each position.

    In a solve that stopped early every budget wins, but some may be missing, or be less
    than minimal.

    Attributes:
        words: int32 arrays `[K, V]`: up to `K` budgets for each position, sorted, and
            then 2**31 - 1; all energies of a budget lie in as few words as they fit.
        packing: how they do.
    """

    words: Any = None
    packing: Packing = dataclasses.field(
        default=Packing(1, 1, None), metadata={"static": True}
    )

    # ---- arrays, also of traced solutions ------------------------------------

    @property
    def capacity(self) -> int:
        """How many budgets of a position there is room for, `K`."""
        return self.words[0].shape[-2]

    @property
    def sizes(self) -> Any:
        """How many minimal budgets each position has: int32 `[V]`."""
        return self._found(_sizes)

    @property
    def table(self) -> Any:
        """The budgets as int32 `[V, K, D]`, sorted; -1 where there are no more."""
        return self._found(_table)

    @property
    def packed(self) -> Any:
        """The budgets as int32 `[V, K]`, without gaps: energy 0 has the lowest bits.

        Each energy has as many bits as the largest cap. In the order of `table`, and
        -1 where there are no more.

        Raises:
            ValueError: an energy has no cap, or all together have more than 31 bits.
        """
        bits, dimensions = self.packing.bits, self.packing.dimensions
        if self.packing.open or bits * dimensions > 31:
            raise ValueError(
                f"{dimensions} energies with caps {self.packing.cap} do not fit into "
                "31 bits: take table, or budgets"
            )
        return self._found(_packed)

    def _found(self, function: Callable[[Any, Packing], Any]) -> Any:
        """What a function says of the words: by numpy, or in one program."""
        if isinstance(self.words[0], np.ndarray):
            return function(self.words, self.packing)
        return _on_device(function, self.words, self.packing)

    def at(self, positions: Any) -> "Fronts":
        """The fronts of some positions `[N]`, in their order, where these fronts are.

        Examples:
            >>> from jaxgames import multienergy
            >>> game = multienergy.Game.from_arrays(
            ...     [0, 1, 1], [1], [0], [[-2]], defender=[0, 1], cap=3
            ... )
            >>> multienergy.solve(game).at([1, 1, 0]).table[:, 0, 0].tolist()
            [0, 0, 2]
        """
        if isinstance(self.words[0], np.ndarray):
            words = tuple(word[:, np.asarray(positions)] for word in self.words)
        else:
            words = _columns(self.words, jnp.asarray(positions, jnp.int32))
        return dataclasses.replace(self, words=words, state=None)

    def winning_with(self, budgets: Any) -> Any:
        """Where the attacker wins with each of some budgets: bool `[B, V]`.

        Args:
            budgets: integers `[B, D]`, known on the host.

        Raises:
            ValueError: a budget has a wrong length or negative energies.

        Examples:
            >>> from jaxgames import multienergy
            >>> game = multienergy.Game.from_arrays(
            ...     [0, 1, 1], [1], [0], [[-2]], defender=[0, 1], cap=3
            ... )
            >>> multienergy.solve(game).winning_with([[1], [2]]).tolist()
            [[False, True], [True, True]]
        """
        checked = [_checks.budget(each, self.packing.dimensions) for each in budgets]
        asked = tuple(tuple(each.tolist()) for each in checked)
        limits = _limits(self.packing, asked)
        if isinstance(self.words[0], np.ndarray):
            return _affordable_on_host(self.words, limits, self.packing)
        return _affordable_on_device(self.words, limits, self.packing)

    # ---- on the host ---------------------------------------------------------

    @keeps
    def offsets(self) -> np.ndarray:
        """Where the budgets of each position start in `points`: int64 `[V + 1]`."""
        counts = (self._on_host[0] != EMPTY).sum(0)
        return np.append(0, np.cumsum(counts, dtype=np.int64))

    @keeps
    def _on_host(self) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(word) for word in self.words)

    @keeps
    def points(self) -> np.ndarray:
        """The budgets of all positions, one after the other: int32 `[P, D]`."""
        words = [word.T for word in self._on_host]
        return self._energies(words, words[0] != EMPTY)

    def _energies(self, words: Any, there: np.ndarray) -> np.ndarray:
        kept = [word[there] for word in words]
        found = np.empty((len(kept[0]), self.packing.dimensions), np.int32)
        for energy in range(self.packing.dimensions):
            word, shift = self.packing.place(energy)
            found[:, energy] = (kept[word] >> shift) & self.packing.limit
        return found

    def budgets(self, v: int) -> np.ndarray:
        """The minimal budgets of a position: int32 `[k, D]`, sorted lexicographically.

        Raises:
            ValueError: there is no such position.
        """
        v = _checks.position(v, len(self))
        words = [word[:, v] for word in self._on_host]
        return self._energies(words, words[0] != EMPTY)

    def winning(self, v: int, budget: Any) -> bool:
        """Whether the attacker wins from a position with a budget.

        Raises:
            ValueError: there is no such position, or the budget has a wrong length or
                negative energies.
        """
        budget = _checks.budget(budget, self.packing.dimensions)
        return bool((self.budgets(v) <= budget).all(axis=1).any())

    def __len__(self) -> int:
        return self.words[0].shape[-1]

    def __repr__(self) -> str:
        if not has_values(*self.words) or self.words[0].ndim != 2:
            return f"Fronts(words {getattr(self.words[0], 'shape', '?')})"
        more = "" if self.status == Status.SOLVED else f", {Status(self.status).name}"
        return (
            f"Fronts({self.offsets[-1]} minimal budgets of {len(self)} positions{more})"
        )


def _sizes(words: Any, packing: Packing) -> Any:
    return (words[0] != EMPTY).sum(axis=-2, dtype=np.int32)


def _table(words: Any, packing: Packing) -> Any:
    return packing.unpack(tuple(word.swapaxes(-1, -2) for word in words))


def _packed(words: Any, packing: Packing) -> Any:
    table = _table(words, packing)
    shifts = np.arange(packing.dimensions, dtype=np.int32) * np.int32(packing.bits)
    packed = (table << shifts).sum(axis=-1, dtype=np.int32)
    return arrays_of(words).where(table[..., 0] < 0, np.int32(-1), packed)


_on_device = jax.jit(
    lambda function, words, packing: function(words, packing), static_argnums=(0, 2)
)


@functools.lru_cache(64)
def _limits(packing: Packing, budgets: tuple[tuple[int, ...], ...]):
    """Words of budgets."""
    # Nobody needs more than the largest energy of a field.
    most = packing.caps()
    return tuple(packing.word(np.minimum(each, most)) for each in budgets)


def _affordable_on_host(words: Any, limits: Any, packing: Packing) -> np.ndarray:
    """Whether one of the budgets of each position is at most each limit."""
    found = np.zeros((len(limits), words[0].shape[1]), bool)
    if not limits:
        return found
    bounds: Any = tuple(np.array(limits, np.int32).T[:, :, None])
    for k in range(len(words[0])):
        there = slice(None)  # all have a first one, or EMPTY, which no limit reaches
        if k:
            there = np.flatnonzero(words[0][k] != EMPTY)
        budget: Any = tuple(word[k, there] for word in words)
        found[:, there] |= np.asarray(packing.at_most(budget, bounds))
    return found


def _affordable(words: Any, limits: tuple[Any, ...], packing: Packing) -> jax.Array:
    """The same on a device."""
    found = []
    for limit in limits:
        fits = [
            packing.at_most(tuple(word[k] for word in words), limit)
            for k in range(words[0].shape[0])
        ]
        found.append(functools.reduce(jnp.logical_or, fits))
    return jnp.stack(found)


_affordable_on_device = jax.jit(_affordable, static_argnums=(1, 2))


@jax.jit
def _columns(words: Any, positions: jax.Array) -> Any:
    return tuple(ops.fetch(word, positions, EMPTY) for word in words)
