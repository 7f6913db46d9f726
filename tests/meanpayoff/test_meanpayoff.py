import dataclasses
import functools
import itertools
from fractions import Fraction
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    SolveError,
    Status,
    discounted,
    energy,
    energyparity,
    generate,
    host,
    limits,
    meanpayoff,
    solve_many,
)
from jaxgames.energy.host import _fvi, _strategies
from jaxgames.meanpayoff import Reason, _batch, _guess, _rationals, _values, reference

DATA = Path(__file__).parents[3] / "shared/data/made/meanpayoff"


def small(seed: int) -> Arena:
    """Random games of all kinds: self-loops, parallel edges, one owner."""
    rng = np.random.default_rng(seed)
    return generate.random_energy_game(
        seed,
        1 + seed % 6,
        min_weight=-1 - int(rng.integers(12)),
        max_weight=int(rng.integers(12)),
        min_degree=1,
        max_degree=1 + seed % 3,
        owner_share=(0.5, 0.5, 0.0, 1.0)[seed % 4],
    )


def values(solution) -> list[Fraction]:
    return [solution.value(v) for v in range(len(solution.value_num))]


def brute(arena: Arena) -> list[Fraction]:
    """By all positional strategies of both: the mean of the cycle that is reached."""
    rows = [range(*arena.row_ptr[v : v + 2]) for v in range(arena.shape[0])]

    def mean(move, v) -> Fraction:
        path, edges = [v], []
        while path[-1] not in path[:-1]:
            edges.append(move[path[-1]])
            path.append(int(arena.dst[edges[-1]]))
        cycle = edges[path.index(path[-1]) :]
        return Fraction(sum(arena.weight[cycle].tolist()), len(cycle))

    own = [
        [rows[v] if arena.owner[v] == p else [-1] for v in range(len(rows))]
        for p in (0, 1)
    ]
    found = []
    for v in range(len(rows)):
        found.append(
            max(
                min(
                    mean([max(x) for x in zip(first, second, strict=True)], v)
                    for second in itertools.product(*own[1])
                )
                for first in itertools.product(*own[0])
            )
        )
    return found


# ---- solve ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_values_are_those_of_all_strategies(seed):
    arena = small(seed)
    solution = meanpayoff.solve(arena, "host")
    assert values(solution) == brute(arena)
    assert values(reference.solve(arena)) == values(solution)
    for verify in (meanpayoff.verify, reference.verify):
        assert str(verify(arena, solution)) == "valid"


def test_the_device_finds_the_same_bits():
    for seed in (7, 11):
        arena = small(seed)
        expected = meanpayoff.solve(arena, "host")
        got = meanpayoff.solve(arena, "fvi")
        assert got.stats["solver"] == "fvi"
        for name in ("value_num", "value_den", "strategy"):
            np.testing.assert_array_equal(
                getattr(got, name), getattr(expected, name), name
            )


@pytest.mark.parametrize("path", sorted(DATA.glob("*.npz")), ids=lambda path: path.stem)
def test_published_values(path):
    arrays = np.load(path)
    arena = Arena.from_csr(
        *(arrays["offsets"], arrays["targets"]),
        owner=arrays["owner"],
        weight=arrays["weights"],
    )
    solution = meanpayoff.solve(arena, "host")
    np.testing.assert_array_equal(solution.value_num, arrays["value_num"])
    np.testing.assert_array_equal(solution.value_den, arrays["value_den"])
    assert solution.value_num.dtype == np.int32
    assert meanpayoff.verify(arena, solution)
    assert reference.verify(arena, solution)


@pytest.mark.parametrize(("size", "weight"), [(300, 100), (300, 2**40), (2000, 10)])
def test_larger_games_have_certificates(size, weight):
    arena = generate.random_energy_game(
        size, size, min_weight=-weight, max_weight=weight
    )
    solution = meanpayoff.solve(arena, "host")
    assert str(meanpayoff.verify(arena, solution)) == "valid"
    # The sign of a value is who wins the energy game.
    winner = energy.reference.solve(arena, strategies=False).winner
    np.testing.assert_array_equal(solution.value_num < 0, winner == 1)
    assert solution.value_num.dtype == (np.int64 if weight > 2**30 else np.int32)


