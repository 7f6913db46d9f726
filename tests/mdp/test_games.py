"""Stochastic games: values, strategies, and the check of both."""

import dataclasses
import itertools
import json
from fractions import Fraction

import jax
import numpy as np
import pytest
from quantitative_cases import FOLDER, needs_folder, rarely

from jaxgames import Status, mdp, solve_many
from jaxgames.mdp import _game_traced, _games_problem
from jaxgames.solution import Stats
from jaxgames.testing import _exact as exact


def random_game(rng, size: int) -> mdp.Game:
    bare = exact.random_model(rng, size, 2, 3)
    parts = (bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs)
    return mdp.Game.from_arrays(*parts, rng.integers(0, 2, size))


def by_all_strategies(game: mdp.Game, target, passed) -> list[Fraction]:
    """The value by all pairs of memoryless strategies."""
    model = game.model
    groups = model.row_group_offsets.tolist()
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    rows = [exact.branches(model, choice) for choice in range(model.num_choices)]
    player = game.player.tolist()
    best: list[Fraction] | None = None
    free: list = [own[s] if player[s] == 0 else [None] for s in range(len(own))]
    for mine in itertools.product(*free):
        least = None
        answers = [own[s] if c is None else [c] for s, c in enumerate(mine)]
        for pair in itertools.product(*answers):
            chain = [rows[c] for c in pair]
            values = exact.chain_values(chain, target, passed)
            least = values if least is None else list(map(min, least, values))
        assert least is not None
        best = least if best is None else list(map(max, best, least))
    assert best is not None
    return best


def test_against_all_strategies():
    rng = np.random.default_rng(1)
    for number in range(60):
        size = int(rng.integers(1, 6))
        game = random_game(rng, size)
        target = rng.random(size) < 0.3
        passed = np.ones(size, bool) if number % 3 else rng.random(size) < 0.8
        value = by_all_strategies(game, target, passed)
        found = mdp.solve_game(game, target, states=passed)
        for s in range(size):
            assert Fraction(found.lower[s]) <= value[s] <= Fraction(found.upper[s])
            assert found.upper[s] - found.lower[s] <= 1e-6 * value[s]
        assert mdp.verify_game(game, target, found, states=passed)


@pytest.mark.parametrize("relative", [True, False])
def test_what_is_left_once_in_a_long_time(relative):
    """A choice may be better by one part in 2^40, and lead to all there is."""
    rng = np.random.default_rng(1)
    for _ in range(90):
        size = int(rng.integers(2, 6))
        game = rarely(random_game(rng, size), rng)
        target = np.arange(size) == rng.integers(size)
        value = by_all_strategies(game, target, np.ones(size, bool))
        found = mdp.solve_game(game, target, relative=relative)
        for s in range(size):
            assert Fraction(found.lower[s]) <= value[s] <= Fraction(found.upper[s])
            near = 1e-6 * (value[s] if relative else 1)
            assert found.upper[s] - found.lower[s] <= near
        assert mdp.verify_game(game, target, found)


def test_games_side_by_side_have_the_values_of_each_alone(monkeypatch):
    rng = np.random.default_rng(3)
    asked = []
    for number in range(60):
        size = int(rng.integers(1, 9))
        game, target = random_game(rng, size), rng.random(size) < 0.3
        more = [(), (1,), (0, rng.random(size) < 0.8), (0, None, 1e-9)][number % 4]
        asked.append((game, target, *more))
    alone = []
    for game, target, *more in asked:
        names = ("maximizer", "states", "epsilon")
        how = dict(zip(names, more, strict=False))
        alone.append(mdp.solve_game(game, target, **how))
    for most in (1 << 17, 60):
        monkeypatch.setattr(_games_problem, "SIDE_BY_SIDE", most)
        found = solve_many("stochastic_game", asked)
        for one, other in zip(alone, found, strict=True):
            for name in ("lower", "upper", "value", "strategy"):
                np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
            assert other.stats == one.stats
    for (game, target, *more), own in zip(asked, found, strict=True):
        how = dict(zip(("maximizer", "states"), more, strict=False))
        assert mdp.verify_game(game, target, own, **how)


