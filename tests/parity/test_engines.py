"""Where a game is solved: device, host, both at once; and what `"auto"` makes of it."""

import dataclasses
import functools
import threading
import time
import types

import jax
import numpy as np
import pytest

from jaxgames import (
    Arena,
    SolveError,
    Status,
    drive,
    fixpoint,
    generate,
    host,
    parity,
)
from jaxgames.drive import Leg
from jaxgames.parity import _problem, _shared, reference
from jaxgames.parity import host as engine
from jaxgames.parity._problem import PROBLEM, Parity
from jaxgames.progress import Deadline, Report
from jaxgames.testing import odd_arenas

GAME = generate.random_game(0, 300, num_priorities=9)
SMALL = generate.elevator(2, fair=True)


def agrees(arena, solution) -> bool:
    return (
        np.array_equal(solution.winner, reference.solve(arena).winner)
        and reference.verify(arena, solution).valid
    )


@pytest.fixture(autouse=True)
def no_threads_left():
    yield
    parity.wait_for_losers()


def engines(run):
    """Those of the host, with another `run`, and no attempt before."""
    return types.SimpleNamespace(run=run, prepare=engine.prepare, Turns=engine.Turns)


@pytest.mark.parametrize("place", ["host", "host-tangles", "race", "auto"])
def test_places_agree_with_the_reference(place):
    for arena in odd_arenas(1, 30, 16):
        arena = arena.pad(32, 256)
        assert agrees(arena, parity.solve(arena, place))


@pytest.mark.parametrize("place", ["host", "host-tangles", "race"])
def test_places_take_edge_priorities(place):
    rng = np.random.default_rng(2)
    for arena in odd_arenas(2, 10, 10):
        priority = rng.integers(0, 5, arena.shape[1]).astype(np.int32)
        arena = dataclasses.replace(arena, priority=None, edge_priority=priority)
        for game in (arena, arena.pad(32, 256)):
            assert agrees(game, parity.solve(game, place))


def test_a_large_game_on_the_host_runs_in_a_thread(monkeypatch):
    monkeypatch.setattr(Parity, "inline", 0)
    assert agrees(GAME, parity.solve(GAME, "host"))


def test_a_hard_game_on_the_host_goes_on_in_a_thread(monkeypatch):
    threads = []

    def run(prepared, **options):
        threads.append(threading.current_thread())
        return engine.run(prepared, **options)

    parity.prepare_host(GAME)
    monkeypatch.setattr(_problem, "host", engines(run))
    monkeypatch.setattr(_problem, "attempted", lambda *_: None)
    monkeypatch.setattr(Parity, "patience", 10)
    monkeypatch.setattr(host, "SMALL", 0)
    assert agrees(GAME, parity.solve(GAME, "host"))
    assert threads[0] is threading.current_thread() is not threads[1]


@pytest.mark.parametrize("place", ["host", "host-tangles", "auto", "fpi", "promotion"])
def test_without_strategies(place):
    solution = parity.solve(SMALL, place, strategies=False)
    assert solution.strategy is None
    assert np.array_equal(solution.winner, reference.solve(SMALL).winner)
    with pytest.raises(ValueError, match="there is no strategy"):
        solution.successor(SMALL)


def test_without_strategies_under_jit():
    solve = jax.jit(lambda arena: parity.solve(arena, strategies=False))
    solution = solve(SMALL.pad())
    assert solution.strategy is None
    winner = np.asarray(solution.winner)[: SMALL.shape[0]]
    assert np.array_equal(winner, reference.solve(SMALL).winner)


# ---- the race ------------------------------------------------------------------


def slow_host(monkeypatch, told):
    def run(self, arena, *, track, **more):
        while not track.stop[0]:
            time.sleep(0.001)
        told.append("host")
        solution = parity.Solution(
            winner=np.full(arena.shape[0], -1, np.int8), status=Status.INTERRUPTED
        )
        return dataclasses.replace(solution, strategy=solution.winner.astype(np.int32))

    monkeypatch.setattr(Parity, "on_host", run)