def test_many_values_at_once():
    # Cycles side by side, each of a mean of its own.
    src, dst, weight, expected = [], [], [], []
    for length in range(1, 40):
        first = len(src)
        src += range(first, first + length)
        dst += [*range(first + 1, first + length), first]
        weight += [length % 7 - 3] * (length - 1) + [5]
        mean = Fraction(sum(weight[first:]), length)
        expected += [mean] * length
    arena = Arena.from_edges(src, dst, owner=np.arange(len(src)) % 2, weight=weight)
    solution = meanpayoff.solve(arena, "host")
    assert values(solution) == expected
    assert solution.stats["values"] == len(set(expected))
    assert solution.stats["rounds"] < 40


def test_padding_and_nothing_at_all():
    arena = small(7)
    expected = meanpayoff.solve(arena, "host")
    got = meanpayoff.solve(arena.pad(16, 64), "host")
    size = arena.shape[0]
    for name in ("value_num", "value_den", "strategy"):
        np.testing.assert_array_equal(
            getattr(got, name)[:size], getattr(expected, name)
        )
    assert meanpayoff.verify(arena.pad(16, 64), got)
    none = Arena.from_edges([], [], owner=[], weight=[])
    empty = meanpayoff.solve(none)
    assert len(empty.value_num) == 0
    assert meanpayoff.verify(none, empty)
    assert meanpayoff.verify(none, dataclasses.replace(empty, strategy=None))


def test_a_solve_goes_on_where_it_stopped():
    arena = generate.random_energy_game(5, 40)
    whole = meanpayoff.solve(arena, "host")
    with pytest.raises(SolveError) as caught:
        meanpayoff.solve(arena, "host", max_steps=3)
    part = caught.value.solution
    assert part.status == Status.MAX_STEPS
    assert (part.value_den == 0).any()
    assert part.strategy is None
    assert "undecided" in repr(part)
    with pytest.raises(ValueError, match="was not found"):
        part.value(int(np.argmin(part.value_den)))
    got = meanpayoff.solve(arena, "host", state=part.state)
    assert got.stats["rounds"] > 3
    np.testing.assert_array_equal(got.value_num, whole.value_num)
    np.testing.assert_array_equal(got.strategy, whole.strategy)


@functools.cache
def a_game_and_its_values():
    arena = generate.random_energy_game(8, 20, min_weight=-9, max_weight=9)
    return arena, meanpayoff.reference.solve(arena)


def test_a_guess_is_ended_by_limits_and_goes_on_where_it_was(monkeypatch):
    arena = generate.random_energy_game(3, 300)
    whole = _guess.guess(arena)
    told = []
    monkeypatch.setattr(_guess, "EDGES_AT_ONCE", 1)
    monkeypatch.setattr(_guess.limits, "tick", lambda what, *_: told.append(what))
    again = _guess.guess(arena)
    assert whole is not None
    assert again is not None
    for first, second in zip(whole, again, strict=True):
        np.testing.assert_array_equal(first, second)
    assert told.count("improving strategies") > 2
    monkeypatch.undo()
    with limits.within(deadline=1e-9), pytest.raises(limits.LimitError):
        _guess.guess(arena)


@pytest.mark.parametrize("guessed", ["right", "wrong", "none"])
def test_what_is_guessed_changes_nothing(monkeypatch, guessed):
    arena, expected = a_game_and_its_values()
    found = {"wrong": (np.zeros(20, np.int64), np.ones(20, np.int64)), "none": None}
    if guessed in found:
        monkeypatch.setattr(_values, "guess", lambda arena: found[guessed])
    got = meanpayoff.solve(arena, "host")
    np.testing.assert_array_equal(got.value_num, expected.value_num)
    np.testing.assert_array_equal(got.value_den, expected.value_den)
    assert meanpayoff.verify(arena, got)
    proved = guessed == "right" and host.can_compile()
    assert (got.stats["rounds"] == 0) == proved
    again = meanpayoff.solve(arena, "host", strategies=False)
    assert again.strategy is None
    np.testing.assert_array_equal(again.value_num, expected.value_num)


