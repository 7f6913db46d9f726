"""Budgets by the definition: what moves leave of them, and which of them win.

Tuples of energies, one at a time, in plain Python.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

Budget = tuple[int, ...]


def history(game: Any) -> list[list[Budget]]:
    """All budgets that are minimal for some number of moves.

    With a budget that is not minimal the attacker may win in fewer moves. Where
    energies are gained the minimal ones may rest on such: he plays until he has more.

    Returns:
        For each position these budgets, sorted.
    """
    size, zero = len(game.defender), (0,) * game.delta.shape[1]
    edges = list(zip(game.targets.tolist(), game.update_id.tolist(), strict=True))
    starts, defender = game.offsets.tolist(), game.defender.tolist()
    moves = [edges[starts[v] : starts[v + 1]] for v in range(size)]
    rules = [rule(game, u) for u in range(game.delta.shape[0])]
    fronts: list[set[Budget]] = [set() for _ in range(size)]
    seen: list[set[Budget]] = [set() for _ in range(size)]
    changed = set(range(size))
    while changed:
        new = list(fronts)
        for v in range(size):
            if moves[v] and not any(target in changed for target, _ in moves[v]):
                continue
            needed = [
                {inverse(rules[u], budget) for budget in fronts[target]}
                for target, u in moves[v]
            ]
            new[v] = front(defender[v], needed, zero)
        changed = {v for v in range(size) if new[v] != fronts[v]}
        fronts = new
        for v in changed:
            seen[v] |= fronts[v]
    return [sorted(budgets) for budgets in seen]


def front(defends: bool, needed: list[set[Budget]], zero: Budget) -> set[Budget]:
    """The minimal budgets of a position, from what is needed for each of its moves."""
    if not defends:
        return minimal(budget for budgets in needed for budget in budgets)
    front = {zero}
    for budgets in needed:
        front = minimal(tuple(map(max, a, b)) for a in front for b in budgets)
    return front


def minimal(budgets: Iterable[Budget]) -> set[Budget]:
    """The minimal ones among budgets: those with no smaller one.

    Examples:
        >>> sorted(minimal([(1, 2), (2, 1), (2, 2), (1, 2)]))
        [(1, 2), (2, 1)]
    """
    found: list[Budget] = []
    for budget in sorted(set(budgets)):  # what is smaller comes first
        if not any(at_most(other, budget) for other in found):
            found.append(budget)
    return set(found)


def at_most(one: Budget, other: Budget) -> bool:
    """Whether no energy of one budget is above that of the other."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def rule(game: Any, number: int) -> tuple[Budget, list[list[int]], Budget]:
    """An update as sums, minima and caps: lists that `update` and `inverse` read."""
    caps = game.cap or (0,) * game.delta.shape[1]
    minima = [np.flatnonzero(row).tolist() for row in game.minima[number]]
    return tuple(game.delta[number].tolist()), minima, caps


def update(
    rule: tuple[Budget, list[list[int]], Budget], budget: Budget
) -> Budget | None:
    """The energies after a move; None where one would be negative.

    An energy at its cap is infinite: it stays so, and is never the least of several. A
    gain does not make an energy infinite.
    """
    delta, minima, caps = rule
    after = []
    for i, energy in enumerate(budget):
        finite = [budget[j] for j in minima[i] if not 0 < caps[j] <= budget[j]]
        least = min([energy, *finite])
        if not (caps[i] and least >= caps[i]):
            least += delta[i]
            if caps[i]:
                least = min(least, caps[i] - 1)
        if least < 0:
            return None
        after.append(least)
    return tuple(after)


def inverse(rule: tuple[Budget, list[list[int]], Budget], budget: Budget) -> Budget:
    """The least energies before a move, so that at least `budget` is left after it."""
    delta, minima, caps = rule
    before = []
    for i, energy in enumerate(budget):
        if not (caps[i] and energy >= caps[i]):
            energy = max(energy - delta[i], 0)
        before.append(energy)
    for i, others in enumerate(minima):
        for j in others:
            before[j] = max(before[j], budget[i])
    return tuple(min(e, cap) if cap else e for e, cap in zip(before, caps, strict=True))
