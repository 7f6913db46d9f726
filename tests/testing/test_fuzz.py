"""Differential fuzzing: that nothing is found, and that what is wrong is found."""

import dataclasses
import multiprocessing.util
import sys
import tempfile
from pathlib import Path

import broken
import numpy as np
import pytest

from jaxgames import Arena
from jaxgames.io import pgsolver
from jaxgames.parity import host as engine
from jaxgames.parity import reference
from jaxgames.testing import SLICES, _hard, fuzz
from jaxgames.testing import __main__ as command
from jaxgames.testing import _fuzz as fuzzing
from jaxgames.testing._fuzz import draw
from jaxgames.testing._labelled import labelled, smaller, snippet
from jaxgames.testing._shrink import shrink
from jaxgames.testing._subject import Cases, each

SLOW = (
    *("reference.spm", "reference.promotion", "reference.succinct"),
    *("promotion", "fpi", "spm", "alternating", "improvement"),
)
"""Checks of parity games that compile, or run, for seconds each."""


def test_processes_clear_away_what_is_there(pytestconfig):
    """Nothing is printed after the tests; a process of xdist clears nothing away."""
    shared = Path(multiprocessing.util.get_temp_dir())
    inside = Path(tempfile.gettempdir()) in shared.parents
    assert inside == hasattr(pytestconfig, "workerinput")


def quick(name: str) -> list[str]:
    """Checks of parity games without most of the array programs."""
    names = SLICES[name]().checks
    return [x for x in names if not x.startswith(SLOW) and x != "many"]


@pytest.mark.parametrize(("name", "games"), [("parity", 128), ("parity-edges", 64)])
def test_nothing_is_found_in_parity_games(name, games):
    summary = fuzz(SLICES[name], quick(name), games=games, seed=3, limit=None)
    assert summary.failure is None, summary.failure
    assert summary.games == games
    assert not summary.interrupted


@pytest.mark.sweep
@pytest.mark.parametrize("name", SLICES)
def test_nothing_is_found_at_length(name):
    summary = fuzz(SLICES[name], games=20_000, seconds=120)
    assert summary.failure is None, summary.failure


# ---- what is wrong is found, and made smaller --------------------------------------


def test_a_wrong_device_solver_is_caught_and_its_game_shrunk():
    summary = fuzz(broken.wrong_solver, games=5000, seed=5, limit=None)
    failure = summary.failure
    assert failure is not None
    assert (failure.subject, failure.check) == ("parity", "wrong")
    assert failure.complaint.startswith("winner 1 at vertex ")
    # Priorities are compressed: 5 needs 1 to 4 beside it, and its vertex has a choice.
    assert failure.case.arena.shape == (5, 6)
    original = draw(broken.wrong_solver(), 5, failure.index)
    assert original.arena.shape > failure.case.arena.shape


def test_a_wrong_strategy_is_caught():
    failure = fuzz(broken.wrong_moves, games=1000, seed=6, limit=None).failure
    assert failure is not None
    # A loop that player 1 loses, beside an edge that lets him win.
    arena = failure.case.arena
    assert arena.shape <= (2, 3)
    winner, strategy = broken.moves(arena)
    claim = dataclasses.replace(
        reference.solve(arena), winner=winner, strategy=strategy
    )
    assert not reference.verify(arena, claim)


def test_an_exception_is_a_failure_of_the_smallest_game():
    failure = fuzz(broken.raises, games=10, limit=None).failure
    assert failure is not None
    assert failure.case.arena.shape == (1, 1)
    assert failure.complaint == "ZeroDivisionError: by zero"


# ---- in processes of their own -----------------------------------------------------


@pytest.mark.parametrize(
    ("make", "limit"),
    [(broken.sleeps, 0.4), (broken.turns, 1.5)],  # who sleeps is waited for
    ids=["python", "xla"],
)
def test_what_does_not_end_is_reported_and_shrunk(make, limit, monkeypatch):
    monkeypatch.setattr(fuzzing, "QUICKER", limit / 3)
    summary = fuzz(make, games=64, limit=limit)
    failure = summary.failure
    assert failure is not None
    assert failure.complaint.startswith("it did not end within ")
    assert broken.loops(failure.case)
    original = draw(make(), 0, failure.index)
    assert failure.case.arena.shape < original.arena.shape


def test_a_crash_is_reported_and_shrunk():
    failure = fuzz(broken.dies, games=64, limit=20.0).failure
    assert failure is not None
    assert failure.complaint == "its process died: SIGSEGV"
    assert failure.case.arena.shape == (1, 1)


# ---- shrinking and printing --------------------------------------------------------


