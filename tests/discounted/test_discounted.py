import dataclasses
import itertools
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, SolveError, Status, discounted, generate, solve_many
from jaxgames.discounted import Reason, _batch, reference
from jaxgames.discounted.host import certain

GAME = Arena.from_edges(
    [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1], weight=[0, 5, 4, 2]
)
"""Impatient players take 5 at once; patient ones have 4 for ever."""

FACTORS = (0.5, (9, 10), Fraction(2, 3), 0.99, 1e-3, 0.99999)


def draw(seed: int, most: int = 7) -> Arena:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, most + 1))
    src = np.repeat(np.arange(size), rng.integers(1, 4, size))
    width = int(rng.choice([0, 1, 5, 1000]))
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.random(size) < rng.choice([0.5, 0.5, 0.0, 1.0]),
        weight=rng.integers(-width, width + 1, len(src)),
    )


def holds(found, expected) -> bool:
    """Whether exact values lie between the bounds."""
    bounds = zip(found.lower.tolist(), expected, found.upper.tolist(), strict=True)
    return all(Fraction(low) <= value <= Fraction(high) for low, value, high in bounds)


# ---- answers ------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(3))
def test_bounds_hold_exact_values(part):
    for seed in range(300 * part, 300 * (part + 1)):
        arena, factor = draw(seed), FACTORS[seed % len(FACTORS)]
        found = discounted.solve(arena, factor, "host", epsilon=1e-5)
        assert holds(found, reference.solve(arena, factor)[0]), seed
        assert (found.upper - found.lower <= 2e-5).all()
        assert discounted.verify(arena, factor, found), seed


def test_bounds_hold_for_any_factor():
    # Near 1 most of a factor's distance from it may be lost to rounding.
    ends = 1 - Fraction(3, 2**54), (10**17 - 7, 10**17), Fraction(1, 10**400)
    for seed in range(60):
        arena, factor = draw(seed), ends[seed % len(ends)]
        found = discounted.solve(arena, factor, "host", throw=False)
        assert holds(found, reference.solve(arena, factor)[0]), (seed, factor)
        assert discounted.verify(arena, factor, found), (seed, factor)


def test_values_are_those_of_all_pairs_of_strategies():
    for seed in range(60):
        arena, factor = draw(seed, 4), Fraction(3, 4)
        rows = [range(*arena.row_ptr[v : v + 2]) for v in range(arena.shape[0])]
        own = [[v for v in range(len(rows)) if arena.owner[v] == p] for p in (0, 1)]
        best = None
        for first in itertools.product(*(rows[v] for v in own[0])):
            worst = None
            for second in itertools.product(*(rows[v] for v in own[1])):
                move = dict(zip(own[0] + own[1], first + second, strict=True))
                value = reference.values(arena, factor, [move[v] for v in sorted(move)])
                worst = value if worst is None else [*map(min, worst, value)]
            best = worst if best is None else [*map(max, best, worst)]
        assert reference.solve(arena, factor)[0] == best


@pytest.mark.parametrize("solver", ["improvement", "vi"])
def test_the_device_finds_the_same_values(solver):
    arenas = [draw(seed).pad(16, 64) for seed in range(12)]
    for arena in arenas:
        found = discounted.solve(arena, 0.75, solver)
        exact, _ = reference.solve(arena, 0.75)
        assert found.stats["solver"] == solver
        lower, upper = (x[: len(exact)] for x in (found.lower, found.upper))
        assert holds(dataclasses.replace(found, lower=lower, upper=upper), exact)
        assert discounted.verify(arena, 0.75, found)


def test_patience_decides():
    assert discounted.solve(GAME, 0.75).strategy.tolist() == [0, 2, 3]
    assert discounted.solve(GAME, 0.25).strategy.tolist() == [1, 2, 3]
    bare = discounted.solve(GAME, 0.25, strategies=False)
    assert bare.strategy is None
    assert discounted.verify(GAME, 0.25, bare)


