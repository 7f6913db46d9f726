"""`jaxgames verify` checks what other commands write; the examples of all run."""

import dataclasses
import gzip
import importlib
import json
import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, cli, emersonlei, generate, io, mdp, synth
from jaxgames.cli import Exit, main
from jaxgames.io import hoa_game


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")


@pytest.fixture
def run(capfd):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return run


GAME = """\
parity 3;
0 2 0 0,1;
1 1 1 0,2;
2 0 0 3;
3 1 1 2,3;
"""
LOCK = """\
kripke;
propositions wait cs;
initial 0;
0 "idle" -> 1;
1 "waiting" {wait} -> 2;
2 "critical" {cs} -> 0;
"""
LTS = (
    'des (0, 6, 5)\n(0,"a",1)\n(1,"b",2)\n(1,"c",3)\n(4,"a",2)\n(4,"a",3)\n(2,"b",0)\n'
)
MODEL = """\
initial = [0]
propositions = {"cs": lambda states: states[:, 0] == 2}


def successors(states):
    xp = states.__array_namespace__()
    return (states[:, None] + 1) % 3, xp.ones((len(states), 1), bool)
"""


@pytest.fixture(autouse=True)
def _files(_where):
    """What the examples of all commands read."""
    Path("game.pg").write_text(GAME)
    Path("game.pg.gz").write_bytes(gzip.compress(generate_text(8)))
    io.save("game.energy", generate.random_energy_game(3, 50, min_weight=-5))
    both = Arena.from_edges(
        [0, 0, 1, 1, 2, 3],
        [1, 2, 2, 3, 3, 0],
        owner=[0, 1, 0, 1],
        weight=[[-1, 0], [0, -1], [0, 0], [-2, 0], [0, -2], [1, 1]],
        accepting=[True, False, False, False],
    )
    io.save("game.npz", both)
    chain = Arena.from_edges(
        [0, 1], [1, 2], owner=[0, 0, 1], weight=[[-2], [1]], dead_ends="allow"
    )
    io.save("chain.npz", chain)
    model = mdp.MDP.from_arrays(
        row_group_offsets=[0, 2, 4, 5, 6],
        row_offsets=[0, 1, 3, 4, 7, 8, 9],
        columns=[1, 2, 3, 0, 1, 2, 3, 2, 3],
        probs=[1, 0.5, 0.5, 1, 0.2, 0.6, 0.2, 1, 1],
        labels={"goal": [0, 0, 1, 0]},
    )
    io.save("model.drn", model)
    io.save("model.umb", model)
    arbiter = synth.Specification.from_ltl("G(r -> F g)", ["r"])
    io.save("arbiter.ehoa", arbiter)
    two = dataclasses.replace(
        both, weight=both.weight[:, 0], priority=np.arange(4, dtype=np.int32)
    )
    io.save("game.eparity", dataclasses.replace(two, accepting=None))
    pairs = [([0], [1]), ([2], [3])]
    hoa_game.save("game.hoa", emersonlei.Game.streett(both, pairs))
    Path("lock.kripke").write_text(LOCK)
    Path("lock.py").write_text(MODEL)
    for name in ("protocol.aut", "vending.aut"):
        Path(name).write_text(LTS)


def generate_text(size: int) -> bytes:
    io.save("random.pg", generate.random_game(1, size))
    return Path("random.pg").read_bytes()


# ---- the examples ----------------------------------------------------------------

NEEDS = {"verify": ["solve game.pg.gz -o game.sol"]}
"""What makes the other files that an example reads."""

OUTPUTS = "-o", "--output", "--labels", "--draw"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_example_of_every_command_runs(run, name):
    module = importlib.import_module(f"jaxgames.cli._{name}")
    words = shlex.split(module.EXAMPLE)
    pairs = zip(words, words[1:], strict=False)
    written = [word for option, word in pairs if option in OUTPUTS]
    written += words[2:3] if name == "convert" else []
    for file in written:
        if os.path.exists(file):
            os.remove(file)
    for line in NEEDS.get(name, ()):
        assert run(*shlex.split(line))[0] == Exit.DONE
    code, out, err = run(*words)
    done = Exit.REALIZABLE if name == "synth" else Exit.DONE
    assert (code, err) == (done, "")
    assert out
    for file in written:
        assert os.path.getsize(file)


