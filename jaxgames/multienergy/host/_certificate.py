"""Checks of budgets by the definition of the game, played forwards."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import host
from jaxgames.host import compiled
from jaxgames.multienergy._budgets import history
from jaxgames.multienergy.host._worklist import (
    at_most,
    insert,
    larger,
    needed,
    updates_of,
)


class Ranks(NamedTuple):
    """How the attacker wins with some budgets.

    Attributes:
        offsets: int64 `[V + 1]`, where the budgets of each position start.
        points: int32 `[P, D]`, the budgets: the minimal ones; where there are gains
            also those that are minimal for fewer moves.
        rank: int32 `[P]`, how many moves he needs at most; -1 where he does not win by
            these budgets.
        move: int32 `[P]`, the edge that he takes in a position of his own; else -1.
    """

    offsets: np.ndarray
    points: np.ndarray
    rank: np.ndarray
    move: np.ndarray


def ranks(game: Any, offsets: np.ndarray, points: np.ndarray) -> Ranks:
    """In how many moves budgets win.

    Round by round: a budget of the attacker wins if one of his moves leaves at least a
    budget that has a rank already, one of the defender if all his moves do. So no rank
    rests on itself, and each move leads to a smaller one. O(R F^2 E) time for `R` ranks
    and fronts of `F` budgets.

    Where energies are never gained it is enough to look at minimal budgets. For a round
    trip that rests on itself leaves them as they are, and would be longer than need be.
    With gains the budgets that are minimal for fewer moves are looked at instead, which
    takes longer to find out.

    Args:
        game: the game.
        offsets: integers `[V + 1]`, where the budgets of each position start.
        points: integers `[P, D]`, the minimal budgets.
    """
    arrays = (np.asarray(x) for x in (game.offsets, game.targets, game.update_id))
    if game.gains:
        listed = history(game)
        offsets = np.append(0, np.cumsum([len(budgets) for budgets in listed]))
        points = np.array([b for budgets in listed for b in budgets], np.int32)
        points = points.reshape(-1, game.delta.shape[1])
    points = np.ascontiguousarray(points, np.int32)
    defender, updates = np.asarray(game.defender), updates_of(game)
    given = *arrays, defender, updates, np.asarray(offsets), points
    with host.plain(_pairs(game, offsets)) as sooner:
        if sooner:
            stop = host.Impatience.of(host.plain_left())
            *found, ended = _ranks(*given, stop)
            if ended:
                return Ranks(offsets, points, *found)
    *found, _ = _ranks(*given, np.zeros(1, np.int8))
    return Ranks(offsets, points, *found)


def _pairs(game: Any, offsets: np.ndarray) -> int:
    """Pairs of budgets at both ends of all edges, and the edges."""
    degree = np.diff(np.asarray(game.offsets)).astype(np.int64)
    count = np.diff(offsets).astype(np.int64)
    source = np.repeat(count, degree)
    targets = np.asarray(game.targets)[: len(source)]  # the others are padding
    return len(targets) + int(source @ count[targets])


def not_won(game: Any, offsets: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Budgets with which the attacker does not win: bool `[P]`."""
    known = ranks(game, offsets, points)
    if not game.gains:
        return known.rank < 0
    lost = np.ones(len(points), bool)
    for v in range(len(offsets) - 1):
        first, stop = known.offsets[v : v + 2]
        won = known.points[first:stop][known.rank[first:stop] >= 0]
        mine = slice(offsets[v], offsets[v + 1])
        enough = (won <= points[mine, None]).all(axis=-1)
        lost[mine] = ~enough.any(axis=-1)
    return lost


