"""Games are checked when they are built."""

import jax.numpy as jnp
import numpy as np
import pytest
from small_games import BY_HAND

from jaxgames import multienergy
from jaxgames.multienergy import Game

FINE = {
    "offsets": [0, 2, 2],
    "targets": [1, 0],
    "update_id": [0, 1],
    "updates": [[-1, 0], [("min", 1), 2]],
    "defender": [False, True],
    "cap": 3,
}


def build(**changes) -> Game:
    arguments = FINE | changes
    order = ("offsets", "targets", "update_id", "updates")
    rest = {k: v for k, v in arguments.items() if k not in order}
    return Game.from_arrays(*(arguments[k] for k in order), **rest)


def test_a_game_is_what_was_passed():
    game = build()
    assert repr(game) == "Game(2 positions, 2 edges, 2 updates of 2 energies)"
    assert game.delta.tolist() == [[-1, 0], [0, 2]]
    assert np.argwhere(game.minima).tolist() == [[1, 0, 1]]
    assert (game.cap, game.width, game.ties, game.gains) == ((3, 3), 2, 1, True)


def test_arrays_of_jax_stay_what_they_are():
    arrays = {k: jnp.array(FINE[k]) for k in ("offsets", "targets", "update_id")}
    game = build(**arrays, defender=jnp.array([False, True]))
    assert all(not isinstance(x, np.ndarray) for x in (game.offsets, game.targets))
    plain, found = multienergy.solve(build()), multienergy.solve(game)
    np.testing.assert_array_equal(found.points, plain.points)
    with pytest.raises(ValueError, match=r"targets\[1\] is 7"):
        build(**arrays | {"targets": jnp.array([1, 7])})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": [0, 2]}, r"targets\[0\] is 1, expected a number from 0 to 0"),
        ({"offsets": [1, 2, 2]}, "offsets must go from 0 to 2, got 1 to 2"),
        ({"offsets": [0, 3, 2]}, r"offsets\[2\] is 2, expected 3 or more"),
        ({"offsets": [0, 1, 1]}, "offsets must go from 0 to 2, got 0 to 1"),
        ({"offsets": []}, "offsets must be integers, one at least"),
        ({"offsets": [0.0, 2.0, 2.0]}, "offsets must be integers, one at least"),
        ({"targets": [1, 2]}, r"targets\[1\] is 2, expected a number from 0 to 1"),
        ({"targets": [-1, 0]}, r"targets\[0\] is -1"),
        ({"update_id": [0, 2]}, r"update_id\[1\] is 2, expected a number from 0 to 1"),
        ({"update_id": [0]}, "update_id must have an entry for each of 2 edges"),
        ({"updates": []}, "updates is empty"),
        ({"updates": [[-1, 0], [1]]}, "update 1 must have 2 entries"),
        ({"updates": [[-1, 0], [("min",), 0]]}, "update 1, energy 0: expected"),
        (
            {"updates": [[-1, 0], [("min", 2), 0]]},
            "a dimension must be from 0 to 1, got 2",
        ),
        ({"updates": [[-1, 0], ["min", 0]]}, "update 1, energy 0: expected"),
        ({"updates": [[-1, 0], [0.5, 0]]}, "update 1, energy 0: expected"),
        ({"updates": [[-1, 0], [2**31, 0]]}, "beyond the limit"),
        (
            {"updates": [[-1, 0], [0, -4]]},
            "update 1 changes energy 1 by -4, but its cap",
        ),
        ({"defender": [0]}, "an entry for each of 2 positions, got shape"),
        ({"cap": 0}, "the cap of energy 0 must be from 1 to"),
        ({"cap": (3, 3, 3)}, "have 2 entries"),
        ({"cap": 1}, "its cap is 1: raise the cap"),
        ({"cap": 2.5}, "must be an integer"),
        ({"defender": [0, 2]}, "defender of position 1 is 2"),
        ({"defender": [0.0, 1.0]}, "defender must be booleans"),
    ],
)
def test_bad_input_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        build(**changes)


def test_padding_changes_no_budget():
    game, budgets = BY_HAND["a minimum"]
    padded = game.pad(10, 20, 4)
    found = multienergy.solve(padded)
    assert len(found) == 10
    assert [len(found.budgets(v)) for v in range(10)] == [1, 1, 1] + [0] * 7
    assert found.budgets(0).tolist() == [list(b) for b in budgets[0]]
    with pytest.raises(ValueError, match="cannot pad 3 positions"):
        game.pad(2)


def test_games_of_different_kinds_are_not_put_together():
    one, two = BY_HAND["a minimum"][0], BY_HAND["a cap is infinite"][0]
    for together in (multienergy.stack, multienergy.union):
        with pytest.raises(ValueError, match="the same dimensions and caps"):
            together([one, two])
        with pytest.raises(ValueError, match="at least one game"):
            together([])
