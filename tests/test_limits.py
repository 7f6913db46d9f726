"""Limits of time and memory: what ends, when, and what is told."""

import contextlib
import inspect
import io
import pickle
import re
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    SolveError,
    Status,
    TooLargeError,
    buchi,
    energy,
    equivalence,
    generate,
    graph,
    limits,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    solve_many,
)
from jaxgames.progress import Bar, Deadline, as_progress

LONG = 60.0
"""Seconds that nothing here may take; what waits does so for ever otherwise."""

SOON = 20.0
"""Seconds in which a call has come back that has a limit of a fraction of one: far more
than it takes on a machine that does much else."""

GAME = Arena.from_edges(
    [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2], weight=[1, 0, 0, 1]
)


@contextlib.contextmanager
def ends_soon():
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < SOON


@limits.limited()
def counting(seconds=LONG, *, progress=None, deadline=None, memory=None):
    """A long loop that ticks."""
    del progress, deadline, memory
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(0.01)
        limits.tick("counting", 3, "numbers")
    return "counted"


@limits.limited()
def deaf(released, *, progress=None, deadline=None, memory=None):
    """Work that cannot be stopped."""
    del progress, deadline, memory
    released.wait(LONG)


@pytest.fixture
def released():
    """Ends what was let go, after a test."""
    event = threading.Event()
    yield event
    event.set()


# ---- time ------------------------------------------------------------------------


def test_a_loop_that_ticks_ends():
    with ends_soon(), pytest.raises(SolveError, match="while counting") as caught:
        counting(deadline=0.1)
    assert caught.value.status == Status.TIMEOUT
    assert "the time limit of 0.1 s was reached" in str(caught.value)


def test_what_cannot_be_stopped_is_let_go(released):
    with ends_soon(), pytest.raises(limits.LimitError):
        deaf(released, deadline=0.1)


def test_without_limits_nothing_is_another_thread():
    here = []

    @limits.limited()
    def where(*, progress=None, deadline=None, memory=None):
        here.append(threading.current_thread())

    where()
    where(progress=lambda report: None)
    with limits.within():
        where()
    assert here == [threading.current_thread()] * 3
    where(deadline=LONG)
    assert here[3] != threading.current_thread()
    before = len(here)
    where(deadline=LONG)  # in the same thread as before
    assert here[before] == here[3]


def test_nested_limits_hold_together():
    with ends_soon(), pytest.raises(limits.LimitError), limits.within(deadline=LONG):
        counting(deadline=0.1)
    with ends_soon(), limits.within(deadline=0.1), pytest.raises(limits.LimitError):
        counting(deadline=LONG)
    with (
        ends_soon(),
        pytest.raises(limits.LimitError, match="0.1 s"),
        limits.within(deadline=0.1),
        limits.within(deadline=LONG),
    ):
        counting()
    assert limits.current() is None


def test_what_is_in_time_is_what_it_was():
    assert counting(0.01, deadline=LONG, memory=1 << 40) == "counted"
    plain = parity.solve(GAME)
    limited = parity.solve(GAME, deadline=LONG)
    np.testing.assert_array_equal(plain.winner, limited.winner)
    np.testing.assert_array_equal(plain.strategy, limited.strategy)


def test_errors_are_those_of_the_work():
    with pytest.raises(ValueError, match="no parity solver is called"):
        parity.solve(GAME, "nobody", deadline=LONG)


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_limits_are_positive(wrong):
    with pytest.raises(ValueError, match="deadline must be a positive number"):
        parity.solve(GAME, deadline=wrong)
    with pytest.raises(ValueError, match="memory must be a positive number"):
        parity.solve(GAME, memory=wrong)


def test_nothing_is_limited_under_tracing():
    def winner(arena, **options):
        return parity.solve(arena, **options).winner

    with pytest.raises(ValueError, match="deadline and memory are kept by the host"):
        jax.jit(lambda arena: winner(arena, deadline=1.0))(GAME)
    with limits.within(deadline=LONG):
        found = jax.jit(winner)(GAME)
    assert found.tolist() == parity.solve(GAME).winner.tolist()


