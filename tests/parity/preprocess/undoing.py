"""What the tests of all reductions share: solving, undoing and checking on the host."""

import dataclasses

import numpy as np

from jaxgames import Status
from jaxgames.parity import Solution, host, reference
from jaxgames.parity._edges import extend, split
from jaxgames.testing import odd_arenas


def solve(arena) -> Solution:
    """The reference's solution, also with priorities on edges."""
    solution, size = reference.solve(split(arena)), arena.shape[0]
    return dataclasses.replace(
        solution, winner=solution.winner[:size], strategy=solution.strategy[:size]
    )


def assert_valid(arena, winner, strategy, what=""):
    """Winners are right, and the strategies show it."""
    np.testing.assert_array_equal(winner, solve(arena).winner, str(what))
    game = split(arena)
    winner, strategy = extend(game, winner, strategy)
    solution = Solution(Status.SOLVED, winner=winner, strategy=strategy)
    verdict = host.verify(game, solution)
    assert verdict, f"{what}: {verdict}"


def check(arena, reduced, what=""):
    """Solving the reduced game and undoing solves the arena."""
    if reduced.arena.shape[0]:
        reduced.arena.validate()
    solution = solve(reduced.arena)
    assert_valid(arena, *reduced.undo(solution.winner, solution.strategy), what)


def with_edge_priorities(arena, rng):
    """The same graph with random priorities on edges."""
    priority = rng.integers(0, rng.integers(1, 8), arena.shape[1]).astype(np.int32)
    return dataclasses.replace(arena, priority=None, edge_priority=priority)


def arenas(seed, count, max_vertices=12):
    """Odd games; every second one has edge priorities."""
    rng = np.random.default_rng(seed)
    for index, arena in enumerate(odd_arenas(seed, count, max_vertices)):
        yield arena
        yield with_edge_priorities(arena, rng) if index % 2 else arena


def assert_partial(arena, winner, strategy):
    """What is decided is right, and won by what is known of the strategy.

    Where nothing is decided the true solution stands in.
    """
    truth = solve(arena)
    open_ = winner == -1
    np.testing.assert_array_equal(winner[~open_], truth.winner[~open_])
    assert (strategy[open_] == -1).all()
    assert_valid(arena, truth.winner, np.where(open_, truth.strategy, strategy))