@pytest.mark.parametrize("seed", range(6))
def test_guesses_are_means_of_cycles(seed):
    arena = generate.random_energy_game(seed, 30, min_weight=-3, max_weight=3)
    found = _guess.guess(arena)
    assert found is not None
    expected = meanpayoff.reference.solve(arena)
    np.testing.assert_array_equal(found[0], expected.value_num)
    np.testing.assert_array_equal(found[1], expected.value_den)
    for unit in (2**50, 10**17, 3 * 10**18):  # the last sums do not fit 64 bits
        found = _guess.guess(times(arena, unit))
        assert found is not None
        assert [
            Fraction(*pair) for pair in zip(*(x.tolist() for x in found), strict=True)
        ] == [unit * value for value in values(expected)]


def test_a_meter_stops_it():
    arena = generate.random_energy_game(5, 40)
    solution = meanpayoff.solve(
        arena, "fvi", throw=False, progress=lambda report: Status.TIMEOUT
    )
    assert solution.status == Status.TIMEOUT
    assert (solution.value_den == 0).any()


def test_without_strategies():
    arena = small(7)
    solution = meanpayoff.solve(arena, "host", strategies=False)
    assert solution.strategy is None
    assert meanpayoff.verify(arena, solution)
    with pytest.raises(ValueError, match="there is no strategy"):
        solution.successor(arena)


# ---- bad input -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": None}, "needs a weight on each edge"),
        ({"weight": np.zeros((2, 2), np.int32)}, "one weight on each edge"),
        ({"weight": np.zeros(2)}, "weight must hold integers, got float64"),
        (
            {"row_ptr": np.array([0, 2, 2], np.int32), "src": np.zeros(2, np.int32)},
            "vertex 1 has no successor",
        ),
        ({"owner": np.zeros((3, 2), bool), "weight": np.zeros((3, 2), int)}, "a batch"),
    ],
)
def test_what_is_no_game(change, message):
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[1, 2])
    arena = dataclasses.replace(arena, **change)
    with pytest.raises(ValueError, match=message):
        meanpayoff.solve(arena)


def times(arena: Arena, unit: int) -> Arena:
    """The game with all weights so many times as large: 64 bits must hold them."""
    return dataclasses.replace(arena, weight=arena.weight.astype(np.int64) * unit)


UNITS = [10**9, 10**12, 10**15, 10**17, 7 * 10**17]


