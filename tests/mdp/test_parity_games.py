"""Stochastic parity games: against all strategies, and the check of both."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from quantitative_cases import FOLDER, needs_folder, rarely

from jaxgames import ltl, mdp
from jaxgames.mdp._parity_game import won_almost_surely
from jaxgames.solution import Status
from jaxgames.testing import _exact as exact


def random_game(rng, size: int, priorities: int) -> tuple[mdp.Game, np.ndarray]:
    bare = exact.random_model(rng, size, 2, 3)
    parts = (bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs)
    game = mdp.Game.from_arrays(*parts, rng.integers(0, 2, size))
    return game, rng.integers(0, priorities, size)


def compare(seed: int, count: int, most: int = 6) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(1, most))
        game, priority = random_game(rng, size, int(rng.integers(1, 6)))
        for maximizer in (0, 1):
            value = mdp.reference.parity_game_values(
                game, priority, maximizer=maximizer
            )
            found = mdp.solve_parity_game(game, priority, maximizer=maximizer)
            for s in range(size):
                assert Fraction(found.lower[s]) <= value[s] <= Fraction(found.upper[s])
                assert found.upper[s] - found.lower[s] <= 1e-6 * value[s]
            assert mdp.verify_parity_game(game, priority, found, maximizer=maximizer)


def test_against_all_strategies():
    compare(seed=1, count=40)


def test_what_is_left_once_in_a_long_time():
    """Float64 cannot tell which choices are better, and one less it has few digits."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        size = int(rng.integers(2, 6))
        game, priority = random_game(rng, size, 5)
        game = rarely(game, rng)
        value = mdp.reference.parity_game_values(game, priority)
        found = mdp.solve_parity_game(game, priority)
        for s in range(size):
            assert Fraction(found.lower[s]) <= value[s] <= Fraction(found.upper[s])
            assert found.upper[s] - found.lower[s] <= 1e-6 * value[s]
        assert mdp.verify_parity_game(game, priority, found)
        for end in (np.nextafter(found.upper, 2), np.nextafter(found.lower, -1)):
            wrong = dataclasses.replace(found, lower=end, upper=end)
            assert not mdp.verify_parity_game(game, priority, wrong)


@pytest.mark.sweep
def test_against_all_strategies_at_length():
    compare(seed=2, count=5_000)


def test_sure_wins_are_those_of_value_one():
    rng = np.random.default_rng(3)
    for _ in range(60):
        game, priority = random_game(rng, int(rng.integers(1, 6)), 5)
        value = mdp.reference.parity_game_values(game, priority)
        model = game.model
        surely, moves = won_almost_surely(
            model, priority, game.player == 0, np.arange(model.num_choices)
        )
        assert surely.tolist() == [x == 1 for x in value]
        first, last = model.row_group_offsets[:-1], model.row_group_offsets[1:]
        movers = surely == (game.player == 0)
        assert ((moves >= first) & (moves < last))[movers].all()
        assert (moves[~movers] == -1).all()


def test_a_value_is_not_what_sure_wins_are_reached_with():
    # In 0 the other player loses where he is, or leaves it to a fair lot.
    game = mdp.Game.from_arrays(
        *([0, 2, 3, 4, 5], [0, 1, 2, 4, 5, 6], [0, 1, 2, 3, 2, 3]),
        *([1, 1, 0.5, 0.5, 1, 1], [1, -1, -1, -1]),
    )
    found = mdp.solve_parity_game(game, [0, 1, 0, 1])
    assert found.value.round(9).tolist() == [0.5, 0.5, 1, 0]
    assert found.strategy.tolist() == [1, 2, 3, 4]
    other = mdp.solve_parity_game(game, [1, 0, 1, 0], maximizer=1)
    assert other.value.round(9).tolist() == [0.5, 0.5, 0, 1]