def slow_device(monkeypatch, told):
    def run(self, track, arena, solver, *, progress, **more):
        while progress(Report("device", 7, 0.0)) is None:
            time.sleep(0.001)
        told.append("device")
        found = PROBLEM.on_device(arena, solver, max_steps=0)
        return dataclasses.replace(found, status=Status.INTERRUPTED)

    monkeypatch.setattr(Parity, "in_race", run)


def test_the_device_wins_and_the_host_is_stopped(monkeypatch):
    told = []
    slow_host(monkeypatch, told)
    solution = parity.solve(GAME, "race")
    assert solution.stats["solver"] == "promotion"
    assert agrees(GAME, solution)
    parity.wait_for_losers()
    assert told == ["host"]


def test_the_host_wins_and_the_device_is_stopped(monkeypatch):
    told = []
    slow_device(monkeypatch, told)
    solution = parity.solve(GAME, "race")
    assert solution.stats["solver"] == "host"
    assert agrees(GAME, solution)
    parity.wait_for_losers()
    assert told == ["device"]


def test_a_deadline_stops_both(monkeypatch):
    told = []
    slow_host(monkeypatch, told)
    slow_device(monkeypatch, told)
    solution = parity.solve(GAME, "race", progress=Deadline(0.1), throw=False)
    assert solution.status == Status.TIMEOUT
    assert set(solution.winner.tolist()) == {-1}
    assert sorted(told) == ["device", "host"]


def test_an_interrupt_stops_both(monkeypatch):
    told = []
    slow_host(monkeypatch, told)
    slow_device(monkeypatch, told)

    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(SolveError, match="INTERRUPTED") as caught:
        parity.solve(GAME, "race", progress=interrupt)
    assert sorted(told) == ["device", "host"]
    state = caught.value.solution.state  # the device's, to go on from
    assert agrees(GAME, parity.solve(GAME, state=state))


def test_an_engine_that_fails_leaves_the_race_to_the_other(monkeypatch):
    def broken(*args, **more):
        raise ZeroDivisionError

    monkeypatch.setattr(Parity, "in_race", broken)
    assert agrees(GAME, parity.solve(GAME, "race"))
    monkeypatch.setattr(Parity, "on_host", broken)
    with pytest.raises(ZeroDivisionError):
        parity.solve(GAME, "race")


def along(track, legs, **how):
    run = functools.partial(PROBLEM.in_race, track)
    return drive.along_legs(PROBLEM, GAME, legs, run=run, **how)


@pytest.mark.parametrize("player", [0, 1])
def test_what_the_host_decided_is_taken_over(player):
    expected = reference.solve(GAME)
    track = _shared.Shared()
    track.publish(GAME.shape[0])
    won = expected.winner == player
    track.winner[won] = player
    track.move[won] = expected.strategy[won]
    solution = along(track, [Leg(parity.PriorityPromotion())] * 2)
    assert solution.stats["taken_over"] == int(won.sum()) > 0
    assert agrees(GAME, solution)


def test_moves_that_are_taken_over_are_edges_of_the_arena():
    """The host has other ends for loops: no move may be one of these."""
    owner, priority = np.asarray(GAME.owner), np.asarray(GAME.priority)
    at = np.flatnonzero((owner ^ priority) & 1)
    src, dst = np.append(GAME.src, at), np.append(GAME.dst, at)
    arena = Arena.from_edges(src, dst, owner=owner, priority=priority)
    track = _shared.Shared()
    assert PROBLEM.on_host(arena, track=track).status == Status.SOLVED
    solution = PROBLEM.in_race(track, arena, parity.PriorityPromotion())
    assert solution.stats["taken_over"] == arena.shape[0]
    assert agrees(arena, solution)


def test_what_was_taken_over_is_handed_on():
    """A leg that follows knows it, and the solution has the host's moves."""
    expected = reference.solve(GAME)
    track = _shared.Shared()
    track.publish(GAME.shape[0])
    won = expected.winner == 1
    track.winner[won] = 1
    track.move[won] = expected.strategy[won]
    legs = [Leg(parity.PriorityPromotion(sweeps=1), 2), Leg(parity.InTurns())]
    solution = along(track, legs)
    assert solution.stats["tried"] == "promotion"
    assert solution.stats["taken_over"] == int(won.sum()) > 0
    assert agrees(GAME, solution)