def not_closed(game: Any, offsets: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Positions where more budgets win than are listed: bool `[V]`.

    If the listed ones win after a move, what is needed for it wins before. If nowhere
    that is more than what is listed, the listed budgets are above the least solution.
    """
    arrays = (np.asarray(x) for x in (game.offsets, game.targets, game.update_id))
    points = np.ascontiguousarray(points, np.int32)
    defender, updates = np.asarray(game.defender), updates_of(game)
    with host.plain(_pairs(game, offsets)):
        return _not_closed(*arrays, defender, updates, offsets, points)


@compiled
def after_move(updates, update, before, k, after):
    """Writes what a move leaves of row `k` into `after`; whether none is negative."""
    delta, starts, whose, tied, cap = updates
    for i in range(before.shape[1]):
        after[0, i] = before[k, i]
    for tie in range(starts[update], starts[update + 1]):
        energy = before[k, tied[tie]]
        if energy < cap[tied[tie]]:
            after[0, whose[tie]] = min(after[0, whose[tie]], energy)
    for i in range(before.shape[1]):
        if after[0, i] < cap[i]:
            after[0, i] = min(after[0, i] + delta[update, i], cap[i] - 1)
        if after[0, i] < 0:
            return False
    return True


@compiled
def _holds(updates, update, before, points, first, stop, rank, after):
    """Whether a move leaves one of some budgets that have a rank."""
    if not after_move(updates, update, points, before, after):
        return False
    for k in range(first, stop):  # noqa: SIM110 - compiled
        if rank[k] >= 0 and at_most(points, k, after, 0):
            return True
    return False


@compiled
def _ranks(offsets, targets, update_id, defender, updates, starts, points, stop):
    size, number = len(defender), len(points)
    rank, move = np.full(number, -1, np.int32), np.full(number, -1, np.int32)
    owner = np.empty(number, np.int32)
    for v in range(size):
        owner[starts[v] : starts[v + 1]] = v
    after = np.empty((1, points.shape[1]), np.int32)
    left = np.arange(number)
    count, now = number, 0
    found = np.empty(number, np.int32)
    ended = True
    while count:
        if stop[0] != 0:
            ended = False
            break
        kept, new = 0, 0
        for index in range(count):
            k = left[index]
            v = owner[k]
            wins = defender[v]
            for edge in range(offsets[v], offsets[v + 1]):
                t = targets[edge]
                holds = _holds(
                    updates,
                    update_id[edge],
                    k,
                    points,
                    starts[t],
                    starts[t + 1],
                    rank,
                    after,
                )
                if holds != defender[v]:
                    wins = holds
                    if holds:
                        move[k] = edge
                    break
            if wins:
                found[new] = k
                new += 1
            else:
                left[kept] = k
                kept += 1
        for index in range(new):
            rank[found[index]] = now
        now += 1
        count = kept
        if new == 0:
            break
    return rank, move, ended


@compiled
def _covered(points, first, stop, budget):
    for k in range(first, stop):  # noqa: SIM110 - compiled
        if at_most(points, k, budget, 0):
            return True
    return False


@compiled
def _not_closed(offsets, targets, update_id, defender, updates, starts, points):
    size, dimensions = len(defender), points.shape[1]
    wrong = np.zeros(size, np.bool_)
    budget = np.empty((1, dimensions), np.int32)
    join = budget.copy()
    one = np.zeros((16, dimensions), np.int32)
    two = np.zeros((16, dimensions), np.int32)
    for v in range(size):
        first, stop = starts[v], starts[v + 1]
        if not defender[v]:
            for edge in range(offsets[v], offsets[v + 1]):
                t = targets[edge]
                for k in range(starts[t], starts[t + 1]):
                    needed(updates, update_id[edge], points, k, budget)
                    if not _covered(points, first, stop, budget):
                        wrong[v] = True
            continue
        # What is needed for the first moves and is not listed: in the end nothing.
        one[0] = 0
        free = 0 if _covered(points, first, stop, one) else 1
        for edge in range(offsets[v], offsets[v + 1]):
            if free == 0:
                break
            t = targets[edge]
            joined = 0
            for k in range(starts[t], starts[t + 1]):
                needed(updates, update_id[edge], points, k, budget)
                for a in range(free):
                    for i in range(dimensions):
                        join[0, i] = max(one[a, i], budget[0, i])
                    if not _covered(points, first, stop, join):
                        if joined == len(two):
                            two = larger(two, 0)
                        joined = insert(two, joined, join)
            one, two, free = two, one, joined
        wrong[v] = free > 0
    return wrong