def test_shrinking_edge_priorities():
    case = draw(SLICES["parity-edges"](), 1, 17)
    raised = {"edge_priority": case.edge["edge_priority"] + 3}
    case = dataclasses.replace(case, edge=raised)

    def fails(cases):
        values = (len(np.unique(x.edge["edge_priority"])) >= 3 for x in cases)
        return next((i for i, bad in enumerate(values) if bad), None)

    small = shrink(case, smaller, fails)
    assert small.arena.shape == (1, 3)
    assert sorted(small.edge["edge_priority"]) == [0, 1, 2]
    assert not small.vertex["owner"].any()


def test_a_graph_may_lose_all_its_edges():
    case = labelled([0, 1], [1, 0], 2, edge={"weight": [-7, 2]}, total=False)
    small = shrink(case, smaller, lambda cases: 0 if cases else None)
    assert (small.size, len(small.src)) == (1, 0)


@pytest.mark.parametrize("name", SLICES)
def test_cases_are_made_from_their_numbers(name):
    subject = SLICES[name]()
    first, again, other = (subject.show(draw(subject, 2, n)) for n in (7, 7, 17))
    assert first == again != other


def test_a_game_is_printed_as_python():
    case = draw(SLICES["parity"](), 2, 7)
    made = eval(f"Arena.from_edges({snippet(case)})", {"Arena": Arena})
    np.testing.assert_array_equal(made.dst, case.arena.dst)
    np.testing.assert_array_equal(made.priority, case.arena.priority)


def test_interrupt_and_time():
    summary = fuzz(broken.interrupts, games=10, limit=None)
    assert (summary.games, summary.interrupted) == (0, True)
    # Each check is called once, whatever the time.
    summary = fuzz(broken.wrong_moves, [], games=64, seconds=0.0, limit=None)
    assert (summary.games, summary.interrupted) == (32, False)
    seen = []
    fuzz(
        broken.wrong_moves,
        [],
        games=70,
        limit=None,
        progress=lambda done, seconds: seen.append(done),
    )
    assert seen == [32, 64, 70]


def test_an_unknown_check_is_told():
    with pytest.raises(ValueError, match="no check of parity is called 'no-such'"):
        fuzz(SLICES["parity"], ["no-such"])


class TestCommand:
    def test_all_is_well(self, capsys):
        options = "--games 20 --slices parity --solvers reference.zielonka"
        assert command.main(options.split()) == 0
        out = capsys.readouterr().out
        assert out.startswith("parity: 20 cases in ")
        assert "reference.zielonka" in out

    def test_a_failure_is_written(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(command, "SLICES", {"parity": broken.wrong_moves})
        tmp_path /= "not there yet"
        assert command.main(["--seed", "6", "--output", str(tmp_path)]) == 1
        out = capsys.readouterr().out
        again = next(x for x in out.splitlines() if x.startswith("again: "))
        assert "--seed 6 --start " in again
        (file,) = tmp_path.iterdir()
        code = file.read_text().splitlines()[-2]
        assert code.startswith("arena = Arena.from_edges(")
        assert code in out
        # The line says how to see it again.
        options = again.partition("jaxgames.testing ")[2].split()
        assert command.main([*options, "--output", str(tmp_path)]) == 1
        assert code in capsys.readouterr().out

    def test_names(self, capsys):
        assert command.main(["--list"]) == 0
        out = capsys.readouterr().out
        assert "preprocess.chains" in out
        assert [line.partition(":")[0] for line in out.splitlines()] == list(SLICES)
        for wrong in (["--solvers", "no-such"], ["--slices", "no-such"]):
            with pytest.raises(SystemExit) as caught:
                command.main(wrong)
            assert caught.value.code == 2
            assert "is called 'no-such'" in capsys.readouterr().err


assert sys.modules["broken"] is broken  # pickled by this name


# ---- hard games --------------------------------------------------------------------


def test_hard_games_are_searched(tmp_path, capsys, monkeypatch):
    options = ["--hard", "14", "--games", "300", "--output", str(tmp_path)]
    assert command.main(options) == 0
    out = capsys.readouterr().out
    (file,) = tmp_path.iterdir()
    hardest = pgsolver.load(file)
    assert hardest.shape[0] <= 14
    assert hardest.shape[1] <= _hard.MOST_DEGREE * 14
    steps = engine.run(engine.prepare(hardest)).stats["steps"]
    assert out.startswith(f"parity: {steps} steps for the hardest game of up to 14 ")
    assert f"{file}: {steps} steps" in out
    monkeypatch.setattr(_hard, "complaint", lambda game: "it is wrong")
    assert command.main(options) == 1
    assert "it is wrong" in capsys.readouterr().out


def test_the_first_complaint_that_a_check_yields_counts():
    def check(case):
        yield None
        yield "it is odd" if case % 2 else None
        yield f"it is {case}"
        raise ValueError("looked at too much")

    assert each(check)(Cases([1, 2])) == ["it is odd", "it is 2"]
    assert each(lambda case: iter([None, None]))(Cases([1])) == [None]
