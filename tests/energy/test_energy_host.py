"""The engine on the host against all strategies of tiny games, and known credits."""

import dataclasses
from pathlib import Path

import brute_credits
import numpy as np
import pytest

from jaxgames import Arena, Status, energy, host
from jaxgames.energy import Reason
from jaxgames.energy import host as engine
from jaxgames.energy import reference as textbook
from jaxgames.energy.host import _fvi, _numbers, _strategies
from jaxgames.energy.host._fvi import potentials
from jaxgames.energy.host._game import game_of

DATA = Path(__file__).parents[3] / "shared/data"
MADE = sorted((DATA / "made/energy").glob("*.npz"))
PUBLIC = sorted((DATA / "public/energy").glob("*.npz"))


def load(path):
    with np.load(path) as file:
        arena = Arena.from_csr(
            file["offsets"],
            file["targets"],
            owner=file["owner"],
            weight=file["weights"],
        )
        return arena, file["credit"]


def small_games(count, size=30, seed=5):
    """Random games with few and many edges, some of one player."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        vertices = rng.integers(1, size)
        src = np.repeat(np.arange(vertices), rng.integers(1, 2 + index % 4, vertices))
        low, high = [(-3, 3), (-50, 50), (-9, 4), (-4, 9)][index % 4]
        yield Arena.from_edges(
            src,
            rng.integers(0, vertices, len(src)),
            owner=rng.random(vertices) < [0.5, 0.5, 0.1, 1.0, 0.0][index % 5],
            weight=rng.integers(low, high + 1, len(src)),
        )


def verdict(arena, solution):
    return engine.verify(arena, solution.credit, solution.strategy)


# ---- answers -----------------------------------------------------------------


def test_against_all_strategies():
    for arena in brute_credits.tiny_games(seed=1, count=150):
        solution = engine.solve(arena)
        assert solution.status == Status.SOLVED
        expected = brute_credits.credits(arena)
        np.testing.assert_array_equal(solution.credit, expected)
        np.testing.assert_array_equal(solution.winner, expected < 0)
        assert brute_credits.wins(arena, solution.credit, solution.strategy)
        wins = (solution.strategy >= 0) == (solution.winner == arena.owner)
        assert wins.all()


def test_answers_are_those_of_the_textbook_and_verified():
    for arena in small_games(60, size=16):
        fast, right = engine.solve(arena), textbook.solve(arena)
        np.testing.assert_array_equal(fast.credit, right.credit)
        np.testing.assert_array_equal(fast.winner, right.winner)
        np.testing.assert_array_equal(fast.strategy, right.strategy)
        assert fast.credit.dtype == right.credit.dtype
        found = verdict(arena, fast)
        assert found, str(found)


@pytest.mark.parametrize("path", [*MADE, *PUBLIC], ids=lambda path: path.stem)
def test_known_credits(path):
    arena, credit = load(path)
    if not host.can_compile() and arena.shape[0] > 2000:
        pytest.skip("too large for plain Python")
    solution = engine.solve(arena)
    np.testing.assert_array_equal(solution.credit, credit)
    found = verdict(arena, solution)
    assert found, str(found)


@pytest.mark.skipif(not MADE, reason="the folder of energy games is not there")
def test_there_are_known_credits():
    assert len(MADE) >= 20


def test_interpreted_as_compiled():
    for arena in small_games(12, size=12, seed=3):
        expected = engine.solve(arena)
        with host.interpreted():
            found = engine.solve(arena)
            assert verdict(arena, found)
        np.testing.assert_array_equal(found.credit, expected.credit)
        np.testing.assert_array_equal(found.strategy, expected.strategy)
        assert found.stats == expected.stats


# ---- odd games ----------------------------------------------------------------


def solved(edges, owner):
    src, dst, weight = zip(*edges, strict=True)
    arena = Arena.from_edges(src, dst, owner=owner, weight=weight)
    solution = engine.solve(arena)
    assert verdict(arena, solution)
    assert textbook.solve(arena).credit.tolist() == solution.credit.tolist()
    return solution.credit.tolist(), solution.strategy.tolist()


@pytest.mark.parametrize("owner", [0, 1])
@pytest.mark.parametrize(
    ("weight", "credit"), [(-1, -1), (0, 0), (1, 0), (-(2**31), -1)]
)
def test_one_vertex_with_a_loop(owner, weight, credit):
    found, strategy = solved([(0, 0, weight)], [owner])
    assert found == [credit]
    assert strategy == [0 if (credit < 0) == owner else -1]


def test_cycles_that_sum_to_zero_are_won_by_player_0():
    assert solved([(0, 1, -7), (1, 0, 7)], [1, 1])[0] == [7, 0]
    assert solved([(0, 1, -7), (1, 0, 7), (1, 1, 0)], [0, 1])[0] == [7, 0]


def test_parallel_edges_differ_by_their_weights():
    edges = [(0, 0, -1), (0, 0, 2), (0, 0, 5)]
    assert solved(edges, [0]) == ([0], [1])
    assert solved(edges, [1]) == ([-1], [0])


def test_the_opponent_does_not_leave_for_a_vertex_that_he_loses():
    # The first edge of vertex 0 leads out of where player 1 wins.
    assert solved([(0, 1, -9), (0, 0, -1), (1, 1, 0)], [1, 0]) == ([-1, 0], [1, 2])


def test_padding_changes_nothing():
    for arena in small_games(20, seed=8):
        plain, padded = engine.solve(arena), engine.solve(arena.pad())
        size = arena.shape[0]
        np.testing.assert_array_equal(padded.credit[:size], plain.credit)
        np.testing.assert_array_equal(padded.strategy[:size], plain.strategy)
        assert verdict(arena.pad(), padded)


# ---- numbers ------------------------------------------------------------------


def test_a_credit_of_64_bits():
    edges = [(0, 1, -(2**61) + 1), (1, 2, -(2**60)), (2, 2, 0)]
    src, dst, weight = zip(*edges, strict=True)
    arena = Arena.from_edges(src, dst, owner=[0, 1, 0], weight=weight)
    solution = engine.solve(arena)
    assert solution.credit.dtype == np.int64
    assert solution.credit.tolist() == [2**61 - 1 + 2**60, 2**60, 0]
    assert verdict(arena, solution)


def test_a_bound_beyond_64_bits_is_no_reason_to_refuse():
    weight = np.full(3, -(2**61))
    arena = Arena.from_edges([0, 1, 2], [1, 2, 0], owner=[0, 0, 1], weight=weight)
    solution = engine.solve(arena)
    assert solution.credit.tolist() == [-1] * 3
    assert verdict(arena, solution)


def test_credits_beyond_64_bits_are_said_to_be():
    weight = np.array([-(2**61), -(2**61), -(2**61), 0])
    arena = Arena.from_edges([0, 1, 2, 3], [1, 2, 3, 3], owner=[0] * 4, weight=weight)
    solution = engine.solve(arena)
    assert solution.status == Status.OVERFLOW
    assert (solution.winner == -1).all()
    # Those of Python's integers are as large as they are.
    exact = dataclasses.replace(arena, weight=weight.astype(object) * 10**30)
    solution = engine.solve(exact)
    unit = 2**61 * 10**30
    assert solution.credit.tolist() == [3 * unit, 2 * unit, unit, 0]


def test_credits_of_any_size_are_verified():
    rng, far = np.random.default_rng(8), 10**30
    for tiny in brute_credits.tiny_games(seed=9, count=40):
        noise = rng.integers(-3, 4, len(tiny.weight))
        arena = dataclasses.replace(
            tiny, weight=tiny.weight.astype(object) * far + noise
        )
        solution = energy.solve(arena)
        assert solution.credit.tolist() == [
            int(x) for x in brute_credits.credits(arena)
        ]
        for verify in (verdict, energy.verify):
            assert verify(arena, solution)
        for change in (-1, 1, far, -far):
            spoilt = np.where(solution.credit > 0, solution.credit + change, 7 * far)
            other = dataclasses.replace(solution, credit=spoilt)
            assert not engine.verify(arena, spoilt)
            assert not energy.verify(arena, other)


@pytest.mark.parametrize("unit", [2**40, 10**15, 2**57, 2**60])
def test_huge_weights_against_all_strategies(unit):
    """Ones that differ by little beside ones that differ by much."""
    rng = np.random.default_rng(unit % 1009)
    refused = 0
    for tiny in brute_credits.tiny_games(seed=3, count=60):
        noise = rng.integers(-3, 4, len(tiny.weight))
        arena = dataclasses.replace(
            tiny, weight=tiny.weight.astype(np.int64) * unit + noise
        )
        expected, solution = brute_credits.credits(arena), engine.solve(arena)
        if max(expected) >= 2**62:
            assert solution.status == Status.OVERFLOW
            refused += 1
            continue
        assert solution.credit.tolist() == [int(x) for x in expected]
        assert verdict(arena, solution)
        wrong = np.maximum(solution.credit, 0) + 1
        assert not engine.verify(arena, wrong)
    assert refused < 30


def test_potentials_that_do_not_fit_64_bits_are_found_all_the_same():
    rng = np.random.default_rng(4)
    wide = 0
    for _ in range(25):
        size = 7
        src = np.repeat(np.arange(size), 2)
        dst, owner = rng.integers(0, size, 14), rng.random(size) < 0.5
        weight = rng.integers(-9, 10, 14)
        small = Arena.from_edges(src, dst, owner=owner, weight=weight)
        unit = 2**55
        large = Arena.from_edges(src, dst, owner=owner, weight=weight * unit)
        expected, found = engine.solve(small), engine.solve(large)
        credit = expected.credit.astype(np.int64)
        credit[credit > 0] *= unit
        np.testing.assert_array_equal(found.credit, credit)
        np.testing.assert_array_equal(found.strategy, expected.strategy)
        assert verdict(large, found)
        potential, _, _ = potentials(game_of(large), 2**61)
        wide += potential.dtype == object
        with host.interpreted():
            again = engine.solve(large)
        np.testing.assert_array_equal(again.credit, found.credit)
        np.testing.assert_array_equal(again.strategy, found.strategy)
    assert wide


@pytest.mark.parametrize("words", [2, None])
def test_all_forms_of_numbers_give_the_same(monkeypatch, words):
    if words and not host.can_compile():
        pytest.skip("two words are for machine code")
    games = list(small_games(40 if words else 12, seed=9))
    expected = [engine.solve(arena) for arena in games]
    for module in (_fvi, _strategies):
        monkeypatch.setattr(module, "forms", lambda game, factor: [words])
    for arena, known in zip(games, expected, strict=True):
        found = engine.solve(arena)
        np.testing.assert_array_equal(found.credit, known.credit)
        np.testing.assert_array_equal(found.strategy, known.strategy)
        assert found.stats["turns"] == known.stats["turns"]
        assert verdict(arena, found)


def test_sums_in_two_words():
    rng = np.random.default_rng(0)
    some = [int(x) * 3 ** int(k) for x, k in rng.integers(-9, 60, (200, 2)) if k >= 0]
    some += [0, -1, 2**62 - 1, 2**62, -(2**62), 2**100]
    pairs = _numbers.words(np.array(some, object))
    assert _numbers.joined(pairs).tolist() == some
    for x, a in zip(some, pairs, strict=True):
        for y, b in zip(some, pairs, strict=True):
            a, b = tuple(a), tuple(b)
            found = np.array([_numbers.plus(a, b), _numbers.minus(a, b)])
            assert _numbers.joined(found[:, None]).tolist() == [[x + y], [x - y]]
            assert (a < b) == (x < y)
    weight = rng.integers(-(2**62), 2**62, 300)
    weight[:3] = -(2**63) + 1, 2**63 - 1, 0
    for scale, one in ((-(2**30) - 7, -1), (2**31 - 1, 1), (2, 1)):
        found = _numbers.joined(_numbers.costs(weight, scale, one))
        assert found.tolist() == [scale * w + one for w in weight.tolist()]
        exact = _numbers.costs(weight.astype(object), scale, one)
        np.testing.assert_array_equal(_numbers.joined(exact), found)


# ---- arguments ----------------------------------------------------------------

GAME = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[-1, -2, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": None}, "needs a weight on each edge: weight is None"),
        ({"weight": np.ones((3, 2), np.int32)}, r"one weight .* shape \(3, 2\)"),
        ({"weight": np.array([1, 2, 3.5])}, "must hold integers, got float64"),
        ({"weight": np.array([1, 2, np.nan])}, "must hold integers, got float"),
        (
            {"row_ptr": np.array([0, 3, 3], np.int32), "src": np.zeros(3, np.int32)},
            "vertex 1 has no successor",
        ),
        ({"owner": np.zeros((2, 2), bool)}, "one game at a time"),
    ],
)
def test_arenas_that_are_no_energy_game(change, message):
    arena = dataclasses.replace(GAME, **change)
    for solve in (engine.solve, textbook.solve):
        with pytest.raises(ValueError, match=message):
            solve(arena)


def test_limits_and_stops():
    arena = next(a for a in small_games(50) if (engine.solve(a).credit > 0).any())
    solution = engine.solve(arena, max_steps=0)
    assert solution.status == Status.MAX_STEPS
    assert (solution.winner == -1).all()
    stopped = engine.solve(arena, stop=np.ones(1, np.int8))
    assert stopped.status == Status.INTERRUPTED
    for unknown in (solution, stopped):
        assert np.all(unknown.credit == -2)
        assert np.all(unknown.winner == -1)
        assert np.all(unknown.strategy == -1)


# ---- verify -------------------------------------------------------------------


def test_other_credits_are_refused():
    for arena in brute_credits.tiny_games(seed=2, count=60):
        solution = engine.solve(arena)
        for v in range(len(solution.credit)):
            for other in (-1, solution.credit[v] - 1, solution.credit[v] + 1, 0):
                if other == solution.credit[v]:
                    continue
                credit = solution.credit.copy()
                credit[v] = other
                assert not engine.verify(arena, credit, solution.strategy)
                assert not engine.verify(arena, credit)


def test_other_strategies_are_refused_where_they_do_not_win():
    refused = accepted = 0
    for arena in brute_credits.tiny_games(seed=3, count=150):
        solution = engine.solve(arena)
        for v in range(len(solution.credit)):
            for edge in range(arena.row_ptr[v], arena.row_ptr[v + 1]):
                strategy = solution.strategy.copy()
                if strategy[v] in (edge, -1):
                    continue
                strategy[v] = edge
                right = brute_credits.wins(arena, solution.credit, strategy)
                found = engine.verify(arena, solution.credit, strategy)
                assert bool(found) == right, str(found)
                refused, accepted = refused + (not right), accepted + right
    assert min(refused, accepted) > 20


@pytest.mark.parametrize(
    ("credit", "strategy", "reason", "vertex"),
    [
        ([2, 0], [0, -1], Reason.STRATEGY_NEEDS_MORE_CREDIT, 0),
        ([-2, 0], [1, -1], Reason.UNDECIDED, 0),
        ([1, 0], [1, -1], Reason.CREDIT_TOO_SMALL, 0),
        ([2, 2], [1, -1], Reason.CREDIT_TOO_SMALL, 0),
        ([2, 9], [1, -1], Reason.CREDIT_TOO_LARGE, 1),
        ([2, 0], [-1, -1], Reason.STRATEGY_MISSING, 0),
        ([2, 0], [2, -1], Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 0),
        ([2, 0], [1, 2], Reason.STRATEGY_OF_LOSER, 1),
        ([-1, -1], [-1, 2], Reason.CYCLE_WON_BY_OPPONENT, 0),
        ([-1, 0], [-1, -1], Reason.CREDIT_TOO_SMALL, 1),
    ],
)
def test_what_is_wrong_is_named(credit, strategy, reason, vertex):
    found = engine.verify(GAME, credit, strategy)
    assert (found.reason, found.vertex) == (reason, vertex)


def test_escapes_are_named():
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2], [0, 2, 1, 2, 2], owner=[0, 1, 1], weight=[-1, 0, -1, 0, 0]
    )
    found = engine.verify(arena, [-1, -1, 0], [-1, 3, -1])
    assert (found.reason, found.vertex) == (Reason.STRATEGY_LEAVES_REGION, 1)
    found = engine.verify(arena, [-1, -1, 0], [-1, 2, -1])
    assert (found.reason, found.vertex) == (Reason.OPPONENT_ESCAPES, 0)


@pytest.mark.parametrize(
    ("credit", "strategy", "message"),
    [
        ([2], None, r"credit must have the arena's shape \(2,\), got \(1,\)"),
        ([2.0, 0.0], None, "credit must hold integers, got float64"),
        ([2, 0], [1], r"strategy must have the arena's shape \(2,\), got \(1,\)"),
    ],
)
def test_answers_of_another_shape(credit, strategy, message):
    with pytest.raises(ValueError, match=message):
        engine.verify(GAME, credit, strategy)
