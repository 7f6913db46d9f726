"""States in files: what is written is read again, and a killed solve goes on."""

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import slow_solves

import jaxgames
from jaxgames import (
    Arena,
    Status,
    buchi,
    checkpoint,
    energy,
    fixpoint,
    generate,
    meanpayoff,
    parity,
)
from jaxgames.batch import stack
from jaxgames.progress import Report
from jaxgames.solution import SolveError

ROOT = Path(__file__).parent.parent

VICTIM = Path(__file__).with_name("slow_solves.py")


@pytest.fixture
def solve(monkeypatch):
    """A solve of 400 rounds, in chunks of 50."""
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 50)
    monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0)
    return functools.partial(parity.solve, generate.recursive_ladder(6), "fpi")


@pytest.mark.counts
@pytest.mark.parametrize("name", slow_solves.SOLVES)
def test_a_killed_solve_goes_on_from_its_last_interval(tmp_path, name, request):
    path, solve = tmp_path / "state.npz", slow_solves.SOLVES[name]()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, VICTIM, name, path]
    if request.config.getoption("--like-a-gpu"):
        command.append("--like-a-gpu")
    victim = subprocess.Popen(command, env=environment)
    begin = solve(max_steps=0, throw=False).state
    expected, seen = solve(), 0
    try:
        while seen < 3 and victim.poll() is None:
            time.sleep(0.02)
            if path.exists():
                seen = _rounds_in(path, begin)
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    assert seen >= 3
    assert victim.returncode == -signal.SIGKILL
    # At most one interval is lost, so that not all were made and some were kept.
    assert seen <= _rounds_in(path, begin) < np.max(expected.stats["rounds"])
    found = checkpoint.solve(path, solve)
    np.testing.assert_array_equal(found.stats["rounds"], expected.stats["rounds"])
    for field in dataclasses.fields(expected):
        if field.name not in ("state", "stats", "status"):
            x, y = getattr(found, field.name), getattr(expected, field.name)
            np.testing.assert_array_equal(x, y)


def _rounds_in(path: Path, begin) -> int:
    return slow_solves.rounds_of(checkpoint.load(path, begin))


def test_a_solve_that_is_stopped_leaves_its_state(tmp_path, solve):
    path = tmp_path / "state.npz"

    def stop(report):
        return Status.INTERRUPTED if report.rounds >= 100 else None

    with pytest.raises(SolveError, match="INTERRUPTED"):
        checkpoint.solve(path, solve, progress=stop)
    assert os.listdir(tmp_path) == ["state.npz"]
    reports = []
    found = checkpoint.solve(path, solve, progress=reports.append)
    assert reports[0].rounds == 150
    assert found.status == Status.SOLVED
    told = len(reports)
    again = checkpoint.solve(path, solve, progress=reports.append)
    assert len(reports) == told  # it was over
    np.testing.assert_array_equal(again.winner, found.winner)


def test_the_state_of_a_batch(tmp_path):
    path = tmp_path / "state.npz"
    games = stack([generate.random_game(seed, 7, max_degree=2) for seed in range(4)])
    many = functools.partial(jaxgames.solve_many, parity, games, "fpi", throw=False)
    begin, some = many(max_steps=0).state, many(max_steps=3).state
    checkpoint.save(path, some)
    loaded = checkpoint.load(path, begin)
    assert jax.tree.structure(loaded) == jax.tree.structure(some)
    for x, y in zip(jax.tree.leaves(loaded), jax.tree.leaves(some), strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(many(state=loaded).winner, many().winner)


def test_a_list_of_games(tmp_path, monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 20)
    monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0)
    path = tmp_path / "state.npz"
    games = [generate.recursive_ladder(3 + seed % 3) for seed in range(5)]
    games.append(generate.random_game(0, 400))  # another stack
    many = functools.partial(jaxgames.solve_many, parity, games, "fpi")
    reports = []

    def stop(report):
        reports.append(report)
        return Status.INTERRUPTED if len(reports) == 2 else None

    with pytest.raises(SolveError, match="INTERRUPTED"):
        checkpoint.solve(path, many, progress=stop)
    assert path.exists()
    found, expected = checkpoint.solve(path, many), many()
    assert found.status == Status.SOLVED
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.winner, other.winner)
        np.testing.assert_array_equal(one.strategy, other.strategy)
        assert one.stats["rounds"] == other.stats["rounds"]