def test_what_the_host_decides_meanwhile_is_taken_over(monkeypatch):
    """The host publishes between two chunks, and the device looks at once."""
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 2)
    expected = reference.solve(GAME)
    track = _shared.Shared(share_seconds=0.0)

    def meter(report):
        if report.rounds >= 6 and track.winner is None:
            won = expected.winner == 1
            track.publish(GAME.shape[0])
            track.move[won] = expected.strategy[won]
            track.winner[won] = 1

    solver = parity.PriorityPromotion(sweeps=1)
    solution = along(track, [Leg(solver)] * 2, progress=meter)
    assert solution.stats["taken_over"] == int((expected.winner == 1).sum())
    assert agrees(GAME, solution)


def test_dominions_that_leave_a_vertex_no_edge_are_not_taken_over():
    """Two halves of a region, each its own attractor, and a vertex between them."""
    # 0 and 1 are won by player 1 at once; 2 can go to either, and to nothing else.
    arena = Arena.from_edges(
        [0, 1, 2, 2], [0, 1, 0, 1], owner=[1, 1, 0], priority=[1, 3, 0]
    )
    assert not _shared._is_closed(arena, np.array([1, 1, -1], np.int8))
    assert _shared._is_closed(arena, np.array([1, -1, -1], np.int8))
    assert _shared._is_closed(arena, np.array([-1, 1, -1], np.int8))
    assert _shared._is_closed(arena, np.array([1, 1, 1], np.int8))


def test_half_a_dominion_is_not_taken_over():
    expected = reference.solve(GAME)
    track = _shared.Shared()
    track.publish(GAME.shape[0])
    won = np.flatnonzero(expected.winner == 0)
    track.winner[won[::2]] = 0
    solution = along(track, [Leg(parity.PriorityPromotion())] * 2)
    assert "taken_over" not in solution.stats
    assert agrees(GAME, solution)


# ---- legs ----------------------------------------------------------------------


def test_a_leg_that_spends_its_budget_is_followed_by_the_next():
    legs = [Leg(parity.PriorityPromotion(), 2), Leg(parity.Zielonka())]
    solution = drive.along_legs(PROBLEM, GAME, legs)
    assert solution.stats["tried"] == "promotion"
    assert solution.stats["solver"] == "zielonka"
    assert agrees(GAME, solution)


def test_legs_go_on_where_they_stopped():
    legs = [Leg(parity.PriorityPromotion(), 4), Leg(parity.Zielonka())]
    state, solution, limit = None, None, 0
    whole = drive.along_legs(PROBLEM, GAME, legs)
    while solution is None or solution.status != Status.SOLVED:
        limit += 3
        solution = drive.along_legs(PROBLEM, GAME, legs, state=state, max_steps=limit)
        state = solution.state
    assert np.array_equal(solution.strategy, whole.strategy)
    assert solution.stats["tried"] == "promotion"


def test_auto_goes_on_from_its_state():
    solution = parity.solve(GAME, max_steps=3, throw=False)
    assert solution.status == Status.MAX_STEPS
    assert agrees(GAME, parity.solve(GAME, state=solution.state))


def test_auto_takes_the_device_where_numba_is_missing(monkeypatch):
    monkeypatch.setattr(host, "can_compile", lambda: False)
    monkeypatch.setattr(host, "SMALL", 0)
    solution = parity.solve(SMALL)
    assert solution.stats["solver"] == "promotion"
    assert agrees(SMALL, solution)


def test_auto_solves_small_games_in_python_where_numba_is_missing(monkeypatch):
    monkeypatch.setattr(host, "can_compile", lambda: False)
    monkeypatch.setattr(host, "_has_llvm", lambda: False)
    monkeypatch.setattr(host, "_plain_left", 60.0)
    solution = parity.solve(SMALL)
    assert solution.stats["solver"] == "host"
    assert agrees(SMALL, solution)