def test_small_values_are_found_relative_to_them():
    # One in a million gets to where he wins.
    game = mdp.Game.from_arrays(
        *([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [1e-6, 1 - 1e-6, 1, 1]),
        [0, -1, -1],
    )
    found = mdp.solve_parity_game(game, [0, 2, 1])
    assert found.upper[0] - found.lower[0] <= 1e-6 * found.lower[0]
    assert found.lower[0] <= 1e-6 <= found.upper[0]
    assert mdp.verify_parity_game(game, [0, 2, 1], found)


def test_values_far_nearer_than_epsilon_are_told_apart():
    # What is right in 0 is worth 1e-9 more.
    half = 0.5 + 1e-9
    game = mdp.Game.from_arrays(
        *([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2]),
        *([0.5, 0.5, half, 1 - half, 1, 1], [0, -1, -1]),
    )
    found = mdp.solve_parity_game(game, [0, 2, 1], epsilon=1e-12)
    assert found.strategy[0] == 1
    assert found.upper[0] - found.lower[0] <= 1e-12


@needs_folder
def test_published_games():
    cases = json.loads((FOLDER / "games" / "parity25.json").read_text())
    assert len(cases) == 31
    for case in cases:
        groups, rows, columns, probs = [0], [0], [], []
        for state in case["states"]:
            for branches in state["choices"]:
                columns += [target for target, _ in branches]
                probs += [float(Fraction(p)) for _, p in branches]
                rows.append(len(columns))
            groups.append(len(rows) - 1)
        player = [state["player"] for state in case["states"]]
        game = mdp.Game.from_arrays(groups, rows, columns, probs, player)
        found = mdp.solve_parity_game(game, case["priority"])
        value = np.array([float(Fraction(x)) for x in case["value"]])
        assert (found.lower <= value + 1e-12).all(), case["id"]
        assert (value - 1e-12 <= found.upper).all(), case["id"]
        assert mdp.verify_parity_game(game, case["priority"], found), case["id"]


def test_wrong_values_are_found():
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(20):
        game, priority = random_game(rng, 4, 4)
        found = mdp.solve_parity_game(game, priority)
        value = mdp.reference.parity_game_values(game, priority)
        state = int(rng.integers(4))
        for change in (0.01, -0.01):
            lower, upper = found.lower.copy(), found.upper.copy()
            lower[state] += change
            upper[state] += change
            assert not lower[state] <= value[state] <= upper[state]
            wrong = dataclasses.replace(found, lower=lower, upper=upper)
            assert not mdp.verify_parity_game(game, priority, wrong)
            seen += 1
    assert seen == 40


def test_formulas_are_objectives_by_a_product():
    rng = np.random.default_rng(5)
    for formula, asked in {
        "G F p": 'G F "p"',
        "F G p": 'F G "p"',
        "p U q": '"p" U "q"',
        "G (p -> X q)": 'G ("p" => (X "q"))',
        "G F p & F G q": '(G F "p") & (F G "q")',
    }.items():
        automaton = ltl.deterministic(formula)
        for _ in range(4):
            bare, _ = random_game(rng, 4, 1)
            model = dataclasses.replace(
                bare.model, labels={x: rng.random(4) < 0.5 for x in "pq"}
            )
            for player in (0, 1):  # one player alone
                game = mdp.Game(model, np.full(4, player, np.int8))
                product, priority = mdp.parity_product(game, automaton)
                found = mdp.solve_parity_game(product, priority)
                assert mdp.verify_parity_game(product, priority, found)
                optimum = "min" if player else "max"
                other = mdp.check(model, f"P{optimum}=? [ {asked} ]")
                assert (found.lower[:4] <= other.upper + 1e-12).all(), formula
                assert (other.lower <= found.upper[:4] + 1e-12).all(), formula


def test_what_is_wrong_is_told():
    game = mdp.Game.from_arrays([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], [0, -1])
    with pytest.raises(ValueError, match="state 1 has priority -1, expected 0 or more"):
        mdp.solve_parity_game(game, [0, -1])
    with pytest.raises(
        ValueError, match=r"priority must be integers \[2\], got int64 "
    ):
        mdp.solve_parity_game(game, [0])
    with pytest.raises(ValueError, match=r"integers \[2\], got float64"):
        mdp.solve_parity_game(game, [0.5, 1])
    with pytest.raises(ValueError, match="game must be a Game, got MDP"):
        mdp.solve_parity_game(game.model, [0, 1])  # type: ignore
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        mdp.solve_parity_game(game, [0, 1], epsilon=0)
    with pytest.raises(ValueError, match=r"must be an ltl.ParityAutomaton, got Auto"):
        mdp.parity_product(game, ltl.translate("G F p"))
    late = mdp.solve_parity_game(game, [0, 1], deadline=1e-9, throw=False)
    assert late.status == Status.TIMEOUT
    found = mdp.solve_parity_game(game, [0, 1])
    moved = dataclasses.replace(found, strategy=np.array([2, 2]))
    verdict = mdp.verify_parity_game(game, [0, 1], moved)
    assert str(verdict).startswith("state 0: the scheduler takes a choice")
    with pytest.raises(ValueError, match="lower must have 2 entries"):
        mdp.verify_parity_game(game, [0, 1], dataclasses.replace(found, lower=[0.0]))
