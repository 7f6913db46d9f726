import argparse
import bz2
import contextlib
import dataclasses
import gc
import gzip
import importlib
import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import jaxgames
from jaxgames import (
    Arena,
    cli,
    fixpoint,
    generate,
    io,
    limits,
    ops,
    parity,
    plot,
    progress,
)
from jaxgames.cli import Exit, _oink, _parser, main
from jaxgames.progress import Report, as_progress
from jaxgames.solution import Status

# Even reaches the even loop from the cycle of 0 and 1; only vertex 3 is Odd's. When odd
# priorities are Even's, the cycle and vertex 3 are, and only the other loop is not.
GAME = """\
parity 3;
0 0 0 1,2 "start, here";
1 1 1 0;
2 2 1 2;
3 3 1 3;
"""
SOLUTION = "paritysol 3;\n0 0 2;\n1 0;\n2 0;\n3 1 3;\n"


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")


@pytest.fixture
def game(tmp_path):
    (tmp_path / "game.pg").write_text(GAME)
    return "game.pg"


@pytest.fixture
def run(capsys):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def spawn(*arguments, stdout=subprocess.PIPE, code=("-m", "jaxgames"), **environment):
    """Starts a command as a process of its own."""
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    return subprocess.Popen(
        [sys.executable, *code, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root, **environment},
    )


# ---- solve -------------------------------------------------------------------


def test_solve_tells_what_it_does(run, game):
    code, out, err = run("solve", game, "--verify", "-s", "zielonka")
    assert (code, err) == (Exit.DONE, "")
    seconds = r" +\d+\.\d{3} s"
    lines = [
        rf"  load{seconds}  4 vertices, 5 edges, 4 priorities",
        rf"  prepare{seconds}",
        rf"  compile{seconds}  zielonka, layout csr",
        rf"  solve{seconds}  \d+ rounds",
        rf"  verify{seconds}  valid",
        r"game.pg: player 0 wins 3, player 1 wins 1",
    ]
    assert re.fullmatch("\n".join(lines) + "\n", out), out


def test_host_engine_is_not_compiled_for_a_game(run, game):
    code, out, err = run("solve", game, "--verify", "-s", "host")
    assert (code, err) == (Exit.DONE, "")
    seconds = r" +\d+\.\d{3} s"
    lines = [
        rf"  load{seconds}  4 vertices, 5 edges, 4 priorities",
        rf"  prepare{seconds}",
        rf"  solve{seconds}  host, \d+ steps",
        rf"  verify{seconds}  valid",
        r"game.pg: player 0 wins 3, player 1 wins 1",
    ]
    assert re.fullmatch("\n".join(lines) + "\n", out), out


@pytest.mark.parametrize("solver", ["auto", "host", "host-tangles", "race", "rtl"])
def test_places_by_name(run, game, solver):
    facts = json.loads(run("solve", game, "-s", solver, "--json", "--winners")[1])
    assert facts["winner"] == [0, 0, 0, 1]


def test_preprocessing(run, game, tmp_path):
    names = "self-loops,compress,winning-cycles"
    code, out, err = run(
        "solve", game, "--preprocess", names, "-v", "-q", "-o", "game.sol"
    )
    assert (code, err) == (Exit.DONE, "")
    assert run("verify", game, "game.sol")[0] == Exit.DONE
    code, out, err = run("solve", game, "--preprocess", "compress,shrink")
    assert code == Exit.BAD_INPUT
    assert "no reduction is called 'shrink'; there are self-loops, compress" in err


def test_without_strategies(run, game):
    code, out, err = run("solve", game, "--no-strategies", "--json", "--winners")
    facts = json.loads(out)
    assert (code, facts["winner"]) == (Exit.DONE, [0, 0, 0, 1])
    assert "successor" not in facts
    for option in ("-v", "-o=game.sol"):
        code, out, err = run("solve", game, "--no-strategies", option)
        assert code == Exit.BAD_INPUT
        assert "needs the strategies that --no-strategies leaves out" in err


def test_edge_priorities(run, tmp_path):
    arena = generate.hanoi(3)
    io.save(
        "game.npz",
        dataclasses.replace(
            arena, priority=None, edge_priority=arena.priority[arena.src]
        ),
    )
    code, out, err = run("solve", "game.npz", "--verify", "-q", "--json")
    assert (code, err) == (Exit.DONE, "")
    assert json.loads(out)["verified"]
    assert "priorities" in run("info", "game.npz")[1]


def test_json(run, game):
    code, out, err = run("solve", game, "--json", "--winners", "-v", "-s", "zielonka")
    facts = json.loads(out)
    rounds, seconds = facts.pop("rounds"), facts.pop("seconds")
    assert (code, err) == (Exit.DONE, "")
    assert facts == {
        "schema": 1,
        "version": jaxgames.__version__,
        "command": "solve",
        "file": "game.pg",
        "vertices": 4,
        "edges": 5,
        "priorities": 4,
        "status": "solved",
        "solver": "zielonka",
        "stats": facts["stats"],
        "layout": "csr",
        "cells": facts["cells"],
        "steps": None,
        "won": [3, 1],
        "undecided": 0,
        "verified": True,
        "winner": [0, 0, 0, 1],
        "successor": [2, -1, -1, 3],
    }
    assert facts["stats"]["rounds"] == rounds > 0
    assert list(seconds) == ["load", "prepare", "compile", "solve", "verify"]
    assert all(value >= 0 for value in seconds.values())


