"""Minimal winning budgets by the definition: sets of tuples, one position at a time."""

from collections import deque
from typing import Any

from jaxgames.multienergy._budgets import Budget, front, rule
from jaxgames.multienergy._budgets import history as history
from jaxgames.multienergy._budgets import inverse as inverse
from jaxgames.multienergy._budgets import minimal as minimal
from jaxgames.multienergy._budgets import update as update


def solve(game: Any) -> list[set[Budget]]:
    """The minimal budgets with which the attacker wins from each position.

    A worklist in the order of first come, first served: a position is visited when a
    successor has got new budgets. At the start the defender's positions without moves
    have the budget that is zero everywhere, and all others none [1, 2].

    1. B. Bisping. Process Equivalence Problems as Energy Games. CAV 2023.
       arXiv:2303.08904.
    2. T. Brihaye and A. Goeminne. Multi-weighted Reachability Games. RP 2023.
       arXiv:2308.09625.

    Args:
        game: a [`Game`][jaxgames.multienergy.Game].

    Returns:
        For each position its minimal budgets, as a set of tuples.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 2, 2, 2], [1, 2], [0, 1],
        ...     [[-2, 0], [0, -1]], defender=[False, True, True],
        ... )
        >>> [sorted(budgets) for budgets in multienergy.reference.solve(game)]
        [[(0, 1), (2, 0)], [(0, 0)], [(0, 0)]]
    """
    size, dimensions = len(game.defender), game.delta.shape[1]
    edges = list(zip(game.targets.tolist(), game.update_id.tolist(), strict=True))
    starts, defender = game.offsets.tolist(), game.defender.tolist()
    moves = [edges[starts[v] : starts[v + 1]] for v in range(size)]
    predecessors: list[list[int]] = [[] for _ in range(size)]
    for v in range(size):
        for target, _ in moves[v]:
            predecessors[target].append(v)
    rules = [rule(game, u) for u in range(game.delta.shape[0])]

    zero = (0,) * dimensions
    fronts: list[set[Budget]] = [
        {zero} if defender[v] and not moves[v] else set() for v in range(size)
    ]
    waiting = deque(p for v in range(size) if fronts[v] for p in predecessors[v])
    queued = set(waiting)
    while waiting:
        v = waiting.popleft()
        queued.discard(v)
        needed = [
            {inverse(rules[u], budget) for budget in fronts[target]}
            for target, u in moves[v]
        ]
        new = front(defender[v], needed, zero)
        if new != fronts[v]:
            fronts[v] = new
            more = [p for p in predecessors[v] if p not in queued]
            waiting.extend(dict.fromkeys(more))
            queued.update(more)
    return fronts
