"""What commands write: nothing is lost, nothing is half written."""

import errno
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from io import FileIO

import pytest

import jaxgames
from jaxgames import Arena, io, mdp
from jaxgames.cli import Exit, main
from jaxgames.io import _files

GAME = "parity 1;\n0 0 0 1;\n1 1 1 0;\n"
SYSTEM = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    (tmp_path / "game.pg").write_text(GAME)
    (tmp_path / "lts.aut").write_text(SYSTEM)


@pytest.fixture
def run(capsys):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def ways_to(path):
    """The same file by other paths."""
    os.symlink(path, "symbolic")
    os.link(path, "hard")
    os.mkdir("folder")
    return [path, "symbolic", "hard", f"folder/../{path}", os.path.abspath(path)]


def test_no_output_is_an_input(run, tmp_path):
    for path in ways_to("game.pg"):
        for command in (
            ["solve", "game.pg", "-q", "-o", path],
            ["solve", "game.pg", "-q", "--dot", path],
            ["convert", "game.pg", path],
        ):
            for force in ([], ["--force"]):
                code, out, err = run(*command, *force)
                assert (code, out) == (Exit.BAD_INPUT, "")
                assert "this is the input game.pg" in err
    assert (tmp_path / "game.pg").read_text() == GAME


@pytest.mark.parametrize(
    "command",
    [
        ["scc", "in.npz", "--labels", "in.npz"],
        ["energy", "in.npz", "-o", "in.npz"],
        ["meanpayoff", "in.npz", "-o", "in.npz"],
        ["mec", "in.npz", "-o", "in.npz"],
        ["check", "--graph", "in.json", "--lasso", "in.json"],
        ["check", "--graph", "x.kripke", "--automaton", "a.txt", "--lasso", "a.txt"],
        ["equiv", "in.npz", "--notion", "traces", "--labels", "in.npz"],
        ["equiv", "in.svg", "0", "1", "--draw", "in.svg"],
    ],
)
def test_no_output_of_any_command_is_an_input(run, tmp_path, command):
    for name in ("in.npz", "in.json", "in.svg", "a.txt"):
        (tmp_path / name).write_text("precious")
    code, out, err = run(*command, "--force")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert "this is the input" in err
    assert (tmp_path / command[-1]).read_text() == "precious"


def test_what_lies_beside_an_input_is_read_too(run, tmp_path):
    (tmp_path / "model.lab").write_text("precious")
    for command in (
        ["convert", "game.pg", "model.tra"],  # its labels are there already
        ["mec", "model.tra", "-o", "model.lab.txt", "--dot"],
    ):
        assert run(*command)[0] == Exit.BAD_INPUT
    assert (tmp_path / "model.lab").read_text() == "precious"


def test_what_lies_beside_an_output_counts_for_models_only(run, tmp_path):
    for name in ("game.lab", "out.lab"):
        (tmp_path / name).write_text("precious")
    assert run("solve", "game.pg", "-q", "-o", "game.sol") == (Exit.DONE, "", "")
    line = "energy game.pg -q --from-parity -o out.txt"
    assert run(*line.split()) == (Exit.DONE, "", "")
    io.save(tmp_path / "m.drn", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0]))
    for command in (["m.drn", "out.tra"], ["m.drn", "out", "--to-format", "tra"]):
        code, _, err = run("convert", *command)
        assert code == Exit.BAD_INPUT
        assert "out.lab: the file exists already" in err
    assert (tmp_path / "out.lab").read_text() == "precious"


def test_two_outputs_are_two_files(run, tmp_path):
    code, _, err = run("solve", "game.pg", "--dot", "x.svg", "--draw", "./x.svg")
    assert code == Exit.BAD_INPUT
    assert "--dot writes to that file too" in err
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["solve", "game.pg", "-q", "-o", "OUT.sol"],
        ["convert", "game.pg", "-q", "OUT.npz"],
        ["generate", "jurdzinski", "1", "1", "-q", "-o", "OUT.pg"],
        ["scc", "game.pg", "-q", "--labels", "OUT.txt"],
        ["energy", "game.pg", "-q", "--from-parity", "-o", "OUT.txt"],
        ["meanpayoff", "game.pg", "-q", "--from-parity", "-o", "OUT.txt"],
        ["equiv", "lts.aut", "-q", "--notion", "traces", "--labels", "OUT.txt"],
    ],
)
def test_what_is_there_is_replaced_by_force_only(run, tmp_path, command):
    path = tmp_path / next(word for word in command if word.startswith("OUT"))
    path.write_text("precious")
    code, out, err = run(*command)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert "the file exists already; --force replaces it" in err
    assert path.read_text() == "precious"
    assert run(*command, "--force") == (Exit.DONE, "", "")
    assert b"precious" not in path.read_bytes()