def test_a_factor_near_one_is_near_the_mean_payoff():
    from jaxgames import meanpayoff

    for seed in range(10):
        arena = generate.random_energy_game(seed, 30)
        means = meanpayoff.solve(arena, "host")
        found = discounted.solve(arena, 1 - 1e-7, "host", epsilon=1e-3)
        np.testing.assert_allclose(
            found.value, means.value_num / means.value_den, atol=1e-3
        )


def test_large_games_are_verified():
    arena = generate.random_energy_game(1, 3000, min_weight=-1000, max_weight=1000)
    found = discounted.solve(arena, (99, 100), "host")
    assert discounted.verify(arena, (99, 100), found)
    assert found.stats["rounds"] < 100


# ---- calls --------------------------------------------------------------------------


def test_under_jit_and_vmap():
    arenas = [draw(seed).pad(16, 64) for seed in range(6)]
    solve = jax.jit(lambda arena, d: discounted.solve(arena, d, epsilon=1e-2))
    for arena in arenas:
        found = solve(arena, 0.75)
        exact, _ = reference.solve(arena, 0.75)
        assert found.lower.dtype == np.float32
        low, high = np.asarray(found.lower), np.asarray(found.upper)
        for v, value in enumerate(exact):
            assert float(low[v]) <= value <= float(high[v])
        assert int(found.status) == Status.SOLVED
    stack = jax.tree.map(lambda *xs: np.stack(xs), *arenas)
    factors = jnp.full(6, 0.75)
    for found, arena in zip(
        np.asarray(jax.vmap(solve)(stack, factors).value), arenas, strict=True
    ):
        np.testing.assert_allclose(found, solve(arena, 0.75).value, rtol=1e-5)
    near = jax.jit(lambda a: discounted.solve(a, 0.75, epsilon=1e-12))(arenas[0])
    assert int(near.status) == Status.PRECISION


@pytest.mark.parametrize("factor", [(3, 4), Fraction(3, 4), Fraction(2, 3), 0.1])
def test_a_traced_game_takes_every_kind_of_factor(factor):
    solve = jax.jit(lambda a: discounted.solve(a, factor, epsilon=Fraction(1, 50)))
    for seed in range(6):
        arena = draw(seed)
        found = solve(arena.pad(16, 64))
        exact, _ = reference.solve(arena, factor)
        for v, value in enumerate(exact):
            assert float(found.lower[v]) <= value <= float(found.upper[v])


@pytest.mark.parametrize("solver", [*discounted.SOLVERS])
def test_the_least_weight_of_32_bits_has_bounds_that_hold(solver):
    """It has no opposite, and so it was taken for a small one."""
    least = -(2**31)
    arena = Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1], weight=[0, least, least, 5]
    )
    found = jax.jit(lambda a: discounted.solve(a, (1, 3), solver, epsilon=1e4))(arena)
    assert int(found.status) == Status.SOLVED
    assert holds(found, reference.solve(arena, (1, 3))[0])


@pytest.mark.parametrize("solver", [*discounted.SOLVERS])
def test_traced_numbers_that_are_out_of_range(solver):
    solve = jax.jit(
        jax.vmap(lambda d, e: discounted.solve(GAME, d, solver, epsilon=e).status)
    )
    wrong = [0.0, 1.0, -0.5, 1.5, np.nan, np.inf]
    found = solve(
        np.array([0.5, *wrong, 0.5, 0.5]), np.array([0.1] * 7 + [0.0, np.nan])
    )
    assert found.tolist() == [Status.SOLVED] + [Status.INVALID] * 8
    whole = jax.jit(lambda d: discounted.solve(GAME, d).strategy)(1)
    assert whole.tolist() == [-1, -1, -1]
    for given in (np.array([0.5, 0.5]), True):
        with pytest.raises(ValueError, match="discount must be a real number"):
            jax.jit(lambda d: discounted.solve(GAME, d))(given)
        with pytest.raises(ValueError, match="epsilon must be a real number"):
            jax.jit(lambda e: discounted.solve(GAME, 0.5, epsilon=e))(given)