@pytest.mark.parametrize("unit", UNITS)
def test_scaled_games_have_scaled_values(unit):
    """Whatever does not fit 64 bits: products, sums, or credits."""
    for seed in range(4):
        arena = generate.random_energy_game(
            seed, 60, min_weight=-12, max_weight=12, max_degree=3
        )
        expected, large = meanpayoff.solve(arena, "host"), times(arena, unit)
        solution = meanpayoff.solve(large, "host")
        assert values(solution) == [unit * value for value in values(expected)]
        np.testing.assert_array_equal(solution.strategy, expected.strategy)
        assert str(meanpayoff.verify(large, solution)) == "valid"
        for player in (0, 1):  # by means of cycles, in fractions
            secured = reference.secured(large, solution.strategy, player)
            assert secured == values(solution)
        wrong = solution.value_num.copy()
        wrong[seed] += 1
        assert not meanpayoff.verify(
            large, dataclasses.replace(solution, value_num=wrong)
        )


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_values_of_huge_weights_are_those_of_all_strategies(seed):
    arena = small(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(-(2**62), 2**62, len(arena.dst))
    arena = dataclasses.replace(arena, weight=weight)
    solution = meanpayoff.solve(arena, "host")
    assert values(solution) == brute(arena)
    assert str(meanpayoff.verify(arena, solution)) == "valid"
    assert str(reference.verify(arena, solution)) == "valid"


def test_a_numerator_may_need_more_than_64_bits():
    ring = np.arange(5)
    arena = Arena.from_edges(
        ring, (ring + 1) % 5, owner=ring % 2 == 1, weight=[2**62 - k for k in range(5)]
    )
    solution = meanpayoff.solve(arena)
    assert values(solution) == [Fraction(5 * 2**62 - 10, 5)] * 5
    arena = dataclasses.replace(arena, weight=arena.weight - (ring == 3))
    solution = meanpayoff.solve(arena)
    assert values(solution) == [Fraction(5 * 2**62 - 11, 5)] * 5
    assert solution.value_num.dtype == object
    assert str(meanpayoff.verify(arena, solution)) == "valid"
    low = meanpayoff.decide(arena, solution.value(0))
    high = meanpayoff.decide(arena, solution.value(0) + Fraction(1, 25))
    assert (low.winner.tolist(), high.winner.tolist()) == ([0] * 5, [1] * 5)
    together = solve_many(meanpayoff, [arena, small(5)], "host")
    assert values(together[0]) == values(solution)
    assert values(together[1]) == values(meanpayoff.solve(small(5), "host"))


def test_the_search_finds_huge_values(monkeypatch):
    """Thresholds, where nothing is guessed and nothing compiled."""
    monkeypatch.setattr(host, "can_compile", lambda: False)
    for seed in (3, 6):
        arena = times(small(seed), 10**16)
        solution = meanpayoff.solve(arena, "host")
        assert values(solution) == brute(arena)


@pytest.mark.skipif(not host.can_compile(), reason="Python's integers it is")
def test_two_words_are_enough_for_all_but_monsters(monkeypatch):
    """Python's integers are a hundred times as slow."""

    def nobody():
        raise AssertionError("interpreted")

    monkeypatch.setattr(_fvi, "interpreted", nobody)
    monkeypatch.setattr(_strategies, "interpreted", nobody)
    for width in (10**9, 10**13, 10**17):
        arena = generate.random_energy_game(
            3, 3000, min_weight=-width, max_weight=width
        )
        solution = meanpayoff.solve(arena, "host")
        assert meanpayoff.verify(arena, solution)


def test_the_reference_says_what_does_not_fit():
    arena = generate.random_energy_game(0, 100, min_weight=-(2**58), max_weight=2**58)
    with pytest.raises(ValueError, match="sums of weights that do not fit 64 bits"):
        reference.solve(arena)


def test_bad_arguments():
    arena = small(3)
    with pytest.raises(ValueError, match="max_steps must be at least 0"):
        meanpayoff.solve(arena, max_steps=-1)
    with pytest.raises(ValueError, match="state must be"):
        meanpayoff.solve(arena, state=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inside jax.jit use meanpayoff.decide"):
        jax.jit(meanpayoff.solve)(arena)


# ---- verify --------------------------------------------------------------------


def test_whatever_is_changed_is_found():
    arena = generate.random_energy_game(2, 12, min_weight=-9, max_weight=9)
    solution = meanpayoff.solve(arena, "host")
    for v in range(12):
        for name, by in (("value_num", 1), ("value_num", -1), ("value_den", 1)):
            array = getattr(solution, name).copy()
            array[v] += by
            wrong = dataclasses.replace(solution, **{name: array})
            verdict = meanpayoff.verify(arena, wrong)
            assert not verdict
        for edge in range(*arena.row_ptr[v : v + 2]):
            strategy = solution.strategy.copy()
            strategy[v] = edge
            changed = dataclasses.replace(solution, strategy=strategy)
            assert bool(meanpayoff.verify(arena, changed)) == bool(
                reference.verify(arena, changed)
            )


@pytest.mark.parametrize("by", [1, -1])
def test_all_values_changed_alike_are_found(by):
    arena = generate.random_energy_game(2, 12, min_weight=-9, max_weight=9)
    solution = meanpayoff.solve(arena, "host")
    wrong = dataclasses.replace(
        solution, value_num=solution.value_num + by * solution.value_den
    )
    for verify in (meanpayoff.verify, reference.verify):
        verdict = verify(arena, wrong)
        expected = Reason.VALUE_TOO_LARGE if by == 1 else Reason.VALUE_TOO_SMALL
        assert verdict.reason == expected
    bare = dataclasses.replace(wrong, strategy=None)
    assert meanpayoff.verify(arena, bare).reason == expected


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"value_den": [0, 1]}, Reason.UNDECIDED),
        ({"value_num": [2, 1], "value_den": [2, 1]}, Reason.NO_MEAN_OF_A_CYCLE),
        ({"value_den": [3, 1]}, Reason.NO_MEAN_OF_A_CYCLE),
        ({"strategy": [3, 2]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX),
        ({"value_num": [1, 0]}, Reason.STRATEGY_CHANGES_VALUE),
        ({"value_num": [0, 1], "strategy": [0, 3]}, Reason.BETTER_SUCCESSOR),
        ({"value_num": [9, 9]}, Reason.VALUE_TOO_LARGE),
        ({"value_num": [0, 0]}, Reason.VALUE_TOO_SMALL),
        ({"value_num": [-9, -9]}, Reason.VALUE_TOO_SMALL),
    ],
)
def test_each_reason(change, reason):
    arena = Arena.from_edges(
        [0, 0, 1, 1], [0, 1, 0, 1], owner=[0, 1], weight=[1, 0, 2, 4]
    )
    right = meanpayoff.solve(arena, "host")
    assert values(right) == [1, 1]
    change = {name: np.array(array) for name, array in change.items()}
    verdict = meanpayoff.verify(arena, dataclasses.replace(right, **change))
    assert Reason(int(verdict.reason)) == reason
    assert verdict.vertex >= 0


