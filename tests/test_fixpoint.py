"""The loop driver: limits, chunks, progress, interruption, resumption, traces."""

import dataclasses
import io
import logging
import subprocess
import sys
import threading
from typing import ClassVar, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, Status, energy, fixpoint, generate, graph, mdp, parity
from jaxgames.progress import Bar, Deadline, Report, as_progress
from jaxgames.solver import Registry, Solver


class Count(NamedTuple):
    value: jax.Array
    steps: jax.Array


@dataclasses.dataclass(frozen=True)
class Counter(Solver):
    """Counts up to `goal`; also counts the steps that found something to do."""

    goal: int = 100
    fails: bool = False

    name: ClassVar[str] = "counter"

    def init(self, game):
        return Count(jnp.int32(0), jnp.int32(0))

    def step(self, game, state):
        more = (state.value < self.goal).astype(jnp.int32)
        return Count(state.value + more, state.steps + more)

    def done(self, game, state):
        return state.value >= self.goal

    def answer(self, game, state):
        return state.value

    def overflow(self, state):
        return self.fails & (state.value > 10)


GAME = Arena.from_edges([0], [0], owner=[0])


@pytest.mark.parametrize("sweeps", [1, 3, 16])
@pytest.mark.parametrize("limit", [0, 1, 7, 50, 99, 100, 101, 1000])
def test_step_limit_is_exact(sweeps, limit):
    solver = Counter(sweeps_per_check=sweeps)
    outcome = fixpoint.run(solver, GAME, max_steps=limit)
    assert outcome.answer == min(limit, 100)
    assert outcome.status == (Status.SOLVED if limit >= 100 else Status.MAX_STEPS)
    assert outcome.rounds <= limit
    # Rounds beyond the end are those up to the next test.
    assert outcome.rounds <= -(-100 // sweeps) * sweeps


@pytest.mark.parametrize("sweeps", [1, 4])
def test_resumes_where_it_stopped(sweeps):
    solver = Counter(sweeps_per_check=sweeps)
    first = fixpoint.run(solver, GAME, max_steps=41)
    again = fixpoint.run(solver, GAME, first.carry, max_steps=60)
    assert (again.answer, again.rounds) == (60, 60)
    end = fixpoint.run(solver, GAME, again.carry)
    assert (end.answer, end.status) == (100, Status.SOLVED)


@pytest.mark.parametrize(
    ("count", "written"), [(1, 1), (2, 2), (4, 4), (7, 1), (9, 3), (12, 4), (16, 4)]
)
def test_many_steps_are_traced_few_times(count, written):
    traced = []

    def step(x):
        traced.append(x)
        return x + 1

    assert jax.jit(lambda x: fixpoint.repeat(count, step, x))(5) == 5 + count
    assert len(traced) == written


def test_overflow_is_a_status():
    outcome = fixpoint.run(Counter(fails=True), GAME)
    assert outcome.status == Status.OVERFLOW


@pytest.mark.parametrize("sweeps", [1, 4, 8, 15])
def test_iterate_under_jit_and_vmap(sweeps):
    def solve(limit):
        solver = Counter(sweeps_per_check=sweeps)
        carry = fixpoint.iterate(solver, GAME, fixpoint.start(solver, GAME), limit)
        return fixpoint.finish(solver, GAME, carry)

    outcome = jax.jit(jax.vmap(solve))(jnp.array([10, 200]))
    assert outcome.answer.tolist() == [10, 100]
    assert outcome.status.tolist() == [Status.MAX_STEPS, Status.SOLVED]


class TestProgress:
    def test_reports_grow(self, monkeypatch):
        monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 10)
        monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 1000)
        seen = []
        fixpoint.run(Counter(goal=200), GAME, progress=seen.append)
        assert [r.rounds for r in seen] == [10, 30, 70, 150]
        assert {r.solver for r in seen} == {"counter"}
        assert sorted(r.seconds for r in seen) == [r.seconds for r in seen]

    def test_slow_chunks_do_not_grow(self, monkeypatch):
        monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 10)
        monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0.0)
        seen = []
        fixpoint.run(Counter(goal=45), GAME, progress=seen.append)
        assert [r.rounds for r in seen] == [10, 20, 30, 40]

    def test_a_returned_status_stops(self):
        outcome = fixpoint.run(
            Counter(goal=10**6), GAME, progress=lambda report: Status.TIMEOUT
        )
        assert outcome.status == Status.TIMEOUT
        assert outcome.answer == fixpoint.FIRST_CHUNK

    def test_interruption_keeps_the_state(self):
        def interrupt(report):
            if report.rounds > 500:
                raise KeyboardInterrupt

        outcome = fixpoint.run(Counter(goal=10**6), GAME, progress=interrupt)
        assert outcome.status == Status.INTERRUPTED
        assert outcome.answer == outcome.rounds > 500
        end = fixpoint.run(Counter(goal=10**6), GAME, outcome.carry)
        assert (end.answer, end.status) == (10**6, Status.SOLVED)

    def test_deadline(self):
        with pytest.raises(ValueError, match="must be a positive number"):
            Deadline(0)
        seen = []
        outcome = fixpoint.run(
            Counter(goal=2**30), GAME, progress=Deadline(0.05, seen.append)
        )
        assert outcome.status == Status.TIMEOUT
        assert seen[-1].rounds == outcome.rounds
        assert Deadline(1000)(Report("x", 1, 1.0)) is None

    def test_bar(self):
        stream = io.StringIO()
        bar = Bar(stream, patience=1.0)
        bar(Report("spm", 10, 0.5))
        assert stream.getvalue() == ""
        bar(Report("spm", 4000, 2.0))
        bar.close()
        assert "spm: 4,000 rounds, 2.0 s, 2,000 rounds/s" in stream.getvalue()
        assert stream.getvalue().endswith("\n")

    def test_meter_is_closed_however_it_ends(self):
        class Meter:
            closed = 0

            def __call__(self, report):
                raise RuntimeError("a meter may fail")

            def close(self):
                self.closed += 1

        meter = Meter()
        with pytest.raises(RuntimeError):
            fixpoint.run(Counter(goal=1000), GAME, progress=meter)
        assert meter.closed == 1

    def test_what_may_be_passed(self):
        assert isinstance(as_progress(True), Bar)
        assert as_progress(False)(Report("x", 1, 1.0)) is None
        with pytest.raises(ValueError, match="progress must be a bool or callable"):
            as_progress("yes")


