"""The time and the memory of a whole command, whatever it does."""

import json
import os
import pty
import re
import subprocess
import sys
import time

import pytest

import jaxgames
from jaxgames import cli
from jaxgames.cli import Exit, _options, _watch, main

ROOT = os.path.dirname(os.path.dirname(jaxgames.__file__))

GAME = "parity 1;\n0 0 0 1;\n1 1 1 0;\n"
ENERGY = "energy 2\n0 0 1 -1\n1 1 0 1\n"
BOTH = "energyparity 2\n0 1 0 1 -1\n1 2 1 0 1\n"
COLOURS = (
    "HOA: v1 States: 1 Start: 0 AP: 0 Acceptance: 2 Inf(0) & Inf(1)\n"
    "spot-state-player: 0 --BODY--\nState: 0 [t] 0 {0 1}\n--END--\n"
)
MODEL = "@type: DTMC\n@nr_states\n1\n@model\nstate 0 init goal\n\taction 0\n\t\t0 : 1\n"
STEP = "def step(states):\n    while True:\n        pass\ninitial = [0]\n"
SYSTEM = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'

ENDLESS = """
import importlib, json, os, sys, threading, time
import jaxgames
from jaxgames import limits
from jaxgames.cli import main

def stuck(*args, **options):
    # Native code that nobody can stop.
    threading.Event().wait(120)

cases = json.loads(sys.argv[1])
for name in sorted({module for _, module, _ in cases}):
    importlib.import_module(name)
ends = {}
for number, (arguments, module, name) in enumerate(cases):
    began = time.perf_counter()
    child = os.fork()  # a process of its own, whose time begins here
    if child:
        ends[child] = number, began
        continue
    for stream in (1, 2):
        os.dup2(os.open(f"{number}.{stream}", os.O_CREAT | os.O_WRONLY), stream)
    os.chdir(str(number))
    sys.argv = ["jaxgames", *arguments, "--timeout", "2"]
    setattr(sys.modules[module], name, stuck)
    sys.exit(main())
found = {}
for _ in cases:
    child, status = os.wait()
    number, began = ends[child]
    took = time.perf_counter() - began
    texts = [open(f"{number}.{stream}").read() for stream in (1, 2)]
    found[number] = os.waitstatus_to_exitcode(status), *texts, took
print(json.dumps(found))
"""
"""Commands in each of which some function never comes back, all at once."""

GRAPH_LTL = (
    "G(F a & F b) -> ((x1 U (x2 U (x3 U (x4 U x5)))) R ((y1 U y2) R ((y3 U y4) R "
    "((z1 U (z2 U z3)) U (z4 U (z5 U z6)))))) & "
    "G(F(p1 U (p2 U p3)) -> (q1 R (q2 U q3)))"
)


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.pg").write_text(GAME)
    (tmp_path / "lts.aut").write_text(SYSTEM)