def test_games_side_by_side_have_the_answers_of_each_alone(monkeypatch):
    """Bit by bit, whatever others there are, and however large their weights."""
    arenas = [draw(seed, 12) for seed in range(60)]
    arenas[3] = dataclasses.replace(arenas[3], weight=arenas[3].weight * 10**6)
    arenas[5] = arenas[5].pad(16, 64)
    arenas[7] = dataclasses.replace(arenas[7], priority=7 * arenas[7].owner)
    arenas[8] = Arena.from_edges([], [], owner=[], weight=[])
    games = [(arena, FACTORS[at % 4]) for at, arena in enumerate(arenas)]
    games[9] = (*games[9], 1e-14)  # nearer than float64 may be
    alone = []
    for arena, factor, *near in games:
        how = {"epsilon": near[0] if near else 1e-6, "throw": False}
        alone.append(discounted.solve(arena, factor, **how))
    assert alone[9].status == Status.PRECISION
    assert len({one.stats["rounds"] for one in alone}) > 4
    for most in (1 << 17, 100):
        monkeypatch.setattr(_batch, "SIDE_BY_SIDE", most)
        found = solve_many(discounted, games, throw=False)
        for one, other in zip(alone, found, strict=True):
            for name in ("lower", "upper", "value", "strategy"):
                own, same = getattr(other, name), getattr(one, name)
                assert own.dtype == same.dtype
                np.testing.assert_array_equal(own, same, err_msg=name)
            assert (other.status, other.stats) == (one.status, one.stats)


def test_an_end_of_a_batch_leaves_bounds_that_hold(monkeypatch):
    monkeypatch.setattr(_batch, "SIDE_BY_SIDE", 100)
    games = [(draw(seed, 12), 0.9) for seed in range(60)]
    told = []
    solve_many(discounted, games, progress=told.append)
    left = len(told) // 2

    def few(report):
        nonlocal left
        left -= 1
        return Status.INTERRUPTED if left < 0 else None

    found = solve_many(discounted, games, progress=few, throw=False)
    assert {one.status for one in found} == {Status.SOLVED, Status.INTERRUPTED}
    for game, one in zip(games, found, strict=True):
        value = discounted.solve(*game).value
        assert ((one.lower <= value) & (value <= one.upper)).all()


def test_many_games_and_no_vertices():
    games = [(draw(seed), 0.9) for seed in range(10)]
    for (arena, factor), found in zip(
        games, solve_many(discounted, games), strict=True
    ):
        alone = discounted.solve(arena, factor, "host")
        np.testing.assert_array_equal(found.lower, alone.lower)
    nothing = Arena.from_edges([], [], owner=[], weight=[])
    found = discounted.solve(nothing, 0.5)
    assert (found.value.shape, repr(found)) == ((0,), "Solution(0 vertices)")
    assert discounted.verify(nothing, 0.5, found)
    on_device = discounted.solve(jax.device_put(GAME), 0.75)
    np.testing.assert_array_equal(on_device.lower, discounted.solve(GAME, 0.75).lower)


def test_limits_leave_bounds_that_hold():
    exact, _ = reference.solve(GAME, 0.99)
    with pytest.raises(SolveError, match="MAX_STEPS") as caught:
        discounted.solve(GAME, 0.99, "vi", max_steps=5)
    stopped = caught.value.solution
    assert holds(stopped, exact)
    assert discounted.verify(GAME, 0.99, stopped)
    found = discounted.solve(GAME, 0.99, "vi", state=stopped.state)
    assert holds(found, exact)
    assert (found.upper - found.lower).max() <= 2e-6
    late = discounted.solve(GAME, 0.99, deadline=1e-9, throw=False)
    assert late.status == Status.TIMEOUT
    assert holds(late, exact)
    with pytest.raises(SolveError, match="PRECISION") as caught:
        discounted.solve(GAME, 1 - 1e-12)
    assert holds(caught.value.solution, reference.solve(GAME, 1 - 1e-12)[0])


