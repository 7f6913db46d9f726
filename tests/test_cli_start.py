"""Small inputs are answered before JAX or a compiler could be imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forked import Forked

from jaxgames import generate, io
from jaxgames.cli import Exit
from jaxgames.parity._problem import PROBLEM

BEGIN = """
import sys
from jaxgames.cli import main
from jaxgames import host, later
later._could_have_accelerator = lambda: True
host._is_made = lambda package: False  # else the clock says whether it is loaded
"""
PROGRAM = """
code = main(sys.argv[1:])
print({'jax', 'llvmlite', 'numba', 'scipy'} & {*sys.modules}, file=sys.stderr)
sys.exit(code)
"""
LTS = 'des (0, 5, 4)\n(0,"a",1)\n(1,"b",0)\n(1,"c",2)\n(2,"tau",2)\n(3,"d",0)\n'
LOCK = """kripke;
propositions wait cs;
initial 0;
0 "idle" -> 1;
1 "waiting" {wait} -> 1 2;
2 "critical" {cs} -> 0;
"""

LIGHT = """
initial, ranges = [0], [2]
propositions = {"on": lambda states: states[:, 0] == 1}


def successors(states):
    xp = states.__array_namespace__()
    return (1 - states)[:, None], xp.ones((len(states), 1), bool)
"""


@pytest.fixture(scope="module")
def processes():
    with Forked(BEGIN) as processes:
        yield processes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    io.save(folder / "game.pg.gz", generate.elevator(3))
    io.save(folder / "game.energy", generate.random_energy_game(0, 200))
    io.save(folder / "game.mpg", generate.ring_energy_game(1, 200))
    io.save(folder / "model.drn", generate.random_mdp(0, 200))
    (folder / "lts.aut").write_text(LTS)
    (folder / "lock.kripke").write_text(LOCK)
    (folder / "light.py").write_text(LIGHT)
    return folder


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("--version", Exit.DONE),
        ("--help", Exit.DONE),
        ("solvers", Exit.DONE),
        ("solve --help", Exit.DONE),
        ("solve nothing.pg", Exit.BAD_INPUT),
        ("solve game.pg.gz --verify -o game.sol --force", Exit.DONE),
        ("solve game.pg.gz --json --winners", Exit.DONE),
        ("verify game.pg.gz game.sol", Exit.DONE),
        ("convert game.pg.gz game.npz --force", Exit.DONE),
        ("generate ladder 50 -o ladder.pg --force", Exit.DONE),
        ("energy game.energy --verify", Exit.DONE),
        ("meanpayoff game.mpg --verify", Exit.DONE),
        ("scc lts.aut --verify", Exit.DONE),
        ("mec model.drn --verify", Exit.DONE),
        ("check lock.kripke --ltl G(wait->F(cs)) --verify", Exit.WRONG),
        ("equiv lts.aut 0 1", Exit.DONE),
        ("buchi game.pg.gz --accepting 0-9 --verify", Exit.DONE),
        ("reach game.pg.gz --to 0-9 --player 1", Exit.DONE),
        ("probability model.drn --to 0 --zero-one", Exit.DONE),
        ("probability model.drn --to 0 --min", Exit.DONE),
        ("mdp model.drn --prop Pmin=?[F<=3(true)] --verify", Exit.DONE),
        ("mdp model.drn --prop Pmax=?[X(true)]>0.5", Exit.DONE),
        ("multienergy game.energy --verify", Exit.DONE),
        ("explore light.py:successors", Exit.DONE),
        ("check --model light.py:successors --ltl G(on)", Exit.WRONG),
        ("equiv lts.aut lts.aut --verify", Exit.DONE),
        ("reach game.pg.gz --to 0-9 --verify", Exit.DONE),
        ("completion bash", Exit.DONE),
        ("manual", Exit.DONE),
    ],
)
def test_nothing_large_is_imported(processes, folder, command, code):
    if command.startswith("verify"):
        solve = "solve game.pg.gz -o game.sol -q --force"
        assert processes.run(PROGRAM, *solve.split(), folder=folder).returncode == 0
    done = processes.run(PROGRAM, *command.split(), folder=folder)
    assert done.returncode == code, done.stderr
    assert done.stderr.endswith("set()\n"), done.stderr[-200:]


def test_a_large_game_takes_machine_code(processes, folder):
    path = Path(folder, "large.pg")
    io.save(path, generate.random_game(0, 10_000))
    done = processes.run(PROGRAM, "solve", str(path))
    assert done.stderr.endswith("{'llvmlite'}\n")


# JAX never comes: whoever waits for it waits until the process is killed.
NEVER = """
import sys, threading
from importlib.machinery import ModuleSpec
from jaxgames import later
from jaxgames.cli import main
from jaxgames.tuning import drive


class Never:
    def find_spec(self, name, path, target=None):
        return ModuleSpec(name, self) if name == "jax" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        threading.Event().wait()


sys.meta_path.insert(0, Never())
later._could_have_accelerator = lambda: True
if sys.argv.pop(1) == "large":  # JAX is started while the file is read
    from jaxgames.cli import _games
    _games.LARGE_FILE, drive.START_SECONDS = 0, 0.0
sys.exit(main())
"""


@pytest.mark.parametrize("size", ["large", "small"])
def test_a_game_that_the_host_has_solved_does_not_wait_for_an_accelerator(
    tmp_path, size
):
    path = tmp_path / "game.pg"
    game = generate.random_game(1, 120_000)
    assert game.num_edges >= PROBLEM.host_until
    io.save(path, game)
    done = subprocess.run(
        [sys.executable, "-c", NEVER, size, "solve", str(path), "--verify"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == Exit.DONE, done.stderr
    assert "host" in done.stdout
    assert "valid" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux does")
def test_numpy_starts_no_threads():
    """OpenBLAS would start one for each core, at the cost of seconds."""
    program = "import os, jaxgames.cli; print(len(os.listdir('/proc/self/task')))"
    program += "; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    environment = {k: v for k, v in os.environ.items() if "NUM_THREADS" not in k}
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert found.stdout.split() == ["1", "None"]