def timed(*arguments, code=("-m", "jaxgames"), **how):
    """Runs a command as a process; exit code, output, errors, seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *code, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": ROOT},
        check=False,
        **how,
    )
    return done.returncode, done.stdout, done.stderr, time.perf_counter() - began


@pytest.fixture(scope="module")
def start_up():
    """Seconds until a command does anything: what this machine takes to import it."""
    return max(timed("solvers")[3] for _ in range(2))


def ends_in_time(found, start_up, seconds=2.0):
    """Exit code, one line on standard error, and within 5 s on a machine at rest."""
    code, out, err, took = found
    assert code == Exit.UNSOLVED, (code, err)
    assert err.count("\n") == 1, err
    assert re.search(r"the limit of \S+ s was reached while \S", err), err
    assert took < seconds + 3 + 5 * start_up, (took, start_up)
    return err


def ends_in_phase(line, phase, start_up):
    """In time whatever it does, and in a phase that a busy machine comes to late.

    Returns what it says.
    """
    limit = 2 + 2 * start_up
    for _ in range(4):
        err = ends_in_time(timed(*line, "--timeout", str(limit)), start_up, limit)
        if re.search(f"while ({phase})", err):
            return err
        limit *= 2
    pytest.fail(f"it never came to {phase}: {err}")


STUCK = [
    (["solve", "game.pg"], "jaxgames.parity", "solve"),
    (["solve", "game.pg"], "jaxgames.io", "load"),
    (["solve", "game.pg", "-v"], "jaxgames.parity", "verify"),
    (["verify", "game.pg", "game.pg"], "jaxgames.io", "load_solution"),
    (["info", "game.pg"], "jaxgames.io", "load"),
    (["convert", "game.pg", "out.pg"], "jaxgames.io", "save"),
    (["generate", "ladder", "5", "-o", "out.pg"], "jaxgames.io", "save"),
    (["scc", "game.pg"], "jaxgames.graph", "scc"),
    (["mec", "lts.aut"], "jaxgames.cli._mec", "load"),
    (["energy", "game.pg", "--from-parity"], "jaxgames.energy", "solve"),
    (["meanpayoff", "game.pg", "--from-parity"], "jaxgames.meanpayoff", "solve"),
    (["check", "--graph", "lts.aut", "--ltl", "F a"], "jaxgames.systems", "product"),
    (
        ["check", "--graph", "lts.aut", "--ltl", "F a"],
        "jaxgames.ltl",
        "translate",
    ),
    (["equiv", "lts.aut", "0", "1"], "jaxgames.equivalence", "compare_many"),
    (["equiv", "lts.aut"], "jaxgames.equivalence", "spectrum"),
    (["buchi", "game.pg", "--accepting", "0"], "jaxgames.buchi", "solve"),
    (["reach", "game.pg", "--to", "0"], "jaxgames.graph", "reachable"),
    (
        ["discounted", "game.energy", "--discount", "1/2"],
        "jaxgames.discounted",
        "solve",
    ),
    (["energyparity", "game.eparity"], "jaxgames.energyparity", "solve"),
    (["emersonlei", "game.hoa"], "jaxgames.emersonlei", "solve"),
    (["emersonlei", "game.hoa", "-v"], "jaxgames.emersonlei", "verify"),
    (["multienergy", "game.energy"], "jaxgames.multienergy", "solve"),
    (
        ["probability", "model.drn", "--to", "goal"],
        "jaxgames.mdp",
        "reach_probability",
    ),
    (["mdp", "model.drn", "--prop", 'P=? [ F "goal" ]'], "jaxgames.mdp", "check"),
    (["synth", "--ltl", "G g", "--outs", "g"], "jaxgames.synth", "solve"),
    (["explore", "step.py:step"], "jaxgames.cli._models", "explore"),
    (["warm", "parity"], "jaxgames.programs", "warm"),
]
"""Commands, and what of each never ends."""

FILES = {
    "game.pg": GAME,
    "lts.aut": SYSTEM,
    "game.energy": ENERGY,
    "game.eparity": BOTH,
    "game.hoa": COLOURS,
    "model.drn": MODEL,
    "step.py": STEP,
}
"""What these read."""


def test_each_command_is_among_those_that_never_end():
    at_once = {"solvers", "env", "completion", "manual"}
    assert {line[0] for line, *_ in STUCK} == cli.COMMANDS.keys() - at_once


@pytest.fixture(scope="module")
def stuck(tmp_path_factory):
    """What became of each command, and the folder that it was in."""
    folder = tmp_path_factory.mktemp("stuck")
    for number in range(len(STUCK)):
        (folder / str(number)).mkdir()
        for name, text in FILES.items():
            (folder / str(number) / name).write_text(text)
    code, out, err, _ = timed(json.dumps(STUCK), code=("-c", ENDLESS), cwd=folder)
    assert code == Exit.DONE, err
    found = json.loads(out)
    return [(found[str(number)], folder / str(number)) for number in range(len(STUCK))]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.parametrize(
    "number", range(len(STUCK)), ids=[f"{x[0][0]}-{x[2]}" for x in STUCK]
)
def test_each_command_ends_in_whatever_never_ends(number, stuck, start_up):
    found, folder = stuck[number]
    ends_in_time(found, start_up)
    assert sorted(os.listdir(folder)) == sorted(FILES)  # none half written


def test_a_model_in_python_that_takes_for_ever(tmp_path, start_up):
    (tmp_path / "step.py").write_text(STEP)
    ends_in_phase(["explore", "step.py:step"], "exploring|reading", start_up)


def test_a_formula_that_takes_for_ever(start_up):
    line = ["check", "--graph", "lts.aut", "--ltl", GRAPH_LTL]
    ends_in_phase(line, "translating|simplifying|preparing", start_up)


def test_processes_whose_weak_game_takes_for_ever(tmp_path, start_up):
    # Silent steps lead to all of a chain: a defender has it with all its parts.
    steps = [(1, "i", state) for state in range(2, 32)]
    steps += [(0, "i", state) for state in range(2, 32, 2)]
    steps += [(state, "a", state - 1) for state in range(3, 32)] + [(0, "a", 5)]
    lines = "".join(f'({s}, "{a}", {t})\n' for s, a, t in steps)
    (tmp_path / "wide.aut").write_text(f"des (0, {len(steps)}, 32)\n{lines}")
    line = ["equiv", "wide.aut", "0", "1", "--weak"]
    ends_in_phase(line, "building the game", start_up)


def test_a_hard_game(tmp_path, start_up):
    line = ["generate", "recursive_ladder", "40", "-q", "-o", "hard.pg"]
    assert timed(*line)[0] == Exit.DONE
    limit = 2 + 2 * start_up
    line = ["solve", "hard.pg", "-s", "zielonka", "-o", "hard.sol"]
    code, out, err, took = timed(*line, "--timeout", str(limit))
    assert code == Exit.UNSOLVED
    assert re.match(r"jaxgames: hard.pg: not .*: the limit of \S+ s was reached", err)
    assert took < limit + 3 + 3 * start_up


def test_a_generator_asked_for_something_huge(start_up):
    line = ["generate", "elevator", "9", "-o", "out.pg.gz", "--timeout", "2"]
    code, _, err, took = timed(*line, "--memory", "8G")
    assert code == Exit.UNSOLVED, err
    assert took < 5 + 3 * start_up
    assert not os.path.exists("out.pg.gz")


def test_a_pipe_that_never_ends(start_up):
    os.mkfifo("endless.pg")
    writer = os.open("endless.pg", os.O_RDWR)  # nobody closes it
    try:
        err = ends_in_phase(["solve", "endless.pg"], "reading", start_up)
    finally:
        os.close(writer)
    assert err.startswith("jaxgames: endless.pg: not done: ")


def test_compiling_counts(start_up):
    """The limit is over before anything is compiled."""
    line = ["scc", "game.pg", "-s", "max_id", "--timeout", "1e-6"]
    ends_in_time(timed(*line), start_up, seconds=0.0)


def test_files_half_written_are_removed(start_up):
    source = f"""