def test_json_without_more(run, game):
    facts = json.loads(run("solve", game, "--json")[1])
    assert facts["verified"] is None
    assert not {"winner", "successor"} & set(facts)


@pytest.mark.parametrize("solver", list(parity.SOLVERS))
def test_every_solver_by_name(run, game, solver):
    facts = json.loads(run("solve", game, "-s", solver, "--json", "--winners")[1])
    assert (facts["solver"], facts["winner"]) == (solver, [0, 0, 0, 1])


def test_condition(run, game):
    facts = run("solve", game, "--condition", "max odd", "--json", "--winners")[1]
    assert json.loads(facts)["winner"] == [0, 0, 1, 0]
    assert json.loads(facts)["successor"] == [1, -1, 2, -1]


def test_dead_ends(run, tmp_path):
    (tmp_path / "dead.pg").write_text("parity 1;\n0 1 1 0,1;\n1 1 0;\n")
    code, out, err = run("solve", "dead.pg")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err == (
        "jaxgames: dead.pg:3: vertex 1 has no successor; pass --dead-ends lose if its "
        "owner loses there\n"
    )
    code, out, _ = run("solve", "dead.pg", "--dead-ends", "lose", "--json", "--winners")
    assert (code, json.loads(out)["winner"]) == (Exit.DONE, [1, 1])


@pytest.mark.parametrize("name", ["game.sol", "game.sol.gz"])
def test_solution_file(run, game, tmp_path, name):
    assert run("solve", game, "-q", "-o", name) == (Exit.DONE, "", "")
    opener = gzip.open if name.endswith(".gz") else open
    with opener(tmp_path / name, "rt") as file:
        assert file.read() == SOLUTION
    assert run("verify", game, name) == (Exit.DONE, f"{name}: valid\n", "")


def test_pictures_show_names_and_regions(run, game, tmp_path):
    args = ("solve", game, "-q", "--dot", "game.dot", "--draw", "game.svg")
    assert run(*args) == (Exit.DONE, "", "")
    solution = parity.solve(io.load(game))
    names = ["start, here", None, None, None]
    dot = (tmp_path / "game.dot").read_text()
    assert dot == plot.to_dot(io.load(game), solution, names=names)
    assert "start, here" in dot
    assert "start, here" in (tmp_path / "game.svg").read_text()


def test_pictures_of_a_format_without_names(run, game, tmp_path):
    run("convert", game, "game.npz")
    code, _, err = run("solve", "game.npz", "-q", "--dot", "game.dot")
    assert (code, err) == (Exit.DONE, "")
    assert (tmp_path / "game.dot").read_text().startswith("digraph")


def test_progress_is_for_terminals(run, game, monkeypatch):
    meters = []
    monkeypatch.setattr(progress, "Bar", lambda: meters.append("bar"))
    run("solve", game)
    assert meters == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    run("solve", game, "-q")
    assert meters == []
    run("solve", game)
    assert meters == ["bar"]


# ---- solve, not to the end ---------------------------------------------------


def test_step_limit(run, game, tmp_path):
    code, out, err = run("solve", game, "--max-steps", "0", "-v", "-o", "game.sol")
    assert code == Exit.UNSOLVED
    assert out.endswith("player 0 wins 0, player 1 wins 0, 4 are undecided\n")
    assert "verify" not in out
    assert err == (
        "jaxgames: game.pg: not solved: the limit of 0 rounds was reached; try other "
        "solvers (-s)\n"
        "jaxgames: game.sol: not written, no vertex is decided\n"
    )
    assert not (tmp_path / "game.sol").exists()