def test_what_is_made_again_and_again_is_replaced(run, tmp_path):
    (tmp_path / "x.dot").write_text("drawn before")
    (tmp_path / "x.svg").write_text("drawn before")
    (tmp_path / "empty.sol").touch()
    for output in ("x.sol", "x.sol", "x.sol.gz", "x.sol.gz", "empty.sol"):
        command = ["solve", "game.pg", "-q", "--dot", "x.dot", "--draw", "x.svg"]
        assert run(*command, "-o", output) == (Exit.DONE, "", "")
        opener = gzip.open if output.endswith(".gz") else open
        with opener(output, "rb") as file:
            assert file.read(9) == b"paritysol"
    assert "drawn before" not in (tmp_path / "x.svg").read_text()
    (tmp_path / "game.sol").write_text(GAME)  # a game, whatever it is called
    assert run("solve", "game.pg", "-o", "game.sol")[0] == Exit.BAD_INPUT
    (tmp_path / "broken.sol.gz").write_bytes(b"\x1f\x8b...")
    assert run("solve", "game.pg", "-o", "broken.sol.gz")[0] == Exit.BAD_INPUT


@pytest.mark.parametrize(
    "line",
    [
        "reach game.pg --to @at.txt -o at.txt",
        "reach game.pg --to 0 --from @at.txt --dot at.txt",
        "buchi game.pg --accepting @at.txt -o at.txt",
        "check --model step.py:step --ltl !s --dot step.py",
    ],
)
def test_what_is_read_beside_the_input_is_not_lost(run, tmp_path, line):
    (tmp_path / "at.txt").write_text("0\n")
    (tmp_path / "step.py").write_text(
        "import numpy\ninitial = [0]\npropositions = {'s': lambda x: x[:, 0] == 0}\n"
        "def step(x):\n    return x[:, None], numpy.ones((len(x), 1), bool)\n"
    )
    name = line.split()[-1]
    before = (tmp_path / name).read_text()
    code, _, err = run(*line.split(), "--force")
    assert code == Exit.BAD_INPUT
    assert f"{name}: this is the input {name}, which would be lost" in err
    assert (tmp_path / name).read_text() == before


def test_bounds_of_an_automaton_are_written(run, tmp_path):
    io.save(tmp_path / "m.drn", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0]))
    (tmp_path / "a.hoa").write_text(
        "HOA: v1 States: 1 Start: 0 AP: 0 Acceptance: 1 Inf(0) --BODY-- "
        "State: 0 [t] 0 {0} --END--"
    )
    line = ("mdp", "m.drn", "--automaton", "a.hoa", "-q", "-o", "values.txt")
    assert run(*line) == (Exit.DONE, "", "")
    assert (
        (tmp_path / "values.txt").read_text().splitlines()[-1].startswith("0 1.0 1.0")
    )


def test_devices_are_written_to(run):
    assert run("solve", "game.pg", "-q", "-o", "/dev/null")[0] == Exit.DONE


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_told_with_the_file(run):
    code, out, err = run("solve", "game.pg", "-q", "-o", "/dev/full")
    assert (code, out) == (Exit.NOT_WRITTEN, "")
    assert err == "jaxgames: /dev/full: not written: No space left on device\n"


