"""States in files: what is written is read again, and a killed solve goes on."""

import dataclasses
import functools
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

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
    mdp,
    meanpayoff,
    parity,
    states,
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
    games = [generate.recursive_ladder(2 + seed % 2) for seed in range(5)]
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
    early = SimpleNamespace(state=None, status=Status.MAX_STEPS, stats={})
    with pytest.raises(ValueError, match="has no state"):
        checkpoint.solve(path, lambda **_: early)


# ---- files that are damaged, or mean no good -----------------------------------------


class Point(NamedTuple):
    x: Any


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small file, and the state in it."""
    monkeypatch.setitem(states.CLASSES, states.name_of(Point), Point)
    path, state = tmp_path / "state", Point((np.arange(5, dtype=np.int16), 7, "a"))
    checkpoint.save(path, state)
    return path, state


def test_every_damage_is_seen(small):
    path, state = small
    whole = path.read_bytes()
    loaded = checkpoint.load(path, state)
    np.testing.assert_array_equal(loaded.x[0], state.x[0])
    assert loaded.x[1:] == (7, "a")
    damaged = [whole[:end] for end in range(len(whole))]
    damaged += [whole + b"\0", whole * 2, b"\0" + whole, b"text\n", b"\0" * 4096]
    for place in range(len(whole)):
        bit = 1 << place % 8
        damaged.append(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(checkpoint.DamagedError, match="state") as caught:
            checkpoint.load(path, state)
        assert str(path) in str(caught.value)
        assert isinstance(caught.value, ValueError)


def forged(path: Path, change) -> None:
    """Writes a file again with another header, and makes its checksum right."""
    whole = path.read_bytes()[:-32]
    start = len(checkpoint.MAGIC) + 8
    end = start + int.from_bytes(whole[start - 8 : start], "little")
    header = json.loads(whole[start:end])
    text = change(header)
    if not isinstance(text, bytes):
        text = json.dumps(header if text is None else text).encode()
    new = checkpoint.MAGIC + len(text).to_bytes(8, "little") + text + whole[end:]
    path.write_bytes(new + hashlib.sha256(new).digest())


def test_nothing_that_a_file_names_is_called(small):
    path, state = small
    hit = path.with_name("hit")
    for name in (
        "os:system", "jaxgames.checkpoint:save", "jaxgames.generate:random_game",
        "subprocess:run", "jaxgames.host:compiled", "builtins:eval", "", 3, None,
    ):  # fmt: skip

        def change(header, name=name):
            command = {"plain": f"touch {hit}"}
            header["structure"] = {"class": name, "parts": {"command": command}}

        checkpoint.save(path, state)
        forged(path, change)
        with pytest.raises(checkpoint.DamagedError, match="header is wrong"):
            checkpoint.load(path, state)
    assert not hit.exists()


def test_an_archive_of_another_kind_is_refused(tmp_path, solve):
    path = tmp_path / "state"
    begin = solve(max_steps=0, throw=False).state
    with path.open("wb") as file:
        np.savez(file, structure=np.array("{}"), begin=np.array([None], object))
    with pytest.raises(checkpoint.DamagedError, match="another version"):
        checkpoint.load(path, begin)
    path.write_bytes(checkpoint.MAGIC.replace(b"2", b"3") + bytes(100))
    with pytest.raises(checkpoint.DamagedError, match="another version"):
        checkpoint.load(path, begin)


def put(place, value):
    def change(header):
        header[place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("arrays", [["<i8", [2**60]]]),
        put("arrays", [["<i8", [2**40, 2**40]], ["<i8", [0]]]),
        put("arrays", [["<i8", [0, 2**62, 2**62]]]),
        put("arrays", [["<i8", [-1]]]),
        put("arrays", [["|O", [1]], ["<i8", []]]),
        put("arrays", [["V8", [1]]]),
        put("arrays", [["<U0", [10**9]]]),
        put("arrays", [["nothing", [1]]]),
        put("arrays", [["<i2", [True]]]),
        put("arrays", [[1, 2, 3]]),
        put("arrays", "many"),
        put("arrays", []),
        put("begin", 3),
        put("begin", [1, 2, 3]),
        put("structure", []),
        put("structure", {}),
        put("structure", {"dict": [1]}),
        put("structure", {"tuple": 4}),
        put("structure", {"unheard of": 4}),
        put("structure", {"class": "test_checkpoint:Point", "parts": {"y": 1}}),
        put("structure", {"class": "test_checkpoint:Point"}),
        put("structure", {"list": [{"array": None}] * 50}),
        lambda header: b"[" * 100_000,
        lambda header: b'{"list":[' * 100_000,
        lambda header: b"\xff",
        lambda header: [],
        lambda header: "header",
        lambda header: header.clear(),
    ],
)  # fmt: skip
def test_a_forged_header_is_a_value_error(small, change):
    path, state = small
    forged(path, change)
    with pytest.raises(ValueError, match="state"):
        checkpoint.load(path, state)


def test_text_where_integers_should_be(tmp_path):
    path, state = tmp_path / "state", [np.array([3**70], object)]
    checkpoint.save(path, state)
    whole = path.read_bytes()[:-32].replace("2503".encode("utf-32-le"), b"a\0\0\0" * 4)
    path.write_bytes(whole + hashlib.sha256(whole).digest())
    with pytest.raises(checkpoint.DamagedError, match="header is wrong"):
        checkpoint.load(path, state)


def test_arrays_of_other_shapes_than_the_solve_has(tmp_path, solve):
    path = tmp_path / "state"
    begin = solve(max_steps=0, throw=False).state
    wrong = begin._replace(state=jax.tree.map(lambda x: np.append(x, x), begin.state))
    checkpoint.save(path, wrong, begin)
    with pytest.raises(ValueError, match="other shapes"):
        solve(state=checkpoint.load(path, begin))


def test_another_version_is_refused(tmp_path, solve, monkeypatch):
    path = tmp_path / "state"
    monkeypatch.setattr(jaxgames, "__version__", "0.0.7")
    checkpoint.save(path, solve(max_steps=1, throw=False).state)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"written by version 0\.0\.7"):
        checkpoint.load(path, solve(max_steps=0, throw=False).state)


def test_another_solver_is_said(tmp_path, solve):
    path = tmp_path / "state"
    checkpoint.save(path, solve(max_steps=1, throw=False).state)
    game = generate.recursive_ladder(6)
    with pytest.raises(ValueError, match=r"another solver or options: FPI\(.*Zielonka"):
        checkpoint.solve(path, functools.partial(parity.solve, game, "zielonka"))


def test_the_last_two_states_are_kept(tmp_path, solve):
    path = tmp_path / "state"
    begin = solve(max_steps=0, throw=False).state
    for rounds in (5, 6, 7):
        checkpoint.save(path, solve(max_steps=rounds, throw=False).state, begin)
    assert sorted(os.listdir(tmp_path)) == ["state", "state.1"]
    assert _rounds_in(path, begin) == 7
    assert _rounds_in(tmp_path / "state.1", begin) == 6
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(checkpoint.DamagedError, match="damaged"):
        checkpoint.load(path, begin)
    reports = []

    def stop(report):
        reports.append(report.rounds)
        return Status.INTERRUPTED

    with pytest.warns(UserWarning, match="damaged.*the state before"):
        checkpoint.solve(path, solve, progress=stop, throw=False)
    assert reports == [6 + 50]
    # What is damaged has not taken the place of the good one.
    assert _rounds_in(path, begin) == 56
    assert _rounds_in(tmp_path / "state.1", begin) == 6
    path.unlink()
    with pytest.warns(UserWarning, match="is missing"):
        assert checkpoint.solve(path, solve).status == Status.SOLVED
    for name in ("state", "state.1"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(checkpoint.DamagedError, match="empty"):
        checkpoint.solve(path, solve)


def test_without_hard_links(tmp_path, monkeypatch):
    def none(*_):
        raise OSError("not on this kind of disk")

    monkeypatch.setattr(os, "link", none)
    path = tmp_path / "state"
    for number in range(3):
        checkpoint.save(path, [np.int32(number)])
    assert sorted(os.listdir(tmp_path)) == ["state", "state.1"]
    assert checkpoint.load(tmp_path / "state.1", [np.int32(0)])[0] == 1


def test_a_link_leads_to_the_file_that_is_replaced(tmp_path, solve):
    (tmp_path / "large").mkdir()
    path, file = tmp_path / "state", tmp_path / "large" / "kept"
    path.symlink_to(file)
    begin = solve(max_steps=0, throw=False).state
    for rounds in (5, 6):
        checkpoint.save(path, solve(max_steps=rounds, throw=False).state, begin)
    assert path.is_symlink()
    assert sorted(os.listdir(tmp_path / "large")) == ["kept", "kept.1"]
    assert _rounds_in(path, begin) == 6
    file.write_bytes(b"")
    with pytest.warns(UserWarning, match="empty.*the state before"):
        assert checkpoint.solve(path, solve).status == Status.SOLVED
    assert path.is_symlink()


def test_what_is_no_file_is_not_replaced(tmp_path, solve):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for kept in (path, tmp_path):
        with pytest.raises(ValueError, match="is a folder, a device or a pipe"):
            checkpoint.save(kept, [np.arange(3)])
        with pytest.raises(ValueError, match="is a folder, a device or a pipe"):
            checkpoint.solve(kept, solve)
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_what_needs_no_round_needs_no_state(tmp_path):
    model = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1], [1.0, 1.0])
    sure = functools.partial(mdp.reach_probability, model, [1])
    found = checkpoint.solve(tmp_path / "state", sure)
    assert found.status == Status.SOLVED
    assert found.lower.tolist() == [1, 1]
    assert not os.listdir(tmp_path)


def test_what_a_killed_save_has_left_is_removed(tmp_path):
    path = tmp_path / "state"
    program = (
        "import os, signal, sys; import numpy as np; from jaxgames import checkpoint\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "checkpoint.save(sys.argv[1], [np.arange(9)])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program, path], env=environment)
    assert not path.exists()
    (left,) = os.listdir(tmp_path)  # the second has removed what the first had left
    assert left.startswith(".state.")
    others = [".other" + left.removeprefix(".state"), "state.saving", ".state.npz.x"]
    others.append(checkpoint._prefix(path) + f"{os.getppid()}-x.saving")
    for name in others:
        (tmp_path / name).touch()
    checkpoint.save(path, [np.arange(9)])
    assert sorted(os.listdir(tmp_path)) == sorted(["state", *others])
