"""Stochastic games for rewards: against all strategies, and the check of both."""

import dataclasses
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from quantitative_cases import rarely

from jaxgames import mdp
from jaxgames.mdp._stochastic_game import part
from jaxgames.testing import _exact as exact

INFINITE = float("inf")


def random_game(rng, size: int) -> tuple[mdp.Game, np.ndarray]:
    bare = exact.random_model(rng, size, 2, 3)
    parts = (bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs)
    game = mdp.Game.from_arrays(*parts, rng.integers(0, 2, size))
    return game, rng.integers(0, 4, bare.num_choices) * 1.0


def by_all_strategies(game: mdp.Game, reward, target, discount) -> list:
    """The best of his strategies against all answers of the others."""
    model = game.model
    groups = model.row_group_offsets.tolist()
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    mine = [s for s, player in enumerate(game.player.tolist()) if player == 0]
    best: list | None = None
    for picked in itertools.product(*(own[s] for s in mine)):
        kept = np.ones(model.num_choices, bool)
        for s, choice in zip(mine, picked, strict=True):
            kept[own[s]] = False
            kept[choice] = True
        small, old = part(model, kept)
        how = {"reward": reward[old]}
        if discount is None:
            value = mdp.reference.values(small, "until", "min", target=target, **how)
        else:
            how["discount"] = discount
            value = mdp.reference.values(small, "total", "min", **how)
        best = value if best is None else list(map(max, best, value))
    assert best is not None
    return best


def compare(seed: int, count: int, discount=None, rare: bool = False) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(1, 6))
        game, reward = random_game(rng, size)
        if rare:
            game = rarely(game, rng)
        target = rng.random(size) < 0.3
        if discount is not None:
            reward = reward - 1
        how: dict[str, Any] = {"target": target}
        if discount is not None:
            how = {"discount": discount}
        value = by_all_strategies(game, reward, target, discount)
        found = mdp.solve_reward_game(game, reward, **how, relative=discount is None)
        for s in range(size):
            if value[s] == INFINITE:
                assert found.lower[s] == found.upper[s] == INFINITE
                continue
            assert Fraction(found.lower[s]) <= value[s] <= Fraction(found.upper[s])
            near = 1e-6 * (abs(value[s]) if discount is None else 1)
            assert found.upper[s] - found.lower[s] <= near
        assert mdp.verify_reward_game(game, reward, found, **how)


def test_before_a_target_against_all_strategies():
    compare(seed=1, count=60)


@pytest.mark.parametrize("discount", [None, Fraction(99, 100)])
def test_what_is_left_once_in_a_long_time(discount):
    compare(seed=3, count=30, discount=discount, rare=True)


def test_discounted_against_all_strategies():
    compare(seed=2, count=40, discount=Fraction(3, 4))


@pytest.mark.sweep
@pytest.mark.parametrize("discount", [None, Fraction(9, 10)])
def test_many_against_all_strategies(discount):
    compare(seed=3, count=3000, discount=discount)


def test_wrong_values_are_found():
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(30):
        game, reward = random_game(rng, 4)
        target = np.arange(4) == 3
        value = by_all_strategies(game, reward, target, None)
        found = mdp.solve_reward_game(game, reward, target)
        state = int(rng.integers(3))
        if value[state] == INFINITE:
            continue
        for change in (0.01, -0.01):
            lower, upper = found.lower.copy(), found.upper.copy()
            lower[state] += change
            upper[state] += change
            wrong = dataclasses.replace(found, lower=lower, upper=upper)
            assert not mdp.verify_reward_game(game, reward, wrong, target)
            seen += 1
    assert seen > 20


def test_what_is_no_question_is_refused():
    game, reward = random_game(np.random.default_rng(5), 3)
    with pytest.raises(ValueError, match="either a target, or a discount"):
        mdp.solve_reward_game(game, reward)
    with pytest.raises(ValueError, match="must not be negative"):
        mdp.solve_reward_game(game, reward - 9, [0])
    with pytest.raises(ValueError, match="discount must be between 0 and 1"):
        mdp.solve_reward_game(game, reward, discount=1)
    with pytest.raises(ValueError, match="has no rewards 'cost'; it has none"):
        mdp.solve_reward_game(game, "cost", [0])
    with pytest.raises(ValueError, match="reward must be finite numbers"):
        mdp.solve_reward_game(game, reward[1:], [0])
    for share in (np.nan, np.inf, "half", [0.5]):
        with pytest.raises(ValueError, match="discount must be between 0 and 1"):
            mdp.solve_reward_game(game, reward, discount=share)
    reward = np.append(reward[:-1], np.nan)
    with pytest.raises(ValueError, match=r"of choice \d+ is nan: expected a finite"):
        mdp.solve_reward_game(game, reward, [0])


def test_infinite_values_are_no_distance_apart():
    game = mdp.Game.from_arrays([0, 1, 2], [0, 1, 2], [0, 1], [1, 1], [-1, -1])
    found = mdp.solve_reward_game(game, [1, 0], [1])
    assert found.value.tolist() == [np.inf, 0]
    assert repr(found) == "GameValues(2 states, bounds at most 0.0e+00 apart)"
