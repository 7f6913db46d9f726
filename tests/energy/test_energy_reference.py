"""The textbook against all strategies of tiny games."""

import brute_credits
import numpy as np

from jaxgames.energy import host, reference


def test_credits_and_strategies_against_all_strategies():
    for arena in brute_credits.tiny_games(seed=1, count=60):
        solution = reference.solve(arena.pad())
        credit, winner, strategy = (
            x[: arena.shape[0]]
            for x in (solution.credit, solution.winner, solution.strategy)
        )
        np.testing.assert_array_equal(credit, brute_credits.credits(arena))
        np.testing.assert_array_equal(winner, credit < 0)
        assert brute_credits.wins(arena, credit, strategy)
        assert ((strategy >= 0) == (winner == arena.owner)).all()


def test_claims_are_accepted_where_they_are_right():
    rng, seen = np.random.default_rng(3), set()
    for arena in brute_credits.tiny_games(seed=3, count=150):
        right = reference.solve(arena)
        credit, strategy = right.credit.copy(), right.strategy.copy()
        v = rng.integers(len(credit))
        match rng.integers(3):
            case 0:
                credit[v] += rng.integers(-2, 3)
            case 1:
                strategy[v] = rng.integers(-1, len(arena.dst))
            case 2:
                edges = rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])
                strategy = np.where(strategy >= 0, edges, -1)
        found = reference.verify(arena, credit, strategy)
        assert bool(found) == bool(host.verify(arena, credit, strategy)), str(found)
        if (credit == right.credit).all() and (
            (strategy >= 0) == (right.strategy >= 0)
        ).all():
            along = arena.src[strategy] == np.arange(len(strategy))
            if (along | (strategy < 0)).all():
                assert bool(found) == brute_credits.wins(arena, credit, strategy)
        seen.add(int(found.reason))
    assert len(seen) >= 8, seen