# ---- what is written is checked ----------------------------------------------------

ANSWERS = {
    "solve": ("solve game.pg -o", "sol", ""),
    "energy": ("energy game.energy -o", "", ""),
    "winners": ("energy game.energy --no-strategies -o", "", ""),
    "battery": ("energy game.energy --capacity 9 -o", "", "--capacity 9"),
    "of parity": ("energy game.pg --from-parity -o", "", "--from-parity"),
    "values": ("meanpayoff game.energy -o", "", ""),
    "large": ("meanpayoff large.energy -o", "", ""),
    "parallel": ("energy parallel.energy -o", "", ""),
    "buchi": ("buchi game.npz -o", "", ""),
    "accepting": ("buchi game.pg --accepting 0,2-3 -o", "", "--accepting 0,2-3"),
    "budgets": ("multienergy dead.npz -o", "", ""),
    "caps": ("multienergy dead.npz --cap 4,9 -o", "", "--capacity 4,9"),
    "scc": ("scc protocol.aut --labels", "", ""),
    "model": ("scc model.drn --labels", "npz", ""),
    "mec": ("mec model.umb -o", "npz", ""),
}
CASES = [
    (name, form)
    for name, (_, only, _) in ANSWERS.items()
    for form in ([only] if only else ["npz", "txt", "txt.gz"])
]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_what_a_command_writes_is_checked(run, name, form):
    most = 2**62
    text = f"energy 3\n0 0 1 {most}\n1 1 2 {most}\n2 0 0 {most - 1}\n"
    Path("large.energy").write_text(text)
    # Of two edges to the same vertex the second is the better one for its owner.
    text = "energy 2\n0 0 1 -9,1 2\n1 1 0 5,0 -2\n"
    Path("parallel.energy").write_text(text)
    edges = [0, 0, 1, 1, 2], [1, 2, 2, 3, 3]
    weight = [[-1, 0], [0, -1], [0, 0], [-2, 0], [0, -2]]
    dead = Arena.from_edges(
        *edges, owner=[0, 1, 0, 1], weight=weight, dead_ends="allow"
    )
    io.save("dead.npz", dead)
    line, _, more = ANSWERS[name]
    file = f"answer.{form}"
    words = line.split()
    assert run(*words, file, "-q", "-s", "host") == (Exit.DONE, "", "")
    again = ("verify", words[1], file, *more.split())
    assert run(*again) == (Exit.DONE, f"{file}: valid\n", "")
    facts = json.loads(run(*again, "--json")[1])
    assert (facts["verified"], facts["solution"]) == (True, file)


def spoilt(arrays: dict, name: str, index: int, value: int) -> None:
    array = arrays[name].copy()
    array[index] = value
    np.savez("spoilt.npz", **arrays | {name: array})


@pytest.mark.parametrize(
    ("line", "name", "change", "message"),
    [
        ("energy game.energy -o", "credit", 1, "credit"),
        ("energy game.energy -o", "winner", 1, ""),
        ("meanpayoff game.energy -o", "value_num", 1, "vertex"),
        ("buchi game.npz -o", "winner", 1, "vertex"),
        ("multienergy chain.npz --cap 4 -o", "points", 1, "position"),
        ("scc protocol.aut --labels", "labels", 1, "vertex"),
        ("mec model.umb -o", "state_label", 1, "state"),
        ("mec model.umb -o", "choice_kept", -1, "choice"),
    ],
)
def test_what_is_wrong_is_found(run, line, name, change, message):
    words = line.split()
    run(*words, "answer.npz", "-q")
    arrays = dict(np.load("answer.npz"))
    found = 0
    for index in range(len(arrays[name])):
        old = arrays[name][index]
        new = (1 - old) if name == "winner" else old + change
        new = not old if old.dtype == bool else new
        spoilt(arrays, name, index, new)
        more = ["--capacity", "4"] if words[0] == "multienergy" else []
        code, out, err = run("verify", words[1], "spoilt.npz", *more)
        assert (code, err) == (Exit.WRONG, ""), index
        assert out.startswith("spoilt.npz: ")
        assert message in out
        found += 1
    assert found