def test_arrays_of_another_shape():
    arena = small(3)
    solution = meanpayoff.solve(arena, "host")
    wrong = dataclasses.replace(solution, value_den=np.ones(99, int))
    with pytest.raises(ValueError, match=r"value_den must have the arena's shape"):
        meanpayoff.verify(arena, wrong)
    wrong = dataclasses.replace(solution, value_num=np.ones(arena.shape[0]))
    with pytest.raises(ValueError, match="value_num must hold integers, got float64"):
        meanpayoff.verify(arena, wrong)


@pytest.mark.parametrize(("wide", "groups"), [(2**45, [[0, 1]]), (2**50, [[0], [1]])])
def test_games_side_by_side_have_bounds_of_their_own(wide, groups):
    """Large weights of a small game do not meet the denominators of another."""
    few = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[wide, 0])
    many = generate.random_energy_game(1, 2000, min_weight=-9, max_weight=9)
    assert list(_batch._groups([few, many])) == groups


# ---- decide --------------------------------------------------------------------


def stack(arenas: list[Arena]) -> Arena:
    return jax.tree.map(lambda *x: np.stack(x), *(x.pad(8, 32) for x in arenas))


def test_decisions_agree_with_values():
    for seed in range(8):
        arena = small(seed)
        exact = values(meanpayoff.solve(arena, "host"))
        for ratio in {*exact, exact[0] + Fraction(1, 99), Fraction(0)}:
            got = meanpayoff.decide(arena, ratio, "host")
            assert got.winner.tolist() == [int(x < ratio) for x in exact]
            won = got.winner == arena.owner
            np.testing.assert_array_equal(got.strategy >= 0, won)


def test_decisions_are_stopped_gone_on_with_and_made_in_batches():
    asked = [(small(seed), Fraction(seed - 6, 2)) for seed in (5, 11)]
    asked.append((times(small(5), 10**17), (3 * 10**17, 7)))  # in Python's integers
    alone = [meanpayoff.decide(*one, "host") for one in asked]
    arena, threshold = asked[0]
    part = meanpayoff.decide(arena, threshold, "fvi", max_steps=1, throw=False)
    assert part.status == Status.MAX_STEPS
    found = meanpayoff.decide(arena, threshold, "fvi", state=part.state)
    np.testing.assert_array_equal(found.strategy, alone[0].strategy)
    with pytest.raises(ValueError, match="another problem"):
        meanpayoff.decide(arena, threshold + 2, "fvi", state=part.state)
    many = solve_many("meanpayoff_threshold", asked, "fvi")
    for own, other in zip(many, alone, strict=True):
        np.testing.assert_array_equal(own.winner, other.winner)
        np.testing.assert_array_equal(own.strategy, other.strategy)
    how = {"max_steps": 1, "throw": False}
    part = solve_many("meanpayoff_threshold", asked[:2], "fvi", **how)
    rest = solve_many("meanpayoff_threshold", asked[:2], "fvi", state=part.state)
    np.testing.assert_array_equal(rest[0].strategy, alone[0].strategy)
    other = [asked[0], asked[0]]
    with pytest.raises(ValueError, match="state is not of the.*[Gg]ame 1"):
        solve_many("meanpayoff_threshold", other, "fvi", state=part.state)


