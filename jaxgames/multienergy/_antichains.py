"""Antichains of budgets, many at a time: the kernels of the solver.

A *front* holds up to `K` budgets for each of `N` positions, sorted, with EMPTY at the
end. Up to `FEW` of them, of one word each, are a tuple of budgets `[N]`: comparisons
and sorting are then element-wise operations on columns, which a compiler makes one loop
of. All others are a tuple of one budget with words `[K, N]`, which compile sooner.
"""

import functools
import math

from jaxgames.later import backend, jax, jnp
from jaxgames.multienergy._packing import EMPTY, Budget, Packing
from jaxgames.tuning.multienergy import CHEAP
from jaxgames.tuning.multienergy import FEW_COLUMNS as FEW

Front = tuple[Budget, ...]


def empty(packing: Packing, capacity: int, size: int) -> Front:
    """Fronts without a budget."""
    word = jnp.full((capacity, size), EMPTY)
    return unstacked(tuple(word for _ in range(packing.num_words)))


def zero(packing: Packing, capacity: int, where: jax.Array) -> Front:
    """Fronts of the budget that is zero where `where` `[N]` holds; empty elsewhere."""
    words = stacked(empty(packing, capacity, where.shape[0]))
    first = jnp.where(where, 0, EMPTY)
    return unstacked(tuple(word.at[0].set(first) for word in words))


def capacity_of(front: Front) -> int:
    """How many budgets there is room for."""
    return len(front) if front[0][0].ndim == 1 else front[0][0].shape[0]


def stacked(front: Front) -> Budget:
    """Words `[K, N]`."""
    if front[0][0].ndim > 1:
        return front[0]
    return tuple(jnp.stack(words) for words in zip(*front, strict=True))


def unstacked(words: Budget) -> Front:
    """A front from words `[K, N]`."""
    capacity = words[0].shape[0]
    if capacity > FEW or len(words) > 1:
        return (words,)
    return tuple((word[k],) for word in words for k in range(capacity))


def grown(front: Front, capacity: int) -> Front:
    """The same budgets, with room for more."""
    more = capacity - capacity_of(front)
    words = stacked(front)
    return unstacked(
        tuple(jnp.pad(x, ((0, more), (0, 0)), constant_values=EMPTY) for x in words)
    )


def differ(one: Front, other: Front) -> jax.Array:
    """Where fronts are not the same: bool `[N]`."""
    apart = [
        a != b if a.ndim == 1 else jnp.any(a != b, axis=0)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    ]
    return functools.reduce(jnp.logical_or, apart)


def select(which: jax.Array, one: Front, other: Front) -> Front:
    """One front where `which` `[N]` holds, else the other."""
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), one, other)


def merge(packing: Packing, front: Front, more: Front) -> tuple[Front, jax.Array]:
    """The minimal ones among budgets of a front and any others.

    All are compared with all, equal ones by their place; then a network sorts them.

    There are as many of these, which may repeat, unless fronts are words `[K, N]`.

    Returns:
        The antichains, and where there was no room: bool `[N]`.
    """
    if front[0][0].ndim > 1:
        return _merge_many(packing, front[0], more[0])
    kept = []
    for i, budget in enumerate(more):
        beaten = [packing.at_most(other, budget) for other in front]
        for j, other in enumerate(more):
            if j != i:
                below = packing.at_most(other, budget)
                beaten.append(below if j < i else below & ~packing.same(other, budget))
        kept.append(_drop(functools.reduce(jnp.logical_or, beaten), budget))
    for budget in front:
        beaten = [
            packing.at_most(other, budget) & ~packing.same(other, budget)
            for other in more
        ]
        kept.append(_drop(functools.reduce(jnp.logical_or, beaten), budget))
    kept = _sorted(kept)
    rest = [budget[0] != EMPTY for budget in kept[len(front) :]]
    return tuple(kept[: len(front)]), functools.reduce(jnp.logical_or, rest)


