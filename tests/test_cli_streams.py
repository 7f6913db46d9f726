"""Standard input and output as files of commands, and formats by content and name."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import jaxgames
from jaxgames import Arena, io, mdp
from jaxgames.cli import Exit, main

GAME = "parity 3;\n0 0 0 1,2;\n1 1 1 0;\n2 2 1 2;\n3 3 1 3;\n"
SOLUTION = "paritysol 3;\n0 0 2;\n1 0;\n2 0;\n3 1 3;\n"


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    (tmp_path / "game").write_text(GAME)
    (tmp_path / "game.sol").write_text(SOLUTION)
    io.save(
        "weighted", Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[-1, 2]),
        format="energy",
    )  # fmt: skip
    (tmp_path / "lts").write_text('des (0, 2, 2)\n(0,"a",1)\n(1,"b",0)\n')
    (tmp_path / "model").write_text("2 2 2\n0 0 1 1\n1 0 0 1\n")


@pytest.fixture
def run(capfd):
    """Runs a command with some input; returns exit code, output and errors."""

    def run(*arguments, stdin=""):
        reader, writer = os.pipe()
        before = os.dup(0)
        os.dup2(reader, 0)
        os.close(reader)
        os.write(writer, stdin.encode() if isinstance(stdin, str) else stdin)
        os.close(writer)
        try:
            code = main([str(argument) for argument in arguments])
        finally:
            os.dup2(before, 0)
            os.close(before)
        return code, *capfd.readouterr()

    return run


def content(name):
    with open(name, "rb") as file:
        return file.read()


COMMON = ["schema", "version", "command", "file", "status", "seconds", "verified"]
"""Fields that every object has."""

VERSION = jaxgames.__version__

# Each command that reads a file, by its place.
COMMANDS = {
    "solve": ("game", ["solve", "FILE"]),
    "verify": ("game", ["verify", "FILE", "game.sol"]),
    "info": ("game", ["info", "FILE"]),
    "convert": ("game", ["convert", "FILE", "copy.npz"]),
    "scc": ("game", ["scc", "FILE"]),
    "mec": ("model", ["mec", "FILE"]),
    "energy": ("weighted", ["energy", "FILE"]),
    "meanpayoff": ("weighted", ["meanpayoff", "FILE"]),
    "check": ("lts", ["check", "--graph", "FILE", "--ltl", "G F a"]),
    "equiv": ("lts", ["equiv", "FILE"]),
    "buchi": ("game", ["buchi", "FILE", "--accepting", "0"]),
    "reach": ("game", ["reach", "FILE", "--to", "0"]),
    "probability": ("model", ["probability", "FILE", "--to", "0"]),
    "mdp": ("model", ["mdp", "FILE", "--prop", "true"]),
    "multienergy": ("weighted", ["multienergy", "FILE"]),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_standard_input_and_goes_by_content(run, command):
    name, line = COMMANDS[command]
    more = {"convert": ["--force"]}.get(command, ["--json"])
    outputs = []
    for file in (name, "-", "/dev/stdin"):
        with_file = [file if word == "FILE" else word for word in line]
        stdin = "" if file == name else content(name)
        code, out, err = run(*with_file, *more, stdin=stdin)
        assert (code, err) == (Exit.DONE, "")
        if more == ["--json"]:
            facts = json.loads(out)
            assert set(COMMON) <= facts.keys()
            assert [facts[name] for name in COMMON[:3]] == [1, VERSION, command]
            verified = True if command == "verify" else None
            assert (facts["status"], facts["verified"]) == ("solved", verified)
            assert facts.pop("file") == ("/dev/stdin" if file == "-" else file)
            facts.pop("seconds", None)
            outputs.append(facts)
    assert all(facts == outputs[0] for facts in outputs)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("broken", [False, True])
def test_messages_name_standard_input(run, command, broken):
    name, line = COMMANDS[command]
    with_file = ["-" if word == "FILE" else word for word in line]
    text = content(name)
    code, out, err = run(*with_file, stdin=text[: len(text) // 2] if broken else text)
    assert code == (Exit.BAD_INPUT if broken else Exit.DONE)
    assert "/dev/std" not in out + err
    if broken:
        assert err.startswith("jaxgames: standard input:")
    elif command not in ("verify", "convert", "equiv"):  # who have more to tell
        assert "standard input: " in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_format_by_name(run, command, tmp_path):
    name, line = COMMANDS[command]
    form = io.format_of(name)
    (tmp_path / "file.never").write_bytes(content(name))
    with_file = ["file.never" if word == "FILE" else word for word in line]
    code, out, err = run(*with_file)
    assert (code, out.count("player"), err.count("\n")) == (Exit.BAD_INPUT, 0, 1)
    assert f"if it is one, pass --format {form}" in err
    code, out, err = run(*with_file, "--format", form)
    assert (code, err) == (Exit.DONE, "")
    (tmp_path / "copy.npz").unlink(missing_ok=True)
    code, out, err = run(*with_file, "--format", "gpu")
    assert code == Exit.BAD_INPUT
    assert err.startswith("jaxgames: there is no format 'gpu'")


def test_nobody_knows_the_format(run, tmp_path):
    code, out, err = run("info", "-", stdin="hello")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith(
        "jaxgames: standard input: no suffix, and its content is not that of any "
        "known format; pass --format, one of pg, gm, pgsolver"
    )


def test_an_error_in_standard_input_has_its_line(run):
    code, out, err = run("solve", "-", stdin=GAME.replace("3 3 1 3", "3 3 1 9"))
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err == (
        "jaxgames: standard input:5: vertex 3 has successor 9, which is not in the "
        "file\n"
    )


def test_what_is_written_to_standard_output_stands_there_alone(run):
    code, out, err = run("solve", "game", "-o", "-", "-s", "host")
    assert (code, out) == (Exit.DONE, SOLUTION)
    assert "load" in err
    assert err.endswith("game: player 0 wins 3, player 1 wins 1\n")
    assert run("solve", "-", "-qo-", stdin=GAME) == (Exit.DONE, SOLUTION, "")
    code, out, err = run("solve", "game", "--dot", "/dev/stdout", "-q")
    assert (code, err) == (Exit.DONE, "")
    assert out.startswith("digraph")
    code, out, err = run("convert", "-", "-", "--to-format", "pg", stdin=GAME)
    assert (code, out) == (Exit.DONE, GAME)
    assert err == "standard output: 4 vertices, 5 edges, 4 priorities\n"
    code, out, err = run("generate", "ladder", 2, "-o", "-", "-q")
    assert (code, err) == (Exit.DONE, "")
    assert out.startswith("parity 3;\n")
    assert run("generate", "ladder", 2, "-o-", "--format=gm", "-q")[1] == out
    code, weighted, err = run("generate", "energy_ring", 1, 3, "-o", "-", "-q")
    assert (code, err) == (Exit.DONE, "")
    assert run("energy", "-", "--json", stdin=weighted)[0] == Exit.DONE
    assert run("info", "-", stdin=out)[1].startswith("standard input: 4 vertices")
    assert run("scc", "game", "--labels", "-", "-q") == (Exit.DONE, "0\n0\n1\n2\n", "")
    assert run("mec", "model", "-o", "-", "-q") == (Exit.DONE, "0\n0\n", "")
    lines = "# vertex credit winner successor\n0 1 0 1\n1 0 0 -1\n"
    assert run("energy", "weighted", "-o", "-", "-q") == (Exit.DONE, lines, "")
    code, out, err = run("equiv", "lts", "--notion=bisimulation", "--labels=-", "-q")
    assert (code, out, err) == (Exit.DONE, "0\n1\n", "")
    code, out, err = run("check", "--graph=lts", "--ltl=F G a", "--lasso=-", "-q")
    assert (code, err) == (Exit.WRONG, "")
    assert "cycle" in out


def test_binary_data_goes_through_pipes(run):
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    command = [sys.executable, "-m", "jaxgames"]
    environment = {**os.environ, "PYTHONPATH": root}
    first = subprocess.run(
        [*command, "convert", "game", "-", "--to-format=npz", "-q"],
        stdout=subprocess.PIPE, env=environment, check=True,
    )  # fmt: skip
    second = subprocess.run(
        [*command, "convert", "-", "/dev/stdout", "--to-format=pg", "-q"],
        input=first.stdout, stdout=subprocess.PIPE, env=environment, check=True,
    )  # fmt: skip
    assert second.stdout.decode() == GAME


def test_solutions_are_read_from_standard_input_as_well(run):
    assert run("verify", "-", "game.sol", stdin=GAME)[:2] == (
        Exit.DONE, "game.sol: valid\n"
    )  # fmt: skip
    assert run("verify", "game", "-", stdin=SOLUTION)[:2] == (
        Exit.DONE, "standard input: valid\n"
    )  # fmt: skip


def test_vertices_are_read_from_standard_input(run):
    code, out, err = run("reach", "game", "--to", "@-", "--json", stdin="0 # one\n1\n")
    assert (code, err) == (Exit.DONE, "")
    named = run("reach", "game", "--to", "0,1", "--json")[1]
    assert json.loads(out)["reached"] == json.loads(named)["reached"]
    code, _, err = run("reach", "game", "--to", "@-", stdin="0\n99\n")
    assert code == Exit.BAD_INPUT
    assert "/dev/stdin:2: there is no vertex 99" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("verify - -", "standard input is read once, and cannot be two files"),
        ("verify - /dev/stdin", "standard input is read once"),
        ("reach - --to @-", "standard input is read once"),
        ("check --graph - --automaton -", "standard input is read once"),
        ("solve game -o - --dot -", "standard output is written once"),
        ("solve game -o - --json", "--json prints where - is written to"),
        ("solve game --draw -", "--draw takes a .svg, .png or .pdf file, got '-'"),
        (
            "convert game -",
            "OUT: standard output: unknown suffix; known: .pg",
        ),
        ("convert game copy", "and .npz; or pass --to-format"),
        ("convert game copy --to-format pgs", "OUT: there is no format 'pgs' (did"),
        ("generate ladder 2 -o - --format pgs", "there is no format 'pgs' (did"),
        (
            "generate ladder 2 -o game.pgs",
            "game.pgs: unknown suffix; known:",
        ),
        ("convert game game --to-format pg --force", "this is the input game"),
        ("mec model --output model.lab", "-o takes a file that ends in"),
        ("help", "for the help of a command write jaxgames COMMAND --help"),
        ("help solve", "for the help of a command write jaxgames COMMAND --help"),
        ("game", "'game' is no command: write jaxgames info game to describe"),
    ],
)
def test_what_cannot_be(run, line, message):
    code, out, err = run(*line.split(), stdin=GAME)
    assert (code, not out) == (Exit.BAD_INPUT, "--json" not in line)
    assert message in err
    assert err.count("\n") == 1


def test_no_output_is_an_input_that_content_alone_tells(run, tmp_path):
    (tmp_path / "model.lab").write_text('0="init"\n0: 0\n')
    line = ("convert", "model", "model.lab", "--to-format", "drn", "--force")
    code, out, err = run(*line)
    assert code == Exit.BAD_INPUT
    assert "OUT model.lab: this is the input model.lab" in err


def test_a_file_given_as_standard_input_is_no_output(tmp_path):
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    with open("game", "rb") as stdin:
        found = subprocess.run(
            [sys.executable, "-m", "jaxgames", "solve", "-", "-o", "game", "--force"],
            stdin=stdin, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": root},
        )  # fmt: skip
    assert found.returncode == Exit.BAD_INPUT
    assert "this is the input standard input, which would be lost" in found.stderr
    assert content("game").decode() == GAME


def test_memory_bounds_standard_input(run):
    game = "".join(f"{n} 0 0 {n};\n" for n in range(20_000))
    code, out, err = run("info", "-", "--memory", "1M", stdin=game[:60_000])
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert "standard input: the file has more than 43690 bytes of text" in err
    assert "if you trust it, pass --memory ..., with 24 bytes for each" in err
    _, out, err = run("info", "-", "--memory", "1M", "--json", stdin=game[:60_000])
    assert err.endswith(json.loads(out)["error"]["message"] + "\n")


@pytest.mark.parametrize("command", ["info", "solve", "scc"])
def test_what_a_command_loads_is_not_counted_with_its_input(command):
    """The modules that a fresh process loads take more than the file may."""
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    found = subprocess.run(
        [sys.executable, "-m", "jaxgames", command, "-", "--memory", "1M"],
        input="".join(f"{n} 0 0 {n};\n" for n in range(5_000)),
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (Exit.BAD_INPUT, "")
    assert "standard input: the file has more than 43690 bytes" in found.stderr


def test_models_read_from_content_have_their_companions(run, tmp_path):
    (tmp_path / "model.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    model = io.load("model")
    assert isinstance(model, mdp.MDP)
    assert np.array_equal(model.labels["goal"], [False, True])


def test_lists_and_automata_come_from_standard_input(run, tmp_path):
    formulas = "G(r -> F g)\nF r\n"
    code, out, _ = run("synth", "--formulas", "-", "--ins", "r", stdin=formulas)
    assert code == Exit.UNREALIZABLE
    assert out == "standard input:1: REALIZABLE\nstandard input:2: UNREALIZABLE\n"
    io.save(tmp_path / "m.drn", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0]))
    automaton = (
        "HOA: v1 States: 1 Start: 0 AP: 0 Acceptance: 1 Inf(0) --BODY-- "
        "State: 0 [t] 0 {0} --END--"
    )
    line = ("mdp", tmp_path / "m.drn", "--automaton", "-")
    code, out, err = run(*line, stdin=automaton)
    assert (code, err) == (Exit.DONE, "")
    assert out.endswith("is 1.0\n")
    assert run(*line, "--automaton", "-")[0] == Exit.BAD_INPUT


def test_a_list_of_vertices_may_be_compressed_or_have_a_mark(run, tmp_path):
    (tmp_path / "game.pg").write_text(GAME)
    (tmp_path / "to.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf0 # one\n"))
    line = ("reach", tmp_path / "game.pg", "--from", "0")
    assert run(*line, "--to", f"@{tmp_path / 'to.gz'}")[0] == Exit.DONE


@pytest.mark.parametrize("encoding", ["ascii", "utf-8:strict"])
def test_names_are_printed_that_the_output_cannot_encode(tmp_path, encoding):
    path = os.fsencode(tmp_path) + b"/g\xff.pg"
    with open(path, "w", encoding="utf-8") as file:
        file.write('parity 1;\n0 2 0 0 "é";\n1 1 1 1;\n')
    found = subprocess.run(
        [sys.executable, "-m", "jaxgames", "solve", path, "-p"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"},
    )
    assert (found.returncode, found.stderr) == (Exit.DONE, b"")
    name = rb"\xe9" if encoding == "ascii" else "é".encode()
    ends = path + b": player 0 wins 1, player 1 wins 1\nwon by 0: %s\nwon by 1: 1\n"
    assert found.stdout.endswith(ends % name)
