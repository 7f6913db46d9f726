"""What the host wins at once, against the reference and the verifier; and its rows."""

import numpy as np
import pytest
from repeats import some_of

from jaxgames import Arena, generate, host, parity
from jaxgames.kept import is_kept
from jaxgames.parity import Solution, _problem, reference
from jaxgames.parity import host as engine
from jaxgames.parity.host import _quick, _rows
from jaxgames.solution import NO_EDGE, UNDECIDED, Status
from jaxgames.testing import odd_arenas
from jaxgames.tuning.parity import EARLY, EARLY_ATTRACTS, LOOKS


def attempt(arena, **how):
    return engine.attempt(engine.rows(arena), **how)


def is_right(arena, winner, move):
    claim = Solution(Status.SOLVED, winner=winner, strategy=move)
    verdict = engine.verify(arena, claim)
    assert verdict, str(verdict)
    np.testing.assert_array_equal(winner, reference.solve(arena).winner)


def sparse(seed, count, sizes, most):
    """Games with short rows, in which promotions are frequent; some have long ones."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(*sizes))
        degree = rng.integers(1, 4, size)
        degree[: size // 20] = rng.integers(1, most + 1, size // 20)
        row_ptr = np.append(0, np.cumsum(degree))
        yield Arena.from_csr(
            row_ptr,
            rng.integers(0, size, row_ptr[-1]),
            owner=rng.integers(0, 2, size),
            priority=rng.integers(0, int(rng.integers(1, 9)), size),
        )


@some_of(400, 4000)
def test_odd_games(count, monkeypatch):
    monkeypatch.setattr(engine, "QUICK_WORK", 100)
    for arena in odd_arenas(41, count):
        won = attempt(arena)
        assert won.finished
        is_right(arena, won.winner, won.move)


@pytest.mark.parametrize("far", [False, True])
@some_of(60, 600)
def test_games_with_promotions_and_long_rows(count, monkeypatch, far):
    """More edges than a byte counts, and regions that are given up."""
    monkeypatch.setattr(engine, "QUICK_WORK", 100)
    monkeypatch.setattr(_rows, "FAR_FROM", 0)
    monkeypatch.setattr(_rows, "_lead_far", lambda head, size: far)
    stats = dict.fromkeys(("promotions", "dominions", "finished"), 0)
    for arena in sparse(42, count, (60, 400), 3 * _quick.FULL):
        won = attempt(arena)
        is_right(arena, won.winner, won.move)
        for name in stats:
            stats[name] += won.stats.get(name, won.finished)
    assert stats["finished"] == count
    assert stats["promotions"] > count / 20
    assert stats["dominions"] > count


@some_of(40, 400)
def test_edges_that_no_byte_counts(count, monkeypatch):
    """As if a byte counted to 2: regions are given up around that number, too."""
    monkeypatch.setattr(_quick, "FULL", 2)
    monkeypatch.setattr(engine, "QUICK_WORK", 100)
    promotions = 0
    for arena in sparse(45, count, (20, 80), 6):
        with host.interpreted():
            won = attempt(arena)
        is_right(arena, won.winner, won.move)
        promotions += won.stats["promotions"]
    assert promotions > count / 20


@pytest.mark.parametrize("player", [0, 1])
def test_a_region_that_is_given_up_leaves_all_as_it_was(player):
    for arena in sparse(46, 30, (60, 300), 3 * _quick.FULL):
        rows, size = engine.rows(arena), arena.shape[0]
        state, left = np.empty(size, np.uint8), np.diff(rows.row_ptr)
        _quick.first_bytes(rows.owner, rows.row_ptr, state)
        queue, by = np.arange(size + 1, dtype=np.int32), np.zeros(size + 1, np.int32)
        board = _quick.Board(
            *(rows.row_ptr, rows.head, rows.in_ptr, rows.in_tail, rows.priority),
            *(queue, by, np.zeros(size, np.uint8), False),
        )
        before, counts = state.copy(), np.zeros(5, np.int64)
        state[: size // 2] |= _quick.TAKEN
        never = engine.NEVER_STOPS
        after, region = _quick._table(), (player, 0, size // 2)
        end = _quick._spread(board, after, state, left, *region, never, counts)
        assert end > size // 2
        _quick._give_up(board, state, left, player, 0, end, counts)
        np.testing.assert_array_equal(state, before)
        many = np.diff(rows.row_ptr) >= _quick.FULL
        np.testing.assert_array_equal(left[many], np.diff(rows.row_ptr)[many])


def few_edges_left(player):
    """A hub with many edges, which all but one lead to what its rival wins."""
    many = 2 * _quick.FULL
    src = [*[0] * many, *range(1, many + 1)]
    dst = [*range(1, many + 1), *range(1, many + 1)]
    priority = np.full(many + 1, 1 - player)
    priority[0], priority[many] = 4 + player, player
    return Arena.from_edges(
        src, dst, owner=np.full(many + 1, player), priority=priority
    )


@pytest.mark.parametrize("player", [0, 1])
def test_the_last_of_many_edges_counts(player):
    arena = few_edges_left(player)
    won = attempt(arena)
    is_right(arena, won.winner, won.move)
    assert won.winner[0] == player
    assert arena.dst[won.move[0]] == 2 * _quick.FULL
    other = Arena.from_csr(
        arena.row_ptr,
        np.where(arena.dst == 2 * _quick.FULL, 1, arena.dst),
        owner=arena.owner,
        priority=arena.priority,
    )
    won = attempt(other)
    is_right(other, won.winner, won.move)
    assert won.winner[0] == 1 - player


@some_of(150, 1500)
def test_what_is_left_is_won_by_the_engines(count, monkeypatch):
    """Each attempt ends after one region that is open."""
    monkeypatch.setattr(engine, "QUICK_WORK", 0)
    left = 0
    for arena in sparse(43, count, (20, 200), 10):
        won = attempt(arena)
        known = won.winner != UNDECIDED
        expected = reference.solve(arena).winner
        np.testing.assert_array_equal(won.winner[known], expected[known])
        assert (won.move[~known] == NO_EDGE).all()
        assert known.all() == won.finished
        publish = np.full(arena.shape[0], UNDECIDED, np.int8)
        outcome = engine.run(engine.prepare(arena), won=won, publish=publish)
        is_right(arena, outcome.winner, outcome.strategy)
        np.testing.assert_array_equal(publish, expected)
        assert outcome.stats["regions"] >= won.stats["regions"]
        left += not won.finished
        solution = parity.solve(arena)
        is_right(arena, solution.winner, solution.strategy)
    assert left > count / 10


def test_games_of_many_priorities_are_tried_too():
    """As many priorities as vertices, and a few regions all the same."""
    arena = generate.random_game(3, 8000, num_priorities=8000, max_degree=8)
    solution = parity.solve(arena, "host")
    is_right(arena, solution.winner, solution.strategy)
    np.testing.assert_array_equal(solution.strategy, attempt(arena).move)
    assert not is_kept(arena, "parity host")


def test_what_many_small_regions_win_is_left_early():
    arena = generate.jurdzinski(20, 120)
    rows = engine.rows(arena)
    won = engine.attempt(rows)
    assert not won.finished
    assert won.stats["steps"] < arena.shape[0] // EARLY_ATTRACTS
    # Each region looks at all vertices that are left, for a half of their number.
    most = engine.work_of_attempt(rows) / EARLY / (arena.shape[0] / LOOKS)
    assert won.stats["regions"] <= most + 1


@pytest.mark.parametrize("tracked", [False, True])
def test_an_attempt_in_vain_is_made_once(monkeypatch, tracked):
    made, track = [], _problem.PROBLEM.track() if tracked else None

    def counted(*args, **how):
        made.append(how)
        return engine_attempt(*args, **how)

    engine_attempt = engine.attempt
    monkeypatch.setattr(engine, "attempt", counted)
    arena = generate.jurdzinski(20, 120)
    short = _problem.PROBLEM.on_host(arena, max_steps=10)
    assert short.status == Status.MAX_STEPS
    found = [_problem.PROBLEM.on_host(arena, track=track) for _ in range(3)]
    # A short one says nothing of a longer one.
    assert len(made) == 2
    assert not is_kept(arena, "parity rows")
    for each in found:
        is_right(arena, each.winner, each.strategy)
        np.testing.assert_array_equal(each.strategy, found[0].strategy)
        assert each.stats == found[0].stats


def test_it_may_be_stopped():
    arena = generate.random_game(1, 5000, num_priorities=6)
    won = attempt(arena, stop=np.ones(1, np.int8))
    assert not won.finished
    outcome = engine.run(engine.prepare(arena), stop=np.ones(1, np.int8), won=won)
    assert not outcome.finished


def test_plain_python_does_the_same():
    for arena in sparse(44, 10, (40, 80), 2 * _quick.FULL):
        compiled = attempt(arena)
        with host.interpreted():
            plain = attempt(arena)
        np.testing.assert_array_equal(plain.winner, compiled.winner)
        np.testing.assert_array_equal(plain.move, compiled.move)
        assert plain.stats == compiled.stats


def test_padding_is_player_0s():
    arena = generate.random_game(2, 50, num_priorities=4)
    won, padded = attempt(arena), attempt(arena.pad(80, 400))
    np.testing.assert_array_equal(padded.winner[:50], won.winner)
    np.testing.assert_array_equal(padded.move[:50], won.move)
    assert not padded.winner[50:].any()
    assert (padded.move[50:] == NO_EDGE).all()


@pytest.mark.parametrize("far", [False, True])
@some_of(10, 100)
def test_games_with_hubs(count, monkeypatch, far):
    """More edges lead to some vertices than are written down at once."""
    monkeypatch.setattr(engine, "QUICK_WORK", 100)
    monkeypatch.setattr(_rows, "FAR_FROM", 0)
    monkeypatch.setattr(_rows, "_lead_far", lambda head, size: far)
    rng = np.random.default_rng(47)
    for _ in range(count):
        size = int(rng.integers(1500, 2000))
        row_ptr = np.append(0, np.cumsum(rng.integers(1, 5, size)))
        head = rng.integers(0, size, row_ptr[-1])
        hubs = rng.random(len(head)) < 0.5
        head[hubs] = rng.integers(0, 3, np.count_nonzero(hubs))
        assert np.bincount(head).max() > _quick.ROOM
        arena = Arena.from_csr(
            row_ptr,
            head,
            owner=rng.integers(0, 2, size),
            priority=rng.integers(0, int(rng.integers(2, 9)), size),
        )
        won = attempt(arena)
        assert won.finished
        is_right(arena, won.winner, won.move)


# ---- rows ------------------------------------------------------------------------


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 1000, 3 << _rows.BITS, (3 << _rows.BITS) + 1])
@pytest.mark.parametrize(
    ("far", "split"), [(False, False), (True, False), (True, True)]
)
def test_rows_by_target(monkeypatch, cores, size, far, split):
    """As a stable sort has them, in one step and in two, on one core and on several."""
    monkeypatch.setattr(host, "num_cores", lambda: cores)
    monkeypatch.setattr(host, "FEWEST_PLACES", 100)
    monkeypatch.setattr(_rows, "EDGES_OF_RANGE", 50)
    monkeypatch.setattr(_rows, "SPLIT_FROM", 0 if split else size + 1)
    monkeypatch.setattr(_rows, "FAR_FROM", 0)
    monkeypatch.setattr(_rows, "_lead_far", lambda head, size: far)
    rng = np.random.default_rng(size)
    degree = rng.integers(1, 6, size)
    row_ptr = np.append(0, np.cumsum(degree)).astype(np.int32)
    source = np.repeat(np.arange(size, dtype=np.int32), degree)
    head = rng.integers(0, size, len(source)).astype(np.int32)
    head[::5] = source[::5]
    in_ptr, in_tail, loops, leads_far = _rows.by_target(row_ptr, head)
    assert leads_far == far
    np.testing.assert_array_equal(in_tail, source[np.argsort(head, kind="stable")])
    np.testing.assert_array_equal(np.diff(in_ptr), np.bincount(head, minlength=size))
    np.testing.assert_array_equal(loops, np.flatnonzero(source == head))


def test_edges_that_lead_far():
    rng = np.random.default_rng(3)
    vertices = np.arange(100_000)
    moving = np.stack([vertices, (7 * vertices[-1]) - vertices, vertices // 2], 1)
    assert _rows._lead_far(rng.integers(0, 10**6, 10**6), 10**6)
    assert _rows._lead_far(rng.integers(0, 3000, 10**4), 3000)
    assert not _rows._lead_far(moving.ravel(), 700_000)
    assert not _rows._lead_far(moving.ravel() // 200, 3500)
