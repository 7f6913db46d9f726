"""All engines find the same minimal budgets, and those are right."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small_games
from small_games import BY_HAND, random_game

from jaxgames import SolveError, Status, TooLargeError, multienergy
from jaxgames.multienergy import (
    ByBitmap,
    ByFronts,
    Game,
    _antichains,
    _memory,
    reference,
)
from jaxgames.multienergy.host import _levels, _shared

ARRAYS = ("offsets", "targets", "update_id", "defender")
CAPPED = {"dimensions": 3, "cap": 3, "gains": 0.1}


def many(count: int, seed: int, **options) -> list[Game]:
    rng = np.random.default_rng(seed)
    return [random_game(rng, int(rng.integers(1, 12)), **options) for _ in range(count)]


def sets_of(fronts: multienergy.Fronts) -> list[set[tuple[int, ...]]]:
    return [set(map(tuple, fronts.budgets(v).tolist())) for v in range(len(fronts))]


def check(games: list[Game], solver, **options) -> None:
    fronts = multienergy.solve_many(games, solver, **options)
    for game, found in zip(games, fronts, strict=True):
        assert sets_of(found) == reference.solve(game)


# ---- the definition ----------------------------------------------------------------


@pytest.mark.parametrize("name", BY_HAND)
def test_games_by_hand(name):
    game, budgets = BY_HAND[name]
    expected = [set(front) for front in budgets]
    assert reference.solve(game) == expected
    assert sets_of(multienergy.solve(game, "host")) == expected


@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_reference_by_brute_force(dimensions):
    rng = np.random.default_rng(dimensions)
    for _ in range(40):
        game = random_game(rng, 6, dimensions, cap=2, gains=0.1)
        assert reference.solve(game) == small_games.brute_force(game, most=2)


def test_update_and_inverse_belong_together():
    # The inverse is the least budget from which an update leaves enough.
    rng = np.random.default_rng(0)
    budgets = [(a, b) for a in range(4) for b in range(4)]
    for cap in (3, (3, 2), (2, 3)):
        game = random_game(rng, 2, 2, cap=cap, gains=0.2, updates=40)
        caps = game.cap or ()
        inside = [
            b for b in budgets if all(x <= c for x, c in zip(b, caps, strict=True))
        ]
        for rule in (reference.rule(game, u) for u in range(40)):
            for wanted in inside:
                enough = []
                for budget in inside:
                    after = reference.update(rule, budget)
                    if after and all(
                        x >= y for x, y in zip(after, wanted, strict=True)
                    ):
                        enough.append(budget)
                assert reference.minimal(enough) == {reference.inverse(rule, wanted)}


# ---- engines against each other ----------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        CAPPED,
        {"dimensions": 2, "gains": 0.05},
        {"dimensions": 3, "most": 3},
        {"dimensions": 3, "cap": (2, 5, None)},
        {"dimensions": 4, "cap": (1, 2, 3, 4), "most": 1},
        {"dimensions": 5, "cap": 200, "most": 90, "gains": 0.05},
    ],
    ids=str,
)
def test_the_host_on_random_games(options):
    check(many(40, 1, **options), "host")


@pytest.mark.parametrize("solver", ["fronts", "bitmap"])
def test_the_device_on_random_games_with_caps(solver):
    check(many(60, 2, **CAPPED), solver)


@pytest.mark.parametrize(
    "options", [{"dimensions": 2}, {"dimensions": 3, "cap": (2, 5, None)}], ids=str
)
def test_the_device_on_random_games_without_caps(options):
    check(many(40, 3, **options), ByFronts(capacity=16))


def test_the_device_on_games_by_hand():
    # Side by side, as those of two energies without a cap.
    names = [
        "the attacker chooses",
        "the defender chooses",
        "a minimum",
        "a loop that pays",
    ]
    names.append("a minimum beside a loss")
    found = multienergy.solve_many([BY_HAND[name][0] for name in names], "fronts")
    for name, fronts in zip(names, found, strict=True):
        assert sets_of(fronts) == [set(front) for front in BY_HAND[name][1]]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("solver", ["fronts", "bitmap", "host"])
def test_long_sweep(solver, seed):
    rng = np.random.default_rng(seed)
    games = [random_game(rng, 60, **CAPPED) for _ in range(60)]
    check(games, solver)


@pytest.mark.sweep
@pytest.mark.parametrize("name", BY_HAND)
def test_each_game_by_hand_on_the_device(name):
    game, budgets = BY_HAND[name]
    assert sets_of(multienergy.solve(game, "fronts")) == [set(x) for x in budgets]


# ---- rooms, lots and words -----------------------------------------------------------


def test_rooms_grow_and_lots_do_not_matter():
    games = many(60, 4, **CAPPED)
    whole = multienergy.union(games)
    small = multienergy.solve(whole, ByFronts(capacity=1, lot=32))
    plain = multienergy.solve(whole, "host")
    assert small.stats["capacity"] > 1
    np.testing.assert_array_equal(small.points, plain.points)
    np.testing.assert_array_equal(small.offsets, plain.offsets)


def test_what_had_no_room_is_looked_at_again():
    # Fronts of two budgets each, whose meet has four: only the defender lacks room, and
    # nothing that he waits for changes when there is more.
    one, two = [[-2, 0, 0], [0, -2, 0]], [[0, 0, -2], [-1, -1, 0]]
    moves = {}
    for k in range(1, 31, 3):
        moves[k] = [(k + 1, [0, 0, 0]), (k + 2, [0, 0, 0])]
        moves[k + 1] = [(0, update) for update in one]
        moves[k + 2] = [(0, update) for update in two]
    game = small_games.game(moves, {0, *range(1, 31, 3)}, 31, cap=3)
    found = multienergy.solve(game, ByFronts(capacity=2, lot=8))
    assert found.stats["capacity"] == 4
    expected = [[0, 2, 2], [1, 2, 0], [2, 0, 2], [2, 1, 0]]
    for k in range(1, 31, 3):
        assert found.budgets(k).tolist() == expected


def test_the_host_makes_room_for_large_fronts():
    # Twelve budgets of an attacker, met with as many others by a defender.
    moves = {0: [(1, [0] * 4), (2, [0] * 4)]}
    moves[1] = [(3, [-k, k - 11, 0, 0]) for k in range(12)]
    moves[2] = [(3, [0, 0, -k, k - 11]) for k in range(12)]
    game = small_games.game(moves, {0, 3}, 4, cap=11)
    found = multienergy.solve(game, "host")
    assert sets_of(found) == reference.solve(game)
    assert len(found.budgets(0)) == 144


def test_the_host_makes_room_for_many_fronts(monkeypatch):
    # There is no room in the midst of a visit, more than once.
    monkeypatch.setattr(_shared, "FRONTS", 2)
    for seed in range(2):
        game = multienergy.union(many(40, seed, **CAPPED))
        found, expected = _shared.fronts(game), _levels.fronts(game)
        assert found is not None
        assert found[0] == expected[0] == _shared.SOLVED
        np.testing.assert_array_equal(found[2], expected[2])
    monkeypatch.setattr(_shared, "MOST_FRONTS", 4)
    assert _shared.fronts(game) is None


def test_joins_of_several_budgets_at_once(monkeypatch):
    # As an accelerator takes them: nobody else visits lots of 79 positions.
    monkeypatch.setattr(_antichains, "_at_once", lambda capacity, size: 2)
    whole = multienergy.union(many(60, 4, **CAPPED))
    found = multienergy.solve(whole, ByFronts(capacity=8, lot=79))
    plain = multienergy.solve(whole, "host")
    np.testing.assert_array_equal(found.points, plain.points)
    np.testing.assert_array_equal(found.offsets, plain.offsets)


def test_few_positions_have_joins_at_once_on_an_accelerator(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert _antichains._at_once(8, 100) == 0
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert _antichains._at_once(8, 100) == 8
    assert 0 < _antichains._at_once(8, 20_000) < 8
    assert _antichains._at_once(8, 1 << 20) == _antichains._at_once(64, 1 << 12) == 0


def test_fronts_of_some_positions_wherever_they_are():
    whole = multienergy.union(many(60, 2, **CAPPED))
    positions = np.arange(whole.num_positions)[::-3]
    budgets = [[3, 3, 3], [1, 2, 3], [0, 0, 9]]
    for solver in ("host", "fronts"):
        found = multienergy.solve(whole, solver)
        some = found.at(positions)
        for i, v in enumerate(positions[:20]):
            assert some.budgets(i).tolist() == found.budgets(v).tolist()
        wins = np.asarray(some.winning_with(budgets))
        assert wins.shape == (3, len(positions))
        for budget, row in zip(budgets, wins, strict=True):
            assert row.tolist() == [found.winning(v, budget) for v in positions]
    assert multienergy.solve(whole, "host").winning_with([]).shape[0] == 0
    with pytest.raises(ValueError, match="must be 3 integers"):
        found.winning_with([[1, 2]])


@pytest.mark.filterwarnings("error:A large amount of constants")
def test_programs_hold_nothing_of_the_size_of_the_game():
    limit = "jax_captured_constants_warn_bytes"
    if not hasattr(jax.config, limit):
        pytest.skip("this JAX does not tell what its programs hold")
    before = getattr(jax.config, limit)
    # Fronts of two budgets at most: the room is doubled once.
    game = random_game(np.random.default_rng(5), 1500, **CAPPED | {"dimensions": 2})
    on_device = dataclasses.replace(
        game, **{x: jnp.asarray(getattr(game, x)) for x in ARRAYS}
    )
    jax.config.update(limit, 1000)
    try:
        # Nobody else visits lots of 77 positions: all is compiled here.
        for some, solver in (
            (on_device, ByFronts(capacity=1, lot=77)),
            (game, ByFronts(capacity=8, lot=77)),
            (game, "bitmap"),
        ):
            found = multienergy.solve(some, solver)
            assert found.status == Status.SOLVED
    finally:
        jax.config.update(limit, before)


def test_energies_without_a_cap_get_wider_fields():
    far = small_games.game({0: [(1, [-10_000, 0])], 1: [(2, [-10_000, -1])]}, {2}, 3)
    found = multienergy.solve(far, "fronts")
    assert found.budgets(0).tolist() == [[20_000, 1]]
    assert multienergy.solve(far, "host").budgets(0).tolist() == [[20_000, 1]]


@pytest.mark.parametrize("solver", ["fronts", "host"])
def test_energies_that_no_word_holds_are_an_error(solver):
    most = 2**30 - 1
    far = small_games.game({0: [(1, [-most])], 1: [(2, [-most])]}, {2}, 3)
    with pytest.raises(SolveError) as caught:
        multienergy.solve(far, solver)
    assert caught.value.status == Status.OVERFLOW


def test_a_solve_goes_on_where_it_stopped():
    whole = multienergy.union(many(60, 2, **CAPPED))
    part = multienergy.solve(whole, "fronts", max_steps=2, throw=False)
    assert part.status == Status.MAX_STEPS
    assert "MAX_STEPS" in repr(part)
    with pytest.raises(SolveError, match="MAX_STEPS"):
        multienergy.solve(whole, "fronts", max_steps=2)
    # What is found until then wins.
    full = multienergy.solve(whole, "host")
    for v in range(len(part)):
        assert all(full.winning(v, budget) for budget in part.budgets(v))
    rest = multienergy.solve(whole, "fronts", state=part.state)
    np.testing.assert_array_equal(rest.points, full.points)
    assert rest.stats["rounds"] > 2


# ---- inside jax ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver", [ByFronts(capacity=4), ByBitmap()], ids=lambda s: s.name
)
def test_mapped_over_a_stack(solver):
    games = many(20, 5, dimensions=2, cap=3)
    stacked = multienergy.stack(games)
    found = jax.jit(jax.vmap(lambda game: multienergy.solve(game, solver)))(stacked)
    assert (found.status == Status.SOLVED).all()
    for table, game in zip(np.asarray(found.table), games, strict=True):
        expected = reference.solve(game)
        budgets = [{tuple(b) for b in row.tolist() if b[0] >= 0} for row in table]
        assert budgets[: len(expected)] == expected
        assert not any(budgets[len(expected) :])


def test_a_room_that_is_too_small_shows_in_the_status():
    game, _ = BY_HAND["the attacker chooses"]
    solve = jax.jit(lambda game: multienergy.solve(game, ByFronts(capacity=1)))
    found = solve(game)
    assert found.status == Status.OVERFLOW
    assert repr(found).startswith("Fronts(")


# ---- answers -------------------------------------------------------------------------


def test_what_a_solution_tells():
    game, budgets = BY_HAND["the attacker chooses"]
    found = multienergy.solve(game)
    assert found.budgets(0).tolist() == [list(b) for b in sorted(budgets[0])]
    assert found.sizes.tolist() == [2, 1]
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.winning(0, [5, 5])
    assert not found.winning(0, [1, 0])
    with pytest.raises(ValueError, match="do not fit into 31 bits"):
        _ = found.packed
    with pytest.raises(ValueError, match="must not be negative"):
        found.winning(0, [-1, 0])
    with pytest.raises(ValueError, match="must be 2 integers"):
        found.winning(0, [1, 0, 0])
    with pytest.raises(ValueError, match="a position must be from 0 to 1, got 2"):
        found.budgets(2)


def test_packed_budgets_have_the_first_energy_lowest():
    game = small_games.game({0: [(1, [-1, -2, 0])]}, {1}, 2, cap=3)
    assert multienergy.solve(game).packed.tolist() == [[0b00_10_01], [0]]


def test_a_game_without_positions():
    game = Game.from_arrays([0], [], [], [[0]], defender=[], cap=3)
    for solver in ("host", "fronts", "bitmap"):
        found = multienergy.solve(game, solver)
        assert found.points.shape == (0, 1)
        assert len(found) == 0


def test_a_game_that_does_not_fit_is_not_begun(monkeypatch):
    monkeypatch.setattr(_memory, "free", lambda: 100)
    game, _ = BY_HAND["a minimum"]
    with pytest.raises(TooLargeError, match="2 edges, with room .* GB are free"):
        multienergy.solve(game, "fronts")


def test_memory_grows_with_all_that_counts():
    base = multienergy.memory(1000, 5000, 6, cap=3)
    assert multienergy.memory(2000, 5000, 6, cap=3) > base
    assert multienergy.memory(1000, 6000, 6, cap=3) > base
    assert multienergy.memory(1000, 5000, 6) > base
    assert multienergy.memory(1000, 5000, 6, cap=3, capacity=8) > base


def test_misuse_of_solve():
    game, _ = BY_HAND["a minimum"]
    with pytest.raises(ValueError, match="'fronts', 'bitmap', 'host', 'race', 'auto'"):
        multienergy.solve(game, "front")
    with pytest.raises(ValueError, match="takes neither"):
        multienergy.solve(game, "host", max_steps=3)
    with pytest.raises(ValueError, match="must be at least 0"):
        multienergy.solve(game, max_steps=-1)
    with pytest.raises(ValueError, match="must be a Game"):
        multienergy.solve([0, 1])  # pyright: ignore
    with pytest.raises(ValueError, match="needs a cap for every energy"):
        multienergy.solve(game, "bitmap")
    with pytest.raises(ValueError, match="power of two"):
        ByFronts(capacity=3)
    with pytest.raises(ValueError, match="one game at a time"):
        multienergy.solve(multienergy.stack([game, game]))
    with pytest.raises(ValueError, match="where a traced game cannot be"):
        jax.jit(lambda game: multienergy.solve(game, "host"))(game)
    assert multienergy.solve_many([]) == []
