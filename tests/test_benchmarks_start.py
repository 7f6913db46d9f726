"""The suite of whole processes: they run, and end as they should."""

import pytest
from benchmark_results import options, results, row

from benchmarks import run, start, starting

QUICK = [start.NUMPY, "jaxgames --version", "jaxgames solve tiny.pg --verify"]


@pytest.mark.parametrize("name", QUICK)
def test_processes_are_timed(tmp_path, name):
    made = results("start")
    start.run(options(tmp_path, chosen=(name,), runs=1), made)
    (found,) = made.rows
    assert found.game == name
    assert found.verified
    assert found.call_s is not None
    assert found.call_s > 0
    assert len(found.call_runs) == 1
    assert (found.vertices > 0) == ("tiny" in name)
    assert not list(tmp_path.iterdir())


def test_another_exit_code_is_no_result(tmp_path, monkeypatch):
    wrong = start.Command("jaxgames solve nothing.pg", ("solve", "nothing.pg"), 0)
    monkeypatch.setattr(start, "COMMANDS", (wrong,))
    made = results("start")
    start.run(options(tmp_path, runs=1), made)
    assert not made.rows[0].verified


def test_commands_of_other_programs_are_left_out_where_these_are_not(monkeypatch):
    monkeypatch.setattr(start.shutil, "which", lambda name: None)
    assert all(start._program(x) is None for x in start.COMMANDS if x.peer)
    assert all(start._program(x) for x in start.COMMANDS if not x.peer)


def test_the_table_holds_all_against_numpy():
    rows = [
        row(start.NUMPY, "process", None, call_s=0.2, first_call_s=0.2, verified=True),
        row("jaxgames x", "process", None, call_s=0.5, first_call_s=1.0, verified=True),
        row("jaxgames y", "process", None, call_s=0.5, verified=False),
    ]
    text = starting.section(results("start", rows))
    assert "| 500 ms | 1.00 s | 2.50 |" in text
    assert "jaxgames y" not in text


def test_the_suite_is_known():
    assert start.SUITE in run.SUITES