def test_time_limit(run, game, monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    status = limits.Limits.status

    def over_while_solving(self):
        late = self.phase.startswith("solving by") and self.end < np.inf
        return Status.TIMEOUT if late else status(self)

    monkeypatch.setattr(limits.Limits, "status", over_while_solving)
    code, out, err = run("solve", game, "--timeout", "1e9", "--json", "-s", "fpi")
    facts = json.loads(out)
    assert code == Exit.UNSOLVED
    assert (facts["status"], facts["undecided"]) == ("timeout", 4)
    assert err == (
        "jaxgames: game.pg: not solved: the limit of 1e+09 s was reached after 1 "
        "round; try other solvers (-s)\n"
    )


@pytest.mark.counts
def test_what_is_decided_is_written_and_called_incomplete(
    run, game, tmp_path, habits_of_a_cpu
):
    args = (
        "solve",
        game,
        "-s",
        "promotion",
        "--max-steps",
        "2",
        "-q",
        "-o",
        "part.sol",
    )
    code, out, err = run(*args)
    assert (code, out) == (Exit.UNSOLVED, "")
    lines = (tmp_path / "part.sol").read_text().splitlines()
    left_out = 5 - len(lines)
    assert 0 < left_out < 4
    assert f"part.sol: incomplete, without {left_out} undecided vertices" in err
    assert all(line[:3] in SOLUTION for line in lines)
    code, out, _ = run("verify", game, "part.sol")
    assert code == Exit.WRONG
    assert out == "part.sol: vertex 0: its winner is neither 0 nor 1\n"


def test_wrong_answer_is_not_written(run, game, tmp_path, monkeypatch):
    solve = parity.solve

    def wrong(*args, **options):
        solution = solve(*args, **options)
        return dataclasses.replace(solution, winner=np.zeros(4, np.int8))

    monkeypatch.setattr(parity, "solve", wrong)
    code, out, err = run("solve", game, "-v", "-o", "game.sol", "--draw", "game.svg")
    assert code == Exit.UNVERIFIED
    assert "WRONG" in out
    assert "game.pg: the answer is wrong, nothing is written: vertex 3: its" in err
    assert [path.name for path in tmp_path.iterdir()] == ["game.pg"]
    code, out, _ = run("solve", game, "-v", "--json")
    assert (code, json.loads(out)["verified"]) == (Exit.UNVERIFIED, False)


def test_interrupt(tmp_path):
    # Exponentially many rounds for Zielonka's recursion: it would not end by itself.
    io.save("ladder.pg", generate.recursive_ladder(40))
    process = spawn("solve", "ladder.pg", "-s", "zielonka", "-o", "ladder.sol")
    for line in process.stdout:
        if "compile" in line:
            break
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()  # if it goes on, it does so for ever
    assert process.returncode == Exit.INTERRUPTED
    assert "Traceback" not in out + err
    assert "interrupted" in err
    assert not (tmp_path / "ladder.sol").exists()


def test_an_interrupt_while_a_text_is_executed_has_the_code_of_all(tmp_path):
    """Python notes that one, as of dataclasses that are made, and ends by a signal."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'jaxgames.cli._solve':\n"
        "            exec('os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass')\n"
        "sys.meta_path.insert(0, Interrupts())\n"
    )
    paths = [str(tmp_path), *sys.path]
    found = subprocess.run(
        [sys.executable, "-m", "jaxgames", "solve", "none.pg"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert (found.returncode, found.stderr) == (130, "jaxgames: interrupted\n")


def test_an_interrupt_that_python_dropped(run, game, monkeypatch):
    """As in a callback of its garbage collector: the next look at the meter ends it."""
    solve = parity.solve

    def interrupted(*args, **options):
        solution = solve(*args, **options)
        if options["max_steps"] == 0:
            return solution
        progress, report = as_progress(None), Report("zielonka", 1, 0.1)
        assert progress(report) is None
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return dataclasses.replace(solution, status=progress(report))

    monkeypatch.setattr(parity, "solve", interrupted)
    before = signal.getsignal(signal.SIGINT)
    code, _, err = run("solve", game, "-s", "zielonka")
    assert code == Exit.INTERRUPTED
    assert re.search(r"interrupted after \d+ rounds", err)
    assert signal.getsignal(signal.SIGINT) == before


def test_an_interrupt_in_a_callback_of_the_garbage_collector(run, game, monkeypatch):
    solve, hook = parity.solve, sys.unraisablehook

    def interrupt(phase, info):
        gc.callbacks.remove(interrupt)
        signal.raise_signal(signal.SIGINT)

    def interrupted(*args, **options):
        solution = solve(*args, **options)
        if options["max_steps"] == 0:
            return solution
        gc.callbacks.append(interrupt)
        gc.collect()  # prints what the callback raises, and drops it
        status = as_progress(None)(Report("zielonka", 1, 0.1))
        return dataclasses.replace(solution, status=status)

    monkeypatch.setattr(parity, "solve", interrupted)
    code, _, err = run("solve", game, "-s", "zielonka")
    assert code == Exit.INTERRUPTED
    assert err.count("\n") == 1
    assert re.search(r"interrupted after \d+ rounds", err)
    assert sys.unraisablehook is hook


def test_interrupt_while_compiling(run, game, monkeypatch):
    solve = parity.solve

    def interrupted(*args, **options):
        assert options["max_steps"] == 0, "the solve went on"
        solution = solve(*args, **options)
        return dataclasses.replace(solution, status=Status.INTERRUPTED)

    monkeypatch.setattr(parity, "solve", interrupted)
    code, out, err = run("solve", game, "-s", "zielonka")
    assert (code, err) == (Exit.INTERRUPTED, "jaxgames: interrupted\n")
    assert "player" not in out


# ---- verify ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (("0 0 2;", "0 0 1;"), "vertex 1: the other player wins a cycle through it"),
        (("0 0 2;", "0 0;"), "vertex 0: its owner wins it, but has no strategy there"),
        (("2 0;", "2 1 2;"), "vertex 0: its winner's strategy leads to a vertex that"),
        (("3 1 3;\n", ""), "vertex 3: its winner is neither 0 nor 1"),
    ],
)
def test_verify_tells_what_is_wrong_where(run, game, tmp_path, change, wrong):
    (tmp_path / "game.sol").write_text(SOLUTION.replace(*change))
    code, out, err = run("verify", game, "game.sol")
    assert (code, err) == (Exit.WRONG, "")
    assert out.startswith(f"game.sol: {wrong}")
    assert run("verify", game, "game.sol", "-q") == (Exit.WRONG, "", "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("paritysol 3;\n0 0 2;\n1 0\n", 4),
        ("paritysol 3;\n0 0 2;\n0 0 2;\n", 3),
        ("paritysol 9;\n0 0 2;\n9 0;\n", 3),
        ("paritysol 3;\n0 0 3;\n", 2),
        ("paritysol 3;\n0 2;\n", 2),
    ],
)
def test_solution_files_that_are_none(run, game, tmp_path, text, line):
    (tmp_path / "game.sol").write_text(text)
    code, out, err = run("verify", game, "game.sol")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith(f"jaxgames: game.sol:{line}: ")


# ---- the other commands ------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("solve game.pg --jsno=1", "--jsno=1 (did you mean '--json'?) (see jaxgames"),
        ("--stats solve game.pg", "--stats (--stats belongs behind the command)"),
        ("generate laddr 5 -o x.pg", "invalid choice: 'laddr' (did you mean 'ladder'"),
        ("generate ladder 5 -o x.pg --quite", "--quite (did you mean '--quiet'?)"),
        ("solve game.pg -s zielonk", "is called 'zielonk' (did you mean 'zielonka'?)"),
        (
            "solve game.pg -s tl",
            "'tl': it is one of Oink's (did you mean 'host-tangles'?)",
        ),
        ("solve game.pg -s rrdp", "it is one of Oink's (did you mean 'promotion'?)"),
        (
            "solve game.pg --preprocess selfloops",
            "'selfloops' (did you mean 'self-loops'?)",
        ),
        ("equiv x.aut --notion bisim", "'bisim' (did you mean 'bisimulation'?)"),
    ],
)
def test_what_was_meant(run, game, line, message):
    code, out, err = run(*line.split())
    assert (code, out, err.count("\n")) == (Exit.BAD_INPUT, "", 1)
    assert message in err


@pytest.mark.parametrize("name", [*_oink.ALIASES, "fpi", "spm"])
def test_names_of_oinks(run, game, name):
    """Those that Oink has for the same algorithms, as options too."""
    ours = _oink.ALIASES.get(name, name)
    for option in (("-s", name), (f"--{name}",)):
        code, out, err = run("solve", game, *option, "--json", "--verify")
        facts = json.loads(out)
        assert (code, err, facts["solver"]) == (Exit.DONE, "", ours)
        assert facts["won"] == [3, 1]


def test_relatives_of_solvers_are_there():
    assert {*_oink.RELATIVES.values(), *_oink.ALIASES.values()} <= {
        *parity.SOLVERS, *parity.SOLVERS.places
    }  # fmt: skip
    assert not {*_oink.RELATIVES, *_oink.ALIASES} & {*parity.SOLVERS, "auto"}


def test_solvers(run):
    code, out, err = run("solvers")
    assert (code, err) == (Exit.DONE, "")
    for name in parity.SOLVERS:
        about = inspect.getdoc(parity.SOLVERS[name]).splitlines()[0]
        assert re.search(rf"^{name} +{re.escape(about)}$", out, re.M)
    for name in ("auto", *parity.SOLVERS.places):
        assert re.search(rf"^{name} +\w+", out, re.M)
    assert "parity.Zielonka(sweeps_per_check=1, strategies=True, sweeps=None)" in out
    assert all(name in out for name in parity.preprocess.REDUCTIONS)
    assert "Reductions, for --preprocess, in any order:" in out


def test_info(run, game):
    code, out, err = run("info", game)
    assert (code, err) == (Exit.DONE, "")
    assert out.splitlines()[:6] == [
        f"game.pg: 4 vertices, 5 edges, 4 priorities, {len(GAME)} bytes",
        "  owners      player 0: 1, player 1: 3",
        "  priority    0 to 3, 4 distinct, 4 after merging neighbours of one parity",
        "  out degree  1 to 2, mean 1.25",
        "  in degree   1 to 2, mean 1.25",
        "  self loops  2",
    ]
    place = parity.place_for(io.load(game))
    assert f"solver      {'promotion' if place == 'device' else place} (auto)" in out


def test_quiet_info_says_by_its_exit_code_what_can_be_read(run, game):
    Path("bad.pg").write_text("parity 1;\n0 3 0 1;\n1 2 7 0;\n")
    assert run("info", game, "-q") == (Exit.DONE, "", "")
    assert run("info", game, game, "-q") == (Exit.DONE, "", "")
    code, out, err = run("info", game, "bad.pg", "--quiet")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith("jaxgames: bad.pg:3: ")


def test_info_for_programs(run, game, monkeypatch):
    monkeypatch.setattr(parity, "place_for", lambda arena: "device")
    facts = json.loads(run("info", game, "--json")[1])
    game_on_device = parity.prepare(io.load(game))[1]
    assert facts == {
        "schema": 1,
        "version": jaxgames.__version__,
        "command": "info",
        "file": "game.pg",
        "status": "solved",
        "seconds": {},
        "verified": None,
        "bytes": len(GAME),
        "vertices": 4,
        "edges": 5,
        "owners": [1, 3],
        "out_degree": {"min": 1, "max": 2, "mean": 1.25},
        "in_degree": {"min": 1, "max": 2, "mean": 1.25},
        "self_loops": 2,
        "priority": {
            "min": 0,
            "max": 3,
            "mean": 1.5,
            "distinct": 4,
            "compressed": 4,
        },
        "layout": {
            "name": "csr",
            "cells": ops.num_cells(game_on_device),
            "bytes": facts["layout"]["bytes"],
            "backend": facts["layout"]["backend"],
        },
        "solver": facts["solver"],
    }
    assert facts["layout"]["bytes"] >= game_on_device.dst.nbytes
    monkeypatch.setattr(parity, "place_for", lambda arena: "host")
    there = json.loads(run("info", game, "--json")[1])
    assert there == {k: x for k, x in facts.items() if k != "layout"} | {
        "solver": "host"
    }


def test_info_counts_priorities_that_count(run):
    for priorities, merged in (([0, 2, 4], 1), ([7, 2, 3, 8, 11], 4), ([], 0)):
        size = len(priorities)
        loops = Arena.from_edges(
            range(size), range(size), owner=[0] * size, priority=priorities
        )
        io.save("loops.npz", loops)
        told = json.loads(run("info", "loops.npz", "--json")[1])["priority"]
        distinct = {"distinct": size, "compressed": merged}
        assert told.items() >= distinct.items()
        assert merged == len({*parity.prepare(loops)[0].priority.tolist()})


def test_info_of_other_games(run):
    io.save(
        "energy.npz", Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[5, -7])
    )
    code, out, _ = run("info", "energy.npz")
    assert (code, "priority" in out) == (Exit.DONE, False)
    assert out.startswith("energy.npz: 2 vertices, 2 edges, ")
    code, _, err = run("solve", "energy.npz")
    assert code == Exit.BAD_INPUT
    assert err.startswith("jaxgames: energy.npz: this is not a parity game")


def test_info_of_the_empty_game(run):
    io.save("empty.npz", Arena.from_edges([], [], owner=[], priority=[]))
    code, out, _ = run("info", "empty.npz")
    assert code == Exit.DONE
    assert out.startswith("empty.npz: 0 vertices, 0 edges, 0 priorities, ")


def same(path, arena):
    loaded = io.load(path)
    return all(
        np.array_equal(getattr(loaded, name), getattr(arena, name))
        for name in ("row_ptr", "dst", "owner", "priority", "weight")
    )


@pytest.mark.parametrize("name", generate.FAMILIES)
def test_generate(run, name):
    family = generate.FAMILIES[name]
    parameters = inspect.signature(family).parameters.values()
    numbers = [5 if p.default is p.empty else None for p in parameters]
    numbers = [n for n in numbers if n is not None]
    arena = family(*numbers)
    file = "game.pg.gz" if arena.weight is None else "game.energy.gz"
    code, out, err = run("generate", name, *numbers, "-o", file)
    assert (code, err) == (Exit.DONE, "")
    assert out.startswith(f"{file}: {arena.num_vertices:,} vertices, ")
    assert same(file, arena)
    assert re.search(rf"^{name} [A-Z]", run("generate", "--list")[1], re.M)


def test_generate_with_options(run):
    run("generate", "elevator", "2", "--no-fair", "-o", "elevator.npz")
    assert same("elevator.npz", generate.elevator(2, fair=False))
    options = ("--num-priorities", 3, "--no-self-loops", "--owner-share", 0.25)
    assert run("generate", "random", 7, 12, *options, "-o", "r.npz", "-q")[1:] == (
        "",
        "",
    )
    random = generate.random_game(
        7, 12, num_priorities=3, self_loops=False, owner_share=0.25
    )
    assert same("r.npz", random)


def test_help_of_a_family(run):
    code, out, _ = run("generate", "clustered", "--help")
    assert code == Exit.DONE
    assert "Random game of clusters within clusters that few edges link.\n" in out
    assert "    depth: how often clusters are cut; 0 for one cluster.\n" in out
    assert re.search(r"--depth X +default: 2\n", out)
    assert "where `random_game` has a single large one" in " ".join(out.split())
    out = run("generate", "elevator", "--help")[1]
    assert re.search(r"--fair, --no-fair +default: --fair\n", out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected a family (see jaxgames generate --list)"),
        (("lift", "5", "-o", "game.pg"), "argument FAMILY: invalid choice: 'lift'"),
        (("elevator", "5"), "the following arguments are required: -o/--output"),
        (("elevator", "ten", "-o", "game.pg"), "argument floors: invalid int value"),
        (("elevator", "99", "-o", "game.pg"), "floors must be from 1 to 9, got 99"),
        (
            ("elevator", "2", "-o", "game.xyz"),
            "game.xyz: unknown suffix; known: .pg",
        ),
    ],
)
def test_generate_refuses(run, tmp_path, arguments, message):
    code, out, err = run("generate", *arguments)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith(f"jaxgames: {message}")
    assert not any(tmp_path.iterdir())


def test_convert(run, game, tmp_path):
    code, out, err = run("convert", game, "game.npz")
    assert code == Exit.DONE
    assert err.startswith("jaxgames: warning: game.npz: left out: the names of 1 ver")
    assert out == "game.npz: 4 vertices, 5 edges, 4 priorities\n"
    assert same("game.npz", io.load(game))
    assert run("convert", "game.npz", "again.pg", "-q") == (Exit.DONE, "", "")
    assert (tmp_path / "again.pg").read_text() == GAME.replace(' "start, here"', "")
    assert run("convert", game, "named.pg", "-q") == (Exit.DONE, "", "")
    assert (tmp_path / "named.pg").read_text() == GAME


def test_what_is_written_is_told_to_programs(run, game):
    """By `generate` for one game, by `convert` for each of several files too."""
    told = json.loads(run("generate", "elevator", "2", "-o", "made.pg", "--json")[1])
    made = generate.elevator(2)
    assert (told["command"], told["output"]) == ("generate", "made.pg")
    assert (told["vertices"], told["edges"]) == made.shape
    told = json.loads(run("convert", "made.pg", "made.npz", "--json")[1])
    assert (told["file"], told["output"]) == ("made.pg", "made.npz")
    assert (told["vertices"], told["edges"]) == made.shape
    os.mkdir("folder")
    words = ("made.pg", game, "-o", "folder/", "--to-format", "npz", "--jsonl")
    lines = [json.loads(line) for line in run("convert", *words)[1].splitlines()]
    assert [line["file"] for line in lines] == ["made.pg", str(game)]
    assert lines[0]["vertices"] == made.shape[0]


@pytest.mark.parametrize("family", generate.FAMILIES)
def test_the_example_of_a_family_makes_a_game(run, family):
    out = run("generate", family, "--help")[1]
    (example,) = re.findall(r"^  jaxgames (generate .*)$", out, re.MULTILINE)
    code, _, err = run(*example.split())
    assert (code, err) == (Exit.DONE, "")
    assert os.path.getsize(example.split()[-1]) > 0


def test_convert_restates_priorities(run, game):
    run("convert", game, "game.min.pg", "--to-condition", "min even")
    assert same("game.min.pg", io.load(game)) is False
    arena = io.load("game.min.pg", condition="min even")
    assert np.argsort(arena.priority).tolist() == [0, 1, 2, 3]
    assert (arena.priority % 2).tolist() == [0, 1, 0, 1]
    code, _, err = run("convert", game, "x.pg", "--to-condition", "min")
    assert (code, "condition must be one of" in err) == (Exit.BAD_INPUT, True)


# ---- bad input ---------------------------------------------------------------

LINE_3 = "1 1 1 0;"
BAD_GAMES = {
    "empty": ("", 1),
    "truncated line": (GAME[: GAME.index("2 1 2;")], 4),
    "missing semicolon": (GAME.replace(LINE_3, "1 1 1 0"), 3),
    "duplicate identifier": (GAME.replace(LINE_3, "0 1 1 0;"), 3),
    "unknown successor": (GAME.replace(LINE_3, "1 1 1 7;"), 3),
    "no successor": (GAME.replace(LINE_3, "1 1 1;"), 3),
    "negative priority": (GAME.replace(LINE_3, "1 -1 1 0;"), 3),
    "huge priority": (GAME.replace(LINE_3, "1 9999999999 1 0;"), 3),
    "beyond the header": (GAME.replace("parity 3", "parity 2"), 5),
    "no number": (GAME.replace(LINE_3, "1 one 1 0;"), 3),
    "no such player": (GAME.replace(LINE_3, "1 1 2 0;"), 3),
    "Windows line ends": (GAME.replace(LINE_3, "1 x 1 0;").replace("\n", "\r\n"), 3),
    "quote inside a name": (GAME.replace("start", 'st"art'), 2),
    "no game": ("<html>\n", 1),
}


@pytest.mark.parametrize("case", BAD_GAMES)
def test_bad_game(run, tmp_path, case):
    text, line = BAD_GAMES[case]
    (tmp_path / "bad.pg").write_bytes(text.encode())
    code, out, err = run("solve", "bad.pg")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert re.fullmatch(rf"jaxgames: bad\.pg:{line}: .*\n", err), err


def test_odd_but_good_game(run, tmp_path):
    text = GAME.replace("start, here", "a; b, 0 0 0 0;\n'c").replace("\n", "\r\n")
    (tmp_path / "odd.pg").write_bytes(text.encode())
    code, out, _ = run("solve", "odd.pg", "--json", "--winners")
    assert (code, json.loads(out)["winner"]) == (Exit.DONE, [0, 0, 0, 1])


ARRAYS = {
    "row_ptr": np.array([0, 1, 2]),
    "dst": np.array([1, 0]),
    "owner": np.array([0, 1]),
    "priority": np.array([0, 1]),
}
BAD_ARRAYS = {
    "NaN": ({"priority": np.array([0.0, np.nan])}, "priority must hold integers"),
    "floats": ({"dst": np.array([1.0, 0.0])}, "dst must hold integers"),
    "lengths": ({"priority": np.array([0, 1, 2])}, "one entry for each vertex"),
    "index": ({"dst": np.array([1, 2])}, r"dst\[1\] is 2, expected"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_arrays(run, case):
    change, message = BAD_ARRAYS[case]
    arrays = ARRAYS | change
    np.savez("bad.npz", format="jaxgames arena", version=1, **arrays)
    code, out, err = run("solve", "bad.npz")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert re.fullmatch(rf"jaxgames: bad\.npz: .*{message}.*\n", err), err


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("game.pg.gz", gzip.compress(GAME.encode(), mtime=0)[:-12]),
        ("game.pg.gz", b"no gzip"),
        ("game.pg.bz2", bz2.compress(GAME.encode())[:20]),
        ("game.npz", b"no zip"),
        ("game.txt", SOLUTION.encode()),
    ],
    ids=["cut gz", "no gz", "cut bz2", "no npz", "no known suffix"],
)
def test_broken_files(run, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    code, out, err = run("solve", name)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith(f"jaxgames: {name}: ")
    assert err.count("\n") == 1


def test_a_header_that_announces_more_is_a_warning(run, tmp_path):
    (tmp_path / "cut.pg").write_text(GAME.replace("parity 3", "parity 8"))
    code, _, err = run("solve", "cut.pg")
    assert code == Exit.DONE
    assert re.fullmatch(r"jaxgames: warning: cut\.pg: the header announces .*\n", err)


# ---- usage and files ---------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: COMMAND (see jaxgames --help)"),
        ("sovle game.pg", "argument COMMAND: invalid choice: 'sovle' (did you mean 's"),
        ("solve", "the following arguments are required: FILE"),
        ("solve game.pg --verif", "unrecognized arguments: --verif (did you mean '--v"),
        ("solve game.pg --xyzzy", "unrecognized arguments: --xyzzy (see jaxgames"),
        ("solve game.pg -s fast", "no parity solver is called 'fast'; there are "),
        (
            "solve game.pg --timeout 0",
            "argument -z/--timeout: expected a posit",
        ),
        (
            "solve game.pg --timeout nan",
            "argument -z/--timeout: expected a posit",
        ),
        (
            "solve game.pg --timeout soon",
            "argument -z/--timeout: expected a positive number, got soon",
        ),
        (
            "solve game.pg --max-steps -1",
            "argument --max-steps: expected an integer from",
        ),
        ("solve game.pg --max-steps x", "argument --max-steps: expected an integer fr"),
        (
            f"solve game.pg --memory x{'9' * 5000}",
            "argument --memory: expected a number of bytes, such as 500M or 4G, got x",
        ),
        (
            "explore x.py:f --initial 1,x",
            "argument --initial: expected states as integers with commas between",
        ),
        (
            f"solve game.pg --condition {'m' * 1000}",
            "condition must be one of ('max even', 'min even', 'max odd', 'min odd')",
        ),
        ("solve game.pg --condition max", "condition must be one of"),
        ("solve game.pg --dead-ends win", "dead_ends must be 'error', 'lose' or"),
        ("solve game.pg --winners", "--all goes with --json"),
        ("solve game.pg --draw game.gif", "--draw takes a .svg, .png or .pdf file"),
        ("solve ''", "file: a file needs a name: found an empty one"),
        ("solve game.pg -o ''", "output: a file needs a name: found an empty one"),
        ("solve game.pg --draw ''", "draw: a file needs a name: found an empty one"),
        ("solve missing.pg", "missing.pg: No such file or directory"),
        ("solve folder.pg", "folder.pg: Is a directory"),
        ("solve game.pg -o none/game.sol", "none: there is no such folder"),
        ("solve game.pg --dot folder.pg", "folder.pg: Is a directory"),
        ("verify game.pg", "verify takes FILE and ANSWER"),
        ("verify game.pg missing.sol", "missing.sol: No such file or directory"),
        ("convert game.pg none/game.npz", "none: there is no such folder"),
        ("info missing.npz", "missing.npz: No such file or directory"),
    ],
)
def test_usage_and_files(run, game, tmp_path, arguments, message):
    (tmp_path / "folder.pg").mkdir()
    code, out, err = run(*shlex.split(arguments))
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith(f"jaxgames: {message}"), err
    assert err.count("\n") == 1
    assert len(err) < 400


def test_no_permission(run, game, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    if os.access("closed", os.W_OK):
        pytest.skip("this user may read and write everything")
    code, _, err = run("solve", game, "-o", "closed/game.sol")
    assert (code, err) == (
        Exit.BAD_INPUT,
        "jaxgames: closed/game.sol: Permission denied\n",
    )
    (tmp_path / game).chmod(0)
    code, _, err = run("solve", game)
    assert (code, err) == (Exit.BAD_INPUT, "jaxgames: game.pg: Permission denied\n")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), Exit.UNSOLVED, "out of memory: MemoryError"),
        (
            RuntimeError("RESOURCE_EXHAUSTED: 9 GB"),
            Exit.UNSOLVED,
            "out of memory: RESOURCE_EXHAUSTED: 9 GB",
        ),
        (
            PermissionError(13, "No entry", "game.pg"),
            Exit.BAD_INPUT,
            "game.pg: No entry",
        ),
        (ImportError("needs\nthat"), Exit.BAD_INPUT, "needs that"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "interrupted"),
        (
            KeyError("x"),
            Exit.INTERNAL,
            "internal error, KeyError: 'x' (--traceback tells where)",
        ),
    ],
)
def test_errors_have_codes_and_one_line(run, game, monkeypatch, error, code, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(io, "load", fail)
    assert run("solve", game) == (code, "", f"jaxgames: {message}\n")
    found, _, err = run("solve", game, "--traceback")
    assert found == code
    assert "Traceback" in err
    assert err.endswith(f"jaxgames: {message}\n")


# ---- help --------------------------------------------------------------------


def test_help_tells_commands_and_exit_codes(run):
    code, out, err = run("--help")
    assert (code, err) == (Exit.DONE, "")
    unwrapped = " ".join(out.split())
    for name, about in cli.COMMANDS.items():
        assert f" {name} {about}" in unwrapped
    for exit_code in Exit:
        assert f"  {exit_code:<5d}{exit_code.meaning}\n" in out
        assert f"| {exit_code:d} | " in cli.__doc__


def test_version(run):
    assert run("--version") == (Exit.DONE, f"jaxgames {jaxgames.__version__}\n", "")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_of_a_command(run, name):
    code, out, _ = run(name, "--help")
    example = importlib.import_module(f"jaxgames.cli._{name}").EXAMPLE
    assert code == Exit.DONE
    assert f"example:\n  jaxgames {example}\n" in out
    arguments = shlex.split(example)
    assert isinstance(_parser(arguments).parse_args(arguments), argparse.Namespace)


# ---- as a process ------------------------------------------------------------


def test_help_imports_no_command():
    code = (
        "import sys; from jaxgames.cli import main; main(['--help']); "
        "print([name for name in sys.modules if name.startswith('jaxgames.cli._')])"
    )
    out, _ = spawn(code=("-c", code)).communicate()
    of_all = ["_numpy", "_exit", "_interrupt", "_options", "_streams", "_watch"]
    assert out.endswith(f"{[f'jaxgames.cli.{name}' for name in of_all]}\n")


def test_exit_code_and_message_of_a_process(game):
    process = spawn("solve", "missing.pg")
    out, err = process.communicate()
    assert (process.returncode, out) == (Exit.BAD_INPUT, "")
    assert err == "jaxgames: missing.pg: No such file or directory\n"


def test_broken_pipe_is_no_error():
    process = spawn("generate", "--list", PYTHONUNBUFFERED="1")
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (Exit.BROKEN_PIPE, "")
    process.stderr.close()


def test_unknown_device(game):
    process = spawn("solve", game, "--device", "abacus")
    _, err = process.communicate()
    assert process.returncode == Exit.BAD_INPUT
    assert err.startswith("jaxgames: --device abacus: ")
    assert err.count("\n") == 1


def test_compiled_programs_are_kept(game, tmp_path, monkeypatch):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")

    def kept():
        return {path.name for path in tmp_path.glob("cache/jaxgames/*-cache")}

    def solve(*options):
        process = spawn(
            *("solve", game, "--json", "-s", "zielonka", *options),
            XDG_CACHE_HOME=str(tmp_path / "cache"),
        )
        err = process.communicate()[1]
        assert process.returncode == Exit.DONE
        return err

    assert solve("--no-cache") == ""
    assert kept() == set()
    assert solve() == ""
    programs = kept()
    assert programs
    assert solve() == ""
    assert kept() == programs
    # What cannot be read was looked for there, and is compiled again.
    for path in tmp_path.glob("cache/jaxgames/*-cache"):
        path.write_bytes(b"no program")
    assert (
        "Error reading persistent compilation cache entry for 'jit__chunk'" in solve()
    )


def test_words_of_oink(run, tmp_path):
    # 0 wins vertex 0, by its loop; 1 wins 1, which has a name.
    (tmp_path / "named.pg").write_text('parity 1;\n0 2 0 0;\n1 1 1 1 "trap";\n')
    code, out, err = run("solve", tmp_path / "named.pg", "-v", "-z", 60, "-p", "--zlk")
    assert (code, err) == (Exit.DONE, "")
    assert out.endswith("won by 0: 0\nwon by 1: trap\n")
    quiet = run("solve", tmp_path / "named.pg", "-q", "-p")
    assert quiet == (Exit.DONE, "won by 0: 0\nwon by 1: trap\n", "")
    code, _, err = run("solve", tmp_path / "named.pg", "-z1e-9")
    assert (code, "limit of 1e-09 s" in err) == (Exit.UNSOLVED, True)


def test_an_interrupt_before_the_command_listens_is_silent(tmp_path):
    """While modules are imported Python would print where it was."""
    code = (
        "import os, runpy, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'jaxgames.cli':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "sys.argv = ['jaxgames', 'solvers']\n"
        "runpy.run_module('jaxgames', run_name='__main__')\n"
    )
    process = spawn(code=("-c", code))
    assert process.communicate() == ("", "")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("start", ["module", "script"])
def test_an_interrupt_is_silent_from_the_first_import_on(tmp_path, start):
    """As Ctrl-C just after return: the package itself is being imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'jaxgames.later':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupts())\n"
    )
    script = tmp_path / "jaxgames"
    script.write_text("from jaxgames.__main__ import main\nmain()\n")
    words = {"module": ["-m", "jaxgames"], "script": [str(script)]}[start]
    root = str(Path(jaxgames.__file__).parents[1])
    process = subprocess.run(
        [sys.executable, *words, "solvers"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])},
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert (process.stdout, process.stderr) == ("", "")
    assert process.returncode == -signal.SIGINT


def test_who_imports_the_package_keeps_his_ctrl_c():
    """Whatever it does: a process in the background of a script ignores it."""
    code = (
        "import signal; before = signal.getsignal(signal.SIGINT); import jaxgames; "
        "print(signal.getsignal(signal.SIGINT) == before)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, "jaxgames"], capture_output=True, text=True
    )
    assert found.stdout == "True\n"


def test_an_interrupt_ends_what_python_cannot(game):
    """Machine code that takes ten minutes, in which Python hears nothing."""
    code = (
        "import hashlib, sys\n"
        "from jaxgames import parity\n"
        "from jaxgames.cli import main\n"
        "def stuck(*args, **how):\n"
        "    print('stuck', file=sys.stderr, flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
        "parity.solve = stuck\n"
        "sys.exit(main())\n"
    )
    process = spawn("solve", game, "--json", code=("-c", code))
    assert process.stderr.readline() == "stuck\n"
    time.sleep(0.5)  # it has told that it will be stuck, which it now is
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (
        Exit.INTERRUPTED,
        f"jaxgames: {game}: interrupted\n",
    )
    facts = json.loads(out)
    assert (facts["status"], facts["error"]["exit"]) == ("interrupted", 130)
