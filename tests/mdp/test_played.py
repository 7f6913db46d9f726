"""Properties of stochastic games: what coalitions of players can see to."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import io, mdp
from jaxgames.cli import main
from jaxgames.mdp import PropertyError
from jaxgames.testing import _exact as exact
from jaxgames.testing import fuzz
from jaxgames.testing._slices import SLICES


def small() -> mdp.Game:
    """0 tries or hands over to 1, who goes back or draws a fair lot; 2 is the goal."""
    return mdp.Game.from_arrays(
        *([0, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7, 8], [2, 3, 1, 0, 2, 3, 2, 3]),
        [0.25, 0.75, 1, 1, 0.5, 0.5, 1, 1],
        player=[0, 1, -1, -1],
        labels={"goal": [0, 0, 1, 0], "end": [0, 0, 1, 1]},
        choice_rewards={"cost": [1, 0, 2, 1, 0, 0]},
        state_rewards={"here": [1, 2, 3, 4]},
    )


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ('<<0>>Pmax=? [ F "goal" ]', Fraction(1, 4)),
        ('<<1>>Pmax=? [ F "goal" ]', Fraction(1, 4)),
        ('<<0,1>>Pmax=? [ F "goal" ]', Fraction(1, 2)),
        ('<<>>Pmax=? [ F "goal" ]', 0),
        ('<<1>>Pmin=? [ G !"goal" ]', Fraction(3, 4)),
        ('<<0>>Pmax=? [ F<=2 "goal" ]', Fraction(1, 4)),
        ('<<0,1>>Pmax=? [ F<=2 "goal" ]', Fraction(1, 2)),
        ('<<0,1>>Pmax=? [ F<2 "goal" ]', Fraction(1, 4)),
        ('<<1>>Pmin=? [ G>=2 "end" ]', 1),
        ('<<0>>R{"cost"}max=? [ C<=3 ]', 1),
        ('<<0,1>>R{"cost"}max=? [ C<=4 ]', 4),
        ('<<0,1>>R{"cost"}max=? [ C<=4 discount=1/2 ]', Fraction(5, 4)),
        ('<<1>>R{"here"}min=? [ I=2 ]', Fraction(15, 4)),
        ('<<0>>R{"here"}min=? [ I=2 ]', Fraction(7, 2)),
        ('<<0>>R{"cost"}max=? [ F "end" ]', 1),
        ('<<0,1>>R{"cost"}max=? [ F "end" ]', np.inf),
        ('<<0>>R{"cost"}min=? [ Cdiscount=1/2 ]', 1),
        ('<<0>>Tmin=? [ F "end" ]', 1),
        ('<<1>>Pmax=? [ X <<1>>P>=0.5 [ X "goal" ] ]', Fraction(1, 4)),
        ('<<0>>Pmax=? [ X <<1>>P>=0.5 [ X "goal" ] ]', 1),
    ],
)
def test_what_coalitions_secure(asked, value):
    found = mdp.check(small(), asked, exact=True)
    assert found.exact[0] == value
    near = mdp.check(small(), asked)
    assert near.lower[0] <= value <= near.upper[0]
    assert near.lower[0] == near.upper[0] or near.upper[0] - near.lower[0] <= 1e-6
    again = mdp.Property.parse(asked)
    assert mdp.Property.parse(str(again)) == again
    if mdp.is_verifiable(asked):
        assert mdp.verify_values(small(), asked, near)
        spoilt = dataclasses.replace(near, lower=near.lower + 1, upper=near.upper + 1)
        assert not mdp.verify_values(small(), asked, spoilt) or value == np.inf
        nothing = np.zeros(4)
        spoilt = dataclasses.replace(near, lower=nothing, upper=nothing)
        assert not mdp.verify_values(small(), asked, spoilt) or not near.upper.any()


def test_bounds_are_what_a_coalition_can_see_to():
    for asked, holds in (
        ('<<0>>P>=0.25 [ F "goal" ]', True),
        ('<<0>>P>0.25 [ F "goal" ]', False),
        ('<<0>>P<=0.25 [ F "goal" ]', True),  # it need not try
        ('<<1>>P<0.25 [ F "goal" ]', False),
        ('<<0,1>>P>=0.5 [ F<=2 "goal" ]', True),
        ('<<0>>R{"cost"}<1 [ C<=9 ]', False),
        ('<<1>>R{"cost"}<=1 [ C<=9 ]', True),
    ):
        assert mdp.check(small(), asked).value is holds, asked


def test_formulas_are_decided_by_parity_games():
    for asked, value in (
        ('<<0>>Pmax=? [ G F "goal" ]', 0.25),
        ('<<0>>Pmax=? [ (F "goal") & (F G "end") ]', 0.25),
        ('<<0,1>>Pmin=? [ !(F "goal") | X "goal" ]', 0.5),
        ('<<0>>Pmax=? [ G !"end" ]', 0),
        ('<<1,0>>Pmax=? [ G !"end" ]', 1),
        ('<<0,1>>Pmax=? [ X X ("goal" | X "goal") ]', 0.5),
    ):
        found = mdp.check(small(), asked)
        assert found.lower[0] <= value <= found.upper[0], asked
        assert found.upper[0] - found.lower[0] <= 1e-6
        assert (found.scheduler is None) == ("G !" not in asked)


def test_a_strategy_with_a_clock_attains_its_values():
    rng = np.random.default_rng(3)
    for _ in range(60):
        size = int(rng.integers(1, 6))
        model = exact.random_model(rng, size, 3, 3)
        earned = rng.integers(-2, 4, model.num_choices)
        model = dataclasses.replace(model, choice_rewards={"": earned * 1.0})
        game = mdp.Game(model, rng.integers(0, 3, size).astype(np.int8))
        found = mdp.check(game, "<<0,1>>Rmax=? [ C<=4 ]")
        values = [Fraction(0)] * size
        for row in found.scheduler[::-1]:
            values = [
                earned[c] + sum(p * values[t] for t, p in exact.branches(model, c))
                for c in row.tolist()
            ]
        assert (found.lower <= values).all()
        assert (found.upper >= values).all()
        two = mdp.Game(model, np.where(game.player == 2, 1, 0).astype(np.int8))
        best = mdp.reference.game_steps(two, "total", 4, reward=earned.tolist())
        assert values == best


def test_many_steps_end_where_nothing_changes():
    asked = '<<0,1>>Pmax=? [ F<=100000000 "goal" ]'
    found = mdp.check(small(), asked)
    assert found.lower[0] <= 0.5 <= found.upper[0]
    assert found.upper[0] - found.lower[0] <= 1e-6
    asked = '<<0,1>>Pmax=? [ F[2,9] "goal" ]'
    assert mdp.verify_values(small(), asked, mdp.check(small(), asked))


def test_probabilities_that_are_one_are_so_exactly():
    # Thirds do not sum up to one in floating point.
    game = mdp.Game.from_arrays(
        *([0, 2, 3, 4], [0, 3, 4, 5, 6], [1, 1, 1, 2, 1, 2], [1 / 3] * 3 + [1, 1, 1]),
        player=[0, -1, -1],
        labels={"goal": [0, 1, 0]},
    )
    found = mdp.check(game, '<<0>>Pmax=? [ F<=3 "goal" ]')
    assert found.lower.tolist() == found.upper.tolist() == [1, 1, 0]
    found = mdp.check(game, '<<0>>Pmin=? [ F<=3 "goal" ]')
    assert found.lower.tolist() == found.upper.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('Pmax=? [ F "goal" ]', "must say who plays together, .* players are 0, 1"),
        ('<<2>>Pmax=? [ F "goal" ]', "there is no player 2: the game's players are"),
        ('<<0>>P=? [ F "goal" ]', "must say min or max, of what the coalition"),
        ('<<0>>Pmaxmin=? [ F "goal" ]', "must say min or max, of what the coalition"),
        ('<<0>>R{"cost"}max=? [ C ]', "column 23: all rewards, without a target"),
        ('<<0>>R{"cost"}max=? [ LRA ]', "long-run averages of stochastic games"),
        ('<<0>>LRAmax=? [ "goal" ]', "long-run averages of stochastic games"),
        ('<<0>>Pmax=? [ F "goal" || F "end" ]', "conditional probabilities of"),
        ('<<0>>Pmax=? [ F^{rew{"cost"}<=3} "goal" ]', "bounds of what is earned of"),
        ('<<0 Pmax=? [ F "goal" ]', "column 5: expected ',' or '>>', found 'Pmax'"),
        ('<<a>>Pmax=? [ F "goal" ]', "column 3: expected the number of a player"),
        ('<<0>>"goal"', "column 6: expected P or R, of what the players want"),
        ('multi(Pmax=? [ F "goal" ])', "several objectives of a game"),
    ],
)
def test_what_is_not_supported_is_said(asked, said):
    with pytest.raises(PropertyError, match=said):
        mdp.check(small(), asked)


def test_options_that_are_none_of_games():
    asked = '<<0>>Pmax=? [ F "goal" ]'
    with pytest.raises(ValueError, match="games have one solver"):
        mdp.check(small(), asked, "values")
    with pytest.raises(ValueError, match="and games take others"):
        mdp.check(small(), asked, max_steps=3)
    with pytest.raises(PropertyError, match="the model is not a game"):
        mdp.check(small().model, asked)


def test_games_on_the_command_line(tmp_path, capsys):
    file, out = str(tmp_path / "game.umb"), str(tmp_path / "found.npz")
    io.save(file, small())
    asked = '<<0>>Pmax=? [ F<=2 "goal" ]'
    assert main(["mdp", file, "--prop", asked, "--exact", "--verify"]) == 0
    assert f"{asked} is 1/4" in capsys.readouterr().out
    asked = '<<0>>R{"cost"}max=? [ F "end" ]'
    assert main(["mdp", file, "--prop", asked, "--verify", "-o", out, "-q"]) == 0
    assert main(["verify", file, out, "--prop", asked]) == 0
    assert "valid" in capsys.readouterr().out
    asked = '<<1>>R{"cost"}max=? [ F "end" ]'
    assert main(["verify", file, out, "--prop", asked]) == 1
    capsys.readouterr()
    assert main(["mdp", file, "--prop", 'Pmax=? [ F "goal" ]']) == 2
    assert "must say who plays together" in capsys.readouterr().err


@pytest.mark.sweep
def test_nothing_is_found_in_many_small_games():
    summary = fuzz(SLICES["values"], ["played"], games=4000, limit=None)
    assert summary.failure is None, summary.failure
