"""The benchmarks' suite on many small games."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import batch, compare, peers, run  # noqa: E402
from benchmarks.schema import PeerRow, Results, Row  # noqa: E402
from jaxgames import Arena, parity  # noqa: E402


class Sequential:
    """A stand-in for another program: the reference, which takes a second a game."""

    name = "sequential"
    solvers = ("some",)
    wrong = False

    def only(self, solvers):
        return self

    def absent(self) -> str | None:
        return None

    def version(self) -> str:
        return "1"

    def save(self, folder: Path, arena: Arena) -> Path:
        return folder

    def run(self, file, arena, solver, time_limit_s):
        answer = np.asarray(parity.reference.solve(arena).winner)
        answer = 1 - answer if self.wrong else answer
        return peers.Run(None, 0.5, 1.0, answer)


class Wrong(Sequential):
    """Another one, which mistakes the players."""

    name, wrong = "wrong", True


def test_all_experiments_have_rows(tmp_path, capsys):
    options = run.Options(
        small=True, runs=1, scratch=tmp_path, results=tmp_path / "results",
        solvers=("auto",), peers=(Sequential(), Wrong()),
    )  # fmt: skip
    results = Results(suite="batch", machine={}, copy_bandwidth_gb_s=1.0)
    batch.run(options, results)
    rows = {(row.experiment, row.game, row.solver): row for row in results.rows}
    kinds = {row.experiment for row in results.rows}
    assert kinds == {"random", "list", "loop", "heavy tail"}
    assert {row.status for row in results.rows} == {"SOLVED"}
    for (_, name, _), row in rows.items():
        assert row.games == 60
        assert row.verified is True, name
        rounds = row.rounds, row.phases["most"], row.phases["sum"]
        if row.engine == "host":
            assert rounds == (0, 0, 0), name
        else:
            assert 0 < rounds[0] <= rounds[1] <= rounds[2], name
    games = "60 random parity games"
    assert rows["loop", f"{games} one by one", "promotion"].engine == "promotion"
    assert ("list", f"{games} in a list", "auto") in rows
    ours = {row.peer: row for row in results.peers if row.solver == "npp"}
    assert {name: row.agrees for name, row in ours.items()} == {
        "sequential": True,
        "wrong": False,
    }
    assert (ours["wrong"].games, ours["wrong"].solve_s) == (20, 20.0)
    assert ours["wrong"].preprocess_s == 10.0
    assert "list: 60 random parity games in a list: auto" in capsys.readouterr().out


def test_a_loop_ends_in_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(batch, "LOOP_SECONDS", 0)
    monkeypatch.setattr(batch, "LOOP_LOOKS", 4)
    options = run.Options(
        small=True, runs=1, scratch=tmp_path, results=tmp_path / "results",
        solvers=("none",), chosen=("parity",),
    )  # fmt: skip
    results = Results(suite="batch", machine={}, copy_bandwidth_gb_s=1.0)
    batch.run(options, results)
    (loop,) = (row for row in results.rows if row.experiment == "loop")
    assert loop.games == 4
    assert "loop" in capsys.readouterr().out


def test_a_ratio_is_for_each_game():
    about = {"vertices": 1, "edges": 1, "solver": "auto", "status": "SOLVED"}
    ours = Row(game="g", games=100, solve_s=2.0, **about)
    theirs = {"game": "g", "peer": "p", "solver": "s", "status": "ok", "solve_s": 1.0}
    assert compare.ratio(ours, PeerRow(**theirs, games=10)) == 0.2
    assert compare.ratio(ours, PeerRow(**theirs)) == 2.0