def test_one_trace_serves_every_limit_and_resumption():
    @dataclasses.dataclass(frozen=True)
    class Traced(Counter):
        name: ClassVar[str] = "traced"

        @chex.assert_max_traces(n=2)  # the loop body with many sweeps and with one
        def step(self, game, state):
            return Counter.step(self, game, state)

    solver = Traced(goal=1000, sweeps_per_check=1)
    for limit in (5, 50, None):
        fixpoint.run(solver, GAME, max_steps=limit)
    fixpoint.run(solver, GAME, fixpoint.run(solver, GAME, max_steps=9).carry)


class TestRegistry:
    registry = Registry("counting", Counter)

    def test_names(self):
        assert list(self.registry) == ["counter"]
        assert self.registry["counter"] is Counter
        assert self.registry.resolve("auto") == Counter()
        assert self.registry.resolve(Counter(goal=3)).goal == 3

    def test_unknown_name_lists_the_known(self):
        with pytest.raises(
            ValueError, match="'counters'.*; there are 'counter', 'auto'"
        ):
            self.registry.resolve("counters")

    def test_foreign_solver(self):
        with pytest.raises(ValueError, match="a name or a counting solver"):
            self.registry.resolve(3)

    @pytest.mark.parametrize("sweeps", [0, -1, 2.5])
    def test_bad_options(self, sweeps):
        with pytest.raises(ValueError, match="sweeps_per_check must be"):
            Counter(sweeps_per_check=sweeps)


def test_sweeps_hide_the_test_on_an_accelerator(monkeypatch):
    small = Arena.from_edges(range(100), range(100), owner=np.zeros(100, int))
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert fixpoint.default_sweeps(small) == 1
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert fixpoint.default_sweeps(small) == 16