def test_what_many_games_cannot_have():
    game = random_game(np.random.default_rng(0), 4)
    with pytest.raises(ValueError, match="alone, got 'host'"):
        solve_many("stochastic_game", [(game, [0])], "host")
    with pytest.raises(ValueError, match="have no state: pass deadline"):
        solve_many("stochastic_game", [(game, [0])], max_steps=3)
    with pytest.raises(ValueError, match="game 1: game must be a Game"):
        solve_many("stochastic_game", [(game, [0]), (None, [0])])
    with pytest.raises(ValueError, match="and an epsilon, got 6 parts"):
        solve_many("stochastic_game", [(game, [0], 0, None, 1e-6, True)])


def test_an_end_of_many_games_leaves_bounds_that_hold(monkeypatch):
    monkeypatch.setattr(_games_problem, "SIDE_BY_SIDE", 60)
    rng = np.random.default_rng(4)
    asked = [(random_game(rng, 6), [0]) for _ in range(20)]
    told = []

    def few(report):
        told.append(report)
        return Status.INTERRUPTED if len(told) > 3 else None

    found = solve_many("stochastic_game", asked, progress=few, throw=False)
    assert {one.status for one in found} == {Status.SOLVED, Status.INTERRUPTED}
    for question, one in zip(asked, found, strict=True):
        value = mdp.solve_game(*question).value
        assert ((one.lower <= value) & (value <= one.upper)).all()


def test_wrong_values_are_found():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(30):
        game = random_game(rng, 5)
        target = np.arange(5) == 4
        found = mdp.solve_game(game, target)
        value = by_all_strategies(game, target, np.ones(5, bool))
        state = int(rng.integers(5))
        for change in (0.01, -0.01):
            lower, upper = found.lower.copy(), found.upper.copy()
            lower[state] += change
            upper[state] += change
            true = Fraction(lower[state]) <= value[state] <= Fraction(upper[state])
            wrong = dataclasses.replace(found, lower=lower, upper=upper)
            if not true:
                assert not mdp.verify_game(game, target, wrong)
                seen += 1
        other = np.where(found.strategy >= 0, game.model.row_group_offsets[:-1], -1)
        moved = dataclasses.replace(found, strategy=other)
        if mdp.verify_game(game, target, moved):  # as good a strategy
            chain = mdp.induced_chain(game.model, other)
            worth = exact.chain_values(exact.chain_of(chain), target, np.ones(5, bool))
            assert all(
                Fraction(a) <= x <= Fraction(b)
                for a, x, b in zip(found.lower, worth, found.upper, strict=True)
            )
    assert seen > 40