def test_bounds_hold_whatever_values_they_are_made_of():
    rng = np.random.default_rng(0)
    for seed in range(40):
        arena = draw(seed)
        exact, _ = reference.solve(arena, 0.75)
        for value in (rng.normal(size=len(exact)) * 100, np.full(len(exact), np.nan)):
            lower, upper, _ = certain(arena, 0.75, value)
            for low, x, high in zip(lower, exact, upper, strict=True):
                assert Fraction(float(low)) <= x <= Fraction(float(high))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((dataclasses.replace(GAME, weight=None), 0.5), "weight on each edge: it is"),
        (
            (dataclasses.replace(GAME, weight=np.zeros((4, 2), np.int32)), 0.5),
            "one weight on each edge",
        ),
        ((GAME, 1.0), "discount must be a number between 0 and 1"),
        ((GAME, (1, 0)), "discount must be a number between 0 and 1"),
        ((GAME, "x"), "discount must be a number between 0 and 1"),
        ((GAME, "0.5"), "discount must be a number between 0 and 1"),
        ((GAME, (10**20 - 1, 10**20)), "that float64 can tell from 1, got"),
        ((GAME, float("nan")), "discount must be a number between 0 and 1"),
        ((GAME, 0.5, "fvi"), "no discounted solver is called 'fvi'"),
    ],
)
def test_what_cannot_be_solved(arguments, message):
    with pytest.raises(ValueError, match=message):
        discounted.solve(*arguments)


def test_what_cannot_be_asked():
    for wrong in (0, None, "1", (1, 2), True, np.ones(1), float("inf")):
        with pytest.raises(ValueError, match="epsilon must be a positive number"):
            discounted.solve(GAME, 0.5, epsilon=wrong)
    for right in (Fraction(1, 8), np.float32(0.1), jnp.array(0.1), 1):
        assert discounted.solve(GAME, 0.5, epsilon=right).status == Status.SOLVED
    found = discounted.solve(GAME, 0.5)
    with pytest.raises(ValueError, match="verified on the host"):
        jax.jit(lambda x: discounted.verify(x, 0.5, found))(GAME)
    with pytest.raises(ValueError, match="lower must hold floating numbers"):
        discounted.verify(GAME, 0.5, dataclasses.replace(found, lower=found.lower[:2]))


# ---- verification -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "at", "value", "reason"),
    [
        ("lower", 0, np.nan, Reason.NO_BOUNDS),
        ("upper", 0, -1.0, Reason.NO_BOUNDS),
        ("lower", 2, 2.0 + 1e-15, Reason.NO_BOUNDS),
        ("strategy", 0, 2, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX),
        ("strategy", 0, 1, Reason.LOWER_NOT_SECURED),
        ("upper", 2, 1.9, Reason.NO_BOUNDS),
    ],
)
def test_each_reason(field, at, value, reason):
    found = discounted.solve(GAME, 0.75, "host")
    array = np.array(getattr(found, field))
    if field == "lower" and np.isfinite(value):
        array[at] = found.upper[at] + 1e-9
    else:
        array[at] = value
    wrong = dataclasses.replace(found, **{field: array})
    assert discounted.verify(GAME, 0.75, wrong).reason == reason


def test_bounds_are_checked_to_the_last_bit():
    # The value is 2 exactly; no number above it is a lower bound.
    loop = Arena.from_edges([0], [0], owner=[0], weight=[2])
    found = discounted.solve(loop, 0.75, "host")
    low, high = np.array([2.0]), np.array([np.nextafter(2.0, 3)])
    tight = dataclasses.replace(found, lower=low, upper=low)
    assert discounted.verify(loop, 0.75, tight)
    above = dataclasses.replace(found, lower=high, upper=high)
    assert discounted.verify(loop, 0.75, above).reason == Reason.LOWER_NOT_SECURED
    low, high = np.array([np.nextafter(2.0, 1)]), np.array([np.nextafter(2.0, 1)])
    below = dataclasses.replace(found, lower=low, upper=high)
    assert discounted.verify(loop, 0.75, below).reason == Reason.UPPER_NOT_SECURED