@pytest.mark.parametrize("name", ["out.pg", "out.npz", "out.pg.gz", "out.pg.xz"])
def test_a_disk_that_gets_full_leaves_what_was(run, tmp_path, monkeypatch, name):
    """No file is half written, and none is left over."""
    (tmp_path / name).write_text("precious")
    before = sorted(os.listdir())

    class Full(FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(path, mode="r", *args, **how):
        return Full(path, mode) if "x" in mode else open(path, mode, *args, **how)

    monkeypatch.setattr(_files, "open", opened, raising=False)
    code, _, err = run("convert", "game.pg", name, "--force")
    assert code == Exit.NOT_WRITTEN
    assert err == f"jaxgames: {name}: not written: No space left on device\n"
    assert (tmp_path / name).read_text() == "precious"
    assert sorted(os.listdir()) == before


EVERY_OUTPUT = [
    "solve game.pg -o OUT.sol",
    "solve game.pg --dot OUT.dot",
    "solve game.pg --draw OUT.svg",
    "convert game.pg OUT.pg.gz",
    "convert lts.aut OUT.dot",
    "convert model.drn OUT.umb",
    "generate jurdzinski 1 1 -o OUT.pg",
    "scc game.pg --labels OUT.npz",
    "mec model.drn -o OUT.txt",
    "energy game.pg --from-parity -o OUT.npz",
    "meanpayoff game.pg --from-parity -o OUT.txt.xz",
    "check lock.kripke --ltl G(wait->F(!wait)) --lasso OUT.json",
    "equiv lts.aut --notion traces --labels OUT.txt",
    "equiv lts.aut 0 1 --draw OUT.svg",
    "mdp model.drn --prop Pmax=?[F<=3(true)] --scheduler OUT.txt",
    "synth --ltl G(g<->r) --ins r --outs g -o OUT.aag",
    "buchi game.pg --accepting 0 -o OUT.npz",
    "buchi game.pg --accepting 0 --draw OUT.svg",
    "reach game.pg --to 0 -o OUT.txt",
    "probability model.drn --to 0 -o OUT.npz",
    "explore light.py:successors -o OUT.npz",
]

LIGHT = """
initial, ranges = [0], [2]


def successors(states):
    xp = states.__array_namespace__()
    return (1 - states)[:, None], xp.ones((len(states), 1), bool)
"""

LOCK = "kripke;\npropositions wait;\ninitial 0;\n0 -> 1;\n1 {wait} -> 1 0;\n"


@pytest.mark.parametrize("command", EVERY_OUTPUT)
def test_no_output_is_half_written(run, tmp_path, monkeypatch, command):
    """A full disk is told; and until all is written there is no file of that name."""
    io.save(tmp_path / "model.drn", model())
    (tmp_path / "light.py").write_text(LIGHT)
    (tmp_path / "lock.kripke").write_text(LOCK)
    words = [*command.split(), "-q"]
    name = next(word for word in words if word.startswith("OUT"))
    full = f"jaxgames: {name}: not written: No space left on device\n"
    if os.path.exists("/dev/full"):
        os.symlink("/dev/full", name)
        assert run(*words) == (Exit.NOT_WRITTEN, "", full)
        os.remove(name)
    before, seen = {*os.listdir()}, []

    def replace(source, target):
        seen.append({*os.listdir()} - before)  # what a process that is killed leaves
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", replace)
    assert run(*words) == (Exit.NOT_WRITTEN, "", full)
    ((left,),) = seen
    assert left.startswith(f".{name}.")
    assert {*os.listdir()} == before


@pytest.mark.parametrize("part", [".tra", ".lab"])
def test_a_model_of_several_files_is_written_whole(run, tmp_path, monkeypatch, part):
    """None of its files is new where one could not be written."""
    io.save(tmp_path / "model.drn", model())
    io.save(tmp_path / "out.tra", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0]))
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir()}

    class Full(FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(path, mode="r", *args, **how):
        full = "x" in mode and part in str(path)
        return Full(path, mode) if full else open(path, mode, *args, **how)

    monkeypatch.setattr(_files, "open", opened, raising=False)
    code, _, err = run("convert", "model.drn", "out.tra", "--force")
    assert code == Exit.NOT_WRITTEN
    assert err == f"jaxgames: out{part}: not written: No space left on device\n"
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir()} == before