import sys, threading
sys.argv = ["jaxgames", "convert", "game.pg", "out.pg"]
sys.argv += ["--timeout", "{2 + 2 * start_up}"]
from jaxgames import io
from jaxgames.cli import main
from jaxgames.io._files import writing

def save(path, *args, **options):
    with writing(path) as file:
        file.write(b"half")
        threading.Event().wait(120)

io.save = save
sys.exit(main())
"""
    err = ends_in_time(timed(code=("-c", source)), start_up, 2 + 2 * start_up)
    assert "while writing" in err
    assert sorted(os.listdir()) == ["game.pg", "lts.aut"]


# ---- memory ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [("4G", 4 << 30), ("500m", 500 << 20), ("1.5K", 1536), ("77", 77), ("2 GiB", None)],
)
def test_sizes(text, count):
    if count is None:
        assert _options.size(text.replace(" ", "")) == 2 << 30
    else:
        assert _options.size(text) == count


@pytest.mark.parametrize("text", ["0", "-1", "4X", "", "G"])
def test_sizes_that_are_none(text, capsys):
    assert main(["info", "game.pg", f"--memory={text}"]) == Exit.BAD_INPUT
    assert "expected a number of bytes, such as 500M or 4G" in capsys.readouterr().err


def test_a_file_that_asks_for_more_than_it_may(tmp_path, capsys):
    (tmp_path / "huge.aut").write_text("des (0, 0, 2000000)")
    assert main(["scc", "huge.aut", "--memory", "10M"]) == Exit.BAD_INPUT
    assert "2000000 states take about 64 MB" in capsys.readouterr().err
    assert main(["scc", "game.pg", "-q", "-s", "host", "--memory", "40G"]) == Exit.DONE


def test_a_process_that_grows_is_ended():
    source = """