def test_a_solver_from_outside_is_taken():
    @dataclasses.dataclass(frozen=True)
    class Mine(Counter):
        name: ClassVar[str] = "mine"

    assert TestRegistry.registry.resolve(Mine(goal=2)).goal == 2


# ---- parts of calls ----------------------------------------------------------------


def test_a_part_that_ends_early_is_no_answer(monkeypatch):
    solver = Counter(sweeps_per_check=1)
    assert fixpoint.completed(solver, GAME).value == 100
    inside = jax.jit(lambda game: fixpoint.completed(solver, game).value)
    assert inside(GAME) == 100
    _interrupt_second_chunk(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        fixpoint.completed(solver, GAME)


SIZE = 60
CHAIN = Arena.from_edges(
    range(SIZE),
    [*range(1, SIZE), SIZE - 1],
    owner=[0] * SIZE,
    priority=range(0, 2 * SIZE, 2),
    weight=[-1] * (SIZE - 1) + [0],
)
MODEL = mdp.MDP.from_arrays(range(SIZE + 1), range(SIZE + 1), CHAIN.dst)

PARTS = {
    "reachable": lambda: graph.reachable(CHAIN, [0], engine="device"),
    "attractor": lambda: graph.attractor(CHAIN, [SIZE - 1], 0, engine="device"),
    "prob0": lambda: mdp.prob0(MODEL, [SIZE - 1], engine="device"),
    "prob1": lambda: mdp.prob1(MODEL, [SIZE - 1], engine="device"),
    "parity": lambda: parity.verify(CHAIN, parity.solve(CHAIN, "host"), "trimming"),
    "energy": lambda: energy.verify(CHAIN, energy.solve(CHAIN, "host"), "device"),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_is_found_until_an_interrupt_is_not_taken_for_all(monkeypatch, part):
    ask = PARTS[part]
    ask()
    _interrupt_second_chunk(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        ask()


def _interrupt_second_chunk(monkeypatch):
    calls, chunk = [], fixpoint._chunk

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return chunk(*arguments)

    monkeypatch.setattr(fixpoint, "_chunk", interrupted)
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0)


def test_what_is_compiled_ahead_is_not_compiled_again(monkeypatch, caplog):
    monkeypatch.setattr(fixpoint, "backend", lambda: "gpu")
    game = generate.random_energy_game(3, 177)
    jax.config.update("jax_log_compiles", True)  # in all threads
    try:
        with caplog.at_level(logging.WARNING, "jax"):
            found = energy.solve(game, energy.FVI(sweeps_per_check=3))
    finally:
        jax.config.update("jax_log_compiles", False)
    assert energy.verify(game, found)
    assert np.any(found.winner == 1)
    compiled = [x for x in caplog.records if "Finished XLA" in x.getMessage()]
    for program in "start", "_chunk":
        by = [x.threadName for x in compiled if f"jit({program})" in x.getMessage()]
        # For the credits, and for the moves of player 1.
        assert len(by) == 2, program
        assert threading.current_thread().name not in by


def test_python_ends_no_sooner_than_a_compilation_that_nobody_waits_for():
    code = """
import atexit, dataclasses, threading, time

events = {}
atexit.register(lambda: print({x: over.is_set() for x, over in events.items()}))

import jax.numpy as jnp
from jaxgames import Arena, fixpoint, limits
from jaxgames.solver import Solver

@dataclasses.dataclass(frozen=True)
class Ends(Solver):
    name = "ends"
    def init(self, game): return jnp.int32(0)
    def step(self, game, state): return state + 1
    def done(self, game, state): return state > 0
    def answer(self, game, state): return state

def begin_late(work):
    threading.Thread(target=lambda: (time.sleep(0.5), work()), daemon=True).start()

fixpoint.backend = lambda: "gpu"
limits.in_another_thread = begin_late
fixpoint._begun = lambda form: events
fixpoint.compile_ahead(Ends(), Arena.from_edges([0], [0], owner=[0]))
assert fixpoint.is_compiling()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "{'beginning': True, 'rounds': True}\n"