def test_jax_settings_of_the_caller_hold():
    @limits.limited()
    def kind(*, deadline=None, memory=None):
        return jnp.arange(3).dtype

    assert kind(deadline=LONG) == kind() == jnp.int32
    with jax.enable_x64(True):
        assert kind(deadline=LONG) == kind() == jnp.int64
    assert kind(deadline=LONG) == jnp.int32


def test_errors_survive_pickling():
    with pytest.raises(limits.LimitError) as caught:
        counting(deadline=0.05)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status) == (str(caught.value), Status.TIMEOUT)


# ---- every entry point -----------------------------------------------------------

MODEL = mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0])
ENERGIES = multienergy.Game.from_arrays([0, 1], [0], [0], [[-1]], defender=[False])
MARKED = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], accepting=[1, 0])

SOLVES = {
    "parity": (parity.solve, GAME),
    "energy": (energy.solve, GAME),
    "energy, capacity": (
        lambda x, **how: energy.solve_with_capacity(x, 5, **how),
        GAME,
    ),
    "mean payoff": (meanpayoff.solve, GAME),
    "mean payoff, decided": (lambda x, **how: meanpayoff.decide(x, 1, **how), GAME),
    "components": (graph.scc, GAME),
    "end components": (mdp.mec, MODEL),
    "accepting cycle": (buchi.accepting_cycle, MARKED),
    "Büchi game": (buchi.solve, MARKED),
    "several energies": (multienergy.solve, ENERGIES),
}


ENTRIES = [
    *(parity.certificate, parity.verify, energy.decide, energy.verify),
    *(energy.verify_with_capacity, meanpayoff.verify, multienergy.verify),
    *(graph.verify, graph.reachable, graph.attractor, graph.condensation),
    *(graph.explore, mdp.reach_probability, mdp.prob0, mdp.prob1, mdp.verify),
    *(mdp.almost_sure_reach, mdp.almost_sure_buchi, mdp.quotient, buchi.translate),
    *(buchi.product, buchi.explore_product, buchi.accepting_cycle_of, buchi.verify),
    *(equivalence.compare, equivalence.compare_many, equivalence.compare_weak),
    *(equivalence.compare_many_weak, equivalence.spectrum, equivalence.relation),
    *(equivalence.bisimulation, equivalence.build, solve_many),
]


@pytest.fixture
def stuck(monkeypatch):
    """Work that is handed to another thread never begins."""
    monkeypatch.setattr(limits, "_hand_over", lambda work: None)


@pytest.mark.parametrize("name", SOLVES)
def test_solves_that_are_stuck_come_back_undecided(name, stuck):
    solve, game = SOLVES[name]
    with ends_soon():
        found = solve(game, throw=False, deadline=0.1)
    assert found.status == Status.TIMEOUT
    assert repr(found)
    assert found.stats["solver"] == "none"
    for field in ("winner", "strategy", "labels", "state_label", "witness"):
        assert np.all(getattr(found, field, -1) == -1)
    with ends_soon(), pytest.raises(SolveError) as caught:
        solve(game, deadline=0.1)
    assert caught.value.solution.status == Status.TIMEOUT


def test_a_state_is_handed_back(stuck):
    partial = parity.solve(GAME, "fpi", max_steps=0, throw=False)
    found = parity.solve(GAME, "fpi", state=partial.state, throw=False, deadline=0.1)
    assert found.state is partial.state


@pytest.mark.parametrize("entry", ENTRIES)
def test_entry_points_that_are_stuck_raise(entry, stuck):
    """They never see their arguments."""
    with ends_soon(), pytest.raises(limits.LimitError):
        entry("whatever", deadline=0.1)
    taken = inspect.signature(entry).parameters
    assert {"deadline", "memory", "progress"} <= set(taken)


# ---- solves that go on for ever --------------------------------------------------


def waits_for(stop):
    """An engine of a host that only ends when it is told to."""
    assert stop is not None, "nobody could end it"
    end = time.perf_counter() + LONG
    while not stop[0] and time.perf_counter() < end:
        time.sleep(0.001)
    raise RuntimeError("told to stop")


