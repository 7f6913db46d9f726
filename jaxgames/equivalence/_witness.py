"""A small formula that tells processes apart, from a won spectroscopy game.

The attacker's plays from a position with a budget are a reachability game on pairs of
position and energy: he needs one move, the defender tries all. The size of the formula
that a strategy spells out is one more than that of the chosen move's, or than the sum
over all of the defender's moves; the least is found by Knuth's generalisation of
Dijkstra's algorithm.

References:
    Knuth: A generalization of Dijkstra's algorithm. IPL 1977.
    https://doi.org/10.1016/0020-0190(77)90002-3
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from jaxgames import limits
from jaxgames.equivalence._formula import And, Formula, Not, Observe
from jaxgames.equivalence._game import (
    CHALLENGE,
    NEGATIVE,
    POSITIVE,
    UNLIMITED,
    Spectroscopy,
)
from jaxgames.equivalence._system import System

Energy = tuple[int, ...]
Node = tuple[int, Energy]


class Moves(Protocol):
    """What is asked of a game."""

    @property
    def updates(self) -> Sequence[Sequence]:
        """What each kind of move does to each component of the budget."""
        ...

    @property
    def defender(self) -> Any:
        """Where the defender moves: booleans."""
        ...

    def successors(self, index: int) -> list[tuple[int, int]]:
        """Kind and target of each move from a position."""
        ...


Speller = Callable[[int, list[tuple[int, int]], list[Formula]], Formula]
"""The formula of a position, from moves and the formulas of where they lead: the one
move of the attacker, or all moves of the defender."""


def witness(
    game: Moves,
    start: int,
    budgets: Iterable[Energy],
    wins: Callable[[int, Energy], bool],
    spell: Speller,
) -> Formula:
    """The least formula for one of some budgets that win from a position.

    What `wins` says does not win at a position is not looked at.
    """
    starts = [(start, budget) for budget in budgets]
    plays = _plays(game, starts, wins)
    formulas: dict[Node, Formula] = {}
    for node, edge in _least(game, plays).items():
        limits.tick("writing a formula", len(formulas), "positions")
        moves = plays[node] if edge < 0 else plays[node][edge : edge + 1]
        steps = [(move, target) for move, (target, _) in moves]
        parts = [formulas[following] for _, following in moves]
        formulas[node] = spell(node[0], steps, parts)
    return next(formulas[node] for node in formulas if node in starts)


def after(changes: Sequence, energy: Energy) -> Energy | None:
    """The energies after a move; None where one would be negative."""
    left = []
    for i, change in enumerate(changes):
        if isinstance(change, tuple):
            left.append(min(energy[i], *(energy[j] for j in change[1:])))
        else:
            spent = 0 if energy[i] == UNLIMITED else change
            left.append(energy[i] + spent)
    return None if min(left) < 0 else tuple(left)


def _plays(
    game: Moves, starts: list[Node], wins: Callable[[int, Energy], bool]
) -> dict[Node, list[tuple[int, Node]]]:
    """What can be reached while the attacker can still win: moves and next nodes."""
    plays: dict[Node, list[tuple[int, Node]]] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node in plays:
            continue
        limits.tick("looking for a formula", len(plays), "positions")
        position, energy = node
        plays[node] = []
        for move, target in game.successors(position):
            left = after(game.updates[move], energy)
            if left is not None and wins(target, left):
                plays[node].append((move, (target, left)))
        waiting += [following for _, following in plays[node]]
    return plays


def _least(game: Moves, plays: dict[Node, list[tuple[int, Node]]]) -> dict[Node, int]:
    """The move chosen at each node, -1 for all, in the order of the formulas' sizes."""
    nodes = list(plays)
    number = {node: i for i, node in enumerate(nodes)}
    before: list[list[tuple[int, int]]] = [[] for _ in nodes]
    missing = [0] * len(nodes)
    total = [1] * len(nodes)
    queue: list[tuple[int, int, int]] = []
    for i, node in enumerate(nodes):
        if game.defender[node[0]]:
            missing[i] = len(plays[node])
            if not plays[node]:
                queue.append((1, i, -1))
        for edge, (_, following) in enumerate(plays[node]):
            before[number[following]].append((i, edge))
    choice: dict[Node, int] = {}
    while queue:
        size, i, edge = heapq.heappop(queue)
        if nodes[i] in choice:
            continue
        limits.tick("choosing a formula", len(choice), "positions")
        choice[nodes[i]] = edge
        for previous, edge in before[i]:
            if not game.defender[nodes[previous][0]]:
                heapq.heappush(queue, (size + 1, previous, edge))
                continue
            missing[previous] -= 1
            total[previous] += size
            if not missing[previous]:
                heapq.heappush(queue, (total[previous], previous, -1))
    return choice


def conjunction(parts: list[Formula]) -> Formula:
    """All of some formulas, each once."""
    return And(tuple({str(part): part for part in parts}.values()))


def speller(game: Spectroscopy, system: System, names: Sequence[str]) -> Speller:
    """What the formulas of a strong spectroscopy game are."""

    def spell(
        position: int, moves: list[tuple[int, int]], parts: list[Formula]
    ) -> Formula:
        if game.defender[position]:
            return conjunction(parts)
        ((move, target),) = moves
        if move in (CHALLENGE, POSITIVE):
            return parts[0]
        if move == NEGATIVE:
            return Not(parts[0])
        action = _action(game, system, position, target)
        return Observe(names[action], parts[0])

    return spell


def _action(game: Spectroscopy, system: System, position: int, reached: int) -> int:
    """The first action by which an observation leads from a position to another."""
    whole = set(game.members_of(int(game.first[position])))
    aim = set(game.members_of(int(game.first[reached])))
    last = int(game.process[reached])
    for action, target in system.row(int(game.process[position])):
        if target == last:
            found = {t for q in whole for a, t in system.row(q) if a == action}
            if found == aim:
                return action
    raise AssertionError("an observation without an action")
