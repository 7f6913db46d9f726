"""Rounds over sets of budgets as bitmaps: exact for small games with caps."""

import dataclasses
import functools
import math
from typing import ClassVar, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._layout import Layout
from jaxgames.multienergy._packing import EMPTY, Budget, Packing
from jaxgames.ops import Block
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register
from jaxgames.tuning.multienergy import MOST_BITS, MOST_BUDGETS

_WORD = 32
_ALL = np.uint32(2**32 - 1)


@register
class State(NamedTuple):
    """The winning budgets of all positions, and whether the last round found some."""

    wins: jax.Array  # uint32 [B / 32, V]
    changed: jax.Array  # bool


@dataclasses.dataclass(frozen=True)
class ByBitmap(Solver):
    """Sets of winning budgets, with a bit for each of the `B` budgets there are.

    The attacker's set is the union of those of his moves, the defender's the
    intersection. A budget wins before a move if what becomes of it wins afterwards:
    that is a gather of bits, the same for all edges of an update. No budgets are
    compared, and there is always room; but every energy needs a cap, and six energies
    up to 3 take 512 bytes a position. A round is O(U V B + E B).

    Attributes:
        capacity: budgets of a position that there is room for in the answer, under
            tracing: a power of two.
    """

    capacity: int = 8
    packing: Packing | None = dataclasses.field(default=None, repr=False)
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "bitmap"

    def __post_init__(self):
        super().__post_init__()
        check_positive(capacity=self.capacity)

    def init(self, game: Layout) -> State:
        """Every budget wins where the defender is stuck, none elsewhere."""
        assert game.game.cap is not None
        number = -(-num_budgets(game.game.cap) // _WORD)
        won = jnp.asarray(game.still & game.defender)
        wins = jnp.where(won, _ALL, jnp.uint32(0))
        return State(jnp.tile(wins, (number, 1)), jnp.array(True))

    def step(self, game: Layout, state: State) -> State:
        """The sets of all positions from those after each move."""
        after = self._before_updates(game, state.wins)
        wins = state.wins
        for block in (*game.union, *game.meet, *game.either):
            wins = self._visit(game, after, block, wins)
        return State(wins, jnp.any(wins != state.wins))

    def done(self, game: Layout, state: State) -> jax.Array:
        """Nothing was found in the last round."""
        return ~state.changed

    def answer(self, game: Layout, state: State) -> jax.Array:
        """The sets."""
        return state.wins

    def _before_updates(self, game: Layout, wins: jax.Array) -> jax.Array:
        """The budgets that win before each update: uint32 `[B / 32, U V]`."""
        steps = _steps(game.game)
        bits = unpacked(wins)

        def before(_, step):
            return None, _packed(ops.fetch(bits, step, False))

        found = jax.lax.scan(before, None, steps)[1]
        return jnp.moveaxis(found, 0, 1).reshape(wins.shape[0], -1)

    def _visit(self, game: Layout, after, block: Block, wins) -> jax.Array:
        def both(found, move):
            heads, marks = move
            there = heads < game.size
            place = marks.astype(jnp.int32) * game.size + jnp.where(there, heads, 0)
            needed = ops.fetch(after, place, 0)
            some, all_of = found
            some = some | jnp.where(there, needed, 0)
            return (some, all_of & jnp.where(there, needed, _ALL)), None

        none = jnp.zeros((wins.shape[0], block.rows.shape[0]), jnp.uint32)
        moves = block.heads, block.marks
        (some, all_of), _ = jax.lax.scan(both, (none, ~none), moves)
        defends = ops.fetch(game.defender, block.rows, False)
        return ops.store(wins, block.rows, jnp.where(defends, all_of, some))


def num_budgets(cap: tuple[int, ...]) -> int:
    """How many budgets there are."""
    return math.prod(most + 1 for most in cap)


def check(game: Game) -> None:
    """Raises ValueError unless bitmaps can hold the game."""
    cap = game.cap
    if cap is None or 0 in cap:
        raise ValueError(
            "solver='bitmap' needs a cap for every energy: take solver='fronts'"
        )
    if num_budgets(cap) > MOST_BUDGETS:
        raise ValueError(
            f"solver='bitmap' holds sets of at most {MOST_BUDGETS} budgets, and caps "
            f"{cap} have {num_budgets(cap)}: take solver='fronts'"
        )
    bits = num_budgets(cap) * game.num_positions * game.num_updates
    if bits > MOST_BITS:
        raise ValueError(
            f"solver='bitmap' would need {bits / 2**33:.1f} GiB for "
            f"{game.num_positions} positions and {game.num_updates} updates, more than "
            f"{MOST_BITS / 2**33:.0f}: take solver='fronts'"
        )


def unpacked(wins: jax.Array) -> jax.Array:
    """Sets as booleans `[V, B']`, from words `[B' / 32, V]`."""
    shifts = jnp.arange(_WORD, dtype=jnp.uint32)[:, None]
    bits = (wins[:, None] >> shifts) & 1
    return (bits.reshape(-1, wins.shape[1]) > 0).T


def _packed(bits: jax.Array) -> jax.Array:
    """Words `[B / 32, V]` from booleans `[V, B]`."""
    bits = jnp.pad(bits, ((0, 0), (0, -bits.shape[1] % _WORD)))
    bits = bits.reshape(bits.shape[0], -1, _WORD).astype(jnp.uint32)
    shifts = jnp.arange(_WORD, dtype=jnp.uint32)
    return jnp.sum(bits << shifts, axis=-1, dtype=jnp.uint32).T


def _all_budgets(cap: tuple[int, ...]) -> np.ndarray:
    """All budgets, int32 `[B, D]`, in lexicographic order."""
    return np.indices([most + 1 for most in cap]).reshape(len(cap), -1).T


def _strides(cap: tuple[int, ...]) -> np.ndarray:
    """How far budgets that differ by one in an energy are from each other."""
    sizes = np.array([*cap[1:], 0]) + 1
    return np.cumprod(sizes[::-1])[::-1].astype(np.int32)


def _steps(game: Game) -> jax.Array:
    """The number of each budget after each update; `2**30` where one is negative."""
    assert game.cap is not None
    cap = jnp.array(game.cap, jnp.int32)
    now = jnp.array(_all_budgets(game.cap), jnp.int32)
    finite = jnp.where(now < cap, now, 1 << 29)
    delta, minima = jnp.asarray(game.delta), jnp.asarray(game.minima)
    tied = jnp.where(minima[:, None], finite[:, None, :], 1 << 29)
    least = jnp.minimum(now, jnp.min(tied, axis=-1))
    changed = jnp.minimum(least + delta[:, None], cap - 1)
    after = jnp.where(least >= cap, cap, changed)
    number = jnp.sum(after * jnp.array(_strides(game.cap)), axis=-1, dtype=jnp.int32)
    return jnp.where(jnp.any(after < 0, axis=-1), 1 << 30, number)


@functools.partial(jax.jit, static_argnums=1)
def minimal(wins: jax.Array, cap: tuple[int, ...]) -> jax.Array:
    """Which budgets are minimal in upward closed sets: bool `[V, B]`."""
    sizes = [most + 1 for most in cap]
    bits = unpacked(wins)[:, : num_budgets(cap)].reshape(-1, *sizes)
    found = bits
    for energy in range(len(cap)):
        axis = energy + 1
        none = jnp.zeros_like(jax.lax.slice_in_dim(bits, 0, 1, axis=axis))
        less = jax.lax.slice_in_dim(bits, 0, sizes[energy] - 1, axis=axis)
        found = found & ~jnp.concatenate([none, less], axis=axis)
    return found.reshape(len(found), -1)


@functools.partial(jax.jit, static_argnums=(1, 2))
def fronts(least: jax.Array, packing: Packing, capacity: int):
    """Minimal budgets as words `[K, V]`, and whether there was room for all."""
    assert packing.cap is not None
    count = least.shape[1]
    ranks = jnp.where(least, count - jnp.arange(count, dtype=jnp.int32), 0)
    more = max(capacity - count, 0)
    best = jax.lax.top_k(jnp.pad(ranks, ((0, 0), (0, more))), capacity)[0].T
    there = best > 0
    number = jnp.where(there, count - best, 0)
    strides = jnp.array(_strides(packing.cap))
    sizes = jnp.array(packing.cap, jnp.int32) + 1
    words: Budget = packing.pack((number[..., None] // strides) % sizes)
    full = jnp.any(jnp.sum(least, axis=1) > capacity)
    return tuple(jnp.where(there, x, EMPTY) for x in words), full
