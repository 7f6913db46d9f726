"""The minimal ones among budgets: against all of them, compared one by one."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small_games

from jaxgames import multienergy
from jaxgames.multienergy import ByFronts, _antichains, reference
from jaxgames.multienergy._antichains import FEW
from jaxgames.multienergy._packing import NARROW, WIDE, Packing

PACKINGS = {
    "one word": Packing(2, NARROW, None),
    "two words": Packing(2, WIDE, None),
}


_merge = jax.jit(_antichains.merge, static_argnums=0)
"""As solvers call it: within a program."""


@functools.partial(jax.jit, static_argnums=(0, 1))
def _filled(packing: Packing, capacity: int, budgets, count) -> _antichains.Front:
    """A front of so many of these budgets, and EMPTY at the end."""
    room = _antichains.stacked(_antichains.empty(packing, capacity, 1))
    there = np.arange(capacity) < count
    filled = tuple(
        jnp.where(there, word, empty[:, 0])[:, None]
        for empty, word in zip(room, packing.pack(budgets), strict=True)
    )
    return _antichains.unstacked(filled)


_unpacked = jax.jit(
    lambda packing, front: packing.unpack(_antichains.stacked(front)), static_argnums=0
)


def front_of(packing: Packing, capacity: int, budgets) -> _antichains.Front:
    """The front of one position: budgets as they are told, and EMPTY at the end."""
    room = np.zeros((capacity, 2), np.int32)
    room[: len(budgets)] = np.array(budgets, np.int32).reshape(-1, 2)
    return _filled(packing, capacity, room, len(budgets))


def budgets_of(packing: Packing, front: _antichains.Front) -> list[tuple[int, ...]]:
    """The budgets of the one position, each as often as it is there."""
    energies = np.asarray(_unpacked(packing, front))[:, 0]
    return [tuple(row) for row in energies.tolist() if row[0] >= 0]


@pytest.mark.parametrize("capacity", [FEW, 2 * FEW])
@pytest.mark.parametrize("packing", PACKINGS.values(), ids=PACKINGS)
@pytest.mark.parametrize(
    ("front", "more"),
    [
        ([], [(1, 2), (1, 2)]),
        ([], [(1, 2), (2, 1), (1, 2), (2, 1)]),
        ([(1, 2)], [(1, 2)]),
        ([(1, 2)], [(1, 2), (1, 2)]),
        ([(0, 5), (1, 2)], [(1, 2), (2, 1)]),
        ([(2, 2)], [(1, 2), (3, 3), (1, 2)]),
        ([(0, 1)], [(1, 2), (1, 2)]),
    ],
    ids=str,
)
def test_a_budget_of_two_sides_is_kept_once(packing, capacity, front, more):
    merged, full = _merge(
        packing,
        front_of(packing, capacity, front),
        front_of(packing, capacity, more),
    )
    assert not np.asarray(full).any()
    assert budgets_of(packing, merged) == sorted(reference.minimal([*front, *more]))


@pytest.mark.parametrize("packing", PACKINGS.values(), ids=PACKINGS)
def test_joins_that_are_the_same_are_kept_once(packing):
    # (2, 2) is the join of both.
    for one, other in itertools.permutations(([(2, 2)], [(0, 1), (1, 0)])):
        found, full = _antichains.product(
            packing, front_of(packing, FEW, one), front_of(packing, FEW, other)
        )
        assert not np.asarray(full).any()
        assert budgets_of(packing, found) == [(2, 2)]


@pytest.mark.parametrize("first", [1, 2])
def test_two_moves_of_the_defender_that_ask_for_the_same(first):
    # One of the moves needs (1, 0) or (0, 1), the other (1, 1). Joined with either
    # budget of the first, the second is (1, 1), in whatever order the moves come.
    moves = {
        0: [(first, [0, 0]), (3 - first, [0, 0])],
        1: [(3, [-1, 0]), (3, [0, -1])],
        2: [(3, [-1, -1])],
    }
    game = small_games.game(moves, {0, 3}, 4)
    expected = [{(1, 1)}, {(0, 1), (1, 0)}, {(1, 1)}, {(0, 0)}]
    assert reference.solve(game) == expected
    found = multienergy.solve(game, ByFronts(capacity=FEW))
    assert [found.budgets(v).tolist() for v in range(4)] == [
        sorted(map(list, budgets)) for budgets in expected
    ]
