"""The forms of verification on a few games: reasons, layouts, tracing, bad input."""

import dataclasses

import jax
import numpy as np
import pytest
from repeats import first_of, some_of

from jaxgames import Arena, Status, generate, memory, ops, parity
from jaxgames.ops import _slices
from jaxgames.parity import Reason, Solution, _checked_there, _verify, reference
from jaxgames.parity._certificate import certificate
from jaxgames.parity._measures import Measures
from jaxgames.testing import odd_arenas

# Player 0 wins 0 and 1 (loop on 0); player 1 wins 2 and 3.
GAME = Arena.from_edges(
    [0, 0, 1, 2, 3, 3], [0, 2, 0, 3, 2, 0], owner=[0, 1, 0, 1], priority=[2, 1, 3, 4]
)
GOOD = {"winner": [0, 0, 0, 0], "strategy": [0, -1, 3, -1]}


METHODS = ("trimming", "measures", "components")


def solution(winner, strategy, measures=None) -> Solution:
    return Solution(
        Status.SOLVED,
        winner=np.array(winner, np.int8),
        strategy=np.array(strategy),
        measures=measures,
    )


MEASURES = certificate(GAME, solution(**GOOD))


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_accepts(method):
    verdict = parity.verify(GAME, solution(**GOOD, measures=MEASURES), method)
    assert verdict
    assert (int(verdict.reason), int(verdict.vertex)) == (Reason.OK, -1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("change", "reason", "vertex"),
    [
        ({"winner": [0, -1, 0, 0]}, Reason.UNDECIDED, 1),
        ({"winner": [0, 2, 0, 0]}, Reason.UNDECIDED, 1),
        ({"strategy": [0, -1, -1, -1]}, Reason.STRATEGY_MISSING, 2),
        ({"strategy": [2, -1, 3, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 0),
        ({"strategy": [0, -1, 99, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 2),
        ({"strategy": [-7, -1, 3, -1]}, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, 0),
        ({"strategy": [0, 2, 3, -1]}, Reason.STRATEGY_OF_LOSER, 1),
        ({"winner": [0, 0, 0, 1], "strategy": [0, -1, 3, 4]},
         Reason.STRATEGY_LEAVES_REGION, 2),
        ({"winner": [1, 0, 0, 0], "strategy": [-1, -1, 3, -1]},
         Reason.OPPONENT_ESCAPES, 0),
    ],
)  # fmt: skip
def test_rejects(change, reason, vertex, method):
    spoilt = solution(**{**GOOD, **change}, measures=MEASURES)
    verdict = parity.verify(GAME, spoilt, method)
    assert not verdict
    assert (int(verdict.reason), int(verdict.vertex)) == (reason, vertex)
    assert str(verdict).startswith(f"vertex {vertex}: ")


@pytest.mark.parametrize("method", ["trimming", "components", "auto"])
def test_rejects_a_cycle_won_by_the_opponent(method):
    """Every single vertex is fine; the strategies run in a circle of priority 3."""
    game = Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 0, 0], priority=[0, 3, 2]
    )
    right = solution([0, 0, 0], [1, 2, 3])
    assert parity.verify(game, right, method)
    measures = certificate(game, right) if method == "auto" else None
    wrong = solution([0, 0, 0], [0, 2, 3], measures)
    verdict = parity.verify(game, wrong, method)
    assert int(verdict.reason) == Reason.CYCLE_WON_BY_OPPONENT
    assert int(verdict.vertex) == 1


@pytest.mark.parametrize("seed", first_of(2, 4))
def test_trimming_agrees_with_the_host_on_spoilt_solutions(seed):
    rng = np.random.default_rng(seed)
    seen = set()
    for arena in odd_arenas(seed=10 + seed, count=40, max_vertices=20):
        size, arena = arena.shape[0], arena.pad(32, 512)  # one compilation for all
        right = reference.solve(arena)
        for _ in range(6):
            winner, strategy = np.array(right.winner), np.array(right.strategy)
            vertex = rng.integers(size)
            own = np.flatnonzero(strategy >= 0)
            kind = rng.integers(4 if len(own) else 2)
            if kind == 0:
                winner[vertex] ^= 1
            elif kind == 1:
                strategy[vertex] = rng.integers(-1, arena.shape[1])
            else:  # the likeliest to pass unnoticed: another edge of the same vertex
                vertex = own[rng.integers(len(own))]
                strategy[vertex] = rng.integers(
                    arena.row_ptr[vertex], arena.row_ptr[vertex + 1]
                )
            spoilt = dataclasses.replace(right, winner=winner, strategy=strategy)
            ours = parity.verify(arena, spoilt, "trimming")
            host = reference.verify(arena, spoilt)
            assert bool(ours) == bool(host), (str(ours), str(host))
            seen.add(int(ours.reason))
    assert {Reason.OK, Reason.CYCLE_WON_BY_OPPONENT} < seen
    assert len(seen) >= 4


@pytest.mark.parametrize("method", ["trimming", "measures"])
@pytest.mark.parametrize("on_edges", [False, True], ids=["vertices", "edges"])
def test_in_slices(on_edges, method, monkeypatch):
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    arena = generate.elevator(3, fair=True)
    right = reference.solve(arena)
    if on_edges:  # the same game, but for the form of its priorities
        arena = dataclasses.replace(
            arena, priority=None, edge_priority=arena.priority[arena.src]
        )
    right = dataclasses.replace(right, measures=certificate(arena, right))
    assert parity.verify(arena, right, method)
    winner, strategy = right.winner.copy(), right.strategy.copy()
    winner[-1] ^= 1
    spoilt = dataclasses.replace(right, winner=winner)
    assert not parity.verify(arena, spoilt, method)
    choice = np.flatnonzero((strategy >= 0) & (np.diff(arena.row_ptr) > 1))
    rejected = 0
    for v in choice[:12]:
        other = strategy.copy()
        other[v] = arena.row_ptr[v] + (strategy[v] == arena.row_ptr[v])
        spoilt = dataclasses.replace(right, strategy=other)
        host = parity.verify(arena, spoilt, "components")
        assert not (parity.verify(arena, spoilt, method) and not host)
        rejected += not host
    assert rejected


@pytest.mark.parametrize("method", ["trimming", "measures"])
def test_under_jit(method):
    verify = jax.jit(parity.verify, static_argnames="method")
    good = solution(**GOOD, measures=MEASURES)
    assert verify(GAME, good, method=method).valid
    bad = verify(GAME, solution(GOOD["winner"], [0, -1, 3, 4], MEASURES), method=method)
    assert (bool(bad.valid), int(bad.reason)) == (False, Reason.STRATEGY_OF_LOSER)


def test_auto_under_jit_trims():
    """Wrong measures of a right solution are not looked at."""
    wrong = Measures(words=np.zeros_like(MEASURES.words), cut=MEASURES.cut)
    good = solution(**GOOD, measures=wrong)
    assert jax.jit(parity.verify)(GAME, good).valid
    assert not parity.verify(GAME, good, "measures")
    assert parity.verify(GAME, good)


def test_a_cycle_in_the_middle_of_edges():
    """Vertex 1 may choose between two edges of other priorities: the loop loses."""
    game = Arena.from_edges(
        [0, 1, 1, 1], [1, 0, 1, 1], owner=[1, 0], edge_priority=[0, 2, 1, 4]
    )
    for move, right in ((1, True), (2, False), (3, True)):
        claim = solution([0, 0], [-1, move])
        for method in ("trimming", "components"):
            verdict = parity.verify(game, claim, method)
            assert bool(verdict) == right
            if not right:
                assert int(verdict.reason) == Reason.CYCLE_WON_BY_OPPONENT
                assert int(verdict.vertex) == 1
        if right:
            proved = dataclasses.replace(claim, measures=certificate(game, claim))
            assert parity.verify(game, proved, "measures")
        else:
            with pytest.raises(ValueError, match="a wrong solution has no certificate"):
                certificate(game, claim)


def test_padding_does_not_matter():
    padded = GAME.pad(8, 24)
    winner = np.array([*GOOD["winner"], 1, 0, 1, -1], np.int8)
    strategy = np.array([*GOOD["strategy"], 5, 99, -1, -1], np.int32)
    words = np.pad(MEASURES.words, ((0, 0), (0, 0), (0, 4)), constant_values=-5)
    measures = Measures(words=words, cut=MEASURES.cut)
    for method in METHODS:
        claim = Solution(
            Status.SOLVED, winner=winner, strategy=strategy, measures=measures
        )
        assert parity.verify(padded, claim, method), method


def cut(**changes) -> Measures:
    return dataclasses.replace(MEASURES, **changes)


@pytest.mark.parametrize(
    ("change", "method", "message"),
    [
        (
            {"winner": [0, 0, 0]},
            "auto",
            r"solution.winner must have the arena's shape \(4,\)",
        ),
        (
            {"strategy": [[0, -1, 3, -1]]},
            "trimming",
            "solution.strategy must have the arena's shape",
        ),
        (
            {"strategy": [0.0, -1.0, 3.0, -1.0]},
            "components",
            "solution.strategy must hold integers",
        ),
        ({}, "cycles", "method must be one of .* got 'cycles'"),
        ({}, "measures", "solution.measures, which is None: parity.SPM gives"),
        (
            {"measures": cut(words=MEASURES.words[:, :, :3])},
            "measures",
            r"solution.measures.words must be int32 \[2, words, 4\], got int32 \[2, 1",
        ),
        (
            {"measures": cut(cut=MEASURES.cut[0])},
            "auto",
            r"solution.measures.cut must be int32 \[2, priorities\]",
        ),
        (
            {"measures": cut(cut=MEASURES.cut.astype(np.int64))},
            "measures",
            "solution.measures.cut must be int32",
        ),
    ],
)
def test_bad_input(change, method, message):
    with pytest.raises(ValueError, match=message):
        parity.verify(GAME, solution(**{**GOOD, **change}), method)


def test_components_are_not_found_under_jit():
    verify = jax.jit(parity.verify, static_argnames="method")
    with pytest.raises(ValueError, match="'components' runs on the host"):
        verify(GAME, solution(**GOOD), method="components")


def test_no_strategy_is_not_verified():
    claim = dataclasses.replace(solution(**GOOD), strategy=None)
    with pytest.raises(ValueError, match="solution.strategy is None"):
        parity.verify(GAME, claim)


def test_measures_of_many_words():
    """Priorities that grow along a path: a digit for each, some 200 in all."""
    size = 400
    v = np.arange(size)
    arena = Arena.from_edges(
        np.append(v, v),
        np.append(np.minimum(v + 1, size - 1), np.maximum(v - 1, 0)),
        owner=v % 2,
        priority=v[::-1] + 1,
    )
    right = reference.solve(arena)
    measures = certificate(arena, right)
    assert measures.words.shape[1] > 3
    proved = dataclasses.replace(right, measures=measures)
    assert parity.verify(arena, proved, "measures")
    edge = np.flatnonzero(proved.strategy >= 0)[0]
    words = measures.words.copy()
    words[int(proved.winner[edge]), 0, edge] = 2**31 - 1
    spoilt = dataclasses.replace(proved, measures=Measures(words, measures.cut))
    verdict = parity.verify(arena, spoilt, "measures")
    assert (int(verdict.reason), int(verdict.vertex)) == (Reason.MEASURE_RISES, edge)


@pytest.mark.parametrize("lost", [0, 1])
def test_regions_are_searched_side_by_side(lost, monkeypatch):
    """A wrong cycle is found in each of them."""
    monkeypatch.setattr("jaxgames.parity.host._verify.FEWEST_PLACES", 1)
    monkeypatch.setattr("jaxgames.parity.host._verify.num_cores", lambda: 2)
    # Each player wins two vertices, and chooses between two of the cycles.
    arena = Arena.from_edges(
        [0, 0, 1, 2, 2, 3],
        [0, 1, 0, 2, 3, 2],
        owner=[0, 0, 1, 1],
        priority=[2, 3, 1, 4],
    )
    right = solution([0, 0, 1, 1], [0, 2, 3, 5])
    assert parity.verify(arena, right, "components")
    wrong = right.strategy.copy()
    wrong[2 * lost] += 1
    verdict = parity.verify(arena, solution(right.winner, wrong), "components")
    assert verdict.reason == Reason.CYCLE_WON_BY_OPPONENT
    assert int(verdict.vertex) // 2 == lost


@pytest.fixture(params=[0, 5], ids=["to the end", "some rounds"])
def checked_there(request, monkeypatch):
    """Games of any size are checked as large ones on a GPU are: the calls for that."""
    asked, check = [], _checked_there.check

    def noted(*args):
        asked.append(args)
        return check(*args)

    monkeypatch.setattr(_verify, "CHECKED_THERE_FROM", 0)
    monkeypatch.setattr(_checked_there, "check", noted)
    monkeypatch.setattr(_checked_there, "FEW_INSIDE", request.param)
    monkeypatch.setattr(ops, "runs_kernels", lambda: True)
    return asked


@pytest.mark.parametrize("winner", [[0, 0, 0, 0], [0, 0, 1, 1]])
def test_a_large_game_is_checked_on_a_gpu(winner, checked_there, monkeypatch):
    # Player 1 would let the loop between 2 and 3 go on, whose 4 is player 0's.
    claim = solution(winner, [0, -1, 3, -1] if winner[3] == 0 else [0, -1, -1, 4])
    verdict = parity.verify(dataclasses.replace(GAME), claim)
    assert bool(verdict) == (winner[3] == 0)
    assert winner[3] == 0 or verdict.reason == Reason.CYCLE_WON_BY_OPPONENT
    assert len(checked_there) == 1
    parity.verify(GAME.pad(), dataclasses.replace(claim, **padded(claim, GAME.pad())))
    assert len(checked_there) == 2
    monkeypatch.setattr(memory, "free", lambda devices=None: 100)
    assert bool(parity.verify(dataclasses.replace(GAME), claim)) == (winner[3] == 0)
    assert len(checked_there) == 2  # there is no room


def padded(claim, arena) -> dict:
    more = (0, arena.shape[0] - len(claim.winner))
    return {
        "winner": np.pad(claim.winner, more),
        "strategy": np.pad(claim.strategy, more, constant_values=-1),
    }


@some_of(30, 80)
def test_a_gpu_says_what_the_host_says(count, checked_there):
    """Of right answers, and of such that are wrong in one place or in several."""
    rng, reasons = np.random.default_rng(11), set()
    for seed in range(count):
        size = int(rng.integers(3, 30))
        arena = generate.random_game(seed, size, num_priorities=6, max_degree=3)
        found = reference.solve(arena)
        for kind in range(6):
            winner, strategy = found.winner.copy(), found.strategy.copy()
            where = rng.integers(0, size, 2)
            if kind == 1:
                strategy[where] = rng.integers(-2, len(arena.dst) + 1, 2)
            elif kind == 2:
                winner[where] = rng.integers(-1, 2, 2)
            elif kind > 2:  # strategies by lot: of winners by lot, one winner, or these
                if kind < 5:
                    winner[:] = rng.integers(0, 2, size if kind == 3 else 1)
                move = arena.row_ptr[:-1] + rng.integers(0, np.diff(arena.row_ptr))
                strategy = np.where(winner == arena.owner, move, -1)
            claim = dataclasses.replace(found, winner=winner, strategy=strategy)
            verdict = parity.verify(arena, claim)
            expected = parity.verify(arena, claim, "components")
            assert bool(verdict) == bool(expected)
            assert int(verdict.reason) == int(expected.reason)
            if verdict.reason != Reason.CYCLE_WON_BY_OPPONENT:
                assert int(verdict.vertex) == int(expected.vertex)
            reasons.add(int(verdict.reason))
    assert len(checked_there) == 6 * count
    assert len(reasons) == len(Reason) - 2  # without those of measures