def test_a_state_that_cannot_be_kept_is_told_with_its_file(run, tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = "solve game.pg -q -s fpi --checkpoint solve.state"
    before = {*os.listdir()}
    code, out, err = run(*line.split())
    assert (code, out) == (Exit.NOT_WRITTEN, "")
    assert err == "jaxgames: solve.state: not written: No space left on device\n"
    assert {*os.listdir()} == before


def test_errors_of_writing_say_which_file():
    error = None
    try:
        with _files.writing("/dev/full") as file:
            file.write(b"x" * 100_000)
    except OSError as caught:
        error = caught
    if os.path.exists("/dev/full"):
        assert isinstance(error, io.OutputError)
        assert error.filename == "/dev/full"
        assert error.errno == errno.ENOSPC


# ---- standard output -----------------------------------------------------------


def shell(line):
    """Runs a line of the shell; returns exit code and errors."""
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m jaxgames {line}"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
@pytest.mark.parametrize(
    "line", ["solve game.pg --json", "info game.pg --json", "solvers"]
)
def test_nobody_is_told_where_standard_output_is_closed(line):
    assert shell(f"{line} >&-") == (Exit.BROKEN_PIPE, "")


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_closed_streams(tmp_path):
    # What is written goes to its file, not to a stream that has its number.
    line = "convert game.pg copy.npz -q <&- >&- 2>&-"
    assert shell(line) == (Exit.DONE, "")
    copy = io.load("copy.npz")
    assert isinstance(copy, Arena)
    assert copy.shape == (2, 2)
    if os.path.exists("/dev/full"):
        code, err = shell("solve game.pg --json >/dev/full")
        assert code == Exit.NOT_WRITTEN
        assert err == (
            "jaxgames: standard output: not written: No space left on device\n"
        )


def test_complaints_are_not_printed_where_results_are(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["solve", "missing.pg"]) == Exit.BAD_INPUT
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "line",
    [
        "info one.pg",
        "solve one.pg",
        "solve one.pg -s fpi --max-steps 1",
        "convert one.pg copy.pg",
        "scc one.pg",
        "reach one.pg --to 0",
        "reach one.pg --to 0 --player 0",
        "buchi one.pg --accepting 0",
        "energy one.pg --from-parity --credit 0 --play 1 --from 0",
        "meanpayoff one.pg --from-parity",
        "meanpayoff one.pg --from-parity --threshold 0",
        "multienergy one.energy",
        "multienergy one.energy --budget 0",
        "generate random_energy 0 1 -o made.energy --force",
        "info one.drn",
        "mec one.drn",
        "probability one.drn --to 0",
        "info one.aut",
        "equiv one.aut",
        "check one.aut --ltl F(a)",
        "check one.aut --ltl G(b)",
        "explore light.py:successors -o light.kripke --force",
        "info light.kripke",
        "synth --ltl G(g) --outs g",
        "info one.hoa",
        "emersonlei one.hoa",
        "energyparity one.eparity",
        "discounted one.energy --discount 1/2",
        "warm parity --sizes 1 -s host",
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(run, tmp_path, line):
    one = Arena.from_edges([0], [0], owner=[0], priority=[0])
    io.save(tmp_path / "one.pg", one)
    weighted = Arena.from_edges([0], [0], owner=[0], weight=[0])
    io.save(tmp_path / "one.energy", weighted)
    io.save(tmp_path / "one.drn", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0]))
    (tmp_path / "one.eparity").write_text("energyparity 1\n0 0 0 0 0\n")
    (tmp_path / "one.aut").write_text('des (0, 1, 1)\n(0,"a",0)\n')
    (tmp_path / "light.py").write_text(
        LIGHT.replace("[2]\n", "[2]\npropositions = {'on': lambda s: s[:, 0] == 1}\n")
    )
    (tmp_path / "light.kripke").write_text(LOCK)
    (tmp_path / "one.hoa").write_text(
        "HOA: v1\nStates: 1\nStart: 0\nAP: 0\nAcceptance: 1 Inf(0)\n"
        "spot-state-player: 0\n--BODY--\nState: 0 {0}\n[t] 0\n--END--\n"
    )
    code, out, err = run(*line.split())
    assert code != Exit.INTERNAL
    assert code != Exit.BAD_INPUT or "generate" in line, err
    plural = r"\b1 (?!with |class\b)(\w+ )?\w+(?<!s)s\b(?! \d)"
    told = [x for x in (out + err).splitlines() if not x.startswith("  stats")]
    assert not [x for x in told if re.search(plural, x)]


def test_facts_for_programs_are_whole(run):
    """The tests above fail for what they say, not for lack of anything to print."""
    code, out, err = run("solve", "game.pg", "--json")
    assert (code, err) == (Exit.DONE, "")
    assert json.loads(out)["vertices"] == 2


# ---- what a format cannot hold -------------------------------------------------------


def model(**more) -> mdp.MDP:
    arrays = [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]
    return mdp.MDP.from_arrays(*arrays, initial=[0], **more)


def test_convert_tells_what_is_left_out(run, tmp_path):
    io.save(tmp_path / "m.umb", model(branch_rewards={"steps": [1, 2, 0]}))
    code, out, err = run("convert", "m.umb", "m.drn")
    assert (code, out) == (Exit.DONE, "m.drn: 2 states, 2 choices, 3 branches\n")
    assert err == (
        "jaxgames: warning: m.drn: left out: rewards 'steps' of branches (DRN "
        "cannot hold it; .umb can)\n"
    )
    for to in ("m.tra", "n.umb"):  # these hold it
        assert run("convert", "m.umb", to)[::2] == (Exit.DONE, "")
        found = io.load(tmp_path / to).branch_rewards
        assert found["steps"].tolist() == [1, 2, 0]


