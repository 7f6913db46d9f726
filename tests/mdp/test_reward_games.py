"""Stochastic games for rewards: against all strategies, and the check of both."""

import dataclasses
import itertools
from fractions import Fraction
from typing import Any

import jax
import numpy as np
import pytest
from quantitative_cases import rarely
from test_games import stacked, tied_game

from jaxgames import mdp
from jaxgames.mdp import _reward_game_traced
from jaxgames.mdp._stochastic_game import part
from jaxgames.solution import Stats, Status
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


# ---- traced ----------------------------------------------------------------------


def traced(games, rewards, targets, size: int, **how) -> list[mdp.GameValues]:
    """The values of games that are solved side by side, of their own states."""

    @jax.jit
    @jax.vmap
    def solve(game, reward, target):
        return mdp.solve_reward_game(game, reward, target, **how)

    rewards = np.array([np.pad(x, (0, 16 - len(x))) for x in rewards])
    goals = np.array([np.pad(x, (0, size - len(x))) for x in targets])
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        found = jax.device_get(solve(stacked(games, size), rewards, goals))
    assert not found.upper[0][len(targets[0]) :].any()
    names = "lower", "upper", "value", "strategy"
    return [
        mdp.GameValues(
            found.status[at],
            **{name: getattr(found, name)[at][: len(target)] for name in names},
            stats=Stats(),
        )
        for at, target in enumerate(targets)
    ]


def drawn(seed: int, count: int):
    rng = np.random.default_rng(seed)
    games, rewards, targets = [], [], []
    for number in range(count):
        size = int(rng.integers(1, 6))
        game = random_game(rng, size)[0] if number % 2 else tied_game(rng, size)
        free = rng.random(game.model.num_choices) < 0.5
        games.append(game)
        rewards.append(np.where(free, 0.0, rng.integers(0, 4, len(free))))
        targets.append(rng.random(size) < 0.4)
    return games, rewards, targets


def test_traced_games_against_all_strategies():
    games, rewards, targets = drawn(6, 200)
    found = traced(games, rewards, targets, 5)
    between = endless = 0
    for game, reward, target, own in zip(games, rewards, targets, found, strict=True):
        assert own.status == Status.SOLVED
        for s, value in enumerate(by_all_strategies(game, reward, target, None)):
            assert own.lower[s] <= value <= own.upper[s]
            assert own.lower[s] == value or own.upper[s] - own.lower[s] <= 1e-6 * value
            between, endless = between + (0 < value < INFINITE), endless + (value > 99)
        assert mdp.verify_reward_game(game, reward, own, target)
    assert between > 60
    assert endless > 100


def test_traced_games_that_are_stopped_have_bounds_that_hold(monkeypatch):
    games, rewards, targets = drawn(7, 100)
    rng = np.random.default_rng(7)
    games = [rarely(game, rng) for game in games]
    questions = zip(games, rewards, targets, strict=True)
    right = [by_all_strategies(*question, None) for question in questions]
    for rounds in (3, 200):  # weights are not there, or are
        monkeypatch.setattr(_reward_game_traced, "GAME_ROUNDS", rounds)
        found = traced(games, rewards, targets, 5)
        assert {Status.SOLVED, Status.MAX_STEPS} == {int(x.status) for x in found}
        for own, values in zip(found, right, strict=True):
            assert (own.lower <= values).all()
            assert (own.upper >= values).all()


def test_traced_bounds_meet_where_the_others_could_stay_for_nothing():
    """Without inflation the lower bound would stay at zero."""
    game = mdp.Game.from_arrays(
        [0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2], [1, 1, 1, 1], [1, 0, -1],
        choice_rewards={"cost": [0, 3, 0, 0]}, state_rewards={"wait": [1, 0, 5]},
    )  # fmt: skip
    solve = jax.jit(
        lambda game, reward: mdp.solve_reward_game(game, reward, [2], epsilon=1e-4)
    )
    found = solve(game, np.array([0, 3, 0, 0.0]))
    assert (found.status, found.lower.dtype) == (Status.SOLVED, np.float32)
    np.testing.assert_allclose(found.value, [3, 3, 0], rtol=1e-4)
    assert found.strategy.tolist() == [1, 2, -1]
    own = jax.jit(lambda game: mdp.solve_reward_game(game, "wait", [2], epsilon=1e-4))
    np.testing.assert_allclose(own(game).value, [1, 1, 0], rtol=1e-4)
    # A loop that is left once in 10 million steps: float32 does not tell.
    rare = mdp.Game.from_arrays(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [1 - 1e-7, 1e-7, 1], [-1, -1]
    )
    own = jax.jit(lambda game: mdp.solve_reward_game(game, [1, 0], [1]))
    own = jax.device_get(own(rare))
    assert own.status in (Status.PRECISION, Status.MAX_STEPS)
    assert own.lower[0] <= 1e7 * (1 + 1e-6)
    assert own.upper[0] >= 1e7 * (1 - 1e-6)


def test_what_is_no_reward_is_invalid_where_it_is_traced():
    game = mdp.Game.from_arrays([0, 1, 2], [0, 1, 2], [1, 1], [1, 1], [0, -1])
    solve = jax.jit(
        jax.vmap(lambda reward: mdp.solve_reward_game(game, reward, [1], epsilon=1e-4))
    )
    rewards = np.array([[1, 0], [-1, 0], [np.nan, 0], [np.inf, 0], [2, 0.0]])
    found = jax.device_get(solve(rewards))
    assert found.status.tolist() == [0, *[Status.INVALID] * 3, 0]
    assert found.value[[0, 4], 0].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"finite numbers \[2\], or a name, got"):
        solve(np.ones((2, 3)))
