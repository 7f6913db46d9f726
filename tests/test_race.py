"""Races of engines: the first wins, the others stop, and nothing is lost."""

import dataclasses
import os
import signal
import threading
import time
from typing import Any

import pytest

from jaxgames import Solution, Status, generate, limits, parity
from jaxgames.drive import _race as race
from jaxgames.drive import _solve as drive_solve


@dataclasses.dataclass(frozen=True, eq=False)
class Found(Solution):
    name: Any = None


def ends(name, status=Status.SOLVED, after=0.0):
    def engine():
        time.sleep(after)
        return Found(status, name=name)

    return engine


def until_stopped(track, name, stopped=None):
    """An engine that never finishes by itself."""

    def engine():
        while not track.stop[0]:
            time.sleep(0.001)
        if stopped is not None:
            stopped.append(name)
        return Found(Status.INTERRUPTED, name=name)

    return engine


def fails():
    raise ArithmeticError("no engine")


def test_the_first_wins_and_the_loser_is_stopped():
    track, stopped = race.Track(), []
    engines = {"a": until_stopped(track, "a", stopped), "b": ends("b")}
    solution = race.first(track, engines)
    assert (solution.name, solution.status) == ("b", Status.SOLVED)
    race.wait_for_losers()
    assert stopped == ["a"]


@pytest.mark.parametrize("last", [None, "a", "b"])
def test_the_last_word_is_that_bounds_come_no_nearer(last):
    track = race.Track()
    engines = {
        "a": ends("a", Status.PRECISION),
        "b": ends("b", Status.PRECISION if last == "b" else Status.SOLVED, 0.2),
    }
    solution = race.first(track, engines, prefer="a", last=last)
    assert solution.name == ("a" if last == "a" else "b")


def test_who_waits_is_not_waited_for():
    track = race.Track()
    began = time.perf_counter()
    track.wait(0.02)
    assert 0.02 <= time.perf_counter() - began < 10

    def late():
        track.wait(60)
        return Found(Status.INTERRUPTED, name="late")

    assert race.first(track, {"late": late, "b": ends("b")}).name == "b"
    race.wait_for_losers()
    assert time.perf_counter() - began < 30


def test_the_loser_is_not_waited_for():
    track, release = race.Track(), threading.Event()

    def deaf():
        release.wait(30)
        return Found(Status.SOLVED, name="deaf")

    try:
        assert race.first(track, {"deaf": deaf, "b": ends("b")}).name == "b"
    finally:
        release.set()
    race.wait_for_losers()


def test_a_limit_of_one_engine_does_not_end_the_race():
    engines = {"a": ends("a", Status.MAX_STEPS), "b": ends("b", after=0.1)}
    assert race.first(race.Track(), engines).name == "b"


@pytest.mark.parametrize("prefer", ["a", "b"])
def test_where_none_finishes_the_preferred_one_answers(prefer):
    engines = {
        "a": ends("a", Status.MAX_STEPS),
        "b": ends("b", Status.OVERFLOW, after=0.05),
    }
    solution = race.first(race.Track(), engines, prefer=prefer)
    assert solution.name == prefer
    assert solution.status == {"a": Status.MAX_STEPS, "b": Status.OVERFLOW}[prefer]


@pytest.mark.parametrize("prefer", ["a", "b"])
def test_a_meter_ends_the_race(prefer):
    track, reports = race.Track(), []

    def meter(report):
        reports.append(report)
        return Status.TIMEOUT if len(reports) == 2 else None

    engines = {name: until_stopped(track, name) for name in ("a", "b")}
    solution = race.first(track, engines, progress=meter, prefer=prefer)
    assert (solution.name, solution.status) == (prefer, Status.TIMEOUT)
    assert [report.solver for report in reports] == ["a and b", "a and b"]
    assert reports[0].seconds < reports[1].seconds


def test_an_interrupt_ends_the_race():
    track = race.Track()

    def meter(report):
        raise KeyboardInterrupt

    solution = race.first(track, {"a": until_stopped(track, "a")}, progress=meter)
    assert (solution.name, solution.status) == ("a", Status.INTERRUPTED)


def test_a_failing_meter_stops_the_engines():
    track, stopped = race.Track(), []

    def meter(report):
        raise LookupError("no meter")

    with pytest.raises(LookupError):
        race.first(track, {"a": until_stopped(track, "a", stopped)}, progress=meter)
    race.wait_for_losers()
    assert stopped == ["a"]


def test_a_failure_matters_only_if_nobody_answers():
    engines = {"a": fails, "b": ends("b", after=0.05)}
    assert race.first(race.Track(), engines).name == "b"
    with pytest.raises(ArithmeticError):
        race.first(race.Track(), {"a": fails})
    with pytest.raises(ValueError, match="needs an engine"):
        race.first(race.Track(), {})


def test_the_track_stops_a_device():
    from jaxgames.progress import Report

    track = race.Track()
    assert track.meter(Report("x", 7, 0.0)) is None
    assert track.rounds == 7
    track.stop[0] = 1
    assert track.meter(Report("x", 8, 0.0)) == Status.INTERRUPTED


@pytest.mark.parametrize(
    ("how", "at_once"),
    [
        ({}, True),
        ({"progress": lambda report: None}, True),
        ({"deadline": 60}, True),
        ({"deadline": 0.5}, False),
        ({"memory": 1 << 40}, False),
    ],
)
def test_what_ends_soon_takes_no_thread_of_its_own(how, at_once, monkeypatch):
    """Unless it may have to be stopped before."""
    taken = []

    def first(*given, **more):
        taken.append(given)
        return race.first(*given, **more)

    monkeypatch.setattr(drive_solve, "first", first)
    game = generate.random_game(1, 50)
    with limits.within(**how):
        found = parity.solve(game, "host")
    assert parity.verify(game, found)
    assert bool(taken) != at_once


def test_what_has_no_bound_takes_a_thread_where_it_may_be_ended():
    assert race.is_short(5, 10, ends=False)
    with limits.within(progress=lambda report: None):
        assert not race.is_short(5, 10, ends=False)
        assert race.is_short(5, 10, ends=True)
        assert not race.is_short(10, 10, ends=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_child_has_threads_of_its_own():
    """A child of a process that has raced waits for none of its parent's threads."""
    track = race.Track()
    race.first(track, {"a": ends(1), "b": until_stopped(track, 2)})
    child = os.fork()
    if not child:
        track = race.Track()
        engines = {"a": ends(3), "b": until_stopped(track, 4)}
        right = not race.some_run()
        os._exit(0 if right and race.first(track, engines).name == 3 else 1)
    for _ in range(1000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child waits for ever")
    assert os.waitstatus_to_exitcode(status) == 0
