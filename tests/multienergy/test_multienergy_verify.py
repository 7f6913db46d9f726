"""Checks find what is wrong, and plays go as the budgets say."""

import numpy as np
import pytest
import small_games
from small_games import BY_HAND, random_game

from jaxgames import multienergy
from jaxgames.multienergy import Reason


def solved(seed: int, **options):
    rng = np.random.default_rng(seed)
    options = {"dimensions": 3, "cap": 3, "gains": 0.1} | options
    game = random_game(rng, 30, **options)
    return game, multienergy.solve(game, "host")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cap", [3, None])
def test_answers_are_right(seed, cap):
    game, found = solved(seed, cap=cap, gains=0.0)
    assert str(multienergy.verify(game, found)) == "valid"
    assert len(found.points) > 3


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_out_is_missed(seed):
    game, found = solved(seed)
    offsets, points = found.offsets, found.points
    for k in range(len(points)):
        owner = np.searchsorted(offsets, k, side="right") - 1
        fewer = offsets - (np.arange(len(offsets)) > owner)
        verdict = multienergy.verify(game, (fewer, np.delete(points, k, axis=0)))
        assert not verdict
        assert verdict.reason in (Reason.MISSING, Reason.NOT_WON)


@pytest.mark.parametrize("change", [-1, 1])
def test_other_budgets_are_rejected(change):
    game, found = solved(4)
    tried = 0
    for k, i in np.ndindex(*found.points.shape):
        points = found.points.copy()
        points[k, i] += change
        if 0 <= points[k, i] <= 3:
            tried += 1
            assert not multienergy.verify(game, (found.offsets, points))
    assert tried > 20


@pytest.mark.parametrize(
    ("budgets", "reason"),
    [
        ([(0, 1), (2, 0)], Reason.OK),
        ([(0, -1), (2, 0)], Reason.NO_BUDGET),
        ([(2, 0), (0, 1)], Reason.OUT_OF_ORDER),
        ([(0, 1), (0, 1)], Reason.OUT_OF_ORDER),
        ([(0, 1), (0, 2)], Reason.NOT_MINIMAL),
        ([(0, 1), (1, 0)], Reason.NOT_WON),
        ([(0, 1)], Reason.MISSING),
        ([(0, 2), (2, 0)], Reason.MISSING),
    ],
)
def test_each_reason(budgets, reason):
    game, _ = BY_HAND["the attacker chooses"]
    offsets = [0, len(budgets), len(budgets) + 1]
    verdict = multienergy.verify(game, (offsets, [*budgets, (0, 0)]))
    assert verdict.reason == reason
    assert bool(verdict) == (reason == Reason.OK)


def test_a_larger_fixpoint_is_no_answer():
    # Both positions of the loop could vouch for each other.
    game, _ = BY_HAND["an endless play is lost"]
    verdict = multienergy.verify(game, ([0, 1, 2, 3], [[0], [0], [0]]))
    assert (
        str(verdict) == "position 0: the attacker does not win with one of its budgets"
    )


def test_fronts_of_another_shape_are_an_error():
    game, _ = BY_HAND["the attacker chooses"]
    for offsets, points, message in (
        ([0, 1], [[0, 1]], r"offsets must hold integers of shape \(3,\)"),
        ([0, 1, 2], [[0], [0]], "rows of 2 integers"),
        ([0, 1, 3], [[0, 0], [0, 0]], "must go from 0 to 2"),
    ):
        with pytest.raises(ValueError, match=message):
            multienergy.verify(game, (offsets, points))


def test_budgets_that_gains_pay_for():
    # The loop of 0 and 1 gives what 1 needs; the second round rests on the first.
    game = small_games.game({0: [(1, [1, 0])], 1: [(0, [0, -1]), (2, [-2, 0])]}, {2}, 3)
    found = multienergy.solve(game)
    assert found.budgets(0).tolist() == [[0, 1], [1, 0]]
    assert str(multienergy.verify(game, found)) == "valid"
    wrong = found.points.copy()
    wrong[0] = [0, 0]
    assert multienergy.verify(game, (found.offsets, wrong)).reason == Reason.NOT_MINIMAL
    fewer = [0, 1, *(found.offsets[2:] - 1)]
    verdict = multienergy.verify(game, (fewer, np.delete(wrong, 1, axis=0)))
    assert verdict.reason == Reason.NOT_WON
    moves = multienergy.strategy(game, found)
    played = multienergy.play(game, moves, 0, [0, 1])
    assert (played.winner, played.positions) == ("attacker", [0, 1, 0, 1, 2])


# ---- plays ---------------------------------------------------------------------------


@pytest.mark.parametrize(("cap", "gains"), [(3, 0.0), (3, 0.1), (None, 0.0)])
def test_a_winning_budget_beats_every_defender(cap, gains):
    game, found = solved(4, cap=cap, gains=gains)
    moves = multienergy.strategy(game, found)
    rng = np.random.default_rng(0)
    count = 0

    def by_lot(v: int, _) -> int:
        return int(rng.integers(game.offsets[v], game.offsets[v + 1]))

    for v in range(len(found)):
        for budget in found.budgets(v):
            rank = moves.rank[moves.offsets[v] : moves.offsets[v + 1]].max()
            for defender in (by_lot, None):
                played = multienergy.play(game, moves, v, budget, defender=defender)
                assert played.winner == "attacker"
                assert len(played.edges) <= rank
                count += 1
    assert count > 20


def test_a_losing_budget_is_beaten_by_the_defender():
    game, found = solved(4)
    moves = multienergy.strategy(game, found)
    rng = np.random.default_rng(0)

    def by_lot(v: int, _) -> int:
        return int(rng.integers(game.offsets[v], game.offsets[v + 1]))

    lost = 0
    for v in range(len(found)):
        for budget in ([0, 0, 0], [1, 1, 1], [2, 2, 2]):
            if not found.winning(v, budget):
                lost += 1
                for attacker in (by_lot, None):
                    played = multienergy.play(
                        game, moves, v, budget, attacker=attacker, max_moves=200
                    )
                    assert played.winner == "defender"
    assert lost > 10


def test_how_plays_end():
    loop, _ = BY_HAND["an endless play is lost"]
    fronts = multienergy.solve(loop)
    assert multienergy.play(loop, fronts, 0, [0]).reason == "the play never ends"
    stuck, _ = BY_HAND["a stuck attacker has lost"]
    fronts = multienergy.solve(stuck)
    assert multienergy.play(stuck, fronts, 1, [0]).reason == "the attacker cannot move"
    paid = small_games.game({0: [(1, [-2])]}, {1}, 2)
    fronts = multienergy.solve(paid)
    played = multienergy.play(paid, fronts, 0, [1])
    assert (played.reason, played.edges) == ("the attacker cannot pay", [0])
    assert multienergy.play(paid, fronts, 0, [2]).budgets == [(2,), (0,)]


def test_misuse_of_plays():
    game, _ = BY_HAND["the attacker chooses"]
    fronts = multienergy.solve(game)
    with pytest.raises(ValueError, match="must not be negative"):
        multienergy.play(game, fronts, 0, [0, -1])
    with pytest.raises(ValueError, match="edge 5 does not leave position 0"):
        multienergy.play(game, fronts, 0, [2, 0], attacker=lambda v, budget: 5)
    with pytest.raises(ValueError, match="do not belong to this game"):
        multienergy.strategy(game, ([0, 1, 2], [[0, 0], [0, 0]]))
    assert repr(multienergy.strategy(game, fronts)) == (
        "Strategy(3 budgets, 1 moves at most)"
    )