@pytest.mark.parametrize("owner", [0, 1])
def test_of_parallel_edges_the_best_is_meant(run, owner):
    """The least number of a type has no opposite in it."""
    weight = np.array([0, -(2**31), 2**31 - 1], np.int32)
    arena = Arena.from_edges([0] * 3, [0] * 3, owner=[owner], weight=weight)
    io.save("game.energy", arena)
    wrote = run("meanpayoff", "game.energy", "-q", "-o", "values.txt")
    assert wrote == (Exit.DONE, "", "")
    found = run("verify", "game.energy", "values.txt")
    assert found == (Exit.DONE, "values.txt: valid\n", "")


TABLE = "# vertex credit winner successor\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE, "expected credit of 2 vertices, found [0]"),
        (TABLE + "0 4 0 1\n0 0 0 -1\n", "answer.txt:3: expected vertex 1, found 0"),
        (TABLE + "0 4 0 1\n1 0 0\n", "answer.txt:3: expected 4 numbers, found 3"),
        (TABLE + "0 4 0 1\n1 x 0 -1\n", "answer.txt:3: expected integers, found"),
        (TABLE + "0 4 0 0\n1 0 0 -1\n", "answer.txt:2: no edge leads from vertex 0"),
        ("# edge credit\n0 1\n", "answer.txt:1: no command writes such a heading"),
        ("# vertex value\n0 1\n1 0\n", "answer.txt: nothing checks an answer of value"),
        ("# vertex winner\n0 0\n1 0\n", "this game has no accepting vertices"),
    ],
)
def test_a_bad_answer_is_told_with_its_line(run, text, message):
    Path("small.energy").write_text("energy 2\n0 0 1 -4\n1 1 0 4\n")
    Path("answer.txt").write_text(text)
    code, out, err = run("verify", "small.energy", "answer.txt")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("suffix", ["txt", "npz"])
@pytest.mark.parametrize("way", ["--to 3", "--from 1", "--to 2 --player 1"])
def test_what_is_reached(run, way, suffix):
    file = f"reached.{suffix}"
    code, out, err = run("reach", "game.pg", *way.split(), "-v", "-o", file)
    assert (code, "valid" in out, err) == (Exit.DONE, True, "")
    assert run("verify", "game.pg", file, *way.split())[0] == Exit.DONE
    assert run("verify", "game.pg", file, "--to", 0, "--player", 0)[0] != Exit.DONE
    code, _, err = run("verify", "game.pg", file)
    assert code == Exit.BAD_INPUT
    assert "found with --to, --from and --player" in err


def test_a_wrong_attractor(run):
    Path("reached.txt").write_text(
        "# vertex reached rank successor\n0 1 1 1\n1 1 2 0\n2 0 -1 -1\n3 1 0 -1\n"
    )
    code, out, _ = run("verify", "game.pg", "reached.txt", "--to", 3, "--player", 0)
    assert code == Exit.WRONG
    assert "vertex 2: it is part of the answer, and was not found" in out


def test_lassos(run):
    check = ("check", "lock.kripke", "--ltl", "G(wait -> X wait)")
    assert run(*check, "--lasso", "cycle.json", "-q")[0] == Exit.WRONG
    code, out, err = run("verify", "lock.kripke", "cycle.json", *check[2:])
    assert (code, out, err) == (Exit.DONE, "cycle.json: valid\n", "")
    code, out, _ = run("verify", "lock.kripke", "cycle.json", "--ltl", "G F cs")
    assert code == Exit.WRONG
    assert "the property holds on it" in out
    steps = json.loads(Path("cycle.json").read_text())
    steps["cycle"][0]["state"] ^= 1
    Path("wrong.json").write_text(json.dumps(steps))
    assert run("verify", "lock.kripke", "wrong.json", *check[2:])[0] == Exit.WRONG
    Path("none.json").write_text('{"prefix": []}')
    code, _, err = run("verify", "lock.kripke", "none.json", *check[2:])
    assert code == Exit.BAD_INPUT
    assert "none.json: expected a lasso, as check --lasso writes it" in err