def test_decisions_of_a_batch_inside_jit():
    arenas = [small(seed) for seed in range(4, 10)]
    pairs = [(1, 2), (-3, 7), (0, 1), (5, 1), (2**30, 1), (-(2**29), 2**29 - 1)]

    @jax.jit
    @jax.vmap
    def decide(arena, p, q):
        return meanpayoff.decide(arena, (p, q), "fvi")

    got = decide(stack(arenas), *(jnp.array(x) for x in zip(*pairs, strict=True)))
    # Numbers of the last do not fit its 32 bits, and it says so.
    expected = [Status.SOLVED] * 5 + [Status.OVERFLOW]
    assert np.asarray(got.status).tolist() == expected
    assert (np.asarray(got.winner)[5] != 0).all()
    pairs = pairs[:5]
    for k, (arena, pair) in enumerate(zip(arenas[:5], pairs, strict=True)):
        exact, size = values(meanpayoff.solve(arena, "host")), arena.shape[0]
        expected = [int(x < Fraction(*pair)) for x in exact]
        assert np.asarray(got.winner)[k, :size].tolist() == expected


def test_decisions_by_any_pair_inside_jit():
    """Denominators may be negative, and larger than halves of the type."""
    least, most = -(2**31), 2**31 - 1
    some = [0, 1, -1, 3, -3, 2**30 + 5, -(2**30) - 5, least, least + 1, most]
    pairs = [(p, q) for p in some for q in some if q]
    arena = Arena.from_edges([0, 1], [0, 1], owner=[0, 1], weight=[0, -1])

    @jax.jit
    @jax.vmap
    def decide(p, q):
        return meanpayoff.decide(arena, (p, q), "fvi")

    got = decide(*(np.array(x, np.int32) for x in zip(*pairs, strict=True)))
    solved = np.asarray(got.status) == Status.SOLVED
    for pair, winner in zip(np.array(pairs)[solved], got.winner[solved], strict=True):
        threshold = Fraction(*pair.tolist())
        assert winner.tolist() == [int(threshold > 0), int(threshold > -1)], pair
        assert meanpayoff.decide(arena, threshold).winner.tolist() == winner.tolist()
    assert solved.sum() > 60
    none = decide(np.array([1, 3, 0], np.int32), np.array([0, 1, 0], np.int32))
    assert none.status.tolist() == [Status.INVALID, Status.SOLVED, Status.INVALID]
    assert none.winner.tolist() == [[-1, -1], [1, 1], [-1, -1]]
    assert none.strategy[::2].tolist() == [[-1, -1], [-1, -1]]
    with pytest.raises(ValueError, match="with q not 0"):
        jax.jit(lambda x: meanpayoff.decide(x, (1, 0)).winner)(arena)


def by_hand(**fields) -> Arena:
    """An arena with a cycle of three edges, and a loop at each end."""
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 2], owner=[0, 1, 0],
        weight=[0, 5, -1, 2, 7, 3], priority=[0, 1, 2],
    )  # fmt: skip
    return dataclasses.replace(arena, **fields)


@pytest.mark.parametrize("unit", [1, 2**40, 2**70])
def test_weights_may_be_integers_of_python(unit):
    weight = by_hand().weight.astype(object) * unit
    arena = by_hand(weight=weight)
    expected = [x * unit for x in values(meanpayoff.solve(by_hand(), "host"))]
    for solver in ("auto", "host", "fvi"):
        found = meanpayoff.solve(arena, solver)
        assert values(found) == expected
        assert meanpayoff.verify(arena, found)
    part = meanpayoff.solve(arena, max_steps=1, throw=False)
    assert values(meanpayoff.solve(arena, state=part.state)) == expected
    for solver in ("auto", "improvement", "vi"):
        found = discounted.solve(arena, 0.5, solver, epsilon=1e-3 * unit)
        assert discounted.verify(arena, 0.5, found)
    assert energyparity.verify(arena, energyparity.solve(arena))