@pytest.mark.parametrize(
    ("where", "solve", "game"),
    [
        ("energy.reference.solve", energy.solve, GAME),
        ("graph.reference.scc", graph.scc, GAME),
        ("mdp.reference.mec", mdp.mec, MODEL),
    ],
)
def test_engines_of_small_games_can_be_ended(where, solve, game, monkeypatch):
    monkeypatch.setattr(
        f"jaxgames.{where}", lambda *_, stop=None, **__: waits_for(stop)
    )
    told = []

    def meter(report):
        told.append(report)
        return Status.INTERRUPTED if len(told) > 2 else None

    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        solve(game, "host", progress=meter)
    assert len(told) == 3
    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        solve(game, "host", deadline=0.1)


def test_small_games_of_several_energies_can_be_ended(monkeypatch):
    from jaxgames.multienergy import _host

    def engine(game, track=None):
        waits_for(None if track is None else track.stop)

    monkeypatch.setattr(_host, "run_host", engine)
    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        multienergy.solve(ENERGIES, "host", deadline=0.1)


def test_what_is_known_between_two_chunks_is_kept():
    with limits.within(deadline=LONG) as limit:

        def meter(report):
            limit.stop = Status.TIMEOUT  # as if the time were over now

        hard = generate.jurdzinski(3, 5)
        found = parity.solve(hard, "spm", throw=False, progress=meter)
    assert found.status == Status.TIMEOUT
    assert found.state is not None
    assert parity.solve(hard, "spm", state=found.state).status == Status.SOLVED


# ---- memory ----------------------------------------------------------------------


def test_a_process_that_grows_ends():
    kept = []

    @limits.limited()
    def growing(*, deadline=None, memory=None):
        for _ in range(100):
            kept.append(np.ones(1 << 21))
            limits.tick("growing")
            time.sleep(0.02)

    with ends_soon(), pytest.raises(TooLargeError, match="exceeded .* while growing"):
        growing(memory=1 << 27)


def test_room_is_asked_for_before_it_is_taken():
    limits.check_room(1 << 60, "all of it")  # no limit, nobody knows
    with limits.within(memory=1 << 30):
        limits.check_room(1 << 20, "a little")
        with pytest.raises(TooLargeError, match="too much takes about"):
            limits.check_room(1 << 50, "too much")


@pytest.mark.parametrize("solver", ["fpi", "spm"])
def test_solves_do_not_take_more_than_they_may(solver):
    game = generate.random_game(1, 20_000)
    with pytest.raises(TooLargeError, match="GB are free|memory limit is exceeded"):
        parity.solve(game, solver, memory=100_000)
    assert parity.solve(GAME, solver, memory=1 << 40).status == Status.SOLVED


# ---- what is told ----------------------------------------------------------------


def test_phases_are_told(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    told = []
    counting(0.5, progress=told.append)
    assert told
    for report in told:
        assert (report.solver, report.rounds, report.unit) == ("counting", 3, "numbers")


def test_a_meter_may_end_any_phase(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    with ends_soon(), pytest.raises(limits.LimitError) as caught:
        counting(progress=lambda report: Status.INTERRUPTED)
    assert caught.value.status == Status.INTERRUPTED
    with ends_soon(), pytest.raises(limits.LimitError) as caught:
        counting(progress=Deadline(0.1))
    assert caught.value.status == Status.TIMEOUT


def test_a_bar_is_redrawn_while_nothing_is_told(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    stream = io.StringIO()
    with limits.within(progress=Bar(stream, patience=0.1)):
        limits.say("compiling")
        time.sleep(1.0)
    lines = stream.getvalue().split("\r")
    assert len(lines) >= 2
    assert re.fullmatch(r"compiling: \d+\.\d s *\n", lines[-1])


def test_a_report_is_told_once():
    told = []
    with limits.within(progress=told.append):
        meter = as_progress(as_progress(None))
        outer = as_progress(lambda report: meter(report))  # as solves of solves do
        outer(limits.Report("x", 1, 1.0))
        parity.solve(GAME, "fpi")
    assert [report.rounds for report in told] == [1]


def test_solvers_tell_what_surrounds_them():
    told = []
    with limits.within(progress=told.append):
        parity.solve(generate.jurdzinski(5, 10), "spm", max_steps=1000, throw=False)
    rounds = [report.rounds for report in told if report.solver == "spm"]
    assert rounds
    assert rounds == sorted(rounds)