def test_the_reference():
    """The others need not be one player: 2 is on the side of 1 against 0."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        size = int(rng.integers(2, 5))
        game = random_game(rng, size)
        target, passed = rng.random(size) < 0.4, rng.random(size) < 0.8
        expected = mdp.reference.game_values(game, target, states=passed)
        assert expected == by_all_strategies(game, target, passed)
        player = np.where(rng.random(size) < 0.5, game.player, 2 * game.player)
        three = dataclasses.replace(game, player=player.astype(np.int8))
        assert expected == mdp.reference.game_values(three, target, states=passed)
        swapped = dataclasses.replace(game, player=1 - game.player)
        other = mdp.reference.game_values(swapped, target, maximizer=1, states=passed)
        assert other == expected


def test_an_end_component_does_not_hold_the_upper_bound_up():
    """0 and 1 may go round for ever; only one of both wants to."""
    game = mdp.Game.from_arrays(
        [0, 2, 4, 5, 6],
        [0, 1, 3, 4, 6, 7, 8],
        [1, 2, 3, 0, 2, 3, 2, 3],
        [1, 0.25, 0.75, 1, 0.5, 0.5, 1, 1],
        [0, 1, -1, -1],
    )
    found = mdp.solve_game(game, [2])
    assert found.value == pytest.approx([0.25, 0.25, 1, 0], rel=1e-6)
    other = mdp.solve_game(game, [2], maximizer=1)
    assert other.value == pytest.approx([0.25, 0.5, 1, 0], rel=1e-6)


@needs_folder
def test_published_games():
    games = json.loads((FOLDER / "games/ssg.json").read_text())
    assert len(games) >= 30
    for facts in games:
        groups, rows, columns, probs, player = [0], [0], [], [], []
        for state in facts["states"]:
            player.append(state["player"])
            for choice in state["choices"]:
                columns += [to for to, _ in choice]
                probs += [float(Fraction(p)) for _, p in choice]
                rows.append(len(columns))
            groups.append(len(rows) - 1)
        game = mdp.Game.from_arrays(groups, rows, columns, probs, player)
        found = mdp.solve_game(game, facts["target"])
        value = np.array([float(Fraction(x)) for x in facts["value"]])
        assert np.all(found.lower <= value + 1e-12), facts["id"]
        assert np.all(value <= found.upper + 1e-12), facts["id"]
        assert np.all(found.upper - found.lower <= 1e-6 * value), facts["id"]
        assert mdp.verify_game(game, facts["target"], found), facts["id"]


@needs_folder
@pytest.mark.parametrize("name", ["adt-infect", "example_smg", "smg_robot"])
def test_games_of_others(name):
    with np.load(FOLDER / "games" / f"{name}.npz") as file:
        names = ("row_group_offsets", "row_offsets", "columns", "probs", "player")
        game = mdp.Game.from_arrays(**{name: file[name] for name in names})
        for player in (0, 1):
            if f"lower_{player}" not in file:
                continue
            found = mdp.solve_game(game, file["target"], maximizer=player)
            assert np.all(found.lower <= file[f"upper_{player}"] + 1e-9)
            assert np.all(file[f"lower_{player}"] <= found.upper + 1e-9)
            assert mdp.verify_game(game, file["target"], found, maximizer=player)


def test_what_is_refused():
    model = mdp.MDP.from_arrays([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1])
    parts = model.row_group_offsets, model.row_offsets, model.columns, model.probs
    with pytest.raises(ValueError, match="state 0 has several choices and no player"):
        mdp.Game.from_arrays(*parts, [-1, -1])
    with pytest.raises(ValueError, match=r"player must be integers \[2\]"):
        mdp.Game.from_arrays(*parts, [0])
    with pytest.raises(ValueError, match="state 1 has player 300"):
        mdp.Game.from_arrays(*parts, [0, 300])
    game = mdp.Game.from_arrays(*parts, [0, -1])
    assert repr(game) == "Game(MDP(2 states, 3 choices, 3 branches), players [0])"
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        mdp.solve_game(game, [1], epsilon=-1)
    with pytest.raises(ValueError, match="game must be a Game, got MDP"):
        mdp.solve_game(game.model, [1])  # type: ignore
    with pytest.raises(ValueError, match="there is no state 5"):
        mdp.solve_game(game, [5])
    found = mdp.solve_game(game, [1], deadline=1e-9, throw=False)
    assert found.upper.tolist() == [1, 1]


@pytest.mark.parametrize("player", ["0", 0.0, None, -1, 128, True])
def test_a_maximizer_is_the_number_of_a_player(player):
    game = mdp.Game.from_arrays([0, 2], [0, 1, 2], [0, 0], [1, 1], [0])
    for ask in (
        lambda: mdp.solve_game(game, [0], maximizer=player),
        lambda: mdp.solve_reward_game(game, [1, 2], discount=0.5, maximizer=player),
        lambda: mdp.solve_parity_game(game, [0], maximizer=player),
    ):
        with pytest.raises(ValueError, match="maximizer must be the number of a pl"):
            ask()
    assert mdp.solve_game(game, [0], maximizer=np.int8(1)).value.tolist() == [1.0]


@pytest.mark.parametrize("epsilon", ["a", None, 0, -1.0, float("nan"), float("inf")])
def test_a_precision_is_a_positive_number(epsilon):
    game = mdp.Game.from_arrays([0, 2], [0, 1, 2], [0, 0], [1, 1], [0])
    said = "epsilon must be a positive number"
    with pytest.raises(ValueError, match=said):
        mdp.solve_game(game, [0], epsilon=epsilon)
    with pytest.raises(ValueError, match=said):
        mdp.solve_parity_game(game, [0], epsilon=epsilon)
    with pytest.raises(ValueError, match=said):
        mdp.check(game.model, "Pmax=? [ F true ]", epsilon=epsilon)


# ---- traced ----------------------------------------------------------------------


def tied_game(rng, size: int) -> mdp.Game:
    """Mostly sure moves and a few fair lots: many end components, and many ties."""
    groups = np.append(0, np.cumsum(rng.integers(1, 4, size)))
    fair = rng.random(groups[-1]) < 0.3
    rows = np.append(0, np.cumsum(1 + fair))
    probs = np.repeat(np.where(fair, 0.5, 1.0), 1 + fair)
    columns = rng.integers(0, size, rows[-1])
    return mdp.Game.from_arrays(groups, rows, columns, probs, rng.integers(0, 2, size))


def stacked(games, size: int) -> mdp.Game:
    """Games of one padded size, without what is only said of some."""
    bare = [
        dataclasses.replace(g, model=_bare(g.model)).pad(size, 16, 48) for g in games
    ]
    return jax.tree.map(lambda *x: np.stack(x), *bare)


def _bare(model: mdp.MDP) -> mdp.MDP:
    offsets = model.row_group_offsets, model.row_offsets
    return mdp.MDP(*offsets, model.columns, model.probs)


def test_traced_games_against_all_strategies():
    rng = np.random.default_rng(6)
    games, targets, passed = [], [], []
    for number in range(160):
        size = int(rng.integers(1, 6))
        games.append([random_game, tied_game][number % 2](rng, size))
        targets.append(rng.random(size) < 0.25)
        passed.append(np.ones(size, bool) if number % 3 else rng.random(size) < 0.8)

    @jax.jit
    @jax.vmap
    def solve(game, target, passed):
        return mdp.solve_game(game, target, states=passed)

    masks = (
        np.array([np.pad(x, (0, 5 - len(x))) for x in y]) for y in (targets, passed)
    )
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        found = jax.device_get(solve(stacked(games, 5), *masks))
    assert not found.status.any()
    for at, (game, target, inside) in enumerate(
        zip(games, targets, passed, strict=True)
    ):
        size = len(target)
        value = by_all_strategies(game, target, inside)
        own = mdp.GameValues(
            **{
                name: getattr(found, name)[at][:size]
                for name in ("lower", "upper", "value", "strategy")
            },
            status=Status.SOLVED,
            stats=Stats(),
        )
        for s in range(size):
            assert Fraction(own.lower[s]) <= value[s] <= Fraction(own.upper[s])
            assert own.upper[s] - own.lower[s] <= 1e-6 * value[s]
        # Both strategies show the bounds, as those of the host do.
        assert mdp.verify_game(game, target, own, states=inside)
        assert not found.upper[at][size:].any()


def test_traced_games_that_are_stopped_have_bounds_that_hold(monkeypatch):
    """Of games whose states are left once in a long time; both strategies, too."""
    monkeypatch.setattr(_game_traced, "GAME_ROUNDS", 3)
    rng = np.random.default_rng(11)
    games = [rarely(random_game(rng, 4), rng) for _ in range(80)]
    targets = [np.arange(4) == rng.integers(4) for _ in games]
    solve = jax.jit(jax.vmap(mdp.solve_game))
    with jax.enable_x64(True):
        found = jax.device_get(solve(stacked(games, 4), np.array(targets)))
    assert {Status.SOLVED, Status.MAX_STEPS} == set(found.status.tolist())
    for at, (game, target) in enumerate(zip(games, targets, strict=True)):
        value = by_all_strategies(game, target, np.ones(4, bool))
        own = jax.tree.map(lambda x, at=at: x[at], found)
        for s in range(4):
            assert Fraction(own.lower[s]) <= value[s] <= Fraction(own.upper[s])
        assert mdp.verify_game(game, target, own)


def test_traced_bounds_meet_where_the_others_can_keep_the_play():
    """Without deflation the upper bound would stay at one."""
    game = mdp.Game.from_arrays(
        [0, 1, 3, 4, 5],
        [0, 1, 2, 4, 5, 6],
        [1, 0, 2, 3, 2, 3],
        [1, 1, 0.25, 0.75, 1, 1],
        [1, 0, -1, -1],
    )
    found = jax.jit(lambda game: mdp.solve_game(game, [2], epsilon=1e-4))
    found = jax.device_get(found(game))
    assert (found.status, found.lower.dtype) == (Status.SOLVED, np.float32)
    np.testing.assert_allclose(found.value, [0.25, 0.25, 1, 0], rtol=1e-4)
    assert found.strategy.tolist() == [0, 2, -1, 4]
    near = jax.jit(lambda game: mdp.solve_game(game, [2], epsilon=1e-9))
    near = jax.device_get(near(game))
    assert near.status == Status.PRECISION
    assert ((near.lower <= found.value) & (found.value <= near.upper + 1e-4)).all()


def test_what_is_no_game_is_invalid_where_it_is_traced():
    game = mdp.Game.from_arrays(
        [0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2], [1, 1, 1, 1], [0, -1, -1]
    )
    bare = dataclasses.replace(game, model=_bare(game.model))

    def with_model(**more) -> mdp.Game:
        return mdp.Game(dataclasses.replace(bare.model, **more), bare.player)

    games = [
        bare,
        with_model(columns=np.array([1, 2, 7, 2], np.int32)),
        with_model(probs=np.array([1, 1, 0, 1.0])),
        with_model(probs=np.array([1, np.nan, 1, 1.0])),
        dataclasses.replace(bare, player=np.array([-1, -1, -1], np.int8)),
        dataclasses.replace(bare, player=np.array([0, -2, -1], np.int8)),
        bare,
    ]
    stack = jax.tree.map(lambda *x: np.stack(x), *games)
    solve = jax.jit(jax.vmap(lambda game: mdp.solve_game(game, [1])))
    found = jax.device_get(solve(stack))
    assert found.status.tolist() == [0] + 5 * [Status.INVALID] + [0]
    for at in (0, 6):
        assert found.value[at].tolist() == [1, 1, 0]
        assert found.strategy[at].tolist() == [0, -1, 3]
    assert (found.strategy[1:6] == -1).all()


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"lower": [1.0]}, r"found.lower must hold numbers of shape \(3,\)"),
        ({"upper": np.ones((1, 3))}, "found.upper must hold numbers of shape"),
        ({"lower": ["1", "1", "0"]}, "found.lower must hold numbers"),
        ({"lower": [1j, 1, 0]}, "found.lower must hold numbers"),
        ({"upper": None}, "found.upper is None"),
        ({"strategy": [0.0, -1.0, 3.0]}, "found.strategy must hold integers"),
        ({"strategy": [0]}, "found.strategy must hold integers of shape"),
        ({"strategy": None}, "a strategy is needed to verify this"),
    ],
)
def test_values_of_another_form_are_no_claim(wrong, match):
    game = mdp.Game.from_arrays(
        *([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2], [1, 1, 1, 1], [0, -1, -1])
    )
    wrong = {k: x if x is None else np.array(x) for k, x in wrong.items()}
    claim = dataclasses.replace(mdp.solve_game(game, [1]), **wrong)
    with pytest.raises(ValueError, match=match):
        mdp.verify_game(game, [1], claim)
    with pytest.raises(ValueError, match=match):
        mdp.verify_reward_game(game, np.ones(4), claim, [1])


def test_what_of_games_cannot_be_traced():
    game = random_game(np.random.default_rng(0), 4)
    reward = np.ones(game.model.num_choices)
    found = mdp.solve_game(game, [0])
    for match, call in {
        "games for rewards are solved on the host": lambda game: mdp.solve_reward_game(
            game, reward, discount=0.5
        ),
        "parity games are solved on the host": lambda game: mdp.solve_parity_game(
            game, [0, 1, 2, 3]
        ),
        "checked exactly, on the host": lambda game: mdp.verify_game(game, [0], found),
    }.items():
        with pytest.raises(ValueError, match=match + r".*mdp\.solve_game may be"):
            jax.jit(call)(game)
    with pytest.raises(ValueError, match=r"player must be integers \[4\], got int8"):
        jax.jit(lambda game: mdp.solve_game(game, [0]))(
            dataclasses.replace(game, player=game.player[:3])
        )