def _changing(problem: str):
    """Solves whose state takes another form on the way."""
    if problem == "energy":  # the strategies of player 1 come last
        game = generate.random_energy_game(1, 60, max_weight=9)
        return functools.partial(energy.solve, game, "fvi"), 3
    if problem == "mean payoff":  # vertices are parted
        game = generate.random_energy_game(1, 20, max_weight=9)
        return functools.partial(meanpayoff.solve, game, "host"), 3
    rng = np.random.default_rng(3)
    arena = Arena.from_edges(
        *rng.integers(300, size=(2, 500)), accepting=rng.random(300) < 0.03,
        owner=np.zeros(300, bool), dead_ends="allow",
    )  # fmt: skip
    cycle = functools.partial(buchi.accepting_cycle, solver="map", initial=None)
    return functools.partial(cycle, arena), 1


@pytest.mark.counts
@pytest.mark.parametrize("problem", ["energy", "mean payoff", "cycles"])
def test_a_state_of_any_form_is_read_again(tmp_path, problem, habits_of_a_cpu):
    path = tmp_path / "state.npz"
    solve, early = _changing(problem)
    expected, begin = solve(), solve(max_steps=0, throw=False).state
    late = int(expected.stats["rounds"]) - 1
    for rounds in (early, max(early, late)):
        some = solve(max_steps=rounds, throw=False)
        assert some.status == Status.MAX_STEPS
        checkpoint.save(path, some.state, begin)
        found = solve(state=checkpoint.load(path, begin))
        assert found.status == Status.SOLVED
        assert repr(found) == repr(expected)
        for name in ("winner", "strategy", "credit", "value_num", "witness"):
            x, y = getattr(found, name, None), getattr(expected, name, None)
            if name == "witness":
                assert x == y
            else:
                np.testing.assert_array_equal(x, y)


def test_numbers_of_any_size_are_written(tmp_path):
    path = tmp_path / "state.npz"
    state = {"large": np.array([3**70, -1], object), "count": 7, "none": None}
    checkpoint.save(path, state)
    found = checkpoint.load(path, state)
    assert found["large"].tolist() == [3**70, -1]
    assert found["count"] == 7
    with pytest.raises(ValueError, match="function cannot be written"):
        checkpoint.save(path, {"f": lambda: None})


def test_rounds_longer_than_an_interval_come_to_an_end(tmp_path):
    took = []

    def solve(*, state=None, max_steps=None, throw, progress=None):
        """One round, of a second that it takes all at once."""
        del throw
        rounds = 0 if state is None else int(state)
        status = Status.MAX_STEPS
        if max_steps is None:
            stop = progress(Report("slow", rounds, 0.0))
            time.sleep(0.02)
            stop = stop or progress(Report("slow", rounds, 0.0))
            took.append(stop)
            status = Status.SOLVED if stop is None else stop
        stats = {"rounds": rounds}
        return SimpleNamespace(state=np.int32(rounds), status=status, stats=stats)

    found = checkpoint.solve(tmp_path / "state.npz", solve, every=0.001)
    assert found.status == Status.SOLVED
    assert took[0] == Status.TIMEOUT
    assert took[-1] is None


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    checkpoint.save(path, [np.arange(3)])

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        checkpoint.save(path, [np.arange(4)])
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["state.npz"]
    assert checkpoint.load(path, [np.arange(3)])[0].tolist() == [0, 1, 2]


def test_states_of_something_else_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    checkpoint.save(path, (np.zeros(3, np.int8), np.int32(1)))
    with pytest.raises(ValueError, match="state of another solve"):
        checkpoint.load(path, [np.zeros(3, np.int8), np.int32(1)])
    with pytest.raises(ValueError, match=r"array 0 is int8\[3\], expected int8\[4\]"):
        checkpoint.load(path, (np.zeros(4, np.int8), np.int32(1)))
    with pytest.raises(ValueError, match=r"array 1 is int32\[\], expected int16\[\]"):
        checkpoint.load(path, (np.zeros(3, np.int8), np.int16(1)))
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ValueError, match="holds no state"):
        checkpoint.load(path, np.zeros(3))
    with pytest.raises(ValueError, match="has no state"):
        checkpoint.solve(
            path, lambda **_: parity.solve(generate.random_game(0, 5), "host")
        )
