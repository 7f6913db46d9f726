"""What is no game of several energies is refused, and no budget wraps round."""

import dataclasses
import re

import jax
import numpy as np
import pytest

from jaxgames import Status, multienergy, solve_many

GAME = multienergy.Game.from_arrays(
    [0, 2, 4, 4, 4],
    [1, 2, 2, 3],
    [0, 1, 2, 1],
    [[-1, 0], [0, -2], [("min", 1), 0]],
    defender=[False, True, True, True],
).pad(5, 6)


def changed(name, place, value):
    """The game with another entry in a field, as a new object."""
    values = np.array(getattr(GAME, name)).astype(np.int32)
    values[place] = value
    return dataclasses.replace(GAME, **{name: values})


TABLE = dataclasses.replace(GAME, update_id=np.asarray(GAME.update_id, np.int32))
BY_VALUE = {
    "target-negative": (changed("targets", 1, -1), r"targets\[1\] is -1"),
    "target-too-large": (changed("targets", 1, 5), r"targets\[1\] is 5"),
    "target-far-out": (changed("targets", 1, 2**31 - 1), r"targets\[1\] is 2147483647"),
    "update-negative": (changed("update_id", 1, -1), r"update_id\[1\] is -1"),
    "update-too-large": (changed("update_id", 1, 3), r"update_id\[1\] is 3"),
    "begins-late": (changed("offsets", 0, 1), r"offsets\[0\] is 1"),
    "falls": (changed("offsets", 1, 5), "offsets must ascend"),
    "ends-late": (changed("offsets", 5, 9), "offsets must end with 6 at most"),
    "too-many-moves": (changed("offsets", 1, 3), "width is 2, but"),
    "gains": (changed("delta", (0, 0), 1), "gains is False, but"),
    "too-heavy": (changed("delta", (0, 0), -(2**31)), "beyond the limit"),
}
BY_SHAPE = {
    "targets-float": ({"targets": np.zeros(6)}, "targets must hold integers"),
    "updates-too-few": ({"update_id": np.zeros(5, np.uint8)}, "update_id must have"),
    "owners-of-integers": ({"defender": np.zeros(5, int)}, "defender must hold bool"),
    "offsets-too-short": ({"offsets": np.zeros(5, np.int32)}, "offsets must have sha"),
    "caps-too-few": ({"cap": (3,)}, "cap must have an entry for each of 2"),
}
FOUND = multienergy.solve(GAME)
DOORS = {
    "host": lambda game: multienergy.solve(game, "host"),
    "fronts": lambda game: multienergy.solve(game, "fronts"),
    "auto": multienergy.solve,
    "verify": lambda game: multienergy.verify(game, FOUND),
    "strategy": lambda game: multienergy.strategy(game, FOUND),
    "solve_many": lambda game: solve_many("multienergy", [game]),
}


def complaint_of(door, *args) -> str:
    """What a front door says in the ValueError that it raises."""
    try:
        return f"taken: {door(*args)!r}"
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_game_is_refused_by_name(door):
    for name, (game, message) in BY_VALUE.items():
        said = complaint_of(DOORS[door], dataclasses.replace(game))
        assert re.search(message, said), f"{name}: {said}"


def test_wrong_shapes_are_refused_while_tracing_too():
    for name, (change, message) in BY_SHAPE.items():
        game = dataclasses.replace(GAME, **change)
        for said in (
            complaint_of(multienergy.solve, game),
            complaint_of(jax.eval_shape, DOORS["fronts"], game),
        ):
            assert re.search(message, said), f"{name}: {said}"


def test_under_vmap_what_is_no_game_is_invalid_alone():
    games = [TABLE, *(game for game, _ in BY_VALUE.values())]
    rows = [jax.tree.leaves(game) for game in games]
    kinds = jax.tree.structure(TABLE)
    leaves = [
        np.stack([np.asarray(x).astype(y.dtype) for x in column])
        for column, y in zip(zip(*rows, strict=True), rows[0], strict=True)
    ]
    found = jax.jit(jax.vmap(multienergy.solve))(jax.tree.unflatten(kinds, leaves))
    assert found.status.tolist() == [Status.SOLVED] + [Status.INVALID] * len(BY_VALUE)
    first = jax.tree.map(lambda x: x[0], found)
    for v in range(4):
        np.testing.assert_array_equal(first.budgets(v), FOUND.budgets(v))
    for index in range(1, len(games)):
        one = jax.tree.map(lambda x, index=index: x[index], found)
        assert all(len(one.budgets(v)) == 0 for v in range(5))


def test_a_bad_game_of_a_list_is_named():
    with pytest.raises(ValueError, match=r"game 1: targets\[1\] is -1"):
        solve_many("multienergy", [GAME, BY_VALUE["target-negative"][0]])


def test_no_budget_wraps_round():
    offsets, points = FOUND.offsets, FOUND.points
    assert multienergy.verify(GAME, (offsets, points))
    for more in (2**32, -(2**32), 2**40):
        wrong = points.astype(np.int64)
        wrong[0, 1] += more
        assert not multienergy.verify(GAME, (offsets, wrong))
    for kind in (np.float64, np.uint64):
        with pytest.raises(ValueError, match="budgets must be rows of 2 integers"):
            multienergy.verify(GAME, (offsets, points.astype(kind)))
