"""Small games: some by hand with their budgets, and random ones."""

import itertools
from typing import Any

import numpy as np

from jaxgames import multienergy
from jaxgames.multienergy import Game, reference

Budget = tuple[int, ...]


def game(moves: dict[int, list], defends: set[int], size: int, cap: Any = None) -> Game:
    """A game from the moves of each position, as pairs of a target and an update."""
    table: dict[tuple, int] = {}
    edges = [(v, t, tuple(u)) for v in range(size) for t, u in moves.get(v, [])]
    return Game.from_arrays(
        np.searchsorted([v for v, _, _ in edges], np.arange(size + 1)),
        [t for _, t, _ in edges],
        [table.setdefault(u, len(table)) for _, _, u in edges],
        list(table),
        defender=[v in defends for v in range(size)],
        cap=cap,
    )


BY_HAND: dict[str, tuple[Game, list[list[Budget]]]] = {
    "the attacker chooses": (
        game({0: [(1, [-2, 0]), (1, [0, -1])]}, {1}, 2),
        [[(0, 1), (2, 0)], [(0, 0)]],
    ),
    "the defender chooses": (
        game({0: [(1, [-2, 0]), (1, [0, -1])]}, {0, 1}, 2),
        [[(2, 1)], [(0, 0)]],
    ),
    "nobody can pay for ever": (
        game({0: [(0, [-1])], 1: [(0, [0]), (2, [-3])]}, {2}, 3),
        [[], [(3,)], [(0,)]],
    ),
    "an endless play is lost": (
        game({0: [(1, [0]), (2, [0])], 1: [(0, [0])]}, {0, 2}, 3),
        [[], [], [(0,)]],
    ),
    "a stuck attacker has lost": (game({1: [(0, [0])]}, {1}, 2), [[], []]),
    "a loop that pays": (
        # Each round in 0 costs one of the second energy and gives two of the first.
        game({0: [(0, [2, -1]), (1, [-3, 0])]}, {1}, 2),
        [[(0, 2), (1, 1), (3, 0)], [(0, 0)]],
    ),
    "a minimum": (
        # After the move both energies are at most the second one: 2 of it are needed.
        game({0: [(1, [("min", 1), 0])], 1: [(2, [-2, 0])]}, {2}, 3),
        [[(2, 2)], [(2, 0)], [(0, 0)]],
    ),
    "chained minima read old energies": (
        # The last energy needs 1; the second becomes at most the old third one, and the
        # first at most the old second one, whatever that becomes.
        game({0: [(1, [("min", 1), ("min", 2), 0])], 1: [(2, [-1, 0, 0])]}, {2}, 3),
        [[(1, 1, 0)], [(1, 0, 0)], [(0, 0, 0)]],
    ),
    "a minimum beside a loss": (
        game({0: [(1, [("min", 1), -1])], 1: [(2, [-3, -1])]}, {2}, 3),
        [[(3, 3)], [(3, 1)], [(0, 0)]],
    ),
    "a minimum of three": (
        game({0: [(1, [("min", 1, 2), 0, 0])], 1: [(2, [-1, 0, 0])]}, {2}, 3),
        [[(1, 1, 1)], [(1, 0, 0)], [(0, 0, 0)]],
    ),
    "a cap is infinite": (
        # Two are needed and then two more: with a cap of 3 that is more than finite.
        game({0: [(1, [-2])], 1: [(2, [-2])]}, {2}, 3, cap=3),
        [[(3,)], [(2,)], [(0,)]],
    ),
    "a loop under a cap": (
        game({0: [(0, [-1, 0]), (1, [0, -1])], 1: [(0, [0, -1])]}, set(), 2, cap=2),
        [[], []],
    ),
    "a gain does not make infinite": (
        game({0: [(1, [1])], 1: [(2, [-2])], 2: [(3, [-2])]}, {3}, 4, cap=3),
        [[(3,)], [(3,)], [(2,)], [(0,)]],
    ),
    "one cap of two": (
        game({0: [(1, [-2, -2])], 1: [(2, [-2, -2])]}, {2}, 3, cap=(3, None)),
        [[(3, 4)], [(2, 2)], [(0, 0)]],
    ),
    "two edges to one position": (
        game({0: [(1, [-1, 0]), (1, [-1, 0])]}, {0, 1}, 2, cap=1),
        [[(1, 0)], [(0, 0)]],
    ),
}


def random_game(
    rng: np.random.Generator,
    size: int,
    dimensions: int,
    cap: Any = None,
    gains: float = 0.0,
    most: int = 2,
    updates: int = 6,
) -> Game:
    """A game with moves, updates and owners by lot; self-loops and repeats occur."""
    degree = rng.integers(0, 4, size)
    count = int(degree.sum())

    def entry(energy: int) -> Any:
        lot = rng.random()
        if lot < 0.25 and dimensions > 1:
            others = [j for j in range(dimensions) if j != energy]
            return ("min", *rng.permutation(others)[: rng.integers(1, 3)].tolist())
        if lot < 0.25 + gains:
            return int(rng.integers(1, most + 1))
        return -int(rng.integers(0, most + 1))

    return Game.from_arrays(
        np.append(0, np.cumsum(degree)),
        rng.integers(0, size, count),
        rng.integers(0, updates, count),
        [[entry(i) for i in range(dimensions)] for _ in range(updates)],
        defender=rng.random(size) < 0.5,
        cap=cap,
    )


def brute_force(game: Game, most: int) -> list[set[Budget]]:
    """The minimal budgets of a game by who wins from each pair of position and budget.

    Only for games without gains, where energies never rise above `most`; where there
    are caps, `most` is the cap of all.
    """
    budgets = list(itertools.product(range(most + 1), repeat=game.dimensions))
    rules = [reference.rule(game, u) for u in range(game.num_updates)]
    won: set[tuple[int, Budget]] = set()

    def wins(v: int, budget: Budget) -> bool:
        after = [
            (int(game.targets[e]), reference.update(rules[game.update_id[e]], budget))
            for e in range(game.offsets[v], game.offsets[v + 1])
        ]
        good = [pair in won for pair in after]
        return all(good) if game.defender[v] else any(good)

    while True:
        new = {
            (v, budget)
            for v in range(game.num_positions)
            for budget in budgets
            if (v, budget) not in won and wins(v, budget)
        }
        if not new:
            break
        won |= new
    return [
        multienergy.reference.minimal(b for p, b in won if p == v)
        for v in range(game.num_positions)
    ]
