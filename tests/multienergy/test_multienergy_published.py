"""Every engine on published games with known budgets, where these lie at hand."""

import numpy as np
import published_games as published
import pytest

from jaxgames import multienergy

pytestmark = published.needed

WIDE = "game_galois_espresso_4d.json"
"""Its fronts of 184 budgets take a compilation for each doubling of the room, and on
the host a minute."""


def sets_of(fronts: multienergy.Fronts) -> list[published.Budgets]:
    return [set(map(tuple, fronts.budgets(v).tolist())) for v in range(len(fronts))]


def check(found: list[published.Budgets], data: dict) -> None:
    for v, budgets in enumerate(published.known(data)):
        assert budgets is None or found[v] == budgets, f"position {v}"
    if "expected_filtered" in data:
        part = data["expected_filtered"]
        shown = {
            budget
            for budget in found[part["vertex"]]
            if all(budget[int(i)] == energy for i, energy in part["where"].items())
        }
        assert shown == {tuple(budget) for budget in part["budgets"]}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.sweep) if name == WIDE else name
        for name in published.names("game_*.json")
    ],
)
def test_the_reference_and_the_host_find_every_budget(name):
    game, data = published.load(name)
    fronts = multienergy.solve(game, "host")
    found = sets_of(fronts)
    check(found, data)
    assert multienergy.reference.solve(game) == found
    assert multienergy.verify(game, fronts)


def test_the_device_finds_every_budget_of_all_six_dimensional_games():
    loaded = [published.load(name) for name in published.names("game_*.json")]
    capped = [(game, data) for game, data in loaded if game.cap == (3,) * 6]
    assert len(capped) > 4
    fronts = multienergy.solve_many([game for game, _ in capped], "fronts")
    for found, (_, data) in zip(fronts, capped, strict=True):
        check(sets_of(found), data)


@pytest.mark.sweep
@pytest.mark.parametrize("solver", ["fronts", "bitmap"])
@pytest.mark.parametrize("name", published.names("game_*.json"))
def test_each_solver_of_the_device_finds_every_budget(name, solver):
    game, data = published.load(name)
    if solver == "bitmap" and game.cap is None:
        with pytest.raises(ValueError, match="needs a cap for every energy"):
            multienergy.solve(game, solver)
        return
    found = multienergy.solve(game, solver)
    check(sets_of(found), data)
    assert found.capacity >= 256 or name != WIDE


@pytest.mark.sweep
def test_antichains_of_many_budgets():
    data = published.answers("kernels_min_intersection.json")
    antichain = [tuple(budget) for budget in data["antichain"]]
    size, six = len(antichain), range(6)
    # A defender with three moves to attackers who can choose any of the budgets.
    updates = [[-energy for energy in budget] for budget in antichain] + [[0] * 6]
    offsets = [0, 3, *(3 + size * k for k in (1, 2, 3)), 3 + 3 * size]
    game = multienergy.Game.from_arrays(
        offsets,
        [1, 2, 3] + [4] * (3 * size),
        [size] * 3 + [*range(size)] * 3,
        updates,
        defender=[True, False, False, False, True],
        cap=3,
    )
    for solver in ("host", "fronts"):
        found = multienergy.solve(game, solver)
        assert set(map(tuple, found.budgets(0).tolist())) == set(antichain)
    assert len(six) == game.dimensions


def test_an_intersection_of_four():
    case = published.answers("kernels_min_intersection.json")["intersection_case"]
    # Each successor is an attacker who can choose one of its budgets.
    fronts = [[tuple(b) for b in front] for front in case["successors"]]
    last = len(fronts) + 1
    rows = [published.row(update, 6) for update in case["updates"]]
    targets, ids, offsets = list(range(1, last)), list(range(4)), [0, 4]
    for front in fronts:
        targets += [last] * len(front)
        ids += range(len(rows), len(rows) + len(front))
        rows += [tuple(-energy for energy in budget) for budget in front]
        offsets.append(len(targets))
    game = multienergy.Game.from_arrays(
        [*offsets, len(targets)],
        targets,
        ids,
        rows,
        defender=[True, *[False] * len(fronts), True],
        cap=case["cap"],
    )
    expected = {tuple(budget) for budget in case["expected"]}
    assert multienergy.reference.solve(game)[0] == expected
    for solver in ("host", "fronts"):
        found = multienergy.solve(game, solver)
        assert set(map(tuple, found.budgets(0).tolist())) == expected


def check_spectroscopy(name: str, solver: str) -> None:
    game, offsets, packed = published.spectroscopy(name)
    found = multienergy.solve(game, solver)
    np.testing.assert_array_equal(found.offsets, offsets)
    words = np.asarray(found.packed)
    owner = np.repeat(np.arange(len(found)), np.diff(offsets))
    order = np.lexsort((packed, owner))
    mine = np.sort(words, axis=1)
    np.testing.assert_array_equal(mine[mine >= 0], packed[order])
    assert multienergy.verify(game, found)


@pytest.mark.parametrize("name", published.names("spectro_*.npz"))
def test_the_host_solves_spectroscopy_games(name):
    check_spectroscopy(name, "host")


def test_the_device_solves_a_spectroscopy_game():
    check_spectroscopy("spectro_peterson_mutex_weak.npz", "fronts")


@pytest.mark.sweep
@pytest.mark.parametrize("name", published.names("spectro_*.npz"))
def test_the_device_solves_spectroscopy_games(name):
    check_spectroscopy(name, "fronts")


@pytest.mark.sweep
def test_bitmaps_solve_a_spectroscopy_game():
    check_spectroscopy("spectro_vasy_1_4.npz", "bitmap")