def test_python_is_cut_off_where_a_compiler_pays(monkeypatch):
    calls = []

    def run(prepared, *, stop=None, **options):
        calls.append(type(stop))
        if isinstance(stop, host.Impatience):
            while not stop[0]:
                pass
            return engine.run(prepared, max_steps=1)
        return engine.run(prepared, **options)

    monkeypatch.setattr(_problem, "host", engines(run))
    monkeypatch.setattr(_problem, "attempted", lambda *_: None)
    monkeypatch.setattr(host, "_has_llvm", lambda: False)
    monkeypatch.setattr(host, "_is_made", lambda package: False)
    monkeypatch.setattr(host, "_plain_left", 0.02)
    assert agrees(SMALL, parity.solve(SMALL, "host"))
    assert calls[0] is host.Impatience is not calls[1]
    assert not host.is_plain(1)  # from now on machine code alone


def test_python_tells_where_it_stands_and_may_be_stopped(monkeypatch):
    def run(prepared, *, stop, **_):
        while not stop[0]:
            pass
        return engine.run(prepared, max_steps=1)

    monkeypatch.setattr(_problem, "host", engines(run))
    monkeypatch.setattr(_problem, "attempted", lambda *_: None)
    monkeypatch.setattr(host, "_has_llvm", lambda: False)
    monkeypatch.setattr(host, "_is_made", lambda package: False)
    monkeypatch.setattr(host, "_plain_left", 60.0)
    told = []

    def meter(report):
        told.append(report.solver)
        return Status.INTERRUPTED if len(told) > 1 else None

    solution = parity.solve(GAME, "host", progress=meter, throw=False)
    assert solution.status == Status.INTERRUPTED
    assert told == ["host", "host"]


def test_auto_races_for_large_games_on_an_accelerator(monkeypatch):
    monkeypatch.setattr(_problem.jax, "default_backend", lambda: "gpu")
    assert parity.place_for(SMALL) == "host"
    assert parity.place_for(generate.random_game(0, 120_000)) == "race"


def test_what_auto_takes_on_the_device():
    first, second = PROBLEM.legs(GAME)
    assert first.solver.name == "promotion"
    assert first.budget == 8 * (GAME.shape[0] + 8)
    assert (second.solver.name, second.budget) == ("promotion, tangles", None)


@pytest.mark.parametrize("place", ["host", "race"])
def test_limits_are_the_devices(place):
    with pytest.raises(ValueError, match="max_steps counts rounds of array programs"):
        parity.solve(SMALL, place, max_steps=5)


@pytest.mark.parametrize("place", ["host", "race"])
def test_a_traced_game_is_the_devices(place):
    with pytest.raises(ValueError, match="runs on the host, where a traced game cann"):
        jax.jit(lambda arena: parity.solve(arena, place))(SMALL)


def test_rounds_are_told():
    reports = []
    parity.solve(generate.hanoi(6), "fpi", progress=reports.append)
    assert all(isinstance(r.rounds, int) for r in reports)
    assert fixpoint.FIRST_CHUNK == 64


# ---- preprocessing by name -------------------------------------------------------

EVERY = ["self-loops", "compress", "propagate", "winning-cycles", "single-parity"]


@pytest.mark.parametrize("names", [[name] for name in EVERY] + [EVERY, ["chains"]])
def test_preprocessing_is_undone(names):
    for arena in odd_arenas(3, 20, 14):
        assert agrees(arena, parity.solve(arena, "host", preprocess=names))
        bare = parity.solve(arena, "host", preprocess=names, strategies=False)
        assert bare.strategy is None
        assert np.array_equal(bare.winner, reference.solve(arena).winner)


def test_preprocessing_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="must be a sequence of names"):
        parity.solve(SMALL, preprocess="compress")
    with pytest.raises(ValueError, match="reductions are .*; got 'shrink'"):
        parity.solve(SMALL, preprocess=["shrink"])
    with pytest.raises(ValueError, match="which a traced one cannot"):
        jax.jit(lambda arena: parity.solve(arena, preprocess=["compress"]))(SMALL)