def test_convert_loses_nothing_without_a_word(run, tmp_path):
    whole = model(
        labels={"((l = 4) & (ip = 1))": [0, 1]},
        state_rewards={"": [1, 0], "b": [0, 2]},
        choice_rewards={"b": [3, 0]},
        valuations={"x": [-1, 4], "done": [False, True]},
    )
    io.save(tmp_path / "m.umb", whole)
    assert run("convert", "m.umb", "m.tra")[::2] == (Exit.DONE, "")
    assert run("convert", "m.tra", "n.umb")[::2] == (Exit.DONE, "")
    again = io.load(tmp_path / "n.umb")
    for kind in ("labels", "state_rewards", "choice_rewards", "valuations"):
        before, after = getattr(whole, kind), getattr(again, kind)
        assert {k: x.tolist() for k, x in after.items()} == {
            k: x.tolist() for k, x in before.items()
        }


def test_values_of_another_model_are_not_taken(run, tmp_path):
    (tmp_path / "m.sta").write_text("(x)\n0:(7)\n1:(7)\n")
    io.save(tmp_path / "m.umb", model())
    code, _, err = run("convert", "m.umb", "m.tra", "--force")
    assert code == Exit.BAD_INPUT
    assert err.startswith(
        "jaxgames: m.sta exists and would be read together with m.tra"
    )
    assert not (tmp_path / "m.tra").exists()


HANOI = """HOA: v1 States: 3 Start: 0 AP: 1 "a" Acceptance: 1 Inf(0)
spot-state-player: 1 0 0 --BODY--
State: 0 [0] 1 [!0] 2
State: 1 {0} [t] 1
State: 2 [0] 2 [!0] 1
--END--
"""


@pytest.mark.parametrize(
    ("command", "won", "moves"),
    [
        ("energy w.npz", "aabb", {0, 2, 3, 5}),
        ("meanpayoff w.npz", "aabb", {0, 2, 3, 5}),
        ("meanpayoff w.npz --threshold 1", "aabb", {0, 2, 3, 5}),
        ("discounted w.npz --discount 1/2", "aabb", {0, 2, 3, 5}),
        ("energyparity w.npz", "aabb", {3, 5}),  # moves of player 1
        ("emersonlei game.hoa", "aab", set()),  # memories choose: no moves
        ("buchi w.npz --accepting 1", "aabb", {0, 2, 3, 5}),
        ("reach w.npz --to 1 --player 0", "aabb", {0}),
        ("reach w.npz --to 2 --player 1", "aabb", {5}),
        ("reach w.npz --to 1", "aa-a", set()),
    ],
)
def test_a_picture_shows_who_wins_where(run, tmp_path, command, won, moves):
    """Player 0 earns in 1, and goes there; player 1 has a loss in 2, and goes there."""
    edges = [0, 0, 1, 2, 3, 3], [1, 2, 1, 2, 1, 2]
    labels = {"priority": [0, 0, 0, 0], "weight": [0, -3, 1, -2, 0, 0]}
    io.save(tmp_path / "w.npz", Arena.from_edges(*edges, owner=[0, 0, 1, 1], **labels))
    (tmp_path / "game.hoa").write_text(HANOI)
    code, out, err = run(*command.split(), "-q", "--dot", "x.dot", "--draw", "x.svg")
    assert (code, out, err) == (Exit.DONE, "", "")
    lines = (tmp_path / "x.dot").read_text().splitlines()
    letters = {"d3e5f5": "a", "fde0c2": "b", "ffffff": "-"}
    vertices = [x for x in lines if x.startswith("  v") and "->" not in x]
    fills = [re.search(r'fillcolor="#(\w+)"', line)[1] for line in vertices]
    assert "".join(letters[fill] for fill in fills) == won
    arrows = [line for line in lines if "->" in line]
    assert {at for at, line in enumerate(arrows) if "penwidth" in line} == moves
    drawn = (tmp_path / "x.svg").read_text()
    assert {c for c in ("d3e5f5", "fde0c2") if f'"#{c}"' in drawn} == {*fills} - {
        "ffffff"
    }