def test_lassos_that_are_fair(run):
    """`a` and `b` may alternate; that `a` alone goes on for ever is not fair to `b`."""
    text = 'des (0, 4, 2)\n(0, "a", 0)\n(0, "b", 1)\n(1, "a", 0)\n(1, "c", 1)\n'
    Path("link.aut").write_text(text)
    check = ("check", "link.aut", "--ltl", "F G b", "-q", "--lasso")
    fair = ("--fairness", "strong", "--process", "b", "--process", "c")
    assert run(*check, "any.json")[0] == Exit.WRONG
    assert run(*check, "fair.json", *fair)[0] == Exit.WRONG
    verify = ("verify", "link.aut")
    for name in ("any", "fair"):
        code, out, _ = run(*verify, f"{name}.json", "--ltl", "F G b")
        assert (code, out) == (Exit.DONE, f"{name}.json: valid\n")
    code, out, _ = run(*verify, "fair.json", "--ltl", "F G b", *fair)
    assert (code, out) == (Exit.DONE, "fair.json: valid\n")
    code, out, _ = run(*verify, "any.json", "--ltl", "F G b", *fair)
    assert (code, "not fair" in out) == (Exit.WRONG, True)
    code, _, err = run(*verify, "fair.json", *fair)
    assert (code, "--fairness goes with --ltl" in err) == (Exit.BAD_INPUT, True)
    code, _, err = run(*verify, "fair.json", "--ltl", "F G b", "--process", "b")
    assert (code, "--process goes with --fairness" in err) == (Exit.BAD_INPUT, True)


def test_the_lasso_of_a_graph(run):
    arrays = {"offsets": [0, 1, 2, 3], "targets": [1, 2, 1]}
    arrays = {name: np.array(x, np.int32) for name, x in arrays.items()}
    np.savez("marked.npz", **arrays, accepting=np.array([False, False, True]))
    assert run("check", "marked.npz", "--lasso", "cycle.json", "-q")[0] == Exit.WRONG
    assert run("verify", "marked.npz", "cycle.json")[0] == Exit.DONE
    np.savez("marked.npz", **arrays, accepting=np.array([True, False, False]))
    code, out, _ = run("verify", "marked.npz", "cycle.json")
    assert (code, "no vertex of the cycle through it accepts" in out) == (1, True)


def test_what_nothing_checks(run):
    np.savez("answer.npz", depth=[1, 2], width=[3])
    code, _, err = run("verify", "model.drn", "answer.npz")
    assert code == Exit.BAD_INPUT
    assert "nothing checks an answer of depth, width; what is checked: " in err
    run("mec", "model.drn", "-o", "answer.txt", "-q")
    code, _, err = run("verify", "model.drn", "answer.txt")
    assert code == Exit.BAD_INPUT
    assert "write .npz" in err
    Path("answer.npz").write_bytes(b"PK\x03\x04 and no more")
    code, _, err = run("verify", "model.drn", "answer.npz")
    assert code == Exit.BAD_INPUT
    assert "answer.npz: broken .npz archive" in err


def test_many_games_and_their_answers(run):
    for seed in (1, 2):
        io.save(f"{seed}.energy", generate.random_energy_game(seed, 20))
    files = ("1.energy", "2.energy")
    assert run("energy", *files, "-q", "-o", "credits/")[0] == Exit.DONE
    code, out, err = run("verify", *files, "credits/")
    assert (code, err) == (Exit.DONE, "")
    assert out == "credits/1.npz: valid\ncredits/2.npz: valid\n"