import sys, time
sys.argv = ["jaxgames", "info", "game.pg", "--memory", "1G"]
import numpy as np
from jaxgames import io
from jaxgames.cli import main

def load(*args, **options):
    kept = []
    for _ in range(500):
        kept.append(np.ones(1 << 22))
        time.sleep(0.02)
    return kept

io.load = load
sys.exit(main())
"""
    code, out, err, _ = timed(code=("-c", source))
    assert (code, out) == (Exit.UNSOLVED, "")
    assert re.match(r"jaxgames: game.pg: out of memory: the memory limit is ex", err)


# ---- what is shown ---------------------------------------------------------------


def test_a_terminal_shows_what_takes_long():
    source = """
import sys, time
sys.argv = ["jaxgames", "info", "game.pg"]
from jaxgames import io
from jaxgames.cli import main
load = io.load

def slow(*args, **options):
    time.sleep(2)
    return load(*args, **options)

io.load = slow
sys.exit(main())
"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", source],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    out, _ = process.communicate(timeout=100)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert process.returncode == Exit.DONE
    assert re.search(r"\rreading: [0-9.]+ s", shown), shown
    assert b"2 vertices" in out


# ---- the parts -------------------------------------------------------------------


def test_since_start():
    assert 0 < _watch.since_start() < 1e6


@pytest.mark.parametrize(
    ("argv", "seconds"),
    [
        (["solve", "--timeout", "2"], 2.0),
        (["solve", "--timeout=3.5", "x"], 3.5),
        (["solve", "--timeout"], None),
        (["solve", "--timeout", "x"], None),
        (["solve", "--timeout", "-1"], None),
        (["solve"], None),
    ],
)
def test_the_limit_is_known_before_anything_is_parsed(argv, seconds):
    assert _watch._timeout_in(argv) == seconds


def test_an_object_tells_that_time_is_over_before_the_command_begins():
    code, out, err, _ = timed("solve", "game.pg", "--json", "--timeout", "1e-9")
    assert code == Exit.UNSOLVED
    assert "the limit of 1e-09 s was reached while" in err
    facts = json.loads(out)
    assert out.count("\n") == 1
    assert (facts["command"], facts["status"]) == ("solve", "timeout")
    assert facts["error"]["exit"] == Exit.UNSOLVED


def test_a_command_waits_for_no_program_that_is_compiled_ahead(tmp_path):
    (tmp_path / "game.pg").write_text(GAME)
    code = """
import sys, threading
from jaxgames import cli, fixpoint
fixpoint._compiling.add(threading.Event())  # which is never over
sys.argv = ["jaxgames", "solve", "game.pg"]
sys.exit(cli.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "player 0 wins" in done.stdout
