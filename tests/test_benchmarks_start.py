"""The suite of whole processes: they run, and end as they should."""

import os
from types import SimpleNamespace

import pytest
from benchmark_results import options, results, row

from benchmarks import plots, run, start, starting
from benchmarks.peers import Oink
from jaxgames import generate, io

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


def test_large_games_have_a_table_and_a_plot_of_their_own():
    elapsed = {"experiment": start.ELAPSED, "verified": True}
    rows = [
        row("jaxgames small", "process", None, call_s=0.5, verified=True),
        row("jaxgames large", "process", None, call_s=0.7, **elapsed),
        row("oink large", "process", None, call_s=1.6, **elapsed),
        row("oink huge", "process", None, call_s=9.0, **elapsed | {"verified": False}),
    ]
    made = results("start", rows)
    first, second = starting.section(made).split("process on a large game")
    assert "jaxgames small" in first
    assert "large" not in first
    assert "jaxgames large` | 10 | 20 | 700 ms" in second
    assert "oink large` | 10 | 20 | 1.60 s" in second
    assert "small" not in second
    assert "huge" not in second
    Figure = pytest.importorskip("matplotlib.figure").Figure
    figure = Figure()
    assert plots._draw_elapsed(figure, made)
    (axes,) = figure.axes
    assert [x.get_text() for x in axes.get_yticklabels()] == [
        "oink large",
        "jaxgames large",
    ]
    dots = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert dots == {"jaxgames": [[0.7, 1.0]], "Oink": [[1.6, 0.0]]}


def test_large_games_run_where_there_is_an_accelerator(monkeypatch):
    options = SimpleNamespace(
        peers=[], small=False, chosen=None, wants_game=lambda name, group: True
    )
    monkeypatch.setattr(start.jax, "default_backend", lambda: "cpu")
    assert not start._of_large(options)
    options.chosen = ["*random6*"]
    assert len(start._of_large(options)) == len(start.LARGE)
    options.chosen = None
    monkeypatch.setattr(start.jax, "default_backend", lambda: "gpu")
    assert {x.experiment for x in start._of_large(options)} == {start.ELAPSED}


def test_the_plot_holds_what_ended_as_it_should(tmp_path):
    """In the order of the table, each in the colour of its program."""
    Figure = pytest.importorskip("matplotlib.figure").Figure
    rows = [
        row(start.NUMPY, "process", None, call_s=0.2, verified=True),
        row("jaxgames x", "process", None, call_s=0.5, first_call_s=1.0, verified=True),
        row("oink x", "process", None, call_s=0.1, verified=True),
        row("jaxgames y", "process", None, call_s=9.0, verified=False),
    ]
    made = results("start", rows)
    figure = Figure()
    assert plots._draw_starts(figure, made)
    (axes,) = figure.axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert lines == {
        "Python": [[0.2, 2]],
        "jaxgames": [[0.5, 1]],
        "Oink": [[0.1, 0]],
        "the very first one": [[1.0, 1]],
    }
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["oink x", "jaxgames x", start.NUMPY]
    assert not plots._draw_starts(Figure(), results("start", rows[3:]))

    assert "![" not in starting.section(made, tmp_path)
    plots.plot([made], tmp_path / "assets")
    (drawn,) = (tmp_path / "assets").iterdir()
    assert f"(assets/{drawn.name})" in starting.section(made, tmp_path)


def test_the_suite_is_known():
    assert start.SUITE in run.SUITES


def test_a_folder_of_games_beside_a_loop(tmp_path, monkeypatch):
    """Of the peer all processes count, and one that fails is no result."""
    corpus, programs, scratch = (tmp_path / x for x in ("corpus", "bin", "scratch"))
    for folder in (corpus / "some", programs, scratch):
        folder.mkdir(parents=True)
    for name in ("a.pg.gz", "b.pg.gz"):
        io.save(corpus / "some" / name, generate.elevator(2))
    oink, asked = programs / "oink", tmp_path / "asked"
    oink.write_text(f'#!/bin/sh\necho "$@" >> {asked}\ntest "$1" != --zlk\n')
    oink.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    made = results("start")
    peers = (Oink(("npp", "zlk --no")),)
    chosen = options(scratch, chosen=("*2 files",), runs=1, corpus=corpus, peers=peers)
    start.run(chosen, made)
    ours, loop, failed = made.rows
    assert (ours.game, ours.verified) == ("jaxgames solve --jsonl, 2 files", True)
    assert (loop.game, loop.verified) == ("a loop of oink --npp, 2 files", True)
    assert not failed.verified
    lines = asked.read_text().splitlines()
    assert lines[:2] == [f"--npp {corpus}/some/{name}.pg.gz" for name in "ab"]
    assert f"--zlk --no {corpus}/some/a.pg.gz" in lines
