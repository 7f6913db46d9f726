"""States in files: what is written is read again, and a killed solve goes on."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import Status, checkpoint, fixpoint, generate, parity
from jaxgames.batch import stack
from jaxgames.solution import SolveError

ROOT = Path(__file__).parent.parent

VICTIM = """
import functools, sys, time
from jaxgames import checkpoint, fixpoint, generate, parity

fixpoint.FIRST_CHUNK, fixpoint.CHUNK_SECONDS = 1, 0
checkpoint.solve(
    sys.argv[1],
    functools.partial(parity.solve, generate.recursive_ladder(6), "fpi"),
    every=0.05,
    progress=lambda report: time.sleep(0.05),
)
"""
"""A solve of 400 rounds, each of which takes longer than a checkpoint's interval."""


@pytest.fixture
def solve(monkeypatch):
    """A solve of 400 rounds, in chunks of 50."""
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 50)
    monkeypatch.setattr(fixpoint, "CHUNK_SECONDS", 0)
    return functools.partial(parity.solve, generate.recursive_ladder(6), "fpi")


def test_a_killed_solve_goes_on_from_its_last_interval(tmp_path, solve):
    path = tmp_path / "state.npz"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, path], env=environment)
    begin = solve(max_steps=0, throw=False).state
    seen = 0
    try:
        while seen < 3 and victim.poll() is None:
            time.sleep(0.02)
            if path.exists():
                seen = int(checkpoint.load(path, begin).rounds)
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    assert seen >= 3
    assert victim.returncode == -signal.SIGKILL
    state = checkpoint.load(path, begin)
    # At most one interval is lost, so that not all were made and some were kept.
    assert seen <= state.rounds < 400
    found, expected = checkpoint.solve(path, solve), solve()
    assert found.stats["rounds"] == expected.stats["rounds"]
    np.testing.assert_array_equal(found.winner, expected.winner)
    np.testing.assert_array_equal(found.strategy, expected.strategy)


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


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    checkpoint.save(path, [np.arange(3)])

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
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