def product(packing: Packing, front: Front, other: Front) -> tuple[Front, jax.Array]:
    """The minimal budgets that are above one of each front.

    The joins of some budgets with all of the other front are merged, then those of the
    next: of one at a time where positions are many, so that never more than `2 K`
    budgets of each are at hand. It may take more room on the way than in the end.

    Returns:
        The antichains, and where there was no room: bool `[N]`.
    """
    size = front[0][0].shape[-1]
    start = empty(packing, capacity_of(front), size)

    def joined(state, budget: Budget):
        found, full = state
        joins = tuple(packing.join(budget, each) for each in other)
        found, more = merge(packing, found, joins)
        return found, full | more

    def add(state, budget: Budget):
        if front[0][0].ndim == 1:
            return joined(state, budget), None
        some = jnp.any(budget[0] != EMPTY)  # large rooms are seldom filled
        return jax.lax.cond(some, joined, lambda state, _: state, state, budget), None

    full = jnp.zeros(size, bool)
    if front[0][0].ndim > 1 and (some := _at_once(capacity_of(front), size)):
        [words], found = front, start
        for first in range(0, capacity_of(front), some):
            part = tuple(x[first : first + some, None] for x in words)
            joins = packing.join(part, tuple(x[None] for x in other[0]))
            joins = tuple(x.reshape(-1, size) for x in joins)
            found, more = merge(packing, found, (joins,))
            full |= more
        return found, full
    return jax.lax.scan(add, (start, full), stacked(front))[0]


def _at_once(capacity: int, size: int) -> int:
    """How many budgets to join with a front at once; 0: one after the other.

    A step costs an accelerator as much as many comparisons.
    """
    if backend() == "cpu":
        return 0
    some = capacity
    while some and size * (some + 1) ** 2 * capacity**3 // some > CHEAP:
        some //= 2
    return some


def _merge_many(packing: Packing, front: Budget, more: Budget):
    room, total = front[0].shape[0], front[0].shape[0] + more[0].shape[0]
    both = tuple(jnp.concatenate(words) for words in zip(front, more, strict=True))
    one, other = tuple(x[:, None] for x in both), tuple(x[None] for x in both)
    place = jnp.arange(total)
    before = (place[:, None] < place)[..., None]
    beats = packing.at_most(one, other) & (before | ~packing.same(one, other))
    kept = jax.lax.optimization_barrier(_drop(jnp.any(beats, axis=0), both))
    # All that are kept differ: as many as are less tell the place of each. A sort of
    # short columns takes many passes on a GPU.
    less = _before(tuple(x[:, None] for x in kept), tuple(x[None] for x in kept))
    rank = jnp.sum(less, axis=0, dtype=jnp.int32)
    rank = jax.lax.optimization_barrier(jnp.where(kept[0] == EMPTY, total, rank))
    there = rank[None] == jnp.arange(room, dtype=jnp.int32)[:, None, None]
    words = tuple(jnp.min(jnp.where(there, x[None], EMPTY), axis=1) for x in kept)
    return (words,), jnp.sum(kept[0] != EMPTY, axis=0) > room


def _before(one: Budget, other: Budget) -> jax.Array:
    """Whether one comes before the other, word by word."""
    before = jnp.array(False)
    for a, b in zip(reversed(one), reversed(other), strict=True):
        before = (a < b) | (a == b) & before
    return before


def _drop(beaten: jax.Array, budget: Budget) -> Budget:
    return tuple(jnp.where(beaten, EMPTY, x) for x in budget)


def _sorted(budgets: list[Budget]) -> list[Budget]:
    """Sorts budgets of one word: Batcher's network."""
    words = [word for (word,) in budgets]
    for i, j in _network(len(words)):
        one, other = words[i], words[j]
        words[i], words[j] = jnp.minimum(one, other), jnp.maximum(one, other)
    return [(word,) for word in words]


@functools.cache
def _network(size: int) -> list[tuple[int, int]]:
    """Comparisons of Batcher's odd-even merge sort (1968), for a power of two."""
    found, half = [], 1
    for level in range(int(math.log2(size))):
        half = 1 << level
        step = half
        while step:
            for start in range(step % half, size - step, 2 * step):
                for i in range(start, min(start + step, size - step)):
                    if i // (2 * half) == (i + step) // (2 * half):
                        found.append((i, i + step))
            step //= 2
    return found