@pytest.mark.parametrize("name", ["row_ptr", "dst", "owner", "weight"])
def test_some_arrays_may_be_of_jax(name):
    arena = by_hand(**{name: jnp.asarray(getattr(by_hand(), name))})
    expected = values(meanpayoff.solve(by_hand(), "host"))
    assert values(meanpayoff.solve(arena)) == expected
    assert values(solve_many(meanpayoff, [arena])[0]) == expected
    assert discounted.verify(arena, 0.5, discounted.solve(arena, 0.5, "host"))
    assert energyparity.verify(arena, energyparity.solve(arena))


@pytest.mark.parametrize("problem", [meanpayoff, energyparity])
def test_priorities_of_several_types_are_put_side_by_side(problem):
    wide = by_hand(priority=by_hand().priority.astype(np.uint64))
    both = solve_many(problem, [wide, by_hand()])
    alone = problem.solve(by_hand())
    for found in both:
        assert found.strategy.tolist() == alone.strategy.tolist()


def test_decisions_by_very_fine_thresholds():
    arena = Arena.from_edges([0], [0], owner=[0], weight=[0], priority=[0])
    for sign in (1, -1):
        threshold = Fraction(sign, 2**70)
        assert meanpayoff.decide(arena, threshold).winner.tolist() == [sign > 0]
        assert energyparity.decide(arena, threshold).winner.tolist() == [sign > 0]


def test_a_decision_tells_what_it_is():
    arena = small(7)
    decision = meanpayoff.decide(arena, 0, "host")
    assert repr(decision).startswith("Decision(player 0 wins ")
    assert decision.successor(arena).shape == (arena.shape[0],)
    bare = meanpayoff.decide(arena, 0, "host", strategies=False)
    with pytest.raises(ValueError, match="there is no strategy"):
        bare.successor(arena)
    with pytest.raises(ValueError, match="threshold must be"):
        meanpayoff.decide(arena, 0.5)
    with pytest.raises(ValueError, match="threshold must be"):
        meanpayoff.decide(arena, True)
    with pytest.raises(ValueError, match="must be made of integers"):
        jax.jit(lambda x: meanpayoff.decide(arena, x).winner)(0.5)


# ---- fractions -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int64, object])
def test_fractions(kind):
    rng = np.random.default_rng(0)
    low = [Fraction(*map(int, x)) for x in rng.integers((-40, 1), (40, 15), (60, 2))]
    high = [
        x + Fraction(*map(int, y))
        for x, y in zip(low, rng.integers((0, 1), (30, 200), (60, 2)), strict=True)
    ]
    most = rng.integers(1, 12, 60).astype(kind)

    def pair(fractions):
        num = np.array([x.numerator for x in fractions], kind)
        return num, np.array([x.denominator for x in fractions], kind)

    def back(ratio):
        return [Fraction(int(n), int(d)) for n, d in zip(*ratio, strict=True)]

    simple = back(_rationals.simplest(pair(low), pair(high)))
    below, above = map(back, _rationals.neighbours(pair(high), most))
    before = back(_rationals.below(pair(below), most))
    after = back(_rationals.above(pair(below), most))
    for k, (a, b, order) in enumerate(zip(low, high, most, strict=True)):
        q = next(q for q in itertools.count(1) if -(-a * q // 1) <= b * q)
        assert simple[k] == Fraction(-(-a * q // 1), q)
        farey = range(1, order + 1)
        assert below[k] == max(Fraction(b * q // 1, q) for q in farey)
        assert above[k] == min(Fraction(-(-b * q // 1), q) for q in farey)
        assert after[k] == min(Fraction(below[k] * q // 1 + 1, q) for q in farey)
        assert before[k] == max(Fraction(-(-below[k] * q // 1) - 1, q) for q in farey)
